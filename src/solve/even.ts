/** Equal steps from each time to the next. */
import { type AnyExpr, add, all, concat, div, fori, full, isfinite, mul, reshape, scan, slice, stopGradient, sub } from '../index.js'
import type { Path } from './adaptive.js'
import { type Method, rk4, type Slope } from './runge-kutta.js'

/** Which steps, and how many. */
export interface Even {
  readonly method: Method | 'rk4'
  readonly substeps: number
}
const as = (x: unknown): AnyExpr => x as AnyExpr

/** The states at the times ts [T], from y at the first, in equal steps between them: [T, n]. */
export const even = (f: Slope, y0: AnyExpr, ts: AnyExpr, { method, substeps }: Even): Path => {
  const [count, n] = [ts.shape[0]!, y0.shape[0]!]
  const advance = (t: AnyExpr, y: AnyExpr, h: AnyExpr): AnyExpr => (method === 'rk4' ? rk4(f, t, y, h) : method(f, t, y, f(t, y), h).y)
  const interval = (y: AnyExpr, [from, to]: readonly [AnyExpr, AnyExpr]): readonly [AnyExpr, AnyExpr] => {
    const h = as(div(sub(to, from), substeps))
    const next = as(fori(substeps, ((k: AnyExpr, at: AnyExpr) => advance(as(add(from, mul(k, h))), at, h)) as never, y as never))
    return [next, next]
  }
  type Times = readonly [AnyExpr, AnyExpr]
  const loop = scan as unknown as (f: typeof interval, init: AnyExpr, xs: Times) => Times
  const [, rest] = loop(interval, y0, [as(slice(ts, [0], [count - 1])), as(slice(ts, [1], [count]))])
  const ys = as(concat([reshape(y0, [1, n]), rest]))
  const numbers = all(isfinite(ys))
  return {
    ys,
    steps: as(full([], (count - 1) * substeps, 'i32')),
    t: as(stopGradient(reshape(slice(ts, [count - 1], [count]), []))),
    done: as(numbers),
  }
}
