// Random programs over a registry of one's own, that of the tests: `npm run check:programs:own -- --runs 20000 --seed 1`
import { parseArgs } from 'node:util'
import { forAllPrograms, reportPrograms } from '../src/check/index.js'
import { ownPlugin } from '../test/check/own-primitives.js'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } } })
const [runs, seed] = [Number(values.runs), Number(values.seed)]
if (!Number.isInteger(runs) || !Number.isInteger(seed) || runs < 1) {
  console.error('usage: npm run check:programs:own -- --runs N --seed S')
  process.exit(2)
}
const start = performance.now()
const c = forAllPrograms(ownPlugin(), {
  runs,
  seed,
  progress: (done) => {
    if (done % Math.max(1, Math.floor(runs / 20)) === 0)
      console.log(`${done} of ${runs} programs, ${Math.round((((performance.now() - start) / done) * (runs - done)) / 1000)} s left`)
  },
})
console.log(reportPrograms(c))
process.exitCode = c._tag === 'Right' ? 0 : 1
