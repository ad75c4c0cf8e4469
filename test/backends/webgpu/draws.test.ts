// Random numbers on a device: the same bits, and the same numbers but for the rounding of its functions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import * as cd from '../../../src/index.js'
import {
  type AnyExpr,
  compile,
  compileAsync,
  cpu,
  grad,
  mean,
  scan,
  square,
  stack,
  type Tensor,
  treeAllClose,
  unstack,
  vmap,
} from '../../../src/index.js'
import * as random from '../../../src/random/index.js'
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

  const key = random.key(21)
  const both = async (f: (k: AnyExpr) => unknown): Promise<readonly [Tensor, Tensor]> => {
    const got = (await compileAsync(f as never, backend)(key as never)) as unknown as Tensor
    return [got, compile(f as never, cpu())(key as never) as unknown as Tensor]
  }
  const dtype = 'f32'
  const gradientOf = (f: (a: AnyExpr) => AnyExpr) => (a: number) => grad(f as never)(cd.tensor(a, [], dtype) as never) as unknown as AnyExpr
  it.each([
    ['bits', (k: AnyExpr) => random.bits(k, [1000])],
    ['uniform', (k: AnyExpr) => random.uniform(k, [1000], { dtype })],
    ['splitKey and foldIn', (k: AnyExpr) => random.splitKey(random.foldIn(k, 3), 50)],
    ['under vmap', (k: AnyExpr) => vmap((c) => random.bits(c, [7]))(random.splitKey(k, 5))],
    ['bernoulli', (k: AnyExpr) => random.bernoulli(k, 0.3, { shape: [500] })],
    ['randint', (k: AnyExpr) => random.randint(k, [500], -7, 1000)],
    ['permutation', (k: AnyExpr) => random.permutation(k, 300)],
    ['categorical', (k: AnyExpr) => random.categorical(k, cd.tensor([0, 1, 0.5], [3], dtype), { shape: [300] })],
    ['poisson', (k: AnyExpr) => random.poisson(k, cd.tensor([0.5, 7, 40], [3], dtype), { shape: [100, 3] })],
  ] as const)('%s: to the bit', async (_name, f) => {
    const [got, want] = await both(f)
    expect(got.toArray()).toEqual(want.toArray())
  })
  it.each([
    ['normal', (k: AnyExpr) => random.normal(k, [1000], { dtype })],
    ['gumbel', (k: AnyExpr) => random.gumbel(k, [1000], { dtype })],
    ['laplace', (k: AnyExpr) => random.laplace(k, [1000], { dtype })],
    ['gamma', (k: AnyExpr) => random.gamma(k, [0.3, 2, 30], { shape: [20, 3], dtype })],
    ['truncatedNormal', (k: AnyExpr) => random.truncatedNormal(k, -1, 2, { shape: [500], dtype })],
    ['exponential', (k: AnyExpr) => random.exponential(k, [500], { dtype })],
    ['logistic', (k: AnyExpr) => random.logistic(k, [500], { dtype })],
    ['beta', (k: AnyExpr) => random.beta(k, 2, 0.5, { shape: [60], dtype })],
    ['multivariateNormal', (k: AnyExpr) => random.multivariateNormal(k, [1, 2], { covariance: [[4, 1], [1, 3]], shape: [60], dtype })], // biome-ignore format: one row
    [
      'the gradient of a moment of gamma numbers',
      (k: AnyExpr) => gradientOf((a) => mean(square(random.gamma(k, a, { shape: [60], dtype }))))(2.5),
    ],
  ] as const)('%s: but for rounding', async (_name, f) => {
    const [got, want] = await both(f)
    expect(treeAllClose(got, want, { rtol: 1e-4, atol: 1e-5 })).toBe(true)
  })
  it('keys that a scan splits: the numbers of the loop written out, to the bit', async () => {
    const step = (k: AnyExpr) => {
      const [next, own] = unstack(random.splitKey(k)) as readonly AnyExpr[]
      return [next, random.uniform(own!, [3], { dtype })] as const
    }
    const looped = (k: AnyExpr) =>
      (scan as unknown as (...xs: readonly unknown[]) => readonly AnyExpr[])(step, k, undefined, { length: 5 })[1]
    const written = (k: AnyExpr) => {
      const rows: AnyExpr[] = []
      let at = k
      for (let i = 0; i < 5; i++) {
        const [next, row] = step(at)
        rows.push(row)
        at = next!
      }
      return stack(rows as never)
    }
    const [onDevice, onCpu] = await both(looped)
    const [writtenOnDevice, writtenOnCpu] = await both(written)
    for (const other of [onCpu, writtenOnDevice, writtenOnCpu]) expect(other.toArray()).toEqual(onDevice.toArray())
  })
  it('f64 is refused, as everywhere on a device', async () => {
    await expect(both((k) => random.uniform(k, [3]))).rejects.toThrow(/f64/)
  })
})
