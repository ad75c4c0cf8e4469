// Every function of the package with its arguments, its options and its docstring, read from the sources; and docs/functions.md, a line for each.
import { join } from 'node:path'
import ts from 'typescript'
import { signatureOf } from '../../src/core/ops/operation.js'
import * as codual from '../../src/index.js'
import { entries, type PublicName, publicNames, root, shortPath } from './public-names.js'

/** What the files of a section have in common, in the order of the page. The first that fits a name takes it. */
const sections: readonly (readonly [title: string, files: RegExp])[] = [
  ['Declaring, running, saving', /core\/(functions|programs|graph|errors)|instance\/|backends/],
  ['New arrays', /(?:ops|library\/\w+)\/(construct|grids)/],
  [
    'Elementwise',
    /(?:ops|library\/(?!matrices)\w+)\/(elementwise|arithmetic|bitwise|compare|functions|unary|exponentials|trigonometric|gamma|polygamma|activations|lifted|map|numeric|choices|rounding)/,
  ],
  ['Special functions', /ops\/special|library\/special\//],
  ['Spectra', /(?:ops|library\/\w+)\/(fft|spectra|frames)/],
  ['Reductions, sorting, running totals', /ops\/(reduc|scans|along-axis)|library\/statistics\//],
  ['Counts, segments, places', /(?:ops|library\/\w+)\/(counting|segments)/],
  ['Differences, integrals, interpolation, convolution', /(?:ops|library\/\w+)\/differences/],
  ['Shapes', /(?:ops|library\/\w+)\/(layout|joins|arrange)/],
  ['Indexing', /(?:ops|library\/\w+)\/(at|indexing)/],
  ['Products', /(?:ops|library\/\w+)\/(contract|einsum|products)/],
  ['Linear algebra', /ops\/linalg|library\/matrices\/(functions|norms)/],
  ['Control flow', /(?:ops|library\/\w+)\/(control|associative-scan|tap)/],
  ['Neural networks', /(?:ops|library\/\w+)\/(nn|conv|pool)|library\/networks\//],
  ['Rules and primitives of your own', /^src\/(rules|modes|packs)\/|core\/(extend|calculus)/],
]
const others: Readonly<Record<string, string>> = {
  'codual/minimize': 'Minimising and fitting: codual/minimize',
  'codual/nn': 'Layers: codual/nn',
  'codual/onnx': 'Models of ONNX: codual/onnx',
  'codual/onnxruntime': 'ONNX Runtime as a backend: codual/onnxruntime',
  'codual/optim': 'Optimisers: codual/optim',
  'codual/random': 'Random numbers: codual/random',
  'codual/solve': 'Solvers: codual/solve',
  'codual/train': 'Training: codual/train',
  'codual/train/node': 'Training in Node: codual/train/node',
  'codual/blas': 'System libraries: codual/blas',
  'codual/display': 'Notebooks: codual/display',
  'codual/check': 'Checking: codual/check',
  'codual/check/property': 'Checking with fast-check: codual/check/property',
}
const sectionOf = (n: PublicName): string => {
  const section = others[n.entry] ?? sections.find(([, files]) => files.test(shortPath(n.file)))?.[0]
  if (section === undefined) throw new Error(`${n.name} of ${shortPath(n.file)} is in no section: say in which its file belongs.`)
  return section
}

/** The type of a parameter for options: the bound of O where it is declared as `O` or as `Guard<..., O>`. */
const boundOf = (checker: ts.TypeChecker, signature: ts.Signature, p: ts.Symbol, declared: ts.TypeNode | undefined): ts.Type => {
  const guard = declared !== undefined && ts.isTypeReferenceNode(declared) && declared.typeName.getText() === 'Guard'
  const named = guard ? declared.typeArguments?.at(-1) : declared
  const parameter = signature.typeParameters?.find((t) => t.symbol.name === named?.getText())
  return (parameter && checker.getBaseConstraintOfType(parameter)) ?? checker.getTypeOfSymbol(p)
}
/** Options that are declared as data, in the order of their declaration: that of a mapped type is the compiler's. */
const inOrder = (properties: readonly ts.Symbol[], name: string): readonly ts.Symbol[] => {
  const declared = Object.keys(signatureOf((codual as Readonly<Record<string, unknown>>)[name])?.options ?? {})
  if (properties.every((p) => declared.includes(p.name)))
    return [...properties].sort((p, q) => declared.indexOf(p.name) - declared.indexOf(q.name))
  const at = properties.map((p) => p.declarations?.[0])
  if (!at.some((d) => d !== undefined && ts.isPropertyAssignment(d))) return properties
  const files = [...new Set(at.map((d) => d?.getSourceFile()))]
  const place = new Map(properties.map((p, i) => [p, [files.indexOf(at[i]?.getSourceFile()), at[i]?.pos ?? 0] as const]))
  return [...properties].sort((p, q) => {
    const [a, b] = [place.get(p)!, place.get(q)!]
    return a[0] - b[0] || a[1] - b[1]
  })
}
/** The names of the options in a record's type, the needed ones first; none where it is no record. */
const optionsOf = (checker: ts.TypeChecker, type: ts.Type, of: string): readonly string[] => {
  const bound = checker.getNonNullableType(type)
  const records = bound.isUnion() ? bound.types : [bound]
  if (records.some((t) => !(t.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) || checker.isArrayLikeType(t))) return []
  const properties = inOrder(
    bound.getProperties().filter((p) => !p.name.startsWith('__')),
    of,
  ) // a brand is none
  const needed = properties.filter((p) => !(p.flags & ts.SymbolFlags.Optional))
  return [...needed.map((p) => p.name), ...properties.filter((p) => !needed.includes(p)).map((p) => `${p.name}?`)]
}
/** The parameters of a signature but a rest of none, by which it says which types it is for. */
const parametersOf = (signature: ts.Signature): readonly ts.Symbol[] => signature.parameters.filter((p) => p.name !== 'no')
/** The names of all options that any overload takes. */
const typedOptions = (checker: ts.TypeChecker, name: string, signatures: readonly ts.Signature[]): ReadonlySet<string> =>
  new Set(
    signatures.flatMap((signature) => {
      const p = parametersOf(signature).at(-1)
      const d = p?.valueDeclaration
      if (p === undefined || d === undefined || !ts.isParameter(d) || !/options|settings/.test(p.name)) return []
      return optionsOf(checker, boundOf(checker, signature, p, d.type), name).map((option) => option.replace(/\?$/, ''))
    }),
  )
/** Has an overload that takes the arguments before place `at` the option too, and does it need it? One without options, or whose options are all optional, does not. */
const needs = (checker: ts.TypeChecker, name: string, signature: ts.Signature, at: number, option: string): boolean => {
  const p = parametersOf(signature)[at]
  if (p === undefined) return parametersOf(signature).length < at
  if (!/options|settings/.test(p.name)) return true
  const d = p.valueDeclaration
  const declared = d !== undefined && ts.isParameter(d) ? d : undefined
  return declared?.questionToken === undefined && optionsOf(checker, boundOf(checker, signature, p, declared?.type), name).includes(option)
}
/** A function as a call of the overload that takes most: `sum(x, { axis?, keepdims? })`. What another overload lacks may be left out. */
const callOf = (checker: ts.TypeChecker, name: string, signatures: readonly ts.Signature[]): string => {
  // The one with the most parameters says all; among equals the last, which is the general one.
  const fullest = [...signatures].sort((a, b) => parametersOf(a).length - parametersOf(b).length).at(-1)
  if (fullest === undefined) return name
  const fewest = Math.min(...signatures.map((s) => parametersOf(s).length))
  const said = parametersOf(fullest)
  const written = said.map((p, i) => {
    if (p.name.startsWith('__')) return 'params?' // a rest that is taken apart
    const d = p.valueDeclaration
    const declared = d !== undefined && ts.isParameter(d) ? d : undefined
    if (i === said.length - 1 && /options|settings/.test(p.name)) {
      const options = optionsOf(checker, boundOf(checker, fullest, p, declared?.type), name)
      // what another overload leaves out may be left out
      const marked = options.map((o) => (o.endsWith('?') || signatures.every((s) => needs(checker, name, s, i, o)) ? o : `${o}?`))
      const inLine = [...marked.filter((o) => !o.endsWith('?')), ...marked.filter((o) => o.endsWith('?'))]
      if (options.length > 0) return `{ ${inLine.join(', ')} }`
    }
    const rest = declared?.dotDotDotToken !== undefined
    const optional = declared?.questionToken !== undefined || declared?.initializer !== undefined || (i >= fewest && !rest)
    return `${rest ? '...' : ''}${p.name}${optional ? '?' : ''}`
  })
  return `${name}(${written.join(', ')})`
}
const written = (checker: ts.TypeChecker, type: ts.Type, signatures: readonly ts.Signature[]): readonly string[] => {
  const whole = ts.TypeFormatFlags.NoTruncation
  return signatures.length === 0
    ? [checker.typeToString(type, undefined, whole)]
    : signatures.map((s) => checker.signatureToString(s, undefined, whole))
}
/** The first sentence of a docstring, as a cell of a table. */
export const sentence = (n: PublicName): string => {
  const text = (n.doc?.text ?? '')
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^ \* ?/gm, '')
    .split(/\n\s*\n|\n(?=@|Errors|Shapes?\s|Dtype|Source|Rule\s)|@example/)[0]!
    .replaceAll('\n', ' ')
    .trim()
  const [first = ''] = text.split(/(?<=[a-z0-9)\]`'])\. (?=[A-Z`])/)
  return first.replace(/\.$/, '').replaceAll('|', '\\|')
}

