/** `proximalGradient` and `projectedGradient`: minima as expressions, differentiated by what they satisfy. */
import { functionOf } from '../core/errors/check-arguments.js'
import { flag, type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  abs,
  add,
  and,
  cast,
  div,
  type Float,
  full,
  gt,
  jvp,
  le,
  mul,
  type Scalar,
  sqrt,
  square,
  sub,
  valueAndGrad,
  where,
} from '../index.js'
import { type Equation, type Found, implicit } from '../solve/implicit.js'
import { iterate } from '../solve/iterate.js'
import type { Solution } from '../solve/linear.js'
import { positive, whole } from '../solve/options.js'
import { inner } from '../solve/root.js'
import { type ArrayTree, dot, noOptions, norm, onlyIf, paramsOf, type Unknowns, vectorOf } from '../solve/vectors.js'

export const proximalOptions = {
  /** The length of a step; it must be below 2 / L, where L is the Lipschitz constant of the gradient. Found by backtracking unless given. */
  step: positive,
  /** Whether steps have momentum (FISTA with restarts): true unless given. */
  acceleration: flag(true),
  /** The search has converged if |x - prox(x - t grad f(x), t)| / t is at most this: 1e-10 unless given, 1e-5 in f32. */
  tolerance: positive,
  /** The maximum number of steps, including those that backtracking refuses: 1000 unless given. */
  maxSteps: whole(1000),
  /** How the linear system of the derivative is solved: by gmres unless given. */
  linear: inner,
}
/** Options of `proximalGradient` and `projectedGradient`. */
export type ProximalOptions = OptionsOf<typeof proximalOptions>

/** A function and its gradient, and a proximal operator, of vectors. */
interface Problem {
  readonly f: (x: AnyExpr, params: unknown) => AnyExpr
  readonly prox: (x: AnyExpr, step: AnyExpr, params: unknown) => AnyExpr
}
const withGradient = ({ f }: Problem, x: AnyExpr, params: unknown): { readonly value: AnyExpr; readonly grad: AnyExpr } =>
  valueAndGrad(((v: AnyExpr) => f(v, params)) as never)(x as never) as unknown as { value: AnyExpr; grad: AnyExpr }
/** prox(x - t grad f(x), t). */
const stepped = (problem: Problem, x: AnyExpr, t: AnyExpr, params: unknown): AnyExpr =>
  problem.prox(sub(x, mul(t, withGradient(problem, x, params).grad)) as AnyExpr, t, params)
const epsilonOf = (x: AnyExpr): number => (x.dtype === 'f32' ? 2 ** -23 : 2 ** -52)
const number = (x: number, like: AnyExpr): AnyExpr => cast(x, like.dtype as 'f64') as AnyExpr
const choose = (condition: AnyExpr, a: AnyExpr, b: AnyExpr): AnyExpr => where(condition, a, b) as AnyExpr

/** The first step to try: twice that to the minimum along the gradient of the parabola that f is there, and 1 where it is none. */
const firstStep = (problem: Problem, x: AnyExpr, params: unknown): AnyExpr => {
  const gradient = (v: AnyExpr): AnyExpr => withGradient(problem, v, params).grad
  const g = gradient(x)
  const [, hg] = (jvp(gradient as never) as unknown as (x: AnyExpr, dx: AnyExpr) => readonly [AnyExpr, AnyExpr])(x, g)
  const [slope, curvature] = [dot(g, g), dot(g, hg)]
  const curved = and(gt(curvature, 0), gt(slope, 0)) as AnyExpr
  return where(curved, div(mul(2, slope), where(curved, curvature, 1)), 1) as AnyExpr
}

interface How {
  readonly step: number | undefined
  readonly acceleration: boolean
  readonly maxSteps: number
}
/** By how much backtracking shortens steps at most. */
const SHORTEST = 1e-18
/**
 * Steps from y, which is x, or beyond x where they are accelerated. A step that is too long for the curvature of f is refused, and the next one is half as long; no later one is longer.
 * Momentum begins anew where it points uphill.   Source  Beck and Teboulle 2009; O'Donoghue and Candes 2015.
 */
const search = (problem: Problem, x0: AnyExpr, params: unknown, { step, acceleration, maxSteps }: How, tolerance: number): Found => {
  const t0 = step === undefined ? firstStep(problem, x0, params) : number(step, x0)
  const one = number(1, x0)
  const begin = { x: x0, y: x0, theta: one, t: t0, residual: number(Number.POSITIVE_INFINITY, x0), steps: full([], 0, 'i32') as AnyExpr }
  const alive = (t: AnyExpr): AnyExpr => gt(t, mul(SHORTEST, t0)) as AnyExpr
  const end = iterate(
    // Half of the tolerance, so that rounding does not decide.
    ({ residual, t }) => and(gt(residual, tolerance / 2), alive(t)) as AnyExpr,
    ({ x, y, theta, t, residual, steps }) => {
      const { value, grad } = withGradient(problem, y, params)
      const z = problem.prox(sub(y, mul(t, grad)) as AnyExpr, t, params)
      const d = sub(z, y) as AnyExpr
      const taken = { steps: add(steps, 1) as AnyExpr }
      // Values differ by less than their rounding near the minimum, where no step may be refused for it.
      const slack = mul(10 * epsilonOf(x0), abs(value))
      const bound = add(add(value, dot(grad, d)), add(div(dot(d, d), mul(2, t)), slack))
      const fits = step === undefined ? (le(problem.f(z, params), bound) as AnyExpr) : undefined
      const unless = (next: AnyExpr, otherwise: AnyExpr): AnyExpr => (fits === undefined ? next : choose(fits, next, otherwise))
      const moved = { x: unless(z, x), t: unless(t, mul(0.5, t) as AnyExpr), residual: unless(div(norm(d), t) as AnyExpr, residual) }
      if (!acceleration) return { ...moved, y: moved.x, theta, ...taken }
      const uphill = gt(dot(sub(y, z) as AnyExpr, sub(z, x) as AnyExpr), 0) as AnyExpr
      const last = choose(uphill, one, theta)
      const next = mul(0.5, add(1, sqrt(add(1, mul(4, square(last)))))) as AnyExpr
      const beyond = add(z, mul(div(sub(last, 1), next), sub(z, x))) as AnyExpr
      return { ...moved, y: unless(beyond, y), theta: unless(next, theta), ...taken }
    },
    begin,
    maxSteps,
  )
  const residual = div(norm(sub(end.x, stepped(problem, end.x, end.t, params)) as AnyExpr), end.t) as AnyExpr
  return { x: end.x, steps: end.steps, residual: onlyIf(alive(end.t), residual), scale: end.t }
}

