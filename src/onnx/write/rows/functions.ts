/** Functions of one number by operators that every runtime has: what ONNX has no operator for, and what ONNX Runtime computes in f32 alone. */
import { bernoulli, erfcLarge, erfSmall, HALF_LOG_TWO_PI, lgammaMiddle } from '../../../core/ops/special/functions.js'
import { central, tailFar, tailMiddle, tailNear } from '../../../core/ops/special/normal.js'
import {
  type AnyExpr,
  abs,
  add,
  and,
  atan,
  cast,
  cos,
  div,
  eq,
  exp,
  floor,
  ge,
  gt,
  isinf,
  isnan,
  le,
  log,
  lt,
  maximum,
  minimum,
  mul,
  ne,
  neg,
  not,
  or,
  pow,
  reciprocal,
  round,
  sign,
  sin,
  sqrt,
  square,
  sub,
  where,
} from '../../../index.js'

type X = AnyExpr
/** A negative number, or -0. */
export const isSigned = (x: X): X => or(lt(x, 0), and(eq(x, 0), lt(reciprocal(x), 0)))
/** |x| with the sign of y. */
export const signed = (x: X, y: X): X => where(isSigned(y), neg(abs(x)), abs(x))

// ---- exponentials ----------------------------------------------------------------------------------------------------

/** Kahan 1983: the rounding of u = exp x is undone by x / log u. */
export const expm1 = (x: X): X => {
  const u = exp(x)
  const less = sub(u, 1)
  const plain = or(isinf(u), eq(less, -1))
  return where(eq(u, 1), x, where(plain, less, mul(less, div(x, log(where(plain, 2, u))))))
}
/** Kahan 1983: the rounding of u = 1 + x is undone by x / (u - 1). */
export const log1p = (x: X): X => {
  const u = add(x, 1)
  const more = sub(u, 1)
  return where(eq(more, 0), x, where(isinf(u), u, mul(log(u), div(x, where(eq(more, 0), 1, more)))))
}
export const cosh = (x: X): X => {
  const a = abs(x)
  return add(exp(sub(a, Math.LN2)), exp(sub(neg(a), Math.LN2)))
}
export const sinh = (x: X): X => {
  const a = abs(x)
  const e = expm1(minimum(a, 30))
  return signed(where(gt(a, 20), exp(sub(a, Math.LN2)), mul(add(e, div(e, add(e, 1))), 0.5)), x)
}
export const asinh = (x: X): X => {
  const a = abs(x)
  const b = minimum(a, 1e8)
  const near = log1p(add(b, div(square(b), add(sqrt(add(square(b), 1)), 1))))
  return signed(where(gt(a, 1e8), add(log(a), Math.LN2), near), x)
}
export const acosh = (x: X): X => {
  const t = sub(minimum(x, 1e8), 1)
  return where(gt(x, 1e8), add(log(x), Math.LN2), log1p(add(t, sqrt(mul(t, add(t, 2))))))
}
export const atanh = (x: X): X => {
  const a = abs(x)
  return signed(mul(log1p(div(mul(a, 2), sub(1, a))), 0.5), x)
}
export const logaddexp = (a: X, b: X): X => {
  const distance = neg(abs(sub(a, b)))
  return where(eq(a, b), add(a, Math.LN2), add(maximum(a, b), log1p(exp(distance))))
}
export const softplus = (x: X): X => add(maximum(x, 0), log1p(exp(neg(abs(x)))))
export const xlogy = (x: X, y: X): X => where(and(eq(x, 0), not(isnan(y))), 0, mul(x, log(y)))
export const hypot = (x: X, y: X): X => {
  const [a, b] = [maximum(abs(x), abs(y)), minimum(abs(x), abs(y))]
  const ratio = div(b, where(or(eq(a, 0), isinf(a)), 1, a))
  const length = where(isinf(a), a, mul(a, sqrt(add(square(ratio), 1))))
  return where(or(isinf(x), isinf(y)), Number.POSITIVE_INFINITY, length)
}

// ---- angles ----------------------------------------------------------------------------------------------------------

/** In f64: the angle in f32, and what is left of it, by tan(a - b). */
export const arctan = (x: X): X => {
  const a = abs(x)
  const isLarge = gt(a, 1)
  const r = where(isLarge, reciprocal(a), a)
  const first = cast(atan(cast(r, 'f32')), 'f64')
  const t = div(sin(first), cos(first))
  const rest = div(sub(r, t), add(mul(r, t), 1))
  // An angle that is as small as the rounding of an f32 is its tangent.
  const angle = add(first, rest)
  return signed(where(isLarge, sub(Math.PI / 2, angle), angle), x)
}
/** The angle of (x, y), given that of a slope. */
export const atan2 = (y: X, x: X): X => {
  const [a, b] = [abs(x), abs(y)]
  const [large, small] = [maximum(a, b), minimum(a, b)]
  const slope = where(and(isinf(a), isinf(b)), 1, div(small, where(eq(large, 0), 1, large)))
  const first = atan(slope)
  const steep = where(gt(b, a), sub(Math.PI / 2, first), first)
  return signed(where(isSigned(x), sub(Math.PI, steep), steep), y)
}

