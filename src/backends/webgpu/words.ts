/** Elements as the device holds them: words of 32 bits. bool is widened. */
import type { TypedArray } from '../../core/ndarray.js'
import type { DType } from '../../core/types/dtype.js'

/** n rounded up to a multiple. */
export const aligned = (n: number, to: number): number => Math.ceil(n / to) * to

export const toDevice = (data: TypedArray, dtype: DType): Float32Array<ArrayBuffer> =>
  (dtype === 'bool' ? Uint32Array.from(data) : data) as Float32Array<ArrayBuffer>

/** A view of `size` elements, or a copy where the dtype is narrower. */
export const fromDevice = (buffer: ArrayBuffer, byteOffset: number, size: number, dtype: DType): TypedArray => {
  if (dtype === 'f32') return new Float32Array(buffer, byteOffset, size)
  if (dtype === 'i32') return new Int32Array(buffer, byteOffset, size)
  return Uint8Array.from(new Uint32Array(buffer, byteOffset, size))
}
