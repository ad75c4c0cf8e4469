/** Krylov methods on vectors: what they need of a matrix is its product with one. */
import {
  type AnyExpr,
  abs,
  add,
  and,
  arange,
  cast,
  div,
  eq,
  full,
  gt,
  le,
  matmul,
  mod,
  mul,
  or,
  reshape,
  sub,
  where,
  zeros,
  zerosLike,
} from '../index.js'
import { iterate } from './iterate.js'
import { dot, norm } from './vectors.js'

/** How far, how long, and with what approximate inverse. */
export interface Krylov {
  /** The residual at which the loop stops. */
  readonly limit: AnyExpr
  readonly maxSteps: number
  readonly restart: number
  readonly precondition: (r: AnyExpr) => AnyExpr
}
/** Where a method stopped. */
export interface Stopped {
  readonly x: AnyExpr
  readonly steps: AnyExpr
}
/** A method: x with A x = b, from 0. */
export type Method = (A: (v: AnyExpr) => AnyExpr, b: AnyExpr, how: Krylov) => Stopped

const none = (): AnyExpr => full([], 0, 'i32') as AnyExpr
const yes = (): AnyExpr => cast(1, 'bool') as AnyExpr
const more = (x: AnyExpr, y: AnyExpr): AnyExpr => add(x, y) as AnyExpr
const less = (x: AnyExpr, y: AnyExpr): AnyExpr => sub(x, y) as AnyExpr
const times = (a: AnyExpr, x: AnyExpr): AnyExpr => mul(a, x) as AnyExpr
const unless = (bad: AnyExpr, x: AnyExpr, otherwise: AnyExpr | number = 0): AnyExpr => where(bad, otherwise, x) as AnyExpr
/** a / b, and 0 where b is 0. */
const ratio = (a: AnyExpr, b: AnyExpr): AnyExpr => unless(eq(b, 0) as AnyExpr, div(a, unless(eq(b, 0) as AnyExpr, b, 1)) as AnyExpr)

/** Conjugate gradients; it stops where p A p is not positive, as A is then not positive definite.   Source  Hestenes and Stiefel 1952. */
export const cg: Method = (A, b, { limit, maxSteps, precondition }) => {
  const z = precondition(b)
  const init = { x: zerosLike(b) as AnyExpr, r: b, p: z, rz: dot(b, z), alive: yes(), steps: none() }
  return iterate(
    ({ r, alive }) => and(gt(norm(r), limit), alive) as AnyExpr,
    ({ x, r, p, rz, steps }) => {
      const q = A(p)
      const curvature = dot(p, q)
      const alive = gt(curvature, 0) as AnyExpr
      const alpha = where(alive, ratio(rz, curvature), 0) as AnyExpr
      const next = less(r, times(alpha, q))
      const zNext = precondition(next)
      const rzNext = dot(next, zNext)
      return {
        x: more(x, times(alpha, p)),
        r: next,
        p: more(zNext, times(ratio(rzNext, rz), p)),
        rz: rzNext,
        alive,
        steps: add(steps, 1) as AnyExpr,
      }
    },
    init,
    maxSteps,
  )
}

/** Stabilised biconjugate gradients; begun again from where it is where rho or omega vanishes.   Source  van der Vorst 1992. */
export const bicgstab: Method = (A, b, { limit, maxSteps, precondition }) => {
  const init = { x: zerosLike(b) as AnyExpr, r: b, shadow: b, p: b, rho: dot(b, b), steps: none() }
  return iterate(
    ({ r }) => gt(norm(r), limit) as AnyExpr,
    ({ x, r, shadow, p, rho, steps }) => {
      const pHat = precondition(p)
      const v = A(pHat)
      const alpha = ratio(rho, dot(shadow, v))
      const s = less(r, times(alpha, v))
      const sHat = precondition(s)
      const t = A(sHat)
      const omega = ratio(dot(t, s), dot(t, t))
      const next = less(s, times(omega, t))
      const rhoNext = dot(shadow, next)
      const lost = or(eq(omega, 0), le(abs(rhoNext), mul(1e-12, mul(norm(shadow), norm(next))))) as AnyExpr
      const beta = times(ratio(rhoNext, rho), ratio(alpha, omega))
      return {
        x: more(x, more(times(alpha, pHat), times(omega, sHat))),
        r: next,
        shadow: unless(lost, shadow, next),
        p: unless(lost, more(next, times(beta, less(p, times(omega, v)))), next),
        rho: unless(lost, rhoNext, dot(next, next)),
        steps: add(steps, 1) as AnyExpr,
      }
    },
    init,
    maxSteps,
  )
}

/**
 * Generalised minimal residuals, begun again after `restart` steps: A P = V with orthonormal rows V, so that x and the residual are there at every
 * step. A direction is the residual while that shrinks, else the last of V, which never breaks down.   Source  Jiranek and Rozloznik 2010.
 */
export const gmres: Method = (A, b, { limit, maxSteps, restart, precondition }) => {
  const n = b.shape[0]!
  const rows = (): AnyExpr => cast(zeros([restart, n]), b.dtype) as AnyExpr
  const size = norm(b)
  const init = {
    x: zerosLike(b) as AnyExpr,
    r: b,
    size,
    before: size,
    v: zerosLike(b) as AnyExpr,
    V: rows(),
    P: rows(),
    alive: yes(),
    steps: none(),
  }
  return iterate(
    ({ size, alive }) => and(gt(size, limit), alive) as AnyExpr,
    (s) => {
      const j = mod(s.steps, restart) as AnyExpr
      const first = eq(j, 0) as AnyExpr
      const [V, P] = [unless(first, s.V), unless(first, s.P)]
      const u = where(or(first, le(s.size, mul(0.9, s.before))), ratio(s.r, s.size), s.v) as AnyExpr
      let p = precondition(u)
      let w = A(p)
      const before = norm(w)
      // Twice is enough: once leaves what rounding does.
      for (let pass = 0; pass < 2; pass++) {
        const h = matmul(V, w) as AnyExpr
        w = less(w, matmul(h, V) as AnyExpr)
        p = less(p, matmul(h, P) as AnyExpr)
      }
      const left = norm(w)
      const alive = gt(left, mul(b.dtype === 'f32' ? 1e-6 : 1e-14, before)) as AnyExpr
      const v = where(alive, ratio(w, left), 0) as AnyExpr
      const q = where(alive, ratio(p, left), 0) as AnyExpr
      const xi = dot(s.r, v)
      const r = less(s.r, times(xi, v))
      const here = eq(reshape(arange(restart, 'i32'), [restart, 1]), j) as AnyExpr
      return {
        x: more(s.x, times(xi, q)),
        r,
        size: norm(r),
        before: s.size,
        v,
        V: where(here, reshape(v, [1, n]), V) as AnyExpr,
        P: where(here, reshape(q, [1, n]), P) as AnyExpr,
        alive,
        steps: add(s.steps, 1) as AnyExpr,
      }
    },
    init,
    maxSteps,
  )
}

/** The methods by name. */
export const methods = { cg, gmres, bicgstab } as const
