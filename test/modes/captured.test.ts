/** Functions called on plain values inside a trace: a result that depends on what the body captured of an enclosing trace is an expression. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type Call = (...xs: readonly unknown[]) => unknown
const loose = <K extends keyof typeof cd>(name: K): Call => cd[name] as unknown as Call
const [add, mul, sum, sin, fn, compile, evaluate, map] = (['add', 'mul', 'sum', 'sin', 'fn', 'compile', 'evaluate', 'map'] as const).map(
  loose,
) as [Call, Call, Call, Call, Call, Call, Call, Call]
const transform =
  (name: 'grad' | 'vmap' | 'jvp' | 'vjp' | 'hvp' | 'jacfwd' | 'jacrev' | 'hessian' | 'linearize' | 'valueAndGrad' | 'customRule') =>
  (f: Call, options?: unknown): Call =>
    loose(name)(f, options) as Call
const grad = transform('grad')
const number = (x: unknown): number => (x as cd.Tensor).item()
const array = (x: unknown): unknown => (x as cd.Tensor).toArray()

/** y^2 x at y, whose derivative by y is 2 y x, and by y twice 2 x. */
const body =
  (x: unknown): Call =>
  (y) =>
    mul(mul(y, y), x)
const rows: readonly (readonly [name: string, inner: (x: unknown) => unknown, value: number, derivative: number])[] = [
  ['grad', (x) => grad(body(x))(3), 12, 6],
  ['grad, forward', (x) => grad(body(x), { mode: 'forward' })(3), 12, 6],
  ['grad, reverse', (x) => grad(body(x), { mode: 'reverse' })(3), 12, 6],
  ['valueAndGrad', (x) => (transform('valueAndGrad')(body(x))(3) as { value: unknown }).value, 18, 9],
  ['jvp', (x) => (transform('jvp')(body(x))(3, 1) as unknown[])[1], 12, 6],
  ['vjp', (x) => (transform('vjp')(body(x))(3, 1) as unknown[])[1], 12, 6],
  ['hvp', (x) => transform('hvp')(body(x))(3, 1), 4, 2],
  ['jacfwd', (x) => transform('jacfwd')(body(x))(3), 12, 6],
  ['jacrev', (x) => transform('jacrev')(body(x))(3), 12, 6],
  ['hessian', (x) => transform('hessian')(body(x))(3), 4, 2],
  ['linearize, its value', (x) => (transform('linearize')(body(x))(3) as unknown as unknown[])[0], 18, 9],
  ['linearize, its derivative', (x) => ((transform('linearize')(body(x))(3) as unknown as unknown[])[1] as Call)(1), 12, 6],
  ['vmap', (x) => sum(transform('vmap')(body(x))([1, 2])), 10, 5],
  ['fn', (x) => (fn({ y: cd.f64() }, ({ y }: { y: unknown }) => body(x)(y)) as Call)({ y: 3 }), 18, 9],
  ['fn, of a tensor', (x) => (fn({ y: cd.f64() }, ({ y }: { y: unknown }) => body(x)(y)) as Call)({ y: cd.tensor(3) }), 18, 9],
  ['grad of fn', (x) => (grad(fn({ y: cd.f64() }, ({ y }: { y: unknown }) => body(x)(y)) as Call)({ y: 3 }) as { y: unknown }).y, 12, 6],
  [
    'customRule',
    (x) => transform('customRule')((y) => mul(y, 3), { frule: (y: unknown, dy: unknown) => [mul(y, 3), mul(3, dy)] })(x),
    6,
    3,
  ],
  [
    'customRule around grad',
    (x) => transform('customRule')((v: unknown) => grad(body(v))(3), { frule: (v: unknown, dv: unknown) => [mul(6, v), mul(6, dv)] })(x),
    12,
    6,
  ],
  ['grad of grad', (x) => grad((y) => grad(body(x))(y))(3), 4, 2],
  ['grad of what calls grad on a number', (x) => grad((y) => mul(y, grad(body(x))(3)))(5), 12, 6],
  ['the outermost of three', (x) => grad((y) => mul(y, grad((z) => mul(z, x))(1)))(1), 2, 1],
  ['vmap of what calls grad', (x) => sum(transform('vmap')((y) => mul(y, grad(body(x))(3)))([1, 2])), 36, 18],
  ['map', (x) => sum(map((u: unknown) => grad(body(u))(3), add([0, 0], x))), 24, 12],
]

