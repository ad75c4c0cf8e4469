// The functions that users call: dtypes, broadcasting and errors, literal exponents, guarded branches, compositions, comparisons.
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { isAdException } from '../../src/core/errors/error.js'
import { compileSync } from '../../src/core/functions/compile.js'
import { asNode, CONST, linearize, type Node } from '../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { makeTensor } from '../../src/core/graph/tensor.js'
import * as numbers from '../../src/core/ops/elementwise.js'
import { elementwise } from '../../src/core/ops/families.js'
import { mapPrimitive } from '../../src/core/ops/map.js'
import type { DType } from '../../src/core/types/dtype.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import { regionized } from '../../src/modes/mixed.js'
import { integerBinaries, integerUnaries } from '../backends/accuracy.js'
import { arrayOf, backward, derivatives, evaluate, fivePoints, forward, type Graph, graphOf } from './elementwise-calculus.js'
import { untyped } from './untyped.js'

const op = untyped
const { add, div, expm1, exp, gt, log, log1p, lt, mul, neg, pow, reshape, sqrt, square, sub, where } = op

const value = (x: unknown): number[] => Array.from(evaluate([asNode(x)], [], [])[0]!.data)
const of = (dtype: DType, xs: readonly number[]) => makeTensor(xs, undefined, dtype)
const dtypeOf = (x: unknown): DType => asNode(x).dtype
const errorOf = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return e.error._tag
    throw e
  }
  return 'none'
}

type Unary = ((x: unknown) => AnyExpr) & { readonly primitive: AnyPrimitive }
type Binary = ((a: unknown, b: unknown) => AnyExpr) & { readonly primitive: AnyPrimitive }
const isOp = (x: unknown): x is Unary & Binary => typeof x === 'function' && 'primitive' in x
const shipped = Object.values({ ...numbers } as Readonly<Record<string, unknown>>).filter(isOp)
const unaries = shipped.filter((f) => f.primitive.args.length === 1 && f.primitive.name !== 'stopGradient')
const binaries = shipped.filter((f) => f.primitive.args.length === 2)
const keepsIntegers = new Set([...integerUnaries, ...integerBinaries].map((p) => p.name))
const keepsBools = new Set(['abs', 'maximum', 'minimum'])

