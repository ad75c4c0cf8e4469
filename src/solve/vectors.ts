/** Trees of floats as one vector, so that each method is written for vectors alone; and the types that users see of them. */
import { shown as shownValue } from '../core/errors/check-arguments.js'
import { badDtype, badInput, badShape, raise } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import {
  type AnyExpr,
  add,
  cast,
  type Expr,
  type Float,
  isAdException,
  isExpr,
  isTensor,
  jvp,
  mul,
  NoTangent,
  neg,
  ravel,
  type Shape,
  type Spec,
  type Static,
  sqrt,
  sum,
  tensor,
  treeLeaves,
  treeMap,
  treeZip,
  vjp,
  where,
  zerosLike,
} from '../index.js'

/** An array of numbers, nested to any depth. */
export type NumberLists = readonly (number | NumberLists)[]
/** What a function may return to a solver: expressions, tensors or numbers, in the structure of its argument. */
export type ArrayTree = AnyExpr | NoTangent | number | readonly ArrayTree[] | { readonly [key: string]: ArrayTree }
/** The tree of expressions that stands for T: of a number and of an array of numbers too. */
export type Unknowns<T> = T extends Expr<infer S, infer D> | Spec<infer S, infer D>
  ? Expr<S, D>
  : T extends number
    ? Expr<[], Float>
    : T extends NumberLists
      ? Expr<Shape, Float>
      : T extends NoTangent | undefined
        ? T
        : T extends Static
          ? NoInfer<T>
          : { readonly [K in keyof T]: Unknowns<T[K]> }

/** An expression: of a tensor that which reads it at every call, of numbers a constant. */
const exprOf = (x: unknown, what: string, op: string): AnyExpr => {
  if (typeof x === 'number' || reading(`${op}: ${what}`, () => Array.isArray(x))) return add(x as number, 0) as AnyExpr
  return isExpr(x) || isTensor(x)
    ? (cast(x as AnyExpr, x.dtype) as AnyExpr)
    : badInput(op, `${what} is ${shownValue(x)}.`, 'give expressions, tensors or numbers.')
}
const isFloat = (x: AnyExpr): boolean => x.dtype === 'f64' || x.dtype === 'f32'
/** Has it no dtype of its own, so that it is f32 beside f32? */
const isWeak = (x: AnyExpr): boolean => x.dtype === 'f64' && (add(x, tensor(0, [], 'f32')) as AnyExpr).dtype === 'f32'
/** The greatest float of the leaves that have one. */
const floatIn = (leaves: readonly AnyExpr[]): Float => {
  const own = leaves.filter((x) => !isWeak(x)).map((x) => x.dtype)
  return own.length > 0 && own.every((d) => d === 'f32') ? 'f32' : 'f64'
}
/** One float for a matrix and a vector. */
export const commonFloat = (a: unknown, b: unknown, op: string): Float => floatIn([exprOf(a, 'A', op), exprOf(b, 'b', op)])

/** Raises where options were given in the place of the parameters of a function that takes none: they would be parameters that nobody reads. */
export const noOptions = (
  { f, arity, params, options }: { readonly f: unknown; readonly arity: number; readonly params: unknown; readonly options: unknown },
  declared: object,
  op: string,
): void => {
  if (options !== undefined || typeof params !== 'object' || params === null || isExpr(params) || Array.isArray(params)) return
  const names = Object.keys(params)
  if (names.length === 0 || !names.every((name) => Object.hasOwn(declared, name)) || (f as { readonly length: number }).length > arity)
    return
  badInput(
    op,
    `${names.join(', ')}: options stand in the place of the parameters of a function that takes none.`,
    `give {} for the parameters, then the options: ${op}(..., {}, { ${names.join(', ')} }).`,
  )
}
/** Parameters as expressions; what has no dtype takes this one. */
export const paramsOf = (params: unknown, dtype: Float, op: string): unknown =>
  told(op, 'params', () =>
    treeMap((leaf: unknown, path) => {
      const x = exprOf(leaf, placeOf('params', path), op)
      return isWeak(x) ? cast(x, dtype) : x
    }, params),
  )

const shown = (x: AnyExpr): string => `${x.dtype} [${x.shape.join(', ')}]`
const placeOf = (what: string, path: string): string => (path === '' ? what : `${what} at ${path}`)

/** A tree of floats as a vector. */
export interface Vector {
  readonly at: AnyExpr
  readonly dtype: Float
  /** The tree that a vector stands for. */
  readonly back: (v: AnyExpr) => unknown
  /** The vector of another tree of the same structure, shapes and dtypes; `what` is what errors call it. */
  readonly of: (tree: unknown, what: string) => AnyExpr
}

