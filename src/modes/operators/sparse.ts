/** sparsity, sparseJacobian and sparseHessian: the pattern read off the derivative's expression, its entries by products of a few colours. */

import { transposed } from '../../core/calculus/colouring.js'
import { estimatesIn } from '../../core/calculus/rule.js'
import { recordOf, shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { reading } from '../../core/errors/language.js'
import { type OptionsFor, type OptionsOf, oneOf, readOptions } from '../../core/errors/options.js'
import { type Meta, metaOf, readArgs } from '../../core/functions/function.js'
import { aval, isFloat } from '../../core/graph/aval.js'
import { castNode } from '../../core/graph/cast.js'
import { asExpr, asNode, capturedTensor, input, isExpr, type Node } from '../../core/graph/expr.js'
import { liftList, liftTree } from '../../core/graph/program.js'
import { rewrite } from '../../core/graph/rewrite.js'
import { range } from '../../core/graph/shape.js'
import { isTensor, Tensor, zeroTensor } from '../../core/graph/tensor.js'
import { unflatten } from '../../core/graph/tree.js'
import { add, mul } from '../../core/ops/elementwise.js'
import { gatherNode, scatterAddNode } from '../../core/ops/indexing/gather.js'
import { concatNode } from '../../core/ops/layout/join.js'
import { reshapeNode } from '../../core/ops/layout/move.js'
import { sliceAxis } from '../../core/ops/layout/slice.js'
import type { DType } from '../../core/types/dtype.js'
import type * as signatures from '../../core/types/signatures/sparse.js'
import { activeLeaves, select, type WrtOptions, wrtOptions } from '../arguments.js'
import { zeros } from '../common.js'
import { type Coloured, colouredColumns, colouredRows, colouredSymmetric, rowsOf } from '../compression.js'
import { forwardLinear, type Linear, reverseLinear } from '../linear-maps.js'
import { batch } from '../vmap.js'
import { gradientOf } from './gradient.js'
import { type Callable, type Context, derived, mixed, operator, resultOf } from './shared.js'

export const sparseOptions = { ...wrtOptions, mode: oneOf('forward', 'reverse') } satisfies OptionsFor<
  signatures.SparseOptions<readonly unknown[], unknown>
>
export type SparseOptions = OptionsOf<typeof sparseOptions>

/** A derivative as a linear map, and where its entries are found in products with it. */
type Prepare = (args: readonly unknown[]) => { readonly map: Linear; readonly found: Coloured }

const ofJacobian =
  (c: Context, m: Meta, { wrt: path, mode }: SparseOptions, op: string): Prepare =>
  (args) => {
    const { nodes, def } = liftList(args, 'arguments')
    const wrt = activeLeaves(nodes, select(m, def, path, op), op, path !== undefined).filter((x) => isFloat(x.dtype))
    const outs = resultOf(m, args).nodes.filter((y) => isFloat(y.dtype))
    const backward = (): Linear => reverseLinear(c.registry, mixed(outs, wrt), wrt)
    if (mode === 'reverse') {
      const map = backward()
      return { map, found: colouredRows(map) }
    }
    const map = forwardLinear(c.registry, outs, wrt)
    const found = colouredColumns(map)
    if (mode === 'forward') return { map, found }
    // A product with a row takes about twice the time of one with a column.
    const rows = colouredRows({ pattern: transposed(map.pattern) })
    return 2 * rows.colours.count < found.colours.count ? { map: backward(), found: rows } : { map, found }
  }
const ofHessian =
  (c: Context, m: Meta, { wrt: path }: WrtOptions, op: string): Prepare =>
  (args) => {
    const { nodes, def } = liftList(args, 'arguments')
    const wrt = activeLeaves(nodes, select(m, def, path, op), op, path !== undefined).filter((x) => isFloat(x.dtype))
    const gradient = liftTree(
      gradientOf(c, m, { ...(path !== undefined && { wrt: path }) }, op).body(args),
      `the gradient of ${m.name}`,
    ).nodes
    const map = forwardLinear(c.registry, gradient, wrt)
    // Where a rule is deliberately no derivative, second derivatives need not be symmetric.
    const estimated = estimatesIn(c.registry, [...resultOf(m, args).nodes, ...gradient]).length > 0
    return { map, found: estimated ? colouredColumns(map) : colouredSymmetric(map) }
  }

const ints = (data: Int32Array): Node => new Tensor([data.length], 'i32', data).node
const commonDType = (nodes: readonly Node[]): DType => (nodes.every((n) => n.dtype === nodes[0]!.dtype) ? nodes[0]!.dtype : 'f64')
/** Up to so many products are written out one by one, whose intermediate results are small, and stay in the cache. */
const APART = 8
/** The inputs' elements of the colours from `from` to `to`, as ones among zeros: for each input [to - from, ...shape]. */
const directions = ({ inputs }: Linear, of: Int32Array, from: number, to: number): ReadonlyMap<Node, Tensor> => {
  let first = 0
  return new Map(
    inputs.map((x) => {
      const size = x.aval.size
      const t = zeroTensor([to - from, ...x.shape], x.dtype)
      for (let i = 0; i < size; i++) {
        const colour = of[first + i]!
        if (colour >= from && colour < to) t.data[(colour - from) * size + i] = 1
      }
      first += size
      return [x, t] as const
    }),
  )
}
/** The products of all colours, one after the other: in parts that make [colours * outputs]. */
const products = ({ registry }: Context, map: Linear, { of, count }: Coloured['colours'], dtype: DType): readonly Node[] => {
  const flat = (n: Node): Node => castNode(reshapeNode(n, [n.aval.size]), dtype)
  if (count <= APART)
    return range(count).flatMap((colour) => {
      const at = new Map([...directions(map, of, colour, colour + 1)].map(([x, t]) => [x, reshapeNode(t.node, x.shape)]))
      return rewrite(map.outputs, { at: (n) => at.get(n) }).map(flat)
    })
  const at = new Map([...directions(map, of, 0, count)].map(([x, t]) => [x, t.node]))
  const rows = batch(registry, map.outputs, at, count).map((b, i) => castNode(reshapeNode(b, [count, map.outputs[i]!.aval.size]), dtype))
  return [flat(joined(rows, 1))]
}
const joined = (parts: readonly Node[], axis: number): Node => (parts.length === 1 ? parts[0]! : concatNode(parts, axis))
/** More pieces than this are gathered. */
const PIECES = 64
/** Elements of what the parts make at these places, which rise: pieces of the parts, where they are few. */
const taken = (parts: readonly Node[], at: Int32Array): Node => {
  const ends: number[] = []
  for (const p of parts) ends.push((ends[ends.length - 1] ?? 0) + p.aval.size)
  const pieces: { readonly part: number; readonly from: number; size: number }[] = []
  let part = 0
  for (let i = 0; i < at.length && pieces.length <= PIECES; i++) {
    const next = i === 0 || at[i] !== at[i - 1]! + 1 || at[i]! >= ends[part]!
    while (at[i]! >= ends[part]!) part++
    if (next) pieces.push({ part, from: at[i]! - ends[part]! + parts[part]!.aval.size, size: 1 })
    else pieces[pieces.length - 1]!.size++
  }
  if (pieces.length > PIECES) return gatherNode(joined(parts, 0), ints(at), { axis: 0, batchDims: 0 })
  return joined(
    pieces.map((p) => sliceAxis(parts[p.part]!, 0, p.from, p.size)),
    0,
  )
}
/** The entries, each from where it stands alone in a product. */
const entries = (c: Context, map: Linear, { colours, at }: Coloured): Node => {
  const dtype = commonDType(map.outputs)
  return at.length === 0 ? zeros(aval([0], dtype)) : taken(products(c, map, colours, dtype), at)
}

const matrix = (c: Context, m: Meta, op: string, prepare: Prepare): Callable =>
  operator(
    c,
    derived(m, op, (args) => {
      const { map, found } = prepare(args)
      const { rows, cols, shape } = found
      return {
        rows: asExpr(ints(rows)),
        cols: asExpr(ints(cols)),
        values: asExpr(entries(c, map, found)),
        shape: asExpr(ints(Int32Array.from(shape))),
      }
    }),
  )
/** Nothing is run: of the arguments the shapes are read. */
const pattern =
  (m: Meta, op: string, prepare: Prepare): Callable =>
  (...args) => {
    const { leaves, def } = readArgs({ ...m, name: `${op}(${m.name})` }, args)
    const own = unflatten(
      def,
      leaves.map((l) => asExpr(input(aval(l.shape, l.dtype)))),
    ) as readonly unknown[]
    const { pattern: p, shape, colours } = prepare(own).found
    return { rows: rowsOf(p), cols: p.cols, shape, colours: colours.count }
  }

export const sparsity =
  (c: Context) =>
  (f: unknown, given?: SparseOptions): Callable => {
    const m = metaOf(f, 'sparsity')
    return pattern(m, 'sparsity', ofJacobian(c, m, readOptions(sparseOptions, given, 'sparsity'), 'sparsity'))
  }
export const hessianSparsity =
  (c: Context) =>
  (f: unknown, given?: WrtOptions): Callable => {
    const m = metaOf(f, 'hessianSparsity')
    return pattern(m, 'hessianSparsity', ofHessian(c, m, readOptions(wrtOptions, given, 'hessianSparsity'), 'hessianSparsity'))
  }
export const sparseJacobian =
  (c: Context) =>
  (f: unknown, given?: SparseOptions): Callable => {
    const m = metaOf(f, 'sparseJacobian')
    return matrix(c, m, 'sparseJacobian', ofJacobian(c, m, readOptions(sparseOptions, given, 'sparseJacobian'), 'sparseJacobian'))
  }
export const sparseHessian =
  (c: Context) =>
  (f: unknown, given?: WrtOptions): Callable => {
    const m = metaOf(f, 'sparseHessian')
    return matrix(c, m, 'sparseHessian', ofHessian(c, m, readOptions(wrtOptions, given, 'sparseHessian'), 'sparseHessian'))
  }

const part = (x: unknown, name: string): Node =>
  isTensor(x)
    ? x.node
    : isExpr(x)
      ? asNode(x)
      : badInput('toDense', `${name} is ${shown(x)}.`, 'give what sparseJacobian or sparseHessian gave.')
/** A sparse matrix as one of rank 2. */
export const toDense = (given: unknown): unknown => {
  const whole = recordOf(given as Record<string, unknown>, 'the argument', 'toDense')
  const { rows, cols, values, shape } = reading('toDense', () => ({
    rows: whole.rows,
    cols: whole.cols,
    values: whole.values,
    shape: whole.shape,
  }))
  const size = capturedTensor(part(shape, 'shape'))
  if (size?.shape.join() !== '2')
    return badInput(
      'toDense',
      'its shape is not known before it runs.',
      'call it where the matrix is made, or on the tensors that a call gave.',
    )
  const [m, n] = size.data as unknown as readonly [number, number]
  const at = add(mul(asExpr(part(rows, 'rows')), n), asExpr(part(cols, 'cols')))
  const v = part(values, 'values')
  return asExpr(reshapeNode(scatterAddNode(zeros(aval([m * n], v.dtype)), asNode(at), v, { axis: 0, batchDims: 0 }), [m, n]))
}