/** A function: where it is listed, how it is called, and its name with its docstring. */
export interface Listed {
  readonly section: string
  readonly call: string
  /** Its overloads as the compiler writes them; the type of what is no function. */
  readonly signatures: readonly string[]
  /** Options, by its type. */
  readonly options: ReadonlySet<string>
  readonly of: PublicName
}
/** Every function by section, in the order of the pages. */
export const listed = (): readonly (readonly [section: string, functions: readonly Listed[]])[] => {
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
  const rows = new Map<string, Listed[]>()
  for (const n of publicNames()) {
    if (n.type) continue
    const symbol = symbols.get(n.entry)?.get(n.name)
    if (symbol === undefined) continue
    const type = checker.getTypeOfSymbol(symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
    const section = sectionOf(n)
    const signatures = type.getCallSignatures()
    const call = callOf(checker, n.name, signatures)
    const row = { section, call, signatures: written(checker, type, signatures), options: typedOptions(checker, n.name, signatures), of: n }
    rows.set(section, [...(rows.get(section) ?? []), row])
  }
  return [...sections.map(([title]) => title), ...Object.values(others)].flatMap((title) => {
    const list = rows.get(title)
    return list === undefined ? [] : [[title, [...list].sort((a, b) => (a.call.toLowerCase() < b.call.toLowerCase() ? -1 : 1))] as const]
  })
}
/** The file of a section's page in docs/reference. */
export const fileOf = (section: string): string =>
  `${section
    .replace(/:.*$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-')}.md`

/** Functions as a table, a line for each; `shown` is what stands for its call. */
export const tableOf = (list: readonly Listed[], shown: (f: Listed) => string): string =>
  `| | |\n| --- | --- |\n${list.map((f) => `| ${shown(f)} | ${sentence(f.of)} |`).join('\n')}\n`
/** A call as code. */
const asCode = ({ call }: Listed): string => `\`${call}\``

/** The page. */
export const functionsPage = (all: ReturnType<typeof listed>, shown = asCode): string => {
  const parts = all.map(([title, list]) => `## ${title}\n\n[In full](reference/${fileOf(title)})\n\n${tableOf(list, shown)}`)
  const intro =
    'Every function, with its arguments and the names of its options; a question mark says what may be left out, and a record of options may where all of them may. Each section has a page with shapes, dtypes, rules, errors, backends and an example of each function, as its docstring has them, where an editor shows it.\n[names.md](names.md) has what the functions of other libraries are called here.\nMade from the sources: `npm run docs:functions`.'
  return `# Functions\n\n${intro}\n\n${parts.join('\n')}`
}
