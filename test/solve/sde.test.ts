/** Stochastic differential equations: strong orders on one Brownian path, moments, keys, general noise, derivatives, and what is refused. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { key, normal, splitKey } from '../../src/random/index.js'
import { sdeint } from '../../src/solve/index.js'
import { sdePath, sdeSteps, type Terms } from '../../src/solve/sde.js'
import { count, some } from '../depth.js'
import { type E, message, near, onCpu, ops, value } from './run.js'

const { add, at, cos, exp, matmul, mul, neg, reshape, sin, stack, sub, sum, tensor, vmap } = ops as Record<
  string,
  (...xs: readonly unknown[]) => E
>
type Options = NonNullable<Parameters<typeof sdeint>[6]>
const solve = (f: unknown, g: unknown, k: unknown, y0: unknown, ts: unknown, params: unknown = {}, options: Options = {}): E =>
  (sdeint(f as never, g as never, k as never, y0 as never, ts as never, params as never, options) as { readonly ys: never }).ys

/** The mean over paths of the error at time 1, by steps of 2^-k on the same path. */
const strongErrors = (
  method: keyof typeof sdeSteps,
  terms: Terms,
  y0: number,
  exact: (w: number) => number,
  levels: readonly number[],
): readonly number[] => {
  const [paths, most] = [count(200, 600), Math.max(...levels)]
  const fine = value(normal(key(3), [paths, 2 ** most])) as number[][]
  return levels.map((level) => {
    const [n, each] = [2 ** level, 2 ** (most - level)]
    const increments = fine.map((row) =>
      Array.from({ length: n }, (_, i) => row.slice(i * each, (i + 1) * each).reduce((a, b) => a + b, 0) / Math.sqrt(2 ** most)),
    )
    const one = (w: E): E => sdePath(sdeSteps[method], terms, tensor!([y0]), tensor!([0, 1]), n, (i) => reshape!(at!(w, i as never), [1]))
    const ends = (onCpu(vmap!(one as never), tensor!(increments)) as number[][][]).map((p) => p[1]![0]!)
    return ends.reduce((s, y, i) => s + Math.abs(y - exact(fine[i]!.reduce((a, b) => a + b, 0) / Math.sqrt(2 ** most))), 0) / paths
  })
}
const orderOf = (errors: readonly number[]): number => Math.log2(errors[0]! / errors.at(-1)!) / (errors.length - 1)

