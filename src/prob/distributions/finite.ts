/** Counts whose distribution functions are sums over a finite support. */

import { badInput } from '../../core/errors/explain.js'
import { leastOf } from '../../core/errors/extremes.js'
import {
  type AnyExpr,
  add,
  betaln,
  cast,
  div,
  exp,
  type Float,
  fori,
  gt,
  le,
  log,
  log1p,
  lt,
  max,
  maximum,
  minimum,
  mul,
  neg,
  square,
  stopGradient,
  sub,
  where,
  zeros,
} from '../../index.js'
import { shapeFor, spread } from '../../random/given.js'
import { beta as drawBeta, uniform as drawUniform, type NoOptions, type Parameter } from '../../random/index.js'
import { count, type Discrete, type FloatOptions, make, positive, type Recipe, type Values } from '../distribution.js'
import { sumOver } from '../sum-over.js'
import { integers } from '../support.js'
import { binomialRecipe, logChoose } from './discrete.js'
import { two } from './numbers.js'

type X = AnyExpr
/** The fields of distributions of this file. */
type Summed = 'cdf' | 'icdf' | 'mean' | 'variance'

/** The distribution function, its tail and its quantiles, by sums over the support. `most` is the length of the support, less 1, where numbers say it. */
const sums = <N extends string>(
  ends: (p: Values<N>) => readonly [X, X],
  logProb: Recipe<N>['logProb'],
  most: number | undefined,
): Required<Pick<Recipe<N>, 'cdf' | 'logSurvival' | 'icdf'>> => {
  const stepsOf = (p: Values<N>): X | number => {
    const [low, high] = ends(p)
    return most === undefined ? (cast(add(max(stopGradient(sub(high, low)) as never), 1), 'i32') as X) : most + 1
  }
  const shapeOf = (x: X, p: Values<N>): number[] =>
    shapeFor(undefined, [x.shape, ...Object.values<X>(p).map((v) => v.shape)], 'cdf') as number[]
  /** The i-th number of the support, from the least on, and its probability. */
  const at = (i: X, p: Values<N>, dtype: Float): { readonly k: X; readonly probability: X } => {
    const [low, high] = ends(p)
    const k = add(low, cast(i, dtype)) as X
    return { k, probability: where(le(k, high), exp(logProb(minimum(k, high) as X, p, dtype)), 0) as X }
  }
  /** The probabilities of at most x, and of more. */
  const parts = (x: X, p: Values<N>, dtype: Float): { readonly below: X; readonly above: X } => {
    const shape = shapeOf(x, p)
    const term = (i: X, args: unknown): unknown => {
      const { x: bound, p: own } = args as { readonly x: X; readonly p: Values<N> }
      const { k, probability } = at(i, own, dtype)
      return {
        below: spread(where(le(k, bound), probability, 0) as X, shape),
        above: spread(where(gt(k, bound), probability, 0) as X, shape),
      }
    }
    return sumOver(stepsOf(p), term, { x, p }) as never
  }
  return {
    cdf: (x, p, dtype) => minimum(1, parts(x, p, dtype).below) as X,
    logSurvival: (x, p, dtype) => {
      const { below, above } = parts(x, p, dtype)
      const most = gt(above, 0.5) as X
      return where(most, log1p(neg(where(most, minimum(below, 1), 0))), log(where(most, 1, above))) as X
    },
    icdf: (q, p, dtype) => {
      const [low, high] = ends(p)
      const none = zeros(shapeOf(q, p), dtype) as X
      const { under } = fori(
        stepsOf(p) as never,
        ((i: X, { sum, under }: { readonly sum: X; readonly under: X }) => {
          const next = add(sum, at(i, p, dtype).probability) as X
          return { sum: next, under: add(under, where(lt(next, q), 1, 0)) as X }
        }) as never,
        { sum: none, under: none } as never,
      ) as unknown as { readonly under: X }
      return stopGradient(minimum(add(low, under), high)) as X
    },
  }
}

