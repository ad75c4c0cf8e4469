// NumPy, SciPy and JAX agree about the functions of arrays; and their derivatives are right at the same arguments.

import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { compile, cpu, grad, mul, sum, type Tensor } from '../../src/index.js'
import { some } from '../depth.js'
import { untyped } from '../rules/untyped.js'
import { type Case, cases, difference, type Given, isGiven, mapGiven, pairs, resultOf, tensorOf } from './arrays.js'

type AnyFunction = (...xs: readonly unknown[]) => unknown
const op = (c: Case): AnyFunction => (untyped as unknown as Readonly<Record<string, AnyFunction>>)[c.f]!
const label = (c: Case): string => `${c.f} ${JSON.stringify(c.args).slice(0, 200)}`
const bound = (dtype: string): number => (dtype === 'f32' ? 4e-6 : 1e-12)

/** The arrays of a case one after the other, and the call that takes them back. */
const arraysOf = (c: Case): readonly Given[] => {
  const list: Given[] = []
  mapGiven(c.args, (g) => list.push(g))
  return list
}
const callWith = (c: Case, xs: readonly unknown[]): unknown => {
  const rest = [...xs]
  return op(c)(...(mapGiven(c.args, () => rest.shift()) as readonly unknown[]))
}
const compared = (c: Case, got: unknown): void => {
  for (const [path, ours, theirs] of pairs(c, got)) {
    const where = `${label(c)} ${path}`
    expect({ where, shape: ours.shape, dtype: ours.dtype }).toEqual({ where, shape: theirs.shape, dtype: theirs.dtype })
    const d = difference(ours.data, theirs.data)
    if (!(d <= bound(theirs.dtype))) expect({ where, d, ours: ours.data }).toEqual({ where, d: 0, ours: theirs.data })
  }
}

describe('NumPy agrees about arrays', () => {
  it('in cases of every function', () => {
    expect(cases.length).toBeGreaterThan(600)
    expect(new Set(cases.map((c) => c.f)).size).toBeGreaterThan(75)
  })
  it('by meanings', () => {
    for (const c of cases) compared(c, resultOf(callWith(c, arraysOf(c).map(tensorOf))))
  })
  it('compiled, every fifth', () => {
    const backend = cpu({ verify: true })
    const run = compile as unknown as (f: unknown, b: unknown) => (...xs: readonly Tensor[]) => unknown
    for (const [k, c] of cases.entries()) {
      const xs = arraysOf(c).map(tensorOf)
      if (k % 5 === 0 && xs.length > 0) compared(c, resultOf(run((...ys: readonly unknown[]) => callWith(c, ys), backend)(...xs)))
    }
  })
})

/** Functions without a derivative, or of no float: constants and counts. */
const WITHOUT = new Set(
  'arange linspace logspace geomspace trilIndices triuIndices isinf signbit isclose allclose lexsort nanargmax nanargmin nonzero argwhere digitize bincount histogram floorDivide trunc heaviside unique'.split(
    ' ',
  ),
)
describe('derivatives of functions of arrays', () => {
  /** Of each function the smaller cases in f64 with finite numbers, with different options; one of them in f32. */
  const byName = new Map<string, Case[]>()
  for (const c of cases) {
    const xs = arraysOf(c)
    const finite = xs.every((g) => g.data.every((v) => typeof v !== 'string'))
    const small = xs.every((g) => g.data.length <= 24)
    const floats = xs.some((g) => (g.dtype === 'f64' || g.dtype === 'f32') && g.data.length > 0)
    if (!WITHOUT.has(c.f) && finite && small && floats && xs.every((g) => g.dtype !== 'bool'))
      byName.set(c.f, [...(byName.get(c.f) ?? []), c])
  }
  const chosen = [...byName.values()].flatMap((list) => {
    const spread = list.filter((_, i) => i % Math.max(1, Math.ceil(list.length / 2)) === 0)
    const single = list.find((c) => arraysOf(c).some((g) => g.dtype === 'f32'))
    return single === undefined || spread.includes(single) ? spread : [...spread, single]
  })
  it('cover the functions', () => expect(byName.size).toBeGreaterThan(55))
  it.each(some(chosen, 6, 70).map((c) => [label(c), c] as const))('%s', (_name, c) => {
    const r = (checkGrad as unknown as (f: unknown) => (...xs: readonly unknown[]) => unknown)((...ys: readonly unknown[]) =>
      floatsOf(callWith(c, ys)),
    )(...arraysOf(c).map(tensorOf))
    expect(report(r as never)).toMatch(/^ok/)
  })
})
/** Of a result what has a derivative. */
const floatsOf = (y: unknown): unknown => {
  const isFloat = (v: unknown): boolean => ['f64', 'f32'].includes((v as { readonly dtype: string }).dtype)
  if ((y as { readonly _tag?: string })._tag === 'Expr') return y
  return Object.values(y as object).filter(isFloat)
}

describe('what is left out has no say', () => {
  const withNan = cases.filter((c) => c.f.startsWith('nan') && !WITHOUT.has(c.f) && isGiven(c.args[0]) && c.args[0].data.includes('nan'))
  it('in the cotangents of functions that leave NaN out, or replace it', () => {
    expect(withNan.length).toBeGreaterThan(30)
    for (const c of withNan) {
      const x = tensorOf(c.args[0] as Given)
      const rest = c.args.slice(1)
      // Weights that are 0 at results that are NaN: lines of nothing but NaN.
      const weights = resultOf(op(c)(x, ...rest)) as { readonly shape: readonly number[]; readonly data: readonly number[] }
      const w = tensorOf({ shape: weights.shape, dtype: 'f64', data: weights.data.map((v) => (Number.isNaN(v) ? 0 : 1)) })
      const xBar = (grad as unknown as (f: unknown) => (x: Tensor) => Tensor)((y: never) =>
        (sum as AnyFunction)((mul as AnyFunction)(op(c)(y, ...rest), w)),
      )(x)
      const leaks = Array.from(xBar.data).filter((v, i) => (Number.isNaN(x.data[i]!) ? v !== 0 : Number.isNaN(v)))
      expect({ c: label(c), leaks }).toEqual({ c: label(c), leaks: [] })
    }
  })
})
