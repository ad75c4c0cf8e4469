/** Linear systems and what follows from them: solve, inv, det, slogdet, lstsq, pinv, matrixRank. Their primitives are in systems.ts. */
import { numberOf, shown } from '../errors/check-arguments.js'
import { raise } from '../errors/explain.js'
import { type Kind, kind } from '../errors/options.js'
import { castNode } from '../graph/cast.js'
import { apply, asExpr, asNode } from '../graph/expr.js'
import { NO_PARAMS } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import type { LstsqFn, MatrixRankFn, PerMatrixFn, PinvFn, SlogdetFn, SolveFn, SquareFn } from '../types/signatures/linalg.js'
import { eye } from './construct.js'
import { matrixAxes, squareAxes } from './factorisations.js'
import { broadcastNode } from './layout-move.js'
import { identity, inverse, onSystems } from './linalg-lead.js'
import { floats, operation } from './operation.js'
import { sum } from './reductions.js'
import { anySvd, counting, detPrimitive, lstsqNode, slogdetNodes, solveNode } from './systems.js'

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
 * The inverse of a square matrix. What is multiplied with it is better given to `solve`.
 *
 * Shapes  [..., n, n] -> the same.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    dy = -y dA y.   Infinities and NaN where it is singular.   Source  Giles 2008, 2.2.3.
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example inv([[2, 1], [1, 1]])   // [[1, -1], [-1, 2]]
 */
export const inv: SquareFn<'inv'> = operation('inv', { x: floats }, {}, ({ x }, _o, op) => asExpr(inverse(asNode(x), op)))
/**
 * The determinant of a square matrix; 1 of an empty one.
 *
 * Shapes  [..., n, n] -> [...].   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    aBar = yBar det(a) a^-T, the cofactors: also where a is singular.   Source  Giles 2008, 2.2.4.
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example det([[2, 1], [1, 3]])   // 5
 */
export const det: PerMatrixFn<'det'> = operation('det', { x: floats }, {}, ({ x }) => asExpr(apply(detPrimitive, [asNode(x)], NO_PARAMS)))

/**
 * The determinant as { sign, logdet }: det = sign exp(logdet), where the number itself would overflow or vanish.
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

/** A share of the largest singular value. */
const rcond: Kind<number | undefined, number> = kind((given, what, where) => {
  if (given === undefined || (numberOf(given, what, where) >= 0 && (given as number) < 1)) return given as number | undefined
  return raise({
    _tag: 'BadInput',
    where,
    reason: `${what} is ${shown(given)}.`,
    fix: 'give a share of the largest singular value, from 0 to 1.',
  })
})
/** The larger side of x in units of its rounding. */
const roundingOf = (x: AnyExpr): number => Math.max(...x.shape.slice(-2)) * (x.dtype === 'f32' ? 2 ** -23 : 2 ** -52)
/**
 * x with the least |a x - b|, and of these the least |x|: the pseudoinverse times b, by singular values.
 *
 * `rcond`: singular values of at most this share of the largest count as 0, max(m, n) units of rounding unless given.
 * Shapes  a: [..., m, n], b: [m] or [..., m, k] -> [..., n] or [..., n, k]; leading axes broadcast.   Dtype  promoted; i32 and bool become f64.
 * Rule    dx = P (db - dA x) + P P^T dA^T (b - a x) + (I - P a) dA^T P^T x, P the pseudoinverse; where the rank stays.   Source  Golub and Pereyra 1973.
 * Errors  ShapeMismatch unless b fits; BadInput for an rcond that is no share.
 * @example lstsq([[1, 0], [1, 1], [1, 2]], [1, 3, 5])   // [1, 2]
 */
export const lstsq: LstsqFn = operation('lstsq', { a: floats, b: floats }, { rcond }, ({ a, b }, o, op) => {
  const { rows } = matrixAxes(a.shape, op)
  const params = { rcond: o.rcond ?? roundingOf(a), transpose: false }
  return asExpr(onSystems(asNode(a), asNode(b), op, rows, (m, r) => lstsqNode(m, r, params)))
})

/**
 * The pseudoinverse P of Moore and Penrose: a P a = a, P a P = P, a P and P a symmetric.
 *
 * Shapes  [..., m, n] -> [..., n, m].   Dtype  f32 stays f32; i32 and bool become f64.   `rcond` and Rule  as `lstsq`.
 * Errors  ShapeMismatch for fewer than two axes; BadInput for an rcond that is no share.
 * @example pinv([[1], [1]])   // [[0.5, 0.5]]
 */
export const pinv: PinvFn = operation('pinv', { x: floats }, { rcond }, ({ x }, o, op) => {
  const { lead, rows } = matrixAxes(x.shape, op)
  return asExpr(lstsqNode(asNode(x), identity(lead, rows, x.dtype), { rcond: o.rcond ?? roundingOf(x), transpose: false }))
})

/**
 * How many singular values are more than `rcond` times the largest, max(m, n) units of rounding unless given.
 *
 * Shapes  [..., m, n] -> [...].   Dtype  i32.   Rule  none.   Source  NumPy matrix_rank.
 * Errors  ShapeMismatch for fewer than two axes; BadInput for an rcond that is no share.
 * @example matrixRank([[1, 2], [2, 4]])   // 1
 */
export const matrixRank: MatrixRankFn = operation('matrixRank', { x: floats }, { rcond }, ({ x }, o, op) => {
  const { lead, rows, columns } = matrixAxes(x.shape, op)
  if (Math.min(rows, columns) === 0) return sum(asExpr(broadcastNode(asNode(eye(0, 'i32')), [...lead, 0, 0])), { axis: [-2, -1] })
  return sum(asExpr(castNode(asNode(counting(anySvd(asNode(x))[1], o.rcond ?? roundingOf(x))), 'i32')), { axis: -1 })
})
