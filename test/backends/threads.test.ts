/** Steps in parts on several threads: the bits of one thread, whatever the order of the parts. */
import { afterAll, describe, expect, it } from 'vitest'
import type { SyncBackend } from '../../src/core/functions/backend.js'
import * as cd from '../../src/index.js'
import { threaded, untilHelped } from './threads.js'

type E = cd.AnyExpr
type Inputs = Readonly<Record<string, readonly [readonly number[], 'f32' | 'f64']>>
interface Case {
  readonly name: string
  readonly inputs: Inputs
  readonly f: (x: Readonly<Record<string, never>>) => unknown
  /** The least number of steps that are cut: folds along all axes are in one step with others, and stay whole. */
  readonly cut: number
}
/** Operations without the types of shapes: cases are data. */
const op = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => E>>
const grads = (f: (...xs: readonly never[]) => unknown, n: number) =>
  (cd.valueAndGrad as unknown as (f: unknown, o: unknown) => (...xs: readonly unknown[]) => unknown)(f, {
    wrt: Array.from({ length: n }, (_, i) => i),
  })
const product = (a: readonly number[], b: readonly number[], f: (a: E, b: E) => E, dtype: 'f32' | 'f64' = 'f64'): Case => ({
  name: `a product of ${a.join(' x ')} and ${b.join(' x ')} in ${dtype}, with its gradients`,
  inputs: { a: [a, dtype], b: [b, dtype] },
  f: ({ a, b }) => grads((a, b) => op.sum!(op.tanh!(f(a, b))), 2)(a, b),
  cut: 2,
})
const conv = (x: readonly number[], k: readonly number[], options: unknown, dtype: 'f32' | 'f64'): Case => ({
  name: `a convolution of ${x.join(' x ')} by ${k.join(' x ')} in ${dtype} ${JSON.stringify(options)}`,
  inputs: { x: [x, dtype], k: [k, dtype] },
  f: ({ x, k }) => grads((x, k) => op.sum!(op.square!(op.conv!(x, k, options))), 2)(x, k),
  cut: 2,
})
const cases: readonly Case[] = [
  {
    name: 'elementwise loops of one axis, whose length no part divides',
    inputs: { x: [[1003], 'f64'], y: [[1003], 'f32'] },
    f: ({ x, y }) => [op.exp!(op.sin!(x)), op.tanh!(op.mul!(y, 3))],
    cut: 1,
  },
  {
    name: 'folds along each axis and rows that are broadcast',
    inputs: { x: [[37, 5, 29], 'f32'], r: [[29], 'f32'] },
    f: ({ x, r }) => {
      const y = op.add!(op.mul!(x, r), op.cos!(x))
      return [0, 1, 2].flatMap((axis) => [op.sum!(y, { axis }), op.max!(y, { axis }), op.mean!(op.square!(y), { axis })])
    },
    cut: 3,
  },
  {
    name: 'sums over columns and transposes',
    inputs: { x: [[130, 70], 'f64'] },
    f: ({ x }) => [op.sum!(x, { axis: 0 }), op.transpose!(op.exp!(x)), op.softmax!(x, { axis: 0 }), op.softmax!(x, { axis: 1 })],
    cut: 3,
  },
  product([67, 33], [33, 45], (a, b) => op.matmul!(a, b)),
  product([67, 33], [33, 45], (a, b) => op.matmul!(a, b), 'f32'),
  product([33, 67], [45, 33], (a, b) => op.matmul!(op.transpose!(a), op.transpose!(b)), 'f32'),
  product([3, 300], [300, 131], (a, b) => op.matmul!(a, b)),
  product([9, 20, 30], [9, 30, 11], (a, b) => op.matmul!(a, b), 'f32'),
  product([16, 2, 30], [30, 11], (a, b) => op.matmul!(a, b)),
  product([200, 50], [50, 1], (a, b) => op.matmul!(a, b)),
  conv([6, 3, 11, 9], [5, 3, 3, 3], { padding: 1 }, 'f64'),
  conv([6, 3, 11, 9], [5, 3, 3, 3], { padding: 1 }, 'f32'),
  conv([5, 8, 12, 12], [16, 8, 3, 3], { padding: 1 }, 'f32'),
  conv([4, 4, 9, 9], [6, 2, 5, 5], { groups: 2, stride: 2 }, 'f32'),
  {
    name: 'pools and their gradients',
    inputs: { x: [[3, 4, 10, 8], 'f32'] },
    f: ({ x }) =>
      grads(
        (x) => op.add!(op.sum!(op.square!(op.maxPool!(x, { window: 2 }))), op.sum!(op.square!(op.avgPool!(x, { window: 3, stride: 2 })))),
        1,
      )(x),
    cut: 3,
  },
  {
    name: 'scans, sorts and positions along lines',
    inputs: { x: [[23, 700], 'f32'] },
    f: ({ x }) => [
      op.cumsum!(x, { axis: 1 }),
      op.cumprod!(op.add!(1, op.mul!(x, 0.001)), { axis: 1 }),
      op.sort!(x, { axis: 1 }),
      op.argmax!(x, { axis: 1 }),
    ],
    cut: 4,
  },
  {
    name: 'stacks of small matrices',
    inputs: { x: [[41, 4, 4], 'f64'] },
    f: ({ x }) => {
      const a = op.add!(op.matmul!(x, op.transpose!(x, [0, 2, 1])), op.mul!(4, op.eye!(4)))
      return [op.cholesky!(a), op.inv!(a), op.det!(a)]
    },
    cut: 2,
  },
  {
    name: 'a loop whose steps are shared',
    inputs: { a: [[40, 40], 'f32'], x: [[40, 40], 'f32'] },
    f: ({ a, x }) =>
      grads(
        (a, x) =>
          op.sum!((op.scan!((c: E) => [op.tanh!(op.matmul!(a, c)), op.sum!(c)], x, null, { length: 5 }) as unknown as readonly [E, E])[0]),
        2,
      )(a, x),
    cut: 2,
  },
]
const wave = (shape: readonly number[], dtype: 'f32' | 'f64', seed: number) => {
  const n = shape.reduce((a, b) => a * b, 1)
  const data = dtype === 'f32' ? new Float32Array(n) : new Float64Array(n)
  for (let i = 0; i < n; i++) data[i] = Math.sin((i + 1) * (1.37 + seed))
  return cd.tensor(data as never, shape as never, dtype as never)
}
type Compiled = ((x: unknown) => unknown) & { readonly explain: () => { readonly threads?: string }; readonly dispose: () => void }
const compiledOn = ({ inputs, f }: Case, backend: SyncBackend): Compiled =>
  cd.compile(
    cd.fn(
      Object.fromEntries(
        Object.entries(inputs).map(([k, [shape, dtype]]) => [k, (dtype === 'f32' ? cd.f32 : cd.f64)(...(shape as [number]))]),
      ),
      f as never,
    ) as never,
    backend,
  ) as unknown as Compiled
