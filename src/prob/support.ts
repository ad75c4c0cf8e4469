/** Where the draws of a distribution lie. */
import { badInput } from '../core/errors/explain.js'
import {
  type AnyExpr,
  abs,
  add,
  all,
  any,
  cast,
  cholesky,
  diagonal,
  diff,
  expandDims,
  eye,
  floor,
  full,
  ge,
  gt,
  isfinite,
  le,
  lt,
  mul,
  ne,
  not,
  or,
  stopGradient,
  sub,
  sum,
  triu,
  where,
} from '../index.js'
import { exprOf, isArray, type Parameter, parameterIn } from '../random/given.js'
import { lastAxes } from './axes.js'

/** What a support is. */
export type SupportKind =
  | 'real'
  | 'greaterThan'
  | 'lessThan'
  | 'interval'
  | 'integers'
  | 'simplex'
  | 'counts'
  | 'ordered'
  | 'lowerCholesky'
  | 'correlationCholesky'
  | 'positiveDefinite'
  | 'independent'
  | 'point'

/** A set of numbers, vectors or matrices. */
export interface Support {
  readonly kind: SupportKind
  /** The number of axes of one element: 0 for numbers, 1 for vectors, 2 for matrices. */
  readonly eventRank: number
  /** Are the elements whole numbers? */
  readonly discrete: boolean
  /** The least and the largest number, where there is one: arrays broadcast. */
  readonly lower?: AnyExpr | number
  readonly upper?: AnyExpr | number
  /** What the axes of an `independent` one hold. */
  readonly base?: Support
  /** Is x in the set? A truth value for each element; NaN is in no set. */
  readonly contains: (x: Parameter) => AnyExpr
  /** Which elements are outside, NaN not among them: none unless given. */
  readonly outside?: (x: AnyExpr) => AnyExpr
  /** The elements of x that are not outside, and some of the set in place of the others. */
  readonly inner?: (x: AnyExpr, outside: AnyExpr) => AnyExpr
}

type Parts = Omit<Support, 'contains'>
/** Is an element NaN? */
const lost = (x: AnyExpr, rank: number): AnyExpr => {
  if (x.dtype !== 'f32' && x.dtype !== 'f64') return full(x.shape.slice(0, x.shape.length - rank) as number[], 0, 'bool') as AnyExpr
  return anyOf(ne(x, x), rank)
}
const anyOf = (x: AnyExpr, rank: number): AnyExpr => (rank === 0 ? x : (any(x, { axis: lastAxes(rank) }) as AnyExpr))
const made = (parts: Parts): Support => {
  const contains = (given: Parameter): AnyExpr => {
    const x = isArray(given) ? exprOf(given) : parameterIn(given, 'f64', 'contains', 'x')
    if (x.shape.length < parts.eventRank) badInput('contains', `x has rank ${x.shape.length}, an element has rank ${parts.eventRank}.`)
    const out = parts.outside?.(x)
    return not(out === undefined ? lost(x, parts.eventRank) : or(out, lost(x, parts.eventRank))) as AnyExpr
  }
  return Object.freeze({ ...parts, contains })
}
type Bound = AnyExpr | number
const isFinal = (x: Bound | undefined): x is Bound =>
  x !== undefined && !(typeof x === 'number' && Math.abs(x) === Number.POSITIVE_INFINITY)
