/** Distributions of whole numbers. */
import { badInput } from '../../core/errors/explain.js'
import { flag, type OptionsOf, readOptions } from '../../core/errors/options.js'
import {
  type AnyExpr,
  add,
  arange,
  betainc,
  betaln,
  cast,
  cumsum,
  div,
  entr,
  eq,
  exp,
  expandDims,
  expm1,
  type Float,
  floor,
  gammainc,
  gammaincc,
  gt,
  lgamma,
  log,
  log1p,
  logSoftmax,
  maximum,
  minimum,
  mul,
  neg,
  reshape,
  sigmoid,
  softmax,
  softplus,
  square,
  stopGradient,
  sub,
  sum,
  takeAlongAxis,
  where,
  xlog1py,
  xlogy,
} from '../../index.js'
import { float, shapeFor, spread } from '../../random/given.js'
import {
  bernoulli as drawBernoulli,
  categorical as drawCategorical,
  gamma as drawGamma,
  geometric as drawGeometric,
  poisson as drawPoisson,
  uniform as drawUniform,
  type NoOptions,
  type Parameter,
} from '../../random/index.js'
import {
  anything,
  count,
  type Declared,
  type Discrete,
  type FloatOptions,
  type Having,
  make,
  positive,
  probability,
  type Recipe,
} from '../distribution.js'
import { integers } from '../support.js'
import { two } from './numbers.js'
import { wholeQuantile } from './quantile.js'

type X = AnyExpr
/** What a distribution of whole numbers may have. */
type Counts = 'cdf' | 'icdf' | 'mean' | 'variance'
const MOST = 2 ** 31 - 1

export const logitOptions = {
  /** 'f32' or 'f64': that of the parameters unless given, 'f64' for plain numbers. */
  dtype: float,
  /** Is the parameter of probabilities given as logits? For two outcomes log(p / (1 - p)), for several log p up to a constant. false unless given. */
  logits: flag(),
}
/** Options of distributions whose probabilities may be given as logits. */
export type LogitOptions = OptionsOf<typeof logitOptions>
/** Options read: are probabilities given as logits, and the others. */
export const logitsAsked = (options: unknown, op: string): { readonly logits: boolean; readonly rest: FloatOptions | undefined } => {
  const { logits, dtype } = readOptions(logitOptions, options, op)
  return { logits, rest: dtype === undefined ? undefined : { dtype } }
}

// ---- two outcomes

const bernoulliKl = (p: X, q: X): X => {
  const part = (a: X, b: X): X => sub(neg(entr(a)), xlogy(a, b)) as X
  return add(part(p, q), part(sub(1, p) as X, sub(1, q) as X)) as X
}
const bernoulliRecipe: Recipe<'p'> = {
  name: 'bernoulli',
  discrete: true,
  parameters: { p: probability },
  support: () => integers(0, 1),
  sample: (key, shape, { p }) => drawBernoulli(key, p, { shape }) as X,
  logProb: (x, { p }) => add(xlogy(x, p), xlog1py(sub(1, x), neg(p))) as X,
  cdf: (_, { p }) => sub(1, p) as X,
  logSurvival: (_, { p }) => log(p) as X,
  icdf: (q, { p }) => stepped(q, sub(1, p) as X),
  mean: ({ p }) => p,
  variance: ({ p }) => mul(p, sub(1, p)) as X,
  entropy: ({ p }) => add(entr(p), entr(sub(1, p))) as X,
  family: { name: 'bernoulli', of: ({ p }) => ({ p }), kl: (p, q) => bernoulliKl(p.p!, q.p!) },
}
/** 1 where q is above a bound, else 0. */
const stepped = (q: X, bound: X): X => where(gt(q, bound), 1, mul(0, q)) as X
const bernoulliLogits: Recipe<'logits'> = {
  name: 'bernoulli',
  discrete: true,
  parameters: { logits: anything },
  support: () => integers(0, 1),
  sample: (key, shape, { logits }) => drawBernoulli(key, sigmoid(logits) as X, { shape }) as X,
  logProb: (x, { logits }) => sub(mul(x, logits), softplus(logits)) as X,
  cdf: (_, { logits }) => sigmoid(neg(logits)) as X,
  logSurvival: (_, { logits }) => neg(softplus(neg(logits))) as X,
  icdf: (q, { logits }) => stepped(q, sigmoid(neg(logits)) as X),
  mean: ({ logits }) => sigmoid(logits) as X,
  variance: ({ logits }) => mul(sigmoid(logits), sigmoid(neg(logits))) as X,
  entropy: ({ logits }) => sub(softplus(logits), mul(logits, sigmoid(logits))) as X,
  family: { name: 'bernoulli', of: ({ logits }) => ({ p: sigmoid(logits) as X }), kl: (p, q) => bernoulliKl(p.p!, q.p!) },
}
/**
 * The Bernoulli distribution: 1 with probability p, else 0. With `{ logits: true }` the parameter is log(p / (1 - p)).
 *
 * Shapes  p's.   Dtype  draws are i32.   Support  0 and 1.   Source  SciPy's `bernoulli(p)`, NumPyro's `Bernoulli(probs)`.   Errors  BadInput for p outside [0, 1].
 * @example bernoulli(0.25).logProb([0, 1])   // [-0.28768, -1.3863]
 * @example bernoulli(0, { logits: true }).mean()   // 0.5
 */
