/** Sums of many f32: within 10^-6 of the exact sum along any axis, on every path that adds numbers up. */

import { describe, expect, it } from 'vitest'
import type { SyncBackend } from '../../src/core/functions/backend.js'
import { range } from '../../src/core/graph/shape.js'
import * as c from '../../src/index.js'
import { some } from '../depth.js'

/** Any operation, without its types: shapes here are data. */
type Any = Record<string, (...xs: unknown[]) => unknown>
const cd = c as unknown as Any
const simd = c.cpu({ verify: true })
const plain = c.cpu({ simd: false, verify: true })

const positive = (n: number): Float32Array => {
  const a = new Float32Array(n)
  let s = 12345
  for (let i = 0; i < n; i++) {
    s = (Math.imul(s, 1664525) + 1013904223) | 0
    a[i] = (s >>> 8) / 2 ** 24
  }
  return a
}
const many = positive(1e7)
const tensor = (shape: readonly number[], data: Float32Array = many): unknown =>
  cd.tensor!(
    data.subarray(
      0,
      shape.reduce((n, d) => n * d, 1),
    ),
    shape,
  )
const filled = (v: number, shape: readonly number[]): unknown =>
  cd.tensor!(new Float32Array(shape.reduce((n, d) => n * d, 1)).fill(v), shape)
const run = (b: SyncBackend, f: (...xs: never[]) => unknown, ...xs: unknown[]): ArrayLike<number> => {
  const y = (cd.compile!(f, b) as (...xs: unknown[]) => unknown)(...xs)
  return typeof y === 'number' ? [y] : (y as { readonly data: ArrayLike<number> }).data
}
/** Totals in f64 over the axes, of f at each element. */
const exact = (
  data: ArrayLike<number>,
  shape: readonly number[],
  axes: readonly number[],
  f: (x: number) => number = (x) => x,
): Float64Array => {
  const strides = new Array<number>(shape.length).fill(0)
  let size = 1
  for (let a = shape.length - 1; a >= 0; a--)
    if (!axes.includes(a)) {
      strides[a] = size
      size *= shape[a]!
    }
  const out = new Float64Array(size)
  const index = new Array<number>(shape.length).fill(0)
  const n = shape.reduce((m, d) => m * d, 1)
  for (let i = 0, at = 0; i < n; i++) {
    out[at]! += f(data[i]!)
    for (let a = shape.length - 1; a >= 0; a--) {
      index[a]!++
      at += strides[a]!
      if (index[a]! < shape[a]!) break
      at -= strides[a]! * shape[a]!
      index[a] = 0
    }
  }
  return out
}
const error = (got: ArrayLike<number>, want: ArrayLike<number>): number => {
  expect(got.length).toBe(want.length)
  let worst = 0
  for (let i = 0; i < want.length; i++) {
    const e = Math.abs(got[i]! - want[i]!) / Math.abs(want[i]!)
    if (!(e <= worst)) worst = e
  }
  return worst
}
const LIMIT = 3e-7

describe('10^7 numbers, any axis', () => {
  const cases: readonly (readonly [shape: readonly number[], axes: readonly number[]])[] = [
    [[1e7], [0]],
    [[1e6, 10], [0]],
    [[10, 1e6], [1]],
    [[2500, 4000], [0]],
    [[10, 1e5, 10], [1]],
    [
      [1000, 10, 1000],
      [0, 2],
    ],
    [
      [100, 1000, 100],
      [0, 1],
    ],
    [
      [1e6, 5, 2],
      [0, 2],
    ],
  ]
  for (const [shape, axes] of some(cases, 3))
    it(`[${shape}] over ${axes}`, () => {
      const x = tensor(shape)
      const want = exact(many, shape, axes)
      expect(
        error(
          run(simd, (y) => cd.sum!(y, { axis: axes, keepdims: true }), x),
          want,
        ),
      ).toBeLessThan(LIMIT)
      // An elementwise expression is summed in the same loop; a transposed argument is read through its strides.
      const back = range(shape.length).reverse()
      const turned = (y: unknown): unknown => (shape.length === 1 ? y : cd.transpose!(y, back))
      const mean = (y: unknown): unknown =>
        turned(cd.mean!(cd.mul!(turned(y), 2), { axis: axes.map((a) => shape.length - 1 - a), keepdims: true }))
      const got = run(simd, mean, x)
      expect(
        error(
          got,
          want.map((t) => (2 * t * want.length) / 1e7),
        ),
      ).toBeLessThan(LIMIT)
    })
  it('a sum of equals: roundings that all go one way', () => {
    for (const v of [0.1, 1 / 3, Math.PI].map(Math.fround)) {
      const x = cd.tensor!(new Float32Array(6).fill(v), [6])
      const wide = (y: unknown) => cd.broadcastTo!(y, [1_500_000, 6])
      expect(
        error(
          run(simd, (y) => cd.mean!(wide(y), { axis: 0 }), x),
          new Float64Array(6).fill(v),
        ),
      ).toBeLessThan(1e-6)
      expect(
        error(
          run(simd, (y) => cd.mean!(wide(y)), x),
          [v],
        ),
      ).toBeLessThan(1e-6)
      // A body that is too long to be unrolled.
      const long = (y: unknown) => range(8).reduce((z, k) => cd.add!(z, k), y)
      expect(
        error(
          run(simd, (y) => cd.mean!(wide(long(y))), x),
          [v + 28],
        ),
      ).toBeLessThan(1e-6)
    }
  })
  it('the mean of 2^25 ones is 1', () => {
    const x = filled(1, [4])
    expect([...(run(simd, (y) => cd.mean!(cd.broadcastTo!(y, [2 ** 25, 4]), { axis: 0 }), x) as Float32Array)]).toEqual(
      new Array(4).fill(1),
    )
    expect([...(run(simd, (y) => cd.mean!(cd.broadcastTo!(y, [2 ** 25, 4])), x) as number[])]).toEqual([1])
  })
})

