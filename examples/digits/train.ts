// Training one model: minibatches in random order, the compiled step run in place, accuracy on images that were never trained on.
import { type Spec, type Tensor, type Tensors, tensor, treeMap } from '../../src/index.js'
import { batches, type TrainEvent, train } from '../../src/train/index.js'
import { type Digits, fillBatch, normal, random, side } from './batches.js'

/** Normal weights of variance 2 / (inputs of a unit) (He et al. 2015); biases, whose axes but one are 1, are 0. */
export const initial = <D>(declared: D, seed: number): Tensors<D> => {
  const next = random(seed)
  const fill = (shape: readonly number[]): Float32Array => {
    const size = shape.reduce((a, b) => a * b, 1)
    const isBias = shape.filter((d) => d > 1).length === 1
    const fanIn = shape.length === 4 ? size / shape[0]! : shape[0]!
    return Float32Array.from({ length: size }, () => (isBias ? 0 : Math.sqrt(2 / fanIn) * normal(next)))
  }
  const leaf = (s: unknown): Tensor => tensor(fill((s as Spec).shape as number[]), (s as Spec).shape as number[])
  return treeMap(leaf, declared) as unknown as Tensors<D>
}

/** Images and labels of a batch, as tensors whose data is filled anew for each step. */
export const batchOf = (size: number) => ({
  x: tensor(new Float32Array(size * side * side), [size, 1, 28, 28]),
  y: tensor(new Int32Array(size), [size]),
})
export type Batch = ReturnType<typeof batchOf>

/** Loss of a batch, and the share of it that was right. */
export interface Figures {
  readonly loss: number
  readonly correct: number
}
/** What the loop needs of a model: a step that changes its parameters in place, and its predictions. */
export interface Trainee {
  readonly name: string
  /** Runs one step; gives the loss and the share of the batch that was right, before the step. */
  readonly step: (batch: Batch) => Figures | Promise<Figures>
  readonly predict: (x: Batch['x']) => Tensor<number[], 'i32'> | Promise<Tensor<number[], 'i32'>>
}
export interface Schedule {
  readonly epochs: number
  readonly batch: number
  readonly rate: number
  readonly seed: number
  /** Each image is moved at random, by at most this many pixels to each side, whenever it is seen. */
  readonly shift: number
}
/** The batches of a schedule, each written into the same tensors. Which images, and how far each is moved, follow from the seed and the place. */
export const imagesOf = (data: Digits, { batch: size, seed, shift }: Omit<Schedule, 'epochs' | 'rate'>) => {
  const places = batches(
    Int32Array.from({ length: data.count }, (_, i) => i),
    { size, seed, dropLast: true, reuse: true },
  )
  const batch = batchOf(size)
  return {
    steps: places.steps,
    at: (epoch: number, step: number): Batch => {
      const next = random(1000 * seed + 500 + epoch * places.steps + step)
      const pixel = (): number => Math.floor((2 * shift + 1) * next()) - shift
      fillBatch(data, places.at(epoch, step).data, batch.x.data, batch.y.data, () => [pixel(), pixel()])
      return batch
    },
  }
}

/** Trains in place; gives loss and accuracy of every step. */
export const learn = (model: Trainee, data: Digits, schedule: Schedule, onProgress: (event: TrainEvent) => unknown) =>
  train(async (state: Trainee, batch) => ({ state, ...(await state.step(batch)) }), imagesOf(data, schedule), {
    state: model,
    epochs: schedule.epochs,
    onProgress,
  })

/** The digit predicted for each image. */
export const predictions = async (model: Trainee, data: Digits): Promise<Int32Array> => {
  const size = Math.min(500, data.count)
  const batch = batchOf(size)
  const out = new Int32Array(data.count)
  for (let from = 0; from < data.count; from += size) {
    const count = Math.min(size, data.count - from)
    const at = Int32Array.from({ length: size }, (_, i) => from + Math.min(i, count - 1)) // the last batch is filled up with its last image
    fillBatch(data, at, batch.x.data, batch.y.data)
    out.set((await model.predict(batch.x)).data.subarray(0, count), from)
  }
  return out
}

/** The share of predictions that are right. */
export const accuracyOf = (predicted: Int32Array, data: Digits): number =>
  predicted.reduce((right, p, i) => right + (p === data.labels[i] ? 1 : 0), 0) / data.count
