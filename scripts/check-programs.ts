// Random programs: the CPU backend against the reference, and three modes against each other. `npm run check:programs -- --runs 500 --seed 1`
import { parseArgs } from 'node:util'
import { checkProgram, type ProgramReport } from '../test/laws/programs.js'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } } })
const runs = Number(values.runs)
const first = Number(values.seed)
if (!Number.isInteger(runs) || runs < 1 || !Number.isInteger(first)) {
  console.error('usage: npm run check:programs -- --runs N --seed S')
  process.exit(2)
}
const bad: ProgramReport[] = []
let nodes = 0
for (let i = 0; i < runs; i++) {
  const r = checkProgram(first + i)
  nodes += r.nodes
  if (r.failure !== undefined) bad.push(r)
  if (process.stdout.isTTY && i % 20 === 0) process.stdout.write(`\r${i} of ${runs}`)
}
if (process.stdout.isTTY) process.stdout.write('\r')
for (const r of bad) console.log(`seed ${r.seed}: ${r.failure}\n${r.program}`)
console.log(
  `${runs - bad.length} of ${runs} random programs (${nodes} nodes): values and gradients agree between cpu, plain JavaScript and reference, in three modes`,
)
process.exitCode = bad.length === 0 ? 0 : 1