describe.each([
  ['simd', simd, 1e6],
  ['plain', plain, 1e5],
] as const)('everything that adds up: %s', (_name, b, n) => {
  const rows = n / 10
  const x = tensor([rows, 10])
  const columns = exact(many, [rows, 10], [0])
  const each = (v: number) => columns.map((t) => v * t)

  it('several folds in one loop, rows longer than a strip', () => {
    const shape = [n / 5000, 5000]
    const y = tensor(shape)
    const f = (z: unknown) => [
      cd.sum!(z, { axis: 0 }),
      cd.sum!(z, { axis: 1 }),
      cd.sum!(z),
      cd.max!(z, { axis: 0 }),
      cd.max!(z, { axis: 1 }),
      cd.prod!(cd.add!(cd.mul!(z, 1e-6), 1), { axis: 0 }),
    ]
    const got = (cd.compile!(f, b) as (z: unknown) => readonly unknown[])(y).map((r) =>
      typeof r === 'number' ? [r] : (r as { data: ArrayLike<number> }).data,
    )
    expect(error(got[0]!, exact(many, shape, [0]))).toBeLessThan(LIMIT)
    expect(error(got[1]!, exact(many, shape, [1]))).toBeLessThan(LIMIT)
    expect(error(got[2]!, exact(many, shape, [0, 1]))).toBeLessThan(LIMIT)
    const top = (axis: number) =>
      range(shape[1 - axis]!).map((i) =>
        range(shape[axis]!).reduce((m, k) => Math.max(m, many[axis === 0 ? k * 5000 + i : i * 5000 + k]!), 0),
      )
    expect([...(got[3] as Float32Array)]).toEqual(top(0))
    expect([...(got[4] as Float32Array)]).toEqual(top(1))
    expect(
      error(got[5]!, exact(many, shape, [0], (v) => Math.log(Math.fround(1 + Math.fround(v * Math.fround(1e-6))))).map(Math.exp)),
    ).toBeLessThan(LIMIT)
  })
  it('into an accumulator', () => {
    const acc = cd.tensor!(new Float32Array(10).fill(7), [10])
    const f = (a: unknown, y: unknown) => cd.add!(cd.mul!(a, 3), cd.sum!(cd.mul!(y, 2), { axis: 0 }))
    expect(
      error(
        run(b, f, acc, x),
        columns.map((t) => 21 + 2 * t),
      ),
    ).toBeLessThan(LIMIT)
  })
  it('the gradient of a bias', () => {
    const loss = (bias: unknown, y: unknown) => cd.sum!(cd.mul!(cd.add!(y, bias), y))
    const bias = filled(0, [10])
    expect(
      error(
        run(b, (a, y) => (cd.grad!(loss) as (...xs: unknown[]) => unknown)(a, y), bias, x),
        columns,
      ),
    ).toBeLessThan(LIMIT)
  })
  it('what is made of sums', () => {
    const mean = columns.map((t) => t / rows)
    const variance = mean.map((m, j) => range(rows).reduce((s, i) => s + (many[10 * i + j]! - m) ** 2, 0) / rows)
    expect(
      error(
        run(b, (y) => cd.variance!(y, { axis: 0 }), x),
        variance,
      ),
    ).toBeLessThan(1e-6)
    const squares = exact(many, [rows, 10], [0], (v) => v * v)
    expect(
      error(
        run(b, (y) => cd.norm!(y, { axis: 0 }), x),
        squares.map(Math.sqrt),
      ),
    ).toBeLessThan(LIMIT)
    const powers = exact(many, [rows, 10], [0], Math.exp)
    expect(
      error(
        run(b, (y) => cd.logsumexp!(y, { axis: 0 }), x),
        powers.map(Math.log),
      ),
    ).toBeLessThan(LIMIT)
    expect(
      error(
        run(b, (y) => cd.sum!(cd.softmax!(y, { axis: 0 }), { axis: 0 }), x),
        each(0).fill(1),
      ),
    ).toBeLessThan(1e-6)
  })
  it('a product', () => {
    const factors = cd.tensor!(new Float32Array(8).fill(1 + 1e-5), [8])
    const want = new Float64Array(8).fill(Math.fround(1 + 1e-5) ** rows)
    expect(
      error(
        run(b, (y) => cd.prod!(cd.broadcastTo!(y, [rows, 8]), { axis: 0 }), factors),
        want,
      ),
    ).toBeLessThan(LIMIT)
    expect(
      error(
        run(b, (y) => cd.prod!(cd.broadcastTo!(y, [8, rows]), { axis: 1 }), filled(1 + 1e-5, [8, 1])),
        want,
      ),
    ).toBeLessThan(LIMIT)
    expect(
      [...(run(b, (y) => cd.prod!(y), cd.tensor!([1e30, 1e30, 1e-30, 1e-30], [4], 'f32')) as number[])].map((v) => Math.abs(v - 1) < 1e-6),
    ).toEqual([true])
  })
  it('running sums, and many rows added to one', () => {
    const tenth = cd.tensor!(new Float32Array(n).fill(0.1), [n])
    const total = Math.fround(0.1) * n
    const running = run(b, (y) => cd.cumsum!(y), tenth)
    expect(error([running[n - 1]!], [total])).toBeLessThan(LIMIT)
    const at = cd.tensor!(new Int32Array(n), [n])
    expect(
      error(
        run(b, (z, i, u) => cd.scatterAdd!(z, i, u), filled(0, [1]), at, tenth),
        [total],
      ),
    ).toBeLessThan(LIMIT)
    const taken = (z: unknown, i: unknown) => cd.sum!(cd.mul!(cd.takeAlongAxis!(z, i), tenth))
    expect(
      error(
        run(b, (z, i) => (cd.grad!(taken) as (...xs: unknown[]) => unknown)(z, i), filled(0, [1]), at),
        [total],
      ),
    ).toBeLessThan(LIMIT)
    const kept = run(
      b,
      (z, i, u) => cd.scatterAdd!(z, i, u),
      cd.tensor!([5, 6, 7], [3], 'f32'),
      cd.tensor!([2, 0, 2], [3], 'i32'),
      cd.tensor!([1, 2, 3], [3], 'f32'),
    )
    expect([...(kept as Float32Array)]).toEqual([7, 6, 11])
  })
  it('the mean of a large window', () => {
    for (const [h, w] of [
      [1000, n / 1000],
      [n / 1000, 1000],
    ] as const)
      expect(
        error(
          run(b, (y) => cd.avgPool!(y, { window: [h, w] }), tensor([1, 1, h, w])),
          exact(many, [h, w], [0, 1]).map((t) => t / n),
        ),
      ).toBeLessThan(LIMIT)
  })
})

