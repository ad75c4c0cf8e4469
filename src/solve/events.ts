/** Differential equations until something happens: the time at which a function of the state crosses zero. */
import { functionOf } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { choice, type OptionsOf, or, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  and,
  cast,
  div,
  type Expr,
  or as either,
  eq,
  type Float,
  fori,
  full,
  ge,
  gt,
  jvp,
  le,
  lt,
  mul,
  not,
  reshape,
  type Scalar,
  type Shape,
  slice,
  stopGradient,
  sub,
  where,
} from '../index.js'
import { type At, stepper } from './adaptive.js'
import { iterate } from './iterate.js'
import { methodOf, notNegative, stepOf, type TimeOf } from './odeint.js'
import { positive, whole } from './options.js'
import type { OdeMethod } from './runge-kutta.js'
import { type ArrayTree, type NumberLists, noOptions, paramsOf, type Unknowns, vectorOf } from './vectors.js'

const as = (x: unknown): AnyExpr => x as AnyExpr
export const odeEventOptions = {
  /** Which crossings count: from below to above zero ('up'), from above to below ('down'), or 'both' (unless given). */
  direction: choice(['both', 'up', 'down'], 'both'),
  /** 'dopri5' unless given; the value `rodas5P` for stiff equations. */
  method: or<'dopri5' | OdeMethod, 'dopri5'>('dopri5', (given, what, op) => methodOf(given, what, op)),
  /** As in `odeint`: 1e-6 unless given, 1e-4 in f32. */
  rtol: positive,
  /** As in `odeint`: 1e-9 unless given, 1e-6 in f32. */
  atol: or(undefined, notNegative),
  /** The maximum number of steps, rejected ones included: 1000 unless given. */
  maxSteps: whole(1000),
  /** The length that is tried first; from f unless given. */
  firstStep: positive,
}
/** Options of `odeEvent`. */
export type OdeEventOptions = OptionsOf<typeof odeEventOptions>
/** Where `odeEvent` stopped. */
export interface OdeEvent<Y> {
  /** The time of the event; the time that was reached where it did not happen. */
  readonly t: Scalar<Float>
  /** The state there. */
  readonly y: Y
  readonly happened: Scalar<'bool'>
  /** How many steps were tried. */
  readonly steps: Scalar<'i32'>
  /** Did it happen, or was the last time reached? */
  readonly done: Scalar<'bool'>
}

/** Halvings of a step: more than the bits of a number. */
const HALVINGS = { f64: 54, f32: 25 } as const

/**
 * The first time from ts[0] to ts[1] at which event(t, y, params) crosses zero, and the state there, where dy/dt = f(t, y, params) and y(ts[0]) = y0. A crossing is a
 * change of sign from the beginning of a step to its end, so that two in one step are not seen; a zero at the start is none.
 *
 * Result  { t, y, happened, steps, done }: where it does not happen, t and y are those of ts[1], or of the time that was reached.
 * Rule    in y0, ts[0] and params: of the steps taken, and of the time by the implicit function theorem, dt = -dg / (g_t + g_y f); to second order.
 * Errors  BadInput unless there are two times, and for invalid options; ShapeMismatch if the event is not a scalar, or f's result is unlike y0.
 * @example
 * // a ball that falls from 10 m lands after sqrt(20 / 9.81) s
 * evaluate(odeEvent((_t, { v }) => ({ x: v, v: -9.81 }), (_t, { x }) => x, { x: 10, v: 0 }, [0, 5]).t)   // 1.42784
 */
