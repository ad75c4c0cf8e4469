/** The entry `codual/blas`: products of matrices and factorisations by a library of the system, in Node. */
import { raise } from '../../core/errors/explain.js'
import { readOptions } from '../../core/errors/options.js'
import type { Blas, BlasInside } from '../cpu/kernel.js'
import { findLibrary, type Library } from './library.js'
import { type BlasOptions, blasOptions } from './options.js'
import { blasOf } from './over.js'

export type { Blas } from '../cpu/kernel.js'
export type { BlasOptions } from './options.js'

/** A library by the path that was asked for: found once. */
const known = new Map<string | undefined, { readonly blas: BlasInside; readonly setThreads: Library['setThreads'] }>()
const found = (path: string | undefined) => {
  const library = findLibrary(path)
  if (typeof library === 'string') {
    if (path !== undefined)
      raise({ _tag: 'Unsupported', backend: 'blas', what: `${path}: ${library}`, fix: 'blas() without a path looks for a library itself.' })
    return { blas: { library: undefined, reason: library, over: undefined }, setThreads: () => true }
  }
  return { blas: blasOf(library), setThreads: library.setThreads }
}

/**
 * The system's linear algebra library for `cpu({ blas: blas() })`: matrix products, and factorisations if it has LAPACK, above the size from which it is faster than the backend's
 * own kernels. It works on the backend's memory, so nothing is copied. The last bits of results differ from those of the backend's own kernels, and between libraries. If there is
 * no library, `reason` and `explain().blas` say why, and the backend's own kernels run. Needs the package `koffi`.
 *
 * Errors  Unsupported for a `path` that is not such a library, or for `threads` that it does not take.
 * @example cpu({ blas: blas({ threads: 1 }) }).name   // 'cpu'
 */
export const blas = (given?: BlasOptions): Blas => {
  const { path, threads } = readOptions(blasOptions, given, 'blas')
  const entry = known.get(path) ?? found(path)
  known.set(path, entry)
  if (threads !== undefined && !entry.setThreads(threads))
    raise({
      _tag: 'Unsupported',
      backend: 'blas',
      what: `${entry.blas.library} does not take a number of threads`,
      fix: 'leave `threads` out.',
    })
  return entry.blas
}
