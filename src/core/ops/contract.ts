/** Contractions: matrix products and what is made of them. */
import { badShape, showShape } from '../errors/explain.js'
import { type Aval, aval, sameAval } from '../graph/aval.js'
import { apply, asExpr, type Node } from '../graph/expr.js'
import { liftAll } from '../graph/lift.js'
import type { NDArray } from '../graph/ndarray.js'
import { typed } from '../graph/operation.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive } from '../graph/primitive.js'
import { broadcastShapes, broadcastStrides, forEachIndex, stridesOf } from '../graph/shape.js'
import type { AnyExpr } from '../types/expr.js'
import type { MatMulAddFn, MatMulFn } from '../types/signatures/contract.js'
import { reshapeNode } from './layout/move.js'

const matmulShape = (op: string, a: Aval, b: Aval): Aval => {
  const [s, u] = [a.shape, b.shape]
  if (s.length < 2 || u.length < 2)
    badShape(op, [s, u], `needs matrices, got ${showShape(s)} and ${showShape(u)}.`, `use dot for vectors, or expandDims.`)
  const k = s[s.length - 1]!
  const l = u[u.length - 2]!
  if (k !== l) badShape(op, [s, u], `inner axes differ: a is ${showShape(s)}, b is ${showShape(u)} (${k} is not ${l}).`, fixInner(s, u))
  const batch = broadcastShapes(s.slice(0, -2), u.slice(0, -2))
  if (batch === undefined) return badShape(op, [s, u], `leading axes of ${showShape(s)} and ${showShape(u)} do not broadcast.`)
  return aval([...batch, s[s.length - 2]!, u[u.length - 1]!], a.dtype)
}
const fixInner = (s: readonly number[], u: readonly number[]): string => {
  const k = s[s.length - 1]
  return u[u.length - 1] === k
    ? `transpose b.`
    : s[s.length - 2] === u[u.length - 2]
      ? `transpose a.`
      : `the last axis of a must equal the second last of b.`
}

/** acc + a b: floats in f64, rounded once per element; integers wrap around at 32 bits. */
const multiply = (a: NDArray, b: NDArray, acc: NDArray | undefined, out: NDArray): void => {
  const [m, k, n] = [a.shape[a.shape.length - 2]!, a.shape[a.shape.length - 1]!, b.shape[b.shape.length - 1]!]
  const batch = out.shape.slice(0, -2)
  const strides = (x: NDArray) => broadcastStrides(x.shape.slice(0, -2), batch, stridesOf(x.shape).slice(0, -2))
  // Row by row, so that b is read in order; every element still sums over l from 0 up.
  const integer = out.dtype === 'i32'
  const row = integer ? new Int32Array(n) : new Float64Array(n)
  const [x, y, z] = [a.data, b.data, out.data]
  forEachIndex(batch, [strides(a), strides(b)], ([p, q], flat) => {
    for (let i = 0; i < m; i++) {
      row.fill(0)
      for (let l = 0; l < k; l++) {
        const u = x[p! + i * k + l]!
        const from = q! + l * n
        if (integer) for (let j = 0; j < n; j++) row[j]! += Math.imul(u, y[from + j]!)
        else for (let j = 0; j < n; j++) row[j]! += u * y[from + j]!
      }
      const at = flat * m * n + i * n
      for (let j = 0; j < n; j++) z[at + j] = acc === undefined ? row[j]! : acc.data[at + j]! + row[j]!
    }
  })
}

export const matmulPrimitive: Primitive<'matmul', NoParams, readonly ['float', 'float']> = primitive({
  name: 'matmul',
  structure: { kind: 'product' },
  unbounded: false,
  family: 'contract',
  args: ['float', 'float'],
  dtypes: ['number', 'number'],
  shapeRule: ([a, b]) => matmulShape('matmul', a!, b!),
  meaning: ([a, b], _p, [out]) => multiply(a!, b!, undefined, out!),
  cost: 100,
  samples: [
    { args: [{ shape: [2, 3] }, { shape: [3, 4] }], params: NO_PARAMS },
    { args: [{ shape: [1, 3] }, { shape: [3, 1] }], params: NO_PARAMS },
    { args: [{ shape: [2, 2, 3] }, { shape: [3, 2] }], params: NO_PARAMS },
    { args: [{ shape: [2, 1, 2, 3] }, { shape: [3, 3, 2] }], params: NO_PARAMS },
    { args: [{ shape: [1, 2, 3] }, { shape: [2, 3, 2] }], params: NO_PARAMS, note: 'a leading axis of 1 against one of 2' },
    { args: [{ shape: [2, 0] }, { shape: [0, 3] }], params: NO_PARAMS, note: 'empty inner axis' },
    { args: [{ shape: [0, 2] }, { shape: [2, 3] }], params: NO_PARAMS },
    {
      args: [
        { shape: [2, 3], dtype: 'i32', domain: [-9, 9] },
        { shape: [3, 2], dtype: 'i32', domain: [-9, 9] },
      ],
      params: NO_PARAMS,
    },
  ],
  source: 'Giles 2008, 2.2.1',
})

