/** Where differences do not confirm a derivative: the places of a curve of which the checker is not sure. */
import { judge, numeral, slopes, type Verdict } from '../../src/check/finite-differences.js'
import type { Sureness, Unsure } from './messages.js'

const EPS = 2 ** -52
const EPS32 = 2 ** -23
/** The tolerance that `checkGrad` has, and one for numbers of f32. */
const TOLERANCE = 1e-7
const TOLERANCE32 = 1e-2
/** The page waits for it. */
const MOST_MS = 1500
const MOST_JUMPS = 20

const inWords = (verdict: Verdict, given: number): string | undefined => {
  switch (verdict._tag) {
    case 'Right':
      return undefined
    case 'AtKink':
      return `a kink: the slopes of the two sides are ${numeral(verdict.low)} and ${numeral(verdict.high)}, the derivative is ${numeral(given)}`
    case 'Wrong':
      return `differences give ${verdict.expected}, the derivative is ${numeral(given)}`
    case 'Undecided':
      return `not decided: ${verdict.reason}`
  }
}

/** Halvings of an interval; what a smooth function's derivative changes by in it is gone by then. */
const HALVINGS = 36
/** Where the derivative jumps between two neighbours of `x`: found by halving where it changes far more than elsewhere. */
export const jumpsBetween = (slope: (x: number) => number, x: readonly number[], dy: readonly number[]): readonly Jump[] => {
  const change = (i: number): number => Math.abs(dy[i + 1]! - dy[i]!)
  const sorted = x
    .slice(1)
    .map((_, i) => change(i))
    .filter(Number.isFinite)
    .sort((a, b) => a - b)
  const least = Math.max(4 * (sorted[Math.floor(sorted.length / 2)] ?? 0), 1e-6 * (sorted.at(-1) ?? 0))
  const jumps: Jump[] = []
  for (let i = 0; i + 1 < x.length && jumps.length < MOST_JUMPS; i++) {
    if (!(change(i) > least)) continue
    let [a, b, left, right] = [x[i]!, x[i + 1]!, dy[i]!, dy[i + 1]!]
    for (let k = 0; k < HALVINGS; k++) {
      const middle = (a + b) / 2
      const at = slope(middle)
      if (Math.abs(at - left) > Math.abs(right - at)) [b, right] = [middle, at]
      else [a, left] = [middle, at]
    }
    if (Math.abs(right - left) > change(i) / 4) jumps.push({ x: (a + b) / 2, left, right })
  }
  return jumps
}
/** A place where the derivative jumps. */
export interface Jump {
  readonly x: number
  readonly left: number
  readonly right: number
}
export const jumpInWords = ({ left, right }: Jump): string => `the derivative jumps from ${numeral(left)} to ${numeral(right)}`

/** `dy` are the derivatives of f at `x`; `single`: f computes in f32. */
export const unsureAt = (f: (x: number) => number, x: readonly number[], dy: readonly number[], single: boolean): Sureness => {
  const unsure: Unsure[] = []
  const end = performance.now() + MOST_MS
  let checkedTo = x[0] ?? 0
  for (const [i, at] of x.entries()) {
    if (performance.now() > end) break
    const y = f(at)
    const given = dy[i]!
    // Rounding of f's value, and of the argument.
    const noise = (single ? EPS32 : EPS) * (Math.abs(y) + Math.abs(at * given || 0))
    const [slope] = slopes(
      (t) => [f(at + t)],
      1,
      () => noise,
    )
    const text = inWords(judge(given, slope!, single ? TOLERANCE32 : TOLERANCE), given)
    if (text !== undefined) unsure.push({ x: at, y, text })
    checkedTo = at
  }
  return { unsure, checkedTo }
}
