/** Minimisers: methods that take the function, not its gradient alone; and parameters as one vector of floats. */
import { functionOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type AnyExpr, type DType, type Expr, type Exprs, type Float, ravel, treeReduce } from '../index.js'
import { floatsOf, over } from './leaves.js'
import { isFloat, type Kind, type StateOf } from './state.js'

/** What a step of a minimiser gives: the next parameters and state, and the value at the parameters that were given. */
export type Stepped<P, S, D extends DType = Float> = {
  readonly params: Exprs<P>
  readonly state: Exprs<StateOf<S, P>>
  readonly value: Expr<[], D>
}
/** The dtype of what a function gives. */
export type FloatOf<R> = R extends { readonly dtype: infer D extends DType } ? D : Float
/** What a step of `lbfgs` and of `levenbergMarquardt` gives in addition: whether the parameters moved, a bool. */
export type Accepted = { readonly accepted: Expr<[], 'bool'> }
/** A method that minimises a function of parameters, one step at a time; pure, so that a step is one program. F is the function's result, More what a step gives in addition. */
export interface Minimiser<S, F, More = unknown> {
  /** The state to begin with: tensors for tensors, expressions for expressions, and for a declaration the declaration of the state. */
  init<P>(params: P): StateOf<S, P>
  /** The next parameters and state, and the value at those given. What else f needs (a batch) it captures. */
  step<P, R extends F>(f: (params: Exprs<P>) => R, params: P, state: NoInfer<StateOf<S, P>>): Stepped<P, S, FloatOf<R>> & More
}
/** A minimiser before it has types. */
interface Raw {
  readonly init: (params: unknown) => unknown
  readonly step: (f: (params: unknown) => unknown, params: unknown, state: unknown) => unknown
}
/** The types of a minimiser are those of its template; they are given here and nowhere else. */
export const typedMinimiser = <S, F, More = unknown>(raw: Raw): Minimiser<S, F, More> => raw as unknown as Minimiser<S, F, More>

/** How many floats parameters hold, and the greatest dtype of them. */
export const sizeOfFloats = (params: unknown, kind: Kind, op: string): { readonly n: number; readonly dtype: Float } => {
  const dtypes: DType[] = []
  const n = treeReduce(
    (total: number, x: unknown, path) => {
      const { shape, dtype } = x as { readonly shape: readonly (number | string)[]; readonly dtype: DType }
      dtypes.push(dtype)
      return (
        shape.reduce<number>(
          (size, d) =>
            typeof d === 'number'
              ? size * d
              : badInput(
                  `${op}: ${path || 'params'}`,
                  `the axis '${d}' has no size, and so the state has none.`,
                  'declare parameters by sizes.',
                ),
          1,
        ) + total
      )
    },
    floatsOf(params),
    0,
  )
  return {
    n,
    dtype: kind !== 'Spec' && dtypes.length === 0 ? 'f64' : dtypes.length > 0 && dtypes.every((d) => d === 'f32') ? 'f32' : 'f64',
  }
}

/** Parameters as a vector, and f as a function of that vector. */
export interface Flat {
  readonly at: AnyExpr
  readonly back: (vector: AnyExpr) => unknown
  readonly f: (vector: AnyExpr) => AnyExpr
}
/** The floats of parameters as one vector; integers stay where they are. */
export const flat = (f: (params: unknown) => unknown, params: unknown, op: string): Flat => {
  functionOf(f, 'the function', op)
  const [at, unravel] = ravel(floatsOf(params)) as readonly [unknown, (vector: AnyExpr) => unknown]
  const back = (vector: AnyExpr): unknown => over(params, unravel(vector))
  const traced = (vector: AnyExpr): AnyExpr => {
    const y = f(back(vector)) as Partial<AnyExpr> | null | undefined
    return typeof y === 'object' && y !== null && (y._tag as string) === 'Expr' && isFloat(y)
      ? (y as AnyExpr)
      : badInput(op, 'the function returned no expression of floats.', 'return what it computes from the parameters.')
  }
  return { at: at as AnyExpr, back, f: traced }
}
