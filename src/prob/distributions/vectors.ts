/** Distributions of vectors of any numbers. */
import { badInput, badShape } from '../../core/errors/explain.js'
import { type OptionsOf, raw, readOptions } from '../../core/errors/options.js'
import {
  type AnyExpr,
  add,
  cholesky,
  diagonal,
  div,
  expandDims,
  eye,
  type Float,
  gt,
  lgamma,
  log,
  log1p,
  matmul,
  mul,
  neg,
  reshape,
  sqrt,
  square,
  squeeze,
  sub,
  sum,
  transpose,
  triangularSolve,
  tril,
  where,
} from '../../index.js'
import { float, type Parameter, spread } from '../../random/given.js'
import { gamma as drawGamma, normal as drawNormal } from '../../random/index.js'
import { type FloatOptions, type Having, make, positive, type Recipe } from '../distribution.js'
import { independentOf, reals } from '../support.js'
import { HALF_LOG_2PI, two } from './numbers.js'

type X = AnyExpr
export const along = { axis: -1 } as const
export const sizeOf = (x: X): number => x.shape.at(-1)!
const vectors = independentOf(reals, 1)

// ---- matrices times vectors

/** f(m, columns) for vectors v [..., n] and matrices m [..., n, n]: columns of one matrix where there is a single one. */
const onVectors = (m: X, v: X, f: (m: X, columns: X) => X): X => {
  const n = sizeOf(v)
  if (m.shape.length === 2) {
    const rows = v.shape.slice(0, -1).reduce((a, b) => a * b, 1)
    return reshape(transpose(f(m, transpose(reshape(v, [rows, n])) as X)), v.shape.slice(0, -1).concat(m.shape[0]!)) as X
  }
  return squeeze(f(m, expandDims(v, -1) as X), -1) as X
}
/** What a normal distribution does with its matrix: v with unit covariance, the other way round, and half of the log of the determinant of the covariance. */
interface Scatter {
  readonly white: (v: X) => X
  readonly colour: (v: X) => X
  readonly half: X
  readonly variance: X
}
export const logsOf = (l: X): X => sum(log(diagonal(l)), along) as X
const byFactor = (l: X): Scatter => ({
  white: (v) => onVectors(l, v, (m, b) => triangularSolve(m, b as never, { lower: true }) as X),
  colour: (v) => onVectors(l, v, (m, b) => matmul(m, b) as X),
  half: logsOf(l),
  variance: sum(square(l), along) as X,
})
/** By the Cholesky factor of the inverse of the covariance. */
const byInverse = (l: X): Scatter => {
  const n = sizeOf(l)
  const columns = (m: X, b: X): X => triangularSolve(m, b as never, { lower: true, transpose: true }) as X
  return {
    white: (v) => onVectors(l, v, (m, b) => matmul(transpose(m), b) as X),
    colour: (v) => onVectors(l, v, columns),
    half: neg(logsOf(l)) as X,
    variance: sum(square(columns(l, eye(n, n, 0, l.dtype as 'f64') as X)), along) as X,
  }
}
export const squared = (v: X): X => sum(square(v), along) as X

export type Matrix = 'covariance' | 'precision' | 'factor'
export const matrix = { rank: 2 }
const vector = { rank: 1 }
/** Lower triangles: of factors what is above the diagonal is not read. */
export const prepared = (kind: Matrix, m: X): X => (kind === 'factor' ? tril(m) : cholesky(m)) as X
const scatterOf = (kind: Matrix, m: X): Scatter => (kind === 'precision' ? byInverse(m) : byFactor(m))
export const checkSquare = (m: X, n: number, what: string, op: string): void => {
  if (m.shape.at(-1) !== n || m.shape.at(-2) !== n)
    badShape(
      op,
      [m.shape, [n]],
      `the ${what} has shape [${m.shape.join(', ')}], the mean has ${n} elements.`,
      `give a matrix of shape [${n}, ${n}].`,
    )
}

// ---- normal vectors

