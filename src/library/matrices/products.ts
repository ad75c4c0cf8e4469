/** Products of arrays: inner, outer, Kronecker. */
import { showShape } from '../../core/errors/explain.js'
import { broadcastShapes } from '../../core/graph/shape.js'
import { mul } from '../../core/ops/arithmetic.js'
import { misfit, sizeOf } from '../../core/ops/arrays.js'
import { reshape } from '../../core/ops/layout/layout.js'
import { axisOf } from '../../core/ops/layout/move.js'
import { laterAxis, numbers, operation } from '../../core/ops/operation.js'
import { sum } from '../../core/ops/reductions.js'
import type { DotFn, KronFn, OuterFn, VdotFn, VecdotFn } from '../../core/types/signatures/contract.js'
import { matmul } from '../../families/contract.js'
import { tensordot } from '../arrays/einsum.js'

const pair = { a: numbers, b: numbers }

/**
 * The dot product of NumPy: the sum over the last axis of a and the second last of b. For vectors it is the inner product, for matrices the matrix
 * product, for a number and an array `mul`. For rows with rows use `vecdot`, for stacks of matrices `matmul`.
 *
 * Shapes  a: [..., k], b: [..., k, m] -> the remaining axes of a, then those of b; b: [k] -> [...].   Dtype  promoted; bool becomes i32, i32 wraps.
 * Rule    dy = dot(da, b) + dot(a, db); of vectors aBar = yBar b, bBar = yBar a.   Source  NumPy dot.
 * Errors  ShapeMismatch when the two axes differ.
 * @example
 * dot([1, 2], [3, 4])                             // 11
 * dot(tensor([[1, 2], [3, 4]]), [[1, 1], [1, 0]]) // [[3, 1], [7, 3]]
 */
export const dot: DotFn = operation('dot', pair, {}, ({ a, b }, _options, op) => {
  const [s, u] = [a.shape, b.shape]
  if (s.length === 0 || u.length === 0) return mul(a, b)
  const at = Math.max(0, u.length - 2)
  const [k, l] = [s[s.length - 1]!, u[at]!]
  if (k !== l)
    misfit(
      op,
      [a, b],
      `the last axis of a and the ${u.length === 1 ? 'axis' : 'second last'} of b differ: a is ${showShape(s)}, b is ${showShape(u)} (${k} is not ${l}).`,
      'use vecdot for rows with rows, matmul for stacks of matrices.',
    )
  if (s.length === 1 && u.length === 1) return sum(mul(a, b))
  return s.length <= 2 && u.length <= 2 ? matmul(a, b) : tensordot(a, b, [[s.length - 1], [at]])
})

/**
 * Inner product of vectors along an axis (the last by default), of each pair of them: sum(a b).
 *
 * Shapes  a: [..., k], b: [..., k] -> [...]; the other axes broadcast. The axis counts in the shape that the two broadcast to.   Dtype  as `dot`.
 * Rule    dy = vecdot(da, b) + vecdot(a, db); aBar = yBar b, bBar = yBar a.   Source  NumPy vecdot, the array API standard.
 * Errors  ShapeMismatch when the vectors differ in length or the other axes do not broadcast; BadInput for an axis out of range.
 * @example vecdot([[1, 2], [3, 4]], [[1, 1], [1, 0]])   // [3, 3]
 */
export const vecdot: VecdotFn = operation('vecdot', pair, { axis: laterAxis(-1) }, ({ a, b }, { axis }, op) => {
  const [s, u] = [a.shape, b.shape]
  const fail = (reason: string, fix: string): never => misfit(op, [a, b], reason, fix)
  if (s.length === 0 || u.length === 0) fail(`needs vectors, got ${showShape(s)} and ${showShape(u)}.`, 'use mul for numbers.')
  const rank = Math.max(s.length, u.length)
  const fromEnd = axisOf(axis, rank, op) - rank
  const [k, l] = [s[s.length + fromEnd], u[u.length + fromEnd]]
  if (k === undefined || k !== l)
    fail(
      `the vectors differ in length: a is ${showShape(s)}, b is ${showShape(u)} (${k ?? 'no axis'} is not ${l ?? 'no axis'}).`,
      'use matmul or dot for a matrix product.',
    )
  if (broadcastShapes(s, u) === undefined)
    fail(`the other axes of ${showShape(s)} and ${showShape(u)} do not broadcast.`, 'use matmul or dot for a matrix product.')
  return sum(mul(a, b), { axis: fromEnd })
})

/**
 * Inner product of two arrays of one size, flattened.
 *
 * Shapes  any, equally many elements -> [].   Dtype  promoted; bool becomes i32.   Rule  aBar = yBar b, bBar = yBar a.   Source  NumPy vdot.
 * Errors  ShapeMismatch when the sizes differ.
 * @example vdot([[1, 2]], [[3], [4]])   // 11
 */
export const vdot: VdotFn = operation('vdot', pair, {}, ({ a, b }, _options, op) => {
  if (sizeOf(a) !== sizeOf(b))
    misfit(
      op,
      [a, b],
      `sizes differ: a is ${showShape(a.shape)}, b is ${showShape(b.shape)} (${sizeOf(a)} is not ${sizeOf(b)}).`,
      'give arrays with equally many elements.',
    )
  return sum(mul(reshape(a, [-1]), reshape(b, [-1])))
})

/**
 * Every product of an element of a with one of b.
 *
 * Shapes  the axes of a, then those of b.   Dtype  promoted; bool becomes i32.
 * Rule    dy = outer(da, b) + outer(a, db); aBar = the sum of yBar b over b's axes.
 * @example outer([1, 2], [3, 4])   // [[3, 4], [6, 8]]
 */
export const outer: OuterFn = operation('outer', pair, {}, ({ a, b }) => mul(reshape(a, [...a.shape, ...b.shape.map(() => 1)]), b))

/**
 * Kronecker product: a with each element replaced by it times b.
 *
 * Shapes  a: [m, n], b: [p, q] -> [m p, n q]; an array of lower rank gets axes of length 1 in front.   Dtype  promoted; bool becomes i32.
 * Rule    bilinear, as outer.   Source  NumPy kron.
 * @example kron([[1, 2]], [[1], [1]])   // [[1, 2], [1, 2]]
 */
export const kron: KronFn = operation('kron', pair, {}, ({ a, b }) => {
  const rank = Math.max(a.shape.length, b.shape.length)
  const full = (s: readonly number[]): number[] => [...new Array<number>(rank - s.length).fill(1), ...s]
  const [s, u] = [full(a.shape), full(b.shape)]
  const rows = reshape(a, s.flatMap((d) => [d, 1])) // biome-ignore format: one row
  const columns = reshape(b, u.flatMap((d) => [1, d])) // biome-ignore format: one row
  return reshape(mul(rows, columns), s.map((d, i) => d * u[i]!)) // biome-ignore format: one row
})
