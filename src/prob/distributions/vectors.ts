/** Distributions of vectors and matrices. */
import { integerOf } from '../../core/errors/check-arguments.js'
import { badInput, badShape } from '../../core/errors/explain.js'
import { type OptionsOf, raw, readOptions } from '../../core/errors/options.js'
import {
  type AnyExpr,
  add,
  cast,
  cholesky,
  cumsum,
  diagonal,
  digamma,
  div,
  expandDims,
  eye,
  type Float,
  gt,
  lgamma,
  log,
  log1p,
  logSoftmax,
  matmul,
  maximum,
  minimum,
  moveaxis,
  mul,
  neg,
  reshape,
  scan,
  softmax,
  sqrt,
  square,
  squeeze,
  sub,
  sum,
  tensor,
  transpose,
  triangularSolve,
  tril,
  where,
  xlogy,
} from '../../index.js'
import { float, type GivenKey, type Parameter, shapeFor, spread } from '../../random/given.js'
import {
  beta as drawBeta,
  dirichlet as drawDirichlet,
  gamma as drawGamma,
  normal as drawNormal,
  uniform as drawUniform,
  splitKey,
} from '../../random/index.js'
import { correlationOf } from '../bijectors.js'
import { count, type Distribution, type FloatOptions, type Having, make, positive, type Recipe, type Values } from '../distribution.js'
import { correlationCholesky, counts, independentOf, positiveDefinite, reals, simplex } from '../support.js'
import { binomialCdf, type LogitOptions, logitsAsked } from './discrete.js'
import { HALF_LOG_2PI } from './numbers.js'
import { two } from './positive.js'
import { wholeQuantile } from './quantile.js'

type X = AnyExpr
const along = { axis: -1 } as const
const sizeOf = (x: X): number => x.shape.at(-1)!
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
const logsOf = (l: X): X => sum(log(diagonal(l)), along) as X
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
const squared = (v: X): X => sum(square(v), along) as X

