// npm run bench -- [--only W3,W4] [--rounds 5] [--dtype f32|f64] [--peers codual,jax-js] [--budget ms] [--out file] [--markdown median|least] [--compare file]
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import type { WorkloadDtype } from '../test/golden/spec.js'
import { compare, readTook, type Took } from './compare.js'
import { type Options, type Row, rowsOf, runRow } from './harness.js'
import type { Peer } from './peer.js'
import { type By, header, ratioTable, remarks, rowLine } from './report.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    dtype: { type: 'string' },
    peers: { type: 'string' },
    budget: { type: 'string', default: '100' },
    out: { type: 'string', default: 'out/bench.json' },
    markdown: { type: 'string' },
    compare: { type: 'string' },
  },
})

const positive = (name: string, text: string): number => {
  const n = Number(text)
  if (!(n > 0)) throw new Error(`--${name} wants a positive number, got ${text}`)
  return n
}

const dtypeOf = (text: string | undefined): WorkloadDtype | undefined => {
  if (text === undefined || text === 'f32' || text === 'f64') return text
  throw new Error(`--dtype wants f32 or f64, got ${text}`)
}

const byOf = (text: string | undefined): By | undefined => {
  if (text === undefined || text === 'median' || text === 'least') return text
  throw new Error(`--markdown wants median or least, got ${text}`)
}

/** Peers are loaded only when asked for. The ratios are the first one's: codual's, unless --peers says otherwise. */
const available: Readonly<Record<string, () => Promise<Peer>>> = {
  codual: async () => (await import('./codual.js')).codual,
  handwritten: async () => (await import('./peers/handwritten.js')).handwritten,
  'tfjs-wasm': async () => (await import('./peers/tfjs.js')).tfjs,
  'jax-js': async () => (await import('./peers/jaxjs.js')).jaxjs,
}

const peersOf = async (names: readonly string[]): Promise<readonly Peer[]> => {
  const unknown = names.filter((name) => available[name] === undefined)
  if (unknown.length > 0) throw new Error(`no peer ${unknown.join(', ')}; there are ${Object.keys(available).join(', ')}`)
  return Promise.all(names.map((name) => available[name]!()))
}

/** The least time of codual's call in a row. */
const tookOf = ({ name, outcomes }: Readonly<Record<string, unknown>>): Took => {
  const least = (outcomes as { readonly codual?: { readonly times?: { readonly min?: unknown } } } | undefined)?.codual?.times?.min
  return typeof least === 'number' ? { [String(name)]: least } : {}
}

const main = async (): Promise<void> => {
  const options: Options = {
    only: values.only?.split(','),
    rounds: positive('rounds', values.rounds),
    dtype: dtypeOf(values.dtype),
    budget: positive('budget', values.budget),
  }
  const by = byOf(values.markdown)
  const before = values.compare === undefined ? undefined : readTook(values.compare, tookOf)
  // The load is that of others: it is taken before anything runs here.
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, load: loadavg()[0] }
  const date = new Date().toISOString()
  const asked = values.peers?.split(',')
  const peers = await peersOf(asked ?? Object.keys(available))
  const names = peers.map(({ name }) => name)
  console.log(
    `${options.rounds} interleaved rounds; median (min) of a warm call; ratio = ${names[0]} over the peer on its left, below 1 is faster`,
  )
  console.log(header(names))
  const rows: Row[] = []
  for (const plan of rowsOf(peers, options)) {
    const row = await runRow(peers, plan, options)
    rows.push(row)
    console.log(rowLine(names, row))
  }
  for (const remark of remarks(rows)) console.log(`  ${remark}`)
  if (by !== undefined) console.log(`\n${ratioTable(names, rows, by)}\n`)
  await mkdir(dirname(values.out), { recursive: true })
  await writeFile(values.out, `${JSON.stringify({ date, machine, options, peers: names, rows }, null, 2)}\n`)
  console.log(`wrote ${values.out}`)
  if (before !== undefined) compare(before, Object.assign({}, ...rows.map((row) => tookOf({ ...row }))))
  const bad = rows.filter(({ outcomes }) => ['wrong', 'failed'].includes(outcomes[names[0]!]!.kind))
  if (bad.length > 0) {
    console.error(`${names[0]} is wrong or failed in ${bad.map(({ name }) => name).join(', ')}`)
    process.exitCode = 1
  }
}

await main()
