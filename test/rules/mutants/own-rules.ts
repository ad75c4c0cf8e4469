/** Rules of a user's: of every way to write one. */
import type { RuleConfig, RuleContext } from '../../../src/core/calculus/rule.js'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import type { Forced } from '../../../src/core/graph/tangent.js'
import * as cd from '../../../src/index.js'

type F = (...xs: readonly unknown[]) => cd.AnyExpr
const { mul, sin, exp, sum, cast } = cd as unknown as Readonly<Record<'mul' | 'sin' | 'exp' | 'sum' | 'cast', F>>

/** a b in f64, of an f32 and an f64, with a rule written out: (co)tangents come in the dtypes of their neighbours. */
export const mixedTimes = (): { readonly mixed: AnyPrimitive; readonly ofMixed: cd.Rule } => {
  const mixed = cd.primitive({
    name: 'mixedTimes',
    family: 'own',
    args: ['float', 'float'],
    class: 'elementwise',
    dtypes: 'own',
    shapeRule: ([a, b]) => cd.aval(a!.shape.length > b!.shape.length ? a!.shape : b!.shape, 'f64'),
    expand: ([a, b]) => mul(cast(a, 'f64'), cast(b, 'f64')),
    samples: [
      {
        args: [
          { shape: [3], dtype: 'f32' },
          { shape: [3], dtype: 'f64' },
        ],
        params: {},
      },
      {
        args: [
          { shape: [3], dtype: 'f64' },
          { shape: [3], dtype: 'f32' },
        ],
        params: {},
      },
    ],
    source: 'definition',
  }) as unknown as AnyPrimitive
  const wide = (x: unknown): cd.AnyExpr => cast(x, 'f64')
  const ofMixed = (cd.rule as unknown as (p: AnyPrimitive, r: unknown) => cd.Rule)(mixed, {
    frule: ([a, b]: readonly cd.AnyExpr[], [da, db]: readonly Forced[], _p: unknown, { y }: { readonly y: cd.AnyExpr }) => [
      y,
      // In the dtype of the first where it alone moves.
      cd.addTangents(
        da!._tag !== 'Expr' ? da! : db!._tag === 'Expr' ? mul(wide(da), wide(b)) : mul(da, cast(b, da!.dtype)),
        db!._tag === 'Expr' ? mul(wide(db), wide(a)) : db!,
      ),
    ],
    rrule: ([a, b]: readonly cd.AnyExpr[], _p: unknown, { y }: { readonly y: cd.AnyExpr }) => [
      y,
      (yBar: cd.AnyExpr) => [cd.thunk(() => mul(yBar, wide(b))), cd.thunk(() => mul(yBar, wide(a)))],
    ],
    batch: ([a, b]: readonly cd.AnyExpr[], batched: readonly boolean[], _p: unknown, size: number) =>
      (cd.applyPrimitive(mixed as never, cd.batchAll([a!, b!], batched, size) as never) as unknown as readonly cd.AnyExpr[])[0],
  })
  return { mixed, ofMixed }
}

