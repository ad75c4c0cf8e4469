/** The MPI implementations of the tests: those that this machine has, and how programs run under them. */
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

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
/** Runs a file of this folder on several ranks. */
export const onRanks = (
  launcher: Launcher,
  size: number,
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> =>
  new Promise((done, failed) => {
    const script = fileURLToPath(new URL(file, import.meta.url))
    const child = spawn(launcher.command, ['-n', String(size), ...launcher.args, process.execPath, '--import', 'tsx', script, ...args], {
      env: { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
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