describe('dtypes', () => {
  it('every function is here', () => {
    const withParams = ['cast', 'polygamma']
    const names = new Set(shipped.map((f) => f.primitive.name))
    expect([...names].sort()).toEqual(
      Object.keys(elementwise)
        .filter((name) => !withParams.includes(name))
        .sort(),
    )
    expect(unaries.length + binaries.length).toBeGreaterThan(40)
  })
  for (const f of unaries)
    it(`${f.primitive.name}: f32 and f64 stay; integers ${keepsIntegers.has(f.primitive.name) ? 'stay' : 'become f64'}`, () => {
      const whole = keepsIntegers.has(f.primitive.name) ? 'i32' : 'f64'
      const flags = keepsBools.has(f.primitive.name) ? 'bool' : whole
      expect((['f64', 'f32', 'i32', 'bool'] as const).map((d) => dtypeOf(f(of(d, [1, 0]))))).toEqual(['f64', 'f32', whole, flags])
      expect(dtypeOf(f(1))).toBe('f64')
      expect(asNode(f([[1, 0]])).shape).toEqual([1, 2])
    })
  for (const f of binaries)
    it(`${f.primitive.name}: promoted; a number beside an array takes its dtype`, () => {
      const whole = keepsIntegers.has(f.primitive.name) ? 'i32' : 'f64'
      const pairs: readonly (readonly [DType, DType, DType])[] = [
        ['f32', 'f32', 'f32'],
        ['f32', 'f64', 'f64'],
        ['i32', 'f32', 'f32'],
        ['bool', 'f64', 'f64'],
        ['i32', 'i32', whole],
        ['bool', 'bool', keepsBools.has(f.primitive.name) ? 'bool' : whole],
        ['bool', 'i32', whole],
      ]
      for (const [a, b, y] of pairs) {
        expect(dtypeOf(f(of(a, [1, 1]), of(b, [1, 1])))).toBe(y)
        expect(dtypeOf(f(of(b, [1, 1]), of(a, [1, 1])))).toBe(y)
      }
      expect(dtypeOf(f(of('f32', [1]), 3))).toBe('f32')
      expect(dtypeOf(f(3, of('f32', [1])))).toBe('f32')
      expect(dtypeOf(f(3, 4))).toBe('f64')
      // A fraction does not become an integer; functions of floats take both as f64.
      expect(errorOf(() => f(of('i32', [1]), 0.5))).toBe(whole === 'i32' ? 'DTypeMismatch' : 'none')
    })
  for (const f of binaries)
    it(`${f.primitive.name} broadcasts, and names a clash`, () => {
      expect(asNode(f([[1], [2]], [1, 2, 3])).shape).toEqual([2, 3])
      expect(errorOf(() => f([1, 2], [1, 2, 3]))).toBe('ShapeMismatch')
    })
  it('a primitive refuses a dtype that it does not know', () => {
    const i32 = asNode(of('i32', [1]).node)
    expect(errorOf(() => op.exp.primitive.shapeRule([i32.aval], {}))).toBe('DTypeMismatch')
    expect(errorOf(() => op.where.primitive.shapeRule([i32.aval, i32.aval, i32.aval], {}))).toBe('DTypeMismatch')
  })
  it('anything that is not a number or an array is a BadInput', () => {
    for (const x of ['1', null, undefined, {}]) expect(errorOf(() => op.exp(x))).toBe('BadInput')
    expect(errorOf(() => op.polygamma(1.5, 2))).toBe('BadInput')
    expect(errorOf(() => op.polygamma(-1, 2))).toBe('BadInput')
  })
  it('integers: wrapping, the sign of the divisor, 0 for division by 0', () => {
    const [a, b] = [of('i32', [7, -7, 2147483647, -2147483648]), of('i32', [3, 3, 1, 0])]
    expect(value(add(a, b))).toEqual([10, -4, -2147483648, -2147483648])
    expect(value(op.mod(a, b))).toEqual([1, 2, 0, 0])
    expect(value(op.abs(a))).toEqual([7, 7, 2147483647, -2147483648])
    expect(value(op.sign(a))).toEqual([1, -1, 1, -1])
    expect(value(op.maximum(a, b))).toEqual([7, 3, 2147483647, 0])
    // 123456789 * 987654321 is beyond 2^53: the low 32 bits, exactly.
    expect(value(mul(of('i32', [123456789]), of('i32', [987654321])))).toEqual([-67153019])
    expect(value(square(of('i32', [123456789])))).toEqual([-1757895751])
  })
})

