/** Distributions of positive numbers. */
import { badInput } from '../../core/errors/explain.js'
import {
  type AnyExpr,
  abs,
  add,
  atan,
  atan2,
  betainc,
  betaln,
  cast,
  digamma,
  div,
  erf,
  erfc,
  erfcinv,
  erfinv,
  exp,
  expm1,
  type Float,
  gammainc,
  gammaincc,
  ge,
  gt,
  lgamma,
  log,
  log1p,
  logNdtr,
  lt,
  mul,
  ndtr,
  ndtri,
  neg,
  pow,
  sqrt,
  square,
  sub,
  tan,
  unstack,
  where,
  xlogy,
} from '../../index.js'
import {
  cauchy as drawCauchy,
  exponential as drawExponential,
  gamma as drawGamma,
  maxwell as drawMaxwell,
  normal as drawNormal,
  pareto as drawPareto,
  rayleigh as drawRayleigh,
  uniform as drawUniform,
  weibull as drawWeibull,
  type Key,
  type NoOptions,
  type Parameter,
  splitKey,
} from '../../random/index.js'
import { type All, anything, type Continuous, type FloatOptions, make, positive, type Recipe, type Values } from '../distribution.js'
import { above0, greaterThan, interval, nonNegative } from '../support.js'
import { EULER, HALF_LOG_2PI, log1mexp } from './numbers.js'
import { positiveNumbers, quantile } from './quantile.js'

type X = AnyExpr
const INFINITE = Number.POSITIVE_INFINITY
/** Two independent keys of one. */
export const two = (key: unknown): readonly [Key & never, Key & never] => unstack(splitKey(key as never)) as never
/** The inverse of a distribution function in formulae, by search. */
const searched =
  (recipe: () => Recipe<never>): NonNullable<Recipe<never>['icdf']> =>
  (q, p, dtype) =>
    quantile(q, p, dtype, positiveNumbers, recipe().cdf!, recipe().logProb, [0, INFINITE])

// ---- gamma and exponential

const gammaKl = (p: Values, q: Values): X => {
  const [a, b] = [p.shape!, q.shape!]
  const shapes = add(mul(sub(a, b), digamma(a)), sub(lgamma(b), lgamma(a)))
  return add(add(shapes, mul(b, log(div(p.rate!, q.rate!)))), mul(a, div(sub(q.rate!, p.rate!), p.rate!))) as X
}
const gammaRecipe: Recipe<'shape' | 'rate'> = {
  name: 'gamma',
  parameters: { shape: positive, rate: positive },
  support: () => nonNegative,
  sample: (key, to, { shape, rate }, dtype) => div(drawGamma(key, shape, { shape: to, dtype }), rate) as X,
  logProb: (x, { shape, rate }) => sub(add(mul(shape, log(rate)), xlogy(sub(shape, 1), x)), add(mul(rate, x), lgamma(shape))) as X,
  cdf: (x, { shape, rate }) => gammainc(shape, mul(rate, x)) as X,
  logSurvival: (x, { shape, rate }) => log(gammaincc(shape, mul(rate, x))) as X,
  icdf: (q, { shape, rate }, dtype) =>
    div(searched(() => gammaRecipe as never)(q, { shape, rate: fullOf(1, dtype) } as never, dtype), rate) as X,
  mean: ({ shape, rate }) => div(shape, rate) as X,
  variance: ({ shape, rate }) => div(shape, square(rate)) as X,
  entropy: ({ shape, rate }) => add(sub(shape, log(rate)), add(lgamma(shape), mul(sub(1, shape), digamma(shape)))) as X,
  family: { name: 'gamma', kl: gammaKl },
}
const fullOf = (x: number, dtype: Float): X => cast(x, dtype) as X
/**
 * The gamma distribution: density rate^shape x^(shape - 1) e^(-rate x) / Gamma(shape).
 *
 * Shapes  the parameters', which broadcast.   Support  0 and above.   Source  SciPy's `gamma(shape, scale=1 / rate)`, NumPyro's `Gamma(shape, rate)`.
 * Errors  BadInput for parameters that are not positive; ShapeMismatch.
 * @example gamma(2, 0.5).mean()   // 4
 * @example gamma(2, 0.5).logProb([1, -1])   // [-1.8863, -Infinity]
 */
export const gamma = <const A extends Parameter, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  shape: A,
  rate?: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(gammaRecipe, { shape, rate: rate ?? 1 }, options) as never

