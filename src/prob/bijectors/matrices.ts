import { badInput } from '../../core/errors/explain.js'
import {
  type AnyExpr,
  add,
  cholesky,
  cumsum,
  diagonal,
  div,
  exp,
  eye,
  gather,
  log,
  log1p,
  matmul,
  mul,
  neg,
  reshape,
  sqrt,
  sum,
  tanh,
  tensor,
  transpose,
  where,
} from '../../index.js'
import { correlationCholesky, lowerCholesky, positiveDefinite } from '../support.js'
import { type Bijector, made, type Shapes, zeros } from './bijector.js'
import { atanh, logSech2 } from './numbers.js'
import { along, exclusive, lastSize } from './vectors.js'

type X = AnyExpr
/** n with n (n + 1) / 2 elements on and below the diagonal. */
const orderOf = (size: number, strict: boolean, op: string): number => {
  const n = Math.round((Math.sqrt(8 * size + 1) - 1) / 2)
  if ((n * (n + 1)) / 2 !== size)
    badInput(
      op,
      `a vector of ${size} elements does not fill a triangle.`,
      `give n (n ${strict ? '-' : '+'} 1) / 2 of them for a matrix of order n.`,
    )
  return strict ? n + 1 : n
}
/** Where each element of a matrix stands in the vector of its lower triangle, row by row. */
const triangle = (n: number, strict: boolean): { readonly at: number[]; readonly own: boolean[]; readonly from: number[] } => {
  const at = new Array<number>(n * n).fill(0)
  const own = new Array<boolean>(n * n).fill(false)
  const from: number[] = []
  for (let i = 0; i < n; i++)
    for (let j = 0; j < (strict ? i : i + 1); j++) {
      at[i * n + j] = from.length
      own[i * n + j] = true
      from.push(i * n + j)
    }
  return { at, own, from }
}
const ints = (x: readonly number[], shape: readonly number[]): X => tensor(x as number[], shape as number[], 'i32') as X
const mask = (x: readonly boolean[], n: number): X => tensor(x as never, [n, n], 'bool') as X
/** A vector as the lower triangle of a matrix, and 0 above. */
const matrixOf = (x: X, strict: boolean, op: string): X => {
  const n = orderOf(lastSize(x.shape), strict, op)
  const { at, own, from } = triangle(n, strict)
  if (from.length === 0) return mul(0, eye(n, n, 0, x.dtype as 'f64')) as X
  return where(mask(own, n), gather(x, ints(at, [n, n]) as never, { axis: -1 }), 0) as X
}
const vectorOf = (y: X, strict: boolean): X => {
  const n = lastSize(y.shape)
  const { from } = triangle(n, strict)
  const flat = reshape(y, [...y.shape.slice(0, -2), n * n]) as X
  return gather(flat, ints(from, [from.length]) as never, { axis: -1 }) as X
}
const onDiagonal = (x: X, f: (d: X) => X): X => {
  const n = lastSize(x.shape)
  const one = Array.from({ length: n * n }, (_, i) => Math.floor(i / n) === i % n)
  const m = mask(one, n)
  return where(m, f(where(m, x, 1) as X), x) as X
}
const square: Shapes = (s) => {
  const n = orderOf(lastSize(s), false, 'shape')
  return [...s.slice(0, -1), n, n]
}
const lowerVector: Shapes = (s) => [...s.slice(0, -2), (lastSize(s) * (lastSize(s) + 1)) / 2]
/**
 * The map from vectors to lower triangular matrices with a positive diagonal: row by row, and e to the power of what is on the diagonal.
 *
 * Shapes  [..., n (n + 1) / 2] -> [..., n, n].   Errors  BadInput for a vector of another length.
 * @example evaluate(choleskyBijector.forward([0, 2, 0]))   // [[1, 0], [2, 1]]
 */
