/**
 * The WebGPU facet of Fourier transforms: as compositions, n = n1 n2 by products with the small matrices of n1 and n2 and
 * twiddle factors (Cooley and Tukey 1965), a prime above 64 as a convolution (Bluestein 1970). Constants are reduced exactly.
 */

import type { Expansion } from '../../core/graph/expand.js'
import { add, mul, sub } from '../../core/ops/arithmetic.js'
import { part, table } from '../../core/ops/arrays.js'
import { matmul } from '../../core/ops/contract.js'
import type { fourier } from '../../core/ops/families.js'
import type { FourierParams } from '../../core/ops/fourier.js'
import { chirpOf, rootOfUnity } from '../../core/ops/fourier-loops.js'
import { concat } from '../../core/ops/joins.js'
import { pad, reshape, transpose } from '../../core/ops/layout/layout.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { WebGpuTable } from './kernel.js'

interface Parts {
  readonly re: AnyExpr
  readonly im?: AnyExpr
}
interface Pair extends Parts {
  readonly im: AnyExpr
}
/** -1 for exp(-2 pi i j k / n), 1 for its conjugate. */
type Sign = 1 | -1
/** The largest matrix; longer transforms are cut. */
const LARGEST = 64

/** The real matrix of a complex one, [[c, s], [-s, c]] for rows [re, im]; of real arguments the first of them alone. */
const dftMatrix = (n: number, sign: Sign, { re, im }: Parts): AnyExpr => {
  const parts = im === undefined ? 1 : 2
  const m = new Float64Array(parts * n * 2 * n)
  for (let j = 0; j < n; j++)
    for (let k = 0; k < n; k++) {
      const [c, s] = rootOfUnity(sign * j * k, n)
      m[j * 2 * n + k] = c
      m[j * 2 * n + n + k] = s
      if (parts === 1) continue
      m[(n + j) * 2 * n + k] = -s
      m[(n + j) * 2 * n + n + k] = c
    }
  return table(m, [parts * n, 2 * n], re.dtype)
}
/** exp(2 pi i k / n) for the k of each place. */
const units = (size: number, k: (i: number) => number, n: number): readonly [cos: Float64Array, sin: Float64Array] => {
  const [c, s] = [new Float64Array(size), new Float64Array(size)]
  for (let i = 0; i < size; i++) [c[i], s[i]] = rootOfUnity(k(i), n) as [number, number]
  return [c, s]
}
const pairOf = ([re, im]: readonly [Float64Array, Float64Array], shape: readonly number[], { re: { dtype } }: Parts): Pair => ({
  re: table(re, shape, dtype),
  im: table(im, shape, dtype),
})
/** The same of each part that is there. */
const eachPart = ({ re, im }: Parts, f: (x: AnyExpr) => AnyExpr): Parts => ({ re: f(re), ...(im !== undefined && { im: f(im) }) })
const both = ({ re, im }: Pair, f: (x: AnyExpr) => AnyExpr): Pair => ({ re: f(re), im: f(im) })

/** The divisor of n by which it is cut: at most 64, near the root where that leaves another such. */
const cut = (n: number): number => {
  let best = 1
  for (let d = 2; d <= Math.min(LARGEST, n - 1); d++) {
    if (n % d !== 0) continue
    const whole = n / d <= LARGEST
    const known = best > 1 && n / best <= LARGEST
    if (whole ? !known || Math.abs(Math.log((d * d) / n)) < Math.abs(Math.log((best * best) / n)) : !known) best = d
  }
  return best
}

