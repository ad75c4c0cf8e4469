// LeNet learns handwritten digits on several ranks, each with its part of every batch: `mpirun -n 4 npx tsx examples/ranks.ts`.
// One rank alone, `npm run example:ranks`, has the same losses up to the rounding of f32.
//
// --steps N  how many batches (default 60)
// --batch N  images in a batch, on all ranks together (default 64)
import { parseArgs } from 'node:util'
import { compile, fn, tensor, valueAndGrad } from '../src/index.js'
import { localRows, shard, world } from '../src/mpi/index.js'
import { applyUpdates } from '../src/optim/index.js'
import { loadDigits } from './digits/data.js'
import { adamOver, lenet } from './digits/models.js'
import { imagesOf, initial } from './digits/train.js'
import { expectThat, type Log, start } from './entry.js'

export interface RanksOptions {
  readonly steps?: number
  readonly batch?: number
}
const scalar = () => tensor(new Float32Array(1), [])

/** The loss of each step; rank 0 tells some. */
export const main = (log: Log, { steps = 60, batch = 64 }: RanksOptions = {}): readonly number[] => {
  const { rank, size, library } = world
  const say: Log = (line) => {
    if (rank === 0) log(line)
  }
  say(`${size} rank${size > 1 ? 's' : ''}${library === undefined ? '' : ` by ${library}`}, batches of ${batch} images`)

  // The loss of the whole batch, whose images lie on all ranks. Nothing else knows of them.
  const loss = shard(lenet.loss, { data: { x: 0, y: 0 } })
  const optimiser = adamOver(steps, 0.002)
  const params = initial(lenet.params, 1) // the same numbers on every rank
  const held = { params, state: optimiser.init(params), loss: scalar() }
  const images = imagesOf(loadDigits().train, { batch, seed: 1, shift: 0 })
  const step = compile(
    fn({ params: lenet.params, state: optimiser.init(lenet.params), x: lenet.x, y: lenet.y }, ({ params: p, state, x, y }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params: p, x, y })
      const { updates, state: next } = optimiser.update(grad, state, p)
      return { params: applyUpdates(p, updates), state: next, loss: value }
    }),
  ).into(held)

  const losses: number[] = []
  const from = performance.now()
  for (let k = 0; k < steps; k++) {
    step({ params, state: held.state, ...localRows(images.at(Math.floor(k / images.steps), k % images.steps)) })
    losses.push(held.loss.item())
    if (k % 20 === 0 || k === steps - 1) say(`step ${k + 1}: loss ${losses[k]!.toFixed(4)}`)
  }
  say(`${((performance.now() - from) / steps).toFixed(1)} ms a step`)
  expectThat(losses[steps - 1]! < losses[0]!, 'a loss that falls')
  return losses
}

start(import.meta.url, (log) => {
  const { values } = parseArgs({ options: { steps: { type: 'string' }, batch: { type: 'string' } } })
  main(log, {
    ...(values.steps !== undefined && { steps: Number(values.steps) }),
    ...(values.batch !== undefined && { batch: Number(values.batch) }),
  })
})
