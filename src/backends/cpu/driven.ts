/** Kernels in JavaScript whose products of matrices are WebAssembly's: factorisations, which halve a matrix until plain loops are fastest. */

import { greatestOf } from '../../core/errors/extremes.js'
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
/** Bytes of a table of one step and of its record; there are two of these. */
const RECORD = aligned(4 * (stepEntry.words + gemmRecord.words), 16)

/** Code beside products that loops of factorisations run in: a module for each type of float, with functions that are called from JavaScript. */
export interface Panels<L extends Basics> {
  readonly name: string
  readonly emit: (module: Module, type: FloatName) => void
  /** Bytes of room for matrices of so many rows. */
  readonly bytes: (type: FloatName, rows: number) => number
  /** `room` is where that lies; `narrow` are those of f32, where these are f64 and both are used. */
  readonly loops: (code: WebAssembly.Exports, subtract: SubtractProduct, room: number, type: FloatName, narrow?: L) => L
}
/**
 * A primitive that is driven by JavaScript: what runs, by which loops, the rows and columns of the largest matrix in it, and the numbers that it needs room
 * for. With room its products are of matrices in there, in f64, and where it is `narrow` in f32 as well.
 */
export interface Driven<L extends Basics> {
  readonly drive: Factorise<never, L>
  readonly panels: Panels<L>
  readonly largest: readonly [rows: number, columns: number]
  readonly room?: number
  readonly narrow?: boolean
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
    2 * RECORD +
    greatestOf(
      [type, driven.narrow === true ? 'f32' : type].flatMap((t: FloatName) =>
        [n, Math.min(n, 4096)].map((k) => products.scratchBytes(t, n, n, k)),
      ),
    )
  )
}
const panelBytes = <L extends Basics>({ largest: [rows], panels }: Driven<L>, type: FloatName): number =>
  aligned(panels.bytes(type, rows), 16)
const roomBytes = ({ room = 0 }: { readonly room?: number }): number => aligned(8 * room, 16)

/** Loops that are made once for a place in the memory, and what is written there before each run: others use it in between. */
interface Ready<L> {
  readonly buffer: ArrayBuffer
  readonly scratch: number
  readonly loops: L
  readonly begin: () => void
}
const readyFor = <L extends Basics>(driven: Driven<L>, of: FloatName, scratch: number, engine: Engine, by: Compiled): Ready<L> => {
  const type = typeOf(driven, of)
  const { buffer } = engine.memory
  const panel = scratch + roomBytes(driven)
  const records = panel + panelBytes(driven, type)
  const begins: (() => void)[] = []
  const loopsOf = (t: FloatName, record: number, narrow?: L): L => {
    const { subtract, begin } = productBy(engine, by.product(t), buffer, record, records + 2 * RECORD, t)
    begins.push(begin)
    return driven.panels.loops(by.panels(t), subtract, panel, t, narrow)
  }
  const loops = loopsOf(type, records, driven.narrow === true ? loopsOf('f32', records + RECORD) : undefined)
  return {
    buffer,
    scratch,
    loops,
    begin: () => {
      for (const begin of begins) begin()
    },
  }
}

/** C -= A B by the product in the table at `index`, with its record and scratch. Its matrices lie in the memory too. */
const productBy = (
  engine: Engine,
  index: number,
  buffer: ArrayBuffer,
  record: number,
  scratch: number,
  type: FloatName,
): { readonly subtract: SubtractProduct; readonly begin: () => void } => {
  const size = type === 'f64' ? 8 : 4
  const step = new Int32Array(buffer, record, stepEntry.words)
  const words = new Int32Array(buffer, record + 4 * stepEntry.words, gemmRecord.words)
  const { at } = gemmRecord
  const begin = (): void => {
    step[stepEntry.at.kernel] = index
    step[stepEntry.at.record] = words.byteOffset
    words.fill(0)
    words[at.batch] = 1
    words[at.scratch] = scratch
  }
  const subtract: SubtractProduct = (c, cAt, cRow, a, aAt, aRow, aColumn, b, bAt, bRow, bColumn, m, n, k) => {
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
    engine.run(record, 1)
  }
  return { subtract, begin }
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
export const driven = <L extends Basics>(d: Driven<L>): DrivenKernel => {
  let ready: Ready<L> | undefined
  return {
    scratchBytes: (type) => drivenScratchBytes(d, type),
    run: (k, { args, results }, scratch, engine, by) => {
      const { buffer } = engine.memory
      if (ready?.buffer !== buffer || ready.scratch !== scratch) ready = readyFor(d, k.results[0]!.dtype as FloatName, scratch, engine, by)
      ready.begin()
      d.drive(args, k.params as never, results, ready.loops, (numbers) => new Float64Array(buffer, scratch, numbers))
    },
    products,
    panels: d.panels,
  }
}
