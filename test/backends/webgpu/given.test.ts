/** Large tensors that are on the device are read where they are: a program's memory holds no copy of them, and results are the same. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as cd from '../../../src/index.js'
import { findLane } from './adapter.js'
import { type MachineName, openSingle, randoms, type Single } from './single.js'

const lane = findLane('lavapipe')
type Loose = (...args: readonly unknown[]) => cd.AnyExpr
const op = cd as unknown as Readonly<Record<string, Loose>>
type Run = (...x: readonly unknown[]) => Promise<cd.Tensor>

const drawn = (shape: readonly number[], seed: number): cd.Tensor => {
  const next = randoms(seed)
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => next() / 2 ** 31 - 1)
  return cd.tensor(data, [...shape]) as unknown as cd.Tensor
}
/** 1.2 MB. */
const [N, M] = [500, 600]

describe.skipIf(lane === undefined)('large tensors on the device, lavapipe', () => {
  let single: Single
  beforeAll(async () => {
    single = await openSingle(lane!)
  }, 60_000)
  afterAll(() => single.dispose())

  const place = (x: cd.Tensor, name: MachineName): Promise<cd.Tensor> =>
    cd.onDevice(x as never, single.backends[name] as never) as unknown as Promise<cd.Tensor>
  const compiled = (f: Loose, name: MachineName): Run & { into: (t: unknown) => Run } =>
    cd.compileAsync(f as never, single.backends[name] as never) as unknown as Run & { into: (t: unknown) => Run }
  const onCpu = (f: Loose, xs: readonly cd.Tensor[]): cd.Tensor =>
    (cd.compile as unknown as (f: Loose, b: cd.SyncBackend) => (...x: readonly cd.Tensor[]) => cd.Tensor)(f, cd.cpu())(...xs)
  const near = (got: cd.Tensor, want: cd.Tensor, what: string): void => {
    expect(got.shape, what).toEqual(want.shape)
    let top = 1
    for (const x of want.data) top = Math.max(top, Math.abs(Number(x)))
    for (let i = 0; i < want.data.length; i++)
      if (!(Math.abs(Number(got.data[i]) - Number(want.data[i])) <= 64 * 2 ** -23 * top))
        throw new Error(`${what}: element ${i} is ${got.data[i]}, not ${want.data[i]}`)
  }
  const programs: Readonly<Record<string, Loose>> = {
    elementwise: (x, y) => op.sub!(op.mul!(x, 3), op.transpose!(y)),
    'a sum': (x) => op.sum!(op.square!(x)),
    'sums of rows and of columns': (x, y) => op.add!(op.sum!(x, { axis: 1 }), op.sum!(y, { axis: 0 })),
    'a product': (x, y) => op.matmul!(op.slice!(x, [0, 100], [40, 600]), op.slice!(y, [100, 0], [600, 50])),
    'a condition, which is seen as words': (x) => op.where!(op.gt!(x, 0.5), x, op.neg!(x)),
    'softmax of parts': (x) => op.softmax!(op.slice!(x, [3, 1], [40, 600]), { axis: 1 }),
    'rows by a loop': (x) => op.cumsum!(op.slice!(x, [0, 0], [30, 600]), { axis: 0 }),
    'order, which takes a copy': (x) => op.sort!(op.slice!(x, [0, 0], [4, 600]), { axis: 1 }),
    'itself, turned': (x) => op.flip!(x, { axis: 0 }),
  }
  for (const [what, f] of Object.entries(programs))
    it(`${what}: as on the CPU`, async () => {
      const [x, y] = [drawn([N, M], 1), drawn([M, N], 2)]
      const all = [x, y].slice(0, f.length)
      const want = onCpu(f, all)
      for (const name of Object.keys(single.backends) as MachineName[]) {
        const there = await Promise.all(all.map((t) => place(t, name)))
        near(await compiled(f, name)(...there), want, name)
        for (const t of there) (t as unknown as cd.DeviceTensor).dispose()
      }
    }, 120_000)

  it('a call holds no second copy of its arguments, and copies none', async () => {
    for (const name of Object.keys(single.backends) as MachineName[]) {
      const backend = single.backends[name]
      const own = [drawn([4 * N, M], 3), drawn([4 * N, M], 4)]
      const there = await Promise.all(own.map((t) => place(t, name)))
      const f = compiled((x, y) => op.sum!(op.mul!(x, y), { axis: 1 }), name)
      const before = backend.stats()
      near(
        await f(...there),
        onCpu((x, y) => op.sum!(op.mul!(x, y), { axis: 1 }), own),
        name,
      )
      expect(backend.stats().bufferBytes - before.bufferBytes).toBeLessThan(4 * 4 * N * M)
      expect(backend.stats().bytesWritten).toBe(before.bytesWritten)
      // The arena of a program that takes both from the host holds them.
      await f(...own)
      expect(backend.stats().bufferBytes - before.bufferBytes).toBeGreaterThan(4 * 4 * N * M)
      for (const t of there) (t as unknown as cd.DeviceTensor).dispose()
    }
  }, 120_000)

  it('other tensors in the next call, one twice, and a target that is an argument', async () => {
    for (const name of Object.keys(single.backends) as MachineName[]) {
      const [a, b] = [drawn([N, M], 5), drawn([N, M], 6)]
      const [x, y] = [await place(a, name), await place(b, name)]
      const f: Loose = (p, q) => op.sub!(op.mul!(p, 2), q)
      const g = compiled(f, name)
      near(await g(x, y), onCpu(f, [a, b]), name)
      near(await g(y, x), onCpu(f, [b, a]), name)
      near(await g(y, y), onCpu(f, [b, b]), name)
      near(await g(a, y), onCpu(f, [a, b]), name)
      const step = g.into(x)
      await step(x, y)
      await step(x, y)
      const back = (await cd.onHost(x as never)) as unknown as cd.Tensor
      near(
        back,
        onCpu((p, q) => op.sub!(op.mul!(op.sub!(op.mul!(p, 2), q), 2), q), [a, b]),
        name,
      )
      for (const t of [x, y]) (t as unknown as cd.DeviceTensor).dispose()
    }
  }, 120_000)
})
