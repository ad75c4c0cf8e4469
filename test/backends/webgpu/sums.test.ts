/** Sums of many f32 numbers on lavapipe, in every kernel that adds: as near to the exact sum as f32 comes, with code for few cores and for many. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scans } from '../../../src/core/ops/families.js'
import * as cd from '../../../src/index.js'
import { whole } from '../../depth.js'
import { findLane } from './adapter.js'
import { f32, i32, type MachineName, openSingle, type Single } from './single.js'

const lane = findLane('lavapipe')
const LIMIT = 240_000
const machines: readonly MachineName[] = ['few cores', 'many cores']

type Loose = (...args: readonly never[]) => unknown
const op = cd as unknown as Readonly<Record<string, (...args: readonly unknown[]) => cd.AnyExpr>>
const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)

/** Positive numbers: one that f32 rounds, so that its sums are rounded the same way again and again; and many. */
const data = {
  'a tenth': (n: number) => new Float32Array(n).fill(0.1),
  'a third': (n: number) => new Float32Array(n).fill(1 / 3),
  'random numbers': (n: number) => Float32Array.from({ length: n }, (_, i) => ((Math.imul(i, 2654435761) >>> 0) + 1) / 2 ** 32),
} as const
type Data = keyof typeof data
const kinds = Object.keys(data) as Data[]
/** One kind of numbers for each row of a table, in turn; all of them at `npm run test:whole`. */
const kindsOf = (row: number): readonly Data[] => (whole ? kinds : [kinds[row % kinds.length]!])
/** The same for numbers that f32 rounds, by the machine. */
const roundedOn = (machine: MachineName): readonly Data[] => {
  const both = ['a tenth', 'a third'] as const
  return whole ? both : [both[machines.indexOf(machine)]!]
}

/** Exact sums over axes (Neumaier's in f64), by place in the result. */
const exactly = (x: ArrayLike<number>, shape: readonly number[], axes: readonly number[]): Float64Array => {
  const kept = shape.map((d, a) => (axes.includes(a) ? 1 : d))
  const total = new Float64Array(size(kept))
  const lost = new Float64Array(total.length)
  const index = shape.map(() => 0)
  const steps = kept.map((d, a) => (d === 1 ? 0 : size(kept.slice(a + 1))))
  for (let i = 0, at = 0; i < x.length; i++) {
    const t = total[at]! + x[i]!
    lost[at]! += total[at]! - (t - x[i]!) + (x[i]! - (t - (t - x[i]!)))
    total[at] = t
    for (let a = shape.length - 1; a >= 0; a--) {
      at += steps[a]!
      if (++index[a]! < shape[a]!) break
      at -= steps[a]! * shape[a]!
      index[a] = 0
    }
  }
  return total.map((t, k) => t + lost[k]!)
}
const worst = (got: ArrayLike<number>, want: ArrayLike<number>): number => {
  expect(got.length).toBe(want.length)
  let off = 0
  for (let k = 0; k < want.length; k++) off = Math.max(off, Math.abs(got[k]! / want[k]! - 1))
  return off
}

