// What rules say of their primitives as data, held against the primitives' meanings; and that the derivatives follow from it.
import { describe, expect, it } from 'vitest'
import { evaluateNodes } from '../../src/backends/reference/index.js'
import type { Form } from '../../src/core/calculus/rule.js'
import { aval, isFloat } from '../../src/core/graph/aval.js'
import { applyAny, input } from '../../src/core/graph/expr.js'
import type { NDArray } from '../../src/core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../../src/core/graph/primitive.js'
import { coreRegistry, linearRule, mul, optOut, rule, scalarRule, unary } from '../../src/index.js'
import { array, random } from './values.js'

const names = (tag: Form['_tag'] | undefined): readonly string[] =>
  [...coreRegistry.rules.values()].flatMap((r) => (r.form?._tag === tag ? [r.primitive.name] : [])).sort()
const formed = (tag: Form['_tag']) => names(tag).map((name): [string, AnyPrimitive] => [name, coreRegistry.rules.get(name)!.primitive])

const draw = (sample: Sample, next: () => number): readonly NDArray[] =>
  sample.args.map((a) => {
    const dtype = a.dtype ?? 'f64'
    const [low, high] = a.domain ?? [-2, 2]
    return array(a.shape, dtype, (i) => {
      const x = a.values?.[i] ?? low + (high - low) * next()
      return isFloat(dtype) ? x : Math.floor(x)
    })
  })
const apply = (p: AnyPrimitive, args: readonly NDArray[], params: unknown): readonly number[] => {
  const inputs = args.map((a) => input(aval(a.shape, a.dtype)))
  return applyAny(p, inputs, params).flatMap((y) => Array.from(evaluateNodes([y], new Map(inputs.map((n, i) => [n, args[i]!])))[0]!.data))
}
/** s x + t y in the positions `at`; x elsewhere. */
const combined = (s: number, x: readonly NDArray[], t: number, y: readonly NDArray[], at: (i: number) => boolean): readonly NDArray[] =>
  x.map((a, i) => (at(i) ? array(a.shape, a.dtype, (k) => s * a.data[k]! + t * y[i]!.data[k]!) : a))
/** The largest difference between f(s x + t y) and s f(x) + t f(y), against the size of f's results. */
const deviation = (p: AnyPrimitive, sample: Sample, at: (i: number) => boolean): number => {
  const next = random(7)
  const drawn = [draw(sample, next), draw(sample, next)] as const
  // What is not combined is the same in both.
  const [x, y] = [drawn[0], drawn[0].map((a, i) => (at(i) ? array(a.shape, a.dtype, () => 4 * next() - 2) : a))]
  const [s, t] = [1.75, -0.5]
  const got = apply(p, combined(s, x, t, y, at), sample.params)
  const [fx, fy] = [apply(p, x, sample.params), apply(p, y, sample.params)]
  const scale = Math.max(1, ...fx.map(Math.abs), ...fy.map(Math.abs))
  return Math.max(0, ...got.map((g, i) => Math.abs(g - (s * fx[i]! + t * fy[i]!)) / scale))
}
/** The samples over floats: integers are not scaled by fractions. */
const ofFloats = (p: AnyPrimitive): readonly Sample[] => p.samples.filter((s) => s.args.some((_, i) => floats(p, s)(i)))
const floats = (p: AnyPrimitive, sample: Sample) => (i: number) =>
  p.args[p.variadic ? 0 : i] === 'float' && isFloat(sample.args[i]!.dtype ?? 'f64')

