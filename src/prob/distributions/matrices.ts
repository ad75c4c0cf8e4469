/** Distributions of matrices. */
import { integerOf } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import {
  type AnyExpr,
  add,
  cholesky,
  diagonal,
  expandDims,
  eye,
  lgamma,
  log,
  matmul,
  mul,
  sqrt,
  square,
  sub,
  sum,
  tensor,
  transpose,
  triangularSolve,
  tril,
} from '../../index.js'
import { type Parameter, shapeFor, spread } from '../../random/given.js'
import { beta as drawBeta, gamma as drawGamma, normal as drawNormal } from '../../random/index.js'
import { correlationOf } from '../bijectors/matrices.js'
import { type Distribution, type FloatOptions, type Having, make, positive, type Recipe } from '../distribution.js'
import { correlationCholesky, positiveDefinite } from '../support.js'
import { two } from './numbers.js'
import { along, checkSquare, logsOf, type Matrix, matrix, prepared, type ScaleOptions, scaleIn, sizeOf } from './vectors.js'

type X = AnyExpr
/** log of the multivariate gamma function. */
const lgammas = (a: X, n: number): X => {
  const less = tensor(
    Array.from({ length: n }, (_, j) => j / 2),
    [n],
    a.dtype as 'f64',
  )
  return add(sum(lgamma(sub(expandDims(a, -1), less)), along), ((n * (n - 1)) / 4) * Math.log(Math.PI)) as X
}
const wishartOf = (kind: Matrix): Recipe<'df' | 'matrix'> => ({
  name: 'wishart',
  parameters: { df: positive, matrix },
  prepare: ({ df, matrix: m }) => ({ df, matrix: prepared(kind, m) }),
  eventShape: ({ matrix: m }) => {
    checkSquare(m, sizeOf(m), 'scale', 'wishart')
    return [sizeOf(m), sizeOf(m)]
  },
  support: () => positiveDefinite,
  // Source  Bartlett 1933: roots of chi-squared numbers on the diagonal, normal ones below.
  sample: (key, shape, { df, matrix: l }, dtype) => {
    const n = sizeOf(l)
    const [a, b] = two(key)
    const less = tensor(
      Array.from({ length: n }, (_, i) => i),
      [n],
      dtype,
    )
    const half = spread(mul(0.5, sub(expandDims(df, -1), less)) as X, [...shape, n])
    const roots = sqrt(mul(2, drawGamma(a as never, half, { dtype }))) as X
    const below = tril(drawNormal(b as never, [...shape, n, n], { dtype }), -1)
    const one = eye(n, n, 0, dtype)
    const root = matmul(l, add(below, mul(one, expandDims(roots, -1)))) as X
    return matmul(root, transpose(root)) as X
  },
  logProb: (x, { df, matrix: l }) => {
    const n = sizeOf(l)
    const c = cholesky(x) as X
    const ratio = triangularSolve(l, spread(c, shapeFor(undefined, [c.shape, l.shape], 'wishart')) as never, { lower: true })
    const trace = sum(square(ratio), { axis: [-1, -2] })
    const constant = add(mul(df, add((n / 2) * Math.LN2, logsOf(l))), lgammas(mul(0.5, df) as X, n))
    return sub(sub(mul(sub(df, n + 1), logsOf(c)), mul(0.5, trace)), constant) as X
  },
  mean: ({ df, matrix: l }) => mul(expandDims(expandDims(df, -1), -1), matmul(l, transpose(l))) as X,
  variance: ({ df, matrix: l }) => {
    const v = matmul(l, transpose(l)) as X
    const d = diagonal(v)
    return mul(expandDims(expandDims(df, -1), -1), add(square(v), mul(expandDims(d, -1), expandDims(d, -2)))) as X
  },
})
/**
 * The Wishart distribution of symmetric positive definite matrices, with `df` degrees of freedom (above n - 1) and a scale matrix or its lower triangular factor.
 *
 * Shapes  df: [...], the matrix: [..., n, n]; leading axes broadcast and are the batch.   Source  SciPy's `wishart(df, scale)`, NumPyro's `Wishart`; Bartlett 1933.
 * Errors  BadInput for a df that is not above n - 1, and unless one matrix is given; ShapeMismatch.
 * @example wishart(3, { scale: [[1, 0], [0, 1]] }).logProb([[1, 0], [0, 1]])   // -3.5310
 */
export const wishart = (df: Parameter, options: ScaleOptions): Having<'mean' | 'variance'> => {
  const op = 'wishart'
  const { kind, matrix: m, rest } = scaleIn(options, op)
  const d = make(wishartOf(kind), { df, matrix: m }, rest)
  const n = d.eventShape[0]!
  if (typeof df === 'number' && !(df > n - 1)) badInput(op, `df is ${df}.`, `give more than ${n - 1} for matrices of order ${n}.`)
  return d as never
}

const lkjOf = (n: number): Recipe<'concentration'> => ({
  name: 'lkjCholesky',
  parameters: { concentration: positive },
  eventShape: () => [n, n],
  support: () => correlationCholesky,
  // The partial correlations are independent.   Source  Lewandowski, Kurowicka and Joe 2009, 3.2.
  sample: (key, shape, { concentration }, dtype) => {
    const columns: number[] = []
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) columns.push((n - 2 - j) / 2)
    if (columns.length === 0) return spread(eye(n, n, 0, dtype) as X, [...shape, n, n])
    const b = spread(add(expandDims(concentration, -1), tensor(columns, [columns.length], dtype)) as X, [...shape, columns.length])
    return correlationOf(sub(mul(2, drawBeta(key, b, b, { dtype })), 1) as X)
  },
  logProb: (x, { concentration: c }) => {
    const above = Array.from({ length: n }, (_, i) => (i === 0 ? 0 : n - 1 - i))
    const first = Array.from({ length: n }, (_, i) => (i === 0 ? 0 : 2))
    const order = add(mul(expandDims(sub(c, 1), -1), tensor(first, [n], x.dtype as 'f64')), tensor(above, [n], x.dtype as 'f64'))
    const m = n - 1
    const alpha = add(c, m / 2) as X
    const constant = n < 2 ? mul(0, alpha) : sub(add((m / 2) * Math.log(Math.PI), lgammas(sub(alpha, 0.5) as X, m)), mul(m, lgamma(alpha)))
    return sub(sum(mul(order, log(diagonal(x))), along), constant) as X
  },
})
/**
 * The LKJ distribution of correlation matrices C, by their Cholesky factors: density of C proportional to det(C)^(concentration - 1); 1 is uniform over the matrices.
 *
 * Shapes  n is the order; events are [n, n].   Support  lower triangular matrices with a positive diagonal, and rows of length 1 up to 1e-6 (1e-4 in f32).
 * Source  NumPyro's `LKJCholesky(n, concentration)`; Lewandowski, Kurowicka and Joe 2009.   Errors  BadInput for an order below 1 or a concentration that is not positive.
 * @example lkjCholesky(2, 1).logProb([[1, 0], [0.6, 0.8]])   // -0.6931
 */
export const lkjCholesky = (n: number, concentration: Parameter = 1, options?: FloatOptions): Distribution => {
  const order = integerOf(n, 'n', 'lkjCholesky')
  if (order < 1) badInput('lkjCholesky', `n is ${order}.`, 'give 1 or more.')
  return make(lkjOf(order), { concentration }, options)
}