export const odeEvent = <const Y, const T extends Expr<Shape, Float> | AnyExpr | NumberLists, const P = Record<never, never>>(
  f: (t: Scalar<TimeOf<Y>>, y: Unknowns<Y>, params: Unknowns<P>) => ArrayTree,
  event: (t: Scalar<TimeOf<Y>>, y: Unknowns<Y>, params: Unknowns<P>) => ArrayTree,
  y0: Y,
  ts: T,
  params?: P,
  options?: OdeEventOptions,
): OdeEvent<Unknowns<Y>> => {
  const op = 'odeEvent'
  functionOf(f, 'f', op)
  functionOf(event, 'the event', op)
  noOptions({ f, arity: 2, params, options }, odeEventOptions, op)
  const { direction, method, rtol, atol, maxSteps, firstStep } = readOptions(odeEventOptions, options, op)
  const start = vectorOf(y0, 'y0', op)
  const { dtype } = start
  const single = dtype === 'f32'
  const times = as(cast(ts as unknown as AnyExpr, dtype))
  if (times.shape.length !== 1 || times.shape[0] !== 2)
    badInput(op, `the times are of shape [${times.shape.join(', ')}].`, 'give two: [from, to].')
  const own = paramsOf(params ?? {}, dtype, op) as Unknowns<P>
  const back = (y: AnyExpr): Unknowns<Y> => start.back(y) as Unknowns<Y>
  const slope = (t: AnyExpr, y: AnyExpr): AnyExpr => start.of(f(t as Scalar<TimeOf<Y>>, back(y), own), 'f(t, y)')
  const crossing = (t: AnyExpr, y: AnyExpr): AnyExpr => {
    const g = as(add(event(t as Scalar<TimeOf<Y>>, back(y), own) as AnyExpr, 0))
    if (g.shape.length > 0) badShape(op, [g.shape], `the event is of shape [${g.shape.join(', ')}].`, 'return a scalar.')
    return as(cast(g, dtype))
  }
  const timeAt = (i: number): AnyExpr => as(reshape(slice(times, [i], [i + 1]), []))
  const how = {
    method: stepOf(method),
    rtol: rtol ?? (single ? 1e-4 : 1e-6),
    atol: atol ?? (single ? 1e-6 : 1e-9),
    maxSteps,
    firstStep,
  }
  const [begin, end] = [timeAt(0), timeAt(1)]
  const { start: first, more, attempt, ahead } = stepper(slope, start.at, begin, end, how)
  const crosses = (from: AnyExpr, to: AnyExpr): AnyExpr => {
    const up = and(lt(from, 0), ge(to, 0))
    const down = and(gt(from, 0), le(to, 0))
    return as(direction === 'up' ? up : direction === 'down' ? down : either(up, down))
  }
  interface State {
    /** Once it happens, the beginning of the step in which it does. */
    readonly at: At
    readonly g: AnyExpr
    readonly dt: AnyExpr
    readonly happened: AnyExpr
    readonly steps: AnyExpr
  }
  const held = (x: AnyExpr): AnyExpr => as(stopGradient(x))
  const init: State = {
    at: first,
    g: held(crossing(begin, start.at)),
    dt: as(full([], 1, dtype)),
    happened: as(full([], 0, 'bool')),
    steps: as(full([], 0, 'i32')),
  }
  const out = iterate<State>(
    ({ at, happened }) => as(and(not(happened), more(at))),
    ({ at, g, steps }) => {
      const { dt, taken, next } = attempt(at)
      const gNext = held(crossing(next.t, next.y))
      const happened = as(and(taken, crosses(g, gNext)))
      const stays = (a: AnyExpr, b: AnyExpr): AnyExpr => as(where(happened, a, b))
      return {
        at: {
          t: stays(at.t, next.t),
          y: stays(at.y, next.y),
          k: stays(at.k, next.k),
          h: stays(at.h, next.h),
          error: stays(at.error, next.error),
        },
        // What is 0 at an end has not changed its sign: the one before stays.
        g: as(where(either(happened, eq(gNext, 0)), g, gNext)),
        dt: held(dt),
        happened,
        steps: as(add(steps, 1)),
      }
    },
    init,
    maxSteps,
  )
  const { at, dt, happened, g } = out
  // The step once more, and the zero in it.
  const step = how.method(slope, at.t, at.y, at.k, dt)
  const stateAt = (theta: AnyExpr): AnyExpr => as(reshape(step.between(as(reshape(theta, [1]))), [start.at.shape[0]!]))
  const valueAt = (theta: AnyExpr): AnyExpr => crossing(as(add(at.t, mul(theta, dt))), stateAt(theta))
  const rising = lt(g, 0)
  type Bracket = readonly [low: AnyExpr, high: AnyExpr]
  const halved = (_: AnyExpr, [low, high]: Bracket): Bracket => {
    const middle = as(mul(0.5, add(low, high)))
    const v = held(valueAt(middle))
    const before = as(where(rising, lt(v, 0), gt(v, 0)))
    return [as(where(before, middle, low)), as(where(before, high, middle))]
  }
  const [, high] = fori(HALVINGS[dtype], halved as never, [as(full([], 0, dtype)), as(full([], 1, dtype))] as never) as unknown as Bracket
  // Steps of Newton's method from the zero stay there; they have its derivatives, each one order more.
  const newton = (theta: AnyExpr): AnyExpr => {
    const [v, dv] = (jvp(valueAt as never) as unknown as (x: AnyExpr, dx: AnyExpr) => readonly [AnyExpr, AnyExpr])(
      theta,
      as(full([], 1, dtype)),
    )
    const isFlat = either(not(happened), eq(dv, 0))
    return as(sub(theta, where(isFlat, 0, div(v, where(isFlat, 1, dv)))))
  }
  const theta = newton(newton(held(high)))
  const t = as(where(happened, add(at.t, mul(theta, dt)), at.t))
  const y = as(where(happened, stateAt(theta), at.y))
  const done = either(happened, le(ahead(held(end), at.t), 0))
  return { t, y: back(y), happened, steps: out.steps, done } as unknown as OdeEvent<Unknowns<Y>>
}
