/** Loops on a device: the dispatches of all steps in one submit, nothing read back but the results. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import type { AdError } from '../../../src/index.js'
import * as cd from '../../../src/index.js'
import { inputsOf } from '../../golden/data.js'
import { variants } from '../../golden/programs.js'
import { findLane, openGpu } from './adapter.js'

type Any = (...xs: readonly unknown[]) => never
type Compiled = { (...args: readonly unknown[]): Promise<unknown>; explain: (...args: readonly unknown[]) => Promise<cd.Explanation> }
const op = cd as unknown as Readonly<Record<string, Any>>
const compile = cd.compile as unknown as (f: unknown, b: unknown) => Compiled

const lane = findLane('lavapipe')
describe.skipIf(lane === undefined)('loops on lavapipe', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    await openGpu(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true })
    await backend.adapter()
  }, 60_000)
  afterAll(() => backend.dispose())
  const asked = async (f: Compiled, args: readonly unknown[]) => {
    await f(...args)
    const before = backend.stats()
    const value = await f(...args)
    const after = backend.stats()
    const more = (k: 'submits' | 'readbacks' | 'dispatches'): number => after[k] - before[k]
    return { value, submits: more('submits'), readbacks: more('readbacks'), dispatches: more('dispatches') }
  }

  it('an LSTM with its gradient is one submit and one readback', { timeout: 120_000 }, async () => {
    const { whole } = variants['W8/scan']!.program('f32')
    const f = compile(whole, backend)
    const inputs = Object.fromEntries(Object.entries(inputsOf('W8', 'f32')).map(([k, { shape, data }]) => [k, op.tensor!(data, shape)]))
    const { submits, readbacks, dispatches } = await asked(f, [inputs])
    expect({ submits, readbacks }).toEqual({ submits: 1, readbacks: 1 })
    const { loops } = await f.explain(inputs)
    expect(loops.map((l) => l.count)).toEqual([32, 32])
    expect(dispatches).toBeGreaterThan(32 * loops.reduce((n, l) => n + l.end - l.first, 0) - 1)
  })
  it('a loop that its condition ends, with maxSteps, reads nothing back on its way', { timeout: 120_000 }, async () => {
    const newton = (a: never) =>
      op.whileLoop!(
        (x: never) => op.gt!(op.abs!(op.sub!(op.mul!(x, x), a)), 1e-4),
        (x: never) => op.mul!(0.5, op.add!(x, op.div!(a, x))),
        cd.tensor(Float32Array.of(1), []),
        { maxSteps: 20 },
      )
    const { value, submits, readbacks } = await asked(compile(newton, backend), [cd.tensor(Float32Array.of(2), [])])
    expect({ submits, readbacks }).toEqual({ submits: 1, readbacks: 1 })
    const [x, { steps, done }] = value as [cd.Tensor, { steps: cd.Tensor; done: cd.Tensor }]
    expect(Number(x.data[0])).toBeCloseTo(Math.SQRT2, 4)
    expect([Number(steps.data[0]), Number(done.data[0])]).toEqual([3, 1])
  })
  it('a loop without maxSteps is refused, and what to do is said', async () => {
    const f = compile(
      (a: never) =>
        (
          op.whileLoop!(
            (x: never) => op.lt!(x, 10),
            (x: never) => op.mul!(x, 2),
            a,
          ) as never[]
        )[0],
      backend,
    )
    const error = await f(cd.tensor(Float32Array.of(1), [])).then(
      () => undefined,
      (e: unknown) => (cd.isAdException(e) ? (e.error as AdError) : undefined),
    )
    expect(error).toMatchObject({ _tag: 'Unsupported', backend: 'webgpu', fix: 'give { maxSteps }, or run on cpu().' })
  })
})
