/** f32 rounded to what fewer bits hold. */
import {
  type AnyExpr,
  abs,
  add,
  clamp,
  exp2,
  floor,
  gt,
  isfinite,
  isnan,
  le,
  log2,
  lt,
  mul,
  sign,
  straightThrough,
  sub,
  where,
} from '../../index.js'
import { largestOf, type Narrow, narrowFormats } from '../narrow.js'

/** To the nearest number with 24 - bits bits: x + c - c with c = 2^bits x (Veltkamp's splitting). */
const shortened = (x: AnyExpr, bits: number): AnyExpr => {
  const c = mul(x, 2 ** bits + 1)
  return sub(c, sub(c, x))
}
/** To the nearest multiple of 2^power, of numbers that are no more than 2^(22 + power). */
const stepped = (x: AnyExpr, power: number): AnyExpr => {
  const c = 1.5 * 2 ** (23 + power)
  return sub(add(x, c), c)
}
/** What is too large for a format. */
const beyond = (y: AnyExpr, f: Narrow, saturate: boolean): AnyExpr =>
  f.specials === 'none' || (saturate && f.exponent + f.fraction < 8)
    ? mul(sign(y), largestOf(f))
    : mul(sign(y), f.specials === 'ieee' ? Number.POSITIVE_INFINITY : Number.NaN)

/**
 * x rounded to a format of 16 bits or less, halves to even. What is too large is infinite in float16 and bfloat16; in those of 8 bits the largest number, or without
 * `saturate` infinite or NaN; in that of 4 bits the largest. The derivative is that of x, as of every cast.
 *
 * Below the smallest normal number, 2^(1 - bias), all numbers are multiples of the same step.
 */
export const rounded = (x: AnyExpr, type: string, saturate = true): AnyExpr =>
  straightThrough((y: AnyExpr) => {
    const f = narrowFormats[type]!
    if (type === 'bfloat16') {
      const large = mul(shortened(mul(y, 2 ** -64), 16), 2 ** 64)
      return where(lt(abs(y), 2 ** 100), shortened(y, 16), where(isfinite(y), large, y))
    }
    const least = 1 - f.bias
    const near = where(lt(abs(y), 2 ** least), stepped(y, least - f.fraction), shortened(y, 23 - f.fraction))
    const fits = le(abs(near), largestOf(f))
    const kept = f.specials === 'NaN for -0' ? add(near, 0) : near
    return where(fits, kept, where(isnan(y), f.specials === 'none' ? 0 : y, beyond(y, f, saturate)))
  })(x)

/** A positive x as a power of two from 2^-127 to 2^127: the next larger one, the next smaller one, or the nearer (halves up). */
export const roundedToPower = (x: AnyExpr, mode: string): AnyExpr =>
  straightThrough((y: AnyExpr) => {
    const near = exp2(floor(log2(y)))
    // A logarithm may be rounded over a whole number.
    const below = where(gt(near, y), mul(near, 0.5), where(le(mul(near, 2), y), mul(near, 2), near))
    const above = where(lt(below, y), mul(below, 2), below)
    const power = mode === 'up' ? above : mode === 'down' ? below : where(lt(y, mul(below, 1.5)), below, above)
    return where(isnan(y), y, clamp(power, 2 ** -127, 2 ** 127))
  })(x)
