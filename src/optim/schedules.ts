/** Schedules: rates as pure functions of the count of steps, 0 at the first. Names and formulas are optax's. */
import { flagOf, type Names, optionsOf, recordOf, shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
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
  type Tensor,
  where,
} from '../index.js'
import { atLeast, rateOf, wholeFrom } from './rate.js'

type ScalarOf = Expr<[]> | Tensor<[]>
/** A rate as a function of the count of steps: of a number f64, of a scalar its float dtype (f64 for i32). */
export type Schedule = (count: number | ScalarOf) => Expr<[], Float>

/** f of the count as a float scalar. */
const schedule =
  (op: string, f: (t: AnyExpr, dtype: Float) => AnyExpr): Schedule =>
  (count) => {
    const t = rateOf(count, 'the count', op)
    if (typeof t === 'function')
      return raise({ _tag: 'BadInput', where: op, reason: 'the count must be a number or a scalar, not a function.' })
    const x = typeof t === 'number' ? full([], t) : (t as AnyExpr)
    const dtype = x.dtype === 'f32' ? 'f32' : 'f64'
    return f(x.dtype === dtype ? x : cast(x, dtype), dtype) as Expr<[], Float>
  }
const finite = (given: unknown, what: string, op: string): number =>
  typeof given === 'number' && Number.isFinite(given)
    ? given
    : raise({ _tag: 'BadInput', where: op, reason: `${what} must be a finite number, not ${shown(given)}.` })

/**
 * The same rate at every step.
 *
 * @example evaluate(constantSchedule(0.1)(5))   // 0.1
 */
export const constantSchedule = (value: number): Schedule => {
  finite(value, 'the value', 'constantSchedule')
  return schedule('constantSchedule', (_, dtype) => full([], value, dtype))
}

/** Options of `linearSchedule`. */
export interface LinearOptions {
  readonly initValue: number
  readonly endValue: number
  /** How many steps the way takes. */
  readonly transitionSteps: number
  /** The step at which it begins: 0 unless given. */
  readonly transitionBegin?: number | undefined
}
/** From a to b in n steps. */
const line = (t: AnyExpr, a: number, b: number, n: number): AnyExpr => add(a, mul(b - a, minimum(maximum(div(t, n), 0), 1)))
/**
 * From initValue to endValue on a line, and then endValue.
 *
 * @example evaluate(linearSchedule({ initValue: 1, endValue: 0, transitionSteps: 4 })(1))   // 0.75
 */
export const linearSchedule = (options: LinearOptions): Schedule => {
  const names: Names<LinearOptions> = { initValue: true, endValue: true, transitionSteps: true, transitionBegin: true }
  const { initValue, endValue, transitionSteps, transitionBegin = 0 } = optionsOf(options, names, 'linearSchedule')
  const [a, b] = [finite(initValue, 'initValue', 'linearSchedule'), finite(endValue, 'endValue', 'linearSchedule')]
  const n = wholeFrom(transitionSteps, 1, 'transitionSteps', 'linearSchedule')
  const from = wholeFrom(transitionBegin, 0, 'transitionBegin', 'linearSchedule')
  return schedule('linearSchedule', (t) => line(sub(t, from), a, b, n))
}

/** Options of `cosineDecaySchedule`. */
export interface CosineOptions {
  readonly initValue: number
  /** How many steps the decay takes. */
  readonly decaySteps: number
  /** What remains of initValue in the end: 0 unless given. */
  readonly alpha?: number | undefined
}
/** (1 + cos(pi t / n)) / 2 up to n, and then 0. */
const halfCosine = (t: AnyExpr, n: number): AnyExpr => mul(0.5, add(1, cos(mul(Math.PI, minimum(maximum(div(t, n), 0), 1)))))
/**
 * A half cosine: initValue ((1 - alpha) (1 + cos(pi t / decaySteps)) / 2 + alpha), and then initValue alpha.
 *
 * Source  Loshchilov and Hutter 2017.
 * @example evaluate(cosineDecaySchedule({ initValue: 1, decaySteps: 10 })(5))   // 0.5
 */
export const cosineDecaySchedule = (options: CosineOptions): Schedule => {
  const names: Names<CosineOptions> = { initValue: true, decaySteps: true, alpha: true }
  const { initValue, decaySteps, alpha = 0 } = optionsOf(options, names, 'cosineDecaySchedule')
  const a = finite(initValue, 'initValue', 'cosineDecaySchedule')
  const n = wholeFrom(decaySteps, 1, 'decaySteps', 'cosineDecaySchedule')
  finite(alpha, 'alpha', 'cosineDecaySchedule')
  return schedule('cosineDecaySchedule', (t) => mul(a, add(mul(1 - alpha, halfCosine(t, n)), alpha)))
}

/** Options of `warmupCosineDecaySchedule`. */
export interface WarmupCosineOptions {
  /** 0 unless given. */
  readonly initValue?: number | undefined
  readonly peakValue: number
  /** How many steps the warm-up takes. */
  readonly warmupSteps: number
  /** How many steps warm-up and decay take together. */
  readonly decaySteps: number
  /** 0 unless given. */
  readonly endValue?: number | undefined
}
/**
 * A line from initValue to peakValue in warmupSteps, then a half cosine to endValue, which is reached at step decaySteps.
 *
 * @example evaluate(warmupCosineDecaySchedule({ peakValue: 1, warmupSteps: 2, decaySteps: 12 })(7))   // 0.5
 */
