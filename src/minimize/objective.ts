/** A function of a tree as a function of one vector: its value, its gradient and products with its Hessian, compiled once, and how often each was asked for. */
import { functionOf, shown } from '../core/errors/check-arguments.js'
import { badDtype, badInput, raise } from '../core/errors/explain.js'
import {
  type AnyExpr,
  compile,
  evaluate,
  type Float,
  f64,
  fn,
  hvp,
  isExpr,
  isTensor,
  ravel,
  type Tensor,
  tensor,
  treeLeaves,
  treeMap,
  valueAndGrad,
} from '../index.js'

import { lazily } from './lazily.js'

/** How often a driver asked for what. */
export interface Evaluations {
  readonly values: number
  readonly gradients: number
  readonly products: number
}
/** A tree of floats as a vector of numbers. */
export interface Point {
  readonly start: Float64Array
  /** The least precise dtype of the leaves: what a tolerance is taken from. */
  readonly dtype: Float
  /** The tree of tensors that a vector stands for. */
  readonly tree: (x: Float64Array) => unknown
  /** The tree of expressions that a vector of a program stands for. */
  readonly inside: (x: AnyExpr) => unknown
}
/** What a driver minimises. */
export interface Objective extends Point {
  readonly value: (x: Float64Array) => number
  /** The value at x; the gradient is written. */
  readonly gradient: (x: Float64Array, into: Float64Array) => number
  /** The Hessian at x times v; it is written. */
  readonly product: (x: Float64Array, v: Float64Array, into: Float64Array) => void
  readonly evaluations: () => Evaluations
  readonly dispose: () => void
}

/** The numbers of a tree: f64 for numbers and arrays of numbers. `name` is what errors call it, `otherwise` what to do with integers. */
export const pointOf = (
  x0: unknown,
  op: string,
  name = 'x0',
  otherwise = 'minimise over floats, and capture integers in the function.',
): Point => {
  const leaves = treeMap((leaf: unknown, path) => {
    const what = path === '' ? name : `${name} at ${path}`
    if (leaf === null || leaf === undefined || typeof leaf === 'string' || typeof leaf === 'function') return leaf
    const x =
      typeof leaf === 'number' || Array.isArray(leaf)
        ? tensor(leaf as number)
        : isTensor(leaf)
          ? leaf
          : isExpr(leaf)
            ? (evaluate(leaf as AnyExpr) as Tensor)
            : badInput(op, `${what} is ${shown(leaf)}.`, 'give tensors, numbers or arrays of numbers.')
    if (x.dtype !== 'f64' && x.dtype !== 'f32') badDtype(op, [x.dtype], `${what} is ${x.dtype}`, otherwise)
    return x
  }, x0 as AnyExpr) as unknown
  const tensors = (treeLeaves(leaves) as readonly unknown[]).filter((x) => isTensor(x)) as readonly Tensor[]
  const start = Float64Array.from(tensors.flatMap((t) => Array.from(t.data, Number)))
  if (start.length === 0) badInput(op, `${name} holds no numbers.`, 'give a tree with at least one float.')
  const wrong = start.findIndex((v) => !Number.isFinite(v))
  if (wrong >= 0) badInput(op, `${name} has ${start[wrong]} among its numbers.`, 'begin at finite numbers.')
  const [, unravel] = ravel(leaves as AnyExpr) as unknown as readonly [unknown, (v: AnyExpr) => unknown]
  return {
    start,
    dtype: tensors.some((t) => t.dtype === 'f32') ? 'f32' : 'f64',
    inside: unravel,
    tree: (x) => unravel(tensor(Float64Array.from(x)) as AnyExpr),
  }
}

/** Refuses a gradient at x0 that is not finite: no method can leave from there. */
export const checkGradient = (g: Float64Array, op: string): void => {
  const wrong = g.find((v) => !Number.isFinite(v))
  if (wrong !== undefined) badInput(op, `the gradient of f at x0 has ${wrong}.`, 'begin where f is differentiable.')
}

/** f as a function of a vector, compiled for the default backend. */
export const objectiveOf = (f: unknown, x0: unknown, op: string): Objective => {
  functionOf(f as (x: unknown) => unknown, 'f', op)
  const point = pointOf(x0, op)
  const n = point.start.length
  const traced = (x: AnyExpr): AnyExpr => {
    const y = (f as (x: unknown) => AnyExpr)(point.inside(x))
    if ((isExpr(y) || isTensor(y)) && (y.shape.length > 0 || (y.dtype !== 'f64' && y.dtype !== 'f32')))
      raise({ _tag: 'NotScalar', op, shape: y.shape, dtype: y.dtype })
    return y
  }
  const holder = tensor(Float64Array.from(point.start))
  const direction = tensor(new Float64Array(n))
  const result = { value: tensor(0), grad: tensor(new Float64Array(n)) }
  const counts = { values: 0, gradients: 0, products: 0 }
  const both = lazily(() => compile(fn({ x: f64(n) }, ({ x }) => valueAndGrad(traced as never)(x as never) as never)))
  const both1 = lazily(() => (both() as unknown as Into).into(result))
  const alone = lazily(() => compile(fn({ x: f64(n) }, ({ x }) => traced(x as AnyExpr) as never)))
  const times = lazily(() =>
    compile(fn({ x: f64(n), v: f64(n) }, ({ x, v }) => (hvp(traced as never) as unknown as Hvp)(x as AnyExpr, v as AnyExpr) as never)),
  )
  const put = (x: Float64Array): void => (holder.data as Float64Array).set(x)
  return {
    ...point,
    value: (x) => {
      counts.values++
      put(x)
      return (alone() as unknown as (a: unknown) => Tensor)({ x: holder }).item()
    },
    gradient: (x, into) => {
      counts.gradients++
      put(x)
      both1()({ x: holder })
      into.set(result.grad.data)
      if (counts.gradients === 1) checkGradient(into, op)
      return result.value.item()
    },
    product: (x, v, into) => {
      counts.products++
      put(x)
      ;(direction.data as Float64Array).set(v)
      into.set((times() as unknown as (a: unknown) => Tensor)({ x: holder, v: direction }).data as Float64Array)
    },
    evaluations: () => ({ ...counts }),
    dispose: () => {
      for (const made of [both, alone, times]) made.made()?.dispose()
    },
  }
}
type Hvp = (x: AnyExpr, v: AnyExpr) => AnyExpr
interface Into {
  into(outputs: unknown): (args: unknown) => unknown
}
