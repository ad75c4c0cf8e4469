/**
 * How a gamma number moves with its shape parameter while its place in the distribution stays: dx/da = -(dP/da) / p(x), P the regularised
 * incomplete gamma function and p its density.   Source  XLA's random_gamma_grad; Cephes igam; Temme 1979 for large a.
 */
import {
  type AnyExpr,
  abs,
  add,
  and,
  any,
  digamma,
  div,
  eq,
  type Float,
  ge,
  gt,
  lgamma,
  log,
  log1p,
  mul,
  ne,
  neg,
  not,
  onesLike,
  or,
  sub,
  where,
  whileLoop,
  zerosLike,
} from '../index.js'
import { epsOf, tinyOf } from './uniform.js'

/** Above this the expansion for large a is better than the others, which take many terms: it is good to 1e-6 and 3e-10 there. */
const largeOf = (dtype: Float): number => (dtype === 'f32' ? 1e3 : 1e5)
/** Terms that are enough for a up to there. */
const MAX_STEPS = 4000

type State = { readonly [name: string]: AnyExpr }
/** A state that is left where it is by the elements that are done. */
const until = (init: State, step: (s: State) => State): State => {
  const body = (s: State): State => {
    const next = step(s)
    return Object.fromEntries(
      Object.entries(next).map(([name, x]) => [name, name === 'going' ? and(s.going!, x) : where(s.going!, x, s[name]!)]),
    )
  }
  const [end] = whileLoop((s: State) => any(s.going!) as never, body as never, init as never, { maxSteps: MAX_STEPS })
  return end as unknown as State
}

/** By P = x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) ...), whose terms are c, and dc their derivatives by a. */
const bySeries = (a: AnyExpr, x: AnyExpr, going: AnyExpr, eps: number): AnyExpr => {
  const [one, zero] = [onesLike(a) as AnyExpr, zerosLike(a) as AnyExpr]
  const end = until({ going, r: a, c: one, sum: one, dc: zero, dsum: zero }, ({ r, c, sum, dc, dsum }) => {
    const n = add(r!, 1)
    const ratio = div(x, n)
    const dNext = sub(mul(dc!, ratio), div(mul(c!, ratio), n))
    const cNext = mul(c!, ratio)
    const total = add(dsum!, dNext)
    return { going: gt(abs(dNext), mul(eps, abs(total))), r: n, c: cNext, sum: add(sum!, cNext), dc: dNext, dsum: total }
  })
  return neg(div(mul(add(end.dsum!, mul(end.sum!, sub(log(x), digamma(add(a, 1))))), x), a))
}

/** By the continued fraction of 1 - P: p / q are its convergents, and dp, dq their derivatives by a. */
const byFraction = (a: AnyExpr, x: AnyExpr, going: AnyExpr, eps: number): AnyExpr => {
  const [one, zero] = [onesLike(x) as AnyExpr, zerosLike(x) as AnyExpr]
  const y = sub(1, a)
  const z = add(add(x, y), 1)
  const [p1, q1] = [add(x, 1), mul(z, x)]
  const first = div(p1, q1)
  const init: State = {
    going,
    ...{ value: first, slope: div(mul(first, x), q1), y, z, c: zero },
    ...{ p1, q1, p2: one, q2: x, dp1: zero, dq1: neg(x), dp2: zero, dq2: zero },
  }
  const end = until(init, (s) => {
    const [c, n, w] = [add(s.c!, 1), add(s.y!, 1), add(s.z!, 2)]
    const nc = mul(n, c)
    const next = (u: AnyExpr, v: AnyExpr): AnyExpr => sub(mul(u, w), mul(v, nc))
    const [p, q] = [next(s.p1!, s.p2!), next(s.q1!, s.q2!)]
    const slopeOf = (du: AnyExpr, dv: AnyExpr, u: AnyExpr, v: AnyExpr): AnyExpr => add(sub(next(du, dv), u), mul(v, c))
    const [dp, dq] = [slopeOf(s.dp1!, s.dp2!, s.p1!, s.p2!), slopeOf(s.dq1!, s.dq2!, s.q1!, s.q2!)]
    const divides = ne(q, 0)
    const value = where(divides, div(p, where(divides, q, 1)), s.value!)
    const slope = where(divides, div(sub(dp, mul(value, dq)), where(divides, q, 1)), s.slope!)
    // The convergents grow without bound: all of them together are made smaller.
    const factor = where(gt(abs(p), 1 / eps), eps, 1)
    const scaled = (u: AnyExpr): AnyExpr => mul(u, factor)
    return {
      going: or(not(divides), gt(abs(sub(slope, s.slope!)), eps)),
      ...{ value, slope, y: n, z: w, c },
      ...{ p1: scaled(p), q1: scaled(q), p2: scaled(s.p1!), q2: scaled(s.q1!) },
      ...{ dp1: scaled(dp), dq1: scaled(dq), dp2: scaled(s.dp1!), dq2: scaled(s.dq1!) },
    }
  })
  return mul(add(end.slope!, mul(end.value!, sub(log(x), digamma(a)))), x)
}

/** With x / a = 1 + e, to the order of 1 / a: (1 + e) log(1 + e) / e + (1 / 6 + 23 e / 270) / a. */
const forLarge = (a: AnyExpr, x: AnyExpr): AnyExpr => {
  const e = div(sub(x, a), a)
  const near = eq(e, 0)
  const leading = where(near, 1, div(mul(add(1, e), log1p(e)), where(near, 1, e)))
  return add(leading, div(add(1 / 6, mul(e, 23 / 270)), a))
}

/** dx/da of gamma numbers x of shape parameter a, both of one shape: 0 at x = 0, NaN outside of a > 0 and x >= 0. */
export const gammaGradient = (a: AnyExpr, x: AnyExpr, dtype: Float): AnyExpr => {
  const eps = epsOf(dtype)
  const valid = and(ge(x, 0), gt(a, 0))
  const large = gt(a, largeOf(dtype))
  const upper = and(gt(x, 1), gt(x, a))
  // What is not asked for is given numbers that do no harm.
  const some = and(valid, gt(x, 0))
  const [safeA, safeX] = [where(some, a, 1), where(some, x, 1)]
  const possible = gt(sub(sub(mul(safeA, log(safeX)), safeX), lgamma(safeA)), Math.log(tinyOf(dtype)))
  const going = and(and(some, not(large)), possible)
  const fraction = byFraction(where(upper, safeA, 0.5), where(upper, safeX, 2), and(going, upper), eps)
  const series = bySeries(where(upper, 1, safeA), where(upper, 0.5, safeX), and(going, not(upper)), eps)
  const inner = where(large, forLarge(safeA, safeX), where(upper, fraction, series))
  return where(some, inner, where(valid, zerosLike(x), Number.NaN))
}
