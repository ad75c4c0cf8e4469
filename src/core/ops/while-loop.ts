/** Loops that end when a condition says so. */
import { callback, integer } from '../errors/options.js'
import { asExpr } from '../graph/expr.js'
import type { WhileLoopFn } from '../types/signatures/control.js'
import { not } from './compare.js'
import { UNBOUNDED } from './control.js'
import { loopOptions } from './loop-segments.js'
import { leavesOf } from './loop-step.js'
import { looping } from './loops.js'
import { operation, unread } from './operation.js'

type Asked = (state: unknown) => unknown

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
export const whileLoop: WhileLoopFn = operation(
  'whileLoop',
  { condition: callback<Asked>('the condition'), body: callback<Asked>(), init: unread },
  { maxSteps: integer(undefined, { from: 0, to: UNBOUNDED - 1 }), ...loopOptions },
  ({ condition, body, init }, options, op) => {
    const { state, steps, more } = looping(
      { op, returned: 'the state that body returned' },
      (s) => condition(s),
      (s) => body(s),
      leavesOf(init, `${op}: the state`),
      options,
    )
    return [state, { steps: asExpr(steps), done: not(asExpr(more)) }]
  },
)
