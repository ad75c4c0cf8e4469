/** The MPI implementations of the tests: those that this machine has, and how programs run under them. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, expect } from 'vitest'
import { ENGINE } from '../engine.js'

export interface Launcher {
  readonly name: 'Open MPI' | 'MPICH'
  readonly command: string
  readonly args: readonly string[]
}
const known: readonly Launcher[] = [
  // One core may have several ranks, and containers may forbid to read the memory of another process.
  { name: 'Open MPI', command: 'mpirun.openmpi', args: ['--oversubscribe', '--mca', 'btl_vader_single_copy_mechanism', 'none'] },
  { name: 'MPICH', command: 'mpirun.mpich', args: [] },
]
export const launchers = known.filter(({ command }) => spawnSync(command, ['--version']).error === undefined)
const missing = known.filter((l) => !launchers.includes(l)).map((l) => l.name)
if (missing.length > 0) {
  const text = `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not there. On Debian: npm run mpi:libraries`
  if (process.env.CODUAL_REQUIRE_MPI === '1') throw new Error(`MPI is required: ${text}`)
  console.warn(`tests under MPI are skipped: ${text}`)
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}
const root = fileURLToPath(new URL('../../', import.meta.url))
let built: Promise<string> | undefined
const bundles: string[] = []
afterAll(() => {
  for (const folder of bundles.splice(0)) rmSync(folder, { recursive: true, force: true })
  built = undefined
})
/** The program of a rank, bundled once: each of many ranks would transform the library again. The examples it runs are files of their own, which are not what was started. */
const script = (): Promise<string> => {
  built ??= (async () => {
    mkdirSync(join(root, 'out'), { recursive: true })
    const outdir = mkdtempSync(join(root, 'out', 'mpi-'))
    bundles.push(outdir)
    const entryPoints = ['test/mpi/rank.ts', 'examples/ranks.ts', 'examples/tensor-parallel.ts'].map((file) => join(root, file))
    const shape = { bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20', packages: 'external' } as const
    await build({ ...shape, entryPoints, outdir, outbase: root, outExtension: { '.js': '.mjs' }, logLevel: 'error' })
    return join(outdir, 'test', 'mpi', 'rank.mjs')
  })()
  return built
}
/** Runs rank.ts on several ranks; `begun` is called when the launcher has been started. */
export const onRanks = async (
  launcher: Launcher,
  size: number,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  begun: () => void = () => undefined,
): Promise<Ran> => {
  const file = await script()
  return new Promise((done, failed) => {
    const child = spawn(launcher.command, ['-n', String(size), ...launcher.args, process.execPath, ...ENGINE, file, ...args], {
      env: { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    begun()
    let [out, err] = ['', '']
    child.stdout.on('data', (text) => {
      out += String(text)
    })
    child.stderr.on('data', (text) => {
      err += String(text)
    })
    child.on('error', failed)
    child.on('close', (code, signal) => done({ code: code ?? (signal === null ? 0 : 1), out, err }))
  })
}
/** A folder of its own for f. */
export const inFolder = async <A>(f: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), 'codual-mpi-'))
  try {
    return await f(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
/** What each rank wrote in a folder. */
export const written = <T>(folder: string, size: number): readonly T[] =>
  Array.from({ length: size }, (_, rank) => JSON.parse(readFileSync(join(folder, `${rank}.json`), 'utf8')) as T)
/** What each rank wrote that ran rank.ts. */
export const resultsOf = <T>(launcher: Launcher, size: number, what: string, amount: string): Promise<readonly T[]> =>
  inFolder(async (folder) => {
    const ran = await onRanks(launcher, size, [what, folder, amount])
    // A launcher may have a word of its own.
    expect(ran.code, ran.err).toBe(0)
    return written<T>(folder, size)
  })
