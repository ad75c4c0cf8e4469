/** What a bijector is: a smooth map that has an inverse. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape } from '../../core/errors/explain.js'
import { reading } from '../../core/errors/language.js'
import { type AnyExpr, isExpr, isTensor, mul } from '../../index.js'
import { exprOf, isArray, type Parameter, parameterIn } from '../../random/given.js'
import type { Support } from '../support.js'

/** A smooth map with an inverse, and what it does to volumes. */
export interface Bijector {
  readonly name: string
  /** The number of axes of an element: 0 for a map of numbers, 1 for one of vectors, and so on; before the map, and after it. */
  readonly rank: number
  readonly rankAfter: number
  readonly forward: (x: Parameter) => AnyExpr
  readonly inverse: (y: Parameter) => AnyExpr
  /** log |det dy/dx| at x, without the axes of an element. Of what lies on a surface y stands for as many of its coordinates as x has. */
  readonly logDet: (x: Parameter) => AnyExpr
  /** The shape after the map of one before it, and the other way round. */
  readonly shape: (before: readonly number[]) => readonly number[]
  readonly shapeBefore: (after: readonly number[]) => readonly number[]
  /** Where the results lie. */
  readonly codomain: Support
  /** Of maps of numbers: do they rise everywhere (1), or fall (-1)? */
  readonly direction?: 1 | -1
}
type X = AnyExpr
/** A bijector, or an error that says what is. */
export const bijectorIn = (x: unknown, op: string): Bijector =>
  reading(
    op,
    () =>
      typeof x === 'object' &&
      x !== null &&
      !isExpr(x) &&
      !isTensor(x) &&
      typeof (x as { readonly logDet?: unknown }).logDet === 'function',
  )
    ? (x as Bijector)
    : badInput(op, `the map is ${shown(x)}.`, 'give a bijector, such as expBijector.')
const floatsOf = (x: Parameter, op: string): X => {
  if (isArray(x)) return x.dtype === 'f32' || x.dtype === 'f64' ? exprOf(x) : parameterIn(x, 'f64', op, 'x')
  return parameterIn(x, 'f64', op, 'x')
}
export type Shapes = (s: readonly number[]) => readonly number[]
const same: Shapes = (s) => s
interface Parts {
  readonly name: string
  readonly rank?: number
  readonly rankAfter?: number
  readonly forward: (x: X) => X
  readonly inverse: (y: X) => X
  readonly logDet: (x: X) => X
  readonly shape?: Shapes
  readonly shapeBefore?: Shapes
  readonly codomain: Support
  readonly direction?: 1 | -1
}
export const made = ({ name, rank = 0, rankAfter = rank, shape = same, shapeBefore = same, ...p }: Parts): Bijector => {
  const read = (x: Parameter, least: number): X => {
    const e = floatsOf(x, name)
    return e.shape.length >= least
      ? e
      : badShape(
          name,
          [e.shape],
          `the array has rank ${e.shape.length}, an element has rank ${least}.`,
          'give elements along the last axes.',
        )
  }
  return Object.freeze({
    name,
    rank,
    rankAfter,
    forward: (x) => p.forward(read(x, rank)),
    inverse: (y) => p.inverse(read(y, rankAfter)),
    logDet: (x) => p.logDet(read(x, rank)),
    shape,
    shapeBefore,
    codomain: p.codomain,
    ...(p.direction === undefined ? {} : { direction: p.direction }),
  } satisfies Bijector)
}
export const zeros = (x: X): X => mul(0, x) as X
