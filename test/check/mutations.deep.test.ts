/** The checker finds wrong rules: each mutation of a right one, by the check that is named for it. */
import { describe, expect, it } from 'vitest'
import { type Finding, makeCheck, report } from '../../src/check/index.js'
import { asExpr, asNode, constant } from '../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { inplaceableThunk, NoTangent, notImplemented } from '../../src/core/graph/tangent.js'
import { contract, elementwise } from '../../src/core/ops/families.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as cd from '../../src/index.js'
import { coreRegistry } from '../../src/packs/all.js'
import { rule, scalarRule } from '../../src/rules/define.js'

const { tanh, mul } = elementwise
const u = (f: unknown) => f as (...xs: readonly unknown[]) => AnyExpr
const [add, times, sub, square, sum, cast] = [u(cd.add), u(cd.mul), u(cd.sub), u(cd.square), u(cd.sum), u(cd.cast)]
const partial = (y: AnyExpr) => sub(1, square(y))

/** Names of the checks that fail for a primitive under these replaced rules. */
const failing = (prim: unknown, replaced: ReturnType<typeof rule>): ReadonlySet<Finding['check']> => {
  const p = prim as AnyPrimitive
  const { checkRule } = makeCheck(coreRegistry.with(replaced))
  const found = new Set<Finding['check']>()
  p.samples.forEach((sample, i) => {
    try {
      const c = checkRule(p, { sample, seed: i + 1 })
      if (c._tag === 'Left') for (const f of c.left) for (const check of [f.check, ...f.also]) found.add(check)
    } catch (e) {
      if (!cd.isAdException(e)) throw e
      found.add('shape')
    }
  })
  return found
}

