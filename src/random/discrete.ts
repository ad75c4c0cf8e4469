/** Whole numbers: within bounds, by weights, in random order, counts. None has a derivative. */
import { integerOf } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { flag, integer, type OptionsOf, type ReadOf, raw, readOptions } from '../core/errors/options.js'
import type { MadeDim, Ok, ReduceAt } from '../core/types/shape.js'
import {
  type AnyExpr,
  add,
  arange,
  argmax,
  argsort,
  bitwiseAnd,
  bitwiseXor,
  cumsum,
  type Dim,
  type Expr,
  expandDims,
  type Float,
  full,
  gather,
  ge,
  le,
  log,
  lt,
  mod,
  moveaxis,
  mul,
  reshape,
  rightShiftLogical,
  type Shape,
  type Size,
  type SizesIn,
  searchsorted,
  slice,
  sub,
  takeAlongAxis,
  topk,
  where,
} from '../index.js'
import { wordOf, wordsFor } from './bits.js'
import {
  checkNumbers,
  type Drawn,
  drawnShape,
  exprOf,
  floatAmong,
  type GivenKey,
  isArray,
  type NoOptions,
  type Parameter,
  parameterIn,
  type ShapeIn,
  type ShapeOf,
  shapeFor,
  shapeIn,
  sizeOf,
  wordsOf,
} from './given.js'
import { childKey } from './key.js'
import { gumbelOf } from './normal.js'
import type { Words } from './threefry.js'
import { fractionOf } from './uniform.js'

const SIGN = -(2 ** 31)

// ---- whole numbers within bounds

/** The remainder of x by s, both of them unsigned. */
type Remainder = (x: AnyExpr) => AnyExpr
/** By what is not negative as an i32: of twice the half of x, and its last bit. */
const bySmall =
  (s: AnyExpr | number): Remainder =>
  (x) => {
    const half = mod(rightShiftLogical(x, 1), s)
    const bit = bitwiseAnd(x, 1)
    const rest = sub(sub(s, half), bit)
    return where(ge(half, rest), sub(half, rest), add(add(half, half), bit))
  }
/** By 2^31 or more: x itself, or what is left of it. */
const byLarge =
  (s: AnyExpr | number): Remainder =>
  (x) =>
    where(ge(bitwiseXor(x, SIGN), bitwiseXor(s, SIGN)), sub(x, s), x)
const byNumber = (span: number): Remainder => {
  if (span === 2 ** 32) return (x) => x
  if ((span & (span - 1)) === 0) return (x) => bitwiseAnd(x, (span - 1) | 0)
  return span < 2 ** 31 ? bySmall(span) : byLarge(span | 0)
}
/** 2^32 modulo the span, by the square of 2^16 in 32 bits. */
const multiplierOf = (span: number): number => {
  const half = 2 ** 16 % span
  return (((half * half) % 2 ** 32) % span) | 0
}
/** Two words modulo the span, added as the high and the low half of 64 bits. */
const offsetOf = (key: Words, shape: readonly number[], rem: Remainder, multiplier: AnyExpr | number): AnyExpr => {
  const [high, low] = [0, 1].map((i) => wordOf(wordsFor(childKey(key, i), shape)))
  return rem(add(mul(rem(high!), multiplier), rem(low!)))
}
/** Whole numbers from 0 to below n. */
const below = (key: Words, shape: readonly number[], n: number): AnyExpr => offsetOf(key, shape, byNumber(n), multiplierOf(n))

/**
 * Integers from `min` to below `max`, all equally likely (up to 1 in 2^32).
 *
 * Shapes  the bounds broadcast to the shape.   Dtype  i32.   Rule  none.   Source  `jax.random.randint`.
 * Errors  BadInput for bounds that are not integers of an i32, or in the wrong order; ShapeMismatch. Computed bounds in the wrong order give
 *         min.
 * @example randint(key(0), [4], 1, 7)   // [2, 1, 3, 2]
 */