/** Both parts along axis 1, or the real one alone. */
const beside = ({ re, im }: Parts): AnyExpr => (im === undefined ? re : concat([re, im], { axis: 1 }))
/** Transforms of the rows of [rows, n]. */
const dft = (x: Parts, rows: number, n: number, sign: Sign): Pair => {
  if (n === 1) return { re: x.re, im: x.im ?? mul(x.re, 0) }
  if (n <= LARGEST) {
    const y = matmul(beside(x), dftMatrix(n, sign, x))
    return { re: part(y, 1, 0, n), im: part(y, 1, n, n) }
  }
  const n1 = cut(n)
  return n1 === 1 ? bluestein(x, rows, n, sign) : cooleyTukey(x, rows, n1, n / n1, sign)
}
const cooleyTukey = (x: Parts, rows: number, n1: number, n2: number, sign: Sign): Pair => {
  const n = n1 * n2
  const left = transpose(dftMatrix(n1, sign, x))
  const y = matmul(left, beside(eachPart(x, (v) => reshape(v, [rows, n1, n2]))))
  const twiddles = pairOf(
    units(n, (i) => sign * (i % n2) * Math.floor(i / n2), n),
    [n1, n2],
    x,
  )
  const turned = times({ re: part(y, 1, 0, n1), im: part(y, 1, n1, n1) }, twiddles)
  const last = dft(
    both(turned, (v) => reshape(v, [rows * n1, n2])),
    rows * n1,
    n2,
    sign,
  )
  return both(last, (v) => reshape(transpose(reshape(v, [rows, n1, n2])), [rows, n]))
}
const times = (a: Pair, b: Pair): Pair => ({
  re: sub(mul(a.re, b.re), mul(a.im, b.im)),
  im: add(mul(a.re, b.im), mul(a.im, b.re)),
})
/** X_k = w_k (x w * conj w)_k with w_k = exp(sign pi i k^2 / n): a convolution, at the length of a power of 2. */
const bluestein = (x: Parts, rows: number, n: number, sign: Sign): Pair => {
  const m = 2 ** Math.ceil(Math.log2(2 * n - 1))
  const { own, over } = chirpOf(n, m)
  const conjugate = ([re, im]: typeof own): typeof own => (sign === -1 ? [re, im] : [re, im.map((v) => -v)])
  const w = pairOf(conjugate(own), [n], x)
  const turned = x.im === undefined ? both(w, (v) => mul(x.re, v)) : times({ re: x.re, im: x.im }, w)
  const padded = both(turned, (v) => pad(v, [0, [0, m - n]]))
  const product = times(dft(padded, rows, m, -1), pairOf(conjugate(over), [m], x))
  const y = both(dft(product, rows, m, 1), (v) => part(v, 1, 0, n))
  return times(y, w)
}
/** The transform along an axis of any array. */
const along = (x: Parts, axis: number, sign: Sign): Pair => {
  const { shape } = x.re
  const n = shape[axis]!
  const last = shape.length - 1
  const order = [...shape.keys()].filter((i) => i !== axis)
  const moved = [...order.map((i) => shape[i]!), n]
  const rows = moved.slice(0, -1).reduce((a, b) => a * b, 1)
  const flat = (v: AnyExpr): AnyExpr => reshape(axis === last ? v : transpose(v, [...order, axis]), [rows, n])
  const y = dft(eachPart(x, flat), rows, n, sign)
  const back = [...order, axis].map((_, i) => (i < axis ? i : i === axis ? last : i - 1))
  return both(y, (v) => {
    const whole = reshape(v, moved)
    return axis === last ? whole : transpose(whole, back)
  })
}
const axisOf = (params: unknown): number => (params as FourierParams).axis
const listed = ({ re, im }: Pair): readonly AnyExpr[] => [re, im]
const composed = (f: Expansion): { readonly kind: 'lower'; readonly f: Expansion } => ({ kind: 'lower', f })

/** One row per primitive of the family `fourier`. */
export const fourierKernels: WebGpuTable<typeof fourier> = {
  dft: composed(([re, im], params) => listed(along({ re: re!, im: im! }, axisOf(params), -1))),
  realDft: composed(([x], params) => {
    const axis = axisOf(params)
    return listed(both(along({ re: x! }, axis, -1), (v) => part(v, axis, 0, x!.shape[axis]! / 2 + 1)))
  }),
  realDftTransposed: composed(([re, im], params) => {
    const axis = axisOf(params)
    const count = re!.shape[axis]!
    const whole = (v: AnyExpr): AnyExpr =>
      pad(
        v,
        v.shape.map((_, i): [number, number] => [0, i === axis ? count - 2 : 0]),
      )
    return along({ re: whole(re!), im: whole(im!) }, axis, 1).re
  }),
}
