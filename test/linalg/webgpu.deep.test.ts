/** Linear algebra on lavapipe: sizes and matrices that samples do not have, in f32, beside the reference; what is too large is the CPU's. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../src/backends/webgpu/index.js'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { findLane, useLane } from '../backends/webgpu/adapter.js'

type E = cd.AnyExpr
const lane = findLane('lavapipe')
const LIMIT = 120_000
const noise = (...shape: readonly number[]): E => {
  const next = random(shape.reduce((a, b) => 31 * a + b, 7))
  const numbers = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * next() - 1)
  return cd.tensor(numbers, shape, 'f32') as unknown as E
}
const mm = (...xs: readonly unknown[]): E => xs.reduce((a, b) => cd.matmul(a as E, b as E)) as E
const t = (a: unknown): E => cd.transpose(a as E) as E

describe.skipIf(lane === undefined)('linear algebra on lavapipe', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    useLane(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'] })
    await backend.adapter()
  }, LIMIT)
  afterAll(() => backend.dispose())
  const run = async (f: (x: E) => unknown, x: E): Promise<Float32Array> => {
    const y = (await (cd.compileAsync(f as never, backend as never) as unknown as (x: E) => Promise<cd.Tensor>)(x)) as cd.Tensor
    return y.data as Float32Array
  }
  const near = (got: ArrayLike<number>, want: unknown, tolerance: number): void => {
    const w = Array.from((cd.evaluate(want as E) as unknown as cd.Tensor).data)
    expect(got.length).toBe(w.length)
    const size = w.reduce((m, x) => Math.max(m, Math.abs(x)), 1)
    expect(w.reduce((m, x, i) => Math.max(m, Math.abs(x - got[i]!)), 0) / size).toBeLessThan(tolerance)
  }
  /** What a matrix is put together from again, and what must be the identity. */
  const again: Readonly<Record<string, (x: E) => readonly [E, E]>> = {
    cholesky: (x) => {
      const s = cd.add(mm(x, t(x)), cd.eye(x.shape.at(-1) as number)) as E
      const l = cd.cholesky(s as never)
      return [cd.sub(mm(l, t(l)), s) as E, cd.eye(1, 'f32') as E]
    },
    eigh: (x) => {
      const s = cd.add(x, t(x)) as E
      const { w, v } = cd.eigh(s as never)
      return [cd.sub(mm(cd.mul(v as E, cd.expandDims(w as E, -2)), t(v)), s) as E, mm(t(v), v)]
    },
    svd: (x) => {
      const { u, s, vh } = cd.svd(x as never)
      return [cd.sub(mm(cd.mul(u as E, cd.expandDims(s as E, -2)), vh), x) as E, mm(t(u), u)]
    },
    qr: (x) => {
      const { q, r } = cd.qr(x as never)
      return [cd.sub(mm(q, r), x) as E, mm(t(q), q)]
    },
    solve: (x) => {
      const a = cd.add(x, cd.mul(6, cd.eye(x.shape.at(-1) as number))) as E
      return [cd.sub(mm(a, cd.solve(a, x as never)), x) as E, cd.eye(1, 'f32') as E]
    },
  }
  it.each(Object.entries(again))(
    '%s gives back its matrix',
    async (_name, f) => {
      for (const shape of [
        [1, 1],
        [3, 7, 7],
        [20, 20],
        [64, 64],
        [70, 70],
      ]) {
        // biome-ignore format: one row
        const x = noise(...shape)
        expect(Math.max(...(await run((y) => cd.abs(f(y)[0]), x)))).toBeLessThan(4e-5)
        const one = await run((y) => f(y)[1], x)
        const n = Math.sqrt(one.length / (shape.length === 3 ? shape[0]! : 1))
        one.forEach((e, i) => {
          expect(Math.abs(e - (Math.floor(i / n) % n === i % n ? 1 : 0))).toBeLessThan(1e-4)
        })
      }
    },
    LIMIT,
  )
  it.each([1e-30, 1e30])(
    'numbers of about %d: squares neither vanish nor overflow',
    async (scale) => {
      const x = noise(5, 3)
      const scaled = cd.evaluate(cd.mul(x, scale)) as unknown as E
      const s = cd.evaluate(cd.add(cd.slice(x, [0, 0], [3, 3]), cd.transpose(cd.slice(x, [0, 0], [3, 3])))) as unknown as E
      const whole = cd.evaluate(cd.mul(s, scale)) as unknown as E
      near(await run((y) => cd.div(cd.svdvals(y as never) as E, scale), scaled), cd.svdvals(x as never), 1e-5)
      near(await run((y) => cd.square(cd.svd(y as never).u as E), scaled), cd.square(cd.svd(x as never).u as E), 1e-4)
      near(await run((y) => cd.div(cd.qr(y as never).r as E, scale), scaled), cd.qr(x as never).r, 1e-5)
      near(await run((y) => cd.div(cd.eigvalsh(y as never) as E, scale), whole), cd.eigvalsh(s as never), 1e-5)
      near(
        await run((y) => cd.div(cd.cholesky(cd.add(y, cd.mul(cd.eye(3, 'f32'), 4 * scale)) as never) as E, Math.sqrt(scale)), whole),
        cd.cholesky(cd.add(s, cd.mul(cd.eye(3, 'f32'), 4)) as never),
        1e-5,
      )
    },
    LIMIT,
  )
  it(
    'matrices of low rank have orthonormal vectors, and NaN stays in its matrix',
    async () => {
      const low = cd.evaluate(mm(noise(9, 2), noise(2, 5))) as unknown as E
      near(await run((x) => mm(t(cd.svd(x as never).u), cd.svd(x as never).u), low), cd.eye(5, 'f32'), 1e-4)
      near(await run((x) => cd.svdvals(x as never), low), cd.svdvals(low as never), 1e-5)
      const stack = cd.tensor([[[2, 1], [1, 2]], [[2, Number.NaN], [Number.NaN, 2]]], [2, 2, 2], 'f32') as unknown as E // biome-ignore format: one row
      for (const f of [cd.cholesky, cd.eigvalsh, cd.svdvals, cd.inv, cd.det] as unknown as readonly ((x: E) => E)[]) {
        const y = Array.from(await run(f, stack))
        expect(y.slice(0, y.length / 2).every(Number.isFinite)).toBe(true)
        expect(y.slice(y.length / 2).every(Number.isNaN)).toBe(true)
      }
    },
    LIMIT,
  )
  it(
    'a column of zeros is not eliminated: determinants are 0, factors finite',
    async () => {
      const a = cd.tensor([[[0, 1], [0, 2]], [[1, 2], [2, 4]], [[0, 0], [0, 0]]], [3, 2, 2], 'f32') as unknown as E // biome-ignore format: one row
      expect(Array.from(await run((x) => cd.det(x as never), a), Math.abs)).toEqual([0, 0, 0])
      near(await run((x) => cd.lu(x as never).l, a), cd.lu(a as never).l, 1e-6)
      near(await run((x) => cd.lu(x as never).u, a), cd.lu(a as never).u, 1e-6)
      near(
        await run(cd.grad(((x: E) => cd.sum(cd.det(x as never) as E)) as never) as never, a),
        cd.grad(((x: E) => cd.sum(cd.det(x as never) as E)) as never)(a as never),
        1e-5,
      )
    },
    LIMIT,
  )
  it(
    'gradients are those of the CPU',
    async () => {
      const x = noise(2, 5, 5)
      const losses: readonly ((x: E) => E)[] = [
        (y) => cd.sum(cd.sin(cd.cholesky(cd.add(mm(y, t(y)), cd.eye(5)) as never) as E)) as E,
        (y) => cd.sum(cd.sin(cd.solve(cd.add(y, cd.mul(4, cd.eye(5))), y as never) as E)) as E,
        (y) => cd.sum(cd.sin(cd.eigvalsh(y as never) as E)) as E,
        (y) => cd.sum(cd.slogdet(y as never).logdet as E) as E,
        (y) => cd.sum(cd.expm(y as never) as E) as E,
      ]
      for (const f of losses) near(await run(cd.grad(f as never) as never, x), cd.grad(f as never)(x as never), 3e-4)
    },
    LIMIT,
  )
  it(
    'one that is too large is a step of the CPU, and explain says so',
    async () => {
      const f = cd.compileAsync(((x: E) => cd.eigvalsh(x as never)) as never, backend as never)
      const text = async (n: number): Promise<string> =>
        JSON.stringify(await (f as unknown as { explain: (x: E) => Promise<unknown> }).explain(noise(n, n)))
      expect(await text(65)).toContain('too large for its shader')
      expect(await text(64)).not.toContain('too large')
    },
    LIMIT,
  )
})
