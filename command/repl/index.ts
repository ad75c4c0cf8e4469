/** `codual repl [file]`: Node's prompt with everything of codual in scope, in TypeScript. */
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import nodeRepl, { type REPLServer } from 'node:repl'
import * as check from '../../src/check/index.js'
import * as display from '../../src/display/index.js'
import * as codual from '../../src/index.js'
import * as minimizers from '../../src/minimize/index.js'
import * as nn from '../../src/nn/index.js'
import * as optim from '../../src/optim/index.js'
import * as prob from '../../src/prob/index.js'
import * as random from '../../src/random/index.js'
import * as solvers from '../../src/solve/index.js'
import * as train from '../../src/train/index.js'
import { FINE, fail, printedFailure } from '../failure.js'
import { load } from '../load.js'
import { version } from '../project.js'
import { CHECKS, kitOf } from '../subjects.js'
import { commands, type Prompt } from './commands.js'
import { type Completed, completeSpecial } from './complete.js'
import { Entries } from './evaluate.js'
import { installPrinters, printed } from './printed.js'
import { stripIn } from './typescript.js'

/** Namespaces in scope beside the names of `codual`; `solve` and `minimize` themselves are functions. What needs a package of its own (`codual/onnx`, `codual/blas`) is imported at the prompt. */
const spaces = { nn, optim, random, solvers, minimizers, prob, train, display, check } as const

/** Where lines are kept: NODE_REPL_HISTORY as in Node's own prompt, the state directory of XDG where there is one, else the home folder. Empty: nowhere. */
export const historyFile = (env: Readonly<Record<string, string | undefined>>): string => {
  if (env.NODE_REPL_HISTORY !== undefined) return env.NODE_REPL_HISTORY
  const state = env.XDG_STATE_HOME
  return state === undefined || state === '' ? join(homedir(), '.codual_history') : join(state, 'codual', 'history')
}
const keepHistory = (server: REPLServer): void => {
  const file = historyFile(process.env)
  if (!server.terminal || file === '') return
  const cannot = (error: Error): void => void server.output.write(`The history ${file} cannot be used: ${error.message}\n`)
  try {
    mkdirSync(dirname(file), { recursive: true })
  } catch (error) {
    cannot(error as Error)
    return
  }
  server.setupHistory(file, (error) => {
    if (error) cannot(error)
  })
}

const style = { depth: 6, maxArrayLength: 100, breakLength: 120 }

/** An expression that depends on no input has its numbers: `Expr f64 [2] [0, 0]`. */
const withNumbers = (value: unknown): unknown => {
  if (!codual.isExpr(value) || codual.isTensor(value)) return undefined
  try {
    return codual.evaluate(value as never)
  } catch {
    return undefined // it depends on an input
  }
}

/** Where the prompt reads and writes: the terminal, unless others are given. */
export interface ReplStreams {
  readonly input?: NodeJS.ReadStream | undefined
  readonly output?: NodeJS.WriteStream | undefined
  /** Is it a terminal, with colours, completion and history? */
  readonly terminal?: boolean | undefined
}

