/** What is typed at the prompt, run: types are taken away first, and an error knows where in the line it stands. */
import repl from 'node:repl'
import vm from 'node:vm'
import { isAdException } from '../../src/index.js'
import { NotTypeScript, type Place, type Plain, type Strip } from './typescript.js'

type Done = (error: Error | null, result?: unknown) => void
type Eval = (this: unknown, code: string, context: vm.Context, file: string, done: Done) => void

/** Of an entry: its text, and the place in it of a place in what ran. */
interface Entry {
  readonly text: string
  readonly typed: Plain['typed']
}
const KEPT = 200

const parses = (code: string): boolean => {
  try {
    new vm.Script(code)
    return true
  } catch {
    return false
  }
}
const MISSING = 'for TypeScript, npm install --save-dev esbuild (or tsx), or use Node 22.13 or later.'

export class Entries {
  readonly #entries = new Map<string, Entry>()
  /** Where errors stand that are about no line that ran. */
  readonly #places = new WeakMap<Error, { readonly text: string; readonly at: Place }>()
  readonly #strip: Strip | undefined
  constructor(strip: Strip | undefined) {
    this.#strip = strip
  }

  /** JavaScript of what was typed. A record stands in brackets, as Node has it. */
  #plain(text: string): Plain {
    const record = /^\s*\{/.test(text) && !/;\s*$/.test(text)
    const code = record ? `(${text.trimEnd()})` : text
    const shift = (typed: Plain['typed']): Plain['typed'] =>
      record ? (at) => (at.line === 0 ? { ...typed(at), column: Math.max(0, typed(at).column - 1) } : typed(at)) : typed
    if (this.#strip === undefined) return { code, typed: shift((at) => at) }
    try {
      const plain = this.#strip(code)
      return { code: plain.code, typed: shift(plain.typed) }
    } catch (error) {
      if (!record) throw error
      return this.#strip(text) // a block
    }
  }

  /** Node's evaluation of an entry, of TypeScript. */
  evaluating(inner: Eval): Eval {
    const self = this
    return function evaluate(code, context, file, done) {
      const text = code.replace(/\n$/, '')
      // Node's own messages are about what was typed: of static imports, say.
      if (text.trim() === '' || /^\s*import\s+(?!\()/.test(text)) return inner.call(this, code, context, file, done)
      let plain: Plain
      try {
        plain = self.#plain(text)
      } catch (error) {
        if (!(error instanceof NotTypeScript)) return done(error as Error)
        const wrong = new SyntaxError(error.message)
        wrong.stack = `SyntaxError: ${error.message}`
        if (error.unfinished) return done(new repl.Recoverable(wrong))
        // Node's own JavaScript says more of what is wrong in JavaScript, and points at it.
        if (error.at !== undefined) self.#places.set(wrong, { text, at: error.at })
        else if (!parses(text)) return inner.call(this, code, context, file, done)
        return done(wrong)
      }
      self.#entries.set(file, { text, typed: plain.typed })
      if (self.#entries.size > KEPT) self.#entries.delete(self.#entries.keys().next().value!)
      caught(
        this as Server,
        (told) => inner.call(this, `${plain.code}\n`, context, file, told),
        (error, result) => {
          if (error !== null) self.#placed(error, text)
          done(error, result)
        },
      )
    }
  }

  /** Notes where in what was typed an error arose, as long as its stack says so: Node cuts that when it prints. */
  #placed(error: unknown, text: string): void {
    if (!(error instanceof Error) || error instanceof repl.Recoverable) return
    if (error instanceof SyntaxError && !isAdException(error)) {
      // Without anything that takes types away, a mistake may be a type. What Node prints of it points already.
      if (this.#strip === undefined && /[:<]|\bas\b/.test(text)) error.stack = `${error.stack}\n  fix: ${MISSING}`
      return
    }
    const lines = (error.stack ?? '').split('\n')
    const at = lines.findIndex((line) => /^\s+at (?:.*\()?REPL[\d.]+:\d+:\d+\)?$/.test(line))
    const [, file, line, column] = /(REPL[\d.]+):(\d+):(\d+)/.exec(lines[at] ?? '') ?? []
    const entry = file === undefined ? undefined : this.#entries.get(file)
    // Node rewrites what awaits, and columns with it.
    if (entry !== undefined && !/\bawait\b/.test(entry.text))
      this.#places.set(error, { text: entry.text, at: entry.typed({ line: Number(line) - 1, column: Number(column) - 1 }) })
    // What called the entry is Node's own.
    const top = lines.findIndex((l) => /^\s+at REPL[\d.]+:/.test(l))
    if (!isAdException(error)) error.stack = (top < 0 ? lines : lines.slice(0, top)).join('\n')
  }

  /** The line that was typed and the place in it where an error arose, as two lines; none where that is not known. */
  pointerTo(error: unknown): readonly string[] {
    const kept = error instanceof Error ? this.#places.get(error) : undefined
    return kept === undefined ? [] : pointing(kept.text, kept.at)
  }
}

type Told = (...args: readonly unknown[]) => unknown
/** What Node's prompt tells an error of an entry to, beside whoever waits for the entry: up to version 24 its domain, later a method of its own. */
interface Server {
  readonly _domain?: { emit: Told }
  _handleError?: Told
}
/** Runs an entry; `done` is told of an error, however the prompt of this Node would tell it. */
const caught = (server: Server, run: (told: Done) => void, done: Done): void => {
  const { _domain: domain, _handleError: handle } = server
  const emit = domain?.emit
  let thrown: { readonly error: Error } | undefined
  const take = (error: unknown): boolean => {
    thrown = { error: error as Error }
    return true
  }
  if (domain !== undefined) domain.emit = (event, ...more) => (event === 'error' ? take(more[0]) : emit!.call(domain, event, ...more))
  if (handle !== undefined) server._handleError = take
  try {
    run(done)
  } finally {
    if (domain !== undefined) domain.emit = emit!
    if (handle !== undefined) server._handleError = handle
  }
  if (thrown !== undefined) done(thrown.error)
}

const pointing = (text: string, { line, column }: Place): readonly string[] => {
  const typed = text.split('\n')[line]
  return typed === undefined || column > typed.length ? [] : [`  ${typed}`, `  ${' '.repeat(column)}^`]
}
