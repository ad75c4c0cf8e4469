/** The training loop: a step, batches and a state in; events on the way, and the trained state or an error as a value at the end. */

import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { functionOf, shown } from '../core/errors/check-arguments.js'
import { left, right } from '../core/errors/either.js'
import { badInput } from '../core/errors/explain.js'
import { holds, reading } from '../core/errors/language.js'
import { choice, func, type OptionsFor, or, type ReadOf, readOptions, untouched } from '../core/errors/options.js'
import { type AdError, isAdException, isTensor } from '../index.js'
import type { Source } from './batches.js'
import type {
  EventOptions,
  Metrics,
  Numbers,
  Position,
  Step,
  StepAt,
  StepResult,
  TrainError,
  TrainEvent,
  Trained,
  TrainOptions,
} from './events.js'
import { isRecord, thrown, wholeOf } from './given.js'

const now = (): number => performance.now()

/** Another turn of the event loop, so that a page draws and a signal arrives though no step waits for anything. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    const { setImmediate } = globalThis as { readonly setImmediate?: (f: () => void) => unknown } // Node's own way
    if (setImmediate !== undefined) return void setImmediate(resolve)
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(0)
  })
/** Milliseconds between two such turns: a frame of a page. */
const FRAME = 16

export const isThenable = (x: unknown): x is PromiseLike<unknown> =>
  (typeof x === 'object' || typeof x === 'function') && x !== null && typeof (x as { then?: unknown }).then === 'function'

/** A failure of something the user gave, on its way to where it becomes a value. */
export class Failure {
  constructor(
    readonly error: AdError,
    readonly cause?: unknown,
  ) {}
}
/** What `f` gives, awaited only where it is a promise; what it throws is a Failure of `where`. */
export const attempt = async <A>(where: string, f: () => A | PromiseLike<A>): Promise<A> => {
  try {
    const x = f()
    return isThenable(x) ? await x : x
  } catch (e) {
    throw failureOf(e, where)
  }
}
export const failureOf = (e: unknown, where: string): Failure => {
  if (e instanceof Failure) return e
  return isAdException(e) ? new Failure(e.error) : new Failure({ _tag: 'BadInput', where, reason: `it threw ${thrown(e)}` }, e)
}

/** Metrics as numbers. */
const numbersOf = (given: object, where: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([name]) => name !== 'state')
      .map(([name, x]: readonly [string, unknown]) => {
        const value = isTensor(x) && x.shape.every((d) => d === 1) ? Number(x.item()) : x
        return [
          name,
          typeof value === 'number'
            ? value
            : badInput(
                where,
                `the metric ${name} is ${isTensor(x) ? `a tensor of shape [${x.shape.join(', ')}]` : shown(x)}.`,
                'give numbers, or tensors of one element.',
              ),
        ]
      }),
  )

/** The errors of numbers that are none. */
const checkFinite = (metrics: Readonly<Record<string, number>>, where: string, kept: string): void => {
  for (const [name, x] of Object.entries(metrics))
    if (!Number.isFinite(x))
      badInput(
        where,
        `the metric ${name} is ${x}.`,
        `lower the learning rate or clip the gradient; ${kept}; onNonFinite: 'ignore' goes on.`,
      )
}

/** What `trainEvents` takes; the last step of a position is that of the data. */
export const eventOptions = {
  epochs: or<number, undefined>(undefined, (x, what, where) => wholeOf(x, what, where, 0)),
  state: untouched(),
  position: or({ epoch: 0, step: 0 }, (x, _what, where): Position => {
    if (!isRecord(x)) return badInput(where, `the position must be { epoch, step }, not ${shown(x)}.`)
    const { epoch, step } = reading(`${where}: position`, () => ({ epoch: x.epoch, step: x.step }))
    return { epoch: wholeOf(epoch, "the position's epoch", where, 0), step: wholeOf(step, "the position's step", where, 0) }
  }),
  evaluate: func<((state: never, epoch: number) => unknown) | undefined>(),
  onNonFinite: choice(['stop', 'ignore'], 'stop'),
  signal: or<{ readonly aborted: boolean }, undefined>(undefined, (x, _what, where) =>
    isRecord(x) && holds(() => typeof x.aborted === 'boolean')
      ? (x as { readonly aborted: boolean })
      : badInput(where, `the signal must be an AbortSignal, not ${shown(x)}.`),
  ),
} satisfies OptionsFor<EventOptions<unknown>>
export const trainOptions = { ...eventOptions, onProgress: func<((event: never) => unknown) | undefined>() } satisfies OptionsFor<
  TrainOptions<unknown, unknown>
>
type Given = ReadOf<typeof eventOptions>
/** The state may be undefined, but not left out. */
const withState = <G extends Given>(given: G, options: object | undefined, where: string): G =>
  given.state !== undefined || reading(where, () => 'state' in (options ?? {}))
    ? given
    : badInput(where, 'the options have no state.', 'give the state that the first step takes: { state, epochs }.')

