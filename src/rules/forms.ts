/** The derivatives that follow from a form: linear, bilinear, elementwise with these partials, constant; for any number of results. */

import type { BatchRule, Form, FRule, PartialsOf, ReachOf, Rule, RuleConfig, RuleContext, TransposeOf } from '../core/calculus/rule.js'
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { isFloat } from '../core/graph/aval.js'
import { castNode } from '../core/graph/cast.js'
import { applyAny, asExpr, asNode, constant } from '../core/graph/expr.js'
import type { AnyPrimitive, ArgKind } from '../core/graph/primitive.js'
import { type Forced, NoTangent, type NotImplemented, type Tangent, thunk, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { beside } from '../core/graph/weak.js'
import { broadcastTo } from '../core/ops/layout/layout.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims, elementwiseBatch } from './batching.js'
import { isEntry } from './given.js'
import { addTangents, besideZeros, scaled } from './product.js'

/** Zeros of x's shape and dtype: a broadcast literal, no buffer. */
export const zerosLike = (x: AnyExpr): AnyExpr => broadcastTo(asExpr(constant(0, x.dtype)), dims(x))

/** frule, and rrule for cotangents of which at least one is an expression. */
interface Derivatives {
  readonly tangents: (xs: readonly AnyExpr[], dxs: readonly Forced[], params: never, context: RuleContext) => readonly Tangent[]
  readonly cotangents: (
    xs: readonly AnyExpr[],
    params: never,
    context: RuleContext,
    yBars: readonly Forced[],
    active: readonly boolean[],
  ) => readonly Tangent[]
}
const kindOf = ({ args, variadic }: AnyPrimitive, i: number): ArgKind => args[variadic ? 0 : i]!
const still = (x: AnyExpr): ZeroTangent | NoTangent => (isFloat(x.dtype) ? ZeroTangent : NoTangent)
/** Cotangents of arguments where no result has one; what is not known stays so. */
const nothing = (primitive: AnyPrimitive, xs: readonly AnyExpr[], yBars: readonly Forced[]): readonly Tangent[] => {
  const unknown = yBars.find((y) => y._tag === 'NotImplemented')
  return xs.map((x, i) => (kindOf(primitive, i) === 'int' ? NoTangent : (unknown ?? still(x))))
}

/** The rule of a primitive that its form says; its batch is the author's, or that of what is elementwise. */
export const formed = (primitive: AnyPrimitive, form: Form, batch?: BatchRule): Rule => {
  const { tangents, cotangents } = derivatives(primitive, form)
  const frule: FRule = (xs, dxs, params, context) => {
    const live = dxs.map(unthunk)
    const { ys } = context
    return { ys, dys: live.some((d) => d._tag === 'Expr') ? tangents(xs, live, params, context) : ys.map(still) }
  }
  const batched = batch ?? (form._tag === 'partials' || primitive.class === 'elementwise' ? elementwiseBatch(primitive) : undefined)
  return {
    primitive,
    form,
    frule,
    rrule: (xs, params, context) => {
      const formPullback = (yBars: readonly Forced[], active: readonly boolean[]): readonly Tangent[] =>
        yBars.some((y) => y._tag === 'Expr') ? cotangents(xs, params, context, yBars, active) : nothing(primitive, xs, yBars)
      return { ys: context.ys, pullback: formPullback }
    },
    ...(batched !== undefined && { batch: batched }),
  }
}
const derivatives = (primitive: AnyPrimitive, form: Form): Derivatives => {
  switch (form._tag) {
    case 'partials':
      return ofPartials(primitive, form.partials)
    case 'linear':
      return { tangents: linearTangents(primitive), cotangents: transposed(form.transpose) }
    case 'bilinear':
      return { tangents: bilinearTangents(primitive), cotangents: bilinearCotangents(form.transpose, form.reach) }
    case 'constant':
      return { tangents: (_xs, _dxs, _params, { ys }) => ys.map(still), cotangents: (xs) => nothing(primitive, xs, []) }
  }
}

export type Entry = AnyExpr | number | ZeroTangent | NoTangent | NotImplemented
type Matrix = readonly (readonly Entry[] | ZeroTangent | NoTangent)[]
const refused = (primitive: AnyPrimitive, reason: string, fix: string): never => badInput(`the partials of ${primitive.name}`, reason, fix)
/** A list of as many as there are results or arguments. */
const listOf = (primitive: AnyPrimitive, given: unknown, count: number, what: 'result' | 'argument'): readonly unknown[] =>
  Array.isArray(given) && given.length === count
    ? given
    : refused(
        primitive,
        `they are ${Array.isArray(given) ? `${given.length}` : shown(given)}, there ${count === 1 ? `is 1 ${what}` : `are ${count} ${what}s`}.`,
        `return a list with one for each ${what}.`,
      )
/** The matrix that an author's partials gave, checked: a row for each result, an entry for each argument; a zero in place of a row of zeros. */
const matrixOf = (primitive: AnyPrimitive, given: ReturnType<PartialsOf>, xs: readonly AnyExpr[], ys: readonly AnyExpr[]): Matrix => {
  const rows = listOf(primitive, given, ys.length, 'result')
  for (let r = 0; r < rows.length; r++) {
    if (rows[r] === ZeroTangent || rows[r] === NoTangent) continue
    const row = listOf(primitive, rows[r], xs.length, 'argument')
    for (let i = 0; i < row.length; i++) {
      if (isEntry(row[i])) continue
      const what = `d${ys.length === 1 ? 'y' : `y${r}`}/d${xs.length === 1 ? 'x' : `x${i}`}`
      const reason = `${what} is ${shown(row[i])}, it must be an expression or a number.`
      refused(primitive, reason, 'write it with operations, or ZeroTangent where it is 0.')
    }
  }
  return rows as Matrix
}
const entry = (rows: Matrix, r: number, j: number): Entry => {
  const row = rows[r]!
  return '_tag' in row ? ZeroTangent : row[j]!
}
/** A (co)tangent in the dtype of what it belongs to: a partial may hold a declared f64, and a result may have a dtype of its own. */
export const inDtypeOf = (x: AnyExpr, t: Forced): Forced =>
  t._tag === 'Expr' && t.dtype !== x.dtype ? asExpr(castNode(beside(asNode(t), x.dtype), x.dtype)) : t
/** The partials that a form gives: dy_i/dx_j, checked. */
export const entriesOf = (
  primitive: AnyPrimitive,
  partials: PartialsOf,
  xs: readonly AnyExpr[],
  ys: readonly AnyExpr[],
  params: never,
): ((result: number, argument: number) => Entry) => {
  const rows = matrixOf(primitive, partials({ x: xs, ys, params }), xs, ys)
  return (r, j) => entry(rows, r, j)
}
/** A sum with one more product; a first one is itself. */
const withProduct = (sum: Forced, dx: Forced, p: Entry, config: RuleConfig): Forced => {
  if (dx._tag !== 'Expr') return sum
  const term = scaled(dx, p, config)
  return sum === ZeroTangent ? term : addTangents(sum, term)
}
/** dy_i = sum of dx_j dy_i/dx_j; xBar_j = sum of yBar_i dy_i/dx_j. Only products that somebody asks for are built. */
const ofPartials = (primitive: AnyPrimitive, partials: PartialsOf): Derivatives => {
  const matrix = (x: readonly AnyExpr[], ys: readonly AnyExpr[], params: never): Matrix =>
    matrixOf(primitive, partials({ x, ys, params }), x, ys)
  return {
    tangents: (xs, dxs, params, { ys, config }) => {
      const rows = matrix(xs, ys, params)
      return ys.map((y, r) => {
        if (!isFloat(y.dtype)) return NoTangent
        let dy: Forced = ZeroTangent
        for (let j = 0; j < dxs.length; j++) dy = withProduct(dy, dxs[j]!, entry(rows, r, j), config)
        return inDtypeOf(y, dy)
      })
    },
    cotangents: (xs, params, { ys, config }, yBars, active) => {
      let rows: Matrix | undefined
      const cotangent = (j: number): Forced => {
        rows ??= matrix(xs, ys, params)
        let xBar: Forced = ZeroTangent
        for (let r = 0; r < yBars.length; r++) xBar = withProduct(xBar, yBars[r]!, entry(rows, r, j), config)
        return inDtypeOf(xs[j]!, xBar)
      }
      return xs.map((_, j) => (kindOf(primitive, j) === 'int' ? NoTangent : active[j] ? thunk(() => cotangent(j)) : ZeroTangent))
    },
  }
}
/** The author's transpose, of cotangents that are all expressions: zeros where some have none. */
const transposed =
  (transpose: TransposeOf): Derivatives['cotangents'] =>
  (xs, params, { ys }, yBars, active) =>
    transpose(
      yBars.map((yBar, r) => (yBar._tag === 'Expr' ? yBar : zerosLike(ys[r]!))),
      xs,
      params,
      active,
    )
/** The author's transposes, over arguments that are 0 where they are not finite and meet hard zeros alone. */
const bilinearCotangents =
  (transpose: TransposeOf, reach?: ReachOf): Derivatives['cotangents'] =>
  (xs, params, { config, ys }, [yBar], active) => {
    const avals = [...xs, ys[0]!].map((x) => asNode(x).aval)
    const factors = besideZeros(config, yBar as AnyExpr, xs, active, reach && ((flags, from, to) => reach(flags, from, to, avals, params)))
    return transpose([yBar as AnyExpr], factors, params, active)
  }
const applied = (primitive: AnyPrimitive, xs: readonly AnyExpr[], params: unknown): readonly AnyExpr[] =>
  applyAny(primitive, xs.map(asNode), params).map(asExpr)
/** dy = f(dx), with zeros where an argument has no tangent. */
const linearTangents =
  (primitive: AnyPrimitive): Derivatives['tangents'] =>
  (xs, dxs, params) => {
    const tangents = xs.map((x, i) => {
      const d = dxs[i]!
      return d._tag === 'Expr' ? d : kindOf(primitive, i) === 'int' ? x : zerosLike(x)
    })
    return applied(primitive, tangents, params).map((dy) => (isFloat(dy.dtype) ? dy : NoTangent))
  }
/** dy = f(da, b) + f(a, db). */
const bilinearTangents =
  (primitive: AnyPrimitive): Derivatives['tangents'] =>
  (xs, dxs, params) => {
    const [a, b] = xs as readonly [AnyExpr, AnyExpr]
    const [da, db] = dxs as readonly [Forced, Forced]
    const f = (u: AnyExpr, v: AnyExpr): AnyExpr => applied(primitive, [u, v], params)[0]!
    return [addTangents(da._tag === 'Expr' ? f(da, b) : ZeroTangent, db._tag === 'Expr' ? f(a, db) : ZeroTangent)]
  }