// ---- error functions -------------------------------------------------------------------------------------------------

/** The sum of c[k] T_k(t), by Clenshaw's recurrence, as core/ops/special has it of numbers; that of a number where t is one. */
const chebyshev = (c: readonly number[], t: X): X => {
  const twice = mul(t, 2)
  let [b1, b2]: [X | number, X | number] = [c[c.length - 1]!, 0]
  for (let k = c.length - 2; k > 0; k--) [b1, b2] = [sub(add(mul(twice, b1), c[k]!), b2) as X, b1]
  return sub(add(mul(t, b1), c[0]!), b2) as X
}
/** exp(-x^2) without the rounding of x^2, in f64. */
const expMinusSquare = (x: X): X => {
  if (x.dtype === 'f32') return exp(neg(square(x)))
  const h = cast(cast(x, 'f32'), 'f64')
  return mul(exp(neg(square(h))), exp(neg(mul(sub(x, h), add(x, h)))))
}
/** exp(x^2) erfc(x) for x >= 0.5. */
const erfcxUpper = (x: X): X => {
  const y = maximum(x, 0.5)
  return div(chebyshev(erfcLarge, div(sub(y, 3.5), add(y, 2.5))), add(y, 2.5))
}
const erfcUpper = (x: X): X => mul(expMinusSquare(minimum(x, 28)), erfcxUpper(x))
const erfNear = (x: X): X => {
  const y = maximum(minimum(x, 1), -1)
  return mul(y, chebyshev(erfSmall, sub(mul(square(y), 2), 1)))
}
const orNaN = (x: X, y: X): X => where(isnan(x), x, y)
export const erf = (x: X): X => orNaN(x, where(le(abs(x), 1), erfNear(x), mul(sign(x), sub(1, erfcUpper(abs(x))))))
export const erfc = (x: X): X => orNaN(x, where(ge(x, 0.5), erfcUpper(x), where(le(x, -1), sub(2, erfcUpper(neg(x))), sub(1, erfNear(x)))))
export const erfcx = (x: X): X => {
  const far = div(1 / Math.sqrt(Math.PI), where(gt(x, 1e8), x, 1))
  const upper = where(gt(x, 1e8), far, erfcxUpper(x))
  return orNaN(x, where(ge(x, 0.5), upper, div(erfc(x), expMinusSquare(minimum(x, 0.5)))))
}
const ndtrTail = (x: X): X => mul(erfcUpper(mul(x, -Math.SQRT1_2)), 0.5)
export const ndtr = (x: X): X =>
  orNaN(
    x,
    where(lt(x, -0.75), ndtrTail(x), where(gt(x, 0.75), sub(1, ndtrTail(neg(x))), add(mul(erfNear(mul(x, Math.SQRT1_2)), 0.5), 0.5))),
  )
export const logNdtr = (x: X): X => {
  const left = minimum(x, -1)
  const tail = add(mul(square(left), -0.5), log(mul(erfcxUpper(mul(left, -Math.SQRT1_2)), 0.5)))
  return orNaN(x, where(ge(x, 0), log1p(neg(ndtr(neg(x)))), where(lt(x, -1), tail, log(ndtr(maximum(x, -1))))))
}
const erfinvCentral = (x: X): X => mul(x, chebyshev(central, sub(mul(square(x), 2 / 0.5625), 1)))
const erfcinvTail = (q: X): X => {
  const s = sqrt(neg(log(q)))
  const [near, middle, far] = [
    chebyshev(tailNear, div(sub(s, 2.085), 0.915)),
    chebyshev(tailMiddle, div(sub(s, 5.5), 2.5)),
    chebyshev(tailFar, div(sub(s, 17.7), 9.7)),
  ]
  return mul(s, where(lt(s, 3), near, where(lt(s, 8), middle, far)))
}
export const erfinv = (x: X): X => {
  const a = abs(x)
  const ends = where(eq(a, 1), mul(x, Number.POSITIVE_INFINITY), Number.NaN)
  return where(le(a, 0.75), erfinvCentral(x), where(lt(a, 1), mul(sign(x), erfcinvTail(sub(1, a))), ends))
}
export const erfcinv = (q: X): X => {
  const inside = where(lt(q, 0.25), erfcinvTail(q), where(gt(q, 1.75), neg(erfcinvTail(sub(2, q))), erfinvCentral(sub(1, q))))
  const ends = where(eq(q, 0), Number.POSITIVE_INFINITY, where(eq(q, 2), Number.NEGATIVE_INFINITY, Number.NaN))
  return where(and(gt(q, 0), lt(q, 2)), inside, ends)
}

// ---- the gamma family ------------------------------------------------------------------------------------------------

