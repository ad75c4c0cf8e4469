/** Writes the site's pages as Markdown to out/site/pages, from which VitePress makes the site. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../../scripts/docs/public-names.js'
import { allPages, deadLinksOf } from './pages.js'

/** Writes pages to a folder, with the pictures that they show. */
export const writePages = (folder: string, pages: ReadonlyMap<string, string>): void => {
  rmSync(folder, { recursive: true, force: true })
  for (const [path, text] of pages) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  cpSync(join(root, 'docs/images'), join(folder, 'images'), { recursive: true })
  cpSync(join(root, 'site/icon.svg'), join(folder, 'public/icon.svg'))
}

if (process.argv[1]?.endsWith('site/docs/make.ts')) {
  const pages = allPages()
  const dead = deadLinksOf(pages)
  if (dead.length > 0) throw new Error(`links that lead nowhere:\n${dead.join('\n')}`)
  writePages(join(root, 'out/site/pages'), pages)
}
