/** Gradients of single examples: those of a loop, no longer than the limit; spoiled examples do not lead the training astray. */
import { describe, expect, it } from 'vitest'
import * as clipping from '../../examples/clipping.js'
import { grad } from '../../src/index.js'
import { pictured } from './told.js'

describe('clipping', () => {
  it('the batch is the loop over its examples, clipped by hand', () => {
    const data = clipping.simulate(30, 4, 3)
    const p = { w: [3, -2], b: 1 } as const
    const { gradient, clipped, norm } = clipping.each({ p, ...data })
    data.x.forEach((x, i) => {
      const single = grad(clipping.loss, { wrt: 'p' })({ p, x, y: data.y[i]! })
      const numbers = [...single.w.data, single.b.item()]
      // -y sigmoid(-y (w x + b)) (x, 1), by hand
      const slope = -data.y[i]! / (1 + Math.exp(data.y[i]! * (3 * x[0] - 2 * x[1] + 1)))
      for (const [k, v] of [x[0], x[1], 1].entries()) expect(numbers[k]).toBeCloseTo(slope * v, 12)
      const length = Math.hypot(...numbers)
      expect(norm.data[i]).toBeCloseTo(length, 12)
      const factor = Math.min(1, clipping.limit / length)
      expect([...gradient.w.toArray()[i]!, gradient.b.data[i]]).toEqual(numbers)
      for (const [k, v] of [...clipped.w.toArray()[i]!, clipped.b.data[i]!].entries()) expect(v).toBeCloseTo(factor * numbers[k]!, 14)
    })
    expect(norm.data.filter((n) => n > clipping.limit).length).toBeGreaterThan(3)
    expect(norm.data.filter((n) => n < clipping.limit).length).toBeGreaterThan(3)
  })

  it('clipped: nearly the best accuracy; as they are: led astray', async () => {
    const { result, text } = await pictured((log, out) => clipping.main(log, { steps: 150, seed: 3, out }))
    expect(result.clipped.length).toBe(150)
    expect(result.best).toBeGreaterThan(0.85)
    expect(result.clipped.at(-1)!).toBeGreaterThan(result.best - 0.03)
    expect(result.plain.at(-1)!).toBeLessThan(result.clipped.at(-1)! - 0.1)
    expect(text).toMatch(/^150 steps of gradients clipped: [\d.]+ % of unseen labels$/m)
  })
})