export const choleskyBijector: Bijector = /*#__PURE__*/ made({
  name: 'lowerCholesky',
  rank: 1,
  rankAfter: 2,
  forward: (x) => onDiagonal(matrixOf(x, false, 'choleskyBijector'), (d) => exp(d) as X),
  inverse: (y) =>
    vectorOf(
      onDiagonal(y, (d) => log(d) as X),
      false,
    ),
  logDet: (x) => sum(diagonal(matrixOf(x, false, 'choleskyBijector')), along) as X,
  shape: square,
  shapeBefore: lowerVector,
  codomain: lowerCholesky,
})
/**
 * The map from vectors to symmetric positive definite matrices, L L^T for the matrix L of `choleskyBijector`.
 *
 * Shapes  [..., n (n + 1) / 2] -> [..., n, n].   Errors  BadInput for a vector of another length.
 * @example evaluate(positiveDefiniteBijector.forward([0, 2, 0]))   // [[1, 2], [2, 5]]
 */
export const positiveDefiniteBijector: Bijector = /*#__PURE__*/ made({
  name: 'positiveDefinite',
  rank: 1,
  rankAfter: 2,
  forward: (x) => {
    const l = choleskyBijector.forward(x)
    return matmul(l, transpose(l)) as X
  },
  inverse: (y) => choleskyBijector.inverse(cholesky(y) as X),
  logDet: (x) => {
    const d = diagonal(matrixOf(x, false, 'positiveDefiniteBijector')) as X
    const n = lastSize(d.shape)
    const weights = tensor(
      Array.from({ length: n }, (_, i) => n - i + 1),
      [n],
      x.dtype as 'f64',
    )
    return add(sum(mul(weights, d), along), n * Math.LN2) as X
  },
  shape: square,
  shapeBefore: lowerVector,
  codomain: positiveDefinite,
})
/** Half of the log of what the squares before each element of a row leave of 1: of partial correlations z, given log(1 - z^2). */
const roots = (logs: X): X => mul(0.5, cumsum(logs, exclusive)) as X
/** The Cholesky factor of correlations by partial ones z and log(1 - z^2), below the diagonal. */
const factorOf = (z: X, logs: X): X => {
  const n = lastSize(z.shape)
  return mul(add(z, eye(n, n, 0, z.dtype as 'f64')), exp(roots(logs))) as X
}
/** The same of a vector of partial correlations. */
export const correlationOf = (z: X): X => {
  const m = matrixOf(z, true, 'correlationOf')
  return factorOf(m, log1p(neg(mul(m, m))) as X)
}
/**
 * The map from vectors to Cholesky factors of correlation matrices: tanh of each number is a partial correlation.
 *
 * Shapes  [..., n (n - 1) / 2] -> [..., n, n].   Errors  BadInput for a vector of another length.   Source  Lewandowski, Kurowicka and Joe 2009.
 * @example evaluate(correlationBijector.forward([Math.atanh(0.6)]))   // [[1, 0], [0.6, 0.8]]
 */
export const correlationBijector: Bijector = /*#__PURE__*/ made({
  name: 'correlationCholesky',
  rank: 1,
  rankAfter: 2,
  forward: (x) => {
    const m = matrixOf(x, true, 'correlationBijector')
    return factorOf(tanh(m) as X, logSech2(m))
  },
  inverse: (y) => {
    // The squares from an element on, summed from the end of the row: what those before it leave of 1.
    const left = sqrt(cumsum(mul(y, y), { axis: -1, reverse: true }))
    return atanh(div(vectorOf(y, true), vectorOf(left as X, true)) as X)
  },
  logDet: (x) => {
    const m = matrixOf(x, true, 'correlationBijector')
    const logs = logSech2(m)
    const strict = matrixOf(add(zeros(x), 1) as X, true, 'correlationBijector')
    return sum(mul(strict, add(logs, roots(logs))), { axis: [-1, -2] }) as X
  },
  shape: (s) => {
    const n = orderOf(lastSize(s), true, 'shape')
    return [...s.slice(0, -1), n, n]
  },
  shapeBefore: (s) => [...s.slice(0, -2), (lastSize(s) * (lastSize(s) - 1)) / 2],
  codomain: correlationCholesky,
})
