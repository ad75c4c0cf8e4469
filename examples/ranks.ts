// LeNet learns handwritten digits on several ranks, each with its part of every batch: `mpirun -n 4 node --import tsx examples/ranks.ts`.
// One rank alone, `npm run example:ranks`, has the same losses up to the rounding of f32.
//
// --images N   how many images are learnt (default 3840)
// --epochs N   how often (default 2)
// --batch N    images in a batch, on all ranks together (default 64)
// --file PATH  a checkpoint, written after each epoch and read if it is there: any number of ranks goes on from it
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { explain, relu, tensor } from '../src/index.js'
import { ranks, world } from '../src/mpi/index.js'
import { conv2d, dense, flattened, maxPool, sequential } from '../src/nn/index.js'
import { adam } from '../src/optim/index.js'
import { type Checkpoint, fit } from '../src/train/index.js'
import { saveCheckpoint } from '../src/train/node.js'
import { loadDigits, thinned } from './digits/data.js'
import { expectThat, type Log, start } from './entry.js'

export interface RanksOptions {
  readonly images?: number
  readonly epochs?: number
  readonly batch?: number
  readonly file?: string
}
export const lenet = sequential(
  conv2d(1, 6, 5),
  relu,
  maxPool({ window: 2 }),
  conv2d(6, 16, 5),
  relu,
  maxPool({ window: 2 }),
  flattened(),
  dense(16 * 4 * 4, 120),
  relu,
  dense(120, 84),
  relu,
  dense(84, 10),
)

/** The losses of the epochs, on every rank. */
export const main = async (log: Log, { images = 3840, epochs = 2, batch = 64, file }: RanksOptions = {}): Promise<readonly number[]> => {
  const digits = thinned(loadDigits().train, images)
  const data = { x: tensor(digits.images, [digits.count, 1, 28, 28]), y: tensor(digits.labels, [digits.count]) }
  const run = await fit(lenet, data, {
    loss: 'crossEntropy',
    optimizer: adam({ learningRate: 0.002 }),
    epochs,
    batchSize: batch,
    key: 1,
    ranks: ranks(),
    // What is told, and written, is told by rank 0 alone.
    onProgress: (event) =>
      event._tag === 'Epoch' &&
      log(`epoch ${event.epoch + 1}, ranks ${world.size}, ${world.library ?? 'without MPI'}: loss ${event.loss.toFixed(4)}`),
    ...(file !== undefined && { checkpoint: (c: Checkpoint<unknown>) => saveCheckpoint(file, c)() }),
    ...(file !== undefined && existsSync(file) && { from: readFileSync(file) }),
  })()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const { loss } = run.right.history
  expectThat(epochs === 1 || loss[epochs - 1]! < loss[0]!, 'a loss that falls')
  return loss
}

start(import.meta.url, (log) => {
  const { values } = parseArgs({
    options: { images: { type: 'string' }, epochs: { type: 'string' }, batch: { type: 'string' }, file: { type: 'string' } },
  })
  return main(log, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, name === 'file' ? value : Number(value)])))
})
