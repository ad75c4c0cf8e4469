/** Taylor rules of what adds a product to an accumulator. */
import type { TaylorRule } from '../core/calculus/taylor.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import type { AnyExpr } from '../core/types/expr.js'
import { reapply } from './define.js'
import { addTangents } from './product.js'
import { convolved } from './taylor-forms.js'

/** acc + f(a, b), of f that is linear in each of both. */
export const accumulated =
  (f: AnyPrimitive): TaylorRule =>
  ([acc, a, b], _ys, params) => {
    const of = (u: AnyExpr, v: AnyExpr): AnyExpr => reapply(f, [u, v], params)
    return (k) => [addTangents(acc!.at(k), convolved(k, a!, b!, of, of, of))]
  }
