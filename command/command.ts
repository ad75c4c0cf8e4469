/** What the command `codual` is asked for, and with which code it exits. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { FINE, FOUND, fail, perhaps, printedFailure, USAGE } from './failure.js'
import { version } from './project.js'
import type { Reporter } from './reporters.js'
import type { Format } from './show.js'

const MOST_SEED = 2 ** 31 - 1
const seedOf = (text: string): number => {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 0 || n > MOST_SEED || text.trim() === '')
    throw new InvalidArgumentError(`A seed is a whole number from 0 to ${MOST_SEED}.`)
  return n
}
const sizeOf = (text: string, before: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> => {
  const [, name, digits] = /^(\w+)=(\d{1,9})$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('A size is a name and a whole number, as in n=1000.')
  return { ...before, [name]: Number(digits) }
}
const listed = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text.split(',').filter((name) => name !== ''),
]

/** Where the command writes. */
export interface Streams {
  readonly out: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>
  readonly err: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>
}
const say = ({ out }: Streams, text: string): void => void out.write(`${text}\n`)

/** Options of the commands that draw arguments. */
const drawing = (command: Command): Command =>
  command
    .option('--size <name=n>', 'the size of a named dimension (repeatable)', sizeOf)
    .option('--seed <n>', 'the seed of the arguments that are drawn', seedOf, 1)
interface Drawing {
  readonly size?: Readonly<Record<string, number>>
  readonly seed: number
}
const readied = async (given: string, { size = {}, seed }: Drawing) => (await import('./function.js')).readyFor(given, { size, seed })

interface CheckOptions {
  readonly only?: readonly string[]
  readonly seed: number
  readonly watch?: boolean
  readonly reporter: Reporter
}
const check = async (streams: Streams, file: string, { only = [], seed, watch, reporter }: CheckOptions): Promise<number> => {
  if (watch) {
    if (!existsSync(file)) fail(`there is no file ${file}.`)
    if (!streams.out.isTTY) fail('--watch needs a terminal.', 'leave --watch out.')
    const { watching } = await import('./watch.js')
    const args = ['check', file, '--seed', String(seed), '--reporter', reporter, ...(only.length === 0 ? [] : ['--only', only.join(',')])]
    const start = () => spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], { stdio: 'inherit' })
    const close = watching(resolve(file), start, (text) => void streams.err.write(`${text}\n`))
    return new Promise((done) => {
      process.once('SIGINT', () => {
        close()
        done(FINE)
      })
    })
  }
  const [{ load }, { checkFile, isFound }, { reporters }, { paintOf }, { progressOn }] = await Promise.all([
    import('./load.js'),
    import('./check.js'),
    import('./reporters.js'),
    import('./table.js'),
    import('./progress.js'),
  ])
  const run = await checkFile(await load(file), { only, seed }, await progressOn(streams.err, process.cwd()))
  say(streams, reporters[reporter](run, paintOf(streams.out)))
  return isFound(run) ? FOUND : FINE
}

interface ShowOptions extends Drawing {
  readonly derivative?: boolean
  readonly dot?: boolean
  readonly mermaid?: boolean
  readonly json?: boolean
}
const show = async (streams: Streams, given: string, options: ShowOptions): Promise<number> => {
  const formats = (['dot', 'mermaid', 'json'] as const).filter((format) => options[format])
  if (formats.length > 1) fail(`--${formats.join(' and --')} are different formats.`, 'choose one.')
  const format: Format = formats[0] ?? 'text'
  say(streams, (await import('./show.js')).shown(await readied(given, options), options.derivative ?? false, format))
  return FINE
}
const explain = async (streams: Streams, given: string, options: Drawing & { readonly derivative?: boolean }): Promise<number> => {
  say(streams, (await import('./show.js')).explained(await readied(given, options), options.derivative ?? false))
  return FINE
}

interface BenchOptions extends Drawing {
  readonly baseline?: string
  readonly save?: string
  readonly json?: boolean
}
/** A result slower than the baseline is measured again, since another program may have been using the processor. */
const AGAIN = 3
const bench = async (streams: Streams, given: string, options: BenchOptions): Promise<number> => {
  const b = await import('./bench.js')
  const key = relative(process.cwd(), resolve(given)).replaceAll('\\', '/')
  const all = options.baseline === undefined ? undefined : b.readBaseline(options.baseline)
  const baseline =
    all === undefined
      ? undefined
      : (all[key] ??
        fail(
          `the baseline ${options.baseline} has no ${key}.`,
          `it has ${Object.keys(all).join(', ')}; --save ${options.baseline} adds one.`,
        ))
  const ready = await readied(given, options)
  let found = b.bench(ready)
  for (let again = 0; again < AGAIN && baseline !== undefined && b.slowerParts(found, baseline).length > 0; again++)
    found = b.leastOf(found, b.bench(ready))
  if (options.save !== undefined) b.saveBaseline(options.save, key, found)
  say(streams, options.json ? JSON.stringify(found, null, 2) : b.benchText(found, baseline))
  const slower = baseline === undefined ? [] : b.slowerParts(found, baseline)
  if (slower.length > 0)
    streams.err.write(`slower than the baseline by more than ${Math.round(100 * (b.SLOWER - 1))} %: ${slower.join(', ')}\n`)
  return slower.length > 0 ? FOUND : FINE
}

