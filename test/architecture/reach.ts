// What a declaration is made of: the top-level declarations of src that it reaches by name, as a bundler follows them.
import ts from 'typescript'
import { resolveImport, type Source } from './sources.js'

/** A top-level name of a file of src. */
export interface Declared {
  readonly path: string
  readonly name: string
}
interface Module {
  /** The values that each top-level name is written with: names of the file, or `namespace.member`. */
  readonly uses: ReadonlyMap<string, ReadonlySet<string>>
  /** Where imported names come from; `*` is all of a file. */
  readonly imports: ReadonlyMap<string, Declared>
  /** Names that are handed on, and files of which all are. */
  readonly exports: ReadonlyMap<string, Declared>
  readonly all: readonly string[]
}

/** The values that a tree of syntax names; types are none. */
const usedIn = (node: ts.Node, found = new Set<string>()): ReadonlySet<string> => {
  if (ts.isTypeNode(node)) return found
  if (ts.isPropertyAccessExpression(node)) {
    if (ts.isIdentifier(node.expression)) found.add(`${node.expression.text}.${node.name.text}`)
    else usedIn(node.expression, found)
  } else if (ts.isPropertyAssignment(node)) {
    if (ts.isComputedPropertyName(node.name)) usedIn(node.name, found)
    // Samples are for those who run them, and these have all packs.
    if (!ts.isIdentifier(node.name) || !['samples', 'hard'].includes(node.name.text)) usedIn(node.initializer, found)
  } else if (ts.isIdentifier(node)) found.add(node.text)
  else ts.forEachChild(node, (child) => void usedIn(child, found))
  return found
}
const boundIn = (name: ts.BindingName): readonly string[] =>
  ts.isIdentifier(name) ? [name.text] : name.elements.flatMap((e) => (ts.isBindingElement(e) ? boundIn(e.name) : []))
const namesOf = (s: ts.Statement): readonly string[] =>
  ts.isVariableStatement(s)
    ? s.declarationList.declarations.flatMap((d) => boundIn(d.name))
    : (ts.isFunctionDeclaration(s) || ts.isClassDeclaration(s)) && s.name !== undefined
      ? [s.name.text]
      : []

const known = new WeakMap<Source, Module>()
const moduleOf = (source: Source): Module => {
  const before = known.get(source)
  if (before !== undefined) return before
  const uses = new Map<string, ReadonlySet<string>>()
  const imports = new Map<string, Declared>()
  const exports = new Map<string, Declared>()
  const all: string[] = []
  for (const s of ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ES2022).statements) {
    for (const name of namesOf(s)) uses.set(name, usedIn(s))
    if (!(ts.isImportDeclaration(s) || ts.isExportDeclaration(s)) || !s.moduleSpecifier || !ts.isStringLiteral(s.moduleSpecifier)) continue
    const path = resolveImport(source.path, s.moduleSpecifier.text)
    if (path === undefined) continue
    if (ts.isExportDeclaration(s)) {
      if (s.exportClause === undefined) all.push(path)
      else if (ts.isNamedExports(s.exportClause))
        for (const e of s.exportClause.elements) exports.set(e.name.text, { path, name: (e.propertyName ?? e.name).text })
    } else if (s.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword) {
      const bindings = s.importClause?.namedBindings
      if (bindings !== undefined && ts.isNamespaceImport(bindings)) imports.set(bindings.name.text, { path, name: '*' })
      else for (const e of bindings?.elements ?? []) imports.set(e.name.text, { path, name: (e.propertyName ?? e.name).text })
    }
  }
  const made = { uses, imports, exports, all }
  known.set(source, made)
  return made
}

/** From a name to all that it is made of, itself too. */
export const reaching = (sources: readonly Source[]): ((from: Declared) => readonly Declared[]) => {
  const modules = new Map(sources.map((s) => [s.path, moduleOf(s)]))
  /** Where a name that a file exports is declared. */
  const home = ({ path, name }: Declared): Declared | undefined => {
    const m = modules.get(path)
    if (m === undefined) return undefined
    if (m.uses.has(name)) return { path, name }
    const handed = m.exports.get(name) ?? m.imports.get(name)
    return handed ? home(handed) : m.all.map((p) => home({ path: p, name })).find((d) => d !== undefined)
  }
  return (from) => {
    const seen = new Map<string, Declared>()
    const queue = [from]
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const at = home(next)
      if (at === undefined || seen.has(`${at.path} ${at.name}`)) continue
      seen.set(`${at.path} ${at.name}`, at)
      const m = modules.get(at.path)!
      for (const used of m.uses.get(at.name)!) {
        const [head, member] = used.split('.') as [string, string?]
        const imported = m.imports.get(head)
        if (imported?.name === '*') {
          // A namespace by itself is all of a file.
          const names = member === undefined ? [...(modules.get(imported.path)?.uses.keys() ?? [])] : [member]
          queue.push(...names.map((name) => ({ path: imported.path, name })))
        } else if (imported !== undefined) queue.push(imported)
        else if (m.uses.has(head)) queue.push({ path: at.path, name: head })
      }
    }
    return [...seen.values()]
  }
}