export const bernoulli = <const A extends Parameter, const O extends LogitOptions = NoOptions>(
  p: A,
  options?: O,
): Discrete<readonly [A], O, Counts | 'entropy'> => {
  const { logits, rest } = logitsAsked(options, 'bernoulli')
  return (logits ? make(bernoulliLogits, { logits: p }, rest) : make(bernoulliRecipe, { p }, rest)) as never
}

// ---- several outcomes

/** The elements of p [..., n] at x, which broadcast. */
const chosen = (p: X, x: X): X => {
  const n = p.shape.at(-1)!
  const shape = shapeFor(undefined, [p.shape.slice(0, -1), x.shape], 'categorical')
  const at = expandDims(cast(spread(x, shape), 'i32'), -1)
  return reshape(takeAlongAxis(spread(p, [...shape, n]), at as never, { axis: -1 }), shape as number[]) as X
}
const categoricalOf = (logits: boolean): Recipe<'p'> => {
  const share = (p: X): X => (logits ? softmax(p, { axis: -1 }) : div(p, sum(p, { axis: -1, keepdims: true }))) as X
  const logShare = (p: X): X => (logits ? logSoftmax(p, { axis: -1 }) : log(share(p))) as X
  const places = (p: X): X => arange(p.shape.at(-1)!, p.dtype as 'f64') as X
  const mean = (p: X): X => sum(mul(share(p), places(p)), { axis: -1 }) as X
  return {
    name: 'categorical',
    discrete: true,
    parameters: { p: { ...(logits ? {} : { allowed: (x: number) => x >= 0, must: '0 or more' }), rank: 1 } },
    support: ({ p }) => integers(0, p.shape.at(-1)! - 1),
    sample: (key, shape, { p }) => drawCategorical(key, logShare(p) as never, { shape } as never) as X,
    logProb: (x, { p }) => chosen(logShare(p), x),
    cdf: (x, { p }) => chosen(cumsum(share(p)) as X, x),
    mean: ({ p }) => mean(p),
    variance: ({ p }) => sum(mul(share(p), square(sub(places(p), expandDims(mean(p), -1)))), { axis: -1 }) as X,
    entropy: ({ p }) => (logits ? neg(sum(mul(share(p), logShare(p)), { axis: -1 })) : sum(entr(share(p)), { axis: -1 })) as X,
    family: {
      name: 'categorical',
      of: ({ p }) => ({ p: share(p), logs: logShare(p) }),
      kl: (p, q) => sum(sub(neg(entr(p.p!)), where(eq(p.p!, 0), 0, mul(p.p!, where(eq(p.p!, 0), 0, q.logs!)))), { axis: -1 }) as X,
    },
  }
}
/**
 * The categorical distribution: k with probability p[k], k = 0, 1, ..., n - 1. p is divided by its sum; with `{ logits: true }` p is the softmax of what is given.
 *
 * Shapes  p: [..., n], with batch shape [...].   Dtype  draws are i32.   Support  0 to n - 1.   Source  NumPyro's `Categorical(probs)`.
 * Errors  BadInput for p below 0; ShapeMismatch for p of rank 0.
 * @example categorical([0.5, 0.25, 0.25]).logProb([0, 1])   // [-0.6931, -1.3863]
 */
