/** How far a derivative moves when its arguments move by less than differences see. */
import type { Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { Condition } from './condition.js'
import { random } from './draw.js'
import { type Derived, direction, movedBy } from './subject.js'

/** From some units of the last place to the finest step of differences, each four times the one before. */
const OFFSETS = Array.from({ length: 9 }, (_, k) => 2 ** -46 * 4 ** k)
/** At a kink from here on: nearer to it what was tied may still be. */
const AT_KINK = 3
const RAYS = 2

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
