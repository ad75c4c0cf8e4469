// What a rule returns that does not belong there: one error each, which names the primitive, the facet and the place.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type Loose = (...xs: readonly unknown[]) => unknown
const { applyPrimitive, elementwise, multiRule, primitive, rule, scalarRule, multiScalarRule, multiLinearRule, unary } =
  cd as unknown as Readonly<Record<string, Loose>>
const { cast, cos, sin, sum, mul, split, stack } = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => cd.AnyExpr>>

type Op = cd.AnyPrimitive
const same = (name: string, meaning = ([x]: readonly cd.NDArray[], _p: unknown, [y]: readonly cd.NDArray[]) => y!.data.set(x!.data)): Op =>
  primitive!({ name, family: 'mine', args: ['float'], shapeRule: ([x]: readonly cd.Aval[]) => x, meaning, source: 'definition' }) as Op
const own = same('same')
const halves = primitive!({
  name: 'halves',
  family: 'mine',
  args: ['float'],
  multi: true,
  shapeRule: ([x]: readonly cd.Aval[]) => [0, 1].map(() => cd.aval([x!.shape[0]! / 2], x!.dtype)),
  expand: ([x]: readonly cd.AnyExpr[]) => split!(x, 2),
  source: 'definition',
}) as Op
const twoOf = (a: unknown, b: unknown): Op =>
  (elementwise!({ name: 'twoOf', args: ['float', 'float'], scalar: (x: number) => x, source: String([a, b]) }) as { primitive: Op })
    .primitive
const pair = twoOf(0, 1)
const wave = unary!({ name: 'wave', scalar: Math.sin, source: 'definition' }) as { primitive: Op }

const apply = (p: Op, ...xs: readonly unknown[]): cd.AnyExpr => (applyPrimitive!(p, xs) as readonly cd.AnyExpr[])[0]!
const all = (p: Op, ...xs: readonly unknown[]): readonly cd.AnyExpr[] => applyPrimitive!(p, xs) as readonly cd.AnyExpr[]
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    return (e as Error).message
      .split('\n')
      .filter((line) => !/^ {2}(?:in|at) /.test(line))
      .join('\n')
  }
  return 'nothing was raised'
}
const withRule = (r: unknown): cd.Codual => cd.makeCodual(cd.coreRegistry.with(r as cd.Rule), cd.cpu())
const loose = (c: cd.Codual) => c as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => Loose>>
const x = [1, 2, 3, 4]
const gradOf = (r: unknown, f: (v: cd.AnyExpr) => cd.AnyExpr = (v) => apply(own, v)): string =>
  message(() => loose(withRule(r)).grad!((v: cd.AnyExpr) => sum!(f(v)))(x))
const jvpOf = (r: unknown, f: (v: cd.AnyExpr) => cd.AnyExpr = (v) => apply(own, v)): string =>
  message(() => loose(withRule(r)).jvp!(f)(x, x))
const vmapOf = (r: unknown): string => message(() => loose(withRule(r)).vmap!((v: cd.AnyExpr) => apply(own, v))([x, x, x]))
const pulling = (pullback: unknown, value?: unknown) =>
  rule!(own, { rrule: (_xs: unknown, _p: unknown, { y }: { y: unknown }) => [value ?? y, pullback] })
const pushing = (dy: unknown, value?: unknown) =>
  rule!(own, { frule: (_xs: unknown, _dxs: unknown, _p: unknown, { y }: { y: unknown }) => [value ?? y, dy] })

