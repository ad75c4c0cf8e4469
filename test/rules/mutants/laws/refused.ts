/** What must be an error, and what must not be: a derivative that nobody asks for. */
import type { AnyPrimitive } from '../../../../src/core/graph/primitive.js'
import * as cd from '../../../../src/index.js'
import { mixedTimes } from '../own-rules.js'
import { type Laws, o } from './law.js'

const { sum, mul, add, sin, cos, square, exp } = o
const x = [0.3, -0.7, 1.1]
const y = [0.5, 1.2, -0.4]

/** 1 where the call raises an error of these tags. */
const raises = (f: () => unknown, ...tags: readonly string[]): readonly [unknown, unknown] => {
  try {
    f()
    return [[0], [1]]
  } catch (e) {
    const { error } = e as { readonly error?: { readonly _tag: string } }
    return [[error !== undefined && tags.includes(error._tag) ? 1 : 0], [1]]
  }
}
/** v times a value that it captured, whose rules know nothing of that. */
const capturing = (c: unknown, which: 'frule' | 'rrule' | 'both') =>
  o.customRule((v: cd.AnyExpr) => mul(v, c), {
    ...(which !== 'rrule' && { frule: (v: cd.AnyExpr, dv: cd.AnyExpr) => [mul(v, c), mul(dv, c)] }),
    ...(which !== 'frule' && { rrule: (v: cd.AnyExpr) => [mul(v, c), (yBar: cd.AnyExpr) => mul(yBar, c)] }),
  })
const ofCaptured = (which: 'frule' | 'rrule' | 'both') => (v: cd.AnyExpr, c: cd.AnyExpr) => sum(sin(capturing(exp(c), which)(v)))

const own = <R>(
  name: string,
  rule: (p: AnyPrimitive) => cd.Rule,
  run: (cd: typeof o, times: (...xs: readonly unknown[]) => cd.AnyExpr) => R,
): R => {
  const times = (
    cd.binary as unknown as (d: unknown) => { readonly primitive: AnyPrimitive } & ((...xs: readonly unknown[]) => cd.AnyExpr)
  )({
    name,
    scalar: (a: number, b: number) => a * b,
    source: 'definition',
  })
  return run(cd.makeCodual(cd.coreRegistry.with(rule(times.primitive)), cd.reference()) as unknown as typeof o, times)
}
const never = (): never => {
  throw new Error('nobody asked for it')
}
const ruleOf = cd.rule as unknown as (p: AnyPrimitive, r: unknown) => cd.Rule
/** A product whose cotangent of b raises an error when it is built. */
const ofFirst = (p: AnyPrimitive): cd.Rule =>
  ruleOf(p, {
    frule: ([, b]: readonly cd.AnyExpr[], [da, db]: readonly cd.AnyExpr[], _p: unknown, { y }: { readonly y: cd.AnyExpr }) => [
      y,
      (db as { readonly _tag: string })._tag === 'Expr' ? never() : mul(da, b),
    ],
    rrule: ([, b]: readonly cd.AnyExpr[], _p: unknown, { y }: { readonly y: cd.AnyExpr }) => [
      y,
      (yBar: cd.AnyExpr) => [cd.thunk(() => mul(yBar, b)), cd.thunk(never)],
    ],
  })
/** Rules whose (co)tangent is in no space of the argument: a number for an array, a row for one number. */
const misshapen = (p: AnyPrimitive): cd.Rule =>
  ruleOf(p, {
    frule: (_xs: unknown, [da]: readonly cd.AnyExpr[], _p: unknown, { y }: { readonly y: cd.AnyExpr }) => [y, o.broadcastTo(da, [2, 3])],
    rrule: (_xs: unknown, _p: unknown, { y }: { readonly y: cd.AnyExpr }) => [y, (yBar: cd.AnyExpr) => [sum(yBar), cd.ZeroTangent]],
  })

