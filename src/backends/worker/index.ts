/** The entry `codual/worker`: programs in a worker, so that a page's own thread stays free. */
import { readOptions } from '../../core/errors/options.js'
import type { AsyncBackend } from '../../core/functions/backend.js'
import type { Channel } from './channel.js'
import { Connection } from './connection.js'
import { onlyF32, WorkerArray, WorkerExecutable } from './executable.js'
import { type WorkerOptions, workerOptions } from './options.js'
import { startDefault } from './start.js'

export type { Channel } from './channel.js'
export type { ServeOptions, WorkerOptions } from './options.js'
export { serve } from './serve.js'

/** A backend in a worker. */
export interface WorkerBackend extends AsyncBackend {
  /** Ends the worker at once: what it has not answered fails, and what it held is lost. A later call starts another, and so does one that waits for its turn. */
  readonly dispose: () => void
}

const makeWorker = (start: () => Channel): WorkerBackend => {
  let current: Connection | undefined
  const connection = (): Connection => {
    current ??= new Connection(start, (of) => {
      if (current === of) current = undefined
    })
    return current
  }
  return {
    kind: 'async',
    name: 'worker',
    prepare: (program) => WorkerExecutable.make(program, connection),
    place: async (array, options) => {
      onlyF32(options?.storage)
      return WorkerArray.place(connection(), array)
    },
    dispose: () => current?.close('the worker was ended by dispose().'),
  }
}
/** By the function that starts them, so that equal options give the same backend. */
const known = /*#__PURE__*/ new WeakMap<() => Channel, WorkerBackend>()

/**
 * A backend that plans and runs programs in a worker: `compile(f, worker({ start }))` gives Promises, and the thread that calls stays free. A call traces a new signature where it is
 * made, since that needs the function itself; then it sends the program as data. Arguments are copied, results are handed over; tensors that `onDevice` places there stay there, and
 * `.into` writes them in place. The worker begins with the first program. If it ends, calls that have not resolved fail with one error, and the next call starts another.
 *
 * `start` gives the worker, whose file calls `serve`. In Node there is one without it, which serves `cpu()`; it keeps no process alive.
 * Errors  of calls: Device if the worker ended, MissingKernel for a primitive that it does not know and for a `tap`, and those of its backend.
 * @example
 * const { port1, port2 } = new MessageChannel()
 * serve({ port: port2 })
 * const backend = worker({ start: () => port1 })
 * await compileAsync((x) => sum(mul(x, x)), backend)([1, 2, 3])   // 14
 */
export const worker = (given?: WorkerOptions): WorkerBackend => {
  const { start = startDefault } = readOptions(workerOptions, given, 'worker')
  let one = known.get(start)
  if (one === undefined) {
    one = makeWorker(start)
    known.set(start, one)
  }
  return one
}
