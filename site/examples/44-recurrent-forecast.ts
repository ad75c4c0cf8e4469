// A gated recurrent unit reads a series with two rhythms, a scan step for each number, and forecasts the next one.
import {
  add,
  compile,
  dot,
  type Expr,
  f32,
  fn,
  matmul,
  mean,
  mul,
  scan,
  sigmoid,
  square,
  sub,
  tanh,
  tensor,
  valueAndGrad,
  zeros,
} from 'codual'
import { init } from 'codual/nn'
import { adam, applyUpdates } from 'codual/optim'
import { glorotNormal, key } from 'codual/random'
import { plot } from 'playground'

const d = 12
const gate = { x: f32(d), h: f32(d, d), b: f32(d) }
const net = { update: gate, reset: gate, fresh: gate, out: f32(d) }
const forecast = fn({ p: net, ys: f32('n') }, ({ p, ys }) => {
  const through = (g: typeof p.update, y: Expr<[], 'f32'>, h: Expr<[12], 'f32'>) => add(add(mul(g.x, y), matmul(h, g.h)), g.b)
  return scan(
    (h, y) => {
      const update = sigmoid(through(p.update, y, h))
      const fresh = tanh(through(p.fresh, y, mul(sigmoid(through(p.reset, y, h)), h)))
      const next = add(mul(update, h), mul(sub(1, update), fresh))
      return [next, dot(next, p.out)]
    },
    zeros([d], 'f32'),
    ys,
  )[1]
})
const loss = fn({ p: net, ys: f32('n'), next: f32('n') }, ({ p, ys, next }) => mean(square(sub(forecast({ p, ys }), next))))
const optimiser = adam({ learningRate: 0.02 })
const step = compile(
  fn({ p: net, state: optimiser.init(net), ys: f32('n'), next: f32('n') }, ({ p, state, ys, next }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, ys, next })
    const { updates, state: after } = optimiser.update(grad, state, p)
    return { p: applyUpdates(p, updates), state: after, value }
  }),
)
const series = Float32Array.from({ length: 241 }, (_, i) => 0.6 * Math.sin(i / 3) + 0.4 * Math.sin(i / 11))
const part = (from: number, to: number) => tensor(series.slice(from, to))
const start = init(net, key(1), { '*.h': glorotNormal, '*.b': 0, '*.x': 0.3, out: 0.1 })
let now = { p: start, state: optimiser.init(start) }
let last = 1
for (let i = 0; i < 200; i++) {
  const { value, ...next } = step({ ...now, ys: part(0, 160), next: part(1, 161) })
  now = next
  last = value.item()
}
const seen = compile(forecast)({ p: now.p, ys: part(0, 240) })
plot(
  Array.from({ length: 80 }, (_, i) => 161 + i),
  { series: series.slice(161), forecast: seen.data.slice(160) },
  { title: 'numbers that it was not trained on' },
)
last < 0.01 // true
