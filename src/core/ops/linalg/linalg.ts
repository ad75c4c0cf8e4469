/** Linear algebra as users call it: factorisations, systems and what follows from them. The primitives are in factorisations.ts and systems.ts. */

import { numberOf, shown } from '../../errors/check-arguments.js'
import { badInput } from '../../errors/explain.js'
import { greatestOf } from '../../errors/extremes.js'
import { flag, kind } from '../../errors/options.js'
import { castNode } from '../../graph/cast.js'
import { apply, asExpr, asNode, type Node } from '../../graph/expr.js'
import { NO_PARAMS } from '../../graph/primitive.js'
import type { AnyExpr } from '../../types/expr.js'
import type {
  CholeskyFn,
  EighFn,
  EigvalshFn,
  LstsqFn,
  LuFn,
  MatrixRankFn,
  PerMatrixFn,
  PinvFn,
  QrFn,
  SlogdetFn,
  SolveFn,
  SquareFn,
  SvdFn,
  SvdvalsFn,
  TriangularSolveFn,
} from '../../types/signatures/linalg.js'
import { eq } from '../compare.js'
import { eye, tril, triu } from '../construct.js'
import { matmulNode } from '../contract.js'
import { add, mul } from '../elementwise.js'
import { concatNode } from '../layout/join.js'
import { broadcastNode, swapLast } from '../layout/move.js'
import { sliceAxis } from '../layout/slice.js'
import { floats, operation } from '../operation.js'
import { iotaNode } from '../positions.js'
import { sum } from '../reductions.js'
import { choleskyPrimitive, eighNodes, luNodes, matrixAxes, qrNodes, squareAxes, triangularNode } from './factorisations.js'
import { anySvd, counting, detPrimitive, identity, inverse, lstsqNode, onSystems, slogdetNodes, solveNode } from './systems.js'

/** The mean of a matrix and its transpose: the matrix itself where it is symmetric. Halves are added, so that large numbers do not overflow. */
const symmetrised = (x: AnyExpr, op: string): Node => {
  squareAxes(x.shape, op)
  const half = (y: AnyExpr): AnyExpr => mul(y, 0.5)
  return asNode(add(half(x), half(asExpr(swapLast(asNode(x))))))
}

export const choleskyOptions = {
  /** The upper factor, the transpose of the lower one. */
  upper: flag(),
}
/**
 * Cholesky's factor of a symmetric positive definite matrix: L with A = L L^T, lower triangular, its diagonal positive; L^T with `upper`.
 *
 * A is taken as (A + A^T) / 2, so that the gradient is symmetric, as JAX has it; to read one triangle alone, pass tril(a) + tril(a, -1)^T.
 * Shapes  [..., n, n] -> the same.   Dtype  f32 stays f32; i32 and bool become f64.   A matrix that is not positive definite gives NaN
 *         throughout.
 * Rule    dL = L phi(L^-1 dA L^-T), phi the lower triangle with half of the diagonal.   Source  Murray 2016.
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example
 * cholesky([[4, 2], [2, 5]])                    // [[2, 0], [1, 2]]
 * cholesky([[4, 2], [2, 5]], { upper: true })   // [[2, 1], [0, 2]]
 */
export const cholesky: CholeskyFn = operation('cholesky', { x: floats }, choleskyOptions, ({ x }, { upper }) => {
  const l = apply(choleskyPrimitive, [asNode(x)], NO_PARAMS)
  return asExpr(upper ? swapLast(l) : l)
})

export const triangularOptions = {
  /** Which triangle is read: the lower one where it is true, the upper one unless given. */
  lower: flag(),
  /** a stands for its transpose; `lower` says where its numbers are, before that. */
  transpose: flag(),
  /** The diagonal is taken to be 1, and not read. */
  unitDiagonal: flag(),
  /** Where a stands: a x = b unless it is false, which is x a = b. */
  left: flag(true),
}
/**
 * x with a x = b for a triangular matrix a: the upper triangle is read, or with `lower` the lower one, and the other is not. With `left: false` x with x a = b.
 *
 * `transpose` solves with a^T (`lower` still refers to a); `unitDiagonal` takes the diagonal as 1.
 * Shapes  a: [..., n, n], b: [n] or [..., n, k] -> b's; with `left: false` b: [n] or [..., k, n]; leading axes broadcast.   Dtype  promoted; i32 and bool become f64.
 * Rule    bBar = a^-T xBar; aBar = -bBar x^T in the triangle that is read, zeros elsewhere.   Source  BLAS trsm.   A zero on the diagonal gives infinities and NaN.
 * Errors  ShapeMismatch unless a is square and b fits.
 * @example
 * triangularSolve([[2, 0], [1, 4]], [2, 9], { lower: true })                // [1, 2]
 * triangularSolve([[2, 0], [1, 4]], [[4, 8]], { lower: true, left: false }) // [[1, 2]]
 */
