/** The pages of the site as Markdown by their paths: those of the repository, and those made from the sources. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { blocksIn } from '../../scripts/docs/extract.js'
import { root } from '../../scripts/docs/public-names.js'
import { deadLinks, isOutside, withTargets } from './links.js'
import { functionsWithLinks, inReference, namePages, repository } from './names.js'
import { runLink } from './programs.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
/** Documents of the repository by the path of their page. The reference is made anew: a page for each name. */
export const documents: ReadonlyMap<string, string> = new Map([
  ['index.md', 'README.md'],
  ['changelog.md', 'CHANGELOG.md'],
  ['contributing.md', 'CONTRIBUTING.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md') && !file.startsWith('reference/'))
    .sort()
    .map((file) => [file, `docs/${file}`] as const),
])
const pageOf = new Map([...documents].map(([page, file]) => [file, page]))

/** Where a link of a document leads on the site: to a page of it, to what it copies, or to the repository. */
const targetOf = (file: string, target: string): string => {
  if (isOutside(target) || /^[#/]/.test(target)) return target
  const [to = '', anchor] = target.split('#') as [string, string?]
  const there = posix.join(posix.dirname(file), to).replace(/\/$/, '')
  const hash = anchor === undefined ? '' : `#${anchor}`
  const page = pageOf.get(there)
  if (page !== undefined) return `/${page}${hash}`
  if (there === 'docs/reference') return '/functions.md'
  if (there === 'docs/decisions') return '/decisions/index.md'
  if (there.startsWith('docs/reference/')) {
    const section = there.slice('docs/'.length)
    return `/${inReference.get(`${section}${hash}`) ?? `${section}${hash}`}`
  }
  if (there.startsWith('docs/')) return `/${there.slice('docs/'.length)}`
  if (!existsSync(join(root, there))) throw new Error(`${file}: there is no ${target}`)
  return `${repository}/${there}${hash}`
}
/** The title of a document. */
export const titleOf = (text: string): string => /^# (.*)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? ''
/** Links that show a path show the title of what they lead to. */
const withTitles = (text: string): string =>
  text.replaceAll(/\[(?:docs\/)?[\w/-]+\.md\]\(\/([\w/-]+\.md)(#[\w-]*)?\)/g, (link, page: string, anchor: string | undefined) => {
    const file = documents.get(page)
    return file === undefined ? link : `[${titleOf(read(file))}](/${page}${anchor ?? ''})`
  })
/** A document with a link behind each example that runs in a page. */
const withRuns = (file: string, text: string): string => {
  const lines = text.split('\n')
  for (const { line, code } of [...blocksIn(file, text)].reverse()) {
    const link = runLink(file, code)
    if (link !== '') lines.splice(line - 1 + code.split('\n').length + 1, 0, ...link.trimEnd().split('\n'))
  }
  return lines.join('\n')
}
const documentPages = (): readonly (readonly [string, string])[] =>
  [...documents].map(([page, file]) => {
    const given = page === 'functions.md' ? functionsWithLinks() : read(file)
    return [page, withRuns(file, withTitles(withTargets(given, (target) => targetOf(file, target))))] as const
  })
const decisions = (): string => {
  const rows = [...documents]
    .filter(([page]) => page.startsWith('decisions/'))
    .map(([page, file]) => `- [${titleOf(read(file))}](/${page})`)
  return `# Decisions\n\nChoices that a newcomer would question, each with its reasons and what it costs.\n\n${rows.join('\n')}\n`
}
/** Every page by its path. */
export const allPages = (): ReadonlyMap<string, string> =>
  new Map([...documentPages(), ['decisions/index.md', decisions()], ...namePages()])
/** Links that lead nowhere; beside pages there are the playground and pictures. */
export const deadLinksOf = (pages: ReadonlyMap<string, string>): readonly string[] =>
  deadLinks(pages, (path) => path === 'playground/' || (path.startsWith('images/') && existsSync(join(root, 'docs', path))))
