/** Writes docs/functions.md, docs/reference and docs/names.md from the sources; the tests compare them. `npm run docs:functions`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileOf, functionsPage, listed } from './function-list.js'
import { namesPage } from './names/page.js'
import { root } from './public-names.js'
import { referencePage } from './reference.js'

/** Pages of functions by their paths in docs. */
export const functionPages = (all: ReturnType<typeof listed>): ReadonlyMap<string, string> =>
  new Map([
    ['functions.md', functionsPage(all)],
    ...all.map(([section, functions]) => [`reference/${fileOf(section)}`, referencePage(section, functions)] as const),
  ])

if (process.argv[1]?.endsWith('scripts/docs/make.ts')) {
  rmSync(join(root, 'docs/reference'), { recursive: true, force: true })
  for (const [path, text] of [...functionPages(listed()), ['names.md', namesPage()] as const]) {
    const file = join(root, 'docs', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
