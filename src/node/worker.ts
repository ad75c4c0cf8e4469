/** The worker's file in Node: one of the package. */
import { Worker } from 'node:worker_threads'
import type { Channel } from '../backends/worker/channel.js'

export const startDefault = (): Channel => new Worker(new URL('./thread.js', import.meta.url), { name: 'codual worker' })