describe('a literal exponent', () => {
  it('needs no general power for 1, 2, 3, 4, -1, -2 and 0.5', () => {
    const x = of('f64', [4])
    const named = [1, 2, -1, 0.5, 3, 4, -2].map((n) => asNode(pow(x, n)).prim?.name)
    expect(named).toEqual([undefined, 'square', 'reciprocal', 'sqrt', 'mul', 'square', 'square'])
    expect([1, 2, -1, 0.5, 3, 4, -2, 0, 5].map((n) => value(pow(x, n))[0])).toEqual([4, 16, 0.25, 2, 64, 256, 0.0625, 1, 1024])
    expect(asNode(pow(x, 5)).args[1]!.kind).toBe(CONST)
    // at the ends of the range as pow has it: what vanishes, what overflows, signs
    const ends = [
      0,
      -0,
      1e-200,
      -1e-200,
      1e-310,
      1e200,
      -1e200,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
      -1.7,
      1e-150,
      3e80,
    ]
    for (const n of [2, 3, 4, -1, -2])
      ends.forEach((e) => {
        const [got, want] = [value(pow(of('f64', [e]), n))[0]!, e ** n]
        if (Object.is(got, want)) return
        expect(Math.abs(got - want), `${e} to the ${n}: ${got}`).toBeLessThanOrEqual(4 * Number.EPSILON * Math.abs(want))
      })
    expect(dtypeOf(pow(of('i32', [3]), 2))).toBe('f64')
    expect(dtypeOf(pow(of('f32', [3]), 2))).toBe('f32')
    expect(asNode(pow(2, 1)).shape).toEqual([])
  })
  const powers: readonly (readonly [x: number, n: number, derivatives: readonly number[]])[] = [
    [0, 0, [1, 0, 0, 0]],
    [0, 1, [0, 1, 0, 0]],
    [0, 2, [0, 0, 2, 0]],
    [0, 3, [0, 0, 0, 6]],
    [0, 4, [0, 0, 0, 0]],
    [-2, 0, [1, 0, 0, 0]],
    [-2, 2, [4, -4, 2, 0]],
    [-2, 3, [-8, 12, -12, 6]],
    [-2, -1, [-0.5, -0.25, -0.25, -0.375]],
    [-2, -2, [0.25, 0.25, 0.375, 0.75]],
    [4, 1.5, [8, 3, 0.375, -0.046875]],
  ]
  for (const [x, n, want] of powers)
    it(`x^${n} at ${x}: value and three derivatives`, () => {
      expect(derivatives((e) => pow(e, n), x, 3).map((v) => v + 0)).toEqual(want)
      expect(derivatives((e) => pow(e, n), x, 3, 'f32').map((v) => v + 0)).toEqual(want)
    })
  it('an exponent that is data has the same derivative by the base, at 0 too', () => {
    for (const n of [0, 1, 2, 3])
      for (const x of [0, -2, 2]) {
        const args = [arrayOf([], 'f64', () => x), arrayOf([], 'f64', () => n)]
        const g = graphOf(args, ([a, b]) => pow(a, b))
        expect(
          backward(
            g,
            args,
            arrayOf([], 'f64', () => 1),
          )[0]!.data[0]! + 0,
        ).toBe((n === 0 ? 0 : n * x ** (n - 1)) + 0)
      }
  })
})