export const randint = <const S extends Shape, R extends Drawn<S> = Drawn<S>>(
  key: GivenKey,
  shape: SizesIn<S>,
  min: number | AnyExpr,
  max: number | AnyExpr,
): Expr<R, 'i32'> => {
  const op = 'randint'
  const words = wordsOf(key, op)
  const to = shapeIn(shape, op)
  if (!isArray(min) && !isArray(max)) {
    const [low, high] = [integerOf(min, 'min', op), integerOf(max, 'max', op)]
    if (low < SIGN || high > 2 ** 31 || low >= high)
      badInput(op, `min is ${low} and max is ${high}.`, 'give min < max, from -2147483648 to 2147483648.')
    return add(low, below(words, to, high - low)) as never
  }
  const bound = (x: number | AnyExpr, what: string): AnyExpr => {
    if (isArray(x) && x.dtype !== 'i32') return badInput(op, `${what} is ${x.dtype}.`, 'cast it to i32.')
    return parameterIn(isArray(x) ? x : integerOf(x, what, op), 'i32', op, what)
  }
  const [low, high] = [bound(min, 'min'), bound(max, 'max')]
  shapeFor(to, [low.shape, high.shape], op)
  const span = where(le(high, low), 1, sub(high, low)) as AnyExpr
  const large = lt(span, 0)
  const small = where(large, 1, span)
  const rem: Remainder = (x) => where(large, byLarge(span)(x), bySmall(small)(x))
  const half = rem(full([], 2 ** 16, 'i32') as AnyExpr)
  return add(low, offsetOf(words, to, rem, rem(mul(half, half)))) as never
}

// ---- random order

/** Random places along an axis of a shape: sorted by random words, as often as their collisions ask for; none where there is no more than one. */
const order = (key: Words, shape: readonly number[], axis: number, size: number): AnyExpr | undefined => {
  const rounds = Math.ceil((3 * Math.log(Math.max(1, size))) / Math.log(2 ** 32 - 1))
  let [rest, y] = [key, undefined as AnyExpr | undefined]
  for (let i = 0; i < rounds; i++) {
    const next = argsort(bitwiseXor(wordOf(wordsFor(childKey(rest, 1), shape)), SIGN), { axis }) as AnyExpr
    rest = childKey(rest, 0)
    y = y === undefined ? next : (takeAlongAxis(y, next as never, { axis }) as AnyExpr)
  }
  return y
}
/** x in random order along an axis. */
const shuffled = (key: Words, x: AnyExpr, axis: number, size: number): AnyExpr => {
  const at = order(key, x.shape, axis, size)
  return at === undefined ? x : (takeAlongAxis(x, at as never, { axis }) as AnyExpr)
}
const places = (key: Words, n: number): AnyExpr => order(key, [n], 0, n) ?? (arange(n, 'i32') as AnyExpr)
/** An array, or the number of those that are meant. */
const arrayOrCount = (given: unknown, op: string): AnyExpr | number => {
  if (typeof given === 'number') {
    const n = integerOf(given, 'n', op)
    return n >= 0 ? n : badInput(op, `n is ${n}.`, 'give a whole number from 0.')
  }
  if (isArray(given)) return exprOf(given)
  return parameterIn(given, 'f64', op, 'x')
}
const axisIn = (axis: number, rank: number, op: string): number =>
  axis >= -rank && axis < rank
    ? (axis + rank) % rank
    : badInput(op, `axis is ${axis}, the array has rank ${rank}.`, rank === 0 ? 'give an array of rank 1 or more.' : undefined)

export const permutationOptions = {
  /** The axis whose slices change their places: the first unless given. */
  axis: integer(0),
  /** Each line along the axis in an order of its own; false unless given. */
  independent: flag(),
}
/** Options of `permutation`. */
export type PermutationOptions = OptionsOf<typeof permutationOptions>
/** The dtype of an array: f64 of numbers. */
type DtypeIn<X> = X extends { readonly dtype: infer D } ? D & AnyExpr['dtype'] : 'f64'
interface PermutationFn {
  <const N extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N>(key: GivenKey, n: Size<N>, options?: PermutationOptions): Expr<[R], 'i32'>
  <const X extends Parameter>(
    key: GivenKey,
    x: X,
    options?: PermutationOptions,
  ): X extends number ? Expr<[X], 'i32'> : Expr<ShapeOf<X>, DtypeIn<X>>
}
/**
 * The numbers 0 to n - 1, or the slices of an array, in random order.
 *
 * Dtype  i32 for a number, else the array's.   Rule  linear in the array: the cotangent in the original order.
 * Source  `jax.random.permutation`.
 * Errors  BadInput for an invalid axis, or a number that is not a non-negative integer.
 * @example permutation(key(0), 5)   // [0, 1, 4, 3, 2]
 */
