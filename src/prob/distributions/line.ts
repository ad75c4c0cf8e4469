/** Distributions on the line. */
import { badInput } from '../../core/errors/explain.js'
import {
  type AnyExpr,
  abs,
  add,
  and,
  atan2,
  betainc,
  betaln,
  cast,
  digamma,
  div,
  exp,
  expandDims,
  ge,
  gt,
  isExpr,
  isTensor,
  log,
  log1p,
  logit,
  logNdtr,
  lt,
  maximum,
  minimum,
  mul,
  ndtr,
  ndtri,
  neg,
  not,
  or,
  sigmoid,
  softplus,
  sqrt,
  square,
  sub,
  sum,
  tan,
  unstack,
  where,
  zeros,
} from '../../index.js'
import { lazily } from '../../minimize/lazily.js'
import {
  cauchy as drawCauchy,
  gumbel as drawGumbel,
  laplace as drawLaplace,
  logistic as drawLogistic,
  normal as drawNormal,
  studentT as drawStudentT,
  triangular as drawTriangular,
  uniform as drawUniform,
  type NoOptions,
  type Parameter,
  splitKey,
} from '../../random/index.js'
import { type All, anything, type Continuous, type FloatOptions, make, positive, type Recipe } from '../distribution.js'
import { interval, reals } from '../support.js'
import { EULER, HALF_LOG_2PI, log1mexp, log1pSquare } from './numbers.js'
import { allNumbers, quantile } from './quantile.js'

type X = AnyExpr
/** (x - loc) / scale. */
const standard = (x: X, loc: X, scale: X): X => div(sub(x, loc), scale) as X
const placed = (z: X, loc: X, scale: X): X => add(loc, mul(scale, z)) as X

// ---- normal

const normalRecipe: Recipe<'mean' | 'sd'> = {
  name: 'normal',
  parameters: { mean: anything, sd: positive },
  support: () => reals,
  sample: (key, shape, { mean, sd }, dtype) => placed(drawNormal(key, shape, { dtype }), mean, sd),
  logProb: (x, { mean, sd }) => sub(sub(mul(-0.5, square(standard(x, mean, sd))), log(sd)), HALF_LOG_2PI),
  cdf: (x, { mean, sd }) => ndtr(standard(x, mean, sd)),
  logSurvival: (x, { mean, sd }) => logNdtr(standard(mean, x, sd)) as X,
  icdf: (q, { mean, sd }) => placed(ndtri(q), mean, sd),
  mean: ({ mean }) => mean,
  variance: ({ sd }) => square(sd) as X,
  entropy: ({ sd }) => add(log(sd), 0.5 + HALF_LOG_2PI) as X,
  family: {
    name: 'normal',
    kl: (p, q) => {
      const ratio = div(p.sd!, q.sd!)
      return mul(0.5, sub(sub(add(square(ratio), square(standard(p.mean!, q.mean!, q.sd!))), 1), mul(2, log(ratio)))) as X
    },
  },
  crossEntropy: ({ mean, sd }, from) =>
    from.mean === undefined || from.variance === undefined || from.support.discrete || from.eventShape.length > 0
      ? undefined
      : (add(add(log(sd), HALF_LOG_2PI), div(add(from.variance(), square(sub(from.mean(), mean))), mul(2, square(sd)))) as X),
}
/**
 * The normal distribution: density e^(-z^2 / 2) / (sd sqrt(2 pi)), z = (x - mean) / sd.
 *
 * Shapes  the parameters', which broadcast.   Support  all numbers.   Source  SciPy's `norm(mean, sd)`, NumPyro's `Normal`.
 * Errors  BadInput for an sd that is not positive; ShapeMismatch.
 * @example normal(0, 2).logProb([0, 1])   // [-1.6121, -1.7371]
 * @example normal(0, 1).cdf(1)   // 0.84134
 */
export const normal = <const A extends Parameter = number, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  mean?: A,
  sd?: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(normalRecipe, { mean: mean ?? 0, sd: sd ?? 1 }, options) as never

// ---- laplace

