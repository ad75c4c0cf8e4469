/** A system library of linear algebra, found and loaded while the program runs: what it is, and its functions. */
import { createRequire } from 'node:module'

/** A function of the library: numbers, addresses as numbers, typed arrays. */
export type Foreign = (...given: readonly unknown[]) => unknown

/** What koffi has of a loaded library. */
interface Loaded {
  readonly func: (declaration: string) => Foreign
}
interface Koffi {
  readonly load: (path: string) => Loaded
  readonly address: (of: ArrayBufferView) => bigint
}

/** A library that has what products need. */
export interface Library {
  /** What it says of itself. */
  readonly name: string
  readonly path: string
  /** A function of the CBLAS interface: `int` stands for the library's own integers. */
  readonly cblas: (result: string, name: string, parameters: string) => Foreign
  /** A routine of Fortran's interface, as LAPACK has; undefined where the library lacks it. */
  readonly fortran: (name: string, parameters: string) => Foreign | undefined
  /** Whether its integers have 64 bits. */
  readonly wide: boolean
  /** Says how many threads it may use; false where it does not take that. */
  readonly setThreads: (threads: number) => boolean
  /** How many were said; undefined where it has its own number. */
  readonly threads: () => number | undefined
  readonly addressOf: (buffer: ArrayBuffer) => number
}

/** Names under which systems have libraries that are faster than loops; the reference BLAS, which is not, is passed over. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  linux: ['libopenblas.so.0', 'libopenblas.so', 'libmkl_rt.so.2', 'libmkl_rt.so', 'libblis.so.4', 'libblis.so', 'libblas.so.3'],
  darwin: [
    '/System/Library/Frameworks/Accelerate.framework/Accelerate',
    '/opt/homebrew/opt/openblas/lib/libopenblas.dylib',
    'libopenblas.dylib',
  ],
  win32: ['libopenblas.dll', 'openblas.dll', 'mkl_rt.2.dll', 'mkl_rt.dll'],
}
/** What is before and behind the names of functions: of libraries with 64-bit integers, of those that SciPy's packages bring. */
const AFFIXES: readonly (readonly [before: string, behind: string])[] = [
  ['', ''],
  ['', '64_'],
  ['', '_64'],
  ['scipy_', ''],
  ['scipy_', '64_'],
]

/** A function, or undefined where the library has none of this name. */
const has = (lib: Loaded, declaration: string): Foreign | undefined => {
  try {
    return lib.func(declaration)
  } catch {
    return undefined
  }
}

/** What it is, by functions that only it has. */
const nameOf = (lib: Loaded, path: string): string | undefined => {
  for (const [before, behind] of AFFIXES) {
    const config = has(lib, `const char *${before}openblas_get_config${behind}(void)`)
    if (config !== undefined) return String(config()).trim()
  }
  const blis = has(lib, 'const char *bli_info_get_version_str(void)')
  if (blis !== undefined) return `BLIS ${String(blis())}`
  if (has(lib, 'int MKL_Get_Max_Threads(void)') !== undefined) return 'Intel MKL'
  return path.includes('Accelerate.framework') ? 'Accelerate' : undefined
}

const THREADS = ['openblas_set_num_threads', 'openblas_set_num_threads64_', 'MKL_Set_Num_Threads', 'bli_thread_set_num_threads']
const libraryOf = (koffi: Koffi, path: string, known: boolean): Library | string => {
  let lib: Loaded
  try {
    lib = koffi.load(path)
  } catch (e) {
    return (e instanceof Error ? e.message : String(e)).split('\n')[0]!
  }
  const name = nameOf(lib, path)
  if (name === undefined && known) return 'it is the reference BLAS, which is slower than the kernels that are here'
  const affixes = AFFIXES.find(([before, behind]) => has(lib, `void ${before}cblas_sgemm${behind}(void)`) !== undefined)
  if (affixes === undefined) return 'it has no cblas_sgemm'
  const [before, behind] = affixes
  const wide = behind.includes('64')
  const own = (parameters: string): string => (wide ? parameters.replaceAll(/\bint\b/g, 'int64_t') : parameters)
  let said: number | undefined
  return {
    name: name ?? 'a BLAS',
    path,
    wide,
    cblas: (result, f, parameters) => lib.func(`${result} ${before}cblas_${f}${behind}(${own(parameters)})`),
    fortran: (f, parameters) => has(lib, `void ${before}${f}_${behind}(${own(parameters)})`),
    setThreads: (threads) => {
      for (const f of THREADS)
        for (const first of ['', before]) {
          const set = has(lib, `void ${first}${f}(int)`)
          if (set === undefined) continue
          set(threads)
          said = threads
          return true
        }
      return false
    },
    threads: () => said,
    addressOf: (buffer) => Number(koffi.address(new Uint8Array(buffer))),
  }
}

/** The library at a path, or the first one that the system has; or why there is none. */
export const findLibrary = (path?: string): Library | string => {
  let koffi: Koffi
  try {
    koffi = createRequire(import.meta.url)('koffi') as Koffi
  } catch {
    return 'the package koffi, which calls system libraries, is not installed: npm install koffi'
  }
  if (path !== undefined) return libraryOf(koffi, path, false)
  const names = NAMES[process.platform] ?? []
  for (const name of names) {
    const found = libraryOf(koffi, name, true)
    if (typeof found !== 'string') return found
  }
  return `no OpenBLAS, MKL, BLIS or Accelerate was found (${names.length === 0 ? `nothing is known of ${process.platform}` : `tried ${names.join(', ')}`})`
}
