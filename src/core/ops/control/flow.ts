/** Loops and branches over trees: `scan`, `fori`, `whileLoop`, `switchCase`, `cond`, `checkpoint`. What their functions capture becomes arguments. */
import { functionOf, listOf } from '../../errors/check-arguments.js'
import { badDtype, badInput, badShape } from '../../errors/explain.js'
import { callback, flag, integer, whole } from '../../errors/options.js'
import { isFloat, showAval } from '../../graph/aval.js'
import { castNode } from '../../graph/cast.js'
import { builtBefore, close } from '../../graph/close.js'
import { asExpr, CONST, input, type Node, nodesBuilt } from '../../graph/expr.js'
import { lift } from '../../graph/lift.js'
import { typed } from '../../graph/operation.js'
import type { Program } from '../../graph/program.js'
import type { TreeDef } from '../../graph/tree.js'
import { beside, isWeak } from '../../graph/weak.js'
import type { CheckpointFn, CondFn, ForiFn, ScanFn, SwitchCaseFn, WhileLoopFn } from '../../types/signatures/control.js'
import { lt, not } from '../compare.js'
import { arange } from '../construct.js'
import { reshapeNode } from '../layout/move.js'
import { operation, unread } from '../operation.js'
import { scanNodes, switchNodes, UNBOUNDED } from './control.js'
import { looping, scanning } from './loops.js'
import { keepOf, type Loops, loopOptions } from './segments.js'
import { type Leaves, leavesOf, placed, type StepFn, sameLeaf, sameTree, treeOf } from './step.js'

export const scanOptions = {
  /** The number of steps, where there are no xs to say it. */
  length: integer(undefined, { from: 0 }),
  /** From the last slice to the first? */
  reverse: flag(),
}
/**
 * A loop that carries a state and stacks the outputs of its steps: [carry, ys], where (carry, y_k) = f(carry, x_k).
 *
 * `f(carry, x)` returns [carry, y]: carry has the tree, shapes and dtypes of `init`, y is any tree, or null. x is the tree of the k-th slices of `xs` along
 * their first axes, which have one length; without xs (null) it is undefined, and `length` says how many steps there are. `reverse` takes the slices from
 * the last to the first; each output stays at the place of its slice. Captured values are the same at every step, and what depends on them alone is
 * computed once. A carry without a dtype of its own, `0` or `zeros([3])`, takes the dtype that f returns.
 *
 * `unroll: k` makes k steps one iteration of the loop. `checkpoint` says which residuals are kept; the rest is recomputed: 'nothing' of a step but its
 * carry, its 'contractions', 'everything' that is not cheap (the default); or only the carry of every k-th step (a number), or of about sqrt(length) steps
 * ('sqrt'). Neither changes a bit of a value; derivatives may be summed in another order.
 *
 * Rule    forward: one loop over the carry and its tangent. Reverse: one loop from the last step to the first, over the residuals.
 * Errors  BadInput if the tree changes or lengths differ; ShapeMismatch and DTypeMismatch, naming the leaf, if the carry changes.
 * @example
 * const [total, sums] = scan((s: AnyExpr, x: AnyExpr) => [add(s, x), add(s, x)], 0, tensor([1, 2, 3]))
 * evaluate(sums)   // [1, 3, 6]
 */
export const scan: ScanFn = operation(
  'scan',
  { f: callback<StepFn>(), init: unread, xs: unread },
  { ...scanOptions, ...loopOptions },
  ({ f, init, xs }, options, op) => scanning(op, f, init, xs, options),
)

/** A scalar that chooses or counts, as an i32. */
const indexOf = (op: string, what: string, given: unknown): Node => {
  const n = lift(given, op)
  if (n.shape.length !== 0)
    badShape(op, [n.shape], `${what} is ${showAval(n.aval)}.`, 'give a scalar; for a choice at every element there is where.')
  if (isFloat(n.dtype) && !(n.kind === CONST && Number.isInteger(n.payload)))
    badDtype(op, [n.dtype], `${what} is ${showAval(n.aval)}`, 'give an i32, a comparison, or cast it.')
  return castNode(n, 'i32')
}