const exponentialRecipe: Recipe<'rate'> = {
  name: 'exponential',
  parameters: { rate: positive },
  support: () => nonNegative,
  sample: (key, shape, { rate }, dtype) => div(drawExponential(key, shape, { dtype }), rate) as X,
  logProb: (x, { rate }) => sub(log(rate), mul(rate, x)) as X,
  cdf: (x, { rate }) => neg(expm1(neg(mul(rate, x)))) as X,
  logSurvival: (x, { rate }) => neg(mul(rate, x)) as X,
  icdf: (q, { rate }) => neg(div(log1p(neg(q)), rate)) as X,
  mean: ({ rate }) => div(1, rate) as X,
  variance: ({ rate }) => div(1, square(rate)) as X,
  entropy: ({ rate }) => sub(1, log(rate)) as X,
  family: { name: 'gamma', of: ({ rate }) => ({ shape: fullOf(1, rate.dtype as Float), rate }), kl: gammaKl },
  crossEntropy: ({ rate }, from) =>
    typeof from.support.lower === 'number' && from.support.lower >= 0 && from.mean !== undefined
      ? (sub(mul(rate, from.mean()), log(rate)) as X)
      : undefined,
}
/**
 * The exponential distribution: density rate e^(-rate x).
 *
 * Shapes  the rate's.   Support  0 and above.   Source  SciPy's `expon(scale=1 / rate)`, NumPyro's `Exponential(rate)`.
 * Errors  BadInput for a rate that is not positive.
 * @example exponential(2).icdf(0.5)   // 0.34657
 */
export const exponential = <const A extends Parameter = number, const O extends FloatOptions = NoOptions>(
  rate?: A,
  options?: O,
): Continuous<readonly [A], O, All> => make(exponentialRecipe, { rate: rate ?? 1 }, options) as never

const chi2Recipe: Recipe<'df'> = {
  name: 'chi2',
  parameters: { df: positive },
  support: () => nonNegative,
  sample: (key, shape, { df }, dtype) => mul(2, drawGamma(key, mul(0.5, df), { shape, dtype })) as X,
  logProb: (x, { df }) => sub(xlogy(sub(mul(0.5, df), 1), x), add(mul(0.5, x), add(lgamma(mul(0.5, df)), mul(0.5 * Math.LN2, df)))) as X,
  cdf: (x, { df }) => gammainc(mul(0.5, df), mul(0.5, x)) as X,
  logSurvival: (x, { df }) => log(gammaincc(mul(0.5, df), mul(0.5, x))) as X,
  icdf: (q, p, dtype) => searched(() => chi2Recipe as never)(q, p as never, dtype),
  mean: ({ df }) => df,
  variance: ({ df }) => mul(2, df) as X,
  entropy: ({ df }) => {
    const half = mul(0.5, df)
    return add(add(half, Math.LN2), add(lgamma(half), mul(sub(1, half), digamma(half)))) as X
  },
  family: { name: 'gamma', of: ({ df }) => ({ shape: mul(0.5, df) as X, rate: fullOf(0.5, df.dtype as Float) }), kl: gammaKl },
}
/**
 * The chi-squared distribution with `df` degrees of freedom, of the sum of df squared normal numbers: gamma(df / 2, 1 / 2).
 *
 * Shapes  df's.   Support  0 and above.   Source  SciPy's `chi2(df)`, NumPyro's `Chi2`.   Errors  BadInput for a df that is not positive.
 * @example chi2(2).cdf(2)   // 0.63212
 */
export const chi2 = <const A extends Parameter, const O extends FloatOptions = NoOptions>(
  df: A,
  options?: O,
): Continuous<readonly [A], O, All> => make(chi2Recipe, { df }, options) as never

