/** TypeScript typed at the prompt: Node itself strips the types, or else the project's esbuild. Errors still point at the column that was typed. */
import nodeModule from 'node:module'
import { esbuildIn } from '../project.js'

/** Where in what was typed something stands: lines and columns from 0. */
export interface Place {
  readonly line: number
  readonly column: number
}
/** JavaScript, and the place in what was typed of a place there. */
export interface Plain {
  readonly code: string
  readonly typed: (at: Place) => Place
}
/** What was typed is not TypeScript: it is unfinished, or wrong at a place. */
export class NotTypeScript extends Error {
  readonly unfinished: boolean
  readonly at: Place | undefined
  constructor(reason: string, unfinished: boolean, at?: Place) {
    super(reason)
    this.unfinished = unfinished
    this.at = at
  }
}
export type Strip = (code: string) => Plain

const same = (at: Place): Place => at

type NodeStrips = { readonly stripTypeScriptTypes?: (code: string, options: { readonly mode: 'strip' }) => string }
/** By a function as Node's. */
export const byNode = (strip: NonNullable<NodeStrips['stripTypeScriptTypes']>): Strip => {
  // Node warns once that this is experimental, which does not concern the user of a prompt.
  const { emitWarning } = process
  process.emitWarning = ((warning: unknown, ...more: never[]) => {
    if (!String(warning).includes('stripTypeScriptTypes')) (emitWarning as (...xs: unknown[]) => void).call(process, warning, ...more)
  }) as typeof emitWarning
  return (code) => {
    try {
      return { code: strip(code, { mode: 'strip' }), typed: same }
    } catch (error) {
      const { message, stack = '' } = error as Error
      // The stack begins with the line and a caret below it; where the text ends too early there is no caret.
      const [, line, frame = ''] = /^[^\n]*:(\d+)\n([\s\S]*?)\n\w*SyntaxError/.exec(stack) ?? []
      const [, spaces] = /^( *)\^+$/m.exec(frame) ?? []
      const at = line === undefined || spaces === undefined ? undefined : { line: Number(line) - 1, column: spaces.length }
      throw new NotTypeScript(
        message.split('\n')[0]!,
        (line !== undefined && at === undefined) || message.startsWith('Unterminated template'),
        at,
      )
    }
  }
}

interface Located {
  readonly text: string
  readonly location: { readonly line: number; readonly column: number } | null
}
interface Esbuild {
  readonly transformSync: (code: string, options: object) => { readonly code: string; readonly map: string }
}
const byEsbuild =
  ({ transformSync }: Esbuild): Strip =>
  (code) => {
    try {
      const made = transformSync(code, {
        loader: 'ts',
        target: 'esnext',
        format: 'esm',
        sourcemap: 'external',
        logLevel: 'silent',
        tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      })
      const map = new nodeModule.SourceMap(JSON.parse(made.map))
      return {
        code: made.code.replace(/;?\n$/, ''),
        typed: ({ line, column }) => {
          const entry = map.findEntry(line, column)
          return 'originalLine' in entry ? { line: entry.originalLine, column: entry.originalColumn } : { line, column }
        },
      }
    } catch (error) {
      const [first] = (error as { readonly errors?: readonly Located[] }).errors ?? []
      if (first === undefined) throw error
      const at = first.location
      throw new NotTypeScript(
        first.text,
        /end of file|unterminated/i.test(first.text),
        at === null ? undefined : { line: at.line - 1, column: at.column },
      )
    }
  }

/** The first way that is available; undefined if there is none. */
export const stripIn = async (folder: string): Promise<Strip | undefined> => {
  const { stripTypeScriptTypes } = nodeModule as unknown as NodeStrips
  if (stripTypeScriptTypes !== undefined) return byNode(stripTypeScriptTypes)
  const esbuild = await esbuildIn(folder)
  return esbuild === undefined ? undefined : byEsbuild(esbuild as unknown as Esbuild)
}