type Body = (k: unknown, carry: unknown) => unknown

/** The loop of a count that is not known before it runs. */
const counted = (given: unknown, f: Body, init: unknown, { unroll, checkpoint }: Loops): unknown => {
  const op = 'fori'
  if (unroll !== undefined || checkpoint !== undefined)
    badInput(op, 'unroll and checkpoint need a number of steps.', 'give n as a number, or use whileLoop with maxSteps.')
  const n = asExpr(indexOf(op, 'n', given))
  return looping(
    { op, returned: 'the carry that f returned' },
    (_carry, k) => lt(k as never, n),
    (carry, k) => f(k, carry),
    leavesOf(init, `${op}: the carry`),
  ).state
}

/**
 * A loop of n steps: carry = f(k, carry) for k = 0 ... n - 1, from `init`. k is an i32 expression. `unroll` and `checkpoint` are as for `scan`.
 *
 * n is a number, or a computed i32 scalar: one plan for every number of steps, and no step if n is negative. With a computed n it is a whileLoop without `maxSteps`: it
 * has values, forward mode and vmap (over n too), but no reverse mode.
 *
 * Rule    as for `scan`; for a computed n as for `whileLoop`.
 * Errors  as for `scan`; BadInput unless a number n is a non-negative integer; ShapeMismatch and DTypeMismatch unless a computed n is an i32 scalar.
 * @example evaluate(fori(4, (_k, x: AnyExpr) => mul(x, 2), 1))   // 16
 */
