/** What a fit is given, read: its options, its data in batches, and what says which parameters are best. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { holds } from '../../core/errors/language.js'
import { flag, type OptionsFor, or, type ReadOf, untouched } from '../../core/errors/options.js'
import { type Backend, type DType, isAdException, isTensor, type Tensor, tensor, treeLeaves, treeMap } from '../../index.js'
import { batches, type Source, splitData } from '../batches.js'
import type { Checkpoint } from '../checkpoint.js'
import type { Position } from '../events.js'
import { isRecord, reasonOf, wholeOf } from '../given.js'
import { measureIn } from '../measure.js'
import { threefry } from '../order.js'
import { eventOptions } from '../train.js'
import { losses } from './programs.js'
import type { AnyMeasure, FitBatch, FitEvent, FitMetrics, FitOptions, FitRanks, Fittable, LossName, Optimizer } from './types.js'

type Key = readonly [number, number]
const keyIn = (given: unknown, where: string): Key => {
  if (isTensor(given) && given.dtype === 'i32' && given.shape.length === 1 && given.data.length === 2)
    return [given.data[0]! >>> 0, given.data[1]! >>> 0]
  const seed = wholeOf(given, 'the key', where, 0)
  return [Math.floor(seed / 2 ** 32), seed >>> 0]
}
export const asTensor = ([a, b]: Key): Tensor<[2], 'i32'> => tensor([a | 0, b | 0], [2], 'i32')
/** The key of a step: that of its epoch with the step folded in, as `foldIn` does; of several ranks each folds in its number too. */
export const keyAt = (key: Key, { epoch, step }: Position, rank?: number): Tensor<[2], 'i32'> => {
  // Epochs are another stream than that of foldIn, by which a model makes the keys of its first parameters.
  const of = threefry(...threefry(...key, 1, epoch), 0, step)
  return asTensor(rank === undefined ? of : threefry(...of, 0, rank))
}
const isFunction = (x: unknown): boolean => typeof x === 'function'
const functionIn = <F>(x: F, what: string, where: string): F => (isFunction(x) ? x : badInput(where, `${what} is not a function.`))

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
  ranks: or<FitRanks, undefined>(undefined, (x, _what, where) =>
    isRecord(x) && holds(() => isFunction(x.group))
      ? (x as unknown as FitRanks)
      : badInput(where, `ranks are ${shown(x)}.`, 'give ranks() of codual/mpi.'),
  ),
  backend: untouched<Backend>(),
} satisfies OptionsFor<FitOptions<unknown>>

export type Pair = FitBatch
const isSource = (x: unknown): x is Source<Pair> => isRecord(x) && isFunction(x.at)
/** x and y, and the mask where there is one; nothing else. */
export const pairOf = (given: unknown, where: string): Pair => {
  if (!isRecord(given) || !('x' in given && 'y' in given))
    return badInput(
      where,
      `${isRecord(given) ? `{ ${Object.keys(given).slice(0, 8).join(', ')} }` : shown(given)} lacks x or y.`,
      'give { x, y }.',
    )
  const { x, y, mask } = given
  return mask === undefined ? { x, y } : { x, y, mask: maskIn(mask, y, where) }
}
/** The shape of an array before it is made a tensor; undefined of what is none, which is refused where the data is read. */
const shapeOf = (x: unknown): readonly number[] | undefined => {
  if (isTensor(x)) return x.shape
  if (ArrayBuffer.isView(x)) return [(x as Int32Array).length]
  try {
    return (tensor(x as number[]) as Tensor).shape
  } catch {
    return undefined
  }
}
const MASK_FIX = 'give one bool, or one weight from 0, for each row or for each target.'
/** A mask, checked: one bool or weight for each row, or for each target; of targets that are several arrays for each row. */
const maskIn = (given: unknown, y: unknown, where: string): Tensor => {
  const wrong = (reason: string): never => badInput(`${where}: the mask`, reason, MASK_FIX)
  let mask: Tensor
  try {
    mask = isTensor(given) ? given : (tensor(given as number[]) as Tensor)
  } catch (e) {
    return isAdException(e) ? wrong(`it is ${shown(given)}: ${reasonOf(e)}`) : wrong(`it is ${shown(given)}.`)
  }
  if (mask.shape.length === 0) return wrong(`it is ${shown(given)}.`)
  const weights = (given instanceof Uint8Array ? given : mask.data) as Float64Array
  const most = mask.dtype === 'bool' ? 1 : Number.MAX_VALUE
  const bad = weights.findIndex((w) => !(w >= 0 && w <= most))
  if (bad >= 0) return wrong(`its element ${bad} is ${weights[bad]}.`)
  const leaves = treeLeaves({ y }) as readonly unknown[]
  const shape = shapeOf(leaves[0])?.slice(0, leaves.length > 1 ? 1 : undefined)
  return shape === undefined || mask.shape.every((d, i) => d === shape[i])
    ? mask
    : wrong(`it has the shape [${mask.shape.join(', ')}] beside targets [${shape.join(', ')}].`)
}
/** How much a batch counts: by its rows, or the sum of its mask. */
export const weightOf = ({ y, mask }: Pair): number =>
  mask === undefined ? (shapeOf(treeLeaves({ y })[0])?.[0] ?? 1) : (mask.data as Float64Array).reduce((sum, w) => sum + w, 0)
