// NumPy's own answers for random lists of indices: cases of indexing.json, which indexing.py made, and the arrays they speak of.
import { readFileSync } from 'node:fs'
import { type Tensor, tensor } from '../../src/index.js'

/** One index: what stands in a list itself, or an i32 array that is computed. */
export type Written = number | string | null | readonly unknown[] | { readonly computed: number | readonly unknown[] }
export interface Case {
  readonly x: readonly number[]
  readonly at: readonly Written[]
  /** Shape and elements of x[at] for x = 0, 1, 2, ... */
  readonly shape: readonly number[]
  readonly y: readonly number[]
  /** Shape of the values 100, 101, ... */
  readonly v: readonly number[]
  readonly set: readonly number[]
  readonly add: readonly number[]
}
export const cases: readonly Case[] = JSON.parse(readFileSync(new URL('./indexing.json', import.meta.url), 'utf8'))

export const isComputed = (i: Written): i is { readonly computed: number | readonly unknown[] } =>
  typeof i === 'object' && i !== null && 'computed' in i
/** The computed indices of a case, which its program is given. */
export const computedOf = (c: Case): readonly Tensor[] =>
  c.at.filter(isComputed).map((i) => (tensor as (d: unknown, s: undefined, t: 'i32') => Tensor)(i.computed, undefined, 'i32'))
/** The list of indices, where these stand for the computed ones. */
export const indicesOf = (c: Case, given: readonly unknown[]): readonly unknown[] => {
  const rest = [...given]
  return c.at.map((i) => (isComputed(i) ? rest.shift() : i))
}
/** from, from + 1, ... */
export const counted = (shape: readonly number[], from: number, dtype: 'f64' | 'f32' | 'i32'): Tensor => {
  const size = shape.reduce((a, d) => a * d, 1)
  const data = Float64Array.from({ length: size }, (_, i) => from + i)
  return tensor(data, shape, dtype) as Tensor
}
export const plain = (t: Tensor) => ({ shape: [...t.shape], data: Array.from(t.data) })
