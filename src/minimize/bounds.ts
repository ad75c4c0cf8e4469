/** Minimising the quadratic model of L-BFGS within bounds: the generalised Cauchy point, and the minimum over the variables that are free there. */
import type { Pair } from './lbfgs.js'
import { dot } from './result.js'

/** Bounds of every number; infinite where there is none. */
export interface Box {
  readonly lower: Float64Array
  readonly upper: Float64Array
}
/** The gradient within the bounds: scaled down where the bound that a step against it would meet is nearer than max(|x_i|, 1), so that it is 0 at the bound. */
export const projectedSize = (x: Float64Array, g: Float64Array, { lower, upper }: Box): Float64Array =>
  g.map((v, i) => {
    if (v === 0) return 0
    const room = v > 0 ? x[i]! - lower[i]! : upper[i]! - x[i]!
    return v * Math.min(1, room / Math.max(1, Math.abs(x[i]!)))
  })

/** B = theta I - W M W^T, W = [Y, theta S]; a product with M is a solve with its inverse. */
export interface Model {
  readonly theta: number
  /** The number of columns of W. */
  readonly width: number
  /** W^T v. */
  readonly down: (v: Float64Array) => Float64Array
  /** A row of W. */
  readonly row: (i: number) => Float64Array
  /** M v. */
  readonly times: (v: Float64Array) => Float64Array
}

