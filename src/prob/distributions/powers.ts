/** Positive numbers whose tails are powers, or exponentials of powers. */
import { badInput } from '../../core/errors/explain.js'
import {
  type AnyExpr,
  add,
  div,
  exp,
  expm1,
  type Float,
  ge,
  gt,
  lgamma,
  log,
  log1p,
  mul,
  neg,
  pow,
  sqrt,
  square,
  sub,
  where,
  xlogy,
} from '../../index.js'
import {
  pareto as drawPareto,
  rayleigh as drawRayleigh,
  uniform as drawUniform,
  weibull as drawWeibull,
  type NoOptions,
  type Parameter,
} from '../../random/index.js'
import { type All, type Continuous, type FloatOptions, make, positive, type Recipe, type Values } from '../distribution.js'
import { greaterThan, interval, nonNegative } from '../support.js'
import { fullOf } from './gamma.js'
import { EULER } from './numbers.js'

type X = AnyExpr
const INFINITE = Number.POSITIVE_INFINITY
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