const create = async (streams: Streams, folder: string): Promise<number> => {
  const made = (await import('./new.js')).newProject(folder)
  const place = relative(process.cwd(), made) || '.'
  say(streams, `${place} is ready. Next:\n  cd ${place}\n  npm install\n  npm test\n  npm run check`)
  return FINE
}

const repl = async (file: string | undefined): Promise<number> => (await import('./repl/index.js')).repl(file)

/** The whole command; `done` is told the exit code. */
const commandOf = (streams: Streams, done: (code: number) => void): Command => {
  const program = new Command('codual')
    .description('Automatic differentiation for TypeScript: a prompt, a derivative checker, and a look inside functions.')
    .version(version)
    .showHelpAfterError('(codual --help lists the commands)')
    .configureOutput({
      writeOut: (text) => void streams.out.write(text),
      writeErr: (text) => void streams.err.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'codual: ')),
    })
    .exitOverride()
  const run =
    <A extends readonly unknown[]>(f: (...args: A) => Promise<number>) =>
    async (...args: A): Promise<void> =>
      done(await f(...args))
  program
    .command('repl', { isDefault: true })
    .description('opens a prompt with codual and the exports of a file in scope')
    .argument('[file]', 'a module in TypeScript or JavaScript')
    .action(run((file?: string) => repl(file)))
  program
    .command('check')
    .description('checks the derivatives, batches and kernels of everything that a file exports')
    .argument('<file>', 'a module in TypeScript or JavaScript')
    .option('--only <name>', 'check only this export (repeatable, or separated by commas)', listed)
    .option('--seed <n>', 'the seed of the arguments that are drawn', seedOf, 1)
    .option('--watch', 'check again whenever a file changes')
    .addOption(new Option('--reporter <format>', 'the output format').choices(['table', 'json', 'junit', 'github']).default('table'))
    .action(run((file: string, options: CheckOptions) => check(streams, file, options)))
  drawing(
    program
      .command('show')
      .description('prints a function as a program')
      .argument('<FILE#name>', 'a function of a module')
      .option('--derivative', 'its gradient or Jacobian')
      .option('--dot', 'as a graph for Graphviz')
      .option('--mermaid', 'as a graph for Mermaid')
      .option('--json', 'as JSON for fromJSON'),
  ).action(run((given: string, options: ShowOptions) => show(streams, given, options)))
  drawing(
    program
      .command('explain')
      .description('prints the kernels that a function runs and what they cost')
      .argument('<FILE#name>', 'a function of a module')
      .option('--derivative', 'its gradient or Jacobian'),
  ).action(run((given: string, options: Drawing) => explain(streams, given, options)))
  drawing(
    program
      .command('bench')
      .description('times a function and its gradient')
      .argument('<FILE#name>', 'a function of a module')
      .option('--baseline <file>', 'fail if it is more than 10 % slower than in this file')
      .option('--save <file>', 'write the times to this file')
      .option('--json', 'as JSON'),
  ).action(run((given: string, options: BenchOptions) => bench(streams, given, options)))
  program
    .command('new')
    .description('creates a small project')
    .argument('<folder>', 'a folder that does not exist yet')
    .action(run((folder: string) => create(streams, folder)))
  return program
}

const NAMES = ['repl', 'check', 'show', 'explain', 'bench', 'new', 'help']
/** A word that is neither a command nor a file is probably a mistyped command. */
const known = (first: string | undefined): void => {
  if (first !== undefined && /^[\w-]+$/.test(first) && !first.startsWith('-') && !NAMES.includes(first) && !existsSync(first))
    fail(`${first} is neither a command nor a file.`, `${perhaps(first, NAMES)}codual --help lists the commands.`)
}

/** Runs the command with these arguments; gives its exit code. */
export const run = async (args: readonly string[], streams: Streams): Promise<number> => {
  let code: number = FINE
  try {
    known(args[0])
    await commandOf(streams, (c) => {
      code = c
    }).parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? FINE : USAGE
    streams.err.write(`${printedFailure(error)}\n`)
    return USAGE
  }
  return code
}