/** Some number within bounds. */
const between = (lower: Bound | undefined, upper: Bound | undefined): Bound => {
  const middle =
    lower === undefined
      ? sub(upper!, 1)
      : upper === undefined
        ? add(lower, 1)
        : typeof lower === 'number' && typeof upper === 'number'
          ? (lower + upper) / 2
          : mul(0.5, add(lower, upper))
  return typeof middle === 'number' ? middle : (stopGradient(middle as AnyExpr) as AnyExpr)
}
/** Numbers within bounds, open or closed. */
const bounded = (lower: Bound | undefined, upper: Bound | undefined, open: boolean): Support => {
  const [low, high] = [isFinal(lower) ? lower : undefined, isFinal(upper) ? upper : undefined]
  if (low === undefined && high === undefined) return made({ kind: 'real', eventRank: 0, discrete: false })
  const parts = {
    kind: low === undefined ? ('lessThan' as const) : high === undefined ? ('greaterThan' as const) : ('interval' as const),
    eventRank: 0,
    discrete: false,
    ...(low === undefined ? {} : { lower: low }),
    ...(high === undefined ? {} : { upper: high }),
  }
  const [below, above] = open ? [le, ge] : [lt, gt]
  return made({
    ...parts,
    outside: (x) => {
      const sides = [...(low === undefined ? [] : [below(x, low) as AnyExpr]), ...(high === undefined ? [] : [above(x, high) as AnyExpr])]
      return sides.length === 1 ? sides[0]! : (or(sides[0]!, sides[1]!) as AnyExpr)
    },
    inner: (x, out) => where(out, cast(between(low, high) as AnyExpr, x.dtype as 'f64'), x) as AnyExpr,
  })
}
export const integers = (lower?: Bound, upper?: Bound): Support => {
  const [low, high] = [isFinal(lower) ? lower : undefined, isFinal(upper) ? upper : undefined]
  return made({
    kind: 'integers',
    eventRank: 0,
    discrete: true,
    ...(low === undefined ? {} : { lower: low }),
    ...(high === undefined ? {} : { upper: high }),
    outside: (x) =>
      [
        ...(x.dtype === 'i32' || x.dtype === 'bool' ? [] : [gt(x, floor(x)) as AnyExpr]),
        ...(low === undefined ? [] : [lt(x, low) as AnyExpr]),
        ...(high === undefined ? [] : [gt(x, high) as AnyExpr]),
      ].reduce((a, b) => or(a, b) as AnyExpr, full([], 0, 'bool') as AnyExpr),
    inner: (x, out) => where(out, cast((low ?? high ?? 0) as AnyExpr, x.dtype as 'f64'), x) as AnyExpr,
  })
}
const spreadOut = (out: AnyExpr, rank: number): AnyExpr => lastAxes(rank).reduce((y) => expandDims(y, -1) as AnyExpr, out)
/** How far from 1 a sum may be. */
const slack = (x: AnyExpr): number => (x.dtype === 'f32' ? 1e-4 : 1e-6)
export const simplex: Support = /*#__PURE__*/ made({
  kind: 'simplex',
  eventRank: 1,
  discrete: false,
  outside: (x) => or(any(lt(x, 0), { axis: -1 }), gt(abs(sub(sum(x, { axis: -1 }), 1)), slack(x))) as AnyExpr,
  inner: (x, out) => where(spreadOut(out, 1), 1 / Math.max(1, x.shape.at(-1)!), x) as AnyExpr,
})
/** Lower triangular matrices with a positive diagonal; of correlations their rows have length 1. */
const triangles = (kind: 'lowerCholesky' | 'correlationCholesky'): Support =>
  made({
    kind,
    eventRank: 2,
    discrete: false,
    outside: (x) => {
      const shape = or(any(ne(triu(x, 1), 0), { axis: [-1, -2] }), any(le(diagonal(x), 0), { axis: -1 })) as AnyExpr
      if (kind === 'lowerCholesky') return shape
      return or(shape, any(gt(abs(sub(sum(mul(x, x), { axis: -1 }), 1)), slack(x)), { axis: -1 })) as AnyExpr
    },
    inner: (x, out) => where(spreadOut(out, 2), eye(x.shape.at(-1)!, x.shape.at(-1)!, 0, x.dtype as 'f64'), x) as AnyExpr,
  })
