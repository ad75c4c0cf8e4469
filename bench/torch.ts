// The workloads beside PyTorch, by turns: codual's own kernels (with more threads than one: on one and on as many), and those with a system library (codual/blas), over torch's time with as many threads.
// `npm run bench:torch [-- --only W3,W8] [--threads 1] [--rounds 7] [--budget ms] [--out FILE] [--compare FILE]` (--out: the ratios as JSON; --compare fails where one is a tenth above that of such a file); CODUAL_PYTHON names the Python that has torch (python3 unless given).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { blas } from '../src/backends/blas/index.js'
import { threads as cpuThreads } from '../src/backends/threads/index.js'
import { leastOf } from '../src/core/errors/extremes.js'
import * as cd from '../src/index.js'
import { inputsOf } from '../test/golden/data.js'
import { programs } from '../test/golden/programs.js'
import { spec, type Workload, type WorkloadId, workloadIds } from '../test/golden/spec.js'
import { compare, readTook, type Took } from './compare.js'
import { median } from './measure.js'
import { handOver, torchServer } from './torch-server.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '7' },
    budget: { type: 'string', default: '60' },
    out: { type: 'string' },
    compare: { type: 'string' },
  },
})
/** The ratios of a row of such a file. */
const tookOf = ({ name, ratios }: Readonly<Record<string, unknown>>): Took =>
  Object.fromEntries(Object.entries(ratios as Readonly<Record<string, Ratio>>).map(([by, { least }]) => [`${name}, ${by}`, least]))
const before = values.compare === undefined ? undefined : readTook(values.compare, tookOf)
const [rounds, budget, threads] = [Number(values.rounds), Number(values.budget), Number(values.threads)]
const ids = workloadIds.filter((id) => !id.startsWith('M') && (values.only?.split(',').includes(id) ?? true))

const library = blas({ threads })
const backends = {
  own: cd.cpu(),
  ...(threads > 1 && { threads: cd.cpu({ threads: cpuThreads({ count: threads }) }) }),
  ...(library.library !== undefined && { blas: cd.cpu({ blas: library }) }),
}
console.log(
  `node ${process.version}; BLAS: ${library.library ?? `none, ${library.reason}`}; torch with ${threads} thread${threads === 1 ? '' : 's'}`,
)

const torch = await torchServer('torch-workloads.py', threads)
const folder = mkdtempSync(join(tmpdir(), 'codual-bench-'))

type Call = { (x: unknown): { readonly value: cd.Tensor }; into(out: unknown): (x: unknown) => unknown }
/** Milliseconds of calls, fresh or into the arrays of the first, during the budget. */
const times = (f: () => unknown): readonly number[] => {
  const out: number[] = []
  const end = performance.now() + budget
  do {
    const start = performance.now()
    f()
    out.push(performance.now() - start)
  } while (performance.now() < end)
  return out
}

/** Times over PyTorch's: of the least, and the median over the rounds of the ratio of medians. */
interface Ratio {
  readonly least: number
  readonly median: number
}
const found: { readonly name: string; readonly ms: number; readonly ratios: Record<string, Ratio> }[] = []
const table: Record<string, Record<string, string>> = {}
const ratios: Record<string, number[]> = {}
for (const id of ids) {
  const { dtype, wrt }: Workload = spec[id as WorkloadId]
  const inputs = inputsOf(id)
  handOver(folder, inputs)
  const want = (await torch.ask({ id, folder, wrt })) as number
  const x = Object.fromEntries(Object.entries(inputs).map(([name, { shape, data }]) => [name, cd.tensor(data, [...shape])]))
  const calls: Record<string, () => unknown> = {}
  for (const [name, backend] of Object.entries(backends)) {
    const f = (cd.compile as unknown as (f: unknown, b: cd.Backend) => Call)(programs[id](dtype).whole, backend)
    const result = f(x)
    const got = result.value.data[0]!
    if (!(Math.abs(got - want) <= 1e-3 * Math.abs(want))) throw new Error(`${id}: ${name} gives ${got}, PyTorch ${want}`)
    const into = f.into(result)
    calls[name] = () => f(x)
    calls[`${name}, into`] = () => into(x)
  }
  const took: Record<string, { least: number; medians: number[] }> = {}
  const add = (name: string, all: readonly number[]): void => {
    const t = took[name] ?? { least: Number.POSITIVE_INFINITY, medians: [] }
    took[name] = t
    t.least = leastOf(all, t.least)
    t.medians.push(median(all))
  }
  for (const f of Object.values(calls)) times(f)
  for (let r = 0; r < rounds; r++) {
    add('torch', (await torch.ask({ id, ms: budget })) as number[])
    for (const [name, f] of Object.entries(calls)) add(name, times(f))
  }
  const entry = { name: id, ms: took.torch!.least, ratios: {} as Record<string, Ratio> }
  found.push(entry)
  const row: Record<string, string> = { 'torch ms': took.torch!.least.toPrecision(3) }
  for (const name of Object.keys(calls)) {
    const least = took[name]!.least / took.torch!.least
    const middle = median(took[name]!.medians.map((m, r) => m / took.torch!.medians[r]!))
    ratios[name] = [...(ratios[name] ?? []), least]
    entry.ratios[name] = { least, median: middle }
    row[name] = `${least.toPrecision(2)} (${middle.toPrecision(2)})`
  }
  table[id] = row
  console.log(
    id.padEnd(6),
    Object.entries(row)
      .map(([k, v]) => `${k} ${v}`)
      .join('   '),
  )
}
console.log("\nleast time over PyTorch's least (median of the ratios of rounds); below 1: codual is faster")
console.table(table)
for (const [name, all] of Object.entries(ratios))
  console.log(
    `${name}: faster in ${all.filter((x) => x < 1).length} of ${all.length}, geometric mean ${Math.exp(all.reduce((s, x) => s + Math.log(x), 0) / all.length).toPrecision(2)}`,
  )
if (values.out !== undefined) {
  mkdirSync(dirname(values.out), { recursive: true })
  writeFileSync(values.out, JSON.stringify({ node: process.version, blas: library.library, threads, rows: found }, undefined, 1))
}
if (before !== undefined) compare(before, Object.assign({}, ...found.map((row) => tookOf({ ...row }))))
await torch.end()
rmSync(folder, { recursive: true })
