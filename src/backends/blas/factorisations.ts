/**
 * Factorisations by LAPACK, matrix by matrix of a stack. LAPACK's matrices lie column by column: A row by row is A^T to it, so that of a symmetric matrix its upper triangle is our lower one, of
 * A = Q R it finds A^T = R^T Q^T, and of A = U S V^T it finds A^T = V S U^T. What is not finite, and what LAPACK gives up on, is the backend's own.
 */
import { itemBytes } from '../../core/graph/aval.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { sizeOf } from '../../core/graph/shape.js'
import { flips } from '../../core/matrices/gauge.js'
import {
  choleskyPrimitive,
  eighPrimitive,
  luPrimitive,
  type QrParams,
  qrPrimitive,
  svdPrimitive,
  type TriangularParams,
  triangularSolvePrimitive,
} from '../../core/ops/linalg/factorisations.js'
import type { WholeByLibrary } from '../cpu/kernel.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Library } from './library.js'
import type { matricesOf } from './matrices.js'
import type { Mapped } from './products.js'

type Floats = Float32Array | Float64Array
const floats = (x: NDArray): Floats => x.data as Floats
const axesOf = (shape: readonly number[]): readonly [m: number, n: number, count: number] => [
  shape[shape.length - 2]!,
  shape[shape.length - 1]!,
  sizeOf(shape.slice(0, -2)),
]

/** What a factorisation needs in the scratch: places for integers, then for numbers. */
class Room {
  bytes = 0
  /** `count` elements of `size` bytes: where they begin. */
  take(count: number, size = 8): number {
    const at = this.bytes
    this.bytes = aligned(at + count * size, 16)
    return at
  }
}
/** The scratch of one call: integers that are given by address, and views of its numbers. */
class Scratch {
  readonly address: (at: number) => number
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly start: number,
    base: number,
  ) {
    this.address = (at) => base + start + at
  }
  /** Writes integers, 8 bytes for each, and gives their addresses. */
  integers(at: number, ...values: readonly number[]): readonly number[] {
    const words = new Int32Array(this.buffer, this.start + at, 2 * values.length)
    return values.map((x, i) => {
      words[2 * i] = x
      words[2 * i + 1] = x < 0 ? -1 : 0
      return this.address(at + 8 * i)
    })
  }
  integer(at: number): number {
    return new Int32Array(this.buffer, this.start + at, 1)[0]!
  }
  numbers(at: number, count: number): Float64Array {
    return new Float64Array(this.buffer, this.start + at, count)
  }
  /** Where it lies in the memory. */
  place(at: number): number {
    return this.start + at
  }
  words(at: number, count: number): Int32Array {
    return new Int32Array(this.buffer, this.start + at, count)
  }
}
/** Where an array lies, to the library. */
const placeOf = (x: Floats, at: Mapped, element: number): number => at.base + x.byteOffset + element * x.BYTES_PER_ELEMENT

/** Where an element lies in the memory. */
const within = (x: Floats, element: number): number => x.byteOffset + element * x.BYTES_PER_ELEMENT

/** to: [n, n] is the transpose of from: [n, n], both in the memory. */
const turn = (from: Float64Array, to: Floats, at: number, n: number, { f64 }: ReturnType<typeof matricesOf>): void => {
  if (to instanceof Float64Array) f64.transpose(within(to, at), within(from, 0), n, n)
  else for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) to[at + j * n + i] = from[i * n + j]!
}

/** to: [m, n] is from: [m, n] with its columns times these. */
const scaled = (from: Float64Array, to: Floats, at: number, by: Float64Array, m: number, n: number): void => {
  for (let i = 0, k = 0; i < m; i++) for (let j = 0; j < n; j++, k++) to[at + k] = by[j]! * from[k]!
}

const ADDRESS = 'uintptr_t'
const addresses = (count: number): string => new Array<string>(count).fill(ADDRESS).join(', ')
/** Integers of one call: room for as many. */
const INTEGERS = 128

