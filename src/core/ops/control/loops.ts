/** Loops over trees, with the errors of the operation they are part of: so many steps, or until a condition ends them. */
import { badDtype, badInput, badShape } from '../../errors/explain.js'
import { aval, showAval } from '../../graph/aval.js'
import { builtBefore, close } from '../../graph/close.js'
import { asExpr, asNode, constant, input, type Node, nodesBuilt } from '../../graph/expr.js'
import { lift } from '../../graph/lift.js'
import { substitute } from '../../graph/rewrite.js'
import { add } from '../elementwise.js'
import { UNBOUNDED } from './control.js'
import { type Loops, loopBy } from './segments.js'
import { invariant, isNothing, type Leaves, leavesOf, placed, type StepFn, settled, treeOf } from './step.js'

/** The number of steps: the leading axis of every leaf of xs, or what is given. */
const lengthOf = (op: string, xs: Leaves | undefined, length: number | undefined): number => {
  const bad = (reason: string, fix: string): never => badInput(op, reason, fix)
  let first: { readonly size: number; readonly path: string } | undefined
  for (const [i, n] of (xs?.nodes ?? []).entries()) {
    const path = placed('xs', xs!.paths[i]!)
    const size = n.shape[0] ?? bad(`${path} is a number: it has no axis of steps.`, 'capture it in f, or put it into the carry.')
    if (first === undefined) first = { size, path }
    if (size !== first.size) bad(`${first.path} has ${first.size} steps, ${path} has ${size}.`, 'give every leaf the same leading axis.')
    if (length !== undefined && size !== length)
      bad(`length is ${length}, ${path} has ${size} steps.`, 'leave length out, or make them equal.')
  }
  return length ?? first?.size ?? bad('it has no xs and no length.', 'give { length }.')
}

/** A scan whose errors are `op`'s. */
export const scanning = (
  op: string,
  f: StepFn,
  init: unknown,
  given: unknown,
  { length: asked, reverse = false, ...how }: Loops & { readonly length?: number | undefined; readonly reverse?: boolean },
): readonly [carry: unknown, ys: unknown] => {
  const loop = loopBy(op, how)
  const xsGiven = isNothing(given) ? undefined : leavesOf(given, `${op}: xs`)
  const length = lengthOf(op, xsGiven, asked)
  const mark = nodesBuilt()
  const { carry, xs, step } = settled({ op, returned: 'the carry that f returned' }, f, leavesOf(init, `${op}: the carry`), xsGiven)
  const inner = invariant(step.inputs, step.outputs)
  const before = builtBefore(mark)
  const { program, captured } = close(op, step.inputs, step.outputs, (n) => before(n) || inner(n))
  const results = loop([...carry.nodes, ...(xs?.nodes ?? []), ...captured], {
    program,
    length,
    carries: carry.nodes.length,
    slices: xs?.nodes.length ?? 0,
    reverse,
  })
  return [
    treeOf(carry, results.slice(0, carry.nodes.length)),
    step.ys === undefined ? null : treeOf(step.ys, results.slice(carry.nodes.length)),
  ]
}

type Asked = (state: unknown, k: unknown) => unknown
/** What the condition says of a state after k steps, over inputs that stand for them. */
const flagOver = (op: string, condition: Asked, state: Leaves): ((k: Node, at: readonly Node[]) => Node) => {
  const inputs = state.nodes.map((n, i) => input(n.aval, state.paths[i] || 'state'))
  const steps = input(aval([], 'i32'), 'k')
  const flag = lift(condition(treeOf(state, inputs), asExpr(steps)), `${op}: the condition`)
  const reason = `the condition returned ${showAval(flag.aval)}`
  if (flag.shape.length !== 0) badShape(op, [flag.shape], `${reason}.`, 'return a scalar: any or all of the array.')
  if (flag.dtype !== 'bool') badDtype(op, [flag.dtype], reason, 'return a comparison, such as gt(x, 0).')
  return (k, at) => substitute([flag], new Map([[steps, k], ...inputs.map((x, i) => [x, at[i]!] as const)]))[0]!
}

type Whiles = Loops & { readonly maxSteps?: number | undefined }
const stepsOf = ({ maxSteps, unroll, checkpoint }: Whiles): number => {
  if (maxSteps === undefined)
    return unroll === undefined && checkpoint === undefined
      ? UNBOUNDED
      : badInput('whileLoop', 'unroll and checkpoint need maxSteps.', 'give { maxSteps }.')
  return maxSteps
}

/** A whileLoop whose functions know how many steps there were, with the errors of `op`: the last state, the steps, and whether there would be more. */
export const looping = (
  { op, returned }: { readonly op: string; readonly returned: string },
  condition: Asked,
  body: Asked,
  init: Leaves,
  { maxSteps, ...how }: Whiles = {},
): { readonly state: unknown; readonly steps: Node; readonly more: Node } => {
  const length = stepsOf({ maxSteps, ...how })
  const loop = loopBy(op, how)
  const mark = nodesBuilt()
  const count = input(aval([], 'i32'), 'steps')
  const { carry, step } = settled({ op, returned }, (s) => [body(s, asExpr(count)), null], init, undefined)
  const flag = flagOver(op, condition, carry)
  const next = asNode(add(asExpr(count), 1))
  const inputs = [input(aval([], 'bool'), 'more'), count, ...step.inputs]
  const outputs = [flag(next, step.carry), next, ...step.carry]
  const inner = invariant(inputs, outputs)
  const before = builtBefore(mark)
  const { program, captured } = close(op, inputs, outputs, (n) => before(n) || inner(n))
  const zero = constant(0, 'i32')
  const args = [flag(zero, carry.nodes), zero, ...carry.nodes, ...captured]
  const [more, steps, ...state] = loop(args, { program, length, carries: inputs.length, slices: 0, reverse: false, until: 0 })
  return { state: treeOf(carry, state), steps: steps!, more: more! }
}
