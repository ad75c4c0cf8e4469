/** Data parallelism: a function of a batch as one of the parts that the ranks have of it. */
import { from } from '../core/calculus/pack.js'
import { functionOf, integerOf, recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { choice, flag, func, integer, needed, type OptionsOf, or, readOptions } from '../core/errors/options.js'
import { applied, callable, metaOf } from '../core/functions/function.js'
import { isFloat, itemBytes } from '../core/graph/aval.js'
import { evaluateNodes } from '../core/graph/evaluate.js'
import { applyAny, asExpr, asNode, type Node } from '../core/graph/expr.js'
import { lift } from '../core/graph/lift.js'
import { arrayConstructor } from '../core/graph/ndarray.js'
import { typed } from '../core/graph/operation.js'
import { liftTree } from '../core/graph/program.js'
import { sizeOf } from '../core/graph/shape.js'
import { isTensor, Tensor } from '../core/graph/tensor.js'
import { flatten, unflatten } from '../core/graph/tree.js'
import { eq } from '../core/ops/compare.js'
import { cast, div, mul, where } from '../core/ops/elementwise.js'
import { axisOf } from '../core/ops/layout/move.js'
import type { AnyExpr } from '../core/types/expr.js'
import type { AnyFn } from '../core/types/fn.js'
import { context } from '../instance/context.js'
import { mpiPack } from './pack.js'
import { inside } from './parts/placement.js'
import type { OnParts } from './parts/types.js'
import { type Meanwhile, spreadPrimitive, totalPrimitive } from './primitives.js'
import { current } from './world.js'

export const shardOptions = {
  /** The inputs of which each rank has a part, with the axis that is in parts: `{ x: 0, y: 0 }`. All others are equal on all ranks. */
  data: needed<Readonly<Record<string, number>>>((given, _what, where) => {
    const named = recordOf(given as Readonly<Record<string, number>>, 'data', where)
    if (Object.keys(named).length === 0)
      badInput(where, 'data names no input.', 'write { data: { x: 0 } }: its name, and the axis that is in parts.')
    for (const [name, axis] of Object.entries(named)) integerOf(axis, `data.${name}`, where)
    return { ...named }
  }),
  /** The inputs that are in parts, with their placements: `{ params: inParts(params, 'zero3') }`. */
  parts: or<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>>({}, (given, _what, where) => {
    const named = recordOf(given as Readonly<Record<string, unknown>>, 'parts', where)
    for (const placement of Object.values(named)) inside(placement, where)
    return { ...named }
  }),
  /** What a result is of those of the parts: their 'mean', weighed with the lengths of the parts, unless given, or their 'sum'. */
  op: choice(['mean', 'sum'], 'mean'),
  /** How much this rank's part counts in a mean, as a scalar of the inputs: the length of the part unless given. It may be 0. */
  weight: func<((inputs: never) => unknown) | undefined>(),
  /** Does a sum over ranks go on while the rank computes what does not need it? A thread of the rank carries it out. No unless given. */
  overlap: flag(),
  /** Cotangents are summed over ranks in buckets of about so many bytes: 25,000,000 unless given. */
  bucketBytes: integer(25_000_000, { from: 1 }),
}
/** Options of `shard`. */
export type ShardOptions = OptionsOf<typeof shardOptions>

/** What `shard` is. */
export interface ShardFn {
  <F extends AnyFn>(f: F, options: ShardOptions & { readonly parts?: undefined }): F
  <F extends AnyFn, const Q extends Readonly<Record<string, unknown>>>(
    f: F,
    options: ShardOptions & { readonly parts: Q },
  ): OnParts<F, keyof Q>
}

/** Nodes in buckets: of one dtype, and of about so many bytes, counted from the end, with which a backward pass begins. What is built last it meets first, so the last bucket is built last. */
const inBuckets = (nodes: readonly Node[], bytes: number, f: (bucket: readonly Node[]) => readonly Node[]): readonly Node[] => {
  const done = [...nodes]
  const buckets: number[][] = []
  for (const dtype of ['f64', 'f32'] as const) {
    let [bucket, held] = [[] as number[], 0]
    for (let i = nodes.length - 1; i >= 0; i--) {
      const { aval } = nodes[i]!
      if (aval.dtype !== dtype) continue
      const size = aval.size * itemBytes[dtype]
      if (bucket.length > 0 && held + size > bytes) {
        buckets.push(bucket)
        ;[bucket, held] = [[], 0]
      }
      bucket.push(i)
      held += size
    }
    if (bucket.length > 0) buckets.push(bucket)
  }
  for (const at of buckets.reverse()) for (const [k, y] of f(at.map((i) => nodes[i]!)).entries()) done[at[k]!] = y
  return done
}

/** The common length of what is in parts, along the axes of the parts. */
const lengthOf = (tree: Readonly<Record<string, unknown>>, data: Readonly<Record<string, number>>): number => {
  let length: number | undefined
  for (const [name, axis] of Object.entries(data)) {
    if (!Object.hasOwn(tree, name)) badInput('shard', `there is no input ${name}.`, `the inputs are ${Object.keys(tree).join(', ')}.`)
    for (const x of liftTree(tree[name], 'shard').nodes) {
      const n = x.shape[axisOf(axis, x.shape.length, 'shard')]!
      if (length !== undefined && n !== length)
        badInput('shard', `the parts of the data have lengths ${length} and ${n}.`, 'give inputs of one length along their axes.')
      length = n
    }
  }
  return length ?? badInput('shard', 'the data has no arrays.', 'name inputs that have some.')
}

/**
 * f as a function of a batch that lies on all ranks: each rank calls it with its own part, and all get the result and the derivatives of f at the whole batch.
 *
 * f takes one record. Inputs in `data` are in parts along their axes, which may differ in length; all others (parameters, states) must be equal on all ranks. The result of f is a mean
 * over the batch (with `op: 'sum'` a sum; of masked rows, with `weight: ({ mask }) => sum(mask)`, a masked mean), a float or a tree of floats. On one rank it is f. A training step needs no other change: gradients, of any order and in both modes, are those of the
 * whole batch and equal on all ranks, so that their parameters stay equal. Cotangents of inputs that are not in parts are summed over ranks in buckets, one allReduce for each.
 * Errors  BadInput for names that f does not take, parts of several lengths, results of integers.
 * @example
 * const loss = shard(({ w, x }: { w: AnyExpr; x: AnyExpr }) => mean(square(mul(w, x))), { data: { x: 0 } })
 * simulateRanks(2, (rank) => evaluate(grad(loss, { wrt: 'w' })({ w: 3, x: rank === 0 ? [1] : [2, 5] })).toArray())   // [60, 60]
 */
export const shard: ShardFn = /*#__PURE__*/ from(
  mpiPack,
  typed((f: AnyFn, given: unknown): unknown => {
    const { data, parts, op, weight, bucketBytes, overlap } = readOptions(shardOptions, given as ShardOptions, 'shard')
    if (weight !== undefined && op === 'sum')
      badInput('shard', 'a sum over the parts has no weights.', "leave out `weight`, or give { op: 'mean' }.")
    const meta = metaOf(functionOf(f, 'the first argument', 'shard'), 'shard')
    const body = (args: readonly unknown[]): unknown => {
      const tree = args[0]
      if (args.length !== 1 || typeof tree !== 'object' || tree === null)
        return badInput(
          'shard',
          `${meta.name} takes ${args.length === 1 ? shown(tree) : `${args.length} arguments`}.`,
          'give a function of one record of inputs.',
        )
      const inputs = tree as Readonly<Record<string, unknown>>
      const length = lengthOf(inputs, data)
      const { size } = current()
      const placed = Object.entries(parts)
      const params: Meanwhile = overlap ? { overlap } : {}
      if (size === 1 && placed.length === 0) return applied(meta, args)
      for (const [name] of placed)
        if (!Object.hasOwn(inputs, name) || name in data)
          badInput('shard', `there is no input ${name} beside the data.`, `the inputs are ${Object.keys(inputs).join(', ')}.`)
      const spread = (nodes: readonly Node[]): readonly Node[] =>
        size === 1 ? nodes : inBuckets(nodes, bucketBytes, (xs) => applyAny(spreadPrimitive, xs, params))
      const whole = Object.fromEntries(Object.entries(inputs).filter(([name]) => !(name in data || name in parts)))
      const { nodes, def } = liftTree(whole, 'shard')
      const same = unflatten(def, spread(nodes).map(asExpr)) as object
      const wholes = Object.fromEntries(placed.map(([name, placement]) => [name, inside(placement, 'shard').wholes(inputs[name], spread)]))
      const result = liftTree(applied(meta, [{ ...inputs, ...same, ...wholes }]), 'shard')
      if (size === 1) return unflatten(result.def, result.nodes.map(asExpr))
      for (const y of result.nodes)
        if (!isFloat(y.dtype))
          badInput('shard', `a result of ${meta.name} is ${y.dtype}.`, 'cast it to f32; counts as sums need a shard of their own.')
      const counts = op === 'sum' ? undefined : weight === undefined ? length : weightIn(weight(inputs as never))
      return unflatten(result.def, totals(result.nodes, counts, bucketBytes, params).map(asExpr))
    }
    const { declared, ...free } = meta
    // What a function declares are whole arrays.
    return callable(context.runtime, Object.keys(parts).length === 0 ? { ...meta, body } : { ...free, body })
  }),
)
/** What `weight` gave. */
const weightIn = (given: unknown): AnyExpr => {
  const w = asExpr(lift(given as never, 'shard'))
  return w.shape.length === 0 && isFloat(w.dtype)
    ? w
    : badInput('shard', `the weight is ${w.dtype}[${w.shape.join(', ')}].`, 'give a scalar that is a float: sum(mask).')
}
/** Sums of results over ranks, or means that are weighed: with a number of rows, which is never 0 on all ranks, or with a scalar, of which all may be 0, and so the mean. */
const totals = (ys: readonly Node[], counts: number | AnyExpr | undefined, bytes: number, params: Meanwhile): readonly Node[] => {
  const summed = (xs: readonly Node[]): readonly Node[] => inBuckets(xs, bytes, (bucket) => applyAny(totalPrimitive, bucket, params))
  if (counts === undefined) return summed(ys)
  const dtypes = [...new Set(ys.map((y) => y.dtype))]
  // Tensors, not literals: what is planned does not depend on them, so that all ranks have one plan.
  const weights = dtypes.map((d) =>
    typeof counts === 'number'
      ? asExpr(new Tensor([], d, arrayConstructor(d).of(counts) as Float64Array).node)
      : counts.dtype === d
        ? counts
        : (cast(counts, d) as AnyExpr),
  )
  const weightOf = (of: readonly AnyExpr[], y: Node): AnyExpr => of[dtypes.indexOf(y.dtype)]!
  const weighed = ys.map((y) => asNode(mul(weightOf(weights, y), asExpr(y)) as AnyExpr))
  const ws = weights.map(asNode)
  // The backward pass needs the weights, and not the results: where it need not wait for these, they are summed by themselves, and first, since ranks sum in the order in which sums are built.
  const first = params.overlap === true ? summed(ws) : []
  const all = (params.overlap === true ? [...summed(weighed), ...first] : summed([...weighed, ...ws])).map(asExpr)
  const whole = all.slice(ys.length).map((w) => (typeof counts === 'number' ? w : (where(eq(w, 0), 1, w) as AnyExpr)))
  return ys.map((y, i) => asNode(div(all[i]!, weightOf(whole, y)) as AnyExpr))
}
/** Rows of each leaf of a tree, from one on and up to another, by their number. */
export const rowsBetween = <T>(tree: T, ends: (rows: number) => readonly [number, number]): T => {
  const { leaves, def } = flatten(tree, 'localRows')
  let all: number | undefined
  const parts = leaves.map((leaf) => {
    const { shape, dtype, data } = isTensor(leaf) ? leaf.intact('localRows') : evaluateNodes([lift(leaf, 'localRows')])[0]!
    const [rows, ...rest] = shape
    if (rows === undefined) return badInput('localRows', 'a scalar has no rows.', 'give arrays whose first axis is the batch.')
    all ??= rows
    if (rows !== all)
      return badInput('localRows', `there are leaves of ${all} and of ${rows} rows.`, 'the first axis of every leaf counts the rows.')
    const width = sizeOf(rest)
    const [from, to] = ends(rows)
    return new Tensor([to - from, ...rest], dtype, data.subarray(from * width, to * width))
  })
  return unflatten(def, parts) as T
}
/** The rows of a tree that are those of one rank. */
export const rowsOf = <T>(tree: T, rank: number, size: number): T =>
  rowsBetween(tree, (rows) => [Math.floor((rank * rows) / size), Math.floor(((rank + 1) * rows) / size)])
/**
 * The rows of a batch that are this rank's: of each leaf of a tree, along its first axis. The parts differ by one row at most, and are the batch if they are joined in the order of ranks.
 *
 * Errors  BadInput for a scalar, and for leaves of several lengths.
 * @example simulateRanks(2, () => localRows(tensor([1, 2, 3])).toArray())   // [[1], [2, 3]]
 */
export const localRows = <T>(tree: T): T => {
  const { rank, size } = current()
  return rowsOf(tree, rank, size)
}
