/** f32 rounded to what 16 bits hold. */
import { type AnyExpr, abs, add, ge, isfinite, lt, mul, sign, straightThrough, sub, where } from '../../index.js'

/** To the nearest number with 24 - bits bits: x + c - c with c = 2^bits x (Veltkamp's splitting). */
const shortened = (x: AnyExpr, bits: number): AnyExpr => {
  const c = mul(x, 2 ** bits + 1)
  return sub(c, sub(c, x))
}

/**
 * x rounded to float16 or bfloat16, halves to even: what is too large is infinite. The derivative is that of x, as of every cast.
 *
 * Below float16's smallest normal number, 2^-14, its numbers are multiples of 2^-24.
 */
export const rounded = (x: AnyExpr, type: string): AnyExpr =>
  straightThrough((y: AnyExpr) => {
    if (type === 'bfloat16') {
      const large = mul(shortened(mul(y, 2 ** -64), 16), 2 ** 64)
      return where(lt(abs(y), 2 ** 100), shortened(y, 16), where(isfinite(y), large, y))
    }
    const small = sub(add(y, 0.75), 0.75)
    const finite = where(lt(abs(y), 2 ** -14), small, shortened(y, 13))
    return where(ge(abs(y), 65520), mul(sign(y), Number.POSITIVE_INFINITY), where(lt(abs(y), 65520), finite, y))
  })(x)
