/**
 * Reflections and rotations of matrices of a few rows, which the CPU works on two at a time: their laws for every kind of spectrum, beside the
 * same in plain loops, alone and in stacks of odd and even length.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'

type E = cd.AnyExpr
type Float = 'f32' | 'f64'
type Matrix = readonly (readonly number[])[]
const [cpu, plain] = [cd.cpu({ poison: true }), cd.reference()]
type F = (x: E) => readonly unknown[]
const run = (f: F, backend: cd.SyncBackend, x: cd.Tensor): readonly (readonly number[])[] =>
  (cd.compile(f as never, backend) as unknown as (x: cd.Tensor) => readonly cd.Tensor[])(x).map((t) => Array.from(t.data as Float64Array))
const qr: F = (a) => Object.values(cd.qr(a as never))
const completeQr: F = (a) => Object.values(cd.qr(a as never, { complete: true }))
const eigh: F = (a) => Object.values(cd.eigh(a as never))
const svd: F = (a) => Object.values(cd.svd(a as never))

const EPS = { f64: 2 ** -52, f32: 2 ** -23 } as const
const at = (x: readonly number[], columns: number, i: number, j: number): number => x[i * columns + j]!
const matrix = (x: readonly number[], rows: number, columns: number, start = 0): Matrix =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => at(x, columns, i, j + start)))
const product = (a: Matrix, b: Matrix): Matrix => a.map((row) => (b[0] ?? []).map((_, j) => row.reduce((s, x, k) => s + x * b[k]![j]!, 0)))
const turned = (a: Matrix): Matrix => (a[0] ?? []).map((_, j) => a.map((row) => row[j]!))
const furthest = (a: Matrix, b: Matrix): number =>
  a.reduce((m, row, i) => row.reduce((n, x, j) => Math.max(n, Math.abs(x - b[i]![j]!)), m), 0)
const unit = (n: number): Matrix => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)))
const size = (a: Matrix): number => a.flat().reduce((m, x) => Math.max(m, Math.abs(x)), 0)
const orthonormal = (q: Matrix, eps: number): void =>
  expect(furthest(product(turned(q), q), unit(q[0]?.length ?? 0))).toBeLessThan(40 * eps)
/** The largest component of each column is positive, or one that is equal to it to four digits. */
const turnedRight = (v: Matrix): void => {
  for (const column of turned(v)) {
    const most = size([column])
    expect(column.some((x) => x * 1.0002 >= most)).toBe(true)
  }
}
const rising = (w: readonly number[]): void => {
  for (let i = 1; i < w.length; i++) expect(w[i]!).toBeGreaterThanOrEqual(w[i - 1]!)
}

const holdsQr = (a: Matrix, q: Matrix, r: Matrix, eps: number): void => {
  orthonormal(q, eps)
  expect(furthest(product(q, r), a)).toBeLessThanOrEqual(40 * eps * size(a))
  r.forEach((row, i) => {
    row.forEach((x, j) => {
      if (j < i) expect(x).toBe(0)
    })
    if (i < row.length) expect(row[i]).toBeGreaterThanOrEqual(0)
  })
}
const holdsEigh = (a: Matrix, w: readonly number[], v: Matrix, eps: number): void => {
  const symmetric = a.map((row, i) => row.map((x, j) => (j <= i ? x : a[j]![i]!)))
  orthonormal(v, eps)
  rising(w)
  turnedRight(v)
  const back = product(
    v.map((row) => row.map((x, j) => x * w[j]!)),
    turned(v),
  )
  expect(furthest(back, symmetric)).toBeLessThanOrEqual(60 * eps * size(symmetric))
}
const holdsSvd = (a: Matrix, u: Matrix, s: readonly number[], vh: Matrix, eps: number): void => {
  orthonormal(u, eps)
  orthonormal(turned(vh), eps)
  rising([...s].reverse())
  if (s.length > 0) expect(s.at(-1)!).toBeGreaterThanOrEqual(0)
  turnedRight(a.length >= (a[0]?.length ?? 0) ? turned(vh) : u)
  const back = product(
    u.map((row) => row.map((x, j) => x * s[j]!)),
    vh,
  )
  expect(furthest(back, a)).toBeLessThanOrEqual(60 * eps * size(a))
}