const betaBinomialOf = (most: number | undefined): Recipe<'n' | 'a' | 'b'> => {
  type P = Values<'n' | 'a' | 'b'>
  const logProb = (x: X, { n, a, b }: P): X => add(logChoose(n, x), sub(betaln(add(x, a), add(sub(n, x), b)), betaln(a, b))) as X
  return {
    name: 'betaBinomial',
    discrete: true,
    parameters: { n: count, a: positive, b: positive },
    support: ({ n }) => integers(0, n),
    sample: (key, shape, { n, a, b }, dtype) => {
      const [first, second] = two(key)
      return binomialRecipe.sample(second as never, shape, { n, p: drawBeta(first as never, a, b, { shape, dtype }) as X }, dtype)
    },
    logProb,
    ...sums(({ n }: P) => [mul(0, n) as X, n], logProb, most),
    mean: ({ n, a, b }) => mul(n, div(a, add(a, b))) as X,
    variance: ({ n, a, b }) => {
      const all = add(a, b)
      return div(mul(mul(n, mul(a, b)), add(all, n)), mul(square(all), add(all, 1))) as X
    },
  }
}
/**
 * The beta-binomial distribution: binomial, with a probability that is drawn from beta(a, b).
 *
 * Shapes  the parameters', which broadcast.   Dtype  draws are i32.   Support  0 to n.   Source  SciPy's `betabinom(n, a, b)`, NumPyro's `BetaBinomial(a, b, n)`.
 * Rule  cdf, logSurvival and icdf are sums of n + 1 probabilities.
 * Errors  BadInput for an n that is not a whole number from 0, or an a or b that is not positive; ShapeMismatch.
 * @example betaBinomial(10, 1, 1).logProb(3)   // -2.3979
 * @example betaBinomial(10, 1, 1).cdf(3)   // 0.36364
 */
export const betaBinomial = <
  const A extends Parameter,
  const B extends Parameter,
  const C extends Parameter,
  const O extends FloatOptions = NoOptions,
>(
  n: A,
  a: B,
  b: C,
  options?: O,
): Discrete<readonly [A, B, C], O, Summed> => make(betaBinomialOf(typeof n === 'number' ? n : undefined), { n, a, b }, options) as never

const hypergeometricOf = (most: number | undefined): Recipe<'total' | 'marked' | 'draws'> => {
  type P = Values<'total' | 'marked' | 'draws'>
  const ends = ({ total, marked, draws }: P): readonly [X, X] => [
    maximum(0, sub(add(draws, marked), total)) as X,
    minimum(marked, draws) as X,
  ]
  const logProb = (x: X, { total, marked, draws }: P): X =>
    sub(add(logChoose(marked, x), logChoose(sub(total, marked) as X, sub(draws, x) as X)), logChoose(total, draws)) as X
  const recipe: Recipe<'total' | 'marked' | 'draws'> = {
    name: 'hypergeometric',
    discrete: true,
    parameters: { total: count, marked: count, draws: count },
    support: (p) => integers(...ends(p)),
    sample: (key, shape, p, dtype) => recipe.icdf!(drawUniform(key, shape, { dtype }), p, dtype),
    logProb,
    ...sums(ends, logProb, most),
    mean: ({ total, marked, draws }) => div(mul(draws, marked), maximum(total, 1)) as X,
    variance: ({ total, marked, draws }) => {
      const [share, rest] = [div(marked, maximum(total, 1)), div(sub(total, draws), maximum(sub(total, 1), 1))]
      return mul(mul(draws, share), mul(sub(1, share), rest)) as X
    },
  }
  return recipe
}
/**
 * The hypergeometric distribution: how many of `draws` things, drawn without putting back from `total`, are among the `marked` ones.
 *
 * Shapes  the parameters', which broadcast.   Dtype  draws are i32.   Support  max(0, draws + marked - total) to min(marked, draws).
 * Rule  cdf, logSurvival, icdf and samples are sums over the support.   Source  SciPy's `hypergeom(total, marked, draws)`.
 * Errors  BadInput for parameters that are not whole numbers from 0, and for plain numbers if marked or draws is above total; ShapeMismatch.
 * @example hypergeometric(20, 7, 12).logProb(4)   // -1.0284
 * @example hypergeometric(20, 7, 12).cdf(4)   // 0.60836
 */
export const hypergeometric = <
  const A extends Parameter,
  const B extends Parameter,
  const C extends Parameter,
  const O extends FloatOptions = NoOptions,
>(
  total: A,
  marked: B,
  draws: C,
  options?: O,
): Discrete<readonly [A, B, C], O, Summed> => {
  for (const [name, x] of [
    ['marked', marked],
    ['draws', draws],
  ] as const)
    if (typeof x === 'number' && typeof total === 'number' && x > total)
      badInput('hypergeometric', `${name} is ${x} and total is ${total}.`, `give at most as many as there are.`)
  const most = [marked, draws].filter((x): x is number & typeof x => typeof x === 'number')
  return make(hypergeometricOf(most.length === 0 ? undefined : leastOf(most)), { total, marked, draws }, options) as never
}
