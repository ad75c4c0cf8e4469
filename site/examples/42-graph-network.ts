// Messages along the edges of a graph: heat spreads from node 0, and the gradient says how much each edge helps node 5.
import { at, compile, f64, fn, grad, matmul, mul, scan, sub, tensor, transpose } from 'codual'
import { plot } from 'playground'

// Two roads from node 0 to node 5: three edges by way of 1 and 2, two by way of 3. Node 4 is a dead end.
const edges = [
  [0, 1],
  [1, 2],
  [2, 5],
  [0, 3],
  [3, 5],
  [3, 4],
] as const
const signs = tensor(edges.map(([a, b]) => Array.from({ length: 6 }, (_, k) => Number(k === a) - Number(k === b))))
const heat = fn({ conducts: f64(6) }, ({ conducts }) =>
  scan(
    (h) => {
      const flows = mul(conducts, matmul(signs, h))
      const next = sub(h, mul(0.1, matmul(transpose(signs), flows)))
      return [next, next]
    },
    tensor([1, 0, 0, 0, 0, 0]),
    null,
    { length: 40 },
  ),
)
const conducts = [1, 1, 1, 1, 1, 1]
const rounds = compile(heat)({ conducts })[1].toArray()
plot(
  rounds.map((_, i) => i),
  Object.fromEntries([0, 3, 5].map((k) => [`node ${k}`, rounds.map((h) => h[k]!)])),
  { title: 'heat' },
)
// Each edge of a road helps; the dead end takes heat away.
grad(fn({ conducts: f64(6) }, (given) => at(heat(given)[0], 5)))({ conducts }).conducts // [0.001129, 0.001955, 0.001129, 0.000688, 0.000688, -0.002088]
