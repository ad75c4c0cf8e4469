// Conventions of the functions of arrays: who has the cotangent where elements are equal or zero, batches, empty axes, rank 0.
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { type AnyExpr, evaluate, grad, jvp, type Tensor, tensor, vmap } from '../../src/index.js'
import { untyped } from './untyped.js'

type F = (...xs: readonly unknown[]) => unknown
const cd: Readonly<Record<string, F>> = untyped as never
const value = (x: unknown): unknown => (evaluate as (e: unknown) => Tensor)(x).toArray()
const gradOf = (f: F, ...xs: readonly unknown[]): unknown =>
  ((grad as unknown as (f: F) => (...xs: readonly unknown[]) => Tensor)(f)(...xs) as Tensor).toArray()
/** The gradient of a sum with weights 1, 10, 100 ... */
const weighed =
  (f: F): F =>
  (...xs) => {
    const y = f(...xs) as AnyExpr
    const size = y.shape.reduce((a, d) => a * d, 1)
    return cd.sum!(
      cd.mul!(
        cd.reshape!(y, [size]),
        Array.from({ length: size }, (_, i) => 10 ** i),
      ),
    )
  }

describe('equals share', () => {
  it('in running extremes: those so far', () => {
    expect(
      gradOf(
        weighed((x) => cd.cummax!(x)),
        [2, 2, 1, 2],
      ),
    ).toEqual([1 + 5 + 50 + 1000 / 3, 5 + 50 + 1000 / 3, 0, 1000 / 3])
    expect(
      gradOf(
        weighed((x) => cd.cummin!(x, { reverse: true })),
        [3, 1, 1],
      ),
    ).toEqual([0, 5.5, 105.5])
    expect(
      gradOf(
        weighed((x) => cd.cummax!(x)),
        [1, 3, 2],
      ),
    ).toEqual([1, 110, 0])
    const pushed = (jvp as unknown as (f: F) => (...xs: readonly unknown[]) => readonly [unknown, Tensor])((x) => cd.cummax!(x))(
      [2, 2, 3],
      [1, 3, 7],
    )[1]
    expect(pushed.toArray()).toEqual([1, 2, 7])
    // From the first NaN on nothing has a share, and nothing is NaN.
    expect(
      gradOf(
        weighed((x) => cd.cummax!(x)),
        [1, Number.NaN, 2],
      ),
    ).toEqual([1, 0, 0])
  })
  it('in updates: what is there, and what comes', () => {
    expect(
      gradOf(
        weighed((x) => cd.maxAt!(x, [[0, 0, 1]], [3, 3, 0])),
        [3, 5],
      ),
    ).toEqual([1 / 3, 10])
    expect(
      gradOf(
        weighed((u) => cd.maxAt!(tensor([1, 5]), [[0, 0, 1]], u)),
        [3, 3, 0],
      ),
    ).toEqual([0.5, 0.5, 0])
    expect(
      gradOf(
        weighed((u) => cd.minAt!(tensor([1, 5]), [[0, 1]], u)),
        [1, 0],
      ),
    ).toEqual([0.5, 10])
    expect(
      gradOf(
        weighed((x) => cd.maxAt!(x, [':'], 2)),
        [2, 3],
      ),
    ).toEqual([0.5, 10])
    expect(
      gradOf(
        weighed((x) => cd.segmentMin!(x, [1, 1, 0], 2)),
        [4, 4, 9],
      ),
    ).toEqual([5, 5, 1])
  })
  it('in ptp and nanmax', () => {
    expect(gradOf((x) => cd.ptp!(x), [1, 4, 4])).toEqual([-1, 0.5, 0.5])
    expect(gradOf((x) => cd.nanmax!(x), [4, Number.NaN, 4])).toEqual([0.5, 0, 0.5])
  })
  it('not in what sorts: there order decides', () => {
    expect(gradOf((x) => cd.median!(x), [2, 2, 2])).toEqual([0, 1, 0])
    expect(gradOf((x) => cd.sum!(cd.at!((cd.unique!(x, { size: 2 }) as { values: unknown }).values, ':')), [2, 1, 2])).toEqual([1, 1, 0])
  })
})