const inverseGammaRecipe: Recipe<'shape' | 'scale'> = {
  name: 'inverseGamma',
  parameters: { shape: positive, scale: positive },
  support: () => above0,
  sample: (key, to, { shape, scale }, dtype) => div(scale, drawGamma(key, shape, { shape: to, dtype })) as X,
  logProb: (x, { shape, scale }) => sub(sub(mul(shape, log(scale)), lgamma(shape)), add(mul(add(shape, 1), log(x)), div(scale, x))) as X,
  cdf: (x, { shape, scale }) => gammaincc(shape, div(scale, x)) as X,
  logSurvival: (x, { shape, scale }) => log(gammainc(shape, div(scale, x))) as X,
  icdf: (q, { shape, scale }, dtype) =>
    mul(scale, searched(() => inverseGammaRecipe as never)(q, { shape, scale: fullOf(1, dtype) } as never, dtype)) as X,
  mean: ({ shape, scale }) => {
    const finite = gt(shape, 1) as X
    return where(finite, div(scale, sub(where(finite, shape, 2), 1)), INFINITE) as X
  },
  variance: ({ shape, scale }) => {
    const finite = gt(shape, 2) as X
    const a = where(finite, shape, 3)
    return where(finite, div(square(scale), mul(square(sub(a, 1)), sub(a, 2))), INFINITE) as X
  },
  entropy: ({ shape, scale }) => sub(add(add(shape, log(scale)), lgamma(shape)), mul(add(1, shape), digamma(shape))) as X,
  family: { name: 'inverseGamma', of: ({ shape, scale }) => ({ shape, rate: scale }), kl: gammaKl },
}
/**
 * The inverse gamma distribution, of 1 / x for a gamma number x of that rate: density scale^shape x^(-shape - 1) e^(-scale / x) / Gamma(shape).
 *
 * Shapes  the parameters', which broadcast.   Support  above 0.   Source  SciPy's `invgamma(shape, scale=scale)`, NumPyro's `InverseGamma`.
 * Errors  BadInput for parameters that are not positive; ShapeMismatch.
 * @example inverseGamma(3, 2).mean()   // 1
 */
export const inverseGamma = <const A extends Parameter, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  shape: A,
  scale?: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(inverseGammaRecipe, { shape, scale: scale ?? 1 }, options) as never

// ---- functions of normal numbers

const normalKl = (p: Values, q: Values): X => {
  const ratio = div(p.sd!, q.sd!)
  return mul(0.5, sub(sub(add(square(ratio), square(div(sub(p.mean!, q.mean!), q.sd!))), 1), mul(2, log(ratio)))) as X
}
const logNormalRecipe: Recipe<'mean' | 'sd'> = {
  name: 'logNormal',
  parameters: { mean: anything, sd: positive },
  support: () => above0,
  sample: (key, shape, { mean, sd }, dtype) => exp(add(mean, mul(sd, drawNormal(key, shape, { dtype })))) as X,
  logProb: (x, { mean, sd }) => {
    const y = log(x)
    return sub(sub(mul(-0.5, square(div(sub(y, mean), sd))), y), add(log(sd), HALF_LOG_2PI)) as X
  },
  cdf: (x, { mean, sd }) => ndtr(div(sub(log(x), mean), sd)) as X,
  logSurvival: (x, { mean, sd }) => logNdtr(div(sub(mean, log(x)), sd)) as X,
  icdf: (q, { mean, sd }) => exp(add(mean, mul(sd, ndtri(q)))) as X,
  mean: ({ mean, sd }) => exp(add(mean, mul(0.5, square(sd)))) as X,
  variance: ({ mean, sd }) => mul(expm1(square(sd)), exp(add(mul(2, mean), square(sd)))) as X,
  entropy: ({ mean, sd }) => add(add(mean, log(sd)), 0.5 + HALF_LOG_2PI) as X,
  family: { name: 'logNormal', kl: normalKl },
}
/**
 * The lognormal distribution, of e^z for a normal number z with this mean and standard deviation.
 *
 * Shapes  the parameters', which broadcast.   Support  above 0.   Source  SciPy's `lognorm(sd, scale=exp(mean))`, NumPyro's `LogNormal`.
 * Errors  BadInput for an sd that is not positive; ShapeMismatch.
 * @example logNormal(0, 1).icdf([0.5, 0.975])   // [1, 7.0991]
 */
export const logNormal = <const A extends Parameter = number, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  mean?: A,
  sd?: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(logNormalRecipe, { mean: mean ?? 0, sd: sd ?? 1 }, options) as never

