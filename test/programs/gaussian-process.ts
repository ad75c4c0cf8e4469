/**
 * Regression by a Gaussian process: the log marginal likelihood of a squared-exponential kernel through a Cholesky factor, its
 * hyperparameters fitted by L-BFGS, and predictions. Rasmussen and Williams 2006, algorithm 2.1.
 */
import {
  add,
  arange,
  at,
  compile,
  diag,
  div,
  exp,
  expandDims,
  eye,
  f64,
  fn,
  ge,
  log,
  matmul,
  mul,
  outer,
  sqrt,
  square,
  stack,
  sub,
  sum,
  tensor,
  transpose,
  where,
} from '../../src/index.js'
import { lbfgs } from '../../src/optim/index.js'

/** The logarithms of length scale, amplitude and standard deviation of the noise. */
export const declared = { lengthScale: f64(), amplitude: f64(), noise: f64() }

/** k(a, b) = s^2 exp(-(a - b)^2 / (2 l^2)), at all pairs. */
export const kernel = fn({ params: declared, a: f64('n'), b: f64('m') }, ({ params, a, b }) => {
  const distance = div(sub(expandDims(a, 1), b), exp(params.lengthScale))
  return mul(exp(mul(2, params.amplitude)), exp(mul(-0.5, square(distance))))
})

/** L in A = L L^T, lower triangular, by columns: what is left of A loses the outer product of each. Golub and Van Loan 2013, 4.2.5. */
export const cholesky = fn({ a: f64('n', 'n') }, ({ a }) => {
  const rows = arange(a.shape[0])
  const columns = []
  let rest = a
  for (let k = 0; k < a.shape[0]; k++) {
    const column = where(ge(rows, k), div(at(rest, ':', k), sqrt(at(rest, k, k))), 0)
    columns.push(column)
    rest = sub(rest, outer(column, column))
  }
  return stack(columns, { axis: 1 })
})

/** X in L X = B, a row at a time. */
export const solveLower = fn({ l: f64('n', 'n'), b: f64('n', 'm') }, ({ l, b }) => {
  const rows = []
  let rest = b
  for (let k = 0; k < l.shape[0]; k++) {
    const row = div(at(rest, k), at(l, k, k))
    rows.push(row)
    rest = sub(rest, outer(at(l, ':', k), row))
  }
  return stack(rows)
})

/** What is observed, freed of its correlations: L and L^-1 y, where L L^T is the covariance of the kernel and of the noise. */
const whiten = fn({ params: declared, x: f64('n'), y: f64('n') }, ({ params, x, y }) => {
  const noise = mul(exp(mul(2, params.noise)), eye(x.shape[0]))
  const l = cholesky({ a: add(kernel({ params, a: x, b: x }), noise) })
  return { l, z: solveLower({ l, b: expandDims(y, 1) }) }
})

/** -log p(y | x): y^T K^-1 y / 2 + log det K / 2 + n log(2 pi) / 2. */
export const negativeLogLikelihood = fn({ params: declared, x: f64('n'), y: f64('n') }, ({ params, x, y }) => {
  const { l, z } = whiten({ params, x, y })
  return add(add(div(sum(square(z)), 2), sum(log(diag(l)))), (x.shape[0] / 2) * Math.log(2 * Math.PI))
})

/** Mean and variance of the function at new places, given what was observed. */
export const predict = fn({ params: declared, x: f64('n'), y: f64('n'), places: f64('m') }, ({ params, x, y, places }) => {
  const { l, z } = whiten({ params, x, y })
  const v = solveLower({ l, b: kernel({ params, a: x, b: places }) })
  return {
    mean: matmul(transpose(v), at(z, ':', 0)),
    variance: sub(exp(mul(2, params.amplitude)), sum(square(v), { axis: 0 })),
  }
})

/** The hyperparameters of greatest likelihood. */
export const fit = (x: number[], y: number[], iterations: number) => {
  const method = lbfgs()
  const step = compile(
    fn({ params: declared, state: method.init(declared), x: f64('n'), y: f64('n') }, ({ params, state, x, y }) =>
      method.step((params) => negativeLogLikelihood({ params, x, y }), params, state),
    ),
  )
  let params = { lengthScale: tensor(0), amplitude: tensor(0), noise: tensor(-1) }
  let state = method.init(params)
  for (let i = 0; i < iterations; i++) ({ params, state } = step({ params, state, x, y }))
  return params
}
