/** What the WebGPU backend asks of its device: counts of every call, memory over many, tensors that stay, and what happens when it fails. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type DeviceStats, makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import type { DeviceWork } from '../../../src/core/functions/backend.js'
import type { AdError } from '../../../src/index.js'
import * as cd from '../../../src/index.js'
import { sample } from '../../depth.js'
import { inputsOf } from '../../golden/data.js'
import { programs } from '../../golden/programs.js'
import { spec, type Workload, type WorkloadId } from '../../golden/spec.js'
import { findLane, openDevice, openGpu } from './adapter.js'

type Loose = (...args: readonly unknown[]) => unknown
type Compiled = {
  (...args: readonly unknown[]): Promise<unknown>
  into: (targets: unknown, options?: object) => Compiled
  explain: () => Promise<cd.Explanation>
  dispose: () => Promise<void>
}
const compile = cd.compile as unknown as (f: unknown, b: unknown) => Compiled

const lane = findLane('lavapipe')
const run = describe.skipIf(lane === undefined)
const vulkan = ['backend=vulkan']

/** The work of one call, by the device's counters. */
const work = async (backend: WebGpuBackend, call: () => Promise<unknown>): Promise<Omit<DeviceWork, 'pipelines'>> => {
  const before = backend.stats()
  await call()
  const after = backend.stats()
  const more = (k: keyof DeviceStats): number => after[k] - before[k]
  return {
    dispatches: more('dispatches'),
    submits: more('submits'),
    readbacks: more('readbacks'),
    bytesWritten: more('bytesWritten'),
    bytesRead: more('bytesRead'),
  }
}
const errorOf = async (f: () => unknown): Promise<AdError> => {
  try {
    await f()
  } catch (e) {
    if (cd.isAdException(e)) return e.error
    throw e
  }
  throw new Error('nothing was raised')
}

/** Two layers and their step of gradient descent, on tensors of these sizes. */
const model = () => {
  const loss = ({ w, v, x, y }: Record<'w' | 'v' | 'x' | 'y', cd.AnyExpr>): cd.AnyExpr => {
    const e = cd.sub(cd.matmul(cd.tanh(cd.matmul(x as never, w as never)) as never, v as never) as never, y as never)
    return cd.mean(cd.mul(e, e) as never) as cd.AnyExpr
  }
  const step = (params: Record<'w' | 'v', cd.AnyExpr>, batch: Record<'x' | 'y', cd.AnyExpr>): unknown => {
    const r = (cd.valueAndGrad as unknown as Loose)((p: typeof params) => loss({ ...p, ...batch }))
    const { value, grad } = (r as Loose)(params) as { value: cd.AnyExpr; grad: typeof params }
    const next = (k: 'w' | 'v') => cd.sub(params[k] as never, cd.mul(0.1, grad[k] as never) as never)
    return { params: { w: next('w'), v: next('v') }, loss: value }
  }
  const wave = (n: number, k: number) => Float32Array.from({ length: n }, (_, i) => Math.sin(k * (i + 1)))
  const params = { w: cd.tensor(wave(12, 1.3), [3, 4]), v: cd.tensor(wave(8, 0.7), [4, 2]) }
  const batch = { x: cd.tensor(wave(15, 2.1), [5, 3]), y: cd.tensor(wave(10, 0.4), [5, 2]) }
  return { step, params, batch }
}

