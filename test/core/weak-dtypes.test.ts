// Floats that nobody gave a dtype (constants, numbers, plain arrays, what is made of them): f64 alone, beside an f32 they are f32, and nothing of the
// program is f64 then.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  add,
  addAt,
  arange,
  argsort,
  at,
  cast,
  concat,
  customRule,
  diag,
  div,
  dynamicUpdateSlice,
  elementwise,
  evaluate,
  eye,
  f32,
  f64,
  fn,
  full,
  gather,
  grad,
  gt,
  hessian,
  hvp,
  i32,
  jacfwd,
  jacrev,
  jvp,
  linspace,
  map,
  matmul,
  max,
  mean,
  mul,
  neg,
  oneHot,
  ones,
  onesLike,
  pow,
  scatterAdd,
  set,
  setAt,
  show,
  split,
  sqrt,
  square,
  stack,
  stopGradient,
  sub,
  sum,
  type Tensor,
  tanh,
  tensor,
  topk,
  vjp,
  vmap,
  where,
  zeros,
  zerosLike,
} from '../../src/index.js'
import { count } from '../depth.js'

interface In {
  readonly x: AnyExpr
  readonly i: AnyExpr
  readonly d: AnyExpr
}
const declaration = { x: f32(2, 2), i: i32(2), d: f64(2, 2) }
const given = { x: tensor(new Float32Array([1, 2, 3, 4]), [2, 2]), i: [0, 1], d: [[1, 2], [3, 4]] } // biome-ignore format: one row
const inner = fn({ x: f32(2, 2) }, ({ x }) => sum(mul(x, x)))
/** An f32 program given f64 where nobody declared one, and a customRule whose rule has a constant. */
const ruled = customRule((x: AnyExpr) => mul(x, 2), { frule: (x, dx) => [mul(x, 2), mul(full([2, 2], 2), dx)] })

const half = fn({ d: f64(2, 2) }, ({ d }) => mul(d, 0.5))
const wide = elementwise({ name: 'wide', args: ['float'], result: 'f64', scalar: (x) => x!, source: 'definition' })

