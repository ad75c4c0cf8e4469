// A density of any shape: two half-moons learned by a normalising flow. `npm run example:flow`
//
// Eight couplings bend the plane until the moons are a normal distribution (Real NVP: Dinh, Sohl-Dickstein and Bengio 2017). Each stretches and
// moves one coordinate by what a network makes of the other, so the way back and the determinant are at hand: the density of a point is
// that of where it goes, times how much the plane is stretched there. The couplings are a `scan`, and so is the training: a step has a key
// of its own, and draws with it points that nobody has seen.
import {
  add,
  compile,
  concat,
  cos,
  cpu,
  exp,
  type Expr,
  type Exprs,
  evaluate,
  f64,
  fn,
  i32,
  linear,
  mean,
  mul,
  neg,
  type Scalar,
  scan,
  sin,
  square,
  stack,
  sub,
  sum,
  tanh,
  valueAndGrad,
  where,
  zeros,
  split,
  at,
  unstack,
} from '../src/index.js'
import { adam, applyUpdates, cosineDecaySchedule } from '../src/optim/index.js'
import { bernoulli, glorotNormal, type Key, key, normal, splitKey, uniform } from '../src/random/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface FlowOptions {
  /** Steps of the training, in hundreds. */
  readonly hundreds?: number
  readonly seed?: number
  readonly out?: string
}

/** Eight couplings: a layer of 32, and out of it the logarithm of a scale and a shift. */
const depth = 8
export const flow = { w1: f64(depth, 1, 32), b1: f64(depth, 32), w2: f64(depth, 32, 2), b2: f64(depth, 2) }
const coupling = { w1: f64(1, 32), b1: f64(32), w2: f64(32, 2), b2: f64(2) }

type Column = Expr<['n', 1], 'f64'>
interface Halves {
  readonly a: Column
  readonly b: Column
}
/** The logarithm of the scale of one coordinate, kept between -2 and 2, and its shift: by the other one. */
const network = ({ w1, b1, w2, b2 }: Exprs<typeof coupling>, a: Column) => {
  const y = linear(tanh(linear(a, w1, b1)), w2, b2)
  return { s: mul(2, tanh(at(y, ':', '0:1'))), t: at(y, ':', '1:2') }
}
const points = { params: flow, x: f64('n', 2) }
const halves = (x: Expr<['n', 2], 'f64'>): Halves => ({ a: at(x, ':', '0:1'), b: at(x, ':', '1:2') })

/** From the moons to the normal distribution, and the logarithm of the determinant of that way's Jacobian at each point. */
export const forward = fn(points, ({ params, x }) => {
  const [{ a, b }, s] = scan(
    ({ a, b }: Halves, p: Exprs<typeof coupling>) => {
      const { s, t } = network(p, a)
      return [{ a: add(mul(b, exp(s)), t), b: a }, at(s, ':', 0)]
    },
    halves(x),
    params,
  )
  return { z: concat([a, b], { axis: 1 }), logDet: sum(s, { axis: 0 }) }
})
/** And back: the same couplings from the last to the first, each undone. */
export const backward = fn({ params: flow, z: f64('n', 2) }, ({ params, z }) => {
  const [{ a, b }] = scan(
    ({ a, b }: Halves, p: Exprs<typeof coupling>) => {
      const { s, t } = network(p, b)
      return [{ a: b, b: mul(sub(a, t), exp(neg(s))) }, null]
    },
    halves(z),
    params,
    { reverse: true },
  )
  return concat([a, b], { axis: 1 })
})
/** The mean of -log of the density: least where the flow has the density of the points. */
export const loss = fn(points, (given) => {
  const { z, logDet } = forward(given)
  return sub(mean(add(div(sum(square(z), { axis: 1 }), 2), Math.log(2 * Math.PI))), mean(logDet))
})