export const matmulAddPrimitive: Primitive<'matmulAdd', NoParams, readonly ['float', 'float', 'float']> = primitive({
  name: 'matmulAdd',
  structure: { kind: 'product' },
  unbounded: false,
  family: 'contract',
  args: ['float', 'float', 'float'],
  dtypes: ['number', 'number', 'number'],
  shapeRule: ([acc, a, b]) => {
    const y = matmulShape('matmulAdd', a!, b!)
    if (!sameAval(y, acc!))
      badShape('matmulAdd', [acc!.shape, y.shape], `the accumulator is ${showShape(acc!.shape)}, the product ${showShape(y.shape)}.`)
    return acc!
  },
  meaning: ([acc, a, b], _p, [out]) => multiply(a!, b!, acc!, out!),
  cost: 100,
  samples: [
    { args: [{ shape: [2, 4] }, { shape: [2, 3] }, { shape: [3, 4] }], params: NO_PARAMS },
    { args: [{ shape: [3, 2, 1] }, { shape: [3, 2, 2] }, { shape: [2, 1] }], params: NO_PARAMS },
    { args: [{ shape: [2, 3] }, { shape: [2, 0] }, { shape: [0, 3] }], params: NO_PARAMS },
    {
      args: [
        { shape: [2, 2], dtype: 'i32', domain: [-9, 9] },
        { shape: [2, 3], dtype: 'i32', domain: [-9, 9] },
        { shape: [3, 2], dtype: 'i32', domain: [-9, 9] },
      ],
      params: NO_PARAMS,
    },
  ],
  source: 'BLAS gemm with beta = 1',
})

export const matmulNode = (a: Node, b: Node): Node => apply(matmulPrimitive, [a, b], NO_PARAMS)

/**
 * Matrix product y = A B; a vector a is a row, a vector b a column, and the axis added for it is dropped again.
 *
 * Shapes  a: [..., m, k], b: [..., k, n] -> [..., m, n]; leading axes broadcast.   Dtype  promoted; bool becomes i32, i32 wraps; f32 sums in f32.
 * Rule    dy = dA B + A dB ;  ABar = yBar B^T, BBar = A^T yBar.   Source  Giles 2008, 2.2.1.
 * Errors  ShapeMismatch when a's last axis differs from b's second last.
 * @example matmul([[1, 2]], [[3], [4]])   // [[11]]
 */
export const matmul: MatMulFn = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = liftAll([a, b], 'matmul', 'number') as [Node, Node]
  const row = x.shape.length === 1
  const column = y.shape.length === 1
  if (!row && !column) return asExpr(matmulNode(x, y))
  const z = matmulNode(row ? reshapeNode(x, [1, x.shape[0]!]) : x, column ? reshapeNode(y, [y.shape[0]!, 1]) : y)
  const s = z.shape
  return asExpr(reshapeNode(z, [...s.slice(0, -2), ...(row ? [] : [s[s.length - 2]!]), ...(column ? [] : [s[s.length - 1]!])]))
})

/**
 * acc + A B: how the cotangent of a matrix product is added to an accumulator, in place if the plan allows it.
 *
 * Shapes  acc: [..., m, n], a: [..., m, k], b: [..., k, n].   Rule  accBar = yBar, ABar = yBar B^T, BBar = A^T yBar.
 * @example matmulAdd([[1]], [[1, 2]], [[3], [4]])   // [[12]]
 */
export const matmulAdd: MatMulAddFn = typed(
  (acc: unknown, a: unknown, b: unknown): AnyExpr =>
    asExpr(apply(matmulAddPrimitive, liftAll([acc, a, b], 'matmulAdd', 'number'), NO_PARAMS)),
)
