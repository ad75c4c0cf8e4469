/** Weights that stay in memory as the file has them, several to a word of 32 bits, and are widened where a program reads them. */
import {
  type AnyExpr,
  bitwiseAnd,
  leftShift,
  reshape,
  rightShift,
  rightShiftLogical,
  slice,
  stack,
  type Tensor,
  take,
  tensor,
} from '../index.js'
import type { Stored } from './tensors.js'
import type { ElementType } from './types.js'

/** Smaller tensors are widened once. */
const SMALL = 1024
/** Does a tensor stay packed? Those of types of up to 16 bits, whose elements lie in the file as they are. */
export const isPacked = ({ type, size, words }: Stored): boolean =>
  words !== undefined && type.bytes <= 2 && type.name !== 'bool' && size >= SMALL

/** The bytes of a tensor as words, the last filled up with zeros. */
export const wordsOf = (raw: Uint8Array): Tensor => {
  const words = new Int32Array(Math.ceil(raw.length / 4))
  const whole = Math.floor(raw.length / 4)
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
  for (let i = 0; i < whole; i++) words[i] = view.getInt32(4 * i, true)
  for (let i = 4 * whole; i < raw.length; i++) words[whole]! |= raw[i]! << (8 * (i - 4 * whole))
  return tensor(words, [words.length], 'i32') as unknown as Tensor
}

const tables = new Map<string, Tensor>()
/** All numbers of a type of floats, by their bits. */
const numbersOf = (type: ElementType, bits: number): Tensor => {
  let table = tables.get(type.name)
  if (table === undefined) {
    table = tensor(
      Float32Array.from({ length: 2 ** bits }, (_, i) => type.of!(i)),
      [2 ** bits],
      'f32',
    ) as unknown as Tensor
    tables.set(type.name, table)
  }
  return table
}
/** The elements that words hold. */
export const widened = (words: Tensor, type: ElementType, shape: readonly number[], size: number): AnyExpr => {
  const bits = 8 * type.bytes
  const each = 32 / bits
  const parts = Array.from({ length: each }, (_, k) => {
    // A signed integer is moved up to the sign of the word, then down with it.
    if (type.range !== undefined && type.range[0] < 0)
      return rightShift(leftShift(words as unknown as AnyExpr, 32 - bits * (k + 1)), 32 - bits)
    const moved = k === 0 ? (words as unknown as AnyExpr) : rightShiftLogical(words as unknown as AnyExpr, bits * k)
    return bitwiseAnd(moved, 2 ** bits - 1)
  })
  const all = reshape(stack(parts as never, { axis: 1 }) as AnyExpr, [-1]) as AnyExpr
  const cut = all.shape[0] === size ? all : (slice(all, [0], [size]) as AnyExpr)
  const elements = type.range === undefined ? take(numbersOf(type, bits) as unknown as AnyExpr, cut as never) : cut
  return reshape(elements as AnyExpr, shape as number[]) as AnyExpr
}
