/** Roots of systems by Newton's method, differentiated by the implicit function theorem. */
import { functionOf } from '../core/errors/check-arguments.js'
import { type Kind, kind, type OptionsOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, add, and, cast, full, gt, le, minimum, mul, where } from '../index.js'
import { type Equation, implicit } from './implicit.js'
import { iterate } from './iterate.js'
import { type LinearHow, type LinearSolveOptions, linearOptions, type Solution, solveVector } from './linear.js'
import { positive, whole } from './options.js'
import { type ArrayTree, type Flat, minus, noOptions, norm, paramsOf, pushed, type Unknowns, vectorOf } from './vectors.js'

/** How the linear systems in an equation are solved. */
export const inner: Kind<LinearHow, Omit<LinearSolveOptions, 'preconditioner'>> = kind((given, what, op) => ({
  ...readOptions(linearOptions, given, `${op}: ${what}`),
  precondition: undefined,
}))
export const rootOptions = {
  /** Found where |f(x)| <= tolerance: 1e-10 unless given, 1e-5 in f32. */
  tolerance: positive,
  /** The maximum number of steps: 30 unless given. */
  maxSteps: whole(30),
  /** How the linear systems of the steps and of the derivative are solved: by gmres unless given. */
  linear: inner,
}
/** Options of `root`. */
export type RootOptions = OptionsOf<typeof rootOptions>

/**
 * Newton's method. A step that does not shrink |f| (Armijo, with its small constant) is not taken, and the next is half as long; after one
 * that is, four times as long, at most whole.
 */
const newton =
  (f: Flat, maxSteps: number, how: LinearHow): Equation['search'] =>
  (x0, params, tolerance) => {
    const f0 = f(x0, params)
    const init = {
      x: x0,
      fx: f0,
      size: norm(f0),
      length: cast(1, x0.dtype as 'f64') as AnyExpr,
      steps: full([], 0, 'i32') as AnyExpr,
    }
    const end = iterate(
      ({ size, length }) => and(gt(size, tolerance), gt(length, 1e-10)) as AnyExpr,
      ({ x, fx, size, length, steps }) => {
        const jacobian: Flat = (v, at) => pushed((u) => f(u, (at as readonly unknown[])[1]), (at as readonly [AnyExpr])[0], v)
        const d = solveVector(jacobian, minus(fx), [x, params], how).x
        const trial = add(x, mul(length, d)) as AnyExpr
        const fTrial = f(trial, params)
        const sizeTrial = norm(fTrial)
        const shrinks = le(sizeTrial, mul(add(1, mul(-1e-4, length)), size))
        return {
          x: where(shrinks, trial, x) as AnyExpr,
          fx: where(shrinks, fTrial, fx) as AnyExpr,
          size: where(shrinks, sizeTrial, size) as AnyExpr,
          length: where(shrinks, minimum(1, mul(4, length)), mul(0.5, length)) as AnyExpr,
          steps: add(steps, 1) as AnyExpr,
        }
      },
      init,
      maxSteps,
    )
    return { x: end.x, steps: end.steps, residual: end.size }
  }

/**
 * x with f(x, params) = 0, by Newton's method with damped steps, from x0. x is a tree of floats; f returns a tree like it.
 *
 * Result  { x, steps, residual, converged }: residual is |f(x)|, converged says that it is at most the tolerance.
 * Rule    f_x dx = -f_p dp, in reverse mode its transpose, to any order; the steps leave no residuals. NaN if that system is not solved. x0 and
 *         captured values have no derivative: pass what f depends on as parameters.
 * Errors  ShapeMismatch or DTypeMismatch if f's result is unlike x0; BadInput for invalid arguments or options.
 * @example
 * evaluate(root((x, a) => sub(mul(x, x), a), tensor(1), tensor(2)).x)   // 1.41421356
 * grad((a: AnyExpr) => root((x, p) => sub(mul(x, x), p), tensor(1), a).x)(2)   // 0.35355339
 */
export const root = <const X, const P = Record<never, never>>(
  f: (x: Unknowns<X>, params: Unknowns<P>) => ArrayTree,
  x0: X,
  params?: P,
  options?: RootOptions,
): Solution<Unknowns<X>> => {
  const op = 'root'
  functionOf(f, 'f', op)
  noOptions({ f, arity: 1, params, options }, rootOptions, op)
  const { tolerance, maxSteps, linear } = readOptions(rootOptions, options, op)
  const start = vectorOf(x0, 'x0', op)
  const flat: Flat = (v, p) => start.of(f(start.back(v) as Unknowns<X>, p as Unknowns<P>), 'f(x)')
  const search = newton(flat, maxSteps, linear)
  const solution = implicit({ name: op, g: flat, search }, start.at, paramsOf(params ?? {}, start.dtype, op), tolerance, linear)
  return { ...solution, x: start.back(solution.x) as Unknowns<X> }
}