run('the device', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    await openGpu(lane!)
    backend = makeWebGpu({ dawn: vulkan, verify: true })
    await backend.adapter()
  }, 60_000)
  afterAll(() => backend.dispose())

  describe('counts', () => {
    for (const id of sample(['W3', 'W4', 'W8'] as const satisfies readonly WorkloadId[], 2))
      it(`${id}: one submit and one readback, of the results alone; as explain says; none for planning`, async () => {
        const { wrt }: Workload = spec[id]
        const inputs = Object.fromEntries(
          Object.entries(inputsOf(id, 'f32')).map(([k, { shape, data }]) => [k, (cd.tensor as unknown as Loose)(data, shape)]),
        )
        const f = compile((cd.valueAndGrad as unknown as Loose)(programs[id]('f32').primal, { wrt }), backend)
        const planning = await work(backend, () => (f as unknown as { prepare: Loose }).prepare(inputs) as Promise<void>)
        expect(planning).toEqual({ dispatches: 0, submits: 0, readbacks: 0, bytesWritten: 0, bytesRead: 0 })
        const first = await work(backend, () => f(inputs))
        const { pipelines, ...explained } = (await f.explain()).device!
        expect(first).toEqual(explained)
        expect(first).toMatchObject({ submits: 1, readbacks: 1 })
        expect(pipelines).toBeLessThanOrEqual(first.dispatches)
        expect(await work(backend, () => f(inputs))).toEqual(first)
        await f.dispose()
      }, 120_000)

    it('a step on the CPU: one submit more, and explain shows the transfer with its reason', async () => {
      const reversed = cd.definePlugin({
        name: 'reversed',
        ops: {
          backwards: cd.primitive({
            name: 'backwards',
            family: 'reversed',
            args: ['float'],
            shapeRule: ([x]) => x!,
            meaning: ([x], _p, [y]) => void y!.data.set(x!.data.slice().reverse() as never),
            source: 'test',
          }),
        },
        rules: { backwards: cd.missing('a test') },
        kernels: { webgpu: { backwards: ([x], _p, [y]) => void y!.data.set(x!.data.slice().reverse() as never) } },
      })
      const own = makeWebGpu({ dawn: vulkan, kernels: reversed.kernels.webgpu as never })
      try {
        const p = reversed.ops.get('backwards')!
        const f = compile((x: cd.AnyExpr) => cd.mul(cd.applyPrimitive(p as never, [cd.mul(x as never, 2)])[0] as never, 3), own)
        const x = cd.tensor(Float32Array.of(1, 2, 3, 4), [4])
        const seen = await work(own, async () => expect(((await f(x)) as cd.Tensor).toArray()).toEqual([24, 18, 12, 6]))
        const e = await f.explain()
        const { pipelines: _, ...device } = e.device!
        expect(seen).toEqual(device)
        expect(seen).toEqual({ dispatches: 2, submits: 2, readbacks: 2, bytesWritten: 32, bytesRead: 32 })
        expect(e.steps.map((s) => s.transfer)).toEqual([
          undefined,
          { bytesRead: 16, bytesWritten: 16, reason: 'a function in JavaScript' },
          undefined,
        ])
      } finally {
        own.dispose()
      }
    }, 60_000)
  })

  it("a plugin's elementwise primitive is WGSL of one element, fused with its neighbours; without a row MissingKernel says how to give one", async () => {
    const twice = cd.unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'test' })
    const of = (kernels: object) =>
      cd.definePlugin({ name: 'doubling', ops: { twice }, rules: { twice: cd.scalarRule(twice, () => [2]) }, kernels: kernels as never })
    const own = makeWebGpu({
      dawn: vulkan,
      kernels: of({ webgpu: { twice: cd.inline(({ x }: { x: string[] }) => `${x[0]} * 2.0`) } }).kernels.webgpu as never,
    })
    try {
      const f = (x: cd.AnyExpr) => cd.sum(cd.mul(twice(x) as never, x as never) as never)
      const g = compile(f, own)
      expect(((await g(cd.tensor(Float32Array.of(1, 2, 3), [3]))) as cd.Tensor).item()).toBe(28)
      expect((await g.explain()).steps.map((s) => s.ops)).toEqual([['doubling/twice', 'mul', 'sum']])
      expect(await errorOf(() => compile(f, backend)(cd.tensor(Float32Array.of(1), [1])))).toMatchObject({
        _tag: 'MissingKernel',
        primitive: 'twice',
        backend: 'webgpu',
      })
    } finally {
      own.dispose()
    }
  }, 60_000)

  it('more workgroups than one dimension of a dispatch holds fold into two', async () => {
    const n = 65535 * 64 + 100
    const x = Float32Array.from({ length: n }, (_, i) => (i % 1000) - 500)
    const y = (await compile((a: cd.AnyExpr) => cd.mul(a as never, 2), backend)(cd.tensor(x, [n]))) as cd.Tensor
    expect(y.data.findIndex((v, i) => v !== 2 * x[i]!)).toBe(-1)
  }, 60_000)

  describe('tensors on the device', () => {
    it('train 10,000 steps in place: nothing but the loss is read, nothing is written, and no memory grows', async () => {
      const { step, params, batch } = model()
      const state = await cd.onDevice({ params, loss: cd.tensor(Float32Array.of(0), []) }, backend)
      const data = await cd.onDevice(batch, backend)
      const train = compile(step, backend).into(state)
      const onCpu = compile(step, cd.cpu()) as unknown as Loose
      let expected = onCpu(params, batch) as { params: typeof params; loss: cd.Tensor }
      await train(state.params, data)
      expect(((await cd.onHost(state.loss)) as cd.Tensor).item()).toBeCloseTo(expected.loss.item(), 5)
      for (let i = 1; i < 100; i++) {
        expected = onCpu(expected.params, batch) as typeof expected
        await train(state.params, data)
      }
      const host = (await cd.onHost(state)) as typeof expected
      for (const k of ['w', 'v'] as const)
        host.params[k].data.forEach((x, i) => {
          expect(x).toBeCloseTo(expected.params[k].data[i]!, 4)
        })
      const before = backend.stats()
      const steps = await work(backend, async () => {
        for (let i = 100; i < 10_000; i++) await train(state.params, data)
      })
      expect(steps).toMatchObject({ submits: 9900, readbacks: 0, bytesWritten: 0, bytesRead: 0 })
      expect(backend.stats()).toMatchObject({ buffers: before.buffers, bufferBytes: before.bufferBytes, pipelines: before.pipelines })
      const last = await work(backend, () => cd.onHost(state.loss))
      expect(last).toMatchObject({ readbacks: 1, bytesRead: 4 })
      for (const t of [state.params.w, state.params.v, state.loss, data.x, data.y]) t.dispose()
      expect(backend.stats().buffers).toBe(before.buffers - 5)
    }, 240_000)

    it('leave the host as it is over 2,000 calls that read their results', async () => {
      const { step, params, batch } = model()
      const f = compile(step, backend)
      for (let i = 0; i < 200; i++) await f(params, batch)
      globalThis.gc?.()
      const memory = (): number => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
      const [before, stats] = [memory(), backend.stats()]
      for (let i = 0; i < 2000; i++) await f(params, batch)
      globalThis.gc?.()
      expect(backend.stats()).toMatchObject({ buffers: stats.buffers, bufferBytes: stats.bufferBytes })
      // Without --expose-gc the collector may be behind; a kept result would be 96 bytes of data and some 1,000 of objects a call.
      if (globalThis.gc !== undefined) expect(memory() - before).toBeLessThan(2000 * 200)
    }, 120_000)

    it('say where they are when their elements are asked for', async () => {
      const t = await cd.onDevice(cd.tensor(Float32Array.of(1, 2), [2]), backend)
      for (const ask of [() => t.data, () => t.toArray(), () => cd.compile((x: cd.AnyExpr) => cd.sum(x as never), cd.cpu())(t as never)])
        expect(await errorOf(ask)).toMatchObject({ _tag: 'BadInput', fix: expect.stringContaining('onHost') })
      expect(String(t)).toBe('Tensor f32 [2] on webgpu')
      expect(await errorOf(() => cd.onDevice(t as never, backend))).toMatchObject({ _tag: 'BadInput' })
      t.dispose()
      expect(await errorOf(() => cd.onHost(t))).toMatchObject({ _tag: 'BadInput', reason: 'a tensor was disposed.' })
      expect(await errorOf(() => cd.onDevice(cd.tensor([1, 2]), backend))).toMatchObject({ _tag: 'Unsupported', what: 'WGSL has no f64' })
    }, 60_000)

    it('gather the gradients of micro-batches: sums on the device, beside ones in host memory, and nothing else moves', async () => {
      const { params, batch } = model()
      const loss = (p: typeof params, b: typeof batch): unknown =>
        cd.mean(cd.square(cd.matmul(cd.tanh(cd.matmul(b.x as never, p.w as never) as never) as never, p.v as never) as never) as never)
      const f = (p: typeof params, b: typeof batch): unknown =>
        ((cd.valueAndGrad as unknown as Loose)((q: typeof params) => loss(q, b)) as Loose)(p)
      const once = (cd.compile as unknown as Loose)(f, cd.cpu()) as (...args: readonly unknown[]) => {
        value: cd.Tensor
        grad: typeof params
      }
      const want = once(params, batch)
      const zeros = { w: cd.tensor(new Float32Array(12), [3, 4]), v: cd.tensor(new Float32Array(8).fill(1), [4, 2]) }
      const grad = await cd.onDevice(zeros, backend)
      const value = cd.tensor(Float32Array.of(100), [])
      const [p, b] = [await cd.onDevice(params, backend), await cd.onDevice(batch, backend)]
      const compiled = compile(f, backend)
      const add = compiled.into({ value, grad }, { accumulate: true })
      await add(p, b)
      const before = backend.stats()
      expect(await work(backend, () => add(p, b))).toMatchObject({ submits: 1, readbacks: 1, bytesWritten: 4, bytesRead: 4 })
      await add(p, b)
      expect(backend.stats()).toMatchObject({ buffers: before.buffers, pipelines: before.pipelines })
      const sums = (await cd.onHost(grad)) as typeof params
      for (const k of ['w', 'v'] as const)
        sums[k].data.forEach((x, i) => {
          expect(x).toBeCloseTo(zeros[k].data[i]! + 3 * want.grad[k].data[i]!, 5)
        })
      expect(value.item()).toBeCloseTo(100 + 3 * want.value.item(), 4)
      // Without `accumulate` the same function writes in their place.
      await compiled.into({ value, grad })(p, b)
      expect(((await cd.onHost(grad.w)) as cd.Tensor).data[0]).toBeCloseTo(want.grad.w.data[0]!, 5)
      const { buffers } = backend.stats()
      await compiled.dispose()
      expect(backend.stats().buffers).toBe(buffers - 2) // the records of both programs
      for (const t of [p.w, p.v, b.x, b.y, grad.w, grad.v]) t.dispose()
    }, 60_000)

    it('are freed when they are forgotten', async () => {
      if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
      const before = backend.stats()
      for (let i = 0; i < 50; i++) await cd.onDevice(cd.tensor(new Float32Array(1000), [1000]), backend)
      expect(backend.stats().buffers).toBeGreaterThan(before.buffers)
      await vi.waitFor(
        () => {
          globalThis.gc!()
          expect(backend.stats().buffers).toBeLessThanOrEqual(before.buffers)
        },
        { timeout: 20_000, interval: 50 },
      )
    }, 60_000)

    it('are no target of one call while another reads them', async () => {
      const t = await cd.onDevice(cd.tensor(Float32Array.of(1, 2), [2]), backend)
      const f = compile((x: cd.AnyExpr) => cd.mul(x as never, 2), backend)
      const reading = f(t)
      expect(await errorOf(() => f.into(t)(t))).toMatchObject({ _tag: 'BadInput', where: 'into' })
      expect(((await reading) as cd.Tensor).toArray()).toEqual([2, 4])
      await f.into(t)(t)
      expect(((await cd.onHost(t)) as cd.Tensor).toArray()).toEqual([2, 4])
      t.dispose()
    }, 60_000)
  })

  describe('failures', () => {
    const x = cd.tensor(Float32Array.of(1, 2, 3), [3])
    const twice = (y: cd.AnyExpr) => cd.mul(y as never, 2)

    it('f64 is refused before anything runs, with the fix', async () => {
      const f = compile(twice, backend)
      const nothing = { dispatches: 0, submits: 0, readbacks: 0, bytesWritten: 0, bytesRead: 0 }
      expect(
        await work(backend, async () =>
          expect(await errorOf(() => f(cd.tensor([1, 2, 3])))).toMatchObject({
            _tag: 'Unsupported',
            what: expect.stringContaining('f64'),
            fix: expect.stringContaining('f32'),
          }),
        ),
      ).toEqual(nothing)
    }, 60_000)

    it('a program over the limit of a binding is OutOfMemory before anything runs', async () => {
      const small = makeWebGpu({ dawn: vulkan, memoryBytes: 1 << 20 })
      try {
        const f = compile((y: cd.AnyExpr) => cd.matmul(cd.transpose(y as never) as never, y as never), small)
        const seen = await work(small, async () =>
          expect(await errorOf(() => f(cd.tensor(new Float32Array(1024).fill(1), [1, 1024])))).toMatchObject({
            _tag: 'OutOfMemory',
            backend: 'webgpu',
            limitBytes: 1 << 20,
          }),
        )
        expect(seen.dispatches + seen.submits + seen.bytesWritten).toBe(0)
        expect(((await f(cd.tensor(Float32Array.of(1, 2), [1, 2]))) as cd.Tensor).toArray()).toEqual([
          [1, 2],
          [2, 4],
        ])
      } finally {
        small.dispose()
      }
    }, 60_000)

    it('an allocation that the device refuses is OutOfMemory, and the next call works', async () => {
      const device = await openDevice(lane!)
      const own = makeWebGpu({ device })
      try {
        const f = compile(twice, own)
        await f(x)
        const { buffers } = own.stats()
        // The error scope of the next call reports what a device without memory would.
        const scopes: string[] = []
        const [push, pop] = [device.pushErrorScope.bind(device), device.popErrorScope.bind(device)]
        const pushed = vi.spyOn(device, 'pushErrorScope').mockImplementation((kind) => {
          scopes.push(kind)
          return push(kind)
        })
        const popped = vi.spyOn(device, 'popErrorScope').mockImplementation(async () => {
          const kind = scopes.pop()
          const e = await pop()
          return kind === 'out-of-memory' ? ({ message: 'no memory' } as GPUError) : e
        })
        const target = cd.tensor(Float32Array.of(7, 7, 7), [3])
        expect(await errorOf(() => f.into(target)(x))).toMatchObject({ _tag: 'OutOfMemory', backend: 'webgpu' })
        expect(target.toArray()).toEqual([7, 7, 7])
        expect(await errorOf(() => cd.onDevice(x, own))).toMatchObject({ _tag: 'OutOfMemory' })
        pushed.mockRestore()
        popped.mockRestore()
        expect(((await f(x)) as cd.Tensor).toArray()).toEqual([2, 4, 6])
        expect(own.stats().buffers).toBe(buffers)
      } finally {
        own.dispose()
        device.destroy()
      }
    }, 60_000)

    it('a lost device is an error of the call in flight; the next call opens another, and what was on the lost one is gone', async () => {
      const real = await openGpu(lane!)
      const devices: GPUDevice[] = []
      const gpu = {
        requestAdapter: async (options?: GPURequestAdapterOptions) => {
          const adapter = (await real.requestAdapter(options))!
          const { limits, features, info } = adapter
          const requestDevice = async (d?: GPUDeviceDescriptor): Promise<GPUDevice> => {
            devices.push(await adapter.requestDevice(d))
            return devices.at(-1)!
          }
          return { limits, features, info, requestDevice }
        },
      }
      vi.stubGlobal('navigator', { gpu })
      const own = makeWebGpu()
      try {
        const f = compile(twice, own)
        expect(((await f(x)) as cd.Tensor).toArray()).toEqual([2, 4, 6])
        const t = await cd.onDevice(x, own)
        const before = own.stats().submits
        const flying = errorOf(() => f(x))
        while (own.stats().submits === before) await Promise.resolve()
        devices[0]!.destroy()
        expect(await flying).toMatchObject({ _tag: 'Device', backend: 'webgpu', fix: expect.stringContaining('call again') })
        expect(((await f(x)) as cd.Tensor).toArray()).toEqual([2, 4, 6])
        expect(devices.length).toBe(2)
        expect(await errorOf(() => f(t))).toMatchObject({ _tag: 'Device' })
        expect(await errorOf(() => cd.onHost(t))).toMatchObject({ _tag: 'Device' })
        own.dispose()
        expect(((await f(x)) as cd.Tensor).toArray()).toEqual([2, 4, 6])
        expect(devices.length).toBe(3)
        // Calls that find the device lost at once share the one that is opened for them.
        const g = compile((y: cd.AnyExpr) => cd.add(y as never, 1), own)
        await g(x)
        devices[2]!.destroy()
        await devices[2]!.lost
        expect((await Promise.all([f(x), g(x)])).map((y) => (y as cd.Tensor).toArray())).toEqual([
          [2, 4, 6],
          [2, 3, 4],
        ])
        expect(devices.length).toBe(4)
      } finally {
        vi.unstubAllGlobals()
        own.dispose()
      }
    }, 60_000)

    it('a device that is opened on another kind of adapter gets shaders of its own', async () => {
      const real = await openGpu(lane!)
      const devices: GPUDevice[] = []
      const names: GPUAdapterInfo[] = []
      const gpu = {
        requestAdapter: async (options?: GPURequestAdapterOptions) => {
          const adapter = (await real.requestAdapter(options))!
          const { limits, features } = adapter
          const requestDevice = async (d?: GPUDeviceDescriptor): Promise<GPUDevice> => {
            devices.push(await adapter.requestDevice(d))
            return devices.at(-1)!
          }
          const description = names.length === 0 ? 'llvmpipe' : 'a GPU'
          names.push({ vendor: 'test', architecture: '', device: '', description } as GPUAdapterInfo)
          return { limits, features, info: names.at(-1)!, requestDevice }
        },
      }
      vi.stubGlobal('navigator', { gpu })
      const own = makeWebGpu({ poison: true })
      try {
        const n = 96
        const a = cd.tensor(
          Float32Array.from({ length: n * n }, (_, i) => (i % 7) - 3),
          [n, n],
        )
        const f = compile((y: cd.AnyExpr) => cd.matmul(y as never, y as never), own)
        const want = JSON.stringify(await compile((y: cd.AnyExpr) => cd.matmul(y as never, y as never), cd.cpu())(a))
        const made: string[] = []
        for (let k = 0; k < 2; k++) {
          const shaders: string[] = []
          await own.adapter()
          const create = vi.spyOn(devices[k]!, 'createShaderModule').mockImplementation(function (this: GPUDevice, d) {
            shaders.push(d.code)
            return Object.getPrototypeOf(devices[k]!).createShaderModule.call(devices[k]!, d) as GPUShaderModule
          })
          expect(JSON.stringify(await f(a))).toBe(want)
          create.mockRestore()
          made.push(...shaders)
          devices[k]!.destroy()
          await devices[k]!.lost
        }
        // Tiles in workgroup memory are for a GPU.
        expect(made.map((text) => text.includes('var<workgroup>'))).toEqual([false, true])
      } finally {
        vi.unstubAllGlobals()
        own.dispose()
      }
    }, 60_000)

    it("a user's own device that is lost stays lost, and the error says so", async () => {
      const device = await openDevice(lane!)
      const own = makeWebGpu({ device })
      const f = compile(twice, own)
      await f(x)
      device.destroy()
      await device.lost
      expect(await errorOf(() => f(x))).toMatchObject({ _tag: 'Device', fix: 'make the backend with another device.' })
    }, 60_000)

    it('no adapter is a Device error with the fix', async () => {
      vi.stubGlobal('navigator', { gpu: { requestAdapter: async () => null } })
      try {
        expect(await errorOf(() => compile(twice, makeWebGpu())(x))).toMatchObject({
          _tag: 'Device',
          fix: expect.stringContaining('driver'),
        })
      } finally {
        vi.unstubAllGlobals()
      }
    })
  })
})