describe('a pullback returns', () => {
  it.each([
    ['a number', () => [3], 'the cotangent is 3, it must be an expression, f64 [4].'],
    ['an array', () => [x], 'the cotangent is [1, 2, 3, 4], it must be an expression, f64 [4].'],
    ['nothing for it', () => [undefined], 'the cotangent is undefined, it must be an expression, f64 [4].'],
    ['a thunk of a number', () => [cd.thunk(() => 3 as never)], 'the cotangent is 3, it must be an expression, f64 [4].'],
    ['nothing', () => undefined, 'it returned undefined as its list of cotangents, there is 1 argument.'],
    ['no list', (yBar: unknown) => yBar, 'it returned an expression (f64 [4]) as its list of cotangents, there is 1 argument.'],
    ['too many', (yBar: unknown) => [yBar, yBar], 'it returned 2 cotangents, there is 1 argument.'],
    ['NoTangent', () => [cd.NoTangent], 'the cotangent is NoTangent, but the argument is f64 [4].'],
  ])('%s', (_what, pullback, says) => {
    expect(gradOf(pulling(pullback))).toContain(`BadInput: the pullback of same: ${says}\n  fix: `)
  })
  it.each([
    ['a scalar', (yBar: unknown) => [sum!(yBar)], 'the cotangent is f64 [], it must be f64 [4].'],
    ['a tensor of another shape', () => [cd.tensor([1, 2])], 'the cotangent is f64 [2], it must be f64 [4].'],
    ['what would be summed', (yBar: unknown) => [stack!([yBar, yBar])], 'the cotangent is f64 [2, 4], it must be f64 [4].'],
    ['another dtype', (yBar: unknown) => [cast!(yBar, 'f32')], 'the cotangent is f32 [4], it must be f64 [4]. (f32, f64)'],
  ])('%s', (_what, pullback, says) => {
    expect(gradOf(pulling(pullback))).toContain(`the pullback of same: ${says}\n  fix: `)
  })
  it('a sum with the accumulator that is none', () => {
    const r = pulling((yBar: cd.AnyExpr) => [
      cd.inplaceableThunk(
        () => yBar,
        () => 0 as never,
      ),
    ])
    expect(gradOf(r, (v) => mul!(apply(own, v), apply(own, v)))).toContain(
      'the pullback of same: the cotangent is 0, it must be an expression',
    )
  })
  it('what is wrong for one of several arguments', () => {
    const r = rule!(pair, { rrule: (_xs: unknown, _p: unknown, { y }: { y: unknown }) => [y, (yBar: unknown) => [yBar, 0]] })
    expect(gradOf(r, (v) => apply(pair, v, v))).toContain(
      'the pullback of twoOf: the cotangent of argument 1 is 0, it must be an expression',
    )
  })
  it('for an elementwise primitive what its arguments broadcast to: that is summed', () => {
    const r = rule!(pair, { rrule: (_xs: unknown, _p: unknown, { y }: { y: unknown }) => [y, (yBar: unknown) => [yBar, yBar]] })
    expect(loose(withRule(r)).grad!((v: cd.AnyExpr) => sum!(apply(pair, v, x)))(2)).toMatchObject({ shape: [] })
    const larger = rule!(pair, {
      rrule: (_xs: unknown, _p: unknown, { y }: { y: unknown }) => [y, (yBar: unknown) => [stack!([yBar, yBar]), yBar]],
    })
    expect(gradOf(larger, (v) => apply(pair, v, x))).toContain('the cotangent of argument 0 is f64 [2, 4], it must be f64 [4].')
  })
})

describe('an rrule returns', () => {
  it.each([
    [
      'no pair',
      rule!(own, { rrule: () => cos!(x) }),
      'BadInput: the rrule of same: it returned an expression (f64 [4]), not [y, pullback].',
    ],
    ['no pullback', pulling(3), 'BadInput: the rrule of same: its pullback is 3.'],
    ['a value of another shape', pulling((b: unknown) => [b], sum!(x)), 'the rrule of same: the value is f64 [], it must be f64 [4].'],
    [
      'a value of another dtype',
      pulling((b: unknown) => [b], cast!(x, 'f32')),
      'the rrule of same: the value is f32 [4], it must be f64 [4]. (f32, f64)',
    ],
    [
      'a value that is none',
      pulling((b: unknown) => [b], 7),
      'BadInput: the rrule of same: the value is 7, it must be an expression, f64 [4].',
    ],
  ])('%s', (_what, r, says) => {
    expect(gradOf(r)).toContain(`${says}\n  fix: `)
  })
  it('too few values', () => {
    const r = multiRule!(halves, {
      rrule: (_xs: unknown, _p: unknown, { ys }: { ys: readonly unknown[] }) => [[ys[0]], () => [cd.ZeroTangent]],
    })
    expect(gradOf(r, (v) => all(halves, v)[1]!)).toContain('BadInput: the rrule of halves: it returned 1 values, there are 2 results.')
  })
})

