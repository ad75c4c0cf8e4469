/** The residual network: it knows digits; statistics in evaluation are those that came out; the same seed, the same bits. */
import { describe, expect, it } from 'vitest'
import * as resnet from '../../examples/resnet.js'
import { checkGrad, report } from '../../src/check/index.js'
import { type AnyExpr, crossEntropy, tensor } from '../../src/index.js'
import { key } from '../../src/random/index.js'
import { pictured } from './told.js'

describe('resnet', () => {
  it('knows nine tenths of the digits after four epochs of less than half of them', async () => {
    const { result, text } = await pictured((log, out) => resnet.main(log, { images: 3000, epochs: 4, out }))
    expect(result.history.loss).toHaveLength(4)
    expect(Math.max(...result.history.metrics.accuracy)).toBeGreaterThan(0.9)
    expect(result.rows.flat().reduce((a, b) => a + b, 0)).toBe(2000)
    expect(text).toMatch(/block2\.0\.shortcut +conv2d +f32 \[32, 16, 7, 7\] +128/)
    const correct = result.rows.reduce((n, row, i) => n + row[i]!, 0) / 2000
    expect(correct).toBeCloseTo(Math.max(...result.history.metrics.accuracy), 6)
  })
  it('two runs of one seed give identical bits; another seed, others', async () => {
    const run = async (seed: number) =>
      (await pictured((log, out) => resnet.main(log, { images: 100, epochs: 1, seed, out }))).result.history.loss
    const first = await run(4)
    expect(await run(4)).toEqual(first)
    expect(await run(5)).not.toEqual(first)
  })
  it('the gradient of the loss in training, through the statistics of the batch, is that of finite differences', () => {
    const { model } = resnet
    const x = tensor(
      Float32Array.from({ length: 2 * 784 }, (_, i) => Math.sin(i)),
      [2, 1, 28, 28],
    )
    const loss = (p: unknown, x: AnyExpr) =>
      crossEntropy(model.apply(p as never, x as never, { training: true, state: model.initState() })[0], [3, 7])
    expect(report(checkGrad(loss, { order: 1, directions: 2 })(model.init(key(1)), x))).toMatch(/^ok/)
  })
})
