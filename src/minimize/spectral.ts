/** The positive part of symmetric matrices, differentiated by the equations that it satisfies: also where eigenvalues are equal, to any order. */
import {
  type AnyExpr,
  abs,
  add,
  customRule,
  div,
  eigh,
  expandDims,
  le,
  matmul,
  max,
  maximum,
  mul,
  neg,
  sub,
  transpose,
  where,
} from '../index.js'

const product = (...all: readonly AnyExpr[]): AnyExpr => all.reduce((a, b) => matmul(a, b) as AnyExpr)
const plus = (a: AnyExpr, b: AnyExpr): AnyExpr => add(a, b) as AnyExpr
const minus = (a: AnyExpr, b: AnyExpr): AnyExpr => sub(a, b) as AnyExpr
const t = (a: AnyExpr): AnyExpr => transpose(a) as AnyExpr
/** a b + b a. */
const both = (a: AnyExpr, b: AnyExpr): AnyExpr => plus(product(a, b), product(b, a))
/** f(w_i) + f(w_j). */
const pairs = (w: AnyExpr): AnyExpr => plus(expandDims(w, -1) as AnyExpr, expandDims(w, -2) as AnyExpr)

type Two = (s: AnyExpr, e: AnyExpr) => AnyExpr
type Pair = readonly [AnyExpr, AnyExpr]
/** v (top(w) / (|w_i| + |w_j|) o v^T e v) v^T, 0 where both eigenvalues are 0 up to rounding. */
const weighed = (s: AnyExpr, e: AnyExpr, top: (w: AnyExpr) => AnyExpr | number): AnyExpr => {
  const { w, v } = eigh(s) as unknown as { w: AnyExpr; v: AnyExpr }
  const sizes = abs(w) as AnyExpr
  const below = pairs(sizes)
  const unit = 8 * s.shape.at(-1)! * (s.dtype === 'f32' ? 2 ** -23 : 2 ** -52)
  const largest = expandDims(max(sizes, { axis: -1, keepdims: true }) as AnyExpr, -1)
  const zero = le(below, mul(unit, largest)) as AnyExpr
  const weight = where(zero, 0, div(top(w), where(zero, 1, below)))
  return product(v, mul(weight, product(t(v), e, v)) as AnyExpr, t(v))
}
/** x with |s| x + x |s| = e. It is its own transpose, as is `slope`. */
const lyapunov: Two = /*#__PURE__*/ customRule((s: AnyExpr, e: AnyExpr) => weighed(s, e, () => 1), {
  name: 'projectPSD',
  frule: (([s, e]: Pair, [ds, de]: Pair) => {
    const x = lyapunov(s, e)
    return [x, lyapunov(s, minus(de, both(slope(s, ds), x)))]
  }) as never,
  rrule: (([s, e]: Pair) => {
    const x = lyapunov(s, e)
    const pullback = (xBar: AnyExpr): unknown => {
      const eBar = lyapunov(s, xBar)
      return [neg(slope(s, both(eBar, t(x)))), eBar]
    }
    return [x, pullback]
  }) as never,
}) as never
/** The derivative of |s| along e: x with |s| x + x |s| = s e + e s, without the cancellation there. */
const slope: Two = /*#__PURE__*/ customRule((s: AnyExpr, e: AnyExpr) => weighed(s, e, pairs), {
  name: 'projectPSD',
  frule: (([s, e]: Pair, [ds, de]: Pair) => {
    const x = slope(s, e)
    return [x, plus(slope(s, de), lyapunov(s, minus(both(ds, e), both(slope(s, ds), x))))]
  }) as never,
  rrule: (([s, e]: Pair) => {
    const x = slope(s, e)
    const pullback = (xBar: AnyExpr): unknown => {
      const z = lyapunov(s, xBar)
      return [minus(both(z, t(e)), slope(s, both(z, t(x)))), slope(s, xBar)]
    }
    return [x, pullback]
  }) as never,
}) as never
const half = (a: AnyExpr): AnyExpr => div(a, 2) as AnyExpr
const positive = /*#__PURE__*/ customRule(
  (s: AnyExpr) => {
    const { w, v } = eigh(s) as unknown as { w: AnyExpr; v: AnyExpr }
    return product(mul(v, expandDims(maximum(w, 0), -2)) as AnyExpr, t(v))
  },
  {
    name: 'projectPSD',
    // s = p - n and |s| = p + n
    frule: ((s: AnyExpr, ds: AnyExpr) => [positive(s), half(plus(ds, slope(s, ds)))]) as never,
    rrule: ((s: AnyExpr) => [positive(s), (yBar: AnyExpr) => half(plus(yBar, slope(s, yBar)))]) as never,
  },
) as unknown as (s: AnyExpr) => AnyExpr

/** v diag(max(w, 0)) v^T for symmetric matrices s = v diag(w) v^T. */
export const positivePart = (s: AnyExpr): AnyExpr => (s.shape.at(-1) === 0 ? s : positive(s))
