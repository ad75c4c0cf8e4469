/** The gamma distribution, and those of sums, inverses and ratios of gamma numbers. */
import {
  type AnyExpr,
  add,
  betainc,
  betaln,
  cast,
  digamma,
  div,
  expm1,
  type Float,
  gammainc,
  gammaincc,
  gt,
  lgamma,
  log,
  log1p,
  mul,
  neg,
  square,
  sub,
  where,
  xlogy,
} from '../../index.js'
import { exponential as drawExponential, gamma as drawGamma, type Key, type NoOptions, type Parameter } from '../../random/index.js'
import { type All, type Continuous, type FloatOptions, make, positive, type Recipe, type Values } from '../distribution.js'
import { above0, nonNegative } from '../support.js'
import { two } from './numbers.js'
import { searched } from './quantile.js'

type X = AnyExpr
const INFINITE = Number.POSITIVE_INFINITY
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
export const fullOf = (x: number, dtype: Float): X => cast(x, dtype) as X
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
