// Causal attention, and the gradient of its queries.
import { type AnyExpr, evaluate, grad, scaledDotProductAttention, sum, tensor } from 'codual'

const k = tensor([
  [1, 0],
  [0, 1],
  [1, 1],
])
const v = tensor([[1], [2], [3]])
evaluate(scaledDotProductAttention(k, k, v, { causal: true })) // [[1], [1.669761], [2.255235]]
grad((q: AnyExpr) => sum(scaledDotProductAttention(q, k, v)))([
  [1, 0],
  [0, 1],
  [1, 1],
]) // [[0, 0.283629], [0.057672, 0.168285], [0.044805, 0.220347]]
