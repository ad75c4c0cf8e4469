/** What became of loops in a plan, by name: where carries lie, what is accumulated where, what is copied. Read from the plan's steps and loops alone. */
import { KernelNames } from '../../../src/backends/plan/body.js'
import { buildIr } from '../../../src/backends/plan/ir.js'
import type { Kernel } from '../../../src/backends/plan/kernel.js'
import { makePlan, type Plan } from '../../../src/backends/plan/plan.js'
import type { Loop } from '../../../src/backends/plan/repeat.js'
import type { Operand, Step } from '../../../src/backends/plan/step.js'
import { Identities } from '../../../src/core/graph/identity.js'
import type { Program } from '../../../src/core/graph/program.js'

/** Everything that plans of loops must come to. */
export const PLAN_FACTS = [
  'a loop',
  'a loop in a loop',
  'ended by its flag',
  'steps left out by a flag',
  'reads slices',
  'reads slices from the last',
  'writes rows',
  'carry: walks along rows',
  'carry: goes round in one place',
  'carry: written over where it is read',
  'carry: settled by a copy',
  'carry: accumulated into where it lies',
  'carry: its home is vacated for another value',
  'accumulates within a step',
  'accumulates over all steps',
] as const
export type PlanFact = (typeof PLAN_FACTS)[number]

const accumulates = (k: Kernel): boolean =>
  k.kind === 'gemm' ? k.accumulate : k.kind === 'opaque' ? k.inPlace !== undefined : k.outputs.some((o) => o.fold?.accumulate === true)
const copies = (k: Kernel): boolean => k.kind === 'loop' && k.body.ops.length === 0 && k.outputs.every((o) => o.fold === undefined)

/** Where a step touches a storage: what it reads, and an accumulator, which stands among its writes alone. */
const touched = (s: Step, k: Kernel): readonly { readonly o: Operand; readonly reads: boolean; readonly writes: boolean }[] => [
  ...s.reads.map((o) => ({ o, reads: true, writes: false })),
  ...s.writes.map((o, i) => ({ o, reads: i === 0 && accumulates(k), writes: true })),
]
const factsOf = (plan: Plan, { first, end, depth, flag }: Loop, say: (fact: PlanFact) => void): void => {
  const by = (o: Operand): number => o.advance?.[depth] ?? 0
  const steps = plan.steps.slice(first, end).map((step) => ({ step, kernel: plan.kernels[step.kernel]! }))
  say(depth > 0 ? 'a loop in a loop' : 'a loop')
  if (flag !== undefined) say(flag.ends ? 'ended by its flag' : 'steps left out by a flag')
  const all = steps.flatMap(({ step, kernel }, at) => touched(step, kernel).map((t) => ({ ...t, at, kernel })))
  for (const storage of new Set(all.map((t) => t.o.storage))) {
    if (storage < 0) continue
    const own = all.filter((t) => t.o.storage === storage)
    const [reads, writes] = [own.filter((t) => t.reads), own.filter((t) => t.writes)]
    const moves = own.some((t) => by(t.o) !== 0)
    if (moves && writes.length === 0) say(reads.some((t) => by(t.o) < 0) ? 'reads slices from the last' : 'reads slices')
    if (moves && reads.length === 0) say('writes rows')
    const walks = reads.some(
      (r) => by(r.o) !== 0 && writes.some((w) => by(w.o) === by(r.o) && Math.abs(w.o.offset - r.o.offset) === Math.abs(by(r.o))),
    )
    if (walks) say('carry: walks along rows')
    if (moves) continue
    if (writes.some((w) => w.reads)) say('accumulates within a step')
    const firstWrite = Math.min(...writes.map((w) => w.at))
    // Read before it is written: it holds what the last iteration left.
    if (writes.length === 0 || !reads.some((r) => r.at <= firstWrite)) continue
    say('carry: goes round in one place')
    if (writes.length === 1 && writes[0]!.reads) say('accumulates over all steps')
    if (writes.some((w) => !w.reads && reads.some((r) => r.at === w.at))) say('carry: written over where it is read')
    if (writes.some((w) => w.reads)) say('carry: accumulated into where it lies')
    if (writes.some((w) => copies(w.kernel))) say('carry: settled by a copy')
    if (writes.length > 1) say('carry: its home is vacated for another value')
  }
}

const ids = new Identities()
const names = new KernelNames(ids)
/** What the loops of a program became, planned as for the CPU. */
export const planFactsOf = (program: Program): ReadonlySet<PlanFact> => {
  const plan = makePlan(buildIr(program, ids), { nodes: 256, buffers: 48 }, names)
  const found = new Set<PlanFact>()
  for (const l of plan.loops) factsOf(plan, l, (fact) => found.add(fact))
  return found
}
