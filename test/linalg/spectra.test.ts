/** eigh and svd of matrices that are divided: sizes around the edges of blocks, and spectra that are hard for that, by what they satisfy and beside LAPACK's. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import golden from '../golden/spectra.json' with { type: 'json' }

const EPS = 2 ** -53
/** Numbers near the smallest have no more digits than this. */
const TINY = Number.MIN_VALUE
/** Units of rounding for each row. */
const UNITS = 4

/** Rows one after the other. */
type Rows = readonly Float64Array[]
const rows = (m: number, n: number, at: (i: number, j: number) => number): Rows =>
  Array.from({ length: m }, (_, i) => Float64Array.from({ length: n }, (_, j) => at(i, j)))
const width = (a: Rows): number => a[0]?.length ?? 0
const turned = (a: Rows): Rows => rows(width(a), a.length, (i, j) => a[j]![i]!)
/** a bᵀ */
const times = (a: Rows, b: Rows): Rows =>
  rows(a.length, b.length, (i, j) => {
    const [x, y] = [a[i]!, b[j]!]
    let s = 0
    for (let k = 0; k < x.length; k++) s += x[k]! * y[k]!
    return s
  })
const scaled = (a: Rows, by: ArrayLike<number>): Rows => a.map((x) => x.map((v, j) => v * by[j]!))
const largest = (a: Rows): number => a.reduce((most, x) => x.reduce((m, v) => (Math.abs(v) <= m ? m : Math.abs(v)), most), 0)
const minus = (a: Rows, b: Rows): Rows => a.map((x, i) => x.map((v, j) => v - b[i]![j]!))
const unit = (n: number): Rows => rows(n, n, (i, j) => Number(i === j))
const noise = (m: number, n: number, seed: number): Rows => {
  const next = random(seed)
  return rows(m, n, () => 2 * next() - 1)
}

const tensorOf = (a: Rows): cd.AnyExpr => cd.tensor(Float64Array.from(a.flatMap((x) => [...x])), [a.length, width(a)]) as never
const of = (t: unknown): Rows => {
  const { shape, data } = t as cd.Tensor
  const [m, n] = shape.length === 1 ? [1, shape[0]!] : (shape as readonly [number, number])
  return Array.from({ length: m! }, (_, i) => Float64Array.from(data.slice(i * n!, (i + 1) * n!)))
}
type Call = (x: unknown) => Readonly<Record<string, cd.Tensor>>
const backends = { cpu: cd.cpu({ poison: true }), reference: cd.reference() }
const compiled = (f: (x: never) => unknown, on: cd.SyncBackend): Call => cd.compile(f as never, on) as unknown as Call
const eigh = { cpu: compiled(cd.eigh, backends.cpu), reference: compiled(cd.eigh, backends.reference) }
const svd = { cpu: compiled(cd.svd, backends.cpu), reference: compiled(cd.svd, backends.reference) }
const qr = compiled(cd.qr, backends.cpu)
type On = keyof typeof backends

const ascending = (x: ArrayLike<number>): void => {
  for (let i = 1; i < x.length; i++) expect(x[i]!).toBeGreaterThanOrEqual(x[i - 1]!)
}
/** The largest component of each column is positive. */
const signed = (v: Rows): void => {
  for (const x of turned(v)) {
    const most = x.reduce((m, y) => Math.max(m, Math.abs(y)), 0)
    expect(x.findIndex((y) => y > 0.9998 * most)).toBeGreaterThanOrEqual(0)
  }
}
const orthogonal = (v: Rows): void => {
  const columns = turned(v)
  expect(largest(minus(times(columns, columns), unit(columns.length)))).toBeLessThanOrEqual(UNITS * v.length * EPS)
}
const near = (got: ArrayLike<number>, want: ArrayLike<number>, n: number): void => {
  const size = Math.max(...Array.from(want, Math.abs))
  for (let i = 0; i < want.length; i++) expect(Math.abs(got[i]! - want[i]!)).toBeLessThanOrEqual(UNITS * n * EPS * size)
}
/** Eigenvalues of A, of which its largest is, after what they and their vectors satisfy was looked at. */
const eigenvalues = (a: Rows, on: On = 'cpu'): Float64Array => {
  const { w, v } = eigh[on](tensorOf(a))
  const [values, vectors] = [of(w)[0]!, of(v)]
  ascending(values)
  orthogonal(vectors)
  signed(vectors)
  const size = Math.max(...values.map(Math.abs), largest(a))
  expect(largest(minus(times(scaled(vectors, values), vectors), a))).toBeLessThanOrEqual(UNITS * a.length * (EPS * size + TINY))
  return values
}
const singularValues = (a: Rows, on: On = 'cpu'): Float64Array => {
  const { u, s, vh } = svd[on](tensorOf(a))
  const [left, values, right] = [of(u), of(s)[0]!, turned(of(vh))]
  ascending([...values].reverse())
  expect(values.every((x) => x >= 0)).toBe(true)
  orthogonal(left)
  orthogonal(right)
  signed(a.length < width(a) ? left : right)
  expect(largest(minus(times(scaled(left, values), right), a))).toBeLessThanOrEqual(
    UNITS * Math.max(a.length, width(a)) * (EPS * Math.max(values[0] ?? 0, largest(a)) + TINY),
  )
  return values
}

