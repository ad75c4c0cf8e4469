// The public names of the package, where each is defined, and its docstring there. Read from syntax alone; no type checker runs.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The repository's root folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
/** The entry points of the package, by the name users import. */
export const entries: Readonly<Record<string, string>> = {
  codual: join(root, 'src/index.ts'),
  'codual/blas': join(root, 'src/backends/blas/index.ts'),
  'codual/check': join(root, 'src/check/index.ts'),
  'codual/check/property': join(root, 'src/check/property.ts'),
  'codual/display': join(root, 'src/display/index.ts'),
  'codual/minimize': join(root, 'src/minimize/index.ts'),
  'codual/mpi': join(root, 'src/mpi/index.ts'),
  'codual/nn': join(root, 'src/nn/index.ts'),
  'codual/onnx': join(root, 'src/onnx/index.ts'),
  'codual/onnxruntime': join(root, 'src/backends/onnxruntime/index.ts'),
  'codual/optim': join(root, 'src/optim/index.ts'),
  'codual/prob': join(root, 'src/prob/index.ts'),
  'codual/random': join(root, 'src/random/index.ts'),
  'codual/solve': join(root, 'src/solve/index.ts'),
  'codual/threads': join(root, 'src/backends/threads/index.ts'),
  'codual/train': join(root, 'src/train/index.ts'),
  'codual/train/node': join(root, 'src/train/node.ts'),
  'codual/worker': join(root, 'src/backends/worker/index.ts'),
}
/** A docstring: its text without indentation, and where it stands. */
export interface Doc {
  readonly text: string
  readonly file: string
  readonly line: number
}
/** What a public name is, as its definition says. */
export interface Definition {
  readonly file: string
  readonly line: number
  /** Is it a type only? */
  readonly type: boolean
  readonly doc: Doc | undefined
}

/** A path from the root, with `/`. */
export const shortPath = (file: string): string => relative(root, file).replaceAll('\\', '/')

const parsed = new Map<string, ts.SourceFile>()
/** The syntax tree of a file. */
const parse = (file: string): ts.SourceFile => {
  let tree = parsed.get(file)
  if (tree === undefined) {
    tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true)
    parsed.set(file, tree)
  }
  return tree
}

const lineAt = (file: ts.SourceFile, position: number): number => file.getLineAndCharacterOfPosition(position).line + 1

