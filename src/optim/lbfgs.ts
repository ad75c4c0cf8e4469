/** L-BFGS: the two-loop recursion unrolled over its history, and a line search that is part of the same program. */
import { choice, type OptionsOf, or as oneOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  abs,
  add,
  and,
  arange,
  concat,
  div,
  type Expr,
  eq,
  type Float,
  full,
  gt,
  le,
  lt,
  maximum,
  minimum,
  mul,
  neg,
  not,
  or,
  pow,
  reshape,
  type Scalar,
  slice,
  sqrt,
  sub,
  sum,
  take,
  valueAndGrad,
  where,
  whileLoop,
} from '../index.js'
import { type Accepted, flat, type Minimiser, sizeOfFloats, typedMinimiser } from './minimiser.js'
import { amount, type Rate, rateAt, rateOf, share, whole } from './rate.js'
import { type Count, countOf, type FloatArray, filled, kindOf } from './state.js'
import { countIn, partOf } from './transformation.js'

export const lbfgsOptions = {
  /** How many pairs of steps and changes of the gradient are kept: 10 unless given. */
  memory: whole(1, 10),
  /** The first length that is tried: 1 unless given. */
  learningRate: oneOf<unknown, unknown, Rate>(1, rateOf),
  /** How the length is found: 'backtracking' unless given; 'none' takes learningRate as it is. */
  lineSearch: choice(['backtracking', 'none'], 'backtracking'),
  /** How many lengths the line search tries: 16 unless given. */
  maxTrials: whole(1, 16),
  /** The factor from one length to the next: 0.5 unless given. */
  shrink: share(0.5),
  /** Armijo's constant, the share of the promised decrease that is enough: 1e-4 unless given. */
  c1: amount(1e-4),
}
/** Options of `lbfgs`. */
export type LbfgsOptions = OptionsOf<typeof lbfgsOptions>
/** The state of `lbfgs`, parameters as one vector: pairs (newest last; rho 0 where there is none), the last gradient and step, and how much shorter the next first length is. */
export interface LbfgsState {
  readonly count: Count
  readonly s: FloatArray<[number, number]>
  readonly y: FloatArray<[number, number]>
  readonly rho: FloatArray<[number]>
  readonly gradient: FloatArray<[number]>
  readonly step: FloatArray<[number]>
  readonly scale: FloatArray<[]>
}
interface Pairs {
  readonly s: AnyExpr
  readonly y: AnyExpr
  readonly rho: AnyExpr
}

/** The shortest first length, of that of a step without history. */
const LEAST = 2 ** -100

const dot = (a: AnyExpr, b: AnyExpr): AnyExpr => sum(mul(a, b))
const row = (x: AnyExpr, i: number, n: number): AnyExpr => reshape(slice(x, [i, 0], [i + 1, n]), [n])
const entry = (x: AnyExpr, i: number): AnyExpr => reshape(slice(x, [i], [i + 1]), [])

/** The rounding of a product of two vectors. */
const EPS = { f64: 2 ** -52, f32: 2 ** -23 } as const
/** The pairs with the newest at the end; as they were where its curvature s y is lost in the rounding of |s| |y|, whatever the units of the parameters and of the value. */
const remembered = ({ s, y, rho }: Pairs, ds: AnyExpr, dy: AnyExpr, memory: number, n: number): Pairs => {
  const curvature = dot(ds, dy)
  const good = gt(curvature, mul(EPS[ds.dtype as Float], mul(sqrt(dot(ds, ds)), sqrt(dot(dy, dy)))))
  const pushed = (rows: AnyExpr, newest: AnyExpr): AnyExpr =>
    where(good, concat([slice(rows, [1, 0], [memory, n]), reshape(newest, [1, n])]), rows)
  const last = reshape(div(1, where(good, curvature, 1)), [1])
  return { s: pushed(s, ds), y: pushed(y, dy), rho: where(good, concat([slice(rho, [1], [memory]), last]), rho) }
}
/** -H g by the two-loop recursion; a pair whose rho is 0 has no part in it.   Source  Nocedal and Wright 2006, algorithm 7.4. */
const direction = ({ s, y, rho }: Pairs, g: AnyExpr, memory: number, n: number): AnyExpr => {
  const pairs = Array.from({ length: memory }, (_, i) => ({ s: row(s, i, n), y: row(y, i, n), rho: entry(rho, i) }))
  let q = neg(g) as AnyExpr
  const alphas: AnyExpr[] = []
  for (let i = memory - 1; i >= 0; i--) {
    const p = pairs[i]!
    alphas[i] = mul(p.rho, dot(p.s, q))
    q = sub(q, mul(alphas[i]!, p.y))
  }
  const newest = pairs[memory - 1]!
  const none = eq(newest.rho, 0)
  let r = mul(q, where(none, 1, div(1, mul(where(none, 1, newest.rho), where(none, 1, dot(newest.y, newest.y)))))) as AnyExpr
  pairs.forEach((p, i) => {
    r = add(r, mul(sub(alphas[i]!, mul(p.rho, dot(p.y, r))), p.s))
  })
  return r
}

/** What a line search carries: the length so far (0 where no value is below f's), its value, and whether that is low enough. */
interface Found {
  readonly trial: AnyExpr
  readonly t: AnyExpr
  readonly least: AnyExpr
  readonly enough: AnyExpr
}
/**
 * The first of the lengths at which f has decreased enough (Armijo); of none such that with the least value, and 0 where none is below f's.
 * A length is tried only where the one before it was not enough.
 */
