// A network whose hidden units are cut over ranks (tensor parallelism, Shoeybi et al. 2019): `mpirun -n 2 node --import tsx examples/tensor-parallel.ts`.
// One rank alone, `npm run example:tensor-parallel`, has the same losses up to rounding.
//
// --steps N   how many steps are made (default 200)
import { parseArgs } from 'node:util'
import {
  add,
  compile,
  evaluate,
  f64,
  fn,
  gelu,
  layerNorm,
  linear,
  matmul,
  mseLoss,
  split,
  type Tensor,
  type Tensors,
  tensor,
  valueAndGrad,
} from '../src/index.js'
import { allGather, shard, world } from '../src/mpi/index.js'
import { adam, applyUpdates } from '../src/optim/index.js'
import { foldIn, glorotNormal, key } from '../src/random/index.js'
import { expectThat, type Log, start } from './entry.js'

export interface TensorParallelOptions {
  readonly steps?: number
}

const [rows, width, hidden] = [64, 8, 24] as const
/** Columns of `up`, elements of `upBias` and rows of `down` belong to hidden units: a rank has h of them. All other parameters are equal on all ranks. */
const cut = { up: f64(width, 'h'), upBias: f64('h'), down: f64('h', width) }
const network = { first: f64(2, width), firstBias: f64(width), ...cut, downBias: f64(width), last: f64(width, 1), lastBias: f64(1) }
type Network = Tensors<typeof network>

/** What hidden units add to the states: a sum over units. */
const units = fn({ x: f64('n', width), ...cut }, ({ x, up, upBias, down }) => matmul(gelu(linear(x, up, upBias)), down))
/** The same sum where each rank has a part of the units: one allReduce of it, and in the backward pass one of x's cotangent. */
const allUnits = shard(units, { data: { up: 1, upBias: 0, down: 0 }, op: 'sum' })

const inputs = { params: network, x: f64('n', 2), y: f64('n', 1) }
/** The loss of a block of a transformer without its attention, between two layers that every rank computes. */
export const loss = fn(inputs, ({ params: p, x, y }) => {
  const states = linear(x, p.first, p.firstBias)
  const { up, upBias, down } = p
  const more = add(states, add(allUnits({ x: layerNorm(states), up, upBias, down }), p.downBias))
  return mseLoss(linear(more, p.last, p.lastBias), y)
})

/** Part r of an array along an axis, of as many as there are ranks. */
const mine = (x: Tensor, axis: number): Tensor => evaluate(split(x, world.size, { axis })[world.rank]!) as Tensor
/** The parameters that a rank has, drawn from one key and then cut. */
export const initial = (): Network => {
  const draw = (i: number, from: number, to: number): Tensor => evaluate(glorotNormal(foldIn(key(1), i), [from, to])) as Tensor
  const none = (n: number): Tensor => tensor(new Float64Array(n)) as Tensor
  return {
    first: draw(0, 2, width),
    firstBias: none(width),
    up: mine(draw(1, width, hidden), 1),
    upBias: mine(none(hidden), 0),
    down: mine(draw(2, hidden, width), 0),
    downBias: none(width),
    last: draw(3, width, 1),
    lastBias: none(1),
  } as Network
}
/** The same tree with whole arrays, on every rank. */
export const whole = (p: Network): Network =>
  evaluate({ ...p, up: allGather(p.up, { axis: 1 }), upBias: allGather(p.upBias), down: allGather(p.down) }) as Network

/** Every rank reads all of the data: 1 inside of a ring, 0 elsewhere. */
const place = Float64Array.from({ length: 2 * rows }, (_, i) => 2 * Math.sin(37.7 * i * i + i))
export const data = {
  x: tensor(place, [rows, 2]),
  y: tensor(
    Float64Array.from({ length: rows }, (_, i) => Number(Math.abs(Math.hypot(place[2 * i]!, place[2 * i + 1]!) - 1.2) < 0.5)),
    [rows, 1],
  ),
}

/** The losses of the steps, and the parameters after them, on every rank. */
export const main = (log: Log, { steps = 200 }: TensorParallelOptions = {}) => {
  const optimiser = adam({ learningRate: 0.03 })
  // Adam looks at each element by itself, so a rank updates its part alone.
  const step = compile(
    fn({ ...inputs, state: optimiser.init(network) }, ({ params, state, x, y }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, x, y })
      const { updates, state: next } = optimiser.update(grad, state, params)
      return { params: applyUpdates(params, updates), state: next, value }
    }),
  )
  const params = initial()
  let now = { params, state: optimiser.init(params) }
  const losses: number[] = []
  for (let k = 0; k < steps; k++) {
    const { value, ...next } = step({ ...now, ...data })
    losses.push(value.item())
    now = next
    if (world.rank === 0 && (k % 50 === 0 || k === steps - 1)) log(`step ${k}, ranks ${world.size}: loss ${losses[k]!.toFixed(4)}`)
  }
  expectThat(steps < 2 || losses.at(-1)! < losses[0]!, 'a loss that falls')
  return { losses, params: whole(now.params), summed: step.explain({ ...now, ...data }).counts.allReduce ?? 0 }
}

start(import.meta.url, (log) => {
  const { values } = parseArgs({ options: { steps: { type: 'string' } } })
  return main(log, values.steps === undefined ? {} : { steps: Number(values.steps) })
})
