/** The samples of an elementwise primitive, in the domain that it declares. */
import type { ArgKind, Sample } from './primitive.js'

const samplesOf = <P>(
  kinds: readonly ArgKind[],
  domain: readonly (readonly [number, number])[] | undefined,
  params: P,
): readonly Sample<P>[] => {
  const arity = kinds.length
  const arg = (i: number, shape: readonly number[]) =>
    kinds[i] === 'int'
      ? { shape, dtype: 'i32' as const, domain: domain?.[i] ?? ([0, 4] as const) }
      : { shape, domain: domain?.[Math.min(i, domain.length - 1)] ?? ([-2, 2] as const) }
  const all = (shape: readonly number[]) => ({ args: kinds.map((_, i) => arg(i, shape)), params })
  const plain = [all([]), all([5]), all([2, 3]), all([0]), all([3, 1, 2])]
  if (arity < 2) return plain
  const mixed = (first: readonly number[], rest: readonly number[]) => ({
    args: kinds.map((_, i) => arg(i, i === 0 ? first : rest)),
    params,
    note: 'broadcast',
  })
  return [...plain, mixed([2, 3], []), mixed([], [4]), mixed([2, 1], [1, 3]), mixed([3], [2, 3]), mixed([1], [0])]
}
/** Arguments of several shapes, and what broadcasts, at each of these parameters. */
export const samplesIn = <P>(
  kinds: readonly ArgKind[],
  domain: readonly (readonly [number, number])[] | undefined,
  params: readonly P[],
): readonly Sample<P>[] => params.flatMap((p) => samplesOf(kinds, domain, p))
