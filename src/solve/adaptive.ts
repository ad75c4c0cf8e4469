/** Steps whose length follows from their error, from the first time to the last. */
import {
  type AnyExpr,
  abs,
  add,
  and,
  cast,
  clamp,
  div,
  full,
  ge,
  gt,
  isfinite,
  le,
  lt,
  maximum,
  minimum,
  mul,
  or,
  pow,
  reshape,
  slice,
  sqrt,
  square,
  stopGradient,
  sub,
  sum,
  where,
  zeros,
} from '../index.js'
import { iterate } from './iterate.js'
import type { Method, Slope, Step } from './runge-kutta.js'

/** How steps are chosen. */
export interface Control {
  readonly method: Method
  readonly rtol: number
  readonly atol: number
  readonly maxSteps: number
  readonly firstStep: number | undefined
}
/** States at the times, and how far the steps led. */
export interface Path {
  readonly ys: AnyExpr
  readonly steps: AnyExpr
  readonly t: AnyExpr
  readonly done: AnyExpr
}

const as = (x: unknown): AnyExpr => x as AnyExpr
/** The root of the mean square of x / (atol + rtol |y|). */
const sizeOf = (x: AnyExpr, y: AnyExpr, { rtol, atol }: Control): AnyExpr =>
  as(sqrt(div(sum(square(div(x, add(atol, mul(rtol, y))))), Math.max(1, x.shape[0]!))))

/** A first length: a hundredth of what y takes to change by itself, then such that the second derivative is small.   Source  Hairer, II.4. */
const firstLength = (f: Slope, t: AnyExpr, y: AnyExpr, k: AnyExpr, sign: AnyExpr, how: Control): AnyExpr => {
  const scale = as(abs(y))
  const [d0, d1] = [sizeOf(y, scale, how), sizeOf(k, scale, how)]
  const tiny = or(lt(d0, 1e-5), lt(d1, 1e-5))
  const h0 = as(where(tiny, 1e-6, div(mul(0.01, d0), where(tiny, 1, d1))))
  const signed = as(mul(sign, h0))
  const there = f(as(add(t, signed)), as(add(y, mul(signed, k))))
  const d2 = as(div(sizeOf(as(sub(there, k)), scale, how), h0))
  const most = as(maximum(d1, d2))
  const flat = le(most, 1e-15)
  const h1 = as(where(flat, maximum(1e-6, mul(1e-3, h0)), pow(div(0.01, where(flat, 1, most)), 1 / 5)))
  return as(minimum(mul(100, h0), h1))
}

/** By how much the next length is longer: of a step that is not taken it is shorter, much so where its error is no number. */
const growth = (size: AnyExpr, before: AnyExpr, taken: AnyExpr): AnyExpr => {
  const known = isfinite(size)
  const e = as(maximum(where(known, size, 1), 1e-10))
  const grown = clamp(mul(0.9, mul(pow(e, -0.7 / 5), pow(before, 0.4 / 5))), 0.2, 10)
  const shrunk = clamp(mul(0.9, pow(e, -1 / 5)), 0.1, 1)
  return as(where(taken, grown, where(known, shrunk, 0.1)))
}

/** Where the steps are. */
export interface At {
  readonly t: AnyExpr
  readonly y: AnyExpr
  /** The slope here. */
  readonly k: AnyExpr
  /** The next length, a positive number. */
  readonly h: AnyExpr
  /** The error of the last step that was taken. */
  readonly error: AnyExpr
}
/** A step that was tried: from where it began, its length with its sign, whether its error is small enough, and where it leads if so. */
export interface Attempt {
  readonly step: Step
  readonly dt: AnyExpr
  readonly taken: AnyExpr
  readonly next: At
}
/** Steps from one time to another. */
export interface Stepper {
  readonly start: At
  /** Is the last time ahead, and the next step not too small to change the time? */
  readonly more: (at: At) => AnyExpr
  readonly attempt: (at: At) => Attempt
  /** How far one time is ahead of another, in the direction of the steps, without derivatives. */
  readonly ahead: (to: AnyExpr, from: AnyExpr) => AnyExpr
}