const halfNormalRecipe: Recipe<'scale'> = {
  name: 'halfNormal',
  parameters: { scale: positive },
  support: () => nonNegative,
  sample: (key, shape, { scale }, dtype) => mul(scale, abs(drawNormal(key, shape, { dtype }))) as X,
  logProb: (x, { scale }) => sub(mul(-0.5, square(div(x, scale))), add(log(scale), HALF_LOG_2PI - Math.LN2)) as X,
  cdf: (x, { scale }) => erf(div(x, mul(Math.SQRT2, scale))) as X,
  logSurvival: (x, { scale }) => add(Math.LN2, logNdtr(neg(div(x, scale)))) as X,
  icdf: (q, { scale }) => mul(Math.SQRT2, mul(scale, erfinv(q))) as X,
  mean: ({ scale }) => mul(Math.sqrt(2 / Math.PI), scale) as X,
  variance: ({ scale }) => mul(1 - 2 / Math.PI, square(scale)) as X,
  entropy: ({ scale }) => add(log(scale), 0.5 + HALF_LOG_2PI - Math.LN2) as X,
  family: { name: 'halfNormal', of: ({ scale }) => ({ mean: mul(0, scale) as X, sd: scale }), kl: normalKl },
}
/**
 * The half-normal distribution, of |z| for a normal number z of mean 0 and standard deviation `scale`.
 *
 * Shapes  the scale's.   Support  0 and above.   Source  SciPy's `halfnorm(0, scale)`, NumPyro's `HalfNormal`.   Errors  BadInput for a scale that is not positive.
 * @example halfNormal(2).mean()   // 1.5958
 */
export const halfNormal = <const A extends Parameter = number, const O extends FloatOptions = NoOptions>(
  scale?: A,
  options?: O,
): Continuous<readonly [A], O, All> => make(halfNormalRecipe, { scale: scale ?? 1 }, options) as never

const halfCauchyRecipe: Recipe<'scale'> = {
  name: 'halfCauchy',
  parameters: { scale: positive },
  support: () => nonNegative,
  sample: (key, shape, { scale }, dtype) => mul(scale, abs(drawCauchy(key, shape, { dtype }))) as X,
  logProb: (x, { scale }) => {
    const z = div(x, scale)
    const far = gt(z, 1e8) as X
    const tail = where(far, mul(2, log(where(far, z, 1))), log1p(square(where(far, 1, z))))
    return neg(add(log(mul(Math.PI / 2, scale)), tail)) as X
  },
  cdf: (x, { scale }) => mul(2 / Math.PI, atan(div(x, scale))) as X,
  logSurvival: (x, { scale }) => log(mul(2 / Math.PI, atan2(scale, x))) as X,
  icdf: (q, { scale }) => {
    const low = lt(q, 0.5) as X
    const up = div(1, tan(mul(Math.PI / 2, sub(1, where(low, 0.5, q)))))
    return mul(scale, where(low, tan(mul(Math.PI / 2, where(low, q, 0.25))), up)) as X
  },
  entropy: ({ scale }) => log(mul(2 * Math.PI, scale)) as X,
}
/**
 * The half-Cauchy distribution, of |x| for a Cauchy number x: density 2 / (pi scale (1 + (x / scale)^2)). Its mean is infinite.
 *
 * Shapes  the scale's.   Support  0 and above.   Source  SciPy's `halfcauchy(0, scale)`, NumPyro's `HalfCauchy`.   Errors  BadInput for a scale that is not positive.
 * @example halfCauchy(5).logProb(0)   // -2.061
 */
export const halfCauchy = <const A extends Parameter = number, const O extends FloatOptions = NoOptions>(
  scale?: A,
  options?: O,
): Continuous<readonly [A], O, 'cdf' | 'icdf' | 'entropy'> => make(halfCauchyRecipe, { scale: scale ?? 1 }, options) as never

const maxwellRecipe: Recipe<'scale'> = {
  name: 'maxwell',
  parameters: { scale: positive },
  support: () => nonNegative,
  sample: (key, shape, { scale }, dtype) => mul(scale, drawMaxwell(key, shape, { dtype })) as X,
  logProb: (x, { scale }) => {
    const z = div(x, scale)
    return sub(sub(mul(2, log(z)), mul(0.5, square(z))), add(log(scale), HALF_LOG_2PI - Math.LN2)) as X
  },
  cdf: (x, { scale }) => gammainc(1.5, mul(0.5, square(div(x, scale)))) as X,
  logSurvival: (x, { scale }) => log(gammaincc(1.5, mul(0.5, square(div(x, scale))))) as X,
  icdf: (q, { scale }, dtype) => mul(scale, searched(() => maxwellRecipe as never)(q, { scale: fullOf(1, dtype) } as never, dtype)) as X,
  mean: ({ scale }) => mul(2 * Math.sqrt(2 / Math.PI), scale) as X,
  variance: ({ scale }) => mul(3 - 8 / Math.PI, square(scale)) as X,
  entropy: ({ scale }) => add(log(scale), HALF_LOG_2PI + EULER - 0.5) as X,
}
/**
 * The Maxwell distribution, of the length of a vector of three normal numbers of mean 0 and standard deviation `scale`.
 *
 * Shapes  the scale's.   Support  0 and above.   Source  SciPy's `maxwell(0, scale)`.   Errors  BadInput for a scale that is not positive.
 * @example maxwell(1).mean()   // 1.5958
 */
