/** Fitting: a model, data and a loss in; the best parameters and a history out. A layer over `train`. */

import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { shown } from '../core/errors/check-arguments.js'
import { left, right } from '../core/errors/either.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { holds, reading } from '../core/errors/language.js'
import { flag, type OptionsFor, or, type ReadOf, readOptions, untouched } from '../core/errors/options.js'
import {
  type AdError,
  type AnyExpr,
  type Backend,
  bceWithLogits,
  binaryCrossEntropy,
  compile,
  crossEntropy,
  evaluate,
  f64,
  huberLoss,
  isTensor,
  l1Loss,
  mseLoss,
  type Tensor,
  tensor,
  treeLeaves,
  treeMap,
  valueAndGrad,
} from '../index.js'
import { applyUpdates } from '../optim/index.js'
import { batches, type Source, splitData } from './batches.js'
import { type Checkpoint, checkpointOf, decodedCheckpoint } from './checkpoint.js'
import type { Position } from './events.js'
import type {
  AnyMeasure,
  FitError,
  FitEvent,
  FitMetrics,
  FitOptions,
  Fittable,
  Fitted,
  History,
  LossName,
  Optimizer,
  ParamsOf,
  RunningOf,
} from './fitted.js'
import { isRecord, wholeOf } from './given.js'
import { measureIn } from './measure.js'
import { threefry } from './order.js'
import { attempt, eventOptions, Failure, failureOf, trainEvents } from './train.js'

const losses: { readonly [N in LossName]: unknown } = { mseLoss, l1Loss, huberLoss, crossEntropy, bceWithLogits, binaryCrossEntropy }
type Key = readonly [number, number]
const keyIn = (given: unknown, where: string): Key => {
  if (isTensor(given) && given.dtype === 'i32' && given.shape.length === 1 && given.data.length === 2)
    return [given.data[0]! >>> 0, given.data[1]! >>> 0]
  const seed = wholeOf(given, 'the key', where, 0)
  return [Math.floor(seed / 2 ** 32), seed >>> 0]
}
const asTensor = ([a, b]: Key): Tensor<[2], 'i32'> => tensor([a | 0, b | 0], [2], 'i32')
/** The key of a step: that of its epoch with the step folded in, as `foldIn` does. */
const keyAt = (key: Key, { epoch, step }: Position): Tensor<[2], 'i32'> => {
  // Epochs are another stream than that of foldIn, by which a model makes the keys of its first parameters.
  const [a, b] = threefry(...key, 1, epoch)
  return asTensor(threefry(a, b, 0, step))
}
const isFunction = (x: unknown): boolean => typeof x === 'function'
const functionIn = <F>(x: F, what: string, where: string): F => (isFunction(x) ? x : badInput(where, `${what} is no function.`))

export const fitOptions = {
  loss: or<FitOptions<unknown>['loss'], undefined>(undefined, (x, _what, where) =>
    isFunction(x) || (typeof x === 'string' && Object.hasOwn(losses, x))
      ? (x as LossName)
      : badInput(
          where,
          `the loss is ${shown(x)}.`,
          `give a function (prediction, target) => scalar, or one of ${Object.keys(losses).join(', ')}.`,
        ),
  ),
  optimizer: or<Optimizer, undefined>(undefined, (x, _what, where) =>
    isRecord(x) && holds(() => isFunction(x.init) && isFunction(x.update))
      ? (x as unknown as Optimizer)
      : badInput(where, `the optimizer is ${shown(x)}.`, 'give what adam, sgd, chain ... of codual/optim give.'),
  ),
  epochs: eventOptions.epochs,
  batchSize: or<number, number>(32, (x, _what, where) => wholeOf(x, 'batchSize', where, 1)),
  shuffle: flag(true),
  metrics: or<FitMetrics, FitMetrics>({}, (x, _what, where) =>
    isRecord(x)
      ? (Object.fromEntries(Object.entries(x).map(([name, m]) => [name, measureIn(m, `${where}: ${name}`)])) as unknown as FitMetrics)
      : badInput(where, `metrics are ${shown(x)}.`, 'give metrics by name: { accuracy: accuracy() }.'),
  ),
  validation: untouched(),
  monitor: or<string, undefined>(undefined, (x, _what, where) =>
    typeof x === 'string' ? x : badInput(where, `monitor is ${shown(x)}.`, "give 'loss' or the name of a metric."),
  ),
  patience: or<number, undefined>(undefined, (x, _what, where) => wholeOf(x, 'patience', where, 1)),
  checkpoint: or<(checkpoint: Checkpoint<unknown>) => unknown, undefined>(undefined, (x, _what, where) =>
    functionIn(x as () => unknown, 'checkpoint', where),
  ),
  from: untouched(),
  key: or<Key, Key>([0, 0], (x, _what, where) => keyIn(x, where)),
  params: untouched(),
  onProgress: or<(event: FitEvent) => unknown, undefined>(undefined, (x, _what, where) =>
    functionIn(x as () => unknown, 'onProgress', where),
  ),
  signal: eventOptions.signal,
  backend: untouched<Backend>(),
} satisfies OptionsFor<FitOptions<unknown>>

