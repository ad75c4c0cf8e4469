/** Examples as programs of the playground: with the imports that they need, in an address. */
import { dirname, join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import ts from 'typescript'
import { entries, exportsOf, type PublicName, publicNames, root } from '../../scripts/docs/public-names.js'
import { entries as inBrowsers } from '../build/declarations.js'

const browsers = new Set(inBrowsers.map((entry) => entry.replace(/^\./, 'codual')))
const publics = publicNames()

/** Names that a program uses and does not declare. */
const freeNames = (code: string): ReadonlySet<string> => {
  const file = ts.createSourceFile('program.ts', code, ts.ScriptTarget.ES2022, true)
  const used = new Set<string>()
  const declared = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const { parent } = node
      const member =
        (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
        ((ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isMethodDeclaration(parent)) && parent.name === node) ||
        (ts.isBindingElement(parent) && parent.propertyName === node)
      const declares =
        ((ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isBindingElement(parent) || ts.isFunctionDeclaration(parent)) &&
          parent.name === node) ||
        ts.isImportSpecifier(parent) ||
        ts.isNamespaceImport(parent) ||
        ts.isTypeAliasDeclaration(parent) ||
        ts.isTypeParameterDeclaration(parent)
      if (declares) declared.add(node.text)
      else if (!member) used.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return new Set([...used].filter((name) => !declared.has(name)))
}
const importedFrom = (code: string): readonly string[] => [...code.matchAll(/^import [^'"]*['"]([^'"]+)['"]/gm)].map((m) => m[1]!)

/** Public names in scope of an example: those of the entry point that its file belongs to first, then the first that has the name. */
const scopeOf = (file: string): ReadonlyMap<string, PublicName> => {
  const own = (n: PublicName): boolean => {
    const folder = dirname(entries[n.entry]!)
    return folder !== join(root, 'src') && join(root, file).startsWith(`${folder}/`)
  }
  const scope = new Map<string, PublicName>()
  for (const n of [...publics.filter(own), ...publics]) if (!scope.has(n.name)) scope.set(n.name, n)
  return scope
}
const scopes = new Map<string, ReadonlyMap<string, PublicName>>()

/** An example as a program that the playground runs; undefined where it needs what a page has not, as files, or names that are not public. */
export const programOf = (file: string, code: string): string | undefined => {
  const given = importedFrom(code)
  if (given.length > 0) return given.every((from) => browsers.has(from)) ? `${code.trim()}\n` : undefined
  const key = dirname(file)
  if (!scopes.has(key)) scopes.set(key, scopeOf(file))
  const scope = scopes.get(key)!
  const free = freeNames(code)
  const ownNames = file.endsWith('.ts') ? new Set(exportsOf(join(root, file)).map((e) => e.name)) : new Set<string>()
  const needed = new Map<string, PublicName[]>()
  for (const name of free) {
    const found = scope.get(name)
    if (found === undefined) {
      if (ownNames.has(name)) return undefined
      continue
    }
    if (!browsers.has(found.entry)) return undefined
    needed.set(found.entry, [...(needed.get(found.entry) ?? []), found])
  }
  if (needed.size === 0 || /\b(process|require|Buffer)\b/.test(code)) return undefined
  const imports = [...needed.keys()].sort().map((entry) => {
    const names = needed.get(entry)!.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
    return `import { ${names.map((n) => (n.type ? `type ${n.name}` : n.name)).join(', ')} } from '${entry}'`
  })
  return `${imports.join('\n')}\n\n${code.trim()}\n`
}
/** The address of the playground with a program in it, as `site/share.ts` reads it. */
export const addressOf = (program: string): string => `/playground/#p=${deflateRawSync(program, { level: 9 }).toString('base64url')}`
/** The link behind an example; empty where it does not run in a page. */
export const runLink = (file: string, code: string): string => {
  const program = programOf(file, code)
  return program === undefined ? '' : `\n[Run in the playground](${addressOf(program)}){@.run target="_self"@}\n`
}
