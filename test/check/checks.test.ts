/** Each check can fail: for every name, something that is wrong in just that way. The table is total: a new check needs its row. */
import { describe, expect, it } from 'vitest'
import { cpu } from '../../src/backends/cpu/index.js'
import {
  audit,
  type Checked,
  type CheckName,
  checkGrad,
  checkRule,
  checks,
  type Finding,
  makeCheck,
  matchers,
  report,
} from '../../src/check/index.js'
import { type Rule, registryOf } from '../../src/core/calculus/rule.js'
import type { SyncBackend } from '../../src/core/functions/backend.js'
import { APPLY, asNode } from '../../src/core/graph/expr.js'
import { type AnyPrimitive, primitive } from '../../src/core/graph/primitive.js'
import { inplaceableThunk, type Tangent, unthunk, ZeroTangent } from '../../src/core/graph/tangent.js'
import { elementwise } from '../../src/core/ops/families.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as cd from '../../src/index.js'
import { coreRegistry } from '../../src/packs/all.js'
import { linearRule, rule, scalarRule } from '../../src/rules/define.js'

const { tanh, mul, sqrt, abs } = elementwise
const u = (f: unknown) => f as (...xs: readonly unknown[]) => AnyExpr
const [add, times, sub, square, sum, cast, stop] = [
  u(cd.add),
  u(cd.mul),
  u(cd.sub),
  u(cd.square),
  u(cd.sum),
  u(cd.cast),
  u(cd.stopGradient),
]
const partial = (y: AnyExpr) => sub(1, square(y))
const all = (r: Rule): Checked => checkRule(r)
const pullback = (f: (yBar: AnyExpr, y: AnyExpr) => Tangent, value = (y: AnyExpr) => y): Rule => ({
  primitive: tanh as never,
  rrule: (_xs, _params, { y }) => ({ ys: [value(y)], pullback: ([b]) => [b?._tag === 'Expr' ? f(b, y) : ZeroTangent] }),
})
const good = (yBar: AnyExpr, y: AnyExpr): AnyExpr => times(yBar, partial(y))
/** A backend whose results are off in the last place that counts. */
const noisy: SyncBackend = {
  ...cpu(),
  name: 'noisy',
  prepare: (p) => {
    const e = cpu().prepare(p)
    return {
      run: (inputs, into, accumulate) => e.run(inputs, into, accumulate).map((d) => d.map((x) => x * (1 + 1e-7)) as typeof d),
      explain: () => e.explain(),
      dispose: () => e.dispose(),
    }
  },
}
/** A primitive with its own meaning and samples, under another name. */
const variant = (p: unknown, change: Partial<AnyPrimitive>): AnyPrimitive => ({ ...(p as AnyPrimitive), ...change })
let impure = 1
/** 2 x, whose derivative is wrong at 0. */
const lopsided = u(
  cd.customRule(
    ((x: AnyExpr) => times(2, x)) as never,
    {
      rrule: (x: AnyExpr) => [times(2, x), (yBar: AnyExpr) => times(yBar, u(cd.where)(u(cd.eq)(x, 0), 1, 2))],
      frule: (x: AnyExpr, dx: AnyExpr) => [times(2, x), times(dx, u(cd.where)(u(cd.eq)(x, 0), 1, 2))],
    } as never,
  ),
)

