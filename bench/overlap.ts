// Collectives that begin where their data are there and end before their first reader, against collectives that each run to their end: the time of a training step on several ranks.
// `npm run bench:overlap [-- --ranks 2] [--mpirun mpirun] [--mca btl=tcp,self] [--rounds 3]`: a network of six layers of 768 units, one bucket for each layer.
// With `--link ethernet10` (or seconds,bytes a second) what MPI is done with counts as done when a link of that latency and bandwidth would have carried it: what is gained where nothing else is in the way.
// biome-ignore assist/source/organizeImports: it changes what the thread that talks to MPI finds, which begins where it is imported
import { given as slow } from './slow-link.js'

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildSync } from 'esbuild'
import { type AnyExpr, compile, cpu, linear, mseLoss, type Tensor, tanh, tensor, valueAndGrad } from '../src/index.js'
import { shard, world } from '../src/mpi/index.js'
import { adam, applyUpdates } from '../src/optim/index.js'
import { median } from './measure.js'

const { values } = parseArgs({
  options: {
    ranks: { type: 'string', default: '2' },
    mpirun: { type: 'string', default: 'mpirun' },
    mca: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    link: { type: 'string' },
    late: { type: 'string', default: '0' },
    way: { type: 'string' },
  },
})
const ways = ['overlapped', 'one by one'] as const
type Way = (typeof ways)[number]
const [WIDTH, LAYERS, ROWS, WARM, STEPS] = [768, 6, 128, 5, 40]

const wave = (shape: readonly number[], scale: number): Tensor =>
  tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => scale * Math.sin(i * i)),
    shape,
  ) as unknown as Tensor
interface Layer {
  readonly w: AnyExpr
  readonly b: AnyExpr
}
interface Inputs {
  readonly params: readonly Layer[]
  readonly x: AnyExpr
  readonly y: AnyExpr
}
const loss = ({ params, x, y }: Inputs): AnyExpr =>
  mseLoss(params.reduce((h, { w, b }) => tanh(linear(h as never, w as never, b as never)) as AnyExpr, x) as never, y as never) as AnyExpr
const optimiser = adam({ learningRate: 1e-4 })
const step = ({ state, ...inputs }: State) => {
  const sharded = shard(loss, { data: { x: 0, y: 0 }, bucketBytes: 4 * WIDTH * (WIDTH + 1), overlap: values.way === ways[0] })
  const { value, grad } = valueAndGrad(sharded, { wrt: 'params' })(inputs)
  const { updates, state: next } = optimiser.update(grad as never, state as never, inputs.params as never)
  return { params: applyUpdates(inputs.params as never, updates), state: next, value }
}
type State = Inputs & { readonly state: unknown }
const rows = ROWS / Number(values.ranks)
const start = (): State => {
  const params = Array.from({ length: LAYERS }, () => ({ w: wave([WIDTH, WIDTH], 0.03), b: wave([WIDTH], 0) }))
  return { params, state: optimiser.init(params as never), x: wave([rows, WIDTH], 1), y: wave([rows, WIDTH], 0.5) } as unknown as State
}

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

if (values.way !== undefined) {
  const run = compile(step as never, cpu()) as unknown as (at: State) => State
  let now: State = start()
  const { x, y } = now
  const times: number[] = []
  for (let k = 0; k < WARM + STEPS; k++) {
    world.barrier()
    const since = performance.now()
    // A rank that is late by turns.
    if (Number(values.late) > 0 && k % world.size === world.rank) pause(Number(values.late))
    now = { ...run(now), x, y }
    if (k >= WARM) times.push(performance.now() - since)
  }
  if (world.rank === 0) console.log(JSON.stringify({ ms: median(times), least: Math.min(...times), library: world.library, slow }))
} else {
  const openMpi = /Open MPI|OpenRTE/.test(spawnSync(values.mpirun, ['--version'], { encoding: 'utf8' }).stdout ?? '')
  const flags = [...(openMpi ? ['--oversubscribe'] : []), ...(values.mca?.split(';').flatMap((m) => ['--mca', ...m.split('=')]) ?? [])]
  // The thread that talks to MPI is a file, and loads no TypeScript.
  mkdirSync('out', { recursive: true })
  const file = join(mkdtempSync(join('out', 'overlap-')), 'rank.mjs')
  buildSync({ entryPoints: [fileURLToPath(import.meta.url)], outfile: file, bundle: true, format: 'esm', platform: 'node', target: 'node20', packages: 'external' }) // biome-ignore format: one row
  const started = (way: Way): { readonly ms: number; readonly least: number; readonly library: string } => {
    const args = [file, '--way', way, '--ranks', values.ranks, '--late', values.late]
    const ran = spawnSync(values.mpirun, ['-n', values.ranks, ...flags, process.execPath, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...(values.link !== undefined && { CODUAL_BENCH_LINK: values.link }) },
    })
    const line = ran.stdout.split('\n').find((l) => l.startsWith('{'))
    if (line === undefined) throw new Error(ran.stderr)
    return JSON.parse(line)
  }
  const rounds = Array.from({ length: Number(values.rounds) }, () => ways.map(started))
  const of = (f: (r: ReturnType<typeof started>) => number, over: (xs: readonly number[]) => number): readonly number[] =>
    ways.map((_, i) => over(rounds.map((r) => f(r[i]!))))
  const ms = of((r) => r.ms, median)
  const least = of(
    (r) => r.least,
    (xs) => Math.min(...xs),
  )
  const shown = (xs: readonly number[]): string => ways.map((way, i) => `${way} ${xs[i]!.toFixed(1)} ms`).join(', ')
  console.log(
    `${values.ranks} ranks, ${rounds[0]![0]!.library}: ${shown(ms)} (${(ms[1]! / ms[0]!).toFixed(3)} times); the fastest step: ${shown(least)} (${(least[1]! / least[0]!).toFixed(3)} times)`,
  )
}
