/** Scans, sorting and positions of extremes on lavapipe, against the reference. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import { reduce, scans } from '../../../src/core/ops/families.js'
import { findLane } from './adapter.js'
import { f32, type Given, i32, openSingle, randoms, type Single, sampleArgs } from './single.js'

const lane = findLane('lavapipe')
const LIMIT = 120_000

describe.skipIf(lane === undefined)('webgpu, lavapipe', () => {
  let single: Single
  beforeAll(async () => {
    single = await openSingle(lane!)
  }, LIMIT)
  afterAll(() => single.dispose())

  const rows: readonly AnyPrimitive[] = [scans.cumsum, scans.cumprod, scans.linearRecurrence, scans.sort, reduce.argmax, reduce.argmin]
  for (const prim of rows)
    it(
      `${prim.name}: its samples`,
      async () => {
        for (const sample of prim.samples) await single.check(prim, sampleArgs(sample), sample.params, 4)
      },
      LIMIT,
    )

  const unit = (seed: number): ((i: number) => number) => {
    const next = randoms(seed)
    return () => next() / 2 ** 31 - 1
  }
  /** Axis lengths around every change of form, in shapes with lines before and after. */
  const shapes: readonly (readonly [readonly number[], number])[] = [
    [[1], 0],
    [[16], 0],
    [[17], 0],
    [[1000], 0],
    [[3, 65, 2], 1],
    [[2, 300, 3], 1],
    [[5, 1, 4], 1],
    [[300, 7], 0],
    [[40000], 0],
  ]
  const both = [false, true] as const

  describe('cumsum', () => {
    it(
      'of f32: from both ends, with and without the element',
      async () => {
        for (const [shape, axis] of shapes)
          for (const reverse of both)
            for (const exclusive of both) await single.check(scans.cumsum, [f32(shape, unit(3))], { axis, reverse, exclusive }, 16)
      },
      LIMIT,
    )
    it(
      'of i32 wraps around',
      async () => {
        for (const [shape, axis] of shapes)
          for (const reverse of both) await single.check(scans.cumsum, [i32(shape, randoms(5))], { axis, reverse, exclusive: reverse })
      },
      LIMIT,
    )
    it(
      'of infinities and NaN',
      async () => {
        const x = f32([600], (i) =>
          i === 70 ? Number.POSITIVE_INFINITY : i === 500 ? Number.NEGATIVE_INFINITY : i === 590 ? Number.NaN : 1,
        )
        await single.check(scans.cumsum, [x], { axis: 0, reverse: false, exclusive: false }, 1)
      },
      LIMIT,
    )
    it(
      'keeps the error of long sums small',
      async () => {
        await single.check(scans.cumsum, [f32([200_000], () => 0.1)], { axis: 0, reverse: false, exclusive: false }, 16)
        await single.check(scans.cumsum, [f32([100, 20_000], () => 0.1)], { axis: 1, reverse: false, exclusive: false }, 32)
      },
      LIMIT,
    )
  })

  describe('cumprod', () => {
    it(
      'of f32 and i32: from both ends, with and without the element',
      async () => {
        for (const [shape, axis] of shapes)
          for (const reverse of both)
            for (const exclusive of both) {
              const near = unit(7) // a product of n terms is off by n half units
              await single.check(scans.cumprod, [f32(shape, (i) => 1 + near(i) / 64)], { axis, reverse, exclusive }, shape[axis]! + 4)
              await single.check(scans.cumprod, [i32(shape, randoms(9))], { axis, reverse, exclusive })
            }
      },
      LIMIT,
    )
    it(
      'comes back from where f32 ends, and zeros stay zeros',
      async () => {
        const rise = (i: number) => (i % 200 < 100 ? 3.7 : 1 / 3.7)
        await single.check(scans.cumprod, [f32([1000], (i) => rise(i))], { axis: 0, reverse: false, exclusive: false }, 400)
        await single.check(scans.cumprod, [f32([1000], (i) => (i === 5 ? 0 : 10))], { axis: 0, reverse: false, exclusive: false }, 4)
        await single.check(
          scans.cumprod,
          [f32([2000], (i) => (i === 50 ? Number.NaN : 10))],
          { axis: 0, reverse: true, exclusive: false },
          4,
        )
        // From a subnormal number, which arithmetic may flush, back to what can be told from 0.
        await single.check(scans.cumprod, [f32([3], [1e-40, 1e38, 5])], { axis: 0, reverse: false, exclusive: false }, 4)
      },
      LIMIT,
    )
  })

  describe('linearRecurrence', () => {
    it(
      'of decaying and of growing factors, from both ends',
      async () => {
        for (const [shape, axis] of shapes)
          for (const reverse of both) {
            const [a, b] = [unit(11), unit(13)]
            await single.check(scans.linearRecurrence, [f32(shape, a), f32(shape, b)], { axis, reverse }, 32)
          }
        const zeros = (i: number) => (i === 990 ? 1 : 0)
        await single.check(scans.linearRecurrence, [f32([1000], () => 20), f32([1000], zeros)], { axis: 0, reverse: false }, 4)
      },
      LIMIT,
    )
    it(
      'does not read the first factor',
      async () => {
        for (const n of [3, 1000]) {
          const a = (i: number) => (i === 0 ? Number.NaN : 0.5)
          await single.check(scans.linearRecurrence, [f32([n], a), f32([n], () => 1)], { axis: 0, reverse: false }, 4)
        }
      },
      LIMIT,
    )
  })

  describe('sort', () => {
    /** Few values, so that many are equal; zeros of both signs, infinities and NaN among them. */
    const odd = [0, -0, 1, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e-45, -1e-45, 2.5]
    it(
      'is stable, NaN the largest',
      async () => {
        for (const [shape, axis] of shapes)
          for (const descending of both) {
            const next = randoms(17)
            await single.check(scans.sort, [f32(shape, () => odd[next() % odd.length]!)], { axis, descending })
          }
      },
      LIMIT,
    )
    it(
      'of distinct numbers and of whole numbers',
      async () => {
        for (const [shape, axis] of shapes)
          for (const descending of both) {
            await single.check(scans.sort, [f32(shape, unit(19))], { axis, descending })
            await single.check(scans.sort, [i32(shape, randoms(21))], { axis, descending })
            const size = shape[axis]!
            await single.check(scans.sort, [f32(shape, unit(23))], {
              axis,
              descending,
              places: [Math.floor(size / 3), Math.ceil(size / 2)],
            })
          }
        await single.check(scans.sort, [i32([40], (i) => (i % 2 === 0 ? 2147483647 : -2147483648))], { axis: 0, descending: true })
      },
      LIMIT,
    )
    it(
      'gives the bits that came',
      async () => {
        const [values] = await single.run('few cores', scans.sort, [f32([3], [0, -0, -1])], { axis: 0, descending: true })
        expect(Object.is(values![0], 0) && Object.is(values![1], -0)).toBe(true)
      },
      LIMIT,
    )
  })

  for (const prim of [reduce.argmax, reduce.argmin] as const)
    it(
      `${prim.name}: the first of equals, the first NaN before all`,
      async () => {
        const cases = (shape: readonly number[]): readonly Given[] => {
          const next = randoms(23)
          const few = f32(shape, () => [1, 2, 0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY][next() % 6]!)
          const sparse = f32(shape, (i) => (next() % 97 === 0 ? Number.NaN : i % 13))
          return [few, sparse, f32(shape, unit(25)), i32(shape, () => next() % 5), f32(shape, () => -0)]
        }
        for (const [shape, axis] of shapes) for (const x of cases(shape)) await single.check(prim, [x], { axis })
        await single.check(prim, [i32([4], [-2147483648, 2147483647, -2147483648, 2147483647])], { axis: 0 })
      },
      LIMIT,
    )
})
