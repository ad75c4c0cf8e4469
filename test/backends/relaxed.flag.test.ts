// Products by the relaxed multiply-add, which Node 20 has behind a flag: vitest.config.ts.
import { describe, expect, it } from 'vitest'
import { relaxedSimd } from '../../src/backends/cpu/wasm/features.js'
import { reference } from '../../src/backends/reference/index.js'
import * as cd from '../../src/index.js'

const fused = cd.cpu({ relaxed: true })
const apart = cd.cpu({ relaxed: false })
const wave = (n: number, k: number): readonly number[] => Array.from({ length: n }, (_, i) => Math.sin(k + 1.7 * i))
const array = (shape: readonly number[], dtype: 'f32' | 'f64', k = 0): cd.Tensor =>
  cd.tensor(
    wave(
      shape.reduce((a, b) => a * b, 1),
      k,
    ),
    shape as number[],
    dtype,
  ) as cd.Tensor
type Body = (...xs: readonly cd.AnyExpr[]) => cd.AnyExpr
const run = (f: Body, backend: cd.Backend, xs: readonly cd.Tensor[]): cd.Tensor =>
  (cd.compile as unknown as (f: Body, b: cd.Backend) => (...xs: readonly cd.Tensor[]) => cd.Tensor)(f, backend)(...xs)
const largest = (t: cd.Tensor): number => Math.max(...Array.from(t.data, (x) => Math.abs(Number(x))))

/** Channels enough for minimal filtering, in f32. */
const MANY = [
  [2, 8, 12, 14],
  [16, 8, 3, 3],
] as const
const cases: readonly (readonly [name: string, f: Body, shapes: readonly (readonly number[])[]])[] = [
  [
    'products',
    (a, b) => cd.matmul(a, b),
    [
      [37, 300],
      [300, 45],
    ],
  ],
  [
    'long products',
    (a, b) => cd.matmul(a, b),
    [
      [5, 5000],
      [5000, 9],
    ],
  ],
  ['products of a vector', (a, b) => cd.matmul(a, b), [[41, 600], [600]]],
  [
    'stacks of products',
    (a, b) => cd.matmul(a, b),
    [
      [3, 9, 20],
      [3, 20, 11],
    ],
  ],
  [
    'gradients of products',
    (a, b) => cd.grad((x: cd.AnyExpr) => cd.sum(cd.sin(cd.matmul(x, b))) as cd.Scalar)(a) as cd.AnyExpr,
    [
      [19, 33],
      [33, 17],
    ],
  ],
  [
    'convolutions',
    (x, k) => cd.conv(x, k, { padding: 'same' }),
    [
      [2, 3, 9, 8],
      [4, 3, 3, 3],
    ],
  ],
  [
    'gradients of convolutions',
    (x, k) => cd.grad((v: cd.AnyExpr) => cd.sum(cd.sin(cd.conv(x, v, { stride: 2 }))) as cd.Scalar)(k) as cd.AnyExpr,
    [
      [2, 3, 9, 8],
      [4, 3, 3, 3],
    ],
  ],
  [
    'gradients of inputs of convolutions',
    (x, k) => cd.grad((v: cd.AnyExpr) => cd.sum(cd.sin(cd.conv(v, k))) as cd.Scalar)(x) as cd.AnyExpr,
    [
      [2, 3, 9, 8],
      [4, 3, 3, 3],
    ],
  ],
  ['convolutions of many channels', (x, k) => cd.conv(x, k, { padding: 1 }), MANY],
  [
    'gradients of convolutions of many channels',
    (x, k) => cd.grad((v: cd.AnyExpr) => cd.sum(cd.sin(cd.conv(x, v, { padding: 1 }))) as cd.Scalar)(k) as cd.AnyExpr,
    MANY,
  ],
  [
    'gradients of inputs of convolutions of many channels',
    (x, k) => cd.grad((v: cd.AnyExpr) => cd.sum(cd.sin(cd.conv(v, k, { padding: 1 }))) as cd.Scalar)(x) as cd.AnyExpr,
    MANY,
  ],
  ['factorisations', (a) => cd.inv(cd.add(cd.matmul(a, cd.transpose(a)), cd.mul(20, cd.eye(70)))), [[70, 70]]],
]

describe.each(['f32', 'f64'] as const)('products by multiply-add in one step, %s', (dtype) => {
  it('the engine has it', () => expect(relaxedSimd()).toBe(true))
  it.each(cases)('%s are as the reference has them, and not as without it', (_name, f, shapes) => {
    const xs = shapes.map((s, i) => array(s, dtype, i))
    const [want, one, two] = [run(f, reference(), xs), run(f, fused, xs), run(f, apart, xs)]
    const scale = largest(want)
    const bound = scale * (dtype === 'f32' ? 3e-6 : 1e-13)
    for (const got of [one, two]) {
      expect(got.shape).toEqual(want.shape)
      expect(Math.max(...Array.from(want.data, (w, i) => Math.abs(Number(w) - Number(got.data[i]))))).toBeLessThan(bound)
    }
    expect([...one.data]).not.toEqual([...two.data])
    expect([...run(f, cd.cpu(), xs).data]).toEqual([...one.data])
  })
  it('a product of one term is rounded once, with what it is added to', () => {
    // (1 + e)^2 - (1 + 2 e) = e^2, which is lost where the square is rounded first
    const e = dtype === 'f32' ? 2 ** -13 : 2 ** -30
    const rows = cd.tensor(new Array(8).fill([1 + 2 * e, 1 + e]).flat(), [8, 2], dtype)
    const columns = cd.tensor([...new Array(8).fill(-1), ...new Array(8).fill(1 + e)], [2, 8], dtype)
    const product = (backend: cd.Backend): number =>
      Number(run((a, b) => cd.matmul(a, b), backend, [rows as cd.Tensor, columns as cd.Tensor]).data[0])
    expect(product(fused)).toBe(e * e)
    expect(product(apart)).toBe(0)
  })
})
it('is refused where it cannot be, and where it is no option', () => {
  expect(() => cd.cpu({ relaxed: true, simd: false })).toThrow(/there is no relaxed SIMD here/)
  expect(() => cd.cpu({ relaxed: 1 as never })).toThrow(/give 'auto', true or false/)
})
