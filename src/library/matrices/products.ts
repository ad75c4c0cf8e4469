/** Products of arrays: inner, outer, Kronecker. */
import { optionsOf } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { liftAll } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { broadcastShapes } from '../../core/graph/shape.js'
import { mul } from '../../core/ops/arithmetic.js'
import { axisOf, axisOption, reshapeNode } from '../../core/ops/layout-move.js'
import { matmul } from '../../core/ops/products.js'
import { sum } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { DotFn, KronFn, OuterFn, VdotFn, VecdotFn } from '../../core/types/signatures/contract.js'
import type { AxisOptions } from '../../core/types/signatures/reduce.js'
import { tensordot } from '../arrays/einsum.js'

const pairOf = (a: unknown, b: unknown, op: string): readonly [Node, Node] => liftAll([a, b], op, 'number') as [Node, Node]

/**
 * The dot product of NumPy: the sum over the last axis of a and the second last of b. Of vectors it is the inner product, of matrices the
 * matrix product, of a number and an array mul. Rows with rows is `vecdot`, stacks of matrices `matmul`.
 *
 * Shapes  a: [..., k], b: [..., k, m] -> the axes of a that are left, then those of b; b: [k] -> [...].   Dtype  promoted; bool becomes i32, i32 wraps.
 * Rule    dy = dot(da, b) + dot(a, db); of vectors aBar = yBar b, bBar = yBar a.   Source  NumPy dot.
 * Errors  ShapeMismatch when the two axes differ.
 * @example
 * dot([1, 2], [3, 4])                             // 11
 * dot(tensor([[1, 2], [3, 4]]), [[1, 1], [1, 0]]) // [[3, 1], [7, 3]]
 */
export const dot: DotFn = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = pairOf(a, b, 'dot')
  const [s, u] = [x.shape, y.shape]
  if (s.length === 0 || u.length === 0) return mul(asExpr(x), asExpr(y))
  const at = Math.max(0, u.length - 2)
  const [k, l] = [s[s.length - 1]!, u[at]!]
  if (k !== l)
    raise({
      _tag: 'ShapeMismatch',
      op: 'dot',
      shapes: [s, u],
      reason: `the last axis of a and the ${u.length === 1 ? 'axis' : 'second last'} of b differ: a is ${showShape(s)}, b is ${showShape(u)} (${k} is not ${l}).`,
      fix: 'use vecdot for rows with rows, matmul for stacks of matrices.',
    })
  if (s.length === 1 && u.length === 1) return sum(mul(asExpr(x), asExpr(y)))
  return s.length <= 2 && u.length <= 2 ? matmul(asExpr(x), asExpr(y)) : tensordot(asExpr(x), asExpr(y), [[s.length - 1], [at]])
})

/**
 * Inner product of vectors along an axis (the last by default), of each pair of them: sum(a b).
 *
 * Shapes  a: [..., k], b: [..., k] -> [...]; the other axes broadcast. The axis counts in the shape that the two broadcast to.   Dtype  as `dot`.
 * Rule    dy = vecdot(da, b) + vecdot(a, db); aBar = yBar b, bBar = yBar a.   Source  NumPy vecdot, the array API standard.
 * Errors  ShapeMismatch when the vectors differ in length or the other axes do not broadcast; BadInput for an axis out of range.
 * @example vecdot([[1, 2], [3, 4]], [[1, 1], [1, 0]])   // [3, 3]
 */
export const vecdot: VecdotFn = typed((a: unknown, b: unknown, options?: AxisOptions): AnyExpr => {
  const { axis: given = -1 } = optionsOf(options, axisOption, 'vecdot')
  const [x, y] = pairOf(a, b, 'vecdot')
  const [s, u] = [x.shape, y.shape]
  const fail = (reason: string, fix: string): never => raise({ _tag: 'ShapeMismatch', op: 'vecdot', shapes: [s, u], reason, fix })
  if (s.length === 0 || u.length === 0) fail(`needs vectors, got ${showShape(s)} and ${showShape(u)}.`, 'use mul for numbers.')
  const rank = Math.max(s.length, u.length)
  const fromEnd = axisOf(given, rank, 'vecdot') - rank
  const [k, l] = [s[s.length + fromEnd], u[u.length + fromEnd]]
  if (k === undefined || k !== l)
    fail(
      `the vectors differ in length: a is ${showShape(s)}, b is ${showShape(u)} (${k ?? 'no axis'} is not ${l ?? 'no axis'}).`,
      'use matmul or dot for a matrix product.',
    )
  if (broadcastShapes(s, u) === undefined)
    fail(`the other axes of ${showShape(s)} and ${showShape(u)} do not broadcast.`, 'use matmul or dot for a matrix product.')
  return sum(mul(asExpr(x), asExpr(y)), { axis: fromEnd })
})

/**
 * Inner product of two arrays of one size, flattened.
 *
 * Shapes  any, equally many elements -> [].   Dtype  promoted; bool becomes i32.   Rule  aBar = yBar b, bBar = yBar a.   Source  NumPy vdot.
 * Errors  ShapeMismatch when the sizes differ.
 * @example vdot([[1, 2]], [[3], [4]])   // 11
 */
export const vdot: VdotFn = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = pairOf(a, b, 'vdot')
  if (x.aval.size !== y.aval.size)
    raise({
      _tag: 'ShapeMismatch',
      op: 'vdot',
      shapes: [x.shape, y.shape],
      reason: `sizes differ: a is ${showShape(x.shape)}, b is ${showShape(y.shape)} (${x.aval.size} is not ${y.aval.size}).`,
      fix: 'give arrays with equally many elements.',
    })
  return sum(mul(asExpr(reshapeNode(x, [x.aval.size])), asExpr(reshapeNode(y, [y.aval.size]))))
})

/**
 * Every product of an element of a with one of b.
 *
 * Shapes  the axes of a, then those of b.   Dtype  promoted; bool becomes i32.
 * Rule    dy = outer(da, b) + outer(a, db); aBar = the sum of yBar b over b's axes.
 * @example outer([1, 2], [3, 4])   // [[3, 4], [6, 8]]
 */
export const outer: OuterFn = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = liftAll([a, b], 'outer', 'number') as [Node, Node]
  return mul(asExpr(reshapeNode(x, [...x.shape, ...y.shape.map(() => 1)])), asExpr(y))
})

/**
 * Kronecker product: a with each element replaced by it times b.
 *
 * Shapes  a: [m, n], b: [p, q] -> [m p, n q]; an array of lower rank gets axes of length 1 in front.   Dtype  promoted; bool becomes i32.
 * Rule    bilinear, as outer.   Source  NumPy kron.
 * @example kron([[1, 2]], [[1], [1]])   // [[1, 2], [1, 2]]
 */
export const kron: KronFn = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = liftAll([a, b], 'kron', 'number') as [Node, Node]
  const rank = Math.max(x.shape.length, y.shape.length)
  const full = (s: readonly number[]): number[] => [...new Array<number>(rank - s.length).fill(1), ...s]
  const [s, u] = [full(x.shape), full(y.shape)]
  const wide = mul(
    asExpr(
      reshapeNode(
        x,
        s.flatMap((d) => [d, 1]),
      ),
    ),
    asExpr(
      reshapeNode(
        y,
        u.flatMap((d) => [1, d]),
      ),
    ),
  )
  return asExpr(
    reshapeNode(
      asNode(wide),
      s.map((d, i) => d * u[i]!),
    ),
  )
})
