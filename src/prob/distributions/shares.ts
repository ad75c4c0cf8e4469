/** Distributions of shares of a whole, and of counts by shares. */
import {
  type AnyExpr,
  add,
  cast,
  cumsum,
  digamma,
  div,
  expandDims,
  type Float,
  gt,
  lgamma,
  logSoftmax,
  maximum,
  minimum,
  moveaxis,
  mul,
  scan,
  softmax,
  sub,
  sum,
  where,
  xlogy,
} from '../../index.js'
import { type GivenKey, type Parameter, spread } from '../../random/given.js'
import { dirichlet as drawDirichlet, uniform as drawUniform, splitKey } from '../../random/index.js'
import { count, type FloatOptions, type Having, make, positive, type Recipe, type Values } from '../distribution.js'
import { counts, simplex } from '../support.js'
import { binomialCdf, type LogitOptions, logitsAsked } from './discrete.js'
import { two } from './numbers.js'
import { wholeQuantile } from './quantile.js'
import { along, sizeOf } from './vectors.js'

type X = AnyExpr
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
