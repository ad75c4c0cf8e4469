import { expect, it } from 'vitest'
import { checkGrad } from '../../src/check/index.js'
import { compile, f32, fn, logsumexp, treeMap, valueAndGrad, vmap } from '../../src/index.js'
import models from './data/models.json' with { type: 'json' }
import { expectGradient, wave } from './data/wave.js'
import { bars, elbo, evidence, initial, learn, loss, vae } from './vae.js'

const noise = Float32Array.from({ length: 32 }, (_, k) => Math.sin(0.7 * k))
const params = treeMap(wave('f32'), vae)
/** A grid over [-6, 6] x [-6, 6]. */
const ticks = Array.from({ length: 61 }, (_, i) => 0.2 * i - 6)
const grid = ticks.flatMap((a) => ticks.map((b) => [a, b]))

it('has the bound and the gradient of PyTorch', () => {
  const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, xs: bars, noise })
  expect(value.item()).toBeCloseTo(models.vae.value, 5)
  expectGradient(grad, models.vae, 1e-6)
  expect(checkGrad(elbo)({ params, x: bars[5], noise: [0.3, -0.7] })._tag).toBe('Right')
})

it('gives all images together the probability 1', () => {
  const everything = Array.from({ length: 512 }, (_, k) => Array.from({ length: 9 }, (_, i) => (k >> i) & 1))
  const total = fn({ params: vae.decoder, xs: f32('images', 9), grid: f32('points', 2) }, ({ params, xs, grid }) =>
    logsumexp(vmap((x) => evidence({ params, x, grid, area: 0.04 }))(xs)),
  )
  expect(total({ params: params.decoder, xs: everything, grid }).item()).toBeCloseTo(0, 5)
})

it('learns the bars: the bound rises, and is a bound', () => {
  const { params } = learn(2000, 1)
  const bounds = compile(
    fn({ params: vae, x: f32(9), grid: f32('points', 2) }, ({ params, x, grid }) => vmap((noise) => elbo({ params, x, noise }))(grid)),
  )
  const weights = grid.map(([a, b]) => (0.04 * Math.exp(-0.5 * (a! ** 2 + b! ** 2))) / (2 * Math.PI))
  /** The mean of the bound over all noise, by the rectangle rule. */
  const boundOf = (p: typeof params, x: number[]) => bounds({ params: p, x, grid }).data.reduce((sum, e, i) => sum + weights[i]! * e, 0)
  const mean = (f: (x: number[]) => number) => bars.reduce((sum, x) => sum + f(x), 0) / 16
  for (const x of bars) expect(boundOf(params, x)).toBeLessThan(evidence({ params: params.decoder, x, grid, area: 0.04 }).item())
  expect(mean((x) => boundOf(initial(1), x))).toBeLessThan(-6.9)
  expect(mean((x) => boundOf(params, x))).toBeGreaterThan(-4.5)
})
