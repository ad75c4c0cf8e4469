// Examples as modules: one generated file per source file, in which every public name and the file's own exports are in scope.
// No fixtures: an example declares what it uses, and may import from other packages.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import type { Example } from '../../scripts/docs/extract.js'
import { definitionOf, entries, exportsOf, publicNames, root } from '../../scripts/docs/public-names.js'

/** The folder of the generated modules; git ignores it. */
const folder = join(root, 'out', 'examples')

/** A generated module: its path, the examples in it by their line, and for each of its lines the line of the source. */
export interface Module {
  readonly path: string
  readonly source: string
  readonly examples: readonly Example[]
  readonly lines: readonly number[]
}
/** What an example calls with a value and the comment behind it. */
export type Check = (line: number, comment: string, value: () => unknown) => Promise<void>
/** `true` when two types are the same, `false` otherwise. */
export type Identical<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** What a generated module exports: a function per example, by its line. */
export type Runs = Readonly<Record<string, (check: Check) => Promise<void>>>

const publics = publicNames()

const importLine = (from: string, path: string, names: readonly string[], type: boolean): string =>
  names.length === 0 ? '' : `import ${type ? 'type ' : ''}{ ${names.join(', ')} } from '${specifierOf(from, path)}'`
const specifierOf = (from: string, path: string): string => relative(dirname(from), path).replaceAll('\\', '/').replace(/\.ts$/, '.js')

/** The imports of a module: the public names that stand in its examples, and what its source file exports under other names. */
const header = (path: string, source: string, examples: readonly Example[]): readonly string[] => {
  const words = new Set(examples.flatMap((e) => e.code.match(/[\w$]+/g) ?? []))
  // A name of several entry points is that of the file's own, else of the first.
  const isOwn = (file: string): boolean => dirname(file) !== join(root, 'src') && join(root, source).startsWith(`${dirname(file)}/`)
  const seen = new Set<string>()
  const open = Object.entries(entries)
    .sort(([, a], [, b]) => Number(isOwn(b)) - Number(isOwn(a)))
    .flatMap(([entry, file]) => {
      const names = publics.filter((n) => n.entry === entry && words.has(n.name) && !seen.has(n.name))
      for (const n of names) seen.add(n.name)
      return [false, true].map((type) =>
        importLine(
          path,
          file,
          names.filter((n) => n.type === type).map((n) => n.name),
          type,
        ),
      )
    })
  const taken = new Set(publics.map((n) => n.name))
  const file = join(root, source)
  const own = source.endsWith('.ts') ? [...new Set(exportsOf(file).map((e) => e.name))].filter((n) => words.has(n) && !taken.has(n)) : []
  const ofKind = (type: boolean): readonly string[] => own.filter((n) => definitionOf(file, n)?.type === type)
  return [...open, importLine(path, file, ofKind(false), false), importLine(path, file, ofKind(true), true)].filter((l) => l !== '')
}

/** The comment behind a statement, on its last line. */
const commentAfter = (code: string, end: number): string | undefined => {
  const range = ts.getTrailingCommentRanges(code, end)?.find((r) => r.kind === ts.SyntaxKind.SingleLineCommentTrivia)
  return range === undefined ? undefined : code.slice(range.pos + 2, range.end).trim()
}

interface Body {
  readonly imports: readonly (readonly [number, string])[]
  readonly lines: readonly (readonly [number, string])[]
}
/** The statements of an example, each followed by the check of its comment. */
const bodyOf = (e: Example): Body => {
  const file = ts.createSourceFile(e.file, e.code, ts.ScriptTarget.ES2022, true)
  const imports: [number, string][] = []
  const lines: [number, string][] = []
  for (const s of file.statements) {
    const text = s.getText()
    const line = e.line + file.getLineAndCharacterOfPosition(s.getStart()).line
    const put = (t: string): void => {
      t.split('\n').forEach((part, i) => {
        lines.push([line + i, part])
      })
    }
    const comment = commentAfter(e.code, s.end)
    const check = (value: string): void => put(`await check(${line}, ${JSON.stringify(comment)}, async () => (${value}))`)
    if (ts.isImportDeclaration(s)) imports.push([line, text.replaceAll('\n', ' ')])
    else if (comment !== undefined && ts.isExpressionStatement(s)) check(text.replace(/;$/, ''))
    else {
      put(`;${text}`)
      const declared = ts.isVariableStatement(s) ? s.declarationList.declarations[0] : undefined
      if (comment !== undefined && declared !== undefined && ts.isIdentifier(declared.name)) check(declared.name.text)
    }
  }
  return { imports, lines }
}

