// A density of any shape: two half-moons learned by a normalising flow. `npm run example:flow`
//
// Eight couplings bend the plane until the moons are a normal distribution (Real NVP: Dinh, Sohl-Dickstein and Bengio 2017). Each stretches and
// moves one coordinate by what a network makes of the other, so the way back and the determinant are at hand: the density of a point is
// that of where it goes, times how much the plane is stretched there. The couplings are a `scan`, and so is the training: a step has a key
// of its own, and draws with it points that nobody has seen.
import {
  add,
  at,
  compile,
  concat,
  cos,
  cpu,
  div,
  type Expr,
  type Exprs,
  evaluate,
  exp,
  f64,
  fn,
  i32,
  linear,
  mean,
  mul,
  neg,
  scan,
  sin,
  square,
  stack,
  sub,
  sum,
  tanh,
  unstack,
  valueAndGrad,
  where,
  zeros,
} from '../src/index.js'
import { adam, applyUpdates, exponentialDecaySchedule } from '../src/optim/index.js'
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

/** Points on two half-circles that reach into one another, with noise. */
const spread = 0.1
export const moons = (k: Key, count: number) => {
  const [place, side, noise] = unstack(splitKey(k, 3))
  const angle = uniform(place, [count], { max: Math.PI })
  const circle = stack([sub(cos(angle), 0.5), sub(sin(angle), 0.25)], { axis: 1 })
  const upper = at(bernoulli(side, 0.5, { shape: [count] }), ':', null)
  return add(where(upper, circle, neg(circle)), mul(spread, normal(noise, [count, 2])))
}

/** Small random weights, so that the flow begins near the one that does nothing. */
export const initial = (k: Key) => {
  const [first, last] = unstack(splitKey(k))
  return evaluate({
    w1: glorotNormal(first, [depth, 1, 32], { dtype: 'f64' }),
    b1: zeros([depth, 32]),
    w2: glorotNormal(last, [depth, 32, 2], { dtype: 'f64' }),
    b2: zeros([depth, 2]),
  })
}

const optimiser = adam({ learningRate: exponentialDecaySchedule({ initValue: 0.01, decayRate: 0.5, transitionSteps: 1000 }) })
const trained = { params: flow, state: optimiser.init(flow) }
/** A hundred steps of the training, each on 256 points that are drawn for it. */
const hundred = compile(
  fn({ ...trained, key: i32(2) }, ({ params, state, key }) =>
    scan(
      ({ params, state }: Exprs<typeof trained>, k: Key) => {
        const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, x: moons(k, 256) })
        const { updates, state: next } = optimiser.update(grad, state, params)
        return [{ params: applyUpdates(params, updates), state: next }, value]
      },
      { params, state },
      splitKey(key, 100),
    ),
  ),
  cpu(),
)

/** -log of the density that the best normal distribution has at points, in the mean: log(2 pi e) + log det cov / 2. */
export const bestNormal = (points: readonly (readonly number[])[]) => {
  const average = (f: (p: readonly number[]) => number) => points.reduce((s, p) => s + f(p) / points.length, 0)
  const [mx, my] = [average(([x]) => x!), average(([, y]) => y!)]
  const cov = (f: (dx: number, dy: number) => number) => average(([x, y]) => f(x! - mx, y! - my))
  const determinant = cov((dx) => dx * dx) * cov((_, dy) => dy * dy) - cov((dx, dy) => dx * dy) ** 2
  return Math.log(2 * Math.PI * Math.E) + Math.log(determinant) / 2
}

export const main = async (log: Log, { hundreds = 50, seed = 1, out = 'out' }: FlowOptions = {}) => {
  const [first, training, unseen, base] = evaluate(unstack(splitKey(key(seed), 4)))
  const params = initial(first)
  let now = { params, state: optimiser.init(params) }
  const losses: number[] = []
  for (const [i, k] of evaluate(unstack(splitKey(training, hundreds))).entries()) {
    const [next, values] = hundred({ ...now, key: k })
    losses.push(...values.data)
    now = next
    if (i % 10 === 9) log(`step ${100 * (i + 1)}: -log density ${(values.data.reduce((s, v) => s + v, 0) / 100).toFixed(3)}`)
  }

  const x = evaluate(moons(unseen, 2000))
  const found = compile(loss, cpu())({ params: now.params, x }).item()
  const gauss = bestNormal(x.toArray())
  log(`of 2000 unseen points: ${found.toFixed(3)}; of the best normal distribution: ${gauss.toFixed(3)}`)
  expectThat(found < gauss - 0.5, 'a density that is better than any normal one')
  const z = evaluate(normal(base, [2000, 2]))
  const drawn = compile(backward, cpu())({ params: now.params, z })
  const again = compile(forward, cpu())({ params: now.params, x: drawn }).z
  const apart = Math.max(...z.data.map((v, i) => Math.abs(v - again.data[i]!)))
  log(`draws and back: at most ${apart.toExponential(1)} away`)

  const beside = (points: readonly (readonly number[])[], right: number) => points.slice(0, 1000).map(([x, y]) => [x! + right, y!])
  const file = await plot(out, 'flow', {
    title: 'Two moons to the left, draws of the flow to the right',
    x: 'x',
    y: 'y',
    points: { data: beside(x.toArray(), -2), drawn: beside(drawn.toArray(), 2) },
    extent: 4,
  })
  log(`picture: ${file}`)
  return { params: now.params, losses, found, gauss, apart, file }
}

start(import.meta.url, main)