export const categorical = <const O extends LogitOptions = NoOptions>(
  p: Parameter,
  options?: O,
): Having<'cdf' | 'mean' | 'variance' | 'entropy'> => {
  const { logits, rest } = logitsAsked(options, 'categorical')
  return make(categoricalOf(logits), { p }, rest) as never
}

// ---- counts

/** log of n over x. */
export const logChoose = (n: X, x: X): X => neg(add(log1p(n), betaln(add(sub(n, x), 1), add(x, 1)))) as X
/** The probability of at most x of n, each of them with probability p. */
export const binomialCdf = (x: X, n: X, p: X): X => betainc(maximum(sub(n, x), 1), add(x, 1), sub(1, p)) as X
/** The same with its digits where 1 - p has not those of p: from the tail, unless that is nearly all; then at what 1 - p was rounded to, with a step from there to 1 - p. */
const binomialBelow = (x: X, n: X, p: X, rest: X): X => {
  const more = maximum(sub(n, x), 1) as X
  const below = sub(1, betainc(add(x, 1), more, p)) as X
  const density = exp(sub(add(xlogy(x, p), xlog1py(sub(more, 1), neg(p))), betaln(more, add(x, 1))))
  const step = stopGradient(mul(sub(sub(1, rest), p), density) as X) as X
  return where(gt(below, 1e-3), below, add(betainc(more, add(x, 1), rest), step)) as X
}
/** The least count of which that is at least q. */
const binomialQuantile = (q: X, n: X, p: X, rest: X, dtype: Float): X =>
  wholeQuantile(
    q,
    { n, p, rest },
    dtype,
    ((x: X, r: { readonly n: X; readonly p: X; readonly rest: X }) => binomialBelow(x, r.n, r.p, r.rest)) as never,
    0,
    n,
  )
export const binomialRecipe: Recipe<'n' | 'p'> = {
  name: 'binomial',
  discrete: true,
  parameters: { n: count, p: probability },
  support: ({ n }) => integers(0, n),
  sample: (key, shape, p, dtype) => binomialRecipe.icdf!(drawUniform(key, shape, { dtype }), p, dtype),
  logProb: (x, { n, p }) => add(logChoose(n, x), add(xlogy(x, p), xlog1py(sub(n, x), neg(p)))) as X,
  cdf: (x, { n, p }) => binomialBelow(x, n, p, sub(1, p) as X),
  logSurvival: (x, { n, p }) => log(betainc(add(x, 1), maximum(sub(n, x), 1), p)) as X,
  icdf: (q, { n, p }, dtype) => binomialQuantile(q, n, p, sub(1, p) as X, dtype),
  mean: ({ n, p }) => mul(n, p) as X,
  variance: ({ n, p }) => mul(n, mul(p, sub(1, p))) as X,
}
const binomialLogits: Recipe<'n' | 'logits'> = {
  ...(binomialRecipe as unknown as Recipe<'n' | 'logits'>),
  parameters: { n: count, logits: anything },
  sample: (key, shape, { n, logits }, dtype) => binomialRecipe.sample(key, shape, { n, p: sigmoid(logits) as X }, dtype),
  logProb: (x, { n, logits }) => add(logChoose(n, x), sub(mul(x, logits), mul(n, softplus(logits)))) as X,
  cdf: (x, { n, logits }) => binomialBelow(x, n, sigmoid(logits) as X, sigmoid(neg(logits)) as X),
  logSurvival: (x, { n, logits }) => log(betainc(add(x, 1), maximum(sub(n, x), 1), sigmoid(logits))) as X,
  icdf: (q, { n, logits }, dtype) => binomialQuantile(q, n, sigmoid(logits) as X, sigmoid(neg(logits)) as X, dtype),
  mean: ({ n, logits }) => mul(n, sigmoid(logits)) as X,
  variance: ({ n, logits }) => mul(n, mul(sigmoid(logits), sigmoid(neg(logits)))) as X,
}
/**
 * The binomial distribution: successes among n trials, each with probability p. With `{ logits: true }` the second parameter is log(p / (1 - p)).
 *
 * Shapes  the parameters', which broadcast.   Dtype  draws are i32.   Support  0 to n.   Source  SciPy's `binom(n, p)`, NumPyro's `Binomial(n, p)`.
 * Errors  BadInput for an n that is not a whole number from 0, or p outside [0, 1]; ShapeMismatch.
 * @example binomial(10, 0.5).logProb([5, 11])   // [-1.4020, -Infinity]
 */