describe('a tensor that a rule returns is a constant', () => {
  const t = cd.tensor([5, 6, 7, 8])
  const on = (r: unknown) => loose(cd.makeCodual(cd.coreRegistry.with(r as cd.Rule), cd.reference()))
  const numbers = (y: unknown): readonly number[] => [...((y as cd.Tensor).data as Float64Array)]
  const total = (v: cd.AnyExpr) => sum!(apply(own, v))
  it('as cotangent, in a thunk, and as what a thunk adds to', () => {
    expect(numbers(on(pulling(() => [t])).grad!(total)(x))).toEqual([5, 6, 7, 8])
    expect(numbers(on(pulling(() => [cd.thunk(() => t)])).grad!(total)(x))).toEqual([5, 6, 7, 8])
    const added = cd.inplaceableThunk(
      () => t,
      () => t,
    )
    expect(numbers(on(pulling(() => [added])).grad!((v: cd.AnyExpr) => cd.add(sum!(v), total(v)))(x))).toEqual([6, 7, 8, 9])
  })
  it('as value and tangent', () => {
    const [y, dy] = on(pushing(t, cd.tensor([1, 1, 1, 1]))).jvp!((v: cd.AnyExpr) => apply(own, v))(x, x) as unknown as readonly unknown[]
    expect([numbers(y), numbers(dy)]).toEqual([
      [1, 1, 1, 1],
      [5, 6, 7, 8],
    ])
  })
  it('as value of a batch', () => {
    const twice = cd.tensor([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ])
    expect(numbers(on(rule!(own, { batch: () => twice })).vmap!((v: cd.AnyExpr) => apply(own, v))([x, x]))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ])
  })
})

describe('an frule returns', () => {
  it.each([
    ['no pair', rule!(own, { frule: () => undefined }), 'BadInput: the frule of same: it returned undefined, not [y, dy].'],
    ['a number', pushing(3), 'BadInput: the frule of same: the tangent is 3, it must be an expression, f64 [4].'],
    [
      'a tensor of another dtype',
      pushing(cd.tensor(x, 'f32')),
      'the frule of same: the tangent is f32 [4], it must be f64 [4]. (f32, f64)',
    ],
    ['a scalar', pushing(cos!(1)), 'the frule of same: the tangent is f64 [], it must be f64 [4].'],
    ['another dtype', pushing(cast!(x, 'f32')), 'the frule of same: the tangent is f32 [4], it must be f64 [4]. (f32, f64)'],
    ['NoTangent', pushing(cd.NoTangent), 'BadInput: the frule of same: the tangent is NoTangent, but the result is f64 [4].'],
    ['another value', pushing(cos!(x), sum!(x)), 'the frule of same: the value is f64 [], it must be f64 [4].'],
  ])('%s', (_what, r, says) => {
    expect(jvpOf(r)).toContain(says)
  })
  it('too many tangents', () => {
    const r = multiRule!(halves, {
      frule: (_xs: unknown, _d: unknown, _p: unknown, { ys }: { ys: readonly unknown[] }) => [ys, [...ys, ys[0]]],
    })
    expect(jvpOf(r, (v) => all(halves, v)[1]!)).toContain('BadInput: the frule of halves: it returned 3 tangents, there are 2 results.')
  })
})