describe('products of updates', () => {
  it.each([
    [
      [2, 3],
      [0, 0],
      [5, 7],
    ],
    [
      [2, 3],
      [0, 0],
      [0, 7],
    ],
    [
      [2, 3],
      [0, 0],
      [0, 0],
    ],
    [
      [0, 3],
      [0, 1],
      [5, 0],
    ],
  ])('x = %j, at %j, u = %j', (x, at, u) => {
    const f = (a: AnyExpr, b: AnyExpr) => cd.mulAt!(a, [at], b)
    expect(report((checkGrad as unknown as (f: F) => F)(f as F)(tensor(x), tensor(u)) as never)).toMatch(/^ok/)
  })
  it('of rows, of batches, by segment', () => {
    const x = tensor([[1, 2], [0, 4], [5, 0]]) // biome-ignore format: one row
    const f = (a: AnyExpr) => cd.segmentProd!(a, [0, 1, 0], 2)
    expect(report((checkGrad as unknown as (f: F) => F)(f as F)(x) as never)).toMatch(/^ok/)
    const g = (a: AnyExpr, i: AnyExpr) => cd.mulAt!(a, [i], cd.mul!(a, 2))
    const batch = (vmap as unknown as (f: F) => F)(g as F)(x, tensor([[0, 0], [1, 0], [1, 1]], [3, 2], 'i32')) as Tensor // biome-ignore format: one row
    expect(batch.toArray()).toEqual([[8, 2], [0, 0], [5, 0]]) // biome-ignore format: one row
  })
})

/** A function with arguments of which each batch has one row. */
const batched: Readonly<Record<string, readonly [f: F, ...xs: readonly Tensor[]]>> = {
  quantile: [(x) => cd.quantile!(x, 0.3), tensor([[3, 1, 2], [4, 4, 0]])], // biome-ignore format: one row
  'quantile, q too': [(x, q) => cd.quantile!(x, q), tensor([[3, 1, 2], [4, 4, 0]]), tensor([0.3, 0.8])], // biome-ignore format: one row
  nanmedian: [(x) => cd.nanmedian!(x), tensor([[3, Number.NaN, 2], [4, 4, 0]])], // biome-ignore format: one row
  interp: [(x, f) => cd.interp!(x, [0, 1, 2], f), tensor([[0.5, 1.5], [3, 0]]), tensor([[1, 2, 4], [0, 1, 0]])], // biome-ignore format: one row
  'interp, points too': [(p) => cd.interp!([0.5, 1.5], p, [1, 5, 7]), tensor([[0, 1, 2], [-1, 1, 3]])], // biome-ignore format: one row
  unique: [(x) => (cd.unique!(x, { size: 3 }) as { values: unknown }).values, tensor([[3, 1, 3], [4, 4, 0]])], // biome-ignore format: one row
  booleanMask: [(x) => cd.booleanMask!(x, cd.gt!(x, 1), { size: 2 }), tensor([[3, 1, 3], [4, 0, 0]])], // biome-ignore format: one row
  histogram: [(x) => (cd.histogram!(x, { bins: 2 }) as { counts: unknown }).counts, tensor([[3, 1, 3], [4, 0, 0]])], // biome-ignore format: one row
  segmentMax: [(x, i) => cd.segmentMax!(x, i, 2), tensor([[3, 1, 3], [4, 0, 0]]), tensor([[0, 1, 0], [1, 1, 5]], [2, 3], 'i32')], // biome-ignore format: one row
  maxAt: [(x, i) => cd.maxAt!(x, [i], [2, 2]), tensor([[3, 1, 3], [4, 0, 0]]), tensor([[0, 1], [1, 1]], [2, 2], 'i32')], // biome-ignore format: one row
  cummax: [(x) => cd.cummax!(x), tensor([[3, 1, 4], [4, 5, 0]])], // biome-ignore format: one row
  putAlongAxis: [(x) => cd.putAlongAxis!(x, [1], 9), tensor([[3, 1, 4], [4, 5, 0]])], // biome-ignore format: one row
  convolve: [(x, k) => cd.convolve!(x, k), tensor([[3, 1, 4], [4, 5, 0]]), tensor([[1, 2], [0, 1]])], // biome-ignore format: one row
  gradient: [(x) => cd.gradient!(x, { axis: 0 }), tensor([[3, 1, 4], [4, 5, 0]])], // biome-ignore format: one row
  pad: [(x) => cd.pad!(x, 2, { mode: 'reflect' }), tensor([[3, 1, 4], [4, 5, 0]])], // biome-ignore format: one row
}
describe('vmap is the stack of single results', () => {
  it.each(Object.entries(batched))('%s', (_name, [f, ...xs]) => {
    const rows = [0, 1].map((i) => value(f(...xs.map((x) => cd.at!(x, i)))))
    expect((vmap as unknown as (f: F) => (...xs: readonly unknown[]) => Tensor)(f)(...xs).toArray()).toEqual(rows)
  })
})

