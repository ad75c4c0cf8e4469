/** Fits that the ranks of the native tests run, and the simulated ones as well: equal bits are expected. */
import { existsSync, readFileSync } from 'node:fs'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import type { Ranks, RanksOptions } from '../../src/mpi/index.js'
import { adam } from '../../src/optim/index.js'
import * as random from '../../src/random/index.js'
import { accuracy, batches, type Checkpoint, type FitEvent, fit as fitTo } from '../../src/train/index.js'
import { saveCheckpoint } from '../../src/train/node.js'

/** What a fit does, as JSON. */
export interface FitWork {
  readonly epochs: number
  /** Where parameters are. */
  readonly parameters?: 'whole' | 'zero1' | 'zero3'
  /** Are sums over ranks under way while ranks compute? */
  readonly overlap?: boolean
  /** Dropout: other numbers of ranks then draw others. */
  readonly noisy?: boolean
  /** Where checkpoints are written after each epoch, and read from if there is one. */
  readonly file?: string
  /** After so many steps rank 1, or the only one, asks to stop. */
  readonly stop?: number
  /** What fails in the second epoch: on rank 0 a callback, or on rank 1 a batch. */
  readonly fails?: 'callback' | 'batch'
  /** Milliseconds that rank 0 takes after each step. */
  readonly slow?: number
}
/** The options of the ranks on which it runs: small buckets, so that there are several. */
export const ranksOf = ({ parameters = 'whole', overlap = false }: FitWork): RanksOptions => ({
  parameters,
  overlap,
  ...(overlap && { bucketBytes: 100 }),
})
/** What a fit came to on a rank. */
export interface FitOutcome {
  readonly ended: string
  readonly epoch: number
  readonly step: number
  readonly history: { readonly loss: readonly number[]; readonly validation: readonly number[] }
  /** All numbers that a checkpoint has. */
  readonly state: readonly number[]
}

const points = 75
const x = cd.tensor(
  Float64Array.from({ length: 2 * points }, (_, i) => Math.sin(37.7 * i * i + i)),
  [points, 2],
)
const data = {
  x,
  y: cd.tensor(
    Float64Array.from({ length: points }, (_, i) => Number(Math.hypot(x.data[2 * i]!, x.data[2 * i + 1]!) < 0.8)),
    [points, 1],
  ),
  mask: Float64Array.from({ length: points }, (_, i) => i % 4),
}
const declared = { w1: cd.f64(2, 12), b1: cd.f64(12), w2: cd.f64(12, 1), b2: cd.f64(1) }
const model = (noisy: boolean) => ({
  init: (key: random.Key) => ({
    w1: random.heNormal(random.foldIn(key, 0), [2, 12]),
    b1: cd.zeros([12]),
    w2: random.heNormal(random.foldIn(key, 1), [12, 1]),
    b2: cd.zeros([1]),
  }),
  apply: (
    { w1, b1, w2, b2 }: cd.Exprs<typeof declared>,
    x: cd.Expr<[number, 2], 'f64'>,
    run: { readonly training: boolean; readonly key?: random.Key },
  ) => {
    const h = cd.tanh(cd.linear(x, w1, b1))
    return cd.linear(noisy && run.training ? (random.dropout(h as AnyExpr, 0.1, run.key!) as typeof h) : h, w2, b2)
  },
})
const numbersOf = (tree: unknown): readonly number[] =>
  (cd.treeLeaves(tree) as readonly unknown[]).flatMap((leaf) => (cd.isTensor(leaf) ? [...leaf.data] : [leaf as number]))
const pause = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms))

/** Runs a fit on one of the ranks. */
export const fitted = async (ranks: Ranks, { epochs, noisy = false, file, stop, fails, slow = 0 }: FitWork): Promise<FitOutcome> => {
  const { rank, size } = ranks
  const signal = { aborted: false }
  let steps = 0
  const source = batches(data, { size: 16, seed: 3 })
  const at = (epoch: number, step: number) => {
    if (steps++ === stop && rank === Math.min(1, size - 1)) signal.aborted = true
    if (fails === 'batch' && rank === 1 && epoch === 1 && step === 2) throw new Error('no such file')
    return source.at(epoch, step)
  }
  const onProgress = async (event: FitEvent): Promise<unknown> => {
    if (slow > 0) await pause(slow)
    if (fails === 'callback' && event.epoch === 1)
      return { _tag: 'Left', left: { _tag: 'BadInput', where: 'the disk', reason: 'it is full.' } }
    return undefined
  }
  const result = await fitTo(
    model(noisy),
    { steps: source.steps, at },
    {
      loss: 'bceWithLogits',
      optimizer: adam({ learningRate: 0.05 }),
      epochs,
      validation: { x: data.x, y: data.y },
      metrics: { accuracy: accuracy({ threshold: 0 }) },
      key: 9,
      ranks,
      signal,
      onProgress,
      ...(file !== undefined && { checkpoint: (c: Checkpoint<unknown>) => saveCheckpoint(file, c)() }),
      ...(file !== undefined && existsSync(file) && { from: readFileSync(file) }),
    },
  )()
  const last = result._tag === 'Right' ? result.right : result.left.last
  const ended = result._tag === 'Right' ? result.right.ended : cd.explain(result.left)
  if (last === undefined) throw new Error(ended)
  const { history, checkpoint } = last
  return { ended, ...checkpoint.position, history, state: numbersOf(checkpoint.state) }
}
