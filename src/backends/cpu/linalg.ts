/** The CPU facet of linear algebra: small matrices are written out in WebAssembly; of larger ones, what is mostly products has them of WebAssembly (driven.ts). */
import { planned, whole } from '../../core/extend/kernel-table.js'
import { sizeOf } from '../../core/graph/shape.js'
import { eighRoom } from '../../core/matrices/eigh.js'
import { svdRoom } from '../../core/matrices/svd.js'
import {
  choleskyRun,
  eighRun,
  type Factorise,
  luRun,
  type QrParams,
  qrRoom,
  qrRun,
  svdRun,
  type TriangularParams,
  triangularRun,
} from '../../core/ops/factorisations.js'
import type { linalg } from '../../core/ops/families.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { CpuTable, WholeKernelOf } from './kernel.js'
import type { Module } from './wasm/encoder.js'
import type { FloatName } from './wasm/float.js'
import { emitSmallCholesky, emitSmallLu, emitSmallTriangular, SMALL, type SmallShape } from './wasm/small-matrices.js'

/** Its first argument, a stack of matrices. */
const stackOf = (k: OpaqueKernel): SmallShape => {
  const { shape, dtype } = k.args[0]!
  const [rows, columns] = shape.slice(-2) as [number, number]
  return { type: dtype as FloatName, count: sizeOf(shape.slice(0, -2)), rows, columns }
}
/** A factorisation of its first argument: written out where that is small, else driven. */
const factorising = (small: (module: Module, shape: SmallShape, name: string, k: OpaqueKernel) => void, run: Factorise<never>) =>
  whole<WholeKernelOf>((k: OpaqueKernel) => {
    const stack = stackOf(k)
    const { rows, columns } = stack
    if (Math.max(rows, columns) <= SMALL) return { emit: (module, name) => small(module, stack, name, k), scratchBytes: 0 }
    const right = k.args[1]?.shape.at(-1) ?? columns
    return { drive: run, largest: [rows, Math.max(columns, right)] }
  })
const triangular = (module: Module, stack: SmallShape, name: string, k: OpaqueKernel): void => {
  const { lower, transpose, unitDiagonal } = k.params as TriangularParams
  emitSmallTriangular(module, { ...stack, columns: k.args[1]!.shape.at(-1)!, lower, transpose, unit: unitDiagonal }, name)
}

/** One row per primitive of the family `linalg`. */
export const linalgKernels: CpuTable<typeof linalg> = {
  cholesky: factorising(emitSmallCholesky, choleskyRun),
  triangularSolve: factorising(triangular, triangularRun),
  lu: factorising(emitSmallLu, luRun),
  qr: whole((k: OpaqueKernel) => {
    const { rows, columns } = stackOf(k)
    const params = k.params as QrParams
    return { drive: qrRun, largest: [rows, params.complete ? rows : columns], room: qrRoom(rows, columns, params) }
  }),
  eigh: whole((k: OpaqueKernel) => {
    const { rows } = stackOf(k)
    return { drive: eighRun, largest: [rows, rows], room: eighRoom(rows) }
  }),
  svd: whole((k: OpaqueKernel) => {
    const { rows, columns } = stackOf(k)
    return { drive: svdRun, largest: [rows, columns], room: svdRoom(rows, columns) }
  }),
  solve: planned('written out'),
  det: planned('written out'),
  slogdet: planned('written out'),
  lstsq: planned('written out'),
}
