// A network of two layers learns which points lie in a ring.
import { add, compile, evaluate, f32, fn, matmul, mean, relu, square, sub, tensor, valueAndGrad, zeros } from 'codual'
import { adam, applyUpdates } from 'codual/optim'
import { heNormal, key, uniform } from 'codual/random'
import { curve } from 'playground'

const net = { w1: f32(2, 16), b1: f32(16), w2: f32(16, 1), b2: f32(1) }
const loss = fn({ net, x: f32('n', 2), y: f32('n', 1) }, ({ net: p, x, y }) =>
  mean(square(sub(add(matmul(relu(add(matmul(x, p.w1), p.b1)), p.w2), p.b2), y))),
)
const optimiser = adam({ learningRate: 0.03 })
const step = compile(
  fn({ net, state: optimiser.init(net), x: f32('n', 2), y: f32('n', 1) }, ({ net, state, x, y }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'net' })({ net, x, y })
    const { updates, state: next } = optimiser.update(grad, state, net)
    return { net: applyUpdates(net, updates), state: next, value }
  }),
)

const x = evaluate(uniform(key(1), [200, 2], { min: -1, max: 1, dtype: 'f32' }))
const y = tensor(
  Float32Array.from({ length: 200 }, (_, i) => Number(Math.hypot(x.data[2 * i]!, x.data[2 * i + 1]!) < 0.7)),
  [200, 1],
)
const start = evaluate({
  w1: heNormal(key(2), [2, 16], { dtype: 'f32' }),
  b1: zeros([16], 'f32'),
  w2: heNormal(key(3), [16, 1], { dtype: 'f32' }),
  b2: zeros([1], 'f32'),
})
let now = { net: start, state: optimiser.init(start) }
const losses = curve('loss')
let last = 1
for (let i = 0; i < 300; i++) {
  const { value, ...next } = step({ ...now, x, y })
  now = next
  last = value.item()
  losses(i, last)
}
last < 0.06 // true