const dtypeIn = (x: unknown): DType | undefined =>
  isTensor(x) ? x.dtype : x instanceof Float32Array ? 'f32' : x instanceof Int32Array ? 'i32' : x instanceof Uint8Array ? 'bool' : undefined
/** Nested plain numbers of validation data as tensors of the dtypes of the data. */
const typedLike = (given: unknown, like: unknown, where: string): unknown => {
  const dtypes = new Map<string, DType>()
  treeMap((leaf: unknown, path) => void dtypes.set(path, dtypeIn(leaf) ?? 'f64'), like as unknown)
  return treeMap((leaf: unknown, path) => {
    const dtype = dtypes.get(path)
    if (!Array.isArray(leaf) || dtype === undefined || dtype === 'f64') return leaf
    try {
      return tensor(leaf as number[], undefined as never, dtype)
    } catch (e) {
      return isAdException(e) ? badInput(`${where}: ${path}`, reasonOf(e), `the data is ${dtype} there.`) : badInput(where, shown(leaf))
    }
  }, given)
}

export const where = 'fit'
/** What a fit is made of: its data in batches, and what says which parameters are best. */
export const setupOf = (model: Fittable, data: unknown, o: ReadOf<typeof fitOptions>) => {
  if (!isRecord(model) || !isFunction(model.init) || !isFunction(model.apply))
    badInput(where, 'the model lacks init or apply.', 'give a layer, or { init: (key) => params, apply: (params, x) => y }.')
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
    const { x, y, mask } = pairOf(given, `${where}: ${what}`)
    const like = what === 'validation' && !isSource(data) ? pairOf(data, where) : undefined
    if (mask !== undefined && weightOf({ x, y, mask }) === 0)
      badInput(`${where}: ${what}: the mask`, 'all of it is 0: nothing counts.', MASK_FIX)
    const pair = {
      x: like === undefined ? x : typedLike(x, like.x, `${where}: validation x`),
      y: like === undefined ? y : typedLike(y, like.y, `${where}: validation y`),
      ...(mask !== undefined && { mask }),
    }
    const { rows } = batches(pair, { size: 1 })
    return batches(pair, { size: Math.min(rows, o.batchSize), ...(shuffled && { seed }) }) as unknown as Source<Pair>
  }
  let [training, held] = [data, o.validation]
  if (typeof held === 'number') {
    if (isSource(data))
      badInput(where, 'a share of batches cannot be validation data.', 'give the data itself, or validation data of its own.')
    if (!(held > 0 && held < 1)) badInput(where, `the share of validation is ${held}.`, 'give a number between 0 and 1, such as 0.2.')
    ;[training, held] = splitData(pairOf(data, where), [1 - held, held], { seed })
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
