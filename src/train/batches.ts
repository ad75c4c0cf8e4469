/** Minibatches and splits of a data set, in orders that follow from seeds. */

import { listOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { flag, needed, type OptionsOf, readOptions } from '../core/errors/options.js'
import { raise } from '../index.js'
import { seed, wholeOf } from './given.js'
import { permutation, SPLIT_STREAM } from './order.js'
import { type Batch, gather, roomFor, tableOf } from './rows.js'

/** Where `train` takes its batches from: each depends on its position alone, so that a run can resume anywhere. */
export interface Source<out B> {
  /** Batches in an epoch. */
  readonly steps: number
  /** The batch of one step of one epoch, both counted from 0. */
  readonly at: (epoch: number, step: number) => B | PromiseLike<B>
}
/** The minibatches of a data set. */
export interface Batches<out B> extends Source<B> {
  readonly rows: number
  readonly size: number
  readonly at: (epoch: number, step: number) => B
  /** The batches of one epoch, one after the other. */
  readonly epoch: (epoch: number) => Iterable<B>
}

export const batchOptions = {
  /** Rows of a batch. */
  size: needed<unknown, number>((x) => x), // its bound is the number of rows
  /** Shuffles: the order of an epoch depends on this whole number and the epoch alone. Without it the rows come in their own order. */
  seed,
  /** Leaves out the rows of the last, smaller batch (false unless given). */
  dropLast: flag(),
  /** Writes every batch into the same tensors: what was given is overwritten by the next (false unless given). */
  reuse: flag(),
}
/** How a data set is cut into minibatches. */
export interface BatchOptions extends OptionsOf<typeof batchOptions> {}
/** The size of every batch, where no smaller one comes last. */
type Rows<O> = O extends { readonly dropLast: true; readonly size: infer N extends number } ? N : number

const EPOCHS = SPLIT_STREAM - 1
const outside = (what: string, x: unknown, most: number): never =>
  badInput('batches', `${what} must be from 0 to ${most}, not ${shown(x)}.`)

/**
 * Minibatches of a data set: a tree of tensors, typed arrays or nested arrays whose first axis counts the rows.
 *
 * Shapes  leaves [rows, ...s] -> [size, ...s], dtypes stay; `rows % size` remaining rows at the end of an epoch make a smaller batch (another
 *         shape, so another plan, which is made once), so that no row is silently lost. `dropLast: true` leaves them out, and `size` is in the
 *         types. With a `seed` each epoch has an order of its own, which depends on seed and epoch alone: it is the same on every machine. A
 *         row is copied into its batch; the data set is not. `reuse: true` allocates nothing after the first batch of a size.
 * Errors  ShapeMismatch if leaves have different numbers of rows; BadInput unless the size is an integer from 1 to the number of rows.
 * @example
 * const data = batches({ x: [[1, 2], [3, 4], [5, 6]], y: new Int32Array([0, 1, 0]) }, { size: 2 })
 * data.at(0, 0)   // { x: [[1, 2], [3, 4]], y: [0, 1] }
 * data.at(0, 1)   // { x: [[5, 6]], y: [0] }
 * batches(tensor([1, 2, 3, 4]), { size: 4, seed: 1 }).at(0, 0)   // [4, 1, 2, 3]
 */
export const batches = <T, const O extends BatchOptions>(data: T, options: O): Batches<Batch<T, Rows<O>>> => {
  const { seed, dropLast, reuse, ...given } = readOptions(batchOptions, options, 'batches')
  const table = tableOf(data, 'batches')
  const { rows } = table
  if (rows === 0) return badInput('batches', 'the data has no rows.')
  const size = wholeOf(given.size, 'size', 'batches', 1, rows)
  const steps = dropLast ? Math.floor(rows / size) : Math.ceil(rows / size)

  let known = { epoch: 0, order: seed === undefined ? Uint32Array.from({ length: rows }, (_, i) => i) : permutation(rows, seed, 0) }
  const rooms = new Map<number, unknown>()
  const at = (epoch: number, step: number): Batch<T, Rows<O>> => {
    if (!(Number.isInteger(epoch) && epoch >= 0 && epoch <= EPOCHS)) outside('the epoch', epoch, EPOCHS)
    if (!(Number.isInteger(step) && step >= 0 && step < steps)) outside('the step', step, steps - 1)
    if (seed !== undefined && known.epoch !== epoch) known = { epoch, order: permutation(rows, seed, epoch) }
    const places = known.order.subarray(step * size, Math.min(rows, (step + 1) * size))
    const room = rooms.get(places.length) ?? roomFor(table, places.length)
    if (reuse) rooms.set(places.length, room)
    return gather(table, places, room) as Batch<T, Rows<O>>
  }
  return {
    rows,
    size,
    steps,
    at,
    *epoch(epoch: number) {
      for (let step = 0; step < steps; step++) yield at(epoch, step)
    },
  }
}

export const splitOptions = {
  /** The rows of each part depend on this whole number alone. Without it the first rows are the first part's, and so on. */
  seed,
}
/** How `splitData` chooses. */
export type SplitOptions = OptionsOf<typeof splitOptions>
type Parts<P extends readonly number[], B> = { readonly [K in keyof P]: B }

/** Where each part ends. */
const endsOf = (parts: readonly number[], rows: number): readonly number[] => {
  const total = parts.reduce((a, b) => a + (typeof b === 'number' ? b : Number.NaN), 0)
  const whole = parts.every((p) => Number.isSafeInteger(p) && p > 0)
  const shares = parts.every((p) => typeof p === 'number' && p > 0 && p < 1) && Math.abs(total - 1) < 1e-9
  if (parts.length === 0 || !((whole && total === rows) || shares))
    return raise({
      _tag: 'BadInput',
      where: 'splitData',
      reason: `[${parts.slice(0, 8).map(shown).join(', ')}] are not parts of ${rows} rows.`,
      fix: `give shares that add up to 1, such as [0.8, 0.2], or numbers of rows that add up to ${rows}.`,
    })
  let sum = 0
  return parts.map((p) => {
    sum += p
    return whole ? sum : Math.round(sum * rows)
  })
}

/**
 * A data set in parts, every row in one of them: `[0.8, 0.2]` by shares, `[8000, 2000]` by numbers of rows. The parts are copies.
 *
 * Shapes  leaves [rows, ...s] -> [rows of the part, ...s]. With a `seed` the rows of each part follow from it; without one they stay in order.
 * Errors  BadInput if the parts do not add up, or if one would have no row; otherwise as for `batches`.
 * @example
 * const [training, test] = splitData({ x: [1, 2, 3, 4, 5] }, [0.8, 0.2])
 * training   // { x: [1, 2, 3, 4] }
 * test   // { x: [5] }
 */
export const splitData = <T, const P extends readonly number[]>(data: T, parts: P, options?: SplitOptions): Parts<P, Batch<T>> => {
  const { seed } = readOptions(splitOptions, options, 'splitData')
  const table = tableOf(data, 'splitData')
  const given = (listOf(parts, 'parts', 'splitData') as readonly number[]).slice(0, table.rows + 1) // of more parts than rows one is empty
  const ends = endsOf(given, table.rows)
  const order = seed === undefined ? Uint32Array.from({ length: table.rows }, (_, i) => i) : permutation(table.rows, seed, SPLIT_STREAM)
  return ends.map((end, i) => {
    const places = order.subarray(ends[i - 1] ?? 0, end)
    if (places.length === 0) return badInput('splitData', `part ${i} of [${given.join(', ')}] would have none of the ${table.rows} rows.`)
    return gather(table, places, roomFor(table, places.length))
  }) as Parts<P, Batch<T>>
}
