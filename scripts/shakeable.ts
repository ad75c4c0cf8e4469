/** What the build makes of a module so that bundlers can leave out what nobody names of it: values that are made when it loads are marked as pure. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** Is it a value without a call, a read of a property or a spread, which bundlers see is free of effects? */
const isPlain = (e: ts.Expression): boolean => {
  if (
    ts.isLiteralExpression(e) ||
    ts.isIdentifier(e) ||
    ts.isArrowFunction(e) ||
    ts.isFunctionExpression(e) ||
    ts.isRegularExpressionLiteral(e) ||
    e.kind === ts.SyntaxKind.TrueKeyword ||
    e.kind === ts.SyntaxKind.FalseKeyword ||
    e.kind === ts.SyntaxKind.NullKeyword
  )
    return true
  if (ts.isAsExpression(e) || ts.isSatisfiesExpression(e) || ts.isParenthesizedExpression(e) || ts.isNonNullExpression(e))
    return isPlain(e.expression)
  if (ts.isPrefixUnaryExpression(e)) return isPlain(e.operand)
  if (ts.isArrayLiteralExpression(e)) return e.elements.every(isPlain)
  return (
    ts.isObjectLiteralExpression(e) &&
    e.properties.every((p) => ts.isPropertyAssignment(p) && !ts.isComputedPropertyName(p.name) && isPlain(p.initializer))
  )
}

interface Put {
  readonly at: number
  readonly text: string
}
const applied = (text: string, puts: readonly Put[]): string => {
  let out = ''
  let from = 0
  for (const { at, text: put } of [...puts].sort((a, b) => a.at - b.at)) {
    out += text.slice(from, at) + put
    from = at
  }
  return out + text.slice(from)
}

/** Top-level statements that no bundler can leave out, each by its first line. */
export const effects = (path: string, text: string): readonly string[] => {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  return tree.statements.flatMap((s) =>
    ts.isImportDeclaration(s) ||
    ts.isExportDeclaration(s) ||
    ts.isTypeAliasDeclaration(s) ||
    ts.isInterfaceDeclaration(s) ||
    ts.isFunctionDeclaration(s) ||
    ts.isClassDeclaration(s) ||
    (ts.isVariableStatement(s) && s.declarationList.declarations.every((d) => ts.isIdentifier(d.name)))
      ? []
      : [s.getText(tree).split('\n')[0]!],
  )
}

/** Would it be read as a block behind an arrow? */
const isBlockLike = (e: ts.Expression, tree: ts.SourceFile): boolean => e.getText(tree).startsWith('{')
/** The module's text with each value that is made by a call, or read off another, in a function that is marked as pure. */
export const shakeable = (path: string, text: string): string => {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const made = tree.statements.filter(ts.isVariableStatement).flatMap((s) => [...s.declarationList.declarations])
  return applied(
    text,
    made.flatMap(({ name, initializer }) =>
      initializer === undefined || !ts.isIdentifier(name) || isPlain(initializer)
        ? []
        : [
            { at: initializer.getStart(tree), text: `/*#__PURE__*/(()=>${isBlockLike(initializer, tree) ? '(' : ''}` },
            { at: initializer.end, text: `${isBlockLike(initializer, tree) ? ')' : ''})()` },
          ],
    ),
  )
}

/** What primitives have for the checker and for readers alone, and what stands in its place in a bundle for users. */
const tried: ReadonlyMap<string, string> = new Map([
  ['samples', '[]'],
  ['hard', '[]'],
  ['extremes', '[]'],
  ['source', "''"],
])
/**
 * A module of declarations without the checker's samples and what they alone are made of: a fiftieth of a bundle. What users declare keeps its own, so lifted.ts, which
 * takes it, leaves out samples alone. Any other module is `text`.
 */
export const withoutSamples = (source: string, text: string): string => {
  if (!/(^|\/)src\/core\/ops\//.test(source)) return text
  const lifted = source.endsWith('/lifted.ts')
  const tree = ts.createSourceFile(source, text, ts.ScriptTarget.ES2022, true)
  let out = ''
  let from = 0
  const visit = (n: ts.Node): void => {
    const name = ts.isPropertyAssignment(n) && ts.isIdentifier(n.name) && !(lifted && n.name.text !== 'samples') ? n.name.text : ''
    const instead = tried.get(name)
    if (instead === undefined) return void ts.forEachChild(n, visit)
    const { initializer } = n as ts.PropertyAssignment
    out += text.slice(from, initializer.getStart(tree)) + instead
    from = initializer.end
  }
  visit(tree)
  return out + text.slice(from)
}
/**
 * A module's imports of operations by `#ops/`, which package.json resolves by condition: to the modules without samples, or, in Node and in what bundlers build with the condition
 * `development`, to those in dist/core/sampled, which have them.
 */
export const withOps = (source: string, text: string): string =>
  text.replaceAll(/from"(\.[^"]*)"/g, (all, path: string) => {
    const file = join(dirname(source), path).replaceAll('\\', '/')
    return file.startsWith('src/core/ops/') ? `from"#ops/${file.slice('src/core/ops/'.length)}"` : all
  })

