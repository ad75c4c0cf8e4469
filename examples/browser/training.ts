// LeNet's training on any backend: one compiled step, whose parameters and moments stay on the backend's device and are moved only
// when the backend changes. What was learnt is copied back now and then, so that a lost device costs a few steps.
import { type Backend, compileAsync, onDevice, onHost, tensor, treeLeaves } from 'codual'
import { type Digits, fillBatch, pixels } from '../digits/batches.js'
import { adamOver, lenet, lenetStep, type Optimiser } from '../digits/models.js'
import { accuracyOf, batchOf, imagesOf, initial, predictions } from '../digits/train.js'

const batchSize = 64
const learningRate = 0.002
/** Each image is moved at random, by at most this many pixels to each side, whenever it is seen. */
const largestShift = 1

/** What training changes: the weights, and the optimiser's state. */
const heldOf = (seed: number, optimiser: Optimiser) => {
  const params = initial(lenet.params, seed)
  return { params, state: optimiser.init(params) }
}
type Held = ReturnType<typeof heldOf>

/** How many numbers are learnt. */
export const weights = Object.values(lenet.params)
  .flatMap((layer) => Object.values(layer) as { readonly shape: readonly number[] }[])
  .reduce((n, { shape }) => n + shape.reduce((a, b) => a * b, 1), 0)

/** The model on a backend, from a state that is copied there. */
const modelOn = async (backend: Backend, optimiser: Optimiser, from: Held) => {
  const held = await onDevice(from, backend)
  const [loss, correct] = [tensor(new Float32Array(1), []), tensor(new Float32Array(1), [])]
  const compiled = compileAsync(lenetStep(optimiser), backend)
  const step = compiled.into({ ...held, loss, correct })
  const predict = compileAsync(lenet.predict, backend)
  return {
    name: lenet.name,
    step: async ({ x, y }: ReturnType<typeof batchOf>) => {
      await step({ ...held, x, y })
      return { loss: loss.item(), correct: correct.item() }
    },
    predict: (x: ReturnType<typeof batchOf>['x']) => predict({ params: held.params, x }),
    /** What was learnt so far, in the host's memory. */
    held: (): Promise<Held> => onHost(held),
    /** Frees what the backend holds. */
    close: async (): Promise<void> => {
      await Promise.all([compiled.dispose(), predict.dispose()])
      for (const t of treeLeaves(held)) t.dispose?.()
    },
  }
}

/** Accuracy on the unseen digits after some steps. */
export interface Look {
  readonly step: number
  readonly accuracy: number
}

export interface Training {
  /** Steps in all, and figures of those done. */
  readonly steps: number
  readonly losses: readonly number[]
  readonly correct: readonly number[]
  readonly looks: readonly Look[]
  /** What each unseen digit was taken for, at the last look. */
  readonly predicted: Int32Array | undefined
  /** One step. */
  readonly advance: () => Promise<void>
  /** Reads every unseen digit, and keeps a copy of what was learnt. */
  readonly look: () => Promise<void>
  /** Reads one image of 28 x 28 pixels. */
  readonly read: (image: Float32Array) => Promise<number>
  /** Goes on elsewhere, with what was learnt. Fails, and stays where it is, when the backend does. */
  readonly moveTo: (backend: Backend) => Promise<void>
  /** Goes on elsewhere from the last copy: where the backend, and what was on it, is lost. */
  readonly recoverOn: (backend: Backend) => Promise<void>
  /** Forgets everything. */
  readonly restart: () => Promise<void>
}

export const makeTraining = async (
  digits: { readonly train: Digits; readonly unseen: Digits },
  first: Backend,
  { seed, steps }: { readonly seed: number; readonly steps: number },
): Promise<Training> => {
  const { train, unseen } = digits
  const one = batchOf(1)
  const optimiser = adamOver(steps, learningRate)
  const losses: number[] = []
  const correct: number[] = []
  const looks: Look[] = []
  let predicted: Int32Array | undefined
  let backend = first
  let saved = { step: 0, held: heldOf(seed, optimiser) }
  let model = await modelOn(backend, optimiser, saved.held)

  /** The images of a step follow from the seed and the step alone. */
  const images = imagesOf(train, { batch: batchSize, seed, shift: largestShift })
  const rewind = (step: number): void => {
    losses.length = step
    correct.length = step
    while (looks.length > 0 && looks.at(-1)!.step > step) looks.pop()
  }
  const replace = async (next: Backend, from: typeof saved): Promise<void> => {
    const made = await modelOn(next, optimiser, from.held)
    const old = model
    model = made
    backend = next
    saved = from
    await old.close().catch(() => undefined) // a lost device has nothing left to free
  }

  /** Everything has its turn: a click never meets a step that is half done. */
  let queue: Promise<unknown> = Promise.resolve()
  const inTurn =
    <A extends readonly unknown[], R>(job: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      const done = queue.then(() => job(...args))
      queue = done.catch(() => undefined)
      return done
    }

  return {
    steps,
    losses,
    correct,
    looks,
    get predicted() {
      return predicted
    },
    advance: inTurn(async () => {
      const step = losses.length
      const done = await model.step(images.at(Math.floor(step / images.steps), step % images.steps))
      losses.push(done.loss)
      correct.push(done.correct)
    }),
    look: inTurn(async () => {
      const step = losses.length
      const read = await predictions(model, unseen)
      saved = { step, held: await model.held() }
      predicted = read
      if (looks.at(-1)?.step !== step) looks.push({ step, accuracy: accuracyOf(read, unseen) })
    }),
    read: inTurn(async (image: Float32Array) => {
      fillBatch({ images: image, labels: new Int32Array(1), count: image.length / pixels }, [0], one.x.data, one.y.data)
      return (await model.predict(one.x)).data[0]!
    }),
    moveTo: inTurn(async (next: Backend) => {
      if (next !== backend) await replace(next, { step: losses.length, held: await model.held() })
    }),
    recoverOn: inTurn(async (next: Backend) => {
      await replace(next, saved)
      rewind(saved.step)
    }),
    restart: inTurn(async () => {
      await replace(backend, { step: 0, held: heldOf(seed, optimiser) })
      rewind(0)
      looks.length = 0
      predicted = undefined
    }),
  }
}
