/** Positive numbers that are functions of normal ones. */
import {
  type AnyExpr,
  abs,
  add,
  atan,
  atan2,
  div,
  erf,
  erfc,
  erfcinv,
  erfinv,
  exp,
  expm1,
  gammainc,
  gammaincc,
  gt,
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
  where,
} from '../../index.js'
import {
  cauchy as drawCauchy,
  maxwell as drawMaxwell,
  normal as drawNormal,
  uniform as drawUniform,
  type NoOptions,
  type Parameter,
} from '../../random/index.js'
import { type All, anything, type Continuous, type FloatOptions, make, positive, type Recipe, type Values } from '../distribution.js'
import { above0, nonNegative } from '../support.js'
import { fullOf } from './gamma.js'
import { EULER, HALF_LOG_2PI, log1mexp, two } from './numbers.js'
import { searched } from './quantile.js'

type X = AnyExpr

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
