/** Every differentiable rule of the library, made wrong in every way of a list: the checker finds each. Generated; no code per operation. */

import { describe, expect, it } from 'vitest'
import { makeCheck } from '../../src/check/index.js'
import type { FRule, Registry, RRule, Rule } from '../../src/core/calculus/rule.js'
import { aval, isFloat } from '../../src/core/graph/aval.js'
import { applyAny, asExpr, constant, input, type Node } from '../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { type Tangent, unthunk, ZeroTangent } from '../../src/core/graph/tangent.js'
import { mul } from '../../src/core/ops/elementwise.js'
import { isAdException } from '../../src/index.js'
import { configOf } from '../../src/modes/transform.js'
import { coreRegistry } from '../../src/packs/all.js'
import { deep, sample, some } from '../depth.js'
import { partly } from '../rules/mutants/partly.js'

/** A tangent times a number. */
const times = (t: Tangent, by: number): Tangent => {
  const f = unthunk(t)
  return f._tag === 'Expr' ? mul(f, asExpr(constant(by, f.dtype))) : f
}
const exchanged = 'the first two exchanged'
type Change = (ts: readonly Tangent[]) => readonly Tangent[]
const changes: Readonly<Record<string, Change>> = {
  'a flipped sign': (ts) => ts.map((t) => times(t, -1)),
  'a factor of 1.0001': (ts) => ts.map((t) => times(t, 1.0001)),
  'the first forgotten': (ts) => {
    const at = ts.findIndex((t) => unthunk(t)._tag === 'Expr')
    return ts.map((t, i) => (i === at ? ZeroTangent : t))
  },
  [exchanged]: (ts) => [ts[1]!, ts[0]!, ...ts.slice(2)],
}
const facets = {
  // Arguments are exchanged before the frule; everything else changes what it gives.
  frule: (r: Rule, change: Change, what: string): Rule => ({
    primitive: r.primitive,
    frule: ((xs, dxs, params, context) => {
      const made = r.frule!(xs, what === exchanged ? change(dxs) : dxs, params, context)
      return what === exchanged ? made : { ys: made.ys, dys: change(made.dys) }
    }) as FRule,
  }),
  rrule: (r: Rule, change: Change, _what: string): Rule => ({
    primitive: r.primitive,
    rrule: ((xs, params, context) => {
      const made = r.rrule!(xs, params, context)
      return { ys: made.ys, pullback: (yBars, active) => change(made.pullback(yBars, active)) }
    }) as RRule,
  }),
} as const

/** Elements of a sample's arguments. */
const sizeOf = ({ args }: AnyPrimitive['samples'][number]): number => args.reduce((n, { shape }) => n + shape.reduce((m, d) => m * d, 1), 0)
/** Does the checker find that this registry is wrong, at any sample? At small ones first. */
const found = (registry: Registry, p: AnyPrimitive): boolean =>
  [...p.samples.entries()]
    .sort(([, a], [, b]) => sizeOf(a) - sizeOf(b))
    .some(([i, sample]) => {
      try {
        const checks = { batch: false, commute: false, f32: false, linear: false } as const
        return makeCheck(registry).checkRule(p, { sample, seed: i + 1, directions: 1, order: 1, checks })._tag === 'Left'
      } catch (e) {
        // Shapes that do not fit are found by the modes themselves.
        if (!isAdException(e)) throw e
        return true
      }
    })

/** Primitives whose derivative is zero everywhere, and why: nothing can be wrong by a factor. */
const zeroDerivative: Readonly<Record<string, readonly string[]>> = {
  'a step function': ['sign', 'floor', 'ceil', 'round'],
  'zero by definition': ['stopGradient'],
  'a result without a tangent space': [
    ...['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'isnan', 'isfinite', 'logicalAnd', 'logicalOr', 'logicalNot'],
    ...['argmax', 'argmin', 'iota', 'searchsorted'],
    ...['bitwiseAnd', 'bitwiseOr', 'bitwiseXor', 'bitwiseNot', 'leftShift', 'rightShift', 'rightShiftLogical', 'shiftBy'],
  ],
}
const zero = new Set(Object.values(zeroDerivative).flat())
/** Changes that change nothing, and why. */
const equivalent: Readonly<Record<string, string>> = { [`add: frule, ${exchanged}`]: 'da + db is db + da' }

/** Is every tangent and cotangent that the rules give, at every sample, a zero or none? */
const alwaysZero = ({ frule, rrule, primitive }: Rule): boolean =>
  primitive.samples.every((sample) => {
    const xs = sample.args.map((a) => input(aval(a.shape, a.dtype ?? 'f64')))
    const ys = applyAny(primitive, xs, sample.params)
    const active = xs.map((x) => isFloat(x.dtype))
    const context = { y: asExpr(ys[0]!), ys: ys.map(asExpr), active, config: configOf(coreRegistry) }
    const seeds = (nodes: readonly Node[]) => nodes.map((n) => (isFloat(n.dtype) ? asExpr(input(n.aval)) : ZeroTangent))
    const { dys } = frule!(xs.map(asExpr), seeds(xs), sample.params as never, context)
    const xBars = rrule!(xs.map(asExpr), sample.params as never, context).pullback(seeds(ys), active)
    const live = (ts: readonly Tangent[], like: readonly Node[]) => ts.some((t, i) => isFloat(like[i]!.dtype) && unthunk(t)._tag === 'Expr')
    return !live(dys, ys) && !live(xBars, xs)
  })

describe('every wrong rule is found', () => {
  it('but where the derivative is zero: these and no others', () => {
    const silent = [...coreRegistry.rules].flatMap(([name, r]) => (alwaysZero(r) ? [name] : []))
    expect(silent.sort()).toEqual([...zero].sort())
  })
  // Rules of long programs take the longest: they are tried in depth.
  const tried = deep
    ? sample([...coreRegistry.rules], 45)
    : some(
        [...coreRegistry.rules].filter(([, r]) => !['nn', 'control', 'linalg'].includes(r.primitive.family)),
        24,
      )
  for (const [name, r] of tried)
    for (const facet of ['frule', 'rrule'] as const)
      if (!zero.has(name))
        it(`${name}: ${facet}`, () => {
          const { args, variadic } = r.primitive
          const single = (args.filter((k) => k === 'float').length < 2 && !variadic) || name in partly
          const missed = Object.entries(changes).flatMap(([what, change]) => {
            if ((what === exchanged && single) || `${name}: ${facet}, ${what}` in equivalent) return []
            return found(coreRegistry.with(facets[facet](r, change, what)), r.primitive) ? [] : [what]
          })
          expect(missed).toEqual([])
        })
})
