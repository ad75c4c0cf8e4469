/** Running results, rows by indices and sorting on the CPU: beside the meanings, to the bit, for all shapes, dtypes and options; and sorting beside a comparison. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { asExpr } from '../../src/core/graph/expr.js'
import { iotaNode } from '../../src/core/ops/positions.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'

type E = cd.AnyExpr
type DType = 'f64' | 'f32' | 'i32'
const iota = (shape: readonly number[], axis: number, dtype: DType): E => asExpr(iotaNode(shape, axis, dtype))
const [cpu, plain] = [cd.cpu({ poison: true }), cd.reference()]
const dtypes = fc.constantFrom<DType[]>('f64', 'f32', 'i32')
const shapes = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 })
const EDGES = [0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e30, -1e-30, 3]
const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)
const drawn = (shape: readonly number[], dtype: DType, seed: number, edges = 0.2): cd.Tensor => {
  const next = random(seed)
  const number = (): number =>
    dtype === 'i32' ? Math.floor(2 ** 31 * (2 * next() - 1)) : next() < edges ? EDGES[Math.floor(next() * EDGES.length)]! : 4 * next() - 2
  return cd.tensor(Array.from({ length: sizeOf(shape) }, number), shape as [number], dtype as 'f64') as unknown as cd.Tensor
}
const bothAlike = (f: (...xs: E[]) => unknown, ...xs: cd.Tensor[]): void => {
  const on = (backend: cd.SyncBackend): readonly number[] => {
    const y = (cd.compile(f as never, backend) as unknown as (...xs: readonly cd.Tensor[]) => cd.Tensor)(...xs)
    return Array.from(y.data as Float64Array)
  }
  expect(on(cpu)).toEqual(on(plain))
}

const running = { cumsum: cd.cumsum, cumprod: cd.cumprod, cummax: cd.cummax, cummin: cd.cummin }
it('running results are those of the meanings', () => {
  const kinds = fc.constantFrom('cumsum', 'cumprod', 'cummax', 'cummin', 'linearRecurrence')
  fc.assert(
    fc.property(
      kinds,
      shapes,
      dtypes,
      fc.nat(3),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 1e6 }),
      (kind, shape, dtype, a, reverse, exclusive, seed) => {
        const axis = a % shape.length
        const x = drawn(shape, dtype, seed)
        if (kind === 'linearRecurrence') {
          if (dtype === 'i32') return
          bothAlike((p, q) => cd.linearRecurrence(p as never, q as never, { axis, reverse }), x, drawn(shape, dtype, seed + 1))
        } else if (kind === 'cumsum' || kind === 'cumprod') bothAlike((p) => running[kind](p as never, { axis, reverse, exclusive }), x)
        else bothAlike((p) => running[kind](p as never, { axis, reverse }), x)
      },
    ),
    { numRuns: count(60, 300) },
  )
})

it('running results along the first and the middle axis are those of the meanings in wide arrays, more than one strip of lines', () => {
  const shapes = [[[3, 7], 0], [[3, 8], 0], [[4, 27], 0], [[3, 2048], 0], [[2, 2049], 0], [[3, 4107], 0], [[2, 3, 2061], 1], [[1, 9], 0], [[2, 1, 2050], 1]] as const // biome-ignore format: one row
  for (const [shape, axis] of shapes)
    for (const dtype of ['f64', 'f32', 'i32'] as const)
      for (const reverse of [false, true]) {
        const x = drawn(shape, dtype, 7 * shape[0] + axis, 0.02)
        for (const exclusive of [false, true]) {
          bothAlike((p) => cd.cumsum(p as never, { axis, reverse, exclusive }), x)
          bothAlike((p) => cd.cumprod(p as never, { axis, reverse, exclusive }), x)
        }
        bothAlike((p) => cd.cummax(p as never, { axis, reverse }), x)
        bothAlike((p) => cd.cummin(p as never, { axis, reverse }), x)
        if (dtype !== 'i32') bothAlike((p, q) => cd.linearRecurrence(p as never, q as never, { axis, reverse }), x, drawn(shape, dtype, 11))
      }
})

it('rows by indices are those of the meaning, also from the end and out of range', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 2 }),
      fc.constantFrom('f64', 'f32', 'i32', 'bool'),
      fc.nat(3),
      fc.boolean(),
      fc.integer({ min: 1, max: 1e6 }),
      (shape, counts, dtype, a, wide, seed) => {
        const axis = a % shape.length
        const next = random(seed)
        const own = wide ? shape.map((d, i) => (i === shape.length - 1 && i !== axis ? 11 * d : d)) : shape
        const numbers = drawn(own, dtype === 'f32' || dtype === 'i32' ? dtype : 'f64', seed)
        const x = dtype === 'bool' ? (cd.evaluate(cd.gt(numbers as never, 0)) as unknown as cd.Tensor) : numbers
        const at = cd.tensor(
          Int32Array.from({ length: sizeOf(counts) }, () => Math.floor(20 * next()) - 10),
          counts as [number],
          'i32',
        ) as unknown as cd.Tensor
        bothAlike((p, i) => cd.take(p as never, i as never, { axis }), x, at)
        if (dtype === 'bool') return
        const added = drawn([...own.slice(0, axis), ...counts, ...own.slice(axis + 1)], dtype, seed + 1, 0)
        bothAlike((p, i, u) => cd.scatterAdd(p as never, i as never, u as never, { axis } as never), x, at, added)
      },
    ),
    { numRuns: count(60, 300) },
  )
})

it('rows of each of a batch, with its own indices', () => {
  for (const dtype of ['f64', 'f32', 'i32'] as const)
    for (const [rows, width, count] of [
      [4, 3, 5],
      [2, 40, 3],
      [3, 1, 2],
    ] as const) {
      const [x, u] = [drawn([3, rows, width], dtype, 1), drawn([3, count, width], dtype, 2, 0)]
      const at = cd.tensor(
        Int32Array.from({ length: 3 * count }, (_, i) => ((i * 7) % 11) - 5),
        [3, count],
        'i32',
      ) as unknown as cd.Tensor
      bothAlike(
        (p, i) =>
          (cd.vmap as unknown as (f: unknown) => (...xs: E[]) => E)((q: E, j: E) => cd.take(q as never, j as never, { axis: 0 }))(p, i!),
        x,
        at,
      )
      bothAlike(
        (p, i, v) =>
          (cd.vmap as unknown as (f: unknown) => (...xs: E[]) => E)((q: E, j: E, w: E) =>
            cd.scatterAdd(q as never, j as never, w as never, { axis: 0 } as never),
          )(p, i!, v!),
        x,
        at,
        u,
      )
    }
})

it('rows that are wide and many are added in strips', () => {
  for (const [rows, width, added] of [
    [1000, 70, 600],
    [1000, 64, 900],
    [3, 30_000, 4],
    [9000, 40, 5000],
    [70_000, 1, 40_000],
  ] as const) {
    const next = random(rows)
    const at = cd.tensor(
      Int32Array.from({ length: added }, () => Math.floor(rows * next())),
      [added],
      'i32',
    ) as unknown as cd.Tensor
    const [x, u] = [drawn([rows, width], 'f32', 1, 0), drawn([added, width], 'f32', 2, 0)]
    bothAlike((p, i, v) => cd.scatterAdd(p as never, i as never, v as never, { axis: 0 } as never), x, at, u)
  }
})

it('elements added along an axis are those of the meaning', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('f64', 'f32'),
      fc.nat(2),
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 1, max: 1e6 }),
      (shape, dtype, a, count, seed) => {
        const axis = a % shape.length
        const next = random(seed)
        const taken = shape.map((d, i) => (i === axis ? count : d))
        const at = cd.tensor(
          Int32Array.from({ length: sizeOf(taken) }, () => Math.floor(16 * next()) - 8),
          taken as [number],
          'i32',
        ) as unknown as cd.Tensor
        const weights = drawn(taken, dtype, seed + 1, 0)
        const gradient = (p: E, i: E, w: E) =>
          cd.grad(((y: E) => cd.sum(cd.mul(w, cd.takeAlongAxis(y as never, i as never, { axis } as never) as E) as never)) as never)(
            p as never,
          )
        bothAlike((p, i) => cd.takeAlongAxis(p as never, i as never, { axis } as never), drawn(shape, dtype, seed), at)
        bothAlike(gradient as never, drawn(shape, dtype, seed), at, weights)
      },
    ),
    { numRuns: count(40, 200) },
  )
})

it('places among sorted numbers are those of the meaning, of NaN too', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 11 }),
      fc.integer({ min: 1, max: 3 }),
      dtypes,
      fc.constantFrom('left', 'right'),
      fc.constantFrom(0, 0.3, 1),
      fc.integer({ min: 1, max: 1e6 }),
      (n, count, batches, dtype, side, edges, seed) => {
        const sorted = cd.evaluate(cd.sort(drawn([batches, n], dtype, seed, edges) as never)) as unknown as cd.Tensor
        const values = drawn([batches, count], dtype, seed + 1, edges)
        // Numbers that are there, too.
        const both = n === 0 ? values : (cd.evaluate(cd.concat([values, sorted] as never, { axis: 1 } as never)) as unknown as cd.Tensor)
        const search = (p: E, q: E) => cd.searchsorted(p as never, q as never, { side: side as 'left' })
        bothAlike((p, q) => (cd.vmap as unknown as (f: unknown) => (...xs: E[]) => E)(search)(p!, q!), sorted, both)
      },
    ),
    { numRuns: count(60, 300) },
  )
})

it('positions along an axis', () => {
  for (const dtype of ['f64', 'f32', 'i32'] as const)
    for (const shape of [[0], [7], [5000], [5001], [5002], [5003], [3, 2005], [2005, 3], [2, 4, 999], [20, 999, 1], [1700, 2, 2]])
      for (let axis = 0; axis < shape.length; axis++) bothAlike(() => iota(shape, axis, dtype))
  // Beyond 2^24 an f32 holds every other number.
  const n = 2 ** 24 + 9
  const last = cd.compile(
    (() => cd.slice(iota([n], 0, 'f32') as never, [n - 9] as never, [n] as never)) as never,
    cpu,
  ) as unknown as () => cd.Tensor
  expect(Array.from(last().data)).toEqual(Array.from({ length: 9 }, (_, i) => Math.fround(2 ** 24 + i)))
})

/** NumPy's order: NaN after everything, equals as they come. */
const compared = (a: number, b: number): number =>
  a < b ? -1 : a > b ? 1 : a === b ? 0 : Number(Number.isNaN(a)) - Number(Number.isNaN(b))
