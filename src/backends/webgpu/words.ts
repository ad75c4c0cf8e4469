/** Elements as the device holds them: words of 32 bits. bool is widened. */
import type { TypedArray } from '../../core/graph/ndarray.js'
import type { DType } from '../../core/types/dtype.js'
import { aligned } from '../plan/memory.js'

export const toDevice = (data: TypedArray, dtype: DType): Float32Array<ArrayBuffer> =>
  (dtype === 'bool' ? Uint32Array.from(data) : data) as Float32Array<ArrayBuffer>

const float = new Float32Array(1)
const bitsOf = new Uint32Array(float.buffer)
/** The nearest f16 of each number, the even one of two, as the device stores it: see cd_half. */
export const toF16 = (data: Float32Array): Uint16Array<ArrayBuffer> => {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length)
  const out = new Uint16Array(aligned(data.length, 2))
  for (let i = 0; i < data.length; i++) {
    const a = bits[i]! & 0x7fffffff
    let h = a > 0x7f800000 ? 0x7e00 : 0x7c00
    if (a < 0x38800000) {
      float[0] = Math.abs(data[i]!) + 0.5 // the last place of this sum is that of the smallest f16
      h = bitsOf[0]! - 0x3f000000
    } else if (a < 0x47800000) h = (a + 0xfff + ((a >> 13) & 1) - 0x38000000) >> 13
    out[i] = h | ((bits[i]! >>> 16) & 0x8000)
  }
  return out
}
/** The numbers that f16s are. */
export const fromF16 = (data: Uint16Array): Float32Array<ArrayBuffer> =>
  Float32Array.from(data, (h) => {
    const [sign, exponent, rest] = [h & 0x8000 ? -1 : 1, (h >> 10) & 31, h & 1023]
    if (exponent === 31) return rest === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
    return sign * (exponent === 0 ? rest * 2 ** -24 : (1024 + rest) * 2 ** (exponent - 25))
  })

/** A view of `size` elements, or a copy where the dtype is narrower. */
export const fromDevice = (buffer: ArrayBuffer, byteOffset: number, size: number, dtype: DType): TypedArray => {
  if (dtype === 'f32') return new Float32Array(buffer, byteOffset, size)
  if (dtype === 'i32') return new Int32Array(buffer, byteOffset, size)
  return Uint8Array.from(new Uint32Array(buffer, byteOffset, size))
}