interface Pair {
  readonly x: unknown
  readonly y: unknown
}
const isSource = (x: unknown): x is Source<Pair> => isRecord(x) && isFunction(x.at)
const pairOf = (x: unknown, where: string): Pair =>
  isRecord(x) && 'x' in x && 'y' in x
    ? (x as unknown as Pair)
    : badInput(where, `${isRecord(x) ? `{ ${Object.keys(x).slice(0, 8).join(', ')} }` : shown(x)} has not both x and y.`, 'give { x, y }.')
const rowsOf = (batch: Pair): number => {
  const leaf = treeLeaves(batch.y as { readonly y: Tensor })[0]
  return isTensor(leaf) && leaf.shape.length > 0 ? leaf.shape[0]! : 1
}

/** What steps read and change; `sum` and `rows` are the losses of this epoch, weighted by rows. */
interface Now {
  readonly params: unknown
  readonly optimizer: unknown
  readonly running: unknown
  readonly sum: number
  readonly rows: number
}
interface Best {
  readonly params: unknown
  readonly running: unknown
  readonly epoch: number
  readonly score: number
}
type Parts = { readonly params: unknown; readonly running?: unknown }
const withRunning = (params: unknown, running: unknown): Parts => (running === undefined ? { params } : { params, running })

/** A step of a model and its evaluation, as functions to compile. */
const programsOf = (model: Fittable, given: FitOptions<unknown>['loss'], optimizer: Optimizer, stateful: boolean) => {
  const apply = (params: unknown, x: unknown, run: object): readonly [unknown, unknown] => {
    const y = (model as { apply(...xs: unknown[]): unknown }).apply(params, x, run)
    if (!stateful) return [y, undefined]
    return Array.isArray(y) && y.length === 2
      ? [y[0], y[1]]
      : badInput('the model', 'it has a state, and its apply gave no pair.', 'give [y, state], or leave out `state`.')
  }
  const loss = (typeof given === 'string' ? losses[given] : given) as (y: unknown, target: unknown) => unknown
  const lossOf = (y: unknown, target: unknown): AnyExpr => {
    const value = loss(y, target) as AnyExpr | null | undefined
    if (typeof value !== 'object' || value === null || !Array.isArray(value.shape))
      return badInput('the loss', `it gave ${shown(value)}.`, 'give a scalar expression: mean(square(sub(prediction, target))).')
    return value.shape.length === 0
      ? value
      : badShape('the loss', [value.shape], `it gave the shape [${value.shape.join(', ')}].`, 'give a scalar: the mean over the batch.')
  }
  return {
    step: (now: Readonly<Record<string, unknown>>) => {
      const { params, optimizer: held, running, key, x, y } = now
      const of = (p: unknown): unknown => {
        const [out, next] = apply(p, x, { training: true, key, ...(stateful && { state: running }) })
        const value = lossOf(out, y)
        return stateful ? [value, next] : value
      }
      const { value, grad, aux } = valueAndGrad(of as never, { aux: stateful } as never)(params as never) as unknown as Record<
        string,
        never
      >
      const { updates, state } = optimizer.update(grad as never, held as never, params as never)
      return {
        params: applyUpdates(params as never, updates as never),
        optimizer: state,
        ...(stateful && { running: aux }),
        loss: value,
      }
    },
    test: ({ params, running, x, y }: Readonly<Record<string, unknown>>) => {
      const [out] = apply(params, x, { training: false, ...(stateful && { state: running }) })
      return { out, loss: lossOf(out, y) }
    },
  }
}
type Program = (given: object) => Readonly<Record<string, unknown>> | PromiseLike<Readonly<Record<string, unknown>>>
const numberIn = (x: unknown): number => Number((x as Tensor).item())

