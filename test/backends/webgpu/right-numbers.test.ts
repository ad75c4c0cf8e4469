/** Programs whose plans share, overlap or accumulate: values and gradients on lavapipe as on the reference, which plans nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as cd from '../../../src/index.js'
import { twice } from '../../core/twice.js'
import { findLane } from './adapter.js'
import { type MachineName, openSingle, type Single } from './single.js'

const lane = findLane('lavapipe')
const LIMIT = 120_000

type Loose = (...args: readonly never[]) => unknown
const op = cd as unknown as Readonly<Record<string, (...args: readonly unknown[]) => never>>
const tensor = (shape: readonly number[], seed = 1): cd.Tensor =>
  cd.tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(1.3 * i + seed)),
    [...shape],
  ) as unknown as cd.Tensor
const indices = (...xs: readonly number[]): cd.Tensor => cd.tensor(Int32Array.from(xs)) as unknown as cd.Tensor
const grad = (f: Loose, ...wrt: readonly number[]): Loose =>
  (op.grad as unknown as (f: Loose, o: object) => Loose)(f, { wrt: wrt.length === 1 ? wrt[0] : wrt })
const jacrev = (f: Loose): Loose => (op.jacrev as unknown as (f: Loose) => Loose)(f)

/** A program with its arguments; some have known gradients. */
type Row = readonly [string, Loose, readonly cd.Tensor[]]
const turned = (t: never): never =>
  op.stack!([op.stack!([op.cos!(t), op.neg!(op.sin!(t))], { axis: 1 }), op.stack!([op.sin!(t), op.cos!(t)], { axis: 1 })], { axis: 1 })
const many = (): Row => {
  const f = (x: never, y: never, ...rest: readonly never[]): unknown => {
    const total = rest.reduce((t: never, z) => op.add!(t, z), rest[0]!)
    return [op.add!(op.add!(op.tanh!(y), op.sin!(x)), op.add!(total, op.sin!(x))), op.mul!(op.sin!(x), total)]
  }
  return ['sixty buffers in one loop', f as Loose, Array.from({ length: 60 }, (_, i) => tensor([4], i))]
}
const rows: readonly Row[] = [
  ['x + x gathered', grad((x: never) => op.sum!(op.sin!(op.add!(x, op.gather!(x, [2, 0, 1])))), 0), [tensor([3])]],
  [
    'a primitive with a program of its own',
    (x: never, w: never) => twice((u) => op.sin!(op.mul!(w, u as never)), x),
    [tensor([5]), tensor([5], 2)],
  ],
  ['the sign of a NaN', (x: never) => op.copysign!(x, op.acos!(op.add!(op.abs!(x), 2 as never))), [tensor([5])]],
  ['x + x sorted', grad((x: never) => op.sum!(op.sin!(op.add!(x, op.sort!(x)))), 0), [tensor([7])]],
  ['x + x reversed', jacrev((x: never) => op.add!(x, op.flip!(x))), [tensor([5])]],
  ['an array set at places to itself', (y: never, i: never) => op.setAt!(y, i, y), [tensor([4, 3]), indices(2, 0, 3, 1)]],
  [
    'its gradient',
    grad((y: never, i: never) => op.sum!(op.sin!(op.setAt!(y, i, op.mul!(y, y)))), 0),
    [tensor([4, 3]), indices(2, 0, 3, 1)],
  ],
  [
    'tied embeddings',
    grad((w: never, i: never) => op.sum!(op.tanh!(op.matmul!(op.gather!(w, i), op.transpose!(w)))), 0),
    [tensor([5, 3]), indices(4, 0, 4)],
  ],
  [
    'two losses that share a factor',
    grad((s: never, x: never, y: never) => op.add!(op.sum!(op.mul!(op.mul!(x, s), 0.7)), op.sum!(op.mul!(op.mul!(y, s), 0.7))), 0, 1, 2),
    [cd.tensor(Float32Array.of(0.5), []) as unknown as cd.Tensor, tensor([2]), tensor([5])],
  ],
  [
    'one array stacked twice',
    (x: never) => {
      const t = op.tanh!(x)
      return op.stack!([t, t], { axis: 1 })
    },
    [tensor([4])],
  ],
  [
    'its gradient',
    grad((x: never) => {
      const t = op.tanh!(x)
      return op.sum!(op.sin!(op.stack!([t, t, op.mul!(t, 2)], { axis: 1 })))
    }, 0),
    [tensor([4])],
  ],
  ['rotations', (t: never, v: never) => op.matmul!(turned(t), v), [tensor([6]), tensor([6, 2, 1])]],
  [
    'their gradient',
    grad((t: never, v: never) => op.sum!(op.square!(op.matmul!(turned(t), op.matmul!(turned(t), v)))), 0, 1),
    [tensor([6]), tensor([6, 2, 1])],
  ],
  [
    'a part of a concat that a product is added to',
    (x: never, w: never) => {
      const a = op.sin!(x)
      const z = op.add!(op.concat!([a, op.cos!(x)]), op.matmul!(op.concat!([w, w]), x))
      return [op.add!(op.matmul!(w, a), a), z]
    },
    [tensor([4]), tensor([4, 4], 2)],
  ],
  many(),
  [
    'the gradient of sixty buffers',
    grad((...xs: readonly never[]) => op.sum!((many()[1](...xs) as readonly never[])[0]), 0, 1, 7),
    many()[2],
  ],
  [
    'parts of a concat without elements',
    (x: never) => op.concat!([op.slice!(x, [0], [0]), op.tanh!(x), op.slice!(op.sin!(x), [2], [2]), x]),
    [tensor([4])],
  ],
  [
    'their gradient',
    grad((x: never) => op.sum!(op.square!(op.concat!([op.slice!(x, [0], [0]), op.tanh!(x), op.slice!(op.sin!(x), [2], [2]), x]))), 0),
    [tensor([4])],
  ],
  [
    'windows added at two places',
    grad(
      (x: never, i: never) =>
        op.sum!(op.sin!(op.add!(op.dynamicSlice!(x, [op.gather!(i, 0)], [3]), op.dynamicSlice!(x, [op.gather!(i, 1)], [3])))),
      0,
    ),
    [tensor([8]), indices(1, 2)],
  ],
  [
    'running sums of what is also read',
    grad((x: never) => op.sum!(op.sin!(op.add!(op.mul!(x, op.cumsum!(x)), op.cumsum!(x, { reverse: true })))), 0),
    [tensor([300])],
  ],
  [
    'convolutions of one image by two kernels',
    grad((x: never, k: never) => op.add!(op.sum!(op.sin!(op.conv!(x, k))), op.sum!(op.square!(op.conv!(x, op.flip!(k))))), 0, 1),
    [tensor([2, 3, 6, 5]), tensor([4, 3, 3, 3], 3)],
  ],
  [
    'vmap of convolution over nothing',
    (x: never, k: never) => (op.vmap as unknown as (f: Loose) => Loose)((x: never) => op.conv!(x, k))(x),
    [tensor([0, 2, 1, 5, 5]), tensor([3, 1, 2, 2])],
  ],
  [
    'vmap of pools over nothing',
    (x: never) => (op.vmap as unknown as (f: Loose) => Loose)((x: never) => op.maxPool!(x, { window: 2 }))(x),
    [tensor([0, 2, 1, 4, 4])],
  ],
] // prettier-ignore

