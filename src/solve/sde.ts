/** Stochastic differential equations (SDE), in equal steps, with noise from a key. */
import { functionOf } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { choice, type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  abs,
  add,
  arange,
  cast,
  concat,
  div,
  type Expr,
  type Float,
  jvp,
  matmul,
  mul,
  reshape,
  type Scalar,
  type Shape,
  scan,
  slice,
  sqrt,
  sub,
} from '../index.js'
import { foldIn, type Key, normal } from '../random/index.js'
import { type AtTimes, atTimes, type CountOf, checkTimes, type TimeOf } from './odeint.js'
import { whole } from './options.js'
import { type ArrayTree, type NumberLists, noOptions, paramsOf, type Unknowns, vectorOf } from './vectors.js'

const as = (x: unknown): AnyExpr => x as AnyExpr
export const sdeOptions = {
  /** 'euler' (Euler and Maruyama) unless given, or 'milstein', both in the sense of Ito; 'heun' in the sense of Stratonovich. */
  method: choice(['euler', 'milstein', 'heun'], 'euler'),
  /** 'diagonal' unless given: each element of y has a noise of its own. 'general': g returns a matrix, an entry for each element of y and each noise. */
  noise: choice(['diagonal', 'general'], 'diagonal'),
  /** The number of equal steps from each time to the next: 1 unless given. */
  substeps: whole(1),
}
/** Options of `sdeint`. */
export type SdeOptions = OptionsOf<typeof sdeOptions>
/** The drift and the diffusion of vectors: the diffusion [n], or [n, m] of general noise. */
export interface Terms {
  readonly drift: (t: AnyExpr, y: AnyExpr) => AnyExpr
  readonly diffusion: (t: AnyExpr, y: AnyExpr) => AnyExpr
  readonly general: boolean
}
type Step = (terms: Terms, t: AnyExpr, y: AnyExpr, h: AnyExpr, dW: AnyExpr) => AnyExpr

/** The noise that a diffusion makes of increments. */
const noised = (g: AnyExpr, dW: AnyExpr, general: boolean): AnyExpr =>
  general ? as(reshape(matmul(g, as(reshape(dW, [-1, 1]))), [g.shape[0]!])) : as(mul(g, dW))
/** The steps, by name.   Source  Kloeden and Platen 1992, 10.2, 10.3 and 15.5. */
export const sdeSteps: Readonly<Record<'euler' | 'milstein' | 'heun', Step>> = {
  euler: ({ drift, diffusion, general }, t, y, h, dW) => as(add(add(y, mul(h, drift(t, y))), noised(diffusion(t, y), dW, general))),
  milstein: ({ drift, diffusion }, t, y, h, dW) => {
    // Each element of g depends on its own element of y: g g' is the derivative of g along g.
    const g = diffusion(t, y)
    const [, slope] = (
      jvp(((x: AnyExpr) => diffusion(t, x)) as never) as unknown as (x: AnyExpr, dx: AnyExpr) => readonly [AnyExpr, AnyExpr]
    )(y, g)
    const second = mul(0.5, mul(slope, sub(mul(dW, dW), abs(h))))
    return as(add(add(add(y, mul(h, drift(t, y))), mul(g, dW)), second))
  },
  heun: ({ drift, diffusion, general }, t, y, h, dW) => {
    const [f, g] = [drift(t, y), diffusion(t, y)]
    const ahead = as(add(add(y, mul(h, f)), noised(g, dW, general)))
    const then = as(add(t, h))
    const noise = add(noised(g, dW, general), noised(diffusion(then, ahead), dW, general))
    return as(add(y, mul(0.5, add(mul(h, add(f, drift(then, ahead))), noise))))
  },
}

/** The states at the times, in steps that draw their increments: `drawn(i, h)` of step i, of variance h. */
export const sdePath = (
  step: Step,
  terms: Terms,
  y0: AnyExpr,
  ts: AnyExpr,
  substeps: number,
  drawn: (i: AnyExpr, h: AnyExpr) => AnyExpr,
): AnyExpr => {
  const [count, n] = [ts.shape[0]!, y0.shape[0]!]
  const [from, to] = [as(slice(ts, [0], [count - 1])), as(slice(ts, [1], [count]))]
  type Given = readonly [from: AnyExpr, to: AnyExpr, k: AnyExpr]
  const loop = scan as unknown as <C, X, Y>(f: (c: C, x: X) => readonly [C, Y], init: C, xs: X) => readonly [C, Y]
  const interval = (y: AnyExpr, [a, b, k]: Given): readonly [AnyExpr, AnyExpr] => {
    const h = as(div(sub(b, a), substeps))
    const one = (state: AnyExpr, j: AnyExpr): readonly [AnyExpr, null] => {
      const i = as(add(mul(k, substeps), j))
      return [step(terms, as(add(a, mul(h, cast(j, y0.dtype)))), state, h, drawn(i, h)), null]
    }
    const [next] = loop(one, y, as(arange(substeps, 'i32')))
    return [next, next]
  }
  const [, rest] = loop(interval, y0, [from, to, as(arange(count - 1, 'i32'))] as Given)
  return as(concat([as(reshape(y0, [1, n])), rest] as never))
}

