/** The derivative of a differential equation by an equation of its own, so that no step is kept. */
import {
  type AnyExpr,
  add,
  and,
  cast,
  concat,
  customRule,
  jvp,
  mul,
  NoTangent,
  ravel,
  reshape,
  scan,
  slice,
  stopGradient,
  sub,
  sum,
  treeLeaves,
  vjp,
  vmap,
  ZeroTangent,
  zeros,
} from '../index.js'
import type { Path } from './adaptive.js'
import { floatsOf, minus, onlyIf } from './vectors.js'

/** dy/dt at a time and a state, with parameters. */
export type Field = (t: AnyExpr, y: AnyExpr, params: unknown) => AnyExpr
/** The states at the times, from the first. */
export type Integrate = (f: Field, y0: AnyExpr, ts: AnyExpr, params: unknown) => Path

const as = (x: unknown): AnyExpr => x as AnyExpr
const part = (x: AnyExpr, from: number, to: number): AnyExpr => as(slice(x, [from], [to]))
const joined = (xs: readonly AnyExpr[]): AnyExpr => as(concat(xs as never))
/** f at every time of a path. */
const along = (f: Field, ts: AnyExpr, ys: AnyExpr, params: unknown): AnyExpr =>
  (vmap(((t: AnyExpr, y: AnyExpr) => f(t, y, params)) as never) as unknown as (t: AnyExpr, y: AnyExpr) => AnyExpr)(ts, ys)
const isFloat = (x: AnyExpr): boolean => x.dtype === 'f64' || x.dtype === 'f32'

/** A field of the state (y, dy), its tangent beside it; the parameters are (params, dparams). */
const beside =
  (f: Field, n: number): Field =>
  (t, z, both) => {
    const [params, dparams] = both as readonly [unknown, unknown]
    const [y, dy] = [part(z, 0, n), part(z, n, 2 * n)]
    const some = (treeLeaves(params) as readonly AnyExpr[]).some(isFloat)
    const g = some ? (x: AnyExpr, p: unknown) => f(t, x, p) : (x: AnyExpr) => f(t, x, params)
    const pushed = jvp(g as never) as unknown as (x: unknown, dx: unknown) => readonly [AnyExpr, AnyExpr]
    const [k, dk] = some ? pushed([y, params], [dy, dparams]) : pushed(y, dy)
    return joined([k, dk])
  }
/** A field of the state (y, a, params' cotangent) against time: da = -a f_y, dpBar = -a f_p. */
const against =
  (f: Field, n: number): Field =>
  (t, z, params) => {
    const [y, a] = [part(z, 0, n), part(z, n, 2 * n)]
    const some = (treeLeaves(params) as readonly AnyExpr[]).some(isFloat)
    const g = some ? (x: AnyExpr, p: unknown) => f(t, x, p) : (x: AnyExpr) => f(t, x, params)
    const pulled = vjp(g as never) as unknown as (x: unknown, a: AnyExpr) => readonly [AnyExpr, unknown]
    const [k, back] = pulled(some ? [y, params] : y, a)
    if (!some) return joined([k, minus(as(back))])
    const [aBar, pBar] = back as readonly [AnyExpr, unknown]
    return joined([k, minus(aBar), minus(as(cast((ravel(pBar as never) as unknown as readonly [AnyExpr])[0], z.dtype)))])
  }

/** dy_i = w_i + f(t_i, y_i) dt_i, where (y, w) follows its equation from dy_0 - f(t_0, y_0) dt_0. */
const tangents = (
  integrate: Integrate,
  f: Field,
  primals: readonly unknown[],
  dprimals: readonly unknown[],
  { ys, done }: Path,
): AnyExpr => {
  const [y0, ts, params] = primals as readonly [AnyExpr, AnyExpr, unknown]
  const [dy0, dts, dparams] = dprimals as readonly [AnyExpr, AnyExpr, unknown]
  const [count, n] = [ts.shape[0]!, y0.shape[0]!]
  const moved = as(mul(along(f, ts, ys, params), reshape(dts, [count, 1])))
  const w0 = as(sub(dy0, reshape(slice(moved, [0, 0], [1, n]), [n])))
  const path = integrate(beside(f, n), joined([y0, w0]), ts, [params, dparams])
  return onlyIf(as(and(done, path.done)), as(add(slice(path.ys, [0, n], [count, 2 * n]), moved)))
}

