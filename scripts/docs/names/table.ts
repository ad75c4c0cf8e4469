// Names of other libraries: table.txt says what each is here, libraries.json which there are. docs/names.md is made of them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicNames, root } from '../public-names.js'
import made from './libraries.json' with { type: 'json' }

/** What a name of another library is here: a function, an expression, or nothing, for a reason. */
export type Meant =
  | { readonly _tag: 'Function'; readonly name: string; readonly entry: string }
  | { readonly _tag: 'Written'; readonly code: string; readonly note: string }
  | { readonly _tag: 'Without'; readonly reason: string }

const sections = new Map(
  readFileSync(join(root, 'scripts/docs/names/table.txt'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.trim().split('\n')
      return [title, lines] as const
    }),
)
const linesOf = (title: string): readonly string[] => sections.get(title) ?? []
const words = (text: string): readonly string[] => text.trim().split(/\s+/)
/** A line `key: names`; the key may have colons of its own, names have none. */
const pairOf = (line: string): readonly [string, readonly string[]] => {
  const at = line.lastIndexOf(': ')
  return [line.slice(0, at), words(line.slice(at + 2))]
}

/** Families of functions with their names, those of the core with a star. */
export const families: readonly (readonly [family: string, names: readonly string[]])[] = linesOf('families').map(pairOf)
/** Libraries whose names were written down, and modules whose names were read off them. */
export const libraries: readonly (readonly [library: string, names: readonly string[]])[] = [
  ...Object.entries(made.libraries).map(([module, names]) => [module, words(names)] as const),
  ...linesOf('lists').map(pairOf),
]
/** Expressions that stand for functions, with the names of these, and of what they hold. */
export const written: readonly (readonly [code: string, names: readonly string[], note: string])[] = linesOf('written').map((line) => {
  const [code = '', names = '', , note = ''] = line.split(' | ')
  return [code, words(names), note]
})
/** What the same is elsewhere at the same arguments. */
export const values: Readonly<Record<string, unknown>> = made.values
/** Functions with their other names, and reasons with what is not here for them. */
export const others = linesOf('others').map(pairOf)
export const without = linesOf('without').map(pairOf)

/** The spelling that names are compared in. */
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase()
/** The functions of the entry points that have such names, by name: of the library itself first. */
const entries = ['codual', 'codual/random', 'codual/solve', 'codual/minimize', 'codual/prob', 'codual/train/node']
const functions = new Map<string, { readonly name: string; readonly entry: string }>()
export const isFunction = (name: string): boolean => functions.has(plain(name)) && functions.get(plain(name))!.name === name
const inEntry = new Map<string, { readonly name: string; readonly entry: string }>()
for (const entry of [...entries].reverse())
  for (const n of publicNames())
    if (n.entry === entry && !n.type) {
      functions.set(plain(n.name), { name: n.name, entry })
      inEntry.set(`${entry}.${plain(n.name)}`, { name: n.name, entry })
    }

const meanings = new Map<string, Meant>()
/** Names of the table that stand there twice. */
export const twice: string[] = []
const put = (names: readonly string[], meant: Meant): void => {
  for (const n of names) {
    if (meanings.has(n)) twice.push(n)
    meanings.set(n, meant)
  }
}
for (const [name, names] of others) put(names, { _tag: 'Function', name, entry: functions.get(plain(name))?.entry ?? '' })
for (const [code, names, note] of written) put(names, { _tag: 'Written', code, note })
for (const [reason, names] of without) put(names, { _tag: 'Without', reason })

/** Names of the table that some list asked for. */
export const asked = new Set<string>()
/** What a name of a module is here; undefined where the table does not say. */
export const meantBy = (module: string, name: string): Meant | undefined => {
  for (const key of [`${module}.${name}`, name])
    if (meanings.has(key)) {
      asked.add(key)
      return meanings.get(key)
    }
  const entry = /random|initializers/.test(module) || name.startsWith('random.') ? 'codual/random' : 'codual'
  const spelled = plain(name.replace(/^.*\./, ''))
  const same = inEntry.get(`${entry}.${spelled}`) ?? functions.get(spelled)
  return same && { _tag: 'Function', ...same }
}
/** Names for which there is no function, that are functions of the library by now. */
export const outdated = [...written, ...without].flatMap(([, names]) => names.filter((n) => inEntry.has(`codual.${plain(n)}`)))