export const triangularSolve: TriangularSolveFn = operation(
  'triangularSolve',
  { a: floats, b: floats },
  triangularOptions,
  ({ a, b }, { left, ...o }, op) => {
    // x a = b is a^T x^T = b^T.
    const params = { ...o, transpose: o.transpose === left }
    return asExpr(onSystems(asNode(a), asNode(b), op, squareAxes(a.shape, op).n, (m, r) => triangularNode(m, r, params), left))
  },
)

/**
 * P A = L U, by elimination with partial pivoting: { p, l, u }, where row i of l u is row p[i] of A.
 *
 * Shapes  [..., m, n] -> p: [..., m], l: [..., m, k] with ones on its diagonal, u: [..., k, n]; k is the smaller of m and n.   Dtype  f32 stays f32; i32 and bool become f64; p is i32.
 * Rule    with F = L^-1 P dA U^-1: dL = L tril(F, -1), dU = triu(F) U.   Source  Golub and Van Loan 2013, 3.4.
 * Errors  ShapeMismatch for fewer than two axes.
 * @example lu([[1, 2], [2, 8]])   // { p: [1, 0], l: [[1, 0], [0.5, 1]], u: [[2, 8], [0, -2]] }
 */
export const lu: LuFn = operation('lu', { x: floats }, {}, ({ x }, _o, op) => {
  const { rows, columns, lead } = matrixAxes(x.shape, op)
  const [packed, , order] = luNodes(asNode(x))
  const k = Math.min(rows, columns)
  const l = tril(asExpr(sliceAxis(packed, lead.length + 1, 0, k)), -1)
  return { p: asExpr(order), l: add(l, ones(rows, k, x.dtype)), u: triu(asExpr(sliceAxis(packed, lead.length, 0, k))) }
})
/** The first k columns of the identity, as a loop over positions, which can be part of another one. */
const ones = (rows: number, k: number, dtype: Node['dtype']): AnyExpr => {
  const position = (axis: 0 | 1): AnyExpr => asExpr(iotaNode(axis === 0 ? [rows, 1] : [1, k], axis, 'i32'))
  return asExpr(castNode(asNode(eq(position(0), position(1))), dtype))
}

export const qrOptions = {
  /** Is q square? */
  complete: flag(),
}
/**
 * A = Q R: { q, r }, q with orthonormal columns, r upper triangular with a diagonal that is not negative, so that both are unique where A has full rank.
 *
 * Shapes  [..., m, n] -> q: [..., m, k], r: [..., k, n]; k is the smaller of m and n, m with `complete`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    with X = dA R^-1, L the strict lower triangle of Q^T X: dQ = X - Q (Q^T X - L + L^T), dR = (Q^T X - L + L^T) R. For A of full rank.   Source  Walter and Lehmann 2018.
 * Errors  ShapeMismatch for fewer than two axes; NotImplemented for a derivative of a complete q with more columns than A, which are an arbitrary basis.
 * @example qr([[3, 5], [4, 5]])   // { q: [[0.6, 0.8], [0.8, -0.6]], r: [[5, 7], [0, 1]] }
 */
export const qr: QrFn = operation('qr', { x: floats }, qrOptions, ({ x }, { complete }, op) => {
  const n = asNode(x)
  const { rows, columns, lead } = matrixAxes(n.shape, op)
  if (rows >= columns) {
    const [q, r] = qrNodes(n, { complete })
    return { q: asExpr(q), r: asExpr(r) }
  }
  const [q, head] = qrNodes(sliceAxis(n, lead.length + 1, 0, rows), { complete: false })
  const tail = matmulNode(swapLast(q), sliceAxis(n, lead.length + 1, rows, columns - rows))
  return { q: asExpr(q), r: asExpr(concatNode([head, tail], lead.length + 1)) }
})

/**
 * Eigenvalues and eigenvectors of a symmetric matrix: { w, v }, w ascending, A v = v diag(w); the largest component of each column of v is positive.
 *
 * A is taken as (A + A^T) / 2. Eigenvalues that differ by rounding alone (8 n units of the largest) count as equal: a function that does not depend on the choice
 * of vectors in their space (sum of f(w), the trace of v f(w) v^T) has its derivative there too.
 * Shapes  [..., n, n] -> w: [..., n], v: [..., n, n].   Dtype  f32 stays f32; i32 and bool become f64.   A matrix that holds a NaN gives NaN throughout.
 * Rule    dw = diag(P), dv = v (F * P) with P = v^T dA v, F_ij = 1 / (w_j - w_i), 0 where they are equal.   Source  Giles 2008, 3.1.
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example eigh([[2, 1], [1, 2]])   // { w: [1, 3], v: [[0.7071067811865475, 0.7071067811865475], [-0.7071067811865475, 0.7071067811865475]] }
 */