export const permutation: PermutationFn = ((key: GivenKey, x: unknown, options?: PermutationOptions): AnyExpr => {
  const op = 'permutation'
  const given = readOptions(permutationOptions, options, op)
  const words = wordsOf(key, op)
  const from = arrayOrCount(x, op)
  if (typeof from === 'number') return places(words, from) as never
  const axis = axisIn(given.axis, from.shape.length, op)
  if (given.independent) return shuffled(words, from, axis, sizeOf(from.shape)) as never
  return gather(from, places(words, from.shape[axis]!) as never, { axis }) as never
}) as never

export const choiceOptions = {
  /** The shape of the draws: a single one, of rank 0, unless given. */
  shape: drawnShape,
  /** May the same be chosen again? true unless given. */
  replace: flag(true),
  /** The probability of each; they sum to 1. Equal unless given. */
  p: raw<Parameter>(),
  /** The axis along which slices are chosen: the first unless given. */
  axis: integer(0),
}
/** Options of `choice`. */
export type ChoiceOptions = OptionsOf<typeof choiceOptions>
/** Places that are chosen among n, one for each of `count`. */
const chosenPlaces = (words: Words, n: number, { shape = [], replace: again, p }: ReadOf<typeof choiceOptions>, op: string): AnyExpr => {
  const count = sizeOf(shape)
  if (n === 0 && count > 0) badInput(op, 'there is nothing to choose from.')
  if (!again && count > n) badInput(op, `${count} of ${n} without replacement.`, 'choose fewer, or allow replacement.')
  if (count === 0) return full(shape as number[], 0, 'i32') as AnyExpr
  if (p === undefined) {
    if (again) return below(words, shape, n)
    return reshape(slice(places(words, n), [0], [count]), shape as number[]) as AnyExpr
  }
  checkNumbers(p, (x) => x >= 0, 'p', '0 or more', op)
  const dtype = floatAmong([p])
  const weights = parameterIn(p, dtype, op, 'p')
  if (weights.shape.length !== 1 || weights.shape[0] !== n)
    badShape(op, [weights.shape], `p has shape [${weights.shape.join(', ')}], it must have [${n}].`, 'give a number for each.')
  if (again) {
    const sums = cumsum(weights) as AnyExpr
    const all = slice(sums, [n - 1], [n]) as AnyExpr
    const at = mul(reshape(all, []), sub(1, fractionOf(wordsFor(words, shape), dtype)))
    return searchsorted(sums as never, at) as AnyExpr
  }
  const { indices } = topk(add(gumbelOf(wordsFor(words, [n]), dtype), log(weights)), count)
  return reshape(indices as AnyExpr, shape as number[]) as AnyExpr
}
/** S with the shape that options ask for in place of the axis: the first unless they say another. */
type ChosenIn<S extends Shape, O> = 'axis' extends keyof O
  ? Shape
  : S extends readonly [unknown, ...infer T extends Shape]
    ? [...ShapeIn<O, []>, ...T]
    : Shape
interface ChoiceFn {
  <const O extends ChoiceOptions = NoOptions>(key: GivenKey, n: number, options?: O): Expr<ShapeIn<O, []>, 'i32'>
  <const X extends Parameter, const O extends ChoiceOptions = NoOptions>(
    key: GivenKey,
    x: X,
    options?: O,
  ): X extends number ? Expr<ShapeIn<O, []>, 'i32'> : Expr<ChosenIn<ShapeOf<X>, O>, DtypeIn<X>>
}
/**
 * Numbers from 0 to n - 1, or slices of an array, chosen at random.
 *
 * Shapes  for a number: `shape`; for an array: `shape` in place of the axis.   Dtype  i32 for a number, else the array's.
 * Rule    linear in the array: cotangents are added where they were taken; none for p.   Source  `jax.random.choice`.
 * Errors  BadInput for more draws than elements, without replacement; ShapeMismatch unless p has a number for each element.
 * @example choice(key(0), 5, { shape: [3], replace: false })   // [0, 1, 4]
 */
