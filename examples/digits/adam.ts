// Adam (Kingma and Ba 2015) as a pure function of trees: parameters, gradient and moments share one structure.
import { type AnyExpr, add, div, mul, sqrt, square, sub, treeZip } from '../../src/index.js'

/** What Adam keeps of the gradients: their running mean and the running mean of their squares. */
export interface Adam<P> {
  readonly params: P
  readonly m: P
  readonly v: P
}

/**
 * One step: m' = 0.9 m + 0.1 g, v' = 0.999 v + 0.001 g^2, p' = p - rate m' / (sqrt(v') + 1e-8).
 * The corrections of the first steps' bias are in `rate` (see `rateAt`).
 */
export const adam = <P>({ params, m, v }: Adam<P>, gradient: unknown, rate: AnyExpr): Adam<P> => {
  // treeZip keeps the structure of its first tree, and these functions the shape and dtype of its leaves: the result has its type.
  const zip = treeZip as unknown as (f: (...leaves: AnyExpr[]) => AnyExpr, first: P, ...rest: unknown[]) => P
  const m1 = zip((mi, g) => add(mul(0.9, mi!), mul(0.1, g!)), m, gradient)
  const v1 = zip((vi, g) => add(mul(0.999, vi!), mul(0.001, square(g!))), v, gradient)
  return { params: zip((p, mi, vi) => sub(p!, div(mul(rate, mi!), add(sqrt(vi!), 1e-8))), params, m1, v1), m: m1, v: v1 }
}

/** The rate of step t = 1, 2, ... of n: corrected for the moments' bias, and falling to 0 as a half cosine. */
export const rateAt = (t: number, n: number, rate: number): number =>
  (rate * 0.5 * (1 + Math.cos((Math.PI * (t - 1)) / n)) * Math.sqrt(1 - 0.999 ** t)) / (1 - 0.9 ** t)
