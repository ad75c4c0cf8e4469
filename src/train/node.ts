/** The entry `codual/train/node`: files of parameters and checkpoints, and a progress bar. What Node has is loaded where it is used. */

import type * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type OptionsOf, readOptions } from '../core/errors/options.js'
import { type AdError, onHost, raise } from '../index.js'
import { type Checkpoint, checkpointOf, decodedCheckpoint, encodedCheckpoint } from './checkpoint.js'
import type { TrainEvent } from './events.js'
import { barOptions, thrown } from './given.js'
import {
  type Declaring,
  decoded,
  either,
  encoded,
  type Flat,
  type Like,
  type Loaded,
  type LoadOptions,
  type Metadata,
  type Whole,
} from './safetensors.js'
import { decodedTorch, type LoadedTorch, type TorchFileOptions } from './torch.js'

const pathOf = (path: unknown, where: string): string =>
  typeof path === 'string' && path !== '' && !path.includes('\0') ? path : badInput(where, `the path must be a string, not ${shown(path)}.`)

/** What `f` gives or throws, as a value: an error of the file system as a BadInput that names the file. */
const task =
  <A>(path: unknown, where: string, f: (path: string) => Promise<A>): TaskEither<AdError, A> =>
  async (): Promise<E.Either<AdError, A>> => {
    const settled = await Promise.resolve()
      .then(() => f(pathOf(path, where)))
      .then(
        (value) => () => value,
        (e: unknown) => () => {
          if (typeof (e as { readonly code?: unknown } | null)?.code === 'string') return badInput(`${where}: ${path}`, thrown(e))
          throw e
        },
      )
    return either(settled)
  }

let files = 0
/** Writes beside the file, then puts it in its place: a reader, also after a crash, finds the old file or the new one, whole. */
const write = async (path: string, bytes: Uint8Array): Promise<void> => {
  const { open, rename, rm } = await import('node:fs/promises')
  const beside = `${path}.${process.pid}.${files++}.tmp`
  try {
    const file = await open(beside, 'wx')
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(beside, path)
  } catch (e) {
    await rm(beside, { force: true })
    throw e
  }
}
const read = async (path: string): Promise<Uint8Array> => (await import('node:fs/promises')).readFile(path)

/**
 * A safetensors file of a tree of tensors, as `encodeSafetensors` has it; tensors on a device are read back first. The file is written under
 * another name and then moved to its place, so it is never incomplete.
 *
 * Errors  Left of BadInput for a path that cannot be written, and as for `encodeSafetensors`.
 * @example await save('/no such folder/w.safetensors', { w: tensor([1]) })()   // Left({ _tag: 'BadInput', reason: '...ENOENT...', ... })
 */
export const save = (path: string, tree: unknown, metadata?: Metadata): TaskEither<AdError, void> =>
  task(path, 'save', async (p) => write(p, encoded(await onHost(tree as never), metadata, 'save')))

/** load(path, { like? }). */
export interface Load {
  <T>(path: string, options: LoadOptions<T> & Whole<T>): TaskEither<AdError, Loaded<T>>
  <T>(path: string, options: LoadOptions<T> & Declaring<T>): TaskEither<AdError, Loaded<Like<T>>>
  (path: string): TaskEither<AdError, Loaded<Flat>>
}
/**
 * The tensors and the metadata of a safetensors file: a record by name, or the tree `like` with the file's values, as `decodeSafetensors`.
 *
 * Errors  Left of BadInput for a path that cannot be read, of Decode for a file that is not well-formed or not as `like`.
 * @example await load('no such file')()   // Left({ _tag: 'BadInput', ... })
 */
export const load = ((path: string, options?: { readonly like?: unknown }) =>
  task(path, 'load', async (p) => decoded(await read(p), options, 'load'))) as Load // the overloads say what `like` gives

/**
 * The tensors of a file that torch.save wrote, by name and in their place, as `decodeTorch`: nothing of the file runs.
 *
 * Errors  Left of BadInput for a path that cannot be read, of Decode as `decodeTorch`.
 * @example await loadTorch('no such file')()   // Left({ _tag: 'BadInput', ... })
 */
export const loadTorch = (path: string, options?: TorchFileOptions): TaskEither<AdError, LoadedTorch> =>
  task(path, 'loadTorch', async (p) => decodedTorch(await read(p), options, 'loadTorch'))