const laplaceRecipe: Recipe<'loc' | 'scale'> = {
  name: 'laplace',
  parameters: { loc: anything, scale: positive },
  support: () => reals,
  sample: (key, shape, { loc, scale }, dtype) => placed(drawLaplace(key, shape, { dtype }), loc, scale),
  logProb: (x, { loc, scale }) => sub(neg(abs(standard(x, loc, scale))), log(mul(2, scale))) as X,
  cdf: (x, { loc, scale }) => {
    const z = standard(x, loc, scale)
    const half = mul(0.5, exp(neg(abs(z))))
    return where(lt(z, 0), half, sub(1, half)) as X
  },
  logSurvival: (x, { loc, scale }) => {
    const z = standard(x, loc, scale)
    const left = lt(z, 0) as X
    return where(left, log1p(mul(-0.5, exp(where(left, z, 0)))), sub(-Math.LN2, z)) as X
  },
  icdf: (q, { loc, scale }) => {
    const left = lt(q, 0.5) as X
    return placed(where(left, log(mul(2, where(left, q, 0.5))), neg(log(mul(2, sub(1, where(left, 0.5, q)))))) as X, loc, scale)
  },
  mean: ({ loc }) => loc,
  variance: ({ scale }) => mul(2, square(scale)) as X,
  entropy: ({ scale }) => add(1, log(mul(2, scale))) as X,
  family: {
    name: 'laplace',
    kl: (p, q) => {
      const far = abs(sub(p.loc!, q.loc!))
      const own = mul(p.scale!, exp(neg(div(far, p.scale!))))
      return sub(add(log(div(q.scale!, p.scale!)), div(add(far, own), q.scale!)), 1) as X
    },
  },
}
/**
 * The Laplace distribution: density e^-|z| / (2 scale), z = (x - loc) / scale.
 *
 * Shapes  the parameters', which broadcast.   Support  all numbers.   Source  SciPy's `laplace(loc, scale)`, NumPyro's `Laplace`.
 * Errors  BadInput for a scale that is not positive; ShapeMismatch.
 * @example laplace(0, 1).logProb([0, 1])   // [-0.6931, -1.6931]
 */
export const laplace = <const A extends Parameter = number, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  loc?: A,
  scale?: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(laplaceRecipe, { loc: loc ?? 0, scale: scale ?? 1 }, options) as never

const asymmetricRecipe: Recipe<'loc' | 'scale' | 'asymmetry'> = {
  name: 'asymmetricLaplace',
  parameters: { loc: anything, scale: positive, asymmetry: positive },
  support: () => reals,
  sample: (key, shape, p, dtype) => asymmetricRecipe.icdf!(drawUniform(key, shape, { dtype }), p, dtype),
  logProb: (x, { loc, scale, asymmetry: k }) => {
    const z = standard(x, loc, scale)
    return sub(where(lt(z, 0), div(z, k), neg(mul(k, z))), log(mul(scale, add(k, div(1, k))))) as X
  },
  cdf: (x, { loc, scale, asymmetry: k }) => {
    const z = standard(x, loc, scale)
    const k2 = square(k)
    const [left, right] = [exp(div(minimum(z, 0), k)), exp(neg(mul(k, maximum(z, 0))))]
    return where(lt(z, 0), mul(div(k2, add(1, k2)), left), sub(1, div(right, add(1, k2)))) as X
  },
  logSurvival: (x, { loc, scale, asymmetry: k }) => {
    const z = standard(x, loc, scale)
    const k2 = square(k)
    const low = log1p(neg(mul(div(k2, add(1, k2)), exp(div(minimum(z, 0), k)))))
    return where(lt(z, 0), low, neg(add(mul(k, z), log1p(k2)))) as X
  },
  icdf: (q, { loc, scale, asymmetry: k }) => {
    const k2 = square(k)
    const share = div(k2, add(1, k2)) as X
    const left = lt(q, share) as X
    const low = mul(k, log(div(where(left, q, share), share)))
    const high = neg(div(log(mul(sub(1, where(left, share, q)), add(1, k2))), k))
    return placed(where(left, low, high) as X, loc, scale)
  },
  mean: ({ loc, scale, asymmetry: k }) => placed(sub(div(1, k), k) as X, loc, scale),
  variance: ({ scale, asymmetry: k }) => mul(square(scale), add(square(k), div(1, square(k)))) as X,
  entropy: ({ scale, asymmetry: k }) => add(1, log(mul(scale, add(k, div(1, k))))) as X,
}
/**
 * The asymmetric Laplace distribution: density e^(-k z) on the right of loc and e^(z / k) on the left, over scale (k + 1 / k), z = (x - loc) / scale.
 *
 * Shapes  the parameters', which broadcast.   Support  all numbers.   Source  SciPy's `laplace_asymmetric(asymmetry, loc, scale)`, NumPyro's `AsymmetricLaplace`.
 * Errors  BadInput for a scale or an asymmetry that is not positive; ShapeMismatch.
 * @example asymmetricLaplace(0, 1, 2).cdf(0)   // 0.8
 */
export const asymmetricLaplace = <
  const A extends Parameter = number,
  const B extends Parameter = number,
  const C extends Parameter = number,
  const O extends FloatOptions = NoOptions,
