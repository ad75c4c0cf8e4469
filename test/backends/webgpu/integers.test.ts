/** Integers on lavapipe, exactly as on the reference: products and sums that wrap at 32 bits, extremes, and casts that saturate. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contract, elementwise, reduce, scans } from '../../../src/core/ops/families.js'
import * as cd from '../../../src/index.js'
import { findLane } from './adapter.js'
import { bool, f32, i32, type MachineName, openSingle, randoms, type Single } from './single.js'

const lane = findLane('lavapipe')
const LIMIT = 120_000

type Loose = (...args: readonly never[]) => unknown
const op = cd as unknown as Readonly<Record<string, (...args: readonly unknown[]) => cd.AnyExpr>>
const LEAST = -(2 ** 31)
const MOST = 2 ** 31 - 1

/** Integers of every size. */
const drawn = (seed: number) => {
  const next = randoms(seed)
  return (): number => [next() | 0, (next() % 2001) - 1000, LEAST, MOST, -1, 0][next() % 6]!
}
const tensor = (shape: readonly number[], seed: number): cd.Tensor => {
  const next = drawn(seed)
  const n = shape.reduce((a, b) => a * b, 1)
  return cd.tensor(Int32Array.from({ length: n }, next), [...shape]) as unknown as cd.Tensor
}

