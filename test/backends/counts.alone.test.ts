// Code of convolutions and pools is that of any number of images: another batch is another plan, and no other code.
import { describe, expect, it } from 'vitest'
import { reference } from '../../src/backends/reference/index.js'
import * as cd from '../../src/index.js'

const wave = (shape: readonly number[], dtype: 'f32' | 'f64', k = 0): cd.Tensor =>
  cd.tensor(
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(1 + k + 1.7 * i)),
    shape as number[],
    dtype,
  ) as cd.Tensor
type Run = (x: cd.Tensor, k: cd.Tensor) => cd.Tensor
const net = (x: cd.AnyExpr, k: cd.AnyExpr): cd.AnyExpr => {
  const h = cd.maxPool(cd.conv(x, k, { padding: 'same' }), { window: 2 })
  return cd.sum(
    cd.square(cd.avgPool(cd.conv(h, cd.slice(k, [0], [3]), { stride: 2, padding: 1, groups: 1 }) as never, { window: 2 })),
  ) as cd.AnyExpr
}
const both = (x: cd.AnyExpr, k: cd.AnyExpr): cd.AnyExpr => {
  const g = cd.grad((v: { readonly x: cd.AnyExpr; readonly k: cd.AnyExpr }) => net(v.x, v.k) as cd.Scalar)({
    x,
    k,
  } as never) as unknown as {
    readonly x: cd.AnyExpr
    readonly k: cd.AnyExpr
  }
  return cd.concat([cd.flatten(g.x), cd.flatten(g.k)]) as cd.AnyExpr
}
const compiled = (backend: cd.Backend): Run => (cd.compile as unknown as (f: unknown, b: cd.Backend) => Run)(both, backend)

describe.each(['f32', 'f64'] as const)('convolutions and pools of %s', (dtype) => {
  it('another number of images makes no code, and is right, also none, also when those before are gone', () => {
    const cpu = cd.cpu({ cacheBytes: dtype === 'f32' ? 2 ** 24 : 2 ** 23 })
    const run = compiled(cpu)
    const k = wave([3, 3, 3, 3], dtype, 5)
    const want = compiled(reference())
    let modules = -1
    for (const n of [4, 1, 7, 2, 32, 3, 4]) {
      const x = wave([n, 3, 16, 12], dtype)
      const [got, right] = [run(x, k), want(x, k)]
      expect(got.shape).toEqual(right.shape)
      const scale = Math.max(...Array.from(right.data, (v) => Math.abs(Number(v))))
      const worst = Math.max(...Array.from(got.data, (v, i) => Math.abs(Number(v) - Number(right.data[i]))))
      expect(worst / scale).toBeLessThan(dtype === 'f32' ? 1e-5 : 1e-13)
      if (modules === -1) modules = cpu.stats().modules
      expect(cpu.stats().modules).toBe(modules)
    }
    expect([...run(wave([0, 3, 16, 12], dtype), k).data]).toEqual(new Array(81).fill(0))
    cpu.clearCache()
    const x = wave([5, 3, 16, 12], dtype)
    expect(run(x, k).toArray()).toEqual(compiled(cd.cpu({ verify: true }))(x, k).toArray())
  })
  it('code is freed with the last kernel that is made of it', () => {
    const cpu = cd.cpu({ memoryBytes: 2 ** 28 + (dtype === 'f32' ? 1 : 2) })
    const compile = cd.compile as unknown as (f: unknown, b: cd.Backend) => Run & { readonly dispose: () => void }
    const f = (x: cd.AnyExpr, k: cd.AnyExpr) => cd.conv(x, k)
    const k = wave([2, 3, 3, 3], dtype, 5)
    const runs = [1, 2, 3].map((n) => {
      const run = compile(f, cpu)
      run(wave([n, 3, 8, 8], dtype), k)
      return run
    })
    expect(cpu.stats().modules).toBe(1)
    expect(cpu.kernels()).toBe(3)
    const want = runs[0]!(wave([1, 3, 8, 8], dtype), k).toArray()
    runs[1]!.dispose()
    runs[2]!.dispose()
    cpu.clearCache()
    expect(cpu.stats().modules).toBe(1)
    expect(runs[0]!(wave([1, 3, 8, 8], dtype), k).toArray()).toEqual(want)
    runs[0]!.dispose()
    cpu.clearCache()
    expect([cpu.kernels(), cpu.stats().modules]).toEqual([0, 0])
    const again = compile(f, cpu)
    expect(again(wave([1, 3, 8, 8], dtype), k).toArray()).toEqual(want)
  })
})
