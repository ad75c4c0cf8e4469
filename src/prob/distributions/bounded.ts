/** Distributions on an interval, and on the circle. */
import { badInput } from '../../core/errors/explain.js'
import {
  type AnyExpr,
  abs,
  acos,
  add,
  any,
  betainc,
  betaln,
  cos,
  digamma,
  div,
  exp,
  expandDims,
  expm1,
  gt,
  i0e,
  i1e,
  isExpr,
  isTensor,
  log,
  log1p,
  lt,
  maximum,
  minimum,
  mod,
  mul,
  neg,
  not,
  or,
  pow,
  sign,
  sin,
  sqrt,
  square,
  stopGradient,
  sub,
  sum,
  tensor,
  unstack,
  where,
  whileLoop,
  xlog1py,
  xlogy,
  zeros,
  zerosLike,
} from '../../index.js'
import { spread } from '../../random/given.js'
import {
  beta as drawBeta,
  triangular as drawTriangular,
  uniform as drawUniform,
  type Key,
  type NoOptions,
  type Parameter,
  splitKey,
} from '../../random/index.js'
import { type All, anything, type Continuous, type FloatOptions, make, positive, type Recipe } from '../distribution.js'
import { interval, unitInterval } from '../support.js'
import { EULER, placed } from './numbers.js'
import { fractions, quantile } from './quantile.js'

