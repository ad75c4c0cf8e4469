// At the edges of their arguments functions have the sign of zero and the slopes that IEEE 754, C and mpmath give, on every backend here.
import { describe, expect, it } from 'vitest'
import { compile, cpu, grad, reference, sum, tensor } from '../../src/index.js'
import { untyped } from '../rules/untyped.js'

type AnyFunction = (...xs: readonly unknown[]) => unknown
const u = untyped as unknown as Readonly<Record<string, AnyFunction>>
const on = (backend: unknown, f: AnyFunction, ...xs: readonly unknown[]): readonly number[] =>
  Array.from(
    (compile as unknown as (f: AnyFunction, b: unknown) => (...xs: readonly unknown[]) => { data: ArrayLike<number> })(f, backend)(...xs)
      .data,
  )
const backends = { reference: reference(), cpu: cpu({ verify: true }), 'cpu without SIMD': cpu({ simd: false }) }
const dtypes = ['f64', 'f32'] as const

describe.each(Object.entries(backends))('on %s', (_name, backend) => {
  it.each(dtypes)('odd functions keep the sign of zero in %s', (dtype) => {
    for (const name of [
      'asinh',
      'atanh',
      'sinh',
      'tanh',
      'expm1',
      'log1p',
      'asin',
      'atan',
      'sin',
      'tan',
      'erf',
      'cbrt',
      'sqrt',
      'neg',
      'trunc',
      'elu',
      'celu',
    ])
      for (const zero of [0, -0]) {
        const x = tensor([zero, zero, zero, zero, zero], [5], dtype)
        const want = name === 'neg' ? -zero : zero
        expect({ name, zero, y: on(backend, (v) => u[name]!(v), x) }).toEqual({ name, zero, y: [want, want, want, want, want] })
      }
  })
  it.each(dtypes)('remainders and whole quotients have the signs of C and NumPy in %s', (dtype) => {
    const a = tensor([-0, -6, 6, -0, -1, 1, -1, 2, 0.5], [9], dtype)
    const b = tensor([3, 3, -3, -3, -1.5, -1.5, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -2], [9], dtype)
    expect(on(backend, (x, y) => u.fmod!(x, y), a, b)).toEqual([-0, -0, 0, -0, -1, 1, -1, 2, 0.5])
    expect(on(backend, (x, y) => u.floorDivide!(x, y), a, b)).toEqual([-0, -2, -2, 0, 0, -1, -1, 0, -1])
  })
})

describe('slopes', () => {
  // mpmath: exp(-20), exp(-40), exp(-700).
  it('of exp(x) - 1 do not vanish far below 0', () => {
    const slopes = (name: string): readonly number[] =>
      Array.from(
        (grad as unknown as (f: AnyFunction) => (x: unknown) => { data: Float64Array })((x) => (sum as AnyFunction)(u[name]!(x)))(
          tensor([-20, -40, -700]),
        ).data,
      )
    for (const name of ['expm1', 'elu', 'celu']) {
      const got = slopes(name)
      const want = [2.061153622438558e-9, 4.248354255291589e-18, 9.859676543759771e-305]
      for (const [i, w] of want.entries()) expect(Math.abs(got[i]! / w - 1)).toBeLessThan(1e-14)
    }
  })
  // JAX 0.10 (float64): the initial number shares a tie with the largest element, and what is left out has nothing.
  it('of reductions that begin with a number, and of masks', () => {
    const g = (f: AnyFunction, x: unknown): readonly number[] =>
      Array.from((grad as unknown as (f: AnyFunction) => (x: unknown) => { data: Float64Array })(f)(x).data)
    const x = tensor([1, 3, 3, -2])
    expect(g((v) => u.max!(v, { initial: 3 }), x)).toEqual([0, 0.25, 0.25, 0])
    expect(g((v) => u.max!(v, { initial: 5 }), x)).toEqual([0, 0, 0, 0])
    expect(g((v) => u.max!(v, { where: [true, true, false, true], initial: -9 }), x)).toEqual([0, 1, 0, 0])
    expect(g((v) => u.mean!(v, { where: [true, false, true, false] }), x)).toEqual([0.5, 0, 0.5, 0])
    expect(g((v) => u.prod!(v, { where: [true, false, true, true], initial: 2 }), x)).toEqual([-12, 0, -4, 6])
    expect(g((v) => u.variance!(v, { where: [true, true, false, false], ddof: 1 }), x)).toEqual([-2, 2, 0, 0])
    // A NaN that is left out has no say.
    const y = tensor([1, Number.NaN, 3])
    for (const name of ['sum', 'mean', 'variance', 'std', 'logsumexp'])
      expect({ name, nan: g((v) => u[name]!(v, { where: [true, false, true] }), y).some(Number.isNaN) }).toEqual({
        name,
        nan: false,
      })
  })
})
