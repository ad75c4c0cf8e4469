/** What a fit is given, read: its options, its data in batches, and what says which parameters are best. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { holds } from '../../core/errors/language.js'
import { flag, type OptionsFor, or, type ReadOf, untouched } from '../../core/errors/options.js'
import { type Backend, isTensor, type Tensor, tensor, treeLeaves } from '../../index.js'
import { batches, type Source, splitData } from '../batches.js'
import type { Checkpoint } from '../checkpoint.js'
import type { Position } from '../events.js'
import { isRecord, wholeOf } from '../given.js'
import { measureIn } from '../measure.js'
import { threefry } from '../order.js'
import { eventOptions } from '../train.js'
import { losses } from './programs.js'
import type { AnyMeasure, FitEvent, FitMetrics, FitOptions, Fittable, LossName, Optimizer } from './types.js'

type Key = readonly [number, number]
const keyIn = (given: unknown, where: string): Key => {
  if (isTensor(given) && given.dtype === 'i32' && given.shape.length === 1 && given.data.length === 2)
    return [given.data[0]! >>> 0, given.data[1]! >>> 0]
  const seed = wholeOf(given, 'the key', where, 0)
  return [Math.floor(seed / 2 ** 32), seed >>> 0]
}
export const asTensor = ([a, b]: Key): Tensor<[2], 'i32'> => tensor([a | 0, b | 0], [2], 'i32')
/** The key of a step: that of its epoch with the step folded in, as `foldIn` does. */
export const keyAt = (key: Key, { epoch, step }: Position): Tensor<[2], 'i32'> => {
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
  state: untouched(),
  onProgress: or<(event: FitEvent) => unknown, undefined>(undefined, (x, _what, where) =>
    functionIn(x as () => unknown, 'onProgress', where),
  ),
  signal: eventOptions.signal,
  backend: untouched<Backend>(),
} satisfies OptionsFor<FitOptions<unknown>>

export interface Pair {
  readonly x: unknown
  readonly y: unknown
}
const isSource = (x: unknown): x is Source<Pair> => isRecord(x) && isFunction(x.at)
export const pairOf = (x: unknown, where: string): Pair =>
  isRecord(x) && 'x' in x && 'y' in x
    ? (x as unknown as Pair)
    : badInput(where, `${isRecord(x) ? `{ ${Object.keys(x).slice(0, 8).join(', ')} }` : shown(x)} has not both x and y.`, 'give { x, y }.')
export const rowsOf = (batch: Pair): number => {
  const leaf = treeLeaves(batch.y as { readonly y: Tensor })[0]
  return isTensor(leaf) && leaf.shape.length > 0 ? leaf.shape[0]! : 1
}

export const where = 'fit'
/** What a fit is made of: its data in batches, and what says which parameters are best. */
export const setupOf = (model: Fittable, data: unknown, o: ReadOf<typeof fitOptions>) => {
  if (!isRecord(model) || !isFunction(model.init) || !isFunction(model.apply))
    badInput(where, 'the model has not both init and apply.', 'give a layer, or { init: (key) => params, apply: (params, x) => y }.')
  const loss = o.loss ?? badInput(where, 'the options have no loss.', "give { loss: 'mseLoss' }, another name, or a function.")
  const optimizer = o.optimizer ?? badInput(where, 'the options have no optimizer.', 'give { optimizer: adam({ learningRate: 1e-3 }) }.')
  const epochs = wholeOf(o.epochs, 'epochs', where, 0)
  const names = Object.keys(o.metrics)
  if (o.state !== undefined && (model.state === undefined || model.state === null))
    badInput(where, 'there is a state, and the model keeps none.', 'leave out `state`, or give the model `state` and `initState`.')
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
  const better = monitor === undefined ? undefined : (score: number, best: number): boolean => (higher ? score > best : score < best)
  return { loss, optimizer, epochs, names, stateful, source, validation, watched, monitor, better }
}
