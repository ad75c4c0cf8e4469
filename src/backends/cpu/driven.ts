/** Kernels in JavaScript whose products of matrices are WebAssembly's: factorisations, which halve a matrix until plain loops are fastest. */

import type { NDArray } from '../../core/graph/ndarray.js'
import type { Basics } from '../../core/matrices/loops.js'
import { type SubtractProduct, subtractProduct } from '../../core/matrices/product.js'
import type { Factorise } from '../../core/ops/linalg/factorisations.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Engine } from './engine.js'
import type { Products } from './kernel.js'
import { products } from './products.js'
import { gemmRecord, stepEntry } from './records.js'
import type { Module } from './wasm/encoder.js'
import type { FloatName } from './wasm/float.js'

/** Products of fewer multiplications are plain loops: a call would take longer. */
const LEAST = 500
/** Bytes of a table of one step and of its record. */
const RECORD = aligned(4 * (stepEntry.words + gemmRecord.words), 16)

/** Code beside products that loops of factorisations run in: a module for each type of float, with functions that are called from JavaScript. */
export interface Panels<L extends Basics> {
  readonly name: string
  readonly emit: (module: Module, type: FloatName) => void
  /** Bytes of room for matrices of so many rows. */
  readonly bytes: (type: FloatName, rows: number) => number
  /** `room` is where that lies. */
  readonly loops: (code: WebAssembly.Exports, subtract: SubtractProduct, room: number, type: FloatName) => L
}
/**
 * A primitive that is driven by JavaScript: what runs, by which loops, the rows and columns of the largest matrix in it, and the numbers that it needs room
 * for. With room its products are of matrices in there, in f64.
 */
export interface Driven<L extends Basics> {
  readonly drive: Factorise<never, L>
  readonly panels: Panels<L>
  readonly largest: readonly [rows: number, columns: number]
  readonly room?: number
}
const typeOf = ({ room }: { readonly room?: number }, type: FloatName): FloatName => (room === undefined ? type : 'f64')

/** Scratch of a driven kernel: its room, a panel, a step, its record, and what the product itself takes. */
const drivenScratchBytes = <L extends Basics>(driven: Driven<L>, of: FloatName): number => {
  const [rows, columns] = driven.largest
  const type = typeOf(driven, of)
  const n = Math.max(rows, columns)
  if (rows * columns * n < LEAST) return 0
  return (
    roomBytes(driven) +
    panelBytes(driven, type) +
    RECORD +
    Math.max(products.scratchBytes(type, n, n, n), products.scratchBytes(type, n, n, Math.min(n, 4096)))
  )
}
const panelBytes = <L extends Basics>({ largest: [rows], panels }: Driven<L>, type: FloatName): number =>
  aligned(panels.bytes(type, rows), 16)
const roomBytes = ({ room = 0 }: { readonly room?: number }): number => aligned(8 * room, 16)

/** Runs a driven kernel with its loops, and its room, in the scratch. */
const drive = <L extends Basics>(
  driven: Driven<L>,
  k: OpaqueKernel,
  { args, results }: Arrays,
  scratch: number,
  engine: Engine,
  by: Compiled,
): void => {
  const type = typeOf(driven, k.results[0]!.dtype as FloatName)
  const { buffer } = engine.memory
  const panel = scratch + roomBytes(driven)
  const subtract = productBy(engine, by.product(type), buffer, panel + panelBytes(driven, type), type)
  const loops = driven.panels.loops(by.panels(type), subtract, panel, type)
  driven.drive(args, k.params as never, results, loops, (numbers) => new Float64Array(buffer, scratch, numbers))
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

type Arrays = { readonly args: readonly NDArray[]; readonly results: readonly NDArray[] }
/** What driven kernels call, by type: where in the table C -= A B lies, and the panels. */
export interface Compiled {
  readonly product: (type: FloatName) => number
  readonly panels: (type: FloatName) => WebAssembly.Exports
}
/** A driven kernel, made ready: the scratch that it takes, what runs, and the code that it is driven with. */
export interface DrivenKernel {
  readonly scratchBytes: (type: FloatName) => number
  readonly run: (k: OpaqueKernel, arrays: Arrays, scratch: number, engine: Engine, by: Compiled) => void
  readonly products: Products
  readonly panels: Pick<Panels<Basics>, 'name' | 'emit'>
}
export const driven = <L extends Basics>(d: Driven<L>): DrivenKernel => ({
  scratchBytes: (type) => drivenScratchBytes(d, type),
  run: (k, arrays, scratch, engine, by) => drive(d, k, arrays, scratch, engine, by),
  products,
  panels: d.panels,
})