/** Matrices of many kinds, from a seed: full, of low rank, with equal values, graded, of one element, zero, and at the ends of what a float holds. */
const KINDS = ['full', 'rank', 'equal', 'graded', 'one', 'zero', 'huge', 'tiny', 'diagonal', 'nearly equal', 'integers'] as const
const drawn = (kind: (typeof KINDS)[number], dtype: Float, m: number, n: number, seed: number): Matrix => {
  const next = random(seed)
  const full = (rows: number, columns: number): Matrix =>
    Array.from({ length: rows }, () => Array.from({ length: columns }, () => 2 * next() - 1))
  const times = (x: number): Matrix => full(m, n).map((row) => row.map((y) => x * y))
  switch (kind) {
    case 'full':
      return full(m, n)
    case 'rank': {
      const rank = Math.max(1, Math.floor(Math.min(m, n) / 2))
      return product(full(m, rank), full(rank, n))
    }
    case 'equal':
      return Array.from({ length: m }, (_, i) => Array.from({ length: n }, (_, j) => 1 + (i === j ? 1 : 0)))
    case 'graded':
      return full(m, n).map((row, i) => row.map((x, j) => x * 10 ** (-2 * (i + j))))
    case 'one':
      return full(m, n).map((row, i) => row.map((x, j) => (i === m - 1 && j === 0 ? x : 0)))
    case 'zero':
      return times(0)
    case 'huge':
      return times(dtype === 'f64' ? 1.5e307 : 3e37)
    case 'tiny':
      return times(dtype === 'f64' ? 1e-290 : 1e-36)
    case 'diagonal':
      return full(m, n).map((row, i) => row.map((x, j) => (i === j ? x : 0)))
    case 'nearly equal':
      return full(m, n).map((row, i) => row.map((x, j) => (i === j ? 1 : 0) + x * 1e-6))
    case 'integers':
      return full(m, n).map((row) => row.map((x) => Math.round(2 * x)))
  }
}

