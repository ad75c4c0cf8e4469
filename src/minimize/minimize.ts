/** `minimize`: a scalar function of a tree, by the method that its bounds and constraints ask for. */
import { shown } from '../core/errors/check-arguments.js'
import { badDtype, badInput, badShape } from '../core/errors/explain.js'
import { choice, type OptionsOf, raw, readOptions } from '../core/errors/options.js'
import { type AnyExpr, evaluate, isExpr, isTensor, type Tensor, tensor } from '../index.js'
import { whole } from '../solve/options.js'
import type { Box } from './bounds.js'
import { constrainedMethod } from './constrained.js'
import type { Constraints, EndedWithin } from './constraints.js'
import { lbfgsMethod } from './lbfgs.js'
import { nelderMeadMethod } from './nelder-mead.js'
import { newtonMethod } from './newton.js'
import { type Objective, objectiveOf } from './objective.js'
import { driverOptions, type Ended, limitsOf, type Minimum, minimumOf, type StepInfo } from './result.js'
import { problemOf, sqpMethod } from './sqp.js'
import type { Inside } from './types.js'

export const minimizeOptions = {
  /** 'lbfgs' unless given, and 'sqp' for constraints of at most 200 numbers. 'lbfgs' is L-BFGS-B with bounds; with constraints it works inside an augmented Lagrangian. */
  method: choice(['lbfgs', 'newton', 'nelderMead', 'sqp']),
  ...driverOptions,
  /** How many pairs of steps and changes of the gradient L-BFGS keeps: 10 unless given. */
  memory: whole(10),
  /** `{ lower, upper }`: numbers, or trees like x0, in which a number holds for its whole leaf. */
  bounds: raw<unknown, undefined>(undefined),
  /** `{ equal, atMost }`: functions of x. The results of `equal` must be 0; those of `atMost` must be at most 0. */
  constraints: raw<unknown, undefined>(undefined),
}
type Untyped = OptionsOf<typeof minimizeOptions>
/** A bound for a tree: one number for the whole tree, or a tree of numbers and arrays. */
export type Bound = number | Tensor | readonly Bound[] | { readonly [key: string]: Bound }
/** What a constraint returns: an array, a number, or a list of them. */
export type Constrained = AnyExpr | number | readonly (AnyExpr | number)[]
/** Options of `minimize`. */
export interface MinimizeOptions<X> extends Omit<Untyped, 'bounds' | 'constraints' | 'onStep'> {
  /** Called after each step; it ends the search by returning false. */
  readonly onStep?: ((info: StepInfo<X>) => unknown) | undefined
  /** Numbers, or trees like x0, in which a number holds for its whole leaf. */
  readonly bounds?: { readonly lower?: Bound | undefined; readonly upper?: Bound | undefined } | undefined
  /** Functions of x. The results of `equal` must be 0; those of `atMost` must be at most 0. */
  readonly constraints?:
    | {
        readonly equal?: ((x: Inside<X>) => Constrained) | undefined
        readonly atMost?: ((x: Inside<X>) => Constrained) | undefined
      }
    | undefined
}
/** What the result of `minimize` says about constraints. */
export interface Multipliers {
  /** The multipliers of the equations and of the inequalities, element by element. */
  readonly multipliers: { readonly equal: readonly number[]; readonly atMost: readonly number[] } | null
  /** The largest amount by which a constraint is missed; 0 without constraints. */
  readonly violation: number
}

