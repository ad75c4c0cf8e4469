// NumPy's own answers for random lists of indices (indexing.py made them): reading, replacing and adding, on the reference and on the CPU.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compile, cpu, evaluate, type Tensor, tensor } from '../../src/index.js'
import { untyped } from '../rules/untyped.js'

/** The nested list of an i32 array that is computed, or what stands in a list of indices itself. */
type Written = number | string | null | readonly unknown[]
interface Case {
  readonly x: readonly number[]
  readonly at: readonly (Written | { readonly computed: number | readonly unknown[] })[]
  readonly shape: readonly number[]
  readonly y: readonly number[]
  readonly v: readonly number[]
  readonly set: readonly number[]
  readonly add: readonly number[]
}
const cases: readonly Case[] = JSON.parse(readFileSync(new URL('./indexing.json', import.meta.url), 'utf8'))
const { at, set, addAt } = untyped
const isComputed = (i: Case['at'][number]): i is { readonly computed: number | readonly unknown[] } =>
  typeof i === 'object' && i !== null && 'computed' in i
const filled = (shape: readonly number[], from: number, dtype: 'f64' | 'f32' | 'i32' = 'f64'): Tensor => {
  const size = shape.reduce((a, d) => a * d, 1)
  return tensor(
    Float64Array.from({ length: size }, (_, i) => from + i),
    shape,
    dtype,
  ) as Tensor
}
const plain = (t: Tensor) => ({ shape: [...t.shape], data: Array.from(t.data) })

describe('NumPy agrees about', () => {
  it('cases of every kind', () => {
    const some = (test: (c: Case) => boolean): number => cases.filter(test).length
    expect(cases.length).toBeGreaterThan(400)
    expect(some((c) => c.at.filter((i) => Array.isArray(i) || (isComputed(i) && Array.isArray(i.computed))).length > 1)).toBeGreaterThan(60)
    for (const kind of [
      (i: Case['at'][number]) => i === null,
      (i: Case['at'][number]) => i === '...',
      (i: Case['at'][number]) => typeof i === 'number',
      (i: Case['at'][number]) => isComputed(i) && typeof i.computed === 'number',
      (i: Case['at'][number]) => typeof i === 'string' && i.endsWith('-1'),
    ])
      expect(some((c) => c.at.some(kind))).toBeGreaterThan(40)
  })
  const engines = [
    [
      'evaluated',
      (f: (...xs: readonly Tensor[]) => unknown) =>
        (...xs: readonly Tensor[]) =>
          (evaluate as (x: unknown) => Tensor)(f(...xs)),
    ],
    [
      'compiled',
      (f: (...xs: readonly Tensor[]) => unknown) =>
        (...xs: readonly Tensor[]) =>
          (compile as (f: unknown, b: unknown) => (...xs: unknown[]) => Tensor)(f, cpu({ verify: true }))(...xs),
    ],
  ] as const
  it.each(engines)('all of them: %s', (_name, run) => {
    for (const [k, c] of cases.entries()) {
      const computed = c.at
        .filter(isComputed)
        .map((i) => (tensor as (d: unknown, s: undefined, t: 'i32') => Tensor)(i.computed, undefined, 'i32'))
      const x = filled(c.x, 0, (['f64', 'f32', 'i32'] as const)[k % 3])
      const v = filled(c.v, 100, x.dtype === 'i32' ? 'i32' : 'f64')
      const indices = (given: readonly unknown[]): readonly unknown[] => {
        const rest = [...given]
        return c.at.map((i) => (isComputed(i) ? rest.shift() : i))
      }
      const label = JSON.stringify(c.at)
      expect({ label, ...plain(run((a, ...is) => at(a, ...indices(is)))(x, ...computed)) }).toEqual({ label, shape: c.shape, data: c.y })
      expect({ label, ...plain(run((a, u, ...is) => set(a, indices(is), u))(x, v, ...computed)) }).toEqual({
        label,
        shape: c.x,
        data: c.set,
      })
      expect({ label, ...plain(run((a, u, ...is) => addAt(a, indices(is), u))(x, v, ...computed)) }).toEqual({
        label,
        shape: c.x,
        data: c.add,
      })
    }
  })
})