/** The history in a checkpoint, and back. */
const packed = (history: History): unknown => ({
  loss: tensor([...history.loss]),
  validation: tensor([...history.validation]),
  ...(Object.keys(history.metrics).length > 0 && {
    metrics: Object.fromEntries(Object.entries(history.metrics).map(([name, xs]) => [name, tensor([...xs])])),
  }),
})

const where = 'fit'
/** What a fit is made of: its data in batches, and what says which parameters are best. */
const setupOf = (model: Fittable, data: unknown, o: ReadOf<typeof fitOptions>) => {
  if (!isRecord(model) || !isFunction(model.init) || !isFunction(model.apply))
    badInput(where, 'the model has not both init and apply.', 'give a layer, or { init: (key) => params, apply: (params, x) => y }.')
  const loss = o.loss ?? badInput(where, 'the options have no loss.', "give { loss: 'mseLoss' }, another name, or a function.")
  const optimizer = o.optimizer ?? badInput(where, 'the options have no optimizer.', 'give { optimizer: adam({ learningRate: 1e-3 }) }.')
  const epochs = wholeOf(o.epochs, 'epochs', where, 0)
  const names = Object.keys(o.metrics)
  const stateful = model.state !== undefined && model.state !== null
  const seed = (o.key[0] % 2 ** 21) * 2 ** 32 + o.key[1]

  const sourceOf = (given: unknown, what: string, shuffled: boolean): Source<Pair> => {
    if (isSource(given)) return given
    const pair = pairOf(given, `${where}: ${what}`)
    const { rows } = batches({ x: pair.x, y: pair.y }, { size: 1 })
    return batches({ x: pair.x, y: pair.y }, { size: Math.min(rows, o.batchSize), ...(shuffled && { seed }) }) as unknown as Source<Pair>
  }
  let [training, held] = [data, o.validation]
  if (typeof held === 'number') {
    if (isSource(data)) badInput(where, 'a share of batches is no validation data.', 'give the data itself, or validation data of its own.')
    if (!(held > 0 && held < 1)) badInput(where, `the share of validation is ${held}.`, 'give a number between 0 and 1, such as 0.2.')
    const { x, y } = pairOf(data, where)
    ;[training, held] = splitData({ x, y }, [1 - held, held], { seed })
  }
  const source = sourceOf(training, 'data', o.shuffle)
  const validation = held === undefined ? undefined : sourceOf(held, 'validation', false)
  const watched = validation ?? (names.length > 0 ? source : undefined)
  const monitor = o.monitor ?? (validation === undefined ? undefined : 'loss')
  if (monitor === 'loss' ? validation === undefined : monitor !== undefined && !names.includes(monitor))
    badInput(
      where,
      `there is no ${monitor === 'loss' ? 'validation loss' : `metric ${shown(monitor)}`} to monitor.`,
      `give validation data, or monitor one of the metrics.`,
    )
  if (o.patience !== undefined && monitor === undefined)
    badInput(where, 'patience needs to know what is better.', 'give validation data, or monitor a metric.')
  const higher = monitor !== undefined && monitor !== 'loss' && (o.metrics[monitor] as AnyMeasure).better === 'higher'
  return { loss, optimizer, epochs, names, stateful, source, validation, watched, monitor, higher }
}

