/** Floats of 16 bits and less: what each format holds, its bits as numbers and numbers as its bits. */

/** What the largest exponents stand for: infinities and NaN as in IEEE 754; NaN alone where all bits are 1; NaN in the place of -0; nothing but numbers. */
type Specials = 'ieee' | 'one NaN' | 'NaN for -0' | 'none'
/** A format: a sign, an exponent and a fraction. */
export interface Narrow {
  readonly exponent: number
  readonly fraction: number
  readonly bias: number
  readonly specials: Specials
}
const format = (exponent: number, fraction: number, bias: number, specials: Specials): Narrow => ({ exponent, fraction, bias, specials })
/** By their names in ONNX. float8e8m0, which has neither sign nor fraction, is none of these. */
export const narrowFormats: Readonly<Record<string, Narrow>> = {
  float16: format(5, 10, 15, 'ieee'),
  bfloat16: format(8, 7, 127, 'ieee'),
  float8e4m3fn: format(4, 3, 7, 'one NaN'),
  float8e4m3fnuz: format(4, 3, 8, 'NaN for -0'),
  float8e5m2: format(5, 2, 15, 'ieee'),
  float8e5m2fnuz: format(5, 2, 16, 'NaN for -0'),
  float4e2m1: format(2, 1, 1, 'none'),
}

const signBit = (f: Narrow): number => 2 ** (f.exponent + f.fraction)
/** The bits of the largest number. */
const largestBits = (f: Narrow): number =>
  f.specials === 'ieee' ? signBit(f) - 2 ** f.fraction - 1 : f.specials === 'one NaN' ? signBit(f) - 2 : signBit(f) - 1
/** The number of these bits. */
export const narrowOf = (f: Narrow, bits: number): number => {
  const sign = signBit(f)
  const size = bits % sign
  if (f.specials === 'NaN for -0' && bits === sign) return Number.NaN
  if (size > largestBits(f)) return f.specials === 'ieee' && size === largestBits(f) + 1 ? (bits >= sign ? -1 : 1) * Number.POSITIVE_INFINITY : Number.NaN // biome-ignore format: one rule
  const exponent = Math.floor(size / 2 ** f.fraction)
  const fraction = size % 2 ** f.fraction
  const value = exponent === 0 ? fraction * 2 ** (1 - f.bias - f.fraction) : (1 + fraction / 2 ** f.fraction) * 2 ** (exponent - f.bias)
  return bits >= sign ? -value : value
}
/** The largest number of a format. */
export const largestOf = (f: Narrow): number => narrowOf(f, largestBits(f))

/** To a whole number, halves to even. */
const evenly = (x: number): number => {
  const low = Math.floor(x)
  const rest = x - low
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low
}
/** The bits of the nearest number, halves to even; what is too large is infinite where there are infinities, otherwise the largest. */
export const bitsOf = (f: Narrow, x: number): number => {
  const sign = x < 0 || Object.is(x, -0) ? signBit(f) : 0
  if (Number.isNaN(x)) return f.specials === 'NaN for -0' ? signBit(f) : f.specials === 'none' ? 0 : f.specials === 'ieee' ? largestBits(f) + 1 + 2 ** (f.fraction - 1) : signBit(f) - 1 // biome-ignore format: one rule
  const size = Math.abs(x)
  const least = 1 - f.bias
  // The exponent of a double is exact; below the smallest normal number steps are all the same.
  const exponent = size === 0 ? least : Math.max(least, exponentOf(size))
  const steps = Number.isFinite(size) ? evenly(size / 2 ** (exponent - f.fraction)) : Number.POSITIVE_INFINITY
  const bits = steps + (exponent - least) * 2 ** f.fraction
  const over = largestBits(f) + (f.specials === 'ieee' ? 1 : 0)
  const kept = Math.min(bits, over)
  return kept === 0 && f.specials === 'NaN for -0' ? 0 : sign + kept
}
const words = /*#__PURE__*/ new DataView(new ArrayBuffer(8))
/** floor(log2(x)) of a positive normal double. */
const exponentOf = (x: number): number => {
  words.setFloat64(0, x)
  return ((words.getUint16(0) >>> 4) & 2047) - 1023
}
