/**
 * The scalar tables of WebGPU against the meanings in f64, on one driver: dense samples, extremes, and random bit patterns.
 * A subnormal number may be flushed to zero, in arguments, between, and in results (WGSL allows it, SwiftShader does it): a result may
 * be the meaning at flushed arguments, and an error below 2^-126 does not count. Signs of zero, NaN and Infinity count.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareKernels } from '../../../src/backends/webgpu/compare.js'
import { elementwiseKernels } from '../../../src/backends/webgpu/elementwise.js'
import type { WgslScalar } from '../../../src/backends/webgpu/kernel.js'
import { float, type WgslDType } from '../../../src/backends/webgpu/wgsl/literal.js'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import { elementwise } from '../../../src/core/ops/families.js'
import * as special from '../../../src/core/ops/special/functions.js'
import { sample } from '../../depth.js'
import { comparisons, type Interval, integerBinaries, integerUnaries, logic, tests } from '../accuracy.js'
import { findLane, type LaneName, openDevice } from './adapter.js'
import { evaluateJobs, type Job } from './evaluate.js'
import { EPS, type Row, rows, SMALLEST } from './math-rows.js'

export const SPECIAL = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  2,
  -2,
  3,
  -3,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e-45,
  -1e-45,
  1e-40,
  -1e-40,
  SMALLEST,
  -SMALLEST,
  3.4028234663852886e38,
  -3.4028234663852886e38,
  1e9,
  -1e9,
  2 ** 24 + 2,
  2 ** 24 - 1,
  88,
  -88,
  89,
  -89,
  128,
  -126,
  -149,
  1e-20,
  -1e-20,
  1e20,
  -1e20,
  1 + EPS,
  1 - EPS / 2,
].map(Math.fround)
const SAMPLES = 3000
/** Quasi-random numbers in (0, 1): steps of the golden ratio's powers, so that arguments are not related. */
export const draw = (i: number, k: number): number => ((i + 0.5) * (k === 0 ? 0.6180339887498949 : 0.7548776662466927)) % 1
/** Random bit patterns, the same in every run. */
export const patterns = (n: number, seed: number): Float32Array => {
  const words = new Uint32Array(n)
  let s = seed
  for (let i = 0; i < n; i++) {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0
    words[i] = (s ^ (s >>> 13)) >>> 0
  }
  return new Float32Array(words.buffer)
}
const columns = (arity: number, on: Row['on']): number[][] => {
  const x: number[][] = Array.from({ length: arity }, () => [])
  for (const [low, high] of on)
    for (let i = 0; i < SAMPLES; i++) for (let k = 0; k < arity; k++) x[k]!.push(Math.fround(low + (high - low) * draw(i, k)))
  if (arity === 1) x[0]!.push(...SPECIAL)
  else
    for (const a of SPECIAL)
      for (const b of SPECIAL) {
        x[0]!.push(a)
        x[1]!.push(b)
      }
  for (let k = 0; k < arity; k++) x[k]!.push(...patterns(SAMPLES, 12345 + k))
  return x
}

const subnormal = (x: number): boolean => x !== 0 && Math.abs(x) < SMALLEST
/** Every choice of flushing the subnormal arguments. */
const flushings = (x: readonly number[]): readonly (readonly number[])[] =>
  x.reduce<readonly (readonly number[])[]>(
    (rest, v) =>
      rest.flatMap((r) =>
        subnormal(v)
          ? [
              [...r, v],
              [...r, v < 0 ? -0 : 0],
            ]
          : [[...r, v]],
      ),
    [[]],
  )
/** Error in units in the last place of f32 against an unrounded number. */
const ulps = (got: number, want: number): number => {
  const rounded = Math.fround(want)
  if (Object.is(got, rounded)) return 0
  if (!Number.isFinite(got) || Number.isNaN(want) || !Number.isFinite(rounded)) return Number.POSITIVE_INFINITY
  // A zero of the wrong sign is an error; any other number below the normal range may have been flushed.
  if (got === 0 && rounded === 0) return want === 0 ? Number.POSITIVE_INFINITY : 0
  const error = Math.abs(got - want)
  return error <= SMALLEST ? 0 : error / 2 ** (Math.max(Math.floor(Math.log2(Math.abs(rounded))), -126) - 23)
}
/** The error of a result, at best over the flushings. */
export const errorOf = (got: number, f: (...x: number[]) => number, x: readonly number[], slack: number): number => {
  let best = Number.POSITIVE_INFINITY
  for (const choice of flushings(x)) {
    const want = f(...choice)
    best = Math.min(best, Math.abs(got - want) <= slack ? 0 : ulps(got, want))
  }
  return best
}

export const floats = (prim: AnyPrimitive, row: WgslScalar, x: readonly number[][], params?: unknown): Job => ({
  row,
  params,
  from: prim.args.map(() => 'f32' as const),
  to: 'f32',
  x,
})

