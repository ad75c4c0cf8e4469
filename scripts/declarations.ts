/**
 * Leaves out of `dist` the declarations that no entry point of the package reaches, files and single ones, and indents the others by tabs: 0.7 MB in place of 1.3.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import manifest from '../package.json' with { type: 'json' }

/** A type that the compiler names by its module at each place, imported once; `Kind<T, T>` is `Kind<T>`. */
const imported = (text: string): string => {
  const named = new Map(
    [...text.matchAll(/import\("([^"]+)"\)\.(\w+)/g)].map(([whole, from, name]) => [whole, { from, name: name! }] as const),
  )
  let out = text
  for (const [whole, { from, name }] of named) {
    if (text.split(`${whole}<`).length < 3 || new RegExp(`(?<!\\)\\.)\\b${name}\\b`).test(text)) continue
    out = `import type { ${name} } from '${from}';\n${out.replaceAll(`${whole}<`, `${name}<`)}`
  }
  return out.replaceAll(/\b(Kind|Needed)<(\w+), \2>/g, '$1<$2>')
}

const files = new Map(
  readdirSync('dist', { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.d.ts'))
    .map((f) => [normalize(join('dist', f)), imported(readFileSync(join('dist', f), 'utf8'))] as const),
)
const entries = Object.values(manifest.exports).flatMap((entry) => (typeof entry === 'object' ? [normalize(entry.types)] : []))
const parse = (file: string): ts.SourceFile => ts.createSourceFile(file, files.get(file)!, ts.ScriptTarget.ES2022, true)
const target = (file: string, specifier: ts.Node): string =>
  normalize(join(dirname(file), (specifier as ts.StringLiteral).text.replace(/\.js$/, '.d.ts')))

const EVERYTHING = '*'
/** What of each file is asked for by name, from the entry points on. */
const asked = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const names = new Map<string, Set<string>>(entries.map((entry) => [entry, new Set([EVERYTHING])]))
  const queue = [...names.keys()]
  const ask = (file: string, ...more: readonly string[]): void => {
    if (!files.has(file)) return
    const known = names.get(file)
    if (known === undefined) queue.push(file)
    names.set(file, new Set([...(known ?? []), ...more]))
  }
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    const visit = (node: ts.Node): void => {
      if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
        const of = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause
        const some = of !== undefined && (ts.isNamedImports(of) || ts.isNamedExports(of))
        ask(target(file, node.moduleSpecifier), ...(some ? of.elements.map((e) => (e.propertyName ?? e.name).text) : [EVERYTHING]))
      } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
        const [name] = node.qualifier?.getText().split('.') ?? []
        ask(target(file, node.argument.literal), name === undefined || node.isTypeOf ? EVERYTHING : name)
      }
      ts.forEachChild(node, visit)
    }
    visit(parse(file))
  }
  return names
}
/** What a statement declares, where it does nothing else. */
const declaredBy = (s: ts.Statement): readonly string[] =>
  ts.isVariableStatement(s)
    ? s.declarationList.declarations.map((d) => d.name.getText())
    : (ts.isFunctionDeclaration(s) || ts.isInterfaceDeclaration(s) || ts.isTypeAliasDeclaration(s) || ts.isClassDeclaration(s)) &&
        s.name !== undefined
      ? [s.name.text]
      : []
/** The words of a text: a name that is none of them is not used there. */
const words = (text: string): readonly string[] => text.match(/[\w$]+/g) ?? []
/** A file without the declarations and imports that neither others ask for nor its own statements name. */
const pruned = (file: string, names: ReadonlySet<string>): string => {
  const tree = parse(file)
  const used = (name: string, by: ts.Node): boolean => tree.statements.some((s) => s !== by && wordsOf.get(s)!.has(name))
  const wordsOf = new Map(tree.statements.map((s) => [s, new Set(words(s.getText()))]))
  const kept = tree.statements.filter((s) => {
    if (ts.isImportDeclaration(s)) {
      const of = s.importClause?.namedBindings
      return of === undefined || !ts.isNamedImports(of) || of.elements.some((e) => used(e.name.text, s))
    }
    const own = declaredBy(s)
    return own.length === 0 || own.some((name) => names.has(name) || used(name, s))
  })
  return kept.length === tree.statements.length ? files.get(file)! : `${kept.map((s) => s.getFullText().replace(/^\n/, '')).join('\n')}\n`
}

let reached = asked()
for (let changed = true; changed; ) {
  changed = false
  for (const [file, names] of reached) {
    if (names.has(EVERYTHING)) continue
    const text = pruned(file, names)
    changed ||= text !== files.get(file)
    files.set(file, text)
  }
  if (changed) reached = asked()
}

for (const [file, text] of files) {
  if (!reached.has(file)) {
    rmSync(file)
    continue
  }
  const indented = text.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))
  // What users call has an example in its docstring; of primitives and their kin, which no entry point hands on, no editor shows one. Options have theirs.
  const parts = indented.split(/^((?:export )?declare const \w+Options: \{$[\s\S]*?^\};$)/m)
  const plain = (text: string): string =>
    text.replaceAll(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/g, (doc) => (doc.includes('@example') ? doc : ''))
  const isInner = /^dist\/(?:core\/ops|rules|modes|packs|families|backends\/plan)\//.test(file)
  writeFileSync(file, isInner ? parts.map((part, i) => (i % 2 === 0 ? plain(part) : part)).join('') : indented)
}
