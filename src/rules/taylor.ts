/** Taylor rules that do not follow from a form: what is piecewise linear, products, quotients, running products, loops. */
import { GUARDED } from '../core/calculus/hard-zeros.js'
import type { Rule } from '../core/calculus/rule.js'
import type { Series, TaylorContext, TaylorRule } from '../core/calculus/taylor.js'
import { asNode, CONST } from '../core/graph/expr.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { type Forced, ZeroTangent } from '../core/graph/tangent.js'
import { matmulPrimitive } from '../core/ops/contract.js'
import { convInputPrimitive, convKernelPrimitive } from '../core/ops/conv.js'
import { div, neg, square } from '../core/ops/elementwise.js'
import type { RecurrenceParams, ScanParams } from '../core/ops/scans.js'
import type { AnyExpr } from '../core/types/expr.js'
import { reapply } from './define.js'
import { addTangents, scaled, strongBoth } from './product.js'
import { cumprodOf, recurrence, shift } from './scans.js'
import { convolved, sumOver, times } from './taylor-forms.js'
import { taylorOfScan } from './taylor-loops.js'

/** Products of coefficients, where both are there. */
const pairs = (
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
/** acc + f(a, b), of f that is linear in each of both. */
const accumulated =
  (f: AnyPrimitive): TaylorRule =>
  ([acc, a, b], _ys, params) => {
    const of = (u: AnyExpr, v: AnyExpr): AnyExpr => reapply(f, [u, v], params)
    return (k) => [addTangents(acc!.at(k), convolved(k, a!, b!, of, of, of))]
  }
/** Along the axis y_n = a_n y_{n-1} + b_n, so at order k a recurrence over b_k and what lower orders of y give. */
const recurred: TaylorRule = ([a, b], [y], params, { config, times: both }) => {
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
const runningProduct: TaylorRule = ([x], [y], params, { config, times: both }) => {
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

/** By the primitive's name; `each` is what moves linearly as long as it selects the same. */
const rules: Readonly<Record<string, TaylorRule | 'each'>> = {
  mul: product,
  square: ([x], _ys, _params, context) => squared(x!, context),
  div: quotient,
  strongMul: strongProduct,
  matmulAdd: accumulated(matmulPrimitive as AnyPrimitive),
  convInputAdd: accumulated(convInputPrimitive as AnyPrimitive),
  convKernelAdd: accumulated(convKernelPrimitive as AnyPrimitive),
  linearRecurrence: recurred,
  cumprod: runningProduct,
  scan: taylorOfScan,
  ...Object.fromEntries(
    ['where', 'relu', 'maximum', 'minimum', 'cast', 'split', 'max', 'min', 'maxPool', 'sort'].map((name) => [name, 'each'] as const),
  ),
}
/** A family's rules with the Taylor rules that are written out. */
export const withTaylor = <F extends Readonly<Record<string, Rule>>>(family: F): F =>
  Object.fromEntries(
    Object.entries(family).map(([name, rule]) => [name, Object.hasOwn(rules, name) ? { ...rule, taylor: rules[name] } : rule]),
  ) as F
