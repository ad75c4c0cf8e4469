/** Uniform numbers, and what is one comparison or one remainder of them. */
import { type OptionsFor, type OptionsOf, raw, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  bitwiseXor,
  cast,
  type Expr,
  type Float,
  lt,
  maximum,
  mul,
  rightShiftLogical,
  type Shape,
  type SizesIn,
  sub,
  type WithNumber,
} from '../index.js'
import { wordOf, wordsFor } from './bits.js'
import {
  checkNumbers,
  type Drawn,
  type DtypeOption,
  drawnShape,
  float,
  floatAmong,
  type GivenKey,
  isArray,
  type Known,
  type NoOptions,
  type Parameter,
  parameterIn,
  type ShapeIn,
  type ShapeOf,
  shapeFor,
  shapeIn,
  wordsOf,
} from './given.js'
import type { Words } from './threefry.js'

/** Numbers from 0 to below 1: the upper bits of a word as 23 bits of an f32, or those of two as 52 of an f64. */
export const fractionOf = (words: Words, dtype: Float): AnyExpr => {
  if (dtype === 'f32') return mul(cast(rightShiftLogical(wordOf(words), 9), 'f32'), 2 ** -23)
  // The first word without its sign, 2^31 being added to it with the sign turned over.
  const high = add(cast(bitwiseXor(words[0], -(2 ** 31)), 'f64'), 2 ** 31)
  return mul(add(mul(high, 2 ** 20), cast(rightShiftLogical(words[1], 12), 'f64')), 2 ** -52)
}
/** The dtype's own number. */
export const rounded = (x: number, dtype: Float): number => (dtype === 'f32' ? Math.fround(x) : x)
/** From `min` to below `max`, rounded as the dtype does. */
export const between = (fraction: AnyExpr, min: number, max: number, dtype: Float): AnyExpr => {
  const [low, high] = [rounded(min, dtype), rounded(max, dtype)]
  if (low === 0 && high === 1) return fraction
  return maximum(add(mul(fraction, rounded(high - low, dtype)), low), low)
}
/** The least positive number that is normal, and the distance from 1 to the next number above it. */
export const tinyOf = (dtype: Float): number => (dtype === 'f32' ? 2 ** -126 : 2 ** -1022)
export const epsOf = (dtype: Float): number => (dtype === 'f32' ? 2 ** -23 : 2 ** -52)

/** Options of `uniform`. */
export interface UniformOptions<D extends Float = Float> extends DtypeOption<D> {
  /** The lower bound: 0 unless given. An array broadcasts to the shape. */
  readonly min?: Parameter | undefined
  /** The upper bound, excluded (up to rounding): 1 unless given. */
  readonly max?: Parameter | undefined
}
/** uniform(key, shape, { min, max, dtype }). */
export interface UniformFn {
  <const S extends Shape, D extends Float = 'f64', R extends Drawn<S> = Drawn<S>>(
    key: GivenKey,
    shape: SizesIn<S>,
    options?: UniformOptions<D>,
    ...no: WithNumber<S>
  ): Expr<R, NoInfer<D>>
  <const S extends Shape = [], D extends Float = 'f64'>(
    key: GivenKey,
    shape?: SizesIn<S>,
    options?: UniformOptions<D>,
  ): Expr<Known<S>, NoInfer<D>>
}
export const uniformOptions = { dtype: float, min: raw<Parameter, 0>(0), max: raw<Parameter, 1>(1) } satisfies OptionsFor<UniformOptions>
/**
 * Samples of the uniform distribution from `min` to below `max` (0 and 1 unless given). They are those of `jax.random.uniform`, bit for bit
 * between 0 and 1: 23 random bits in f32, 52 in f64.
 *
 * Rule    with the random bits fixed: y = min + u (max - min).
 * Errors  BadInput for an invalid key or shape; ShapeMismatch if min or max does not broadcast to it.
 * @example uniform(key(0), [2])   // [0.41846, 0.2163]
 */
export const uniform: UniformFn = (key: GivenKey, shape?: unknown, options?: UniformOptions) => {
  const op = 'uniform'
  const { min, max, dtype = floatAmong([min, max]) } = readOptions(uniformOptions, options, op)
  const to = shapeIn(shape, op)
  const words = wordsFor(wordsOf(key, op), to)
  if (typeof min === 'number' && typeof max === 'number') return between(fractionOf(words, dtype), min, max, dtype) as never
  const [low, high] = [parameterIn(min, dtype, op, 'min'), parameterIn(max, dtype, op, 'max')]
  shapeFor(to, [low.shape, high.shape], op)
  return maximum(add(mul(fractionOf(words, dtype), sub(high, low)), low), low) as never
}

export const bernoulliOptions = {
  /** The shape of the result, to which p broadcasts: that of p unless given. */
  shape: drawnShape,
  /** The dtype of the uniform numbers that are compared with p: that of p unless given, 'f32' for plain numbers. */
  dtype: float,
}
/** Options of `bernoulli`. */
export type BernoulliOptions = OptionsOf<typeof bernoulliOptions>
const probability = (x: number): boolean => x >= 0 && x <= 1
/**
 * True with probability p, 0.5 unless given: u < p for a uniform u.
 *
 * Shapes  p's, or `shape`.   Dtype  bool.   Rule  none.   Source  `jax.random.bernoulli`.
 * Errors  BadInput for p outside [0, 1].
 * @example bernoulli(key(0), 0.5, { shape: [3] })   // [false, false, true]
 */
export const bernoulli = <const P extends Parameter = number, const O extends BernoulliOptions = NoOptions>(
  key: GivenKey,
  p?: P,
  options?: O,
): Expr<ShapeIn<O, ShapeOf<P>>, 'bool'> => {
  const op = 'bernoulli'
  const given = readOptions(bernoulliOptions, options, op)
  checkNumbers(p, probability, 'p', 'from 0 to 1', op)
  const dtype = given.dtype ?? (isArray(p) ? floatAmong([p]) : 'f32')
  const threshold = parameterIn(p ?? 0.5, dtype, op, 'p')
  const shape = shapeFor(given.shape, [threshold.shape], op)
  return lt(fractionOf(wordsFor(wordsOf(key, op), shape), dtype), threshold) as never
}