/**
 * Steps of a method from y at `begin` to `end`, each as long as its error allows.
 *
 * The lengths of the steps are numbers without derivatives: a derivative is that of the steps as they were taken.
 * Source  Hairer, Norsett and Wanner 1993, II.4; the control of the length (PI) Hairer and Wanner 1996, IV.2.
 */
export const stepper = (f: Slope, y0: AnyExpr, begin: AnyExpr, end: AnyExpr, how: Control): Stepper => {
  const last = as(stopGradient(end))
  const sign = as(cast(where(ge(last, stopGradient(begin)), 1, -1), y0.dtype))
  const ahead = (to: AnyExpr, from: AnyExpr): AnyExpr => as(mul(sign, sub(to, stopGradient(from))))
  const k0 = f(begin, y0)
  const [t0, first, slope] = [begin, y0, k0].map((x) => as(stopGradient(x))) as unknown as readonly [AnyExpr, AnyExpr, AnyExpr]
  const smallest = y0.dtype === 'f32' ? 1e-7 : 1e-15
  return {
    ahead,
    start: {
      t: begin,
      y: y0,
      k: k0,
      h:
        how.firstStep === undefined ? as(stopGradient(firstLength(f, t0, first, slope, sign, how))) : as(full([], how.firstStep, y0.dtype)),
      error: as(full([], 1, y0.dtype)),
    },
    more: ({ t, h }) => as(and(gt(ahead(last, t), 0), gt(h, mul(smallest, abs(t))))),
    attempt: ({ t, y, k, h, error }) => {
      const left = ahead(last, t)
      const whole = ge(h, left)
      const dt = as(stopGradient(mul(sign, where(whole, left, h))))
      const step = how.method(f, t, y, k, dt)
      const size = as(stopGradient(sizeOf(step.error, as(maximum(abs(y), abs(step.y))), how)))
      const taken = as(le(size, 1))
      const kept = (a: AnyExpr, b: AnyExpr): AnyExpr => as(where(taken, a, b))
      const next = {
        t: kept(as(where(whole, end, add(t, dt))), t),
        y: kept(step.y, y),
        k: kept(step.slope, k),
        h: as(stopGradient(mul(abs(dt), growth(size, error, taken)))),
        error: kept(as(maximum(size, 1e-4)), error),
      }
      return { step, dt, taken, next }
    },
  }
}

/** What the steps carry. */
interface State {
  readonly at: At
  readonly ys: AnyExpr
  readonly steps: AnyExpr
}

/** The states at the times ts [T], from y at the first: [T, n]. Where the steps end early, done is false and the times beyond have the last state. */
export const adaptive = (f: Slope, y0: AnyExpr, ts: AnyExpr, how: Control): Path => {
  const [count, n] = [ts.shape[0]!, y0.shape[0]!]
  const timeAt = (i: number): AnyExpr => as(reshape(slice(ts, [i], [i + 1]), []))
  const [begin, end] = [timeAt(0), timeAt(count - 1)]
  const [times, last] = [as(stopGradient(ts)), as(stopGradient(end))]
  const { start, more, attempt, ahead } = stepper(f, y0, begin, end, how)
  const init: State = {
    at: start,
    ys: as(add(cast(zeros([count, n]), y0.dtype), y0)),
    steps: as(full([], 0, 'i32')),
  }
  const out = iterate(
    ({ at }) => more(at),
    ({ at, ys, steps }) => {
      const { step, dt, taken, next } = attempt(at)
      const inside = as(and(taken, and(gt(ahead(times, at.t), 0), le(ahead(times, next.t), 0))))
      const theta = as(where(inside, div(sub(ts, at.t), dt), 0))
      return {
        at: next,
        ys: as(where(reshape(inside, [count, 1]), step.between(theta), ys)),
        steps: as(add(steps, 1)),
      }
    },
    init,
    how.maxSteps,
  )
  const { t, y } = out.at
  const beyond = as(reshape(gt(ahead(times, t), 0), [count, 1]))
  return {
    ys: as(where(beyond, reshape(y, [1, n]), out.ys)),
    steps: out.steps,
    t: as(stopGradient(t)),
    done: as(le(ahead(last, t), 0)),
  }
}
