/** Indexing in NumPy's notation on lavapipe: every tenth of NumPy's own cases, in f32 and i32; what is read, replaced and added in one program. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import type { Tensor } from '../../../src/index.js'
import * as cd from '../../../src/index.js'
import { cases, computedOf, counted, indicesOf, plain } from '../../golden/indexing.js'
import { untyped } from '../../rules/untyped.js'
import { findLane, useLane } from './adapter.js'

const lane = findLane('lavapipe')
const { at, set, addAt } = untyped
type Run = (...xs: readonly unknown[]) => Promise<readonly Tensor[]>

describe.skipIf(lane === undefined)('indexing on lavapipe', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    useLane(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
    await backend.adapter()
  })
  afterAll(() => backend.dispose())

  it('agrees with NumPy', { timeout: 240_000 }, async () => {
    const tried = cases.filter((_, k) => k % 10 === 0)
    for (const [k, c] of tried.entries()) {
      const dtype = k % 2 === 0 ? 'f32' : 'i32'
      const f = (a: unknown, u: unknown, ...own: readonly unknown[]): unknown => {
        const list = indicesOf(c, own)
        return [at(a, ...list), set(a, list, u), addAt(a, list, u)]
      }
      const run = (cd.compile as unknown as (f: unknown, b: unknown) => Run)(f, backend)
      const [y, replaced, added] = await run(counted(c.x, 0, dtype), counted(c.v, 100, dtype), ...computedOf(c))
      const label = JSON.stringify(c.at)
      expect({ label, ...plain(y!) }).toEqual({ label, shape: c.shape, data: c.y })
      expect({ label, ...plain(replaced!) }).toEqual({ label, shape: c.x, data: c.set })
      expect({ label, ...plain(added!) }).toEqual({ label, shape: c.x, data: c.add })
    }
  })
})