export const maxwell = <const A extends Parameter = number, const O extends FloatOptions = NoOptions>(
  scale?: A,
  options?: O,
): Continuous<readonly [A], O, All> => make(maxwellRecipe, { scale: scale ?? 1 }, options) as never

const levyRecipe: Recipe<'scale'> = {
  name: 'levy',
  parameters: { scale: positive },
  support: () => above0,
  sample: (key, shape, { scale }, dtype) => div(scale, square(drawNormal(key, shape, { dtype }))) as X,
  logProb: (x, { scale }) => sub(sub(mul(0.5, log(scale)), HALF_LOG_2PI), add(mul(1.5, log(x)), div(scale, mul(2, x)))) as X,
  cdf: (x, { scale }) => erfc(sqrt(div(scale, mul(2, x)))) as X,
  logSurvival: (x, { scale }) => log(erf(sqrt(div(scale, mul(2, x))))) as X,
  icdf: (q, { scale }) => div(scale, mul(2, square(erfcinv(q)))) as X,
  entropy: ({ scale }) => add(0.5 * (1 + 3 * EULER + Math.log(16 * Math.PI)), log(scale)) as X,
}
/**
 * The Levy distribution, of scale / z^2 for a normal number z: density sqrt(scale / (2 pi)) x^(-3/2) e^(-scale / (2 x)). Its mean is infinite.
 *
 * Shapes  the scale's.   Support  above 0.   Source  SciPy's `levy(0, scale)`, NumPyro's `Levy`.   Errors  BadInput for a scale that is not positive.
 * @example levy(1).cdf(1)   // 0.31731
 */
export const levy = <const A extends Parameter = number, const O extends FloatOptions = NoOptions>(
  scale?: A,
  options?: O,
): Continuous<readonly [A], O, 'cdf' | 'icdf' | 'entropy'> => make(levyRecipe, { scale: scale ?? 1 }, options) as never

const inverseGaussianRecipe: Recipe<'mean' | 'shape'> = {
  name: 'inverseGaussian',
  parameters: { mean: positive, shape: positive },
  support: () => above0,
  // Source  Michael, Schucany and Haas 1976: the smaller root of a quadratic equation, or mean^2 over it.
  sample: (key, to, { mean, shape }, dtype) => {
    const [a, b] = two(key)
    const y = div(mul(mean, square(drawNormal(a, to, { dtype }))), mul(2, shape))
    const root = div(mean, add(add(1, y), sqrt(mul(y, add(2, y)))))
    return where(lt(drawUniform(b, to, { dtype }), div(mean, add(mean, root))), root, div(square(mean), root)) as X
  },
  logProb: (x, { mean, shape }) => {
    const away = div(square(sub(x, mean)), mul(x, square(mean)))
    return sub(mul(0.5, sub(sub(log(shape), mul(3, log(x))), mul(shape, away))), HALF_LOG_2PI) as X
  },
  cdf: (x, { mean, shape }) => {
    const r = sqrt(div(shape, x))
    const [near, far] = [mul(r, sub(div(x, mean), 1)), neg(mul(r, add(div(x, mean), 1)))]
    return add(ndtr(near), exp(add(div(mul(2, shape), mean), logNdtr(far)))) as X
  },
  logSurvival: (x, { mean, shape }) => {
    const r = sqrt(div(shape, x))
    const [near, far] = [mul(r, sub(div(x, mean), 1)), neg(mul(r, add(div(x, mean), 1)))]
    // Phi(-near) (1 - e^(2 shape / mean) Phi(far) / Phi(-near))
    const top = logNdtr(neg(near))
    return add(top, log1mexp(sub(add(div(mul(2, shape), mean), logNdtr(far)), top) as X)) as X
  },
  icdf: (q, p, dtype) => searched(() => inverseGaussianRecipe as never)(q, p as never, dtype),
  mean: ({ mean }) => mean,
  variance: ({ mean, shape }) => div(pow(mean, 3), shape) as X,
}
/**
 * The inverse Gaussian (Wald) distribution: density sqrt(shape / (2 pi x^3)) e^(-shape (x - mean)^2 / (2 mean^2 x)).
 *
 * Shapes  the parameters', which broadcast.   Support  above 0.   Source  SciPy's `invgauss(mean / shape, scale=shape)`.
 * Rule    of samples: that of the root that was drawn; the choice between the two roots has none.
 * Errors  BadInput for parameters that are not positive; ShapeMismatch.
 * @example inverseGaussian(1, 2).cdf(1)   // 0.62770
 */