interface Run<S, B, R> extends Omit<Given, 'state'> {
  readonly epochs: number
  readonly step: Step<S, B, R>
  readonly data: Source<B>
}
/** What is given, checked and read once. */
const runOf = <S, B, R>(step: Step<S, B, R>, data: Source<B>, given: Given): Run<S, B, R> => {
  functionOf(step, 'the step', 'train')
  return reading('train: data', () => {
    if (!isRecord(data) || typeof data.at !== 'function')
      return badInput(
        'train',
        'the second argument gives no batches.',
        'pass batches(data, { size }), or { steps, at: (epoch, step) => batch }.',
      )
    const steps = wholeOf(data.steps, "the data's steps", 'train', 1)
    wholeOf(given.position.step, "the position's step", 'train', 0, steps)
    return { ...given, epochs: wholeOf(given.epochs, 'epochs', 'train', 0), step, data: { steps, at: (epoch, i) => data.at(epoch, i) } }
  })
}

/** What a run has come to so far: the one thing that changes while it goes. */
class Progress<S, R, V> {
  readonly metrics: Numbers<R>[] = []
  readonly evaluations: { readonly epoch: number; readonly metrics: Numbers<V> }[] = []
  constructor(
    public state: S,
    public position: Position,
  ) {}
  trained(done: boolean): Trained<S, R, V> {
    const { state, position, metrics, evaluations } = this
    return { state, position, done, metrics, evaluations }
  }
  failed({ error, cause }: Failure, place?: string): TrainError<S, R, V> {
    const site = 'site' in error ? error.site : undefined
    return {
      ...error,
      ...(place !== undefined && { site: { ...site, equation: site?.equation === undefined ? place : `${site.equation}, ${place}` } }),
      last: this.trained(false),
      ...(cause !== undefined && { cause }),
    } as TrainError<S, R, V>
  }
}

/** The events of a run that is well-formed; the last is thrown where it is a Failure. */
async function* eventsOf<S, B, R, V>(
  run: Run<S, B, R>,
  progress: Progress<S, R, V>,
  began: number,
): AsyncGenerator<TrainEvent<S, R, V>, boolean> {
  const { steps } = run.data
  const total = run.epochs * steps
  let turned = now()
  for (let { epoch, step } = run.position; epoch < run.epochs; epoch++, step = 0) {
    for (; step < steps; step++) {
      if (now() - turned > FRAME) {
        await turn()
        turned = now()
      }
      if (run.signal?.aborted === true) return false
      const at: StepAt = { epoch, step, done: epoch * steps + step, steps: total }
      const batch = await attempt('the batch', () => run.data.at(epoch, step))
      const result = await attempt('the step', () => run.step(progress.state, batch, at))
      const metrics = await attempt('the step', () => {
        if (!isRecord(result) || !('state' in result))
          return badInput(
            'the step',
            `it gave ${isRecord(result) ? 'no state' : shown(result)}.`,
            'give the state after the step, and metrics: { state, loss }.',
          )
        const numbers = numbersOf(result, 'the step')
        if (run.onNonFinite === 'stop') checkFinite(numbers, 'the step', 'the state before the step is in last.state')
        return numbers as Numbers<R>
      })
      progress.metrics.push(metrics)
      progress.state = (result as { readonly state: S }).state
      progress.position = { epoch, step: step + 1 }
      yield { _tag: 'Step', ...at, done: at.done + 1, metrics, state: progress.state, position: progress.position, elapsed: now() - began }
    }
    const evaluation = await attempt('evaluate', async () => {
      const given: unknown = run.evaluate === undefined ? {} : await run.evaluate(progress.state as never, epoch)
      if (!isRecord(given)) return badInput('evaluate', `it gave ${shown(given)}.`, 'give metrics by name: { loss, accuracy }.')
      const numbers = numbersOf(given, 'evaluate')
      if (run.onNonFinite === 'stop') checkFinite(numbers, 'evaluate', 'the state is in last.state')
      return numbers as unknown as Numbers<V>
    })
    if (run.evaluate !== undefined) progress.evaluations.push({ epoch, metrics: evaluation })
    progress.position = { epoch: epoch + 1, step: 0 }
    yield { _tag: 'Epoch', epoch, evaluation, state: progress.state, position: progress.position, elapsed: now() - began }
  }
  return true
}

const placeOf = ({ epoch, step }: Position, steps: number): string =>
  step === steps ? `epoch ${epoch}, after its last step` : `epoch ${epoch}, step ${step}`
