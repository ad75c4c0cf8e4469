// A gradient for each example: vmap makes a function of one example one of many.
import { type AnyExpr, grad, matmul, square, sub, sum, tensor, vmap } from 'codual'

const w = tensor([1, -1])
const loss = (x: AnyExpr) => square(sub(sum(matmul(x, w)), 1))

vmap(grad(loss))([
  [1, 0],
  [0, 1],
  [2, 2],
]) // [[0, 0], [-4, 4], [-2, 2]]