export const eigh: EighFn = operation('eigh', { x: floats }, {}, ({ x }, _o, op) => {
  const [w, v] = eighNodes(symmetrised(x, op))
  return { w: asExpr(w), v: asExpr(v) }
})

/**
 * Eigenvalues of a symmetric matrix in ascending order, as `eigh` has them.
 *
 * Shapes  [..., n, n] -> [..., n].   Dtype  f32 stays f32; i32 and bool become f64.   Rule  dw = diag(v^T dA v).
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example eigvalsh([[2, 1], [1, 2]])   // [1, 3]
 */
export const eigvalsh: EigvalshFn = operation('eigvalsh', { x: floats }, {}, ({ x }, _o, op) => asExpr(eighNodes(symmetrised(x, op))[0]))

/** The columns of u, and a basis of what is orthogonal to them. */
const completed = (u: Node): Node => {
  const { rows, columns, lead } = matrixAxes(u.shape, 'svd')
  if (rows === columns) return u
  const [q] = qrNodes(u, { complete: true })
  return concatNode([u, sliceAxis(q, lead.length + 1, columns, rows - columns)], lead.length + 1)
}
export const svdOptions = {
  /** Are u and vh square? */
  fullMatrices: flag(),
}
/**
 * A = u diag(s) vh: { u, s, vh }, the columns of u and the rows of vh orthonormal, s descending; of each vector of the shorter side (a row of vh where m >= n, a column of
 * u where m < n) the largest component is positive.
 *
 * Singular values that differ by rounding alone count as equal, as in `eigh`; so do those near 0 with 0.
 * Shapes  [..., m, n] -> u: [..., m, k], s: [..., k], vh: [..., k, n]; k is the smaller of m and n; with `fullMatrices` u: [..., m, m] and vh: [..., n, n].   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    ds = diag(u^T dA v); du and dv as Townsend 2016.   A matrix that holds a NaN gives NaN throughout.
 * Errors  ShapeMismatch for fewer than two axes; NotImplemented for a derivative of the vectors that `fullMatrices` adds, which are an arbitrary basis.
 * @example svd([[3, 0], [0, 4]])   // { u: [[0, 1], [1, 0]], s: [4, 3], vh: [[0, 1], [1, 0]] }
 */
export const svd: SvdFn = operation('svd', { x: floats }, svdOptions, ({ x }, { fullMatrices: full }) => {
  const [u, s, v] = anySvd(asNode(x))
  return { u: asExpr(full ? completed(u) : u), s: asExpr(s), vh: asExpr(swapLast(full ? completed(v) : v)) }
})

/**
 * Singular values in descending order, as `svd` has them.
 *
 * Shapes  [..., m, n] -> [..., k]; k is the smaller of m and n.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  ds = diag(u^T dA v).
 * Errors  ShapeMismatch for fewer than two axes.
 * @example svdvals([[3, 0], [0, 4]])   // [4, 3]
 */
export const svdvals: SvdvalsFn = operation('svdvals', { x: floats }, {}, ({ x }) => asExpr(anySvd(asNode(x))[1]))

/**
 * x with a x = b, for square matrices a: a^-1 b, by elimination with partial pivoting.
 *
 * Shapes  a: [..., n, n], b: [n] or [..., n, k] -> b's, as in NumPy 2: b is a vector where it has one axis; leading axes broadcast.   Dtype  promoted; i32 and bool become f64.
 * Rule    bBar = a^-T xBar, aBar = -bBar x^T, by the same factors.   Infinities and NaN where a is singular.   Source  Giles 2008, 2.3.1.
 * Errors  ShapeMismatch unless a is square and b fits.
 * @example solve([[2, 1], [1, 3]], [3, 5])   // [0.8, 1.4]
 */
export const solve: SolveFn = operation('solve', { a: floats, b: floats }, {}, ({ a, b }, _o, op) =>
  asExpr(onSystems(asNode(a), asNode(b), op, squareAxes(a.shape, op).n, (m, r) => solveNode(m, r))),
)

/**
 * The inverse of a square matrix. To multiply by it, use `solve`, which is more accurate.
 *
 * Shapes  [..., n, n] -> the same.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    dy = -y dA y.   Infinities and NaN if it is singular.   Source  Giles 2008, 2.2.3.
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example inv([[2, 1], [1, 1]])   // [[1, -1], [-1, 2]]
 */
export const inv: SquareFn<'inv'> = operation('inv', { x: floats }, {}, ({ x }, _o, op) => asExpr(inverse(asNode(x), op)))
/**
 * The determinant of a square matrix; 1 for an empty one.
 *
 * Shapes  [..., n, n] -> [...].   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    aBar = yBar det(a) a^-T, the cofactors: also where a is singular.   Source  Giles 2008, 2.2.4.
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example det([[2, 1], [1, 3]])   // 5
 */
