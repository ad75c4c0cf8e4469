/** Loops that end when a condition says so. */
import { functionOf, integerOf, type Names, optionsOf } from '../errors/check-arguments.js'
import { raise } from '../errors/explain.js'
import { aval, showAval } from '../graph/aval.js'
import { builtBefore, close } from '../graph/close.js'
import { asExpr, asNode, constant, input, type Node, nodesBuilt } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { substitute } from '../graph/rewrite.js'
import type { WhileLoopFn, WhileOptions } from '../types/signatures/control.js'
import { not } from './compare.js'
import { UNBOUNDED } from './control.js'
import { add } from './elementwise.js'
import { loopBy } from './loop-segments.js'
import { invariant, type Leaves, leavesOf, settled, treeOf } from './loop-step.js'

/** What the condition says of a state, over inputs that stand for it. */
const flagOver = (condition: (state: unknown) => unknown, state: Leaves): ((at: readonly Node[]) => Node) => {
  const inputs = state.nodes.map((n, i) => input(n.aval, state.paths[i] || 'state'))
  const flag = lift(condition(treeOf(state, inputs)), 'whileLoop: the condition')
  const reason = `the condition returned ${showAval(flag.aval)}`
  if (flag.shape.length !== 0)
    raise({
      _tag: 'ShapeMismatch',
      op: 'whileLoop',
      shapes: [flag.shape],
      reason: `${reason}.`,
      fix: 'return a scalar: any or all of the array.',
    })
  if (flag.dtype !== 'bool')
    raise({ _tag: 'DTypeMismatch', op: 'whileLoop', dtypes: [flag.dtype], reason, fix: 'return a comparison, such as gt(x, 0).' })
  return (at) => substitute([flag], new Map(inputs.map((x, i) => [x, at[i]!])))[0]!
}

const whileOptions: Names<WhileOptions> = { maxSteps: true, unroll: true, checkpoint: true }
const stepsOf = ({ maxSteps: given, unroll, checkpoint }: WhileOptions): number => {
  if (given === undefined)
    return unroll === undefined && checkpoint === undefined
      ? UNBOUNDED
      : raise({ _tag: 'BadInput', where: 'whileLoop', reason: 'unroll and checkpoint need maxSteps.', fix: 'give { maxSteps }.' })
  const steps = integerOf(given, 'maxSteps', 'whileLoop')
  return steps >= 0 && steps < UNBOUNDED
    ? steps
    : raise({ _tag: 'BadInput', where: 'whileLoop', reason: `maxSteps is ${steps}.`, fix: 'give a whole number from 0 to 2147483646.' })
}

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
  const { maxSteps, ...how } = optionsOf(options, whileOptions, op)
  const length = stepsOf({ maxSteps, ...how })
  const loop = loopBy(op, how)
  const mark = nodesBuilt()
  const one = body as (state: unknown) => unknown
  const { carry, step } = settled(
    { op, returned: 'the state that body returned' },
    (s) => [one(s), null],
    leavesOf(init, `${op}: the state`),
    undefined,
  )
  const flag = flagOver(condition as (state: unknown) => unknown, carry)
  const count = input(aval([], 'i32'), 'steps')
  const inputs = [input(aval([], 'bool'), 'more'), count, ...step.inputs]
  const outputs = [flag(step.carry), asNode(add(asExpr(count), 1)), ...step.carry]
  const inner = invariant(inputs, outputs)
  const before = builtBefore(mark)
  const { program, captured } = close(op, inputs, outputs, (n) => before(n) || inner(n))
  const args = [flag(carry.nodes), constant(0, 'i32'), ...carry.nodes, ...captured]
  const [more, steps, ...state] = loop(args, { program, length, carries: inputs.length, slices: 0, reverse: false, until: 0 })
  return [treeOf(carry, state), { steps: asExpr(steps!), done: not(asExpr(more!)) }]
})