const argumentsOf = ({ inputs }: Case) =>
  Object.fromEntries(Object.entries(inputs).map(([k, [shape, dtype]], i) => [k, wave(shape, dtype, i)]))
/** The bits of all results. */
const bits = (y: unknown): string =>
  cd
    .treeLeaves(y as never)
    .map((leaf) => {
      const { data } = leaf as unknown as cd.Tensor
      return Buffer.from(new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength)).toString('base64')
    })
    .join(' ')

const crews = [
  threaded(2),
  threaded(3, { turn: 5, delay: 300, poison: true }),
  threaded(4, { turn: 1, verify: true }),
  threaded(2, { turn: 7, delay: 2000 }),
]
const alone = cd.cpu()
afterAll(() => {
  for (const { crew } of crews) crew().dispose()
})

describe('threads share steps', () => {
  for (const c of cases)
    it(c.name, async () => {
      const args = argumentsOf(c)
      const expected = bits(compiledOn(c, alone)(args))
      for (const { backend, crew } of crews) {
        const f = compiledOn(c, backend)
        const shared = Number(/share (\d+) steps?/.exec(f.explain().threads!)![1])
        expect(shared).toBeGreaterThanOrEqual(c.cut)
        expect(await untilHelped(crew, () => expect(bits(f(args)) === expected).toBe(true))).toBe(true)
        for (let k = 0; k < 20; k++) expect(bits(f(args)) === expected).toBe(true)
        f.dispose()
      }
    })
})
