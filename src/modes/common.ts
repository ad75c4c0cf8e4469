/** What forward and reverse share: projection of a tangent onto an argument's space, and nodes under replacement. */

import { raise } from '../core/errors/explain.js'
import type { Aval } from '../core/graph/aval.js'
import { isFloat, sameAval, showAval } from '../core/graph/aval.js'
import { castNode } from '../core/graph/cast.js'
import { asNode, constant, input, type Node } from '../core/graph/expr.js'
import { sameShape } from '../core/graph/shape.js'
import { raiseNotImplemented } from '../core/graph/source-lines.js'
import { type Forced, NoTangent, type Tangent, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { broadcastNode } from '../core/ops/layout-move.js'
import { sumToNode } from '../core/ops/reduce.js'

/** Zeros of an aval: a broadcast literal, no buffer. */
export const zeros = (a: Aval): Node => broadcastNode(constant(0, a.dtype), a.shape)
export const ones = (a: Aval): Node => broadcastNode(constant(1, a.dtype), a.shape)
/** What the rows of a basis are put in place of: of size 1 there is one row, the literal 1, which holds no zeros. */
export const direction = (a: Aval, name: string): Node => (a.size === 1 ? ones(a) : input(a, name))

/** A node for a tangent that must be dense: zeros where it is a symbolic zero; NotImplemented raises. */
export const instantiate = (t: Tangent, like: Aval): Node => {
  const f = unthunk(t)
  if (f._tag === 'Expr') return asNode(f)
  if (f._tag === 'NotImplemented') return raiseNotImplemented(f)
  return zeros(like)
}

/**
 * A cotangent projected onto its argument's space: broadcast axes summed, dtype restored.
 * Integers and booleans have none. Done here once for every rule.
 */
export const project = (t: Node, x: Aval, rule: string): Forced => {
  if (!isFloat(x.dtype)) return NoTangent
  if (t.aval === x || sameAval(t.aval, x)) return t as unknown as Forced
  const shaped = sameShape(t.shape, x.shape)
    ? t
    : t.shape.length >= x.shape.length && broadcastable(x.shape, t.shape)
      ? sumToNode(t, x.shape)
      : broadcastable(t.shape, x.shape)
        ? broadcastNode(t, x.shape)
        : undefined
  if (shaped === undefined)
    return raise({
      _tag: 'InternalLaw',
      law: "a cotangent has its argument's shape",
      detail: `rule ${rule} gave ${showAval(t.aval)} for ${showAval(x)}`,
    })
  return castNode(shaped, x.dtype) as unknown as Forced
}
const broadcastable = (small: readonly number[], big: readonly number[]): boolean => {
  const off = big.length - small.length
  return off >= 0 && small.every((d, i) => d === 1 || d === big[i + off])
}

/** A tangent projected onto its result's space: repeated along axes that broadcasting added. */
export const projectTangent = (t: Tangent, y: Aval, rule: string): Forced => {
  if (!isFloat(y.dtype)) return NoTangent
  const f = unthunk(t)
  if (f._tag !== 'Expr') return f._tag === 'NoTangent' ? ZeroTangent : f
  const n = asNode(f)
  if (sameAval(n.aval, y)) return f
  if (!broadcastable(n.shape, y.shape))
    return raise({
      _tag: 'InternalLaw',
      law: "a tangent has its result's shape",
      detail: `rule ${rule} gave ${showAval(n.aval)} for ${showAval(y)}`,
    })
  return castNode(broadcastNode(n, y.shape), y.dtype) as unknown as Forced
}
