/** Ordinary differential equations: options, trees, and the choice of steps and of the derivative. */
import { functionOf, numberOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { choice, type OptionsOf, or, readOptions, refused } from '../core/errors/options.js'
import {
  type AnyExpr,
  all,
  and,
  argmax,
  cast,
  concat,
  cumsum,
  type Dim,
  type Expr,
  or as either,
  eq,
  type Float,
  full,
  ge,
  isTensor,
  mul,
  type NoTangent,
  ne,
  not,
  reshape,
  type Scalar,
  type Shape,
  sign,
  slice,
  stopGradient,
  sub,
  sum,
  take,
  vmap,
  where,
} from '../index.js'
import { adaptive, type Path } from './adaptive.js'
import { type Integrate, withAdjoint } from './adjoint.js'
import { even } from './even.js'
import { positive, whole, wholeOrNone } from './options.js'
import { dopri5, type Method, type OdeMethod } from './runge-kutta.js'
import { type ArrayTree, type NumberLists, noOptions, paramsOf, type Unknowns, vectorOf } from './vectors.js'

export const notNegative = (given: unknown, what: string, op: string): number => {
  const x = numberOf(given, what, op)
  return x >= 0 ? x : badInput(op, `${what} is ${x}, it must be 0 or more.`)
}
/** One of the methods whose steps follow from their error. */
export const methodOf = (given: unknown, what: string, op: string, names = "'dopri5'"): 'dopri5' | OdeMethod =>
  given === 'dopri5' ||
  (typeof given === 'object' && given !== null && reading(`${op}: ${what}`, () => (given as Partial<OdeMethod>)._tag) === 'OdeMethod')
    ? (given as 'dopri5' | OdeMethod)
    : refused(given, what, op, `give ${names}, or for stiff equations rodas5P: import { odeint, rodas5P } from 'codual/solve'.`)
/** The step of a method. */
export const stepOf = (method: 'dopri5' | OdeMethod): Method => (method === 'dopri5' ? dopri5 : method.step)
export const odeOptions = {
  /** 'dopri5' unless given, of order 5; the value `rodas5P` for stiff equations, of order 5; 'rk4', of order 4, in equal steps. */
  method: or<'dopri5' | 'rk4' | OdeMethod, 'dopri5'>('dopri5', (given, what, op) =>
    given === 'rk4' ? given : methodOf(given, what, op, "'dopri5', 'rk4'"),
  ),
  /** A step is accepted if its error is at most atol + rtol |y|: 1e-6 unless given, 1e-4 in f32. */
  rtol: positive,
  /** 1e-9 unless given, 1e-6 in f32. */
  atol: or(undefined, notNegative),
  /** The maximum number of steps, rejected ones included: 1000 unless given. */
  maxSteps: whole(1000),
  /** The length that is tried first; from f unless given. */
  firstStep: positive,
  /** The number of equal steps from each time to the next, whatever their error; 1 for 'rk4' unless given. */
  substeps: wholeOrNone,
  /** The derivative: 'steps' unless given, that of the steps taken; 'adjoint' solves the equation of the derivative, and keeps no steps. */
  adjoint: choice(['steps', 'adjoint'], 'steps'),
}
/** Options of `odeint`. */
export type OdeOptions = OptionsOf<typeof odeOptions>

/** T with an axis of N times in front. */
export type AtTimes<T, N extends Dim = number> =
  T extends Expr<infer S, infer D> ? Expr<[N, ...S], D> : { -readonly [K in keyof T]: AtTimes<T[K], N> }
/** How many times there are: of an array its axis, of a list its length where that is known. */
export type CountOf<T> =
  T extends Expr<infer S, Float>
    ? S extends readonly [infer N extends Dim]
      ? N
      : number
    : T extends { readonly length: infer N extends number }
      ? N
      : number
/** The dtype of the arrays of T. */
type DTypesOf<T> = T extends { readonly dtype: infer D; readonly shape: unknown }
  ? D
  : T extends number | NumberLists | NoTangent | undefined
    ? never
    : { [K in keyof T]: DTypesOf<T[K]> }[keyof T]
/** That of the times: the one of the arrays of y0. */
export type TimeOf<Y> = [DTypesOf<Y>] extends [never]
  ? Float
  : [DTypesOf<Y>] extends ['f32']
    ? 'f32'
    : [DTypesOf<Y>] extends ['f64']
      ? 'f64'
      : Float
/** What `odeint` found, and whether it reached the last time. */
export type Trajectory<Y, N extends Dim = number> = {
  /** The states at the times, along a first axis; for times that were not reached the last state. */
  readonly ys: AtTimes<Y, N>
  /** How many steps were tried. */
  readonly steps: Scalar<'i32'>
  /** The time that was reached. It has no derivative. */
  readonly t: Scalar<Float>
  /** Was the last time reached, with times in one direction, and (with equal steps) without NaN? */
  readonly done: Scalar<'bool'>
}

/** The tree of states that rows stand for. */
export const atTimes = (back: (v: AnyExpr) => unknown, ys: AnyExpr): unknown =>
  (vmap(back as never) as unknown as (v: AnyExpr) => unknown)(ys)

/** The options, checked, as a way to integrate. */
const integrator = (options: OdeOptions | undefined, op: string): Integrate => {
  const { method, rtol, atol, maxSteps, firstStep, adjoint, ...given } = readOptions(odeOptions, options, op)
  const substeps = given.substeps ?? (method === 'rk4' ? 1 : undefined)
  const steps: Integrate = (f, y0, ts, params): Path => {
    const slope = (t: AnyExpr, y: AnyExpr): AnyExpr => f(t, y, params)
    if (substeps !== undefined) return even(slope, y0, ts, { method: method === 'rk4' ? method : stepOf(method), substeps })
    const single = y0.dtype === 'f32'
    return adaptive(slope, y0, ts, {
      method: stepOf(method as 'dopri5' | OdeMethod),
      rtol: rtol ?? (single ? 1e-4 : 1e-6),
      atol: atol ?? (single ? 1e-6 : 1e-9),
      maxSteps,
      firstStep,
    })
  }
  return adjoint === 'steps' ? steps : withAdjoint(steps)
}

/** The place of the first of known times that turns, or is no number: undefined where they go one way. */
const turnOf = (ts: ArrayLike<number>): number | undefined => {
  let direction = 0
  for (let i = 1; i < ts.length; i++) {
    const d = ts[i]! - ts[i - 1]!
    if (direction === 0) direction = Math.sign(d)
    if (!(d * direction >= 0) && ts[i] !== ts[i - 1]) return i
  }
  return undefined
}
/** Times that are known when the solver is called go one way. */
export const checkTimes = (ts: unknown, op: string): void => {
  const known = isTensor(ts) ? ts.data : Array.isArray(ts) && ts.every((t) => typeof t === 'number') ? (ts as number[]) : []
  const i = turnOf(known)
  if (i !== undefined)
    badInput(
      op,
      `the times turn at place ${i}: ${known[i]} comes after ${Array.from(known)
        .slice(Math.max(0, i - 2), i)
        .join(' and ')}.`,
      'give times that go up, or down; equal neighbours are fine.',
    )
}
/** Which of the times that are computed come before the first that turns, and the times with the last of these in the place of the others. */
const oneWay = (ts: AnyExpr): { readonly good: AnyExpr; readonly times: AnyExpr } => {
  const n = ts.shape[0]!
  const held = stopGradient(ts)
  const [to, from] = [slice(held, [1], [n]), slice(held, [0], [n - 1])]
  const moves = sub(to, from)
  const direction = sign(take(moves, argmax(cast(ne(moves, 0), 'i32')) as Expr<[], 'i32'>))
  const turns = cumsum(cast(not(either(ge(mul(moves, direction), 0), eq(to, from))), 'i32'))
  const good = concat([full([1], 1, 'bool'), eq(turns, 0)]) as AnyExpr
  const last = take(ts, sub(sum(cast(good, 'i32')), 1) as Expr<[], 'i32'>)
  return { good, times: where(good, ts, last) as AnyExpr }
}

/**
 * The states y(ts) of ordinary differential equations (ODE), dy/dt = f(t, y, params) with y(ts[0]) = y0: y is a tree of floats, and f returns a tree like it; the times ascend or descend.
 *
 * Result  { ys, steps, t, done }: ys has the times as its first axis. If maxSteps are not enough, or f is NaN, done is false, t is the time reached, and ys repeats
 *         the last state beyond it. If computed times change direction, the rows from there on are NaN, and done is false.
 * Rule    in y0, ts and params: that of the steps taken, with their lengths fixed; with adjoint: 'adjoint' that of the equation, solved from the last time to the
 *         first (in forward mode together with y), and NaN if that needs more than maxSteps. Captured values have a derivative with 'steps' alone.
 * Errors  BadInput without times, for known times that change direction, and for invalid options; ShapeMismatch or DTypeMismatch if f's result is unlike y0.
 * @example
 * evaluate(odeint((_t, y) => neg(y), tensor(1), [0, 1, 2]).ys)   // [1, 0.36788, 0.135335]
 * evaluate(odeint((_t, y, k) => mul(k, y), tensor(1), [0, 1], tensor(2), { method: 'rk4', substeps: 20 }).ys)   // [1, 7.389]
 */
export const odeint = <const Y, const T extends Expr<Shape, Float> | AnyExpr | NumberLists, const P = Record<never, never>>(
  f: (t: Scalar<TimeOf<Y>>, y: Unknowns<Y>, params: Unknowns<P>) => ArrayTree,
  y0: Y,
  ts: T,
  params?: P,
  options?: OdeOptions,
): Trajectory<Unknowns<Y>, CountOf<T>> => {
  const op = 'odeint'
  functionOf(f, 'f', op)
  noOptions({ f, arity: 2, params, options }, odeOptions, op)
  const integrate = integrator(options, op)
  const start = vectorOf(y0, 'y0', op)
  const times = cast(ts as unknown as AnyExpr, start.dtype) as AnyExpr
  if (times.shape.length !== 1 || times.shape[0] === 0)
    badInput(op, `the times are of shape [${times.shape.join(', ')}].`, 'give a list of times; the first is that of y0.')
  const flat = (t: AnyExpr, y: AnyExpr, p: unknown): AnyExpr =>
    start.of(f(t as Scalar<TimeOf<Y>>, start.back(y) as Unknowns<Y>, p as Unknowns<P>), 'f(t, y)')
  checkTimes(ts, op)
  // What a tensor holds may change before a call.
  const along = Array.isArray(ts) || times.shape[0] === 1 ? undefined : oneWay(times)
  const path = integrate(flat, start.at, along?.times ?? times, paramsOf(params ?? {}, start.dtype, op))
  const { steps, t } = path
  const ys = along === undefined ? path.ys : (where(reshape(along.good, [-1, 1]), path.ys, Number.NaN) as AnyExpr)
  const done = along === undefined ? path.done : and(path.done, all(along.good))
  return { ys: atTimes(start.back, ys), steps, t, done } as unknown as Trajectory<Unknowns<Y>, CountOf<T>>
}
