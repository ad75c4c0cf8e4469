/** Random programs of shipped operations and their gradients, in f32 on lavapipe against the reference in f64. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reference } from '../../../src/backends/reference/index.js'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { random } from '../../../src/check/index.js'
import { metaOf, traceMeta } from '../../../src/core/functions/function.js'
import { aval } from '../../../src/core/graph/aval.js'
import type { TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Program } from '../../../src/core/graph/program.js'
import { showProgram } from '../../../src/core/graph/show.js'
import * as cd from '../../../src/index.js'
import { randomFunction } from '../../laws/programs.js'
import { findLane, useLane } from './adapter.js'

const lane = findLane('lavapipe')
const seeds = Array.from({ length: 50 }, (_, i) => 4001 + i)
const shapes = [
  [3, 4],
  [2, 3],
] as const
/**
 * Of the largest entry. Programs have up to 28 operations, among them sums of products and softmax; each adds a few eps (1.2e-7) of the
 * largest number on the way, and a gradient passes all of them twice.
 */
const TOLERANCE = 1e-5

const programOf = (seed: number, mode: 'mixed' | 'reverse', dtype: 'f32' | 'f64'): Program => {
  const tree = { _tag: 'Tuple' as const, items: [{ _tag: 'Leaf' as const }, { _tag: 'Leaf' as const }] }
  const f = (cd.valueAndGrad as unknown as (f: unknown, options: object) => object)(randomFunction(seed), { wrt: [0, 1], mode })
  return traceMeta(
    metaOf(f as never),
    tree,
    shapes.map((s) => aval(s, dtype)),
  )
}

describe.skipIf(lane === undefined)('random programs on lavapipe', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    useLane(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
    await backend.adapter()
  })
  afterAll(() => backend.dispose())

  const batch = 10
  for (let from = 0; from < seeds.length; from += batch)
    it(`seeds ${seeds[from]} to ${seeds[from + batch - 1]}: value and gradients, mixed and reverse in turn`, async () => {
      const runs = seeds
        .slice(from, from + batch)
        .map((seed) => ({ seed, mode: seed % 2 === 0 ? ('mixed' as const) : ('reverse' as const) }))
      await Promise.all(
        runs.map(async ({ seed, mode }) => {
          const next = random(seed + 7919)
          const inputs = shapes.map(([m, n]) => Float32Array.from({ length: m * n }, () => 2 * next() - 1))
          const program = programOf(seed, mode, 'f32')
          const x = await backend.prepare(program)
          const got = (await x.run(inputs)) as readonly TypedArray[]
          x.dispose()
          const want = reference()
            .prepare(programOf(seed, mode, 'f64'))
            .run(inputs.map((i) => Float64Array.from(i)))
          want.forEach((w, k) => {
            const top = Math.max(1, ...w.map(Math.abs))
            w.forEach((y, i) => {
              const off = Math.abs(got[k]![i]! - y) / top
              if (!(off <= TOLERANCE))
                expect.fail(
                  `seed ${seed}, ${mode}, result ${k}, entry ${i}: ${got[k]![i]}, the reference says ${y}\n${showProgram(program)}`,
                )
            })
          })
        }),
      )
    })
})
