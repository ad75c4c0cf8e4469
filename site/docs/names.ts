/** A page for each public name: its signature, what its docstring and its rule say, examples, related names and its line of source. */
import { described, listOf } from '../../scripts/docs/described.js'
import { fileOf, functionsPage, type Listed, listed, optionsType, sentence, tableOf } from '../../scripts/docs/function-list.js'
import { type PublicName, publicNames, shortPath, sourceOf } from '../../scripts/docs/public-names.js'
import { outsideCode } from './links.js'
import { runLink } from './programs.js'

/** Where the sources are shown. */
export const repository = 'https://github.com/codual/codual/blob/main'

/** The folder of the names of an entry point. */
const folderOf = (entry: string): string => `names/${entry === 'codual' ? 'codual' : entry.slice('codual/'.length)}`
/** The path of a name's page. Types have a folder of their own: `Tensor` and `tensor` are one file on some systems. */
export const pathOf = (n: PublicName): string => `${folderOf(n.entry)}/${n.type ? 'types/' : ''}${n.name}.md`
/** The page with the names of an entry point. */
export const entryPath = (entry: string): string => `${folderOf(entry)}/index.md`

const all = publicNames()
const key = (n: PublicName): string => `${n.entry}.${n.name}`
/** What a name in code means on the page of another: of its own entry point first. */
const named = new Map<string, readonly PublicName[]>()
for (const n of all) named.set(n.name, [...(named.get(n.name) ?? []), n])
const meant = (name: string, entry: string): PublicName | undefined => {
  const found = named.get(name)
  return found?.find((n) => n.entry === entry) ?? found?.[0]
}
const linkTo = (n: PublicName): string => `[\`${n.name}\`](/${pathOf(n)})`

