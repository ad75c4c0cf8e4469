/** Random programs of every operation, in f32 on lavapipe against the reference. More of them: npm run check:programs -- --webgpu --runs 3000 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { findLane, openGpu } from './adapter.js'
import { checkOnDevice, type Outcome } from './random.js'

const lane = findLane('lavapipe')

describe.skipIf(lane === undefined)('random programs of every operation on lavapipe', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    await openGpu(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
    await backend.adapter()
  })
  afterAll(() => backend.dispose())

  it('values and gradients are those of the reference', async () => {
    const outcomes: Outcome[] = []
    for (let seed = 1; seed <= 60; seed++) outcomes.push(await checkOnDevice(seed, backend))
    expect(outcomes.flatMap((o) => (o.failure === undefined ? [] : [`seed ${o.seed}: ${o.failure}`]))).toEqual([])
    expect(outcomes.filter((o) => o.checked !== 'none').length).toBeGreaterThan(20)
    expect(outcomes.filter((o) => o.checked === 'values and gradients').length).toBeGreaterThan(10)
  }, 600_000)

  it('values and gradients of loops are those of the reference', async () => {
    const outcomes: Outcome[] = []
    for (let seed = 1; seed <= 24; seed++) outcomes.push(await checkOnDevice(seed, backend, 'loops'))
    expect(outcomes.flatMap((o) => (o.failure === undefined ? [] : [`seed ${o.seed}: ${o.failure}`]))).toEqual([])
    expect(outcomes.filter((o) => o.checked === 'values and gradients').length).toBeGreaterThan(8)
  }, 600_000)
})
