/** Matrix products and fused loops on lavapipe against the reference, with code for few cores and for many: every form that a shape can take. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contract } from '../../../src/core/ops/families.js'
import * as cd from '../../../src/index.js'
import { findLane } from './adapter.js'
import { f32, type Given, type MachineName, openSingle, randoms, type Single } from './single.js'

const lane = findLane('lavapipe')
const LIMIT = 120_000

const drawn = (shape: readonly number[], seed: number): Given => {
  const next = randoms(seed)
  return f32(shape, () => next() / 2 ** 31 - 1)
}
const tensor = (shape: readonly number[], seed: number): cd.Tensor => {
  const next = randoms(seed)
  const n = shape.reduce((a, b) => a * b, 1)
  return cd.tensor(
    Float32Array.from({ length: n }, () => next() / 2 ** 31 - 1),
    [...shape],
  ) as unknown as cd.Tensor
}

describe.skipIf(lane === undefined)('webgpu products, lavapipe', () => {
  let single: Single
  beforeAll(async () => {
    single = await openSingle(lane!)
  }, LIMIT)
  afterAll(() => single.dispose())

  /** [batch, m, k, n]: tiles that fit and that do not, single rows and columns, short sums, sums long enough for parts, m above n and below. */
  const shapes: readonly (readonly [number, number, number, number])[] = [
    [1, 1, 1, 1],
    [1, 8, 8, 8],
    [1, 9, 3, 17],
    [1, 64, 5, 33],
    [1, 33, 70, 130],
    [1, 130, 70, 33],
    [1, 1, 300, 40],
    [1, 40, 300, 1],
    [1, 2, 1500, 3],
    [1, 7, 2100, 9],
    [5, 3, 4, 2],
    [3, 17, 40, 34],
    [2, 70, 20, 66],
  ]
  it(
    'every shape, in one batch and in several',
    async () => {
      for (const [batch, m, k, n] of shapes) await single.check(contract.matmul, [drawn([batch, m, k], 1), drawn([batch, k, n], 2)], {}, 32)
    },
    LIMIT,
  )
  it(
    'sums are added to what is there',
    async () => {
      for (const [batch, m, k, n] of shapes)
        await single.check(contract.matmulAdd, [drawn([batch, m, n], 3), drawn([batch, m, k], 1), drawn([batch, k, n], 2)], {}, 32)
    },
    LIMIT,
  )

  type Loose = (...args: readonly unknown[]) => cd.AnyExpr
  const op = cd as unknown as Readonly<Record<string, Loose>>
  /** A program on both machines and on the CPU. */
  const agree = async (f: Loose, inputs: readonly cd.Tensor[]): Promise<void> => {
    const want = (cd.compile as unknown as (f: Loose, b: cd.SyncBackend) => (...x: readonly cd.Tensor[]) => cd.Tensor)(
      f,
      cd.cpu(),
    )(...inputs)
    for (const name of Object.keys(single.backends) as MachineName[]) {
      const g = cd.compileAsync as unknown as (f: Loose, b: cd.AsyncBackend) => (...x: readonly cd.Tensor[]) => Promise<cd.Tensor>
      const got = await g(f, single.backends[name])(...inputs)
      let top = 1
      for (const x of want.data) top = Math.max(top, Math.abs(Number(x)))
      expect(got.shape).toEqual(want.shape)
      for (let i = 0; i < want.data.length; i++)
        if (!(Math.abs(Number(got.data[i]) - Number(want.data[i])) <= 64 * 2 ** -23 * top))
          throw new Error(`${name}: element ${i} is ${got.data[i]}, not ${want.data[i]}`)
    }
  }

  it(
    'explain says which form a shape has on an adapter',
    async () => {
      const formOf = async (name: MachineName, m: number, k: number, n: number): Promise<string | undefined> => {
        const f = cd.fn(
          { x: cd.f32(m, k), y: cd.f32(k, n) } as never,
          (({ x, y }: { x: unknown; y: unknown }) => op.matmul!(x, y)) as never,
        )
        const g = cd.compileAsync(f as never, single.backends[name] as never) as unknown as { explain: () => Promise<cd.Explanation> }
        return (await g.explain()).steps.find((s) => s.kind === 'gemm')?.form
      }
      expect(await formOf('many cores', 1024, 1024, 1024)).toBe('tiles of 128 x 64')
      expect(await formOf('many cores', 512, 512, 512)).toBe('tiles of 64 x 64, 4 parts')
      expect(await formOf('many cores', 64, 784, 32)).toBe('tiles of 32 x 32, 12 parts')
      expect(await formOf('many cores', 1536, 8192, 1536)).toBe('tiles of 128 x 64, 2 parts')
      expect(await formOf('many cores', 8, 4096, 8)).toMatch(/in registers, \d+ parts$/)
      expect(await formOf('few cores', 1024, 1024, 1024)).toBe('8 x 8 in registers')
    },
    LIMIT,
  )

  it(
    'operands that are transposed, reversed, broadcast or parts of others',
    async () => {
      const [a, b] = [tensor([20, 48], 1), tensor([48, 36], 2)]
      await agree((x, y) => op.matmul!(op.transpose!(op.transpose!(x)), y), [a, b])
      await agree((x, y) => op.matmul!(op.transpose!(y), op.transpose!(x)), [a, b])
      await agree((x, y) => op.matmul!(op.flip!(x, { axis: 1 }), op.flip!(y, { axis: 0 })), [a, b])
      await agree((x, y) => op.transpose!(op.matmul!(op.flip!(x, { axis: 0 }), op.flip!(y, { axis: 1 }))), [a, b])
      await agree((x, y) => op.matmul!(op.slice!(x, [3, 5], [19, 40]), op.slice!(y, [7, 2], [42, 35])), [a, b])
      await agree((x, y) => op.matmul!(x, op.broadcastTo!(y, [3, 48, 36])), [tensor([3, 20, 48], 3), b])
      await agree((x, y) => op.concat!([op.matmul!(x, y), op.matmul!(x, y)], { axis: 1 }), [a, b])
    },
    LIMIT,
  )

  it(
    'loops whose invocations take several points, or patches where an operand lies across',
    async () => {
      const long = tensor([4 * 65536 + 77], 11)
      await agree((x) => op.where!(op.gt!(x, 0.25), op.sub!(op.mul!(x, 3), 0.5), op.neg!(op.add!(x, 1))), [long])
      await agree((x) => op.gt!(x, 0), [long])
      const [a, b] = [tensor([257, 301], 12), tensor([301, 257], 13)]
      await agree((x) => op.transpose!(x), [a])
      await agree((x, y) => op.add!(op.transpose!(x), op.mul!(y, 2)), [a, b])
      await agree((x) => op.flip!(op.transpose!(x), { axis: 0 }), [a])
      const cube = tensor([5, 130, 131], 14)
      for (const order of [
        [0, 2, 1],
        [2, 1, 0],
        [2, 0, 1],
        [1, 2, 0],
      ])
        await agree((x) => op.transpose!(x, order), [cube])
    },
    LIMIT,
  )

  it(
    'loops of several axes, with folds by invocation, by workgroup and in parts',
    async () => {
      const x = tensor([7, 11, 13], 4)
      const row = tensor([13], 5)
      const column = tensor([11, 1], 6)
      const tensors = [x, row, column]
      const all: Loose = (x, r, c) => op.mul!(op.add!(x, r), op.sub!(c, 0.25))
      await agree(all, tensors)
      await agree((x, r, c) => op.transpose!(all(x, r, c), [2, 0, 1]), tensors)
      for (const axis of [0, 1, 2, [0, 1], [1, 2], [0, 2], [0, 1, 2]]) await agree((x, r, c) => op.sum!(all(x, r, c), { axis }), tensors)
      await agree((x) => op.sum!(op.mul!(x, x)), [tensor([257, 1031], 7)])
      await agree((x) => op.max!(op.mul!(x, 3), { axis: 0 }), [tensor([2000, 3], 8)])
      await agree((x) => op.sum!(op.exp!(x), { axis: 1 }), [tensor([3, 5000], 9)])
    },
    LIMIT,
  )
})