/** The numbers of one bound, leaf by leaf of the tree x; `none` where nothing is said. */
function* boundIn(x: unknown, bound: unknown, none: number, what: string): Generator<number> {
  if (isTensor(x)) {
    const b =
      typeof bound === 'number' || Array.isArray(bound)
        ? tensor(bound as number)
        : isExpr(bound)
          ? (evaluate(bound as AnyExpr) as Tensor)
          : (bound ?? tensor(none))
    const fix = 'give a number, or an array of the shape of x0 there.'
    if (!isTensor(b)) return badInput('minimize', `${what} is ${shown(bound)}.`, fix)
    if (b.dtype === 'bool') badDtype('minimize', ['bool'], `${what} has truth values`, fix)
    const [size, values] = [x.data.length, Array.from(b.data, Number)]
    if (values.length !== 1 && String(b.shape) !== String(x.shape))
      badShape(
        'minimize',
        [b.shape, x.shape],
        values.length === size
          ? `${what} has the shape [${b.shape}] and x0 has [${x.shape}] there`
          : `${what} has ${values.length} numbers and x0 has ${size} there`,
        fix,
      )
    if (values.some((v) => Number.isNaN(v))) badInput('minimize', `${what} has a NaN.`)
    for (let i = 0; i < size; i++) yield values[values.length === 1 ? 0 : i]!
    return
  }
  if (typeof x !== 'object' || x === null) return
  const known = typeof bound === 'object' && bound !== null
  if (!known && bound !== undefined && typeof bound !== 'number')
    badInput('minimize', `${what} is ${shown(bound)}.`, 'give a number, or a tree like x0.')
  const lost = known ? Object.keys(bound).find((key) => !Object.hasOwn(x, key)) : undefined
  if (lost !== undefined) badInput('minimize', `${what} has '${lost}', which x0 has not.`)
  for (const [key, part] of Object.entries(x))
    yield* boundIn(part, known ? (Object.hasOwn(bound, key) ? bound[key as never] : undefined) : bound, none, `${what}.${key}`)
}
const boundOf = (given: unknown, of: Objective, none: number, what: string): Float64Array =>
  Float64Array.from(boundIn(of.tree(of.start), given, none, what))
const boxOf = (given: unknown, of: Objective): Box | undefined => {
  if (given === undefined) return undefined
  if (typeof given !== 'object' || given === null || Array.isArray(given) || isTensor(given) || isExpr(given))
    return badInput('minimize', `bounds is ${shown(given)}.`, 'give { lower, upper }.')
  const other = Object.keys(given).find((key) => key !== 'lower' && key !== 'upper')
  if (other !== undefined) badInput('minimize', `bounds has '${other}'.`, 'give { lower, upper }.')
  const { lower, upper } = given as { readonly lower?: unknown; readonly upper?: unknown }
  const box = {
    lower: boundOf(lower, of, Number.NEGATIVE_INFINITY, 'bounds.lower'),
    upper: boundOf(upper, of, Number.POSITIVE_INFINITY, 'bounds.upper'),
  }
  if (box.lower.includes(Number.POSITIVE_INFINITY)) badInput('minimize', 'bounds.lower has Infinity, which no number reaches.')
  if (box.upper.includes(Number.NEGATIVE_INFINITY)) badInput('minimize', 'bounds.upper has -Infinity, which no number reaches.')
  const empty = box.lower.findIndex((v, i) => v > box.upper[i]!)
  if (empty >= 0) badInput('minimize', `bounds: the lower bound ${box.lower[empty]} is above the upper bound ${box.upper[empty]}.`)
  return box
}
/** Of more numbers, dense matrices take longer than the gradients that they save. */
const DENSE = 200
const withinOf = <X>(ended: EndedWithin, of: Objective, constrained: boolean): Minimum<X> & Multipliers => ({
  ...minimumOf<X>(ended, of),
  multipliers: constrained ? { equal: Array.from(ended.multipliers.equal), atMost: Array.from(ended.multipliers.atMost) } : null,
  violation: ended.violation,
})