/** One matrix of a stack after the other; false where one is left to the backend. */
interface Ready {
  readonly bytes: number
  readonly one: (matrix: number, arrays: Arrays, s: Scratch) => boolean
}
interface Arrays {
  readonly args: readonly NDArray[]
  readonly results: readonly NDArray[]
}
type Make = (library: Library, at: Mapped, k: OpaqueKernel, matrices: ReturnType<typeof matricesOf>) => Ready | undefined

const letter = (type: 'f32' | 'f64'): 's' | 'd' => (type === 'f32' ? 's' : 'd')
const typeOf = (k: OpaqueKernel): 'f32' | 'f64' => k.results[0]!.dtype as 'f32' | 'f64'

const cholesky: Make = (library, at, k, matrices) => {
  const potrf = library.fortran(`${letter(typeOf(k))}potrf`, `const char *, ${addresses(4)}, size_t`)
  if (potrf === undefined) return undefined
  const [, n] = axesOf(k.args[0]!.shape)
  const { lower } = matrices[typeOf(k)]
  return {
    bytes: INTEGERS,
    one: (matrix, { args, results }, s) => {
      const [a, l] = [floats(args[0]!), floats(results[0]!)]
      const from = matrix * n * n
      // The library leaves what is above the diagonal as it is.
      lower(within(l, from), within(a, from), n)
      const [size, info] = s.integers(0, n, 0)
      potrf('U', size, placeOf(l, at, from), size, info, 1)
      if (s.integer(8) !== 0) l.fill(Number.NaN, from, from + n * n)
      // The library goes on with NaN, as if it were a positive pivot.
      else if (Number.isNaN(l[from + n * n - 1]!)) l.fill(Number.NaN, from, from + n * n)
      return true
    },
  }
}

const triangularSolve: Make = (library, at, k) => {
  const type = typeOf(k)
  const number = type === 'f32' ? 'float' : 'double'
  const trsm = library.cblas(
    'void',
    `${letter(type)}trsm`,
    `int, int, int, int, int, int, int, ${number}, ${ADDRESS}, int, ${ADDRESS}, int`,
  )
  const [n, columns] = axesOf(k.args[1]!.shape)
  const { lower, transpose: transposed, unitDiagonal } = k.params as TriangularParams
  return {
    bytes: 0,
    one: (matrix, { args, results }) => {
      const [a, b, x] = [floats(args[0]!), floats(args[1]!), floats(results[0]!)]
      const from = matrix * n * n
      // A zero on the diagonal: which infinities and NaN follow is the backend's to say.
      if (!unitDiagonal) for (let i = 0; i < n; i++) if (a[from + i * n + i] === 0) return false
      const to = matrix * n * columns
      if (x.byteOffset !== b.byteOffset) x.set(b.subarray(to, to + n * columns), to)
      trsm(
        101,
        141,
        lower ? 122 : 121,
        transposed ? 112 : 111,
        unitDiagonal ? 132 : 131,
        n,
        columns,
        1,
        placeOf(a, at, from),
        n,
        placeOf(x, at, to),
        columns,
      )
      return true
    },
  }
}

const lu: Make = (library, _at, k, matrices) => {
  const type = typeOf(k)
  const getrf = library.fortran(`${letter(type)}getrf`, addresses(6))
  if (getrf === undefined) return undefined
  const [m, n] = axesOf(k.args[0]!.shape)
  const steps = Math.min(m, n)
  const size = itemBytes[type]
  const room = new Room()
  const integers = room.take(INTEGERS, 1)
  const swaps = room.take(steps)
  const matrixAt = room.take(m * n, size)
  const step = library.wide ? 2 : 1
  const { finite, transpose } = matrices[type]
  return {
    bytes: room.bytes,
    one: (matrix, { args, results }, s) => {
      const [a, packed] = [floats(args[0]!), floats(results[0]!)]
      const [pivots, order] = [results[1]!.data as Int32Array, results[2]!.data as Int32Array]
      const from = matrix * m * n
      if (!finite(within(a, from), m * n)) return false
      transpose(s.place(matrixAt), within(a, from), m, n)
      const [rows, columns, info] = s.integers(integers, m, n, 0)
      getrf(rows, columns, s.address(matrixAt), rows, s.address(swaps), info)
      transpose(within(packed, from), s.place(matrixAt), n, m)
      const found = s.words(swaps, steps * step)
      const [pAt, oAt] = [matrix * steps, matrix * m]
      for (let i = 0; i < m; i++) order[oAt + i] = i
      for (let i = 0; i < steps; i++) {
        const j = found[i * step]! - 1
        pivots[pAt + i] = j
        const kept = order[oAt + i]!
        order[oAt + i] = order[oAt + j]!
        order[oAt + j] = kept
      }
      return true
    },
  }
}

