// Three clouds of points, told apart by a linear map and softmax. The loss is drawn while it falls.
import { add, argmax, compile, crossEntropy, eq, evaluate, f32, fn, i32, matmul, mean, tensor, valueAndGrad } from 'codual'
import { adam, applyUpdates } from 'codual/optim'
import { key, normal } from 'codual/random'
import { curve } from 'playground'

const params = { w: f32(2, 3), b: f32(3) }
const data = { x: f32('n', 2), y: i32('n') }
const logits = fn({ params, x: data.x }, ({ params, x }) => add(matmul(x, params.w), params.b))
const loss = fn({ params, ...data }, ({ params, x, y }) => crossEntropy(logits({ params, x }), y))
const optimiser = adam({ learningRate: 0.1 })
const step = compile(
  fn({ params, state: optimiser.init(params), ...data }, ({ params, state, x, y }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, x, y })
    const { updates, state: next } = optimiser.update(grad, state, params)
    return { params: applyUpdates(params, updates), state: next, value }
  }),
)

const n = 90
const y = tensor(Int32Array.from({ length: n }, (_, i) => i % 3))
const centres = tensor(
  Float32Array.from(
    { length: 2 * n },
    (_, i) => 3 * (i % 2 === 0 ? Math.cos(2 * (Math.floor(i / 2) % 3)) : Math.sin(2 * (Math.floor(i / 2) % 3))),
  ),
  [n, 2],
)
const x = evaluate(add(centres, normal(key(0), [n, 2], { dtype: 'f32' })))
const zero = { w: tensor(new Float32Array(6), [2, 3]), b: tensor(new Float32Array(3)) }
let now = { params: zero, state: optimiser.init(zero) }
const losses = curve('loss')
for (let i = 0; i < 100; i++) {
  const { value, ...next } = step({ ...now, x, y })
  now = next
  losses(i, value.item())
}
evaluate(mean(eq(argmax(logits({ params: now.params, x }), { axis: -1 }), y))) // 1
