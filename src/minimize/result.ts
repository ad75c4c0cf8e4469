/** What drivers give, and when they end. */
import { functionOf } from '../core/errors/check-arguments.js'
import { type OptionsOf, or } from '../core/errors/options.js'
import type { Float } from '../index.js'
import { positive, wholeOrNone } from '../solve/options.js'
import type { Evaluations, Objective } from './objective.js'
import type { Found } from './types.js'

/**
 * Why a driver ended: the gradient is small (`gradient`); no step that rounding does not hide lowers the value (`rounding`); the simplex is small (`simplex`); the number of steps
 * (`maxSteps`); `onStep` returned false (`stopped`); no lower value was found along a descent direction (`lineSearch`); the constraints cannot be met any better (`infeasible`).
 */
export type Reason = 'gradient' | 'rounding' | 'simplex' | 'maxSteps' | 'stopped' | 'lineSearch' | 'infeasible'
/** What `onStep` is told. */
export interface StepInfo<X> {
  /** The number of steps taken. */
  readonly step: number
  readonly value: number
  /** The relative size of the gradient, what the tolerance is compared with; NaN for methods without gradients. */
  readonly gradient: number
  /** Returns the current x; the tree is made when you ask for it. */
  readonly x: () => Found<X>
}
/** Options of every driver. */
export const driverOptions = {
  /** The search has converged if the relative gradient is at most this: 1e-8 unless given, 1e-4 if x0 holds f32. */
  tolerance: positive,
  /** The maximum number of steps. */
  maxSteps: wholeOrNone,
  /** Called after each step; it ends the search by returning false. */
  onStep: or<((info: StepInfo<never>) => unknown) | undefined, undefined, (info: StepInfo<never>) => unknown>(
    undefined,
    (given, what, op) => functionOf(given as (info: StepInfo<never>) => unknown, what, op),
  ),
}
/** Where a search ended. */
export interface Ended {
  readonly x: Float64Array
  readonly value: number
  readonly gradient: number
  readonly steps: number
  readonly reason: Reason
  readonly history: readonly number[]
}
/** What a driver returns. */
export interface Minimum<X> {
  readonly x: Found<X>
  readonly value: number
  /** Whether the reason is 'gradient', 'simplex' or 'rounding'. */
  readonly converged: boolean
  readonly reason: Reason
  readonly steps: number
  /** The relative size of the gradient at x; NaN for methods without gradients. */
  readonly gradient: number
  readonly evaluations: Evaluations
  /** The value at x0 and after each step. */
  readonly history: readonly number[]
}
export const minimumOf = <X>({ x, value, gradient, steps, reason, history }: Ended, of: Objective): Minimum<X> => ({
  x: of.tree(x) as Found<X>,
  value,
  converged: reason === 'gradient' || reason === 'rounding' || reason === 'simplex',
  reason,
  steps,
  gradient,
  evaluations: of.evaluations(),
  history,
})

/** What every method is told. */
export interface Limits {
  readonly tolerance: number
  readonly maxSteps: number
  /** Says whether to go on. */
  readonly onStep: (step: number, value: number, gradient: number, x: Float64Array) => boolean
}
/** Reads what `driverOptions` gave. */
export const limitsOf = (
  read: { readonly tolerance?: number | undefined; readonly maxSteps?: number | undefined; readonly onStep?: unknown },
  of: { readonly dtype: Float; readonly tree: (x: Float64Array) => unknown },
  maxSteps: number,
): Limits => ({
  tolerance: read.tolerance ?? (of.dtype === 'f32' ? 1e-4 : 1e-8),
  maxSteps: read.maxSteps ?? maxSteps,
  onStep: (step, value, gradient, x) => {
    if (read.onStep === undefined) return true
    const at = Float64Array.from(x)
    return (read.onStep as (info: StepInfo<never>) => unknown)({ step, value, gradient, x: () => of.tree(at) as never }) !== false
  },
})
/** max |g_i| max(|x_i|, 1) / max(|f|, 1): how much the value changes, relatively, where one number does. */
export const relativeGradient = (x: Float64Array, g: Float64Array, value: number): number => {
  let most = 0
  for (let i = 0; i < x.length; i++) most = Math.max(most, Math.abs(g[i]!) * Math.max(1, Math.abs(x[i]!)))
  return most / Math.max(1, Math.abs(value))
}
export type DriverOptions = OptionsOf<typeof driverOptions>

export const dot = (a: Float64Array, b: Float64Array): number => {
  let total = 0
  for (let i = 0; i < a.length; i++) total += a[i]! * b[i]!
  return total
}
export const norm = (a: Float64Array): number => Math.sqrt(dot(a, a))
/** y = y + c x. */
export const axpy = (c: number, x: Float64Array, y: Float64Array): void => {
  for (let i = 0; i < x.length; i++) y[i] = y[i]! + c * x[i]!
}
/** x + c d. */
export const along = (x: Float64Array, c: number, d: Float64Array): Float64Array => {
  const y = new Float64Array(x.length)
  for (let i = 0; i < x.length; i++) y[i] = x[i]! + c * d[i]!
  return y
}
