// What threads give: value and gradient of the larger workloads, layers and a training step with two threads (or as many as are said) over one, least and median times, by turns;
// beside them PyTorch with one thread and with as many, after them, whose results are compared first. `npm run bench:threads [-- --threads 2] [--only W5,conv] [--alone]` (--alone: without PyTorch).
// CODUAL_PYTHON names the Python that has torch (python3 unless given). Needs as many free cores.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { threads } from '../src/backends/threads/index.js'
import * as cd from '../src/index.js'
import { inputsOf } from '../test/golden/data.js'
import { programs } from '../test/golden/programs.js'
import { spec, type WorkloadId } from '../test/golden/spec.js'
import { median } from './measure.js'
import { handOver, torchServer } from './torch-server.js'

const { values } = parseArgs({
  options: { threads: { type: 'string', default: '2' }, only: { type: 'string' }, alone: { type: 'boolean', default: false } },
})
const count = Number(values.threads)
const backends = [cd.cpu(), cd.cpu({ threads: threads({ count }) })] as const
type Compiled = ((x: unknown) => unknown) & { into(out: unknown): (x: unknown) => unknown; explain(): { readonly threads?: string } }
type Data = Parameters<typeof handOver>[1]
interface Row {
  readonly name: string
  /** By what name bench/torch-workloads.py knows it, its inputs, and those with derivatives. */
  readonly id: string
  readonly inputs: () => Data
  readonly wrt: readonly string[]
  readonly make: (backend: cd.SyncBackend) => readonly [f: Compiled, x: unknown]
}
const op = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => cd.AnyExpr>>
const wave = (shape: readonly number[], seed: number, dtype: 'f32' | 'f64' = 'f32') => {
  const n = shape.reduce((a, b) => a * b, 1)
  const data = dtype === 'f32' ? new Float32Array(n) : new Float64Array(n)
  for (let i = 0; i < n; i++) data[i] = Math.sin((i + 1) * (1.37 + seed)) / 4
  return cd.tensor(data as never, shape as never, dtype as never)
}
const positive = (shape: readonly number[], seed: number) => {
  const x = wave(shape, seed, 'f64')
  return cd.tensor((x.data as Float64Array).map((v) => v + 1) as never, shape as never, 'f64' as never)
}
const compiled = (f: (...xs: never[]) => unknown, inputs: Readonly<Record<string, cd.Tensor>>, backend: cd.SyncBackend): Compiled =>
  (cd.compile as unknown as (f: unknown, b: cd.SyncBackend) => Compiled)(
    (x: Readonly<Record<string, never>>) => f(...(Object.keys(inputs).map((k) => x[k]) as never[])),
    backend,
  )