describe('products with a long inner axis', () => {
  const sizes: readonly (readonly [number, number, number])[] = [
    [4, 1_000_000, 2],
    [1, 200_000, 9],
    [9, 200_000, 1],
    [515, 4097, 3],
    [2, 9000, 1027],
  ]
  it.each(some(sizes, 2))('%d x %d x %d', (m, k, n) => {
    const [a, x] = [many.slice(0, m * k), many.slice(0, k * n).reverse()]
    const want = new Float64Array(m * n)
    for (let i = 0; i < m; i++) for (let l = 0; l < k; l++) for (let j = 0; j < n; j++) want[i * n + j]! += a[i * k + l]! * x[l * n + j]!
    const flip = (data: Float32Array, r: number, s: number) => new Float32Array(r * s).map((_, i) => data[(i % r) * s + Math.floor(i / r)]!)
    const [A, X] = [cd.tensor!(a, [m, k]), cd.tensor!(x, [k, n])]
    expect(
      error(
        run(simd, (p, q) => cd.matmul!(p, q), A, X),
        want,
      ),
    ).toBeLessThan(1e-6)
    expect(
      error(
        run(simd, (p, q) => cd.matmul!(cd.transpose!(p), q), cd.tensor!(flip(a, m, k), [k, m]), X),
        want,
      ),
    ).toBeLessThan(1e-6)
    expect(
      error(
        run(simd, (p, q) => cd.matmul!(p, cd.transpose!(q)), A, cd.tensor!(flip(x, k, n), [n, k])),
        want,
      ),
    ).toBeLessThan(1e-6)
    const acc = filled(1000, [m, n])
    expect(
      error(
        run(simd, (z, p, q) => cd.matmulAdd!(cd.mul!(z, 2), p, q), acc, A, X),
        want.map((t) => t + 2000),
      ),
    ).toBeLessThan(1e-6)
  })
})

it('the same numbers at every call', () => {
  const f = cd.compile!((y: unknown) => cd.sum!(y, { axis: 0 }), simd) as (y: unknown) => { data: Float32Array }
  const x = tensor([1e5, 33])
  const first = f(x).data.slice()
  for (let i = 0; i < 3; i++) expect(f(x).data).toEqual(first)
})
