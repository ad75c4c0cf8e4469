/** Steps of optimisers (ai.onnx.preview.training): each is a step for any number of parameters. */
import { type AnyExpr, add, cast, div, eq, mul, pow, sqrt, square, sub, where } from '../../index.js'
import { type Call, like, type Operator, type Table } from '../call.js'
import type { Value } from '../value.js'

/** The inputs behind rate and step, in groups: all parameters, all gradients, all arrays of state ... */
const groups = (c: Call, n: number): readonly (readonly Value[])[] => {
  const all = Array.from({ length: c.count - 2 }, (_, i) => c.in(i + 2))
  const size = all.length / n
  if (!Number.isInteger(size)) c.refuse(`${all.length} inputs are no ${n} for each parameter.`)
  return Array.from({ length: size }, (_, i) => Array.from({ length: n }, (_, k) => all[k * size + i]!))
}
type Arrays = readonly AnyExpr[]
/** One step for each group: its parameter and its state after it. */
const step = (n: number, f: (c: Call, rate: AnyExpr, time: AnyExpr, group: Arrays) => Arrays): Operator => ({
  since: [1],
  read: (c) => {
    const [rate, time] = [c.in(0).x, c.in(1).x]
    const made = groups(c, n).map((group) =>
      f(
        c,
        rate,
        time,
        group.map((v) => v.x),
      ).map((x, k) => like(group[k === 0 ? 0 : k + 1]!, x)),
    )
    return Array.from({ length: n - 1 }, (_, k) => made.map((m) => m[k]!)).flat()
  },
})
const regularised = (c: Call, x: AnyExpr, g: AnyExpr): AnyExpr => add(mul(x, c.float('norm_coefficient', 0)), g)

const momentum = (c: Call, rate: AnyExpr, time: AnyExpr, [x, g, v]: Arrays): Arrays => {
  const [alpha, beta] = [c.float('alpha'), c.float('beta')]
  const all = regularised(c, x!, g!)
  const rest = where(eq(time, 0), 1, beta)
  const next = add(mul(v!, alpha), mul(all, rest))
  const nesterov = c.text('mode') === 'nesterov'
  return [sub(x!, mul(rate, nesterov ? add(all, mul(next, alpha)) : next)), next]
}
const adagrad = (c: Call, rate: AnyExpr, time: AnyExpr, [x, g, h]: Arrays): Arrays => {
  const r = div(rate, add(1, mul(cast(time, rate.dtype), c.float('decay_factor', 0))))
  const all = regularised(c, x!, g!)
  const next = add(h!, square(all))
  return [sub(x!, div(mul(r, all), add(sqrt(next), c.float('epsilon', 1e-6)))), next]
}
const adam = (c: Call, rate: AnyExpr, time: AnyExpr, [x, g, v, h]: Arrays): Arrays => {
  const [alpha, beta] = [c.float('alpha', 0.9), c.float('beta', 0.999)]
  const all = regularised(c, x!, g!)
  const [nextV, nextH] = [add(mul(v!, alpha), mul(all, 1 - alpha)), add(mul(h!, beta), mul(square(all), 1 - beta))]
  const t = cast(time, rate.dtype)
  const corrected = div(mul(rate, sqrt(sub(1, pow(beta, t)))), sub(1, pow(alpha, t)))
  const r = where(eq(time, 0), rate, corrected)
  const stepped = sub(x!, div(mul(r, nextV), add(sqrt(nextH), c.float('epsilon', 1e-6))))
  return [mul(stepped, 1 - c.float('norm_coefficient_post', 0)), nextV, nextH]
}

export const training: Table = {
  'ai.onnx.preview.training.Adagrad': step(3, adagrad),
  'ai.onnx.preview.training.Adam': step(4, adam),
  'ai.onnx.preview.training.Momentum': step(3, momentum),
}
