/** Schedules: rates as pure functions of the count of steps, 0 at the first. Names and formulas are optax's. */
import { recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { flag, type Needed, needed, type OptionsOf, or, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  cast,
  cos,
  div,
  type Expr,
  type Float,
  floor,
  full,
  ge,
  lt,
  maximum,
  minimum,
  mul,
  pow,
  sub,
  where,
} from '../index.js'
import { amount, atLeast, rateOf, whole, wholeFrom, wholeNeeded } from './rate.js'

/** A rate as a function of the count of steps, which optimisers give as a float scalar. */
export type Schedule = (count: number | Expr<[], Float>) => Expr<[], Float>
/** A schedule of counts of any dtype: f64 for a number, its float dtype for a scalar (f64 for i32). */
export type CountSchedule = (count: number | Expr<[]>) => Expr<[], Float>

/** f of the count as a float scalar. */
const schedule =
  (op: string, f: (t: AnyExpr, dtype: Float) => AnyExpr): CountSchedule =>
  (count) => {
    const t = rateOf(count, 'the count', op)
    if (typeof t === 'function') return badInput(op, 'the count must be a number or a scalar, not a function.')
    const x = typeof t === 'number' ? full([], t) : (t as AnyExpr)
    const dtype = x.dtype === 'f32' ? 'f32' : 'f64'
    return f(x.dtype === dtype ? x : cast(x, dtype), dtype) as Expr<[], Float>
  }
const finite = (given: unknown, what: string, op: string): number =>
  typeof given === 'number' && Number.isFinite(given) ? given : badInput(op, `${what} must be a finite number, not ${shown(given)}.`)

const aNumber: Needed<number> = needed(finite)

/**
 * The same rate at every step.
 *
 * @example evaluate(constantSchedule(0.1)(5))   // 0.1
 */
export const constantSchedule = (value: number): CountSchedule => {
  finite(value, 'the value', 'constantSchedule')
  return schedule('constantSchedule', (_, dtype) => full([], value, dtype))
}

export const linearOptions = {
  initValue: aNumber,
  endValue: aNumber,
  /** The number of steps from initValue to endValue. */
  transitionSteps: wholeNeeded(1),
  /** The step at which it begins: 0 unless given. */
  transitionBegin: whole(0, 0),
}
/** Options of `linearSchedule`. */
export interface LinearOptions extends OptionsOf<typeof linearOptions> {}
/** From a to b in n steps. */
const line = (t: AnyExpr, a: number, b: number, n: number): AnyExpr => add(a, mul(b - a, minimum(maximum(div(t, n), 0), 1)))
/**
 * A line from initValue to endValue, and then endValue.
 *
 * @example evaluate(linearSchedule({ initValue: 1, endValue: 0, transitionSteps: 4 })(1))   // 0.75
 */
export const linearSchedule = (options: LinearOptions): CountSchedule => {
  const { initValue: a, endValue: b, transitionSteps: n, transitionBegin: from } = readOptions(linearOptions, options, 'linearSchedule')
  return schedule('linearSchedule', (t) => line(sub(t, from), a, b, n))
}

export const cosineOptions = {
  initValue: aNumber,
  /** How many steps the decay takes. */
  decaySteps: wholeNeeded(1),
  /** What remains of initValue in the end: 0 unless given. */
  alpha: or(0, finite),
}
/** Options of `cosineDecaySchedule`. */
export interface CosineOptions extends OptionsOf<typeof cosineOptions> {}
/** (1 + cos(pi t / n)) / 2 up to n, and then 0. */
const halfCosine = (t: AnyExpr, n: number): AnyExpr => mul(0.5, add(1, cos(mul(Math.PI, minimum(maximum(div(t, n), 0), 1)))))
/**
 * A half cosine: initValue ((1 - alpha) (1 + cos(pi t / decaySteps)) / 2 + alpha), and then initValue alpha.
 *
 * Source  Loshchilov and Hutter 2017.
 * @example evaluate(cosineDecaySchedule({ initValue: 1, decaySteps: 10 })(5))   // 0.5
 */
export const cosineDecaySchedule = (options: CosineOptions): CountSchedule => {
  const { initValue: a, decaySteps: n, alpha } = readOptions(cosineOptions, options, 'cosineDecaySchedule')
  return schedule('cosineDecaySchedule', (t) => mul(a, add(mul(1 - alpha, halfCosine(t, n)), alpha)))
}

export const warmupCosineOptions = {
  /** 0 unless given. */
  initValue: or(0, finite),
  peakValue: aNumber,
  /** How many steps the warm-up takes. */
  warmupSteps: wholeNeeded(0),
  /** How many steps warm-up and decay take together. */
  decaySteps: wholeNeeded(1),
  /** 0 unless given. */
  endValue: or(0, finite),
}
/** Options of `warmupCosineDecaySchedule`. */
export interface WarmupCosineOptions extends OptionsOf<typeof warmupCosineOptions> {}
/**
 * A line from initValue to peakValue in warmupSteps, then a half cosine to endValue, which is reached at step decaySteps.
 *
 * @example evaluate(warmupCosineDecaySchedule({ peakValue: 1, warmupSteps: 2, decaySteps: 12 })(7))   // 0.5
 */
export const warmupCosineDecaySchedule = (options: WarmupCosineOptions): CountSchedule => {
  const op = 'warmupCosineDecaySchedule'
  const { initValue: a, peakValue: peak, warmupSteps: warm, decaySteps, endValue: end } = readOptions(warmupCosineOptions, options, op)
  const all = wholeFrom(decaySteps, warm + 1, 'decaySteps', op)
  return schedule(op, (t) => {
    const decay = add(end, mul(peak - end, halfCosine(sub(t, warm), all - warm)))
    return warm === 0 ? decay : where(lt(t, warm), line(t, a, peak, warm), decay)
  })
}

const between0And1 = (given: unknown, what: string, op: string): number =>
  typeof given === 'number' && given > 0 && given < 1 ? given : badInput(op, `${what} must be between 0 and 1, not ${shown(given)}.`)
export const oneCycleOptions = {
  peakValue: aNumber,
  /** How many steps the cycle takes. */
  transitionSteps: wholeNeeded(2),
  /** The share of the steps that go up: 0.3 unless given. */
  pctStart: or(0.3, between0And1),
  /** It begins at peakValue / divFactor: 25 unless given. */
  divFactor: amount(25, 1),
  /** It ends at peakValue / (divFactor finalDivFactor): 1e4 unless given. */
  finalDivFactor: amount(1e4, 1),
}
/** Options of `oneCycleSchedule`. */
export interface OneCycleOptions extends OptionsOf<typeof oneCycleOptions> {}
/**
 * One cycle: half a cosine up to peakValue, and half a cosine down to far below where it began.
 *
 * As optax's cosine_onecycle_schedule.   Source  Smith and Topin 2019.
 * @example evaluate(oneCycleSchedule({ peakValue: 1, transitionSteps: 10 })(3))   // 1
 */
export const oneCycleSchedule = (options: OneCycleOptions): CountSchedule => {
  const op = 'oneCycleSchedule'
  const { peakValue: peak, transitionSteps: n, pctStart, divFactor, finalDivFactor } = readOptions(oneCycleOptions, options, op)
  const up = Math.floor(pctStart * n)
  const first = peak / divFactor
  const last = first / finalDivFactor
  const down = (t: AnyExpr): AnyExpr => add(last, mul(peak - last, halfCosine(sub(t, up), n - up)))
  return schedule(op, (t) => (up === 0 ? down(t) : where(lt(t, up), add(peak, mul(first - peak, halfCosine(t, up))), down(t))))
}

export const exponentialOptions = {
  initValue: aNumber,
  decayRate: needed((given, what, op) => atLeast(given, what, op)),
  /** The number of steps in which the rate is multiplied by decayRate: 1 unless given. */
  transitionSteps: whole(1, 1),
  /** Does it decay in stairs, once every transitionSteps? False unless given. */
  staircase: flag(),
}
/** Options of `exponentialDecaySchedule`. */
export interface ExponentialOptions extends OptionsOf<typeof exponentialOptions> {}
/**
 * initValue decayRate^(t / transitionSteps).
 *
 * @example evaluate(exponentialDecaySchedule({ initValue: 1, decayRate: 0.5, transitionSteps: 10 })(20))   // 0.25
 */
export const exponentialDecaySchedule = (options: ExponentialOptions): CountSchedule => {
  const op = 'exponentialDecaySchedule'
  const { initValue: a, decayRate: b, transitionSteps: n, staircase: stairs } = readOptions(exponentialOptions, options, op)
  return schedule(op, (t) => mul(a, pow(b, stairs ? floor(div(t, n)) : div(t, n))))
}

export const piecewiseOptions = {
  initValue: aNumber,
  /** From each step (its key) on, the rate is multiplied by the factor there. */
  boundaries: needed((given: unknown, what, op) =>
    Object.entries(recordOf(given as Readonly<Record<number, number>>, what, op)).map(
      ([at, factor]) => [wholeFrom(Number(at), 0, 'a boundary', op), finite(factor, 'a factor', op)] as const,
    ),
  ) as Needed<readonly (readonly [number, number])[], Readonly<Record<number, number>>>,
}
/** Options of `piecewiseConstantSchedule`. */
export interface PiecewiseOptions extends OptionsOf<typeof piecewiseOptions> {}
/**
 * initValue, multiplied by each boundary's factor from that step on.
 *
 * @example evaluate(piecewiseConstantSchedule({ initValue: 1, boundaries: { 10: 0.5, 20: 0.1 } })(20))   // 0.05
 */
export const piecewiseConstantSchedule = (options: PiecewiseOptions): CountSchedule => {
  const op = 'piecewiseConstantSchedule'
  const { initValue: a, boundaries: steps } = readOptions(piecewiseOptions, options, op)
  return schedule(op, (t, dtype) =>
    steps.reduce<AnyExpr>((rate, [at, factor]) => mul(rate, where(ge(t, at), factor, full([], 1, dtype))), full([], a, dtype)),
  )
}
