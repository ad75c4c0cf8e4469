/** Sequential quadratic programming: each step minimises a quadratic model of the Lagrangian under linear models of the constraints. */
import { badInput } from '../core/errors/explain.js'
import { type AnyExpr, compile, concat, f64, fn, grad, jacfwd, jacrev, type Tensor } from '../index.js'
import type { Box } from './bounds.js'
import { choleskyOf } from './cholesky.js'
import { type Constraints, checkConstraints, type EndedWithin, flat } from './constraints.js'
import { checkGradient, type Point } from './objective.js'
import { type QuadraticMinimum, solveQuadratic } from './quadratic.js'
import { along, axpy, dot, type Limits, norm, type Reason, relativeGradient } from './result.js'

/** f, and the constraints: the equations, then the inequalities. */
interface Values {
  readonly f: number
  readonly c: Float64Array
}
/** Their derivatives: the gradient, and a row for each constraint. */
interface Slopes {
  readonly g: Float64Array
  readonly rows: readonly Float64Array[]
}
/** What the driver asks for. */
export interface Problem {
  readonly equations: number
  readonly constraints: number
  readonly values: (x: Float64Array) => Values
  readonly slopes: (x: Float64Array) => Slopes
  readonly dispose: () => void
}
interface Run {
  (args: unknown): Record<string, Tensor>
  dispose(): void
}
/** f and its constraints as functions of a vector, compiled. */
export const problemOf = (
  f: (x: unknown) => AnyExpr,
  given: Constraints | undefined,
  point: Point,
  count: { values: number; gradients: number },
  op: string,
): Problem => {
  const { equal, atMost } = given ?? {}
  const n = point.start.length
  const both = (x: AnyExpr): AnyExpr => {
    const tree = point.inside(x)
    return concat([flat(equal, tree, op, 'constraints.equal'), flat(atMost, tree, op, 'constraints.atMost')] as never) as AnyExpr
  }
  const values = compile(
    fn({ x: f64(n) }, ({ x }) => {
      const tree = point.inside(x as AnyExpr)
      return { f: f(tree) as never, h: flat(equal, tree, op, 'constraints.equal'), g: flat(atMost, tree, op, 'constraints.atMost') }
    }),
  ) as unknown as Run
  const first = values({ x: point.start })
  const [h, g] = [first.h!.data as Float64Array, first.g!.data as Float64Array]
  const m = h.length + g.length
  if (given !== undefined) checkConstraints(h, g, op)
  const slopes = compile(
    fn({ x: f64(n) }, ({ x }) => {
      const jacobian = (m < n ? jacrev : jacfwd) as unknown as (c: (v: AnyExpr) => AnyExpr) => (v: AnyExpr) => AnyExpr
      const slope = grad(((v: AnyExpr) => f(point.inside(v))) as never) as unknown as (v: AnyExpr) => AnyExpr
      return { g: slope(x as AnyExpr), ...(m === 0 ? {} : { j: jacobian(both)(x as AnyExpr) }) } as never
    }),
  ) as unknown as Run
  return {
    equations: h.length,
    constraints: m,
    values: (x) => {
      count.values++
      const { f: value, h, g } = values({ x })
      const c = new Float64Array(m)
      c.set(h!.data as Float64Array)
      c.set(g!.data as Float64Array, h!.data.length)
      return { f: value!.item(), c }
    },
    slopes: (x) => {
      count.gradients++
      const { g, j } = slopes({ x })
      const rows = Array.from({ length: m }, (_, k) => Float64Array.from((j!.data as Float64Array).subarray(k * n, (k + 1) * n)))
      return { g: Float64Array.from(g!.data as Float64Array), rows }
    },
    dispose: () => {
      values.dispose()
      slopes.dispose()
    },
  }
}

