// Every plan that a test makes is held against its program, where it is small; larger ones where a test asks for it. Each test is held to its CPU seconds.
import { afterAll, afterEach, beforeEach } from 'vitest'
import { verifyAll } from '../src/backends/plan/verify.js'
import { limitOf, secondsSince, slowness } from './cost.js'
import { deep } from './depth.js'

declare module 'vitest' {
  interface TaskMeta {
    /** CPU seconds of a test with its hooks, or of a whole file from its imports on. */
    cpuSeconds?: number
    /** The process of a file, and its CPU seconds at the end of it. */
    process?: { readonly pid: number; readonly cpuSeconds: number }
  }
}

verifyAll(deep ? 200_000 : 20_000)

const fileStart = process.cpuUsage()
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
  // A busy machine takes twice the CPU seconds for the same work: only what is far beyond its budget has grown.
  const allowed = 2 * limit * slowness()
  if (seconds > allowed)
    throw new Error(
      `${name} took ${seconds.toFixed(1)} CPU seconds, its budget is ${allowed.toFixed(1)}: try less at \`npm test\` (test/depth.ts), or name it in test/cost.ts`,
    )
})
// biome-ignore lint/correctness/noEmptyPattern: the second argument is the file
afterAll(({}, suite) => {
  suite.file.meta.cpuSeconds = secondsSince(fileStart)
  suite.file.meta.process = { pid: process.pid, cpuSeconds: secondsSince({ user: 0, system: 0 }) }
})
