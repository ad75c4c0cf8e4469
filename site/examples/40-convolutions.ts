// A small convolutional network tells vertical, horizontal and diagonal strokes apart; the picture is what its first layer looks for.
import {
  add,
  argmax,
  compile,
  conv,
  crossEntropy,
  eq,
  evaluate,
  f32,
  fn,
  i32,
  matmul,
  maxPool,
  mean,
  relu,
  reshape,
  tensor,
  valueAndGrad,
} from 'codual'
import { init } from 'codual/nn'
import { adam, applyUpdates } from 'codual/optim'
import { heNormal, key, uniform } from 'codual/random'
import { curve } from 'playground'

const net = { k: f32(6, 1, 3, 3), w: f32(54, 3), b: f32(3) }
const logits = fn({ p: net, x: f32('n', 1, 8, 8) }, ({ p, x }) =>
  add(matmul(reshape(maxPool(relu(conv(x, p.k)), { window: 2 }), [-1, 54]), p.w), p.b),
)
const loss = fn({ p: net, x: f32('n', 1, 8, 8), y: i32('n') }, ({ p, x, y }) => crossEntropy(logits({ p, x }), y))
const optimiser = adam({ learningRate: 0.01 })
const step = compile(
  fn({ p: net, state: optimiser.init(net), x: f32('n', 1, 8, 8), y: i32('n') }, ({ p, state, x, y }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, x, y })
    const { updates, state: next } = optimiser.update(grad, state, p)
    return { p: applyUpdates(p, updates), state: next, value }
  }),
)
/** n pictures of 8 by 8 with a stroke in noise, and which kind it is. */
const strokes = (n: number, seed: number) => {
  const noise = evaluate(uniform(key(seed), [n, 64], { dtype: 'f32' })).data
  const y = Int32Array.from({ length: n }, (_, i) => i % 3)
  const x = Float32Array.from(noise, (u, i) => {
    const [k, row, column] = [Math.floor(i / 64), Math.floor((i % 64) / 8), i % 8]
    const at = 1 + ((k * 5) % 6)
    const hit = [column === at, row === at, (row + column) % 8 === at][y[k]!]!
    return 0.5 * u + Number(hit)
  })
  return { x: tensor(x, [n, 1, 8, 8]), y: tensor(y) }
}
const [known, unseen] = [strokes(120, 1), strokes(60, 2)]
const start = init(net, key(3), { k: heNormal, w: heNormal, b: 0 })
let now = { p: start, state: optimiser.init(start) }
const losses = curve('loss')
for (let i = 0; i < 60; i++) {
  const { value, ...next } = step({ ...now, ...known })
  now = next
  losses(i, value.item())
}
now.p.k
evaluate(mean(eq(argmax(compile(logits)({ p: now.p, x: unseen.x }), { axis: -1 }), unseen.y))) // 1
