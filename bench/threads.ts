// What threads give: value and gradient of the larger workloads, layers and a training step with two threads (or as many as are said) over one, least and median times, by turns.
// `npm run bench:threads [-- --threads 2] [--only W5,conv]`. Needs as many free cores.
import { parseArgs } from 'node:util'
import { threads } from '../src/backends/threads/index.js'
import * as cd from '../src/index.js'
import { inputsOf } from '../test/golden/data.js'
import { programs } from '../test/golden/programs.js'
import { spec, type WorkloadId } from '../test/golden/spec.js'
import { median } from './measure.js'

const { values } = parseArgs({ options: { threads: { type: 'string', default: '2' }, only: { type: 'string' } } })
const count = Number(values.threads)
const backends = [cd.cpu(), cd.cpu({ threads: threads({ count }) })] as const
type Compiled = ((x: unknown) => unknown) & { into(out: unknown): (x: unknown) => unknown; explain(): { readonly threads?: string } }
interface Row {
  readonly name: string
  readonly make: (backend: cd.SyncBackend) => readonly [f: Compiled, x: unknown]
}
const op = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => cd.AnyExpr>>
const wave = (shape: readonly number[], seed: number, dtype: 'f32' | 'f64' = 'f32') => {
  const n = shape.reduce((a, b) => a * b, 1)
  const data = dtype === 'f32' ? new Float32Array(n) : new Float64Array(n)
  for (let i = 0; i < n; i++) data[i] = Math.sin((i + 1) * (1.37 + seed)) / 4
  return cd.tensor(data as never, shape as never, dtype as never)
}
const compiled = (f: (...xs: never[]) => unknown, inputs: Readonly<Record<string, cd.Tensor>>, backend: cd.SyncBackend): Compiled =>
  (cd.compile as unknown as (f: unknown, b: cd.SyncBackend) => Compiled)(
    (x: Readonly<Record<string, never>>) => f(...(Object.keys(inputs).map((k) => x[k]) as never[])),
    backend,
  )
const gradient = (name: string, inputs: Readonly<Record<string, cd.Tensor>>, f: (...xs: readonly never[]) => unknown): Row => ({
  name,
  make: (backend) => {
    const wrt = Object.keys(inputs).map((_, i) => i)
    const g = (cd.valueAndGrad as unknown as (f: unknown, o: unknown) => (...xs: never[]) => unknown)(f, { wrt })
    return [compiled(g, inputs, backend), inputs]
  },
})
const workload = (id: WorkloadId): Row => ({
  name: id,
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
  gradient('conv 16 x 32 x 28 x 28 by 64 x 32 x 3 x 3, f32', { x: wave([16, 32, 28, 28], 0), k: wave([64, 32, 3, 3], 1) }, (x, k) =>
    op.sum!(op.square!(op.conv!(x, k, { padding: 1 }))),
  ),
  gradient('conv 32 x 16 x 24 x 24 by 32 x 16 x 5 x 5, f32', { x: wave([32, 16, 24, 24], 0), k: wave([32, 16, 5, 5], 1) }, (x, k) =>
    op.sum!(op.square!(op.conv!(x, k))),
  ),
  gradient(
    'transformer block, 8 x 128 x 256, f32',
    { x: wave([8, 128, 256], 0), w: wave([256, 256], 1), v: wave([256, 256], 2) },
    attention,
  ),
  gradient('sin, exp, tanh of 2^21 numbers, f32', { x: wave([2 ** 21], 0) }, (x) => op.sum!(op.tanh!(op.exp!(op.sin!(x))))),
  {
    name: 'softmax of 2048 x 1024, f32',
    make: (backend) => {
      const x = { x: wave([2048, 1024], 0) }
      return [compiled((y: never) => op.softmax!(y), x, backend), x]
    },
  },
]
const only = values.only?.split(',')
console.log(`node ${process.version}; ${count} threads over one, into arrays that are there`)
const table: Record<string, Record<string, unknown>> = {}
for (const { name, make } of rows.filter((r) => only?.some((o) => r.name.startsWith(o)) ?? true)) {
  const runs = backends.map((backend) => {
    const [f, x] = make(backend)
    const into = f.into(f(x))
    return { run: () => into(x), shared: f.explain().threads }
  })
  // Threads need a moment to begin.
  await new Promise((later) => setTimeout(later, 200))
  const times = runs.map((): number[] => [])
  for (let round = 0; round < 10; round++)
    runs.forEach(({ run }, i) => {
      const end = performance.now() + 60
      do {
        const start = performance.now()
        run()
        times[i]!.push(performance.now() - start)
      } while (performance.now() < end)
    })
  const [one, some] = times as [number[], number[]]
  table[name] = {
    'one thread, ms': Math.min(...one).toPrecision(3),
    'least, times as fast': (Math.min(...one) / Math.min(...some)).toFixed(2),
    'median, times as fast': (median(one) / median(some)).toFixed(2),
    threads: runs[1]!.shared,
  }
}
console.table(table)
process.exit(0)
