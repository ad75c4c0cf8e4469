// The log likelihood of a Gaussian by Cholesky, and its gradient by the covariance.
import { type AnyExpr, add, cholesky, diagonal, grad, log, mul, neg, square, sum, tensor, triangularSolve } from 'codual'

const y = tensor([1, -1])
const likelihood = (k: AnyExpr) => {
  const l = cholesky(k)
  return neg(add(mul(0.5, sum(square(triangularSolve(l, y, { lower: true })))), sum(log(diagonal(l)))))
}
grad(likelihood)([
  [2, 0.5],
  [0.5, 1],
]) // [[0.081633, -0.469388], [-0.469388, 0.44898]]
