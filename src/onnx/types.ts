/** The element types of ONNX: what each is called, which dtype computes it, and how its elements are read. */
import type { BinaryReader } from '@bufbuild/protobuf/wire'
import type { DType } from '../index.js'
import { narrowFormats, narrowOf } from './narrow.js'

type Out = Float64Array | Float32Array | Int32Array | Uint8Array

/** An element type of ONNX that codual computes. */
export interface ElementType {
  /** As ONNX writes it: 'float', 'int64'. */
  readonly name: string
  /** The dtype of its values in codual. */
  readonly dtype: DType
  /** Bytes of an element in raw data; 0.5 and 0.25 for those of four and two bits. */
  readonly bytes: number
  /** Element i of raw data. */
  readonly read: (view: DataView, i: number) => number
  /** The field of TensorProto with its elements where they are not raw. */
  readonly field: string
  /** The element of a number in that field. */
  readonly of?: (stored: number) => number
  /** Of integers: the smallest and the largest. */
  readonly range?: readonly [low: number, high: number]
}

/** The bits of element i, of which several are in a byte, the first in the lowest bits. */
const part = (view: DataView, i: number, bits: number): number => {
  const each = 8 / bits
  return (view.getUint8(Math.floor(i / each)) >> (bits * (i % each))) & (2 ** bits - 1)
}
const extended = (x: number, bits: number): number => (x << (32 - bits)) >> (32 - bits)
const narrow = (name: string, bytes: number): ElementType => {
  const format = narrowFormats[name]!
  const of = (bits: number): number => narrowOf(format, bytes === 2 ? bits & 0xffff : bits & 0xff)
  const read = (v: DataView, i: number): number => of(bytes === 2 ? v.getUint16(2 * i, true) : bytes === 1 ? v.getUint8(i) : part(v, i, 4))
  return { name, dtype: 'f32', bytes, read, field: 'int32_data', of }
}
/** A power of two by its exponent, of which 255 is NaN. */
const power = (bits: number): number => (bits === 255 ? Number.NaN : 2 ** (bits - 127))

const int = (
  name: string,
  bytes: number,
  range: readonly [number, number],
  read: ElementType['read'],
  field = 'int32_data',
): ElementType => ({ name, dtype: 'i32', bytes, read, field, range })

/** By the numbers of TensorProto.DataType. What is missing (texts, complex numbers) is in `refusedTypes`. */
export const elementTypes: Readonly<Record<number, ElementType>> = {
  1: { name: 'float', dtype: 'f32', bytes: 4, read: (v, i) => v.getFloat32(4 * i, true), field: 'float_data' },
  2: int('uint8', 1, [0, 255], (v, i) => v.getUint8(i)),
  3: int('int8', 1, [-128, 127], (v, i) => v.getInt8(i)),
  4: int('uint16', 2, [0, 65535], (v, i) => v.getUint16(2 * i, true)),
  5: int('int16', 2, [-32768, 32767], (v, i) => v.getInt16(2 * i, true)),
  6: int('int32', 4, [-(2 ** 31), 2 ** 31 - 1], (v, i) => v.getInt32(4 * i, true)),
  7: int('int64', 8, [-(2 ** 63), 2 ** 63], (v, i) => Number(v.getBigInt64(8 * i, true)), 'int64_data'),
  9: {
    name: 'bool',
    dtype: 'bool',
    bytes: 1,
    read: (v, i) => Number(v.getUint8(i) !== 0),
    field: 'int32_data',
    of: (x) => Number(x !== 0),
  },
  10: narrow('float16', 2),
  11: { name: 'double', dtype: 'f64', bytes: 8, read: (v, i) => v.getFloat64(8 * i, true), field: 'double_data' },
  12: int('uint32', 4, [0, 2 ** 32 - 1], (v, i) => v.getUint32(4 * i, true), 'uint64_data'),
  13: int('uint64', 8, [0, 2 ** 64], (v, i) => Number(v.getBigUint64(8 * i, true)), 'uint64_data'),
  16: narrow('bfloat16', 2),
  17: narrow('float8e4m3fn', 1),
  18: narrow('float8e4m3fnuz', 1),
  19: narrow('float8e5m2', 1),
  20: narrow('float8e5m2fnuz', 1),
  21: int('uint4', 0.5, [0, 15], (v, i) => part(v, i, 4)),
  22: int('int4', 0.5, [-8, 7], (v, i) => extended(part(v, i, 4), 4)),
  23: narrow('float4e2m1', 0.5),
  24: { name: 'float8e8m0', dtype: 'f32', bytes: 1, read: (v, i) => power(v.getUint8(i)), field: 'int32_data', of: power },
  25: int('uint2', 0.25, [0, 3], (v, i) => part(v, i, 2)),
  26: int('int2', 0.25, [-2, 1], (v, i) => extended(part(v, i, 2), 2)),
}
/** What codual does not compute, by name, so that an error can say which it is. */
export const refusedTypes: Readonly<Record<number, string>> = {
  0: 'no type',
  8: 'string',
  14: 'complex64',
  15: 'complex128',
}
/** What an element type is called, known or not. */
export const typeName = (number: number): string => elementTypes[number]?.name ?? refusedTypes[number] ?? `type ${number}`

const byName = /*#__PURE__*/ Object.fromEntries(Object.values(elementTypes).map((t) => [t.name, t])) as Readonly<
  Record<string, ElementType>
>
/** The element type of this name. */
export const typeOf = (name: string): ElementType => byName[name]!
/** The element type that a dtype is in ONNX. */
export const typeOfDtype = (dtype: DType): ElementType => typeOf({ f32: 'float', f64: 'double', i32: 'int32', bool: 'bool' }[dtype])
/** Is it a type of floats? */
export const isFloat = (t: ElementType): boolean => t.dtype === 'f32' || t.dtype === 'f64'

export type { BinaryReader, Out }