/** A function and a proximal operator of trees, as users give them. */
interface Given {
  readonly f: (x: unknown, params: unknown) => unknown
  readonly prox: (x: unknown, step: AnyExpr, params: unknown) => unknown
  /** What messages call the result of `prox`. */
  readonly named: string
}
/** The search, with the derivative of what it solves: x = prox(x - t grad f(x), t), for the t at which it ended as for any other. */
const minimised = ({ f, prox, named }: Given, x0: unknown, params: unknown, options: unknown, op: string): Solution<unknown> => {
  noOptions({ f, arity: 1, params, options }, proximalOptions, op)
  const { tolerance, linear, ...how } = readOptions(proximalOptions, options, op)
  const start = vectorOf(x0, 'x0', op)
  const problem: Problem = {
    f: (v, p) => add(f(start.back(v), p) as AnyExpr, 0) as AnyExpr,
    prox: (v, t, p) => start.of(prox(start.back(v), t, p), named),
  }
  const equation: Equation = {
    name: op,
    g: (v, p, t) => sub(v, stepped(problem, v, t!, p)) as AnyExpr,
    search: (x, p, limit) => search(problem, x, p, how, limit),
  }
  const solution = implicit(equation, start.at, paramsOf(params ?? {}, start.dtype, op), tolerance, linear)
  return { ...solution, x: start.back(solution.x) }
}

/**
 * A minimum of f(x, params) + h(x, params) near x0. f is smooth, and h is given by its proximal operator: prox(x, step, params), such as `proxL1(x, { scale: step * lambda })`, returns
 * the minimiser over u of step h(u) + |u - x|^2 / 2. x is a tree of floats.
 *
 * Result  { x, steps, residual, converged }, expressions: residual is |x - prox(x - t grad f(x), t)| / t with the last step t, which is the length of the gradient if h is 0.
 * Rule    that of the equation x = prox(x - t grad f(x), t), by one linear solve, to any order; no step is stored. NaN if that solve does not converge, and for quantities that differ
 *         between several minima. x0, steps, residual and captured values have no derivative: pass everything that f and h depend on as parameters.
 * Source  Beck and Teboulle 2009; O'Donoghue and Candes 2015; jaxopt ProximalGradient.
 * Errors  NotScalar unless f returns a scalar; ShapeMismatch or DTypeMismatch if the result of prox is unlike x0; BadInput for invalid arguments or options.
 * @example
 * const nearest = (a: AnyExpr) => proximalGradient((x, p) => sum(square(sub(x, p))), (x, t) => proxL1(x, { scale: t }), [0, 0], a).x
 * evaluate(nearest(tensor([3, 0.2])))         // [2.5, 0]
 * grad((a: AnyExpr) => sum(nearest(a)))([3, 0.2])   // [1, 0]
 */
export const proximalGradient = <const X, const P = Record<never, never>>(
  f: (x: Unknowns<X>, params: Unknowns<P>) => AnyExpr | number,
  prox: (x: Unknowns<X>, step: Scalar<Float>, params: Unknowns<P>) => ArrayTree,
  x0: X,
  params?: P,
  options?: ProximalOptions,
): Solution<Unknowns<X>> => {
  const op = 'proximalGradient'
  const given = { f: functionOf(f, 'f', op), prox: functionOf(prox, 'prox', op), named: 'prox(x)' } as unknown as Given
  return minimised(given, x0, params, options, op) as Solution<Unknowns<X>>
}

/**
 * A minimum of f(x, params) in a convex set near x0. project(x, params), such as `projectSimplex`, returns the point of the set that is nearest to x. x is a tree of floats.
 *
 * Result, rule, source and errors as `proximalGradient`; residual is |x - project(x - t grad f(x))| / t.
 * @example
 * evaluate(projectedGradient((x) => sum(square(sub(x, [1, 0.5]))), (x) => projectSimplex(x), [0, 0]).x)   // [0.75, 0.25]
 */
export const projectedGradient = <const X, const P = Record<never, never>>(
  f: (x: Unknowns<X>, params: Unknowns<P>) => AnyExpr | number,
  project: (x: Unknowns<X>, params: Unknowns<P>) => ArrayTree,
  x0: X,
  params?: P,
  options?: ProximalOptions,
): Solution<Unknowns<X>> => {
  const op = 'projectedGradient'
  functionOf(project, 'project', op)
  const prox = (x: unknown, _step: AnyExpr, p: unknown): unknown => (project as unknown as (x: unknown, p: unknown) => unknown)(x, p)
  return minimised({ f: functionOf(f, 'f', op), prox, named: 'project(x)' } as unknown as Given, x0, params, options, op) as Solution<
    Unknowns<X>
  >
}
