/** Loops that end when a condition says so. */
import { functionOf, type Names, optionsOf } from '../errors/check-arguments.js'
import { asExpr } from '../graph/expr.js'
import { typed } from '../graph/operation.js'
import type { WhileLoopFn, WhileOptions } from '../types/signatures/control.js'
import { not } from './compare.js'
import { leavesOf } from './loop-step.js'
import { looping } from './loops.js'

const whileOptions: Names<WhileOptions> = { maxSteps: true, unroll: true, checkpoint: true }

/**
 * state = body(state), from `init`, while condition(state) holds: [state, { steps, done }].
 *
 * The state is a tree; body returns one of the same tree, shapes and dtypes, condition a scalar bool. `steps` (i32) says how often body was applied, `done`
 * (bool) whether the condition ended the loop: false where `maxSteps` did. A comparison with NaN is false, so a state that is NaN ends a loop that asks
 * whether it is large enough. Under vmap each example ends for itself; the loop goes on until all have. `unroll` and `checkpoint` as those of scan.
 *
 * Rule    as that of scan, over the steps that were taken; reverse mode needs `maxSteps`.
 * Errors  BadInput for another tree, or in reverse mode without maxSteps; ShapeMismatch and DTypeMismatch, with the leaf, where the state changes, or where
 *         the condition is no scalar bool.
 * @example
 * const [x, { steps, done }] = whileLoop((x) => lt(x, 100), (x: AnyExpr) => mul(x, 3), 2, { maxSteps: 10 })
 * evaluate(x)   // 162
 */
export const whileLoop: WhileLoopFn = typed((condition: unknown, body: unknown, init: unknown, options?: WhileOptions): unknown => {
  const op = 'whileLoop'
  functionOf(condition, 'the condition', op)
  functionOf(body, 'body', op)
  const { state, steps, more } = looping(
    { op, returned: 'the state that body returned' },
    (s) => (condition as (state: unknown) => unknown)(s),
    (s) => (body as (state: unknown) => unknown)(s),
    leavesOf(init, `${op}: the state`),
    optionsOf(options, whileOptions, op),
  )
  return [state, { steps: asExpr(steps), done: not(asExpr(more)) }]
})