const finite = (xs: Float64Array): boolean => xs.every((v) => Number.isFinite(v))
const identity = (n: number): Float64Array => Float64Array.from({ length: n * n }, (_, k) => (k % (n + 1) === 0 ? 1 : 0))
const product = (b: Float64Array, v: Float64Array): Float64Array => {
  const n = v.length
  return v.map((_, i) => {
    let s = 0
    for (let k = 0; k < n; k++) s += b[i * n + k]! * v[k]!
    return s
  })
}
/** By how much each constraint is missed. */
const missed = (c: Float64Array, equations: number): Float64Array => c.map((v, i) => (i < equations ? Math.abs(v) : Math.max(0, v)))
const largest = (xs: Float64Array): number => xs.reduce((a, b) => Math.max(a, b), 0)

/** BFGS with Powell's damping (1978): B stays positive definite whatever the curvature. */
const update = (b: Float64Array, s: Float64Array, y: Float64Array): void => {
  const n = s.length
  const bs = product(b, s)
  const sBs = dot(s, bs)
  const sy = dot(s, y)
  if (!(sBs > 0) || !Number.isFinite(sy)) return
  const theta = sy >= 0.2 * sBs ? 1 : (0.8 * sBs) / (sBs - sy)
  const r = y.map((v, i) => theta * v + (1 - theta) * bs[i]!)
  const sr = dot(s, r)
  if (!(sr > 0)) return
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) b[i * n + j] = b[i * n + j]! - (bs[i]! * bs[j]!) / sBs + (r[i]! * r[j]!) / sr
}

/** Multipliers above this, in parts of the gradient, say that linear constraints that are not met all but exclude each other: misses weigh so much then that f is lost in rounding. */
const MOST_MULTIPLIER = 1e12

/** The step of a model. `weight` is that of misses where the linear constraints exclude each other, or all but: each is then met up to a slack, whose square is charged. */
const stepOf = (
  factor: Float64Array,
  { g, rows }: Slopes,
  c: Float64Array,
  equations: number,
  [lower, upper]: readonly [Float64Array, Float64Array],
  weight: number,
  tolerance: number,
): { readonly step: QuadraticMinimum; readonly elastic: boolean } | undefined => {
  // Equations: a d = -h. Inequalities: -a d >= g.
  const normals = rows.map((row, i) => (i < equations ? row : row.map((v) => -v)))
  const offsets = c.map((v, i) => (i < equations ? -v : v))
  const step = solveQuadratic({ factor, gradient: g, normals, offsets, equations, lower, upper, slop: tolerance / 100 })
  const most = MOST_MULTIPLIER * Math.max(1, norm(g))
  const met = largest(missed(c, equations)) <= tolerance
  if (step !== undefined && finite(step.d) && (met || step.multipliers.every((u) => Math.abs(u) <= most))) return { step, elastic: false }
  const [n, m] = [g.length, rows.length]
  const size = n + m
  const wide = new Float64Array(size * size)
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) wide[i * size + j] = factor[i * n + j]!
  for (let k = n; k < size; k++) wide[k * size + k] = Math.sqrt(weight)
  const padded = (v: Float64Array, rest: number): Float64Array => Float64Array.from({ length: size }, (_, i) => (i < n ? v[i]! : rest))
  const loose = solveQuadratic({
    factor: wide,
    gradient: padded(g, 0),
    normals: normals.map((row, i) => {
      const a = padded(row, 0)
      a[n + i] = 1
      return a
    }),
    offsets,
    equations,
    lower: padded(lower, Number.NEGATIVE_INFINITY),
    upper: padded(upper, Number.POSITIVE_INFINITY),
  })
  if (loose === undefined || !finite(loose.d)) return undefined
  return { step: { d: loose.d.slice(0, n), multipliers: loose.multipliers }, elastic: true }
}

/** So many steps that meet the constraints no better say that they cannot be met any better. */
const STUCK = 50
/** What rounding hides of a value, in parts of it. */
const ROUNDING = 1e-15

/**
 * Damped BFGS for the Hessian of the Lagrangian, a dual active-set method for each model (`quadratic.ts`), the l1 merit function with Powell's weights, and a second-order correction where a full step
 * fails. Bounds hold at every point at which f is evaluated.
 * Source  Nocedal and Wright 2006, 18.1-18.4; Powell 1978.
 */