const sizes = fc.oneof(fc.integer({ min: 31, max: 70 }), fc.integer({ min: 127, max: 130 }))
const basis = (n: number, seed: number): Rows => of(qr(tensorOf(noise(n, n, seed))).q)
const spectra: Readonly<Record<string, (n: number, next: () => number) => readonly number[]>> = {
  uniform: (n, next) => Array.from({ length: n }, () => 2 * next() - 1),
  'all but a few equal': (n, next) => Array.from({ length: n }, (_, i) => (i < 3 ? next() : 1)),
  'few values': (n, next) => Array.from({ length: n }, () => Math.floor(4 * next()) - 1),
  'of low rank': (n, next) => Array.from({ length: n }, (_, i) => (i < n / 3 ? next() - 0.5 : 0)),
  'from 1 to 1e-12': (n) => Array.from({ length: n }, (_, i) => 10 ** ((-12 * i) / (n - 1))),
  'from 1 to 1e-40': (n) => Array.from({ length: n }, (_, i) => 10 ** ((-40 * i) / (n - 1))),
  'one of them large': (n) => Array.from({ length: n }, (_, i) => (i === 0 ? 1 : 1e-12)),
  'of both signs': (n, next) => {
    const half = Array.from({ length: n >> 1 }, next)
    return [...half, ...half.map((x) => -x), ...(n % 2 ? [0] : [])]
  },
  'in pairs that are nearly equal': (n, next) => Array.from({ length: n }, (_, i) => (i >> 1) / n + next() * 10 * EPS),
  'nearly all equal': (n, next) => Array.from({ length: n }, () => 1 + 1e-14 * next()),
}
describe.each(Object.entries(spectra))('values %s', (_name, make) => {
  it('are those that the matrix was made of', () => {
    fc.assert(
      fc.property(sizes, fc.integer(), fc.constantFrom(-1000, 0, 0, 900), (n, seed, power) => {
        const w = Float64Array.from(make(n, random(seed)))
        const [v, u, scale] = [basis(n, seed + 1), basis(n, seed + 2), 2 ** power]
        const a = times(scaled(v, w), v)
        const even = rows(n, n, (i, j) => scale * a[Math.max(i, j)]![Math.min(i, j)]!)
        near(
          eigenvalues(even).map((x) => x / scale),
          w.slice().sort(),
          2 * n,
        )
        const b = times(scaled(u, w), v)
        near(
          singularValues(b.map((x) => x.map((y) => scale * y))).map((x) => x / scale),
          w.map(Math.abs).sort().reverse(),
          2 * n,
        )
      }),
      { numRuns: 6 },
    )
  })
})

const tridiagonal = (d: readonly number[], e: readonly number[]): Rows =>
  rows(d.length, d.length, (i, j) => (i === j ? d[i]! : Math.abs(i - j) === 1 ? e[Math.min(i, j)]! : 0))
const bidiagonal = (d: readonly number[], e: readonly number[]): Rows =>
  rows(d.length, d.length, (i, j) => (i === j ? d[i]! : j === i + 1 ? e[i]! : 0))
