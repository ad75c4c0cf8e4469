// Reading of the source tree for the architecture tests: every file, its imports, and the syntax that src must not use.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The repository's root folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** One import of a file: what it names, whether it is a dynamic `import()`, and whether it is only for types and so erased. */
export interface Import {
  readonly specifier: string
  readonly dynamic: boolean
  readonly erased: boolean
}

/** A source file by its path from the root (with `/`), and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** All .ts files under a folder of the repository. */
export const sourcesUnder = (folder: string): readonly Source[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(root, file).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))

const parse = (source: Source): ts.SourceFile => ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ES2022, true)

const walk = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node)
  ts.forEachChild(node, (child) => walk(child, visit))
}

const imports = new WeakMap<Source, readonly Import[]>()
/** The imports of a file: import and export declarations, import types, and `import()` of a literal. */
export const importsOf = (source: Source): readonly Import[] => {
  const known = imports.get(source)
  if (known !== undefined) return known
  const found: Import[] = []
  imports.set(source, found)
  walk(parse(source), (node) => {
    if (
      (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
      node.moduleSpecifier &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      const erased = ts.isExportDeclaration(node) ? node.isTypeOnly : node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      found.push({ specifier: node.moduleSpecifier.text, dynamic: false, erased })
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      found.push({ specifier: node.argument.literal.text, dynamic: false, erased: true })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const target = node.arguments[0]
      if (target && ts.isStringLiteralLike(target)) found.push({ specifier: target.text, dynamic: true, erased: false })
    }
  })
  return found
}

/** The file that a relative specifier names, by its path from the root; undefined for a package. */
export const resolveImport = (from: string, specifier: string): string | undefined =>
  specifier.startsWith('.')
    ? normalize(join(dirname(from), specifier))
        .replaceAll('\\', '/')
        .replace(/\.js$/, '.ts')
    : undefined

/** Places, as `path:line`, where a file's syntax tree has a node that `wanted` accepts. */
export const places = (source: Source, wanted: (node: ts.Node) => boolean): readonly string[] => {
  const file = parse(source)
  const found: string[] = []
  walk(file, (node) => {
    if (wanted(node)) found.push(`${source.path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`)
  })
  return found
}

/** The line of a node's first token, from 0. */
const lineOf = (file: ts.SourceFile, at: number): number => file.getLineAndCharacterOfPosition(at).line

/** What a function is called: its own name, or that of the variable or property which it is the value of; otherwise its line. */
const nameOf = (node: ts.SignatureDeclaration, file: ts.SourceFile): string => {
  const { parent } = node
  const named = node.name ?? (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name : undefined)
  return named?.getText(file) ?? (ts.isConstructorDeclaration(node) ? 'constructor' : String(lineOf(file, node.getStart(file)) + 1))
}

/**
 * Functions, as `path name`, whose bodies have more lines than this. A comment `// long:` with a reason on the line above a function, or above the
 * statement that begins with it, excuses it. Functions inside another count to its lines too.
 */
export const functionsOver = (source: Source, most: number): readonly string[] => {
  const file = parse(source)
  const lines = source.text.split('\n')
  const found: string[] = []
  walk(file, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return
    const body = node.body as ts.Node
    if (lineOf(file, body.end) - lineOf(file, body.getStart(file)) + 1 <= most) return
    const statement = ts.isVariableDeclaration(node.parent) ? node.parent.parent.parent : node
    const above = lines[lineOf(file, statement.getStart(file)) - 1] ?? ''
    if (!/^\s*\/\/ long: \S/.test(above)) found.push(`${source.path} ${nameOf(node, file)}`)
  })
  return found
}
