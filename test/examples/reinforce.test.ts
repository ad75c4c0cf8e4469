/** REINFORCE: the pole stands; padding changes no gradient; the cart pole obeys its equations of motion; the same seed, the same bits. */
import { describe, expect, it } from 'vitest'
import * as reinforce from '../../examples/reinforce.js'
import { evaluate, grad, tensor, treeZip } from '../../src/index.js'
import { padTo } from '../../src/train/index.js'
import { pictured } from './told.js'

describe('reinforce', () => {
  it('balances the pole, with a few plans for episodes of many lengths', async () => {
    const { result, text } = await pictured((log, out) => reinforce.main(log, { episodes: 250, out }))
    expect(result.before).toBeLessThan(50)
    expect(result.after).toBeGreaterThan(180)
    expect(result.lengths).toHaveLength(250)
    expect(result.seen).toBeGreaterThan(30)
    expect(result.plans).toBe(new Set(result.lengths.map((n) => Math.max(16, 2 ** Math.ceil(Math.log2(n))))).size)
    expect(text).toMatch(/^the pole stands for [\d.]+ of 200 steps before, [\d.]+ after 250 episodes$/m)
  })
  it('the gradient of a padded episode is that of the episode, whatever stands in the padding', () => {
    const p = reinforce.initial(3)
    const steps = reinforce.play(p, 3, 0)
    const n = steps.actions.shape[0]!
    const gradient = grad(reinforce.loss, { wrt: 'p' })
    const plain = evaluate(gradient({ p, ...steps, mask: tensor(new Uint8Array(n).fill(1), [n], 'bool') }))
    for (const fill of [0, 1]) {
      const { data, mask } = padTo(steps, 2 * n + 1, { fill })
      const padded = evaluate(gradient({ p, ...data, mask }))
      treeZip(
        (a, b) => {
          expect(Math.max(...a.data.map(Math.abs))).toBeGreaterThan(1e-5)
          for (const [i, x] of a.data.entries()) expect(b.data[i]).toBeCloseTo(x, 12)
          return a
        },
        plain,
        padded,
      )
    }
  })
  it('a push changes the speeds as the equations of motion say', () => {
    const [gravity, cart, pole, half, time] = [9.8, 1, 0.1, 0.5, 0.02]
    for (const action of [0, 1]) {
      const [x, v, angle, w] = [0.3, -0.7, 0.11, 1.3]
      const next = reinforce.pushed([x, v, angle, w], action)
      expect(next[0]).toBeCloseTo(x + time * v, 12)
      expect(next[2]).toBeCloseTo(angle + time * w, 12)
      const [dv, dw] = [(next[1] - v) / time, (next[3] - w) / time]
      // Forces along the track, and moments about the joint of a pole of length 2 half.
      const along = (cart + pole) * dv + pole * half * (dw * Math.cos(angle) - w * w * Math.sin(angle))
      expect(along).toBeCloseTo(action === 1 ? 10 : -10, 10)
      expect((4 / 3) * half * dw + dv * Math.cos(angle)).toBeCloseTo(gravity * Math.sin(angle), 10)
    }
  })
  it('two runs of one seed give identical bits; another seed, others', async () => {
    const run = async (seed: number) => (await pictured((log, out) => reinforce.main(log, { episodes: 5, seed, out }))).result.learned
    const first = await run(4)
    expect(await run(4)).toEqual(first)
    expect(await run(5)).not.toEqual(first)
  })
})
