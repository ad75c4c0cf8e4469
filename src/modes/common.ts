/** What forward and reverse share: projection of a tangent onto an argument's space, and nodes under replacement. */

import { type Aval, aval, isFloat, sameAval } from '../core/graph/aval.js'
import { castNode } from '../core/graph/cast.js'
import { asNode, constant, input, type Node, resultAvals } from '../core/graph/expr.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { sameShape } from '../core/graph/shape.js'
import { raiseNotImplemented } from '../core/graph/source-lines.js'
import { type Forced, isThunk, NoTangent, type Tangent, unthunk } from '../core/graph/tangent.js'
import { beside, declaredLike } from '../core/graph/weak.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import { sumToNode } from '../core/ops/reduce.js'
import { type Facet, tangentFrom, wrongSpace } from './returned.js'

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

/** The dense derivative of a node, or by it. */
export const derivativeOf = (t: Tangent, x: Node): Node => declaredLike(instantiate(t, x.aval), x)

/** One application, and where in it a (co)tangent belongs: argument `k`, or result `k` of an frule. */
export interface Place {
  readonly node: Node
  readonly k: number
}
/** Floats of one application have several dtypes: then a (co)tangent comes in that of its neighbours. */
const isMixed = ({ node }: Place): boolean => {
  const floats = [...node.args.map((a) => a.dtype), ...resultAvals(node).map((y) => y.dtype)].filter(isFloat)
  return floats.some((d) => d !== floats[0])
}
/** May a (co)tangent have another shape: does the primitive broadcast its arguments at every index? */
const isBroadcast = ({ node }: Place): boolean => node.prim!.class === 'elementwise'

/**
 * A cotangent projected onto its argument's space. Of an elementwise primitive, axes that were broadcast are summed; where an application has
 * floats of several dtypes, the argument's is restored. Anything else is the rule's mistake. Integers and booleans have no cotangent.
 * Done here once for every rule; `from` is undefined for what no rule returned.
 */
export const project = (given: Node, x: Aval, from: Place | undefined): Forced => {
  if (!isFloat(x.dtype)) return NoTangent
  if (given.aval === x || sameAval(given.aval, x)) return given as unknown as Forced
  const t = beside(given, x.dtype)
  const shaped = sameShape(t.shape, x.shape)
    ? t
    : (from === undefined || (isBroadcast(from) && broadcastable(t.shape, resultAvals(from.node)[0]!.shape))) &&
        broadcastable(x.shape, t.shape)
      ? sumToNode(t, x.shape)
      : undefined
  if (shaped === undefined || (t.dtype !== x.dtype && from !== undefined && !isMixed(from)))
    return wrongSpace(
      from?.node.prim ?? SEED,
      'pullback',
      shaped === undefined ? t.aval : aval(x.shape, t.dtype),
      x,
      from?.k ?? 0,
      from?.node.args.length ?? 1,
    )
  return castNode(shaped, x.dtype) as unknown as Forced
}
/** What messages name where a cotangent comes from no rule. */
const SEED = { name: 'the seed' } as AnyPrimitive
const broadcastable = (small: readonly number[], big: readonly number[]): boolean => {
  const off = big.length - small.length
  return off >= 0 && small.every((d, i) => d === 1 || d === big[i + off])
}

/** What a rule returned, without its thunks; each is held against what belongs there. */
export const forced = (given: Tangent, prim: AnyPrimitive, facet: Facet, of: Aval, k: number, count: number): Forced => {
  let t = isThunk(given) ? given : tangentFrom(prim, facet, given, of, k, count)
  while (t._tag === 'Thunk' || t._tag === 'InplaceableThunk') t = tangentFrom(prim, facet, t.force(), of, k, count)
  return t
}

/** A tangent projected onto its result's space: of an elementwise primitive repeated along axes that broadcasting added. */
export const projectTangent = (given: Tangent, y: Aval, from: Place): Forced => {
  const prim = from.node.prim!
  const count = prim.multi ? resultAvals(from.node).length : 1
  const f = forced(given, prim, 'frule', y, from.k, count)
  if (!isFloat(y.dtype)) return NoTangent
  if (f._tag !== 'Expr' || sameAval(asNode(f).aval, y)) return f
  const n = beside(asNode(f), y.dtype)
  if (!sameShape(n.shape, y.shape) && !(isBroadcast(from) && broadcastable(n.shape, y.shape)))
    return wrongSpace(prim, 'frule', n.aval, y, from.k, count)
  if (n.dtype !== y.dtype && !isMixed(from)) return wrongSpace(prim, 'frule', aval(y.shape, n.dtype), y, from.k, count)
  return castNode(broadcastNode(n, y.shape), y.dtype) as unknown as Forced
}
