/** LeNet learns digits on WebGPU as it does on the CPU: the same images, the same steps. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../../examples/digits.js'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { findLane, openGpu } from './adapter.js'

const lane = findLane('lavapipe')

describe.skipIf(lane === undefined)('digits', () => {
  let backend: WebGpuBackend
  let onCpu: Awaited<ReturnType<typeof main>>
  const out = mkdtempSync(join(tmpdir(), 'codual-digits-'))
  const options = { quick: true, seed: 3, out }
  beforeAll(async () => {
    onCpu = await main(() => undefined, options)
    await openGpu(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'] })
    await backend.adapter()
  }, 120_000)
  afterAll(() => {
    backend.dispose()
    rmSync(out, { recursive: true, force: true })
  })

  it('the losses of every step and the accuracy agree with those on the CPU; one submit and one readback a step', async () => {
    const before = backend.stats()
    const onGpu = await main(() => undefined, { ...options, backend })
    const after = backend.stats()
    expect(onGpu.losses.length).toBe(onCpu.losses.length)
    // Rounding differs, and training spreads the difference: by a factor of some ten every ten steps here.
    onGpu.losses.slice(0, 20).forEach((loss, i) => {
      expect(Math.abs(loss / onCpu.losses[i]! - 1), `step ${i}`).toBeLessThan(1e-4)
    })
    expect(Math.abs(onGpu.accuracy - onCpu.accuracy)).toBeLessThanOrEqual(0.02)
    const calls = onGpu.losses.length + 1 // the steps, and the predictions of 500 images
    expect(after.submits - before.submits).toBe(calls)
    expect(after.readbacks - before.readbacks).toBe(calls)
    expect(after.bufferBytes - before.bufferBytes).toBeLessThan(64 * 2 ** 20)
  }, 240_000)

  it('with storage as f16 it learns as well', async () => {
    const half = makeWebGpu({ dawn: ['backend=vulkan'], storage: 'f16' })
    try {
      const onGpu = await main(() => undefined, { ...options, backend: half })
      expect(Math.abs(onGpu.losses[0]! / onCpu.losses[0]! - 1)).toBeLessThan(1e-3)
      expect(Math.abs(onGpu.accuracy - onCpu.accuracy)).toBeLessThanOrEqual(0.03)
    } finally {
      half.dispose()
    }
  }, 240_000)
})