export const independentOf = (base: Support, rank: number): Support => {
  if (rank === 0) return base
  const { outside, inner } = base
  return made({
    kind: 'independent',
    eventRank: base.eventRank + rank,
    discrete: base.discrete,
    base,
    ...(outside === undefined ? {} : { outside: (x: AnyExpr) => anyOf(outside(x), rank) }),
    ...(outside === undefined || inner === undefined ? {} : { inner: (x: AnyExpr) => inner(x, outside(x)) }),
  })
}

/** The sets by themselves: who names one has the code of no other. */
export const reals: Support = /*#__PURE__*/ made({ kind: 'real', eventRank: 0, discrete: false })
export const nonNegative: Support = /*#__PURE__*/ bounded(0, undefined, false)
export const above0: Support = /*#__PURE__*/ bounded(0, undefined, true)
export const unitInterval: Support = /*#__PURE__*/ bounded(0, 1, false)
export const greaterThan = (lower: AnyExpr | number, open = false): Support => bounded(lower, undefined, open)
export const lessThan = (upper: AnyExpr | number, open = false): Support => bounded(undefined, upper, open)
export const interval = (lower: AnyExpr | number, upper: AnyExpr | number, open = false): Support => bounded(lower, upper, open)
export const counts = (total: AnyExpr | number): Support =>
  made({
    kind: 'counts',
    eventRank: 1,
    discrete: true,
    upper: total,
    outside: (x) =>
      or(
        ne(sum(cast(x, x.dtype === 'bool' ? 'i32' : (x.dtype as 'f64')), { axis: -1 }), total),
        any(or(lt(x, 0), x.dtype === 'i32' || x.dtype === 'bool' ? full([], 0, 'bool') : gt(x, floor(x))), { axis: -1 }),
      ) as AnyExpr,
    inner: (x, out) => where(spreadOut(out, 1), 0, x) as AnyExpr,
  })
export const ordered: Support = /*#__PURE__*/ made({
  kind: 'ordered',
  eventRank: 1,
  discrete: false,
  outside: (x) => any(le(diff(x), 0), { axis: -1 }) as AnyExpr,
})
export const positiveDefinite: Support = /*#__PURE__*/ made({
  kind: 'positiveDefinite',
  eventRank: 2,
  discrete: false,
  // What is not definite has no factor: its elements are NaN.
  outside: (x) => not(all(isfinite(diagonal(cholesky(x))), { axis: -1 })) as AnyExpr,
  inner: (x, out) => where(spreadOut(out, 2), eye(x.shape.at(-1)!, x.shape.at(-1)!, 0, x.dtype as 'f64'), x) as AnyExpr,
})
export const lowerCholesky: Support = /*#__PURE__*/ triangles('lowerCholesky')
export const correlationCholesky: Support = /*#__PURE__*/ triangles('correlationCholesky')
export const point = (value: AnyExpr | number, rank = 0): Support =>
  made({
    kind: 'point',
    eventRank: rank,
    discrete: false,
    lower: value,
    upper: value,
    outside: (x) => anyOf(ne(x, value) as AnyExpr, rank),
  })

/**
 * Where the draws of distributions lie: sets of numbers, vectors and matrices. `d.support` is one of these.
 *
 * `real`, `positive` (0 and above), `unitInterval`, `greaterThan(a)`, `lessThan(b)`, `interval(a, b)`, `integers(a, b)`, `simplex` (vectors of sum 1), `counts(n)` (whole numbers of sum n),
 * `ordered` (rising vectors), `lowerCholesky`, `correlationCholesky`, `positiveDefinite`, `independent(support, rank)` (arrays of elements). `contains(x)` says which elements are in the set.
 * @example evaluate(supports.positive.contains([1, -1]))   // [true, false]
 */
export const supports = {
  real: reals,
  positive: nonNegative,
  unitInterval,
  greaterThan,
  lessThan,
  interval,
  integers,
  simplex,
  counts,
  ordered,
  lowerCholesky,
  correlationCholesky,
  positiveDefinite,
  independent: independentOf,
  point,
} as const
