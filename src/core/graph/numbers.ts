/** Numbers and bytes as JSON: every f64 bit survives. */

import type { DType } from '../types/dtype.js'
import { arrayConstructor, type TypedArray } from './ndarray.js'

const view = new DataView(new ArrayBuffer(8))
const QUIET = '7ff8000000000000'
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
])

/** A number, or the text of one that JSON has not: NaN (with its bits where they are unusual), infinities, -0. */
export const numberToJSON = (x: number): number | string => {
  if (Number.isNaN(x)) {
    view.setFloat64(0, x)
    const bits = view.getBigUint64(0).toString(16).padStart(16, '0')
    return bits === QUIET ? 'NaN' : `NaN:${bits}`
  }
  return Number.isFinite(x) && !Object.is(x, -0) ? x : Object.is(x, -0) ? '-0' : String(x)
}

/** The number that was written; undefined where there is none. */
export const numberFromJSON = (u: unknown): number | undefined => {
  if (typeof u === 'number') return u
  if (typeof u !== 'string' || u.length > 20) return undefined
  const special = SPECIAL.get(u)
  if (special !== undefined) return special
  if (!/^NaN:[0-9a-f]{16}$/.test(u)) return undefined
  view.setBigUint64(0, BigInt(`0x${u.slice(4)}`))
  const x = view.getFloat64(0)
  return Number.isNaN(x) ? x : undefined
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CODES = Uint8Array.from(ALPHABET, (c) => c.charCodeAt(0))
const VALUES = new Int8Array(128).fill(-1)
CODES.forEach((c, i) => {
  VALUES[c] = i
})

/** Base64 of an array's bytes, little-endian. */
export const bytesToJSON = (data: TypedArray): string => {
  const b = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  const out = new Uint8Array(4 * Math.ceil(b.length / 3)).fill(61)
  for (let i = 0, o = 0; i < b.length; i += 3, o += 4) {
    const [x, y, z] = [b[i]!, b[i + 1], b[i + 2]]
    out[o] = CODES[x >> 2]!
    out[o + 1] = CODES[((x & 3) << 4) | ((y ?? 0) >> 4)]!
    if (y !== undefined) out[o + 2] = CODES[((y & 15) << 2) | ((z ?? 0) >> 6)]!
    if (z !== undefined) out[o + 3] = CODES[z & 63]!
  }
  let text = ''
  for (let i = 0; i < out.length; i += 32768) text += String.fromCharCode(...out.subarray(i, i + 32768))
  return text
}

/** `size` elements of a dtype from base64; or why they cannot be read. */
export const bytesFromJSON = (text: string, dtype: DType, size: number): TypedArray | string => {
  const make = arrayConstructor(dtype)
  const count = size * make.BYTES_PER_ELEMENT
  if (text.length !== 4 * Math.ceil(count / 3)) return `${text.length} characters of base64 are not ${count} bytes`
  const data = new make(size)
  const bytes = new Uint8Array(data.buffer)
  for (let i = 0, o = 0; o < count; i += 4, o += 3) {
    const left = Math.min(3, count - o)
    let word = 0
    for (let k = 0; k < 4; k++) {
      const c = text.charCodeAt(i + k)
      if (k > left) {
        if (c !== 61) return 'not base64'
        word <<= 6
        continue
      }
      const v = c < 128 ? VALUES[c]! : -1
      if (v < 0) return 'not base64'
      word = (word << 6) | v
    }
    if ((left === 1 && (word & 0xffff) !== 0) || (left === 2 && (word & 0xff) !== 0)) return 'not base64'
    bytes[o] = word >> 16
    if (left > 1) bytes[o + 1] = word >> 8
    if (left > 2) bytes[o + 2] = word
  }
  if (dtype === 'bool') for (const x of bytes) if (x > 1) return `${x} is not a boolean`
  return data
}
