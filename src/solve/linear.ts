/** Linear systems: one solve for the value, one for a derivative in either direction. */
import { functionOf } from '../core/errors/check-arguments.js'
import { badShape } from '../core/errors/explain.js'
import { choice, func, type OptionsFor, type OptionsOf, type ReadOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  type Arg,
  cast,
  customRule,
  type Expr,
  type Float,
  le,
  matmul,
  mul,
  NoTangent,
  type Scalar,
  type Shape,
  stopGradient,
  sub,
  ZeroTangent,
} from '../index.js'
import { methods } from './krylov.js'
import { positive, whole, wholeOrNone } from './options.js'
import {
  type ArrayTree,
  commonFloat,
  type Flat,
  minus,
  noOptions,
  norm,
  onlyIf,
  paramsOf,
  pulledParams,
  pushedParams,
  transposed,
  type Unknowns,
  vectorOf,
} from './vectors.js'

export const linearOptions = {
  /** 'gmres' unless given, for any A; 'cg' for a symmetric positive definite one; 'bicgstab' for any, in less memory. */
  method: choice(['cg', 'gmres', 'bicgstab'], 'gmres'),
  /** Solved where |b - A x| <= tolerance |b|: 1e-10 unless given, 1e-5 in f32. */
  tolerance: positive,
  /** The maximum number of steps: twice the number of unknowns, and 1000, unless given. */
  maxSteps: wholeOrNone,
  /** How many directions gmres keeps before it begins again: 30 unless given. */
  restart: whole(30),
}
/** Options of `linearSolve`, for unknowns X and parameters P. */
export interface LinearSolveOptions<X = AnyExpr, P = AnyExpr> extends OptionsOf<typeof linearOptions> {
  /** An approximation of A^-1 r, linear in r; the second argument is the parameters (for a matrix A, A itself). The result does not depend on it. */
  readonly preconditioner?: ((r: X, params: P) => ArrayTree) | undefined
}
/** What a solver found, and whether it converged. */
export type Solution<X> = {
  readonly x: X
  /** How many steps were taken. */
  readonly steps: Scalar<'i32'>
  /** The norm of the residual. It has no derivative. */
  readonly residual: Scalar<Float>
  /** Is the residual within the tolerance? */
  readonly converged: Scalar<'bool'>
}

/** Options, checked, with those of the method in terms of vectors. */
export interface LinearHow extends ReadOf<typeof linearOptions> {
  readonly precondition: Flat | undefined
}
type Given = LinearSolveOptions<never, never>
export const linearSolveOptions = {
  ...linearOptions,
  preconditioner: func<((r: unknown, p: unknown) => unknown) | undefined>(),
} satisfies OptionsFor<Given>
/** The options of a linear solver; a preconditioner is over trees, `flat` brings it to vectors. */
const linearHow = (options: Given | undefined, op: string, flat: (m: (r: unknown, p: unknown) => unknown) => Flat): LinearHow => {
  const { preconditioner, ...how } = readOptions(linearSolveOptions, options, op)
  return { ...how, precondition: preconditioner && flat(preconditioner) }
}
/** The tolerance of a dtype, where none is given. */
export const toleranceFor = (given: number | undefined, x: AnyExpr): number => given ?? (x.dtype === 'f32' ? 1e-5 : 1e-10)

interface Raw {
  readonly x: AnyExpr
  readonly steps: AnyExpr
  readonly residual: AnyExpr
}
/** A(x, params) = b on vectors, A linear in x: x, with its derivative by both. */
export const solveVector = (A: Flat, b: AnyExpr, params: unknown, how: LinearHow): Solution<AnyExpr> => {
  const tolerance = toleranceFor(how.tolerance, b)
  const n = b.shape[0]!
  const maxSteps = how.maxSteps ?? Math.max(1, Math.min(2 * n, 1000))
  const value = (rhs: AnyExpr, p: unknown): Raw => {
    // Half of the tolerance, so that rounding in the method's own residual does not decide.
    const { x, steps } = methods[how.method]((v) => A(v, p), rhs, {
      limit: mul(tolerance / 2, norm(rhs)) as AnyExpr,
      maxSteps,
      restart: Math.max(1, Math.min(how.restart, n, maxSteps)),
      precondition: (r) => how.precondition?.(r, p) ?? r,
    })
    return { x, steps, residual: norm(sub(rhs, A(x, p)) as AnyExpr) }
  }
  type Rule = (rhs: AnyExpr, p: unknown) => Raw
  const rule: Rule = customRule(value as never, {
    name: 'linearSolve',
    frule: (([rhs, p]: readonly [AnyExpr, unknown], [db, dp]: readonly [AnyExpr, unknown]) => {
      const y = rule(rhs, p)
      const dx = solved(
        A,
        sub(
          db,
          pushedParams((q) => A(y.x, q), p, dp),
        ) as AnyExpr,
        p,
        how,
      )
      return [y, { x: dx, steps: NoTangent, residual: ZeroTangent }]
    }) as never,
    rrule: (([rhs, p]: readonly [AnyExpr, unknown]) => {
      const y = rule(rhs, p)
      const pullback = ({ x: xBar }: Raw): unknown => {
        const { precondition } = how
        const bBar = solved(transposed(A), xBar, p, { ...how, precondition: precondition && transposed(precondition) })
        return [bBar, pulledParams((q) => minus(A(y.x, q)), p, bBar)]
      }
      return [y, pullback]
    }) as never,
  }) as never
  const { x, steps, residual } = rule(b, params)
  const left = stopGradient(residual) as AnyExpr
  const converged = le(left, stopGradient(mul(tolerance, norm(b)))) as AnyExpr
  return { x, steps, residual: left, converged } as unknown as Solution<AnyExpr>
}
/** The solution where there is one, else NaN: of a derivative nobody sees how it was found. */
export const solved = (A: Flat, b: AnyExpr, params: unknown, how: LinearHow): AnyExpr => {
  const { x, converged } = solveVector(A, b, params, how)
  return onlyIf(converged as AnyExpr, x)
}