/** The run from its first event to its one end; what `told` throws or gives as a Left ends it as a failure of the event's step. */
async function* running<S, B, R, V>(
  step: Step<S, B, R>,
  data: Source<B>,
  given: () => Given,
  told: (event: TrainEvent<S, R, V>) => unknown,
): AsyncGenerator<TrainEvent<S, R, V>, void> {
  const began = now()
  let progress = new Progress<S, R, V>(undefined as S, { epoch: 0, step: 0 })
  let steps: number | undefined
  let place: string | undefined
  const tell = (event: TrainEvent<S, R, V>): Promise<void> =>
    attempt('onProgress', async () => {
      const answer = await told(event)
      if (!isRecord(answer) || answer._tag !== 'Left') return
      const { left } = answer
      throw isRecord(left) && typeof left._tag === 'string'
        ? new Failure(left as unknown as AdError)
        : new Error(`a Left of ${shown(left)}`)
    })
  let end: TrainEvent<S, R, V>
  try {
    const options = given()
    progress = new Progress(options.state as S, { epoch: 0, step: 0 })
    const run = runOf(step, data, options)
    progress.position = run.position
    steps = run.data.steps
    const events = eventsOf(run, progress, began)
    let next = await events.next()
    while (next.done !== true) {
      const event = next.value
      place =
        event._tag === 'Step'
          ? placeOf(event, steps)
          : event._tag === 'Epoch'
            ? placeOf({ epoch: event.epoch, step: steps }, steps)
            : undefined
      await tell(event)
      yield event
      place = undefined
      next = await events.next()
    }
    end = { _tag: 'Done', trained: progress.trained(next.value), elapsed: now() - began }
    place = 'the event Done'
    await tell(end)
  } catch (e) {
    const error = progress.failed(failureOf(e, 'train'), place ?? (steps === undefined ? undefined : placeOf(progress.position, steps)))
    end = { _tag: 'Failed', error, elapsed: now() - began }
    await tell(end).catch(() => undefined) // the run has failed already: the first error is the one to give
  }
  yield end
}

/**
 * The events of a training run as they happen, for a page: `for await (const event of trainEvents(step, data, options))`. As `train`, whose arguments it takes;
 * leaving the loop early stops the run.
 *
 * Each step runs when its event is asked for. The last event is `Done`, with what `train` gives, or `Failed`, with its error: it never throws.
 * @example
 * const tags: string[] = []
 * for await (const event of trainEvents((w: number, x) => ({ state: w + x.item() }), batches([1, 2], { size: 1 }), { state: 0, epochs: 1 })) tags.push(event._tag)
 * tags   // ['Step', 'Step', 'Epoch', 'Done']
 */
export const trainEvents = <S, B, R extends StepResult<S, R>, V extends Metrics = Record<never, never>>(
  step: Step<S, B, R>,
  data: Source<B>,
  options: EventOptions<S, V>,
): AsyncIterable<TrainEvent<S, R, V>> => ({
  [Symbol.asyncIterator]: () =>
    running<S, B, R, V>(
      step,
      data,
      () => withState(readOptions(eventOptions, options, 'trainEvents'), options, 'trainEvents'),
      () => undefined,
    ),
})

/**
 * A training run as a TaskEither: `step(state, batch, at)` gives the next state and metrics, `{ state, loss }`, over every batch of every epoch.
 *
 * Nothing happens before it is run. A step may return a promise, so that functions compiled for any backend can be used. Metrics are numbers or
 * tensors of one element; `evaluate(state, epoch)` gives others after each epoch. `onProgress` is called with every event and may return a
 * promise, or a Left that ends the run. An aborted `signal` ends it before the next step: Right, with `done: false`. `{ state, position }` of its
 * result resume the run, bit for bit.
 * Errors  Left of an AdError that names epoch and step and has the result so far in `last`: for exceptions of a step, a batch, `evaluate` or
 *         `onProgress`, and for a metric that is NaN or infinite, unless `onNonFinite: 'ignore'`; BadInput for invalid arguments.
 * @example
 * const data = batches([1, 2, 3, 4], { size: 2 })
 * const mean = train((w: number, x) => ({ state: 0.5 * w + 0.5 * x.data[0]!, w }), data, { state: 0, epochs: 2 })
 * await mean()   // Right({ state: 2.1875, metrics: [{ w: 0 }, { w: 0.5 }, { w: 1.75 }, { w: 1.375 }], position: { epoch: 2, step: 0 }, ... })
 */
export const train =
  <S, B, R extends StepResult<S, R>, V extends Metrics = Record<never, never>>(
    step: Step<S, B, R>,
    data: Source<B>,
    options: TrainOptions<S, R, V>,
  ): TaskEither<TrainError<S, R, V>, Trained<S, R, V>> =>
  async () => {
    let told: (event: TrainEvent<S, R, V>) => unknown = () => undefined
    const given = (): Given => {
      const read = withState(readOptions(trainOptions, options, 'train'), options, 'train')
      if (read.onProgress !== undefined) told = read.onProgress as typeof told
      return read
    }
    for await (const event of running<S, B, R, V>(step, data, given, (e) => told(e))) {
      if (event._tag === 'Done') return right(event.trained)
      if (event._tag === 'Failed') return left(event.error)
    }
    return badInput('train', 'the run has no end.') // `running` gives one always
  }
