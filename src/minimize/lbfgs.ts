/** L-BFGS, and L-BFGS-B where there are bounds: the same loop with two ways to a direction. */
import { type Box, cauchyPoint, pairsOf, projectedSize, subspaceMinimum } from './bounds.js'
import { rounding, wolfe } from './line-search.js'
import type { Objective } from './objective.js'
import { along, dot, type Ended, type Limits, norm, type Reason, relativeGradient } from './result.js'

/** A step and the change of the gradient along it. */
export interface Pair {
  readonly s: Float64Array
  readonly y: Float64Array
}
const EPS = 2 ** -52

/** -H g by the two-loop recursion, the newest pair last.   Source  Nocedal and Wright 2006, algorithm 7.4. */
const direction = (pairs: readonly Pair[], g: Float64Array): Float64Array => {
  const q = g.map((v) => -v)
  const alphas: number[] = []
  for (let k = pairs.length - 1; k >= 0; k--) {
    const { s, y } = pairs[k]!
    const alpha = dot(s, q) / dot(s, y)
    alphas[k] = alpha
    for (let i = 0; i < q.length; i++) q[i] = q[i]! - alpha * y[i]!
  }
  const newest = pairs[pairs.length - 1]
  if (newest !== undefined) {
    const scale = dot(newest.s, newest.y) / dot(newest.y, newest.y)
    for (let i = 0; i < q.length; i++) q[i] = q[i]! * scale
  }
  pairs.forEach(({ s, y }, k) => {
    const beta = alphas[k]! - dot(y, q) / dot(s, y)
    for (let i = 0; i < q.length; i++) q[i] = q[i]! + beta * s[i]!
  })
  return q
}

/** The longest step along d that stays within the bounds. */
const longestStep = (x: Float64Array, d: Float64Array, box: Box): number => {
  let most = Number.POSITIVE_INFINITY
  for (let i = 0; i < x.length; i++) {
    const v = d[i]!
    if (v > 0) most = Math.min(most, (box.upper[i]! - x[i]!) / v)
    else if (v < 0) most = Math.min(most, (box.lower[i]! - x[i]!) / v)
  }
  return most
}

const strictlyWithin = (x: Float64Array, { lower, upper }: Box): boolean => x.every((v, i) => v > lower[i]! && v < upper[i]!)

/** Moves x into the bounds. */
export const intoBox = (x: Float64Array, box: Box | undefined): Float64Array =>
  box === undefined ? Float64Array.from(x) : x.map((v, i) => Math.min(box.upper[i]!, Math.max(box.lower[i]!, v)))

/** Minimises by L-BFGS, within a box by L-BFGS-B.   Source  Liu and Nocedal 1989; Byrd, Lu, Nocedal and Zhu 1995; Morales and Nocedal 2011. */
export const lbfgsMethod = (
  of: Pick<Objective, 'gradient'>,
  x0: Float64Array,
  box: Box | undefined,
  memory: number,
  { tolerance, maxSteps, onStep }: Limits,
): Ended => {
  let x: Float64Array = intoBox(x0, box)
  let g: Float64Array = new Float64Array(x.length)
  let value = of.gradient(x, g)
  const history = [value]
  const sized = (): number => relativeGradient(x, box === undefined ? g : projectedSize(x, g, box), value)
  let pairs: Pair[] = []
  let [steps, size, still, least] = [0, sized(), 0, Number.POSITIVE_INFINITY]
  const ended = (reason: Reason): Ended => ({ x, value, gradient: size, steps, reason, history })
  for (;;) {
    if (size <= tolerance) return ended('gradient')
    if (steps >= maxSteps) return ended('maxSteps')
    let d: Float64Array
    if (box === undefined) d = direction(pairs, g)
    else {
      const model = pairsOf(pairs)
      const cauchy = cauchyPoint(x, g, box, model)
      // where no bound is met, the model's minimum is that without bounds, which two loops find with less rounding
      const free = strictlyWithin(cauchy.x, box)
      d = free ? direction(pairs, g) : g
      if (!free || !strictlyWithin(along(x, 1, d), box)) d = along(subspaceMinimum(x, g, box, model, cauchy), -1, x)
    }
    const slope = dot(d, g)
    if (!(slope < 0)) {
      if (pairs.length === 0) return ended('rounding')
      pairs = []
      continue
    }
    const longest = box === undefined ? 1e20 : longestStep(x, d, box)
    const tried = new Map<number, { readonly x: Float64Array; readonly g: Float64Array; readonly value: number }>()
    const at = (step: number): { readonly value: number; readonly slope: number } => {
      const there = intoBox(along(x, step, d), box)
      const gThere = new Float64Array(x.length)
      const v = of.gradient(there, gThere)
      tried.set(step, { x: there, g: gThere, value: v })
      return { value: v, slope: dot(gThere, d) }
    }
    const first = pairs.length === 0 ? Math.min(1, 1 / norm(d)) : 1
    const end = wolfe({ at, start: { value, slope }, first, longest, decrease: 1e-4, curvature: 0.9, maxTrials: 20 })
    const moved = tried.get(end.step)
    // Rounding hides what the step promised: this is the minimum as far as it can be told.
    const hidden = !end.met && -slope * first <= 1e-11 * Math.abs(value)
    if (end.step === 0 || moved === undefined) {
      if (hidden) return ended('rounding')
      if (pairs.length === 0) return ended('lineSearch')
      pairs = []
      continue
    }
    const s = along(moved.x, -1, x)
    const y = along(moved.g, -1, g)
    const curvature = dot(s, y)
    if (curvature > EPS * norm(s) * norm(y)) {
      pairs.push({ s, y })
      if (pairs.length > memory) pairs.shift()
    }
    const lowered = value - moved.value
    x = moved.x
    g = moved.g
    value = moved.value
    steps++
    size = sized()
    // a step that rounding hides is a good one while the gradient shrinks
    still = lowered > rounding(value) || size < 0.5 * least ? 0 : still + 1
    if (still === 0) least = size
    history.push(value)
    if (!onStep(steps, value, size, x)) return ended('stopped')
    if (size > tolerance && (hidden || still >= 5)) return ended('rounding')
  }
}
