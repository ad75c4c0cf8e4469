/** Identities and functions whose way back is their own: straight-through estimators, clipped, reversed and shown gradients. */

import { functionOf, numberOf } from '../../core/errors/check-arguments.js'
import { badInput, raise } from '../../core/errors/explain.js'
import { makeCustomRule } from '../../core/extend/custom-rule.js'
import { metaOf } from '../../core/functions/function.js'
import { isFloat } from '../../core/graph/aval.js'
import { asExpr, asNode } from '../../core/graph/expr.js'
import { lift } from '../../core/graph/lift.js'
import { flatten, unflatten } from '../../core/graph/tree.js'
import { cast, maximum, minimum, mul, neg, stopGradient } from '../../core/ops/elementwise.js'
import { tap } from '../../core/ops/tap.js'
import type { AnyExpr, Tensor } from '../../core/types/expr.js'
import { spread } from '../arguments.js'
import type { Callable, Context } from './shared.js'
import { jvp } from './tangent.js'

/** f's value, with the derivative of `surrogate`. */
export const straightThrough =
  (c: Context) =>
  (f: unknown, surrogate: unknown = (x: unknown) => x): Callable => {
    const m = metaOf(f, 'straightThrough')
    const s = metaOf(surrogate, 'straightThrough')
    if (s.arity > (m.most?.() ?? m.arity))
      badInput('straightThrough', `the surrogate takes ${s.arity} arguments, the function ${m.arity}.`, 'give both the same parameters.')
    return makeCustomRule(c.runtime)(f, {
      name: `straightThrough(${m.name})`,
      frule: (x, dx) => [m.body(spread(m, x)), (jvp(c)(surrogate)(x, dx) as readonly [unknown, unknown])[1]],
      estimates: 'biased',
    })
  }

/** Every float of a tree through f; its integers as they are. */
const leafwise = (tree: unknown, op: string, f: (x: AnyExpr) => unknown): unknown => {
  const { leaves, def } = flatten(tree, op)
  return unflatten(
    def,
    leaves.map((leaf) => {
      const x = lift(leaf, op)
      return isFloat(x.dtype) ? f(asExpr(x)) : asExpr(x)
    }),
  )
}

/** x, whose cotangent is clamped to [-limit, limit]. */
export const clipGradient = (c: Context) => {
  const none = (): never =>
    raise({
      _tag: 'NotImplemented',
      rule: 'clipGradient',
      reason: 'it changes cotangents, and forward mode has none: take the gradient in reverse or mixed mode.',
    })
  return (tree: unknown, limit: number): unknown => {
    if (!(numberOf(limit, 'limit', 'clipGradient') >= 0)) badInput('clipGradient', `limit is ${limit}.`, 'give a number from 0.')
    const clipped = makeCustomRule(c.runtime)((x: unknown) => x, {
      name: 'clipGradient',
      frule: none,
      rrule: (x) => [x, (yBar: AnyExpr) => minimum(maximum(yBar, -limit), limit)],
      estimates: 'biased',
    })
    return leafwise(tree, 'clipGradient', clipped)
  }
}

/** x, whose derivative is -scale. */
export const reverseGradient = (c: Context) => {
  const reversed = makeCustomRule(c.runtime)((x: unknown, _scale: unknown) => x, {
    name: 'reverseGradient',
    frule: (at, tangents) => {
      const [x, scale] = at as readonly [AnyExpr, AnyExpr]
      return [x, neg(mul((tangents as readonly [AnyExpr, unknown])[0], scale))]
    },
    estimates: 'biased',
  })
  return (tree: unknown, scale: unknown = 1): unknown =>
    leafwise(tree, 'reverseGradient', (x) => {
      const k = asExpr(lift(scale, 'reverseGradient: scale', x.dtype))
      if (asNode(k).shape.length > 0) badInput('reverseGradient', 'scale is no scalar.', 'give a number or a scalar.')
      return reversed(x, stopGradient(cast(k, x.dtype)))
    })
}

/** x, whose cotangent is shown to f. */
export const tapGradient =
  (c: Context) =>
  (tree: unknown, f: (xBar: Tensor) => unknown): unknown => {
    functionOf(f, 'f', 'tapGradient')
    const shown = makeCustomRule(c.runtime)((x: unknown) => x, {
      name: 'tapGradient',
      frule: (x, dx) => [x, dx],
      rrule: (x) => [x, (yBar: AnyExpr) => tap(yBar, f)],
    })
    return leafwise(tree, 'tapGradient', shown)
  }
