/** Loops and branches over trees: `scan`, `fori`, `switchCase`, `cond`. What their functions capture becomes arguments. */
import { flagOf, functionOf, integerOf, listOf, type Names, optionsOf } from '../errors/check-arguments.js'
import { raise } from '../errors/explain.js'
import { isFloat, showAval } from '../graph/aval.js'
import { castNode } from '../graph/cast.js'
import { builtBefore, close } from '../graph/close.js'
import { asExpr, CONST, input, type Node, nodesBuilt } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import type { Program } from '../graph/program.js'
import type { TreeDef } from '../graph/tree.js'
import { beside } from '../graph/weak.js'
import type { CondFn, ForiFn, LoopOptions, ScanFn, ScanOptions, SwitchCaseFn } from '../types/signatures/control.js'
import { arange } from './construct.js'
import { switchNodes } from './control.js'
import { loopBy } from './loop-segments.js'
import { invariant, isNothing, type Leaves, leavesOf, placed, type StepFn, sameLeaf, sameTree, settled, treeOf } from './loop-step.js'

/** The number of steps: the leading axis of every leaf of xs, or what is given. */
const lengthOf = (op: string, xs: Leaves | undefined, given: number | undefined): number => {
  const bad = (reason: string, fix: string): never => raise({ _tag: 'BadInput', where: op, reason, fix })
  const length = given === undefined ? undefined : integerOf(given, 'length', op)
  if (length !== undefined && length < 0) bad(`length is ${length}.`, 'give a whole number from 0.')
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

const scanning = (
  op: string,
  f: StepFn,
  init: unknown,
  given: unknown,
  { length: asked, reverse, ...how }: ScanOptions,
): readonly [carry: unknown, ys: unknown] => {
  const loop = loopBy(op, how)
  const xsGiven = isNothing(given) ? undefined : leavesOf(given, `${op}: xs`)
  const length = lengthOf(op, xsGiven, asked)
  const mark = nodesBuilt()
  const { carry, xs, step } = settled({ op, returned: 'the carry that f returned' }, f, leavesOf(init, `${op}: the carry`), xsGiven)
  const outputs = [...step.carry, ...(step.ys?.nodes ?? [])]
  const inner = invariant(step.inputs, outputs)
  const before = builtBefore(mark)
  const { program, captured } = close(op, step.inputs, outputs, (n) => before(n) || inner(n))
  const results = loop([...carry.nodes, ...(xs?.nodes ?? []), ...captured], {
    program,
    length,
    carries: carry.nodes.length,
    slices: xs?.nodes.length ?? 0,
    reverse: flagOf(reverse, 'reverse', op),
  })
  return [
    treeOf(carry, results.slice(0, carry.nodes.length)),
    step.ys === undefined ? null : treeOf(step.ys, results.slice(carry.nodes.length)),
  ]
}

/**
 * A loop that carries a state and stacks what each step gives: [carry, ys], where (carry, y_k) = f(carry, x_k).
 *
 * `f(carry, x)` returns [carry, y]: carry has the tree, shapes and dtypes of `init`, y is any tree, or null. x is the tree of the k-th slices of `xs`
 * along their first axes, which have one length; without xs (null) it is undefined, and `length` says how many steps there are. `reverse` takes the
 * slices from the last to the first; what is stacked stays where its slice was. What f captures is the same at every step, and what it computes of that
 * alone is computed once. A carry to which nobody gave a dtype, `0` or `zeros([3])`, takes that of what f returns.
 *
 * `unroll: k` makes k steps one step of the loop. `checkpoint` says what is kept for the way back, the rest being computed again: 'nothing' of a step but
 * its carry, its 'contractions', 'everything' that is not cheap (the default); or the carry of every k-th step alone (a number), about sqrt(length) of them
 * ('sqrt'). Neither changes a bit of a value or of a gradient in reverse mode; other derivatives may round otherwise.
 *
 * Rule    forward: one loop over the carry and its tangent. Reverse: one loop from the last step to the first, over what the steps kept.
 * Errors  BadInput for another tree or for lengths that differ; ShapeMismatch and DTypeMismatch, with the leaf, where the carry changes.
 * @example
 * const [total, sums] = scan((s: AnyExpr, x: AnyExpr) => [add(s, x), add(s, x)], 0, tensor([1, 2, 3]))
 * evaluate(sums)   // [1, 3, 6]
 */
export const scan: ScanFn = typed((f: StepFn, init: unknown, xs?: unknown, options?: ScanOptions): readonly [unknown, unknown] => {
  functionOf(f, 'f', 'scan')
  return scanning('scan', f, init, xs, optionsOf(options, scanOptions, 'scan'))
})
const loopOptions: Names<LoopOptions> = { unroll: true, checkpoint: true }
const scanOptions: Names<ScanOptions> = { length: true, reverse: true, ...loopOptions }

/**
 * A loop of n steps: carry = f(k, carry) for k = 0 ... n - 1, from `init`. k is an i32 expression. `unroll` and `checkpoint` as those of scan.
 *
 * Rule    as that of scan.
 * Errors  as those of scan; BadInput unless n is a whole number from 0.
 * @example evaluate(fori(4, (_k, x: AnyExpr) => mul(x, 2), 1))   // 16
 */
export const fori: ForiFn = typed(
  (n: number, f: (k: unknown, carry: unknown) => unknown, init: unknown, options?: LoopOptions): unknown => {
    functionOf(f, 'f', 'fori')
    const length = lengthOf('fori', undefined, n)
    const [carry] = scanning('fori', (c, k) => [f(k, c), null], init, arange(length, 'i32'), optionsOf(options, loopOptions, 'fori'))
    return carry
  },
)

/** The programs of branches over the same arguments: what any of them captured is an argument of all. */
const branching = (
  op: string,
  branches: readonly ((...args: readonly unknown[]) => unknown)[],
  index: Node,
  args: readonly unknown[],
): unknown => {
  const trees = args.map((a, i) => leavesOf(a, `${op}: argument ${i}`))
  const given = trees.flatMap((t) => t.nodes)
  const mark = nodesBuilt()
  const inputs = given.map((n) => input(n.aval))
  const left = [...inputs]
  const own = trees.map((t) => treeOf(t, left.splice(0, t.nodes.length)))
  const made = branches.map((f, b) => leavesOf(f(...own), `${op}: the result of branch ${b}`))
  const first = made[0]!
  made.forEach((m, b) => {
    sameTree(op, `the result of branch ${b}`, m, first)
  })
  // Beside an f32, what nobody declared is one.
  const want = first.nodes.map((_, i) => (made.some((m) => m.nodes[i]!.dtype === 'f32') ? 'f32' : undefined))
  const results = made.map((m) => m.nodes.map((n, i) => (want[i] === undefined ? n : beside(n, 'f32'))))
  results.forEach((r, b) => {
    r.forEach((n, i) => {
      sameLeaf(op, placed(`the result of branch ${b}`, first.paths[i]!), n.aval, results[0]![i]!.aval)
    })
  })
  const { program, captured } = close(op, inputs, results.flat(), builtBefore(mark))
  const count = first.nodes.length
  const programs = branches.map(
    (_, b): Program => ({ ...program, outputs: program.outputs.slice(b * count, (b + 1) * count), outputTree: tupleOf(count) }),
  )
  return treeOf(first, count === 0 ? [] : switchNodes([index, ...given, ...captured], { branches: programs }))
}
const tupleOf = (n: number): TreeDef => ({ _tag: 'Tuple', items: Array.from({ length: n }, (): TreeDef => ({ _tag: 'Leaf' })) })

/** A scalar that chooses, as an i32. */
const indexOf = (op: string, what: string, given: unknown): Node => {
  const n = lift(given, op)
  if (n.shape.length !== 0)
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [n.shape],
      reason: `${what} is ${showAval(n.aval)}.`,
      fix: 'give a scalar; for a choice at every element there is where.',
    })
  if (isFloat(n.dtype) && !(n.kind === CONST && Number.isInteger(n.payload)))
    raise({
      _tag: 'DTypeMismatch',
      op,
      dtypes: [n.dtype],
      reason: `${what} is ${showAval(n.aval)}`,
      fix: 'give an i32, a comparison, or cast it.',
    })
  return castNode(n, 'i32')
}