describe('partials are', () => {
  it.each([
    ['no list', () => cos!(x), 'they are an expression (f64 [4]), there is 1 argument.'],
    ['too many', () => [1, 1], 'they are 2, there is 1 argument.'],
    ['a tensor', () => [cd.tensor(x)], 'dy/dx is a tensor (f64 [4]), it must be an expression or a number.'],
    ['missing', () => [undefined], 'dy/dx is undefined, it must be an expression or a number.'],
  ])('%s', (_what, partials, says) => {
    const r = scalarRule!(wave, partials)
    const f = (v: cd.AnyExpr) => (wave as unknown as (v: cd.AnyExpr) => cd.AnyExpr)(v)
    expect(gradOf(r, f)).toContain(`BadInput: the partials of wave: ${says}\n  fix: `)
    expect(jvpOf(r, f)).toContain(`BadInput: the partials of wave: ${says}\n  fix: `)
  })
  it('of the wrong number of rows, or of a wrong entry', () => {
    const both = elementwise!({
      name: 'both',
      args: ['float'],
      results: ['float', 'float'],
      scalar: (v: number) => [v, v],
      source: 'definition',
    }) as (v: unknown) => readonly cd.AnyExpr[]
    const f = (v: cd.AnyExpr) => both(v)[0]!
    expect(
      gradOf(
        multiScalarRule!(both, () => [[1]]),
        f,
      ),
    ).toContain('the partials of both: they are 1, there are 2 results.')
    expect(
      gradOf(
        multiScalarRule!(both, () => [[1], ['1']]),
        f,
      ),
    ).toContain("the partials of both: dy1/dx is '1', it must be")
  })
  it('for one result only, where there are several', () => {
    expect(message(() => scalarRule!(halves, () => [1]))).toBe(
      'BadInput: scalarRule(halves): it has several results.\n  fix: write multiScalarRule(halves, ...).',
    )
  })
})

describe('a batch rule returns', () => {
  it.each([
    [
      'no batch axis',
      ([v]: readonly cd.AnyExpr[]) => sum!(v, { axis: 0 }),
      'the value is f64 [4], it must be f64 [3, 4]: the batch axis of 3 in front',
    ],
    [
      'another size',
      ([v]: readonly cd.AnyExpr[]) => split!(v, [1, 2])[0 as never],
      'the value is f64 [1, 4], it must be f64 [3, 4]: the batch axis of 3',
    ],
    ['another dtype', ([v]: readonly cd.AnyExpr[]) => cast!(v, 'f32'), 'the value is f32 [3, 4], it must be f64 [3, 4]'],
    ['a number', () => 3, 'the value is 3, it must be an expression, f64 [3, 4].'],
  ])('%s', (_what, batch, says) => {
    expect(vmapOf(rule!(own, { batch }))).toContain(`the batch rule of same: ${says}`)
  })
  it('too few values', () => {
    const r = multiRule!(halves, { batch: ([v]: readonly cd.AnyExpr[]) => [v] })
    expect(message(() => loose(withRule(r)).vmap!((v: cd.AnyExpr) => all(halves, v)[0])([x, x]))).toContain(
      'BadInput: the batch rule of halves: it returned 1 values, there are 2 results.',
    )
  })
})

describe('a meaning does not write what the shape rule promises', () => {
  const run = (f: (v: cd.AnyExpr) => unknown) =>
    message(() => (cd.compile as Loose as unknown as (...xs: unknown[]) => Loose)(f, cd.reference())(x))
  const wants = 'of its result, which the shape rule says is f64 [4].\n  fix: shape rule and meaning must agree on the sizes.'
  it('too few elements', () => {
    const stale = same('stale', ([v], _p, [y]) => {
      for (let i = 0; i < v!.data.length - 1; i++) y!.data[i] = v!.data[i]!
    })
    expect(run((v) => apply(stale, v))).toBe(`BadInput: the meaning of stale: it did not write element 3 ${wants}`)
  })
  it('too many elements', () => {
    const stale = same('stale', ([v], _p, [y]) => y!.data.set([...v!.data, 1]))
    expect(run((v) => apply(stale, v))).toBe(`BadInput: the meaning of stale: it wrote past the end (offset is out of bounds) ${wants}`)
  })
  it('zeros that it writes, and sums into what is zero, are right', () => {
    const zero = same('zero', (_x, _p, [y]) => y!.data.fill(0))
    const total = same('total', ([v], _p, [y]) => {
      y!.data.forEach((_, i) => {
        y!.data[i]! += 0 * v!.data[i]!
      })
    })
    expect(run((v) => apply(zero, v))).toBe('nothing was raised')
    expect(run((v) => apply(total, v))).toBe('nothing was raised')
  })
})

