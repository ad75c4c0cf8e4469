/** Docstrings of public names, from the declarations of the package (from the sources where the command runs from these). */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSource, root } from '../project.js'

/** Where what is in scope comes from: the name of the namespace, and its entry. */
export const entries: Readonly<Record<string, string>> = {
  '': 'index',
  nn: 'nn/index',
  optim: 'optim/index',
  random: 'random/index',
  solvers: 'solve/index',
  minimizers: 'minimize/index',
  prob: 'prob/index',
  train: 'train/index',
  display: 'display/index',
  check: 'check/index',
}
const fileOf = (module: string): string => (isSource ? join(root, 'src', `${module}.ts`) : join(root, 'dist', `${module}.d.ts`))
const ending = isSource ? '.ts' : '.d.ts'

const texts = new Map<string, string>()
const textOf = (file: string): string => {
  let text = texts.get(file)
  if (text === undefined) {
    text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    texts.set(file, text)
  }
  return text
}

/** The docstring that stands above the declaration of a name in this file. */
const declaredIn = (text: string, name: string): string | undefined => {
  const declaration = new RegExp(`^export (?:declare )?(?:const|function|class|interface|type) ${name}\\b`, 'm').exec(text)
  if (declaration === null) return undefined
  const before = text.slice(0, declaration.index).trimEnd()
  if (!before.endsWith('*/')) return ''
  return before.slice(before.lastIndexOf('/**'))
}

/** The docstring of what a file exports by a name, through the files that it hands on. */
const docIn = (file: string, name: string, seen: Set<string>): string | undefined => {
  if (seen.has(`${file} ${name}`)) return undefined
  seen.add(`${file} ${name}`)
  const text = textOf(file)
  const here = declaredIn(text, name)
  if (here !== undefined) return here
  const beside = (specifier: string): string => join(dirname(file), specifier.replace(/\.js$/, ending))
  for (const [, names, from] of text.matchAll(/^(?:export|import)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+['"](\.[^'"]+)['"]/gm)) {
    for (const part of names!.split(',')) {
      const [, inner, outer] = /^\s*(?:type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(part) ?? []
      if ((outer ?? inner) !== name) continue
      const found = docIn(beside(from!), inner!, seen)
      if (found !== undefined) return found
    }
  }
  for (const [, from] of text.matchAll(/^export\s+(?:type\s+)?\*\s+from\s+['"](\.[^'"]+)['"]/gm)) {
    const found = docIn(beside(from!), name, seen)
    if (found !== undefined) return found
  }
  return undefined
}

/** A docstring without its frame. */
const unframed = (doc: string): string =>
  doc
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim()

/** A line no wider than the terminal, cut between words; what follows stands under its beginning. */
const wrapped = (line: string, width: number): string => {
  const indent = /^\s*/.exec(line)![0]
  const out: string[] = []
  let current = ''
  for (const word of line.trim().split(/(?<=\S) (?=\S)/)) {
    if (current !== '' && indent.length + current.length + 1 + word.length > width) {
      out.push(indent + current)
      current = word
    } else current = current === '' ? word : `${current} ${word}`
  }
  return [...out, indent + current].join('\n')
}

/** `nn.dense` or `dense`: its docstring, in lines of this width, and the entry where it is; undefined where there is none. */
export const docOf = (name: string, width: number): { readonly entry: string; readonly text: string } | undefined => {
  const [, space, own] = /^(?:(\w+)\.)?(\w+)$/.exec(name) ?? []
  if (own === undefined) return undefined
  for (const [scope, module] of Object.entries(entries)) {
    if (space !== undefined && space !== 'codual' && scope !== space) continue
    if (space === 'codual' && scope !== '') continue
    const doc = docIn(fileOf(module), own, new Set())
    if (doc === undefined || doc === '') continue
    const [prose = '', ...examples] = unframed(doc).split(/^@example ?/m)
    const shown = examples.map((e) => e.trim().replace(/^/gm, '  '))
    return {
      entry: module === 'index' ? 'codual' : `codual/${module.replace('/index', '')}`,
      text: [
        ...prose
          .trimEnd()
          .split('\n')
          .map((line) => wrapped(line, width)),
        ...(shown.length > 0 ? ['', 'example', ...shown] : []),
      ].join('\n'),
    }
  }
  return undefined
}
