// docs/functions.md: every function of the package with its arguments, its options and the first sentence of its docstring, read from the sources.
import { join } from 'node:path'
import ts from 'typescript'
import { entries, type PublicName, publicNames, root, shortPath } from './public-names.js'

/** What the files of a section have in common, in the order of the page. The first that fits a name takes it. */
const sections: readonly (readonly [title: string, files: RegExp])[] = [
  ['Declaring, running, saving', /core\/(functions|programs|graph|errors)|index\.ts$|backends/],
  ['New arrays', /ops\/construct/],
  ['Elementwise', /ops\/(elementwise|arithmetic|compare|functions|trigonometric|special-functions|gamma|polygamma|activations|lifted|map)/],
  ['Reductions, sorting, running totals', /ops\/(reduc|scans|statistics|along-axis)/],
  ['Shapes', /ops\/(layout|joins)/],
  ['Indexing', /ops\/(at|indexing)/],
  ['Products', /ops\/(contract|einsum|products)/],
  ['Neural networks', /ops\/(nn|conv|pool)/],
  ['Rules and primitives of your own', /./],
]
const others: Readonly<Record<string, string>> = {
  'codual/optim': 'Optimisers: codual/optim',
  'codual/train': 'Training: codual/train',
  'codual/train/node': 'Training in Node: codual/train/node',
  'codual/check': 'Checking: codual/check',
  'codual/check/property': 'Checking with fast-check: codual/check/property',
}
const sectionOf = (n: PublicName): string => others[n.entry] ?? sections.find(([, files]) => files.test(shortPath(n.file)))?.[0] ?? ''

/** Names of the properties of an options record; those that TypeScript or a brand adds are none. */
const optionsOf = (checker: ts.TypeChecker, type: ts.Type): readonly string[] => {
  const names = checker
    .getNonNullableType(type)
    .getProperties()
    .map((p) => p.name)
    .filter((name) => !name.startsWith('__'))
  return names.includes('length') ? [] : names // a shape
}
/** A signature as a call: `sum(x, { axis, keepdims })`. */
const callOf = (checker: ts.TypeChecker, name: string, signature: ts.Signature): string => {
  const written = signature.parameters.map((p, i) => {
    const declaration = p.valueDeclaration
    const rest = declaration !== undefined && ts.isParameter(declaration) && declaration.dotDotDotToken !== undefined
    const optional = declaration !== undefined && ts.isParameter(declaration) && declaration.questionToken !== undefined
    const last = i === signature.parameters.length - 1
    if (last && /options|settings/.test(p.name)) {
      // The record itself, or the bound of the type parameter that stands for it.
      const type = checker.getTypeOfSymbol(p)
      const named = (signature.typeParameters ?? []).map((t) => [t, checker.getBaseConstraintOfType(t)] as const)
      const from = declaration === undefined || !ts.isParameter(declaration) ? '' : (declaration.type?.getText() ?? '')
      const bound = named.find(
        ([t, c]) => c !== undefined && new RegExp(`\\b${t.symbol.name}\\b`).test(from) && optionsOf(checker, c).length > 0,
      )
      const options = bound?.[1] !== undefined && /^(Guard<|[A-Z]$)/.test(from) ? optionsOf(checker, bound[1]) : optionsOf(checker, type)
      if (options.length > 0) return `{ ${options.join(', ')} }${optional ? '?' : ''}`
    }
    if (p.name.startsWith('__')) return 'params?' // a rest that is taken apart
    return `${rest ? '...' : ''}${p.name}${optional ? '?' : ''}`
  })
  return `${name}(${written.join(', ')})`
}
/** The first sentence of a docstring. */
const sentence = (n: PublicName): string => {
  const text = (n.doc?.text ?? '')
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^ \* ?/gm, '')
    .split(/\n\s*\n|\n(?=@|Errors|Shapes?\s|Dtype|Source|Rule\s)|@example/)[0]!
    .replaceAll('\n', ' ')
    .trim()
  const [first = ''] = text.split(/(?<=[a-z0-9)\]`'])\. (?=[A-Z`])/)
  return first.replace(/\.$/, '').replaceAll('|', '\\|')
}

/** The page. */
export const functionsPage = (): string => {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  )
  const program = ts.createProgram(Object.values(entries), config?.options ?? {})
  const checker = program.getTypeChecker()
  const symbols = new Map(
    Object.entries(entries).map(([entry, path]) => {
      const file = program.getSourceFile(path)
      const module = file === undefined ? undefined : checker.getSymbolAtLocation(file)
      return [entry, new Map((module === undefined ? [] : checker.getExportsOfModule(module)).map((s) => [s.name, s]))]
    }),
  )
  const rows = new Map<string, string[]>()
  for (const n of publicNames()) {
    if (n.type) continue
    const symbol = symbols.get(n.entry)?.get(n.name)
    if (symbol === undefined) continue
    const type = checker.getTypeOfSymbol(symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
    const signatures = type.getCallSignatures()
    // The overload with the most parameters says all; among equals the last, which is the general one.
    const fullest = [...signatures].sort((a, b) => a.parameters.length - b.parameters.length).at(-1)
    const call = fullest === undefined ? n.name : callOf(checker, n.name, fullest)
    const section = sectionOf(n)
    rows.set(section, [...(rows.get(section) ?? []), `| \`${call}\` | ${sentence(n)} |`])
  }
  const titles = [...sections.map(([title]) => title), ...Object.values(others)]
  const parts = titles.flatMap((title) => {
    const list = rows.get(title)
    return list === undefined
      ? []
      : [`## ${title}\n\n| | |\n| --- | --- |\n${[...list].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)).join('\n')}\n`]
  })
  const intro =
    'Every function, with its arguments and the names of its options; a question mark says what may be left out. Shapes, dtypes, errors and an example are in the docstring of each, where an editor shows them.\nMade from the sources: `npm run docs:functions`.'
  return `# Functions\n\n${intro}\n\n${parts.join('\n')}`
}