export const mvNormalOptions = {
  /** The covariance: a symmetric positive definite matrix. */
  covariance: raw<Parameter>(),
  /** Its inverse. */
  precision: raw<Parameter>(),
  /** Its lower triangular factor L, L L^T. */
  factor: raw<Parameter>(),
  /** 'f32' or 'f64': that of the parameters unless given, 'f64' for plain numbers. */
  dtype: float,
}
/** Options of `mvNormal`, of which one is a matrix. */
export type MvNormalOptions = OptionsOf<typeof mvNormalOptions>
const floatIn = (dtype: Float | undefined): FloatOptions | undefined => (dtype === undefined ? undefined : { dtype })
/** The factor of the covariance and of its inverse, as matrices. */
const dense = (kind: Matrix, m: X): { readonly factor: X; readonly white: X } => {
  const one = eye(sizeOf(m), sizeOf(m), 0, m.dtype as 'f64') as X
  const solved = (t: boolean): X => triangularSolve(m, spread(one, m.shape) as never, { lower: true, transpose: t }) as X
  return kind === 'precision' ? { factor: solved(true), white: transpose(m) as X } : { factor: m, white: solved(false) }
}
const mvNormalOf = (kind: Matrix): Recipe<'mean' | 'matrix'> => ({
  name: 'mvNormal',
  parameters: { mean: vector, matrix },
  prepare: ({ mean, matrix: m }) => ({ mean, matrix: prepared(kind, m) }),
  eventShape: ({ mean, matrix: m }) => {
    checkSquare(m, sizeOf(mean), kind, 'mvNormal')
    return [sizeOf(mean)]
  },
  support: () => vectors,
  sample: (key, shape, { mean, matrix: m }, dtype) =>
    add(mean, scatterOf(kind, m).colour(drawNormal(key, [...shape, sizeOf(mean)], { dtype }) as X)) as X,
  logProb: (x, { mean, matrix: m }) => {
    const { white, half } = scatterOf(kind, m)
    return neg(add(add(mul(0.5, squared(white(sub(x, mean) as X))), half), HALF_LOG_2PI * sizeOf(mean))) as X
  },
  mean: ({ mean }) => mean,
  variance: ({ matrix: m }) => scatterOf(kind, m).variance,
  entropy: ({ mean, matrix: m }) => add(scatterOf(kind, m).half, (HALF_LOG_2PI + 0.5) * sizeOf(mean)) as X,
  family: {
    name: 'mvNormal',
    of: ({ mean, matrix: m }) => ({ mean, half: scatterOf(kind, m).half, ...dense(kind, m) }),
    kl: (p, q) => {
      const spreads = sum(square(matmul(q.white!, p.factor!)), { axis: [-1, -2] })
      const far = squared(onVectors(q.white!, sub(p.mean!, q.mean!) as X, (m, b) => matmul(m, b) as X))
      return add(mul(0.5, sub(add(spreads, far), sizeOf(p.mean!))), sub(q.half!, p.half!)) as X
    },
  },
})
/**
 * The normal distribution of vectors, with a mean and one of its covariance matrix, the inverse of that (`precision`), or its lower triangular factor.
 *
 * Shapes  mean: [..., n], the matrix: [..., n, n]; leading axes broadcast and are the batch.   Support  all vectors.   Source  SciPy's `multivariate_normal`, NumPyro's `MultivariateNormal`.
 * Errors  BadInput unless one matrix is given; ShapeMismatch. A matrix that is not positive definite gives NaN.
 * @example mvNormal([0, 0], { covariance: [[2, 1], [1, 2]] }).logProb([0, 1])   // -2.7205
 */
export const mvNormal = (mean: Parameter, options: MvNormalOptions): Having<'mean' | 'variance' | 'entropy'> => {
  const op = 'mvNormal'
  const { dtype, ...matrices } = readOptions(mvNormalOptions, options, op)
  const given = Object.entries(matrices).filter((e): e is [Matrix, Parameter] => e[1] !== undefined)
  const [one] = given
  if (one === undefined || given.length > 1)
    return badInput(
      op,
      given.length === 0 ? 'no matrix is given.' : `${given.map(([name]) => name).join(' and ')} are given.`,
      'give one of { covariance, precision, factor }.',
    )
  return make(mvNormalOf(one[0]), { mean, matrix: one[1] }, floatIn(dtype)) as never
}

export const scaleOptions = {
  /** The scale matrix, symmetric positive definite. */
  scale: raw<Parameter>(),
  /** Its lower triangular factor L, L L^T. */
  factor: raw<Parameter>(),
  /** 'f32' or 'f64': that of the parameters unless given, 'f64' for plain numbers. */
  dtype: float,
}
/** Options of distributions with a scale matrix: it, or its factor. */
export type ScaleOptions = OptionsOf<typeof scaleOptions>
export const scaleIn = (
  options: unknown,
  op: string,
): { readonly kind: Matrix; readonly matrix: Parameter; readonly rest: FloatOptions | undefined } => {
  const { scale, factor, dtype } = readOptions(scaleOptions, options, op)
  if ((scale === undefined) === (factor === undefined))
    return badInput(op, scale === undefined ? 'no matrix is given.' : 'scale and factor are given.', 'give one of { scale, factor }.')
  return { kind: scale === undefined ? 'factor' : 'covariance', matrix: (scale ?? factor)!, rest: floatIn(dtype) }
}
const mvStudentTOf = (kind: Matrix): Recipe<'df' | 'loc' | 'matrix'> => ({
  name: 'mvStudentT',
  parameters: { df: positive, loc: vector, matrix },
  prepare: ({ df, loc, matrix: m }) => ({ df, loc, matrix: prepared(kind, m) }),
  eventShape: ({ loc, matrix: m }) => {
    checkSquare(m, sizeOf(loc), 'scale', 'mvStudentT')
    return [sizeOf(loc)]
  },
  support: () => vectors,
  sample: (key, shape, { df, loc, matrix: m }, dtype) => {
    const [a, b] = two(key)
    const half = mul(0.5, df) as X
    const wide = sqrt(div(half, drawGamma(a as never, half, { shape, dtype })))
    return add(loc, mul(expandDims(wide, -1), byFactor(m).colour(drawNormal(b as never, [...shape, sizeOf(loc)], { dtype }) as X))) as X
  },
  logProb: (x, { df, loc, matrix: m }) => {
    const n = sizeOf(loc)
    const { white, half } = byFactor(m)
    const all = mul(0.5, add(df, n))
    const constant = sub(sub(lgamma(all), lgamma(mul(0.5, df))), mul(n / 2, log(mul(Math.PI, df))))
    return sub(sub(constant, half), mul(all, log1p(div(squared(white(sub(x, loc) as X)), df)))) as X
  },
  mean: ({ df, loc }) => where(expandDims(gt(df, 1), -1), loc, Number.NaN) as X,
  variance: ({ df, matrix: m }) => {
    const finite = gt(df, 2) as X
    const ratio = where(finite, div(df, sub(where(finite, df, 3), 2)), where(gt(df, 1), Number.POSITIVE_INFINITY, Number.NaN))
    return mul(expandDims(ratio, -1), byFactor(m).variance) as X
  },
})
/**
 * Student's t distribution of vectors, with `df` degrees of freedom, a location, and a scale matrix or its lower triangular factor.
 *
 * Shapes  df: [...], loc: [..., n], the matrix: [..., n, n]; leading axes broadcast and are the batch.   Support  all vectors.   Source  SciPy's `multivariate_t`, NumPyro's `MultivariateStudentT`.
 * Errors  BadInput for a df that is not positive, and unless one matrix is given; ShapeMismatch.
 * @example mvStudentT(3, [0, 0], { scale: [[1, 0], [0, 1]] }).logProb([0, 1])   // -2.5571
 */