/** Numbers of which many are 0, equal, tiny, of few digits or 1e12 as large as others: what separates the halves, or does not. */
const entries = fc.oneof(
  { weight: 3, arbitrary: fc.double({ min: -1, max: 1, noNaN: true }) },
  fc.constantFrom(0, 1, 1, -1, 1e-8, 1e-16, 1e-30, 1e-160, 1e-300, 1e-312, 5e-324, 1e12),
)
const listed = fc.integer({ min: 50, max: 100 }).chain((n) =>
  fc.record({
    d: fc.array(entries, { minLength: n, maxLength: n, size: 'max' }),
    e: fc.array(entries, { minLength: n - 1, maxLength: n - 1, size: 'max' }),
  }),
)
const even = fc.integer({ min: 50, max: 100 }).chain((n) =>
  fc.record({
    d: entries.map((x) => Array.from({ length: n }, () => x)),
    e: entries.map((x) => Array.from({ length: n - 1 }, () => x)),
  }),
)
describe('what is tridiagonal, or bidiagonal, from the start', () => {
  it.each([
    ['listed', listed],
    ['all equal', even],
  ] as const)('%s', (_name, given) => {
    fc.assert(
      fc.property(given, ({ d, e }) => {
        eigenvalues(tridiagonal(d, e))
        singularValues(bidiagonal(d, e))
      }),
      { numRuns: 25 },
    )
  })
  it('numbers whose squares vanish, and numbers with few digits', () => {
    const at = (n: number, ...those: readonly (readonly [place: number, value: number])[]): number[] => {
      const list = Array.from({ length: n }, () => 0)
      for (const [place, value] of those) list[place] = value
      return list
    }
    for (const tiny of [1.7e-150, 3e-200, 8.1484638373e-312, 5e-324])
      for (const [d, e] of [
        [at(76, [18, -1], [19, tiny]), at(75, [24, 1e12])],
        [at(55), at(54, [0, tiny], [48, 1])],
        [at(60, [3, tiny], [4, tiny], [59, 1]), at(59, [3, tiny], [30, tiny], [31, tiny])],
      ] as const) {
        eigenvalues(tridiagonal(d, e))
        singularValues(bidiagonal(d, e))
      }
  })
  it('the second difference has the eigenvalues that it is known to have', () => {
    for (const n of [49, 64, 100, 129]) {
      const two = Array.from({ length: n }, () => 2)
      const known = Float64Array.from({ length: n }, (_, k) => 4 * Math.sin((Math.PI * (k + 1)) / (2 * (n + 1))) ** 2)
      near(eigenvalues(tridiagonal(two, two.slice(1).fill(-1))), known, n)
    }
  })
  it('copies that are glued by little have values that are nearly equal', () => {
    const d = Array.from({ length: 105 }, (_, i) => Math.abs((i % 21) - 10))
    for (const glue of [1e-7, 1e-13, 1e-15, 0]) {
      const e = Array.from({ length: 104 }, (_, i) => (i % 21 === 20 ? glue : 1))
      eigenvalues(tridiagonal(d, e))
      singularValues(bidiagonal(d, e))
    }
  })
})

describe('beside LAPACK', () => {
  const mod = (m: number, n: number): Rows => rows(m, n, (i, j) => ((i * 7919 + j * 104729 + i * j * 31) % 1009) / 512 - 1)
  const lower = (a: Rows): Rows => rows(a.length, a.length, (i, j) => a[Math.max(i, j)]![Math.min(i, j)]!)
  const hilbert = rows(60, 60, (i, j) => 1 / (i + j + 1))
  const wilkinson = rows(101, 101, (i, j) => (i === j ? Math.abs(i - 50) : Number(Math.abs(i - j) === 1)))
  it.each(['cpu', 'reference'] as const)('eigenvalues and singular values of the %s', (on) => {
    near(eigenvalues(lower(mod(100, 100)), on), golden.eigh.mod, 100)
    near(eigenvalues(wilkinson, on), golden.eigh.wilkinson, 101)
    near(eigenvalues(hilbert, on), golden.eigh.hilbert, 60)
    near(singularValues(mod(100, 100), on), golden.svd.mod, 100)
    near(singularValues(mod(129, 70), on), golden.svd.tall, 129)
    near(singularValues(turned(mod(129, 70)), on), golden.svd.tall, 129)
    near(singularValues(hilbert, on), golden.svd.hilbert, 60)
  })
})

describe('shapes', () => {
  it.each([
    [50, 49],
    [130, 41],
    [64, 20],
    [20, 64],
    [500, 9],
    [300, 65],
    [65, 66],
  ])('singular values of %i x %i, in full, of low rank, graded', (m, n) => {
    const k = Math.min(m, n)
    singularValues(noise(m, n, m))
    singularValues(times(noise(m, Math.ceil(k / 3), 1), noise(n, Math.ceil(k / 3), 2)))
    singularValues(rows(m, n, (i, j) => Math.sin(i * n + j * j) * 10 ** ((-20 * j) / n)))
    singularValues(rows(m, n, () => 0))
    singularValues(rows(m, n, () => 1))
    singularValues(rows(m, n, (i, j) => Number(i === j)))
  })
  it.each([50, 100])('a matrix of a stack does not depend on those beside it, %i rows', (n) => {
    const [x, y] = [noise(n, n, 5), noise(n, n, 6)]
    const bad = y.map((row, i) => row.map((v, j) => (i === 30 && j === 20 ? Number.NaN : v)))
    const stack = cd.tensor(Float64Array.from([y, x, bad, x].flatMap((a) => a.flatMap((row) => [...row]))), [4, n, n])
    for (const [f, names] of [
      [eigh.cpu, ['w', 'v']],
      [svd.cpu, ['u', 's', 'vh']],
    ] as const) {
      const [one, all] = [f(tensorOf(x)), f(stack)]
      for (const name of names) {
        const [alone, together] = [Array.from(one[name]!.data), Array.from(all[name]!.data)]
        const part = (k: number): readonly number[] => together.slice(k * alone.length, (k + 1) * alone.length)
        expect(part(1)).toEqual(alone)
        expect(part(3)).toEqual(alone)
        expect(part(2).every(Number.isNaN)).toBe(true)
        expect(part(0).every(Number.isFinite)).toBe(true)
      }
    }
  })
})