/**
 * core/ops/families.ts with the exports of each module that are primitives, by name: of a whole module, which it reads, a bundler would keep everything. Any other module is `text`.
 * `exported`: those names, by the module's path.
 */
export const withPrimitives = (source: string, text: string, exported: Readonly<Record<string, readonly string[]>>): string => {
  if (!/(^|\/)src\/core\/ops\/families\.ts$/.test(source)) return text
  const tree = ts.createSourceFile(source, text, ts.ScriptTarget.ES2022, true)
  const paths = new Map(
    tree.statements.filter(ts.isImportDeclaration).flatMap(({ importClause, moduleSpecifier }): readonly [string, string][] => {
      const whole = importClause?.namedBindings
      return whole !== undefined && ts.isNamespaceImport(whole) ? [[whole.name.text, join((moduleSpecifier as ts.StringLiteral).text)]] : []
    }),
  )
  const listed = (e: ts.Expression): string | undefined => {
    const names = ts.isIdentifier(e) ? exported[paths.get(e.text) ?? ''] : undefined
    return names?.map((name) => `${name}:${e.getText(tree)}.${name}`).join(',')
  }
  let out = ''
  let from = 0
  const put = (n: ts.Node, instead: string): void => {
    out += text.slice(from, n.getStart(tree)) + instead
    from = n.end
  }
  const visit = (n: ts.Node): void => {
    const [spread, argument] = [
      ts.isSpreadAssignment(n) ? listed(n.expression) : undefined,
      ts.isCallExpression(n) ? n.arguments[0] : undefined,
    ]
    const list = argument === undefined ? undefined : listed(argument)
    if (spread !== undefined) put(n, spread)
    else if (list !== undefined) put(argument!, `{${list}}`)
    else ts.forEachChild(n, visit)
  }
  visit(tree)
  return out + text.slice(from)
}

/** The values that a module exports, those of the modules that it hands on among them. */
const exportsOf = (file: string): readonly string[] => {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true)
  return tree.statements.flatMap((s): readonly string[] => {
    if (ts.isExportDeclaration(s) && s.exportClause === undefined && s.moduleSpecifier !== undefined && !s.isTypeOnly)
      return exportsOf(join(dirname(file), (s.moduleSpecifier as ts.StringLiteral).text.replace(/\.js$/, '.ts')))
    const exported = ts.canHaveModifiers(s) && ts.getModifiers(s)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword) === true
    if (!exported) return []
    if (ts.isVariableStatement(s)) return s.declarationList.declarations.map((d) => d.name.getText(tree))
    return (ts.isFunctionDeclaration(s) || ts.isClassDeclaration(s)) && s.name !== undefined ? [s.name.text] : []
  })
}
/**
 * A module of src/families, which imports a pack and hands on operations: in place of an import for its effect, which bundlers leave out, each operation is handed on by a call
 * that holds the pack. Any other module is `text`, what it was compiled to.
 */
export const withPacks = (source: string, text: string): string => {
  if (!/(^|\/)src\/families\//.test(source)) return text
  const tree = ts.createSourceFile(source, readFileSync(source, 'utf8'), ts.ScriptTarget.ES2022, true)
  const lines = tree.statements.map((s, n) => {
    if (ts.isImportDeclaration(s)) {
      const from = (s.moduleSpecifier as ts.StringLiteral).text
      return `import{${/(\w+)\.js$/.exec(from)![1]}Pack as p}from"${from}";import{from as f}from"../core/calculus/pack.js";`
    }
    if (!ts.isExportDeclaration(s) || s.moduleSpecifier === undefined) throw new Error(`${source} holds more than an import and exports`)
    const from = (s.moduleSpecifier as ts.StringLiteral).text
    const names =
      s.exportClause !== undefined && ts.isNamedExports(s.exportClause)
        ? s.exportClause.elements.map((e) => e.name.text)
        : exportsOf(join(dirname(source), from.replace(/\.js$/, '.ts')))
    return `import*as o${n} from"${from}";${names.map((x) => `export const ${x}=/*#__PURE__*/f(p,o${n}.${x});`).join('')}`
  })
  return `${lines.join('')}\n`
}