/** The cotangents of y0, ts and params: a jumps by yBar_i at each time, and follows its equation from the last to the first. */
const cotangents = (
  integrate: Integrate,
  f: Field,
  primals: readonly unknown[],
  { ys, done: arrived }: Path,
  ysBar: AnyExpr,
): readonly unknown[] => {
  const [y0, ts, params] = primals as readonly [AnyExpr, AnyExpr, unknown]
  const [count, n] = [ts.shape[0]!, y0.shape[0]!]
  const floats = floatsOf(params)
  const [flat, unravel] = ravel(floats as never) as unknown as readonly [AnyExpr, (v: AnyExpr) => unknown]
  const size = flat.shape[0]!
  const field = against(f, n)
  type Carry = readonly [a: AnyExpr, pBar: AnyExpr, done: AnyExpr]
  type At = readonly [to: AnyExpr, from: AnyExpr, y: AnyExpr, yBar: AnyExpr]
  const interval = ([a, pBar, done]: Carry, [to, from, y, yBar]: At): readonly [Carry, null] => {
    const path = integrate(field, joined([y, as(add(a, yBar)), pBar]), joined([reshape(from, [1]), reshape(to, [1])] as never), params)
    const end = as(reshape(slice(path.ys, [1, 0], [2, 2 * n + size]), [2 * n + size]))
    return [[part(end, n, 2 * n), part(end, 2 * n, 2 * n + size), as(and(done, path.done))], null]
  }
  const rows = (x: AnyExpr): AnyExpr => as(slice(x, [1, 0], [count, n]))
  const zero = (k: number): AnyExpr => as(cast(zeros([k]), y0.dtype))
  const loop = scan as unknown as (
    f: typeof interval,
    init: Carry,
    xs: At,
    options: { readonly reverse: boolean },
  ) => readonly [Carry, null]
  const begin: Carry = [zero(n), zero(size), arrived]
  const each: At = [as(slice(ts, [0], [count - 1])), as(slice(ts, [1], [count])), rows(ys), rows(ysBar)]
  const [[a, pBar, done]] = loop(interval, begin, each, { reverse: true })
  const a0 = as(add(a, reshape(slice(ysBar, [0, 0], [1, n]), [n])))
  const slopes = along(f, ts, ys, params)
  const direct = as(sum(mul(ysBar, slopes), { axis: 1 }))
  const first = sum(mul(a0, reshape(slice(slopes, [0, 0], [1, n]), [n])))
  const tsBar = sub(direct, concat([reshape(first, [1]), zero(count - 1)]))
  return [onlyIf(done, a0), onlyIf(done, as(tsBar)), size === 0 ? floats : unravel(onlyIf(done, pBar))]
}

/** An integrator whose derivative is that of the equation, in both directions, solved by the same integrator; of any order. */
export const withAdjoint = (steps: Integrate): Integrate => {
  const integrate: Integrate = (f, y0, ts, params) => {
    type Rule = (y: AnyExpr, t: AnyExpr, p: unknown) => Path
    const rest = { steps: NoTangent, t: ZeroTangent, done: NoTangent }
    const rule: Rule = customRule(((y: AnyExpr, t: AnyExpr, p: unknown) => steps(f, y, t, p)) as never, {
      name: 'odeint',
      frule: ((primals: readonly [AnyExpr, AnyExpr, unknown], dprimals: readonly unknown[]) => {
        const path = rule(...primals)
        return [path, { ys: tangents(integrate, f, primals, dprimals, path), ...rest }]
      }) as never,
      rrule: ((primals: readonly [AnyExpr, AnyExpr, unknown]) => {
        const path = rule(...primals)
        return [path, ({ ys: ysBar }: Path) => cotangents(integrate, f, primals, path, ysBar)]
      }) as never,
    }) as never
    const path = rule(y0, ts, params)
    return { ...path, t: as(stopGradient(path.t)) }
  }
  return integrate
}
