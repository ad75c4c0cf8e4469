// The test runner: two workers, each with the garbage collector exposed for the leak tests. Files of `npm test` share a process but for those that count what a process holds (*.alone.test.ts):
// loading takes as long as their tests. In depth each has its own, whose heap stays small: the checker's files take half the time there.
// `npm test` leaves out *.deep.test.ts, whole programs, and what needs a driver or a browser; CODUAL_TESTS=all has them.
import { defineConfig } from 'vitest/config'

const deep = process.env.CODUAL_TESTS === 'all'
const later = ['test/**/*.deep.test.ts', 'test/backends/webgpu/**', 'test/browser/**', 'test/examples/**', 'test/programs/**']
const own = ['test/**/*.alone.test.ts', ...later]
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
      { test: { ...shared, name: 'together', isolate: deep, include: ['test/**/*.test.ts'], exclude: [...own, flagged] } },
      {
        test: {
          ...shared,
          name: 'alone',
          include: (deep ? own : ['test/**/*.alone.test.ts']).map((f) => (f.endsWith('**') ? `${f}/*.test.ts` : f)),
          exclude: deep ? [] : later,
        },
      },
      { test: { ...shared, name: 'flagged', execArgv: [...shared.execArgv, ...relaxed], include: [flagged] } },
    ],
  },
})