export const refused: Laws = {
  'what a rule says nothing of is an error': () => [
    ...(['frule', 'rrule', 'both'] as const).map((w) => raises(() => o.grad(ofCaptured(w), { wrt: 1 })(x, y), 'NotImplemented')),
    ...(['frule', 'both'] as const).map((w) => raises(() => o.jvp(ofCaptured(w), { wrt: 1 })([x, y], y), 'NotImplemented')),
    ...(['frule', 'both'] as const).map((w) => raises(() => o.jacfwd(ofCaptured(w), { wrt: [0, 1] })(x, y), 'NotImplemented')),
    ...(['frule', 'rrule', 'both'] as const).map((w) =>
      raises(
        () =>
          o.grad(
            (v: cd.AnyExpr, c: cd.AnyExpr) =>
              sum(o.vmap((r: cd.AnyExpr, z: cd.AnyExpr) => ofCaptured(w)(r, z), { inAxes: [0, null] })(v, c)),
            { wrt: 1 },
          )([x, y], y),
        'NotImplemented',
      ),
    ),
  ],
  'what a rule says nothing of stays as it is': () =>
    (['frule', 'rrule', 'both'] as const).flatMap((w) => [
      [o.grad(ofCaptured(w))(x, y), o.grad((v: cd.AnyExpr, c: cd.AnyExpr) => sum(sin(mul(v, exp(c)))))(x, y)] as const,
      [o.grad((v: cd.AnyExpr) => sum(capturing(o.stopGradient(exp(v)), w)(v)))(x), x.map(Math.exp)] as const,
    ]),
  'an frule that is not linear has no reverse': () =>
    [(dv: cd.AnyExpr) => square(dv), (dv: cd.AnyExpr) => mul(dv, sum(dv)), (dv: cd.AnyExpr) => sin(dv)].map((bent) => {
      const f = o.customRule((v: cd.AnyExpr) => sin(v), { frule: (v: cd.AnyExpr, dv: cd.AnyExpr) => [sin(v), mul(cos(v), bent(dv))] })
      return raises(() => o.grad((v: cd.AnyExpr) => sum(f(v)))(x), 'NotDifferentiable')
    }),
  'a (co)tangent of no argument is an error': () =>
    own('misshapen', misshapen, (c, times) => [
      raises(() => c.grad((a: cd.AnyExpr) => sum(sin(times(a, 2))), { mode: 'reverse' })(x), 'ShapeMismatch'),
      raises(() => c.jvp((a: cd.AnyExpr) => times(a, 2))(x, x), 'ShapeMismatch'),
    ]),
  'a (co)tangent has the dtype of what it belongs to': () => {
    const { mixed, ofMixed } = mixedTimes()
    const c = cd.makeCodual(cd.coreRegistry.with(ofMixed), cd.reference()) as unknown as typeof o
    const f = (a: cd.AnyExpr, b: cd.AnyExpr) => (cd.applyPrimitive(mixed as never, [a, b] as never) as unknown as readonly cd.AnyExpr[])[0]
    const same = (a: cd.AnyExpr, b: cd.AnyExpr) => mul(o.cast(a, 'f64'), o.cast(b, 'f64'))
    const a = cd.tensor(x, [3], 'f32')
    return [0, 1, [0, 1]].flatMap((wrt) => {
      const tangents = wrt === 0 ? a : wrt === 1 ? y : [a, y]
      return [
        [c.jvp(f, { wrt })([a, y], tangents), o.jvp(same, { wrt })([a, y], tangents), 1e-6] as const,
        [c.jacrev(f, { wrt })(a, y), o.jacrev(same, { wrt })(a, y), 1e-6] as const,
      ]
    })
  },
  'what nobody asks for is not built': () => {
    const plain = (f: (times: typeof mul, a: cd.AnyExpr, b: cd.AnyExpr) => cd.AnyExpr, wrt = 0) =>
      own('ofFirst', ofFirst, (c, times) =>
        ['reverse', 'mixed'].map(
          (mode) =>
            [
              c.grad((a: cd.AnyExpr, b: cd.AnyExpr) => f(times, a, b), { wrt, mode })(x, y),
              o.grad((a: cd.AnyExpr, b: cd.AnyExpr) => f(mul, a, b), { wrt, mode })(x, y),
            ] as const,
        ),
      )
    // With a second tangent that has no reverse.
    const half = o.customRule((a: cd.AnyExpr, b: cd.AnyExpr) => mul(sin(a), b), {
      frule: ([a, b]: readonly cd.AnyExpr[], [da, db]: readonly cd.AnyExpr[]) => [
        mul(sin(a), b),
        add(mul(mul(cos(a), b), da), mul(sin(a), square(db))),
      ],
    })
    return [
      ...plain((times, a, b) => sum(sin(times(a, b)))),
      ...plain((times, a, b) => sum(mul(a, times(sin(a), exp(b))))),
      ...plain((times, a, b) => sum(times(times(a, cos(b)), sin(b)))),
      [
        o.grad((a: cd.AnyExpr, b: cd.AnyExpr) => sum(half(a, b)))(x, y),
        o.grad((a: cd.AnyExpr, b: cd.AnyExpr) => sum(mul(sin(a), b)))(x, y),
      ],
    ]
  },
}
