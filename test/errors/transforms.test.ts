/** Calls of transforms that do not fit: the message names the transform that was called, and what it was given. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type Call = (...xs: readonly unknown[]) => unknown
const of = (name: string): ((f: unknown, options?: unknown) => Call) => (cd as unknown as Readonly<Record<string, Call>>)[name] as never
const [mul, sum, add] = [of('mul'), of('sum'), of('add')] as unknown as [Call, Call, Call]
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.message
    throw e
  }
  return 'no error'
}
const numbers = (tree: unknown): unknown => JSON.parse(JSON.stringify(tree), (_, x) => (x?.dtype === undefined ? x : x.data))
const square: Call = (x) => mul(x, x)

describe('the wrong tangent or cotangent', () => {
  it.each([
    ['vjp', () => of('vjp')(square)([1, 2], [1, 1, 1]), /^vjp\(square\): the cotangent is f64 \[3\], the result f64 \[2\]/],
    [
      'vjp, a tree',
      () => of('vjp')((x: unknown) => ({ y: square(x), z: x }))([1, 2], [1, 1]),
      /^BadInput: vjp\(f\): cotangents are \*, results \{ y: \*, z: \* \}/,
    ],
    ['vjp, a leaf', () => of('vjp')((x: unknown) => ({ y: square(x) }))([1, 2], { y: 1 }), /^vjp\(f\): the cotangent at y is f64 \[\]/],
    ['vjp, no cotangent', () => of('vjp')(square)([1, 2], 'x'), /vjp\(square\)/],
    ['jvp', () => of('jvp')(square)([1, 2], [1, 1, 1]), /^jvp\(square\): the tangent: got \[3\], declared \[2\]/],
    ['hvp', () => of('hvp')((x: unknown) => sum(square(x)))([1, 2], [1]), /^hvp\(f\): the tangent: got \[1\], declared \[2\]/],
    ['linearize', () => (of('linearize')(square)([1, 2]) as unknown as Call[])[1]!([1]), /^linearize\(square\): the tangent: got \[1\]/],
    [
      'vjp within a trace',
      () => of('grad')((x: unknown) => (of('vjp')(square)(x, [1, 1, 1]) as unknown[])[0])([1, 2]),
      /^vjp\(square\): the cotangent/,
    ],
  ])('%s', (_, call, says) => {
    expect(message(call)).toMatch(says)
  })
})

describe('a call without arguments', () => {
  it.each(['grad', 'valueAndGrad', 'jacfwd', 'jacrev', 'hessian', 'vmap'])('%s', (name) => {
    for (const f of [square, () => 1, (...xs: unknown[]) => sum(xs[0])])
      expect(message(() => of(name)(f)())).toMatch(new RegExp(`^BadInput: ${name}.*: the function was called without arguments`))
  })
  it.each(['jvp', 'vjp', 'hvp'])('%s', (name) => {
    expect(message(() => of(name)(square)())).toMatch(new RegExp(`${name}\\(square\\): takes 2 arguments, got 0`))
  })
  it('linearize', () => {
    expect(message(() => of('linearize')(square)())).toMatch(/undefined is not a number/)
  })
})

describe('parameters that a length does not count', () => {
  const rest: Call = (...xs) => mul(xs[0], xs[1])
  const defaulted: Call = (x, y = 2) => mul(x, y)
  it('a rest parameter: primals are the list of arguments', () => {
    expect(numbers(of('vjp')(rest)([3, 4], 1))).toEqual([12, [4, 3]])
    expect(numbers(of('jvp')(rest)([3, 4], [1, 0]))).toEqual([12, 4])
    expect(numbers(of('hvp')(rest)([3, 4], 1))).toEqual(0)
    expect(numbers((of('linearize')(rest)([3, 4]) as unknown as unknown[])[0])).toBe(12)
    expect(numbers(of('vjp')(of('grad')(rest))([3, 4], 1))).toEqual([4, [0, 1]])
    expect(numbers(of('vjp')((x: unknown, ...more: unknown[]) => more.reduce(add, x))([1, 2, 3], 1))).toEqual([6, [1, 1, 1]])
    expect(message(() => of('vjp')(rest)(3, 1))).toMatch(/takes 0 or more arguments; primals must be their tuple/)
  })
  it('a rest parameter of one argument: primals, tangents, cotangents and wrt are of the list of one', () => {
    const squared: Call = (...xs) => mul(xs[0], xs[0])
    const x = cd.tensor([1, 2])
    const v = cd.tensor([1, 10])
    const first = { wrt: 0 }
    expect(numbers(of('jvp')(squared)([x], [v]))).toEqual([[1, 4], [2, 40]]) // biome-ignore format: one row
    expect(numbers(of('vjp')(squared)([x], v))).toEqual([[1, 4], [[2, 40]]]) // biome-ignore format: one row
    expect(numbers(of('vjp')(squared, first)([x], v))).toEqual([[1, 4], [2, 40]]) // biome-ignore format: one row
    expect(numbers((of('linearize')(squared)([x]) as unknown as Call[])[1]!([v]))).toEqual([2, 40])
    expect(numbers((of('linearize')(squared, first)([x]) as unknown as Call[])[1]!(v))).toEqual([2, 40])
    const loss: Call = (...xs) => sum(squared(...xs))
    expect(numbers(of('hvp')(loss)([x], v))).toEqual([2, 20])
    expect(numbers(of('hvp')(loss, first)([x], v))).toEqual([2, 20])
    expect(numbers(of('jvp')(of('grad')(loss))([x], [v]))).toEqual([[2, 4], [2, 20]]) // biome-ignore format: one row
    expect(numbers(of('compile')(of('jvp')(squared))([x], [v]))).toEqual([[1, 4], [2, 40]]) // biome-ignore format: one row
    // An argument that is a list itself: 0 is the argument, '0.1' its second entry.
    const pair: Call = (...xs) => sum(mul((xs[0] as unknown[])[0], (xs[0] as unknown[])[1]))
    for (const name of ['grad', 'jacfwd', 'jacrev']) {
      expect(numbers(of(name)(pair, first)([cd.tensor(3), cd.tensor(4)]))).toEqual([4, 3])
      expect(numbers(of(name)(pair, { wrt: '0.1' })([cd.tensor(3), cd.tensor(4)]))).toBe(3)
    }
    expect(message(() => of('jvp')(squared)([x], v))).toMatch(/^(BadInput|ShapeMismatch): jvp\(squared\)/)
    expect(message(() => of('jvp')(squared)(x, v))).toMatch(/takes 0 or more arguments; primals must be their tuple/)
  })
  it('defaults: what is not an array is the first argument; an array might be both, and is an error', () => {
    expect(numbers(of('jvp')(defaulted)(3, 1))).toEqual([6, 2])
    expect(numbers(of('vjp')(defaulted)(cd.tensor([1, 2]), [1, 1]))).toEqual([[2, 4], [2, 2]]) // biome-ignore format: one row
    for (const name of ['jvp', 'vjp', 'hvp']) expect(message(() => of(name)(defaulted)([3, 4], [1, 0]))).toMatch(/parameters with defaults/)
    expect(message(() => of('linearize')((x: unknown = 1) => x)([3, 4]))).toMatch(/parameters with defaults/)
  })
  it('two named parameters and a default: the list, with it or without', () => {
    const f: Call = (x, y, z = 10) => add(mul(x, y), z)
    expect(numbers(of('vjp')(f)([3, 4], 1))).toEqual([22, [4, 3]])
    expect(numbers(of('vjp')(f)([3, 4, 5], 1))).toEqual([17, [4, 3, 1]])
    expect(message(() => of('vjp')(f)([3], 1))).toMatch(/takes 2 to 3 arguments/)
  })
  it('grad takes the arguments as they come', () => {
    expect(numbers(of('grad')(rest)(3, 4))).toBe(4)
    expect(numbers(of('grad')(defaulted)(3))).toBe(2)
    expect(numbers(of('grad')(defaulted, { wrt: 1 })(3, 4))).toBe(3)
  })
})

describe('reshape', () => {
  it('of nothing to nothing by an unknown: ambiguous', () => {
    expect(message(() => of('reshape')(of('zeros')([2, 0]), [0, -1]))).toMatch(/^BadInput: reshape: \[0, -1\] is ambiguous/)
    expect((of('evaluate')(of('reshape')(of('zeros')([2, 0]), [2, -1])) as unknown as cd.Tensor).shape).toEqual([2, 0])
    expect(message(() => of('reshape')([1, 2], [0, -1]))).toMatch(/does not divide/)
  })
})