it('sorting is that by comparison, stable, for lines short and long', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 300 }),
      dtypes,
      fc.boolean(),
      fc.constantFrom(0, 0.3, 1),
      fc.constantFrom<[number, number][]>([1, 1], [2, 1], [1, 3]),
      fc.integer({ min: 1, max: 1e6 }),
      (n, dtype, descending, edges, [before, after], seed) => {
        const full = drawn([before, n, after], dtype, seed, edges)
        // Many that are equal, and some whose last digits alone differ.
        const x = (edges === 0.3 && dtype !== 'i32'
          ? cd.evaluate(cd.div(cd.round(cd.mul(full as never, 4)), 3) as never)
          : full) as unknown as cd.Tensor
        const data = Array.from(x.data as Float64Array)
        for (const backend of [cpu, plain]) {
          const f = (t: E) => [cd.sort(t as never, { axis: 1, descending }), cd.argsort(t as never, { axis: 1, descending })]
          const [values, order] = (cd.compile(f as never, backend) as unknown as (x: cd.Tensor) => readonly cd.Tensor[])(x)
          for (let b = 0; b < before; b++)
            for (let c = 0; c < after; c++) {
              const at = (k: number): number => (b * n + k) * after + c
              const want = Array.from({ length: n }, (_, k) => k).sort((i, j) =>
                descending ? compared(data[at(j)]!, data[at(i)]!) || i - j : compared(data[at(i)]!, data[at(j)]!) || i - j,
              )
              expect(want.map((_, k) => order!.data[at(k)])).toEqual(want)
              expect(want.map((_, k) => values!.data[at(k)])).toEqual(want.map((i) => data[at(i)]))
            }
        }
      },
    ),
    { numRuns: count(30, 150) },
  )
})

