// Sums of products by their indices, and a gradient of one.
import { type AnyExpr, einsum, evaluate, grad, tensor } from 'codual'

const a = tensor([
  [1, 2],
  [3, 4],
])
evaluate(einsum('ij,jk->ik', a, a)) // [[7, 10], [15, 22]]
const trace = (x: AnyExpr) => einsum('ij,ji->', x, a)
grad(trace)([
  [1, 0],
  [0, 1],
]) // [[1, 3], [2, 4]]
