/** One suite for a driver: every primitive of the registry, in every dtype that it takes, results and cotangents, on memory full of NaN. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { allocate, type TypedArray } from '../../../src/core/graph/ndarray.js'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import { families } from '../../../src/core/ops/families.js'
import { coreRegistry } from '../../../src/packs/all.js'
import { sample, whole } from '../../depth.js'
import { findLane, type LaneName, useLane } from './adapter.js'
import { type Case, caseOf, type DeviceDType, dtypes, samplesOf } from './suite-cases.js'
import { expected, judge } from './suite-measure.js'
import { type Promised, promised } from './suite-tolerances.js'

/** A primitive in a dtype, with the samples to try. */
export interface Entry {
  readonly family: string
  readonly prim: AnyPrimitive
  readonly dtype: DeviceDType
  readonly samples: readonly number[]
}

/** Every primitive in every dtype that it declares. */
export const entries: readonly Entry[] = Object.entries(families).flatMap(([family, table]) =>
  (Object.values(table) as AnyPrimitive[]).flatMap((prim) =>
    dtypes.flatMap((dtype): Entry[] => {
      const samples = samplesOf(prim, dtype)
      return samples.length === 0 ? [] : [{ family, prim, dtype, samples }]
    }),
  ),
)

export const promiseOf = ({ prim }: Entry): Promised => promised(prim)
/** Does the primitive declare arguments of this dtype, of its own choice? */
export const declares = ({ dtypes: rule }: AnyPrimitive, dtype: DeviceDType): boolean =>
  rule !== 'own' && rule.some((t) => t === 'any' || (t === 'number' && dtype !== 'bool') || (t === 'float' && dtype === 'f32'))

/** Runs programs at once: their shaders compile in parallel, their calls queue. */
export const runAll = (backend: WebGpuBackend, cases: readonly Case[]): Promise<(readonly TypedArray[])[]> =>
  Promise.all(
    cases.map(async ({ program, inputs }) => {
      const x = await backend.prepare(program)
      const got = (await x.run(inputs)) as readonly TypedArray[]
      x.dispose()
      return got
    }),
  )

/** How many of an entry's samples are tried: all, or the one with the most elements of those below a size. */
export type Extent = 'every sample' | 'one small sample'
export const chosen = ({ family, prim, samples }: Entry, extent: Extent): readonly number[] => {
  // Samples of an elementwise function differ in their shapes, and drivers compile the long code of special functions for each.
  if (extent === 'every sample') return family === 'special' ? sample(samples, 2) : samples
  const size = (i: number): number => prim.samples[i]!.args.reduce((n, a) => n + a.shape.reduce((m, d) => m * d, 1), 0)
  const small = samples.filter((i) => size(i) <= 64)
  const from = small.length > 0 ? small : samples
  return [from.reduce((a, b) => (size(b) > size(a) ? b : a))]
}

/** The slopes of betainc are primitives too, which are tried as such; for all in one kernel SwiftShader takes half a minute. */
const isTriedAlone = ({ prim }: Entry, name: LaneName): boolean => !whole && name === 'swiftshader' && prim.name === 'betainc'

export const conformance = (name: LaneName, extent: Extent): void => {
  const lane = findLane(name)
  describe.skipIf(lane === undefined)(`every primitive on ${name}, ${extent}`, () => {
    let backend: WebGpuBackend
    beforeAll(async () => {
      useLane(lane!)
      backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
      await backend.adapter()
    })
    afterAll(() => backend.dispose())

    for (const family of new Set(entries.map((e) => e.family)))
      describe(family, () => {
        for (const entry of entries.filter((e) => e.family === family))
          it(`${entry.prim.name} ${entry.dtype}`, async () => {
            const { prim, dtype } = entry
            const tried = chosen(entry, extent)
            const resultsAlone = isTriedAlone(entry, name)
            const cases = tried.map((i) => caseOf(prim, prim.samples[i]!, dtype, { resultsAlone }))
            const got = await runAll(backend, cases)
            tried.forEach((i, k) => {
              const make = (wide: boolean, fill?: (x: number) => number) =>
                caseOf(prim, prim.samples[i]!, dtype, { wide, fill, resultsAlone })
              const { failures } = judge(make, got[k]!, promiseOf(entry))
              expect(failures, `sample ${i}`).toEqual([])
            })
          })
      })

    it('sees a wrong entry in every result and cotangent', () => {
      for (const entry of entries) {
        const { prim, dtype } = entry
        const [i] = chosen(entry, 'one small sample')
        const make = (wide: boolean, fill?: (x: number) => number) => caseOf(prim, prim.samples[i!]!, dtype, { wide, fill })
        const { outputs } = make(false).program
        const right = expected(make(true)).map((y, k) => {
          const data = allocate(outputs[k]!.dtype, y.length)
          data.set(y as never)
          return data
        })
        expect(judge(make, right, promiseOf(entry)).failures, `${prim.name} ${dtype}`).toEqual([])
        right.forEach((y, k) => {
          if (y.length === 0) return
          const wrong = [...right]
          wrong[k] = y.slice()
          wrong[k]![y.length - 1]! += outputs[k]!.dtype === 'f32' ? 1e-4 * Math.max(1, ...y.map(Math.abs)) : y.at(-1)! > 0 ? -1 : 1
          expect(judge(make, wrong, promiseOf(entry)).failures.length, `${prim.name} ${dtype}, output ${k}`).toBe(1)
        })
      }
    })
    it('tries every primitive in every dtype that it declares', () => {
      const tried = new Set(entries.map((e) => `${e.prim.name} ${e.dtype}`))
      const names = new Set(entries.map((e) => e.prim.name))
      expect([...coreRegistry.rules.keys()].filter((p) => !names.has(p))).toEqual([])
      for (const { primitive } of coreRegistry.rules.values())
        for (const dtype of dtypes) if (declares(primitive, dtype)) expect([...tried]).toContain(`${primitive.name} ${dtype}`)
    })
  })
}
