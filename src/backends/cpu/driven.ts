/** Kernels in JavaScript whose products of matrices are WebAssembly's: factorisations, which halve a matrix until plain loops are fastest. */

import type { NDArray } from '../../core/graph/ndarray.js'
import type { Loops } from '../../core/matrices/loops.js'
import { LEAF, type SubtractProduct, subtractProduct } from '../../core/matrices/product.js'
import type { Factorise } from '../../core/ops/linalg/factorisations.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Engine } from './engine.js'
import type { Products } from './kernel.js'
import { products } from './products.js'
import { gemmRecord, stepEntry } from './records.js'
import type { FloatName } from './wasm/float.js'
import { emitPanels, type PanelCode, turnedBytes } from './wasm/panels.js'

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

/** Scratch of a driven kernel: its room, a panel, a step, its record, and what the product itself takes. */
const drivenScratchBytes = (driven: Driven, of: FloatName): number => {
  const [rows, columns] = driven.largest
  const type = typeOf(driven, of)
  const n = Math.max(rows, columns)
  if (rows * columns * n < LEAST) return 0
  const size = type === 'f64' ? 8 : 4
  return (
    roomBytes(driven) +
    panelBytes(driven, type) +
    RECORD +
    Math.max(products.scratchBytes(type, n, n, n), products.scratchBytes(type, n, n, Math.min(n, 4096)))
  )
}
/** Room for the columns of a panel. */
const panelBytes = ({ largest: [rows] }: Driven, type: FloatName): number => LEAF * turnedBytes(type, rows)
const roomBytes = ({ room = 0 }: Driven): number => aligned(8 * room, 16)

/** Runs a driven kernel with its loops, and its room, in the scratch. */
const drive = (driven: Driven, k: OpaqueKernel, { args, results }: Arrays, scratch: number, engine: Engine, by: Compiled): void => {
  const type = typeOf(driven, k.results[0]!.dtype as FloatName)
  const { buffer } = engine.memory
  const panel = scratch + roomBytes(driven)
  const subtract = productBy(engine, by.product(type), buffer, panel + panelBytes(driven, type), type)
  driven.drive(args, k.params as never, results, loopsBy(by.panels(type), subtract, panel, type), (numbers) => new Float64Array(buffer, scratch, numbers))
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

/** The loops in WebAssembly, on matrices in the memory. */
const loopsBy = (by: PanelCode, subtract: SubtractProduct, panel: number, type: FloatName): Loops => {
  const size = type === 'f64' ? 8 : 4
  return {
    subtract,
    solve: (t, tAt, tRow, tColumn, unit, b, bAt, bRow, n, columns) =>
      by.solve(
        t.byteOffset + size * tAt,
        size * tRow,
        size * tColumn,
        b.byteOffset + size * bAt,
        size * bRow,
        n,
        columns,
        unit ? 1 : 0,
      ),
    cholesky: (a, at, row, n) => by.cholesky(a.byteOffset + size * at, size * row, n) === 1,
    lu: (a, at, row, m, n, first, pivots, pAt) =>
      by.lu(a.byteOffset + size * at, size * row, m, n, first, pivots.byteOffset + 4 * pAt, panel, turnedBytes(type, m)),
    swap: (a, at, row, columns, pivots, pAt, first, count) =>
      by.swap(a.byteOffset + size * at, size * row, columns, pivots.byteOffset + 4 * pAt, first, count),
    turn: (to, toAt, toRow, from, fromAt, fromRow, m, n) =>
      by.turn(to.byteOffset + size * toAt, size * toRow, from.byteOffset + size * fromAt, size * fromRow, m, n),
    leaf: 2 * LEAF,
  }
}

type Arrays = { readonly args: readonly NDArray[]; readonly results: readonly NDArray[] }
/** What driven kernels call, by type: where in the table C -= A B lies, and the panels. */
export interface Compiled {
  readonly product: (type: FloatName) => number
  readonly panels: (type: FloatName) => PanelCode
}
/** A driven kernel, made ready: the scratch that it takes, what runs, and the code that it is driven with. */
export interface DrivenKernel {
  readonly scratchBytes: (type: FloatName) => number
  readonly run: (k: OpaqueKernel, arrays: Arrays, scratch: number, engine: Engine, by: Compiled) => void
  readonly products: Products
  readonly panels: typeof emitPanels
}
export const driven = (d: Driven): DrivenKernel => ({
  scratchBytes: (type) => drivenScratchBytes(d, type),
  run: (k, arrays, scratch, engine, by) => drive(d, k, arrays, scratch, engine, by),
  products,
  panels: emitPanels,
})