export const warmupCosineDecaySchedule = (options: WarmupCosineOptions): Schedule => {
  const op = 'warmupCosineDecaySchedule'
  const names: Names<WarmupCosineOptions> = { initValue: true, peakValue: true, warmupSteps: true, decaySteps: true, endValue: true }
  const { initValue = 0, peakValue, warmupSteps, decaySteps, endValue = 0 } = optionsOf(options, names, op)
  const [a, peak, end] = [finite(initValue, 'initValue', op), finite(peakValue, 'peakValue', op), finite(endValue, 'endValue', op)]
  const warm = wholeFrom(warmupSteps, 0, 'warmupSteps', op)
  const all = wholeFrom(decaySteps, warm + 1, 'decaySteps', op)
  return schedule(op, (t) => {
    const decay = add(end, mul(peak - end, halfCosine(sub(t, warm), all - warm)))
    return warm === 0 ? decay : where(lt(t, warm), line(t, a, peak, warm), decay)
  })
}

/** Options of `oneCycleSchedule`. */
export interface OneCycleOptions {
  readonly peakValue: number
  /** How many steps the cycle takes. */
  readonly transitionSteps: number
  /** The share of the steps that go up: 0.3 unless given. */
  readonly pctStart?: number | undefined
  /** It begins at peakValue / divFactor: 25 unless given. */
  readonly divFactor?: number | undefined
  /** It ends at peakValue / (divFactor finalDivFactor): 1e4 unless given. */
  readonly finalDivFactor?: number | undefined
}
/**
 * One cycle: half a cosine up to peakValue, and half a cosine down to far below where it began.
 *
 * As optax's cosine_onecycle_schedule.   Source  Smith and Topin 2019.
 * @example evaluate(oneCycleSchedule({ peakValue: 1, transitionSteps: 10 })(3))   // 1
 */
export const oneCycleSchedule = (options: OneCycleOptions): Schedule => {
  const op = 'oneCycleSchedule'
  const names: Names<OneCycleOptions> = { peakValue: true, transitionSteps: true, pctStart: true, divFactor: true, finalDivFactor: true }
  const { peakValue, transitionSteps, pctStart = 0.3, divFactor = 25, finalDivFactor = 1e4 } = optionsOf(options, names, op)
  const peak = finite(peakValue, 'peakValue', op)
  const n = wholeFrom(transitionSteps, 2, 'transitionSteps', op)
  if (!(pctStart > 0 && pctStart < 1))
    raise({ _tag: 'BadInput', where: op, reason: `pctStart must be between 0 and 1, not ${shown(pctStart)}.` })
  const up = Math.floor(pctStart * n)
  const first = peak / atLeast(divFactor, 'divFactor', op, 1)
  const last = first / atLeast(finalDivFactor, 'finalDivFactor', op, 1)
  const down = (t: AnyExpr): AnyExpr => add(last, mul(peak - last, halfCosine(sub(t, up), n - up)))
  return schedule(op, (t) => (up === 0 ? down(t) : where(lt(t, up), add(peak, mul(first - peak, halfCosine(t, up))), down(t))))
}

/** Options of `exponentialDecaySchedule`. */
export interface ExponentialOptions {
  readonly initValue: number
  readonly decayRate: number
  /** After so many steps the rate is decayRate times what it was: 1 unless given. */
  readonly transitionSteps?: number | undefined
  /** Does it fall in stairs, once each transitionSteps? Not unless given. */
  readonly staircase?: boolean | undefined
}
/**
 * initValue decayRate^(t / transitionSteps).
 *
 * @example evaluate(exponentialDecaySchedule({ initValue: 1, decayRate: 0.5, transitionSteps: 10 })(20))   // 0.25
 */
export const exponentialDecaySchedule = (options: ExponentialOptions): Schedule => {
  const op = 'exponentialDecaySchedule'
  const names: Names<ExponentialOptions> = { initValue: true, decayRate: true, transitionSteps: true, staircase: true }
  const { initValue, decayRate, transitionSteps = 1, staircase } = optionsOf(options, names, op)
  const a = finite(initValue, 'initValue', op)
  const b = atLeast(decayRate, 'decayRate', op)
  const n = wholeFrom(transitionSteps, 1, 'transitionSteps', op)
  const stairs = flagOf(staircase, 'staircase', op)
  return schedule(op, (t) => mul(a, pow(b, stairs ? floor(div(t, n)) : div(t, n))))
}

/** Options of `piecewiseConstantSchedule`. */
export interface PiecewiseOptions {
  readonly initValue: number
  /** From each step (its key) on, the rate is multiplied by the factor there. */
  readonly boundaries: Readonly<Record<number, number>>
}
/**
 * initValue, multiplied by each boundary's factor from that step on.
 *
 * @example evaluate(piecewiseConstantSchedule({ initValue: 1, boundaries: { 10: 0.5, 20: 0.1 } })(20))   // 0.05
 */
export const piecewiseConstantSchedule = (options: PiecewiseOptions): Schedule => {
  const op = 'piecewiseConstantSchedule'
  const { initValue, boundaries } = optionsOf(options, { initValue: true, boundaries: true }, op)
  const a = finite(initValue, 'initValue', op)
  const steps = Object.entries(recordOf(boundaries, 'boundaries', op)).map(
    ([at, factor]) => [wholeFrom(Number(at), 0, 'a boundary', op), finite(factor, 'a factor', op)] as const,
  )
  return schedule(op, (t, dtype) =>
    steps.reduce<AnyExpr>((rate, [at, factor]) => mul(rate, where(ge(t, at), factor, full([], 1, dtype))), full([], a, dtype)),
  )
}
