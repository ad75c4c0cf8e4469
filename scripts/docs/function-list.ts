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
  'codual/mpi': 'Several ranks: codual/mpi',
  'codual/nn': 'Layers: codual/nn',
  'codual/onnx': 'Models of ONNX: codual/onnx',
  'codual/onnxruntime': 'ONNX Runtime as a backend: codual/onnxruntime',
  'codual/optim': 'Optimisers: codual/optim',
  'codual/prob': 'Distributions and inference: codual/prob',
  'codual/random': 'Random numbers: codual/random',
  'codual/solve': 'Solvers: codual/solve',
  'codual/train': 'Training: codual/train',
  'codual/train/node': 'Training in Node: codual/train/node',
  'codual/blas': 'System libraries: codual/blas',
  'codual/threads': 'Threads: codual/threads',
  'codual/worker': 'Programs in a worker: codual/worker',
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
const isOptional = (p: ts.Symbol): boolean => (p.flags & ts.SymbolFlags.Optional) !== 0
/** The properties of a record of options, the needed ones first; none where it is no record. */
const propertiesOf = (checker: ts.TypeChecker, type: ts.Type, of: string): readonly ts.Symbol[] => {
  const bound = checker.getNonNullableType(type)
  const records = bound.isUnion() ? bound.types : [bound]
  if (records.some((t) => !(t.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) || checker.isArrayLikeType(t))) return []
  const properties = inOrder(
    bound.getProperties().filter((p) => !p.name.startsWith('__')),
    of,
  ) // a brand is none
  return [...properties.filter((p) => !isOptional(p)), ...properties.filter(isOptional)]
}
/** The names of the options in a record's type. */
const optionsOf = (checker: ts.TypeChecker, type: ts.Type, of: string): readonly string[] =>
  propertiesOf(checker, type, of).map((p) => (isOptional(p) ? `${p.name}?` : p.name))
/** Options as a record's type is written: `name?: type`, one a line, each below its docstring. */
const linesOf = (checker: ts.TypeChecker, properties: readonly ts.Symbol[]): readonly string[] =>
  properties.flatMap((p) => {
    const doc = ts.displayPartsToString(p.getDocumentationComment(checker)).replaceAll(/\s*\n\s*/g, ' ')
    const given = checker.getTypeOfSymbol(p)
    const text = asText(checker, given)
    // Without `| undefined` a function needs no parentheses.
    const bare = /^\(\(.*\) \| undefined$/.test(text)
      ? asText(checker, checker.getNonNullableType(given))
      : text.replace(/ \| undefined$/, '')
    const type = withNames(isOptional(p) ? bare : text)
    const name = /^\w+$/.test(p.name) ? p.name : `'${p.name}'`
    return [...(doc === '' ? [] : [`/** ${doc} */`]), `${name}${isOptional(p) ? '?' : ''}: ${type}`]
  })
/** The parameters of a signature but a rest of none, by which it says which types it is for. */
const parametersOf = (signature: ts.Signature): readonly ts.Symbol[] => signature.parameters.filter((p) => p.name !== 'no')
/** All options that any overload takes, by name. */
const typedOptions = (checker: ts.TypeChecker, name: string, signatures: readonly ts.Signature[]): ReadonlyMap<string, ts.Symbol> => {
  const found = new Map<string, ts.Symbol>()
  for (const signature of signatures) {
    const p = parametersOf(signature).at(-1)
    const d = p?.valueDeclaration
    if (p === undefined || d === undefined || !ts.isParameter(d) || !/options|settings/.test(p.name)) continue
    for (const option of propertiesOf(checker, boundOf(checker, signature, p, d.type), name))
      if (!found.has(option.name)) found.set(option.name, option)
  }
  return found
}
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
/** A type in full. */
const asText = (checker: ts.TypeChecker, type: ts.Type): string => checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
/** How options are declared is no matter of a signature: their type has the name that the source gives it, or is a record of them. */
const withNamedOptions = (checker: ts.TypeChecker, text: string, { parameters }: ts.Signature): string =>
  parameters.reduce((signature, p) => {
    const d = p.valueDeclaration
    if (d === undefined || !ts.isParameter(d) || d.type === undefined) return signature
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(p))
    const shown = asText(checker, type)
    if (!/^(?:Left|Must|OptionsOf)</.test(shown)) return signature
    const named = ts.isTypeReferenceNode(d.type) && d.type.typeArguments === undefined
    return signature.replace(shown, () =>
      named
        ? d.type!.getText()
        : `{ ${linesOf(checker, type.getProperties())
            .filter((line) => !line.startsWith('/**'))
            .join('; ')} }`,
    )
  }, text)