/** On one driver; `text` may make it another one. */
export const mathSuite = (name: LaneName, what: string = name, text?: (wgsl: string) => string): void => {
  const lane = findLane(name)
  const evaluate = (device: GPUDevice, jobs: readonly Job[]) => evaluateJobs(device, jobs, text)
  describe.skipIf(lane === undefined)(`scalar functions on ${what}`, () => {
    let device: GPUDevice
    beforeAll(async () => {
      device = await openDevice(lane!)
    })
    afterAll(() => device.destroy())

    describe('f32', () => {
      const names = [...rows.keys()] as (keyof typeof elementwise)[]
      const jobs = new Map<string, Job>()
      const results = new Map<string, ArrayLike<number>>()
      beforeAll(async () => {
        for (const n of names) {
          const prim = elementwise[n] as unknown as AnyPrimitive
          jobs.set(n, floats(prim, elementwiseKernels[n], columns(prim.args.length, rows.get(n)!.on)))
        }
        const columnsOut = await evaluate(device, [...jobs.values()])
        names.forEach((n, i) => {
          results.set(n, columnsOut[i]!)
        })
      })
      for (const n of names) {
        const row = rows.get(n)!
        it(`${n}: within ${row.ulps} ulp (${row.why})`, () => {
          const f = (elementwise[n] as unknown as AnyPrimitive).scalar!
          const { x } = jobs.get(n)!
          const got = results.get(n)!
          let worst = 0
          let at = -1
          for (let i = 0; i < got.length; i++) {
            const point = x.map((column) => column[i]!)
            const e = errorOf(got[i]!, f, point, row.slack?.(...point) ?? 0)
            if (e > worst) [worst, at] = [e, i]
          }
          const point = x.map((column) => column[at]!)
          expect(worst, at < 0 ? '' : `${n}(${point.join(', ')}) = ${got[at]}, not ${f(...point)}`).toBeLessThanOrEqual(row.ulps)
        })
      }
    })

    it('sin, cos and tan keep their relative accuracy beside multiples of pi / 2', async () => {
      const x = Array.from({ length: 3000 }, (_, k) => Math.fround((k * k + 1) * (Math.PI / 2)))
      const names = ['sin', 'cos', 'tan'] as const
      const got = await evaluate(
        device,
        names.map((n) => floats(elementwise[n] as unknown as AnyPrimitive, elementwiseKernels[n], [x])),
      )
      names.forEach((n, j) => {
        const worst = Math.max(...x.map((v, i) => ulps(got[j]![i]!, elementwise[n].scalar!(v))))
        expect(worst, n).toBeLessThanOrEqual(rows.get(n)!.ulps)
      })
    })

    // A relative error of x of half a unit is already (n + 1) / 2 units of the value; the terms' arguments x + k are rounded.
    // Below 0 the terms at the two sides of x cancel: their own units count.
    it('polygamma: within 6 + n / 4 ulp', async () => {
      const orders = sample([0, 1, 2, 3, 7, 20, 60, 100], 5)
      const intervals: readonly Interval[] = [
        [0.1, 1],
        [1, 2],
        [2, 8],
        [8, 100],
        [0, 1e6],
        [-3, 0],
        [-40, 0],
      ]
      const points = [
        0,
        -0,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.NEGATIVE_INFINITY,
        -1,
        -2,
        1e-30,
        -1e-30,
        1e10,
        1e30,
        3e38,
        -1e9,
        1e-44,
      ]
      const x = [
        ...intervals.flatMap(([a, b]) => Array.from({ length: 800 }, (_, i) => Math.fround(a + (b - a) * draw(i, 0)))),
        ...points.map(Math.fround),
      ]
      const prim = elementwise.polygamma as unknown as AnyPrimitive
      const got = await evaluate(
        device,
        orders.map((n) => floats(prim, elementwiseKernels.polygamma, [x], { n })),
      )
      orders.forEach((n, j) => {
        const f = (v: number): number => special.polygamma(n, v)
        for (const [i, v] of x.entries()) {
          const near = Math.abs(v - Math.round(v))
          const terms = v < 0 && near > 0 ? Math.abs(f(near)) + Math.abs(f(-v)) : 0
          const e = errorOf(got[j]![i]!, f, [v], (6 + n / 4) * EPS * (Number.isFinite(Math.fround(f(v))) ? terms : 0))
          expect(e, `polygamma(${n}, ${v}) = ${got[j]![i]}, not ${f(v)}`).toBeLessThanOrEqual(6 + n / 4)
        }
      })
    })

    const INTS = [0, 1, -1, 2, -2, 7, -7, 46341, 65537, 2147483647, -2147483648]
    const pairs = (values: readonly number[]): [number[], number[]] => [
      values.flatMap((a) => values.map(() => a)),
      values.flatMap(() => [...values]),
    ]
    const equal = (got: ArrayLike<number>, want: readonly number[], what: string): void => {
      want.forEach((w, i) => {
        expect(Object.is(got[i], w), `${what}, entry ${i}: ${got[i]}, not ${w}`).toBe(true)
      })
    }

    it('i32 arithmetic wraps', async () => {
      const [a, b] = pairs(INTS)
      const prims = [...integerUnaries, ...integerBinaries]
      const jobs = prims.map((prim): Job => {
        const x = prim.args.length === 1 ? [INTS] : [a, b]
        return { row: elementwiseKernels[prim.name as keyof typeof elementwise], from: x.map(() => 'i32' as const), to: 'i32', x }
      })
      const got = await evaluate(device, jobs)
      prims.forEach((prim, j) => {
        const { x } = jobs[j]!
        equal(
          got[j]!,
          Array.from(x[0]!, (_, i) => (prim.integer ?? prim.scalar)!(...x.map((column) => column[i]!)) | 0),
          prim.name,
        )
      })
    })

    it('comparisons, tests and logic on every dtype', async () => {
      const values: Record<WgslDType, number[]> = {
        f32: [0, -0, 1, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, SMALLEST, -3e38].map(Math.fround),
        i32: INTS,
        bool: [0, 1],
      }
      const jobs: Job[] = []
      const wants: [string, number[]][] = []
      const add = ({ name, args, scalar: f }: AnyPrimitive, dtype: WgslDType): void => {
        const x = args.length === 1 ? [values[dtype]] : pairs(values[dtype])
        jobs.push({ row: compareKernels[name as keyof typeof compareKernels], from: x.map(() => dtype), to: 'bool', x })
        wants.push([`${name} ${dtype}`, x[0]!.map((_, i) => f!(...x.map((column) => column[i]!)))])
      }
      for (const dtype of ['f32', 'i32', 'bool'] as const) for (const prim of [...comparisons, ...tests]) add(prim, dtype)
      for (const prim of logic) add(prim, 'bool')
      const got = await evaluate(device, jobs)
      wants.forEach(([what, want], j) => {
        equal(got[j]!, want, what)
      })
    })

    it('a value compared with itself: NaN differs', async () => {
      const x = [0, 1, Number.NaN, Number.POSITIVE_INFINITY]
      const self =
        (row: WgslScalar): WgslScalar =>
        (c) =>
          row({ ...c, x: [c.x[0]!, c.x[0]!] })
      const got = await evaluate(
        device,
        comparisons.map(({ name }) => ({
          row: self(compareKernels[name as keyof typeof compareKernels]),
          from: ['f32'],
          to: 'bool',
          x: [x],
        })),
      )
      comparisons.forEach(({ name, scalar }, j) => {
        equal(
          got[j]!,
          x.map((v) => scalar!(v, v)),
          name,
        )
      })
    })

    it('cast between every two dtypes', async () => {
      const values: Record<WgslDType, number[]> = {
        f32: [
          0,
          -0,
          0.5,
          1.7,
          -1.7,
          3e9,
          -3e9,
          2147483520,
          -2147483648,
          2147483648,
          2 ** 24 + 2,
          Number.NaN,
          Number.POSITIVE_INFINITY,
          Number.NEGATIVE_INFINITY,
        ],
        i32: [...INTS, 16777217, 16777219, -16777217, 2147483583],
        bool: [0, 1, 1, 0],
      }
      const dtypes = ['f32', 'i32', 'bool'] as const
      const cases = dtypes.flatMap((from) => dtypes.map((to) => ({ from, to })))
      const got = await evaluate(
        device,
        cases.map(({ from, to }) => ({ row: elementwiseKernels.cast, params: { dtype: to }, from: [from], to, x: [values[from]] })),
      )
      cases.forEach(({ from, to }, j) => {
        const f = elementwise.cast.scalarWith!({ dtype: to })
        equal(
          got[j]!,
          values[from].map((x) => (to === 'i32' ? f(x) | 0 : f(x))),
          `${from} to ${to}`,
        )
      })
    })

    it('where, maximum and relu choose without touching what they do not choose', async () => {
      const c = [0, 1, 1, 0, 1, 0]
      const a = { f32: [Number.NaN, 2, -0, Number.NaN, 5, 1], i32: [1, 2, 3, 4, 5, -2147483648], bool: [1, 0, 1, 1, 0, 1] }
      const b = {
        f32: [1, Number.NaN, Number.NaN, -0, -5, Number.NEGATIVE_INFINITY],
        i32: [-1, -2, -3, -4, -5, -6],
        bool: [0, 1, 0, 0, 1, 0],
      }
      const dtypes = ['f32', 'i32', 'bool'] as const
      const got = await evaluate(
        device,
        dtypes.map((d) => ({ row: elementwiseKernels.where, from: ['bool', d, d], to: d, x: [c, a[d], b[d]] })),
      )
      dtypes.forEach((d, j) => {
        equal(
          got[j]!,
          c.map((v, i) => (v === 1 ? a[d][i]! : b[d][i]!)),
          d,
        )
      })
    })

    it('literals arrive as they are, 0 and -0 in one kernel', async () => {
      const tame = [0, -0, 1, -1.5, 0.1, 1e-7, 3.4028234663852886e38, -3.4028234663852886e38, 16777216, 1e21].map(Math.fround)
      const numbers = [...tame, 1e-40, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(Math.fround)
      const got = await evaluate(
        device,
        numbers.map((x): Job => ({ row: () => float(x), from: ['f32'], to: 'f32', x: [[0]] })),
      )
      numbers.forEach((x, j) => {
        equal(got[j]!, [x], `literal ${x}`)
      })
    })
  })
}
