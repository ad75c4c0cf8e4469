// Every plan that a test makes is held against its program, where it is small; larger ones where a test asks for it. Each test is held to its CPU seconds.
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach } from 'vitest'
import { verifyAll } from '../src/backends/plan/verify.js'
import { FAR, limitOf, secondsOfStarted, secondsSince, slowness } from './cost.js'
import { deep } from './depth.js'

declare module 'vitest' {
  interface TaskMeta {
    /** CPU seconds of a test with its hooks, or of a whole file from its imports on. */
    cpuSeconds?: number
    /** CPU seconds of the processes that a file started and that have ended, where the system says so. */
    startedSeconds?: number
    /** The CPU seconds that a test may take, where it took more. */
    limit?: number
    /** The process of a file, and its CPU seconds at the end of it. */
    process?: { readonly pid: number; readonly cpuSeconds: number }
  }
}

// What passed once passes again: draws begin where they did. CODUAL_SEED=random draws anew (a failure tells its seed), a number draws that.
const seed = process.env.CODUAL_SEED ?? '20261126'
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })

verifyAll(deep ? 200_000 : 20_000)

const fileStart = process.cpuUsage()
const startedBefore = secondsOfStarted()
let start = fileStart
beforeEach(() => {
  start = process.cpuUsage()
})
afterEach(({ task }) => {
  const seconds = secondsSince(start)
  task.meta.cpuSeconds = seconds
  if (deep || task.concurrent) return
  const name = `${task.file.name} > ${task.fullTestName}`
  const limit = limitOf(name)
  if (seconds <= limit) return
  // A machine shared with others takes two to three times the CPU seconds for the same work: what is over its limit is listed after the run (reporter.ts), what is far beyond it has grown, and fails.
  task.meta.limit = limit
  const allowed = FAR * limit * slowness()
  if (seconds > allowed)
    throw new Error(
      `${name} took ${seconds.toFixed(1)} CPU seconds, its limit is ${limit}, and ${allowed.toFixed(1)} on this machine: try less at \`npm test\` (test/depth.ts), or name it in test/cost.ts`,
    )
})
// biome-ignore lint/correctness/noEmptyPattern: the second argument is the file
afterAll(({}, suite) => {
  suite.file.meta.cpuSeconds = secondsSince(fileStart)
  suite.file.meta.startedSeconds = secondsOfStarted() - startedBefore
  suite.file.meta.process = { pid: process.pid, cpuSeconds: secondsSince({ user: 0, system: 0 }) }
})
