/** The diffusion model: its loss falls and its digits are those asked for; the mixture is what it says; the same seed, the same bits. */
import { describe, expect, it } from 'vitest'
import * as diffusion from '../../examples/diffusion.js'
import { tensor } from '../../src/index.js'
import { key } from '../../src/random/index.js'
import { pictured } from './told.js'

describe('diffusion', () => {
  it('learns the noise, and draws the digit asked for four times as often as chance does, after a third of all steps', async () => {
    const { result, text } = await pictured((log, out) => diffusion.main(log, { images: 8000, epochs: 2, out }))
    expect(result.losses).toHaveLength(2)
    expect(result.losses[1]).toBeLessThan(0.22)
    expect(result.right).toBeGreaterThan(0.4)
    expect(result.ofReal).toBeGreaterThan(0.92)
    expect(result.drawn.shape).toEqual([100, 1, 8, 8])
    expect(Math.max(...result.drawn.data.map(Math.abs))).toBeLessThanOrEqual(1)
    expect(text).toMatch(/^the square error of the noise, by epochs: 0\.\d+, 0\.\d+; of no guess: 1$/m)
  })
  it('the mixture is of the image and of noise of variance 1, by shares whose squares add up to 1', () => {
    const n = 400
    const image = tensor(0.5, [n, 1, 8, 8], 'f32')
    const { noisy, time, noise } = diffusion.disturbed({ key: key(3), i: 0, image })
    expect(Math.min(...time.data)).toBeLessThan(0.02)
    expect(Math.max(...time.data)).toBeGreaterThan(0.98)
    const mean = noise.data.reduce((a, b) => a + b, 0) / noise.data.length
    expect(mean).toBeCloseTo(0, 1)
    expect(noise.data.reduce((a, b) => a + (b - mean) ** 2, 0) / noise.data.length).toBeCloseTo(1, 1)
    for (let i = 0; i < n; i++) {
      const angle = 0.495 * Math.PI * time.data[i]!
      for (const at of [64 * i, 64 * i + 63])
        expect(noisy.data[at]).toBeCloseTo(0.5 * Math.cos(angle) + Math.sin(angle) * noise.data[at]!, 4)
    }
  })
  it('two runs of one seed give identical bits; another seed, others', async () => {
    const run = async (seed: number) =>
      (await pictured((log, out) => diffusion.main(log, { images: 100, epochs: 1, seed, out }))).result.drawn.toArray()
    const first = await run(4)
    expect(await run(4)).toEqual(first)
    expect(await run(5)).not.toEqual(first)
  })
})
