/** How far a derivative moves when its arguments move by less than differences see. */
import type { Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { random } from './draw.js'
import { numeral, type Slope } from './finite-differences.js'
import { type Derived, direction, movedBy } from './subject.js'

/** From some units of the last place to the finest step of differences, each four times the one before. */
const OFFSETS = Array.from({ length: 9 }, (_, k) => 2 ** -46 * 4 ** k)
/** At a kink from here on: nearer to it what was tied may still be. */
const AT_KINK = 3
const RAYS = 2

/** How sensitive a number is to its arguments. */
export interface Condition {
  /** How far it moves from one point beside the arguments to another on the same side. */
  readonly moves: number
  /** The greatest relative change of the number for a relative change of the arguments. */
  readonly number: number
}
const NONE: Condition = { moves: 0, number: 0 }

/**
 * The condition of a number at points within the finest step of differences. Points on one side are held against each other, never against the arguments
 * themselves, and one jump on the way is no move: what is another number at one point alone, or on either side of it, is no matter of condition.
 *
 * Source  N. J. Higham, Accuracy and Stability of Numerical Algorithms, 1.6.
 */
export const conditionOf = (d: Derived, value: (env: ReadonlyMap<Node, NDArray>) => number, kinked = false): Condition => {
  const next = random(11)
  const rays: (readonly number[])[] = []
  for (let r = 0; r < RAYS; r++) {
    const dx = direction(d, next)
    for (const sign of [1, -1]) rays.push(OFFSETS.slice(kinked ? AT_KINK : 0).map((t) => value(movedBy(d, dx, sign * t * d.scale))))
  }
  return rays.map(alongRay).reduce((a, b) => (b.moves > a.moves ? b : a), NONE)
}
const alongRay = (ray: readonly number[]): Condition => {
  let [low, high, way, jump, number, before] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, 0, -1]
  ray.forEach((x, k) => {
    if (!Number.isFinite(x)) return
    low = Math.min(low, x)
    high = Math.max(high, x)
    if (before >= 0) {
      const y = ray[before]!
      const size = Math.max(Math.abs(x), Math.abs(y))
      way += Math.abs(x - y)
      jump = Math.max(jump, Math.abs(x - y))
      if (size > 0) number = Math.max(number, Math.abs(x - y) / size / (OFFSETS[k]! - OFFSETS[before]!))
    }
    before = k
  })
  const moves = Math.min(high - low, way - jump)
  return moves > 0 ? { moves, number } : NONE
}

/** A derivative is not decided where it moves by this part of its difference from what is true. */
const PART = 0.1
/** How far a derivative is from a slope, or from the nearer one of two sides. */
export const offBy = (given: number, slope: Slope): number => {
  if (slope._tag === 'Unknown') return Number.POSITIVE_INFINITY
  const values = slope._tag === 'Kink' ? [slope.left.value, slope.right.value] : [slope.value]
  return Math.min(...values.map((v) => Math.abs(given - v)))
}
/** Why a derivative that is not this slope is not wrong: undefined where it is well conditioned. */
export const illConditioned = (given: number, slope: Slope, condition: () => Condition): string | undefined =>
  excusedBy(given, offBy(given, slope), condition)
/** The same of a derivative that is off by so much. */
export const excusedBy = (given: number, off: number, condition: () => Condition): string | undefined => {
  if (!Number.isFinite(given)) return undefined
  const { moves, number } = condition()
  if (!(moves >= PART * off)) return undefined
  const how = numeral(Number(moves.toPrecision(2)))
  return `condition number ${number.toPrecision(2)}: arguments within 1e-9 of their size of these move the derivative by ${how}, and it is ${numeral(given)}`
}
