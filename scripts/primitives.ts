// Which exports of each module of operations are primitives, or operations that know theirs: JSON, for the build.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { primitiveIn } from '../src/core/graph/operation.js'

const folder = join(import.meta.dirname, '../src/core/ops')
const found: Record<string, readonly string[]> = {}
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.ts'))) {
  const module = (await import(join(folder, file))) as Readonly<Record<string, unknown>>
  found[file.replaceAll('\\', '/').replace(/\.ts$/, '.js')] = Object.keys(module).filter((name) => primitiveIn(module[name]) !== undefined)
}
console.log(JSON.stringify(found))