const backtracked = (
  f: (v: AnyExpr) => AnyExpr,
  at: AnyExpr,
  value: AnyExpr,
  d: AnyExpr,
  slope: AnyExpr,
  first: AnyExpr,
  o: Search,
): AnyExpr => {
  const dtype = at.dtype as Float
  const lengths = mul(first, pow(o.shrink, arange(o.maxTrials, dtype))) as AnyExpr
  const trial = ({ trial, t, least }: Found): Found => {
    const length = take(lengths, trial as Expr<[], 'i32'>) as AnyExpr
    const there = f(add(at, mul(length, d))) as AnyExpr
    const enough = and(le(there, add(value, mul(mul(o.c1, slope), length))), lt(there, value)) as AnyExpr
    const better = or(enough, lt(there, least)) // NaN is not below
    return {
      trial: add(trial, 1),
      t: where(better, length, t) as AnyExpr,
      least: where(better, there, least) as AnyExpr,
      enough,
    }
  }
  const none: Found = {
    trial: full([], 0, 'i32') as AnyExpr,
    t: full([], 0, lengths.dtype) as AnyExpr,
    least: value,
    enough: full([], 0, 'bool') as AnyExpr,
  }
  type Loop = (more: (s: Found) => AnyExpr, step: (s: Found) => Found, init: Found, o: object) => readonly [Found]
  return (whileLoop as unknown as Loop)(({ enough }) => not(enough) as AnyExpr, trial, none, { maxSteps: o.maxTrials })[0].t
}
interface Search {
  readonly maxTrials: number
  readonly shrink: number
  readonly c1: number
}

/**
 * L-BFGS: a quasi-Newton method that keeps the last `memory` steps, with a backtracking line search.
 *
 * The first length is learningRate min(1, 1 / |g|_1) at the first step, as in PyTorch's LBFGS; with lineSearch 'none' it is that with max_iter 1. The function is evaluated once
 * with its gradient, and then at shorter and shorter lengths until its value is low enough, at most `maxTrials` times. If no length lowers the value, the parameters stay, the
 * history is forgotten and the next lengths are shorter: `accepted` tells the two cases apart. Pairs are kept whatever the units of parameters and value.   Source  Liu and Nocedal
 * 1989.
 * @example
 * const method = lbfgs()
 * const f = (x: AnyExpr) => sum(square(sub(x, 3)))
 * evaluate(method.step(f, tensor([0.5]), method.init(tensor([0.5]))).params)   // [1.5]
 */
export const lbfgs = (options?: LbfgsOptions): Minimiser<LbfgsState, Scalar, Accepted> => {
  const { memory, learningRate, lineSearch, ...search } = readOptions(lbfgsOptions, options, 'lbfgs')
  return typedMinimiser<LbfgsState, Scalar, Accepted>({
    init: (params) => {
      const kind = kindOf(params, 'lbfgs')
      const { n, dtype } = sizeOfFloats(params, kind, 'lbfgs')
      const zeros = (...shape: number[]): unknown => filled(kind, shape, 0, dtype)
      return {
        count: countOf(kind),
        s: zeros(memory, n),
        y: zeros(memory, n),
        rho: zeros(memory),
        gradient: zeros(n),
        step: zeros(n),
        scale: filled(kind, [], 1, dtype),
      }
    },
    step: (f, params, state) => {
      const count = countIn(state, 'lbfgs')
      const part = (name: keyof LbfgsState): AnyExpr => partOf(state, name, 'lbfgs') as AnyExpr
      const at = flat(f, params, 'lbfgs')
      const n = at.at.shape[0]!
      const dtype = at.at.dtype as Float
      const { value, grad: g } = valueAndGrad((v: AnyExpr) => at.f(v) as Scalar)(at.at) as {
        readonly value: AnyExpr
        readonly grad: AnyExpr
      }
      const before: Pairs = { s: part('s'), y: part('y'), rho: part('rho') }
      const pairs = remembered(before, part('step'), sub(g, part('gradient')), memory, n)
      const d = direction(pairs, g, memory, n)
      const searched = lineSearch !== 'none'
      const scale = part('scale')
      // Without a history the direction has the units of the gradient, not of the parameters.
      const unscaled = searched ? eq(entry(pairs.rho, memory - 1), 0) : eq(count, 0)
      const length = mul(
        rateAt(learningRate, count, dtype, 'learningRate', 'lbfgs'),
        where(unscaled, mul(scale, minimum(1, div(1, sum(abs(g))))), 1),
      ) as AnyExpr
      const t = searched ? backtracked(at.f, at.at, value, d, dot(g, d), length, search) : length
      const accepted = not(eq(t, 0))
      const step = where(accepted, mul(t, d), 0) as AnyExpr // 0 also where d is not finite
      // After lengths that were all too long the history is forgotten, and the next first length is shorter than all of them.
      const stuck = searched ? and(not(accepted), gt(sum(abs(g)), 0)) : undefined
      const shorter = maximum(mul(scale, search.shrink ** search.maxTrials), LEAST)
      const next = {
        count: add(count, 1),
        s: pairs.s,
        y: pairs.y,
        rho: stuck === undefined ? pairs.rho : where(stuck, 0, pairs.rho),
        gradient: g,
        step,
        scale: stuck === undefined ? scale : where(stuck, shorter, 1),
      }
      return { params: at.back(add(at.at, step)), state: next, value, accepted }
    },
  })
}