describe('forms', () => {
  it('are those that the rules were written in', () => {
    expect(names('linear')).toEqual(
      [
        ...[
          'avgPool',
          'avgPoolInput',
          'broadcastTo',
          'concat',
          'cumsum',
          'dft',
          'dynamicSlice',
          'dynamicSliceAdd',
          'dynamicUpdateSlice',
          'gather',
        ],
        ...[
          'pad',
          'poolGather',
          'realDft',
          'realDftTransposed',
          'reshape',
          'scatterAdd',
          'scatterAddAlong',
          'setAt',
          'slice',
          'sliceAdd',
          'sum',
          'takeAlongAxis',
        ],
        ...['transpose', 'unpool'],
      ].sort(),
    )
    expect(names('bilinear')).toEqual(['conv', 'convInput', 'convKernel', 'matmul'])
    expect(names('constant')).toEqual(
      [
        ...['bitwiseAnd', 'bitwiseOr', 'bitwiseXor', 'bitwiseNot', 'leftShift', 'rightShift', 'rightShiftLogical', 'shiftBy'],
        ...['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'isnan', 'isfinite', 'logicalAnd', 'logicalOr', 'logicalNot', 'sign', 'floor', 'ceil'],
        ...['round', 'stopGradient', 'iota', 'searchsorted', 'argmax', 'argmin'],
      ].sort(),
    )
    // What shows a value is an identity as a whole.
    expect(names('partials').filter((name) => coreRegistry.rules.get(name)!.primitive.class !== 'elementwise')).toEqual(['tap'])
    expect(names('partials')).toEqual(expect.arrayContaining(['add', 'mul', 'exp', 'pow', 'tanh', 'atan2']))
  })

  it.each(formed('linear'))('%s is linear in its float arguments together', (_name, p) => {
    expect(ofFloats(p).length).toBeGreaterThan(0)
    for (const sample of ofFloats(p)) expect(deviation(p, sample, floats(p, sample)), sample.note).toBeLessThan(1e-12)
  })

  it.each(formed('bilinear'))('%s is linear in each argument, and not in both together', (_name, p) => {
    expect(ofFloats(p).length).toBeGreaterThan(0)
    for (const sample of ofFloats(p))
      for (const k of [0, 1])
        expect(
          deviation(p, sample, (i) => i === k),
          sample.note,
        ).toBeLessThan(1e-12)
    expect(Math.max(...ofFloats(p).map((sample) => deviation(p, sample, floats(p, sample))))).toBeGreaterThan(0.01)
  })

  it('of one result that are written out are linear, to the last bits, where this says why it is not said', () => {
    const why: Readonly<Record<string, string>> = {
      finiteUnless: 'what it takes out of a tangent is a hard zero, and so is what is infinite there',
      where: 'what it does not choose is a hard zero',
    }
    const found = [...coreRegistry.rules.values()].flatMap(({ form, primitive: p }) => {
      if (form !== undefined || p.multi) return []
      const own = ofFloats(p).filter((s) => isFloat(applied(p, s)))
      return own.length > 0 && own.every((s) => deviation(p, s, floats(p, s)) < 1e-12) ? [p.name] : []
    })
    expect(found.sort()).toEqual(Object.keys(why))
  })

  it('are lost where the derivatives are replaced, and not where vmap alone is', () => {
    const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
    const own = linearRule(twice.primitive, { transpose: (yBar) => [twice(yBar)], batch: ([x]) => twice(x) })
    expect(own.form!._tag).toBe('linear')
    const registry = coreRegistry.with(own)
    const formAfter = (r: typeof own) => registry.with(r).rules.get('own/twice')!.form?._tag
    expect(formAfter(rule(twice.primitive, { frule: (_xs, [dx], _params, { y }) => [y, dx] }))).toBeUndefined()
    expect(formAfter(rule(twice.primitive, { batch: ([x]) => twice(x) }))).toBe('linear')
    expect(formAfter(scalarRule(twice, () => [2]))).toBe('partials')
    expect(optOut(twice, own, { when: () => true, via: ({ x: [x] }) => mul(x, 2) }).form).toBeUndefined()
  })
})

const applied = (p: AnyPrimitive, sample: Sample) =>
  applyAny(
    p,
    sample.args.map((a) => input(aval(a.shape, a.dtype ?? 'f64'))),
    sample.params,
  )[0]!.dtype