/** How far arguments are moved up before Stirling's series. */
const UP = 9
const horner = (c: readonly number[], t: X): X => c.slice(1).reduce<X>((y, a) => add(mul(y, t), a), add(mul(t, 0), c[0]!))
const lgammaPositive = (x: X): X => {
  const y = add(x, UP)
  const r = reciprocal(square(y))
  const tail = div(
    horner(
      Array.from({ length: 8 }, (_, i) => bernoulli[7 - i]! / (2 * (8 - i) * (15 - 2 * i))),
      r,
    ),
    y,
  )
  const small = minimum(x, 12)
  const product = Array.from({ length: UP }, (_, k) => add(small, k)).reduce<X>((p, q) => mul(p, q), add(mul(x, 0), 1))
  const stirling = (z: X, more: X): X => add(add(sub(mul(sub(z, 0.5), log(z)), z), HALF_LOG_TWO_PI), more)
  const r2 = reciprocal(square(x))
  const far = div(
    horner(
      Array.from({ length: 8 }, (_, i) => bernoulli[7 - i]! / (2 * (8 - i) * (15 - 2 * i))),
      r2,
    ),
    x,
  )
  const middle = mul(mul(sub(x, 1), sub(x, 2)), chebyshev(lgammaMiddle, sub(x, 2)))
  const below = sub(mul(mul(x, sub(x, 1)), chebyshev(lgammaMiddle, sub(x, 1))), log(x))
  const above = where(lt(x, 12), sub(stirling(y, tail), log(product)), stirling(x, far))
  return where(lt(x, 1), below, where(le(x, 3), middle, above))
}
/** To the nearest integer, halves to even. */
const nearest: (x: X) => X = round
const isWhole = (x: X): X => eq(x, floor(x))
const sinPi = (x: X): X => {
  const r = sub(x, mul(nearest(mul(x, 0.5)), 2))
  return sin(mul(where(gt(abs(r), 0.5), sub(sign(r), r), r), Math.PI))
}
export const lgamma = (x: X): X => {
  const reflected = sub(log(div(Math.PI, abs(sinPi(x)))), lgammaPositive(sub(1, minimum(x, 0))))
  const negative = where(isWhole(x), Number.POSITIVE_INFINITY, reflected)
  return where(or(isinf(x), isnan(x)), abs(x), where(gt(x, 0), lgammaPositive(x), negative))
}

/** The coefficients of the n-th derivative of pi cot(pi x), in powers of cot(pi x). */
const cotangents = (n: number): readonly number[] => {
  let p: number[] = [0, 1]
  for (let k = 0; k < n; k++) {
    const next = new Array<number>(p.length + 1).fill(0)
    for (let i = 1; i < p.length; i++) {
      next[i - 1]! -= i * p[i]!
      next[i + 1]! -= i * p[i]!
    }
    p = next
  }
  return p.map((a) => a * Math.PI ** (n + 1))
}
const polygammaPositive = (n: number, x: X): X => {
  const up = 12 + n
  const y = add(x, up)
  const places: readonly X[] = Array.from({ length: up }, (_, k) => reciprocal(add(x, k)))
  if (n === 0) {
    const r = reciprocal(square(y))
    const tail = mul(
      horner(
        Array.from({ length: 8 }, (_, i) => bernoulli[7 - i]! / (2 * (8 - i))),
        r,
      ),
      r,
    )
    return sub(
      sub(sub(log(y), div(0.5, y)), tail),
      places.reduce((s, p) => add(s, p) as X),
    )
  }
  const s = n + 1
  const raised = (z: X, k: number): X => pow(z, k)
  let sum = places.map((p) => raised(p, s)).reduce((a, b) => add(a, b) as X)
  const inverse = reciprocal(y)
  sum = add(sum, add(div(raised(inverse, n), n), mul(raised(inverse, s), 0.5)))
  let [coefficient, factor] = [s, 2]
  for (let j = 1; j <= bernoulli.length; j++) {
    sum = add(sum, mul(raised(inverse, s + 2 * j - 1), (bernoulli[j - 1]! / factor) * coefficient))
    coefficient *= (s + 2 * j - 1) * (s + 2 * j)
    factor *= (2 * j + 1) * (2 * j + 2)
  }
  let factorial = 1
  for (let k = 2; k <= n; k++) factorial *= k
  return mul(sum, (n % 2 === 0 ? -1 : 1) * factorial)
}
export const polygamma = (n: number, x: X): X => {
  const r = sub(x, nearest(x))
  const cot = div(cos(mul(r, Math.PI)), sin(mul(r, Math.PI)))
  const flip = n % 2 === 0 ? 1 : -1
  const reflected = sub(mul(polygammaPositive(n, sub(1, minimum(x, 0))), flip), horner([...cotangents(n)].reverse(), cot))
  const poles = n % 2 === 1 ? Number.POSITIVE_INFINITY : where(eq(x, 0), neg(reciprocal(x)), Number.NaN)
  const negative = where(isWhole(x), poles, reflected)
  return where(gt(x, 0), polygammaPositive(n, x), where(ne(x, x), x, negative))
}