type ShapeOf<B> = Unknowns<B> extends Expr<infer S, infer _D> ? S : Shape
/** linearSolve(A, b, options), linearSolve(f, b, params, options). */
export interface LinearSolveFn {
  <const B, const P>(
    f: (x: Unknowns<B>, params: Unknowns<P>) => ArrayTree,
    b: B,
    params: P,
    options?: LinearSolveOptions<Unknowns<B>, Unknowns<P>>,
  ): Solution<Unknowns<B>>
  <const A extends Arg, const B extends Arg>(
    A: A,
    b: B,
    options?: LinearSolveOptions,
  ): Solution<Expr<ShapeOf<B>, FloatOf<DTypeIn<A> | DTypeIn<B>>>>
}
type DTypeIn<X> = X extends Expr<infer _S, infer D> ? D : never
/** The float of operands of the dtypes D: f64 beside f32 may be a constant without a dtype of its own. */
type FloatOf<D> = [D] extends [never] ? 'f64' : [D] extends ['f32'] ? 'f32' : 'f32' extends D ? Float : 'f64'

const withFunction = (f: (x: unknown, p: unknown) => unknown, b: unknown, params: unknown, options?: Given): Solution<unknown> => {
  const op = 'linearSolve'
  noOptions({ f, arity: 1, params, options }, linearSolveOptions, op)
  const rhs = vectorOf(b, 'b', op)
  const p = paramsOf(params, rhs.dtype, op)
  const over =
    (g: (x: unknown, p: unknown) => unknown, what: string): Flat =>
    (v, q) =>
      rhs.of(g(rhs.back(v), q), what)
  const solution = solveVector(
    over(f, 'A x'),
    rhs.at,
    p,
    linearHow(options, op, (m) => over(m, 'the result of the preconditioner')),
  )
  return { ...solution, x: rhs.back(solution.x) }
}
const withMatrix = (A: unknown, b: unknown, options?: Given): Solution<unknown> => {
  const dtype = commonFloat(A, b, 'linearSolve')
  const [matrix, rhs] = [cast(A as AnyExpr, dtype) as AnyExpr, cast(b as AnyExpr, dtype) as AnyExpr]
  const [m, n] = matrix.shape
  if (matrix.shape.length !== 2 || rhs.shape.length !== 1 || m !== n || rhs.shape[0] !== n)
    badShape(
      'linearSolve',
      [matrix.shape, rhs.shape],
      `A is [${matrix.shape.join(', ')}], b is [${rhs.shape.join(', ')}].`,
      'give a square matrix and a vector of its rows; for several of them there is vmap.',
    )
  return withFunction((x, a) => matmul(a as AnyExpr, x as AnyExpr), rhs, matrix, options)
}

/**
 * x with A x = b, by a Krylov method: A a matrix, or a function linear in its first argument, over trees, with parameters.
 *
 * Result  { x, steps, residual, converged }: residual is |b - A x|, converged says that it is at most tolerance |b|.
 * Rule    A dx = db - dA x ;  A^T bBar = xBar, the parameters' cotangent is that of -A x for bBar. NaN if that solve does not converge.
 *         Captured values have no derivative: pass what A depends on as parameters.
 * Errors  ShapeMismatch for a matrix that is not square, or if f's result is unlike b; DTypeMismatch; BadInput for invalid options.
 * @example
 * evaluate(linearSolve([[4, 1], [1, 3]], [1, 2], { method: 'cg' }).x)   // [0.090909, 0.636364]
 * evaluate(linearSolve((x, d) => mul(d, x), tensor([2, 3]), tensor([4, 2])).x)   // [0.5, 1.5]
 */
export const linearSolve: LinearSolveFn = ((A: unknown, b: unknown, third?: unknown, fourth?: unknown): Solution<unknown> =>
  typeof A === 'function'
    ? withFunction(functionOf(A, 'A', 'linearSolve') as never, b, third ?? {}, fourth as Given)
    : withMatrix(A, b, third as Given)) as LinearSolveFn
