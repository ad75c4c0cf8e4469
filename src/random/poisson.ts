/** Poisson counts. */
import { type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  abs,
  add,
  and,
  any,
  cast,
  div,
  type Expr,
  eq,
  floor,
  full,
  ge,
  gt,
  le,
  lgamma,
  log,
  lt,
  mul,
  neg,
  not,
  or,
  sqrt,
  sub,
  where,
  whileLoop,
  zerosLike,
} from '../index.js'
import { wordsFor } from './bits.js'
import {
  checkNumbers,
  drawnShape,
  type GivenKey,
  type NoOptions,
  type Parameter,
  parameterIn,
  type ShapeIn,
  type ShapeOf,
  shapeFor,
  spread,
  wordsOf,
} from './given.js'
import { childKey } from './key.js'
import type { Words } from './threefry.js'
import { fractionOf } from './uniform.js'

export const poissonOptions = {
  /** The shape of the result, to which the rate broadcasts: that of the rate unless given. */
  shape: drawnShape,
}
/** Options of `poisson`. */
export type PoissonOptions = OptionsOf<typeof poissonOptions>
/** Below this rate products of uniform numbers are counted, from it on numbers are rejected. */
const FEW = 10
/** Far more trials than any of 2^31 numbers takes: each ends one with a probability of 0.7 and more. */
const MAX_STEPS = 200

const uniform = (key: Words, shape: readonly number[]): AnyExpr => fractionOf(wordsFor(key, shape), 'f32')

/** As many as have a product above e^-rate.   Source  Knuth 1969. */
const counted = (key: Words, rate: AnyExpr): AnyExpr => {
  const { shape } = rate
  const more = (sum: AnyExpr): AnyExpr => gt(sum, neg(rate))
  const body = (s: { readonly key: Words; readonly count: AnyExpr; readonly sum: AnyExpr }) => ({
    key: childKey(s.key, 0),
    count: add(s.count, cast(more(s.sum), 'i32')),
    sum: add(s.sum, log(uniform(childKey(s.key, 1), shape))),
  })
  const init = { key, count: full(shape as number[], 0, 'i32'), sum: zerosLike(rate) }
  const condition = (s: { readonly sum: AnyExpr }): AnyExpr => any(more(s.sum))
  const [end] = whileLoop(condition as never, body as never, init as never, { maxSteps: MAX_STEPS })
  return sub((end as { readonly count: AnyExpr }).count, 1)
}

/** Transformed rejection, for rates from 10.   Source  Hormann 1993. */
const rejected = (key: Words, rate: AnyExpr): AnyExpr => {
  const { shape } = rate
  const b = add(0.931, mul(2.53, sqrt(rate)))
  const a = add(-0.059, mul(0.02483, b))
  const inverse = add(1.1239, div(1.1328, sub(b, 3.4)))
  const most = sub(0.9277, div(3.6224, sub(b, 2)))
  const body = (s: { readonly key: Words; readonly open: AnyExpr; readonly count: AnyExpr }) => {
    const u = sub(uniform(childKey(s.key, 1), shape), 0.5)
    const v = uniform(childKey(s.key, 2), shape)
    const from = sub(0.5, abs(u))
    const k = floor(add(add(mul(add(div(mul(2, a), from), b), u), rate), 0.43))
    const left = log(div(mul(v, inverse), add(div(a, mul(from, from)), b)))
    const right = sub(add(neg(rate), mul(k, log(rate))), lgamma(add(k, 1)))
    const quick = and(ge(from, 0.07), le(v, most))
    const outside = or(lt(k, 0), and(lt(from, 0.013), gt(v, from)))
    const taken = or(quick, and(not(outside), le(left, right)))
    // While others are open an element may be taken again: as JAX does, and as good.
    return { key: childKey(s.key, 0), open: and(s.open, not(taken)), count: where(taken, k, s.count) }
  }
  const open = not(zerosLike(rate) as AnyExpr)
  const condition = (s: { readonly open: AnyExpr }): AnyExpr => any(s.open)
  const [end] = whileLoop(condition as never, body as never, { key, open, count: sub(zerosLike(rate), 1) } as never, {
    maxSteps: MAX_STEPS,
  })
  return cast((end as { readonly count: AnyExpr }).count, 'i32')
}

/**
 * Samples of the Poisson distribution: counts whose mean and variance are the rate, 0 or more.
 *
 * Shapes  the rate's, or `shape`.   Dtype  i32; the rate is read as f32.   Rule  none.   Source  `jax.random.poisson`.
 * Errors  BadInput for an invalid key, or for a rate below 0; ShapeMismatch if the rate does not broadcast to the shape.
 * @example poisson(key(0), 4, { shape: [4] })   // [0, 1, 5, 5]
 */
export const poisson = <const R extends Parameter, const O extends PoissonOptions = NoOptions>(
  key: GivenKey,
  rate: R,
  options?: O,
): Expr<ShapeIn<O, ShapeOf<R>>, 'i32'> => {
  const op = 'poisson'
  const given = readOptions(poissonOptions, options, op)
  checkNumbers(rate, (x) => x >= 0 && x < 2 ** 31, 'rate', 'from 0 to below 2^31', op)
  const words = wordsOf(key, op)
  const mean = parameterIn(rate, 'f32', op, 'rate')
  const all = spread(mean, shapeFor(given.shape, [mean.shape], op))
  if (typeof rate === 'number')
    return (rate === 0 ? full(all.shape as number[], 0, 'i32') : rate < FEW ? counted(words, all) : rejected(words, all)) as never
  const few = lt(all, FEW)
  const count = where(few, counted(words, where(few, all, 0)), rejected(words, where(few, 1e5, all)))
  return where(eq(all, 0), 0, count) as never
}