const wrong: { readonly [K in CheckName]: () => Checked } = {
  value: () => all(pullback(good, (y) => times(y, 1.0000001))),
  jvp: () => all(scalarRule(mul, ({ x: [a, b] }) => [b, times(1.0001, a)] as never)),
  vjp: () => all(scalarRule(tanh, ({ y }) => [sub(square(y), 1)] as never)),
  jacobian: () => all(scalarRule(tanh, ({ y }) => [sub(square(y), 1)] as never)),
  adjoint: () => all(pullback((b, y) => times(good(b, y), 1 + 1e-9))),
  // Of an elementwise region, mixed mode uses the frules and reverse mode the rrules.
  modes: () => {
    const r = coreRegistry.rules.get('tanh')!
    const off: Rule = {
      primitive: r.primitive,
      frule: (...a) => ({ ...r.frule!(...a), dys: r.frule!(...a).dys.map((t) => times(unthunk(t), 1 + 1e-9)) }),
    }
    return makeCheck(coreRegistry.with(off)).checkGrad((x: AnyExpr) => sum(u(cd.tanh)(u(cd.sin)(x))))([1, 2])
  },
  f32: () => all(pullback((b, y) => (b.dtype === 'f32' ? times(good(b, y), 1.001) : good(b, y)))),
  kink: () => all(scalarRule(abs, ({ x: [x] }) => [u(cd.where)(u(cd.ge)(x, 0), 1, -1)] as never)),
  dtype: () => all(pullback((b, y) => cast(good(b, y), 'f32'))),
  shape: () => {
    const r = coreRegistry.rules.get('max')!
    // The modes would repeat it: a scalar where the argument's shape is wanted.
    return all({
      primitive: r.primitive,
      rrule: (xs, p, c) => ({ ys: r.rrule!(xs, p, c).ys, pullback: (b) => b.map((t) => (t._tag === 'Expr' ? sum(t) : t)) }),
    })
  },
  tangent: () => all(pullback(() => ({ _tag: 'NoTangent' }))),
  seed: () =>
    all({
      primitive: tanh as never,
      rrule: (_xs, _p, { y }) => ({ ys: [y], pullback: ([b]) => [b?._tag === 'Expr' ? good(b, y) : times(0, y)] }),
    }),
  thunk: () => all(pullback((b, y) => ({ _tag: 'Thunk', force: () => good(b, y) }))),
  accumulate: () =>
    all(
      pullback((b, y) =>
        inplaceableThunk(
          () => good(b, y),
          (acc) => sub(acc, good(b, y)),
        ),
      ),
    ),
  mutation: () => {
    const p = variant(tanh, {
      meaning: ([x], _params, [o]) => {
        for (let i = 0; i < o!.data.length; i++) o!.data[i] = Math.tanh(x!.data[i]!)
        x!.data[0] = 7
      },
    })
    return checkRule(scalarRule(p, ({ y }) => [partial(y)] as never))
  },
  repeat: () => all(pullback((b, y) => times(good(b, y), impure++))),
  linear: () => all(pullback((b, y) => times(times(b, b), partial(y)))),
  'second order': () => all(scalarRule(tanh, ({ y }) => [stop(partial(y))] as never)),
  'higher order': () => {
    const cut = (f: unknown, slope: unknown) =>
      u(cd.customRule)((x: AnyExpr) => u(f)(x), { frule: (x: AnyExpr, dx: AnyExpr) => [u(f)(x), times(dx, u(slope)(x))] })
    return checkGrad(
      cut(
        cd.sin,
        cut(cd.cos, (x: AnyExpr) => times(-1, stop(u(cd.sin)(x)))),
      ),
      { order: 3 },
    )(0.5)
  },
  estimate: () => {
    const f = (k: AnyExpr, x: AnyExpr) => times(x, u(cd.cast)(u(cd.bitwiseAnd)(u(cd.at)(k, 0), 1), 'f64'))
    const wrong = u(cd.customRule)(f, { frule: ([k, x]: AnyExpr[], [, dx]: AnyExpr[]) => [f(k!, x!), dx], estimates: true })
    return checkGrad(wrong)(cd.tensor([1, 2], 'i32'), 0.5)
  },
  batch: () => all({ primitive: tanh as never, batch: ([x]) => [u(cd.tanh)(times(x, 1.5))] }),
  commute: () => all({ primitive: tanh as never, batch: ([x]) => [u(cd.tanh)(times(x, 1.5))] }),
  trace: () => checkGrad((x: AnyExpr) => times(impure++, square(x)))(2),
  activity: () =>
    all({
      primitive: mul as never,
      rrule: ([a, b], _params, { y }) => ({
        ys: [y],
        pullback: ([bar], active) =>
          bar?._tag === 'Expr' ? [times(bar, active[1] ? b : times(2, b)), times(bar, a)] : [ZeroTangent, ZeroTangent],
      }),
    }),
  // Both facets by hand, with a product that lets 0 times infinity be NaN.
  'non-finite': () => {
    const product = (d: AnyExpr, y: AnyExpr): AnyExpr => times(d, u(cd.div)(0.5, y))
    return all(
      rule(sqrt, {
        frule: (_xs, [dx], _params, { y }) => [y, dx._tag === 'Expr' ? product(dx, y) : dx],
        rrule: (_xs, _params, { y }) => [y, (yBar) => [product(yBar, y)] as const],
      }),
    )
  },
  sizes: () => {
    const r = coreRegistry.rules.get('cumsum')!
    const doubled = (t: Tangent): Tangent => {
      const f = unthunk(t)
      return f._tag === 'Expr' ? times(2, f) : f
    }
    return all({
      primitive: r.primitive,
      rrule: (xs, p, c) => {
        const made = r.rrule!(xs, p, c)
        if (!(xs[0]!.shape as readonly number[]).includes(7)) return made
        return { ys: made.ys, pullback: (yBars, active) => made.pullback(yBars, active).map(doubled) }
      },
    })
  },
  jet: () =>
    all({
      primitive: tanh as never,
      taylor:
        ([x]) =>
        (k) => [x!.at(k)],
    }),
  // Its declaration says that elements are copied, and they are added: what depends on what is read off wrongly.
  sparse: () => {
    const neighbours = primitive({
      name: 'neighbours',
      family: 'mine',
      args: ['float'],
      class: 'layout',
      shapeRule: ([x]) => x!,
      meaning: ([x], _params, [y]) => {
        for (let i = 0; i < y!.data.length; i++) y!.data[i] = x!.data[i]! + (i > 0 ? 0.5 * x!.data[i - 1]! : 0)
      },
      samples: [{ args: [{ shape: [4] }], params: {} }],
      source: 'definition',
    })
    const next = (x: AnyExpr, back: boolean): AnyExpr =>
      add(x, times(0.5, u(cd.roll)(times(x, u(cd.gt)(u(cd.arange)(4), back ? 0 : -1)), back ? -1 : 1)))
    return checkRule(
      linearRule(neighbours, {
        transpose: (yBar) => [next(yBar, true)],
        batch: ([x]) => u(cd.vmap((v: AnyExpr) => next(times(v, 1), false)) as never)(x),
      }),
      { checks: { batch: false, commute: false, sizes: false } },
    )
  },
  // A rule that looks at how its argument was made.
  wrapped: () =>
    checkRule(
      {
        primitive: mul as never,
        rrule: ([a, b], _params, { y }) => ({
          ys: [y],
          pullback: ([bar]) =>
            bar?._tag === 'Expr' ? [times(bar, b), times(bar, asNode(a).kind === APPLY ? times(2, a) : a)] : [ZeroTangent, ZeroTangent],
        }),
      },
      { checks: { 'non-finite': false, commute: false, 'second order': false } },
    ),
  'not implemented': () => {
    const r = coreRegistry.rules.get('map')!
    const off: Rule = {
      primitive: r.primitive,
      rrule: (...a) => {
        const made = r.rrule!(...a)
        const known = (t: Tangent): Tangent => (unthunk(t)._tag === 'NotImplemented' ? ZeroTangent : t)
        return { ys: made.ys, pullback: (yBars, active) => made.pullback(yBars, active).map(known) }
      },
    }
    return makeCheck(coreRegistry.with(off)).checkRule(r.primitive)
  },
  backend: () => checkGrad((x: AnyExpr) => sum(square(x)), { backends: [noisy] })([1, 2]),
  beside: () => checkGrad((x: AnyExpr) => sum(lopsided(x)))([1.5, 2.5]),
  expected: () => checkGrad((x: AnyExpr) => sum(square(x)), { expected: { gradient: [2, 5] } })([1, 2]),
  budget: () => checkGrad((x: AnyExpr) => sum(square(x)), { backends: [cpu()], budget: { kernels: 0 } })([1, 2]),
  registry: () => audit(registryOf([{ primitive: tanh as never }])),
  inconclusive: () => checkGrad((x: AnyExpr) => add(1e15, u(cd.sin)(x)), { checks: { inconclusive: true } })(1),
  raises: () =>
    all(
      pullback(() => {
        throw new Error('of the rule')
      }),
    ),
}

