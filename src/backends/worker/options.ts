/** What `worker` and `serve` take. */

import { listOf } from '../../core/errors/check-arguments.js'
import { func, type Kind, type OptionsOf, or, refused } from '../../core/errors/options.js'
import { type SyncBackend, syncBackendOf } from '../../core/functions/backend.js'
import { type AnyPrimitive, primitiveOf } from '../../core/graph/primitive.js'
import { type Channel, isChannel } from './channel.js'

export const workerOptions = {
  /** Starts the worker: `() => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })`, whose file calls `serve()`. Default in Node: a thread that serves `cpu()`. */
  start: func<() => Channel>(),
}
/** Options of `worker`. */
export type WorkerOptions = OptionsOf<typeof workerOptions>

export const serveOptions: {
  readonly backend: Kind<SyncBackend | undefined, SyncBackend>
  readonly primitives: Kind<readonly AnyPrimitive[] | undefined, readonly Own[]>
  readonly port: Kind<Channel | undefined, Channel>
} = {
  backend: or<SyncBackend, undefined>(undefined, (given, _what, where) => syncBackendOf(given, where)),
  primitives: or<readonly AnyPrimitive[], undefined>(undefined, (given, what, where) =>
    listOf(given, what, where).map((op) => primitiveOf(op as AnyPrimitive, where)),
  ),
  port: or<Channel, undefined>(undefined, (given, what, where) =>
    isChannel(given) ? given : refused(given, what, where, 'give a MessagePort.'),
  ),
}
type Own = AnyPrimitive | { readonly primitive: AnyPrimitive }
/** Options of `serve`. */
export interface ServeOptions {
  /** What runs the programs. Default: `cpu()`. */
  readonly backend?: SyncBackend | undefined
  /** Primitives of your own in programs that come, or what `unary` and `binary` made of them. Their kernels are the backend's: `cpu({ kernels })`. */
  readonly primitives?: readonly Own[] | undefined
  /** Where requests come from. Default: whoever started this worker. */
  readonly port?: Channel | undefined
}