export const choice: ChoiceFn = ((key: GivenKey, x: unknown, options?: ChoiceOptions): AnyExpr => {
  const op = 'choice'
  const given = readOptions(choiceOptions, options, op)
  const words = wordsOf(key, op)
  const from = arrayOrCount(x, op)
  if (typeof from === 'number') return chosenPlaces(words, from, given, op) as never
  const axis = axisIn(given.axis, from.shape.length, op)
  return gather(from, chosenPlaces(words, from.shape[axis]!, given, op) as never, { axis }) as never
}) as never

// ---- by weights, and counts

/** Classes drawn without replacement along the axes in front. */
const apart = (
  x: AnyExpr,
  words: Words,
  {
    axis,
    prefix,
    own,
    dtype,
    op,
  }: {
    readonly axis: number
    readonly prefix: readonly number[]
    readonly own: readonly number[]
    readonly dtype: Float
    readonly op: string
  },
): AnyExpr => {
  const [count, classes] = [sizeOf(prefix), x.shape[axis]!]
  if (count > classes) badInput(op, `${count} draws of ${classes} classes without replacement.`, 'draw fewer, or allow replacement.')
  const noise = gumbelOf(wordsFor(words, [...own.slice(0, axis), classes, ...own.slice(axis)]), dtype)
  const { indices } = topk(add(noise, x), count, { axis })
  return reshape(moveaxis(indices as AnyExpr, axis, 0) as AnyExpr, [...prefix, ...own]) as AnyExpr
}
export const categoricalOptions = {
  /** The axis of the classes: the last unless given. */
  axis: integer(-1),
  /** The shape of the result: that of the logits without the axis, or with more axes in front of it, each of other draws. */
  shape: drawnShape,
  /** May the same class be drawn again, along the axes in front? true unless given. */
  replace: flag(true),
}
/** Axes of logits without that of the classes: the last, unless another is said. */
type ClassesOut<S extends Shape, O> = 'axis' extends keyof O
  ? O extends { readonly axis: infer A extends number }
    ? number extends A
      ? Shape
      : Ok<ReduceAt<S, A, false>>
    : Shape
  : S extends readonly [...infer H extends Shape, unknown]
    ? H
    : Shape
/** Options of `categorical`. */
export type CategoricalOptions = OptionsOf<typeof categoricalOptions>
/**
 * Classes drawn by their logits (unnormalised log probabilities): argmax(logits + gumbel).
 *
 * With `replace: false` the draws along the leading axes are without replacement: the largest of logits + gumbel.
 *
 * Shapes  the logits' without the axis, or `shape`, which ends with that.   Dtype  i32.   Rule  none.   Source  `jax.random.categorical`; Kool, van Hoof and Welling 2019.
 * Errors  BadInput for an invalid axis, or more draws than classes without replacement; ShapeMismatch for another shape.
 * @example categorical(key(0), [0, 1, 2], { shape: [4] })   // [2, 2, 2, 1]
 */
export const categorical = <const L extends Parameter, const O extends CategoricalOptions = NoOptions>(
  key: GivenKey,
  logits: L,
  options?: O,
): Expr<ShapeIn<O, ClassesOut<ShapeOf<L>, O>>, 'i32'> => {
  const op = 'categorical'
  const given = readOptions(categoricalOptions, options, op)
  const dtype = floatAmong([logits])
  const x = parameterIn(logits, dtype, op, 'logits')
  const axis = axisIn(given.axis, x.shape.length, op)
  const rest = x.shape.filter((_, i) => i !== axis)
  const shape = given.shape ?? rest
  const prefix = shape.slice(0, shape.length - rest.length)
  if (shape.length < rest.length || shapeFor(shape.slice(prefix.length), [rest], op).length !== rest.length)
    badShape(op, [shape, x.shape], `the shape [${shape.join(', ')}] does not end with [${rest.join(', ')}].`)
  const own = shape.slice(prefix.length)
  if (!given.replace) return apart(x, wordsOf(key, op), { axis, prefix, own, dtype, op }) as never
  const noise = gumbelOf(wordsFor(wordsOf(key, op), [...prefix, ...own.slice(0, axis), x.shape[axis]!, ...own.slice(axis)]), dtype)
  const over =
    prefix.length === 0
      ? x
      : (expandDims(
          x,
          prefix.map((_, i) => i),
        ) as AnyExpr)
  return argmax(add(noise, over), { axis: prefix.length + axis }) as never
}
