/** The transformer: it says digits backwards and looks at them; without dropout at evaluation; the same seed, the same bits. */
import { describe, expect, it } from 'vitest'
import * as transformer from '../../examples/transformer.js'
import { checkGrad, report } from '../../src/check/index.js'
import { evaluate } from '../../src/index.js'
import { key } from '../../src/random/index.js'
import { pictured } from './told.js'

describe('transformer', () => {
  it('says unseen digits backwards, and looks at each', async () => {
    const { result, text } = await pictured((log, out) => transformer.main(log, { steps: 500, out }))
    expect(result.losses.length).toBe(500)
    expect(result.losses[0]).toBeGreaterThan(2)
    expect(result.losses.at(-1)).toBeLessThan(0.5) // a digit alone has an entropy of log 10 = 2.303
    expect(result.right).toBeGreaterThan(0.95)
    expect(text).toMatch(/^\d+\.\d % of the digits of 500 unseen sequences said right$/m)
    const found = Array.from({ length: 10 }, (_, i) => result.rows[10 + i]![9 - i]!)
    expect(found.reduce((s, v) => s + v / 10, 0)).toBeGreaterThan(0.4)
    for (const [i, row] of result.rows.entries()) {
      expect(row.reduce((s, v) => s + v, 0)).toBeCloseTo(1, 5)
      for (const later of row.slice(i + 1)) expect(later).toBe(0)
    }
  })
  it('two runs of one seed give identical bits; another seed, others', async () => {
    const run = async (seed: number) => (await pictured((log, out) => transformer.main(log, { steps: 3, seed, out }))).result.losses
    const first = await run(4)
    expect(await run(4)).toEqual(first)
    expect(await run(5)).not.toEqual(first)
  })
  it('what is dropped follows from the key; the digits to read are those to say, from the last to the first', () => {
    const p = transformer.initial(2)
    const { tokens, said } = evaluate(transformer.task(key(3), 4))
    const lossOf = (seed: number) => transformer.loss({ p, tokens, said, key: key(seed) }).item()
    expect(lossOf(1)).toBe(lossOf(1))
    expect(lossOf(1)).not.toBe(lossOf(2))
    expect(tokens.toArray()[0]!.slice(11)).toEqual(tokens.toArray()[0]!.slice(1, 10).reverse())
  })
  it('the gradient of the loss, with what is dropped, is that of finite differences', () => {
    const given = { p: transformer.initial(2), ...evaluate(transformer.task(key(3), 1)), key: key(8) }
    expect(report(checkGrad(transformer.loss, { order: 1, directions: 2 })(given))).toMatch(/^ok/)
  })
})