>(
  loc?: A,
  scale?: B,
  asymmetry?: C,
  options?: O,
): Continuous<readonly [A, B, C], O, All> =>
  make(asymmetricRecipe, { loc: loc ?? 0, scale: scale ?? 1, asymmetry: asymmetry ?? 1 }, options) as never

// ---- logistic, Cauchy, Gumbel

const logisticRecipe: Recipe<'loc' | 'scale'> = {
  name: 'logistic',
  parameters: { loc: anything, scale: positive },
  support: () => reals,
  sample: (key, shape, { loc, scale }, dtype) => placed(drawLogistic(key, shape, { dtype }), loc, scale),
  logProb: (x, { loc, scale }) => {
    const z = standard(x, loc, scale)
    return neg(add(add(z, mul(2, softplus(neg(z)))), log(scale))) as X
  },
  cdf: (x, { loc, scale }) => sigmoid(standard(x, loc, scale)) as X,
  logSurvival: (x, { loc, scale }) => neg(softplus(standard(x, loc, scale))) as X,
  icdf: (q, { loc, scale }) => placed(logit(q), loc, scale),
  mean: ({ loc }) => loc,
  variance: ({ scale }) => mul(Math.PI ** 2 / 3, square(scale)) as X,
  entropy: ({ scale }) => add(log(scale), 2) as X,
}
/**
 * The logistic distribution: density e^-z / (scale (1 + e^-z)^2), z = (x - loc) / scale.
 *
 * Shapes  the parameters', which broadcast.   Support  all numbers.   Source  SciPy's `logistic(loc, scale)`, NumPyro's `Logistic`.
 * Errors  BadInput for a scale that is not positive; ShapeMismatch.
 * @example logistic(0, 1).icdf([0.1, 0.5])   // [-2.1972, 0]
 */
export const logistic = <const A extends Parameter = number, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  loc?: A,
  scale?: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(logisticRecipe, { loc: loc ?? 0, scale: scale ?? 1 }, options) as never

const cauchyRecipe: Recipe<'loc' | 'scale'> = {
  name: 'cauchy',
  parameters: { loc: anything, scale: positive },
  support: () => reals,
  sample: (key, shape, { loc, scale }, dtype) => placed(drawCauchy(key, shape, { dtype }), loc, scale),
  logProb: (x, { loc, scale }) => neg(add(log(mul(Math.PI, scale)), log1pSquare(standard(x, loc, scale)))) as X,
  // The angle keeps its digits in the lower tail.
  cdf: (x, { loc, scale }) => div(atan2(1, neg(standard(x, loc, scale))), Math.PI) as X,
  logSurvival: (x, { loc, scale }) => log(div(atan2(1, standard(x, loc, scale)), Math.PI)) as X,
  icdf: (q, { loc, scale }) => {
    const left = lt(q, 0.5) as X
    return placed(
      where(left, neg(div(1, tan(mul(Math.PI, where(left, q, 0.25))))), div(1, tan(mul(Math.PI, sub(1, where(left, 0.75, q)))))) as X,
      loc,
      scale,
    )
  },
  entropy: ({ scale }) => log(mul(4 * Math.PI, scale)) as X,
  family: {
    name: 'cauchy',
    kl: (p, q) => {
      const [sum, far] = [add(p.scale!, q.scale!), sub(p.loc!, q.loc!)]
      return log(div(add(square(sum), square(far)), mul(4, mul(p.scale!, q.scale!)))) as X
    },
  },
}
/**
 * The Cauchy distribution: density 1 / (pi scale (1 + z^2)), z = (x - loc) / scale. It has no mean.
 *
 * Shapes  the parameters', which broadcast.   Support  all numbers.   Source  SciPy's `cauchy(loc, scale)`, NumPyro's `Cauchy`.
 * Errors  BadInput for a scale that is not positive; ShapeMismatch.
 * @example cauchy(0, 1).cdf([-1, 0, 1])   // [0.25, 0.5, 0.75]
 */
export const cauchy = <const A extends Parameter = number, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  loc?: A,
  scale?: B,
  options?: O,
): Continuous<readonly [A, B], O, 'cdf' | 'icdf' | 'entropy'> => make(cauchyRecipe, { loc: loc ?? 0, scale: scale ?? 1 }, options) as never