/** An example of types: the two are the same type, or the module does not compile. */
const typeLines = (e: Example): readonly (readonly [number, string])[] => {
  const [left = '', right = 'never'] = e.code.split(/\s*\/\/\s*/)
  return [
    [e.line, `const same: Identical<${left}, ${right}> = true`],
    [e.line, 'void same'],
  ]
}

const moduleOf = (source: string, examples: readonly Example[], name: string): Module => {
  const path = join(folder, `${name}.ts`)
  const text: string[] = [
    `// Made by test/docs from ${source}.`,
    `import type { Check, Identical } from '${specifierOf(path, join(root, 'test/docs/generate.ts'))}'`,
  ]
  const lines: number[] = [0, 0]
  const put = (line: number, t: string): void => {
    text.push(t)
    lines.push(line)
  }
  const bodies = examples.map((e) => ({ e, body: e.of === 'type' ? { imports: [], lines: typeLines(e) } : bodyOf(e) }))
  const imports = new Map(bodies.flatMap((b) => b.body.imports.map(([line, t]) => [t, line] as const)))
  // A document's block with imports has what it imports in scope, and no more.
  if (imports.size === 0 || source.endsWith('.ts')) for (const l of header(path, source, examples)) put(0, l)
  for (const [t, line] of imports)
    put(
      line,
      t.replace(/from '(codual(?:\/[\w/]+)?)'/, (_, entry: string) => `from '${specifierOf(path, entries[entry] ?? entry)}'`),
    )
  put(0, 'export const examples = {')
  for (const { e, body } of bodies) {
    put(e.line, `'${e.line}': async (check: Check): Promise<void> => {`)
    put(e.line, 'void check')
    for (const [line, t] of body.lines) put(line, t)
    put(e.line, '},')
  }
  put(0, '}')
  mkdirSync(folder, { recursive: true })
  const content = `${text.join('\n')}\n`
  if (!same(path, content)) {
    // At once: another process that makes the same modules may be about to read it.
    const whole = join(root, 'out', `example-${process.pid}.ts`)
    writeFileSync(whole, content)
    renameSync(whole, path)
  }
  return { path, source, examples, lines }
}
const same = (path: string, content: string): boolean => {
  try {
    return readFileSync(path, 'utf8') === content
  } catch {
    return false
  }
}

/** Writes the modules: one per source file, one per block of a document. */
export const generate = (examples: readonly Example[]): readonly Module[] => {
  const groups = new Map<string, Example[]>()
  for (const e of examples) {
    const key = e.of === 'document' ? `${e.file}:${e.line}` : e.file
    groups.set(key, [...(groups.get(key) ?? []), e])
  }
  const modules = [...groups].map(([key, es]) => moduleOf(es[0]!.file, es, key.replaceAll(/[^\w-]+/g, '_')))
  const current = new Set(modules.map((m) => m.path))
  for (const f of readdirSync(folder)) if (!current.has(join(folder, f))) rmSync(join(folder, f), { force: true })
  return modules
}

/** What is wrong with the types of the modules, by the lines of their sources. */
export const typeErrors = (modules: readonly Module[]): readonly string[] => {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
  )
  if (config === undefined) throw new Error('tsconfig.json not found')
  const program = ts.createProgram(
    modules.map((m) => m.path),
    config.options,
  )
  return modules.flatMap((m) => {
    const file = program.getSourceFile(m.path)
    if (file === undefined) return [`${m.source}: ${m.path} is not in the program`]
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map((d) => {
      const line = m.lines[file.getLineAndCharacterOfPosition(d.start ?? 0).line]
      return `${m.source}:${line} TS${d.code} ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`
    })
  })
}