export const repl = async (
  file: string | undefined,
  { input = process.stdin, output = process.stdout, terminal }: ReplStreams = {},
): Promise<number> => {
  const loaded = file === undefined ? undefined : await load(file)
  const folder = loaded === undefined ? process.cwd() : dirname(resolve(loaded.path))
  const entries = new Entries(await stripIn(folder))
  const kit = kitOf(loaded ?? { path: '', text: '', exports: {} })
  const names = Object.keys(codual).sort()
  const own = Object.entries(loaded?.exports ?? {}).filter(([name]) => name !== CHECKS && name !== 'default')
  installPrinters()

  const say = (line: string): void => void output.write(`${line}\n`)
  say(`codual ${version}: ${names.length} names are in scope, and ${Object.keys(spaces).join(', ')}; \`codual\` holds them all.`)
  if (own.length > 0) say(`From ${file}: ${own.map(([name]) => name).join(', ')}.`)
  say('Try  grad((x) => sum(mul(x, x)))([1, 2, 3])   .help lists the commands, .exit leaves.')

  // One realm (useGlobal), so that an array or a Float32Array typed here is what the library's `instanceof` expects.
  const server = nodeRepl.start({
    prompt: 'codual> ',
    input,
    output,
    ...(terminal !== undefined && { terminal }),
    useGlobal: true,
    writer: Object.assign(
      (value: unknown) => {
        const options = { ...style, colors: server.terminal && process.env.NO_COLOR === undefined }
        const computed = withNumbers(value)
        const text = printed(computed ?? value, options)
        return computed === undefined ? printedError(text, entries.pointerTo(value)) : text.replace(/Tensor/, 'Expr')
      },
      { options: style },
    ),
  })
  const define = (name: string, value: unknown): void => {
    Object.defineProperty(server.context, name, { value, configurable: true, writable: true, enumerable: true })
  }
  for (const [name, value] of [...Object.entries(codual), ['codual', codual], ...Object.entries(spaces), ...own] as const)
    define(name as string, value)

  const inner = server.eval as Parameters<Entries['evaluating']>[0]
  const run = entries.evaluating(inner)
  Object.assign(server, { eval: run })

  let commanded = 0
  /** Commands answer at once: lines that are piped in come one after the other. */
  const values = (text: string): readonly unknown[] => {
    let outcome: { readonly error: Error | null; readonly result?: unknown } | undefined
    run.call(server, `[\n${text}\n]\n`, server.context, `REPL.${++commanded}`, (error, result) => {
      outcome = { error, result }
    })
    if (outcome === undefined) return fail('a command does not await.', 'name the value first: const x = await ...')
    if (outcome.error !== null) throw outcome.error
    return outcome.result as readonly unknown[]
  }
  for (const { name, help, run: command } of commands)
    server.defineCommand(name, {
      help,
      action(text) {
        const prompt: Prompt = {
          values,
          names,
          kit,
          width: (output.columns ?? 100) - 1,
          colours: server.terminal && process.env.NO_COLOR === undefined,
        }
        try {
          this.output.write(`${command(text, prompt)}\n`)
        } catch (error) {
          const text = printedFailure(error).replace(/^codual: /, '')
          this.output.write(`${printedError(text, entries.pointerTo(error))}\n`)
        }
        this.displayPrompt()
      },
    })

  // As objects: the compiler gives up on the union of all that they export.
  const modules: readonly object[] = [codual as object, ...(Object.values(spaces) as readonly object[])]
  const ours = new Set<unknown>(modules.flatMap((space): readonly unknown[] => Object.values(space)))
  const lookup = (path: string): unknown =>
    path.split('.').reduce<unknown>((x, name) => (x as Readonly<Record<string, unknown>> | null | undefined)?.[name], globalThis)
  const inputs = (f: unknown): unknown => {
    try {
      return check.drawArguments(f).args[0]
    } catch {
      return undefined // it declares none
    }
  }
  const completer = server.completer as (text: string, done: (error: Error | null, found?: Completed) => void) => void
  Object.assign(server, {
    completer: (text: string, done: (error: Error | null, found?: Completed) => void): void => {
      const special = completeSpecial(text, lookup, (f) => ours.has(f), inputs)
      if (special !== undefined) {
        done(null, special)
        return
      }
      // Behind a command stands an expression.
      const [, expression] = /^\s*\.\w+\s+(.*)$/.exec(text) ?? []
      completer.call(server, expression ?? text, done)
    },
  })
  keepHistory(server)
  return new Promise((done) => void server.once('exit', () => done(FINE)))
}

/** The line that was typed stands under the first line of an error. */
const printedError = (text: string, pointer: readonly string[]): string => {
  if (pointer.length === 0) return text
  // Node puts what has no frames into brackets.
  const [first, ...more] = text.replace(/^\[([^\n]*)\]$/, '$1').split('\n')
  return [first, ...pointer, ...more].join('\n')
}
