/** Kernels in JavaScript whose products of matrices are WebAssembly's: factorisations, which halve a matrix until plain loops are fastest. */

import type { NDArray } from '../../core/graph/ndarray.js'
import { type Floats, type SubtractProduct, subtractProduct } from '../../core/matrices/product.js'
import type { Factorise } from '../../core/ops/linalg/factorisations.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Engine } from './engine.js'
import type { Products } from './kernel.js'
import { products } from './products.js'
import { gemmRecord, stepEntry } from './records.js'
import type { FloatName } from './wasm/float.js'

/** Products of fewer multiplications are plain loops: a call, and a copy of a factor, would take longer. */
const LEAST = 500
/** Bytes of a table of one step and of its record. */
const RECORD = aligned(4 * (stepEntry.words + gemmRecord.words), 16)

/**
 * A primitive that is driven by JavaScript: what runs, the rows and columns of the largest matrix in it, and the numbers that it needs room
 * for. With room its products are of matrices in there, in f64.
 */
export interface Driven {
  readonly drive: Factorise<never>
  readonly largest: readonly [rows: number, columns: number]
  readonly room?: number
}
const typeOf = ({ room }: Driven, type: FloatName): FloatName => (room === undefined ? type : 'f64')

/** Scratch of a driven kernel: its room, a step, its record, a factor with its sign changed, and what the product itself takes. */
const drivenScratchBytes = (driven: Driven, of: FloatName): number => {
  const [rows, columns] = driven.largest
  const type = typeOf(driven, of)
  const n = Math.max(rows, columns)
  if (rows * columns * n < LEAST) return 0
  const size = type === 'f64' ? 8 : 4
  return (
    roomBytes(driven) +
    RECORD +
    aligned(size * rows * columns, 16) +
    Math.max(products.scratchBytes(type, n, n, n), products.scratchBytes(type, n, n, Math.min(n, 4096)))
  )
}
const roomBytes = ({ room = 0 }: Driven): number => aligned(8 * room, 16)

/** Runs a driven kernel with its products, and its room, in the scratch; `product` says where in the table that of a type lies. */
const drive = (
  driven: Driven,
  k: OpaqueKernel,
  { args, results }: { readonly args: readonly NDArray[]; readonly results: readonly NDArray[] },
  scratch: number,
  engine: Engine,
  product: (type: FloatName) => number,
): void => {
  const type = typeOf(driven, k.results[0]!.dtype as FloatName)
  const { buffer } = engine.memory
  const subtract = productBy(engine, product(type), buffer, scratch + roomBytes(driven), type)
  driven.drive(args, k.params as never, results, subtract, (numbers) => new Float64Array(buffer, scratch, numbers))
}

/** -A: [m, n], row by row. */
const negate = (to: Floats, a: Floats, at: number, row: number, column: number, m: number, n: number): void => {
  for (let i = 0, next = 0; i < m; i++) for (let l = 0, from = at + i * row; l < n; l++, from += column) to[next++] = -a[from]!
}
/** C -= A B as C += (-A) B, or A (-B), by the product in the table at `index`. Its matrices lie in the memory; so does the scratch. */
const productBy = (engine: Engine, index: number, buffer: ArrayBuffer, scratch: number, type: FloatName): SubtractProduct => {
  const size = type === 'f64' ? 8 : 4
  const step = new Int32Array(buffer, scratch, stepEntry.words)
  const words = new Int32Array(buffer, scratch + 4 * stepEntry.words, gemmRecord.words)
  const { at } = gemmRecord
  const negative = new (type === 'f64' ? Float64Array : Float32Array)(buffer, scratch + RECORD)
  step[stepEntry.at.kernel] = index
  step[stepEntry.at.record] = words.byteOffset
  words.fill(0)
  words[at.batch] = 1
  return (c, cAt, cRow, a, aAt, aRow, aColumn, b, bAt, bRow, bColumn, m, n, k) => {
    if (m * n * k < LEAST) {
      subtractProduct(c, cAt, cRow, a, aAt, aRow, aColumn, b, bAt, bRow, bColumn, m, n, k)
      return
    }
    // The smaller factor is the one that is copied.
    const left = m <= n
    if (left) negate(negative, a, aAt, aRow, aColumn, m, k)
    else negate(negative, b, bAt, bRow, bColumn, k, n)
    const behind = scratch + RECORD + aligned(size * k * Math.min(m, n), 16)
    const place = (x: Floats, at: number): number => x.byteOffset + size * at
    words[at.c] = place(c, cAt)
    words[at.a] = left ? scratch + RECORD : place(a, aAt)
    words[at.b] = left ? place(b, bAt) : scratch + RECORD
    words[at.m] = m
    words[at.n] = n
    words[at.k] = k
    words[at.cRowStride] = size * cRow
    words[at.aRowStride] = size * (left ? k : aRow)
    words[at.aColStride] = size * (left ? 1 : aColumn)
    words[at.bRowStride] = size * (left ? bRow : n)
    words[at.bColStride] = size * (left ? bColumn : 1)
    words[at.scratch] = behind
    engine.run(scratch, 1)
  }
}

/** A driven kernel, made ready: the scratch that it takes, what runs, and the products that it is driven with. */
export interface DrivenKernel {
  readonly scratchBytes: (type: FloatName) => number
  readonly run: (
    k: OpaqueKernel,
    arrays: { readonly args: readonly NDArray[]; readonly results: readonly NDArray[] },
    scratch: number,
    engine: Engine,
    product: (type: FloatName) => number,
  ) => void
  readonly products: Products
}
export const driven = (d: Driven): DrivenKernel => ({
  scratchBytes: (type) => drivenScratchBytes(d, type),
  run: (k, arrays, scratch, engine, product) => drive(d, k, arrays, scratch, engine, product),
  products,
})
