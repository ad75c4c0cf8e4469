/** Calculus of what keeps hard zeros: what it takes out has no derivative, and an infinite slope of what it leaves is taken out too. */
import type { Rule } from '../core/calculus/rule.js'
import { NO_PARAMS } from '../core/graph/primitive.js'
import { NoTangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { isfinite, or } from '../core/ops/compare.js'
import { where } from '../core/ops/elementwise.js'
import { finiteUnless, finiteUnlessPrimitive, type heldFamily } from '../core/ops/held.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batchAll } from './batching.js'
import { reapply, rule } from './define.js'

/** A (co)tangent through it. */
const through = (t: AnyExpr, x: AnyExpr, flags: AnyExpr): AnyExpr => finiteUnless(flags, where(or(flags, isfinite(x)), t, 0))

/** One rule per primitive of core/ops/held.ts. */
export const heldRules: { readonly [K in keyof typeof heldFamily]: Rule } = {
  finiteUnless: rule(finiteUnlessPrimitive, {
    frule: ([x, flags], [dx], _params, { y }) => [y, dx._tag === 'Expr' ? through(dx, x, flags) : ZeroTangent],
    rrule: ([x, flags], _params, { y }) => [y, (yBar) => [thunk(() => through(yBar, x, flags)), NoTangent]],
    batch: (xs, batched, _params, size) => reapply(finiteUnlessPrimitive, batchAll(xs, batched, size), NO_PARAMS),
  }),
}