const single: Readonly<Record<string, (at: In) => AnyExpr>> = {
  'matmul(x, eye(2))': ({ x }) => matmul(x, eye(2)),
  'add(eye(2), x)': ({ x }) => add(eye(2), x),
  'x + 2 eye(2)': ({ x }) => add(x, mul(2, eye(2))),
  'x + diag(ones([2]))': ({ x }) => add(x, diag(ones([2]))),
  'x + tanh(arange(2) + linspace(0, 1, 2))': ({ x }) => add(x, tanh(add(arange(2), linspace(0, 1, 2)))),
  'x + full([2, 2], 3)': ({ x }) => add(x, full([2, 2], 3)),
  'x + onesLike(zeros([2, 2]))': ({ x }) => add(x, onesLike(zeros([2, 2]))),
  'where(x > zeros, x, zeros)': ({ x }) => where(gt(x, zeros([2, 2])), x, zeros([2, 2])),
  concat: ({ x }) => concat([x, zeros([1, 2])]),
  stack: ({ x }) => stack([zeros([2, 2]), x]),
  'scatterAdd(zeros, i, x)': ({ x, i }) => scatterAdd(zeros([3, 2]), i as never, x),
  'setAt(zeros, i, x)': ({ x, i }) => setAt(zeros([3, 2]), i as never, x),
  'dynamicUpdateSlice(zeros, x)': ({ x }) => dynamicUpdateSlice(zeros([4, 4]), x as never, [1, 1]),
  'set(zeros, 0, row)': ({ x }) => set(zeros([3, 2]), 0, at(x, 1)),
  'addAt(zeros, [i], x)': ({ x, i }) => addAt(zeros([3, 2]), [i as never], x as never),
  'gather(eye, i)': ({ x, i }) => add(x, gather(eye(2), i as never)),
  'at(eye, a computed index)': ({ x, i }) => add(x, at(eye(2), at(i, 0) as never)),
  'where(x > 0, ones, zeros)': ({ x }) => add(x, where(gt(x, 0), ones([2, 2]), zeros([2, 2]))),
  'where(x > 0, ones, 0)': ({ x }) => add(x, where(gt(x, 0), ones([2, 2]), 0)),
  'one result of several': ({ x }) => add(x, split(eye(2), 2)[1]!),
  'gather(arange, argsort)': ({ x }) => add(x, gather(arange(2), argsort(x))),
  'vmap over a constant': ({ x }) => add(x, vmap((row: AnyExpr) => sum(row))(eye(2)) as AnyExpr),
  'oneHot(i, 2) x': ({ x, i }) => matmul(oneHot(i as never, 2), x),
  'x sqrt(2)': ({ x }) => mul(x, sqrt(2)),
  'x (1 + 2)': ({ x }) => mul(x, add(1, 2)),
  'x - 2^0.5': ({ x }) => sub(x, pow(2, 0.5)),
  'x (-1)': ({ x }) => mul(neg(1), x),
  'where(x > 0, 1, 0)': ({ x }) => mul(x, where(gt(x, 0), 1, 0)),
  'max([1, 2])': ({ x }) => mul(x, max([1, 2])),
  'sum([1, 2]) + mean([[1]])': ({ x }) => mul(x, add(sum([1, 2]), mean([[1]]))),
  'a plain array beside a constant': ({ x }) => mul(x, add(ones([2]), [1, 2])),
  'an array that is indexed': ({ x, i }) => mul(x, at([0.5, 0.25], i as never)),
  'two of plain arrays': ({ x }) => matmul(x, matmul([[1, 2], [3, 4]], [[1, 0], [0, 1]])), // biome-ignore format: matrices
  'a plain array that is put into a constant': ({ x }) => mul(x, set(zeros([2]), 0, sqrt(2))),
  'results of several': ({ x }) => mul(x, topk([3, 1, 2], 2).values),
  'stopGradient of a number': ({ x }) => mul(x, stopGradient(2) as AnyExpr),
  'a number that a function returned': ({ x }) =>
    mul(x, (fn({ x: f32(2, 2) }, () => 2) as unknown as (p: { x: AnyExpr }) => AnyExpr)({ x })),
  'a tangent': ({ x }) => jvp((y: AnyExpr) => mul(y, y))(x, ones([2, 2]) as never)[1] as AnyExpr,
  'a seed': ({ x }) => grad((y: AnyExpr) => sum(mul(y, y)), { seed: ones([]) })(x) as AnyExpr,
  'an argument of a declared function': ({ x }) => add(x, (inner as unknown as (p: { x: AnyExpr }) => AnyExpr)({ x: eye(2) })),
  'in a rule': ({ x }) => grad((y: AnyExpr) => sum(ruled(y) as AnyExpr))(x) as AnyExpr,
  'in vmap': ({ x }) => vmap((row: AnyExpr) => add(row, arange(2)))(x) as AnyExpr,
}
const double: Readonly<Record<string, (at: In) => AnyExpr>> = {
  'x + d': ({ x, d }) => add(x, d),
  'zeros with a dtype': ({ x }) => add(x, zeros([2, 2], 'f64')),
  'a cast constant': ({ x }) => add(x, cast(zeros([2, 2]), 'f64')),
  'zerosLike(d)': ({ x, d }) => add(x, zerosLike(d)),
  'something declared within': ({ x, d }) => add(x, add(eye(2), d)),
  'two constants, one of them declared': ({ x }) => add(x, add(eye(2), zeros([2, 2], 'f64'))),
  'a constant of rank 0 that is cast': ({ x }) => mul(x, cast(full([], 2, 'f32'), 'f64')),
  'an integer constant beside a number': ({ x }) => mul(x, add(zeros([], 'i32'), sqrt(2))),
  'the root of an integer': ({ x }) => mul(x, sqrt(full([], 2, 'i32'))),
  'a number that is cast': ({ x }) => mul(x, cast(2, 'f64')),
  'a tensor of a number': ({ x }) => mul(x, tensor(2)),
  'what a primitive says is an f64': ({ x }) => mul(x, wide(2)),
  'what a declared function makes of a constant': ({ x }) =>
    mul(x, (half as unknown as (p: { d: AnyExpr }) => AnyExpr)({ d: ones([2, 2]) })),
  'the gradient by a declared f64': ({ x, d }) => mul(x, grad((e: AnyExpr) => sum(mul(sqrt(2), e)))(d) as AnyExpr),
  'a gradient of zeros by a declared f64': ({ x, d }) => mul(x, grad((e: AnyExpr) => stopGradient(sum(e)))(d) as AnyExpr),
  'the tangent of a declared f64': ({ x, d }) =>
    mul(x, (jvp((e: AnyExpr) => mul(sqrt(2), e))(d, ones([2, 2]) as never) as readonly AnyExpr[])[1]!),
  'the cotangent of a declared f64': ({ x, d }) =>
    mul(x, (vjp((e: AnyExpr) => mul(sqrt(2), e))(d, ones([2, 2]) as never) as readonly AnyExpr[])[1]!),
  'a Jacobian by a declared f64': ({ x, d }) => mul(x, jacfwd((e: AnyExpr) => mul(sqrt(2), e))(at(d, 0, 0)) as AnyExpr),
  'the same, by rows': ({ x, d }) => mul(x, jacrev((e: AnyExpr) => mul(sqrt(2), e))(at(d, 0, 0)) as AnyExpr),
  'a Hessian by a declared f64': ({ x, d }) => mul(x, hessian((e: AnyExpr) => mul(sqrt(2), square(e)))(at(d, 0, 0)) as AnyExpr),
  'a product with it': ({ x, d }) => mul(x, hvp((e: AnyExpr) => sum(mul(sqrt(2), square(e))))(d, ones([2, 2]) as never) as AnyExpr),
  'what map made of it': ({ x }) =>
    add(
      x,
      map((a) => mul(a, 2), eye(2)),
    ),
  'beside an integer': ({ i }) => add(i, zeros([2])),
  alone: () => matmul(eye(2), ones([2, 2])),
  'beside an f64': ({ d }) => matmul(d, eye(2)),
}
const untyped = fn as unknown as (declaration: unknown, f: unknown) => (x: unknown) => Tensor
const run = (f: (at: In) => AnyExpr): Tensor => untyped(declaration, f)(given)