describe.each(['f64', 'f32'] as const)('of %s', (dtype) => {
  const eps = EPS[dtype]
  const held = (shape: readonly number[], stack: readonly Matrix[]): { readonly x: cd.Tensor; readonly as: readonly Matrix[] } => {
    const [m, n] = shape.slice(-2) as [number, number]
    const x = cd.tensor(Float64Array.from(stack.flat(2)), shape, dtype as 'f64') as unknown as cd.Tensor
    const all = Array.from(x.data as Float64Array)
    return { x, as: stack.map((_, k) => matrix(all.slice(k * m * n, (k + 1) * m * n), m, n)) }
  }
  const part = (x: readonly number[], k: number, rows: number, columns: number): Matrix =>
    matrix(x.slice(k * rows * columns, (k + 1) * rows * columns), rows, columns)
  it('factors are orthonormal and multiply back, for every kind of matrix', () => {
    const shapes = fc.record({
      m: fc.integer({ min: 1, max: 8 }),
      n: fc.integer({ min: 1, max: 8 }),
      count: fc.integer({ min: 1, max: 3 }),
    })
    const kinds = fc.array(fc.constantFrom(...KINDS), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(shapes, kinds, fc.integer({ min: 1, max: 1e6 }), ({ m, n, count }, of, seed) => {
        const stack = (rows: number, columns: number): ReturnType<typeof held> =>
          held(
            [count, rows, columns],
            Array.from({ length: count }, (_, k) => drawn(of[k]!, dtype, rows, columns, seed + k)),
          )
        const least = Math.min(m, n)
        const any = stack(m, n)
        const [u, s, vh] = run(svd, cpu, any.x)
        any.as.forEach((a, k) => {
          holdsSvd(a, part(u!, k, m, least), s!.slice(k * least, (k + 1) * least), part(vh!, k, least, n), eps)
        })
        for (const [f, columns] of [
          [qr, least],
          [completeQr, m],
        ] as const) {
          const [q, r] = run(f, cpu, any.x)
          any.as.forEach((a, k) => {
            holdsQr(a, part(q!, k, m, columns), part(r!, k, columns, n), eps)
          })
        }
        const square = stack(n, n)
        // As eigh takes it: the mean of both triangles.
        const symmetric = square.as.map((a) =>
          a.map((row, i) => row.map((x, j) => (dtype === 'f32' ? Math.fround : Number)(x / 2 + a[j]![i]! / 2))),
        )
        const [w, v] = run(eigh, cpu, held([count, n, n], symmetric).x)
        symmetric.forEach((a, k) => {
          holdsEigh(a, w!.slice(k * n, (k + 1) * n), part(v!, k, n, n), eps)
        })
      }),
      { numRuns: count(24, 120) },
    )
  })
  it.each([1, 2, 3, 5, 8])('%i rows, well apart: as in plain loops, in any stack', (n) => {
    for (const [count, rows] of [
      [1, n],
      [2, n],
      [5, Math.min(8, n + 2)],
    ] as const) {
      const spread = Array.from({ length: count }, (_, k) =>
        drawn('full', dtype, rows, n, 7 * n + k).map((row, i) => row.map((x, j) => (i === j ? 2 * i + 2 : 0) + 0.5 * x)),
      )
      const { x } = held([count, rows, n], spread)
      for (const f of [svd, qr, completeQr, ...(rows === n ? [eigh] : [])]) {
        const [got, want] = [run(f, cpu, x), run(f, plain, x)]
        want.forEach((ys, j) => {
          ys.forEach((y, i) => {
            expect(Math.abs(got[j]![i]! - y)).toBeLessThan(200 * eps * Math.max(1, Math.abs(y)))
          })
        })
      }
    }
  })
  it('what one matrix of a stack holds changes nothing in its neighbours, to the bit', () => {
    for (const [m, n] of [
      [1, 1],
      [2, 2],
      [4, 3],
      [8, 8],
    ] as const)
      for (const f of [svd, qr, ...(m === n ? [eigh] : [])]) {
        const own = drawn('full', dtype, m, n, 3)
        const alone = run(f, cpu, held([1, m, n], [own]).x)
        for (const other of [
          drawn('zero', dtype, m, n, 1),
          drawn('graded', dtype, m, n, 2),
          drawn('huge', dtype, m, n, 5),
          own.map((row) => row.map(() => Number.NaN)),
          own.map((row, i) => row.map((x, j) => (i === m - 1 && j === 0 ? Number.NEGATIVE_INFINITY : x))),
        ])
          for (const place of [0, 1, 2]) {
            const stack = [other, other, other].map((x, k) => (k === place ? own : x))
            const all = run(f, cpu, held([3, m, n], stack).x)
            all.forEach((ys, j) => {
              const each = ys.length / 3
              expect(ys.slice(place * each, (place + 1) * each)).toEqual(alone[j])
            })
          }
      }
  })
  it('is NaN in all of a matrix that holds something not finite', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      for (const n of [1, 2, 5])
        for (const f of [svd, eigh]) {
          const { x } = held([n, n], [drawn('full', dtype, n, n, 1).map((row, i) => row.map((y, j) => (i === n - 1 && j === 0 ? bad : y)))])
          for (const ys of run(f, cpu, x)) expect(ys.every(Number.isNaN)).toBe(true)
        }
  })
})

it('columns of any size have reflections', () => {
  const noise = drawn('full', 'f64', 4, 4, 9)
  for (const power of [-200, -120, 308])
    for (const count of [1, 2]) {
      const a = noise.map((row) => row.map((x, j) => (power === 308 ? Math.sign(x) * 1.7 * 10 ** 308 : x * 10 ** (power * (j % 2)))))
      const x = cd.tensor(Float64Array.from(Array.from({ length: count }, () => a).flat(2)), [count, 4, 4]) as unknown as cd.Tensor
      const [q, r] = run(qr, cpu, x)
      orthonormal(matrix(q!, 4, 4), EPS.f64)
      if (power === 308) continue
      const back = product(matrix(q!, 4, 4), matrix(r!, 4, 4))
      for (let j = 0; j < 4; j++)
        for (let i = 0; i < 4; i++) expect(Math.abs(back[i]![j]! - a[i]![j]!) / 10 ** (power * (j % 2))).toBeLessThan(1e-14)
    }
})
it('has results for matrices without elements and stacks without matrices', () => {
  const zeros = (...shape: number[]): cd.Tensor => cd.evaluate(cd.zeros(shape)) as unknown as cd.Tensor
  expect(run(completeQr, cpu, zeros(3, 0))).toEqual([[1, 0, 0, 0, 1, 0, 0, 0, 1], []])
  for (const shape of [
    [0, 0],
    [3, 0],
    [0, 2],
    [0, 2, 2],
    [2, 0, 0],
  ])
    for (const f of [qr, svd, ...(shape.at(-1) === shape.at(-2) ? [eigh] : [])])
      expect(run(f, cpu, zeros(...shape))).toEqual(run(f, plain, zeros(...shape)))
})
