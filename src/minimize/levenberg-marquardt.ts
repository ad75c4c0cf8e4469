/** Levenberg-Marquardt in a trust region: each step is the least-squares solution whose scaled length is at most a radius. */
import { type Limits, norm, type Reason } from './result.js'

const EPS = 2 ** -52

/** A P = Q R by Householder reflections with column pivots: R above the diagonal of `a` (by rows), Q^T applied to `b`. */
export interface Factored {
  readonly rank: number
  readonly n: number
  /** R, n x n by rows. */
  readonly r: Float64Array
  /** The column of A that is column j of R. */
  readonly order: Int32Array
  /** The first n entries of Q^T b. */
  readonly qtb: Float64Array
}
/** Factors A, m x n by rows, and applies Q^T to b; both are overwritten. m may be less than n. */
export const factor = (a: Float64Array, b: Float64Array, m: number, n: number): Factored => {
  const order = Int32Array.from({ length: n }, (_, j) => j)
  const norms = columnNorms(a, m, n)
  const rows = Math.min(m, n)
  for (let k = 0; k < rows; k++) {
    let p = k
    for (let j = k + 1; j < n; j++) if (norms[j]! > norms[p]!) p = j
    if (p !== k) {
      for (let i = 0; i < m; i++) [a[i * n + k], a[i * n + p]] = [a[i * n + p]!, a[i * n + k]!]
      ;[norms[k], norms[p]] = [norms[p]!, norms[k]!]
      ;[order[k], order[p]] = [order[p]!, order[k]!]
    }
    let most = 0
    for (let i = k; i < m; i++) most = Math.max(most, Math.abs(a[i * n + k]!))
    if (most === 0) continue
    let total = 0
    for (let i = k; i < m; i++) total += (a[i * n + k]! / most) ** 2
    const length = (a[k * n + k]! > 0 ? -1 : 1) * most * Math.sqrt(total)
    // v = x - length e_1, and v^T x = -length (x_1 - length)... kept as v with v_1 = x_1 - length
    const v1 = a[k * n + k]! - length
    const scale = -1 / (length * v1)
    const reflect = (get: (i: number) => number, put: (i: number, v: number) => void): void => {
      let inner = v1 * get(k)
      for (let i = k + 1; i < m; i++) inner += a[i * n + k]! * get(i)
      inner *= scale
      put(k, get(k) - inner * v1)
      for (let i = k + 1; i < m; i++) put(i, get(i) - inner * a[i * n + k]!)
    }
    for (let j = k + 1; j < n; j++) {
      reflect(
        (i) => a[i * n + j]!,
        (i, v) => {
          a[i * n + j] = v
        },
      )
      // the norm of what is left of the column
      let rest = 0
      let largest = 0
      for (let i = k + 1; i < m; i++) largest = Math.max(largest, Math.abs(a[i * n + j]!))
      if (largest > 0) for (let i = k + 1; i < m; i++) rest += (a[i * n + j]! / largest) ** 2
      norms[j] = largest * Math.sqrt(rest)
    }
    reflect(
      (i) => b[i]!,
      (i, v) => {
        b[i] = v
      },
    )
    a[k * n + k] = length
  }
  const r = new Float64Array(n * n)
  for (let i = 0; i < rows; i++) for (let j = i; j < n; j++) r[i * n + j] = a[i * n + j]!
  const qtb = new Float64Array(n)
  qtb.set(b.subarray(0, rows))
  let rank = 0
  while (rank < rows && Math.abs(r[rank * n + rank]!) > Math.max(m, n) * EPS * Math.abs(r[0]!)) rank++
  return { rank, n, r, order, qtb }
}

