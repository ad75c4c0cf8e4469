/** Systems and determinants made of factorisations, with derivatives of their own. Plans number equal values once, so that a value and its derivative share one factorisation. */

import { badShape, showShape } from '../../errors/explain.js'
import { leastOf } from '../../errors/extremes.js'
import { type Aval, aval } from '../../graph/aval.js'
import { boolean, number, record } from '../../graph/codec.js'
import { apply, applyMulti, asExpr, asNode, constant, type Node } from '../../graph/expr.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive, type SampleArg } from '../../graph/primitive.js'
import { broadcastShapes, range, sameShape, sizeOf } from '../../graph/shape.js'
import type { AnyExpr } from '../../types/expr.js'
import { prod } from '../along-axis.js'
import { eq, gt } from '../compare.js'
import { diag, eye } from '../construct.js'
import { matmulNode } from '../contract.js'
import { abs, div, log, mul, sign, where } from '../elementwise.js'
import { gatherNode } from '../indexing/gather.js'
import { broadcastNode, reshapeNode, swapLast, transposeNode } from '../layout/move.js'
import { iotaNode } from '../positions.js'
import { max, sum } from '../reductions.js'
import { sortNodes } from '../scans.js'
import { luNodes, matrixAxes, squareAxes, svdNodes, systemShape, triangularNode } from './factorisations.js'

const family = 'linalg'

// Far from singular, with another row as the pivot of each column; of any shape.
const drawn: NonNullable<SampleArg['draw']> = (next, shape) => {
  const [m, n] = shape.slice(-2) as [number, number]
  const largest = (k: number): boolean => Math.floor(k / n) % m === ((k % n) + 1) % Math.min(m, n)
  return Array.from({ length: sizeOf(shape) }, (_, k) => next() - 0.5 + (largest(k) ? 2.5 + (k % n) : 0))
}
const matrix = (...shape: readonly number[]): SampleArg => ({ shape, draw: drawn })
const sides = (...shape: readonly number[]): SampleArg => ({ shape })

// ---- solve -------------------------------------------------------------------------------------------------------------

/** Whether A stands for A^T. */
export interface SolveParams {
  readonly transpose: boolean
}
/** The rows of each matrix of x: [..., n, k] at its indices [..., n]. */
export const rowsAt = (x: Node, indices: Node): Node => {
  const axis = x.shape.length - 2
  return gatherNode(x, indices, { axis, batchDims: axis })
}
/** A^-1 b, or A^-T b, for P A = L U with the rows of A in this order. */
export const solveByLu = (packed: Node, order: Node, b: Node, transpose: boolean): Node => {
  const l = { lower: true, transpose, unitDiagonal: true }
  const u = { lower: false, transpose, unitDiagonal: false }
  if (!transpose) return triangularNode(packed, triangularNode(packed, rowsAt(b, order), l), u)
  const [, places] = sortNodes(order, { axis: order.shape.length - 1, descending: false })
  return rowsAt(triangularNode(packed, triangularNode(packed, b, u), l), places)
}
export const solvePrimitive: Primitive<'solve', SolveParams, readonly ['float', 'float']> = primitive({
  name: 'solve',
  stacked: 2,
  family,
  args: ['float', 'float'],
  dtypes: ['float', 'float'],
  codec: record({ transpose: boolean }),
  shapeRule: ([a, b]) => systemShape('solve', a!, b!, squareAxes(a!.shape, 'solve').n),
  expand: ([a, b], { transpose }) => {
    const [packed, , order] = luNodes(asNode(a))
    return asExpr(solveByLu(packed, order, asNode(b), transpose))
  },
  cost: 100,
  samples: [
    { args: [matrix(3, 3), sides(3, 2)], params: { transpose: false } },
    { args: [matrix(2, 2, 2), sides(2, 2, 1)], params: { transpose: true } },
    { args: [matrix(1, 1), sides(1, 2)], params: { transpose: false } },
    { args: [matrix(0, 0), sides(0, 2)], params: { transpose: false } },
  ],
  showParams: ({ transpose }) => (transpose ? 'transposed' : ''),
  source: 'Giles 2008, 2.3.1',
})
export const solveNode = (a: Node, b: Node, transpose = false): Node => apply(solvePrimitive, [a, b], { transpose })

// ---- determinants ------------------------------------------------------------------------------------------------------