type Matrix = 'covariance' | 'precision' | 'factor'
const matrix = { rank: 2 }
const vector = { rank: 1 }
/** Lower triangles: of factors what is above the diagonal is not read. */
const prepared = (kind: Matrix, m: X): X => (kind === 'factor' ? tril(m) : cholesky(m)) as X
const scatterOf = (kind: Matrix, m: X): Scatter => (kind === 'precision' ? byInverse(m) : byFactor(m))
const checkSquare = (m: X, n: number, what: string, op: string): void => {
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
const scaleIn = (
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

// ---- shares and counts

const betaln = (a: X): X => sub(sum(lgamma(a), along), lgamma(sum(a, along))) as X
const dirichletRecipe: Recipe<'alpha'> = {
  name: 'dirichlet',
  parameters: { alpha: { ...positive, rank: 1 } },
  eventShape: ({ alpha }) => [sizeOf(alpha)],
  support: () => simplex,
  sample: (key, shape, { alpha }, dtype) => drawDirichlet(key, spread(alpha, [...shape, sizeOf(alpha)]), { dtype }) as X,
  logProb: (x, { alpha }) => sub(sum(xlogy(sub(alpha, 1), x), along), betaln(alpha)) as X,
  mean: ({ alpha }) => div(alpha, sum(alpha, { axis: -1, keepdims: true })) as X,
  variance: ({ alpha }) => {
    const all = sum(alpha, { axis: -1, keepdims: true })
    const m = div(alpha, all)
    return div(mul(m, sub(1, m)), add(all, 1)) as X
  },
  entropy: ({ alpha }) => {
    const all = sum(alpha, along)
    return sub(add(betaln(alpha), mul(sub(all, sizeOf(alpha)), digamma(all))), sum(mul(sub(alpha, 1), digamma(alpha)), along)) as X
  },
  family: {
    name: 'dirichlet',
    kl: (p, q) => {
      const [a, b] = [p.alpha!, q.alpha!]
      const logs = sub(digamma(a), digamma(sum(a, { axis: -1, keepdims: true })))
      return add(sub(betaln(b), betaln(a)), sum(mul(sub(a, b), logs), along)) as X
    },
  },
}
/**
 * The Dirichlet distribution of positive numbers with sum 1: density proportional to the product of x_i^(alpha_i - 1).
 *
 * Shapes  alpha: [..., n], with batch shape [...].   Support  vectors of sum 1, up to 1e-6 (1e-4 in f32).   Source  SciPy's `dirichlet(alpha)`, NumPyro's `Dirichlet`.
 * Errors  BadInput for parameters that are not positive; ShapeMismatch for alpha of rank 0.
 * @example dirichlet([1, 2, 3]).logProb([0.2, 0.3, 0.5])   // 1.5041
 */
export const dirichlet = (alpha: Parameter, options?: FloatOptions): Having<'mean' | 'variance' | 'entropy'> =>
  make(dirichletRecipe, { alpha }, options) as never

/** Counts of n draws of classes with shares p [..., k]: of each class by a binomial number of what the classes before it left. */
const drawCounts = (key: GivenKey, n: X, p: X, shape: readonly number[], dtype: Float): X => {
  const k = sizeOf(p)
  const wide = spread(p, [...shape, k])
  const xs = { key: splitKey(key, k), p: moveaxis(wide, -1, 0), rest: moveaxis(cumsum(wide, { axis: -1, reverse: true }), -1, 0) }
  const [, counts] = scan(
    ((left: X, at: { readonly key: X; readonly p: X; readonly rest: X }) => {
      const share = where(gt(at.rest, 0), minimum(1, maximum(0, div(at.p, where(gt(at.rest, 0), at.rest, 1)))), 0) as X
      const u = drawUniform(at.key as never, shape, { dtype })
      const cdf = (x: X, r: Values): X => binomialCdf(x, r.left!, r.share!)
      const drawn = wholeQuantile(u as X, { left, share }, dtype, cdf as never, 0, left)
      return [sub(left, drawn), drawn]
    }) as never,
    spread(cast(n, dtype) as X, shape) as never,
    xs as never,
  ) as unknown as readonly [X, X]
  return moveaxis(counts, 0, -1) as X
}
const multinomialOf = (logits: boolean): Recipe<'n' | 'p'> => {
  const share = (p: X): X => (logits ? softmax(p, along) : div(p, sum(p, { axis: -1, keepdims: true }))) as X
  return {
    name: 'multinomial',
    discrete: true,
    parameters: { n: count, p: { ...(logits ? {} : { allowed: (x: number) => x >= 0, must: '0 or more' }), rank: 1 } },
    eventShape: ({ p }) => [sizeOf(p)],
    support: ({ n }) => counts(n),
    sample: (key, shape, { n, p }, dtype) => drawCounts(key, n, share(p), shape, dtype),
    logProb: (x, { n, p }) => {
      const each = logits ? mul(x, logSoftmax(p, along)) : xlogy(x, share(p))
      return add(lgamma(add(n, 1)), sum(sub(each, lgamma(add(x, 1))), along)) as X
    },
    mean: ({ n, p }) => mul(expandDims(n, -1), share(p)) as X,
    variance: ({ n, p }) => mul(expandDims(n, -1), mul(share(p), sub(1, share(p)))) as X,
  }
}
/**
 * The multinomial distribution: how often each class comes among n draws with shares p. p is divided by its sum; with `{ logits: true }` it is the softmax of what is given.
 *
 * Shapes  n: [...], p: [..., k]; leading axes broadcast and are the batch.   Dtype  draws are i32.   Support  counts of sum n.   Source  SciPy's `multinomial(n, p)`, NumPyro's `Multinomial`.
 * Errors  BadInput for an n that is not a whole number from 0, or p below 0; ShapeMismatch.
 * @example multinomial(3, [0.5, 0.5]).logProb([1, 2])   // -0.98083
 */
export const multinomial = (n: Parameter, p: Parameter, options?: LogitOptions): Having<'mean' | 'variance'> => {
  const { logits, rest } = logitsAsked(options, 'multinomial')
  return make(multinomialOf(logits), { n, p }, rest) as never
}

const dirichletMultinomialRecipe: Recipe<'n' | 'alpha'> = {
  name: 'dirichletMultinomial',
  discrete: true,
  parameters: { n: count, alpha: { ...positive, rank: 1 } },
  eventShape: ({ alpha }) => [sizeOf(alpha)],
  support: ({ n }) => counts(n),
  sample: (key, shape, { n, alpha }, dtype) => {
    const [a, b] = two(key)
    return drawCounts(b as never, n, dirichletRecipe.sample(a as never, shape, { alpha }, dtype), shape, dtype)
  },
  logProb: (x, { n, alpha }) => {
    const all = sum(alpha, along)
    const each = sub(sub(lgamma(add(x, alpha)), lgamma(alpha)), lgamma(add(x, 1)))
    return add(sub(add(lgamma(all), lgamma(add(n, 1))), lgamma(add(n, all))), sum(each, along)) as X
  },
  mean: ({ n, alpha }) => mul(expandDims(n, -1), div(alpha, sum(alpha, { axis: -1, keepdims: true }))) as X,
  variance: ({ n, alpha }) => {
    const all = sum(alpha, { axis: -1, keepdims: true })
    const m = div(alpha, all)
    const count = expandDims(n, -1)
    return div(mul(mul(count, mul(m, sub(1, m))), add(count, all)), add(1, all)) as X
  },
}
/**
 * The Dirichlet-multinomial distribution: multinomial, with shares that are drawn from dirichlet(alpha).
 *
 * Shapes  n: [...], alpha: [..., k]; leading axes broadcast and are the batch.   Dtype  draws are i32.   Support  counts of sum n.
 * Source  SciPy's `dirichlet_multinomial(alpha, n)`, NumPyro's `DirichletMultinomial(alpha, n)`.   Errors  BadInput for an n that is not a whole number from 0, or alpha that is not positive; ShapeMismatch.
 * @example dirichletMultinomial(3, [1, 1]).logProb([1, 2])   // -1.3863
 */
export const dirichletMultinomial = (n: Parameter, alpha: Parameter, options?: FloatOptions): Having<'mean' | 'variance'> =>
  make(dirichletMultinomialRecipe, { n, alpha }, options) as never

// ---- matrices

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