const gumbelRecipe: Recipe<'loc' | 'scale'> = {
  name: 'gumbel',
  parameters: { loc: anything, scale: positive },
  support: () => reals,
  sample: (key, shape, { loc, scale }, dtype) => placed(drawGumbel(key, shape, { dtype }), loc, scale),
  logProb: (x, { loc, scale }) => {
    const z = standard(x, loc, scale)
    return neg(add(add(z, exp(neg(z))), log(scale))) as X
  },
  cdf: (x, { loc, scale }) => exp(neg(exp(neg(standard(x, loc, scale))))) as X,
  logSurvival: (x, { loc, scale }) => log1mexp(neg(exp(neg(standard(x, loc, scale)))) as X),
  icdf: (q, { loc, scale }) => placed(neg(log(neg(log(q)))) as X, loc, scale),
  mean: ({ loc, scale }) => add(loc, mul(EULER, scale)) as X,
  variance: ({ scale }) => mul(Math.PI ** 2 / 6, square(scale)) as X,
  entropy: ({ scale }) => add(log(scale), 1 + EULER) as X,
}
/**
 * The Gumbel distribution, of the largest of many: density e^(-z - e^-z) / scale, z = (x - loc) / scale.
 *
 * Shapes  the parameters', which broadcast.   Support  all numbers.   Source  SciPy's `gumbel_r(loc, scale)`, NumPyro's `Gumbel`.
 * Errors  BadInput for a scale that is not positive; ShapeMismatch.
 * @example gumbel(0, 1).cdf(0)   // 0.36788
 */
export const gumbel = <const A extends Parameter = number, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  loc?: A,
  scale?: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(gumbelRecipe, { loc: loc ?? 0, scale: scale ?? 1 }, options) as never

// ---- Student's t

