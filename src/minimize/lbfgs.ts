/** L-BFGS, and L-BFGS-B where there are bounds: the same loop with two ways to a direction. */
import { type Box, cauchyPoint, pairsOf, projectedSize, subspaceMinimum } from './bounds.js'
import { wolfe } from './line-search.js'
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
  let [steps, size, still] = [0, sized(), 0]
  const ended = (reason: Reason): Ended => ({ x, value, gradient: size, steps, reason, history })
  for (;;) {
    if (size <= tolerance) return ended('gradient')
    if (steps >= maxSteps) return ended('maxSteps')
    let d: Float64Array
    if (box === undefined) d = direction(pairs, g)
    else {
      const model = pairsOf(pairs)
      const cauchy = cauchyPoint(x, g, box, model)
      d = along(subspaceMinimum(x, g, box, model, cauchy), -1, x)
    }
    const slope = dot(d, g)
    if (!(slope < 0)) {
      if (pairs.length === 0) return ended('rounding')
      pairs = []
      continue
    }
    const longest = box === undefined ? 1e20 : longestStep(x, d, box)
    const tried = new Map<number, { readonly x: Float64Array; readonly g: Float64Array }>()
    const at = (step: number): { readonly value: number; readonly slope: number } => {
      const there = { x: intoBox(along(x, step, d), box), g: new Float64Array(x.length) }
      const v = of.gradient(there.x, there.g)
      tried.set(step, there)
      return { value: v, slope: dot(there.g, d) }
    }
    const first = pairs.length === 0 ? Math.min(1, 1 / norm(d)) : 1
    const end = wolfe({ at, start: { value, slope }, first, longest, decrease: 1e-4, curvature: 0.9, maxTrials: 40 })
    const moved = tried.get(end.step)
    if (end.step === 0 || moved === undefined) {
      // What the step promised is hidden by rounding: this is the minimum as far as it can be told.
      if (-slope * first <= 100 * EPS * Math.abs(value)) return ended('rounding')
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
    const lowered = value - end.value
    still = lowered <= 4 * EPS * Math.max(Math.abs(value), Math.abs(end.value)) ? still + 1 : 0
    x = moved.x
    g = moved.g
    value = end.value
    steps++
    size = sized()
    history.push(value)
    if (!onStep(steps, value, size, x)) return ended('stopped')
    if (still >= 3 && size > tolerance) return ended('rounding')
  }
}