describe.skipIf(lane === undefined)('sums of many numbers, lavapipe', () => {
  let single: Single
  beforeAll(async () => {
    single = await openSingle(lane!)
  }, LIMIT)
  afterAll(() => single.dispose())

  const run = async (machine: MachineName, f: Loose, ...xs: readonly unknown[]): Promise<ArrayLike<number>> => {
    const g = (cd.compileAsync as unknown as (f: Loose, b: cd.AsyncBackend) => (...x: readonly unknown[]) => Promise<cd.Tensor>)(
      f,
      single.backends[machine],
    )
    return (await g(...xs)).data as ArrayLike<number>
  }
  const tensor = (x: Float32Array | Int32Array, shape: readonly number[]): cd.Tensor => cd.tensor(x, [...shape]) as unknown as cd.Tensor

  const N = 10_000_000
  const folded: readonly (readonly [string, readonly number[], readonly number[]])[] = [
    ['all of one axis', [N], [0]],
    ['the last axis', [10, N / 10], [1]],
    ['the first axis', [N / 10, 10], [0]],
    ['the middle axis', [10, N / 100, 10], [1]],
    ['the outer axes', [10, N / 100, 10], [0, 2]],
    ['the first axis of rows that fill few cores', [N / 100, 100], [0]],
  ]
  for (const machine of machines)
    describe(machine, () => {
      it.each(folded.map((row, i) => [...row, kindsOf(i)] as const))(
        '10^7 terms over %s are within 1e-6',
        async (_, shape, axes, ofThese) => {
          for (const kind of ofThese) {
            const x = data[kind](N)
            const want = exactly(x, shape, axes)
            const n = N / want.length
            expect(
              worst(await run(machine, ((v: never) => op.sum!(v, { axis: axes })) as Loose, tensor(x, shape)), want),
              kind,
            ).toBeLessThan(1e-6)
            const mean = await run(machine, ((v: never) => op.mean!(v, { axis: axes })) as Loose, tensor(x, shape))
            expect(
              worst(
                mean,
                want.map((s) => s / n),
              ),
              `mean of ${kind}`,
            ).toBeLessThan(1e-6)
          }
        },
        LIMIT,
      )

      it(
        '2^25 terms that lie in one place: the mean of ones is 1, that of thirds a third',
        async () => {
          const f = ((v: never) => op.mean!(op.broadcastTo!(v, [2 ** 25]))) as Loose
          expect(Array.from(await run(machine, f, tensor(Float32Array.of(1), [])))).toEqual([1])
          const third = Float32Array.of(1 / 3)
          expect(worst(await run(machine, f, tensor(third, [])), third)).toBeLessThan(1e-6)
        },
        LIMIT,
      )

      it(
        'with what they are fused with, in views, and added to what is there',
        async () => {
          const n = 2_000_000
          for (const kind of kindsOf(machine === 'few cores' ? 0 : 2)) {
            const x = data[kind](n)
            const v = tensor(x, [n])
            const cases: readonly (readonly [string, Loose, readonly unknown[], Float64Array])[] = [
              [
                'a square',
                (v: never) => op.sum!(op.square!(v)),
                [v],
                exactly(
                  x.map((a) => a * a),
                  [n],
                  [0],
                ),
              ],
              [
                'two folds',
                (v: never) => op.div!(op.sum!(v), op.max!(v)),
                [v],
                exactly(x, [n], [0]).map((s) => s / x.reduce((a, b) => Math.max(a, b))),
              ],
              [
                'a transposed array',
                (v: never) => op.sum!(op.transpose!(op.reshape!(v, [n / 4, 4])), { axis: 1 }),
                [v],
                exactly(x, [n / 4, 4], [0]),
              ],
              [
                'every other element',
                (v: never) => op.sum!(op.slice!(v, [0], [n], [2])),
                [v],
                exactly(
                  x.filter((_, i) => i % 2 === 0),
                  [n / 2],
                  [0],
                ),
              ],
              [
                'a sum added to',
                (v: never, a: never) => op.add!(op.square!(a), op.sum!(v)),
                [v, tensor(Float32Array.of(3), [])],
                exactly(x, [n], [0]).map((s) => s + 9),
              ],
            ] // prettier-ignore
            for (const [name, f, xs, want] of cases)
              expect(worst(await run(machine, f, ...xs), want), `${name}, ${kind}`).toBeLessThan(1e-6)
          }
        },
        LIMIT,
      )

      it(
        'the gradient of a bias, from a million rows',
        async () => {
          const [rows, columns] = [1_000_000, 3]
          const x = data['random numbers'](rows * columns)
          const f = (cd.grad as unknown as (f: unknown, o: object) => Loose)((x: never, b: never) => op.sum!(op.mul!(x, op.add!(x, b))), {
            wrt: 1,
          })
          const got = await run(machine, f, tensor(x, [rows, columns]), tensor(new Float32Array(columns), [columns]))
          expect(worst(got, exactly(x, [rows, columns], [0]))).toBeLessThan(1e-6)
        },
        LIMIT,
      )

      it(
        'infinite sums are infinite, NaN stays NaN, and huge sums of one sign do not lose theirs',
        async () => {
          const n = 100_000
          const f = ((v: never) => op.sum!(v)) as Loose
          const g = ((v: never) => op.cumsum!(v)) as Loose
          const [inf, nan] = [Number.POSITIVE_INFINITY, Number.NaN]
          for (const [at, want] of [
            [[inf], inf],
            [[-inf], -inf],
            [[inf, -inf], nan],
            [[nan], nan],
            [[3e38, 3e38], inf],
            [[-3.2e38], -3.2e38],
          ] as const) {
            const x = new Float32Array(n)
            at.forEach((v, i) => {
              x[n / 2 + 1000 * i] = v
            })
            expect(Array.from(await run(machine, f, tensor(x, [n]))), `sum of ${at}`).toEqual([Math.fround(want)])
            expect(Array.from(await run(machine, g, tensor(x, [n]))).at(-1), `cumsum of ${at}`).toEqual(Math.fround(want))
          }
        },
        LIMIT,
      )

      it(
        'matrix products of long rows and columns, in both forms',
        async () => {
          const shapes = [
            [1, 4_000_000, 1],
            [2, 1_000_000, 3],
            [40, 20_000, 40],
            [70, 10_000, 66],
          ] as const // prettier-ignore
          for (const [row, [m, k, n]] of shapes.entries())
            for (const kind of kindsOf(row)) {
              const [a, b] = [data[kind](m * k), data[kind](k * n)]
              const want = new Float64Array(m * n)
              for (let i = 0; i < m; i++)
                for (let p = 0; p < k; p++) for (let j = 0; j < n; j++) want[i * n + j]! += a[i * k + p]! * b[p * n + j]!
              const got = await run(machine, ((x: never, y: never) => op.matmul!(x, y)) as Loose, tensor(a, [m, k]), tensor(b, [k, n]))
              // A block of 128 products, then the blocks of a part: a few of their roundings, where all go one way.
              expect(worst(got, want), `[${m}, ${k}] x [${k}, ${n}], ${kind}`).toBeLessThan(4e-6)
            }
        },
        LIMIT,
      )

      it(
        'convolutions over many channels, and the gradients of their windows over long signals',
        async () => {
          const conv = ((x: never, k: never) => op.conv!(x, k)) as Loose
          const kernel = (cd.grad as unknown as (f: unknown, o: object) => Loose)((x: never, k: never) => op.sum!(op.conv!(x, k)), {
            wrt: 1,
          })
          for (const kind of roundedOn(machine)) {
            const c = data[kind](1)[0]!
            const [channels, taps] = [20_000, 9]
            const wide = await run(
              machine,
              conv,
              tensor(data[kind](channels * 12), [1, channels, 12]),
              tensor(data[kind](channels * taps), [1, channels, taps]),
            )
            expect(worst(wide, new Float64Array(4).fill(channels * taps * c * c)), `${kind}, channels`).toBeLessThan(4e-6)
            const long = await run(
              machine,
              conv,
              tensor(data[kind](100_007), [1, 1, 100_007]),
              tensor(data[kind](100_000), [1, 1, 100_000]),
            )
            expect(worst(long, new Float64Array(8).fill(100_000 * c * c)), `${kind}, taps`).toBeLessThan(8e-6)
            for (const shape of [
              [1, 1, 1, 2_000_002],
              [1, 1, 2002, 1002],
              [40, 1, 202, 202],
            ] as const) {
              // prettier-ignore
              const k = shape[2] === 1 ? [1, 1, 1, 3] : [1, 1, 3, 3]
              const positions = shape[0] * (shape[2] - k[2]! + 1) * (shape[3] - k[3]! + 1)
              const got = await run(machine, kernel, tensor(data[kind](size(shape)), shape), tensor(new Float32Array(size(k)), k))
              expect(worst(got, new Float64Array(size(k)).fill(positions * c)), `${kind}, kernel of [${shape}]`).toBeLessThan(4e-6)
            }
          }
        },
        LIMIT,
      )

      it(
        'scattered sums, whether few places take all or many take some',
        async () => {
          const n = 300_000
          const f = (cd.grad as unknown as (f: unknown, o: object) => Loose)(
            (w: never, i: never, u: never) => op.sum!(op.mul!(op.gather!(w, i), u)),
            { wrt: 0 },
          )
          for (const [row, rows] of [1, 7, 400_000].entries())
            for (const kind of kindsOf(row)) {
              const u = data[kind](n)
              const where = Int32Array.from({ length: n }, (_, i) => i % Math.min(rows, 7))
              const want = new Float64Array(rows)
              u.forEach((v, i) => {
                want[where[i]!]! += v
              })
              const got = await run(machine, f, tensor(new Float32Array(rows), [rows]), tensor(where, [n]), tensor(u, [n]))
              expect(Array.from(got).slice(7)).toEqual(Array.from(want).slice(7)) // nothing
              expect(worst(Array.from(got).slice(0, 7), want.slice(0, 7)), `${rows} rows, ${kind}`).toBeLessThan(1e-6)
            }
        },
        LIMIT,
      )

      it(
        'running sums, at every place',
        async () => {
          for (const [row, shape] of [[1_000_000], [3, 100_000], [20_000, 40]].entries())
            for (const kind of kindsOf(row)) {
              const x = data[kind](size(shape))
              const axis = shape.length === 2 && shape[1] === 40 ? 0 : shape.length - 1
              const [length, after] = [shape[axis]!, size(shape.slice(axis + 1))]
              const want = Float64Array.from(x)
              for (let i = 0; i < want.length; i++) if (Math.floor(i / after) % length > 0) want[i]! += want[i - after]!
              const [got] = await single.run(machine, scans.cumsum as never, [f32(shape, x)], { axis, reverse: false, exclusive: false })
              expect(worst(got as Float32Array, want), `[${shape}], ${kind}`).toBeLessThan(1e-6)
            }
        },
        LIMIT,
      )

      it(
        'means of large windows',
        async () => {
          for (const kind of roundedOn(machine)) {
            const x = data[kind](1000 * 1003)
            const mean = await run(
              machine,
              ((v: never) => op.avgPool!(v, { window: [1000, 1000], stride: 1 })) as Loose,
              tensor(x, [1, 1, 1000, 1003]),
            )
            expect(worst(mean, new Float64Array(4).fill(x[0]!)), kind).toBeLessThan(1e-6)
            const spread = (cd.grad as unknown as (f: unknown) => Loose)((v: never) =>
              op.sum!(op.mul!(op.avgPool!(v, { window: 60, stride: 1 }), 3600)),
            )
            const got = await run(machine, spread, tensor(data[kind](1 * 120 * 120), [1, 1, 120, 120]))
            expect(Math.abs(got[59 * 120 + 59]! / 3600 - 1)).toBeLessThan(1e-6)
          }
        },
        LIMIT,
      )

      it(
        'integers that wrap around',
        async () => {
          const x = i32([100_000], (i) => Math.imul(i, 2654435761))
          const want = Array.from({ length: 100_000 }, (_, i) => Math.imul(i, 2654435761)).reduce((a, b) => (a + b) | 0, 0)
          const [got] = await single.run(machine, scans.cumsum as never, [x], { axis: 0, reverse: false, exclusive: false })
          expect(got!.at(-1)).toBe(want)
        },
        LIMIT,
      )
    })
})
