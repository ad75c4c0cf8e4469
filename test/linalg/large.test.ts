/** Matrices that are halved, with products of WebAssembly on the CPU: beside the same in plain loops, and by what they satisfy. */
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
const noise = (dtype: 'f32' | 'f64', ...shape: readonly number[]): E => {
  const next = random(shape.reduce((a, b) => 31 * a + b, 7))
  const numbers = Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * next() - 1)
  return cd.tensor(numbers, shape, dtype as 'f64') as unknown as E
}
const mm = (a: unknown, b: unknown): E => cd.matmul(a as E, b as E) as E
const t = (a: unknown): E => cd.transpose(a as E) as E
const functions: Readonly<Record<string, (a: E, b: E) => E>> = {
  cholesky: (a) => cd.cholesky(cd.add(mm(a, t(a)), cd.eye(a.shape.at(-1) as number)) as never) as E,
  'lu, of more columns': (a, b) => cd.lu(cd.concat([a, b], { axis: -1 }) as never).u as E,
  'lu, of more rows': (a, b) => cd.lu(cd.concat([a, t(b)], { axis: -2 }) as never).l as E,
  solve: (a, b) => cd.solve(cd.add(a, cd.mul(9, cd.eye(a.shape.at(-1) as number))), b as never) as E,
  ...Object.fromEntries(
    [0, 1, 2, 3].map((k) => {
      const options = { lower: k % 2 === 0, transpose: k > 1 }
      const name = `triangularSolve ${JSON.stringify(options)}`
      return [
        name,
        (a: E, b: E): E => cd.triangularSolve(cd.add(a, cd.mul(30, cd.eye(a.shape.at(-1) as number))), b as never, options) as E,
      ]
    }),
  ),
}
const tolerance = { f64: 1e-12, f32: 3e-4 } as const

describe.each(['f64', 'f32'] as const)('of %s', (dtype) => {
  it.each(Object.entries(functions))('%s: as in plain loops', (_name, f) => {
    for (const [n, k] of [
      [33, 33],
      [64, 64],
      [101, 101],
    ] as const) {
      const [a, b] = [noise(dtype, 2, n, n), noise(dtype, 2, n, k)]
      const g = (x: E, y: E): E => f(x, y)
      const run = (backend: cd.SyncBackend): cd.Tensor => (cd.compile(g as never, backend) as unknown as (x: E, y: E) => cd.Tensor)(a, b)
      const [got, want] = [Array.from(run(cd.cpu()).data), Array.from(run(cd.reference()).data)]
      const size = want.reduce((m, x) => Math.max(m, Math.abs(x)), 1)
      expect(want.reduce((m, x, i) => Math.max(m, Math.abs(x - got[i]!)), 0) / size).toBeLessThan(tolerance[dtype])
    }
  })
})

it.each(['f64', 'f32'] as const)('cholesky of %s of what is not symmetric is that of its mean with the transpose', (dtype) => {
  for (const n of [2, 3, 5, 33, 64, 101]) {
    const [a, b] = [noise(dtype, n, n), noise(dtype, n, n)]
    const mean = cd.add(mm(a, t(a)), cd.eye(n, dtype)) as E
    const beside = cd.sub(b, t(b)) as E
    for (const backend of [cd.cpu(), cd.reference()]) {
      const of = (f: () => E): Float64Array => Float64Array.from((cd.compile(f as never, backend) as unknown as () => cd.Tensor)().data)
      const [got, want] = [of(() => cd.cholesky(cd.add(mean, beside) as never) as E), of(() => cd.cholesky(mean as never) as E)]
      const size = Math.hypot(...want)
      expect(Math.hypot(...got.map((x, i) => x - want[i]!)) / size, `${n} rows`).toBeLessThan(dtype === 'f64' ? 1e-13 : 1e-5)
    }
  }
})

it('a gradient through a factor of 150 rows is that of plain loops', () => {
  const b = noise('f64', 150, 150)
  const f = (x: E): E => cd.sum(cd.mul(functions.cholesky!(x, x), b)) as E
  const run = (backend: cd.SyncBackend): ArrayLike<number> =>
    (cd.compile(cd.grad(f as never) as never, backend) as unknown as (x: E) => cd.Tensor)(noise('f64', 150, 150)).data
  const [got, want] = [run(cd.cpu()), run(cd.reference())]
  for (let i = 0; i < want.length; i++) expect(Math.abs(got[i]! - want[i]!)).toBeLessThan(1e-10)
})

it('a matrix of 100 rows that is not positive definite, or holds NaN in its last row, is NaN everywhere', () => {
  const n = 100
  for (const [i, x] of [
    [99, -1],
    [50, Number.NaN],
    [0, 0],
  ] as const) {
    // biome-ignore format: one row
    const a = new Float64Array(n * n)
    for (let k = 0; k < n; k++) a[k * n + k] = k === i ? x : 2
    const l = cd.evaluate(cd.cholesky(cd.tensor(a, [n, n]) as never)) as unknown as cd.Tensor
    expect(Array.from(l.data).every(Number.isNaN)).toBe(true)
  }
})