export const inverseGaussian = <
  const A extends Parameter = number,
  const B extends Parameter = number,
  const O extends FloatOptions = NoOptions,
>(
  mean?: A,
  shape?: B,
  options?: O,
): Continuous<readonly [A, B], O, 'cdf' | 'icdf' | 'mean' | 'variance'> =>
  make(inverseGaussianRecipe, { mean: mean ?? 1, shape: shape ?? 1 }, options) as never

// ---- powers

const weibullKl = (p: Values, q: Values): X => {
  const [a, b] = [p.shape!, q.shape!]
  const scales = sub(sub(log(a), mul(a, log(p.scale!))), sub(log(b), mul(b, log(q.scale!))))
  const logs = mul(sub(a, b), sub(log(p.scale!), div(EULER, a)))
  return sub(add(add(scales, logs), exp(add(mul(b, log(div(p.scale!, q.scale!))), lgamma(add(div(b, a), 1))))), 1) as X
}
/** Gamma(1 + k / shape). */
const moment = (k: number, shape: X): X => exp(lgamma(add(1, div(k, shape)))) as X
const weibullRecipe: Recipe<'scale' | 'shape'> = {
  name: 'weibull',
  parameters: { scale: positive, shape: positive },
  support: () => nonNegative,
  sample: (key, to, { scale, shape }, dtype) => drawWeibull(key, scale, shape, { shape: to, dtype }) as X,
  logProb: (x, { scale, shape }) => {
    const z = div(x, scale)
    return sub(add(sub(log(shape), log(scale)), xlogy(sub(shape, 1), z)), pow(z, shape)) as X
  },
  cdf: (x, { scale, shape }) => neg(expm1(neg(pow(div(x, scale), shape)))) as X,
  logSurvival: (x, { scale, shape }) => neg(pow(div(x, scale), shape)) as X,
  icdf: (q, { scale, shape }) => mul(scale, pow(neg(log1p(neg(q))), div(1, shape))) as X,
  mean: ({ scale, shape }) => mul(scale, moment(1, shape)) as X,
  variance: ({ scale, shape }) => mul(square(scale), sub(moment(2, shape), square(moment(1, shape)))) as X,
  entropy: ({ scale, shape }) => add(add(mul(EULER, sub(1, div(1, shape))), log(div(scale, shape))), 1) as X,
  family: { name: 'weibull', kl: weibullKl },
}
/**
 * The Weibull distribution: 1 - e^(-(x / scale)^shape) is its distribution function.
 *
 * Shapes  the parameters', which broadcast.   Support  0 and above.   Source  SciPy's `weibull_min(shape, scale=scale)`, NumPyro's `Weibull(scale, shape)`.
 * Errors  BadInput for parameters that are not positive; ShapeMismatch.
 * @example weibull(2, 1.5).cdf(2)   // 0.63212
 */