type X = AnyExpr
/** Numbers are compared before anything runs. */
export const rising = (op: string, given: Readonly<Record<string, unknown>>): void => {
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
export const boundOf = (given: unknown, x: X): X | number => (typeof given === 'number' ? given : x)
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

const betaRecipe: Recipe<'a' | 'b'> = {
  name: 'beta',
  parameters: { a: positive, b: positive },
  support: () => unitInterval,
  sample: (key, shape, { a, b }, dtype) => drawBeta(key, a, b, { shape, dtype }) as X,
  logProb: (x, { a, b }) => sub(add(xlogy(sub(a, 1), x), xlog1py(sub(b, 1), neg(x))), betaln(a, b)) as X,
  cdf: (x, { a, b }) => betainc(a, b, x) as X,
  logSurvival: (x, { a, b }) => log(betainc(b, a, sub(1, x))) as X,
  icdf: (q, p, dtype) => quantile(q, p, dtype, fractions, betaRecipe.cdf as never, betaRecipe.logProb as never, [0, 1]),
  mean: ({ a, b }) => div(a, add(a, b)) as X,
  variance: ({ a, b }) => {
    const all = add(a, b)
    return div(mul(a, b), mul(square(all), add(all, 1))) as X
  },
  entropy: ({ a, b }) => {
    const all = add(a, b)
    const parts = add(mul(sub(a, 1), digamma(a)), mul(sub(b, 1), digamma(b)))
    return add(sub(betaln(a, b), parts), mul(sub(all, 2), digamma(all))) as X
  },
  family: {
    name: 'beta',
    kl: (p, q) => {
      const [da, db] = [sub(p.a!, q.a!), sub(p.b!, q.b!)]
      const parts = add(mul(da, digamma(p.a!)), mul(db, digamma(p.b!)))
      return sub(add(sub(betaln(q.a!, q.b!), betaln(p.a!, p.b!)), parts), mul(add(da, db), digamma(add(p.a!, p.b!)))) as X
    },
  },
}
/**
 * The beta distribution: density x^(a - 1) (1 - x)^(b - 1) / B(a, b).
 *
 * Shapes  the parameters', which broadcast.   Support  [0, 1].   Source  SciPy's `beta(a, b)`, NumPyro's `Beta`.
 * Errors  BadInput for parameters that are not positive; ShapeMismatch.
 * @example beta(2, 3).logProb([0.5, 2])   // [0.40547, -Infinity]
 */
export const beta = <const A extends Parameter, const B extends Parameter, const O extends FloatOptions = NoOptions>(
  a: A,
  b: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(betaRecipe, { a, b }, options) as never

const kumaraswamyRecipe: Recipe<'a' | 'b'> = {
  name: 'kumaraswamy',
  parameters: { a: positive, b: positive },
  support: () => unitInterval,
  sample: (key, shape, p, dtype) => kumaraswamyRecipe.icdf!(drawUniform(key, shape, { dtype }), p, dtype),
  logProb: (x, { a, b }) => add(add(log(a), log(b)), add(xlogy(sub(a, 1), x), xlog1py(sub(b, 1), neg(pow(x, a))))) as X,
  cdf: (x, { a, b }) => neg(expm1(xlog1py(b, neg(pow(x, a))))) as X,
  logSurvival: (x, { a, b }) => xlog1py(b, neg(pow(x, a))) as X,
  icdf: (q, { a, b }) => pow(neg(expm1(div(log1p(neg(q)), b))), div(1, a)) as X,
  mean: ({ a, b }) => mul(b, exp(betaln(add(1, div(1, a)), b))) as X,
  variance: ({ a, b }) => sub(mul(b, exp(betaln(add(1, div(2, a)), b))), square(mul(b, exp(betaln(add(1, div(1, a)), b))))) as X,
  entropy: ({ a, b }) => {
    const harmonic = add(digamma(add(b, 1)), EULER)
    return sub(add(sub(1, div(1, b)), mul(sub(1, div(1, a)), harmonic)), log(mul(a, b))) as X
  },
}
/**
 * The Kumaraswamy distribution: 1 - (1 - x^a)^b is its distribution function.
 *
 * Shapes  the parameters', which broadcast.   Support  [0, 1].   Source  Kumaraswamy 1980; NumPyro's `Kumaraswamy`.
 * Errors  BadInput for parameters that are not positive; ShapeMismatch.
 * @example kumaraswamy(2, 3).cdf(0.5)   // 0.57813
 */
export const kumaraswamy = <const A extends Parameter, const B extends Parameter, const O extends FloatOptions = NoOptions>(
  a: A,
  b: B,
  options?: O,
): Continuous<readonly [A, B], O, All> => make(kumaraswamyRecipe, { a, b }, options) as never

// ---- von Mises

/** Places and weights of Gauss and Legendre's rule on [0, 1].   Source  Newton's method on P_n; Abramowitz and Stegun 25.4.29. */
const gaussLegendre = (n: number): { readonly places: readonly number[]; readonly weights: readonly number[] } => {
  const places: number[] = []
  const weights: number[] = []
  for (let i = 0; i < n; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5))
    let slope = 1
    for (let step = 0; step < 8; step++) {
      let [last, p] = [0, 1]
      for (let k = 1; k <= n; k++) [last, p] = [p, ((2 * k - 1) * x * p - (k - 1) * last) / k]
      slope = (n * (x * p - last)) / (x * x - 1)
      x -= p / slope
    }
    places.push((x + 1) / 2)
    weights.push(1 / ((1 - x * x) * slope * slope))
  }
  return { places, weights }
}
let rule: ReturnType<typeof gaussLegendre> | undefined
/** log of the density at an angle from the mean. */
const circular = (z: X, k: X): X => sub(mul(mul(-2, k), square(sin(mul(0.5, z)))), add(log(i0e(k)), Math.log(2 * Math.PI))) as X
/** The probability from 0 to z: the density is smooth, and nothing where it is below e^-50 of its largest value. */
const fromZero = (z: X, k: X): X => {
  rule ??= gaussLegendre(48)
  const dtype = z.dtype as 'f64'
  const end = minimum(abs(z), div(10, sqrt(maximum(k, 1))))
  const at = mul(expandDims(end, -1), tensor(rule.places, [48], dtype))
  const part = sum(mul(exp(circular(at as X, expandDims(k, -1) as X)), tensor(rule.weights, [48], dtype)), { axis: -1 })
  return mul(mul(sign(z), end), part) as X
}
const MAX_STEPS = 1000
/** Angles by rejection from a wrapped Cauchy distribution.   Source  Best and Fisher 1979. */
const angles = (key: unknown, shape: readonly number[], k: X, dtype: 'f32' | 'f64'): X => {
  const least = dtype === 'f32' ? 1e-4 : 1e-8
  const kappa = spread(maximum(stopGradient(k), least) as X, shape)
  const r = div(add(1, sqrt(add(1, mul(4, square(kappa))))), mul(2, kappa))
  const [start, signs] = unstack(splitKey(key as never)) as unknown as readonly [Key, Key]
  const zero = zerosLike(kappa) as X
  const body = (s: { readonly key: Key; readonly open: X; readonly f: X }) => {
    const [next, a, b] = unstack(splitKey(s.key as never, 3)) as unknown as readonly [Key, Key, Key]
    const z = cos(mul(Math.PI, drawUniform(a as never, shape, { dtype })))
    const f = div(add(1, mul(r, z)), add(r, z))
    const c = mul(kappa, sub(r, f))
    const u = drawUniform(b as never, shape, { dtype })
    const taken = gt(add(sub(log(div(c, u)), c), 1), 0)
    return { key: next, open: where(s.open, not(taken), s.open) as X, f: where(s.open, f, s.f) as X }
  }
  const [end] = whileLoop(
    ((s: { readonly open: X }) => any(s.open)) as never,
    body as never,
    { key: start, open: not(zero), f: zero } as never,
    { maxSteps: MAX_STEPS },
  )
  const up = gt(drawUniform(signs as never, shape, { dtype }), 0.5)
  const angle = acos(minimum(maximum((end as { readonly f: X }).f, -1), 1))
  return stopGradient(where(up, angle, neg(angle))) as X
}
/** Into [-pi, pi). */
const wrapped = (x: X): X => sub(mod(add(x, Math.PI), 2 * Math.PI), Math.PI) as X
const vonMisesRecipe: Recipe<'mean' | 'concentration'> = {
  name: 'vonMises',
  parameters: { mean: anything, concentration: { allowed: (x) => x >= 0, must: '0 or more' } },
  support: () => interval(-Math.PI, Math.PI),
  sample: (key, shape, { mean, concentration }, dtype) => {
    const z = angles(key, shape, concentration, dtype)
    // With the quantile fixed, dz = -(dF / dk) / p(z) dk; the value is z itself.
    const below = fromZero(z, concentration)
    const moved = div(sub(below, stopGradient(below)), exp(stopGradient(circular(z, concentration))))
    return wrapped(add(mean, sub(z, moved)) as X)
  },
  logProb: (x, { mean, concentration }) => circular(sub(x, mean) as X, concentration),
  // From -pi on: of the angles from the mean, once around more where x has passed the opposite of the mean and -pi has not.
  cdf: (x, { mean, concentration }) => {
    const [from, to] = [wrapped(sub(-Math.PI, mean) as X), wrapped(sub(x, mean) as X)]
    const between = sub(fromZero(to, concentration), fromZero(from, concentration))
    return add(between, where(lt(to, from), 1, 0)) as X
  },
  entropy: ({ concentration: k }) => sub(add(log(i0e(k)), add(k, Math.log(2 * Math.PI))), div(mul(k, i1e(k)), i0e(k))) as X,
  family: {
    name: 'vonMises',
    kl: (p, q) => {
      const [k, l] = [p.concentration!, q.concentration!]
      const length = div(i1e(k), i0e(k))
      const toward = sub(k, mul(l, cos(sub(p.mean!, q.mean!))))
      return add(add(sub(log(i0e(l)), log(i0e(k))), sub(l, k)), mul(length, toward)) as X
    },
  },
}
/**
 * The von Mises distribution of angles: density e^(k cos(x - mean)) / (2 pi I_0(k)), k the concentration.
 *
 * Shapes  the parameters', which broadcast.   Support  [-pi, pi]; the mean may be any angle.   Source  SciPy's `vonmises(k, mean)`, NumPyro's `VonMises(mean, k)`.
 * Rule    of samples: with their quantile fixed. `mean` and `variance` of circular data are others than those of numbers, and are not given.
 * Errors  BadInput for a concentration below 0; ShapeMismatch.
 * @example vonMises(0, 2).logProb([0, 3])   // [-0.66187, -4.6419]
 */
export const vonMises = <const A extends Parameter = number, const B extends Parameter = number, const O extends FloatOptions = NoOptions>(
  mean?: A,
  concentration?: B,
  options?: O,
): Continuous<readonly [A, B], O, 'cdf' | 'entropy'> =>
  make(vonMisesRecipe, { mean: mean ?? 0, concentration: concentration ?? 1 }, options) as never