describe.skipIf(lane === undefined)('integers on webgpu, lavapipe', () => {
  let single: Single
  beforeAll(async () => {
    single = await openSingle(lane!)
  }, LIMIT)
  afterAll(() => single.dispose())

  const agree = async (name: string, f: Loose, ...xs: readonly unknown[]): Promise<void> => {
    const compile = cd.compile as unknown as (f: Loose, b: cd.SyncBackend) => (...x: readonly unknown[]) => cd.Tensor
    const compileAsync = cd.compileAsync as unknown as (f: Loose, b: cd.AsyncBackend) => (...x: readonly unknown[]) => Promise<cd.Tensor>
    const want = compile(f, cd.reference())(...xs)
    for (const machine of Object.keys(single.backends) as MachineName[]) {
      const got = await compileAsync(f, single.backends[machine])(...xs)
      expect([got.dtype, got.shape, Array.from(got.data)], `${name}, ${machine}`).toEqual([want.dtype, want.shape, Array.from(want.data)])
    }
  }

  it(
    'remainders: of the least number too, and by -1',
    async () => {
      const [x, y] = [tensor([400], 11), tensor([400], 12)]
      expect(Array.from(x.data).some((v, i) => v === LEAST && y.data[i] === -1)).toBe(true)
      for (const name of ['fmod', 'mod', 'remainder'] as const) await agree(name, op[name] as never, x, y)
    },
    LIMIT,
  )
  it(
    'products of matrices',
    async () => {
      const shapes: readonly (readonly [readonly number[], readonly number[]])[] = [
        [
          [1, 1],
          [1, 1],
        ],
        [
          [3, 4],
          [4, 5],
        ],
        [
          [17, 70],
          [70, 33],
        ],
        [
          [2, 3000],
          [3000, 3],
        ],
        [[5, 4], [4]],
        [[4], [4, 5]],
        [[300], [300]],
        [
          [3, 7, 5],
          [3, 5, 2],
        ],
        [
          [2, 1, 7, 5],
          [3, 5, 2],
        ],
        [
          [7, 5],
          [3, 5, 2],
        ],
        [
          [3, 0],
          [0, 2],
        ],
        [
          [0, 4],
          [4, 2],
        ],
        [
          [2, 0, 4],
          [4, 2],
        ],
      ] // prettier-ignore
      for (const [a, b] of shapes) {
        const [x, y] = [tensor(a, 1), tensor(b, 2)]
        await agree(`matmul [${a}] [${b}]`, (x: never, y: never) => op.matmul!(x, y), x, y)
        await agree(`vecdot [${a}] [${a}]`, (x: never, y: never) => op.vecdot!(x, y), x, tensor(a, 3))
      }
    },
    LIMIT,
  )

  it(
    'products that are transposed, parts of others, added to, and by other names',
    async () => {
      const [x, y] = [tensor([6, 8], 3), tensor([6, 8], 4)]
      await agree('x^T y', (x: never, y: never) => op.matmul!(op.transpose!(x), y), x, y)
      await agree('x y^T', (x: never, y: never) => op.matmul!(x, op.transpose!(y)), x, y)
      await agree('flipped', (x: never, y: never) => op.matmul!(op.flip!(x, { axis: 1 }), op.transpose!(op.flip!(y))), x, y)
      await agree('parts', (x: never, y: never) => op.matmul!(op.slice!(x, [1, 2], [5, 7]), op.slice!(y, [0, 3], [5, 8])), x, y)
      await agree('broadcast', (x: never, y: never) => op.matmul!(op.broadcastTo!(x, [3, 6, 8]), op.transpose!(y)), x, y)
      await agree(
        'a sum with a product',
        (x: never, y: never) => op.add!(op.add!(x, 1), op.matmul!(op.matmul!(x, op.transpose!(y)), y)),
        x,
        y,
      )
      await agree('vdot', (x: never, y: never) => op.vdot!(x, y), x, y)
      await agree('einsum ij,kj->ki', (x: never, y: never) => op.einsum!('ij,kj->ki', x, y), x, y)
      await agree('einsum ij,ij->j', (x: never, y: never) => op.einsum!('ij,ij->j', x, y), x, y)
    },
    LIMIT,
  )

  it(
    'the accumulator of a product is read before it is written',
    async () => {
      for (const [batch, m, k, n] of [
        [1, 3, 4, 5],
        [2, 9, 300, 7],
        [3, 2, 0, 2],
      ] as const) // prettier-ignore
        await single.check(
          contract.matmulAdd,
          [i32([batch, m, n], drawn(5)), i32([batch, m, k], drawn(6)), i32([batch, k, n], drawn(7))],
          {},
        )
    },
    LIMIT,
  )

  it(
    'arithmetic at the ends',
    async () => {
      const ends = [LEAST, LEAST + 1, -65536, -2, -1, 0, 1, 2, 3, 65536, MOST - 1, MOST]
      const pairs = ends.flatMap((a) => ends.map((b) => [a, b] as const))
      const [a, b] = [i32([pairs.length], (i) => pairs[i]![0]), i32([pairs.length], (i) => pairs[i]![1])]
      for (const name of ['add', 'sub', 'mul', 'mod', 'maximum', 'minimum'] as const)
        await single.check(elementwise[name] as never, [a, b], {})
      for (const name of ['neg', 'abs', 'sign', 'square', 'relu'] as const) await single.check(elementwise[name] as never, [a], {})
      for (const name of ['eq', 'ne', 'lt', 'le', 'gt', 'ge'])
        await agree(
          name,
          (x: never, y: never) => op[name]!(x, y),
          cd.tensor(Int32Array.from(pairs, (p) => p[0])),
          cd.tensor(Int32Array.from(pairs, (p) => p[1])),
        )
    },
    LIMIT,
  )

  it(
    'casts saturate, and keep what f32 holds',
    async () => {
      const inf = Number.POSITIVE_INFINITY
      const xs = [
        Number.NaN,
        inf,
        -inf,
        2 ** 31,
        -(2 ** 31),
        2 ** 31 - 128,
        -(2 ** 31) - 256,
        3e38,
        -3e38,
        0.5,
        -0.5,
        -0,
        1e-45,
        1.9999999,
        -1.9999999,
        16777217,
      ]
      for (const dtype of ['i32', 'bool']) await single.check(elementwise.cast as never, [f32([xs.length], xs)], { dtype })
      const is = [LEAST, LEAST + 1, -16777217, -1, 0, 1, 16777217, MOST - 64, MOST]
      for (const dtype of ['f32', 'bool']) await single.check(elementwise.cast as never, [i32([is.length], is)], { dtype })
      for (const dtype of ['f32', 'i32']) await single.check(elementwise.cast as never, [bool([3], [0, 1, 1])], { dtype })
    },
    LIMIT,
  )

  it(
    'sums, products and running ones that wrap; counts of bools',
    async () => {
      for (const [shape, axes] of [
        [[70_000], [0]],
        [[300, 7], [0]],
        [[7, 300], [1]],
        [
          [5, 6, 7],
          [0, 2],
        ],
        [[0, 3], [0]],
      ] as const) {
        // prettier-ignore
        const x = i32(shape, drawn(8))
        const odd = i32(shape, (i) => (Math.imul(i, 2654435761) | 1) >> 0)
        await single.check(reduce.sum as never, [x], { axes })
        await single.check(scans.prod as never, [odd], { axes })
        if (!shape.includes(0 as never)) for (const f of [reduce.max, reduce.min]) await single.check(f as never, [x], { axes })
      }
      for (const [shape, axis] of [
        [[5000], 0],
        [[40, 600], 1],
        [[600, 40], 0],
      ] as const) // prettier-ignore
        for (const reverse of [false, true]) {
          await single.check(scans.cumsum as never, [i32(shape, drawn(9))], { axis, reverse, exclusive: false })
          await single.check(scans.cumprod as never, [i32(shape, (i) => Math.imul(i, 2654435761) | 1)], { axis, reverse, exclusive: false })
        }
      const some = cd.tensor(
        Float32Array.from({ length: 3000 }, (_, i) => Math.sin(i)),
        [30, 100],
      ) // prettier-ignore
      await agree('a count', (x: never) => op.sum!(op.gt!(x, 0)), some)
      await agree('counts', (x: never) => op.sum!(op.gt!(x, 0), { axis: 0 }), some)
      await agree('any', (x: never) => op.any!(op.gt!(x, 0.999), { axis: 1 }), some)
      await agree('all', (x: never) => op.all!(op.gt!(x, -0.999), { axis: 1 }), some)
    },
    LIMIT,
  )
})
