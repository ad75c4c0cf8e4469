/** Random bits: the hash of each element's place. */
import { type AnyExpr, arange, bitwiseXor, type Expr, full, reshape, type Shape, type SizesIn } from '../index.js'
import { type Drawn, type GivenKey, shapeIn, sizeOf, wordsOf } from './given.js'
import { threefry2x32, type Words } from './threefry.js'

/** Two words for each element: its place in row-major order is the counter, as in JAX's partitionable layout. Keys of their own: of each element's shape. */
export const wordsFor = (key: Words, shape: readonly number[]): Words => {
  const counters = reshape(arange(sizeOf(shape), 'i32'), shape as number[]) as AnyExpr
  return threefry2x32(key, [full([], 0, 'i32') as AnyExpr, counters])
}
/** The first two words of keys, one for each element: what is drawn for a shape of rank 0. */
export const firstWords = (keys: Words): Words => {
  const zero = full([], 0, 'i32') as AnyExpr
  return threefry2x32(keys, [zero, zero])
}
/** One word of two. */
export const wordOf = ([first, second]: Words): AnyExpr => bitwiseXor(first, second)

/**
 * 32 random bits for each element, as i32.
 *
 * The bits are those of `jax.random.bits`, for every backend.   Source  Threefry-2x32: Salmon et al. 2011.
 * Errors  BadInput for an invalid key or shape.
 * @example bits(key(0), [2])   // [-224768089, -91998574]
 */
export const bits = <const S extends Shape = [], R extends Drawn<S> = Drawn<S>>(key: GivenKey, shape?: SizesIn<S>): Expr<R, 'i32'> =>
  wordOf(wordsFor(wordsOf(key, 'bits'), shapeIn(shape, 'bits'))) as Expr<R, 'i32'>