describe('a float without a dtype', () => {
  for (const [name, f] of Object.entries(single))
    it(`is f32 beside an f32: ${name}`, () => {
      expect(run(f).dtype).toBe('f32')
      const text = show(untyped({ x: f32(2, 2), i: i32(2) }, f) as never)
      expect(text).not.toContain('f64')
    })
  for (const [name, f] of Object.entries(double)) it(`is f64: ${name}`, () => expect(run(f).dtype).toBe('f64'))

  it('has the numbers of the constant with the dtype written out', () => {
    const constants = fc.constantFrom<(d?: 'f32') => AnyExpr>(
      (d) => zeros([2, 2], d as 'f32'),
      (d) => ones([2], d as 'f32'),
      (d) => full([2, 2], 1 / 3, d as 'f32'),
      (d) => arange(2, d as 'f32'),
      (d) => linspace(0.1, 0.7, 2, d as 'f32'),
      (d) => eye(2, d as 'f32'),
      (d) => oneHot([1, 0], 2, d as 'f32'),
    )
    fc.assert(
      fc.property(constants, constants, fc.double({ min: -3, max: 3, noNaN: true }), (a, b, c) => {
        const of = (d?: 'f32') => run(({ x }) => add(x, mul(tanh(add(mul(c, a(d)), b(d))), a(d))))
        expect(of().dtype).toBe('f32')
        expect([...of().data]).toEqual([...of('f32').data])
      }),
    )
  })

  it('is asked once for each expression, however long the program', () => {
    const chain = (x: AnyExpr, d: AnyExpr) => {
      let y: AnyExpr = add(zeros([2, 2]), d)
      for (let k = 0; k < count(5_000, 20_000); k++) y = add(y, x)
      return y
    }
    expect(run(({ x, d }) => chain(x, d)).dtype).toBe('f64')
    let z: AnyExpr = zeros([2, 2])
    for (let k = 0; k < count(5_000, 20_000); k++) z = add(z, eye(2))
    expect(run(({ x }) => add(x, z)).dtype).toBe('f32')
    expect(evaluate(z).dtype).toBe('f64')
  })

  it('is as exact as its numbers: those of an f32 are rounded once', () => {
    expect([...run(({ x }) => mul(x, div([1, 2], 3))).data]).toEqual([...run(({ x }) => mul(x, div(tensor([1, 2], 'f32'), 3))).data])
    expect(evaluate(sqrt(2)).item()).toBe(Math.SQRT2)
    expect(evaluate(sum([0.1, 0.2])).item()).toBe(0.1 + 0.2)
  })
  it('is not what it was where it is used in two places', () => {
    const both = fn({ x: f32(2), d: f64(2) }, ({ x, d }) => {
      const root = sqrt([2, 3])
      return { single: mul(x, root), double: mul(d, root), alone: root }
    })
    const out = both({ x: [1, 1], d: [1, 1] })
    expect([out.single.dtype, out.double.dtype, out.alone.dtype]).toEqual(['f32', 'f64', 'f64'])
    expect([...out.double.data]).toEqual([Math.SQRT2, Math.sqrt(3)])
    expect([...out.single.data]).toEqual([Math.SQRT2, Math.sqrt(3)].map(Math.fround))
  })
  it('has a gradient of the dtype of its argument', () => {
    const f = fn({ x: f32(2), d: f64(2) }, ({ x, d }) => sum(add(mul(cast(mul(x, sqrt([2, 3])), 'f64'), d), mul(d, where(gt(d, 0), 1, 0)))))
    const g = grad(f)({ x: [1, 2], d: [1, 2] })
    expect([g.x.dtype, g.d.dtype]).toEqual(['f32', 'f64'])
    expect([...g.d.data]).toEqual([Math.fround(Math.SQRT2) + 1, Math.fround(2 * Math.fround(Math.sqrt(3))) + 1])
  })
})