/** The docstring without its examples: its words. */
const wordsOf = (n: PublicName): string => (n.doc?.text ?? '').split('@example')[0]!
const mentions = new Map(
  all.map((n) => {
    const found = [...wordsOf(n).matchAll(/`(\w+)(?:\([^`]*\))?`/g)].map((m) => meant(m[1]!, n.entry)).filter((m) => m !== undefined)
    return [key(n), [...new Set(found)].filter((m) => m !== n)] as const
  }),
)
const mentionedBy = new Map<string, PublicName[]>()
for (const n of all) for (const m of mentions.get(key(n))!) mentionedBy.set(key(m), [...(mentionedBy.get(key(m)) ?? []), n])

const bySection = listed()
const functions = bySection.flatMap(([, list]) => list)
const rowOf = new Map(functions.map((f) => [key(f.of), f]))
const byKey = new Map(all.map((n) => [key(n), n]))

const most = 12
/** Related names: those that the docstring names, those that name this one, then its neighbours: in its file, its section, its entry point. */
export const relatedTo = (n: PublicName): readonly PublicName[] => {
  const beside = [...(n.type ? [] : functions.map((f) => byKey.get(key(f.of))!)), ...all].filter(
    (m) => m.entry === n.entry && m.type === n.type,
  )
  const at = beside.indexOf(n)
  const section = rowOf.get(key(n))?.section
  const far = (m: PublicName): number => {
    const near = m.file === n.file ? 0 : section !== undefined && rowOf.get(key(m))?.section === section ? 1 : 2
    return near * beside.length + Math.abs(beside.indexOf(m) - at)
  }
  const near = [...beside].sort((a, b) => far(a) - far(b))
  return [...new Set([...mentions.get(key(n))!, ...(mentionedBy.get(key(n)) ?? []), ...near])].filter((m) => m !== n).slice(0, most)
}

/** Public types that a signature names; not words of its comments. */
const typesIn = (signature: string, n: PublicName): readonly PublicName[] =>
  [...new Set(signature.replaceAll(/\/\*[\s\S]*?\*\//g, '').match(/\b[A-Z]\w*\b/g) ?? [])]
    .map((name) => meant(name, n.entry))
    .filter((m) => m?.type === true && m !== n) as PublicName[]

/** Names in code of a docstring, as links. */
const withLinks = (text: string, n: PublicName): string =>
  text
    .split(/(``[^\n]+?``|`[^`\n]+`)/)
    .map((part) => {
      const name = /^`(\w+)`$/.exec(part)?.[1]
      const found = name === undefined ? undefined : meant(name, n.entry)
      return found === undefined || found === n ? part : linkTo(found)
    })
    .join('')
/** Words of a docstring as Markdown: what stands there for itself, as in formulas, is escaped. */
const plain = (text: string): string => outsideCode(text, (part) => part.replaceAll(/[*_[\]]/g, '\\$&'))

/** The page of a name. */
const pageOf = (n: PublicName, row: Listed | undefined): string => {
  const { text, labels, facts, examples } = described(n)
  const signature =
    row === undefined
      ? (optionsType(n) ?? sourceOf(n))
      : row.signatures.map((s) => (/^[(<]/.test(s) ? `${n.name}${s}` : `${n.name}: ${s}`)).join('\n\n')
  const rows = [...labels.map(([label, said]) => [label, withLinks(plain(said), n)] as const), ...facts]
  const related = relatedTo(n)
  const types = typesIn([signature, ...(row?.optionLines ?? [])].join('\n'), n)
  const where = `${shortPath(n.file)}#L${n.line}`
  return [
    `---\ntitle: ${n.name}\nprev: false\nnext: false\n---\n\n# ${n.name}\n`,
    row === undefined ? '' : `\n\`${row.call}\`\n`,
    `\n${withLinks(plain(text), n)}\n`,
    `\n\`\`\`ts\nimport ${n.type ? 'type ' : ''}{ ${n.name} } from '${n.entry}'\n\`\`\`\n`,
    examples.length === 0 ? '' : '\n## Example\n',
    ...examples.map(({ code, of }) => `\n\`\`\`ts\n${code.trim()}\n\`\`\`\n${of === 'type' ? '' : runLink(shortPath(n.file), code)}`),
    rows.length === 0 ? '' : `\n## Properties\n\n${listOf(rows)}`,
    `\n## Signature\n\n\`\`\`ts\n${signature}\n\`\`\`\n`,
    row === undefined || row.optionLines.length === 0 ? '' : `\n## Options\n\n\`\`\`ts\n${row.optionLines.join('\n')}\n\`\`\`\n`,
    types.length === 0 ? '' : `\nTypes: ${types.map(linkTo).join(', ')}\n`,
    `\n## See also\n\nRelated: ${related.map(linkTo).join(', ')}\n\n`,
    row === undefined ? '' : `Section: [${row.section.replace(/:.*/, '')}](/reference/${fileOf(row.section)})\n\n`,
    `Defined in [${shortPath(n.file)}, line ${n.line}](${repository}/${where})\n`,
  ].join('')
}
const linked = ({ call, of }: Listed): string => `[\`${call}\`](/${pathOf(of)})`
/** The page of a section: its functions, a line for each. */
const sectionPage = (section: string, list: readonly Listed[]): string => `# ${section.replace(/:.*/, '')}\n\n${tableOf(list, linked)}`
/** docs/functions.md, with a link to the page of each function. */
export const functionsWithLinks = (): string => functionsPage(bySection, linked)
/** The page of an entry point: what it exports. */
const entryPage = (entry: string): string => {
  const own = all.filter((n) => n.entry === entry).sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
  const table = (title: string, names: readonly PublicName[]): string =>
    names.length === 0 ? '' : `\n## ${title}\n\n| | |\n| --- | --- |\n${names.map((n) => `| ${linkTo(n)} | ${sentence(n)} |`).join('\n')}\n`
  return `# ${entry}\n${table(
    'Values',
    own.filter((n) => !n.type),
  )}${table(
    'Types',
    own.filter((n) => n.type),
  )}`
}

/** The pages of names, sections and entry points by their paths. */
export const namePages = (): ReadonlyMap<string, string> =>
  new Map([
    ...all.map((n) => [pathOf(n), pageOf(n, rowOf.get(key(n)))] as const),
    ...bySection.map(([section, list]) => [`reference/${fileOf(section)}`, sectionPage(section, list)] as const),
    ...[...new Set(all.map((n) => n.entry))].map((entry) => [entryPath(entry), entryPage(entry)] as const),
  ])
/** The path of the page of a function, by the name of its section's page and its own: what links into docs/reference lead to. */
export const inReference = new Map(functions.map((f) => [`reference/${fileOf(f.section)}#${f.of.name.toLowerCase()}`, pathOf(f.of)]))
