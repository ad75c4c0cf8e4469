/** Loops on a device: the dispatches of all steps in one submit, nothing read back but the results. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import type { AdError } from '../../../src/index.js'
import * as cd from '../../../src/index.js'
import { inputsOf } from '../../golden/data.js'
import { variants } from '../../golden/programs.js'
import { loopCases } from '../../plan/loop-cases.js'
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
  it.each(loopCases.map((c) => [c.name, c] as const))('%s', { timeout: 120_000 }, async (_name, { f, x, wanted }) => {
    const leaves = (t: unknown): number[] =>
      cd.isTensor(t) ? [...(t.data as Float32Array)] : (Object.values(t as object) as readonly unknown[]).flatMap(leaves)
    const got = leaves(await compile(f, backend)(cd.tensor(Float32Array.from(x), [x.length])))
    expect(got.length).toBe(wanted.length)
    wanted.forEach((w, i) => {
      expect(Math.abs(got[i]! - w)).toBeLessThan(1e-4 * Math.max(1, Math.abs(w)))
    })
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
  it('a loop without maxSteps is read back once each 32 iterations', { timeout: 120_000 }, async () => {
    const upTo = (a: never) =>
      op.whileLoop!(
        (x: never) => op.lt!(x, 70.5),
        (x: never) => op.add!(x, 1),
        a,
      ) as unknown
    const f = compile(upTo, backend)
    for (const [from, steps, submits] of [
      [0, 71, 4],
      [70, 1, 2],
      [80, 0, 2],
      [71 - 64, 64, 3],
    ]) {
      const asking = await asked(f, [cd.tensor(Float32Array.of(from!), [])])
      const [x, said] = asking.value as [cd.Tensor, { steps: cd.Tensor; done: cd.Tensor }]
      expect([Number(x.data[0]), Number(said.steps.data[0]), Number(said.done.data[0])]).toEqual([from! + steps!, steps, 1])
      expect({ from, submits: asking.submits, readbacks: asking.readbacks }).toEqual({ from, submits, readbacks: submits })
    }
    expect((await f.explain(cd.tensor(Float32Array.of(0), []))).device).toMatchObject({ trips: 32 })
  })
  it('within another loop it is refused, and what to do is said', async () => {
    const f = compile(
      (a: never) =>
        op.fori!(
          3,
          (_k: never, x: never) =>
            (
              op.whileLoop!(
                (y: never) => op.lt!(y, 10),
                (y: never) => op.mul!(y, 2),
                x,
              ) as never[]
            )[0],
          a,
        ),
      backend,
    )
    const error = await f(cd.tensor(Float32Array.of(1), [])).then(
      () => undefined,
      (e: unknown) => (cd.isAdException(e) ? (e.error as AdError) : undefined),
    )
    expect(error).toMatchObject({ _tag: 'Unsupported', backend: 'webgpu', fix: 'give { maxSteps }, or run on cpu().' })
  })
  it('workgroups of steps that are not taken return at once: a product of each kind, in branches and in loops', {
    timeout: 120_000,
  }, async () => {
    const heavy = (w: never) => (x: never) => op.tanh!(op.matmul!(x, w))
    const light = (x: never) => op.mul!(x, 0.5)
    const f = (p: never, x: never, w: never) => {
      const [more] = op.whileLoop!(
        (s: never) => op.gt!(op.sum!(op.square!(s)), 1),
        (s: never) => op.matmul!(op.mul!(s, 0.4), w),
        x,
        { maxSteps: 9 },
      ) as never[]
      const inside = op.fori!(4, (k: never, s: never) => op.cond!(op.lt!(k, 2), heavy(w), light, s), x)
      return { chosen: op.cond!(op.gt!(p, 0), heavy(w), (s: never) => op.matmul!(light(s), w), x), more, inside }
    }
    const total = (p: never, x: never, w: never) => {
      const made = f(p, x, w) as unknown as Record<string, never>
      return Object.values(made).reduce((s, y) => op.add!(s, op.sum!(op.square!(y))), op.sum!(x))
    }
    const data = (n: number, k: number) => Float32Array.from({ length: n }, (_, i) => Math.sin(1 + k + 3 * i))
    const [x, w] = [cd.tensor(data(15, 1), [3, 5]), cd.tensor(data(25, 2), [5, 5])]
    const gradient = (cd.grad as unknown as (f: unknown, o: unknown) => unknown)(total, { wrt: [1, 2] })
    for (const g of [f, gradient]) {
      const [there, here] = [compile(g, backend), compile(g, cd.reference())]
      for (const p of [1, -1]) {
        const args = [cd.tensor(Float32Array.of(p), []), x, w]
        const { value, submits, readbacks } = await asked(there, args)
        expect({ submits, readbacks }).toEqual({ submits: 1, readbacks: 1 })
        expect(cd.treeAllClose(value as never, (await here(...args)) as never, { rtol: 1e-4, atol: 1e-5 })).toBe(true)
      }
    }
  })
})
