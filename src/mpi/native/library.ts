/** An MPI library, found and loaded while the program runs: its functions, and the handles by which its interface knows things. */
import { createRequire } from 'node:module'

/** A function of the library: numbers, addresses, typed arrays; what it returns is MPI's error code. */
export type Foreign = (...given: readonly unknown[]) => number
interface Loaded {
  readonly func: (declaration: string) => Foreign
  readonly symbol: (name: string, type: string) => unknown
}
interface Koffi {
  readonly load: (path: string, options?: { readonly global?: boolean; readonly lazy?: boolean }) => Loaded
  readonly address: (of: unknown) => bigint
}
/** A handle: the address of an object in Open MPI, a number in MPICH. */
export type Handle = number | bigint

/** A library that has what collectives need. */
export interface MpiLibrary {
  /** What it says of itself. */
  readonly name: string
  /** By which it was found. */
  readonly path: string
  /** A function; `handle` in the parameters stands for the library's own kind. */
  readonly func: (name: string, parameters: string) => Foreign
  readonly world: Handle
  readonly bytes: Handle
  readonly returnErrors: Handle
  /** Lets other processes of this core run. */
  readonly giveWay: () => void
}

/** Launchers, by what they say to the processes that they start, and the libraries that these may have. */
const LAUNCHERS: readonly { readonly says: string; readonly libraries: readonly string[] }[] = [
  { says: 'OMPI_COMM_WORLD_SIZE', libraries: ['libmpi.so.40', 'libmpi.so', 'libmpi.dylib'] },
  { says: 'PMI_SIZE', libraries: ['libmpich.so.12', 'libmpi.so.12', 'libmpich.so', 'libmpi.so', 'libmpi.dylib'] },
  { says: 'PMIX_RANK', libraries: ['libmpi.so.40', 'libmpi.so', 'libmpi.dylib'] },
]
/** The libraries that a launcher's processes may have; undefined where no launcher started this one. */
export const launched = (env: Readonly<Record<string, string | undefined>>): readonly string[] | undefined =>
  LAUNCHERS.find(({ says }) => env[says] !== undefined)?.libraries

const INSTALL = 'on Debian: apt-get install openmpi-bin, or mpich'

/** Handles by what the library is: symbols whose addresses are handles in Open MPI, constants of mpi.h in MPICH and those that share its interface. */
const handlesOf = (
  koffi: Koffi,
  lib: Loaded,
  name: string,
): readonly [kind: string, world: Handle, bytes: Handle, returnErrors: Handle] | string => {
  if (/open mpi/i.test(name)) {
    const at = (symbol: string): bigint => koffi.address(lib.symbol(symbol, 'char'))
    return ['uintptr_t', at('ompi_mpi_comm_world'), at('ompi_mpi_byte'), at('ompi_mpi_errors_return')]
  }
  if (/mpich|intel|mvapich|cray/i.test(name)) return ['int', 0x44000000, 0x4c00010d, 0x54000001]
  return `${name} is neither Open MPI nor of the family of MPICH`
}
const firstLine = (e: unknown): string => (e instanceof Error ? e.message : String(e)).split('\n')[0]!
const versionOf = (lib: Loaded): string => {
  const text = new Uint8Array(new ArrayBuffer(8192))
  const length = new Int32Array(new ArrayBuffer(4))
  lib.func('int MPI_Get_library_version(void *, void *)')(text, length)
  return new TextDecoder()
    .decode(text.subarray(0, length[0]!))
    .split(/\n|, package/)[0]!
    .replace(/\0.*$/s, '')
    .replace(/\s+/g, ' ')
    .trim()
}
/**
 * UCX, by which libraries may carry their data, would write over functions of memory while an engine's other threads run them, and take the signals by which the engine knows what WebAssembly may not
 * reach. It is told to do neither, unless the user says so.
 */
const UCX = { UCX_MEM_EVENTS: 'n', UCX_MEM_MMAP_HOOK_MODE: 'none', UCX_ERROR_SIGNALS: '' } as const
const libraryOf = (koffi: Koffi, path: string): MpiLibrary | string => {
  let lib: Loaded
  try {
    // Open MPI's components look up its functions among the names of the whole process.
    lib = koffi.load(path, { global: true, lazy: true })
    const name = versionOf(lib)
    const handles = handlesOf(koffi, lib, name)
    if (typeof handles === 'string') return handles
    const [kind, world, bytes, returnErrors] = handles
    return {
      name,
      path,
      func: (f, parameters) => lib.func(`int ${f}(${parameters.replaceAll(/\bhandle\b/g, kind)})`),
      world,
      bytes,
      returnErrors,
      giveWay: yielding(koffi),
    }
  } catch (e) {
    return firstLine(e)
  }
}
const yielding = (koffi: Koffi): (() => void) => {
  try {
    return koffi.load(process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6').func('int sched_yield(void)')
  } catch {
    return () => undefined
  }
}

/** The first of these libraries that is there, or why there is none. */
export const findMpi = (names: readonly string[]): MpiLibrary | string => {
  let koffi: Koffi
  try {
    koffi = createRequire(import.meta.url)('koffi') as Koffi
  } catch {
    return 'the package koffi, which calls system libraries, is not installed: npm install koffi'
  }
  for (const [name, value] of Object.entries(UCX)) process.env[name] ??= value
  const reasons: string[] = []
  for (const name of names) {
    const found = libraryOf(koffi, name)
    if (typeof found !== 'string') return found
    reasons.push(found)
  }
  return `no MPI library was found (tried ${names.join(', ')}: ${reasons[0] ?? 'none'}); ${INSTALL}`
}
