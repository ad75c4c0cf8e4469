// Compiles fixtures with the TypeScript compiler API: from disk, or from text that stands for a file beside them.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..')
/** The path of a fixture. */
export const fixture = (name: string): string => join(here, 'fixtures', `${name}.ts`)
/** The text of a fixture. */
export const textOf = (name: string): string => readFileSync(fixture(name), 'utf8')

const config = ts.getParsedCommandLineOfConfigFile(
  join(root, 'tsconfig.json'),
  { types: [], noEmit: false, declaration: true, emitDeclarationOnly: true, noErrorTruncation: true },
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (d) => expectNever(message(d)) },
)
const expectNever = (text: string): never => {
  throw new Error(text)
}
const options = (config ?? expectNever('tsconfig.json not found')).options
const plain = ts.createCompilerHost(options)
const parsed = new Map<string, ts.SourceFile | undefined>()

/** A program over one fixture; `text` replaces what is on disk. */
export interface Compiled {
  readonly program: ts.Program
  readonly file: ts.SourceFile
  readonly errors: readonly ts.Diagnostic[]
  /** Instantiations that checking this one file took. */
  readonly instantiations: number
}
export const compile = (name: string, text?: string, more?: ts.CompilerOptions): Compiled => {
  const path = fixture(name)
  const host: ts.CompilerHost = {
    ...plain,
    fileExists: (p) => p === path || plain.fileExists(p),
    getSourceFile: (p, target) => {
      if (p === path && text !== undefined) return ts.createSourceFile(p, text, target)
      if (!parsed.has(p)) parsed.set(p, plain.getSourceFile(p, target))
      return parsed.get(p)
    },
  }
  const program = ts.createProgram([path], { ...options, ...more }, host)
  const file = program.getSourceFile(path) ?? expectNever(`${path} not found`)
  const errors = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
  return { program, file, errors, instantiations: program.getInstantiationCount() }
}

/** One program over texts that stand for files in fixtures/, by their names. */
export const compileAll = (
  texts: ReadonlyMap<string, string>,
): readonly { readonly name: string; readonly errors: readonly ts.Diagnostic[] }[] => {
  const paths = new Map([...texts].map(([name, text], i) => [fixture(`tried/${i}`), { name, text }]))
  const host: ts.CompilerHost = {
    ...plain,
    fileExists: (p) => paths.has(p) || plain.fileExists(p),
    getSourceFile: (p, target) => {
      const own = paths.get(p)
      if (own !== undefined) return ts.createSourceFile(p, own.text, target)
      if (!parsed.has(p)) parsed.set(p, plain.getSourceFile(p, target))
      return parsed.get(p)
    },
  }
  const program = ts.createProgram([...paths.keys()], options, host)
  return [...paths].map(([path, { name }]) => {
    const file = program.getSourceFile(path) ?? expectNever(`${path} not found`)
    return { name, errors: [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)] }
  })
}

/** The whole text of a diagnostic. */
export const message = (d: ts.Diagnostic): string => ts.flattenDiagnosticMessageText(d.messageText, '\n')
/** One line per error, for the report of a failing test. */
export const listed = (errors: readonly ts.Diagnostic[]): readonly string[] =>
  errors.map((d) => `${d.file?.fileName.split('/').pop()}:${lineOf(d) + 1} TS${d.code} ${message(d)}`)
/** The line of a diagnostic, from 0. */
export const lineOf = (d: ts.Diagnostic): number => d.file?.getLineAndCharacterOfPosition(d.start ?? 0).line ?? -1
/** The source text a diagnostic is reported at. */
export const spanOf = (d: ts.Diagnostic): string => d.file?.text.slice(d.start ?? 0, (d.start ?? 0) + (d.length ?? 0)) ?? ''

/** What `declaration: true` writes for one file, and what it complains about. */
export const declarationsOf = (c: Compiled): { readonly text: string; readonly errors: readonly string[] } => {
  let text = ''
  const result = c.program.emit(
    c.file,
    (path, data) => {
      if (path.endsWith('.d.ts')) text += data
    },
    undefined,
    true,
  )
  return { text, errors: [...result.diagnostics, ...c.program.getDeclarationDiagnostics(c.file)].map((d) => `TS${d.code} ${message(d)}`) }
}
/** The type of a top-level name, as an editor shows it. */
export const hoverOf = (c: Compiled, name: string): string => {
  const checker = c.program.getTypeChecker()
  const symbol = checker.getExportsOfModule(checker.getSymbolAtLocation(c.file) ?? expectNever('not a module')).find((s) => s.name === name)
  return checker.typeToString(
    checker.getTypeOfSymbol(symbol ?? expectNever(`${name} is not exported`)),
    undefined,
    ts.TypeFormatFlags.NoTruncation,
  )
}
