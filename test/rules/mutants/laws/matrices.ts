/** One function of a matrix, written with its eigenvalues, with its singular values and with products: the same gradient, where values are equal to rounding too. */
import * as cd from '../../../../src/index.js'
import { type Laws, o } from './law.js'

type E = cd.AnyExpr
const l = cd as unknown as Readonly<Record<'trace' | 'expm' | 'transpose', (x: unknown) => E>> & {
  readonly eigh: (x: unknown) => Readonly<Record<'w' | 'v', E>>
  readonly svd: (x: unknown) => Readonly<Record<'u' | 's' | 'vh', E>>
}
const t = l.transpose
const byVectors = (f: (w: E) => E) => (x: E) => {
  const { w, v } = l.eigh(x)
  return l.trace(o.matmul(o.mul(v, f(w)), t(v)))
}
const bySides = (x: E): E => {
  const { u, s, vh } = l.svd(x)
  return o.add(l.trace(o.matmul(o.mul(u, o.square(s)), t(u))), l.trace(o.matmul(t(vh), o.mul(cd.expandDims(o.square(s), -1), vh))))
}
/** I + v v^T / v^T v for vectors of whole numbers: 2, and 1 as often as there are others. */
const equal = [[1, 3, 5], [2, 3, 7], [1, 2, 3, 5]].map((v) => {
  const size = v.reduce((a, b) => a + b * b, 0)
  return v.map((a, i) => v.map((b, j) => (a * b) / size + (i === j ? 1 : 0)))
}) // biome-ignore format: one row

export const matrices: Laws = {
  'an exponential by eigenvectors, and as it is': () =>
    equal.map((x) => [o.grad((a: E) => l.trace(l.expm(a)))(x), o.grad(byVectors((w) => o.exp(w)))(x), 1e-9] as const),
  'a square by eigenvectors, by singular vectors, and as it is': () =>
    equal.flatMap((x) => {
      const want = o.grad((a: E) => o.sum(o.square(o.mul(0.5, o.add(a, t(a))))))(x)
      return [
        [want, o.grad(byVectors((w) => o.square(w)))(x), 1e-9],
        [want, o.grad((a: E) => o.mul(0.5, bySides(o.mul(0.5, o.add(a, t(a))))))(x), 1e-9],
      ] as const
    }),
}
