/**
 * Matrices of low rank, of which each reflection leaves less by the size of rounding, until what is left has few digits: their vectors are
 * orthonormal all the same. Stripes of a second difference, read with another length of rows, are such matrices.
 */

import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { count, some } from '../depth.js'

type F = (x: cd.AnyExpr) => Readonly<Record<string, unknown>>
const stripes = (from: number, m: number, n: number): Float64Array =>
  Float64Array.from({ length: m * n }, (_, at) => {
    const apart = Math.abs(Math.floor(at / from) - (at % from))
    return apart === 0 ? 2 : apart === 1 ? -1 : 0
  })
/** How far X^T X is from 1, for the columns of X: [m, n], or of its transpose. */
const apart = (x: ArrayLike<number>, m: number, n: number, rows = false): number => {
  let most = 0
  const [count, length] = rows ? [m, n] : [n, m]
  const of = (k: number, i: number): number => (rows ? x[k * n + i]! : x[i * n + k]!)
  for (let k = 0; k < count; k++)
    for (let l = 0; l <= k; l++) {
      let s = 0
      for (let i = 0; i < length; i++) s += of(k, i) * of(l, i)
      most = Math.max(most, Math.abs(s - (k === l ? 1 : 0)))
    }
  return most
}
const back = (q: ArrayLike<number>, r: ArrayLike<number>, a: Float64Array, m: number, k: number, n: number): number => {
  let most = 0
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let s = 0
      for (let l = 0; l < k; l++) s += q[i * k + l]! * r[l * n + j]!
      most = Math.max(most, Math.abs(s - a[i * n + j]!))
    }
  return most
}
const svd: F = (a) => cd.svd(a as never)
const qr: F = (a) => cd.qr(a as never)
const run = (f: F, backend: cd.SyncBackend, a: Float64Array, m: number, n: number): Readonly<Record<string, ArrayLike<number>>> => {
  const out = (cd.compile(f as never, backend) as unknown as (x: unknown) => Readonly<Record<string, cd.Tensor>>)(cd.tensor(a, [m, n]))
  return Object.fromEntries(Object.entries(out).map(([name, t]) => [name, t.data as Float64Array]))
}

describe.each([
  ['cpu', cd.cpu()],
  ['reference', cd.reference()],
] as const)('%s', (name, backend) => {
  const step = name === 'cpu' ? count(1, 3, 1) : count(5, 11, 5)
  const sizes = some([3, 5, 7, 8, 12, 33, 47, 49, 64, 65, 69, 71, 75, 77, 84, 96, 130], 4)
  it('svd', () => {
    for (const m of sizes)
      for (let n = 2; n <= m; n += m > 100 ? 11 : step) {
        const a = stripes(m, m, n)
        const { u, s, vh } = run(svd, backend, a, m, n)
        expect(apart(u!, m, n), `u of ${m} x ${n}`).toBeLessThan(1e-13)
        expect(apart(vh!, n, n, true), `v of ${m} x ${n}`).toBeLessThan(1e-13)
        const scaled = Float64Array.from(u!, (x, at) => x * s![at % n]!)
        expect(back(scaled, vh!, a, m, n, n)).toBeLessThan(1e-13)
      }
  })
  it('qr', () => {
    for (const m of sizes)
      for (let n = 2; n <= m; n += m > 100 ? 11 : step) {
        const a = stripes(m, m, n)
        const { q, r } = run(qr, backend, a, m, n)
        expect(apart(q!, m, n), `q of ${m} x ${n}`).toBeLessThan(1e-13)
        expect(back(q!, r!, a, m, n, n)).toBeLessThan(1e-13)
      }
  })
})
it('columns of the smallest numbers have reflections', () => {
  for (const n of [3, 8, 12, 50]) {
    const least = 5e-324
    const a = Float64Array.from({ length: n * n }, (_, at) => (at % n === 0 ? 1 / (1 + Math.floor(at / n)) : least * ((at * 7) % 3)))
    for (const backend of [cd.cpu(), cd.reference()]) {
      const { q } = run(qr, backend, a, n, n)
      expect(apart(q!, n, n)).toBeLessThan(1e-13)
      const { u, vh } = run(svd, backend, a, n, n)
      expect(Math.max(apart(u!, n, n), apart(vh!, n, n, true))).toBeLessThan(1e-13)
    }
  }
})