const studentRecipe: Recipe<'df' | 'loc' | 'scale'> = {
  name: 'studentT',
  parameters: { df: positive, loc: anything, scale: positive },
  support: () => reals,
  sample: (key, shape, { df, loc, scale }, dtype) => placed(drawStudentT(key, df, { shape, dtype }), loc, scale),
  logProb: (x, { df, loc, scale }) => {
    const far = log1pSquare(div(standard(x, loc, scale), sqrt(df)) as X)
    return neg(add(add(log(scale), mul(0.5, log(df))), add(betaln(0.5, mul(0.5, df)), mul(mul(0.5, add(df, 1)), far)))) as X
  },
  cdf: (x, { df, loc, scale }) => {
    const z = standard(x, loc, scale)
    // At 0 there is a root in it, and a line is as near.
    const close = lt(abs(z), 1e-8) as X
    // Far out the tail is a power, whose square would overflow.
    const half = mul(0.5, df)
    const far = gt(abs(z), mul(1e8, sqrt(df))) as X
    const power = exp(neg(add(mul(df, log(div(abs(where(far, z, 1)), sqrt(df)))), add(log(df), betaln(half, 0.5)))))
    const z2 = square(where(or(close, far), 1, z))
    // From 0 where that is nearer than infinity: each side keeps its digits.
    const near = lt(z2, df) as X
    const middle = mul(0.5, betainc(where(near, 0.5, half), where(near, half, 0.5), div(where(near, z2, df), add(df, z2))))
    const left = lt(z, 0) as X
    const inner = and(near, not(far))
    const part = where(far, power, middle)
    const away = where(inner, where(left, sub(0.5, part), add(0.5, part)), where(left, part, sub(1, part)))
    const slope = exp(neg(add(mul(0.5, log(df)), betaln(0.5, mul(0.5, df)))))
    return where(close, add(0.5, mul(where(close, z, 0), slope)), away) as X
  },
  logSurvival: (x, p, dtype) => log(studentRecipe.cdf!(sub(mul(2, p.loc), x) as X, p, dtype)) as X,
  icdf: (q, { df, loc, scale }, dtype) => {
    const left = lt(q, 0.5) as X
    const standardP = { df, loc: cast(0, dtype) as X, scale: cast(1, dtype) as X }
    const z = quantile(
      where(left, q, sub(1, q)) as X,
      standardP,
      dtype,
      allNumbers,
      studentRecipe.cdf as never,
      studentRecipe.logProb as never,
      [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    )
    return placed(where(left, z, neg(z)) as X, loc, scale)
  },
  mean: ({ df, loc }) => where(gt(df, 1), loc, Number.NaN) as X,
  variance: ({ df, scale }) => {
    const finite = gt(df, 2) as X
    const spread = mul(square(scale), div(df, sub(where(finite, df, 3), 2)))
    return where(finite, spread, where(gt(df, 1), Number.POSITIVE_INFINITY, Number.NaN)) as X
  },
  entropy: ({ df, scale }) => {
    const [half, up] = [mul(0.5, df), mul(0.5, add(df, 1))]
    return add(add(log(scale), mul(up, sub(digamma(up), digamma(half)))), add(mul(0.5, log(df)), betaln(half, 0.5))) as X
  },
}
/**
 * Student's t distribution with `df` degrees of freedom: density proportional to (1 + z^2 / df)^(-(df + 1) / 2), z = (x - loc) / scale.
 *
 * Shapes  the parameters', which broadcast.   Support  all numbers.   Source  SciPy's `t(df, loc, scale)`, NumPyro's `StudentT`.
 * Errors  BadInput for a df or a scale that is not positive; ShapeMismatch.
 * @example studentT(3).logProb([0, 1])   // [-1.0009, -1.5763]
 */
export const studentT = <
  const A extends Parameter,
  const B extends Parameter = number,
  const C extends Parameter = number,
  const O extends FloatOptions = NoOptions,
>(
  df: A,
  loc?: B,
  scale?: C,
  options?: O,
): Continuous<readonly [A, B, C], O, All> => make(studentRecipe, { df, loc: loc ?? 0, scale: scale ?? 1 }, options) as never

// ---- skew normal

/** Points and weights of Gauss and Legendre on [0, 1]. */
const legendre = /*#__PURE__*/ lazily((): readonly [number[], number[]] => {
  const n = 64
  const [points, weights]: [number[], number[]] = [[], []]
  for (let k = 0; k < n; k++) {
    let x = Math.cos((Math.PI * (k + 0.75)) / (n + 0.5))
    let slope = 1
    for (let round = 0; round < 6; round++) {
      let [p, before] = [x, 1]
      for (let j = 2; j <= n; j++) [p, before] = [((2 * j - 1) * x * p - (j - 1) * before) / j, p]
      slope = (n * (x * p - before)) / (x * x - 1)
      x -= p / slope
    }
    points.push((1 - x) / 2)
    weights.push(1 / ((1 - x * x) * slope * slope))
  }
  return [points, weights]
})
/** The integral of 2 phi(t) Phi(a t) over t < z, for z <= 0 and a >= 0: over the stretch beyond which nothing of it is left. */
const skewTail = (z: X, a: X): X => {
  const [points, weights] = legendre()
  const width = sub(sqrt(add(square(z), div(80, add(1, square(a))))), neg(z)) as X
  const t = sub(expandDims(z, -1), mul(expandDims(width, -1), cast(points, z.dtype as 'f64')))
  const density = exp(add(sub(Math.LN2 - HALF_LOG_2PI, mul(0.5, square(t))), logNdtr(mul(expandDims(a, -1), t))))
  return mul(width, sum(mul(density, cast(weights, z.dtype as 'f64')), { axis: -1 })) as X
}
/** The probability below z where z < 0, and that above z elsewhere: each is a tail, or what it leaves of a normal one. */
const skewSides = (z: X, shape: X): { readonly low: X; readonly high: X } => {
  // Beyond 10^4 nothing is left, and squares stay finite.
  const n = neg(minimum(abs(z), 1e4)) as X
  const own = skewTail(n, abs(shape) as X)
  const rest = sub(mul(2, ndtr(n)), own) as X
  const right = ge(shape, 0) as X
  return { low: where(right, own, rest) as X, high: where(right, rest, own) as X }
}
const slant = (shape: X): X => div(shape, sqrt(add(1, square(shape)))) as X
const skewRecipe: Recipe<'loc' | 'scale' | 'shape'> = {
  name: 'skewNormal',
  parameters: { loc: anything, scale: positive, shape: anything },
  support: () => reals,
  sample: (key, to, { loc, scale, shape }, dtype) => {
    const [a, b] = unstack(splitKey(key)) as unknown as [never, never]
    const d = slant(shape)
    const z = add(mul(d, abs(drawNormal(a, to, { dtype }))), mul(sqrt(sub(1, square(d))), drawNormal(b, to, { dtype })))
    return placed(z as X, loc, scale)
  },
  logProb: (x, { loc, scale, shape }) => {
    const z = standard(x, loc, scale)
    return add(sub(sub(Math.LN2 - HALF_LOG_2PI, mul(0.5, square(z))), log(scale)), logNdtr(mul(shape, z))) as X
  },
  cdf: (x, { loc, scale, shape }) => {
    const z = standard(x, loc, scale)
    const { low, high } = skewSides(z, shape)
    return where(lt(z, 0), low, sub(1, high)) as X
  },
  logSurvival: (x, { loc, scale, shape }) => {
    const z = standard(x, loc, scale)
    const { low, high } = skewSides(z, shape)
    const left = lt(z, 0) as X
    return where(left, log1p(neg(where(left, low, 0))), log(where(left, 1, high))) as X
  },
  icdf: (q, { loc, scale, shape }, dtype) => {
    // From the nearer end, so that each tail keeps its digits.
    const left = lt(q, 0.5) as X
    const p = { loc: cast(0, dtype) as X, scale: cast(1, dtype) as X, shape: where(left, shape, neg(shape)) as X }
    const z = quantile(where(left, q, sub(1, q)) as X, p, dtype, allNumbers, skewRecipe.cdf as never, skewRecipe.logProb as never, [
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ])
    return placed(where(left, z, neg(z)) as X, loc, scale)
  },
  mean: ({ loc, scale, shape }) => placed(mul(Math.sqrt(2 / Math.PI), slant(shape)) as X, loc, scale),
  variance: ({ scale, shape }) => mul(square(scale), sub(1, mul(2 / Math.PI, square(slant(shape))))) as X,
}
/**
 * The skew normal distribution: density 2 phi(z) Phi(shape z) / scale, z = (x - loc) / scale.
 *
 * Shapes  the parameters', which broadcast.   Support  all numbers.   Source  SciPy's `skewnorm(shape, loc, scale)`; Azzalini 1985.
 * Errors  BadInput for a scale that is not positive; ShapeMismatch.
 * @example skewNormal(0, 1, 3).logProb([0, 1])   // [-0.9189, -0.7271]
 */
export const skewNormal = <
  const A extends Parameter = number,
  const B extends Parameter = number,
  const C extends Parameter = number,
  const O extends FloatOptions = NoOptions,
>(
  loc?: A,
  scale?: B,
  shape?: C,
  options?: O,
): Continuous<readonly [A, B, C], O, 'cdf' | 'icdf' | 'mean' | 'variance'> =>
  make(skewRecipe, { loc: loc ?? 0, scale: scale ?? 1, shape: shape ?? 0 }, options) as never

// ---- between bounds

/** Numbers are compared before anything runs. */
const rising = (op: string, given: Readonly<Record<string, unknown>>): void => {
  const numbers = Object.entries(given).filter((e): e is [string, number] => typeof e[1] === 'number')
  for (let i = 1; i < numbers.length; i++)
    if (!(numbers[i - 1]![1] < numbers[i]![1]))
      badInput(
        op,
        `${numbers[i - 1]![0]} is ${numbers[i - 1]![1]} and ${numbers[i]![0]} is ${numbers[i]![1]}.`,
        'give the lower one first.',
      )
}
/** A bound as it was given, where it is a number: it may be infinite. */
const boundOf = (given: unknown, x: X): X | number => (typeof given === 'number' ? given : x)
const rawOf = (x: unknown): number | undefined => (isExpr(x) || isTensor(x) || typeof x !== 'number' ? undefined : x)

const uniformRecipe: Recipe<'lower' | 'upper'> = {
  name: 'uniform',
  parameters: { lower: anything, upper: anything },
  support: ({ lower, upper }) => interval(lower, upper),
  sample: (key, shape, { lower, upper }, dtype) => placed(drawUniform(key, shape, { dtype }), lower, sub(upper, lower) as X),
  logProb: (x, { lower, upper }) => sub(mul(0, x), log(sub(upper, lower))) as X,
  cdf: (x, { lower, upper }) => div(sub(x, lower), sub(upper, lower)) as X,
  logSurvival: (x, { lower, upper }) => log(div(sub(upper, x), sub(upper, lower))) as X,
  icdf: (q, { lower, upper }) => placed(q, lower, sub(upper, lower) as X),
  mean: ({ lower, upper }) => mul(0.5, add(lower, upper)) as X,
  variance: ({ lower, upper }) => div(square(sub(upper, lower)), 12) as X,
  entropy: ({ lower, upper }) => log(sub(upper, lower)) as X,
  family: {
    name: 'uniform',
    kl: (p, q) => {
      const width = (x: typeof p): X => sub(x.upper!, x.lower!) as X
      const apart = add(mul(1, lt(p.lower!, q.lower!)), mul(1, gt(p.upper!, q.upper!)))
      return where(gt(apart, 0), Number.POSITIVE_INFINITY, log(div(width(q), width(p)))) as X
    },
  },
  // Within the bounds the density is one number.
  crossEntropy: ({ lower, upper }, { support, eventShape, batchShape }) => {
    if (support.discrete || eventShape.length > 0) return undefined
    const outside = or(
      support.lower === undefined ? true : lt(support.lower, lower),
      support.upper === undefined ? true : gt(support.upper, upper),
    ) as X
    return add(where(outside, Number.POSITIVE_INFINITY, log(sub(upper, lower))), zeros(batchShape as number[])) as X
  },
}
/**
 * The uniform distribution: density 1 / (upper - lower).
 *
 * Shapes  the parameters', which broadcast.   Support  [lower, upper].   Source  SciPy's `uniform(lower, upper - lower)`, NumPyro's `Uniform(lower, upper)`.
 * Errors  BadInput unless lower < upper, for plain numbers; ShapeMismatch.
 * @example uniform(0, 2).logProb([1, 3])   // [-0.6931, -Infinity]
 */
export const uniform = <const A extends Parameter = number, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  lower?: A,
  upper?: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => {
  const given = { lower: lower ?? 0, upper: upper ?? 1 }
  rising('uniform', given)
  return make(uniformRecipe, given, options) as never
}

const triangularRecipe: Recipe<'lower' | 'mode' | 'upper'> = {
  name: 'triangular',
  parameters: { lower: anything, mode: anything, upper: anything },
  support: ({ lower, upper }) => interval(lower, upper),
  sample: (key, shape, { lower, mode, upper }, dtype) => drawTriangular(key, lower, mode, upper, { shape, dtype }),
  logProb: (x, { lower, mode, upper }) => {
    const left = lt(x, mode) as X
    const up = div(sub(x, lower), where(left, sub(mode, lower), 1))
    const down = where(lt(mode, upper), div(sub(upper, x), whole(sub(upper, mode) as X)), 1)
    return add(log(where(left, up, down)), log(div(2, sub(upper, lower)))) as X
  },
  cdf: (x, { lower, mode, upper }) => {
    const left = lt(x, mode) as X
    const width = sub(upper, lower)
    const [low, high] = [square(sub(x, lower)), square(sub(upper, x))]
    return where(
      left,
      div(low, mul(width, where(left, sub(mode, lower), 1))),
      sub(1, div(high, mul(width, whole(sub(upper, mode) as X)))),
    ) as X
  },
  logSurvival: (x, { lower, mode, upper }) => {
    const left = lt(x, mode) as X
    const width = sub(upper, lower)
    const low = log1p(neg(div(square(sub(x, lower)), mul(width, where(left, sub(mode, lower), 1)))))
    return where(left, low, log(div(square(sub(upper, where(left, mode, x))), mul(width, whole(sub(upper, mode) as X))))) as X
  },
  icdf: (q, { lower, mode, upper }) => {
    const width = sub(upper, lower)
    const left = lt(q, div(sub(mode, lower), width)) as X
    const up = sqrt(where(left, mul(mul(q, width), sub(mode, lower)), 1))
    const down = sqrt(where(left, 1, mul(mul(sub(1, q), width), sub(upper, mode))))
    return where(left, add(lower, up), sub(upper, down)) as X
  },
  mean: ({ lower, mode, upper }) => div(add(add(lower, mode), upper), 3) as X,
  variance: ({ lower: a, mode: c, upper: b }) => div(add(square(sub(b, a)), mul(sub(c, a), sub(c, b))), 18) as X,
  entropy: ({ lower, upper }) => add(0.5, log(mul(0.5, sub(upper, lower)))) as X,
}
/** A width that may be 0, as a divisor of what is 0 then too. */
const whole = (width: X): X => where(gt(width, 0), width, 1) as X
/**
 * The triangular distribution, whose density rises from `lower` to `mode` and falls from there to `upper`.
 *
 * Shapes  the parameters', which broadcast.   Support  [lower, upper].   Source  SciPy's `triang((mode - lower) / (upper - lower), lower, upper - lower)`.
 * Errors  BadInput unless lower <= mode <= upper and lower < upper, for plain numbers; ShapeMismatch.
 * @example triangular(0, 1, 4).cdf([1, 2])   // [0.25, 0.6667]
 */
export const triangular = <
  const A extends Parameter,
  const B extends Parameter,
  const C extends Parameter,
  const O extends FloatOptions = NoOptions,
>(
  lower: A,
  mode: B,
  upper: C,
  options?: O,
): Continuous<readonly [A, B, C], O, All> => {
  rising('triangular', { lower, upper })
  const [a, c, b] = [rawOf(lower), rawOf(mode), rawOf(upper)]
  if ((a !== undefined && c !== undefined && a > c) || (b !== undefined && c !== undefined && c > b))
    badInput('triangular', `lower, mode and upper are ${lower}, ${mode} and ${upper}.`, 'give lower <= mode <= upper.')
  return make(triangularRecipe, { lower, mode, upper }, options) as never
}

// ---- truncated normal

/** Standardised bounds on the side where both are exact: -b to -a where a is positive. They are no further out than what has probability 0 beside them. */
const sides = (a: X, b: X): { readonly flipped: X; readonly low: X; readonly high: X } => {
  const flipped = gt(a, 0) as X
  const high = minimum(where(flipped, neg(a), b), 40) as X
  return { flipped, low: maximum(where(flipped, neg(b), a), sub(high, 80)) as X, high }
}
/** log(Phi(b) - Phi(a)). */
const logMass = (a: X, b: X): X => {
  const { low, high } = sides(a, b)
  const top = logNdtr(high)
  return add(top, log1mexp(sub(logNdtr(low), top) as X)) as X
}
const truncatedNormalOf = (lowerGiven: unknown, upperGiven: unknown): Recipe<'mean' | 'sd' | 'lower' | 'upper'> => {
  type P = { readonly mean: X; readonly sd: X; readonly lower: X; readonly upper: X }
  const ends = ({ mean, sd, lower, upper }: P): readonly [X, X] => [standard(lower, mean, sd), standard(upper, mean, sd)]
  /** phi(a) / Z, and 0 at infinity. */
  const density = (z: X, mass: X): X => exp(sub(sub(mul(-0.5, square(clamped(z))), HALF_LOG_2PI), mass)) as X
  const clamped = (z: X): X => maximum(minimum(z, 1e10), -1e10) as X
  const moments = (p: P): { readonly m: X; readonly v: X; readonly za: X } => {
    const [a, b] = ends(p)
    const mass = logMass(a, b)
    const [da, db] = [density(a, mass), density(b, mass)]
    const m = sub(da, db) as X
    const za = sub(mul(clamped(a), da), mul(clamped(b), db)) as X
    return { m, v: sub(add(1, za), square(m)) as X, za }
  }
  return {
    name: 'truncatedNormal',
    parameters: { mean: anything, sd: positive, lower: anything, upper: anything },
    support: ({ lower, upper }) => interval(boundOf(lowerGiven, lower), boundOf(upperGiven, upper)),
    sample: (key, shape, p, dtype) => truncatedNormalOf(lowerGiven, upperGiven).icdf!(drawUniform(key, shape, { dtype }), p, dtype),
    logProb: (x, p) => {
      const [a, b] = ends(p)
      return sub(sub(sub(mul(-0.5, square(standard(x, p.mean, p.sd))), HALF_LOG_2PI), log(p.sd)), logMass(a, b)) as X
    },
    cdf: (x, p) => {
      const [a, b] = ends(p)
      const z = standard(x, p.mean, p.sd)
      return exp(sub(logMass(a, maximum(z, a) as X), logMass(a, b))) as X
    },
    logSurvival: (x, p) => {
      const [a, b] = ends(p)
      const z = standard(x, p.mean, p.sd)
      return sub(logMass(minimum(z, b) as X, b), logMass(a, b)) as X
    },
    icdf: (q, p) => {
      const [a, b] = ends(p)
      const { flipped, low, high } = sides(a, b)
      const share = where(flipped, sub(1, q), q)
      const z = ndtri(add(mul(share, ndtr(high)), mul(sub(1, share), ndtr(low))))
      const x = placed(where(flipped, neg(z), z) as X, p.mean, p.sd)
      return minimum(maximum(x, p.lower), p.upper) as X
    },
    mean: (p) => placed(moments(p).m, p.mean, p.sd),
    variance: (p) => mul(square(p.sd), moments(p).v) as X,
    entropy: (p) => {
      const [a, b] = ends(p)
      return add(add(HALF_LOG_2PI + 0.5, log(p.sd)), add(logMass(a, b), mul(0.5, moments(p).za))) as X
    },
  }
}
/**
 * The normal distribution, given that the number is from `lower` to `upper`, of which one may be infinite.
 *
 * Shapes  the parameters', which broadcast.   Support  [lower, upper].   Source  SciPy's `truncnorm`, NumPyro's `TruncatedNormal`.
 * Errors  BadInput for an sd that is not positive, or unless lower < upper, for plain numbers; ShapeMismatch.
 * Accuracy  logProb in any tail; draws and icdf while the normal distribution has probability beside the nearer bound: up to 37 standard deviations in f64, 12 in f32.
 * @example truncatedNormal(0, 1, 0, Infinity).mean()   // 0.79788
 */
export const truncatedNormal = <
  const A extends Parameter = number,
  const B extends Parameter = number,
  const C extends Parameter = number,
  const D extends Parameter = number,
  const O extends FloatOptions = NoOptions,
>(
  mean?: A,
  sd?: B,
  lower?: C,
  upper?: D,
  options?: O,
): Continuous<readonly [A, B, C, D], O, All> => {
  const given = { mean: mean ?? 0, sd: sd ?? 1, lower: lower ?? Number.NEGATIVE_INFINITY, upper: upper ?? Number.POSITIVE_INFINITY }
  rising('truncatedNormal', { lower: given.lower, upper: given.upper })
  return make(truncatedNormalOf(given.lower, given.upper), given, options) as never
}
