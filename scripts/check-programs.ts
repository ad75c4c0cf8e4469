// Random programs on every backend against the reference, in three modes: `npm run check:programs -- --runs 500 --seed 1 [--kind dag] [--loops] [--workers 2]`; with --webgpu in f32 on lavapipe
import { parseArgs } from 'node:util'
import { coverageTable, loopTable } from '../test/laws/generator/coverage.js'
import { failuresText, runPrograms } from '../test/laws/generator/run.js'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    kind: { type: 'string', default: 'all' },
    workers: { type: 'string', default: '2' },
    shrink: { type: 'string', default: '15' },
    quiet: { type: 'boolean', default: false },
    webgpu: { type: 'boolean', default: false },
    loops: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '0' },
  },
})
const [runs, seed, workers, seconds, minutes] = [values.runs, values.seed, values.workers, values.shrink, values.minutes].map(Number) as [
  number,
  number,
  number,
  number,
  number,
]
const kind = values.loops ? 'loops' : values.kind
if (
  ![runs, seed, workers, seconds, minutes].every((x) => Number.isInteger(x) && x >= 0) ||
  runs < 1 ||
  workers < 1 ||
  (kind !== 'all' && kind !== 'dag' && kind !== 'loops')
) {
  console.error(
    'usage: npm run check:programs -- --runs N --seed S [--kind all|dag|loops] [--loops] [--workers W] [--shrink SECONDS] [--minutes M] [--quiet] | --webgpu',
  )
  process.exit(2)
}
if (values.webgpu) {
  const { checkManyOnDevice } = await import('../test/backends/webgpu/random.js')
  process.exit((await checkManyOnDevice(seed, runs, kind === 'loops' ? 'loops' : 'all')) ? 0 : 1)
}
const tty = process.stdout.isTTY === true
const start = performance.now()
let told = 0
let stopped = false
process.on('SIGINT', () => {
  stopped = true
})
const result = await runPrograms({
  runs,
  seed,
  kind,
  workers,
  shrinkMs: seconds * 1000,
  stop: () => stopped || (minutes > 0 && performance.now() - start > minutes * 60_000),
  progress: (done, failed) => {
    const left = ((performance.now() - start) / done) * (runs - done)
    const text = `${done} of ${runs} programs, ${failed} failed, ${Math.round(left / 1000)} s left`
    if (tty) process.stdout.write(`\r${text}   `)
    else if (done - told >= runs / 10) {
      told = done
      console.log(text)
    }
  },
})
if (tty) process.stdout.write('\r')
if (!values.quiet) console.log(kind === 'loops' ? loopTable(result.coverage) : coverageTable(result.coverage))
if (result.failures.length > 0) console.log(`\n${failuresText(result, kind)}\n`)
const bad = new Set(result.failures.flatMap((f) => f.seeds)).size
console.log(
  `${result.runs - bad} of ${result.runs} random programs (${result.coverage.nodes} nodes) hold: values and gradients agree between cpu, plain JavaScript and reference, in three modes; ${(result.ms / result.runs).toFixed(0)} ms each`,
)
if (result.runs < runs) console.log(`go on with --seed ${result.next} --runs ${runs - result.runs}`)
process.exitCode = bad === 0 ? 0 : 1
