// What NumPy, SciPy and JAX make of arrays: cases of arrays.json, which arrays.py made, and how they are called here.
import { readFileSync } from 'node:fs'
import { type DType, evaluate, type Tensor, tensor } from '../../src/index.js'

export interface Given {
  readonly shape: readonly number[]
  readonly dtype: DType
  readonly data: readonly (number | string | boolean)[]
}
export interface Case {
  readonly f: string
  readonly args: readonly unknown[]
  readonly result: unknown
  /** Of a record only these are compared. */
  readonly only?: readonly string[]
}
const NUMBERS: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Number.POSITIVE_INFINITY, '-inf': Number.NEGATIVE_INFINITY }
const numeric = (v: number | string | boolean): number => (typeof v === 'string' ? NUMBERS[v]! : Number(v))
export const cases: readonly Case[] = JSON.parse(readFileSync(new URL('./arrays.json', import.meta.url), 'utf8'))

export const isGiven = (x: unknown): x is Given => typeof x === 'object' && x !== null && 'data' in x && 'dtype' in x
/** What is given, with `f` at its arrays. */
export const mapGiven = (x: unknown, f: (g: Given) => unknown): unknown =>
  isGiven(x)
    ? f(x)
    : Array.isArray(x)
      ? x.map((y) => mapGiven(y, f))
      : typeof x === 'object' && x !== null
        ? Object.fromEntries(Object.entries(x).map(([k, y]) => [k, mapGiven(y, f)]))
        : x
export const tensorOf = (g: Given): Tensor => tensor(g.data.map(numeric) as number[], g.shape, g.dtype) as Tensor

type Plain = { readonly shape: readonly number[]; readonly dtype: string; readonly data: readonly number[] }
const plainTensor = (t: Tensor): Plain => ({ shape: [...t.shape], dtype: t.dtype, data: Array.from(t.data) })
/** The tensors of a result, as plain data. */
export const resultOf = (x: unknown): unknown => {
  const tag = (x as { readonly _tag?: string })._tag
  if (tag === 'Expr' || tag === 'Tensor') return plainTensor((evaluate as (e: unknown) => Tensor)(x))
  return Array.isArray(x) ? x.map(resultOf) : Object.fromEntries(Object.entries(x as object).map(([k, v]) => [k, resultOf(v)]))
}
/** The results that NumPy gave, in the order of names: [what, ours, theirs]. */
export const pairs = (c: Case, got: unknown, want: unknown = c.result, path = ''): readonly (readonly [string, Plain, Plain])[] => {
  if (isGiven(want)) return [[path, got as Plain, { shape: want.shape, dtype: want.dtype, data: want.data.map(numeric) }]]
  if (Array.isArray(want)) return want.flatMap((w, i) => pairs(c, (got as readonly unknown[])[i], w, `${path}[${i}]`))
  return Object.entries(want as object).flatMap(([k, w]) => pairs(c, (got as Readonly<Record<string, unknown>>)[k], w, `${path}.${k}`))
}
/** The largest difference, relative to what is near 1 and above; infinite where one is NaN and the other not. */
export const difference = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((worst, x, i) => {
    const y = b[i]!
    if (Object.is(x, y) || x === y || (Number.isNaN(x) && Number.isNaN(y))) return worst
    const d = Math.abs(x - y) / Math.max(1, Math.abs(y))
    return Number.isNaN(d) ? Number.POSITIVE_INFINITY : Math.max(worst, d)
  }, 0)