describe('each check finds what it is for', () => {
  for (const name of Object.keys(checks) as CheckName[])
    it(name, () => {
      const c = wrong[name]()
      expect(c._tag === 'Left' ? c.left.flatMap((f) => [f.check, ...f.also]) : report(c)).toContain(name)
    })
})

describe('switches', () => {
  const flipped = scalarRule(tanh, ({ y }) => [sub(square(y), 1)])
  it('turn single checks off, and the result says so', () => {
    const found = new Set((all(flipped) as { left: readonly Finding[] }).left.flatMap((f) => [f.check, ...f.also]))
    expect([...found].sort()).toEqual(['jacobian', 'jvp', 'second order', 'vjp'])
    const off = Object.fromEntries([...found].map((n) => [n, false]))
    const c = checkRule(flipped, { checks: off })
    expect(c._tag).toBe('Right')
    if (c._tag === 'Right') expect(c.right.skipped).toEqual(expect.arrayContaining([...found]))
  })
  it('order: 1 leaves second derivatives out', () => {
    const c = checkGrad((x: AnyExpr) => sum(square(x)), { order: 1 })([1, 2])
    expect(c).toMatchObject({ _tag: 'Right', right: { skipped: ['second order'] } })
  })
})

describe('results', () => {
  it('name the argument and the entry, and the seed draws them again', () => {
    const bad = makeCheck(coreRegistry.with(scalarRule(tanh, ({ y }) => [sub(square(y), 1)])))
    const f = (p: { readonly w: AnyExpr; readonly b: AnyExpr }) => sum(add(p.w, u(cd.tanh)(p.b)))
    const run = () => bad.checkGrad(f, { seed: 9 })({ w: [1, 2], b: [3, 4] })
    const c = run()
    expect(c._tag === 'Left' ? c.left.map((x) => x.path).join('; ') : '').toContain('argument 0.b')
    expect(c).toEqual(run())
  })
  it('are matchers for tests', () => {
    expect.extend(matchers)
    const ok = checkGrad((x: AnyExpr) => u(cd.sin)(x))(1)
    expect(matchers.toPass(ok)).toMatchObject({ pass: true })
    expect(matchers.toPass(all(pullback((b, y) => sub(0, good(b, y))))).message()).toMatch(
      /^wrong tanh: the derivative is wrong: argument 0(?:\[\d\])?\n {2}true -?[\d.]+, found -?[\d.]+ \(sample 0; reverse mode\)\n {2}at argument 0 = .*\n {2}also fails: .*\n {2}replay: checkRule\(tanh, \{ sample: 0, seed: 1 \}\)\nlooked at argument 0 .*\n {2}points: .*\n {2}order/,
    )
  })
  it('say where there is a kink, and accept what lies between its sides', () => {
    const c = checkGrad((x: AnyExpr) => sum(u(cd.abs)(x)))([0, 1])
    expect(report(c)).toMatch(/^ok {3}f[\s\S]*\nkink argument 0\[0\]: 0 between -1 and 1 \(abs\)/)
  })
  it('say where a point lies outside of the declared domain, in which a function without a value is NaN', () => {
    const logOr = (beyond: (x: number) => number) => {
      const op = cd.unary({ name: 'logOr', scalar: (x) => (x! > 0 ? Math.log(x!) : beyond(x!)), domain: [[0.1, 5]], source: 'definition' })
      return report(checkRule(scalarRule(op, ({ x: [x] }) => [cd.reciprocal(x)])))
    }
    expect(logOr(() => Number.NaN)).toMatch(/^ok/)
    expect(logOr((x) => 7 * x)).toMatch(
      /^wrong[\s\S]*at argument 0 = -[\d.]+, outside of the declared domain: NaN says that there is no value/,
    )
    const inside = cd.unary({ name: 'inside', scalar: (x) => Math.log(x!), domain: [[0.1, 5]], source: 'definition' })
    expect(report(checkRule(scalarRule(inside, ({ x: [x] }) => [x])))).not.toContain('outside')
  })
  it('check f32 in f64, and hold its own derivatives against that', () => {
    const f = cd.fn({ x: cd.f32(3) }, ({ x }) => cd.sum(cd.exp(cd.mul(x, x))))
    expect(checkGrad(f)({ x: new Float32Array([0.1, -0.7, 1.3]) })._tag).toBe('Right')
  })
})
