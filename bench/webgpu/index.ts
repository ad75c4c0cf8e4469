// codual on webgpu() beside tfjs-webgpu and jax-js's WebGPU device: value and gradient in f32, warm, outputs read, in turns in one run.
// `npm run bench:webgpu [-- --lane chromium|node --only W1,W3 --peers codual --rounds 3 --budget 150 --limit 15 --minutes 9 --json file]`
// Software adapters run all of this: W15l and M15 are left out unless they are asked for, since a call takes many seconds for everybody.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { spec, type WorkloadId } from '../../test/golden/spec.js'
import { bundle } from './bundle.js'
import { browserLane, type Lane, nodeLane } from './lanes.js'
import type { Row, RowOptions } from './page.js'
import { header, line, remarks, summary } from './report.js'

const all: readonly WorkloadId[] = ['W1', 'W2', 'W3', 'W4', 'W5', 'W6', 'W7', 'W8', 'W9', 'W10', 'W15s']

const { values } = parseArgs({
  options: {
    lane: { type: 'string' },
    only: { type: 'string' },
    peers: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    budget: { type: 'string', default: '150' },
    limit: { type: 'string', default: '15' },
    minutes: { type: 'string', default: '9' },
    json: { type: 'string' },
  },
})

const ids = (values.only?.split(',') ?? all) as readonly WorkloadId[]
for (const id of ids) if (!(id in spec)) throw new Error(`no row ${id}; there are ${Object.keys(spec).join(', ')}`)
const peers = values.peers?.split(',')
const options: RowOptions = {
  rounds: Number(values.rounds),
  budget: Number(values.budget),
  limit: 1000 * Number(values.limit),
  ...(peers === undefined ? {} : { peers }),
}

/** Rows that would start later than this are left out, and said to be. */
const end = performance.now() + 60_000 * Number(values.minutes)

const inLane = async (lane: Lane): Promise<Readonly<Record<string, Row>>> => {
  const rows: Record<string, Row> = {}
  console.log(`\n${lane.name}: ${await lane.adapter()}\n${header}`)
  for (const id of ids) {
    if (performance.now() > end) {
      console.log(`${id}: left out, ${values.minutes} minutes are over`)
      continue
    }
    const row = await lane.row(id, options)
    rows[id] = row
    console.log(line(id, row))
  }
  for (const text of [...summary(rows), ...remarks(rows)]) console.log(text)
  return rows
}

const folder = mkdtempSync(join(tmpdir(), 'codual-bench-'))
const results: Record<string, Readonly<Record<string, Row>>> = {}
try {
  const code = await bundle()
  const file = join(folder, 'page.mjs')
  writeFileSync(file, code)
  const makers = { chromium: () => browserLane(code), node: async () => nodeLane(file) }
  for (const [name, make] of Object.entries(makers)) {
    if (values.lane !== undefined && values.lane !== name) continue
    const lane = await make()
    if (lane === undefined) continue
    try {
      results[lane.name] = await inLane(lane)
    } finally {
      await lane.close()
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(results, undefined, 1))