const written = (checker: ts.TypeChecker, type: ts.Type, signatures: readonly ts.Signature[]): readonly string[] =>
  signatures.length === 0
    ? [asText(checker, type)]
    : signatures.map((s) =>
        withNames(withNamedOptions(checker, checker.signatureToString(s, undefined, ts.TypeFormatFlags.NoTruncation), s)),
      )
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
  /** The same as `name?: type`, one a line, each below its docstring. */
  readonly optionLines: readonly string[]
  readonly of: PublicName
}
/** The compiler, and what each entry point exports. */
const compiler = (() => {
  let made: ReturnType<typeof compile> | undefined
  return () => (made ??= compile())
})()
const compile = () => {
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
  const symbolOf = ({ entry, name }: PublicName): ts.Symbol | undefined => {
    const symbol = symbols.get(entry)?.get(name)
    return symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  }
  return { checker, symbolOf }
}
/** The declaration of a type whose options are not written out where it stands: they are declared as data, or come from other types; undefined for any other. */
const optionsDeclaration = (symbol: ts.Symbol | undefined, name: string) => {
  const d = symbol?.declarations?.find((one) => ts.isTypeAliasDeclaration(one) || ts.isInterfaceDeclaration(one))
  if (d === undefined) return undefined
  const inherits = ts.isInterfaceDeclaration(d) && d.heritageClauses !== undefined
  return /\bOptionsOf</.test(d.getText()) || (inherits && name.endsWith('Options')) ? d : undefined
}
/** The public names of types of options, by what the compiler writes for them; the longest first, since one may hold another. */
const namesOfTypes = (() => {
  let made: readonly (readonly [text: string, name: string])[] | undefined
  return () => (made ??= namedTypes())
})()
const namedTypes = () => {
  const { checker, symbolOf } = compiler()
  return publicNames()
    .flatMap((n): readonly (readonly [string, string])[] => {
      const symbol = n.type ? symbolOf(n) : undefined
      if (symbol === undefined || optionsDeclaration(symbol, n.name)?.typeParameters !== undefined) return []
      const text = asText(checker, checker.getDeclaredTypeOfSymbol(symbol))
      return /^(?:Left|Must)</.test(text) ? [[text, n.name]] : []
    })
    .sort(([a], [b]) => b.length - a.length)
}
const withNames = (text: string): string => namesOfTypes().reduce((t, [raw, name]) => t.replaceAll(raw, () => name), text)
/** A type of options as the record that it is; undefined for a type that is written out where it stands. */
export const optionsType = (n: PublicName): string | undefined => {
  const { checker, symbolOf } = compiler()
  const symbol = symbolOf(n)
  const d = optionsDeclaration(symbol, n.name)
  if (symbol === undefined || d === undefined) return undefined
  const lines = linesOf(checker, propertiesOf(checker, checker.getDeclaredTypeOfSymbol(symbol), n.name))
  const parameters = d.typeParameters === undefined ? '' : `<${d.typeParameters.map((t) => t.getText()).join(', ')}>`
  return lines.length === 0 ? undefined : `type ${n.name}${parameters} = {\n${lines.map((line) => `  ${line}\n`).join('')}}`
}
/** Every function by section, in the order of the pages. */
export const listed = (): readonly (readonly [section: string, functions: readonly Listed[]])[] => {
  const { checker, symbolOf } = compiler()
  const rows = new Map<string, Listed[]>()
  for (const n of publicNames()) {
    if (n.type) continue
    const symbol = symbolOf(n)
    if (symbol === undefined) continue
    const type = checker.getTypeOfSymbol(symbol)
    const section = sectionOf(n)
    const signatures = type.getCallSignatures()
    const call = callOf(checker, n.name, signatures)
    const options = typedOptions(checker, n.name, signatures)
    const optionLines = linesOf(checker, [...options.values()])
    const row = { section, call, signatures: written(checker, type, signatures), options: new Set(options.keys()), optionLines, of: n }
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
