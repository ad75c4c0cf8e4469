/** Factorisations of sizes around the edges of blocks, by what they satisfy: |A - Q R| <= c n eps |A| and its kin, for hard matrices too; what holds NaN ends. */

import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { deep, half, some } from '../depth.js'

type Float = 'f32' | 'f64'
const SIZES = [1, 2, 3, 7, 8, 9, 14, 15, 16, 17, 24, 31, 33, 34, 35, 36, 37, 40, 41, 48, 49, 63, 64, 65, 97, 100]
/** Units of rounding that are allowed for each row. */
const UNITS = 4
const eps = { f32: 2 ** -24, f64: 2 ** -53 } as const

/** A matrix in f64, by rows. */
interface Matrix {
  readonly m: number
  readonly n: number
  readonly x: Float64Array
}
const matrix = (m: number, n: number, at: (i: number, j: number) => number): Matrix => ({
  m,
  n,
  x: Float64Array.from({ length: m * n }, (_, k) => at(Math.floor(k / n), k % n)),
})
const of = (t: unknown): Matrix => {
  const { shape, data } = t as cd.Tensor
  const [m, n] = shape.length === 1 ? [1, shape[0]!] : (shape as readonly [number, number])
  return { m: m!, n: n!, x: Float64Array.from(data) }
}
const times = (a: Matrix, b: Matrix): Matrix => {
  const c = matrix(a.m, b.n, () => 0)
  for (let i = 0; i < a.m; i++)
    for (let k = 0; k < a.n; k++) for (let j = 0; j < b.n; j++) c.x[i * b.n + j]! += a.x[i * a.n + k]! * b.x[k * b.n + j]!
  return c
}
const turned = (a: Matrix): Matrix => matrix(a.n, a.m, (i, j) => a.x[j * a.n + i]!)
const size = (a: Matrix): number => Math.sqrt(a.x.reduce((s, x) => s + x * x, 0))
const minus = (a: Matrix, b: Matrix): Matrix => matrix(a.m, a.n, (i, j) => a.x[i * a.n + j]! - b.x[i * a.n + j]!)
const diagonal = (w: Matrix): Matrix => matrix(w.n, w.n, (i, j) => (i === j ? w.x[i]! : 0))
const unit = (n: number): Matrix => matrix(n, n, (i, j) => Number(i === j))

const noise = (m: number, n: number, seed = 1): Matrix => {
  const next = random(31 * m + n + 1000 * seed)
  return matrix(m, n, () => 2 * next() - 1)
}
const kinds: Readonly<Record<string, (m: number, n: number) => Matrix>> = {
  noise,
  graded: (m, n) => {
    const a = noise(m, n, 2)
    return matrix(m, n, (i, j) => a.x[i * n + j]! * 10 ** ((-12 * j) / n))
  },
  'of low rank': (m, n) => times(noise(m, Math.ceil(n / 3), 3), noise(Math.ceil(n / 3), n, 4)),
  zeros: (m, n) => matrix(m, n, () => 0),
}
const symmetric = (a: Matrix): Matrix => matrix(a.n, a.n, (i, j) => a.x[Math.max(i, j) * a.n + Math.min(i, j)]!)

const backend = cd.cpu({ poison: true })
type Results = Readonly<Record<string, unknown>>
const run = (f: (x: cd.AnyExpr) => unknown, a: Matrix, dtype: Float): readonly [given: Matrix, results: Results] => {
  const x = cd.tensor(a.x, [a.m, a.n], dtype as 'f64')
  return [of(x), (cd.compile(f as never, backend) as unknown as (x: unknown) => Results)(x)]
}
const little = (a: Matrix, n: number, scale: number, dtype: Float): void =>
  expect(size(a)).toBeLessThanOrEqual(UNITS * n * eps[dtype] * scale + 1e-300)

/** Positive definite, of the same kind: S = B B^T, and on the diagonal more than rounding takes. */
const definite = (b: Matrix, dtype: Float): Matrix => {
  const s = times(b, turned(b))
  for (let i = 0; i < s.n; i++)
    s.x[i * s.n + i]! += s.n * (s.x[i * s.n + i]! * 64 * eps[dtype] + 1e-30) + 64 * s.n * eps[dtype] * size(s) + 1e-30
  return s
}
const lower = (a: Matrix): Matrix => matrix(a.n, a.n, (i, j) => (j <= i ? a.x[i * a.n + j]! : 0))
const sizes = (a: Matrix): Matrix => matrix(a.m, a.n, (i, j) => Math.abs(a.x[i * a.n + j]!))

