/** Quantiles of distributions whose distribution function has no inverse in formulae. */
import {
  type AnyExpr,
  add,
  broadcastTo,
  div,
  exp,
  type Float,
  floor,
  fori,
  full,
  ge,
  gt,
  logSigmoid,
  lt,
  mul,
  neg,
  or,
  sigmoid,
  sinh,
  softplus,
  stopGradient,
  sub,
  where,
} from '../../index.js'
import { shapeFor } from '../../random/given.js'
import type { Recipe, Values } from '../distribution.js'

type X = AnyExpr
type Of = (x: X, p: Values<never>, dtype: Float) => X
/** How the line is searched: x = f(u), the logarithm of its derivative, and the range of u. */
interface Coordinate {
  readonly x: (u: X) => X
  readonly logSlope: (u: X) => X
  readonly range: (dtype: Float) => readonly [number, number]
}
/** Positive numbers by their logarithms. */
export const positiveNumbers: Coordinate = {
  x: (u) => exp(u) as X,
  logSlope: (u) => u,
  range: (d) => (d === 'f32' ? [-87, 88] : [-708, 709]),
}
/** Numbers from 0 to 1 by their log odds. */
export const fractions: Coordinate = {
  x: (u) => sigmoid(u) as X,
  logSlope: (u) => add(logSigmoid(u), logSigmoid(neg(u))) as X,
  range: (d) => (d === 'f32' ? [-87, 17] : [-708, 37]),
}
/** All numbers: nearly logarithms on both sides. */
export const allNumbers: Coordinate = {
  x: (u) => sinh(u) as X,
  logSlope: (u) => sub(sub(softplus(mul(2, u)), u), Math.LN2) as X,
  range: (d) => (d === 'f32' ? [-88, 88] : [-709, 709]),
}

const fixed = <P extends Values>(p: P): P => Object.fromEntries(Object.entries(p).map(([n, x]) => [n, stopGradient(x)])) as unknown as P
const everywhere = (q: X, p: Values): readonly number[] => shapeFor(undefined, [q.shape, ...Object.values(p).map((x) => x.shape)], 'icdf')

/** As many halvings as leave a step of Newton's method two thirds of the digits, and the next one all of them. */
const HALVINGS = 36
/**
 * x with cdf(x) = q: by bisection, and by two steps of Newton's method, which have the derivatives of the equation.
 *
 * The steps begin at a constant: the first makes first derivatives right, the second second ones.
 */
export const quantile = (
  q0: X,
  p: Values,
  dtype: Float,
  { x, logSlope, range }: Coordinate,
  cdf: Of,
  logProb: Of,
  ends: readonly [number, number],
): X => {
  const shape = everywhere(q0, p)
  const out = or(lt(q0, Number.MIN_VALUE), ge(q0, 1)) as X
  const q = broadcastTo(where(out, 0.5, q0), shape as number[]) as X
  const [low, high] = range(dtype)
  const [p1, q1] = [fixed(p), stopGradient(q) as X]
  const init = { low: full(shape as number[], low, dtype) as X, high: full(shape as number[], high, dtype) as X }
  const end = fori(
    HALVINGS,
    ((_: X, s: { readonly low: X; readonly high: X }) => {
      const middle = mul(0.5, add(s.low, s.high)) as X
      const under = lt(cdf(x(middle), p1 as never, dtype), q1) as X
      return { low: where(under, middle, s.low) as X, high: where(under, s.high, middle) as X }
    }) as never,
    init as never,
  ) as unknown as { readonly low: X; readonly high: X }
  const newton = (u: X): X => {
    const at = x(u)
    const rise = exp(add(logProb(at, p as never, dtype), logSlope(u))) as X
    const steep = gt(rise, 0) as X
    return sub(u, where(steep, div(sub(cdf(at, p as never, dtype), q), where(steep, rise, 1)), 0)) as X
  }
  const found = x(newton(newton(stopGradient(mul(0.5, add(end.low, end.high))) as X)))
  return where(out, where(ge(q0, 1), ends[1], ends[0]), found) as X
}

/** The least whole number k, from `least` on and of at most `most`, with cdf(k) >= q: by bisection. It has no derivative. */
export const wholeQuantile = (q: X, p: Values, dtype: Float, cdf: Of, least: number, most: X | number): X => {
  const shape = everywhere(q, p)
  const all = (x: X | number): X =>
    typeof x === 'number' ? (full(shape as number[], x, dtype) as X) : (broadcastTo(stopGradient(x), shape as number[]) as X)
  const [p1, q1] = [fixed(p), stopGradient(q) as X]
  // The upper one is never tried: there the function is 1.
  const end = fori(
    32,
    ((_: X, s: { readonly low: X; readonly high: X }) => {
      const middle = floor(mul(0.5, add(s.low, s.high))) as X
      const under = lt(cdf(middle, p1 as never, dtype), q1) as X
      const open = gt(sub(s.high, s.low), 1) as X
      return {
        low: where(open, where(under, middle, s.low), s.low) as X,
        high: where(open, where(under, s.high, middle), s.high) as X,
      }
    }) as never,
    { low: all(least - 1), high: all(most) } as never,
  ) as unknown as { readonly high: X }
  return stopGradient(end.high) as X
}
/** The inverse of the distribution function of positive numbers, by search. */
export const searched =
  (recipe: () => Recipe<never>): NonNullable<Recipe<never>['icdf']> =>
  (q, p, dtype) =>
    quantile(q, p, dtype, positiveNumbers, recipe().cdf!, recipe().logProb, [0, Number.POSITIVE_INFINITY])
