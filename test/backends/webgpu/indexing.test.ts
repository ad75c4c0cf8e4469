/** Indexing on lavapipe, and products of integers, against the reference. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import { contract, indexing, positions } from '../../../src/core/ops/families.js'
import * as cd from '../../../src/index.js'
import { findLane } from './adapter.js'
import { bool, f32, type Given, i32, openSingle, randoms, type Single, sampleArgs } from './single.js'

const lane = findLane('lavapipe')
const LIMIT = 120_000

describe.skipIf(lane === undefined)('webgpu, lavapipe', () => {
  let single: Single
  beforeAll(async () => {
    single = await openSingle(lane!)
  }, LIMIT)
  afterAll(() => single.dispose())

  /** The reference rounds their sums once, the device at each term; on other numbers the conformance suite holds them to a bound. */
  const adding: readonly AnyPrimitive[] = [indexing.scatterAdd, indexing.scatterAddAlong]
  for (const prim of Object.values(indexing) as readonly AnyPrimitive[])
    it(
      `${prim.name}: its samples`,
      async () => {
        for (const sample of prim.samples) {
          const { dtype } = sample.params as { readonly dtype?: string }
          const args = sampleArgs(sample, adding.includes(prim))
          await single.check(prim, args, dtype === 'f64' ? { ...(sample.params as object), dtype: 'f32' } : sample.params)
        }
      },
      LIMIT,
    )

  it(
    'iota: every dtype and axis',
    async () => {
      for (const dtype of ['f32', 'i32'])
        for (const axis of [0, 1, 2]) await single.check(positions.iota, [], { shape: [3, 70, 5], axis, dtype })
    },
    LIMIT,
  )

  /** Numbers of every kind, moved bit for bit. */
  const odd = [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -1e-45, -3]
  const arrays = (shape: readonly number[]): readonly Given[] => [
    f32(shape, (i) => odd[i % 7]!),
    i32(shape, randoms(3)),
    bool(shape, (i) => (i % 3 === 0 ? 1 : 0)),
  ]
  /** Positions of an axis, some from the end, some outside. */
  const anywhere = (shape: readonly number[], n: number, seed: number): Given => {
    const next = randoms(seed)
    return i32(shape, () => (next() % (4 * n)) - 2 * n)
  }
  interface Case {
    readonly x: readonly number[]
    readonly indices: readonly number[]
    readonly axis: number
    readonly batchDims: number
  }
  const slicesOf = (c: Case) => [...c.x.slice(0, c.axis), ...c.indices.slice(c.batchDims), ...c.x.slice(c.axis + 1)]
  const gathers: readonly Case[] = [
    { x: [1], indices: [1000], axis: 0, batchDims: 0 },
    { x: [10], indices: [2500], axis: 0, batchDims: 0 },
    { x: [1000, 3], indices: [700], axis: 0, batchDims: 0 },
    { x: [5, 20, 3], indices: [10, 30], axis: 1, batchDims: 0 },
    { x: [3, 7, 11, 2], indices: [3, 130], axis: 2, batchDims: 1 },
    { x: [40, 200], indices: [65], axis: 0, batchDims: 0 },
    { x: [2, 0, 3], indices: [0], axis: 1, batchDims: 0 },
    { x: [4, 5, 0], indices: [100], axis: 1, batchDims: 0 },
  ]
  interface Along {
    readonly x: readonly number[]
    readonly indices: readonly number[]
    readonly axis: number
  }
  const alongs: readonly Along[] = [
    { x: [1], indices: [1000], axis: 0 },
    { x: [10], indices: [3000], axis: 0 },
    { x: [3, 8, 5], indices: [3, 300, 5], axis: 1 },
    { x: [2, 70, 40], indices: [2, 9, 40], axis: 1 },
    { x: [4, 9], indices: [4, 100], axis: 1 },
    { x: [0, 9], indices: [0, 100], axis: 1 },
  ]

  it(
    'gather: every dtype; from the end, clamped',
    async () => {
      for (const { x, indices, axis, batchDims } of gathers)
        for (const a of arrays(x))
          await single.check(indexing.gather, [a, anywhere(indices, Math.max(1, x[axis]!), 5)], { axis, batchDims })
    },
    LIMIT,
  )
  it(
    'takeAlongAxis: every dtype; from the end, clamped',
    async () => {
      for (const { x, indices, axis } of alongs)
        for (const a of arrays(x)) await single.check(indexing.takeAlongAxis, [a, anywhere(indices, Math.max(1, x[axis]!), 7)], { axis })
    },
    LIMIT,
  )

  /** Whole numbers small enough that every order of a sum gives the same f32. */
  const whole = (seed: number) => {
    const next = randoms(seed)
    return () => (next() % 2001) - 1000
  }
  const fractions = (seed: number) => {
    const next = randoms(seed)
    return () => next() / 2 ** 31 - 1
  }
  it(
    'scatterAdd: lists of every length, runs of every length',
    async () => {
      for (const c of gathers) {
        const params = { axis: c.axis, batchDims: c.batchDims }
        const indices = anywhere(c.indices, Math.max(1, c.x[c.axis]!), 9)
        await single.check(indexing.scatterAdd, [f32(c.x, whole(1)), indices, f32(slicesOf(c), whole(2))], params)
        await single.check(indexing.scatterAdd, [i32(c.x, randoms(1)), indices, i32(slicesOf(c), randoms(2))], params)
        await single.check(indexing.scatterAdd, [f32(c.x, fractions(1)), indices, f32(slicesOf(c), fractions(2))], params, 64)
      }
      // A few long runs between short ones, over many chunks.
      const next = randoms(11)
      const mixed = i32([5000], (i) => (i % 5 === 0 ? next() % 50 : i < 2500 ? 17 : 18))
      await single.check(indexing.scatterAdd, [f32([50], whole(3)), mixed, f32([5000], whole(4))], { axis: 0, batchDims: 0 })
      // NaN and infinities stay with their element.
      const rare = f32([5000], (i) => (i === 5 ? Number.NaN : i === 10 ? Number.POSITIVE_INFINITY : 1))
      await single.check(indexing.scatterAdd, [f32([5000], whole(5)), i32([5000], (i) => 4999 - i), rare], { axis: 0, batchDims: 0 })
    },
    LIMIT,
  )
  it(
    'scatterAddAlong: lists of every length',
    async () => {
      for (const { x, indices, axis } of alongs) {
        const at = anywhere(indices, Math.max(1, x[axis]!), 13)
        await single.check(indexing.scatterAddAlong, [f32(x, whole(1)), at, f32(indices, whole(2))], { axis })
        await single.check(indexing.scatterAddAlong, [i32(x, randoms(1)), at, i32(indices, randoms(2))], { axis })
      }
    },
    LIMIT,
  )
  it(
    'sums of equal indices do not depend on the run, and short ones are added in the order of the indices',
    async () => {
      const drawn = (n: number, next: () => number) => Array.from({ length: n }, next)
      const next = randoms(15)
      const args = [
        f32([300], drawn(300, fractions(1))),
        i32(
          [900],
          drawn(900, () => next() % 300),
        ),
        f32([900], drawn(900, fractions(2))),
      ]
      const params = { axis: 0, batchDims: 0 }
      const [first] = await single.run('many cores', indexing.scatterAdd, args, params)
      for (let k = 0; k < 3; k++) expect(await single.run('many cores', indexing.scatterAdd, args, params)).toEqual([first])
      // In order: 1e8 + 1 - 1e8 is 0 in f32, 1e8 - 1e8 + 1 is not. (The reference, in f64, has 1 and 10.)
      const ordered = [f32([2], [0, 0]), i32([66], (i) => (i < 60 ? 1 : 0)), f32([66], (i) => [1e8, 1, -1e8, 0, 0, 0][i % 6]!)]
      for (const machine of ['few cores', 'many cores'] as const) {
        const [sums] = await single.run(machine, indexing.scatterAdd, ordered, params)
        expect(Array.from(sums!), machine).toEqual([0, 0])
      }
    },
    LIMIT,
  )
  it(
    'setAt: the last of equal indices wins',
    async () => {
      for (const c of gathers)
        for (const [k, x] of arrays(c.x).entries()) {
          const u = arrays(slicesOf(c))[k]!
          await single.check(indexing.setAt, [x, anywhere(c.indices, Math.max(1, c.x[c.axis]!), 17), u], {
            axis: c.axis,
            batchDims: c.batchDims,
          })
        }
    },
    LIMIT,
  )

  it(
    'searchsorted: both sides, with NaN last',
    async () => {
      const next = randoms(19)
      const values = [-2, -1, -0, 0, 1e-45, 1, 2.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]
      const last = (a: number, b: number) => (Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b || 0)
      const sorted = Array.from({ length: 100 }, () => values[next() % 10]!).sort((a, b) => (a === b ? 0 : last(a, b)))
      const whole = Array.from({ length: 100 }, () => (next() % 50) - 25).sort((a, b) => a - b)
      for (const side of ['left', 'right']) {
        await single.check(indexing.searchsorted, [f32([100], sorted), f32([70], (i) => values[i % 10]!)], { side, batchDims: 0 })
        await single.check(indexing.searchsorted, [i32([100], whole), i32([7, 9], (i) => i - 31)], { side, batchDims: 0 })
        const rows = f32([3, 50], (i) => (i % 50) / 10)
        await single.check(indexing.searchsorted, [rows, f32([3, 4, 5], fractions(21))], { side, batchDims: 1 })
      }
    },
    LIMIT,
  )

  it(
    'windows: every rank and dtype; moved inside; batches',
    async () => {
      const cases: readonly { readonly x: readonly number[]; readonly sizes: readonly number[]; readonly batchDims: number }[] = [
        { x: [1000], sizes: [1000], batchDims: 0 },
        { x: [1000], sizes: [300], batchDims: 0 },
        { x: [6, 7, 8], sizes: [2, 7, 3], batchDims: 0 },
        { x: [4, 3, 9, 5], sizes: [9, 2], batchDims: 2 },
        { x: [3, 4, 2, 5, 3], sizes: [1, 2, 4, 3], batchDims: 1 },
      ]
      for (const { x, sizes, batchDims } of cases) {
        const lead = x.slice(0, batchDims)
        const starts = anywhere([...lead, sizes.length], 9, 23)
        const window = [...lead, ...sizes]
        for (const [k, a] of arrays(x).entries()) {
          await single.check(indexing.dynamicSlice, [a, starts], { sizes, batchDims })
          await single.check(indexing.dynamicUpdateSlice, [a, starts, arrays(window)[k]!], { sizes, batchDims })
        }
        await single.check(indexing.dynamicSliceAdd, [f32(x, whole(1)), starts, f32(window, whole(2))], { sizes, batchDims })
        await single.check(indexing.dynamicSliceAdd, [i32(x, randoms(1)), starts, i32(window, randoms(2))], { sizes, batchDims })
      }
    },
    LIMIT,
  )

  it(
    'matmul and matmulAdd of integers: leading axes that broadcast, long sums, empty ones',
    async () => {
      const shapes = [
        { a: [2, 3], b: [3, 4], y: [2, 4] },
        { a: [2, 1, 5, 6], b: [3, 6, 7], y: [2, 3, 5, 7] },
        { a: [1, 2000], b: [2000, 1], y: [1, 1] },
        { a: [40, 33], b: [33, 50], y: [40, 50] },
        { a: [2, 0], b: [0, 3], y: [2, 3] },
        { a: [0, 2], b: [2, 3], y: [0, 3] },
      ]
      for (const { a, b, y } of shapes) {
        await single.check(contract.matmul, [i32(a, whole(1)), i32(b, whole(2))], {})
        await single.check(contract.matmulAdd, [i32(y, randoms(3)), i32(a, whole(1)), i32(b, whole(2))], {})
      }
      // Past 2^31 the sum wraps around.
      await single.check(contract.matmul, [i32([1, 3], [65536, 65536, 3]), i32([3, 1], [65536, 32768, 5])], {})
    },
    LIMIT,
  )

  it(
    'in programs with gradients: one submit, and the numbers of the cpu',
    async () => {
      const [rows, width, count] = [30, 8, 200]
      const ids = Int32Array.from({ length: count }, (_, i) => (i * i) % rows)
      type Leaf = cd.AnyExpr
      const loss = ({ table, scale }: { readonly table: Leaf; readonly scale: Leaf }, at: Leaf): Leaf => {
        const picked = cd.gather(table as never, at as never) as Leaf
        const best = cd.topk(picked as never, 3, { axis: 0 }) as { readonly values: Leaf }
        const products = cd.cumprod(cd.mul(scale as never, 0.3) as never) as Leaf
        const put = cd.setAt(scale as never, [1, 3] as never, [2, 4] as never) as Leaf
        const sums = cd.cumsum(cd.mul(cd.tanh(picked as never) as never, put as never) as never, { axis: 0 }) as Leaf
        return cd.add(cd.mean(sums as never) as never, cd.sum(cd.mul(best.values as never, products as never) as never) as never) as Leaf
      }
      const wave = (n: number, k: number) => Float32Array.from({ length: n }, (_, i) => Math.sin(k * (i + 1)) + 1.1)
      const params = { table: cd.tensor(wave(rows * width, 1.3), [rows, width]), scale: cd.tensor(wave(width, 0.7), [width]) }
      type Out = { readonly value: cd.Tensor; readonly grad: { readonly table: cd.Tensor; readonly scale: cd.Tensor } }
      const compile = cd.compile as unknown as (f: unknown, b: unknown) => (...args: readonly unknown[]) => Promise<Out> | Out
      const step = (cd.valueAndGrad as unknown as (f: unknown) => unknown)(loss)
      const want = (await compile(step, cd.cpu())(params, cd.tensor(ids, [count]))) as Out
      for (const backend of Object.values(single.backends)) {
        const f = compile(step, backend)
        const before = backend.stats().submits
        const got = await f(params, cd.tensor(ids, [count]))
        expect(backend.stats().submits - before).toBe(1)
        for (const [a, b] of [
          [got.value, want.value],
          [got.grad.table, want.grad.table],
          [got.grad.scale, want.grad.scale],
        ] as const) {
          const [x, y] = [a.data, b.data] as readonly ArrayLike<number>[]
          const top = Math.max(1, ...Array.from(y!, Math.abs))
          for (let i = 0; i < y!.length; i++) expect(Math.abs(x![i]! - y![i]!) / top).toBeLessThan(64 * 2 ** -23)
        }
      }
    },
    LIMIT,
  )
})