export const weibull = <const A extends Parameter, const B extends Parameter, const O extends FloatOptions = NoOptions>(
  scale: A,
  shape: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(weibullRecipe, { scale, shape }, options) as never

const rayleighRecipe: Recipe<'scale'> = {
  name: 'rayleigh',
  parameters: { scale: positive },
  support: () => nonNegative,
  sample: (key, shape, { scale }, dtype) => drawRayleigh(key, scale, { shape, dtype }) as X,
  logProb: (x, { scale }) => sub(sub(log(x), mul(2, log(scale))), mul(0.5, square(div(x, scale)))) as X,
  cdf: (x, { scale }) => neg(expm1(mul(-0.5, square(div(x, scale))))) as X,
  logSurvival: (x, { scale }) => mul(-0.5, square(div(x, scale))) as X,
  icdf: (q, { scale }) => mul(scale, sqrt(mul(-2, log1p(neg(q))))) as X,
  mean: ({ scale }) => mul(Math.sqrt(Math.PI / 2), scale) as X,
  variance: ({ scale }) => mul(2 - Math.PI / 2, square(scale)) as X,
  entropy: ({ scale }) => add(log(scale), 1 - Math.LN2 / 2 + EULER / 2) as X,
  family: {
    name: 'weibull',
    of: ({ scale }) => ({ scale: mul(Math.SQRT2, scale) as X, shape: fullOf(2, scale.dtype as Float) }),
    kl: weibullKl,
  },
}
/**
 * The Rayleigh distribution, of the length of a vector of two normal numbers of mean 0 and standard deviation `scale`.
 *
 * Shapes  the scale's.   Support  0 and above.   Source  SciPy's `rayleigh(0, scale)`, NumPyro's `Rayleigh`.   Errors  BadInput for a scale that is not positive.
 * @example rayleigh(1).icdf(0.5)   // 1.1774
 */
export const rayleigh = <const A extends Parameter = number, const O extends FloatOptions = NoOptions>(
  scale?: A,
  options?: O,
): Continuous<readonly [A], O, All> => make(rayleighRecipe, { scale: scale ?? 1 }, options) as never

const paretoRecipe: Recipe<'scale' | 'shape'> = {
  name: 'pareto',
  parameters: { scale: positive, shape: positive },
  support: ({ scale }) => greaterThan(scale),
  sample: (key, to, { scale, shape }, dtype) => mul(scale, drawPareto(key, shape, { shape: to, dtype })) as X,
  logProb: (x, { scale, shape }) => sub(add(log(shape), mul(shape, log(scale))), mul(add(shape, 1), log(x))) as X,
  cdf: (x, { scale, shape }) => neg(expm1(mul(shape, log(div(scale, x))))) as X,
  logSurvival: (x, { scale, shape }) => mul(shape, log(div(scale, x))) as X,
  icdf: (q, { scale, shape }) => mul(scale, exp(neg(div(log1p(neg(q)), shape)))) as X,
  mean: ({ scale, shape }) => {
    const finite = gt(shape, 1) as X
    const a = where(finite, shape, 2)
    return where(finite, mul(scale, div(a, sub(a, 1))), INFINITE) as X
  },
  variance: ({ scale, shape }) => {
    const finite = gt(shape, 2) as X
    const a = where(finite, shape, 3)
    return where(finite, div(mul(square(scale), a), mul(square(sub(a, 1)), sub(a, 2))), INFINITE) as X
  },
  entropy: ({ scale, shape }) => add(add(log(div(scale, shape)), div(1, shape)), 1) as X,
  family: {
    name: 'pareto',
    kl: (p, q) => {
      const inside = ge(p.scale!, q.scale!) as X
      const far = mul(q.shape!, log(div(p.scale!, q.scale!)))
      return where(inside, sub(add(add(log(div(p.shape!, q.shape!)), far), div(q.shape!, p.shape!)), 1), INFINITE) as X
    },
  },
}
/**
 * The Pareto distribution: density shape scale^shape / x^(shape + 1).
 *
 * Shapes  the parameters', which broadcast.   Support  the scale and above.   Source  SciPy's `pareto(shape, scale=scale)`, NumPyro's `Pareto(scale, shape)`.
 * Errors  BadInput for parameters that are not positive; ShapeMismatch.
 * @example pareto(1, 3).mean()   // 1.5
 */
export const pareto = <const A extends Parameter, const B extends Parameter, const O extends FloatOptions = NoOptions>(
  scale: A,
  shape: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(paretoRecipe, { scale, shape }, options) as never

const logUniformRecipe: Recipe<'lower' | 'upper'> = {
  name: 'logUniform',
  parameters: { lower: positive, upper: positive },
  support: ({ lower, upper }) => interval(lower, upper),
  sample: (key, shape, p, dtype) => logUniformRecipe.icdf!(drawUniform(key, shape, { dtype }), p, dtype),
  logProb: (x, { lower, upper }) => neg(add(log(x), log(log(div(upper, lower))))) as X,
  cdf: (x, { lower, upper }) => div(log(div(x, lower)), log(div(upper, lower))) as X,
  logSurvival: (x, { lower, upper }) => log(div(log(div(upper, x)), log(div(upper, lower)))) as X,
  icdf: (q, { lower, upper }) => mul(lower, exp(mul(q, log(div(upper, lower))))) as X,
  mean: ({ lower, upper }) => div(sub(upper, lower), log(div(upper, lower))) as X,
  variance: ({ lower, upper }) => {
    const wide = log(div(upper, lower))
    return sub(div(sub(square(upper), square(lower)), mul(2, wide)), square(div(sub(upper, lower), wide))) as X
  },
  entropy: ({ lower, upper }) => add(mul(0.5, add(log(lower), log(upper))), log(log(div(upper, lower)))) as X,
}
/**
 * The distribution of numbers whose logarithm is uniform: density 1 / (x log(upper / lower)).
 *
 * Shapes  the parameters', which broadcast.   Support  [lower, upper].   Source  SciPy's `loguniform(lower, upper)`, NumPyro's `LogUniform`.
 * Errors  BadInput unless 0 < lower < upper, for plain numbers; ShapeMismatch.
 * @example logUniform(1, 100).icdf(0.5)   // 10
 */
export const logUniform = <const A extends Parameter, const B extends Parameter, const O extends FloatOptions = NoOptions>(
  lower: A,
  upper: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => {
  if (typeof lower === 'number' && typeof upper === 'number' && !(lower < upper))
    badInput('logUniform', `lower is ${lower} and upper is ${upper}.`, 'give the lower one first.')
  return make(logUniformRecipe, { lower, upper }, options) as never
}

const fisherRecipe: Recipe<'df1' | 'df2'> = {
  name: 'fisherF',
  parameters: { df1: positive, df2: positive },
  support: () => nonNegative,
  sample: (key, shape, { df1, df2 }, dtype) => {
    const [a, b] = two(key)
    const part = (k: Key, df: X): X => div(drawGamma(k as never, mul(0.5, df), { shape, dtype }), df) as X
    return div(part(a, df1), part(b, df2)) as X
  },
  logProb: (x, { df1, df2 }) => {
    const [a, b] = [mul(0.5, df1), mul(0.5, df2)]
    const ratio = div(df1, df2)
    return sub(add(mul(a, log(ratio)), xlogy(sub(a, 1), x)), add(mul(add(a, b), log1p(mul(ratio, x))), betaln(a, b))) as X
  },
  cdf: (x, { df1, df2 }) => {
    const share = mul(df1, x)
    return betainc(mul(0.5, df1), mul(0.5, df2), div(share, add(share, df2))) as X
  },
  logSurvival: (x, { df1, df2 }) => {
    const share = mul(df1, x)
    return log(betainc(mul(0.5, df2), mul(0.5, df1), div(df2, add(share, df2)))) as X
  },
  icdf: (q, p, dtype) => searched(() => fisherRecipe as never)(q, p as never, dtype),
  mean: ({ df2 }) => {
    const finite = gt(df2, 2) as X
    const d = where(finite, df2, 3)
    return where(finite, div(d, sub(d, 2)), INFINITE) as X
  },
  variance: ({ df1, df2 }) => {
    const finite = gt(df2, 4) as X
    const d = where(finite, df2, 5)
    const over = mul(mul(df1, square(sub(d, 2))), sub(d, 4))
    return where(finite, div(mul(mul(2, square(d)), add(df1, sub(d, 2))), over), where(gt(df2, 2), INFINITE, Number.NaN)) as X
  },
  entropy: ({ df1, df2 }) => {
    const [a, b] = [mul(0.5, df1), mul(0.5, df2)]
    const digammas = add(sub(mul(sub(1, a), digamma(a)), mul(add(1, b), digamma(b))), mul(add(a, b), digamma(add(a, b))))
    return add(add(betaln(a, b), digammas), log(div(df2, df1))) as X
  },
}
/**
 * Fisher's F distribution, of the ratio of two chi-squared numbers, each divided by its degrees of freedom.
 *
 * Shapes  the parameters', which broadcast.   Support  0 and above.   Source  SciPy's `f(df1, df2)`.   Errors  BadInput for parameters that are not positive; ShapeMismatch.
 * @example fisherF(2, 2).cdf(1)   // 0.5
 */
export const fisherF = <const A extends Parameter, const B extends Parameter, const O extends FloatOptions = NoOptions>(
  df1: A,
  df2: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(fisherRecipe, { df1, df2 }, options) as never
