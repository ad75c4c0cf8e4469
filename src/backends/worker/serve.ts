/** The worker's side: requests from a port, answers back. */
import { badInput } from '../../core/errors/explain.js'
import { readOptions } from '../../core/errors/options.js'
import { finder } from '../../core/programs/json.js'
import { coreRegistry } from '../../packs/all.js'
import { cpu } from '../cpu/index.js'
import { type Channel, isChannel, opened } from './channel.js'
import { type ServeOptions, serveOptions } from './options.js'
import { isOurs, PROTOCOL, type Request } from './protocol.js'
import { Served } from './served.js'

interface Globals {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
  readonly document?: unknown
}
/** Who started this worker; undefined on a main thread. */
const parent = (): Channel | undefined => {
  const { process, document } = globalThis as unknown as Globals // what an engine has is found out
  const node = process?.getBuiltinModule?.('node:worker_threads') as { readonly parentPort: Channel | null } | undefined
  if (node?.parentPort) return node.parentPort
  return document === undefined && isChannel(globalThis) ? globalThis : undefined
}

/**
 * Runs the programs of a page in this worker: the one line of the worker's file. It has all of codual's primitives; primitives of your own are given, with a backend that has their kernels.
 * With `cpu({ threads: threads() })` as the backend, large steps are shared with further threads.
 *
 * Errors  BadInput outside of a worker without a port.
 * @example
 * const { port1, port2 } = new MessageChannel()
 * serve({ port: port2 })
 * await compileAsync((x) => sum(mul(x, x)), worker({ start: () => port1 }))([1, 2, 3])   // 14
 */
export const serve = (given?: ServeOptions): void => {
  const { backend, primitives, port } = readOptions(serveOptions, given, 'serve')
  const from = port ?? parent()
  if (from === undefined)
    badInput(
      'serve',
      'this is not a worker.',
      'call it in the file of a worker, which worker({ start: () => new Worker(...) }) starts, or give { port }.',
    )
  const served = new Served(backend ?? cpu(), finder([...(primitives ?? []), ...coreRegistry.byPrimitive.keys()]))
  const channel = opened(from, 'serve', {
    message: (data) => {
      if (!isOurs(data)) return
      const { said, transfer } = served.answer(data as Request)
      channel.post(said, transfer)
    },
    ended: () => undefined,
  })
  channel.post({ codual: PROTOCOL, ready: true })
}
