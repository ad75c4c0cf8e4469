// Copies the docstring of every operation from its definition to the constant that users import, where editors look for it:
// `npm run docs:sync` writes the files in place, `npm run docs:check` fails when one is out of date.
import { writeFileSync } from 'node:fs'
import { copies, parse, shortPath, synced } from './docs-source.js'

const check = process.argv.includes('--check')
const stale = copies().filter((path) => synced(path) !== parse(path).text)
for (const path of stale) {
  if (!check) writeFileSync(path, synced(path))
  console.log(`${check ? 'out of date' : 'written'}: ${shortPath(path)}`)
}
if (check && stale.length > 0) {
  console.error('Docstrings differ from their definitions. Run: npm run docs:sync')
  process.exitCode = 1
}
