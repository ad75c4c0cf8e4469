/** Checks a function of several ranks: both modes against differences over all ranks, and batches, on simulated ranks. */
import type { Either } from 'fp-ts/lib/Either.js'
import { random } from '../check/draw.js'
import { functionOf } from '../core/errors/check-arguments.js'
import { left, right } from '../core/errors/either.js'
import { integer, number, type OptionsOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, evaluate, jvp, ravel, reshape, stack, type Tensor, tensor, vjp, vmap } from '../index.js'
import { simulateRanks } from './simulate.js'

export const checkRanksOptions = {
  /** The number of ranks: 3 unless given. */
  ranks: integer(3, { from: 1 }),
  /** Draws other points and directions. */
  seed: integer(1),
  /** How far a derivative may be from a difference, relative to both and to 1: 1e-6 unless given. */
  tolerance: number(1e-6, { above: 0 }),
}
/** Options of `checkRanks`. */
export type CheckRanksOptions = OptionsOf<typeof checkRanksOptions>
/** What does not hold: `forward` (jvp and differences on one rank), `reverse` (vjp and jvp, summed over ranks), `batch` (vmap and calls one by one). */
export interface RanksFinding {
  readonly law: 'forward' | 'reverse' | 'batch'
  /** The rank where it shows; undefined of what is summed over ranks. */
  readonly rank: number | undefined
  /** The rank that moves, undefined for all. */
  readonly moves: number | undefined
  readonly expected: number
  readonly got: number
}
/** What was compared, where everything holds. */
export interface RanksChecked {
  readonly ranks: number
  /** Numbers compared. */
  readonly compared: number
  /** The largest difference, relative as `tolerance` is. */
  readonly worst: number
}

type Vector = ArrayLike<number>
const dot = (a: Vector, b: Vector): number => {
  let s = 0
  for (let i = 0; i < a.length; i++) s += a[i]! * b[i]!
  return s
}
const dataOf = (x: AnyExpr): Float64Array => Float64Array.from((evaluate(x) as Tensor).data)
/** The difference quotient of fourth order. */
const STEP = 1e-3

/**
 * Checks f, a function of one array (or a tree of arrays) with an array as its result, on several simulated ranks: `jvp` against differences in which one rank moves, or all; `vjp`
 * against `jvp`, summed over ranks; `vmap` against calls one by one. The ranks' points are near the given one, and differ.
 *
 * The derivative of a function of several ranks is that of the sum over ranks of its results.
 * Errors  Left with what does not hold; those of f; BadInput for unknown options.
 * @example
 * checkRanks((x: AnyExpr) => allGather(square(x)))(tensor([1, 2]))._tag                  // 'Right'
 * checkRanks((x: AnyExpr) => mul(allReduce(x), stopGradient(x)))(tensor([1, 2]))._tag    // 'Left'
 */
export const checkRanks =
  <X>(f: (x: X) => AnyExpr, given?: CheckRanksOptions) =>
  (x: unknown): Either<readonly RanksFinding[], RanksChecked> => {
    functionOf(f, 'the first argument', 'checkRanks')
    const { ranks, seed, tolerance } = readOptions(checkRanksOptions, given, 'checkRanks')
    const next = random(seed)
    const draw = (n: number, centre?: Vector): Float64Array => Float64Array.from({ length: n }, (_, i) => (centre?.[i] ?? 0) + next() - 0.5)
    const [vector, unravel] = ravel(x as never) as unknown as readonly [Tensor, (v: AnyExpr) => X]
    const flat = (v: AnyExpr): AnyExpr => {
      const y = f(unravel(v))
      return reshape(y, [(y.shape as readonly number[]).reduce((a, b) => a * b, 1)])
    }
    const n = vector.data.length
    const points = Array.from({ length: ranks }, () => draw(n, vector.data))
    const at = (moved: readonly Vector[], by: number): readonly Float64Array[] =>
      simulateRanks(ranks, (r) => dataOf(flat(tensor(points[r]!.map((p, i) => p + by * moved[r]![i]!)))))
    const findings: RanksFinding[] = []
    let [compared, worst] = [0, 0]
    const compare = (law: RanksFinding['law'], expected: number, got: number, rank?: number, moves?: number): void => {
      compared++
      const off = Math.abs(expected - got) / (1 + Math.abs(expected) + Math.abs(got))
      worst = Math.max(worst, off)
      if (!(off <= tolerance)) findings.push({ law, rank, moves, expected, got })
    }
    const still = new Float64Array(n)
    for (let moves = -1; moves < (ranks > 1 ? ranks : 0); moves++) {
      const who = moves < 0 ? undefined : moves
      const dx = points.map((_, r) => (who === undefined || r === who ? draw(n) : still))
      const [far, near, nearer, farther] = [-2, -1, 1, 2].map((k) => at(dx, k * STEP))
      const dys = simulateRanks(ranks, (r) => dataOf((jvp(flat)(tensor(points[r]!), tensor(dx[r]!)) as unknown as readonly AnyExpr[])[1]!))
      const ws = dys.map((dy) => draw(dy.length))
      const xBars = simulateRanks(ranks, (r) =>
        dataOf((vjp(flat)(tensor(points[r]!), tensor(ws[r]!)) as unknown as readonly AnyExpr[])[1]!),
      )
      dys.forEach((dy, r) => {
        dy.forEach((got, i) => {
          const expected = (far![r]![i]! - farther![r]![i]! + 8 * (nearer![r]![i]! - near![r]![i]!)) / (12 * STEP)
          compare('forward', expected, got, r, who)
        })
      })
      const total = (as: readonly Vector[], bs: readonly Vector[]): number => as.reduce((s, a, r) => s + dot(a, bs[r]!), 0)
      compare('reverse', total(ws, dys), total(xBars, dx), undefined, who)
    }
    const others = points.map(() => draw(n, vector.data))
    const [first, second] = [points, others].map((all) => simulateRanks(ranks, (r) => dataOf(flat(tensor(all[r]!)))))
    const both = simulateRanks(ranks, (r) =>
      dataOf(vmap(flat)(evaluate(stack([tensor(points[r]!), tensor(others[r]!)]))) as unknown as AnyExpr),
    )
    both.forEach((ys, r) => {
      const m = first![r]!.length
      ys.forEach((got, i) => {
        compare('batch', i < m ? first![r]![i]! : second![r]![i - m]!, got, r)
      })
    })
    return findings.length > 0 ? left(findings) : right({ ranks, compared, worst })
  }
