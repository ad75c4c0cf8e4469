/** Threads as the CPU backend takes them. */
import type { ThreadsInside } from '../cpu/kernel.js'
import { crewOf, type Working } from './crew.js'
import type { Starter } from './system.js'

/** `found`: how threads begin here, or why none do. */
export const threadsBy = (found: Starter | string, working: Working): ThreadsInside => {
  const { threads } = working.sharing
  if (typeof found === 'string') return { count: 1, reason: found, crew: undefined }
  if (threads < 2) return { count: 1, reason: 'one thread was asked for, or there is one core', crew: undefined }
  return { count: threads, reason: undefined, crew: () => crewOf(found, working) }
}
