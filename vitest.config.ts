// The test runner: two workers, each with the garbage collector exposed for the leak tests. Files of `npm test` share a process but for those that count what a process holds (*.alone.test.ts):
// loading takes as long as their tests. In depth each has its own, whose heap stays small: the checker's files take half the time there.
// `npm test` leaves out *.deep.test.ts, whole programs, and what needs a driver or a browser; CODUAL_TESTS=all has them.
// CODUAL_TESTS=deep has what `npm test` does not try: these, and files that try more in depth. Both together are all.
import { defineConfig } from 'vitest/config'
import { deep } from './test/depth.js'
import { deeperFiles, LATER } from './test/in-depth.js'

/** Files with a process of their own; in depth all have one. */
const alone = ['test/**/*.alone.test.ts']
const every = process.env.CODUAL_TESTS === 'deep' ? [...LATER, ...deeperFiles(import.meta.dirname)] : ['test/**/*.test.ts']
/** What asks V8 for what later engines have. Node 22 and later know no such flag, and need none. */
const flagged = 'test/**/*.flag.test.ts'
const relaxed = Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-wasm-relaxed-simd'] : []
const shared = {
  setupFiles: ['test/setup.ts'],
  pool: 'forks' as const,
  execArgv: ['--expose-gc'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    slowTestThreshold: 3000,
    silent: 'passed-only',
    reporters: ['default', './test/reporter.ts'],
    projects: [
      { test: { ...shared, name: 'together', isolate: deep, include: every, exclude: deep ? [flagged] : [...alone, ...LATER, flagged] } },
      { test: { ...shared, name: 'alone', include: deep ? [] : alone, exclude: LATER } },
      { test: { ...shared, name: 'flagged', execArgv: [...shared.execArgv, ...relaxed], include: [flagged] } },
    ],
  },
})
