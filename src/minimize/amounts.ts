/** What projections and proximal operators take: an array of floats, and numbers or arrays by name. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { type Kind, kind, type Needed, needed } from '../core/errors/options.js'
import { type AnyExpr, type Arg, add, cast, expandDims, isExpr, isTensor } from '../index.js'

/** An expression of floats: i32 and bool become f64, as in every function of floats. */
export const floatsIn = (x: unknown, what: string, op: string): AnyExpr => {
  if (typeof x !== 'number' && !isExpr(x) && !isTensor(x) && !reading(`${op}: ${what}`, () => Array.isArray(x)))
    return badInput(op, `${what} is ${shown(x)}.`, 'give an expression, a tensor or numbers.')
  // A tensor is read at every call, numbers are constants.
  const y = (isTensor(x) ? cast(x as AnyExpr, x.dtype) : isExpr(x) ? x : add(x as number, 0)) as AnyExpr
  return y.dtype === 'f32' || y.dtype === 'f64' ? y : (cast(y, 'f64') as AnyExpr)
}
/** Vectors along the last axis. */
export const vectorsIn = (x: unknown, op: string, least = 0): AnyExpr => {
  const y = floatsIn(x, 'x', op)
  const n = y.shape.at(-1)
  if (n !== undefined && n >= least) return y
  return badShape(
    op,
    [y.shape],
    `x is [${y.shape.join(', ')}].`,
    `give vectors along the last axis${least > 0 ? ', which are not empty' : ''}.`,
  )
}
/** Matrices in the last two axes. */
export const matricesIn = (x: unknown, op: string): AnyExpr => {
  const y = floatsIn(x, 'x', op)
  return y.shape.length >= 2 ? y : badShape(op, [y.shape], `x is [${y.shape.join(', ')}].`, 'give matrices in the last two axes.')
}
/** A number or an array that may be an expression; of a number it is known that it must not be negative. */
export const amount = (standard: number): Kind<AnyExpr, Arg> =>
  kind<AnyExpr, Arg>((given = standard, what, op) => {
    if (typeof given === 'number' && !(given >= 0)) badInput(op, `${what} is ${given}.`, 'give a number from 0.')
    return floatsIn(given, what, op)
  })
/** A number or an array that must be given. */
export const given: Needed<AnyExpr, Arg> = /*#__PURE__*/ needed<AnyExpr, Arg>((x, what, op) =>
  x === undefined ? badInput(op, `${what} is not given.`, 'give it by its name.') : floatsIn(x, what, op),
)
/** A number or an array, or nothing. */
export const optional: Kind<AnyExpr | undefined, Arg> = /*#__PURE__*/ kind<AnyExpr | undefined, Arg>((x, what, op) =>
  x === undefined ? undefined : floatsIn(x, what, op),
)
/** An amount for each vector, so that it broadcasts with the elements. */
export const perVector = (r: AnyExpr): AnyExpr => (r.shape.length === 0 ? r : (expandDims(r, -1) as AnyExpr))
/** An amount for each matrix. */
export const perMatrix = (r: AnyExpr): AnyExpr => (r.shape.length === 0 ? r : (expandDims(r, [-2, -1]) as AnyExpr))