describe.skipIf(lane === undefined)('right numbers on webgpu, lavapipe', () => {
  let single: Single
  beforeAll(async () => {
    single = await openSingle(lane!)
  }, LIMIT)
  afterAll(() => single.dispose())

  const tensorsOf = (t: unknown): readonly cd.Tensor[] =>
    (t as cd.Tensor).data === undefined ? Object.values(t as object).flatMap(tensorsOf) : [t as cd.Tensor]
  it.each(rows)(
    '%s',
    async (_, f, xs) => {
      const compile = cd.compile as unknown as (f: Loose, b: cd.SyncBackend) => (...x: readonly unknown[]) => unknown
      const compileAsync = cd.compileAsync as unknown as (f: Loose, b: cd.AsyncBackend) => (...x: readonly unknown[]) => Promise<unknown>
      const want = tensorsOf(compile(f, cd.reference())(...xs))
      for (const machine of Object.keys(single.backends) as MachineName[]) {
        const g = compileAsync(f, single.backends[machine])
        for (const call of ['first', 'second']) {
          const got = tensorsOf(await g(...xs))
          expect(got.map((t) => t.shape)).toEqual(want.map((t) => t.shape))
          got.forEach((t, k) => {
            const w = want[k]!
            const top = Math.max(1, ...Array.from(w.data, (x) => Math.abs(Number(x))))
            t.data.forEach((v, i) => {
              expect(
                Math.abs(Number(v) - Number(w.data[i])),
                `${machine}, ${call} call, result ${k}, entry ${i}: ${v}, not ${w.data[i]}`,
              ).toBeLessThanOrEqual(32 * 2 ** -23 * top)
            })
          })
        }
      }
    },
    LIMIT,
  )
})
