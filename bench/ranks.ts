// Training by `fit` on one rank and on several: samples a second, and the bytes that a rank sends in a step beside those of a ring, 2 (n - 1) / n of the gradient.
// And the time of a step beside that which `scaleOf` predicts by the link that the ranks measure.
// And with parameters whole and in parts.
// `npm run bench:ranks [-- --ranks 2,4] [--mpirun mpirun] [--rounds 3] [--cores 1]`; with `--scale` what is predicted of 1 to 4,096 ranks. Speed-ups need as many free cores as ranks; bytes do not, and predictions are told how many there are.
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { lenet } from '../examples/ranks.js'
import { explain, relu, type Tensor, tensor, treeLeaves } from '../src/index.js'
import { links, ranks, world } from '../src/mpi/index.js'
import { Exchange } from '../src/mpi/native/exchange.js'
import { dense, flattened, sequential } from '../src/nn/index.js'
import { adam } from '../src/optim/index.js'
import { fit as fitTo } from '../src/train/index.js'
import { median } from './measure.js'
import { predictedStep, type StepTime, scaled, stepTime } from './ranks-step.js'

const { values } = parseArgs({
  options: {
    ranks: { type: 'string', default: '2' },
    mpirun: { type: 'string', default: 'mpirun' },
    rounds: { type: 'string', default: '3' },
    cores: { type: 'string', default: String(availableParallelism()) },
    model: { type: 'string' },
    step: { type: 'string' },
    parameters: { type: 'string', default: 'whole' },
    scale: { type: 'boolean' },
  },
})
const models = {
  'LeNet, batch 128': lenet,
  'MLP 784-512-512-10, batch 128': sequential(flattened(), dense(784, 512), relu, dense(512, 512), relu, dense(512, 10)),
} as const
type Model = keyof typeof models
const [BATCH, WARM, STEPS] = [128, 20, 100]
interface Measured {
  readonly library: string | undefined
  readonly samples: number
  /** Bytes a step of one rank: the gradient, and what it sends of data and of roll calls. */
  readonly gradient: number
  readonly data: number
  readonly calls: number
}

/** What this rank has sent to others: the parts that are not its own, whatever way MPI takes. */
const sent = { data: 0, calls: 0 }
const count = (): void => {
  const own = Exchange.prototype
  const { gather, gatherParts, exchange } = own
  own.gather = function (from, into) {
    // What ranks say before a collective is 256 bytes.
    sent[from.byteLength === 256 ? 'calls' : 'data'] += from.byteLength * (this.size - 1)
    return gather.call(this, from, into)
  }
  own.gatherParts = function (mine, ...more) {
    sent.data += mine.byteLength * (this.size - 1)
    return gatherParts.call(this, mine, ...more)
  }
  own.exchange = function (from, counts, ...more) {
    sent.data += counts.reduce((sum, n, to) => (to === this.rank ? sum : sum + n), 0)
    return exchange.call(this, from, counts, ...more)
  }
}