describe('a guarded function: exactly 0 behind the guard, in every mode and order', () => {
  const positive = (f: (x: AnyExpr) => AnyExpr) => (x: AnyExpr) => where(gt(x, 0), f(x), 0)
  const cases: Readonly<Record<string, readonly [(x: AnyExpr) => AnyExpr, at: readonly number[]]>> = {
    sqrt: [positive(sqrt), [0, -1]],
    'sqrt, condition turned': [(x) => where(lt(x, 1e-9), 0, sqrt(x)), [0, -1]],
    log: [positive(log), [0, -1]],
    'x log x': [positive((x) => mul(x, log(x))), [0, -1]],
    'x (log x - log 2)': [positive((x) => mul(sub(log(x), log(2)), x)), [0, -1]],
    '(log x)^2': [positive((x) => square(log(x))), [0, -1]],
    'x sqrt x': [positive((x) => mul(x, sqrt(x))), [0, -1]],
    reciprocal: [positive(op.reciprocal), [0]],
    '1 / x': [positive((x) => div(1, x)), [0]],
    rsqrt: [positive(op.rsqrt), [0, -1]],
    cbrt: [positive(op.cbrt), [0]],
    'x^0.3': [positive((x) => pow(x, 0.3)), [0, -1]],
    'x^-2': [positive((x) => pow(x, -2)), [0]],
    'x^x': [positive((x) => pow(x, x)), [0, -1]],
    asin: [(x) => where(lt(x, 1), op.asin(x), 0), [1, 2]],
    acos: [(x) => where(lt(x, 1), op.acos(x), 0), [1, 2]],
    acosh: [(x) => where(gt(x, 1), op.acosh(x), 0), [1, 0]],
    atanh: [(x) => where(lt(x, 1), op.atanh(x), 0), [1, 2]],
    log1p: [(x) => where(gt(x, -1), log1p(x), 0), [-1, -2]],
    lgamma: [positive(op.lgamma), [0, -1]],
    digamma: [positive(op.digamma), [0, -1]],
    xlogy: [positive((x) => op.xlogy(2, x)), [0, -1]],
    hypot: [positive((x) => op.hypot(x, 0)), [0]],
    'exp that overflows': [(x) => where(lt(x, 100), exp(x), 0), [1000]],
    'expm1 that overflows': [(x) => where(lt(x, 100), expm1(x), 0), [1000]],
    'sinh that overflows': [(x) => where(lt(x, 100), op.sinh(x), 0), [1000]],
    mod: [positive((x) => op.mod(1, x)), [0]],
  }
  for (const [name, [f, points]] of Object.entries(cases))
    it(name, () => {
      for (const x of points) {
        expect(derivatives(f, x, 2).map((v) => v + 0)).toEqual([0, 0, 0])
        const args = [arrayOf([], 'f64', () => x)]
        const one = arrayOf([], 'f64', () => 1)
        expect(
          forward(
            graphOf(args, ([e]) => f(e!)),
            args,
            [one],
          ).data[0]! + 0,
        ).toBe(0)
      }
    })
  it('through the partials that mixed mode stores', () => {
    const args = [arrayOf([2], 'f64', (i) => 4 * i)]
    const g = graphOf(args, ([x]) => where(gt(reshape(x!, [2, 1]), 0), reshape(sqrt(mul(x!, 4)), [2, 1]), 0))
    const [output] = regionized([g.output], g.inputs) as readonly [Node]
    expect(linearize([output]).nodes.some((n) => n.prim === mapPrimitive)).toBe(true)
    const [xBar] = backward(
      { inputs: g.inputs, output },
      args,
      arrayOf([2, 1], 'f64', () => 1),
    )
    expect(Array.from(xBar!.data)).toEqual([0, 0.5])
  })
  it('softplus written by hand: the branch that overflows is silent', () => {
    const f = (x: AnyExpr): AnyExpr => where(gt(x, 30), x, log1p(exp(x)))
    expect(derivatives(f, 1000, 2)).toEqual([1000, 1, 0])
  })
  it('where the cotangent is 0 but not constant, its own derivative still counts', () => {
    // (sqrt(x) - 1)^2 at 1: f' = 0, f'' = 1/2, f''' = -3/4.
    expect(derivatives((x) => square(sub(sqrt(x), 1)), 1, 3).map((v) => v + 0)).toEqual([0, 0, 0.5, -0.75])
    // (log x)^2 at 1: f'' = 2.
    expect(derivatives((x) => square(log(x)), 1, 2).map((v) => v + 0)).toEqual([0, 0, 2])
  })
  it('an infinite derivative that nothing masks is told', () => {
    expect(derivatives(sqrt, 0, 1)).toEqual([0, Number.POSITIVE_INFINITY])
    expect(derivatives(log, 0, 1)).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
  })
})