export const binomial = <const A extends Parameter, const B extends Parameter, const O extends LogitOptions = NoOptions>(
  n: A,
  p: B,
  options?: O,
): Discrete<readonly [A, B], O, Counts> => {
  const { logits, rest } = logitsAsked(options, 'binomial')
  return (logits ? make(binomialLogits, { n, logits: p }, rest) : make(binomialRecipe, { n, p }, rest)) as never
}

const share: Declared = { allowed: (x) => x > 0 && x <= 1, must: 'above 0 and at most 1' }
const negativeRecipe: Recipe<'n' | 'p'> = {
  name: 'negativeBinomial',
  discrete: true,
  parameters: { n: positive, p: share },
  support: () => integers(0),
  sample: (key, shape, { n, p }, dtype) => {
    const [first, second] = two(key)
    const rate = mul(drawGamma(first as never, n, { shape, dtype }), div(sub(1, p), p))
    return drawPoisson(second as never, rate as X, { shape }) as X
  },
  logProb: (x, { n, p }) => sub(add(xlogy(n, p), xlog1py(x, neg(p))), add(betaln(n, add(x, 1)), log(add(n, x)))) as X,
  cdf: (x, { n, p }) => betainc(n, add(x, 1), p) as X,
  logSurvival: (x, { n, p }) => log(betainc(add(x, 1), n, sub(1, p))) as X,
  icdf: (q, p, dtype) => topped(q, wholeQuantile(q, p, dtype, negativeRecipe.cdf as never, 0, MOST)),
  mean: ({ n, p }) => div(mul(n, sub(1, p)), p) as X,
  variance: ({ n, p }) => div(mul(n, sub(1, p)), square(p)) as X,
}
/** No number is above all of an endless support. */
const topped = (q: X, x: X): X => where(eq(q, 1), Number.POSITIVE_INFINITY, x) as X
/**
 * The negative binomial distribution: failures before the n-th success, each trial a success with probability p; n need not be whole.
 *
 * Shapes  the parameters', which broadcast.   Dtype  draws are i32.   Support  0, 1, 2, ...   Source  SciPy's `nbinom(n, p)`; NumPyro's `NegativeBinomialProbs(n, 1 - p)`.
 * Errors  BadInput for an n that is not positive, or unless 0 < p <= 1; ShapeMismatch.
 * @example negativeBinomial(3, 0.5).mean()   // 3
 */
export const negativeBinomial = <const A extends Parameter, const B extends Parameter, const O extends FloatOptions = NoOptions>(
  n: A,
  p: B,
  options?: O,
): Discrete<readonly [A, B], O, Counts> => make(negativeRecipe, { n, p }, options) as never

const geometricRecipe: Recipe<'p'> = {
  name: 'geometric',
  discrete: true,
  parameters: { p: share },
  support: () => integers(1),
  sample: (key, shape, { p }) => drawGeometric(key, p, { shape }) as X,
  logProb: (x, { p }) => add(log(p), xlog1py(sub(x, 1), neg(p))) as X,
  cdf: (x, { p }) => neg(expm1(xlog1py(x, neg(p)))) as X,
  logSurvival: (x, { p }) => xlog1py(x, neg(p)) as X,
  icdf: (q, p, dtype) => topped(q, wholeQuantile(q, p, dtype, geometricRecipe.cdf as never, 1, MOST)),
  mean: ({ p }) => div(1, p) as X,
  variance: ({ p }) => div(sub(1, p), square(p)) as X,
  entropy: ({ p }) => div(add(entr(p), entr(sub(1, p))), p) as X,
  family: { name: 'geometric', kl: (p, q) => div(bernoulliKl(p.p!, q.p!), p.p!) as X },
}
/**
 * The geometric distribution: the number of trials, 1 or more, until one succeeds, each with probability p.
 *
 * Shapes  p's.   Dtype  draws are i32.   Support  1, 2, 3, ...   Source  SciPy's `geom(p)`; NumPyro's `GeometricProbs(p)`, plus 1.   Errors  BadInput unless 0 < p <= 1.
 * @example geometric(0.25).cdf(2)   // 0.4375
 */
export const geometric = <const A extends Parameter, const O extends FloatOptions = NoOptions>(
  p: A,
  options?: O,
): Discrete<readonly [A], O, Counts | 'entropy'> => make(geometricRecipe, { p }, options) as never