/** 1 or -1, as the permutation that these swaps make is even or odd. */
export const parityOf = (pivots: Node, like: Aval): AnyExpr => {
  const places = iotaNode(pivots.shape, pivots.shape.length - 1, 'i32')
  return prod(where(eq(asExpr(pivots), asExpr(places)), asExpr(constant(1, like.dtype)), asExpr(constant(-1, like.dtype))), { axis: -1 })
}
/** [..., n, n] to [...]. */
const perMatrix = ([a]: readonly Aval[], op: string): Aval => aval(squareAxes(a!.shape, op).lead, a!.dtype)
const determinantSamples = [
  { args: [matrix(3, 3)], params: NO_PARAMS },
  { args: [matrix(2, 2, 2)], params: NO_PARAMS },
  { args: [matrix(1, 1)], params: NO_PARAMS },
  { args: [matrix(2, 0, 0)], params: NO_PARAMS },
]

export const detPrimitive: Primitive<'det', NoParams, readonly ['float']> = primitive({
  name: 'det',
  stacked: 2,
  family,
  args: ['float'],
  dtypes: ['float'],
  shapeRule: (args) => perMatrix(args, 'det'),
  expand: ([a]) => {
    const [packed, pivots] = luNodes(asNode(a))
    return mul(parityOf(pivots, packed.aval), prod(diag(asExpr(packed)), { axis: -1 }))
  },
  cost: 100,
  samples: determinantSamples,
  source: 'Giles 2008, 2.2.4',
})

/** The sign of the determinant and the logarithm of its size. */
export const slogdetPrimitive: Primitive<'slogdet', NoParams, readonly ['float']> = primitive({
  name: 'slogdet',
  stacked: 2,
  family,
  args: ['float'],
  multi: true,
  dtypes: ['float'],
  shapeRule: (args) => [perMatrix(args, 'slogdet'), perMatrix(args, 'slogdet')],
  expand: ([a]) => {
    const [packed, pivots] = luNodes(asNode(a))
    const d = diag(asExpr(packed))
    return [mul(parityOf(pivots, packed.aval), prod(sign(d), { axis: -1 })), sum(log(abs(d)), { axis: -1 })]
  },
  cost: 100,
  samples: determinantSamples,
  source: 'Giles 2008, 2.2.4; NumPy slogdet',
})
export const slogdetNodes = (a: Node): readonly [sign: Node, logdet: Node] =>
  applyMulti(slogdetPrimitive, [a], NO_PARAMS) as unknown as readonly [Node, Node]

// ---- least squares -----------------------------------------------------------------------------------------------------

/** Singular values of at most `rcond` times the largest count as 0. Whether A stands for A^T. */
export interface LstsqParams {
  readonly rcond: number
  readonly transpose: boolean
}
/** U, s and V of a matrix of any shape, with min(m, n) singular values. */
export const anySvd = (a: Node): readonly [u: Node, s: Node, v: Node] => {
  const { rows, columns } = matrixAxes(a.shape, 'svd')
  if (rows >= columns) return svdNodes(a)
  const [u, s, v] = svdNodes(swapLast(a))
  return [v, s, u]
}
/** Which of the singular values count. */
export const counting = (s: Node, rcond: number): AnyExpr => gt(asExpr(s), mul(max(asExpr(s), { axis: -1, keepdims: true }), rcond))

