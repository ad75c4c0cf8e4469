// NumPy agrees about reading, replacing and adding at random lists of indices.
import { describe, expect, it } from 'vitest'
import { compile, cpu, evaluate, type Tensor } from '../../src/index.js'
import { untyped } from '../rules/untyped.js'
import { type Case, cases, computedOf, counted, indicesOf, isComputed, plain, type Written } from './indexing.js'

const { at, set, addAt } = untyped
type AnyFunction = (...xs: readonly unknown[]) => unknown
const engines: readonly (readonly [string, (f: AnyFunction) => (...xs: readonly Tensor[]) => Tensor])[] = [
  [
    'of tensors',
    (f) =>
      (...xs) =>
        (evaluate as (x: unknown) => Tensor)(f(...xs)),
  ],
  ['compiled', (f) => (compile as unknown as (f: unknown, b: unknown) => (...xs: readonly unknown[]) => Tensor)(f, cpu({ verify: true }))],
]

describe('NumPy agrees about indexing', () => {
  it('in cases of every kind', () => {
    const some = (test: (c: Case) => boolean): number => cases.filter(test).length
    const isArray = (i: Written): boolean => Array.isArray(i) || (isComputed(i) && Array.isArray(i.computed))
    expect(cases.length).toBeGreaterThan(400)
    expect(some((c) => c.at.filter(isArray).length > 1)).toBeGreaterThan(60)
    for (const kind of [
      (i: Written) => i === null,
      (i: Written) => i === '...',
      (i: Written) => typeof i === 'number',
      (i: Written) => isComputed(i) && typeof i.computed === 'number',
      (i: Written) => typeof i === 'string' && i.endsWith('-1'),
    ])
      expect(some((c) => c.at.some(kind))).toBeGreaterThan(40)
  })
  it.each(engines)('%s', (_name, run) => {
    for (const [k, c] of cases.entries()) {
      const is = computedOf(c)
      const x = counted(c.x, 0, (['f64', 'f32', 'i32'] as const)[k % 3]!)
      const v = counted(c.v, 100, x.dtype === 'i32' ? 'i32' : 'f64')
      const label = JSON.stringify(c.at)
      const read = run((a, ...own) => at(a, ...indicesOf(c, own)))(x, ...is)
      const replaced = run((a, u, ...own) => set(a, indicesOf(c, own), u))(x, v, ...is)
      const added = run((a, u, ...own) => addAt(a, indicesOf(c, own), u))(x, v, ...is)
      expect({ label, ...plain(read) }).toEqual({ label, shape: c.shape, data: c.y })
      expect({ label, ...plain(replaced) }).toEqual({ label, shape: c.x, data: c.set })
      expect({ label, ...plain(added) }).toEqual({ label, shape: c.x, data: c.add })
    }
  })
})