const poissonRecipe: Recipe<'rate'> = {
  name: 'poisson',
  discrete: true,
  parameters: { rate: { allowed: (x) => x >= 0, must: '0 or more' } },
  support: () => integers(0),
  sample: (key, shape, { rate }) => drawPoisson(key, rate, { shape }) as X,
  logProb: (x, { rate }) => sub(sub(xlogy(x, rate), rate), lgamma(add(x, 1))) as X,
  cdf: (x, { rate }) => gammaincc(add(x, 1), rate) as X,
  logSurvival: (x, { rate }) => log(gammainc(add(x, 1), rate)) as X,
  icdf: (q, p, dtype) => topped(q, wholeQuantile(q, p, dtype, poissonRecipe.cdf as never, 0, MOST)),
  mean: ({ rate }) => rate,
  variance: ({ rate }) => rate,
  family: { name: 'poisson', kl: (p, q) => add(sub(xlogy(p.rate!, div(p.rate!, q.rate!)), p.rate!), q.rate!) as X },
}
/**
 * The Poisson distribution: counts with probability rate^x e^-rate / x!.
 *
 * Shapes  the rate's.   Dtype  draws are i32.   Support  0, 1, 2, ...   Source  SciPy's `poisson(rate)`, NumPyro's `Poisson(rate)`.   Errors  BadInput for a rate below 0.
 * @example poisson(3).logProb([0, 3])   // [-3, -1.4959]
 */
export const poisson = <const A extends Parameter, const O extends FloatOptions = NoOptions>(
  rate: A,
  options?: O,
): Discrete<readonly [A], O, Counts> => make(poissonRecipe, { rate }, options) as never

const discreteUniformRecipe: Recipe<'lower' | 'upper'> = {
  name: 'discreteUniform',
  discrete: true,
  parameters: {
    lower: { allowed: Number.isInteger, must: 'a whole number' },
    upper: { allowed: Number.isInteger, must: 'a whole number' },
  },
  support: ({ lower, upper }) => integers(lower, upper),
  sample: (key, shape, { lower, upper }, dtype) => {
    const wide = add(sub(upper, lower), 1)
    return minimum(add(lower, floor(mul(wide, drawUniform(key, shape, { dtype })))), upper) as X
  },
  logProb: (x, { lower, upper }) => sub(mul(0, x), log(add(sub(upper, lower), 1))) as X,
  cdf: (x, { lower, upper }) => div(add(sub(x, lower), 1), add(sub(upper, lower), 1)) as X,
  logSurvival: (x, { lower, upper }) => log(div(sub(upper, x), add(sub(upper, lower), 1))) as X,
  icdf: (q, p, dtype) => add(p.lower, wholeQuantile(q, p, dtype, widthCdf as never, 0, sub(p.upper, p.lower) as X)) as X,
  mean: ({ lower, upper }) => mul(0.5, add(lower, upper)) as X,
  variance: ({ lower, upper }) => div(sub(square(add(sub(upper, lower), 1)), 1), 12) as X,
  entropy: ({ lower, upper }) => log(add(sub(upper, lower), 1)) as X,
}
const widthCdf = (x: X, { lower, upper }: { readonly lower: X; readonly upper: X }): X => div(add(x, 1), add(sub(upper, lower), 1)) as X
/**
 * The uniform distribution of the whole numbers from `lower` to `upper`, both included.
 *
 * Shapes  the parameters', which broadcast.   Dtype  draws are i32.   Support  lower to upper.   Source  SciPy's `randint(lower, upper + 1)`, NumPyro's `DiscreteUniform(lower, upper)`.
 * Errors  BadInput for bounds that are not whole, or unless lower <= upper, for plain numbers; ShapeMismatch.
 * @example discreteUniform(1, 6).mean()   // 3.5
 */
export const discreteUniform = <const A extends Parameter, const B extends Parameter, const O extends FloatOptions = NoOptions>(
  lower: A,
  upper: B,
  options?: O,
): Discrete<readonly [A, B], O, Counts | 'entropy'> => {
  if (typeof lower === 'number' && typeof upper === 'number' && !(lower <= upper))
    badInput('discreteUniform', `lower is ${lower} and upper is ${upper}.`, 'give the lower one first.')
  return make(discreteUniformRecipe, { lower, upper }, options) as never
}