/** The p that minimises |J p + f|^2 + par |D p|^2, and S^T S = R^T R + par D^2: R with D^2 rotated into it. `d` is by columns of J. */
const damped = ({ r, order, qtb, n }: Factored, d: Float64Array, par: number): { readonly p: Float64Array; readonly s: Float64Array } => {
  const s = Float64Array.from(r)
  const rhs = qtb.map((v) => -v)
  const root = Math.sqrt(par)
  const row = new Float64Array(n)
  for (let j = 0; j < n; j++) {
    row.fill(0)
    row[j] = root * d[order[j]!]!
    let last = 0
    for (let k = j; k < n; k++) {
      if (row[k] === 0) continue
      const length = Math.hypot(s[k * n + k]!, row[k]!)
      const [c, t] = [s[k * n + k]! / length, row[k]! / length]
      for (let i = k; i < n; i++) {
        const [u, v] = [s[k * n + i]!, row[i]!]
        s[k * n + i] = c * u + t * v
        row[i] = c * v - t * u
      }
      const [u, v] = [rhs[k]!, last]
      rhs[k] = c * u + t * v
      last = c * v - t * u
    }
  }
  return { p: unpermuted(backSolve(s, rhs, n, n), order), s }
}
/** R x = b for the leading rows and columns; 0 beyond. */
const backSolve = (r: Float64Array, b: Float64Array, rank: number, n: number): Float64Array => {
  const x = new Float64Array(n)
  for (let i = rank - 1; i >= 0; i--) {
    let v = b[i]!
    for (let j = i + 1; j < rank; j++) v -= r[i * n + j]! * x[j]!
    x[i] = r[i * n + i] === 0 ? 0 : v / r[i * n + i]!
  }
  return x
}
/** R^T x = b. */
const forwardSolve = (r: Float64Array, b: Float64Array, rank: number, n: number): Float64Array => {
  const x = new Float64Array(n)
  for (let i = 0; i < rank; i++) {
    let v = b[i]!
    for (let j = 0; j < i; j++) v -= r[j * n + i]! * x[j]!
    x[i] = v / r[i * n + i]!
  }
  return x
}
const unpermuted = (x: Float64Array, order: Int32Array): Float64Array => {
  const y = new Float64Array(x.length)
  order.forEach((column, j) => {
    y[column] = x[j]!
  })
  return y
}
const permuted = (x: Float64Array, order: Int32Array): Float64Array => Float64Array.from(order, (column) => x[column]!)
const scaled = (d: Float64Array, p: Float64Array): Float64Array => p.map((v, i) => v * d[i]!)

/** A step whose scaled length is within a tenth of the radius, or shorter where the least-squares solution is, and its damping.   Source  Moré 1978. */
export const stepWithin = (
  of: Factored,
  d: Float64Array,
  radius: number,
  before: number,
): { readonly p: Float64Array; readonly par: number } => {
  const { n, r, rank, order, qtb } = of
  const whole = unpermuted(
    backSolve(
      r,
      qtb.map((v) => -v),
      rank,
      n,
    ),
    order,
  )
  const length = norm(scaled(d, whole))
  const over = length - radius
  if (over <= 0.1 * radius) return { p: whole, par: 0 }
  // between these lies the damping whose step has the length of the radius
  let low = 0
  if (rank === n) {
    const direction = scaled(d, scaled(d, whole)).map((v) => v / length)
    const w = norm(forwardSolve(r, permuted(direction, order), n, n))
    low = over / radius / w / w
  }
  const gradient = new Float64Array(n)
  for (let j = 0; j < n; j++) {
    let v = 0
    for (let i = 0; i <= j; i++) v += r[i * n + j]! * qtb[i]!
    gradient[j] = v / d[order[j]!]!
  }
  const size = norm(gradient)
  let high = size / radius
  if (high === 0) high = Number.MIN_VALUE / Math.min(radius, 0.1)
  let par = Math.min(high, Math.max(low, before))
  if (par === 0) par = size / length
  let p = whole
  for (let k = 0; k < 10; k++) {
    if (par === 0) par = Math.max(2 ** -1022, 0.001 * high)
    const at = damped(of, d, par)
    p = at.p
    const dp = scaled(d, p)
    const long = norm(dp)
    const miss = long - radius
    if (Math.abs(miss) <= 0.1 * radius) break
    const direction = scaled(d, dp).map((v) => v / long)
    const w = norm(forwardSolve(at.s, permuted(direction, order), n, n))
    if (miss > 0) low = Math.max(low, par)
    else high = Math.min(high, par)
    par = Math.max(low, par + miss / radius / w / w)
  }
  return { p, par }
}

/** Residuals at a point, and their Jacobian by rows; `cost` is half of the sum of squares (or of a robust loss of them), to which both are scaled. */
export interface Linearised {
  readonly residuals: Float64Array
  readonly jacobian: Float64Array
}
/** What is minimised: half a sum of squares. */
export interface SquaresProblem {
  readonly m: number
  readonly n: number
  /** Residuals alone; they may be written over later. */
  readonly residuals: (x: Float64Array) => Float64Array
  readonly linearised: (x: Float64Array) => Linearised
  readonly cost: (residuals: Float64Array) => number
  /** Residuals and Jacobian whose half sum of squares has the gradient and nearly the Hessian of a robust loss; as they are where there is none. */
  readonly weighed: (at: Linearised) => Linearised
  /** Each row by the square root of the slope of the loss: what `gradient` and covariances are measured with. */
  readonly reweighed: (at: Linearised) => Linearised
}
/** Where the search ended. */
export interface SquaresEnded {
  readonly x: Float64Array
  readonly value: number
  /** The greatest cosine between the residuals and a column of the Jacobian. */
  readonly gradient: number
  readonly steps: number
  readonly reason: Reason
  readonly history: readonly number[]
  readonly residuals: Float64Array
  readonly jacobian: Float64Array
  readonly accepted: number
}