describe.each(['f64', 'f32'] as const)('of %s', (dtype) => {
  describe.each(Object.entries(kinds).map(([name, make], k) => [name, make, k] as const))('%s', (_name, make, k) => {
    const tried = deep ? half(SIZES, dtype === 'f64' ? k : k + 1) : some(SIZES, 4)
    it.each(tried)('of %i rows', (n) => {
      const [a, { q, r }] = run((x) => cd.qr(x as never), make(n, n), dtype)
      little(minus(times(of(q), of(r)), a), n, size(a), dtype)
      little(minus(times(turned(of(q)), of(q)), unit(n)), n, Math.sqrt(n), dtype)
      for (let i = 0; i < n; i++) {
        expect(of(r).x[i * n + i]).toBeGreaterThanOrEqual(0)
        for (let j = 0; j < i; j++) expect(of(r).x[i * n + j]).toBe(0)
      }
      const [, { p, l, u }] = run((x) => cd.lu(x as never), make(n, n), dtype)
      const order = of(p).x
      little(
        minus(
          times(of(l), of(u)),
          matrix(n, n, (i, j) => a.x[order[i]! * n + j]!),
        ),
        n,
        4 * size(a),
        dtype,
      )
    })
    it.each(tried)('cholesky and triangles of %i rows', (n) => {
      const [s, { l }] = run((x) => ({ l: cd.cholesky(x as never) }), definite(make(n, n), dtype), dtype)
      little(minus(times(of(l), turned(of(l))), s), n, size(s), dtype)
      for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) expect(of(l).x[i * n + j]).toBe(0)
      for (const k of [1, 3, 67]) {
        const given = cd.tensor(noise(n, k, 9).x, [n, k], dtype as 'f64')
        for (const transpose of [false, true]) {
          const f = (x: cd.AnyExpr): unknown => ({ x: cd.triangularSolve(x as never, given as never, { lower: true, transpose }) })
          const t = transpose ? turned(lower(of(l))) : lower(of(l))
          const x = of(run(f, of(l), dtype)[1].x)
          // |T x - b| <= c n eps |T| |x|, number by number (Higham 2002, 8.5).
          const [left, bound] = [minus(times(t, x), of(given)), times(sizes(t), sizes(x))]
          for (let e = 0; e < n * k; e++) expect(Math.abs(left.x[e]!)).toBeLessThanOrEqual(UNITS * n * eps[dtype] * bound.x[e]!)
        }
      }
    })
    it.each(tried)('eigh and svd of %i rows', (n) => {
      const [s, { w, v }] = run((x) => cd.eigh(x as never), symmetric(make(n, n)), dtype)
      little(minus(times(times(of(v), diagonal(of(w))), turned(of(v))), s), n, 2 * size(s), dtype)
      little(minus(times(turned(of(v)), of(v)), unit(n)), n, 2 * Math.sqrt(n), dtype)
      const [b, { u, s: values, vh }] = run((x) => cd.svd(x as never), make(n, n), dtype)
      little(minus(times(times(of(u), diagonal(of(values))), of(vh)), b), n, 2 * size(b), dtype)
      for (const one of [of(u), of(vh)]) little(minus(times(turned(one), one), unit(n)), n, 2 * Math.sqrt(n), dtype)
    })
  })
  it.each([
    [9, 8],
    [70, 41],
    [130, 65],
    [100, 3],
  ])('qr of %i x %i matrices, of the transpose, and complete', (m, n) => {
    for (const a of [noise(m, n), noise(n, m)])
      for (const complete of [false, true]) {
        const [x, { q, r }] = run((y) => cd.qr(y as never, { complete }), a, dtype)
        little(minus(times(of(q), of(r)), x), m, size(x), dtype)
        little(minus(times(turned(of(q)), of(q)), unit(of(q).n)), m, Math.sqrt(m), dtype)
      }
  })
})