/** Blocks of columns in which LAPACK works: as many rows of workspace. */
const BLOCK = 64

const qr: Make = (library, _at, k, matrices) => {
  const gelqf = library.fortran('dgelqf', addresses(8))
  const orglq = library.fortran('dorglq', addresses(9))
  const [m, n] = axesOf(k.args[0]!.shape)
  if (gelqf === undefined || orglq === undefined) return undefined
  const columns = (k.params as QrParams).complete ? m : n
  const room = new Room()
  const integers = room.take(INTEGERS, 1)
  const tau = room.take(n)
  const matrixAt = room.take(m * columns)
  const length = BLOCK * columns
  const work = room.take(length)
  return {
    bytes: room.bytes,
    one: (matrix, { args, results }, s) => {
      const [a, q, r] = [floats(args[0]!), floats(results[0]!), floats(results[1]!)]
      const [from, qAt, rAt] = [matrix * m * n, matrix * m * columns, matrix * columns * n]
      if (!matrices[typeOf(k)].finite(within(a, from), m * n)) return false
      // A row by row, with room behind each row where Q has more columns.
      const x = s.numbers(matrixAt, m * columns)
      if (columns === n) x.set(a.subarray(from, from + m * n))
      else for (let i = 0; i < m; i++) x.set(a.subarray(from + i * n, from + (i + 1) * n), i * columns)
      const [rows, wide, own, given, info] = s.integers(integers, n, m, columns, length, 0)
      gelqf(rows, wide, s.address(matrixAt), own, s.address(tau), s.address(work), given, info)
      const signs = new Float64Array(columns).fill(1)
      r.fill(0, rAt, rAt + columns * n)
      for (let i = 0; i < n; i++) {
        const sign = x[i * columns + i]! < 0 ? -1 : 1
        signs[i] = sign
        for (let j = i; j < n; j++) r[rAt + i * n + j] = sign * x[i * columns + j]!
      }
      orglq(own, wide, rows, s.address(matrixAt), own, s.address(tau), s.address(work), given, info)
      scaled(x, q, qAt, signs, m, columns)
      return true
    },
  }
}

const eigh: Make = (library, _at, k, matrices) => {
  const syevd = library.fortran('dsyevd', `const char *, const char *, ${addresses(9)}, size_t, size_t`)
  if (syevd === undefined) return undefined
  const [, n] = axesOf(k.args[0]!.shape)
  const room = new Room()
  const integers = room.take(INTEGERS, 1)
  const [values, vectors] = [room.take(n), room.take(n * n)]
  const [length, whole] = [1 + 6 * n + 2 * n * n, 3 + 5 * n]
  const [work, more] = [room.take(length), room.take(whole)]
  return {
    bytes: room.bytes,
    one: (matrix, { args, results }, s) => {
      const [a, w, v] = [floats(args[0]!), floats(results[0]!), floats(results[1]!)]
      const from = matrix * n * n
      for (let i = 0; i < n; i++) if (!matrices[typeOf(k)].finite(within(a, from + i * n), i + 1)) return false
      const x = s.numbers(vectors, n * n)
      x.set(a.subarray(from, from + n * n))
      const [size, given, integer, info] = s.integers(integers, n, length, whole, 0)
      syevd('V', 'U', size, s.address(vectors), size, s.address(values), s.address(work), given, s.address(more), integer, info, 1, 1)
      if (s.integer(integers + 24) !== 0) return false
      w.set(s.numbers(values, n), matrix * n)
      for (let j = 0; j < n; j++) if (flips(x, j * n, n)) for (let i = 0; i < n; i++) x[j * n + i] = -x[j * n + i]!
      turn(x, v, from, n, matrices)
      return true
    },
  }
}

