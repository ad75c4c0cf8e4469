/** The Taylor rules that follow from a form: partials and bilinear; of a linear or constant one each coefficient goes by itself. */
import type { PartialsOf } from '../core/calculus/rule.js'
import type { Series, TaylorContext, TaylorRule } from '../core/calculus/taylor.js'
import { isFloat } from '../core/graph/aval.js'
import { applyAny, asExpr, asNode, CONST, input } from '../core/graph/expr.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { type Forced, NoTangent, ZeroTangent } from '../core/graph/tangent.js'
import { mul } from '../core/ops/elementwise.js'
import type { AnyExpr } from '../core/types/expr.js'
import { type Entry, entriesOf, inDtypeOf } from './forms.js'
import { addTangents, scaled } from './product.js'

/** A coefficient times a number. */
export const times = (x: Forced, c: number): Forced => (x._tag !== 'Expr' || c === 1 ? x : mul(x, c))
/** The sum over i from `from` to `to` of what is there. */
export const sumOver = (from: number, to: number, term: (i: number) => Forced): Forced => {
  let sum: Forced = ZeroTangent
  for (let i = from; i <= to; i++) {
    const t = term(i)
    if (t._tag === 'Expr') sum = addTangents(sum, t)
  }
  return sum
}
/** The coefficient of order k of a product, by Leibniz: f(a_k, b_0), f(a_0, b_k), and f(a_i, b_j) with i + j = k. */
export const convolved = (
  k: number,
  a: Series,
  b: Series,
  left: (ak: AnyExpr, b0: AnyExpr) => AnyExpr,
  right: (a0: AnyExpr, bk: AnyExpr) => AnyExpr,
  both: (ai: AnyExpr, bj: AnyExpr) => AnyExpr,
): Forced => {
  const [ak, bk] = [a.at(k), b.at(k)]
  const ends = addTangents(ak._tag === 'Expr' ? left(ak, b.primal) : ZeroTangent, bk._tag === 'Expr' ? right(a.primal, bk) : ZeroTangent)
  return addTangents(
    ends,
    sumOver(1, k - 1, (i) => {
      const ai = a.at(i)
      if (ai._tag !== 'Expr') return ZeroTangent
      const bj = b.at(k - i)
      return bj._tag === 'Expr' ? both(ai, bj) : ZeroTangent
    }),
  )
}
/** Of f that is linear in each of its two arguments. */
export const taylorOfBilinear =
  (f: AnyPrimitive): TaylorRule =>
  ([a, b], _ys, params) => {
    const of = (u: AnyExpr, v: AnyExpr): AnyExpr => asExpr(applyAny(f, [asNode(u), asNode(v)], params)[0]!)
    return (k) => [convolved(k, a!, b!, of, of, of)]
  }

/**
 * Of an elementwise function y with partials p_j: y' = sum of p_j(x, y) x_j', so k y_k = sum over j and i <= k of i x_{j,i} p_{j,k-i}. The
 * coefficients of p_j are those of its own expression, in which x and y are the series at hand: they need y below k alone. What recurrences
 * exp, tanh, sqrt ... have follows from that.   Source  Griewank and Walther 2008, 13.2.
 */
export const taylorOfPartials =
  (primitive: AnyPrimitive, partialsOf: PartialsOf): TaylorRule =>
  (xs, ys, params, context) => {
    let partials: readonly (readonly (Series | Entry)[])[] | undefined
    const slopes = xs.map(slope)
    return (k) => {
      partials ??= partialsAlong(primitive, partialsOf, xs, ys, params, context)
      return ys.map((y, r) => {
        if (!isFloat(y.primal.dtype)) return NoTangent
        let sum: Forced = ZeroTangent
        partials![r]!.forEach((p, j) => {
          sum = addTangents(sum, term(k, xs[j]!, slopes[j]!, p, context))
        })
        return inDtypeOf(y.primal, sum)
      })
    }
  }
/** The series of x': its coefficient k - 1 is k x_k. The first is asked for as that of order 0. */
const slope = (x: Series): ((k: number) => Forced) => {
  const known: Forced[] = []
  return (k) => {
    known[k] ??= times(x.at(k), k)
    return known[k]
  }
}
/** The part of y_k that comes through one argument. */
const term = (k: number, x: Series, dx: (k: number) => Forced, p: Series | Entry, context: TaylorContext): Forced => {
  if (typeof p === 'object' && !('primal' in p) && p._tag === 'NotImplemented') return p
  const first = x.at(k)
  const at0 = typeof p === 'object' && 'primal' in p ? p.primal : p
  const head = first._tag === 'Expr' ? scaled(first, at0, context.config) : ZeroTangent
  if (!(typeof p === 'object' && 'primal' in p) || p.still) return head
  const rest = sumOver(1, k - 1, (i) => {
    const d = dx(i)
    if (d._tag !== 'Expr') return ZeroTangent
    const q = p.at(k - i)
    return q._tag === 'Expr' ? context.times(d, q) : ZeroTangent
  })
  return addTangents(head, times(rest, 1 / k))
}
/** The partials as series; on inputs of their own, so that an argument used twice is in two places. */
const partialsAlong = (
  primitive: AnyPrimitive,
  partialsOf: PartialsOf,
  xs: readonly Series[],
  ys: readonly Series[],
  params: never,
  { through }: TaylorContext,
): readonly (readonly (Series | Entry)[])[] => {
  const own = (x: Series): AnyExpr => (asNode(x.primal).kind === CONST ? x.primal : asExpr(input(asNode(x.primal).aval)))
  const us = xs.map(own)
  const vs = ys.map(own)
  const entries = entriesOf(primitive, partialsOf, us, vs, params)
  const rows = ys.map((_, r) => xs.map((x, j): Entry => (x.still ? ZeroTangent : entries(r, j))))
  const wanted = rows.flat().filter((p): p is AnyExpr => typeof p === 'object' && p._tag === 'Expr')
  const made = through(wanted, new Map([...us.map((u, i) => [u, xs[i]!] as const), ...vs.map((v, i) => [v, ys[i]!] as const)]))
  let at = 0
  return rows.map((row) => row.map((p) => (typeof p === 'object' && p._tag === 'Expr' ? made[at++]! : p)))
}