/** An error of a walk over trees, told by the operation that asked for it. */
const told = <A>(op: string, what: string, f: () => A): A => {
  try {
    return f()
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'BadInput' && e.error.where.startsWith('tree'))
      return raise({ ...e.error, where: op, reason: `${what}: ${e.error.reason}` })
    throw e
  }
}

/** A tree of floats as one vector; what has no dtype takes that of its neighbours. */
export const vectorOf = (tree: unknown, what: string, op: string): Vector => {
  const lifted = told(op, what, () => treeMap((x: unknown, path) => exprOf(x, placeOf(what, path), op), tree as AnyExpr)) as unknown
  const leaves = treeLeaves(lifted) as readonly AnyExpr[]
  treeMap((x: AnyExpr, path) => {
    if (!isFloat(x)) badDtype(op, [x.dtype], `${placeOf(what, path)} is ${shown(x)}, and no float`, 'cast it.')
  }, lifted as AnyExpr)
  const dtype = floatIn(leaves)
  const template = treeMap((x: AnyExpr) => (isWeak(x) ? cast(x, dtype) : x), lifted as AnyExpr) as unknown
  const [at, back] = ravel(template as AnyExpr) as unknown as readonly [unknown, (v: AnyExpr) => unknown]
  const of = (other: unknown, name: string): AnyExpr => {
    const fitted = told(op, name, () =>
      treeZip(
        (a: unknown, b: unknown) => {
          const [x, y] = [a as AnyExpr, exprOf(b, name, op)]
          const reason = `${name} is ${shown(y)} where ${what} is ${shown(x)}`
          if (x.shape.length !== y.shape.length || x.shape.some((d, i) => d !== y.shape[i]))
            badShape(op, [y.shape, x.shape], `${reason}.`, `return what has the shapes of ${what}.`)
          if (x.dtype !== y.dtype && !isWeak(y)) badDtype(op, [y.dtype, x.dtype], reason, 'cast one of them.')
          return cast(y, x.dtype)
        },
        template as AnyExpr,
        other as AnyExpr,
      ),
    )
    return cast((ravel(fitted as AnyExpr) as unknown as readonly [AnyExpr])[0], dtype) as AnyExpr
  }
  return { at: cast(at as AnyExpr, dtype) as AnyExpr, dtype, back, of }
}

export const dot = (a: AnyExpr, b: AnyExpr): AnyExpr => sum(mul(a, b)) as AnyExpr
export const norm = (a: AnyExpr): AnyExpr => sqrt(dot(a, a)) as AnyExpr
/** x where the condition holds, NaN where it does not: a number that must not be read cannot be overlooked. */
export const onlyIf = (condition: AnyExpr, x: AnyExpr): AnyExpr => where(condition, x, Number.NaN) as AnyExpr

/** A function of a vector, and of parameters that have derivatives too. */
export type Flat = (x: AnyExpr, params: unknown) => AnyExpr
const hasFloats = (tree: unknown): boolean => (treeLeaves(tree) as readonly AnyExpr[]).some(isFloat)
/** A tree, NoTangent where it holds no floats. */
export const floatsOf = (params: unknown): unknown => treeMap((x: AnyExpr) => (isFloat(x) ? x : NoTangent), params as AnyExpr)

/** The tangent of f at x for dx. */
export const pushed = (f: (x: AnyExpr) => AnyExpr, x: AnyExpr, dx: AnyExpr): AnyExpr =>
  (jvp(f)(x, dx) as unknown as readonly [AnyExpr, AnyExpr])[1]
/** The cotangent of x for yBar. */
export const pulled = (f: (x: AnyExpr) => AnyExpr, x: AnyExpr, yBar: AnyExpr): AnyExpr =>
  (vjp(f)(x, yBar) as unknown as readonly [AnyExpr, AnyExpr])[1]
/** The tangent of f for that of its parameters, which may hold integers. */
export const pushedParams = (f: (params: unknown) => AnyExpr, params: unknown, dparams: unknown): AnyExpr => {
  if (!hasFloats(params)) return zerosLike(f(params)) as AnyExpr
  return (jvp(f as never) as unknown as (x: unknown, dx: unknown) => readonly [AnyExpr, AnyExpr])(params, dparams)[1]
}
/** The cotangents of the parameters of f for yBar. */
export const pulledParams = (f: (params: unknown) => AnyExpr, params: unknown, yBar: AnyExpr): unknown => {
  if (!hasFloats(params)) return floatsOf(params)
  return (vjp(f as never) as unknown as (x: unknown, y: AnyExpr) => readonly [AnyExpr, unknown])(params, yBar)[1]
}
/** The transpose of a linear function at w. */
export const transposed =
  (f: Flat): Flat =>
  (w, params) =>
    pulled((v) => f(v, params), zerosLike(w) as AnyExpr, w)
/** -x, of a vector. */
export const minus = (x: AnyExpr): AnyExpr => neg(x) as AnyExpr
