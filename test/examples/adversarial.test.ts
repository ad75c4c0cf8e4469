/** Adversarial pictures: within eps every line turns over, which noise of that size does not do; derivatives by the input are those of differences. */
import { describe, expect, it } from 'vitest'
import * as adversarial from '../../examples/adversarial.js'
import { loadLines } from '../../examples/data/lines.js'
import { alongGradient, pictured } from './told.js'

describe('adversarial', () => {
  it('lines that were upright are upside down, and no pixel moved further than 4 of 255 levels', async () => {
    const { result, text } = await pictured((log, out) => adversarial.main(log, { out }))
    const { before, noise, once, found } = result.said
    expect(before.length).toBe(6)
    for (const p of [...before, ...noise]) expect(p).toBeGreaterThan(0.99)
    for (const p of found) expect(p).toBeLessThan(0.1)
    // One step turns most of them over; small steps go further than a single one.
    expect(once.filter((p) => p < 0.5).length).toBeGreaterThan(3)
    for (const [i, p] of found.entries()) expect(p).toBeLessThan(once[i]!)
    expect(result.furthest).toBeLessThan(1 + 1e-4)
    expect(result.found.data.every((v) => v >= -1 && v <= 1)).toBe(true)
    expect(text).toMatch(/moved by 4\.00 of 255 levels/)
  })
  it('a smaller change is not enough for all', async () => {
    const { result } = await pictured((log, out) => adversarial.main(log, { levels: 1, out }))
    expect(result.said.found.every((p) => p > 0.5)).toBe(true)
  })
  it('along the gradient of the margin by the pictures, the margin grows as fast as the gradient says', async () => {
    const lines = await loadLines()
    for (const h of [1e-2, 3e-3]) expect(alongGradient((x) => adversarial.margin({ x: x as never }), lines, h)).toBeCloseTo(1, 1)
  })
})
