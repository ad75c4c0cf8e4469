/** Newton's method with conjugate gradients in a trust region: no Hessian, its products alone. */
import type { Objective } from './objective.js'
import { along, axpy, dot, type Ended, type Limits, norm, type Reason, relativeGradient } from './result.js'

/** How far from `z` along `d` the sphere of this radius is. */
const toSphere = (z: Float64Array, d: Float64Array, radius: number): number => {
  const [a, b, c] = [dot(d, d), dot(z, d), dot(z, z) - radius * radius]
  const root = Math.sqrt(Math.max(0, b * b - a * c))
  return b > 0 ? -c / (b + root) : (root - b) / a
}
/** A step that makes the quadratic model small within the radius, and what the model says it lowers. Ends at the sphere where the curvature is negative.   Source  Steihaug 1983. */
const modelStep = (
  times: (v: Float64Array, into: Float64Array) => void,
  g: Float64Array,
  radius: number,
): { readonly step: Float64Array; readonly promised: number; readonly atSphere: boolean } => {
  const n = g.length
  const z = new Float64Array(n)
  const bz = new Float64Array(n)
  const r = Float64Array.from(g)
  const d = g.map((v) => -v)
  const bd = new Float64Array(n)
  const size = norm(g)
  const enough = Math.min(0.5, Math.sqrt(size)) * size
  const result = (atSphere: boolean) => ({ step: z, promised: -dot(g, z) - 0.5 * dot(z, bz), atSphere })
  let rr = dot(r, r)
  for (let k = 0; k < 2 * n + 10; k++) {
    times(d, bd)
    const curvature = dot(d, bd)
    const alpha = rr / curvature
    if (!(curvature > 0) || norm(along(z, alpha, d)) >= radius) {
      const tau = toSphere(z, d, radius)
      axpy(tau, d, z)
      axpy(tau, bd, bz)
      return result(true)
    }
    axpy(alpha, d, z)
    axpy(alpha, bd, bz)
    axpy(alpha, bd, r)
    const next = dot(r, r)
    if (Math.sqrt(next) <= enough) break
    const beta = next / rr
    for (let i = 0; i < n; i++) d[i] = -r[i]! + beta * d[i]!
    rr = next
  }
  return result(false)
}

/** Minimises by Newton's method in a trust region.   Source  Nocedal and Wright 2006, algorithms 4.1 and 7.2. */
export const newtonMethod = (of: Objective, x0: Float64Array, { tolerance, maxSteps, onStep }: Limits): Ended => {
  let x: Float64Array = Float64Array.from(x0)
  let g: Float64Array = new Float64Array(x.length)
  let value = of.gradient(x, g)
  const history = [value]
  let radius = Math.max(1, 0.1 * norm(x))
  let [steps, still] = [0, 0]
  let size = relativeGradient(x, g, value)
  const ended = (reason: Reason): Ended => ({ x, value, gradient: size, steps, reason, history })
  for (;;) {
    if (size <= tolerance) return ended('gradient')
    if (steps >= maxSteps) return ended('maxSteps')
    const { step, promised, atSphere } = modelStep((v, into) => of.product(x, v, into), g, radius)
    const there = along(x, 1, step)
    const gThere = new Float64Array(x.length)
    const vThere = of.gradient(there, gThere)
    const lowered = value - vThere
    // Where rounding hides what a step lowers, the gradient says whether it was a good one.
    const hidden = promised <= 1e-12 * Math.max(Math.abs(value), Number.MIN_VALUE)
    const better = Number.isFinite(vThere) && Number.isFinite(norm(gThere)) && (hidden ? norm(gThere) < norm(g) : lowered > 1e-4 * promised)
    const share = hidden ? (better ? 1 : 0) : lowered / promised
    steps++
    if (!(share >= 0.25)) radius = 0.25 * Math.min(radius, norm(step))
    else if (share > 0.75 && atSphere) radius = Math.min(2 * radius, 1e20)
    if (better) {
      x = there
      g = gThere
      value = vThere
      size = relativeGradient(x, g, value)
    }
    still = better ? 0 : still + 1
    history.push(value)
    if (!onStep(steps, value, size, x)) return ended('stopped')
    if (hidden && !better) return ended('rounding')
    if (still > 0 && radius <= 2 ** -52 * Math.max(norm(x), Number.MIN_VALUE)) return ended('rounding')
  }
}