/**
 * A local minimum of f near x0. x is a tree of floats, and f returns a scalar.
 *
 * f is compiled once, with its gradient, on the default backend. It may capture data. The methods are L-BFGS ('lbfgs'), Newton's method by products with the Hessian in a trust region
 * ('newton'), Nelder and Mead's simplex ('nelderMead'), and sequential quadratic programming ('sqp', dense). `bounds` hold for all but 'newton'. `constraints` hold for 'sqp', the default with them
 * for at most 200 numbers, and for 'lbfgs' (augmented Lagrangian).
 * Result  { x, value, converged, reason, steps, gradient, evaluations, history, multipliers, violation }. The search has converged if max |g_i| max(|x_i|, 1) / max(|f|, 1) <= tolerance,
 *         where g is the gradient within the bounds, or if a further step would lower f by less than the rounding error.
 * Errors  NotScalar unless f returns a scalar; BadInput for numbers that are not finite in x0, for f(x0) that is not finite, and for bounds that exclude each other.
 * @example minimize((x) => sum(square(sub(x, [1, 2]))), [0, 0]).x   // [1, 2]
 * @example minimize((x) => sum(square(sub(x, [1, 2]))), [0, 0], { bounds: { upper: 1.5 } }).x   // [1, 1.5]
 */
export const minimize = <X>(
  f: (x: Inside<X>) => AnyExpr | number,
  x0: X,
  options?: MinimizeOptions<NoInfer<X>>,
): Minimum<X> & Multipliers => {
  const op = 'minimize'
  const { method: asked, memory, bounds, constraints, ...rest } = readOptions(minimizeOptions, options, op)
  const of = objectiveOf(f, x0, op)
  const method = asked ?? (constraints !== undefined && of.start.length <= DENSE ? 'sqp' : 'lbfgs')
  try {
    const box = boxOf(bounds, of)
    const limits = limitsOf(rest, of, method === 'nelderMead' ? 400 * of.start.length + 1000 : 10_000)
    const begin = of.value(box === undefined ? of.start : of.start.map((v, i) => Math.min(box.upper[i]!, Math.max(box.lower[i]!, v))))
    if (!Number.isFinite(begin)) badInput(op, `f(x0) is ${begin}.`, 'begin where f is finite.')
    if (method === 'newton' && box !== undefined) badInput(op, "the method 'newton' takes no bounds.", "use 'lbfgs'.")
    if (constraints !== undefined) {
      if (method !== 'lbfgs' && method !== 'sqp') badInput(op, `the method '${method}' takes no constraints.`, "use 'sqp' or 'lbfgs'.")
      if (typeof constraints !== 'object' || constraints === null || Array.isArray(constraints))
        badInput(op, `constraints is ${shown(constraints)}.`, 'give { equal, atMost }.')
      const other = Object.keys(constraints as object).find((key) => key !== 'equal' && key !== 'atMost')
      if (other !== undefined) badInput(op, `constraints has '${other}'.`, 'give { equal, atMost }.')
    }
    const inside = f as unknown as (x: unknown) => AnyExpr
    if (method === 'sqp') {
      const count = { values: 0, gradients: 0 }
      const problem = problemOf(inside, constraints as Constraints | undefined, of, count, op)
      try {
        const ended = sqpMethod(problem, of.start, box, limits, op)
        return withinOf<X>(ended, { ...of, evaluations: () => ({ ...count, products: 0 }) }, constraints !== undefined)
      } finally {
        problem.dispose()
      }
    }
    if (constraints !== undefined) {
      let gradients = 0
      const ended = constrainedMethod(inside, constraints as Constraints, of, box, memory, limits, () => ++gradients, op)
      return withinOf<X>(ended, { ...of, evaluations: () => ({ ...of.evaluations(), gradients }) }, true)
    }
    const run = (): Ended => {
      if (method === 'newton') return newtonMethod(of, of.start, limits)
      if (method === 'nelderMead') return nelderMeadMethod(of, of.start, box, limits)
      return lbfgsMethod(of, of.start, box, memory, limits)
    }
    return { ...minimumOf<X>(run(), of), multipliers: null, violation: 0 }
  } finally {
    of.dispose()
  }
}
