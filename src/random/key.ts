/** Keys: where random numbers come from. */
import { integerOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import type { MadeDim } from '../core/types/shape.js'
import { type AnyExpr, arange, type Dim, type Expr, full, type Size, stack, type Tensor, tensor } from '../index.js'
import { exprOf, type GivenKey, isArray, shapeIn, wordsOf } from './given.js'
import { threefry2x32, type Words } from './threefry.js'

const WORD = 2 ** 32
/** A scalar i32 that is computed. */
const scalarIn = (given: AnyExpr, what: string, op: string): AnyExpr =>
  given.dtype === 'i32' && given.shape.length === 0
    ? exprOf(given)
    : badInput(
        op,
        `${what} is ${given.dtype} [${given.shape.join(', ')}], it must be a whole number or an i32 of rank 0.`,
        'cast it to i32, or use vmap for several.',
      )
const naturalIn = (given: unknown, most: number, what: string, op: string): number => {
  const n = integerOf(given, what, op)
  return n >= 0 && n <= most ? n : badInput(op, `${what} is ${n}, it must be from 0 to ${most}.`)
}
/** A word that is known. */
const wordOf = (n: number): AnyExpr => full([], n | 0, 'i32') as AnyExpr
const joined = (words: Words): AnyExpr => stack([words[0], words[1]], { axis: -1 }) as AnyExpr

/** The words of the i-th of the keys that `splitKey` makes of keys, one key or one for each element. */
export const childKey = (keys: Words, i: number): Words => threefry2x32(keys, [wordOf(0), wordOf(i)])

interface KeyFn {
  (seed: number): Tensor<[2], 'i32'>
  (seed: Expr<[], 'i32'> | AnyExpr): Expr<[2], 'i32'>
}
/**
 * The key of a random seed: an integer from 0 to 2^53 - 1, as its high and its low word; or a computed i32 scalar, with a high word of 0.
 *
 * The same seed gives the same key, and the same key the same numbers, everywhere; as `jax.random.key` of JAX (with x64, if the seed needs it).
 * Errors  BadInput for a seed that is negative, not an integer, or not a scalar.
 * @example key(42)   // [0, 42]
 */
export const key: KeyFn = ((seed: unknown): AnyExpr => {
  if (isArray(seed)) return joined([wordOf(0), scalarIn(seed, 'the seed', 'key')])
  const n = naturalIn(seed, Number.MAX_SAFE_INTEGER, 'the seed', 'key')
  return tensor([Math.floor(n / WORD) | 0, (n % WORD) | 0], [2], 'i32')
}) as KeyFn

/**
 * n keys from one: i32 [n, 2], independent of each other. Do not use the key itself again: its draws may coincide with theirs.
 *
 * As `jax.random.split`. `unstack` makes a list of them, `vmap` maps them, `scan` takes them one by one.
 * Errors  BadInput unless n is a non-negative integer, or for an invalid key.
 * @example
 * splitKey(key(0))   // [[1797259609, -1715843330], [928981903, -841280227]]
 * const [a, b] = unstack(splitKey(key(0)))
 */
export const splitKey = <const N extends Dim = 2, Zero = 0, R extends MadeDim<N, Zero> = N>(
  given: GivenKey,
  n?: Size<N>,
): Expr<[R, 2], 'i32'> => {
  const op = 'splitKey'
  const [count] = shapeIn([naturalIn(n ?? 2, 2 ** 30, 'n', op)], op)
  return joined(threefry2x32(wordsOf(given, op), [wordOf(0), arange(count!, 'i32') as AnyExpr])) as Expr<[R, 2], 'i32'>
}

/**
 * A key from a key and a number, a different one for every number: an integer from 0 to 2^32 - 1, or an i32 scalar such as the step of a
 * loop.
 *
 * As `jax.random.fold_in`.
 * Errors  BadInput for an invalid number or key.
 * @example foldIn(key(0), 1)   // [928981903, -841280227]
 */
export const foldIn = (given: GivenKey, i: number | Expr<[], 'i32'> | AnyExpr): Expr<[2], 'i32'> => {
  const op = 'foldIn'
  const data = isArray(i) ? scalarIn(i, 'i', op) : wordOf(naturalIn(i, WORD - 1, 'i', op))
  return joined(threefry2x32(wordsOf(given, op), [wordOf(0), data])) as Expr<[2], 'i32'>
}
