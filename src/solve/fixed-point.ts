/** Fixed points, differentiated by the implicit function theorem. */
import { functionOf } from '../core/errors/check-arguments.js'
import { choice, type OptionsOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, add, cast, concat, div, full, gt, mul, reshape, slice, sub, where, zeros } from '../index.js'
import { type Equation, implicit } from './implicit.js'
import { iterate } from './iterate.js'
import type { Solution } from './linear.js'
import { positive, whole } from './options.js'
import { inner } from './root.js'
import { type ArrayTree, dot, type Flat, noOptions, norm, paramsOf, type Unknowns, vectorOf } from './vectors.js'

export const fixedPointOptions = {
  /** Found where |f(x) - x| <= tolerance: 1e-10 unless given, 1e-5 in f32. */
  tolerance: positive,
  /** The maximum number of steps: 1000 unless given. */
  maxSteps: whole(1000),
  /** 'plain' unless given: x = f(x); 'anderson' combines the last steps. */
  method: choice(['plain', 'anderson'], 'plain'),
  /** How many steps Anderson's method combines: 5 unless given. */
  memory: whole(5),
  /** How the linear system of the derivative is solved: by gmres unless given. */
  linear: inner,
}
/** Options of `fixedPoint`. */
export type FixedPointOptions = OptionsOf<typeof fixedPointOptions>

const plain =
  (f: Flat, maxSteps: number): Equation['search'] =>
  (x0, params, tolerance) => {
    const f0 = f(x0, params)
    const end = iterate(
      ({ residual }) => gt(residual, tolerance) as AnyExpr,
      ({ fx, steps }) => {
        const next = f(fx, params)
        return { x: fx, fx: next, residual: norm(sub(next, fx) as AnyExpr), steps: add(steps, 1) as AnyExpr }
      },
      { x: x0, fx: f0, residual: norm(sub(f0, x0) as AnyExpr), steps: full([], 0, 'i32') as AnyExpr },
      maxSteps,
    )
    return end
  }

/** Rows of changes of the residual made orthonormal, the newest first, and the changes of x along with them; 0 for a row that says nothing new. */
const orthonormal = (dg: AnyExpr, dx: AnyExpr, memory: number): readonly (readonly [v: AnyExpr, q: AnyExpr])[] => {
  const n = dg.shape[1]!
  const row = (a: AnyExpr, i: number): AnyExpr => reshape(slice(a, [i, 0], [i + 1, n]), [n]) as AnyExpr
  const pairs: (readonly [AnyExpr, AnyExpr])[] = []
  for (let i = 0; i < memory; i++) {
    let [v, q] = [row(dg, i), row(dx, i)]
    const before = norm(v)
    for (const [w, p] of pairs) {
      const h = dot(w, v)
      v = sub(v, mul(h, w)) as AnyExpr
      q = sub(q, mul(h, p)) as AnyExpr
    }
    const left = norm(v)
    const fresh = gt(left, mul(1e-5, before))
    const scale = where(fresh, div(1, where(fresh, left, 1)), 0)
    pairs.push([mul(scale, v) as AnyExpr, mul(scale, q) as AnyExpr])
  }
  return pairs
}

/** Anderson's method: the combination of the last steps whose residual is least, and a step from there.   Source  Walker and Ni 2011. */
const anderson =
  (f: Flat, maxSteps: number, memory: number): Equation['search'] =>
  (x0, params, tolerance) => {
    const n = x0.shape[0]!
    const g0 = sub(f(x0, params), x0) as AnyExpr
    const rows = (): AnyExpr => cast(zeros([memory, n]), x0.dtype) as AnyExpr
    const pushed = (a: AnyExpr, newest: AnyExpr): AnyExpr => concat([reshape(newest, [1, n]), slice(a, [0, 0], [memory - 1, n])]) as AnyExpr
    const end = iterate(
      ({ residual }) => gt(residual, tolerance) as AnyExpr,
      ({ x, g, dx, dg, steps }) => {
        let [rest, moved] = [g, x]
        for (const [v, q] of orthonormal(dg, dx, memory)) {
          const h = dot(v, rest)
          rest = sub(rest, mul(h, v)) as AnyExpr
          moved = sub(moved, mul(h, q)) as AnyExpr
        }
        const next = add(moved, rest) as AnyExpr
        const gNext = sub(f(next, params), next) as AnyExpr
        return {
          x: next,
          g: gNext,
          dx: pushed(dx, sub(next, x) as AnyExpr),
          dg: pushed(dg, sub(gNext, g) as AnyExpr),
          residual: norm(gNext),
          steps: add(steps, 1) as AnyExpr,
        }
      },
      { x: x0, g: g0, dx: rows(), dg: rows(), residual: norm(g0), steps: full([], 0, 'i32') as AnyExpr },
      maxSteps,
    )
    return end
  }

/**
 * x with f(x, params) = x, by iterating x = f(x) or by Anderson acceleration, from x0. x is a tree of floats; f returns a tree like it.
 *
 * Result  { x, steps, residual, converged }: residual is |f(x) - x|, converged says that it is at most the tolerance.
 * Rule    (I - f_x) dx = f_p dp, in reverse mode its transpose, to any order; the steps leave no residuals. NaN if that system is not solved. x0
 *         and captured values have no derivative: pass what f depends on as parameters.
 * Errors  ShapeMismatch or DTypeMismatch if f's result is unlike x0; BadInput for invalid arguments or options.
 * @example
 * evaluate(fixedPoint((x) => cos(x), tensor(1)).x)   // 0.739085
 * grad((a: AnyExpr) => fixedPoint((x, p) => mul(p, cos(x)), tensor(1), a, { method: 'anderson' }).x)(1)   // 0.44161
 */
export const fixedPoint = <const X, const P = Record<never, never>>(
  f: (x: Unknowns<X>, params: Unknowns<P>) => ArrayTree,
  x0: X,
  params?: P,
  options?: FixedPointOptions,
): Solution<Unknowns<X>> => {
  const op = 'fixedPoint'
  functionOf(f, 'f', op)
  noOptions({ f, arity: 1, params, options }, fixedPointOptions, op)
  const { tolerance, maxSteps, method, memory, linear } = readOptions(fixedPointOptions, options, op)
  const start = vectorOf(x0, 'x0', op)
  const flat: Flat = (v, p) => start.of(f(start.back(v) as Unknowns<X>, p as Unknowns<P>), 'f(x)')
  const equation: Equation = {
    name: op,
    g: (v, p) => sub(v, flat(v, p)) as AnyExpr,
    search: method === 'plain' ? plain(flat, maxSteps) : anderson(flat, maxSteps, memory),
  }
  const solution = implicit(equation, start.at, paramsOf(params ?? {}, start.dtype, op), tolerance, linear)
  return { ...solution, x: start.back(solution.x) as Unknowns<X> }
}
