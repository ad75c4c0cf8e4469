/** The GPT: it says whole verses; a cache is the whole window; the same seed, the same bits. */
import { describe, expect, it } from 'vitest'
import * as gpt from '../../examples/gpt.js'
import { checkGrad, report } from '../../src/check/index.js'
import { evaluate, softmax } from '../../src/index.js'
import { key } from '../../src/random/index.js'
import { count } from '../depth.js'
import { pictured } from './told.js'

describe('gpt', () => {
  it('says whole verses of the rhyme, and its cache is the whole window', async () => {
    const { result, text } = await pictured((log, out) => gpt.main(log, { steps: 400, out }))
    expect(result.losses.length).toBe(400)
    expect(result.losses[0]).toBeGreaterThan(3)
    expect(result.losses.at(-1)).toBeLessThan(0.15)
    expect(result.verses.length).toBeGreaterThan(2)
    expect(result.right).toBe(result.verses.length)
    expect(text).toMatch(/whole verses are those of the rhyme$/m)
    const characters = [...new Set(gpt.rhyme)].sort()
    const read = [...result.said].slice(0, result.chances.length).map((c) => characters.indexOf(c))
    const whole = evaluate(softmax(gpt.scores({ p: result.learned, x: [read] })))
    const n = characters.length
    for (const [t, chances] of result.chances.entries())
      for (const [c, chance] of chances.data.entries()) expect(chance).toBeCloseTo(whole.data[t * n + c]!, 4)
  })
  it('two runs of one seed give identical bits; another seed, others', async () => {
    const run = async (seed: number) => (await pictured((log, out) => gpt.main(log, { steps: 3, seed, out }))).result.losses
    const first = await run(4)
    expect(await run(4)).toEqual(first)
    expect(await run(5)).not.toEqual(first)
  })
  it('the gradient of the loss is that of finite differences', () => {
    const given = { p: gpt.initial(2), ...evaluate(gpt.windows(key(3), 1)) }
    expect(report(checkGrad(gpt.loss, { order: 1, directions: count(1, 1, 2) })(given))).toMatch(/^ok/)
  })
})
