// A layer without depth: its output is what one more step would not change. `npm run example:implicit`
//
// A deep equilibrium model (Bai, Kolter and Koltun 2019) on two moons. In place of many equal layers z' = tanh(W z + U x + b) there is
// their fixed point, found by Anderson's method however long that takes. Its gradient is that of the equation it solves, not of the
// steps: nothing of the search is kept. A loop of 400 layers has the same gradient, and keeps all of them.

import { random } from '../src/check/index.js'
import {
  add,
  compile,
  cpu,
  div,
  type Expr,
  type Exprs,
  f64,
  fn,
  fori,
  grad,
  linear,
  matmul,
  mean,
  mul,
  neg,
  softplus,
  sqrt,
  square,
  sum,
  type Tensors,
  tanh,
  tensor,
  treeLeaves,
  treeMap,
  valueAndGrad,
} from '../src/index.js'
import { adam, applyUpdates } from '../src/optim/index.js'
import { fixedPoint } from '../src/solve/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface ImplicitOptions {
  /** Steps of the training. */
  readonly steps?: number
  readonly seed?: number
  readonly out?: string
}

const network = { w: f64(8, 8), u: f64(2, 8), b: f64(8), last: { w: f64(8, 1), b: f64(1) } }
type Network = Exprs<typeof network>
type States = Expr<['n', 8], 'f64'>

/** One step for all examples. Divided so, W makes every distance smaller, and there is one fixed point. */
const layer = (z: States, { w, input }: { readonly w: Network['w']; readonly input: States }): States =>
  tanh(add(matmul(z, div(w, sqrt(add(1, sum(square(w)))))), input))

/** Two ways to the fixed point from 0: solving for it, and taking 400 steps. */
const settle = {
  implicit: (w: Network['w'], input: States) => fixedPoint(layer, mul(0, input), { w, input }, { method: 'anderson', tolerance: 1e-10 }).x,
  unrolled: (w: Network['w'], input: States) => fori(400, (_k, z: States) => layer(z, { w, input }), mul(0, input)),
}
export type Way = keyof typeof settle

/** One number for each example, above 0 for the upper moon. */
const scores = (way: Way) =>
  fn({ p: network, x: f64('n', 2) }, ({ p, x }) => linear(settle[way](p.w, linear(x, p.u, p.b)), p.last.w, p.last.b))

const batch = { p: network, x: f64('n', 2), y: f64('n', 1) }
/** Logistic loss of labels 1 and -1. */
export const lossBy = (way: Way) => fn(batch, ({ p, x, y }) => mean(softplus(neg(mul(y, scores(way)({ p, x }))))))

/** The gradient of the loss by the weights. */
export const gradientBy = (way: Way) => compile(grad(lossBy(way), { wrt: 'p' }), cpu())

/** Two half circles that reach into each other, with noise, and their labels. */
export const moons = (count: number, seed: number) => {
  const [normal, uniform] = [normals(seed), random(seed + 1)]
  const rows = Array.from({ length: count }, (_, i) => {
    const [angle, side] = [Math.PI * uniform(), i % 2 === 0 ? 1 : -1]
    const x = [side * (Math.cos(angle) - 0.5) + 0.12 * normal(), side * (Math.sin(angle) - 0.25) + 0.12 * normal()] as const
    return { x, y: [side] as const }
  })
  return { x: rows.map(({ x }) => x), y: rows.map(({ y }) => y) }
}

/** Random weights, the same for the same seed. */
export const initial = (seed: number): Tensors<typeof network> => {
  const normal = normals(seed)
  return treeMap(({ shape, dtype }) => {
    const size = shape.reduce((n, d) => n * d, 1)
    return tensor(Array.from({ length: size }, normal), shape, dtype)
  }, network)
}

export const main = async (log: Log, { steps = 300, seed = 1, out = 'out' }: ImplicitOptions = {}) => {
  const [data, unseen] = [moons(200, seed), moons(1000, seed + 10)]
  const loss = lossBy('implicit')
  const optimiser = adam({ learningRate: 0.03 })
  const step = compile(
    fn({ ...batch, state: optimiser.init(network) }, ({ p, x, y, state }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, x, y })
      const { updates, state: next } = optimiser.update(grad, state, p)
      return { p: applyUpdates(p, updates), state: next, value }
    }),
    cpu(),
  )
  let now = { p: initial(seed), state: optimiser.init(initial(seed)) }
  const losses: number[] = []
  for (let k = 0; k < steps; k++) {
    const { value, ...next } = step({ ...now, ...data })
    losses.push(value.item())
    now = next
  }
  const { p } = now
  log(`loss: from ${losses[0]!.toFixed(3)} to ${losses.at(-1)!.toFixed(3)} in ${steps} steps`)

  // At the trained weights: the same gradient both ways, and what each way needs.
  const gradients = { implicit: gradientBy('implicit'), unrolled: gradientBy('unrolled') }
  const [g, h] = [treeLeaves(gradients.implicit({ p, ...data })), treeLeaves(gradients.unrolled({ p, ...data }))]
  const apart = Math.max(...g.flatMap((leaf, i) => Array.from(leaf.data, (v, k) => Math.abs(v - h[i]!.data[k]!))))
  const bytes = { implicit: gradients.implicit.explain().peakBytes, unrolled: gradients.unrolled.explain().peakBytes }
  log(`the gradient beside that of 400 layers: at most ${apart.toExponential(1)} apart`)
  log(`memory: ${(bytes.implicit / 1024).toFixed(0)} KiB; of 400 layers: ${(bytes.unrolled / 1024).toFixed(0)} KiB`)
  expectThat(apart < 1e-7, 'the same gradient')

  const score = compile(scores('implicit'), cpu())
  const said = score({ p, x: unseen.x }).toArray()
  const accuracy = said.filter(([s], i) => s * unseen.y[i]![0] > 0).length / said.length
  log(`${(100 * accuracy).toFixed(1)} % of unseen points on the right side`)
  expectThat(accuracy > 0.95, 'moons apart')

  // Where the score changes its sign between neighbours of a grid: the border.
  const grid = Array.from({ length: 201 * 201 }, (_, k) => [0.02 * (k % 201) - 2, 0.02 * Math.floor(k / 201) - 2] as const)
  const upper = score({ p, x: grid })
    .toArray()
    .map(([s]) => s > 0)
  const border = grid.filter((_, k) => upper[k] !== upper[k + 1] || upper[k] !== upper[k + 201]).filter(([x, y]) => x < 1.98 && y < 1.98)
  const moon = (side: number) => data.x.filter((_, i) => data.y[i]![0] === side)
  const file = await plot(out, 'implicit', {
    title: 'Two moons, kept apart by a fixed point',
    x: 'x',
    y: 'y',
    points: { upper: moon(1), lower: moon(-1), border },
    extent: 2,
  })
  log(`picture: ${file}`)
  return { losses, apart, bytes, accuracy, file }
}

start(import.meta.url, main)
