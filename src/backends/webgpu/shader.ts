/** Shaders of whole primitives: one invocation per item, the words of the record by name, all memory as u32. */
import type { DType } from '../../core/types/dtype.js'
import { type Dispatch, SCRATCH, shader, type Word, word } from './dispatch.js'

/** A place in scratch, in words. */
export const scratch = (words: number): Word => ({ storage: SCRATCH, byteOffset: 4 * words })

/** A dispatch before it is text. `body` runs once for every item `t`; the names in `words` are u32 values there. */
interface Items {
  readonly items: number
  readonly words: Readonly<Record<string, Word>>
  readonly body: string
  /** Functions that the body calls, beyond the library's. */
  readonly functions?: readonly string[]
  /** Memory is seen as atomic words. */
  readonly atomic?: boolean
}
const WIDTH = 64

/** One invocation per item; nothing where there are no items. */
export const perItem = ({ items, words, body, functions = [], atomic = false }: Items): readonly Dispatch[] => {
  if (items === 0) return []
  const names = Object.entries(words)
  const text = `  let t = g * ${WIDTH}u + l;\n  if (t >= ${word(0)}) { return; }\n${names
    .map(([name], k) => `  let ${name} = ${word(k + 1)};\n`)
    .join('')}${body}`
  const wgsl = shader({
    width: WIDTH,
    words: names.length + 1,
    view: atomic ? 'atomic<u32>' : 'u32',
    body: text,
    declared: functions.join('\n'),
  })
  return [{ wgsl, words: [items, ...names.map(([, w]) => w)], groups: Math.ceil(items / WIDTH) }]
}

/** The sum of two words that hold elements of this dtype, as a word. */
export const addWords = (dtype: DType, a: string, b: string): string =>
  dtype === 'f32' ? `bitcast<u32>(bitcast<f32>(${a}) + bitcast<f32>(${b}))` : `(${a} + ${b})`

/** The position that a negative or distant index means on an axis of n elements. */
export const RESOLVE = `fn resolve(word: u32, n: u32) -> u32 {
  let i = bitcast<i32>(word);
  return u32(clamp(select(i, i + i32(n), i < 0), 0, i32(n) - 1));
}`

/** An integer ordered as the number is: zeros are equal, NaN comes last. Exact for subnormal numbers too, since no float is compared. */
export const ORDER = `fn order(word: u32) -> i32 {
  let size = word & 0x7fffffffu;
  let i = bitcast<i32>(word);
  return select(select(i ^ ((i >> 31u) & 0x7fffffff), 0, size == 0u), 0x7fffffff, size > 0x7f800000u);
}`
/** The ordered integer of an element; ORDER must be among the functions. */
export const orderOf = (dtype: DType, word: string): string => (dtype === 'f32' ? `order(${word})` : `bitcast<i32>(${word})`)
