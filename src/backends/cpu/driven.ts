/** Kernels in JavaScript whose products of matrices are WebAssembly's: factorisations, which halve a matrix until plain loops are fastest. */

import type { NDArray } from '../../core/graph/ndarray.js'
import { type SubtractProduct, subtractProduct } from '../../core/matrices/product.js'
import type { Factorise } from '../../core/ops/linalg/factorisations.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Engine } from './engine.js'
import type { Products } from './kernel.js'
import { products } from './products.js'
import { gemmRecord, stepEntry } from './records.js'
import type { FloatName } from './wasm/float.js'

/** Products of fewer multiplications are plain loops: a call would take longer. */
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

/** Scratch of a driven kernel: its room, a step, its record, and what the product itself takes. */
const drivenScratchBytes = (driven: Driven, of: FloatName): number => {
  const [rows, columns] = driven.largest
  const type = typeOf(driven, of)
  const n = Math.max(rows, columns)
  if (rows * columns * n < LEAST) return 0
  const size = type === 'f64' ? 8 : 4
  return (
    roomBytes(driven) +
    RECORD +
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

/** C -= A B by the product in the table at `index`. Its matrices lie in the memory; so does the scratch. */
const productBy = (engine: Engine, index: number, buffer: ArrayBuffer, scratch: number, type: FloatName): SubtractProduct => {
  const size = type === 'f64' ? 8 : 4
  const step = new Int32Array(buffer, scratch, stepEntry.words)
  const words = new Int32Array(buffer, scratch + 4 * stepEntry.words, gemmRecord.words)
  const { at } = gemmRecord
  step[stepEntry.at.kernel] = index
  step[stepEntry.at.record] = words.byteOffset
  words.fill(0)
  words[at.batch] = 1
  words[at.scratch] = scratch + RECORD
  return (c, cAt, cRow, a, aAt, aRow, aColumn, b, bAt, bRow, bColumn, m, n, k) => {
    if (m * n * k < LEAST) {
      subtractProduct(c, cAt, cRow, a, aAt, aRow, aColumn, b, bAt, bRow, bColumn, m, n, k)
      return
    }
    words[at.c] = c.byteOffset + size * cAt
    words[at.a] = a.byteOffset + size * aAt
    words[at.b] = b.byteOffset + size * bAt
    words[at.m] = m
    words[at.n] = n
    words[at.k] = k
    words[at.cRowStride] = size * cRow
    words[at.aRowStride] = size * aRow
    words[at.aColStride] = size * aColumn
    words[at.bRowStride] = size * bRow
    words[at.bColStride] = size * bColumn
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
