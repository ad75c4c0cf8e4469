/** Steps of loops as people write them, over plain JavaScript values: a loop in JavaScript is what a scan of them must equal. */
import * as cd from '../../src/index.js'

export type E = cd.AnyExpr
const ops = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => E>>
const { add, concat, cos, div, exp, log, matmul, maximum, mul, reshape, sigmoid, sin, slice, sqrt, sub, sum, tanh, where, gt, unstack } =
  ops

/** One step: from the carry, a slice and what is the same at every step. */
export type Step = (carry: readonly E[], x: E, same: readonly E[]) => readonly [carry: readonly E[], y: E | null]
export interface Case {
  readonly name: string
  readonly step: Step
  /** Shapes of the carry, of one slice, and of what is the same. */
  readonly carry: readonly (readonly number[])[]
  readonly x: readonly number[]
  readonly same: readonly (readonly number[])[]
}

export const cases: readonly Case[] = [
  {
    name: 'a recurrent layer',
    carry: [[2, 3]],
    x: [2, 2],
    same: [[3, 3], [2, 3], [3]],
    step: ([h], x, [w, u, b]) => {
      const next = tanh!(add!(add!(matmul!(h, w), matmul!(x, u)), b))
      return [[next], next]
    },
  },
  {
    name: 'an LSTM with one product for all gates',
    carry: [
      [2, 3],
      [2, 3],
    ],
    x: [2, 2],
    same: [[5, 12], [12]],
    step: ([h, c], x, [w, b]) => {
      const gates = add!(matmul!(concat!([x, h], { axis: 1 }), w), b)
      const [i, f, g, o] = [0, 3, 6, 9].map((k) => slice!(gates, [0, k], [2, k + 3]))
      const cell = add!(mul!(sigmoid!(f), c), mul!(sigmoid!(i), tanh!(g)))
      const next = mul!(sigmoid!(o), tanh!(cell))
      return [[next, cell], next]
    },
  },
  {
    name: 'a carry that nothing moves, and one that it moves',
    carry: [[3], [3]],
    x: [],
    same: [],
    step: ([p, q], x) => [[p!, add!(mul!(q, 0.5), mul!(p, x))], mul!(q, p)],
  },
  {
    name: 'carries that change places',
    carry: [[2], [2]],
    x: [2],
    same: [],
    step: ([p, q], x) => [[q!, add!(sin!(p), x)], null],
  },
  {
    name: 'a step of Runge and Kutta',
    carry: [[2]],
    x: [],
    same: [[2, 2]],
    step: ([z], dt, [a]) => {
      const f = (v: E): E => tanh!(reshape!(matmul!(reshape!(v, [1, 2]), a), [2]))
      const k1 = f(z!)
      const k2 = f(add!(z, mul!(mul!(dt, 0.5), k1)))
      return [[add!(z, mul!(dt, k2))], sum!(k1)]
    },
  },
  {
    name: 'what is the same at every step, alone in a result',
    carry: [[2]],
    x: [2],
    same: [[2]],
    step: ([c], x, [w]) => [[add!(c, exp!(mul!(w, 0.1)))], add!(x, cos!(w))],
  },
  {
    name: 'kinks and guards',
    carry: [[3]],
    x: [3],
    same: [[3]],
    step: ([c], x, [w]) => {
      const safe = where!(gt!(x, 0), sqrt!(where!(gt!(x, 0), x, 1)), 0)
      return [[maximum!(mul!(c, 0.9), sub!(mul!(x, w), 0.3))], div!(safe, add!(1, mul!(c, c)))]
    },
  },
  {
    name: 'a guard whose other branch is singular',
    carry: [[3]],
    x: [3],
    same: [],
    step: ([c], x) => [[add!(mul!(c, 0.5), where!(gt!(x, 0), log!(x), 0))], mul!(c, where!(gt!(x, 0), sqrt!(x), c))],
  },
]

/** A loop in JavaScript: the last carry, and what the steps gave. */
export const unrolled = (
  { step }: Case,
  carry: readonly E[],
  xs: E,
  same: readonly E[],
  length: number,
  reverse: boolean,
): readonly [readonly E[], E | null] => {
  const slices = length === 0 ? [] : (unstack!(xs) as unknown as readonly E[])
  const ys: (E | null)[] = new Array<E | null>(length).fill(null)
  let now = carry
  for (let i = 0; i < length; i++) {
    const k = reverse ? length - 1 - i : i
    const [next, y] = step(now, slices[k]!, same)
    now = next
    ys[k] = y
  }
  return [now, ys[0] === undefined || ys[0] === null ? null : ops.stack!(ys)]
}
export const scanned = (
  { step }: Case,
  carry: readonly E[],
  xs: E,
  same: readonly E[],
  reverse: boolean,
): readonly [readonly E[], E | null] =>
  (cd.scan as unknown as (...xs: readonly unknown[]) => readonly [readonly E[], E | null])(
    (c: readonly E[], x: E) => step(c, x, same),
    carry,
    xs,
    { reverse },
  )