describe('where', () => {
  it('takes each branch where its condition says, cotangents too', () => {
    const c = arrayOf([2, 2], 'bool', (i) => i % 2)
    const args = [c, arrayOf([2], 'f64', (i) => i + 1), arrayOf([], 'f64', () => 9)]
    const g: Graph = graphOf(args, ([k, a, b]) => where(k, a, b))
    expect(Array.from(evaluate([g.output], g.inputs, args)[0]!.data)).toEqual([9, 2, 9, 2])
    const [none, a, b] = backward(
      g,
      args,
      arrayOf([2, 2], 'f64', (i) => 10 ** i),
    )
    expect([Array.from(none!.data), Array.from(a!.data), Array.from(b!.data)]).toEqual([[0, 0, 0, 0], [0, 1010], [101]])
  })
  it('never multiplies with the mask: an infinite cotangent does not leak', () => {
    const args = [arrayOf([2], 'bool', (i) => i), arrayOf([2], 'f64', () => 1), arrayOf([2], 'f64', () => 2)]
    const g = graphOf(args, ([c, a, b]) => where(c, a, b))
    const [, a, b] = backward(
      g,
      args,
      arrayOf([2], 'f64', () => Number.POSITIVE_INFINITY),
    )
    expect([Array.from(a!.data), Array.from(b!.data)]).toEqual([
      [0, Number.POSITIVE_INFINITY],
      [Number.POSITIVE_INFINITY, 0],
    ])
  })
  it('accepts booleans, numbers and arrays as the condition; integers and booleans as branches', () => {
    expect(value(where([1, 0, 2], 1, [7, 8, 9]))).toEqual([1, 8, 1])
    expect(value(where(true, [1, 2], 3))).toEqual([1, 2])
    expect(dtypeOf(where([1, 0], of('i32', [1, 2]), 5))).toBe('i32')
    expect(dtypeOf(where([1, 0], of('f32', [1, 2]), of('f64', [1, 2])))).toBe('f64')
    expect(dtypeOf(where([1, 0], of('bool', [1, 0]), of('bool', [1, 0])))).toBe('bool')
    expect(errorOf(() => where([1, 0], [1, 2, 3], 0))).toBe('ShapeMismatch')
  })
})

describe('stopGradient', () => {
  it('is the identity, with derivative 0, also inside a product', () => {
    expect(derivatives((x) => op.stopGradient(square(x)) as AnyExpr, 3, 1)).toEqual([9, 0])
    expect(derivatives((x) => mul(x, op.stopGradient(x) as AnyExpr), 3, 2)).toEqual([9, 3, 0])
  })
  it('goes through trees and leaves integers alone', () => {
    const k = of('i32', [1])
    const out = op.stopGradient({ a: of('f32', [1]), b: [k, { c: 2 }] }) as { a: AnyExpr; b: readonly [AnyExpr, { c: AnyExpr }] }
    expect([asNode(out.a).prim?.name, asNode(out.b[0]) === k.node, dtypeOf(out.b[1].c)]).toEqual(['stopGradient', true, 'f64'])
  })
})