/**
 * A checkpoint file, as `encodeCheckpoint` has it; tensors on a device are read back first. It takes the result of `train` or one of its
 * events, and never leaves an incomplete file.
 *
 * Errors  as `save`.
 * @example
 * const data = batches([1, 2, 3, 4], { size: 2 })
 * const run = train((w: number, x) => ({ state: w + x.data[0]! }), data, {
 *   state: 0,
 *   epochs: 1,
 *   onProgress: (event) => (event._tag === 'Epoch' ? saveCheckpoint('/no such folder/w.safetensors', event)() : undefined),
 * })
 * await run()   // Left({ _tag: 'BadInput', where: 'saveCheckpoint...', last: { state: 4, position: { epoch: 1, step: 0 }, ... }, ... })
 */
export const saveCheckpoint = (path: string, checkpoint: Checkpoint<unknown>): TaskEither<AdError, void> =>
  task(path, 'saveCheckpoint', async (p) => {
    const { state, position } = checkpointOf(checkpoint, 'saveCheckpoint')
    await write(p, encodedCheckpoint({ state: await onHost(state as never), position }, 'saveCheckpoint'))
  })

/** loadCheckpoint(path, { like }). */
export interface LoadCheckpoint {
  <T>(path: string, options: LoadOptions<T> & Whole<T>): TaskEither<AdError, Checkpoint<T>>
  <T>(path: string, options: LoadOptions<T> & Declaring<T>): TaskEither<AdError, Checkpoint<Like<T>>>
}
/**
 * The checkpoint of a file, its state read onto the tree `like`: `train(step, data, { ...checkpoint, epochs })` continues from it bit for bit.
 *
 * Errors  as `load`.
 * @example await loadCheckpoint('no such file', { like: { w: f64(2) } })()   // Left({ _tag: 'BadInput', ... })
 */
export const loadCheckpoint = ((path: string, options: LoadOptions<unknown>) =>
  task(path, 'loadCheckpoint', async (p) => decodedCheckpoint(await read(p), options, 'loadCheckpoint'))) as LoadCheckpoint // the overloads say what `like` gives

/** How a progress bar looks. */
export type BarOptions = OptionsOf<typeof barOptions>

const figure = (x: number): string =>
  Number.isInteger(x) ? String(x) : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? x.toFixed(4) : x.toExponential(3)

const newBar = async ({ name, stream }: BarOptions) => {
  const { default: progress } = await import('cli-progress').catch(() =>
    raise({
      _tag: 'Unsupported',
      backend: 'progressBar',
      what: 'a terminal without the package cli-progress',
      fix: 'npm install cli-progress',
    }),
  )
  return new progress.SingleBar({
    format: `${name === undefined ? '' : `${name}  `}{bar} {value}/{total}  epoch {epoch}{figures}  {duration_formatted}, {eta_formatted} to go`,
    hideCursor: true,
    ...(stream !== undefined && { stream: stream as NodeJS.WritableStream }), // it is only written to
  })
}

/**
 * A progress bar in the terminal, as an `onProgress` of `train`: steps, epoch, running means of the metrics, and the remaining time. Drawn by the package
 * cli-progress, an optional peer that is loaded at the first event; without a terminal nothing is drawn.
 *
 * Errors  Unsupported if cli-progress is not installed; BadInput for invalid options.
 * @example
 * const data = batches([1, 2, 3, 4], { size: 2 })
 * await train((w: number, x) => ({ state: w + x.data[0]! }), data, { state: 0, epochs: 1, onProgress: progressBar({ name: 'sums' }) })()   // Right({ state: 4, ... })
 */
export const progressBar = (options?: BarOptions): ((event: TrainEvent) => Promise<void>) => {
  const given = readOptions(barOptions, options, 'progressBar')
  let bar: Awaited<ReturnType<typeof newBar>> | undefined
  let means: Readonly<Record<string, number>> = {}
  return async (event) => {
    if (event._tag === 'Done' || event._tag === 'Failed') return bar?.stop()
    if (event._tag === 'Epoch') return
    means = Object.fromEntries(
      Object.entries(event.metrics as Readonly<Record<string, number>>).map(([k, x]) => [k, k in means ? 0.95 * means[k]! + 0.05 * x : x]),
    )
    const payload = {
      epoch: event.epoch,
      figures: Object.entries(means)
        .map(([k, x]) => `  ${k} ${figure(x)}`)
        .join(''),
    }
    if (bar === undefined) {
      bar = await newBar(given)
      bar.start(event.steps, event.done, payload)
    } else bar.update(event.done, payload)
  }
}
