/** Folds of a device with many cores: by subgroups where shaders know their numbers, by barriers where not; both give what the reference gives. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import * as cd from '../../../src/index.js'
import { findLane, openGpu } from './adapter.js'

const lane = findLane('lavapipe')

/** The driver's adapter under the name of hardware; `features` of WGSL as given. */
const hardware = (gpu: GPU, languageFeatures: ReadonlySet<string>, shaders: string[]) => ({
  wgslLanguageFeatures: languageFeatures,
  requestAdapter: async () => {
    const adapter = (await gpu.requestAdapter())!
    const info = { vendor: 'test', architecture: '', device: '', description: 'hardware' }
    return {
      limits: adapter.limits,
      features: adapter.features,
      info,
      requestDevice: async (d: GPUDeviceDescriptor) => {
        const device = await adapter.requestDevice(d)
        const create = device.createShaderModule.bind(device)
        vi.spyOn(device, 'createShaderModule').mockImplementation((m) => {
          shaders.push(m.code)
          return create(m)
        })
        return device
      },
    }
  },
})

describe.skipIf(lane === undefined).each([
  ['subgroups', ['subgroup_id']],
  ['barriers', []],
] as const)('folds by %s', (name, features) => {
  let backend: WebGpuBackend
  const shaders: string[] = []
  beforeAll(async () => {
    const gpu = await openGpu(lane!)
    vi.stubGlobal('navigator', { gpu: hardware(gpu, new Set(features), shaders) })
    backend = makeWebGpu({ verify: true, poison: true })
    await backend.adapter()
    vi.unstubAllGlobals()
  }, 60_000)
  afterAll(() => backend.dispose())

  const run = cd.compile as unknown as (f: unknown, b: unknown) => (x: cd.Tensor) => Promise<cd.Tensor>
  const wave = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => 1 + 0.001 * Math.sin(i * i + 0.1))
  const ops = { sum: cd.sum, max: cd.max, min: cd.min, prod: cd.prod } as unknown as Readonly<
    Record<string, (x: unknown, o: object) => cd.AnyExpr>
  >
  for (const [op, f] of Object.entries(ops))
    for (const [shape, axis] of [
      [[300, 700], -1],
      [[700, 300], 0],
      [[80, 3, 257], -1],
    ] as const)
      it(`${op} of [${shape}] along ${axis}`, async () => {
        const size = shape.reduce((a, b) => a * b, 1)
        const terms = shape.at(axis)! // of one sign: each rounding adds at most half a unit in the last place
        const x = cd.tensor(wave(size), [...shape])
        const fold = (v: cd.AnyExpr) => f(v, { axis })
        const [got, want] = [await run(fold, backend)(x), await run(fold, cd.reference())(x)]
        expect(got.shape).toEqual(want.shape)
        got.data.forEach((v, i) => {
          expect(Math.abs(v - want.data[i]!)).toBeLessThanOrEqual(
            (op === 'sum' || op === 'prod' ? terms * 2 ** -24 : 0) * Math.abs(want.data[i]!),
          )
        })
        // NaN anywhere is kept, whoever folds it.
        x.data[Math.floor(size / 2)] = Number.NaN
        const [held, where] = [await run(fold, backend)(x), await run(fold, cd.reference())(x)]
        expect(Array.from(held.data, Number.isNaN)).toEqual(Array.from(where.data, Number.isNaN))
      }, 60_000)

  it('integers, and a boolean fold', async () => {
    const x = cd.tensor(
      Int32Array.from({ length: 300 * 700 }, (_, i) => (i * 7919) % 1000),
      [300, 700],
    )
    const total = (v: cd.AnyExpr) => cd.sum(v as never, { axis: 1 })
    expect((await run(total, backend)(x)).toArray()).toEqual((await run(total, cd.reference())(x)).toArray())
    const some = (v: cd.AnyExpr) => cd.any(cd.gt(v as never, 998) as never, { axis: 1 })
    expect((await run(some, backend)(x)).toArray()).toEqual((await run(some, cd.reference())(x)).toArray())
  }, 60_000)

  it('are what the shaders say', () => {
    const exchanges = shaders.filter((s) => s.includes('subgroupShuffleXor')).length
    expect(exchanges > 0).toBe(name === 'subgroups')
    expect(shaders.some((s) => s.includes('workgroupBarrier'))).toBe(true)
  })
})
