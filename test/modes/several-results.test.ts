/** Primitives of several results, whose results are reached through several nodes: a value and its derivative, both used, differentiated again. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
const { add, concat, cos, grad, map, maxPool, mul, reshape, sin, split, sum, valueAndGrad } = cd as unknown as Readonly<
  Record<string, (...xs: readonly unknown[]) => E>
>
const parts = (x: E, sizes: readonly number[]): readonly E[] => split!(x, sizes) as unknown as readonly E[]
const functions: Readonly<Record<string, (x: E) => E>> = {
  'a part of a split': (x) => sum!(sin!(parts(mul!(x, x), [0, 4])[1])),
  'two parts of a split': (x) => {
    const [a, b] = parts(mul!(x, x), [1, 3])
    return add!(sum!(sin!(a)), mul!(sum!(cos!(b)), sum!(a)))
  },
  'a part of a concat': (x) => sum!(sin!(parts(concat!([x, mul!(x, x)]), [2, 6])[1])),
  'a map of two results': (x) => {
    const [s, c] = map!((v: E) => [sin!(v), cos!(mul!(v, v))], x) as unknown as readonly [E, E]
    return sum!(mul!(s, add!(s, c)))
  },
  'a pool': (x) => sum!(sin!(maxPool!(reshape!(mul!(x, x), [1, 1, 2, 2]), { window: [1, 2] }))),
}
const modes = ['mixed', 'reverse', 'forward'] as const

describe.each(Object.entries(functions))('%s: its value and gradient, differentiated again', (_name, f) => {
  const x = [0.2, -1.1, 0.7, 0.4]
  const w = [1, -2, 0.5, 3]
  for (const inner of modes)
    it(`${inner} inside: by differences, in every mode`, () => {
      const loss = (v: E): E => {
        const r = valueAndGrad!(f, { mode: inner }) as unknown as (v: E) => { readonly value: E; readonly grad: E }
        const { value, grad: g } = r(v)
        return add!(sum!(mul!(g, w)), mul!(value, 0.3))
      }
      const at = (v: readonly number[]): number =>
        (cd.compile(loss as never, cd.cpu()) as unknown as (v: readonly number[]) => cd.Tensor)(v).item()
      const h = 1e-5
      const want = x.map((_, i) => (at(x.map((v, j) => (i === j ? v + h : v))) - at(x.map((v, j) => (i === j ? v - h : v)))) / (2 * h))
      for (const mode of modes) {
        const got = (grad!(loss, { mode }) as unknown as (v: readonly number[]) => cd.Tensor)(x).toArray() as number[]
        got.forEach((g, i) => {
          expect(Math.abs(g - want[i]!)).toBeLessThan(1e-6)
        })
      }
    })
})
