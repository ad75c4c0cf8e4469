/** How a worker is started where none is given: src/node/worker.ts stands in its place in Node. */
import { badInput } from '../../core/errors/explain.js'
import type { Channel } from './channel.js'

export const startDefault = (): Channel =>
  badInput(
    'worker',
    'there is no file for a worker here.',
    "write one that calls serve() of 'codual/worker', and start it: worker({ start: () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }) }).",
  )