/** Solves A x = b, A of n x n by rows, by elimination with partial pivots; A is overwritten. */
export const solveDense = (a: Float64Array, b: Float64Array, n: number): Float64Array => {
  const x = Float64Array.from(b)
  for (let k = 0; k < n; k++) {
    let p = k
    for (let i = k + 1; i < n; i++) if (Math.abs(a[i * n + k]!) > Math.abs(a[p * n + k]!)) p = i
    if (p !== k) {
      for (let j = 0; j < n; j++) [a[k * n + j], a[p * n + j]] = [a[p * n + j]!, a[k * n + j]!]
      ;[x[k], x[p]] = [x[p]!, x[k]!]
    }
    const pivot = a[k * n + k]!
    for (let i = k + 1; i < n; i++) {
      const f = a[i * n + k]! / pivot
      if (f === 0) continue
      for (let j = k; j < n; j++) a[i * n + j] = a[i * n + j]! - f * a[k * n + j]!
      x[i] = x[i]! - f * x[k]!
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    let v = x[k]!
    for (let j = k + 1; j < n; j++) v -= a[k * n + j]! * x[j]!
    x[k] = v / a[k * n + k]!
  }
  return x
}

/** The model of some pairs of steps and changes of the gradient.   Source  Byrd, Nocedal and Schnabel 1994. */
export const pairsOf = (pairs: readonly Pair[]): Model => {
  const m = pairs.length
  const newest = pairs[m - 1]
  const theta = newest === undefined ? 1 : dot(newest.y, newest.y) / dot(newest.s, newest.y)
  const width = 2 * m
  // the inverse of M: [[-D, L^T], [L, theta S^T S]], L the products s_i y_j for i > j
  const inverse = new Float64Array(width * width)
  for (let i = 0; i < m; i++) {
    inverse[i * width + i] = -dot(pairs[i]!.s, pairs[i]!.y)
    for (let j = 0; j < m; j++) {
      inverse[(m + i) * width + m + j] = theta * dot(pairs[i]!.s, pairs[j]!.s)
      if (i > j) {
        const l = dot(pairs[i]!.s, pairs[j]!.y)
        inverse[(m + i) * width + j] = l
        inverse[j * width + m + i] = l
      }
    }
  }
  return {
    theta,
    width,
    down: (v) => Float64Array.from({ length: width }, (_, k) => (k < m ? dot(pairs[k]!.y, v) : theta * dot(pairs[k - m]!.s, v))),
    row: (i) => Float64Array.from({ length: width }, (_, k) => (k < m ? pairs[k]!.y[i]! : theta * pairs[k - m]!.s[i]!)),
    times: (v) => (width === 0 ? v : solveDense(Float64Array.from(inverse), v, width)),
  }
}

/** Where the path of the projected gradient has the first minimum of the model, and W^T of the way there. */
export interface Cauchy {
  readonly x: Float64Array
  readonly c: Float64Array
}
/** The generalised Cauchy point.   Source  Byrd, Lu, Nocedal and Zhu 1995, algorithm CP. */
export const cauchyPoint = (x: Float64Array, g: Float64Array, { lower, upper }: Box, model: Model): Cauchy => {
  const n = x.length
  const end = new Float64Array(n)
  const d = new Float64Array(n)
  const breaks: number[] = []
  for (let i = 0; i < n; i++) {
    const v = g[i]!
    end[i] = v < 0 ? (x[i]! - upper[i]!) / v : v > 0 ? (x[i]! - lower[i]!) / v : Number.POSITIVE_INFINITY
    if (end[i]! > 0) {
      d[i] = -v
      if (Number.isFinite(end[i]!)) breaks.push(i)
    }
  }
  breaks.sort((a, b) => end[a]! - end[b]!)
  const at = Float64Array.from(x)
  const p = model.down(d)
  const c = new Float64Array(model.width)
  const first = -dot(d, d)
  let slope = first
  let curvature = -model.theta * slope - dot(p, model.times(p))
  const least = 2 ** -52 * Math.max(curvature, Number.MIN_VALUE)
  let reach = -slope / curvature
  let t = 0
  let k = 0
  for (; k < breaks.length; k++) {
    const b = breaks[k]!
    const gap = end[b]! - t
    if (reach < gap) break
    t = end[b]!
    const gb = g[b]!
    at[b] = d[b]! > 0 ? upper[b]! : lower[b]!
    const z = at[b]! - x[b]!
    for (let j = 0; j < c.length; j++) c[j] = c[j]! + gap * p[j]!
    const w = model.row(b)
    const mw = model.times(w)
    slope += gap * curvature + gb * gb + model.theta * gb * z - gb * dot(mw, c)
    curvature -= model.theta * gb * gb + 2 * gb * dot(mw, p) + gb * gb * dot(w, mw)
    curvature = Math.max(curvature, least)
    for (let j = 0; j < p.length; j++) p[j] = p[j]! + gb * w[j]!
    d[b] = 0
    reach = -slope / curvature
  }
  reach = Math.max(0, Number.isFinite(reach) ? reach : 0)
  for (let i = 0; i < n; i++) if (d[i] !== 0) at[i] = Math.min(upper[i]!, Math.max(lower[i]!, x[i]! + (t + reach) * d[i]!))
  for (let j = 0; j < c.length; j++) c[j] = c[j]! + reach * p[j]!
  return { x: at, c }
}

/** The minimum of the model over the variables that are free at the Cauchy point, moved into the bounds.   Source  the direct primal method there; Morales and Nocedal 2011. */
export const subspaceMinimum = (x: Float64Array, g: Float64Array, { lower, upper }: Box, model: Model, cauchy: Cauchy): Float64Array => {
  const n = x.length
  const free: number[] = []
  for (let i = 0; i < n; i++) if (cauchy.x[i]! > lower[i]! && cauchy.x[i]! < upper[i]!) free.push(i)
  if (free.length === 0 || model.width === 0) return cauchy.x
  const { theta, width } = model
  const mc = model.times(cauchy.c)
  const rows = free.map((i) => model.row(i))
  const r = Float64Array.from(free, (i, k) => g[i]! + theta * (cauchy.x[i]! - x[i]!) - dot(rows[k]!, mc))
  const v = new Float64Array(width)
  const n2 = new Float64Array(width * width)
  rows.forEach((w, k) => {
    for (let a = 0; a < width; a++) {
      v[a] = v[a]! + w[a]! * r[k]!
      for (let b = 0; b < width; b++) n2[a * width + b] = n2[a * width + b]! + (w[a]! * w[b]!) / theta
    }
  })
  // (I - M N) u = M v
  const system = new Float64Array(width * width)
  for (let b = 0; b < width; b++) {
    const column = model.times(Float64Array.from({ length: width }, (_, a) => n2[a * width + b]!))
    for (let a = 0; a < width; a++) system[a * width + b] = (a === b ? 1 : 0) - column[a]!
  }
  const u = solveDense(system, model.times(v), width)
  const step = Float64Array.from(free, (_, k) => -r[k]! / theta - dot(rows[k]!, u) / theta ** 2)
  const to = Float64Array.from(cauchy.x)
  free.forEach((i, k) => {
    to[i] = Math.min(upper[i]!, Math.max(lower[i]!, to[i]! + step[k]!))
  })
  let slope = 0
  for (let i = 0; i < n; i++) slope += (to[i]! - x[i]!) * g[i]!
  if (slope < 0) return to
  // no descent: cut where the first free variable meets its bound
  let most = 1
  free.forEach((i, k) => {
    const s = step[k]!
    if (s > 0) most = Math.min(most, (upper[i]! - cauchy.x[i]!) / s)
    else if (s < 0) most = Math.min(most, (lower[i]! - cauchy.x[i]!) / s)
  })
  const cut = Float64Array.from(cauchy.x)
  free.forEach((i, k) => {
    cut[i] = cut[i]! + most * step[k]!
  })
  return cut
}
