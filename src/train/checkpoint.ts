/** Checkpoints: the state of a run and its position, as one safetensors file. */

import type * as E from 'fp-ts/lib/Either.js'
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { readOptions } from '../core/errors/options.js'
import { type AdError, raise } from '../index.js'
import type { Position } from './events.js'
import { isRecord } from './given.js'
import { type Declaring, decoded, either, encoded, type Like, type LoadOptions, loadOptions, type Whole } from './safetensors.js'

/** What a run resumes from: the result of `train`, or one of its events. */
export interface Checkpoint<out S> {
  readonly state: S
  readonly position: Position
}

const KEY = 'codual.position'
const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0
const isPosition = (x: unknown): x is Position => isRecord(x) && isCount(x.epoch) && isCount(x.step)

/** What is given as a checkpoint, read once. */
export const checkpointOf = (given: Checkpoint<unknown>, where: string): Checkpoint<unknown> =>
  reading(where, () => {
    if (!isRecord(given) || !('state' in given))
      return badInput(
        where,
        `${isRecord(given) ? 'an object without a state' : shown(given)} is not a checkpoint.`,
        'give { state, position }.',
      )
    const { state, position } = given
    const { epoch, step } = (position ?? {}) as Partial<Position>
    return isCount(epoch) && isCount(step)
      ? { state, position: { epoch, step } }
      : badInput(where, 'the position is not { epoch, step }, two whole numbers from 0.', 'give that of an event or of what train gives.')
  })
/** The bytes of a checkpoint; errors name the function `where`. */
export const encodedCheckpoint = ({ state, position }: Checkpoint<unknown>, where: string): Uint8Array<ArrayBuffer> =>
  encoded(state, { [KEY]: JSON.stringify(position) }, where)
const positionIn = (text: string | undefined): Position => {
  let position: unknown
  try {
    position = JSON.parse(text ?? 'null')
  } catch {} // what is not JSON is no position either
  return isPosition(position)
    ? { epoch: position.epoch, step: position.step }
    : raise({
        _tag: 'Decode',
        errors: [
          { path: `__metadata__.${KEY}`, reason: `is ${text === undefined ? 'missing: this is not a checkpoint' : 'no position'}.` },
        ],
      })
}
/** As `decodeCheckpoint`, raising its errors; they name the function `where`. */
export const decodedCheckpoint = (bytes: unknown, options: unknown, where: string): Checkpoint<unknown> => {
  const read = readOptions(loadOptions, options, where)
  if (read.like === undefined)
    return badInput(where, 'it needs the tree that the state is read onto.', 'give the state that the run began with: { like: state }.')
  const { tensors, metadata } = decoded(bytes, read, where)
  return { state: tensors, position: positionIn(metadata[KEY]) }
}

/**
 * A checkpoint as bytes: a safetensors file of the state whose metadata has the position. In Node `saveCheckpoint` writes it.
 *
 * Errors  BadInput if the state has leaves that are not arrays or numbers, or tensors on a device (read them by `onHost`).
 * @example encodeCheckpoint({ state: { w: tensor([1]) }, position: { epoch: 0, step: 1 } }).length   // 136
 */
export const encodeCheckpoint = (checkpoint: Checkpoint<unknown>): Uint8Array<ArrayBuffer> =>
  encodedCheckpoint(checkpointOf(checkpoint, 'encodeCheckpoint'), 'encodeCheckpoint')

/** decodeCheckpoint(bytes, { like }). */
export interface DecodeCheckpoint {
  <T>(bytes: Uint8Array | ArrayBuffer, options: LoadOptions<T> & Whole<T>): E.Either<AdError, Checkpoint<T>>
  <T>(bytes: Uint8Array | ArrayBuffer, options: LoadOptions<T> & Declaring<T>): E.Either<AdError, Checkpoint<Like<T>>>
}
/**
 * The checkpoint that `encodeCheckpoint` wrote, its state read onto the tree `like`: the state that the run began with, or its declaration.
 *
 * Errors  Left of a Decode if the bytes are not a checkpoint of such a state; it never throws.
 * @example
 * const bytes = encodeCheckpoint({ state: { w: tensor([5]), t: 3 }, position: { epoch: 1, step: 2 } })
 * decodeCheckpoint(bytes, { like: { w: f64(1), t: 0 } })   // Right({ state: { w: [5], t: 3 }, position: { epoch: 1, step: 2 } })
 */
export const decodeCheckpoint = ((bytes: Uint8Array | ArrayBuffer, options: LoadOptions<unknown>) =>
  either(() => decodedCheckpoint(bytes, options, 'decodeCheckpoint'))) as DecodeCheckpoint // the overloads say what `like` gives
