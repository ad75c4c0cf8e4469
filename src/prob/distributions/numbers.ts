/** Constants, small formulae and keys that several distributions share. */
import { type AnyExpr, abs, add, div, exp, expm1, gt, log, log1p, mul, neg, square, sub, unstack, where } from '../../index.js'
import { type Key, splitKey } from '../../random/index.js'

/** Euler's constant. */
export const EULER = 0.5772156649015329
/** log(2 pi) / 2. */
export const HALF_LOG_2PI = 0.9189385332046728

/** Two independent keys of one. */
export const two = (key: unknown): readonly [Key & never, Key & never] => unstack(splitKey(key as never)) as never
/** log(1 + t^2), also where t^2 overflows. */
export const log1pSquare = (t: AnyExpr): AnyExpr => {
  const far = gt(abs(t), 1e8) as AnyExpr
  return where(far, mul(2, log(abs(where(far, t, 1)))), log1p(square(where(far, 1, t)))) as AnyExpr
}
/** log(1 - e^x) for x < 0.   Source  Maechler 2012. */
export const log1mexp = (x: AnyExpr): AnyExpr => {
  const near = gt(x, -Math.LN2) as AnyExpr
  return where(near, log(neg(expm1(where(near, x, -1)))), log1p(neg(exp(where(near, -1, x))))) as AnyExpr
}
/** (x - loc) / scale, and back. */
export const standard = (x: AnyExpr, loc: AnyExpr, scale: AnyExpr): AnyExpr => div(sub(x, loc), scale) as AnyExpr
export const placed = (z: AnyExpr, loc: AnyExpr, scale: AnyExpr): AnyExpr => add(loc, mul(scale, z)) as AnyExpr
