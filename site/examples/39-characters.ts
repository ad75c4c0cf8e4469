// A small transformer learns a rhyme by heart: causal attention over characters, trained by Adam.
import {
  add,
  argmax,
  at,
  compile,
  crossEntropy,
  embedding,
  evaluate,
  f32,
  fn,
  i32,
  matmul,
  mean,
  mul,
  relu,
  scaledDotProductAttention,
  tensor,
  valueAndGrad,
} from 'codual'
import { init } from 'codual/nn'
import { adam, applyUpdates } from 'codual/optim'
import { key, normal } from 'codual/random'
import { curve } from 'playground'

const text = 'twinkle twinkle little star how i wonder what you are '
const letters = [...new Set(text)].sort()
const [n, d, v] = [24, 24, letters.length]
const codes = [...text].map((c) => letters.indexOf(c))
const net = {
  letter: f32(v, d),
  place: f32(n, d),
  q: f32(d, d),
  k: f32(d, d),
  v: f32(d, d),
  up: f32(d, 48),
  down: f32(48, d),
  out: f32(d, v),
}
const logits = fn({ p: net, x: i32(n) }, ({ p, x }) => {
  const h = add(embedding(p.letter, x), p.place)
  const seen = add(h, scaledDotProductAttention(matmul(h, p.q), matmul(h, p.k), matmul(h, p.v), { causal: true }))
  return matmul(add(seen, matmul(relu(matmul(seen, p.up)), p.down)), p.out)
})
const loss = fn({ p: net, x: i32(n), y: i32(n) }, ({ p, x, y }) => mean(crossEntropy(logits({ p, x }), y)))
const optimiser = adam({ learningRate: 0.005 })
const step = compile(
  fn({ p: net, state: optimiser.init(net), x: i32(n), y: i32(n) }, ({ p, state, x, y }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, x, y })
    const { updates, state: next } = optimiser.update(grad, state, p)
    return { p: applyUpdates(p, updates), state: next, value }
  }),
)
const start = init(net, key(1), { '*': (k, shape, { dtype }) => evaluate(mul(0.2, normal(k, shape, { dtype }))) })
let now = { p: start, state: optimiser.init(start) }
const losses = curve('loss')
for (let i = 0; i < 800; i++) {
  const from = (i * 7) % (codes.length - n)
  const [x, y] = [codes.slice(from, from + n), codes.slice(from + 1, from + n + 1)].map((c) => tensor(Int32Array.from(c)))
  const { value, ...next } = step({ ...now, x: x!, y: y! })
  now = next
  losses(i, value.item())
}
const next = compile(fn({ p: net, x: i32(n) }, ({ p, x }) => argmax(at(logits({ p, x }), n - 1))))
const said = codes.slice(0, n)
while (said.length < codes.length) said.push(next({ p: now.p, x: tensor(Int32Array.from(said.slice(-n))) }).item())
said.map((c) => letters[c]).join('') // "twinkle twinkle little star how i wonder what you are "
