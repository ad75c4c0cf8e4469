// A layer that is its own input, and the gradient of its weights by the implicit function theorem.
import { type AnyExpr, add, cos, evaluate, grad, matmul, sum, tanh, tensor } from 'codual'
import { fixedPoint } from 'codual/solve'

evaluate(fixedPoint((x) => cos(x), tensor(1)).x) // 0.739085

const layer = (z: AnyExpr, { w, x }: { w: AnyExpr; x: AnyExpr }) => tanh(add(matmul(w, z), x))
const settled = (w: AnyExpr) => sum(fixedPoint(layer, [0, 0], { w, x: tensor([1, -1]) }).x)
grad(settled)([
  [0.2, -0.3],
  [0.1, 0.4],
]) // [[0.195221, -0.185603], [0.263269, -0.250299]]
