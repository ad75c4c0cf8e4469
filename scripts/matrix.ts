// What an install runs in: one program, of the packed package, in each runtime; the table of docs/runtimes.md; and the example notebooks. `--check` writes nothing and fails where table or notebooks say something else.
// The runtimes come from npm into a temporary folder. `npm run build` comes before.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../package.json' with { type: 'json' }
import { browserHomes, commandHomes, packages, type Told, versions } from './runtimes/homes.js'
import { runNotebook } from './runtimes/notebook.js'
import { kit, runObservable, wrongIn } from './runtimes/observable.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const checking = process.argv.includes('--check')
const page = join(root, 'docs/runtimes.md')
const executable = process.env.CODUAL_CHROMIUM ?? '/usr/bin/chromium'
if (!existsSync(executable)) throw new Error(`no Chromium at ${executable}: set CODUAL_CHROMIUM to the program of one.`)
if (!existsSync(join(root, 'dist/index.js'))) throw new Error('there is no build: npm run build')

const temporary = mkdtempSync(join(tmpdir(), 'codual-matrix-'))
const [user, tools] = ['user', 'tools'].map((name) => join(temporary, name)) as [string, string]
const npm = (cwd: string, ...args: readonly string[]): void => {
  execFileSync('npm', ['--loglevel=error', ...args], { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}
const install = (folder: string, names: readonly string[]): void => {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...names)
}

/** The checks whose numbers are other ones than those of the first home, to the bit. */
const others = (told: Told, first: Told): readonly string[] =>
  Object.keys(first.numbers).filter((name) => told.numbers[name] !== first.numbers[name])
const row = (name: string, version: string, told: Told, first: Told): string => {
  const bits = others(told, first)
  const cells = [
    name,
    version,
    `${told.checks - Object.keys(told.failed).length} of ${told.checks}`,
    told.kernels === 'WebAssembly' ? `WebAssembly${told.relaxed ? ', relaxed SIMD' : ''}` : 'plain JavaScript',
    String(told.notices.length),
    bits.length === 0 ? 'the same' : bits.join('; '),
  ]
  return `| ${cells.join(' | ')} |`
}

const rows: string[] = []
const broken: string[] = []
try {
  npm(root, 'pack', '--ignore-scripts', '--pack-destination', temporary)
  const peers = (['fp-ts', 'io-ts', 'fast-check'] as const).map((name) => `${name}@${manifest.devDependencies[name]}`)
  install(user, [join(temporary, readdirSync(temporary).find((f) => f.endsWith('.tgz'))!), ...peers, kit])
  const names = Object.keys(versions) as (keyof typeof versions)[]
  install(tools, packages(names))
  const commands = commandHomes(user, tools, names)
  const { homes, close } = await browserHomes(user, executable)
  let first: Told | undefined
  try {
    for (const home of [...commands, ...homes]) {
      const told = await home.run()
      first ??= told
      rows.push(row(home.name, home.version(), told, first))
      console.log(rows.at(-1))
      for (const [check, error] of Object.entries(told.failed)) broken.push(`${home.name} ${home.version()}: ${check}: ${error}`)
      for (const notice of told.notices) console.log(`  ${notice}`)
      console.log(`  WebGPU: ${told.gpu}`)
      console.log(`  an error is at ${told.line}`)
    }
  } finally {
    await close()
  }
  const notebooks = {
    'deno.ipynb': (file: string) => runNotebook(join(tools, 'node_modules/.bin/deno'), user, file, !checking),
    'observable.html': async (file: string) => wrongIn(await runObservable(user, file, executable)),
  }
  for (const [name, run] of Object.entries(notebooks)) {
    const wrong = await run(join(root, 'examples/notebooks', name))
    console.log(`examples/notebooks/${name}: ${wrong.length === 0 ? 'shows what it should' : wrong.join('; ')}`)
    broken.push(...wrong.map((line) => `examples/notebooks/${name}: ${line}`))
  }
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

const TABLE = /(^\| runtime \|.*\n\|[-| ]+\|\n)((?:\|.*\n)*)/m
const text = readFileSync(page, 'utf8')
const before = TABLE.exec(text)?.[2]?.trimEnd().split('\n')
if (before === undefined) throw new Error('docs/runtimes.md has no table that begins with | runtime |')
/** Versions of browsers change by themselves. */
const lasting = (r: string): string => (r.includes('Chromium') ? r.replace(/\| [\d.]+ \|/, '|') : r)
const changed = rows.filter((r, i) => lasting(r) !== lasting(before[i] ?? ''))
if (checking) {
  if (changed.length > 0 || rows.length !== before.length)
    broken.push(`docs/runtimes.md does not have these rows: npm run matrix\n${changed.join('\n')}`)
} else
  writeFileSync(
    page,
    text.replace(TABLE, (_, head: string) => `${head}${rows.join('\n')}\n`),
  )
if (broken.length > 0) {
  console.error(broken.join('\n'))
  process.exitCode = 1
} else console.log(`${rows.length} runtimes`)
