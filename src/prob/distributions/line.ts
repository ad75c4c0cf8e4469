/** Distributions on the line. */
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
  gt,
  log,
  log1p,
  logit,
  lt,
  maximum,
  minimum,
  mul,
  neg,
  not,
  or,
  sigmoid,
  softplus,
  sqrt,
  square,
  sub,
  tan,
  where,
} from '../../index.js'
import {
  cauchy as drawCauchy,
  gumbel as drawGumbel,
  laplace as drawLaplace,
  logistic as drawLogistic,
  studentT as drawStudentT,
  uniform as drawUniform,
  type NoOptions,
  type Parameter,
} from '../../random/index.js'
import { type All, anything, type Continuous, type FloatOptions, make, positive, type Recipe } from '../distribution.js'
import { reals } from '../support.js'
import { EULER, log1mexp, log1pSquare, placed, standard } from './numbers.js'
import { allNumbers, quantile } from './quantile.js'

type X = AnyExpr

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