/**
 * A path of a stochastic differential equation at the times ts: dy = f(t, y, params) dt + g(t, y, params) dW with y(ts[0]) = y0, W a Brownian motion that the key draws. y is a
 * tree of floats; f returns a tree like it, and so does g, or with `noise: 'general'` a matrix for a y that is one vector.
 *
 * Equal keys give equal paths. Step i draws by foldIn(key, i), so paths of other steps are other paths; `vmap` over keys gives many.
 * Result  { ys }: the states, along a first axis.
 * Rule    in y0, ts and params: of the steps, with the normal numbers held constant, in every mode and order.
 * Source  Kloeden and Platen 1992: strong order 0.5 of 'euler' (1 where g does not depend on y), 1 of 'milstein' and of 'heun'. 'milstein' is for diagonal noise of which
 *         each element depends on its own element of y; 'heun' has order 0.5 for noise that does not commute.
 * Errors  BadInput without times, for known times that change direction, and for invalid options; ShapeMismatch or DTypeMismatch if f's or g's result does not fit.
 * @example
 * // without noise: the steps of Euler
 * evaluate(sdeint((_t, y) => neg(y), (_t, y) => mul(0, y), key(0), tensor(1), [0, 1], {}, { substeps: 2 }).ys)   // [1, 0.25]
 */
export const sdeint = <const Y, const T extends Expr<Shape, Float> | AnyExpr | NumberLists, const P = Record<never, never>>(
  f: (t: Scalar<TimeOf<Y>>, y: Unknowns<Y>, params: Unknowns<P>) => ArrayTree,
  g: (t: Scalar<TimeOf<Y>>, y: Unknowns<Y>, params: Unknowns<P>) => ArrayTree,
  key: Key,
  y0: Y,
  ts: T,
  params?: P,
  options?: SdeOptions,
): { readonly ys: AtTimes<Unknowns<Y>, CountOf<T>> } => {
  const op = 'sdeint'
  functionOf(f, 'f', op)
  functionOf(g, 'g', op)
  noOptions({ f, arity: 2, params, options }, sdeOptions, op)
  const { method, noise, substeps } = readOptions(sdeOptions, options, op)
  const start = vectorOf(y0, 'y0', op)
  const n = start.at.shape[0]!
  const general = noise === 'general'
  if (general && method === 'milstein') badInput(op, "'milstein' is for diagonal noise.", "give method: 'euler' or 'heun'.")
  const times = as(cast(ts as unknown as AnyExpr, start.dtype))
  if (times.shape.length !== 1 || times.shape[0] === 0)
    badInput(op, `the times are of shape [${times.shape.join(', ')}].`, 'give a list of times; the first is that of y0.')
  checkTimes(ts, op)
  const own = paramsOf(params ?? {}, start.dtype, op) as Unknowns<P>
  const of = (h: typeof f, t: AnyExpr, y: AnyExpr): ArrayTree => h(t as Scalar<TimeOf<Y>>, start.back(y) as Unknowns<Y>, own)
  const matrix = (t: AnyExpr, y: AnyExpr): AnyExpr => {
    const m = as(add(of(g, t, y) as AnyExpr, 0))
    if (m.shape.length !== 2 || m.shape[0] !== n)
      badShape(op, [m.shape], `g(t, y) is of shape [${m.shape.join(', ')}] where y has ${n} elements.`, `return a matrix [${n}, m].`)
    return as(cast(m, start.dtype))
  }
  const terms: Terms = {
    drift: (t, y) => start.of(of(f, t, y), 'f(t, y)'),
    diffusion: general ? matrix : (t, y) => start.of(of(g, t, y), 'g(t, y)'),
    general,
  }
  const first = as(reshape(slice(times, [0], [1]), []))
  const noises = general ? terms.diffusion(first, start.at).shape[1]! : n
  const drawn = (i: AnyExpr, h: AnyExpr): AnyExpr =>
    as(mul(sqrt(abs(h)), normal(foldIn(key, i) as never, [noises], { dtype: start.dtype } as never)))
  const ys = sdePath(sdeSteps[method], terms, start.at, times, substeps, drawn)
  return { ys: atTimes(start.back, ys) } as never
}
