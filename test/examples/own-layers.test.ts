/** A library of layers of one's own: each layer is what it says, sizes that do not fit do not compile, and the spirals are told apart. */
import { describe, expect, it } from 'vitest'
import { activated, dense, joined, main, model, residual, spirals } from '../../examples/own-layers.js'
import { checkGrad, report } from '../../src/check/index.js'
import { crossEntropy, evaluate, f32, fn, i32, tanh, tensor } from '../../src/index.js'
import { key } from '../../src/random/index.js'
import { pictured } from './told.js'

describe('own-layers', () => {
  it('layers are what they say, by hand', () => {
    const layer = residual(activated(joined(dense(2, 3), dense(3, 2)), tanh))
    const p = layer.init(key(5))
    const [x, y] = [0.3, -1.2]
    const [first, second] = [p.first, p.second].map(({ w, b }) => ({ w: w.toArray() as number[][], b: b.toArray() as number[] }))
    const hidden = first!.b.map((b, j) => b + x * first!.w[0]![j]! + y * first!.w[1]![j]!)
    const out = second!.b.map((b, k) => b + hidden.reduce((n, h, j) => n + h * second!.w[j]![k]!, 0))
    const got = evaluate(layer.apply(p as never, tensor([[x, y]], [1, 2], 'f32') as never)).toArray()[0]!
    expect(got[0]).toBeCloseTo(x + Math.tanh(out[0]!), 6)
    expect(got[1]).toBeCloseTo(y + Math.tanh(out[1]!), 6)
    // @ts-expect-error 3 features go into a layer of 4
    joined(dense(2, 3), dense(4, 2))
    // @ts-expect-error 3 are not 2
    residual(dense(2, 3))
  })
  it('its gradient is right by differences, in both modes', () => {
    const small = residual(joined(activated(dense(2, 4), tanh), dense(4, 2)))
    const { x, y } = spirals(6)
    const loss = fn({ p: small.declared, x: f32('n', 2), y: i32('n') }, ({ p, x, y }) => crossEntropy(small.apply(p, x), y))
    const found = checkGrad(loss)({ p: small.init(key(1)), x, y })
    expect(report(found)).toMatch(/^ok/)
  })
  it('tells two spirals apart', async () => {
    const { result, text } = await pictured((log, out) => main(log, { steps: 400, seed: 2, out }))
    expect(result.right).toBeGreaterThan(0.99)
    expect(result.loss).toBeLessThan(0.01)
    expect(text).toMatch(/^loss 0\.00\d\d after 400 steps; [\d.]+ % of 1000 other points are told right$/m)
  })
  it('begins as its key says', () => {
    const [a, b, c] = [key(1), key(1), key(2)].map((k) => model.init(k).second.w.toArray())
    expect(a).toEqual(b)
    expect(a).not.toEqual(c)
  })
})