/** Trains, and prints what rank 0 has measured. */
const measure = async (name: Model): Promise<void> => {
  count()
  const rows = BATCH * (WARM + STEPS)
  const x = tensor(
    Float32Array.from({ length: rows * 784 }, (_, i) => Math.sin(i * i)),
    [rows, 1, 28, 28],
  )
  const y = tensor(
    Int32Array.from({ length: rows }, (_, i) => i % 10),
    [rows],
  )
  const marks: (typeof sent & { readonly at: number })[] = []
  const run = await fitTo(
    models[name] as typeof lenet,
    { x, y },
    {
      loss: 'crossEntropy',
      optimizer: adam({ learningRate: 1e-3 }),
      epochs: 1,
      batchSize: BATCH,
      ranks: ranks({ parameters: values.parameters as 'whole' }),
      onProgress: (event) => void (event._tag === 'Step' && marks.push({ ...sent, at: performance.now() })),
    },
  )()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  if (world.rank > 0) return
  const [from, to] = [marks[WARM - 1]!, marks[WARM + STEPS - 1]!]
  const gradient = treeLeaves(run.right.params).reduce((sum, leaf) => sum + (leaf as Tensor).data.byteLength, 0)
  const measured: Measured = {
    library: world.library,
    // By the median of the steps: what else the machine does makes some of them twice as long, on any number of ranks.
    samples: BATCH / (median(marks.slice(WARM, WARM + STEPS).map((m, i) => m.at - marks[WARM + i - 1]!.at)) / 1000),
    gradient,
    data: (to.data - from.data) / STEPS,
    calls: (to.calls - from.calls) / STEPS,
  }
  console.log(JSON.stringify(measured))
}
const started = <T>(what: '--model' | '--step', name: Model, size: number, parameters = 'whole'): T => {
  const args = [
    process.execPath,
    '--import',
    'tsx',
    fileURLToPath(import.meta.url),
    what,
    name,
    '--cores',
    values.cores,
    '--parameters',
    parameters,
  ]
  const flags = /Open MPI|OpenRTE/.test(spawnSync(values.mpirun, ['--version'], { encoding: 'utf8' }).stdout ?? '')
    ? ['--oversubscribe']
    : []
  const { stdout, status, error } = spawnSync(values.mpirun, ['-n', String(size), ...flags, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error !== undefined || status !== 0) throw error ?? new Error(`${values.mpirun} ended with ${status}`)
  return JSON.parse(stdout.split('\n').find((line) => line.startsWith('{'))!) as T
}

if (values.model !== undefined) await measure(values.model as Model)
else if (values.scale === true)
  for (const name of Object.keys(models) as Model[])
    for (const [link, figures] of Object.entries(links))
      console.log(`${name} on each rank, ${link}\n${scaled(models[name], BATCH, figures)}\n`)
else if (values.step !== undefined) {
  const measured = stepTime(models[values.step as Model], BATCH, Number(values.cores))
  if (world.rank === 0) console.log(JSON.stringify(measured))
} else {
  const sizes = [...new Set([1, ...values.ranks.split(',').map(Number)])]
  let library: string | undefined
  const table: Record<string, Record<string, unknown>> = {}
  for (const name of Object.keys(models) as Model[]) {
    const rounds = Array.from({ length: Number(values.rounds) }, () => sizes.map((size) => started<Measured>('--model', name, size)))
    for (const [i, size] of sizes.entries()) {
      const { gradient, data, calls } = rounds[0]![i]!
      library = rounds[0]![i]!.library
      const ring = Math.round((2 * (size - 1) * gradient) / size)
      table[`${name}, ${size} rank${size > 1 ? 's' : ''}`] = {
        'samples a second': Math.round(median(rounds.map((r) => r[i]!.samples))),
        'gradient, bytes': gradient,
        'sent a step, bytes': data + calls,
        'a ring, bytes': ring,
        'sent over ring': size === 1 ? '' : ((data + calls) / ring).toFixed(4),
      }
    }
  }
  const placed: Record<string, Record<string, unknown>> = {}
  for (const name of Object.keys(models) as Model[])
    for (const size of sizes.filter((n) => n > 1)) {
      const rounds = Array.from({ length: Number(values.rounds) }, () =>
        ['whole', 'zero1', 'zero3'].map((parameters) => started<Measured>('--model', name, size, parameters)),
      )
      for (const [i, parameters] of ['whole', 'zero1', 'zero3'].entries()) {
        const { gradient, data, calls } = rounds[0]![i]!
        placed[`${name}, ${size} ranks, ${parameters}`] = {
          'samples a second': Math.round(median(rounds.map((r) => r[i]!.samples))),
          'sent over ring': ((data + calls) / ((2 * (size - 1) * gradient) / size)).toFixed(4),
        }
      }
    }
  const steps: Record<string, Record<string, unknown>> = {}
  for (const name of Object.keys(models) as Model[])
    for (const size of sizes) {
      const rounds = Array.from({ length: Number(values.rounds) }, () => {
        const measured = started<StepTime>('--step', name, size)
        return { ...measured, alone: predictedStep(models[name], BATCH, size, measured.link, Number(values.cores)) }
      })
      const of = (f: (r: (typeof rounds)[number]) => number): number => median(rounds.map(f))
      const ms = (f: (r: (typeof rounds)[number]) => number): string => (1000 * of(f)).toFixed(2)
      steps[`${name}, ${size} rank${size > 1 ? 's' : ''}`] = {
        'step, ms': ms((r) => r.seconds),
        [`predicted for ${values.cores} core${values.cores === '1' ? '' : 's'}, ms`]: ms((r) => r.alone.seconds),
        'over measured': of((r) => r.alone.seconds / r.seconds).toFixed(2),
        'predicted by ranks that compute at once, ms': ms((r) => r.together),
        'over that': of((r) => r.together / r.seconds).toFixed(2),
        'exchange, ms': ms((r) => r.alone.exchange),
      }
    }
  console.log(`node ${process.version}, ${library}`)
  console.table(table)
  console.table(placed)
  console.table(steps)
}