describe('sdeint', () => {
  it('has the strong orders of its methods, on one Brownian path', () => {
    // dy = 0.5 y dt + 0.8 y dW: of Ito y = exp((0.5 - 0.32) t + 0.8 W), of Stratonovich y = exp(0.5 t + 0.8 W)
    const terms: Terms = { drift: (_t, y) => mul!(0.5, y), diffusion: (_t, y) => mul!(0.8, y), general: false }
    const ito = (w: number): number => Math.exp(0.18 + 0.8 * w)
    const euler = strongErrors('euler', terms, 1, ito, [4, 5, 6, 7])
    const milstein = strongErrors('milstein', terms, 1, ito, [4, 5, 6, 7])
    const heun = strongErrors('heun', terms, 1, (w) => Math.exp(0.5 + 0.8 * w), [4, 5, 6, 7])
    expect(orderOf(euler)).toBeGreaterThan(0.35)
    expect(orderOf(euler)).toBeLessThan(0.7)
    expect(orderOf(milstein)).toBeGreaterThan(0.85)
    expect(orderOf(heun)).toBeGreaterThan(0.85)
    expect(milstein.at(-1)!).toBeLessThan(0.3 * euler.at(-1)!)
    // Additive noise: dy = -y dt + 0.5 dW, compared with the finest steps
    const additive: Terms = { drift: (_t, y) => neg!(y), diffusion: () => tensor!([0.5]), general: false }
    const means = strongErrors('euler', additive, 1, () => 0, [4])
    expect(means[0]!).toBeGreaterThan(0)
  })
  it('has the moments of the Ornstein-Uhlenbeck process, in trees, over many keys', () => {
    const f = (_t: E, { y }: { y: E }, { rate }: { rate: E }): { y: E } => ({ y: neg!(mul!(rate, y)) })
    const g = (_t: E, _y: unknown, { size }: { size: E }): { y: E } => ({ y: mul!(size, tensor!([1, 2])) })
    const n = count(1500, 6000)
    const paths = vmap!(((k: E) => (solve(f, g, k, { y: [1, -1] }, [0, 0.5, 1], { rate: 2, size: 0.5 }, { substeps: 40 }) as unknown as { y: E }).y) as never) as unknown as (k: unknown) => E // biome-ignore format: one line
    const ys = onCpu(() => paths(splitKey(key(5), n))) as number[][][]
    for (const [i, scale] of [1, 2].entries()) {
      const ends = ys.map((p) => p[2]![i]!)
      const mean = ends.reduce((a, b) => a + b, 0) / n
      const variance = ends.reduce((a, b) => a + (b - mean) ** 2, 0) / n
      const want = ((0.5 * scale) ** 2 / 4) * (1 - Math.exp(-4))
      expect(Math.abs(mean - (i === 0 ? 1 : -1) * Math.exp(-2))).toBeLessThan(5 * Math.sqrt(want / n) + 0.01)
      expect(Math.abs(variance / want - 1)).toBeLessThan(5 * Math.sqrt(2 / n) + 0.03)
    }
  })
  it('gives equal paths for equal keys, and no noise where there is none, backwards too', () => {
    const path = (k: number, options: Options = {}): number[] =>
      value(
        solve(
          (_t: E, y: E) => neg!(y),
          (_t: E, y: E) => y,
          key(k),
          tensor!(1),
          [0, 0.5, 1],
          {},
          { substeps: 4, ...options },
        ),
      )
    expect(path(1)).toEqual(path(1))
    expect(path(1)).not.toEqual(path(2))
    for (const method of ['euler', 'milstein', 'heun'] as const) {
      const still = value(
        solve(
          (_t: E, y: E) => neg!(y),
          (_t: E, y: E) => mul!(0, y),
          key(0),
          tensor!(1),
          [1, 0],
          {},
          { substeps: 200, method },
        ),
      )
      near(still, [1, Math.E], 2e-2)
    }
    expect(
      value(
        solve(
          (_t: E, y: E) => y,
          (_t: E, y: E) => y,
          key(0),
          [1, 2],
          [3],
        ),
      ),
    ).toEqual([[1, 2]])
  })
  it('has general noise: correlated increments', () => {
    const n = count(1500, 6000)
    const root = tensor!([[1, 0, 0.5], [0.6, 0.8, 0]]) // biome-ignore format: a matrix
    for (const method of ['euler', 'heun'] as const) {
      const one = (k: E): E =>
        solve(
          (_t: E, y: E) => mul!(0, y),
          () => root,
          k,
          [0, 0],
          [0, 1],
          {},
          { noise: 'general', method },
        )
      const ends = (onCpu(() => (vmap!(one as never) as unknown as (k: unknown) => E)(splitKey(key(9), n))) as number[][][]).map(
        (p) => p[1]!,
      )
      const product = (i: number, j: number): number => ends.reduce((s, y) => s + y[i]! * y[j]!, 0) / n
      near([product(0, 0), product(0, 1), product(1, 1)], [1.25, 0.6, 1], 6 * Math.sqrt(2 / n))
    }
  })
  it('has derivatives of its steps', () => {
    for (const method of some(['milstein', 'euler', 'heun'] as const, 1)) {
      const c = checkGrad(((y0: E, p: E) =>
        sum!(
          exp!(
            mul!(
              0.1,
              solve(
                (t: E, y: E, a: E) => sub!(cos!(t), mul!(a, y)),
                (_t: E, y: E, a: E) => mul!(a, sin!(y)),
                key(4),
                y0,
                [0, 0.4, 1],
                p,
                { substeps: 3, method },
              ),
            ),
          ),
        )) as never)(tensor!([1, 0.5]) as never, tensor!(0.7) as never)
      expect(c._tag === 'Right' ? '' : report(c as never)).toBe('')
    }
  })
  it('refuses what does not fit', () => {
    const f = (_t: E, y: E): E => y
    expect(message(() => solve(f, (_t: E, y: E) => stack!([y, y]), key(0), [1, 2], [0, 1]))).toMatch(/g\(t, y\)/)
    expect(message(() => solve(f, (_t: E, y: E) => y, key(0), [1, 2], [0, 1], {}, { noise: 'general' }))).toMatch(
      /g\(t, y\) is of shape \[2\] where y has 2 elements/,
    )
    expect(message(() => solve(f, (_t: E, y: E) => matmul!(tensor!([[1], [2]]), reshape!(at!(y, 0), [1, 1])), key(0), [1, 2], [0, 1], {}, { noise: 'general', method: 'milstein' }))).toMatch(/'milstein' is for diagonal noise/) // biome-ignore format: one line
    expect(message(() => solve(f, f, key(0), [1, 2], [0, 2, 1]))).toMatch(/the times turn at place 2/)
    expect(message(() => solve(f, f, key(0), [1, 2], []))).toMatch(/the times are of shape \[0\]/)
    expect(message(() => solve(f, f, key(0), add!(1, 2), [0, 1], {}, { substeps: 0 }))).toMatch(/substeps is 0/)
  })
})
