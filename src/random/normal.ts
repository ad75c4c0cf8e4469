/** Normal numbers, and other ones that are one function of a uniform one. */
import { readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  abs,
  add,
  clamp,
  div,
  type Expr,
  erf,
  type Float,
  log,
  log1p,
  maximum,
  mul,
  neg,
  type Shape,
  type SizesIn,
  sign,
  stopGradient,
  sub,
  type WithNumber,
} from '../index.js'
import { wordsFor } from './bits.js'
import { erfinv, erfinvOf } from './erfinv.js'
import {
  type DistributionOptions,
  type Drawn,
  type DrawnForAll,
  type DtypeOption,
  drawOptions,
  dtypeOption,
  floatAmong,
  type GivenKey,
  type Known,
  type NoOptions,
  type Parameter,
  parameterIn,
  shapeFor,
  shapeIn,
  wordsOf,
} from './given.js'
import type { Words } from './threefry.js'
import { between, epsOf, fractionOf, tinyOf } from './uniform.js'

/** Numbers of a shape and a dtype by a function of uniform ones from `min` to below 1. */
const byUniform =
  (op: string, f: (u: AnyExpr, dtype: Float) => AnyExpr, min: (dtype: Float) => number) =>
  (key: unknown, shape: unknown, options: DtypeOption | undefined): AnyExpr => {
    const { dtype } = readOptions(dtypeOption, options, op)
    const words = wordsFor(wordsOf(key, op), shapeIn(shape, op))
    return f(between(fractionOf(words, dtype), min(dtype), 1, dtype), dtype)
  }

/** Normal numbers of words. */
export const normalOf = (words: Words, dtype: Float): AnyExpr =>
  mul(Math.SQRT2, erfinvOf(between(fractionOf(words, dtype), -1 + epsOf(dtype) / 2, 1, dtype), dtype))
/** -log(1 - u): exponential numbers of words. */
export const exponentialOf = (words: Words, dtype: Float): AnyExpr => neg(log1p(neg(fractionOf(words, dtype))))
const gumbelOfUniform = (u: AnyExpr): AnyExpr => neg(log(neg(log(u))))
/** Gumbel numbers of words. */
export const gumbelOf = (words: Words, dtype: Float): AnyExpr => gumbelOfUniform(between(fractionOf(words, dtype), tinyOf(dtype), 1, dtype))

/** What draws of a shape: `f(key, shape, { dtype })`. */
export interface ShapedFn {
  <const S extends Shape, D extends Float = 'f64', R extends Drawn<S> = Drawn<S>>(
    key: GivenKey,
    shape: SizesIn<S>,
    options?: DtypeOption<D>,
    ...no: WithNumber<S>
  ): Expr<R, NoInfer<D>>
  <const S extends Shape = [], D extends Float = 'f64'>(
    key: GivenKey,
    shape?: SizesIn<S>,
    options?: DtypeOption<D>,
  ): Expr<Known<S>, NoInfer<D>>
}
const shaped = (f: (key: unknown, shape: unknown, options: DtypeOption | undefined) => AnyExpr): ShapedFn => f as never

/**
 * Samples of the normal distribution with mean 0 and variance 1: sqrt(2) erfinv(u), u uniform from -1 to 1.
 *
 * Errors  BadInput for an invalid key or shape.   Source  `jax.random.normal`.
 * @example normal(key(0), [2])   // [-0.20584, -0.78477]
 */
export const normal: ShapedFn = shaped((key, shape, options) => {
  const op = 'normal'
  const { dtype } = readOptions(dtypeOption, options, op)
  return normalOf(wordsFor(wordsOf(key, op), shapeIn(shape, op)), dtype)
})
/**
 * Samples of the exponential distribution with mean 1: -log(1 - u).
 *
 * Errors  BadInput for an invalid key or shape.   Source  `jax.random.exponential`.
 * @example exponential(key(0), [2])   // [0.54207, 0.24372]
 */
export const exponential: ShapedFn = shaped(
  byUniform(
    'exponential',
    (u) => neg(log1p(neg(u))),
    () => 0,
  ),
)
/**
 * Samples of the Gumbel distribution with location 0 and scale 1, the limit of the maximum of many exponential samples: -log(-log u).
 *
 * Errors  BadInput for an invalid key or shape.   Source  `jax.random.gumbel`.
 * @example gumbel(key(0), [2])   // [0.13791, -0.42599]
 */
export const gumbel: ShapedFn = shaped(byUniform('gumbel', gumbelOfUniform, tinyOf))
/**
 * Samples of the Laplace distribution with scale 1, exponential on both sides of 0: sign(u) log(1 - |u|), u uniform from -1 to 1.
 *
 * Errors  BadInput for an invalid key or shape.   Source  `jax.random.laplace`.
 * @example laplace(key(0), [2])   // [0.17803, 0.83796]
 */
export const laplace: ShapedFn = shaped(
  byUniform(
    'laplace',
    (u) => mul(sign(u), log1p(neg(abs(u)))),
    (d) => -1 + epsOf(d) / 2,
  ),
)
/**
 * Samples of the logistic distribution with location 0 and scale 1: log(u / (1 - u)).
 *
 * Errors  BadInput for an invalid key or shape.   Source  `jax.random.logistic`.
 * @example logistic(key(0), [2])   // [-0.32911, -1.2874]
 */
export const logistic: ShapedFn = shaped(byUniform('logistic', (u) => sub(log(u), log1p(neg(u))), tinyOf))

/** The next number above x, or the one after it. */
const above = (x: AnyExpr, dtype: Float): AnyExpr => add(x, maximum(mul(abs(x), epsOf(dtype)), tinyOf(dtype)))
/** Normal numbers of words between bounds. */
export const truncatedOf = (words: Words, low: AnyExpr, high: AnyExpr, dtype: Float): AnyExpr => {
  const [a, b] = [erf(div(low, Math.SQRT2)), erf(div(high, Math.SQRT2))] as const
  const y = mul(Math.SQRT2, erfinv(maximum(add(mul(fractionOf(words, dtype), sub(b, a)), a), a), dtype))
  // Rounding may lead to the bounds or past them.
  return clamp(y, above(stopGradient(low), dtype), neg(above(neg(stopGradient(high)), dtype)))
}
/**
 * Samples of the normal distribution with mean 0 and variance 1, truncated to lie between `lower` and `upper`.
 *
 * Shapes  lower's and upper's, which broadcast, or `shape`.   Rule  in the bounds, with the random bits fixed.   Source  `jax.random.truncated_normal`.
 * Errors  BadInput for an invalid key; ShapeMismatch if a bound does not broadcast to the shape.
 * @example truncatedNormal(key(0), 0, 2, { shape: [2] })   // [0.52356, 0.26171]
 */
export const truncatedNormal = <const L extends Parameter, const U extends Parameter, const O extends DistributionOptions = NoOptions>(
  key: GivenKey,
  lower: L,
  upper: U,
  options?: O,
): DrawnForAll<readonly [L, U], O> => {
  const op = 'truncatedNormal'
  const given = readOptions(drawOptions, options, op)
  const dtype = given.dtype ?? floatAmong([lower, upper])
  const [low, high] = [parameterIn(lower, dtype, op, 'lower'), parameterIn(upper, dtype, op, 'upper')]
  return truncatedOf(wordsFor(wordsOf(key, op), shapeFor(given.shape, [low.shape, high.shape], op)), low, high, dtype) as never
}