const svd: Make = (library, _at, k, matrices) => {
  const gesdd = library.fortran('dgesdd', `const char *, ${addresses(13)}, size_t`)
  if (gesdd === undefined) return undefined
  const [m, n] = axesOf(k.args[0]!.shape)
  const room = new Room()
  const integers = room.take(INTEGERS, 1)
  const [copy, values, left, right] = [room.take(m * n), room.take(n), room.take(n * n), room.take(m * n)]
  const length = 4 * n * n + 7 * n + BLOCK * (m + 2 * n)
  const [work, more] = [room.take(length), room.take(8 * n)]
  return {
    bytes: room.bytes,
    one: (matrix, { args, results }, s) => {
      const [a, u, d, v] = [floats(args[0]!), floats(results[0]!), floats(results[1]!), floats(results[2]!)]
      const from = matrix * m * n
      if (!matrices[typeOf(k)].finite(within(a, from), m * n)) return false
      const x = s.numbers(copy, m * n)
      x.set(a.subarray(from, from + m * n))
      const [rows, wide, given, info] = s.integers(integers, n, m, length, 0)
      const at = s.address
      // A^T = V S U^T: what it calls U is V, column by column, and its V^T is U, row by row.
      gesdd('S', rows, wide, at(copy), rows, at(values), at(left), rows, at(right), rows, at(work), given, at(more), info, 1)
      if (s.integer(integers + 24) !== 0) return false
      d.set(s.numbers(values, n), matrix * n)
      const [vectors, others] = [s.numbers(left, n * n), s.numbers(right, m * n)]
      const signs = Float64Array.from({ length: n }, (_, j) => (flips(vectors, j * n, n) ? -1 : 1))
      scaled(others, u, from, signs, m, n)
      for (let j = 0; j < n; j++) if (signs[j]! < 0) for (let i = 0; i < n; i++) vectors[j * n + i] = -vectors[j * n + i]!
      turn(vectors, v, matrix * n * n, n, matrices)
      return true
    },
  }
}

/** Columns of the smallest matrix for which the library is quicker than the backend (bench/blas.ts). */
export const COLUMNS = 16
/** What the library computes of what the backend drives. */
const makers: ReadonlyMap<AnyPrimitive, Make> = /*#__PURE__*/ new Map<AnyPrimitive, Make>([
  [choleskyPrimitive, cholesky],
  [triangularSolvePrimitive, triangularSolve],
  [luPrimitive, lu],
  [qrPrimitive, qr],
  [eighPrimitive, eigh],
  [svdPrimitive, svd],
])

/** A factorisation of matrices of `least` columns and more by the library; undefined where it has none. */
export const factorisationBy = (
  library: Library,
  at: Mapped,
  matrices: () => ReturnType<typeof matricesOf>,
  k: OpaqueKernel,
  least: number,
): WholeByLibrary | undefined => {
  const make = makers.get(k.prim)
  if (make === undefined) return undefined
  const [, n, count] = axesOf(k.args[0]!.shape)
  const ready = n < least ? undefined : make(library, at, k, matrices())
  if (ready === undefined) return undefined
  return {
    scratchBytes: ready.bytes,
    run: (arrays, scratch) => {
      const { buffer } = at.words
      const s = new Scratch(buffer as ArrayBuffer, scratch, at.base)
      for (let matrix = 0; matrix < count; matrix++) if (!ready.one(matrix, arrays, s)) return false
      return true
    },
  }
}
