/** What may follow what was typed: names by Node's own completer, options of a function in its record, paths of inputs in a text. */
import { isAdException } from '../../src/index.js'
import type { Any } from '../function.js'

/** What the prompt knows of a name, as in `optim.adam`; undefined where it is none. */
export type Lookup = (path: string) => unknown
export type Completed = readonly [found: string[], typed: string]

interface Open {
  readonly bracket: string
  readonly at: number
}
/** The brackets and quotes that are open at the end of a text, the innermost last. */
const openAt = (text: string): readonly Open[] => {
  const open: Open[] = []
  for (let at = 0; at < text.length; at++) {
    const c = text[at]!
    const quote = open.at(-1)?.bracket
    if (quote === "'" || quote === '"' || quote === '`') {
      if (c === '\\') at++
      else if (c === quote) open.pop()
    } else if ('\'"`([{'.includes(c)) open.push({ bracket: c, at })
    else if (')]}'.includes(c)) open.pop()
  }
  return open
}
const calleeBefore = (text: string): string | undefined => /([\w$.]+)(?:<[^<>]*>)?$/.exec(text)?.[1]

/** Arguments that some function takes before its options, so that it gets to read these. */
const tries: readonly (readonly unknown[])[] = [[], [(x: unknown) => x], [[1]], [[1], [1]], [[1], [1], [1]], [1], [2, 2], [[[1]]], [[1], 1]]
const known = new WeakMap<object, readonly string[]>()
/** The options of a function of the library, from what it says of one that it does not have. */
export const optionsOf = (f: unknown): readonly string[] => {
  if (typeof f !== 'function') return []
  const before = known.get(f)
  if (before !== undefined) return before
  let found: readonly string[] = []
  for (const args of tries) {
    try {
      ;(f as Any)(...args, { '?': 0 })
    } catch (error) {
      const [, list] = (isAdException(error) && error.message.includes('no option ?') && /options: \{ ([^}]*) \}/.exec(error.message)) || []
      if (list === undefined) continue
      found = list.split(', ')
      break
    }
  }
  known.set(f, found)
  return found
}

/** The paths of a tree: `params`, `params.w`, `layers.0.b`. */
export const pathsOf = (tree: unknown): readonly string[] => {
  const paths: string[] = []
  const visit = (x: unknown, path: string): void => {
    if (path !== '') paths.push(path)
    if (typeof x !== 'object' || x === null || ArrayBuffer.isView(x) || '_tag' in x) return
    for (const [key, value] of Object.entries(x)) visit(value, path === '' ? key : `${path}.${key}`)
  }
  visit(tree, '')
  return paths
}

/** What options or paths may stand at the end of this text; undefined where neither does. `library`: is f one whose options may be asked for? */
export const completeSpecial = (
  text: string,
  lookup: Lookup,
  library: (f: unknown) => boolean,
  inputs: (f: unknown) => unknown,
): Completed | undefined => {
  const open = openAt(text)
  const last = open.at(-1)
  if (last === undefined) return undefined
  const starting = (names: readonly string[], typed: string): Completed => [names.filter((n) => n.startsWith(typed)), typed]
  if (last.bracket === "'" || last.bracket === '"') {
    const before = text.slice(0, last.at)
    if (!/\bwrt:\s*\[?(?:\s*['"][\w.]*['"]\s*,)*\s*$/.test(before)) return undefined
    const call = [...open].reverse().find((o) => o.bracket === '(')
    const of = call === undefined ? undefined : /^\s*([\w$.]+)\s*,/.exec(text.slice(call.at + 1))?.[1]
    const f = of === undefined ? undefined : lookup(of)
    return f === undefined ? undefined : starting(pathsOf(inputs(f)), text.slice(last.at + 1))
  }
  const call = open.at(-2)
  if (last.bracket !== '{' || call?.bracket !== '(') return undefined
  const typed = /(?:^|[{,])\s*([\w$]*)$/.exec(text.slice(last.at))?.[1]
  const callee = calleeBefore(text.slice(0, call.at))
  if (typed === undefined || callee === undefined) return undefined
  const f = lookup(callee)
  if (!library(f)) return undefined
  const there = new Set([...text.slice(last.at).matchAll(/([\w$]+)\s*:/g)].map(([, name]) => name))
  const found = starting(
    optionsOf(f).filter((name) => !there.has(name)),
    typed,
  )
  return found[0].length === 0 ? undefined : found
}
