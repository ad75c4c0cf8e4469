/** The derivatives that follow from a form: linear, bilinear, elementwise with these partials, constant; for any number of results. */

import type { BatchRule, Form, FRule, PartialsOf, Rule, RuleContext, TransposeOf } from '../core/calculus/rule.js'
import { shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import { isFloat } from '../core/graph/aval.js'
import { castNode } from '../core/graph/cast.js'
import { applyAny, asExpr, asNode, constant } from '../core/graph/expr.js'
import type { AnyPrimitive, ArgKind } from '../core/graph/primitive.js'
import { type Forced, NoTangent, type Tangent, thunk, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { beside } from '../core/graph/weak.js'
import { broadcastTo } from '../core/ops/layout.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims, elementwiseBatch } from './batching.js'
import { isEntry } from './given.js'
import { addTangents, scaleTangent } from './product.js'

/** Zeros of x's shape and dtype: a broadcast literal, no buffer. */
export const zerosLike = (x: AnyExpr): AnyExpr => broadcastTo(asExpr(constant(0, x.dtype)), dims(x))

/** frule, and rrule for cotangents of which at least one is an expression. */
interface Derivatives {
  readonly tangents: (xs: readonly AnyExpr[], dxs: readonly Forced[], params: never, context: RuleContext) => readonly Tangent[]
  readonly pullback: (
    xs: readonly AnyExpr[],
    params: never,
    context: RuleContext,
  ) => (yBars: readonly Forced[], active: readonly boolean[]) => readonly Tangent[]
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
  const { tangents, pullback } = derivatives(primitive, form)
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
      const back = pullback(xs, params, context)
      const formPullback = (yBars: readonly Forced[], active: readonly boolean[]): readonly Tangent[] =>
        yBars.some((y) => y._tag === 'Expr') ? back(yBars, active) : nothing(primitive, xs, yBars)
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
      return { tangents: linearTangents(primitive), pullback: transposed(form.transpose) }
    case 'bilinear':
      return { tangents: bilinearTangents(primitive), pullback: transposed(form.transpose) }
    case 'constant':
      return { tangents: (_xs, _dxs, _params, { ys }) => ys.map(still), pullback: (xs) => () => nothing(primitive, xs, []) }
  }
}

type Entry = AnyExpr | number | ZeroTangent | NoTangent
type Matrix = readonly (readonly Entry[])[]
/** The matrix that an author's partials gave, checked: a row for each result, an entry for each argument. */
const matrixOf = (primitive: AnyPrimitive, given: ReturnType<PartialsOf>, xs: readonly AnyExpr[], ys: readonly AnyExpr[]): Matrix => {
  const where = `the partials of ${primitive.name}`
  const refuse = (reason: string, fix: string): never => raise({ _tag: 'BadInput', where, reason, fix })
  const listed = (list: unknown, count: number, what: string): readonly unknown[] =>
    Array.isArray(list) && list.length === count
      ? list
      : refuse(
          `they are ${Array.isArray(list) ? `${list.length}` : shown(list)}, there ${count === 1 ? `is 1 ${what}` : `are ${count} ${what}s`}.`,
          `return a list with one for each ${what}.`,
        )
  return listed(given, ys.length, 'result').map((row, r) => {
    if (row === ZeroTangent || row === NoTangent) return xs.map((_, i) => (kindOf(primitive, i) === 'int' ? NoTangent : ZeroTangent))
    return listed(row, xs.length, 'argument').map((p, i) => {
      if (isEntry(p)) return p
      const what = `d${ys.length === 1 ? 'y' : `y${r + 1}`}/d${xs.length === 1 ? 'x' : `x${i + 1}`}`
      return refuse(
        `${what} is ${shown(p)}, it must be an expression or a number.`,
        'write it with operations, or ZeroTangent where it is 0.',
      )
    })
  })
}
/** A (co)tangent in the dtype of what it belongs to: a partial of numbers alone, `where(gt(x, 0), 1, -1)`, is f64 also beside an f32. */
const inDtypeOf = (x: AnyExpr, t: Forced): Forced =>
  t._tag === 'Expr' && t.dtype !== x.dtype ? asExpr(castNode(beside(asNode(t), x.dtype), x.dtype)) : t
/** dy_i = sum of dx_j dy_i/dx_j; xBar_j = sum of yBar_i dy_i/dx_j. Only products that somebody asks for are built. */
const ofPartials = (primitive: AnyPrimitive, partials: PartialsOf): Derivatives => {
  const matrix = (x: readonly AnyExpr[], ys: readonly AnyExpr[], params: never): Matrix =>
    matrixOf(primitive, partials({ x, ys, params }), x, ys)
  return {
    tangents: (xs, dxs, params, { ys, config }) => {
      const rows = matrix(xs, ys, params)
      return ys.map((y, r) =>
        isFloat(y.dtype)
          ? inDtypeOf(
              y,
              dxs.reduce<Forced>(
                (sum, dx, j) => (dx._tag === 'Expr' ? addTangents(sum, scaleTangent(dx, rows[r]![j]!, config)) : sum),
                ZeroTangent,
              ),
            )
          : NoTangent,
      )
    },
    pullback: (xs, params, { ys, config }) => {
      let rows: Matrix | undefined
      return (yBars, active) =>
        xs.map((x, j) => {
          if (kindOf(primitive, j) === 'int') return NoTangent
          if (!active[j]) return ZeroTangent
          return thunk(() => {
            rows ??= matrix(xs, ys, params)
            return inDtypeOf(
              x,
              yBars.reduce<Forced>(
                (sum, yBar, r) => (yBar._tag === 'Expr' ? addTangents(sum, scaleTangent(yBar, rows![r]![j]!, config)) : sum),
                ZeroTangent,
              ),
            )
          })
        })
    },
  }
}
/** The author's transpose, of cotangents that are all expressions: zeros where some have none. */
const transposed =
  (transpose: TransposeOf): Derivatives['pullback'] =>
  (xs, params, { ys }) =>
  (yBars, active) =>
    transpose(
      yBars.map((yBar, r) => (yBar._tag === 'Expr' ? yBar : zerosLike(ys[r]!))),
      xs,
      params,
      active,
    )
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