it('right ones are right', () => {
  const r = multiLinearRule!(halves, { transpose: (yBars: readonly cd.AnyExpr[]) => [(cd.concat as Loose)(yBars)] })
  expect(gradOf(r, (v) => sin!(all(halves, v)[1]!))).toBe('nothing was raised')
  expect(gradOf(pulling((yBar: unknown) => [yBar]))).toBe('nothing was raised')
})

describe('customRule and straightThrough', () => {
  const { customRule, straightThrough, grad, square } = cd as unknown as Readonly<
    Record<'customRule' | 'straightThrough' | 'grad' | 'square', Loose>
  >
  it('a list of the one cotangent', () => {
    const f = customRule((v: unknown) => square(v), {
      rrule: (v: unknown) => [square(v), (yBar: unknown) => [mul!(yBar, mul!(2, v))]],
    }) as Loose
    expect(message(() => (grad((v: unknown) => sum!(f(v))) as Loose)([1, 2]))).toBe(
      'BadInput: customRule(f): pullback: xBar is a list of 1, it must be f64 [2].\n  fix: give the expression itself: of one argument there is one, and no list.',
    )
  })
  it('a surrogate of more arguments', () => {
    expect(
      message(() =>
        straightThrough(
          (v: unknown) => v,
          (v: unknown, w: unknown) => mul!(v, w),
        ),
      ),
    ).toBe('BadInput: straightThrough: the surrogate takes 2 arguments, the function 1.\n  fix: give both the same parameters.')
  })
})

describe('a shape rule gives', () => {
  const shaped = (shapeRule: (xs: readonly cd.Aval[]) => unknown, multi = false): string => {
    const p = primitive!({ name: 'half', family: 'mine', args: ['float'], multi, shapeRule, meaning: () => {}, source: 'definition' }) as Op
    return message(() => all(p, x))
  }
  it.each([
    [
      'a shape changed beside its size',
      ([a]: readonly cd.Aval[]) => ({ ...a!, shape: [2] }),
      'f64 [2] with the size 4, which is not that',
      "aval([2], 'f64')",
    ],
    ['no size', () => ({ shape: [2], dtype: 'f32' }), 'f32 [2] with the size undefined', "aval([2], 'f32')"],
    ['no dtype', () => ({ shape: [2], size: 2 }), 'an aval of dtype undefined', 'aval([2], x.dtype)'],
    ['a shape alone', () => [2], 'a list, and there is one result', 'declare multi: true'],
    ['nothing', () => undefined, 'it gave undefined, which is not an aval', 'aval(shape, x.dtype)'],
    [
      'the input changed',
      ([a]: readonly cd.Aval[]) => Object.assign({ ...a! }, { shape: [1, 2] }),
      'f64 [1, 2] with the size 4',
      "aval([1, 2], 'f64')",
    ],
  ])('%s', (_what, rule, says, fix) => {
    const told = shaped(rule)
    expect(told).toContain('BadInput: the shape rule of half: ')
    expect(told).toContain(says)
    expect(told).toContain(fix)
  })
  it('one of several results wrong, or no list of them', () => {
    expect(shaped(([a]) => [a, { ...a!, shape: [3] }], true)).toContain('it gave f64 [3] as result 1 with the size 4')
    expect(shaped(([a]) => a, true)).toContain('and half has several results.')
    expect(shaped(([a]) => [a, cd.aval([3], 'f64')], true)).toBe('nothing was raised')
  })
})