/**
 * The result of one of several functions of the same arguments, by its place in the list: an index below 0 means the first, one past the end the last.
 *
 * All return one tree of the same shapes and dtypes. What they capture is an argument of all.
 * Rule    that of the branch which is chosen: nothing of the others reaches a derivative, not even a NaN.
 * Errors  BadInput for trees that differ or no branches; ShapeMismatch and DTypeMismatch, with the leaf, where results differ.
 * @example evaluate(switchCase(1, [(x: AnyExpr) => x, (x: AnyExpr) => mul(x, x)], 3))   // 9
 */
export const switchCase: SwitchCaseFn = typed((index: unknown, branches: readonly unknown[], ...args: readonly unknown[]): unknown => {
  const list = listOf(branches, 'the branches', 'switchCase')
  if (list.length === 0) raise({ _tag: 'BadInput', where: 'switchCase', reason: 'it has no branches.', fix: 'give a list of functions.' })
  for (const [b, f] of list.entries()) functionOf(f, `branch ${b}`, 'switchCase')
  return branching(
    'switchCase',
    list as readonly ((...xs: readonly unknown[]) => unknown)[],
    indexOf('switchCase', 'the index', index),
    args,
  )
})

/**
 * onTrue(...args) where the scalar condition holds, else onFalse(...args).
 *
 * Both return one tree of the same shapes and dtypes.
 * Rule    that of the branch which is chosen: nothing of the other reaches a derivative, not even a NaN.
 * Errors  as those of switchCase.
 * @example evaluate(cond(gt(4, 0), (x: AnyExpr) => sqrt(x), (x: AnyExpr) => mul(x, 0), 4))   // 2
 */
export const cond: CondFn = typed((condition: unknown, onTrue: unknown, onFalse: unknown, ...args: readonly unknown[]): unknown => {
  functionOf(onTrue, 'onTrue', 'cond')
  functionOf(onFalse, 'onFalse', 'cond')
  const n = lift(condition, 'cond')
  const index = indexOf('cond', 'the condition', asExpr(castNode(n, 'bool')))
  return branching('cond', [onFalse, onTrue] as readonly ((...xs: readonly unknown[]) => unknown)[], index, args)
})