/** The docstring directly above a node: the last one, as editors take it. */
const docRange = (node: ts.Node): ts.CommentRange | undefined => {
  const text = node.getSourceFile().text
  return (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
    .filter((r) => text.startsWith('/** ', r.pos) || text.startsWith('/**\n', r.pos))
    .at(-1)
}
const docOf = (node: ts.Node): Doc | undefined => {
  const file = node.getSourceFile()
  const range = docRange(node)
  if (range === undefined) return undefined
  const text = file.text
    .slice(range.pos, range.end)
    .split('\n')
    .map((line, i) => (i === 0 ? line : ` ${line.trimStart()}`))
    .join('\n')
  return { text, file: file.fileName, line: lineAt(file, range.pos) }
}

const definitionAt = (node: ts.Node, type: boolean): Definition => {
  const file = node.getSourceFile()
  return { file: file.fileName, line: lineAt(file, node.getStart(file)), type, doc: docOf(node) }
}

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((m) => m.kind === ts.SyntaxKind.ExportKeyword)

const resolve = (from: ts.SourceFile, specifier: ts.Expression | undefined): string | undefined =>
  specifier !== undefined && ts.isStringLiteral(specifier) && specifier.text.startsWith('.')
    ? join(dirname(from.fileName), specifier.text).replace(/\.js$/, '.ts')
    : undefined

/** What an identifier that a file imports stands for: a name of another file, or (name undefined) that whole file. */
const imported = (file: ts.SourceFile, identifier: string): { readonly file: string; readonly name: string | undefined } | undefined => {
  for (const s of file.statements) {
    if (!ts.isImportDeclaration(s)) continue
    const target = resolve(file, s.moduleSpecifier)
    const bindings = s.importClause?.namedBindings
    if (target === undefined || bindings === undefined) continue
    if (ts.isNamespaceImport(bindings)) {
      if (bindings.name.text === identifier) return { file: target, name: undefined }
    } else {
      const found = bindings.elements.find((e) => e.name.text === identifier)
      if (found !== undefined) return { file: target, name: (found.propertyName ?? found.name).text }
    }
  }
  return undefined
}

const declarationsNamed = (file: ts.SourceFile, name: string): readonly Definition[] =>
  file.statements.flatMap((s) => {
    if (ts.isVariableStatement(s))
      return s.declarationList.declarations.some((d) => ts.isIdentifier(d.name) && d.name.text === name) ? [definitionAt(s, false)] : []
    if (ts.isFunctionDeclaration(s) || ts.isClassDeclaration(s)) return s.name?.text === name ? [definitionAt(s, false)] : []
    if (ts.isInterfaceDeclaration(s) || ts.isTypeAliasDeclaration(s)) return s.name.text === name ? [definitionAt(s, true)] : []
    return []
  })

/** The definition of a name of a file, followed through imports and re-exports. A value and a type of one name share their docstring. */
export const definitionOf = (path: string, name: string): Definition | undefined => {
  const file = parse(path)
  const here = declarationsNamed(file, name)
  const [first] = [...here].sort((a, b) => Number(a.type) - Number(b.type))
  if (first !== undefined) return { ...first, doc: first.doc ?? here.find((d) => d.doc !== undefined)?.doc }
  for (const s of file.statements) {
    if (!ts.isExportDeclaration(s)) continue
    const target = resolve(file, s.moduleSpecifier)
    if (s.exportClause === undefined) {
      const handed = target !== undefined && exportsOf(target).some((e) => e.name === name)
      const found = handed ? definitionOf(target, name) : undefined
      if (found !== undefined) return found
    } else if (ts.isNamedExports(s.exportClause)) {
      const found = s.exportClause.elements.find((e) => e.name.text === name)
      if (found === undefined) continue
      const original = (found.propertyName ?? found.name).text
      if (target !== undefined) return definitionOf(target, original)
      if (original !== name) return definitionOf(path, original)
    }
  }
  const from = imported(file, name)
  return from?.name === undefined ? undefined : definitionOf(from.file, from.name)
}

/** A name that a file exports. */
export interface Exported {
  readonly name: string
  /** Exported as a type only, whatever it is. */
  readonly typeOnly: boolean
}
const exported = new Map<string, readonly Exported[]>()
/** The names that a file exports, its own and those it hands on. */
export const exportsOf = (path: string): readonly Exported[] => {
  const known = exported.get(path) ?? exportsIn(path)
  exported.set(path, known)
  return known
}
const exportsIn = (path: string): readonly Exported[] =>
  parse(path).statements.flatMap((s): readonly Exported[] => {
    if (ts.isExportDeclaration(s)) {
      if (s.exportClause === undefined) {
        const target = resolve(parse(path), s.moduleSpecifier)
        return target === undefined ? [] : exportsOf(target).map((e) => ({ ...e, typeOnly: e.typeOnly || s.isTypeOnly }))
      }
      if (!ts.isNamedExports(s.exportClause)) return []
      return s.exportClause.elements.map((e) => ({ name: e.name.text, typeOnly: s.isTypeOnly || e.isTypeOnly }))
    }
    if (!isExported(s)) return []
    if (ts.isVariableStatement(s)) return s.declarationList.declarations.map((d) => ({ name: d.name.getText(), typeOnly: false }))
    if (ts.isInterfaceDeclaration(s) || ts.isTypeAliasDeclaration(s)) return [{ name: s.name.text, typeOnly: true }]
    return (ts.isFunctionDeclaration(s) || ts.isClassDeclaration(s)) && s.name ? [{ name: s.name.text, typeOnly: false }] : []
  })

/** The text of the declaration at a definition's line. */
export const sourceOf = ({ file, line }: Definition): string => {
  const tree = parse(file)
  return tree.statements.find((s) => lineAt(tree, s.getStart(tree)) === line)?.getText(tree) ?? ''
}

/** A name that users can import. */
export interface PublicName extends Definition {
  readonly name: string
  readonly entry: string
}
/** Every public name of the package, with what its users see in a hover. */
export const publicNames = (): readonly PublicName[] =>
  Object.entries(entries).flatMap(([entry, path]) => {
    const names = new Map<string, boolean>()
    for (const e of exportsOf(path)) names.set(e.name, e.typeOnly && names.get(e.name) !== false)
    return [...names].map(([name, typeOnly]) => {
      const definition = definitionOf(path, name)
      if (definition === undefined) throw new Error(`${shortPath(path)}: no definition of ${name} found`)
      return { ...definition, name, entry, type: definition.type || typeOnly }
    })
  })