export const fori: ForiFn = operation(
  'fori',
  { n: unread, f: callback<Body>(), init: unread },
  loopOptions,
  ({ n, f, init }, options, op) => {
    if (typeof n === 'object' && n !== null) return counted(n, f, init, options)
    const length = whole({ from: 0 }).read(n, 'n', op, [])
    return scanning(op, (c, k) => [f(k, c), null], init, arange(length, 'i32'), options)[0]
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

/**
 * The result of one of several functions of the same arguments, chosen by an index: one below 0 means the first, one past the end the last.
 *
 * All return the same tree, shapes and dtypes. Captured values become arguments of all branches.
 * Rule    that of the chosen branch: nothing of the others reaches a derivative, not even a NaN.
 * Errors  BadInput for trees that differ or no branches; ShapeMismatch and DTypeMismatch, naming the leaf, if results differ.
 * @example evaluate(switchCase(1, [(x: AnyExpr) => x, (x: AnyExpr) => mul(x, x)], 3))   // 9
 */
export const switchCase: SwitchCaseFn = typed((index: unknown, branches: readonly unknown[], ...args: readonly unknown[]): unknown => {
  const list = listOf(branches, 'the branches', 'switchCase')
  if (list.length === 0) badInput('switchCase', 'it has no branches.', 'give a list of functions.')
  for (const [b, f] of list.entries()) functionOf(f, `branch ${b}`, 'switchCase')
  return branching(
    'switchCase',
    list as readonly ((...xs: readonly unknown[]) => unknown)[],
    indexOf('switchCase', 'the index', index),
    args,
  )
})

/**
 * onTrue(...args) if the scalar condition holds, else onFalse(...args).
 *
 * Both return the same tree, shapes and dtypes.
 * Rule    that of the chosen branch: nothing of the other reaches a derivative, not even a NaN.
 * Errors  as for `switchCase`.
 * @example evaluate(cond(gt(4, 0), (x: AnyExpr) => sqrt(x), (x: AnyExpr) => mul(x, 0), 4))   // 2
 */
export const cond: CondFn = typed((condition: unknown, onTrue: unknown, onFalse: unknown, ...args: readonly unknown[]): unknown => {
  functionOf(onTrue, 'onTrue', 'cond')
  functionOf(onFalse, 'onFalse', 'cond')
  const n = lift(condition, 'cond')
  const index = indexOf('cond', 'the condition', asExpr(castNode(n, 'bool')))
  return branching('cond', [onFalse, onTrue] as readonly ((...xs: readonly unknown[]) => unknown)[], index, args)
})

type Asked = (state: unknown) => unknown

export const whileOptions = {
  /** At most this many steps. Reverse mode needs it. */
  maxSteps: integer(undefined, { from: 0, to: UNBOUNDED - 1 }),
}
/**
 * state = body(state), from `init`, while condition(state) holds: [state, { steps, done }].
 *
 * The state is a tree; body returns the same tree, shapes and dtypes, condition a scalar bool. `steps` (i32) says how often body was applied, `done` (bool)
 * whether the condition ended the loop: false if `maxSteps` did. A comparison with NaN is false, so a NaN in the state ends a loop whose condition compares
 * it. Under vmap each example ends by itself; the loop runs until all have ended. `unroll` and `checkpoint` are as for `scan`.
 *
 * Rule    as for `scan`, over the steps taken; reverse mode needs `maxSteps`.
 * Errors  BadInput if the tree changes, or in reverse mode without maxSteps; ShapeMismatch and DTypeMismatch, naming the leaf, if the state changes or the
 *         condition is not a scalar bool.
 * @example
 * const [x, { steps, done }] = whileLoop((x) => lt(x, 100), (x: AnyExpr) => mul(x, 3), 2, { maxSteps: 10 })
 * evaluate(x)   // 162
 */
export const whileLoop: WhileLoopFn = operation(
  'whileLoop',
  { condition: callback<Asked>('the condition'), body: callback<Asked>(), init: unread },
  { ...whileOptions, ...loopOptions },
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

/**
 * The function f with fewer residuals: the reverse pass recomputes the others.
 *
 * `keep`: 'nothing' but arguments and captured values (the default), 'contractions' in addition, or 'everything', as without checkpoint. Values and gradients
 * are the same bit for bit, second derivatives up to rounding. For a loop use the loop's own option `checkpoint`.
 *
 * Rule    that of f.
 * Errors  BadInput for an unknown `keep`.
 * @example
 * const layer = checkpoint((x: AnyExpr) => mul(x, mul(x, x)))
 * grad((x: AnyExpr) => sum(layer(layer(x))))([1, 2])   // [9, 2304]
 */
export const checkpoint: CheckpointFn = typed((f: unknown, keep: unknown = 'nothing'): unknown => {
  const body = functionOf(f, 'f', 'checkpoint') as (...args: readonly unknown[]) => unknown
  const policy = keepOf(keep, 'keep', 'checkpoint')
  return (...args: readonly unknown[]): unknown => {
    const trees = args.map((a, i) => leavesOf(a, `checkpoint: argument ${i}`))
    const mark = nodesBuilt()
    const inputs: Node[] = []
    const given: Node[] = []
    // A constant to which nobody gave a dtype takes that of its neighbours in f; it has no gradient.
    const standIn = (n: Node): Node => {
      if (n.kind === CONST || isWeak(n)) return n
      const x = input(n.aval)
      inputs.push(x)
      given.push(n)
      return x
    }
    const made: Leaves = leavesOf(body(...trees.map((t) => treeOf(t, t.nodes.map(standIn)))), 'checkpoint: the result of f')
    const { program, captured } = close('checkpoint', inputs, made.nodes, builtBefore(mark))
    if (program.inputs.length === 0 || made.nodes.length === 0) return treeOf(made, made.nodes)
    // One step, whose arguments are slices: their cotangents are stacked, not added to zeros.
    const row = (n: Node): Node => reshapeNode(n, [1, ...n.shape])
    const rows = scanNodes([...given, ...captured].map(row), {
      program,
      length: 1,
      carries: 0,
      slices: program.inputs.length,
      reverse: false,
      keep: policy,
    })
    return treeOf(
      made,
      rows.map((y, i) => (isWeak(made.nodes[i]!) ? made.nodes[i]! : reshapeNode(y, y.shape.slice(1)))),
    )
  }
})
