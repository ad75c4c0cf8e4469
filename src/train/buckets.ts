/** Sizes that vary: a few sizes to which sets, graphs and sentences are padded, and masks of what is there. */

import { integerOf, listOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { leastOf } from '../core/errors/extremes.js'
import { holds } from '../core/errors/language.js'
import { integer, kind, number, type OptionsOf, readOptions } from '../core/errors/options.js'
import { type DType, isTensor, type Shape, type Tensor, tensor, treeLeaves, treeMap } from '../index.js'

export const bucketOptions = {
  /** The factor from one size to the next, rounded up: 2 unless given. */
  factor: kind<number, number>((given = 2, what, op) =>
    typeof given === 'number' && given > 1 && given < Number.POSITIVE_INFINITY
      ? given
      : badInput(op, `${what} is ${shown(given)}.`, 'give a number above 1.'),
  ),
  /** The smallest size: 1 unless given. */
  least: integer(1, { from: 1 }),
}
/** Options of `bucket`. */
export type BucketOptions = OptionsOf<typeof bucketOptions>
/**
 * The smallest of a few sizes that n fits into: those of a list, or 1, 2, 4, 8 ... A function compiled for padded arrays then has one plan for each size, not one for each
 * n.
 *
 * Errors  BadInput unless n is a non-negative integer that fits into a size of the list.
 * @example
 * bucket(5)   // 8
 * bucket(5, [4, 16, 64])   // 16
 */
export const bucket = (n: number, sizes?: readonly number[] | BucketOptions): number => {
  const count = integerOf(n, 'n', 'bucket')
  if (count < 0) badInput('bucket', `n is ${count}.`, 'give a number of entries, 0 or more.')
  if (holds(() => Array.isArray(sizes))) {
    const fitting = listOf(sizes, 'the sizes', 'bucket')
      .map((s) => integerOf(s as number, 'a size', 'bucket'))
      .filter((s) => s >= count)
    return fitting.length > 0 ? leastOf(fitting) : badInput('bucket', `${count} fits into none of ${shown(sizes)}.`, 'give a larger size.')
  }
  const { factor, least } = readOptions(bucketOptions, sizes as BucketOptions | undefined, 'bucket')
  let size = least
  while (size < count) size = Math.max(size + 1, Math.ceil(size * factor))
  return size
}

export const padToOptions = {
  /** The axis of the entries: the first unless given. */
  axis: integer(0, { from: 0 }),
  /** The value of the padding: 0 unless given. */
  fill: number(0),
}
/** Options of `padTo`. */
export type PadToOptions = OptionsOf<typeof padToOptions>
type Data = Float64Array | Float32Array | Int32Array | Uint8Array
const numbers = (x: unknown): Tensor => (isTensor(x) ? x : (tensor(x as number) as Tensor))
/** One array with its axis `size` long. */
const padded = (x: Tensor, size: number, axis: number, fill: number, where: string): Tensor => {
  const { shape } = x as { readonly shape: readonly number[] }
  const n = shape[axis]
  if (n === undefined) return badInput('padTo', `${where} is [${shape.join(', ')}], it has no axis ${axis}.`, 'give arrays with that axis.')
  if (n > size) return badInput('padTo', `${where} has ${n} entries, more than ${size}.`, 'give a larger size: bucket(n) is one.')
  if (x.data.length !== shape.reduce((a, d) => a * d, 1))
    return badInput(
      'padTo',
      `${where} has lost its elements: its ArrayBuffer was transferred.`,
      'give the tensor before it is sent, or a copy.',
    )
  const out = tensor(
    fill,
    shape.map((d, i) => (i === axis ? size : d)),
    x.dtype as DType,
  ) as Tensor
  const inner = shape.slice(axis + 1).reduce((a, d) => a * d, 1)
  const outer = shape.slice(0, axis).reduce((a, d) => a * d, 1)
  const [to, from] = [out.data as Data, x.data as Data]
  for (let o = 0; o < outer; o++) to.set(from.subarray(o * n * inner, (o + 1) * n * inner), o * size * inner)
  return out
}
/** The tree with axes of which only the rank is known. */
export type Padded<T> =
  T extends Tensor<infer S, infer D>
    ? Tensor<{ -readonly [K in keyof S]: number }, D>
    : T extends number | readonly (number | readonly unknown[])[]
      ? Tensor<Shape & readonly number[], 'f64'>
      : { -readonly [K in keyof T]: Padded<T[K]> }
/**
 * Arrays with the same number of entries, padded to a size, and a mask of the entries that are there: { data, mask, count }.
 *
 * Shapes  each array with `size` entries along the axis; mask: [size] of bool.   Dtype  the arrays'.
 * Errors  BadInput if an array has more entries than the size, no such axis, or not as many entries as the first.
 * @example
 * const { data, mask } = padTo({ words: tensor([5, 7, 2], [3], 'i32') }, bucket(3))
 * data.words   // [5, 7, 2, 0]
 * mask   // [true, true, true, false]
 */
export const padTo = <T>(
  tree: T,
  size: number,
  options?: PadToOptions,
): { readonly data: Padded<T>; readonly mask: Tensor<[number], 'bool'>; readonly count: number } => {
  const { axis, fill } = readOptions(padToOptions, options, 'padTo')
  const to = integerOf(size, 'the size', 'padTo')
  let count: number | undefined
  const data = treeMap((leaf: unknown, path) => {
    const where = path === '' ? 'the array' : path
    const x = numbers(leaf)
    const n = (x.shape as readonly number[])[axis]
    count ??= n
    if (n !== undefined && n !== count)
      badInput('padTo', `${where} has ${n} entries, the first array ${count}.`, 'give arrays of one number of entries.')
    return padded(x, to, axis, fill, where)
  }, tree as unknown)
  if (treeLeaves(tree as unknown).length === 0 || count === undefined)
    badInput('padTo', 'there is no array.', 'give arrays with an axis of entries.')
  const mask = tensor(
    Uint8Array.from({ length: to }, (_, i) => (i < count! ? 1 : 0)),
    [to],
    'bool',
  ) as Tensor<[number], 'bool'>
  return { data: data as Padded<T>, mask, count: count! }
}