describe('wrong rules are found', () => {
  it('the right rule passes', () =>
    expect([
      ...failing(
        tanh,
        scalarRule(tanh, ({ y }) => [partial(y)]),
      ),
    ]).toEqual([]))
  it('a flipped sign', () =>
    expect(
      failing(
        tanh,
        scalarRule(tanh, ({ y }) => [sub(square(y), 1)]),
      ),
    ).toContain('vjp'))
  it('a wrong factor in one of two partials', () =>
    expect(
      failing(
        mul,
        scalarRule(mul, ({ x: [a, b] }) => [b, times(1.0001, a)]),
      ),
    ).toContain('jvp'))
  it('frule and rrule that differ', () =>
    expect(
      failing(tanh, rule(tanh, { frule: (_x, [dx], _p, { y }) => [y, dx._tag === 'Expr' ? times(times(dx, partial(y)), 1 + 1e-9) : dx] })),
    ).toContain('adjoint'))
  it('a wrong value', () =>
    expect(
      failing(tanh, rule(tanh, { rrule: (_x, _p, { y }) => [times(y, 1 + 1e-15 * 4), (yBar) => [times(yBar, partial(y))]] })),
    ).toContain('value'))
  it('a wrong shape', () =>
    expect(failing(tanh, rule(tanh, { rrule: (_x, _p, { y }) => [y, (yBar) => [sum(times(yBar, partial(y)))]] })).size).toBeGreaterThan(0))
  it('NoTangent where zero is meant', () =>
    expect(failing(tanh, rule(tanh, { rrule: (_x, _p, { y }) => [y, () => [NoTangent as never]] })).size).toBeGreaterThan(0))
  it('a derivative that is not implemented is one to do, not a zero', () => {
    const todo = rule(tanh, {
      frule: (_x, _dx, _p, { y }) => [y, notImplemented('tanh', 'on purpose')],
      rrule: (_x, _p, { y }) => [y, () => [notImplemented('tanh', 'on purpose')]],
    })
    const c = makeCheck(coreRegistry.with(todo)).checkRule(tanh as unknown as AnyPrimitive)
    expect(c).toMatchObject({ _tag: 'Right', right: { notImplemented: expect.arrayContaining([expect.stringContaining('on purpose')]) } })
    expect(report(c)).toContain('not implemented: tanh')
  })
  it('a pullback that is not linear', () =>
    expect(failing(tanh, rule(tanh, { rrule: (_x, _p, { y }) => [y, (yBar) => [times(times(yBar, yBar), partial(y))]] }))).toContain(
      'linear',
    ))
  it('a thunk that builds anew each time it is forced', () =>
    expect(
      failing(tanh, rule(tanh, { rrule: (_x, _p, { y }) => [y, (yBar) => [{ _tag: 'Thunk', force: () => times(yBar, partial(y)) }]] })),
    ).toContain('thunk'))
  it('a cotangent that depends on which others are wanted', () =>
    expect(
      failing(
        mul,
        rule(mul, {
          rrule: ([a, b], _p, { y }) => [y, (yBar, active) => [times(yBar, active[1] ? b : times(2, b)), times(yBar, a)]],
        }),
      ),
    ).toContain('activity'))
  it('another choice at a kink', () => {
    const { abs } = elementwise
    const p = abs as unknown as AnyPrimitive
    expect(p.kinks.length).toBeGreaterThan(0)
    const c = makeCheck(coreRegistry.with(scalarRule(abs, ({ x: [x] }) => [u(cd.where)(u(cd.ge)(x, 0), 1, -1)]))).checkKinks(p)
    expect(c._tag === 'Left' ? c.left[0]!.check : 'passed').toBe('kink')
  })
  it('a batch rule that forgets an example', () =>
    expect(failing(tanh, rule(tanh, { batch: ([x]) => u(cd.tanh)(times(x, 1.5)) }))).toContain('batch'))
  it('a wrong second derivative', () => {
    // Right to first order; its own derivative is cut.
    const frozen = (y: AnyExpr) => u(cd.stopGradient)(partial(y))
    expect(
      failing(
        tanh,
        scalarRule(tanh, ({ y }) => [frozen(y)]),
      ),
    ).toContain('second order')
  })
  it('addTo that does not add', () => {
    const { matmul } = contract
    const t = u(cd.transpose)
    const broken = rule(matmul, {
      rrule: ([a, b], _p, { y }) => [
        y,
        (yBar) => {
          const product = (l: AnyExpr, r: AnyExpr, x: AnyExpr) =>
            l.shape.length === x.shape.length && r.shape.length === x.shape.length
              ? inplaceableThunk(
                  () => u(cd.matmul)(l, r),
                  (acc) => sub(acc, u(cd.matmul)(l, r)),
                )
              : u(cd.matmul)(l, r)
          return [product(yBar, t(b), a), product(t(a), yBar, b)]
        },
      ],
    })
    expect(failing(matmul, broken)).toContain('accumulate')
  })
  it('a cotangent of another dtype', () => {
    // project restores the dtype, so a rule that computes in another one is still checked to be exact.
    expect(
      failing(tanh, rule(tanh, { rrule: (_x, _p, { y }) => [y, (yBar) => [cast(cast(times(yBar, partial(y)), 'f32'), 'f64')]] })),
    ).toContain('adjoint')
  })
})

describe("users' gradients", () => {
  const { checkGrad, expectGradient } = makeCheck(coreRegistry)
  it('a right one passes, and says how much was compared', () => {
    const c = checkGrad((x: AnyExpr) => sum(times(u(cd.sin)(x), x)))([0.3, -0.7, 2])
    expect(c).toMatchObject({ _tag: 'Right' })
  })
  it('of two arguments, nested', () => {
    expectGradient((p: { w: AnyExpr; b: AnyExpr }, x: AnyExpr) => sum(u(cd.tanh)(add(u(cd.matmul)(x, p.w), p.b))))({ w: [[1, 2], [3, 4]], b: [0.1, 0.2] }, [[0.5, -0.5]]) // biome-ignore format: one call
  })
  it('a wrong rule inside is found, and the seed replays it', () => {
    const wrong = makeCheck(coreRegistry.with(scalarRule(tanh, ({ y }) => [sub(square(y), 1)])))
    const f = (x: AnyExpr) => sum(u(cd.tanh)(x))
    const [a, b] = [wrong.checkGrad(f, { seed: 5 })([0.3, 0.4]), wrong.checkGrad(f, { seed: 5 })([0.3, 0.4])]
    expect(a._tag).toBe('Left')
    expect(a).toEqual(b)
    expect(() => wrong.expectGradient(f)([0.3, 0.4])).toThrow(/vjp/)
  })
  it('constants stay what they are', () => expect(asNode(asExpr(constant(2, 'f64'))).payload).toBe(2))
})
