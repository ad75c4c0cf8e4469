// The test runner: two workers, each with the garbage collector exposed for the leak tests. Files of `npm test` share a process but for those that count what a process holds (*.alone.test.ts):
// loading takes as long as their tests. In depth each has its own, whose heap stays small: the checker's files take half the time there. The library is built once for a run (test/native.ts).
// `npm test` leaves out *.deep.test.ts, whole programs, and what needs a driver or a browser; CODUAL_TESTS=all has them.
// CODUAL_TESTS=deep has what `npm test` does not try: these, and files that try more in depth. Both together are all.
import { defineConfig } from 'vitest/config'
import { deep } from './test/depth.js'
import { ENGINE } from './test/engine.js'
import { deeperFiles, LATER, replacingFiles, testFiles } from './test/in-depth.js'
import { native } from './test/native.js'
import LongFirst from './test/sequence.js'

const root = import.meta.dirname
/** Files with a process of their own; in depth all have one. */
const alone = ['test/**/*.alone.test.ts']
const every = process.env.CODUAL_TESTS === 'deep' ? [...LATER, ...deeperFiles(root)] : ['test/**/*.test.ts']
/** Files that put other modules in the place of the library's: for these the runner transforms src. */
const replacing = replacingFiles(root)
const others = testFiles(root).filter((f) => !replacing.includes(f))
/** What asks V8 for what later engines have. Node 22 and later know no such flag, and need none. */
const flagged = 'test/**/*.flag.test.ts'
const relaxed = Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-wasm-relaxed-simd'] : []
const shared = {
  setupFiles: ['test/setup.ts'],
  pool: 'forks' as const,
  execArgv: ['--expose-gc', ...ENGINE],
  testTimeout: 120_000,
  hookTimeout: 120_000,
}
// Which tests depend on what changed is found in the graph of what the runner transforms, and a watcher transforms what is new.
const once = process.argv.includes('run') && !process.argv.some((a) => a.startsWith('--changed'))
const plugins = once ? [native(root)] : []

export default defineConfig({
  test: {
    maxWorkers: 2,
    slowTestThreshold: 3000,
    silent: 'passed-only',
    reporters: ['default', './test/reporter.ts'],
    sequence: { sequencer: LongFirst },
    // Files that share a process come after those that have their own: one of these among them would end the process that is shared, and the next would load all again.
    projects: [
      {
        plugins,
        test: {
          ...shared,
          name: 'together',
          isolate: deep,
          sequence: { groupOrder: deep ? 0 : 1 },
          include: every,
          exclude: deep ? [flagged, ...replacing] : [...alone, ...LATER, flagged, ...replacing],
        },
      },
      { plugins, test: { ...shared, name: 'alone', include: deep ? [] : alone, exclude: [...LATER, ...replacing] } },
      { test: { ...shared, name: 'replacing', include: every, exclude: deep ? others : [...others, ...LATER] } },
      { plugins, test: { ...shared, name: 'flagged', execArgv: [...shared.execArgv, ...relaxed], include: [flagged] } },
    ],
  },
})
