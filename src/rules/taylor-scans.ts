/** Taylor rules of running products and recurrences. */
import type { TaylorRule } from '../core/calculus/taylor.js'
import { ZeroTangent } from '../core/graph/tangent.js'
import type { RecurrenceParams, ScanParams } from '../core/ops/scans.js'
import type { AnyExpr } from '../core/types/expr.js'
import { addTangents, scaled } from './product.js'
import { cumprodOf, recurrence, shift } from './scans.js'
import { pairs } from './taylor.js'

/** Along the axis y_n = a_n y_{n-1} + b_n, so at order k a recurrence over b_k and what lower orders of y give. */
export const recurred: TaylorRule = ([a, b], [y], params, { config, times: both }) => {
  const { axis, reverse } = params as RecurrenceParams
  return (k) => {
    const ak = a!.at(k)
    const head = ak._tag === 'Expr' ? scaled(ak, shift(y!.primal, axis, reverse), config) : ZeroTangent
    const lower = pairs(
      1,
      k - 1,
      k,
      a!,
      (j) => y!.at(j),
      (ai, yj) => both(ai, shift(yj, axis, reverse)),
    )
    const source = addTangents(addTangents(head, lower), b!.at(k))
    return [source._tag === 'Expr' ? recurrence(a!.primal, source, axis, reverse) : ZeroTangent]
  }
}
/** As the recurrence: inclusive y_n = x_n y_{n-1}, exclusive y_n = x_{n-1} y_{n-1}. */
export const runningProduct: TaylorRule = ([x], [y], params, { config, times: both }) => {
  const p = params as ScanParams
  const { axis, reverse, exclusive } = p
  const before = (z: AnyExpr): AnyExpr => shift(z, axis, reverse)
  const of = (xk: AnyExpr, z: AnyExpr): AnyExpr => both(xk, exclusive ? z : before(z))
  return (k) => {
    const xk = x!.at(k)
    const others = exclusive ? y!.primal : cumprodOf(x!.primal, { ...p, exclusive: true })
    const head = xk._tag === 'Expr' ? scaled(xk, others, config) : ZeroTangent
    const source = addTangents(
      head,
      pairs(1, k - 1, k, x!, (j) => y!.at(j), of),
    )
    if (source._tag !== 'Expr') return [ZeroTangent]
    return [exclusive ? recurrence(before(x!.primal), before(source), axis, reverse) : recurrence(x!.primal, source, axis, reverse)]
  }
}
