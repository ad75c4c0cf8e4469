/** Fourier transforms along an axis, of pairs of a real and an imaginary part, by the primitives of the family `fourier`. */
import { add, mul, sub } from '../../core/ops/arithmetic.js'
import { literal, part, table } from '../../core/ops/arrays.js'
import { broadcastTo } from '../../core/ops/layout/layout.js'
import type { AnyExpr } from '../../core/types/expr.js'
import { dft, realDft, realDftTransposed } from '../../families/fourier.js'
import { resized } from './fft-arguments.js'

/** Real and imaginary part; without the second it is real. */
export interface Parts {
  readonly re: AnyExpr
  readonly im?: AnyExpr | undefined
}
export interface Pair extends Parts {
  readonly im: AnyExpr
}
/** -1 for exp(-2 pi i j k / n), 1 for its conjugate. */
export type Sign = 1 | -1

/** The same of each part that is there. */
export const eachPart = ({ re, im }: Parts, f: (x: AnyExpr) => AnyExpr): Parts => ({ re: f(re), ...(im !== undefined && { im: f(im) }) })
const both = ({ re, im }: Pair, f: (x: AnyExpr) => AnyExpr): Pair => ({ re: f(re), im: f(im) })
export const times = (a: Pair, b: Pair): Pair => ({
  re: sub(mul(a.re, b.re), mul(a.im, b.im)),
  im: add(mul(a.re, b.im), mul(a.im, b.re)),
})
const zeros = ({ shape, dtype }: AnyExpr): AnyExpr => broadcastTo(literal(0, dtype), shape)
const scaled = (x: Pair, by: number): Pair => (by === 1 ? x : both(x, (v) => mul(v, by)))

/** The transform along an axis. Parts that change places, before and after, make it the conjugate one. */
export const along = ({ re, im = zeros(re) }: Parts, axis: number, sign: Sign, scale: number): Pair => {
  const [a, b] = sign === -1 ? dft(re, im, axis) : dft(im, re, axis)
  return scaled(sign === -1 ? { re: a, im: b } : { re: b, im: a }, scale)
}
/** The first half of the transform of a real array, and the one in the middle. */
export const halfAlong = (x: AnyExpr, axis: number, scale: number): Pair => {
  const n = x.shape[axis]!
  if (n % 2 === 1) return both(along({ re: x }, axis, -1, scale), (v) => part(v, axis, 0, (n + 1) / 2))
  const [re, im] = realDft(x, axis)
  return scaled({ re, im }, scale)
}
/** The real array of n elements whose half that is: but for the first one, and the middle, each stands for its conjugate too. */
export const realAlong = ({ re, im = zeros(re) }: Parts, axis: number, n: number, scale: number): AnyExpr => {
  const count = re.shape[axis]!
  const shape = re.shape.map((_, i) => (i === axis ? count : 1))
  const weights = table(
    Float64Array.from({ length: count }, (_, k) => (k === 0 || 2 * k === n ? scale : 2 * scale)),
    shape,
    re.dtype,
  )
  const x = both({ re, im }, (v) => mul(v, weights))
  return n % 2 === 0
    ? realDftTransposed(x.re, x.im, axis)
    : along(
        eachPart(x, (v) => resized(v, axis, n)),
        axis,
        1,
        1,
      ).re
}
