/** Densities, their gradients, distribution functions, quantiles, moments and entropies against SciPy and mpmath. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, evaluate, grad, sum, type Tensor, tensor } from '../../src/index.js'
import { golden, isDiscrete, label, makers, type Row } from './table.js'

/** The largest error, relative to numbers above 1 or, for `relative`, to all. */
const worst = (found: ArrayLike<number>, wanted: readonly (number | string | null)[], relative = false): number =>
  Math.max(
    0,
    ...wanted.map((w, i) => {
      const [f, g] = [found[i]!, Number(w)]
      if (w === null) return Number.isNaN(f) ? 0 : Number.POSITIVE_INFINITY
      if (f === g) return 0
      const scale = relative && g !== 0 ? Math.abs(g) : Math.max(1, Math.abs(g))
      const error = Math.abs(f - g) / scale
      return Number.isNaN(error) ? Number.POSITIVE_INFINITY : error
    }),
  )
const numbers = (x: unknown): ArrayLike<number> => (evaluate(x as AnyExpr) as Tensor).data as never
/** A parameter for each x, so that a gradient of the sum has each derivative by itself. */
const spread = (r: Row): Tensor[] => r.params.map((p) => tensor(new Array(r.x.length).fill(p) as number[]) as Tensor)

describe.each(golden.rows.map((r) => [label(r), r] as const))('%s', (_, r) => {
  const make = makers[r.name]!
  const d = make(...r.params)
  const x = tensor(r.x as number[]) as Tensor

  it('has the density, and its gradients', () => {
    expect(worst(numbers(d.logProb(x)), r.logProb)).toBeLessThan(1e-10)
    const byParams = r.params.map((_, i) => i).filter((i) => r.dp.every((row) => row[i] !== null))
    const f = (at: AnyExpr, ...p: readonly AnyExpr[]): AnyExpr => sum(make(...p).logProb(at)) as AnyExpr
    const all = spread(r)
    const wrt = [...(isDiscrete(r) ? [] : [0]), ...byParams.map((i) => i + 1)]
    for (const k of wrt) {
      const g = grad(((...given: readonly AnyExpr[]) => f(given[0]!, ...given.slice(1))) as never, { wrt: k as never } as never) as (
        ...a: readonly unknown[]
      ) => Tensor
      const found = g(x, ...all)
      const wanted = k === 0 ? r.dx : r.dp.map((row) => row[k - 1]!)
      expect(worst(found.data as never, wanted), k === 0 ? 'by x' : `by parameter ${k}`).toBeLessThan(1e-10)
    }
  })
  if (r.cdf !== undefined)
    it('has the distribution function', () => {
      expect(d.cdf).toBeDefined()
      expect(worst(numbers(d.cdf!(x)), r.cdf!, true)).toBeLessThan(1e-10)
    })
  if (r.logSurvival !== undefined)
    it('has the logarithm of its tail', () => {
      expect(worst(numbers(d.logSurvival!(x)), r.logSurvival!, true)).toBeLessThan(1e-10)
    })
  if (r.icdf !== undefined && d.icdf !== undefined)
    it('has the quantiles', () => {
      expect(worst(numbers(d.icdf!(r.q!)), r.icdf!, true)).toBeLessThan(1e-10)
    })
  it('has the moments and the entropy', () => {
    for (const what of ['mean', 'variance', 'entropy'] as const) {
      const wanted = r[what]
      if (wanted === undefined || d[what] === undefined) continue
      expect(worst(numbers(d[what]!()), [wanted]), what).toBeLessThan(1e-10)
    }
  })
})
