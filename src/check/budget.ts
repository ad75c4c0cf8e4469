/** A budget of what the gradient of a function costs: how often it is called, and kernels, buffers and bytes of its plan. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type Kind, type OptionsOf, or, readGiven } from '../core/errors/options.js'
import type { SyncBackend } from '../core/functions/backend.js'
import { asExpr } from '../core/graph/expr.js'
import { flatProgram } from '../core/graph/program.js'
import { regionized } from '../modes/mixed.js'
import { pullback } from '../modes/transform.js'
import type { Collector } from './findings.js'
import { type Derived, dense } from './subject.js'

const most: Kind<number | undefined, number> = or<number, undefined>(undefined, (given, what, where) =>
  Number.isFinite(given) && (given as number) >= 0
    ? (given as number)
    : badInput(where, `budget.${what} is ${shown(given)}.`, 'give a number from 0.'),
)
export const budgetOptions = {
  /** Calls of the function, for all of its derivatives (1 unless given). */
  calls: most,
  /** Kernels that one run launches, on each backend. */
  kernels: most,
  /** Buffers that one run allocates, those of arguments and results included. */
  allocations: most,
  /** The peak of live bytes. */
  bytes: most,
}
/** Upper bounds for one plan of value and gradient. */
export type Budget = OptionsOf<typeof budgetOptions>
/** The option of a budget. */
export const budget: Kind<Budget | undefined, Budget> = or<Budget, undefined>(undefined, (given, what, where) =>
  readGiven(budgetOptions, given, `${where}: ${what}`),
)

/** The plan of values and gradient (as `grad` makes it, in mixed mode) on a backend, against the budget. */
export const checkBudget = (d: Derived, budget: Budget, backends: readonly SyncBackend[], out: Collector): void => {
  const { kernels, allocations, bytes } = budget
  if ((kernels === undefined && allocations === undefined && bytes === undefined) || !out.on('budget')) return
  const xBars = dense(pullback(d.registry, regionized(d.outs, d.wrt), d.seeds.map(asExpr), d.wrt).cotangents, d.wrt)
  const program = flatProgram(out.of, [...d.inputs, ...d.seeds], [...d.ys, ...xBars])
  for (const backend of backends) {
    const executable = backend.prepare(program)
    try {
      const { counts, buffers, peakBytes } = executable.explain()
      const launched = Object.values(counts).reduce((a, b) => a + b, 0)
      for (const [name, found, most] of [
        ['kernels', launched, kernels],
        ['allocations', buffers, allocations],
        ['bytes', peakBytes, bytes],
      ] as const) {
        if (most === undefined) continue
        out.comparisons++
        if (found > most)
          out.note('budget', `${name} on ${backend.name}`, 0, `at most ${most}`, found, 0, { how: 'the plan of values and gradient' })
      }
    } finally {
      executable.dispose()
    }
  }
}
