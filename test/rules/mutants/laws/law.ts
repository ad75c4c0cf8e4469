/** What laws are: pairs that must be equal, as numbers (relative to the first, 1e-9 unless given), and as shapes and dtypes where both have them. */
import * as cd from '../../../../src/index.js'

export type Laws = Readonly<Record<string, () => Iterable<readonly [a: unknown, b: unknown, tolerance?: number]>>>

const isArray = (t: object): t is { readonly data: ArrayLike<number>; readonly shape: readonly number[]; readonly dtype: string } =>
  'data' in t && 'shape' in t
/** The leaves of a result: of a record in the order of its names. */
const leaves = (t: unknown): unknown[] => {
  if (typeof t !== 'object' || t === null || isArray(t)) return [t]
  if (Array.isArray(t)) return t.flatMap(leaves)
  return Object.keys(t)
    .sort()
    .flatMap((k) => leaves((t as Record<string, unknown>)[k]))
}
/** All numbers of a result, in the order of its leaves. */
export const numbers = (t: unknown): number[] =>
  leaves(t).flatMap((l) => (typeof l === 'number' ? [l] : typeof l === 'object' && l !== null && isArray(l) ? Array.from(l.data) : []))
const kinds = (t: unknown): string[] =>
  leaves(t).flatMap((l) => (typeof l === 'object' && l !== null && isArray(l) ? [`${l.dtype} [${l.shape.join()}]`] : []))

export const same = (a: unknown, b: unknown, tolerance = 1e-9): boolean => {
  const near = (v: number, w: number): boolean => Object.is(v, w) || v === w || Math.abs(v - w) <= tolerance * Math.max(1, Math.abs(v))
  const [x, y] = [numbers(a), numbers(b)]
  const [k, l] = [kinds(a), kinds(b)]
  if (k.length > 0 && l.length > 0 && k.join(' ') !== l.join(' ')) return false
  return x.length === y.length && x.length > 0 && x.every((v, i) => near(v, y[i]!))
}
export const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((s, x, i) => s + x * b[i]!, 0)

type F = (...xs: readonly unknown[]) => unknown
type E = (...xs: readonly unknown[]) => cd.AnyExpr
/** The operators, and some operations, without their types. */
export const o = cd as unknown as Readonly<
  Record<
    'grad' | 'valueAndGrad' | 'jvp' | 'vjp' | 'hvp' | 'jacfwd' | 'jacrev' | 'hessian' | 'linearize' | 'vmap' | 'customRule',
    (f: unknown, options?: unknown) => F
  > &
    Record<'sum' | 'mul' | 'add' | 'sub' | 'sin' | 'cos' | 'exp' | 'tanh' | 'square' | 'stack' | 'cumsum' | 'cast' | 'matmul', E> &
    Record<'concat' | 'broadcastTo' | 'reshape' | 'sort' | 'take' | 'maximum' | 'map' | 'slice' | 'stopGradient' | 'neg', E>
>