export const mvStudentT = (df: Parameter, loc: Parameter, options: ScaleOptions): Having<'mean' | 'variance'> => {
  const { kind, matrix: m, rest } = scaleIn(options, 'mvStudentT')
  return make(mvStudentTOf(kind), { df, loc, matrix: m }, rest) as never
}

const lowRankRecipe: Recipe<'mean' | 'factor' | 'diagonal'> = {
  name: 'lowRankNormal',
  parameters: { mean: vector, factor: matrix, diagonal: { ...positive, rank: 1 } },
  eventShape: ({ mean, factor, diagonal: d }) => {
    const n = sizeOf(mean)
    if (factor.shape.at(-2) !== n || sizeOf(d) !== n)
      badShape(
        'lowRankNormal',
        [mean.shape, factor.shape, d.shape],
        'the factor and the diagonal must have a row and an element for each of the mean.',
      )
    return [n]
  },
  support: () => vectors,
  sample: (key, shape, { mean, factor, diagonal: d }, dtype) => {
    const [a, b] = two(key)
    const low = onVectors(factor, drawNormal(a as never, [...shape, sizeOf(factor)], { dtype }) as X, (m, v) => matmul(m, v) as X)
    return add(mean, add(low, mul(sqrt(d), drawNormal(b as never, [...shape, sizeOf(mean)], { dtype })))) as X
  },
  logProb: (x, p) => {
    const { half, core } = lowRank(p)
    const away = sub(x, p.mean) as X
    const scaled = div(away, p.diagonal) as X
    const inner = onVectors(transpose(p.factor) as X, scaled, (m, v) => matmul(m, v) as X)
    const less = squared(onVectors(core, inner, (m, v) => triangularSolve(m, v as never, { lower: true }) as X))
    const far = sub(sum(mul(away, scaled), along), less)
    return neg(add(add(mul(0.5, far), half), HALF_LOG_2PI * sizeOf(p.mean))) as X
  },
  mean: ({ mean }) => mean,
  variance: ({ factor, diagonal: d }) => add(sum(square(factor), along), d) as X,
  entropy: (p) => add(lowRank(p).half, (HALF_LOG_2PI + 0.5) * sizeOf(p.mean)) as X,
}
/** By Woodbury's formula: the factor of I + W^T D^-1 W, and half of the log determinant. */
const lowRank = ({ factor, diagonal: d }: { readonly factor: X; readonly diagonal: X }): { readonly core: X; readonly half: X } => {
  const r = sizeOf(factor)
  const scaled = div(factor, expandDims(d, -1))
  const core = cholesky(add(eye(r, r, 0, factor.dtype as 'f64'), matmul(transpose(factor), scaled))) as X
  return { core, half: add(logsOf(core), mul(0.5, sum(log(d), along))) as X }
}
/**
 * The normal distribution of vectors with covariance W W^T + diag(d), for a narrow matrix W: no matrix of its own order is factored.
 *
 * Shapes  mean: [..., n], factor: [..., n, r], diagonal: [..., n]; leading axes broadcast and are the batch.   Source  NumPyro's `LowRankMultivariateNormal`.
 * Errors  BadInput for a diagonal that is not positive; ShapeMismatch.
 * @example lowRankNormal([0, 0], [[1], [1]], [1, 1]).logProb([0, 1])   // -2.7205
 */
export const lowRankNormal = (
  mean: Parameter,
  factor: Parameter,
  diagonal: Parameter,
  options?: FloatOptions,
): Having<'mean' | 'variance' | 'entropy'> => make(lowRankRecipe, { mean, factor, diagonal }, options) as never
