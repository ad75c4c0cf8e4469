/** The special functions on WebGPU against their meanings in f64, on one driver: dense samples, extremes, and random bit patterns. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WgslScalar } from '../../../src/backends/webgpu/kernel.js'
import { beyond, specialKernels } from '../../../src/backends/webgpu/special.js'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import { special } from '../../../src/core/ops/families.js'
import * as bessel from '../../../src/core/ops/special/bessel-values.js'
import { findLane, type LaneName, openDevice } from './adapter.js'
import { evaluateJobs, type Job } from './evaluate.js'
import { errorOf, floats, patterns, SPECIAL } from './math-suite.js'
import { type SpecialRow, specialRows } from './special-rows.js'

const SAMPLES = 1500
const STEPS = [0.6180339887498949, 0.7548776662466927, 0.8191725133961645]
const draw = (i: number, k: number, low: number, high: number): number => {
  const u = ((i + 0.5) * STEPS[k]!) % 1
  return low > 0 && high > 1000 * low ? low * (high / low) ** u : low + (high - low) * u
}
/** Few extremes where they are combined with one another. */
const EXTREMES = SPECIAL.filter((_, i) => i % 3 === 0)
const columns = (arity: number, on: SpecialRow['on']): number[][] => {
  const x: number[][] = Array.from({ length: arity }, () => [])
  for (const box of on)
    for (let i = 0; i < SAMPLES; i++)
      box.forEach(([low, high], k) => {
        x[k]!.push(Math.fround(draw(i, k, low, high)))
      })
  const values = arity < 3 ? SPECIAL : EXTREMES
  for (let i = 0; i < values.length ** arity; i++)
    for (let k = 0; k < arity; k++) x[k]!.push(values[Math.floor(i / values.length ** k) % values.length]!)
  for (let k = 0; k < arity; k++) x[k]!.push(...patterns(SAMPLES, 777 + k))
  return x
}

/** Bessel functions of all orders in one shader: the order is an argument of it, else a literal. */
const ofOrders: { readonly [N in string]: readonly [code: WgslScalar, f: (x: number, n: number) => number] } = {
  besselJ: [({ x }) => `cd_bessel_j(${x[0]}, i32(${x[1]}), i32(${x[2]}))`, (x, n) => bessel.besselJ(n, x)],
  besselI: [({ x }) => `cd_bessel_i(${x[0]}, i32(${x[1]}))`, (x, n) => bessel.besselI(n, x)],
  besselIe: [({ x }) => `cd_bessel_ie(${x[0]}, i32(${x[1]}))`, (x, n) => bessel.besselIe(n, x)],
}
const jobOf = (n: keyof typeof special, row: SpecialRow): Job => {
  const prim = special[n] as unknown as AnyPrimitive
  const x = columns(prim.args.length, row.on)
  const { orders } = row
  if (orders !== undefined) {
    const all = (f: (order: number) => ArrayLike<number>): number[] => orders.flatMap((order) => Array.from(f(order)))
    const wide = [all(() => x[0]!), all((order) => x[0]!.map(() => order)), all((order) => x[0]!.map(() => beyond(order)))]
    return { row: ofOrders[n]![0], from: ['f32', 'f32', 'f32'], to: 'f32', x: wide }
  }
  const facet = specialKernels[n]
  if (facet.kind !== 'inline') throw new Error(`${n} has no code of one element`)
  return floats(prim, facet.code, x)
}
const meaningOf = (n: keyof typeof special): ((...x: number[]) => number) => {
  const order = ofOrders[n]
  return order === undefined ? (special[n] as unknown as AnyPrimitive).scalar! : (x, k) => order[1](x!, k!)
}

/** On one driver; `text` may make it another one. */
export const specialSuite = (name: LaneName, what: string = name, text?: (wgsl: string) => string): void => {
  const lane = findLane(name)
  describe.skipIf(lane === undefined)(`special functions on ${what}`, () => {
    let device: GPUDevice
    const results: (readonly [Job, ArrayLike<number>])[] = []
    beforeAll(async () => {
      device = await openDevice(lane!)
      const jobs = specialRows.map(([n, row]) => jobOf(n, row))
      // Each in a pipeline of its own: compilers take much longer for all in one.
      for (const job of jobs) results.push([job, (await evaluateJobs(device, [job], text))[0]!])
    }, 240_000)
    afterAll(() => device.destroy())

    specialRows.forEach(([n, row], j) => {
      it(`${n}: within its bound`, () => {
        const f = meaningOf(n)
        const [{ x }, got] = results[j]!
        let worst = 0
        let at = -1
        for (let i = 0; i < got.length; i++) {
          const point = x.map((column) => column[i]!)
          const part = errorOf(got[i]!, f, point, row.slack?.(...point) ?? 0) / row.ulps(f(...point), ...point)
          if (part > worst) [worst, at] = [part, i]
        }
        const say = (i: number): string => {
          const point = x.map((column) => column[i]!)
          return `${n}(${point.join(', ')}) = ${got[i]}, not ${f(...point)}`
        }
        expect(worst, at < 0 ? '' : say(at)).toBeLessThanOrEqual(1)
      })
    })
  })
}
