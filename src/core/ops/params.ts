/** Codecs that parameters of primitives are made of: counts, positions and lists of them. */
import * as t from 'io-ts'

const whole = (name: string, least: number): t.Type<number> => {
  const is = (u: unknown): u is number => typeof u === 'number' && Number.isSafeInteger(u) && u >= least
  return new t.Type(name, is, (u, c) => (is(u) ? t.success(u) : t.failure(u, c)), t.identity)
}
/** A whole number. */
export const int: t.Type<number> = whole('a whole number', Number.MIN_SAFE_INTEGER)
/** A whole number from 0: an axis, a length, a count. */
export const natural: t.Type<number> = whole('a whole number from 0', 0)
export const ints: t.Type<readonly number[]> = t.readonlyArray(int) as unknown as t.Type<readonly number[]>
export const naturals: t.Type<readonly number[]> = t.readonlyArray(natural) as unknown as t.Type<readonly number[]>
