// A network learns to remove noise from points on a ring, and then draws new points by beginning with noise alone.
import {
  add,
  compile,
  concat,
  evaluate,
  expandDims,
  f32,
  fn,
  matmul,
  mean,
  mul,
  silu,
  sqrt,
  square,
  sub,
  tensor,
  valueAndGrad,
} from 'codual'
import { init } from 'codual/nn'
import { adam, applyUpdates } from 'codual/optim'
import { heNormal, key, normal } from 'codual/random'
import { curve, plot } from 'playground'

const [n, levels] = [128, 30]
/** How much of a point is left at each level: nearly all at the first, nearly nothing at the last. */
const kept = Array.from({ length: levels }, (_, t) => Math.cos((Math.PI / 2) * (0.02 + (0.96 * t) / (levels - 1))) ** 2)
const net = { w1: f32(3, 64), b1: f32(64), w2: f32(64, 64), b2: f32(64), w3: f32(64, 2), b3: f32(2) }
const points = { x: f32(n, 2), level: f32(n) }
const noiseIn = fn({ p: net, ...points }, ({ p, x, level }) => {
  const a = silu(add(matmul(concat([x, expandDims(level, 1)], { axis: 1 }), p.w1), p.b1))
  return add(matmul(silu(add(matmul(a, p.w2), p.b2)), p.w3), p.b3)
})
const loss = fn({ p: net, ...points, noise: f32(n, 2) }, ({ p, x, level, noise }) => {
  const share = expandDims(level, 1)
  return mean(square(sub(noiseIn({ p, x: add(mul(sqrt(share), x), mul(sqrt(sub(1, share)), noise)), level }), noise)))
})
const optimiser = adam({ learningRate: 5e-3 })
const step = compile(
  fn({ p: net, state: optimiser.init(net), ...points, noise: f32(n, 2) }, ({ p, state, ...batch }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, ...batch })
    const { updates, state: next } = optimiser.update(grad, state, p)
    return { now: { p: applyUpdates(p, updates), state: next }, value }
  }),
)
const start = init(net, key(1), { w1: heNormal, w2: heNormal, w3: heNormal, b1: 0, b2: 0, b3: 0 })
let now = { p: start, state: optimiser.init(start) }
const losses = curve('loss')
const noises = evaluate(normal(key(2), [50, n, 2], { dtype: 'f32' })).data
for (let i = 0; i < 600; i++) {
  const ring = Float32Array.from({ length: 2 * n }, (_, k) => (k % 2 === 0 ? Math.cos : Math.sin)((2 * Math.PI * Math.floor(k / 2)) / n))
  const level = Float32Array.from({ length: n }, (_, k) => kept[(k * 7 + i) % levels]!)
  const noise = tensor(noises.subarray(2 * n * (i % 50), 2 * n * ((i % 50) + 1)), [n, 2])
  const { now: next, value } = step({ ...now, x: tensor(ring, [n, 2]), level: tensor(level), noise })
  now = next
  losses(i, value.item())
}
// Back from the last level to the first, without new noise (DDIM).
const guess = compile(noiseIn)
let drawn = evaluate(normal(key(1000), [n, 2], { dtype: 'f32' })).data
for (let t = levels - 1; t > 0; t--) {
  const [here, next] = [kept[t]!, kept[t - 1]!]
  const level = tensor(new Float32Array(n).fill(here))
  const noise = guess({ p: now.p, x: tensor(drawn, [n, 2]), level }).data
  drawn = drawn.map((x, k) => (Math.sqrt(next) * (x - Math.sqrt(1 - here) * noise[k]!)) / Math.sqrt(here) + Math.sqrt(1 - next) * noise[k]!)
}
const [xs, ys] = [0, 1].map((k) => Array.from({ length: n }, (_, i) => drawn[2 * i + k]!))
plot(xs!, ys!, { title: 'points that were drawn', points: true })
const off = xs!.map((x, i) => Math.abs(Math.hypot(x, ys![i]!) - 1))
off.reduce((a, b) => a + b) / n < 0.15 // true
