// exp and exp2 where results are below the normal range, or none: each rounded once, as large numbers of them are in masked scores.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

const least = { f32: 2 ** -149, f64: 2 ** -1074 } as const
const ranges = { exp: { f32: [-104.5, -85], f64: [-746, -705] }, exp2: { f32: [-151, -124], f64: [-1076, -1020] } } as const
const exact = { exp: Math.exp, exp2: (x: number) => 2 ** x } as const

describe.each(['exp', 'exp2'] as const)('%s below the normal range', (name) => {
  const f = { exp: cd.exp, exp2: cd.exp2 }[name] as (x: cd.AnyExpr) => cd.AnyExpr
  const of = (dtype: 'f32' | 'f64', xs: ArrayLike<number>): ArrayLike<number> =>
    (cd.evaluate(f(cd.tensor(new (dtype === 'f32' ? Float32Array : Float64Array)(xs), [xs.length]) as never) as never) as cd.Tensor).data
  it.each(['f32', 'f64'] as const)('%s: within one of the smallest numbers, and 0 or that beyond', (dtype) => {
    const [from, to] = ranges[name][dtype]
    const n = 20_001
    const points = Array.from({ length: n }, (_, i) => from + ((to - from) * i) / n)
    const xs = dtype === 'f32' ? Float32Array.from(points) : Float64Array.from(points)
    const ys = of(dtype, xs)
    let below = 0
    for (let i = 0; i < n; i++) {
      const want = exact[name](xs[i]!)
      if (want < 2 ** (dtype === 'f32' ? -126 : -1022)) below++
      // a last place of the result, or of the smallest normal number
      const place = Math.max(least[dtype], want * 2 ** (dtype === 'f32' ? -23 : -52))
      expect(Math.abs(ys[i]! - want) / place, `${name}(${xs[i]}) = ${ys[i]}, not ${want}`).toBeLessThan(dtype === 'f32' ? 1.01 : 2)
    }
    expect(below).toBeGreaterThan(n / 2)
  })
  it('is 0 for numbers far below, beside others in any lane, and NaN of NaN', () => {
    for (const dtype of ['f32', 'f64'] as const)
      for (let lane = 0; lane < 4; lane++)
        for (const far of [Number.NEGATIVE_INFINITY, -1e30, -1e5]) {
          const xs = [0, 1, Number.NaN, Number.POSITIVE_INFINITY]
          xs[lane] = far
          const want = [1, exact[name](1), Number.NaN, Number.POSITIVE_INFINITY]
          want[lane] = 0
          const got = of(dtype, xs)
          want.forEach((w, i) => {
            if (Number.isFinite(w)) expect(Math.abs(got[i]! - w)).toBeLessThanOrEqual(3e-7)
            else expect(got[i]).toBe(w)
          })
          expect(Object.is(got[lane], 0)).toBe(true)
        }
  })
})
