/** What factorisations of a library work with: places in the memory, as they are at each call. */
import type { FloatName } from '../cpu/wasm/float.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Library } from './library.js'
import type { Matrices } from './matrices.js'

export const bytesOf = (type: FloatName): 4 | 8 => (type === 'f32' ? 4 : 8)

/** What a factorisation needs in the scratch; where each part begins there. */
export class Room {
  bytes = 0
  /** `count` elements of `size` bytes. */
  take(count: number, size = 8): number {
    const at = this.bytes
    this.bytes = aligned(at + count * size, 16)
    return at
  }
}
/** The scratch of one call. Places are offsets in the memory; the library is given addresses. */
export class Scratch {
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly start: number,
    private readonly base: number,
  ) {}
  /** Where a part of the scratch lies in the memory. */
  place(at: number): number {
    return this.start + at
  }
  /** Where a place lies, to the library. */
  address(place: number): number {
    return this.base + place
  }
  /** Writes integers, 8 bytes for each, and gives their addresses. */
  integers(place: number, ...values: readonly number[]): readonly number[] {
    const words = this.words(place, 2 * values.length)
    return values.map((x, i) => {
      words[2 * i] = x
      words[2 * i + 1] = x < 0 ? -1 : 0
      return this.address(place + 8 * i)
    })
  }
  words(place: number, count: number): Int32Array {
    return new Int32Array(this.buffer, place, count)
  }
  numbers(type: FloatName, place: number, count: number): Float32Array | Float64Array {
    return type === 'f32' ? new Float32Array(this.buffer, place, count) : new Float64Array(this.buffer, place, count)
  }
  copy(to: number, from: number, bytes: number): void {
    if (to !== from) new Uint8Array(this.buffer).copyWithin(to, from, from + bytes)
  }
}

/** One matrix, by the places of what is given and of results; false where it is left to the backend. */
export type Run = (args: readonly number[], results: readonly number[], s: Scratch) => boolean
/** What a factorisation is made of. */
export interface Given {
  readonly library: Library
  /** In which it is computed. */
  readonly type: FloatName
  readonly m: number
  readonly n: number
  readonly kernel: OpaqueKernel
  readonly room: Room
  readonly matrices: Matrices
}
/** A factorisation made ready; undefined where the library lacks a routine. */
export type Make = (given: Given) => Run | undefined

const ADDRESS = 'uintptr_t'
/** Parameters of a routine of Fortran: letters first, then addresses, then the lengths of the letters. */
const parameters = (letters: number, count: number): string =>
  [
    ...new Array<string>(letters).fill('const char *'),
    ...new Array<string>(count).fill(ADDRESS),
    ...new Array<string>(letters).fill('size_t'),
  ].join(', ')
/** A routine of LAPACK by its name without the letter of the type. */
export const routine = ({ library, type }: Given, name: string, letters: number, count: number): ReturnType<Library['fortran']> =>
  library.fortran(`${type === 'f32' ? 's' : 'd'}${name}`, parameters(letters, count))
/** Bytes for the integers of one call. */
export const INTEGERS = 128