interface Given<M extends Fittable> {
  readonly model: M
  readonly data: unknown
  readonly options: unknown
}
/** Runs a fit; what it throws is a Failure. */
const fitting = async <M extends Fittable>({ model, data, options }: Given<M>): Promise<unknown> => {
  const o = readOptions(fitOptions, options, where)
  const { loss, optimizer, epochs, names, stateful, source, validation, watched, monitor, higher } = setupOf(model, data, o)

  const programs = programsOf(model, loss, optimizer, stateful)
  const compiled = (f: unknown): Program => compile(f as never, o.backend as never) as unknown as Program
  const [step, test] = [compiled(programs.step), compiled(programs.test)]
  const adders = Object.values(o.metrics).map((m) => {
    const add = m.add.bind(m) as unknown as (...xs: unknown[]) => unknown
    return m.traced ? (compile(add as never) as unknown as typeof add) : add
  })

  const params = await attempt('the model', () => evaluate((o.params ?? model.init(asTensor(o.key))) as never) as unknown)
  const running = stateful ? await attempt('the model', () => evaluate(model.initState!() as never) as unknown) : undefined
  let now: Now = { params, optimizer: optimizer.init(params as never), running, sum: 0, rows: 0 }
  let best: Best = { params, running, epoch: -1, score: Number.NaN }
  let worse = 0
  let position: Position = { epoch: 0, step: 0 }
  const history = {
    loss: [] as number[],
    validation: [] as number[],
    metrics: Object.fromEntries(names.map((name) => [name, [] as number[]])),
  }
  const checkpointAt = (at: Position): Checkpoint<unknown> => ({
    state: {
      ...withRunning(now.params, now.running),
      optimizer: now.optimizer,
      sum: now.sum,
      rows: now.rows,
      best: { ...withRunning(best.params, best.running), epoch: best.epoch, score: best.score },
      worse,
      history: packed(history),
    },
    position: at,
  })
  if (o.from !== undefined) {
    const bytes = o.from instanceof Uint8Array || o.from instanceof ArrayBuffer
    const like = treeMap((x: unknown) => x, checkpointAt(position).state) as { readonly history: object }
    const open = { ...like, history: treeMap(() => f64('n'), like.history) } // each is as long as the run was
    const read = bytes ? decodedCheckpoint(o.from, { like: open }, where) : checkpointOf(o.from as Checkpoint<unknown>, where)
    reading(`${where}: from`, () => {
      const s = read.state as unknown as Now & {
        best: Best
        worse: number
        history: Record<string, Tensor> & { metrics?: Record<string, Tensor> }
      }
      if (!isRecord(s) || !isRecord(s.best) || !isRecord(s.history))
        badInput(where, 'the checkpoint is not one of a fit.', 'give what its `checkpoint` was given.')
      now = { params: s.params, optimizer: s.optimizer, running: s.running, sum: Number(s.sum), rows: Number(s.rows) }
      best = { params: s.best.params, running: s.best.running, epoch: Number(s.best.epoch), score: Number(s.best.score) }
      worse = Number(s.worse)
      history.loss.push(...s.history.loss!.data)
      history.validation.push(...s.history.validation!.data)
      for (const name of names) history.metrics[name]!.push(...(s.history.metrics?.[name]?.data ?? []))
      position = read.position
    })
  }

  const told = async (what: string, f: ((given: never) => unknown) | undefined, given: unknown): Promise<void> => {
    if (f === undefined) return
    const answer = await attempt(what, () => f(given as never))
    if (isRecord(answer) && answer._tag === 'Left')
      throw isRecord(answer.left) && typeof answer.left._tag === 'string'
        ? new Failure(answer.left as unknown as AdError)
        : new Failure({ _tag: 'BadInput', where: what, reason: `it gave a Left of ${shown(answer.left)}.` })
  }
  const tested = async (epoch: number): Promise<{ readonly loss: number; readonly metrics: Record<string, number> }> => {
    if (watched === undefined) return { loss: Number.NaN, metrics: {} }
    let [sum, rows] = [0, 0]
    const accs: unknown[] = Object.values(o.metrics).map((m) => m.zero)
    for (let i = 0; i < watched.steps; i++) {
      const { x, y } = await attempt('the validation batch', () => watched.at(validation === undefined ? epoch : 0, i))
      const { out, loss: value } = await test({ ...withRunning(now.params, now.running), x, y })
      const n = rowsOf({ x, y })
      sum += n * numberIn(value)
      rows += n
      for (const [k, add] of adders.entries()) accs[k] = add(accs[k], out, y)
    }
    return {
      loss: sum / rows,
      metrics: Object.fromEntries(Object.values(o.metrics).map((m, k) => [names[k]!, m.value(accs[k] as never)])),
    }
  }
  let stop = false
  const afterEpoch = async (epoch: number): Promise<Readonly<Record<string, number>>> => {
    const { loss: held, metrics } = await tested(epoch)
    const mean = now.sum / now.rows
    history.loss.push(mean)
    if (validation !== undefined) history.validation.push(held)
    for (const name of names) history.metrics[name]!.push(metrics[name]!)
    const score = monitor === undefined ? Number.NaN : monitor === 'loss' ? held : metrics[monitor]!
    const better =
      monitor === undefined || (!Number.isNaN(score) && (Number.isNaN(best.score) || (higher ? score > best.score : score < best.score)))
    if (better) best = { params: now.params, running: now.running, epoch, score }
    worse = better ? 0 : worse + 1
    position = { epoch: epoch + 1, step: 0 }
    await told('checkpoint', o.checkpoint, checkpointAt(position))
    await told('onProgress', o.onProgress, { _tag: 'Epoch', epoch, loss: mean, validation: validation && held, metrics, best: better })
    stop = o.patience !== undefined && worse >= o.patience
    return validation === undefined ? {} : { validation: held }
  }
  const fitted = (ended: Fitted<unknown>['ended']): unknown => {
    const partial = monitor === undefined // nothing says which are best
    return {
      params: partial ? now.params : best.params,
      state: partial ? now.running : best.running,
      best: { epoch: best.epoch, score: best.score },
      history: { loss: [...history.loss], validation: [...history.validation], metrics: treeCopy(history.metrics) },
      checkpoint: checkpointAt(position),
      ended,
    }
  }
  if (o.patience !== undefined && worse >= o.patience) return fitted('patience')
  const events = trainEvents(
    async (_: unknown, batch: Pair, at) => {
      const { x, y } = pairOf(batch, 'the batch')
      const done = await step({ ...withRunning(now.params, now.running), optimizer: now.optimizer, key: keyAt(o.key, at), x, y })
      const value = numberIn(done.loss)
      if (!Number.isFinite(value)) return { state: null, loss: value }
      const first = at.step === 0
      const n = rowsOf({ x, y })
      now = {
        params: done.params,
        optimizer: done.optimizer,
        running: done.running,
        sum: (first ? 0 : now.sum) + n * value,
        rows: (first ? 0 : now.rows) + n,
      }
      position = { epoch: at.epoch, step: at.step + 1 }
      await told('onProgress', o.onProgress, {
        _tag: 'Step',
        epoch: at.epoch,
        step: at.step,
        done: at.done + 1,
        steps: at.steps,
        loss: value,
      })
      return { state: null, loss: value }
    },
    source,
    { state: null, epochs, position, evaluate: (_, epoch) => afterEpoch(epoch), signal: o.signal },
  )
  for await (const event of events) {
    if (event._tag === 'Failed') throw new Ended({ ...event.error, last: fitted('error') } as unknown as AdError)
    if (event._tag === 'Epoch' && stop) return fitted('patience')
    if (event._tag === 'Done') return fitted(event.trained.done ? 'epochs' : 'signal')
  }
  return badInput(where, 'the fit has no end.') // trainEvents gives one always
}
const treeCopy = (lists: Readonly<Record<string, readonly number[]>>): unknown =>
  Object.fromEntries(Object.entries(lists).map(([name, xs]) => [name, [...xs]]))