describe('a call on plain values whose body captures an expression', () => {
  it.each(rows)('%s', (_, inner, value, derivative) => {
    expect(number((compile(inner) as Call)(2))).toBeCloseTo(value, 12)
    expect(number(evaluate(inner(2)))).toBeCloseTo(value, 12)
    expect(number(grad(inner)(2))).toBeCloseTo(derivative, 12)
    expect(number(grad(inner, { mode: 'forward' })(2))).toBeCloseTo(derivative, 12)
    expect(number((transform('jvp')(inner)(2, 1) as unknown[])[1])).toBeCloseTo(derivative, 12)
    expect(array(transform('vmap')(inner)([2, 4]))).toEqual([value, 2 * value].map((v) => expect.closeTo(v, 12)))
  })
  it('as the two programs that showed it', () => {
    expect(number(grad((x) => mul(x, grad((y) => mul(y, mul(y, x)))(1)))(2))).toBe(8)
    expect(number(grad((x) => sum(transform('vmap')((y) => mul(y, x))([1, 2, 3])))(2))).toBe(6)
  })
  it('perturbations do not mix', () => {
    expect(number(grad((x) => mul(x, grad((y) => add(x, y))(1)))(1))).toBe(1)
    expect(number(grad((x) => mul(x, grad((y) => mul(x, y))(1)))(3))).toBe(6)
    // d/dx of x d/dy (x y d/dz (y z)) at y = 2: inner x y y, so x (2 x y) = 4 x^2
    expect(number(grad((x) => mul(x, grad((y) => mul(mul(x, y), grad((z) => mul(y, z))(1)))(2)))(3))).toBe(24)
  })
  it('a tensor among its arguments is read at every call of what was compiled', () => {
    const t = cd.tensor([1, 2, 3])
    const f = compile((x: unknown) => sum(grad((y) => sum(mul(mul(y, y), x)))(t))) as Call
    expect(number(f(2))).toBe(24)
    t.data[0] = 2
    expect(number(f(2))).toBe(28)
  })
  it('traces the body once', () => {
    let traced = 0
    grad((x) =>
      grad((y) => {
        traced++
        return mul(y, x)
      })(1),
    )(2)
    expect(traced).toBe(1)
  })
  it('inside map, at each index', () => {
    expect(array(evaluate(map((u: unknown) => grad((y) => mul(mul(y, y), u))(1), [1, 2, 3])))).toEqual([2, 4, 6])
    expect(array(evaluate(map((u: unknown) => grad((y) => mul(sin(y), u))(u), [1, 2])))).toEqual([Math.cos(1), 2 * Math.cos(2)])
  })
  it('gives tensors where nothing is captured, inside a trace too', () => {
    const kinds: unknown[] = []
    grad((x) => {
      const y = grad((z) => mul(z, z))(3)
      kinds.push((y as cd.Tensor)._tag)
      return mul(x, y)
    })(2)
    expect(kinds).toEqual(['Tensor'])
  })
})

describe('what is closed stays closed', () => {
  const failure = (f: () => unknown): string => {
    try {
      f()
    } catch (e) {
      if (cd.isAdException(e)) return e.message
      throw e
    }
    return 'no error'
  }
  it.each([
    ['compile', (x: unknown) => (compile(body(x)) as Call)(3)],
    ['compile of grad', (x: unknown) => (compile(grad(body(x))) as Call)(3)],
    ['toProgram', (x: unknown) => (loose('toProgram')(body(x)) as Call)(3)],
    ['evaluate', (x: unknown) => evaluate(body(x)(3))],
  ])('%s', (_, inner) => {
    expect(failure(() => grad((x) => inner(x))(2))).toMatch(/depends on an expression .*leaked out of another trace/s)
    expect(number(grad((x) => mul(x, x))(2))).toBe(4)
  })
  it('runSync gives Left', () => {
    let left: unknown
    grad((x) => {
      left = (cd.runSync(cd.cpu())(body(x) as never) as Call)(3)
      return x
    })(2)
    expect(left).toMatchObject({ _tag: 'Left', left: { _tag: 'BadInput' } })
  })
  it('an expression has no numbers, and says so', () => {
    for (const read of ['item', 'toArray'])
      expect(failure(() => grad((x) => (grad(body(x))(3) as Record<string, Call>)[read]!())(2))).toMatch(/this is an expression/)
  })
})
