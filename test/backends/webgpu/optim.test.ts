/** A whole training step on WebGPU: one plan, one submit and one readback, and the numbers of the CPU. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import * as cd from '../../../src/index.js'
import * as optim from '../../../src/optim/index.js'
import { findLane, openGpu } from './adapter.js'

const lane = findLane('lavapipe')
const decl = { w: cd.f32(3, 2), b: cd.f32(2) }
const loss = cd.fn({ params: decl, x: cd.f32('n', 3), y: cd.f32('n', 2) }, ({ params, x, y }) =>
  cd.mean(cd.square(cd.sub(cd.tanh(cd.add(cd.matmul(x, params.w), params.b)), y))),
)
const x = [[1, 2, 3], [0, 1, -1], [2, 0, 1], [1, 1, 1]] // biome-ignore format: one row
const y = [[1, 0], [0, 1], [1, 1], [0, 0]] // biome-ignore format: one row
const first = () => ({ w: cd.tensor(Float32Array.of(1, -1, 0.5, 0.25, 0, 2), [3, 2]), b: cd.tensor(Float32Array.of(0, 0), [2]) })
const rate = optim.oneCycleSchedule({ peakValue: 0.1, transitionSteps: 20 })

describe.skipIf(lane === undefined)('optimisers on WebGPU', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    await openGpu(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'] })
    await backend.adapter()
  }, 60_000)
  afterAll(() => backend.dispose())

  const ran = async <S>(optimiser: optim.Transformation<S>) => {
    const step = cd.fn({ params: decl, state: optimiser.init(decl), x: cd.f32('n', 3), y: cd.f32('n', 2) } as never, (given: never) => {
      const { params, state, x, y } = given as { params: cd.Exprs<typeof decl>; state: never; x: cd.Expr<['n', 3], 'f32'>; y: cd.Expr<['n', 2], 'f32'> } // biome-ignore format: a type
      const { value, grad } = cd.valueAndGrad(loss, { wrt: 'params' })({ params, x, y })
      const { updates, state: next } = optimiser.update(grad, state, params)
      return { params: optim.applyUpdates(params, updates), state: next, value } as never
    })
    type Held = { readonly params: ReturnType<typeof first>; readonly state: unknown; readonly value: cd.Tensor }
    const onCpu = cd.compile(step, cd.cpu()) as unknown as (given: object) => Held
    const onGpu = cd.compile(step, backend) as unknown as (given: object) => Promise<Held>
    let [a, b]: Pick<Held, 'params' | 'state'>[] = [0, 0].map(() => ({ params: first(), state: optimiser.init(first()) }))
    const before = backend.stats()
    for (let i = 0; i < 10; i++) {
      const [onA, onB] = [onCpu({ ...a!, x, y }), await onGpu({ ...b!, x, y })]
      a = { params: onA.params, state: onA.state }
      b = { params: onB.params, state: onB.state }
      expect(Math.abs(onA.value.item() - onB.value.item()), `step ${i}`).toBeLessThan(1e-5)
    }
    const after = backend.stats()
    expect(cd.treeAllClose(a!.params, b!.params, { rtol: 1e-4, atol: 1e-5 })).toBe(true)
    return { submits: after.submits - before.submits, readbacks: after.readbacks - before.readbacks }
  }
  const one = { submits: 10, readbacks: 10 }
  it('momentum', async () => expect(await ran(optim.momentum({ learningRate: rate }))).toEqual(one))
  it('adamw with a schedule', async () => expect(await ran(optim.adamw({ learningRate: rate }))).toEqual(one))
  it('lamb', async () => expect(await ran(optim.lamb({ learningRate: rate }))).toEqual(one))
  it('rmsprop', async () => expect(await ran(optim.rmsprop({ learningRate: 0.01 }))).toEqual(one))
  it('a chain with clipping, accumulation and a mask', async () =>
    expect(
      await ran(
        optim.chain(
          optim.clipByGlobalNorm(1),
          optim.multiSteps(optim.adam({ learningRate: rate }), 3),
          optim.masked(optim.setToZero(), (path) => path === 'b'),
        ),
      ),
    ).toEqual(one))
  it('L-BFGS with its line search', async () => {
    const method = optim.lbfgs({ memory: 3, maxTrials: 8 })
    const step = cd.compile(
      cd.fn({ params: decl, state: method.init(decl), x: cd.f32('n', 3), y: cd.f32('n', 2) }, ({ params, state, x, y }) =>
        method.step((p) => loss({ params: p, x, y }), params, state),
      ),
      backend,
    )
    let now = { params: first(), state: method.init(first()) }
    const values: number[] = []
    for (let i = 0; i < 12; i++) {
      const { params, state, value } = await step({ ...now, x, y })
      now = { params, state }
      values.push(value.item())
    }
    for (let i = 1; i < values.length; i++) expect(values[i]).toBeLessThanOrEqual(values[i - 1]! + 1e-6)
    expect(values.at(-1)).toBeLessThan(0.5 * values[0]!)
  })
})