const gradient = (id: string, name: string, inputs: Readonly<Record<string, cd.Tensor>>, f: (...xs: readonly never[]) => unknown): Row => ({
  name,
  id,
  inputs: () => inputs as unknown as Data, // all are floats
  wrt: Object.keys(inputs),
  make: (backend) => {
    const wrt = Object.keys(inputs).map((_, i) => i)
    const g = (cd.valueAndGrad as unknown as (f: unknown, o: unknown) => (...xs: never[]) => unknown)(f, { wrt })
    return [compiled(g, inputs, backend), inputs]
  },
})
const workload = (id: WorkloadId): Row => ({
  name: id,
  id,
  inputs: () => inputsOf(id) as Data,
  wrt: spec[id].wrt,
  make: (backend) => {
    const x = Object.fromEntries(Object.entries(inputsOf(id)).map(([name, { shape, data }]) => [name, cd.tensor(data, [...shape])]))
    const { whole } = programs[id](spec[id].dtype)
    return [(cd.compile as unknown as (f: unknown, b: cd.SyncBackend) => Compiled)(whole, backend), x]
  },
})
const attention = (x: never, w: never, v: never) => {
  const h = op.matmul!(x, w)
  return op.sum!(op.square!(op.matmul!(op.softmax!(op.matmul!(h, op.transpose!(h, [0, 2, 1]))), op.relu!(op.matmul!(h, v)))))
}
const rows: readonly Row[] = [
  ...(['W3', 'W5', 'W5d', 'W6', 'W7', 'W8', 'W9', 'W13', 'W15s', 'W15l'] as const).map(workload),
  gradient(
    'conv3',
    'conv 16 x 32 x 28 x 28 by 64 x 32 x 3 x 3, f32',
    { x: wave([16, 32, 28, 28], 0), k: wave([64, 32, 3, 3], 1) },
    (x, k) => op.sum!(op.square!(op.conv!(x, k, { padding: 1 }))),
  ),
  gradient(
    'conv5',
    'conv 32 x 16 x 24 x 24 by 32 x 16 x 5 x 5, f32',
    { x: wave([32, 16, 24, 24], 0), k: wave([32, 16, 5, 5], 1) },
    (x, k) => op.sum!(op.square!(op.conv!(x, k))),
  ),
  gradient(
    'attention',
    'transformer block, 8 x 128 x 256, f32',
    { x: wave([8, 128, 256], 0), w: wave([256, 256], 1), v: wave([256, 256], 2) },
    attention,
  ),
  gradient('elementary', 'sin, exp, tanh of 2^21 numbers, f32', { x: wave([2 ** 21], 0) }, (x) => op.sum!(op.tanh!(op.exp!(op.sin!(x))))),
  gradient('powers', 'pow of 2^18 numbers, f64', { x: positive([2 ** 18], 0), y: wave([2 ** 18], 1, 'f64') }, (x, y) =>
    op.sum!(op.pow!(x, y)),
  ),
  gradient('squares', 'sum of 2^21 squares, f32', { x: wave([2 ** 21], 0) }, (x) => op.sum!(op.square!(x))),
  {
    name: 'softmax of 2048 x 1024, f32',
    id: 'softmax',
    inputs: () => ({ x: wave([2048, 1024], 0) }) as unknown as Data,
    wrt: [],
    make: (backend) => {
      const x = { x: wave([2048, 1024], 0) }
      return [compiled((y: never) => op.softmax!(y), x, backend), x]
    },
  },
]
const only = values.only?.split(',')
const torch = values.alone ? [] : [await torchServer('torch-workloads.py', 1), await torchServer('torch-workloads.py', count)]
const folder = mkdtempSync(join(tmpdir(), 'codual-bench-'))
console.log(`node ${process.version}; ${count} threads over one, into arrays that are there`)
const ROUNDS = 8
const BUDGET = 40
const pause = (ms: number): Promise<unknown> => new Promise((later) => setTimeout(later, ms))
const table: Record<string, Record<string, unknown>> = {}
for (const { name, id, inputs, wrt, make } of rows.filter((r) => only?.some((o) => r.name.startsWith(o)) ?? true)) {
  handOver(folder, inputs())
  const wanted = (await Promise.all(torch.map((t) => t.ask({ id, folder, wrt })))) as readonly number[]
  const runs = backends.map((backend) => {
    const [f, x] = make(backend)
    const y = f(x)
    const got = ((y as { readonly value?: cd.Tensor }).value ?? (y as cd.Tensor)).data[0]!
    for (const want of wanted)
      if (!(Math.abs(got - want) <= 1e-3 * Math.abs(want))) throw new Error(`${name}: ${got}, and ${want} by PyTorch`)
    const into = f.into(y)
    return { run: () => into(x), shared: f.explain().threads }
  })
  // Threads need a moment to begin.
  await pause(200)
  const times = runs.map((): number[] => [])
  const byTorch: number[][] = []
  for (let round = 0; round < ROUNDS; round++)
    runs.forEach(({ run }, i) => {
      const end = performance.now() + BUDGET
      do {
        const start = performance.now()
        run()
        times[i]!.push(performance.now() - start)
      } while (performance.now() < end)
    })
  // Not by turns with these: threads of PyTorch's libraries go on looking for work for a while.
  for (const [i, t] of torch.entries()) {
    byTorch[i] = (await t.ask({ id, ms: (ROUNDS * BUDGET) / 2 })) as number[]
    await pause(200)
  }
  const [one, some] = times as [number[], number[]]
  const least = (xs: readonly number[]): number => xs.reduce((a, b) => Math.min(a, b))
  const [torchOne, torchSome] = byTorch
  table[name] = {
    'one thread, ms': least(one).toPrecision(3),
    'least, times as fast': (least(one) / least(some)).toFixed(2),
    'median, times as fast': (median(one) / median(some)).toFixed(2),
    ...(torchOne !== undefined &&
      torchSome !== undefined && {
        'PyTorch, times as fast': (least(torchOne) / least(torchSome)).toFixed(2),
        "time over PyTorch's, one thread": (least(one) / least(torchOne)).toFixed(2),
        [`${count} threads`]: (least(some) / least(torchSome)).toFixed(2),
      }),
    threads: runs[1]!.shared,
  }
}
console.table(table)
for (const t of torch) await t.end()
rmSync(folder, { recursive: true })
process.exit(0)
