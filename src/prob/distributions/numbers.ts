/** Constants and small formulae that several distributions share. */
import { type AnyExpr, abs, exp, expm1, gt, log, log1p, mul, neg, square, where } from '../../index.js'

/** Euler's constant. */
export const EULER = 0.5772156649015329
/** log(2 pi) / 2. */
export const HALF_LOG_2PI = 0.9189385332046728

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
