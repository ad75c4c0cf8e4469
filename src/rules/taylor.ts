/** Taylor rules: those that do not follow from a form (products, quotients, what is piecewise linear), and what a rule says of its own. */
import { GUARDED } from '../core/calculus/hard-zeros.js'
import type { Rule } from '../core/calculus/rule.js'
import type { Series, TaylorContext, TaylorForm, TaylorOf, TaylorRule } from '../core/calculus/taylor.js'
import { asNode, CONST } from '../core/graph/expr.js'
import { type Forced, ZeroTangent } from '../core/graph/tangent.js'
import { div, neg, square } from '../core/ops/elementwise.js'
import type { AnyExpr } from '../core/types/expr.js'
import { addTangents, scaled, strongBoth } from './product.js'
import { convolved, sumOver, taylorOfBilinear, taylorOfPartials, times } from './taylor-forms.js'
import { accumulated } from './taylor-products.js'

/** Products of coefficients, where both are there. */
export const pairs = (
  from: number,
  to: number,
  k: number,
  a: Series,
  b: (j: number) => Forced,
  of: (ai: AnyExpr, bj: AnyExpr) => AnyExpr,
): Forced =>
  sumOver(from, to, (i) => {
    const ai = a.at(i)
    if (ai._tag !== 'Expr') return ZeroTangent
    const bj = b(k - i)
    return bj._tag === 'Expr' ? of(ai, bj) : ZeroTangent
  })

/** y_k = 2 (x_k x_0 + x_{k-1} x_1 + ...), of even order with x_{k/2}^2 in the middle. */
const squared =
  (x: Series, { config, times: both }: TaylorContext) =>
  (k: number): readonly Forced[] => {
    const head = x.at(k)
    const ends = head._tag === 'Expr' ? scaled(head, x.primal, config) : ZeroTangent
    const half = pairs(1, Math.ceil(k / 2) - 1, k, x, (j) => x.at(j), both)
    const middle = k % 2 === 0 ? x.at(k / 2) : ZeroTangent
    return [addTangents(times(addTangents(ends, half), 2), middle._tag === 'Expr' ? square(middle) : ZeroTangent)]
  }
const product: TaylorRule = ([a, b], _ys, _params, context) => {
  if (a === b) return squared(a!, context)
  const { config, times: both } = context
  return (k) => [
    convolved(
      k,
      a!,
      b!,
      (ak, b0) => scaled(ak, b0, config) as AnyExpr,
      (a0, bk) => scaled(bk, a0, config) as AnyExpr,
      both,
    ),
  ]
}
/** y_k = (a_k - b_1 y_{k-1} - ... - b_k y_0) / b_0; each coefficient is the first factor of its product, so that hard zeros stay. */
const quotient: TaylorRule = ([a, b], [y], _params, { config, times: both }) => {
  const literal = asNode(b!.primal).kind === CONST ? (asNode(b!.primal).payload as number) : 0
  const inverse = literal !== 0 ? 1 / literal : div(1, b!.primal)
  const ratios: Forced[] = []
  /** -y_j / b_0. */
  const ratio = (j: number): Forced => {
    if (ratios[j] === undefined) {
      const yj = j === 0 ? y!.primal : y!.at(j)
      ratios[j] = yj._tag !== 'Expr' ? ZeroTangent : j === 0 ? neg(div(yj, b!.primal)) : neg(scaled(yj, inverse, config) as AnyExpr)
    }
    return ratios[j]
  }
  return (k) => {
    const ak = a!.at(k)
    const last = b!.at(k)
    const head = addTangents(
      ak._tag === 'Expr' ? scaled(ak, inverse, config) : ZeroTangent,
      last._tag === 'Expr' ? scaled(last, ratio(0) as AnyExpr, config) : ZeroTangent,
    )
    return [addTangents(head, pairs(1, k - 1, k, b!, ratio, both))]
  }
}
const strongProduct: TaylorRule = ([a, b], _ys, _params, { config }) => {
  const strong = (dx: AnyExpr, factor: AnyExpr): AnyExpr => strongBoth(config, dx, factor, GUARDED)
  return (k) => [convolved(k, a!, b!, strong, (a0, bk) => strong(bk, a0), strong)]
}
const named: Readonly<Record<Exclude<TaylorForm, 'each' | object>, TaylorRule>> = {
  product,
  square: ([x], _ys, _params, context) => squared(x!, context),
  quotient,
  strongProduct,
}
/** By its own row, or by its form: partials and bilinear; of a linear or constant one each coefficient goes by itself. */
export const taylorOf: TaylorOf = ({ primitive, taylor, form }) => {
  if (typeof taylor === 'function' || taylor === 'each') return taylor
  if (taylor !== undefined) return typeof taylor === 'string' ? named[taylor] : accumulated(taylor.accumulates)
  if (form === undefined) return undefined
  if (form._tag === 'partials') return taylorOfPartials(primitive, form.partials)
  return form._tag === 'bilinear' ? taylorOfBilinear(primitive) : 'each'
}

/** By the primitive's name; `each` is what moves linearly as long as it selects the same. */
type Rows = Readonly<Record<string, TaylorRule | TaylorForm>>
const base: Rows = {
  mul: 'product',
  square: 'square',
  div: 'quotient',
  strongMul: 'strongProduct',
  ...Object.fromEntries(['where', 'relu', 'maximum', 'minimum', 'cast', 'split', 'max', 'min'].map((name) => [name, 'each'] as const)),
}
/** A family's rules with the Taylor rules that are written out: those here, and `rows`. */
export const withTaylor = <F extends Readonly<Record<string, Rule>>>(family: F, rows: Rows = base): F =>
  Object.fromEntries(
    Object.entries(family).map(([name, rule]) => [name, Object.hasOwn(rows, name) ? { ...rule, taylor: rows[name] } : rule]),
  ) as F