export const det: PerMatrixFn<'det'> = operation('det', { x: floats }, {}, ({ x }) => asExpr(apply(detPrimitive, [asNode(x)], NO_PARAMS)))

/**
 * The determinant as { sign, logdet }: det = sign exp(logdet), for determinants that would overflow or underflow.
 *
 * Shapes  [..., n, n] -> [...] each.   Dtype  f32 stays f32; i32 and bool become f64.   Of a singular matrix sign is 0 and logdet -Infinity.
 * Rule    aBar = logdetBar a^-T.   Source  Giles 2008, 2.2.4.
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example slogdet([[0, 1], [1, 0]])   // { sign: -1, logdet: 0 }
 */
export const slogdet: SlogdetFn = operation('slogdet', { x: floats }, {}, ({ x }) => {
  const [sign, logdet] = slogdetNodes(asNode(x))
  return { sign: asExpr(sign), logdet: asExpr(logdet) }
})

export const rcondOptions = {
  /** Singular values up to this share of the largest count as 0: max(m, n) units of rounding unless given. */
  rcond: kind<number | undefined, number>((given, what, where) => {
    if (given === undefined || (numberOf(given, what, where) >= 0 && (given as number) < 1)) return given as number | undefined
    return badInput(where, `${what} is ${shown(given)}.`, 'give a share of the largest singular value, from 0 to 1.')
  }),
}
/** The larger side of x in units of its rounding. */
const roundingOf = (x: AnyExpr): number => greatestOf(x.shape.slice(-2)) * (x.dtype === 'f32' ? 2 ** -23 : 2 ** -52)
/**
 * x that minimises |a x - b|, and among these |x|: the pseudoinverse times b, by singular values.
 *
 * `rcond`: singular values up to this share of the largest count as 0 (max(m, n) units of rounding unless given).
 * Shapes  a: [..., m, n], b: [m] or [..., m, k] -> [..., n] or [..., n, k]; leading axes broadcast.   Dtype  promoted; i32 and bool become f64.
 * Rule    dx = P (db - dA x) + P P^T dA^T (b - a x) + (I - P a) dA^T P^T x, P the pseudoinverse; where the rank stays.   Source  Golub and Pereyra 1973.
 * Errors  ShapeMismatch unless b fits; BadInput for an invalid rcond.
 * @example lstsq([[1, 0], [1, 1], [1, 2]], [1, 3, 5])   // [1, 2]
 */
export const lstsq: LstsqFn = operation('lstsq', { a: floats, b: floats }, rcondOptions, ({ a, b }, o, op) => {
  const { rows } = matrixAxes(a.shape, op)
  const params = { rcond: o.rcond ?? roundingOf(a), transpose: false }
  return asExpr(onSystems(asNode(a), asNode(b), op, rows, (m, r) => lstsqNode(m, r, params)))
})

/**
 * The pseudoinverse P of Moore and Penrose: a P a = a, P a P = P, a P and P a symmetric.
 *
 * Shapes  [..., m, n] -> [..., n, m].   Dtype  f32 stays f32; i32 and bool become f64.   `rcond` and Rule  as `lstsq`.
 * Errors  ShapeMismatch for fewer than two axes; BadInput for an invalid rcond.
 * @example pinv([[1], [1]])   // [[0.5, 0.5]]
 */
export const pinv: PinvFn = operation('pinv', { x: floats }, rcondOptions, ({ x }, o, op) => {
  const { lead, rows } = matrixAxes(x.shape, op)
  return asExpr(lstsqNode(asNode(x), identity(lead, rows, x.dtype), { rcond: o.rcond ?? roundingOf(x), transpose: false }))
})

/**
 * The number of singular values above `rcond` times the largest (max(m, n) units of rounding unless given).
 *
 * Shapes  [..., m, n] -> [...].   Dtype  i32.   Rule  none.   Source  NumPy matrix_rank.
 * Errors  ShapeMismatch for fewer than two axes; BadInput for an invalid rcond.
 * @example matrixRank([[1, 2], [2, 4]])   // 1
 */
export const matrixRank: MatrixRankFn = operation('matrixRank', { x: floats }, rcondOptions, ({ x }, o, op) => {
  const { lead, rows, columns } = matrixAxes(x.shape, op)
  if (Math.min(rows, columns) === 0) return sum(asExpr(broadcastNode(asNode(eye(0, 'i32')), [...lead, 0, 0])), { axis: [-2, -1] })
  return sum(asExpr(castNode(asNode(counting(anySvd(asNode(x))[1], o.rcond ?? roundingOf(x))), 'i32')), { axis: -1 })
})
