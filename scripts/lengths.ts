/** What is long in src: files of more than 400 lines, functions of more than 80 without a reason above them. A report: nothing fails. */
import { functionsOver, sourcesUnder } from '../test/architecture/sources.js'

const FILE = 400
const FUNCTION = 80
const sources = sourcesUnder('src')
const lines = (text: string): number => text.replace(/\n$/, '').split('\n').length
const files = sources.map(({ path, text }) => ({ path, lines: lines(text) }))
console.log(`${files.length} files, ${files.reduce((n, f) => n + f.lines, 0)} lines`)
for (const f of files.filter((x) => x.lines > FILE).sort((a, b) => b.lines - a.lines))
  console.log(`${String(f.lines).padStart(6)}  ${f.path}`)
for (const f of sources.flatMap((s) => functionsOver(s, FUNCTION))) console.log(`   > ${FUNCTION}  ${f}`)
