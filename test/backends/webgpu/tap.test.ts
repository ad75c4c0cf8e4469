// tap and trap on a device: values are read back for whoever is shown them; a bad result is traced on the host.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import {
  type AnyExpr,
  add,
  compile,
  exp,
  fori,
  grad,
  log,
  mul,
  onDevice,
  square,
  sum,
  tap,
  tapGradient,
  tensor,
} from '../../../src/index.js'
import { findLane, useLane } from './adapter.js'

const lane = findLane('lavapipe')
describe.skipIf(lane === undefined)('on a device', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    useLane(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
    await backend.adapter()
  })
  afterAll(() => backend.dispose())

  it('taps show values and cotangents, in loops at each step', async () => {
    const seen: unknown[] = []
    const back: unknown[] = []
    const f = (x: AnyExpr) =>
      sum(
        square(
          tapGradient(
            tap(mul(x, 3), (v) => seen.push(v.toArray())),
            (v) => back.push(v.toArray()),
          ),
        ),
      )
    expect((await compile(grad(f), backend)(new Float32Array([1, 2]))).toArray()).toEqual([18, 36])
    expect([seen, back]).toEqual([[[3, 6]], [[6, 12]]])
    const steps: unknown[] = []
    const g = (x: AnyExpr) => fori(3, (_k, c: AnyExpr) => tap(add(c, x), (v) => steps.push(v.item())), x)
    expect((await compile(g, backend)(tensor(new Float32Array([2]), []))).item()).toBe(8)
    expect(steps).toEqual([4, 6, 8])
  })
  it('trap names what made a NaN, also of arguments on the device', async () => {
    const f = compile((x: AnyExpr) => sum(log(mul(x, 2))), backend, { trap: 'nan' })
    const x = await onDevice(tensor(new Float32Array([1, -1])), backend)
    await expect(f(x as never)).rejects.toThrow(/first: log\(-2\) is NaN \(element \[1\] of f32 \[2\]\)/)
    expect((await f(new Float32Array([0.5]))).item()).toBe(0)
    const target = await onDevice(tensor(new Float32Array([1])), backend)
    const g = compile((v: AnyExpr) => exp(v), backend, { trap: 'nan' })
    await expect(g.into(target as never)(new Float32Array([0]))).rejects.toThrow(/Unsupported: .*are not held against trap/)
  })
})
