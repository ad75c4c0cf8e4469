/** Convex quadratic programs by a dual method: from the minimum without constraints, one violated constraint after the other becomes active (Goldfarb and Idnani 1983). */
import { solveLower, solveUpper } from './cholesky.js'
import { axpy, dot, norm } from './result.js'

/** Minimise |L^T d|^2 / 2 + g d, where the first `equations` of a d = b, the others a d >= b, and lower <= d <= upper. */
export interface QuadraticProgram {
  /** The lower Cholesky factor of the quadratic form, by rows. */
  readonly factor: Float64Array
  readonly gradient: Float64Array
  /** The vectors a. */
  readonly normals: readonly Float64Array[]
  readonly offsets: Float64Array
  readonly equations: number
  readonly lower: Float64Array
  readonly upper: Float64Array
  /** By how much a row may be missed that follows from others, so that rounding does not make it contradict them: 0 unless given. */
  readonly slop?: number
}
/** The minimum and a multiplier for each row of a: L L^T d + g = sum(u a) + what bounds add, u >= 0 for inequalities. */
export interface QuadraticMinimum {
  readonly d: Float64Array
  readonly multipliers: Float64Array
}

/** A vector that is this much shorter without its part along others depends on them. */
const DEPENDENT = 1e-11

/** Independent vectors as Q R, columns in order: by Gram and Schmidt, twice (Daniel and others 1976). */
class Columns {
  readonly basis: Float64Array[] = []
  readonly upper: Float64Array[] = []
  private readonly vectors: Float64Array[] = []

  /** The part of v that is orthogonal to all columns, and the coefficients of the rest in them. */
  split(v: Float64Array): { readonly rest: Float64Array; readonly along: Float64Array } {
    const rest = Float64Array.from(v)
    const along = new Float64Array(this.basis.length)
    for (let round = 0; round < 2; round++)
      this.basis.forEach((q, k) => {
        const c = dot(q, rest)
        along[k] = along[k]! + c
        axpy(-c, q, rest)
      })
    return { rest, along }
  }
  /** The x with R x = c. */
  coefficients(c: Float64Array): Float64Array {
    const x = Float64Array.from(c)
    for (let k = x.length - 1; k >= 0; k--) {
      x[k] = x[k]! / this.upper[k]![k]!
      for (let i = 0; i < k; i++) x[i] = x[i]! - x[k]! * this.upper[k]![i]!
    }
    return x
  }
  add(v: Float64Array, { rest, along } = this.split(v)): void {
    const size = norm(rest)
    this.vectors.push(v)
    this.basis.push(rest.map((x) => x / size))
    this.upper.push(Float64Array.of(...along, size))
  }
  remove(k: number): void {
    const after = this.vectors.splice(k).slice(1)
    this.basis.length = this.upper.length = k
    for (const v of after) this.add(v)
  }
}

/** The minimum; undefined if no d meets the constraints. */
export const solveQuadratic = ({
  factor,
  gradient,
  normals,
  offsets,
  equations,
  lower,
  upper,
  slop: given = 0,
}: QuadraticProgram): QuadraticMinimum | undefined => {
  const n = gradient.length
  // Rows, then lower bounds, then upper ones; a bound's normal is a unit vector, or the negative of one.
  const rows = normals.length
  const count = rows + 2 * n
  const sign = (i: number): number => (i < rows + n ? 1 : -1)
  const slack = (i: number, d: Float64Array): number => {
    if (i < rows) return dot(normals[i]!, d) - offsets[i]!
    const k = (i - rows) % n
    return i < rows + n ? d[k]! - lower[k]! : upper[k]! - d[k]!
  }
  const sizes = normals.map(norm)
  const scaled = new Map<number, Float64Array>()
  /** L^-1 a: with y = L^T d the quadratic form is |y|^2 / 2. */
  const normal = (i: number): Float64Array => {
    const known = scaled.get(i)
    if (known !== undefined) return known
    let a = normals[i]
    if (a === undefined) {
      a = new Float64Array(n)
      a[(i - rows) % n] = sign(i)
    }
    const made = solveLower(factor, a)
    scaled.set(i, made)
    return made
  }
  let y = solveLower(factor, gradient).map((v) => -v)
  let columns = new Columns()
  let active: number[] = []
  let u: number[] = []
  /** Inequalities that follow from active ones, up to `slop`. */
  const idle = new Set<number>()
  /** What counts as met, for rounding. */
  const slop = (i: number, d: Float64Array, long: number): number =>
    i < rows ? 1e-13 * (sizes[i]! * long + Math.abs(offsets[i]!)) : 1e-13 * (Math.abs(d[(i - rows) % n]!) + 1e-300)

  for (let i = 0; i < equations; i++) {
    const a = normal(i)
    const d = solveUpper(factor, y)
    const s = slack(i, d)
    const { rest, along } = columns.split(a)
    const square = dot(rest, rest)
    if (!(Math.sqrt(square) > DEPENDENT * norm(a))) {
      // An equation that follows from others adds nothing; one that contradicts them cannot be met.
      if (Math.abs(s) > given + 1e-9 * (sizes[i]! * norm(d) + Math.abs(offsets[i]!))) return undefined
      continue
    }
    const t = -s / square
    const r = columns.coefficients(along)
    axpy(t, rest, y)
    for (let k = 0; k < u.length; k++) u[k] = u[k]! - t * r[k]!
    columns.add(a, { rest, along })
    active.push(i)
    u.push(t)
  }
  let d = solveUpper(factor, y)
  for (let left = 20 * count + 100; left > 0; left--) {
    const long = norm(d)
    let [p, worst] = [-1, 0]
    for (let i = equations; i < count; i++) {
      const s = slack(i, d)
      if (s >= -slop(i, d, long) || active.includes(i) || idle.has(i)) continue
      const by = i < rows ? s / (sizes[i]! || 1) : s
      if (p < 0 || by < worst) [p, worst] = [i, by]
    }
    if (p < 0) {
      const multipliers = new Float64Array(rows)
      active.forEach((i, k) => {
        if (i < rows) multipliers[i] = u[k]!
      })
      return { d, multipliers }
    }
    const a = normal(p)
    let own = 0
    const before = { y: Float64Array.from(y), active: [...active], u: [...u] }
    for (;;) {
      const parts = columns.split(a)
      const { rest, along } = parts
      const r = columns.coefficients(along)
      const square = dot(rest, rest)
      const moves = Math.sqrt(square) > DEPENDENT * norm(a)
      const full = moves ? -slack(p, d) / square : Number.POSITIVE_INFINITY
      let [t, drop] = [full, -1]
      for (let k = 0; k < active.length; k++)
        if (active[k]! >= equations && r[k]! > 0 && u[k]! / r[k]! < t) [t, drop] = [Math.max(0, u[k]! / r[k]!), k]
      if (t === Number.POSITIVE_INFINITY && slack(p, d) >= -given) {
        idle.add(p)
        ;({ y, active, u } = before)
        d = solveUpper(factor, y)
        columns = new Columns()
        for (const i of active) columns.add(normal(i))
        break
      }
      // NaN too.
      if (!(t < Number.POSITIVE_INFINITY)) return undefined
      if (moves) {
        axpy(t, rest, y)
        d = solveUpper(factor, y)
      }
      for (let k = 0; k < u.length; k++) u[k] = u[k]! - t * r[k]!
      own += t
      if (drop < 0) {
        columns.add(a, parts)
        active.push(p)
        u.push(own)
        break
      }
      columns.remove(drop)
      active.splice(drop, 1)
      u.splice(drop, 1)
    }
  }
  return undefined
}
