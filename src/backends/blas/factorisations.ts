/**
 * Factorisations by LAPACK, matrix by matrix of a stack. What is not finite, and what LAPACK gives up on, is the backend's own. Matrices of f32 that are small to
 * the own kernels are computed in f64, as there.
 */
import type { NDArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { sizeOf } from '../../core/graph/shape.js'
import { eighIsLarge } from '../../core/matrices/eigh.js'
import { qrIsLarge } from '../../core/matrices/qr.js'
import { svdIsLarge } from '../../core/matrices/svd.js'
import {
  choleskyPrimitive,
  eighPrimitive,
  luPrimitive,
  qrPrimitive,
  svdPrimitive,
  triangularSolvePrimitive,
} from '../../core/ops/linalg/factorisations.js'
import type { WholeByLibrary } from '../cpu/kernel.js'
import type { FloatName } from '../cpu/wasm/float.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { cholesky, lu, triangularSolve } from './elimination.js'
import type { Library } from './library.js'
import type { Matrices } from './matrices.js'
import type { Mapped } from './products.js'
import { eigh, qr, svd } from './reflections.js'
import { type Make, Room, type Run, Scratch } from './scratch.js'

/** Columns of the smallest matrix for which the library is quicker than the backend (bench/blas.ts). */
export const COLUMNS = 16

interface Factorisation {
  readonly make: Make
  /** Whether f32 of so many columns is computed as such. */
  readonly isNarrow: (n: number) => boolean
}
const always = (): boolean => true
/** What the library computes of what the backend drives. */
const factorisations: ReadonlyMap<AnyPrimitive, Factorisation> = /*#__PURE__*/ new Map<AnyPrimitive, Factorisation>([
  [choleskyPrimitive, { make: cholesky, isNarrow: always }],
  [triangularSolvePrimitive, { make: triangularSolve, isNarrow: always }],
  [luPrimitive, { make: lu, isNarrow: always }],
  [qrPrimitive, { make: qr, isNarrow: qrIsLarge }],
  [eighPrimitive, { make: eigh, isNarrow: eighIsLarge }],
  [svdPrimitive, { make: svd, isNarrow: svdIsLarge }],
])

/** Elements of one matrix of a stack: the stack has as many as its leading axes say. */
const elements = ({ shape }: { readonly shape: readonly number[] }, count: number): number => sizeOf(shape) / count

/** f32 through f64: what is given is copied to room there before, and results from it after. */
const widened = (run: Run, k: OpaqueKernel, count: number, room: Room): Run => {
  const place = (x: { readonly shape: readonly number[] }) => ({ at: room.take(elements(x, count)), size: elements(x, count) })
  const [args, results] = [k.args.map(place), k.results.map(place)]
  return (from, to, s) => {
    args.forEach(({ at, size }, i) => {
      s.numbers('f64', s.place(at), size).set(s.numbers('f32', from[i]!, size))
    })
    const [given, found] = [args, results].map((all) => all.map(({ at }) => s.place(at)))
    if (!run(given!, found!, s)) return false
    results.forEach(({ at, size }, i) => {
      s.numbers('f32', to[i]!, size).set(s.numbers('f64', s.place(at), size))
    })
    return true
  }
}

/** A factorisation of matrices of `least` columns and more by the library; undefined where it has none. */
export const factorisationBy = (
  library: Library,
  at: Mapped,
  matrices: (type: FloatName) => Matrices,
  k: OpaqueKernel,
  least: number,
): WholeByLibrary | undefined => {
  const of = factorisations.get(k.prim)
  if (of === undefined) return undefined
  const { shape } = k.args[0]!
  const [m, n] = shape.slice(-2) as [number, number]
  const count = sizeOf(shape.slice(0, -2))
  if (n < least || count === 0) return undefined
  const own = k.results[0]!.dtype as FloatName
  const type = own === 'f32' && !of.isNarrow(n) ? 'f64' : own
  const room = new Room()
  const run = of.make({ library, type, m, n, kernel: k, room, matrices: matrices(type) })
  if (run === undefined) return undefined
  const one = type === own ? run : widened(run, k, count, room)
  /** Where matrix number i of each lies. */
  const places = (arrays: readonly NDArray[], i: number): readonly number[] =>
    arrays.map(({ data, shape }) => data.byteOffset + i * elements({ shape }, count) * data.BYTES_PER_ELEMENT)
  return {
    scratchBytes: room.bytes,
    run: ({ args, results }, scratch) => {
      const s = new Scratch(at.words.buffer as ArrayBuffer, scratch, at.base)
      for (let i = 0; i < count; i++) if (!one(places(args, i), places(results, i), s)) return false
      return true
    },
  }
}