export const lstsqPrimitive: Primitive<'lstsq', LstsqParams, readonly ['float', 'float']> = primitive({
  name: 'lstsq',
  stacked: 2,
  family,
  args: ['float', 'float'],
  dtypes: ['float', 'float'],
  codec: record({ rcond: number, transpose: boolean }),
  shapeRule: ([a, b], { transpose }) => {
    const { lead, rows, columns } = matrixAxes(a!.shape, 'lstsq')
    const x = systemShape('lstsq', a!, b!, transpose ? columns : rows)
    return aval([...lead, transpose ? rows : columns, x.shape[x.shape.length - 1]!], x.dtype)
  },
  expand: ([a, b], { rcond, transpose }) => {
    const n = asNode(a)
    const y = asNode(b)
    const own = leastOf(n.shape.slice(-2))
    if (own === 0)
      return asExpr(
        broadcastNode(constant(0, n.dtype), [
          ...n.shape.slice(0, -2),
          n.shape[n.shape.length - (transpose ? 2 : 1)]!,
          y.shape[y.shape.length - 1]!,
        ]),
      )
    const [u, s, v] = anySvd(n)
    const [from, to] = transpose ? [v, u] : [u, v]
    const kept = counting(s, rcond)
    const inverse = where(kept, div(1, where(kept, asExpr(s), 1)), 0)
    const scaled = mul(asExpr(matmulNode(swapLast(from), y)), asExpr(reshapeNode(asNode(inverse), [...s.shape, 1])))
    return asExpr(matmulNode(to, asNode(scaled)))
  },
  cost: 500,
  samples: [
    { args: [matrix(4, 2), sides(4, 2)], params: { rcond: 1e-6, transpose: false } },
    { args: [matrix(2, 2, 3), sides(2, 2, 1)], params: { rcond: 1e-6, transpose: false } },
    { args: [matrix(3, 2), sides(2, 1)], params: { rcond: 1e-6, transpose: true } },
    { args: [matrix(2, 0), sides(2, 1)], params: { rcond: 1e-6, transpose: false } },
  ],
  showParams: ({ rcond, transpose }) => `rcond ${rcond}${transpose ? ' transposed' : ''}`,
  source: 'Golub and Pereyra 1973',
})
export const lstsqNode = (a: Node, b: Node, params: LstsqParams): Node => apply(lstsqPrimitive, [a, b], params)

/**
 * `solve` of matrices a and right-hand sides b with `rows` rows: b is a vector where it has one axis, else matrices. Leading axes broadcast; where a
 * has none, all right-hand sides are columns of one. Where a stands on the right of x (`left` is false) the rows of b are what is solved for.
 */
export const onSystems = (a: Node, b: Node, op: string, rows: number, solve: (a: Node, b: Node) => Node, left = true): Node => {
  const { lead } = matrixAxes(a.shape, op)
  if (b.shape.length === 1) {
    if (b.shape[0] !== rows) fail(op, a, b, left)
    const y = reshapeNode(b, [rows, 1])
    const x = solve(a, broadcastNode(y, [...lead, rows, 1]))
    return reshapeNode(x, x.shape.slice(0, -1))
  }
  const { lead: own } = matrixAxes(b.shape, op)
  const columns = left ? b : swapLast(b)
  const both = broadcastShapes(lead, own)
  if (columns.shape[own.length] !== rows || both === undefined) return fail(op, a, b, left)
  const x = solveStacks(a, columns, both, solve)
  return left ? x : swapLast(x)
}
const solveStacks = (a: Node, b: Node, both: readonly number[], solve: (a: Node, b: Node) => Node): Node => {
  const [lead, own, [rows, columns]] = [a.shape.slice(0, -2), b.shape.slice(0, -2), b.shape.slice(-2) as [number, number]]
  if (sameShape(lead, own)) return solve(a, b)
  if (lead.length > 0) return solve(broadcastNode(a, [...both, ...a.shape.slice(-2)]), broadcastNode(b, [...both, rows, columns]))
  const d = own.length
  const wide = reshapeNode(transposeNode(b, [d, ...range(d), d + 1]), [rows, own.reduce((x, y) => x * y, columns)])
  const x = solve(a, wide)
  return transposeNode(reshapeNode(x, [x.shape[0]!, ...own, columns]), [...range(d).map((i) => i + 1), 0, d + 1])
}
const fail = (op: string, a: Node, b: Node, left: boolean): never =>
  badShape(
    op,
    [a.shape, b.shape],
    `right-hand sides ${showShape(b.shape)} do not fit matrices ${showShape(a.shape)}${left ? '' : ' on the right'}.`,
    left
      ? 'b is a vector [n] or matrices [..., n, k], with as many rows as a has; leading axes broadcast.'
      : 'b is a vector [n] or matrices [..., k, n], with as many columns as a has; leading axes broadcast.',
  )

/** Identity matrices. */
export const identity = (lead: readonly number[], n: number, dtype: Node['dtype']): Node =>
  broadcastNode(asNode(eye(n, dtype)), [...lead, n, n])
/** The inverse of each matrix. */
export const inverse = (x: Node, op: string): Node => {
  const { lead, n } = squareAxes(x.shape, op)
  return solveNode(x, identity(lead, n, x.dtype))
}