it('some places of an order are those of all of it, for lines short, long and longer, of few numbers and of many', () => {
  const part = (x: cd.Tensor, k: number, from: number, largest: boolean) =>
    (
      cd.compile(((t: E) => cd.topk(t as never, k as never, { axis: 1, largest, from })) as never, cpu) as unknown as (x: cd.Tensor) => {
        readonly values: cd.Tensor
        readonly indices: cd.Tensor
      }
    )(x)
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(2000, 40_000)),
      dtypes,
      fc.boolean(),
      fc.constantFrom(0, 0.3, 1),
      fc.constantFrom<[number, number][]>([1, 1], [2, 1], [1, 3]),
      fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
      fc.constantFrom(0, 1, 2, 7, 0.3, 0.9),
      fc.integer({ min: 1, max: 1e6 }),
      (n, dtype, largest, edges, [before, after], start, length, seed) => {
        const full = drawn([before, n, after], dtype, seed, edges)
        const x = (edges === 0.3 && dtype !== 'i32'
          ? cd.evaluate(cd.div(cd.round(cd.mul(full as never, 4)), 3) as never)
          : full) as unknown as cd.Tensor
        const from = Math.floor(start * n)
        const k = Math.min(length < 1 ? Math.floor(length * n) : length, n - from)
        const { values, indices } = part(x, k, from, largest)
        const data = Array.from(x.data as Float64Array)
        for (let b = 0; b < before; b++)
          for (let c = 0; c < after; c++) {
            const at = (i: number): number => (b * n + i) * after + c
            const order = Array.from({ length: n }, (_, i) => i).sort((i, j) =>
              largest ? compared(data[at(j)]!, data[at(i)]!) || i - j : compared(data[at(i)]!, data[at(j)]!) || i - j,
            )
            const want = order.slice(from, from + k)
            expect(want.map((_, i) => indices.data[(b * k + i) * after + c])).toEqual(want)
            expect(want.map((_, i) => values.data[(b * k + i) * after + c])).toEqual(want.map((i) => data[at(i)]))
          }
      },
    ),
    { numRuns: count(30, 150) },
  )
})

it('a NaN of either sign comes after everything', () => {
  const n = 60
  const narrow = Float32Array.from({ length: n }, (_, i) => Math.sin(i))
  const wide = Float64Array.from(narrow)
  // A processor's own NaN has its sign set.
  for (const i of [3, 41]) {
    new Uint32Array(narrow.buffer)[i] = 0xffc00000
    new Uint32Array(wide.buffer).set([0, 0xfff80000], 2 * i)
  }
  for (const x of [cd.tensor(narrow, [n]), cd.tensor(wide, [n])])
    for (const backend of [cpu, plain])
      for (const descending of [false, true]) {
        const order = (
          cd.compile(((t: E) => cd.argsort(t as never, { descending })) as never, backend) as unknown as (x: unknown) => cd.Tensor
        )(x)
        const ends = Array.from(order.data)
        expect(descending ? ends.slice(0, 2) : ends.slice(-2)).toEqual([3, 41])
      }
})