it.each([2, 5, 8, 9, 20, 41, 70])('what holds NaN or an infinity ends, %i rows', (n) => {
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    for (const place of [0, n, n * n - 1]) {
      const a = noise(n, n)
      a.x[place] = bad
      const [, { q, r }] = run((x) => cd.qr(x as never), a, 'f64')
      expect([...of(q).x, ...of(r).x].some(Number.isNaN)).toBe(true)
      const [, { w, v }] = run((x) => cd.eigh(x as never), symmetric(a), 'f64')
      expect([...of(w).x, ...of(v).x].every(Number.isNaN)).toBe(true)
      const [, { u, s, vh }] = run((x) => cd.svd(x as never), a, 'f64')
      expect([...of(u).x, ...of(s).x, ...of(vh).x].every(Number.isNaN)).toBe(true)
      const [, { l, u: upper }] = run((x) => cd.lu(x as never), a, 'f64')
      expect([...of(l).x, ...of(upper).x].some((x) => !Number.isFinite(x))).toBe(true)
    }
})

describe.each(['f64', 'f32'] as const)('elimination of %s', (dtype) => {
  it.each(some(SIZES, 4, 14))('of matrices of %i rows and fewer or more columns', (n) => {
    for (const k of [1, 3, 16, 17, 33, 2 * n + 1])
      for (const [m, c] of [
        [n, k],
        [k, n],
      ] as const) {
        const [a, { p, l, u }] = run((x) => cd.lu(x as never), noise(m, c, 6), dtype)
        const order = of(p).x
        const permuted = matrix(m, c, (i, j) => a.x[order[i]! * c + j]!)
        little(minus(times(of(l), of(u)), permuted), Math.max(m, c), 4 * size(a), dtype)
        for (const x of of(l).x) expect(Math.abs(x)).toBeLessThanOrEqual(1)
      }
  })
  it.each(some(SIZES, 4, 14))('pivots of %i rows that an exact elimination has', (n) => {
    // A permutation times a triangle of powers of two: nothing is rounded, and each column has one pivot.
    const next = random(n)
    const rows = Array.from({ length: n }, (_, i) => i)
    for (let i = n - 1; i > 0; i--) {
      const j = Math.floor(next() * (i + 1))
      ;[rows[i], rows[j]] = [rows[j]!, rows[i]!]
    }
    const a = matrix(n, n, (i, j) => (rows[i]! <= j ? 2 ** (((rows[i]! * 5 + j) % 7) - 3) : 0))
    const f = (x: cd.AnyExpr): unknown => cd.lu(x as never)
    const [, got] = run(f, a, dtype)
    const want = (cd.compile(f as never, cd.reference()) as unknown as (x: unknown) => Results)(cd.tensor(a.x, [n, n], dtype as 'f64'))
    for (const name of ['p', 'l', 'u']) expect(of(got[name]).x).toEqual(of(want[name]).x)
    expect(Array.from(of(got.p).x, (i) => rows[i])).toEqual(Array.from({ length: n }, (_, i) => i))
  })
  it('each matrix of a stack has the bits that it has alone', () => {
    for (const n of [9, 17, 33, 50]) {
      const all = Array.from({ length: 3 }, (_, k) => noise(n, n, 20 + k))
      const x = Float64Array.from(all.flatMap((a) => Array.from(definite(a, dtype).x)))
      for (const f of [
        (a: cd.AnyExpr) => cd.cholesky(a as never),
        (a: cd.AnyExpr) => cd.inv(a as never),
        (a: cd.AnyExpr) => cd.qr(a as never).q,
        (a: cd.AnyExpr) => cd.eigh(a as never).v,
      ]) {
        const g = cd.compile(f as never, backend) as unknown as (x: unknown) => cd.Tensor
        const together = Array.from(g(cd.tensor(x, [3, n, n], dtype as 'f64')).data)
        const alone = all.flatMap((_, k) => Array.from(g(cd.tensor(x.slice(k * n * n, (k + 1) * n * n), [n, n], dtype as 'f64')).data))
        expect(together).toEqual(alone)
      }
    }
  })
})
it('blocks of qr that are twice as wide', () => {
  const [m, n] = [430, 401]
  const [x, { q, r }] = run((y) => cd.qr(y as never), noise(m, n), 'f64')
  little(minus(times(of(q), of(r)), x), m, size(x), 'f64')
  little(minus(times(turned(of(q)), of(q)), unit(n)), m, Math.sqrt(m), 'f64')
})
