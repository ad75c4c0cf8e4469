/** What the WebGPU backend keeps: plans and pipelines can be forgotten, and functions that live stay right. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import * as cd from '../../../src/index.js'
import { findLane, openDevice } from './adapter.js'

const lane = findLane('lavapipe')

const unary = [cd.sin, cd.cos, cd.tanh, cd.exp, cd.square, cd.abs, cd.neg, cd.atan] as const
const different =
  (i: number) =>
  (x: cd.AnyExpr): cd.AnyExpr => {
    let y: cd.AnyExpr = x
    for (let k = i + 8; k > 0; k = Math.floor(k / 8)) y = unary[k % 8]!(y)
    return y
  }
const x = cd.tensor(new Float32Array([0.3, -0.2]))
const right = async (y: unknown, i: number): Promise<void> => {
  const want = cd.compile(different(i), cd.reference())(x) as unknown as cd.Tensor
  const { data } = (await y) as cd.Tensor
  for (const k of [0, 1]) expect(data[k]).toBeCloseTo(want.data[k]!, 4)
}

describe.skipIf(lane === undefined)('plans and pipelines on the device', () => {
  let device: GPUDevice
  const make = (cacheBytes?: number): WebGpuBackend => makeWebGpu({ device, ...(cacheBytes !== undefined && { cacheBytes }) })
  beforeAll(async () => {
    device = await openDevice(lane!)
  })
  afterAll(() => device?.destroy())

  it('are forgotten by clearCache, and what lives goes on with its own', async () => {
    const backend = make()
    const kept = cd.compile(different(1), backend)
    await right(kept(x), 1)
    const { pipelines } = backend.stats()
    await cd.compile(different(1), backend)(x)
    expect(backend.stats().pipelines).toBe(pipelines)
    backend.clearCache()
    expect(backend.cache()).toMatchObject({ plans: 0, bytes: 0 })
    // Numbers by which primitives were known are given out anew: another function first.
    await right(cd.compile(different(2), backend)(x), 2)
    await right(cd.compile(different(3), backend)(x), 3)
    await right(kept(x), 1)
    const again = backend.stats().pipelines
    await right(cd.compile(different(1), backend)(x), 1)
    expect(backend.stats().pipelines).toBe(again + pipelines)
    // What lives plans for results on the device with the keys that it had.
    const [a, target] = await Promise.all([
      cd.onDevice(x, backend),
      cd.onDevice(cd.tensor(new Float32Array(2)), backend, { storage: 'f32' }),
    ])
    await kept.into(target as never)(a as never)
    await right(cd.onHost(target as never), 1)
    backend.dispose()
  })

  it('of functions that come and go are bounded', async () => {
    const cacheBytes = 2 ** 19
    const backend = make(cacheBytes)
    for (let i = 0; i < 40; i++) {
      const f = cd.compile(different(i), backend)
      await right(f(x), i)
      await f.dispose()
      expect(backend.cache().bytes).toBeLessThanOrEqual(cacheBytes)
    }
    // The first shader was dropped long ago, the last one is there.
    const { pipelines } = backend.stats()
    await right(cd.compile(different(39), backend)(x), 39)
    expect(backend.stats().pipelines).toBe(pipelines)
    await right(cd.compile(different(0), backend)(x), 0)
    expect(backend.stats().pipelines).toBe(pipelines + 1)
    backend.dispose()
  })
})
