// A Kalman filter learns how noisy its world is: a scan carries what is known, and L-BFGS maximises the likelihood of two variances.
import { add, at, compile, div, type Expr, evaluate, exp, f64, fn, log, mul, scan, square, sub, sum, tensor } from 'codual'
import { lbfgs } from 'codual/optim'
import { key, normal } from 'codual/random'
import { plot } from 'playground'

// A walk with steps of variance 0.1, seen with errors of variance 1.
const n = 300
const [steps, errors] = [1, 2].map((seed) => evaluate(normal(key(seed), [n])).toArray() as number[])
let place = 0
const seen = steps!.map((step, i) => {
  place += Math.sqrt(0.1) * step
  return place + errors![i]!
})
const filter = (logs: Expr<[2]>, ys: Expr<[number]>) => {
  const push = exp(at(logs, 0))
  const error = exp(at(logs, 1))
  return scan(
    ({ mean, variance }, y) => {
      const before = add(variance, push)
      const total = add(before, error)
      const gain = div(before, total)
      const off = sub(y, mean)
      const next = add(mean, mul(gain, off))
      return [
        { mean: next, variance: mul(sub(1, gain), before) },
        { mean: next, loss: add(log(total), div(square(off), total)) },
      ]
    },
    { mean: tensor(0), variance: tensor(10) },
    ys,
  )[1]
}
const method = lbfgs({ memory: 5 })
const step = compile(
  fn({ params: f64(2), state: method.init(f64(2)), ys: f64('n') }, ({ params, state, ys }) =>
    method.step((logs) => sum(filter(logs, ys).loss), params, state),
  ),
)
let now = { params: tensor([0, -1]), state: method.init(tensor([0, -1])) }
for (let i = 0; i < 40; i++) {
  const { params, state } = step({ ...now, ys: seen })
  now = { params, state }
}
const known = compile(fn({ logs: f64(2), ys: f64('n') }, ({ logs, ys }) => filter(logs, ys).mean))({ logs: now.params, ys: seen })
plot(
  seen.map((_, i) => i),
  { seen, filtered: known },
  { title: 'a walk' },
)
evaluate(exp(now.params)) // [0.10616, 0.959583]