/** An error that knows what the fit had come to. */
class Ended {
  constructor(readonly error: AdError) {}
}

/**
 * Fits a model to data, as a TaskEither: steps of an optimiser over minibatches, by `train`; after each epoch the loss of validation data and metrics.
 *
 * A model is a layer of codual/nn, or { init(key), apply(params, x, { training, key, state }) } of your own. Data is a tree { x, y } of arrays whose first axis counts the rows, or a source of
 * such batches. The result has the best parameters (by validation loss, or `monitor`), a history of plain numbers and a checkpoint. The step is compiled once, and once more for a smaller last batch.
 * Everything random follows from `key`: parameters begin as `model.init(key)`, and each step has a key of its own. The same key gives the same fit, and `{ from: checkpoint }` goes on to the bit.
 * Errors  Left of an AdError that names epoch and step, with what the fit had come to in `last`: a loss that is NaN or no scalar, targets that do not belong, what a callback throws; BadInput for options that do not fit.
 * @example
 * const line = { init: () => ({ w: tensor(0, [1, 1]) }), apply: ({ w }: { w: Expr<[1, 1], 'f64'> }, x: Expr<[number, 1], 'f64'>) => matmul(x, w) }
 * const data = { x: [[1], [2], [3]], y: [[2], [4], [6]] }
 * await fit(line, data, { loss: 'mseLoss', optimizer: sgd({ learningRate: 0.1 }), epochs: 30 })()   // Right({ params: { w: [[2.0000]] }, ended: 'epochs', ... })
 */
export const fit =
  <M extends Fittable, D, K extends string = never>(
    model: M,
    data: D,
    options: FitOptions<D, K>,
  ): TaskEither<FitError<ParamsOf<M>, RunningOf<M>, K>, Fitted<ParamsOf<M>, RunningOf<M>, K>> =>
  async () => {
    type Result = Fitted<ParamsOf<M>, RunningOf<M>, K>
    try {
      return right((await fitting({ model, data, options })) as Result)
    } catch (e) {
      if (e instanceof Ended) return left(e.error as FitError<ParamsOf<M>, RunningOf<M>, K>)
      const { error, cause } = failureOf(e, 'fit')
      return left({ ...error, ...(cause !== undefined && { cause }) } as FitError<ParamsOf<M>, RunningOf<M>, K>)
    }
  }
