/** TypeScript on one program: problems, hovers, completions. Files are a map, so it runs in a worker and in Node alike. */
import ts from 'typescript'

export interface Problem {
  readonly from: number
  readonly to: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}
export interface Hover {
  readonly from: number
  readonly to: number
  readonly signature: string
  readonly text: string
}
export interface Suggestion {
  readonly label: string
  readonly kind: string
  /** The module it has to be imported from; undefined where it is in scope. */
  readonly source?: string
}
/** A change of the program that comes with a completion: its import. */
export interface Edit {
  readonly from: number
  readonly to: number
  readonly insert: string
}
export interface Details {
  readonly signature: string
  readonly text: string
  readonly edits: readonly Edit[]
}
export interface Language {
  readonly problems: (text: string) => readonly Problem[]
  readonly hover: (text: string, at: number) => Hover | undefined
  readonly suggestions: (text: string, at: number) => readonly Suggestion[]
  readonly details: (text: string, at: number, label: string, source?: string) => Details | undefined
}

const program = '/program.ts'
const options: ts.CompilerOptions = {
  strict: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  types: [],
  noEmit: true,
  skipLibCheck: true,
}
const preferences: ts.UserPreferences = {
  includeCompletionsForModuleExports: true,
  includeCompletionsWithInsertText: false,
  importModuleSpecifierPreference: 'non-relative',
  quotePreference: 'single',
}
const format: ts.FormatCodeSettings = { semicolons: ts.SemicolonPreference.Remove }

/** A chain of messages, the innermost last. Of a mismatch of shapes only what is wrong: the overloads that do not fit add nothing to it. */
export const messageOf = (given: ts.DiagnosticMessageChain | string): string => {
  const text = ts.flattenDiagnosticMessageText(given, '\n')
  const shape = /ShapeError<"((?:[^"\\]|\\.)*)">/.exec(text)
  return shape === null ? text : JSON.parse(`"${shape[1]}"`)
}

/** The documentation of a name: its docstring, then its tags. */
const documentation = (text: readonly ts.SymbolDisplayPart[] | undefined, tags: readonly ts.JSDocTagInfo[] | undefined): string =>
  [ts.displayPartsToString([...(text ?? [])]), ...(tags ?? []).map((t) => `${t.name}: ${ts.displayPartsToString(t.text)}`)]
    .filter((s) => s !== '')
    .join('\n\n')

export const languageOf = (files: Readonly<Record<string, string>>): Language => {
  let current = ''
  let version = 0
  const read = (file: string): string | undefined => (file === program ? current : files[file])
  const folders = new Set<string>()
  for (const file of Object.keys(files))
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) folders.add(file.slice(0, at))
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [program, '/globals.d.ts', '/playground.d.ts'],
    getScriptVersion: (file) => (file === program ? String(version) : '1'),
    getScriptSnapshot: (file) => {
      const text = read(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => '/',
    getDefaultLibFileName: () => '/lib/lib.d.ts',
    fileExists: (file) => read(file) !== undefined,
    readFile: read,
    directoryExists: (folder) => folder === '/' || folders.has(folder),
    useCaseSensitiveFileNames: () => true,
  })
  const at = (text: string): void => {
    if (text === current) return
    current = text
    version++
  }
  return {
    problems: (text) => {
      at(text)
      const found = [...service.getSyntacticDiagnostics(program), ...service.getSemanticDiagnostics(program)]
      return found.map((d) => ({
        from: d.start ?? 0,
        to: (d.start ?? 0) + (d.length ?? 0),
        severity: d.category === ts.DiagnosticCategory.Error ? 'error' : 'warning',
        message: messageOf(d.messageText),
      }))
    },
    hover: (text, place) => {
      at(text)
      const info = service.getQuickInfoAtPosition(program, place)
      if (info === undefined) return undefined
      return {
        from: info.textSpan.start,
        to: info.textSpan.start + info.textSpan.length,
        signature: ts.displayPartsToString(info.displayParts),
        text: documentation(info.documentation, info.tags),
      }
    },
    suggestions: (text, place) => {
      at(text)
      const found = service.getCompletionsAtPosition(program, place, preferences)
      return (found?.entries ?? [])
        .filter((e) => e.source === undefined || e.source.startsWith('codual') || e.source === 'playground')
        .map((e) => ({ label: e.name, kind: e.kind, ...(e.source !== undefined && { source: e.source }) }))
    },
    details: (text, place, label, source) => {
      at(text)
      const found = service.getCompletionsAtPosition(program, place, preferences)
      const entry = found?.entries.find((e) => e.name === label && e.source === source)
      const d = service.getCompletionEntryDetails(program, place, label, format, source, preferences, entry?.data)
      if (d === undefined) return undefined
      const changes = (d.codeActions ?? []).flatMap((a) => a.changes.filter((c) => c.fileName === program).flatMap((c) => c.textChanges))
      return {
        signature: ts.displayPartsToString(d.displayParts),
        text: documentation(d.documentation, d.tags),
        edits: changes.map((c) => ({ from: c.span.start, to: c.span.start + c.span.length, insert: c.newText })),
      }
    },
  }
}