export const sqpMethod = (problem: Problem, start: Float64Array, box: Box | undefined, limits: Limits, op: string): EndedWithin => {
  const n = start.length
  const { equations, constraints: m } = problem
  const { tolerance, maxSteps } = limits
  const room = (x: Float64Array): readonly [Float64Array, Float64Array] => [
    x.map((v, i) => (box === undefined ? Number.NEGATIVE_INFINITY : box.lower[i]! - v)),
    x.map((v, i) => (box === undefined ? Number.POSITIVE_INFINITY : box.upper[i]! - v)),
  ]
  const within = (x: Float64Array): Float64Array =>
    box === undefined ? x : x.map((v, i) => Math.min(box.upper[i]!, Math.max(box.lower[i]!, v)))
  let x = within(Float64Array.from(start))
  let now = problem.values(x)
  let slopes = problem.slopes(x)
  checkGradient(slopes.g, op)
  for (const row of slopes.rows)
    if (!finite(row))
      badInput(
        op,
        `the Jacobian of the constraints at x0 has ${row.find((v) => !Number.isFinite(v))}.`,
        'begin where they are differentiable.',
      )
  let b = identity(n)
  let fresh = true
  let weights = new Float64Array(m)
  let stiffness = 1e4
  let steps = 0
  /** Steps in a row that met the constraints no better, and the least sum of misses. */
  let [stuck, least] = [0, Number.POSITIVE_INFINITY]
  let [gradient, multipliers] = [Number.NaN, new Float64Array(m)]
  const history = [now.f]
  const merit = ({ f, c }: Values): number => f + dot(weights, missed(c, equations))
  const ended = (reason: Reason): EndedWithin => ({
    x,
    value: now.f,
    gradient,
    steps,
    reason,
    history,
    multipliers: { equal: multipliers.slice(0, equations), atMost: multipliers.slice(equations) },
    violation: largest(missed(now.c, equations)),
  })
  /** Begins the model anew, once: false if it has just begun. */
  const renewed = (): boolean => {
    if (fresh) return false
    b = identity(n)
    fresh = true
    return true
  }
  for (;;) {
    const factor = choleskyOf(b, n)
    const found = factor && stepOf(factor, slopes, now.c, equations, room(x), stiffness, tolerance)
    if (factor === undefined || found === undefined) {
      if (renewed()) continue
      return ended(largest(missed(now.c, equations)) > tolerance ? 'infeasible' : 'lineSearch')
    }
    const { step, elastic } = found
    const { d } = step
    // L = f + sum(l h) + sum(m g), where g + B d = sum(u a) and a is -dg of an inequality.
    multipliers = step.multipliers.map((u, i) => (i < equations ? -u : u))
    const misses = missed(now.c, equations)
    const violation = largest(misses)
    const bd = product(b, d)
    gradient = relativeGradient(x, bd, now.f)
    let slackness = 0
    for (let i = equations; i < m; i++) slackness = Math.max(slackness, Math.abs(multipliers[i]! * now.c[i]!))
    const settled = gradient <= tolerance && slackness <= tolerance * Math.max(1, Math.abs(now.f))
    if (settled && !elastic && violation <= tolerance) return ended('gradient')
    if (steps >= maxSteps) return ended('maxSteps')
    weights = weights.map((w, i) => Math.max(Math.abs(multipliers[i]!), (w + Math.abs(multipliers[i]!)) / 2))
    /** What the linear models say of the merit function: f and the misses after the step, less before it. */
    const modelled = (): number => {
      const after = now.c.map((v, i) => v + dot(slopes.rows[i]!, d))
      return dot(slopes.g, d) + dot(weights, missed(after, equations)) - dot(weights, misses)
    }
    let change = modelled()
    // Misses weigh enough when the step goes downhill; of an elastic step that is tried by factors.
    for (let k = 0; k < 12 && elastic && !(change < -0.1 * dot(d, bd)); k++) {
      weights = weights.map((w) => 10 * Math.max(w, 1))
      change = modelled()
    }
    const base = merit(now)
    const noise = ROUNDING * (Math.abs(now.f) + dot(weights, now.c.map(Math.abs)) + 1)
    /** Nothing that rounding does not hide is left to gain. */
    const flat = -change <= 1e3 * noise
    const small = norm(d) <= 1e-14 * (1 + norm(x))
    if (elastic && (small || !(change < -noise))) {
      if (stiffness < 1e12) {
        stiffness *= 100
        continue
      }
      return ended('infeasible')
    }
    const good = (next: Values, t: number): boolean => {
      const value = merit(next)
      return Number.isFinite(next.f) && finite(next.c) && value <= base + 1e-4 * t * change + 8 * noise
    }
    let t = 1
    let [there, next, slopesThere] = [x, now, slopes]
    let moved = false
    const take = (to: Float64Array, values: Values): boolean => {
      const s = problem.slopes(to)
      if (!finite(s.g) || !s.rows.every(finite)) return false
      ;[there, next, slopesThere] = [to, values, s]
      return true
    }
    for (let k = 0; k < 50 && !moved; k++) {
      const to = within(along(x, t, d))
      if (to.every((v, i) => v === x[i])) break
      const values = problem.values(to)
      if (good(values, t)) moved = take(to, values)
      if (moved) break
      if (k === 0 && m > 0 && finite(values.c) && !elastic) {
        // The same model, with constraints as they curve along the step (Fletcher 1982).
        const curved = values.c.map((v, i) => v - dot(slopes.rows[i]!, d))
        const corrected = stepOf(factor, slopes, curved, equations, room(x), stiffness, tolerance)
        if (corrected !== undefined && !corrected.elastic) {
          const nearby = within(along(x, 1, corrected.step.d))
          const better = problem.values(nearby)
          if (good(better, 1)) moved = take(nearby, better)
          if (moved) break
        }
      }
      // The minimum of the parabola through what is known, within a tenth and a half.
      const value = merit(values)
      const fitted = Number.isFinite(value) ? (-0.5 * change * t * t) / (value - base - change * t) : Number.NaN
      t = Number.isFinite(fitted) ? Math.min(0.5 * t, Math.max(0.1 * t, fitted)) : 0.2 * t
    }
    if (!moved) {
      if (renewed()) continue
      if (violation > tolerance) return ended(elastic ? 'infeasible' : 'lineSearch')
      return ended(flat ? 'rounding' : 'lineSearch')
    }
    const s = there.map((v, i) => v - x[i]!)
    const y = slopesThere.g.map((v, i) => v - slopes.g[i]!)
    for (let k = 0; k < m; k++) {
      axpy(multipliers[k]!, slopesThere.rows[k]!, y)
      axpy(-multipliers[k]!, slopes.rows[k]!, y)
    }
    // Steps that rounding ends: the value does not fall, and constraints are met.
    const still = norm(s) <= 1e-15 * (1 + norm(x))
    // The first model has the curvature along the first step, as in L-BFGS.
    const sy = dot(s, y)
    if (fresh && sy > 0) b = b.map((v) => (v * sy) / dot(s, s))
    update(b, s, y)
    fresh = false
    ;[x, now, slopes] = [there, next, slopesThere]
    steps++
    history.push(now.f)
    if (!limits.onStep(steps, now.f, gradient, x)) return ended('stopped')
    if (still) return ended(flat && largest(missed(now.c, equations)) <= tolerance ? 'rounding' : 'lineSearch')
    // Steps that meet the constraints no better: there is no way in from here.
    const left = missed(now.c, equations).reduce((a, b) => a + b, 0)
    stuck = left > tolerance && left >= (1 - 1e-6) * least ? stuck + 1 : 0
    least = Math.min(least, left)
    if (stuck === STUCK) return ended('infeasible')
  }
}
