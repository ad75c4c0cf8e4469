// docs/names.md: what the functions of other libraries are called here, made of table.txt.
import { families, libraries, type Meant, meantBy } from './table.js'

/** How many names are functions, expressions, and not here. */
export interface Counts {
  readonly functions: number
  readonly written: number
  readonly without: number
}
type Named = readonly [shown: string, meant: Meant]
export const countsOf = (names: readonly Named[]): Counts => {
  const of = (tag: Meant['_tag']): number => names.filter(([, m]) => m._tag === tag).length
  return { functions: of('Function'), written: of('Written'), without: of('Without') }
}
/** The names of a list with what they are here; one that the table lacks has the reason that is undefined. */
const named = (module: string, names: readonly string[], prefix = ''): readonly Named[] =>
  names.map((n) => {
    const name = n.length > 1 ? n.replace(/\*$/, '') : n
    return [`${prefix}${name}`, meantBy(module, name) ?? { _tag: 'Without', reason: 'undefined' }]
  })
/** Families, each with its names and how many of them the core has. */
export const byFamily: readonly (readonly [family: string, core: number, names: readonly Named[]])[] = families.map(([family, names]) => [
  family,
  names.filter((n) => n.length > 1 && n.endsWith('*')).length,
  named(family, names),
])
const titles: Readonly<Record<string, string>> = { numpy: 'NumPy', scipy: 'SciPy', jax: 'JAX', torch: 'PyTorch' }
const titleOf = (module: string): string => titles[module.split('.')[0]!] ?? module
/** Libraries with the names of all their modules. */
export const byLibrary: readonly (readonly [library: string, names: readonly Named[]])[] = [
  ...new Set(libraries.map(([module]) => titleOf(module))),
].map((title) => [
  title,
  libraries
    .filter(([module]) => titleOf(module) === title)
    .flatMap(([module, names]) => named(module, names, module.includes('.') ? module.replace(/^\w+\./, '').concat('.') : '')),
])

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``
const list = (names: readonly string[]): string => names.map(code).join(', ')
const ourName = (m: Meant): string => {
  if (m._tag === 'Function') return m.entry === 'codual' ? code(m.name) : `${code(m.name)} of ${m.entry}`
  return m._tag === 'Written' ? code(m.code) + (m.note === '' ? '' : `, ${m.note}`) : m.reason
}
/** The names without their modules, in one spelling. */
const spelled = (name: string): string => name.replace(/^.*\./, '').replaceAll('_', '').toLowerCase()
const grouped = (names: readonly Named[]): readonly (readonly [ours: string, theirs: readonly string[]])[] => {
  const groups = new Map<string, string[]>()
  for (const [name, m] of names) groups.set(ourName(m), [...(groups.get(ourName(m)) ?? []), name])
  return [...groups]
}
const byKey =
  (key: (row: readonly [string, readonly string[]]) => string) =>
  (a: readonly [string, readonly string[]], b: readonly [string, readonly string[]]): number =>
    key(a).toLowerCase() < key(b).toLowerCase() ? -1 : 1
const table = (head: string, rows: readonly string[]): string =>
  rows.length === 0 ? '' : `\n| ${head} |\n| --- | --- |\n${rows.join('\n')}\n`
const section = (names: readonly Named[]): string => {
  const same = names.filter(([n, m]) => m._tag === 'Function' && m.entry === 'codual' && spelled(n) === m.name.toLowerCase())
  const rest = names.filter((n) => !same.includes(n))
  const here = [...grouped(rest.filter(([, m]) => m._tag !== 'Without'))].sort(byKey(([, theirs]) => theirs[0]!))
  const not = [...grouped(rest.filter(([, m]) => m._tag === 'Without'))].sort(byKey(([reason]) => reason))
  return [
    same.length === 0 ? '' : `\nOf the same name: ${list([...new Set(same.map(([, m]) => (m as { readonly name: string }).name))])}.\n`,
    table(
      'there | here',
      here.map(([ours, theirs]) => `| ${list(theirs)} | ${ours} |`),
    ),
    table(
      'not here | because',
      not.map(([reason, theirs]) => `| ${list(theirs)} | ${reason} |`),
    ),
  ].join('')
}
const figures = (c: Counts): string => `${c.functions} | ${c.written} | ${c.without}`
const total = (all: readonly Counts[]): Counts =>
  all.reduce(
    (a, b) => ({ functions: a.functions + b.functions, written: a.written + b.written, without: a.without + b.without }),
    countsOf([]),
  )

const intro = `What the functions of other libraries are called here: of NumPy, SciPy (linalg, special, fft, signal), JAX (numpy, lax, nn, random, scipy), PyTorch (torch, nn.functional, linalg, special, fft), ChainRules, NNlib and HIPS autograd.
Each name is a function, or an expression of functions, which runs in the tests and gives there what the other library gives, or is not here, for the reason that stands beside it. PyTorch's forms in place and kernels of engines, quantised and sparse tensors
are left out. The expressions are of vectors x, y, u and w, integers i and j, booleans c and d, symmetric matrices A (B is any) and images X. What differs in meaning under one name is in [coming-from.md](coming-from.md).
Made from a table: \`npm run docs:functions\`.`

/** The page. */
export const namesPage = (): string => {
  const families = byFamily.map(([family, core, names]) => `| ${family} | ${names.length} | ${core} | ${figures(countsOf(names))} |`)
  const all = byFamily.map(([, , names]) => countsOf(names))
  const sum = `| all | ${byFamily.reduce((n, [, , names]) => n + names.length, 0)} | ${byFamily.reduce((n, [, core]) => n + core, 0)} | ${figures(total(all))} |`
  const counted = byLibrary.map(([library, names]) => `| ${library} | ${names.length} | ${figures(countsOf(names))} |`)
  return [
    `# Names\n\n${intro}\n`,
    `\n## By family\n\nThe functions that libraries of derivatives have between them, under one name each; the core is what is met first.\n`,
    `\n| family | names | of the core | functions | expressions | not here |\n| --- | --- | --- | --- | --- | --- |\n${[...families, sum].join('\n')}\n`,
    ...byFamily.map(([family, , names]) => `\n### ${family[0]!.toUpperCase()}${family.slice(1)}\n${section(names)}`),
    `\n## By library\n\n| | names | functions | expressions | not here |\n| --- | --- | --- | --- | --- |\n${counted.join('\n')}\n`,
    ...byLibrary.map(([library, names]) => `\n### ${library}\n${section(names)}`),
  ].join('')
}
