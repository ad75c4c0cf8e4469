/** The normal distribution, and what is made of it: leaning to a side, and cut at bounds. */
import {
  type AnyExpr,
  abs,
  add,
  cast,
  div,
  exp,
  expandDims,
  ge,
  gt,
  log,
  log1p,
  logNdtr,
  lt,
  maximum,
  minimum,
  mul,
  ndtr,
  ndtri,
  neg,
  sqrt,
  square,
  sub,
  sum,
  unstack,
  where,
} from '../../index.js'
import { lazily } from '../../minimize/lazily.js'
import { normal as drawNormal, uniform as drawUniform, type NoOptions, type Parameter, splitKey } from '../../random/index.js'
import { type All, anything, type Continuous, type FloatOptions, make, positive, type Recipe } from '../distribution.js'
import { interval, reals } from '../support.js'
import { boundOf, rising } from './bounded.js'
import { HALF_LOG_2PI, log1mexp, placed, standard } from './numbers.js'
import { allNumbers, quantile } from './quantile.js'

type X = AnyExpr
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
