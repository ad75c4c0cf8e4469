/** The dtypes of safetensors: how each is read, and which is written. Little-endian, as the format and WebAssembly are. */
import type { DType } from '../index.js'

type Out = Float64Array | Float32Array | Int32Array | Uint8Array
/** How the elements of a dtype are read. */
export interface StoredType {
  readonly bytes: number
  readonly dtype: DType
  /** Writes the elements into `out`; gives what is wrong with one of them. */
  readonly read: (bytes: Uint8Array, out: Out) => string | undefined
}

const copied = (bytes: Uint8Array, out: Out): undefined => {
  new Uint8Array(out.buffer, out.byteOffset, out.byteLength).set(bytes)
}
const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const each = (dtype: DType, size: number, entry: (view: DataView, at: number) => number): StoredType => ({
  bytes: size,
  dtype,
  read: (bytes, out) => {
    const view = viewOf(bytes)
    for (let i = 0; i < out.length; i++) out[i] = entry(view, i * size)
    return undefined
  },
})
/** Whole numbers that an i32 may not hold. */
const fitting = (size: number, entry: (view: DataView, at: number) => number | bigint): StoredType => ({
  bytes: size,
  dtype: 'i32',
  read: (bytes, out) => {
    const view = viewOf(bytes)
    for (let i = 0; i < out.length; i++) {
      const x = entry(view, i * size)
      if (x > 2147483647 || x < -2147483648) return `entry ${i} is ${x}, which an i32 does not hold.`
      out[i] = Number(x)
    }
    return undefined
  },
})
/** The number of half precision with these bits (IEEE 754: 1 sign, 5 exponent, 10 fraction). */
export const half = (bits: number): number => {
  const exponent = (bits >>> 10) & 31
  const fraction = bits & 1023
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15)
  return (bits & 0x8000) !== 0 ? -size : size
}

/** How each dtype of the format that codual can hold is read. */
export const readable: Readonly<Record<string, StoredType>> = {
  F64: { bytes: 8, dtype: 'f64', read: copied },
  F32: { bytes: 4, dtype: 'f32', read: copied },
  I32: { bytes: 4, dtype: 'i32', read: copied },
  BOOL: {
    bytes: 1,
    dtype: 'bool',
    read: (bytes, out) => {
      const wrong = bytes.findIndex((x) => x > 1)
      return wrong < 0 ? copied(bytes, out) : `entry ${wrong} is ${bytes[wrong]}, which is not a boolean.`
    },
  },
  F16: each('f32', 2, (view, at) => half(view.getUint16(at, true))),
  BF16: {
    bytes: 2,
    dtype: 'f32',
    read: (bytes, out) => {
      const view = viewOf(bytes)
      const words = new Uint32Array(out.buffer, out.byteOffset, out.length)
      for (let i = 0; i < words.length; i++) words[i] = view.getUint16(2 * i, true) << 16
      return undefined
    },
  },
  U8: each('i32', 1, (view, at) => view.getUint8(at)),
  I8: each('i32', 1, (view, at) => view.getInt8(at)),
  U16: each('i32', 2, (view, at) => view.getUint16(at, true)),
  I16: each('i32', 2, (view, at) => view.getInt16(at, true)),
  U32: fitting(4, (view, at) => view.getUint32(at, true)),
  I64: fitting(8, (view, at) => view.getBigInt64(at, true)),
  U64: fitting(8, (view, at) => view.getBigUint64(at, true)),
}

/** The dtypes that are written, in the order of their tensors in a file: the widest first, so that every tensor is aligned. */
export const written: readonly (readonly [DType, string])[] = [
  ['f64', 'F64'],
  ['f32', 'F32'],
  ['i32', 'I32'],
  ['bool', 'BOOL'],
]
