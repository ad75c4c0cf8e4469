// docs/functions.md is what the sources say. `npm run docs:functions` writes it anew.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { functionsPage } from './function-list.js'
import { publicNames, root } from './public-names.js'

const path = join(root, 'docs/functions.md')
const page = functionsPage()
if (process.env.WRITE_DOCS === '1') writeFileSync(path, page)

it('lists every function', () => {
  const missing = publicNames().filter((n) => !n.type && !new RegExp(`^\\| \`${n.name}[(\`]`, 'm').test(page))
  expect(missing.map((n) => n.name)).toEqual([])
})
it('is up to date', () => expect(readFileSync(path, 'utf8')).toBe(page))
