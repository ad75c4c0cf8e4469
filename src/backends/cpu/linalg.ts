/** The CPU facet of linear algebra: small matrices are written out in WebAssembly; of larger ones, what is mostly products has them of WebAssembly (driven.ts). */
import { planned, whole } from '../../core/extend/kernel-table.js'
import { sizeOf } from '../../core/graph/shape.js'
import { eighIsLarge, eighRoom } from '../../core/matrices/eigh.js'
import type { Reflecting } from '../../core/matrices/loops.js'
import { qrIsLarge } from '../../core/matrices/qr.js'
import { svdIsLarge, svdRoom } from '../../core/matrices/svd.js'
import type { linalg } from '../../core/ops/families.js'
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
} from '../../core/ops/linalg/factorisations.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { type DrivenKernel, driven } from './driven.js'
import { type CpuTable, noElements, type WholeKernelOf } from './kernel.js'
import { byElimination, byReflections } from './panels.js'
import { leadingUnits } from './units.js'
import type { Module } from './wasm/encoder.js'
import type { FloatName } from './wasm/float.js'
import { SMALL, type SmallShape } from './wasm/pairs.js'
import { emitSmallCholesky, emitSmallLu, emitSmallTriangular } from './wasm/small-elimination.js'
import { emitSmallQr } from './wasm/small-reflections.js'
import { emitSmallEigh, emitSmallSvd } from './wasm/small-rotations.js'

/** Its first argument, a stack of matrices. */
const stackOf = (k: OpaqueKernel): SmallShape & { readonly count: number } => {
  const { shape, dtype } = k.args[0]!
  const [rows, columns] = shape.slice(-2) as [number, number]
  return { type: dtype as FloatName, count: sizeOf(shape.slice(0, -2)), rows, columns }
}
type Small = (module: Module, shape: SmallShape, name: string, k: OpaqueKernel) => void
/** A factorisation of its first argument: written out where that is small, else as said. */
const smallOr = (small: Small, large: (stack: SmallShape, k: OpaqueKernel) => DrivenKernel) =>
  whole<WholeKernelOf>((k: OpaqueKernel) => {
    const stack = stackOf(k)
    if (Math.max(stack.rows, stack.columns) > SMALL) return large(stack, k)
    const { count, ...of } = stack
    if (k.results.every(({ shape }) => sizeOf(shape) === 0)) return noElements
    const sides = k.args[1]?.shape.at(-1)
    return {
      emit: (module, name) => small(module, of, name, k),
      scratchBytes: 0,
      shared: { code: `${k.prim.name} ${JSON.stringify([of, sides, k.params])}`, sizes: [count] },
      units: leadingUnits(k, 0, count),
    }
  })
const factorising = (small: Small, run: Factorise<never>) =>
  smallOr(small, ({ rows, columns }, k) =>
    driven({ drive: run, panels: byElimination, largest: [rows, Math.max(columns, k.args[1]?.shape.at(-1) ?? columns)] }),
  )
/** One by reflections, with room for so many numbers. f32 is reduced and multiplied as such where it `isLarge`, and else in f64. */
const reflecting = (
  drive: Factorise<never, Reflecting>,
  isLarge: (columns: number) => boolean,
  { type, rows, columns }: SmallShape,
  most: number,
  room: number,
): DrivenKernel => driven({ drive, panels: byReflections, largest: [rows, most], room, narrow: type === 'f32' && isLarge(columns) })
const triangular = (module: Module, stack: SmallShape, name: string, k: OpaqueKernel): void => {
  const { lower, transpose, unitDiagonal } = k.params as TriangularParams
  emitSmallTriangular(module, { ...stack, columns: k.args[1]!.shape.at(-1)!, lower, transpose, unit: unitDiagonal }, name)
}
const columnsOfQ = ({ rows, columns }: SmallShape, k: OpaqueKernel): number => ((k.params as QrParams).complete ? rows : columns)

type Rows<K extends keyof typeof linalg> = Pick<CpuTable<typeof linalg>, K>
export const triangularKernels: Rows<'cholesky' | 'triangularSolve'> = {
  cholesky: factorising(emitSmallCholesky, choleskyRun),
  triangularSolve: factorising(triangular, triangularRun),
}
export const qrKernels: Rows<'qr'> = {
  qr: smallOr(
    (module, stack, name, k) => emitSmallQr(module, stack, columnsOfQ(stack, k), name),
    (stack, k) => reflecting(qrRun, qrIsLarge, stack, columnsOfQ(stack, k), qrRoom(stack.rows, stack.columns, k.params as QrParams)),
  ),
}
export const eighKernels: Rows<'eigh'> = {
  eigh: smallOr(emitSmallEigh, (stack) => reflecting(eighRun, eighIsLarge, stack, stack.rows, eighRoom(stack.rows))),
}
export const svdKernels: Rows<'svd'> = {
  svd: smallOr(emitSmallSvd, (stack) => reflecting(svdRun, svdIsLarge, stack, stack.columns, svdRoom(stack.rows, stack.columns))),
}
export const systemKernels: Rows<Exclude<keyof typeof linalg, keyof typeof triangularKernels | 'qr' | 'eigh' | 'svd'>> = {
  lu: factorising(emitSmallLu, luRun),
  solve: planned('written out'),
  det: planned('written out'),
  slogdet: planned('written out'),
  lstsq: planned('written out'),
}
