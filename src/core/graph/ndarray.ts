/** Concrete row-major arrays: what meanings and kernels work on. */

import { badInput } from '../errors/explain.js'
import type { DType } from '../types/dtype.js'
import type { Aval } from './aval.js'

/** Storage of each dtype: bool is one byte, 0 or 1. */
export interface Storage {
  f64: Float64Array
  f32: Float32Array
  i32: Int32Array
  bool: Uint8Array
}
export type TypedArray = Storage[DType]

/** An array as kernels see it: row-major `data` of `shape`, with no strides. */
export interface NDArray {
  readonly shape: readonly number[]
  readonly dtype: DType
  readonly data: TypedArray
}

const constructors = { f64: Float64Array, f32: Float32Array, i32: Int32Array, bool: Uint8Array } as const
export const arrayConstructor = (dtype: DType) => constructors[dtype]

const made = (dtype: DType, size: number, of: number | TypedArray): TypedArray => {
  try {
    // A size or elements: TypeScript has no constructor that takes either.
    return new constructors[dtype](of as number)
  } catch {
    const bytes = size * constructors[dtype].BYTES_PER_ELEMENT
    return badInput('memory', `this engine has no array of ${size} elements (${bytes} bytes).`, 'use smaller arrays, or another dtype.')
  }
}
/** New zeroed storage. */
export const allocate = (dtype: DType, size: number): TypedArray => made(dtype, size, size)
/** New storage with the same elements. Engines do not clear it first, as they do what is allocated and then set: large copies take half the time. */
export const copyOf = (dtype: DType, from: TypedArray): TypedArray => made(dtype, from.length, from)
/** Runs of fewer elements are copied one by one: a view of a part costs more. */
const SHORT = 32
/** to[at ... at + length - 1] = from[start ...], of one dtype: long runs as the bytes that they are. */
export const copyRun = (to: TypedArray, at: number, from: TypedArray, start: number, length: number): void => {
  if (length < SHORT) for (let i = 0; i < length; i++) to[at + i] = from[start + i]!
  else to.set(from.subarray(start, start + length), at)
}
/** to = from, unless they are the same memory: an accumulator that is written in place. */
export const copyAll = (to: TypedArray, from: TypedArray): void => {
  if (to.buffer !== from.buffer || to.byteOffset !== from.byteOffset) to.set(from)
}
export const emptyArray = (a: Aval): NDArray => ({ shape: a.shape, dtype: a.dtype, data: allocate(a.dtype, a.size) })

/** The typed array of `dtype` over a buffer. */
export const viewOf = (dtype: DType, buffer: ArrayBufferLike, byteOffset: number, length: number): TypedArray =>
  new constructors[dtype](buffer as ArrayBuffer, byteOffset, length)

/** Nested JS numbers (booleans for bool) of an array. */
export const toNested = (a: NDArray): NestedNumbers => nestedOf(a, (x) => x) as NestedNumbers
/** Nested arrays of what `of` makes of each number (boolean for bool). */
export const nestedOf = (a: NDArray, of: (x: number | boolean) => unknown): unknown => {
  let level: unknown[] = Array.from({ length: a.data.length }, (_, i) => of(a.dtype === 'bool' ? a.data[i] !== 0 : a.data[i]!))
  if (a.shape.length === 0) return level[0]
  for (let d = a.shape.length - 1; d > 0; d--) {
    const n = a.shape[d]!
    const rows = a.shape.slice(0, d).reduce((x, y) => x * y, 1)
    const below = level
    level = Array.from({ length: rows }, (_, i) => below.slice(i * n, (i + 1) * n))
  }
  return level
}
export type NestedNumbers = number | boolean | readonly NestedNumbers[]