describe('compositions', () => {
  const cdf = (x: number): number => value(op.erfc(-x * Math.SQRT1_2))[0]! / 2
  const functions: Readonly<Record<string, readonly [(x: AnyExpr) => AnyExpr, (x: number) => number]>> = {
    leakyRelu: [(x) => op.leakyRelu(x), (x) => (x > 0 ? x : 0.01 * x)],
    'leakyRelu, slope 0.3': [(x) => op.leakyRelu(x, { slope: 0.3 }), (x) => (x > 0 ? x : 0.3 * x)],
    elu: [(x) => op.elu(x), (x) => (x > 0 ? x : Math.expm1(x))],
    'elu, alpha 2': [(x) => op.elu(x, { alpha: 2 }), (x) => (x > 0 ? x : 2 * Math.expm1(x))],
    selu: [op.selu, (x) => 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * Math.expm1(x))],
    gelu: [(x) => op.gelu(x), (x) => x * cdf(x)],
    'gelu, approximate': [
      (x) => op.gelu(x, { approximate: true }),
      (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
    ],
    silu: [op.silu, (x) => x / (1 + Math.exp(-x))],
    mish: [op.mish, (x) => x * Math.tanh(Math.log1p(Math.exp(x)))],
    softsign: [op.softsign, (x) => x / (1 + Math.abs(x))],
    logSigmoid: [op.logSigmoid, (x) => -Math.log1p(Math.exp(-x))],
    relu6: [(x) => op.relu6(mul(x, 3)), (x) => Math.min(Math.max(3 * x, 0), 6)],
    degrees: [op.degrees, (x) => (x * 180) / Math.PI],
    radians: [op.radians, (x) => (x * Math.PI) / 180],
    clamp: [(x) => op.clamp(x, -1, 1.5), (x) => Math.min(Math.max(x, -1), 1.5)],
    fma: [(x) => op.fma(x, x, 3), (x) => x * x + 3],
  }
  for (const [name, [f, plain]] of Object.entries(functions))
    it(`${name}: value and two derivatives`, () => {
      for (const x of [-2.3, -0.7, 0.4, 1.2, 2.6]) {
        const [y, dy, ddy] = derivatives(f, x, 2) as [number, number, number]
        expect(Math.abs(y - plain(x))).toBeLessThan(1e-14 * Math.max(1, Math.abs(y)))
        expect(Math.abs(dy - fivePoints((h) => plain(x + h), 1e-3))).toBeLessThan(1e-9)
        expect(Math.abs(ddy - fivePoints((h) => derivatives(f, x + h, 1)[1]!, 1e-3))).toBeLessThan(1e-9)
        expect(derivatives(f, x, 0, 'f32')[0]).toBeCloseTo(y, 4)
      }
    })
  it('their conventions at the kinks', () => {
    expect(derivatives((x) => op.leakyRelu(x, { slope: 0.25 }), 0, 1)).toEqual([0, 0.25])
    expect(derivatives((x) => op.elu(x), 0, 1)).toEqual([0, 1])
    expect(derivatives((x) => op.clamp(x, 0, 1), 1, 1)).toEqual([1, 0.5])
    expect(derivatives(op.softsign, 0, 1)).toEqual([0, 1])
  })
  it('elu, gelu and logSigmoid far out', () => {
    expect(derivatives((x) => op.elu(x), 1000, 1)).toEqual([1000, 1])
    const [y, dy] = derivatives((x) => op.gelu(x), -10, 1) as [number, number]
    expect(y).toBeCloseTo(-7.61985302416e-23, 33)
    expect(Math.abs(dy / -7.693e-22 - 1)).toBeLessThan(0.01)
    expect(derivatives(op.logSigmoid, -1000, 1)).toEqual([-1000, 1])
  })
  it('clamp with one bound: null or nothing is none', () => {
    for (const none of [null, undefined]) {
      expect(value(op.clamp([-1, 0.5, 2], none, 1))).toEqual([-1, 0.5, 1])
      expect(value(op.clamp([-1, 0.5, 2], 0, none))).toEqual([0, 0.5, 2])
    }
    expect(value(op.clamp([-1, 0.5, 2], 0))).toEqual([0, 0.5, 2])
    expect(value(op.clamp(3, null, 1))).toEqual(value(op.clamp(1, 0, null)))
    expect(value(op.clamp([[], []], null, 1))).toEqual(value(op.clamp([[], []], 0, 1)))
    expect(value(op.clamp([[5], [-5]], [[0, 1]], null))).toEqual(value(op.maximum([[5], [-5]], [[0, 1]])))
    expect([dtypeOf(op.clamp(of('f32', [1]), null, 1)), dtypeOf(op.clamp(of('i32', [1]), 0, null))]).toEqual(['f32', 'i32'])
    expect(derivatives((x) => op.clamp(x, null, 1), 1, 1)).toEqual([1, 0.5])
    expect(derivatives((x) => op.clamp(x, 0, null), 2, 1)).toEqual([2, 1])
  })
  it('clamp without a bound is x: numbers, lists, every dtype and shape, and its derivative', () => {
    for (const none of [null, undefined]) {
      expect(value(op.clamp([-1, 0.5, NaN], none, none))).toEqual([-1, 0.5, NaN])
      expect(value(op.clamp(2, none, none))).toEqual([2])
      expect(value(op.clamp([[], []], none, none))).toEqual([])
      for (const dtype of ['f64', 'f32', 'i32', 'bool'] as const) {
        const x = of(dtype, [0, 1])
        expect(dtypeOf(op.clamp(x as never, none, none))).toBe(dtype)
        expect(value(op.clamp(x as never, none, none))).toEqual([0, 1])
      }
      expect(derivatives((x) => op.clamp(x, none, none), 7, 1)).toEqual([7, 1])
      // A number written out has no dtype of its own, as ever.
      expect(dtypeOf(op.add(op.clamp(2, none, none), of('f32', [1])))).toBe('f32')
      expect(() => op.clamp('2' as never, none, none)).toThrow(/clamp: '2' is not an expr/)
    }
  })
  it('clamp and fma promote all three, and keep integers', () => {
    expect(dtypeOf(op.clamp(of('f32', [1]), 0, 1))).toBe('f32')
    expect(dtypeOf(op.clamp(of('f32', [1]), of('f64', [0]), 1))).toBe('f64')
    expect(value(op.clamp(of('i32', [-5, 5]), 0, 3))).toEqual([0, 3])
    expect(value(op.fma(of('i32', [2, 3]), 4, 1))).toEqual([9, 13])
  })
})

