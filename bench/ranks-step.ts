// A training step on several ranks: its time as these measure it, and as `scaleOf` predicts it from one process and the link between them.
import { compile, crossEntropy, tensor, valueAndGrad } from '../src/index.js'
import { within } from '../src/mpi/communicator.js'
import { type Link, localRows, measureLink, type ScaleRow, scaleOf, shard, world } from '../src/mpi/index.js'
import { countedRank } from '../src/mpi/scale/counted.js'
import { adam, applyUpdates } from '../src/optim/index.js'
import { key } from '../src/random/index.js'
import { median } from './measure.js'

/** A model, as `sequential` gives one. */
export interface Model {
  readonly init: (k: never) => unknown
  readonly apply: (p: never, x: never) => unknown
}
const optimiser = adam({ learningRate: 1e-3 })
const [WARM, STEPS] = [5, 30]

const stepOf = (model: Model) => (given: { readonly p: unknown; readonly s: unknown; readonly x: unknown; readonly y: unknown }) => {
  const { p, s, x, y } = given
  const loss = (of: { readonly p: unknown; readonly x: unknown; readonly y: unknown }) =>
    crossEntropy(model.apply(of.p as never, of.x as never) as never, of.y as never)
  const { value, grad } = valueAndGrad(shard(loss, { data: { x: 0, y: 0 } }) as never, { wrt: 'p' } as never)({ p, x, y } as never) as never
  const { updates, state } = optimiser.update(grad, s as never, p as never)
  return { p: applyUpdates(p as never, updates as never), s: state, loss: value }
}
/** How many rows of a batch this rank has. */
const rowsOf = (batch: number) => (): number => localRows(tensor(new Float32Array(batch))).data.length
/** The arguments of this rank, which has so many rows. */
const argsOf = (model: Model, rows: () => number) => (): readonly unknown[] => {
  const batch = rows()
  const p = model.init(key(1) as never)
  const x = tensor(
    Float32Array.from({ length: batch * 784 }, (_, i) => Math.sin(i * i)),
    [batch, 1, 28, 28],
  )
  const y = tensor(
    Int32Array.from({ length: batch }, (_, i) => i % 10),
    [batch],
  )
  return [{ p, s: optimiser.init(p as never), x, y }]
}

export interface StepTime {
  /** The link of ranks with a core of their own; undefined on one rank. */
  readonly link: Link | undefined
  readonly seconds: number
  /** What is predicted where all ranks measure what they compute at the same time, and so share cores as they do in a step. */
  readonly together: number
}
const NO_LINK: Link = { latency: 0, bandwidth: 1 }
/** The step on so many ranks, as one process predicts it: of which none is there, or which predict it all at once. */
export const predictedStep = (model: Model, batch: number, size: number, link: Link | undefined, cores: number): ScaleRow =>
  scaleOf(stepOf(model) as never, argsOf(model, rowsOf(batch)), {
    ranks: [size],
    link: link ?? NO_LINK,
    ranksPerNode: size,
    cores,
    scaling: 'strong',
    measure: 1,
  }).rows[0]!
/** Seconds of a call in the mean of a second, less milliseconds that it spends elsewhere: what others take of the cores is in it. */
const meanTime = (call: () => unknown, spent: () => number): number => {
  call()
  const [since, before] = [performance.now(), spent()]
  let calls = 0
  for (; performance.now() < since + 1000; calls++) call()
  return (performance.now() - since - (spent() - before)) / 1000 / calls
}
/** The median of a step on the ranks that are there. */
export const stepTime = (model: Model, batch: number, cores: number): StepTime => {
  const step = compile(stepOf(model) as never) as unknown as (...xs: readonly unknown[]) => unknown
  const args = argsOf(model, rowsOf(batch))()
  const times: number[] = []
  for (let k = 0; k < WARM + STEPS; k++) {
    const since = performance.now()
    step(...args)
    if (k >= WARM) times.push((performance.now() - since) / 1000)
  }
  const seconds = median(times)
  const { size } = world
  if (size === 1) return { link: undefined, seconds, together: predictedStep(model, batch, 1, undefined, 1).seconds }
  const link = measureLink({ cores })
  // The link too as it is where ranks share cores.
  const { exchange } = predictedStep(model, batch, size, measureLink(), size)
  const counted = countedRank(size)
  world.barrier()
  const together = exchange + within(counted.communicator, () => meanTime(() => step(...args), counted.spent))
  return { link, seconds, together }
}
/** What `scaleOf` says of 1 to 4,096 ranks, each with as many rows. */
export const scaled = (model: Model, rows: number, link: Link): string => {
  const step = Object.defineProperty(stepOf(model), 'name', { value: 'step' })
  return String(
    scaleOf(
      step as never,
      argsOf(model, () => rows),
      { link },
    ),
  )
}