/** Rules of a user's, of every way to write one, at the primitives that they are for. */
export const ownRules = (): readonly (readonly [cd.Rule, AnyPrimitive])[] => {
  const { scalarRule, optOut, linearRule, unary, binary } = cd as unknown as Record<string, (...xs: unknown[]) => unknown> as {
    readonly [K in 'scalarRule' | 'optOut' | 'linearRule']: (...xs: unknown[]) => cd.Rule
  } & { readonly [K in 'unary' | 'binary']: (x: unknown) => F & { readonly primitive: AnyPrimitive } }
  type At = { readonly x: readonly cd.AnyExpr[] }
  const cube = unary({ name: 'cube', scalar: (x: number) => x * (x * x), source: 'definition' })
  const ofCube = scalarRule(cube, ({ x: [x] }: At) => [mul(3, mul(x, x))])
  const times = binary({ name: 'times', scalar: (a: number, b: number) => a * b, source: 'definition' })
  const twice = unary({ name: 'twice', scalar: (x: number) => 2 * x, source: 'definition' })
  const wrong = scalarRule(cube, ({ x: [x] }: At) => [mul(2, mul(x, x))])
  const nested = cd.rule(twice.primitive, {
    frule: (_xs, [dx], _params, { y }) => [y, dx!._tag === 'Expr' ? twice(dx) : dx!],
    rrule: (_xs, _params, { y }) => [y, (yBar) => [cd.thunk(() => cd.thunk(() => twice(yBar)))] as never],
    batch: ([x]) => twice(x),
  })
  const ofTimes = scalarRule(times, ({ x: [a, b] }: At) => [b, a])
  const { mixed, ofMixed } = mixedTimes()
  // Written out with what the library gives for that.
  const fifth = unary({ name: 'fifth', scalar: (x: number) => 0.2 * x + 0.3 * x * x, source: 'definition' })
  const slope = (x: cd.AnyExpr, d: cd.AnyExpr, config: RuleConfig) =>
    cd.addTangents(cd.scaleTangent(d, 0.2, config), cd.scaleTangent(d, mul(x, 0.6), config))
  const ofFifth = (cd.rule as unknown as (p: AnyPrimitive, r: unknown) => cd.Rule)(fifth.primitive, {
    frule: ([x]: readonly cd.AnyExpr[], [dx]: readonly Forced[], _p: unknown, { y, config }: RuleContext) => [
      y,
      dx!._tag === 'Expr' ? slope(x!, dx!, config) : dx!,
    ],
    rrule: ([x]: readonly cd.AnyExpr[], _p: unknown, { y, config }: RuleContext) => [
      y,
      (yBar: cd.AnyExpr) => [cd.thunk(() => slope(x!, yBar, config))],
    ],
    batch: ([x]: readonly cd.AnyExpr[]) => fifth(x),
  })
  const half = unary({ name: 'half', scalar: (x: number) => 0.5 * x, source: 'definition' })
  // A composition: all its facets follow.
  const composed = cd.primitive({
    name: 'composed',
    family: 'own',
    args: ['float', 'float'],
    shapeRule: ([a]) => a!,
    expand: ([a, b]) => mul(sin(a), sum(exp(b))),
    samples: [
      { args: [{ shape: [3] }, { shape: [2] }], params: {} },
      { args: [{ shape: [] }, { shape: [2, 2] }], params: {} },
    ],
    source: 'definition',
  }) as unknown as AnyPrimitive
  const composition = cd.definePlugin({
    name: 'composition',
    ops: { composed: composed as never },
    lower: { composed: ([a, b]: readonly cd.AnyExpr[]) => mul(sin(a), sum(exp(b))) } as never,
    rules: {} as never,
    kernels: {} as never,
  })
  return [
    [ofMixed, mixed],
    [ofFifth, fifth.primitive],
    [scalarRule(half, () => [0.5]), half.primitive],
    [[...composition.registry.byPrimitive.values()][0]!, composed],
    [optOut(cube, ofCube, { when: ({ x: [x] }: At) => x!.dtype === 'f64', via: ({ x: [x] }: At) => mul(x, mul(x, x)) }), cube.primitive],
    [optOut(cube, ofCube, { when: ({ x: [x] }: At) => x!.dtype === 'f32', via: ({ x: [x] }: At) => mul(x, mul(x, x)) }), cube.primitive],
    // A rule that is never asked, and one that always is.
    [optOut(cube, wrong, { when: () => true, via: ({ x: [x] }: At) => mul(x, mul(x, x)) }), cube.primitive],
    [optOut(cube, ofCube, { when: () => false, via: ({ x: [x] }: At) => mul(2, mul(x, mul(x, x))) }), cube.primitive],
    [nested, twice.primitive],
    [optOut(times, ofTimes, { when: () => true, via: ({ x: [a, b] }: At) => mul(a, b) }), times.primitive],
    [
      linearRule(twice.primitive, { transpose: (yBar: cd.AnyExpr) => [twice(yBar)], batch: ([x]: readonly cd.AnyExpr[]) => twice(x) }),
      twice.primitive,
    ],
  ]
}