describe('comparisons and logic', () => {
  const numbers = [-1, 0, 1, Number.NaN, Number.POSITIVE_INFINITY]
  const tables: readonly (readonly [Binary, (a: number, b: number) => boolean])[] = [
    [op.eq, (a, b) => a === b],
    [op.ne, (a, b) => a !== b],
    [op.lt, (a, b) => a < b],
    [op.le, (a, b) => a <= b],
    [op.gt, (a, b) => a > b],
    [op.ge, (a, b) => a >= b],
  ]
  for (const [f, holds] of tables)
    it(f.primitive.name, () => {
      const column = numbers.map((x) => [x])
      expect(value(f(column, numbers))).toEqual(numbers.flatMap((a) => numbers.map((b) => Number(holds(a, b)))))
      for (const d of ['f64', 'f32', 'i32', 'bool'] as const) expect(dtypeOf(f(of(d, [1]), of(d, [0])))).toBe('bool')
      expect(value(f(-0, 0))).toEqual([Number(holds(0, 0))])
      expect(errorOf(() => f(of('i32', [1]), 0.5))).toBe('DTypeMismatch')
    })
  it('isnan and isfinite', () => {
    expect(value(op.isnan(numbers))).toEqual([0, 0, 0, 1, 0])
    expect(value(op.isfinite(numbers))).toEqual([1, 1, 1, 0, 0])
  })
  it('and, or, not; numbers count as true unless 0', () => {
    const [a, b] = [
      [[0], [1]],
      [0, 2],
    ]
    expect(value(op.and(a, b))).toEqual([0, 0, 0, 1])
    expect(value(op.or(a, b))).toEqual([0, 1, 1, 1])
    expect(value(op.not(b))).toEqual([1, 0])
    expect(value(op.not([true, false]))).toEqual([0, 1])
    expect(dtypeOf(op.and(1, 0))).toBe('bool')
  })
  it('no derivative passes through one: x (x > 0) is linear in its first factor only', () => {
    expect(derivatives((x) => mul(x, op.cast(gt(x, 0), 'f64')), 2, 1)).toEqual([2, 1])
    expect(derivatives((x) => neg(op.cast(gt(x, 0), 'f64')), 2, 1)).toEqual([-1, 0])
  })
})

describe('strongMul on the CPU backend', () => {
  const a = [0, -0, 0, 2, -3, Number.NaN, Number.POSITIVE_INFINITY, 0, 5]
  const b = [Number.POSITIVE_INFINITY, Number.NaN, 3, 4, Number.NEGATIVE_INFINITY, 0, 2, -7, 0]
  for (const dtype of ['f64', 'f32'] as const)
    it(`${dtype}: the vector kernel is the meaning, bit for bit`, () => {
      const run = compileSync((x: AnyExpr, y: AnyExpr) => op.strongMul(x, y), makeCpu()) as (...xs: readonly unknown[]) => {
        readonly data: ArrayLike<number>
      }
      const got = Array.from(run(of(dtype, a), of(dtype, b)).data)
      expect(got).toEqual(a.map((x, i) => (x === 0 ? x : x * b[i]!)))
      expect(got).toEqual(value(op.strongMul(of(dtype, a), of(dtype, b))))
    })
})