describe('at the edges', () => {
  const empty = tensor([], [0])
  it('of nothing', () => {
    for (const f of ['flatten', 'trunc', 'cummax', 'cummin', 'diff', 'nanToNum', 'isinf', 'atleast1d', 'flipud'])
      expect(value(cd[f]!(empty)), f).toEqual([])
    expect(value(cd.segmentSum!(empty, [], 2))).toEqual([0, 0])
    expect(value(cd.segmentMax!(empty, [], 1))).toEqual([Number.NEGATIVE_INFINITY])
    expect(value(cd.segmentMean!(tensor([1]), [1], 2))).toEqual([0, 1])
    expect(value(cd.segmentSoftmax!(empty, [], 2))).toEqual([])
    expect(value(cd.bincount!([], { size: 2 }))).toEqual([0, 0])
    expect((cd.nonzero!(empty, { size: 2 }) as unknown[]).map(value)).toEqual([[0, 0]])
    expect(value((cd.unique!(empty, { size: 1 }) as { counts: unknown }).counts)).toEqual([0])
    expect(value(cd.trapezoid!(empty))).toBe(0)
    expect(value(cd.convolve!([2], [3]))).toEqual([6])
    expect(value(cd.nansum!(empty))).toBe(0)
    expect(value(cd.maxAt!(tensor([1]), [[]], tensor([], [0])))).toEqual([1])
    expect(value(cd.polyval!([], [1, 2]))).toEqual([0, 0])
  })
  it('segmentSoftmax is the softmax of each segment; rows of none are 0, masked ones too, whatever stands there', () => {
    const ids = [2, 0, 2, 7, 0, -1, 2]
    const rows = [[1, -2], [300, 0.5], [Number.NEGATIVE_INFINITY, 3], [Number.NaN, 1e300], [299, -0.5], [1e308, 5], [0, 1]] // biome-ignore format: a table
    const got = value(cd.segmentSoftmax!(tensor(rows), ids, 4)) as number[][]
    const wanted = rows.map((row, i) =>
      row.map((_, c) => {
        if (ids[i]! < 0 || ids[i]! > 3) return 0
        const own = rows.flatMap((other, j) => (ids[j] === ids[i] ? [other[c]!] : []))
        const most = Math.max(...own)
        return Math.exp(rows[i]![c]! - most) / own.reduce((sum, x) => sum + Math.exp(x - most), 0)
      }),
    )
    for (const [i, row] of wanted.entries()) for (const [c, w] of row.entries()) expect(got[i]![c], `${i}, ${c}`).toBeCloseTo(w, 14)
    const bars = gradOf(
      (x) =>
        cd.sum!(
          cd.mul!(
            cd.segmentSoftmax!(x, ids, 4),
            rows.map((_, i) => [i, 1]),
          ),
        ),
      tensor(rows),
    ) as number[][]
    expect([bars[3], bars[5]]).toEqual([[0, 0], [0, 0]]) // biome-ignore format: one row
    expect(bars.flat().every(Number.isFinite)).toBe(true)
    // of a single segment it is softmax, and so are its derivatives
    const x = tensor([0.3, -1, 2])
    const weighted = (f: F) => (v: unknown) => cd.sum!(cd.mul!(f(v), [1, -2, 5]))
    const [a, b] = [(v: unknown) => cd.segmentSoftmax!(v, [0, 0, 0], 1), (v: unknown) => cd.softmax!(v)].map(
      (f) => gradOf(weighted(f), x) as number[],
    )
    for (const [i, w] of b!.entries()) expect(a![i]).toBeCloseTo(w, 14)
  })
  it('of numbers', () => {
    for (const f of ['median', 'nanmedian', 'ptp', 'nanmean', 'nanmax', 'average', 'trunc', 'nanToNum'])
      expect(typeof value(cd[f]!(2)), f).toBe('number')
    expect(value(cd.interp!(0.5, [0, 1], [0, 10]))).toBe(5)
    expect(value(cd.flatten!(3))).toEqual([3])
    expect(value(cd.quantile!(7, 0.3))).toBe(7)
  })
  it('dtypes stay', () => {
    const x = tensor([1, 2, 4], [3], 'f32')
    const i = tensor([1, 2, 4], [3], 'i32')
    for (const f of ['median', 'cummax', 'nanmean', 'trunc', 'diff', 'average', 'cov', 'ptp', 'nanvar', 'trapezoid', 'nanToNum', 'flatten'])
      expect((cd[f]!(x) as AnyExpr).dtype, f).toBe('f32')
    for (const f of ['cummin', 'diff', 'ptp', 'nansum', 'nanmax', 'nanToNum', 'flatten'])
      expect((cd[f]!(i) as AnyExpr).dtype, f).toBe('i32')
    for (const f of ['median', 'nanmean', 'average', 'cov', 'trapezoid', 'trunc']) expect((cd[f]!(i) as AnyExpr).dtype, f).toBe('f64')
    expect((cd.quantile!(x, 0.3) as AnyExpr).dtype).toBe('f32')
    expect((cd.interp!(x, [0, 1], [0, 1]) as AnyExpr).dtype).toBe('f32')
    expect((cd.heaviside!(x, 0.5) as AnyExpr).dtype).toBe('f32')
    expect((cd.fmod!(i, 2) as AnyExpr).dtype).toBe('i32')
    expect((cd.segmentMean!(i, [0, 0, 1], 2) as AnyExpr).dtype).toBe('f64')
    expect((cd.add!(x, cd.linspace!(0, 1, 3, { endpoint: false })) as AnyExpr).dtype).toBe('f32')
    expect((cd.add!(x, cd.arange!(1, 4)) as AnyExpr).dtype).toBe('f32')
    expect((cd.add!(x, cd.geomspace!(1, 4, 3)) as AnyExpr).dtype).toBe('f32')
  })
})

describe('histogram', () => {
  it('puts each element into the same bin whether equally wide ones are counted or given by their edges: at edges, outside, of NaN', () => {
    let seed = 1
    const next = (): number => {
      seed = (seed * 16807) % 2147483647
      return seed / 2147483647
    }
    for (let k = 0; k < 60; k++) {
      const bins = 1 + Math.floor(40 * next())
      const low = (next() - 0.5) * 10 ** (6 * next() - 3)
      const high = low + 10 ** (6 * next() - 3)
      const dtype = k % 2 === 0 ? 'f32' : 'f64'
      const numbers = Array.from(
        { length: 150 },
        (_, i) => low + (high - low) * (i % 2 === 0 ? Math.floor(next() * (bins + 1)) / bins : 1.4 * next() - 0.2),
      )
      const x = tensor([...numbers, low, high, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY], [155], dtype)
      const of = (bins: unknown, more: object = {}) => cd.histogram!(x, { bins, ...more }) as Readonly<Record<'counts' | 'edges', AnyExpr>>
      const { counts, edges } = of(bins, { range: [low, high] })
      expect(value(counts), `${bins} ${low} ${high} ${dtype}`).toEqual(value(of(edges).counts))
    }
  })
})
