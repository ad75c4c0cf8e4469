/** Layers on WebGPU against PyTorch's values, gradients and running statistics, and a cache against its whole window. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import * as cd from '../../../src/index.js'
import * as nn from '../../../src/nn/index.js'
import { key } from '../../../src/random/index.js'
import { all, prepared } from '../../nn/against-torch.js'
import { torchCase, torchCases } from '../../nn/torch-models.js'
import { findLane, openGpu } from './adapter.js'

const lane = findLane('lavapipe')

describe.skipIf(lane === undefined)('layers on WebGPU', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    await openGpu(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'] })
    await backend.adapter()
  }, 60_000)
  afterAll(() => backend.dispose())
  const run = (program: unknown, given: unknown): Promise<never> =>
    (cd.compile as unknown as (f: unknown, b: unknown) => (x: unknown) => Promise<never>)(program, backend)(given)
  const modes = ['reverse', 'forward'] as const

  it.each(torchCases.map((c) => [c.name, c] as const))('%s', async (_name, c) => {
    const { gradient, given, hold } = torchCase(c, 'f32', 4)
    for (const mode of modes) hold(await run(gradient(mode), given))
  })
  it.each(all.map((c) => [c.name, c] as const))('%s', async (_name, c) => {
    const { values, gradient, given, holdValues, holdGradient } = prepared(c, 'f32', 2e-5)
    holdValues(await run(values, given))
    for (const mode of modes) holdGradient(await run(gradient(mode), given))
  })
  it('a transformer token by token with its cache is the whole window', async () => {
    const model = nn.transformer(8, 2, 2, { causal: true, positions: 'rotary', kvHeads: 1 })
    const p = model.init(key(1))
    const x = cd.evaluate(cd.sin(cd.mul(3, cd.reshape(cd.arange(2 * 5 * 8, 'f32'), [2, 5, 8]))))
    const whole = (await run(
      cd.fn({ p: model.declared, x: cd.f32(2, 5, 8) }, (a) => model.apply(a.p, a.x)),
      { p, x },
    )) as cd.Tensor
    const declared = { p: model.declared, cache: model.declaredCache(2, 6), x: cd.f32(2, 1, 8) }
    const step = cd.compile(cd.fn(declared, (a) => model.step(a.p, a.cache, a.x)), backend) // biome-ignore format: one row
    let cache = model.initCache(2, 6)
    for (let t = 0; t < 5; t++) {
      const [next, y] = await step({ p, cache, x: cd.evaluate(cd.at(x, ':', `${t}:${t + 1}`)) as never })
      cache = next as never
      expect(cd.treeAllClose(y, cd.evaluate(cd.at(whole, ':', `${t}:${t + 1}`)) as never, { rtol: 1e-4, atol: 1e-5 })).toBe(true)
    }
  })
})