/** The norms of the columns of a matrix by rows, without overflow. */
const columnNorms = (a: Float64Array, m: number, n: number): Float64Array => {
  const norms = new Float64Array(n)
  for (let j = 0; j < n; j++) {
    let [most, total] = [0, 0]
    for (let i = 0; i < m; i++) most = Math.max(most, Math.abs(a[i * n + j]!))
    if (most > 0) for (let i = 0; i < m; i++) total += (a[i * n + j]! / most) ** 2
    norms[j] = most * Math.sqrt(total)
  }
  return norms
}
/** The greatest cosine between the residuals and a column of the Jacobian. */
const greatestCosine = ({ residuals, jacobian }: Linearised, m: number, n: number): number => {
  const columns = columnNorms(jacobian, m, n)
  const length = norm(residuals)
  let most = 0
  if (length > 0)
    for (let j = 0; j < n; j++) {
      if (columns[j] === 0) continue
      let v = 0
      for (let i = 0; i < m; i++) v += jacobian[i * n + j]! * (residuals[i]! / length)
      most = Math.max(most, Math.abs(v / columns[j]!))
    }
  return most
}

/** Minimises half a sum of squares.   Source  Moré 1978. */
export const levenbergMarquardtMethod = (
  { m, n, residuals, linearised, cost, weighed, reweighed }: SquaresProblem,
  x0: Float64Array,
  { tolerance, maxSteps, onStep }: Limits,
): SquaresEnded => {
  let x: Float64Array = Float64Array.from(x0)
  let at = linearised(x)
  let value = cost(at.residuals)
  const history = [value]
  const d = new Float64Array(n)
  let [steps, accepted, par, radius, size] = [0, 0, 0, 0, 0]
  const ended = (reason: Reason): SquaresEnded => ({
    x,
    value,
    gradient: size,
    steps,
    reason,
    history,
    residuals: at.residuals,
    jacobian: at.jacobian,
    accepted,
  })
  for (;;) {
    const w = weighed(at)
    const columns = columnNorms(w.jacobian, m, n)
    const first = steps === 0
    for (let j = 0; j < n; j++) d[j] = first ? columns[j] || 1 : Math.max(d[j]!, columns[j]!)
    if (first) radius = norm(scaled(d, x)) || 1
    size = greatestCosine(reweighed(at), m, n)
    if (size <= tolerance) return ended('gradient')
    const factored = factor(Float64Array.from(w.jacobian), Float64Array.from(w.residuals), m, n)
    let moved = false
    while (!moved) {
      if (steps >= maxSteps) return ended('maxSteps')
      const step = stepWithin(factored, d, radius, par)
      par = step.par
      const length = norm(scaled(d, step.p))
      if (first && accepted === 0) radius = Math.min(radius, length)
      const there = x.map((v, j) => v + step.p[j]!)
      const next = residuals(there)
      const lower = cost(next)
      // what the linear model says: |J p + f|^2 / 2 is lower by |J p|^2 / 2 + par |D p|^2
      let jp = 0
      for (let i = 0; i < m; i++) {
        let v = 0
        for (let j = 0; j < n; j++) v += w.jacobian[i * n + j]! * step.p[j]!
        jp += v * v
      }
      const promised = 0.5 * jp + par * length * length
      const gained = value - lower
      const share = promised > 0 && Number.isFinite(lower) ? gained / promised : 0
      if (!(share > 0.25)) {
        const slope = -(jp + par * length * length)
        const raw = gained >= 0 && Number.isFinite(lower) ? 0.5 : (0.5 * slope) / (slope + (Number.isFinite(lower) ? gained : 0))
        const by = Number.isFinite(lower) && Number.isFinite(raw) ? Math.max(0.1, Math.min(0.5, raw)) : 0.1
        radius = by * Math.min(radius, length / 0.1)
        par /= by
      } else if (par === 0 || share >= 0.75) {
        radius = length / 0.5
        par *= 0.5
      }
      steps++
      if (share >= 1e-4) {
        const reached = linearised(there)
        moved = reached.jacobian.every(Number.isFinite)
        if (moved) {
          x = there
          at = reached
          value = cost(at.residuals)
          accepted++
        } else radius = 0.1 * length
      }
      history.push(value)
      if (!onStep(steps, value, size, x)) return ended('stopped')
      const xnorm = norm(scaled(d, x))
      // neither the value nor the parameters change by more than rounding
      if (Math.abs(gained) <= EPS * value && promised <= EPS * value && share <= 2) return ended('rounding')
      if (radius <= EPS * xnorm) return ended('rounding')
    }
  }
}
