/** The CPU facet of scans and sorting: each element waits for the one before, so loops go along lines, one element at a time. Sorting counts digits. */
import { planned, whole } from '../../core/extend/kernel-table.js'
import type { scans } from '../../core/ops/families.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import type { RunningParams, ScanParams, SortParams } from '../../core/ops/scans.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { CpuTable, WholeKernelOf } from './kernel.js'
import { emitRecurrence, emitRunning, type Lines } from './wasm/running.js'
import { emitSort, type Sorted, sortScratchBytes } from './wasm/sort.js'

const linesOf = (k: OpaqueKernel): Lines => {
  const { shape, dtype } = k.args[0]!
  const { axis, reverse } = k.params as RunningParams
  return { ...aroundAxis(shape, axis), type: dtype as Lines['type'], reverse }
}
const running = (kind: Parameters<typeof emitRunning>[1]) =>
  whole<WholeKernelOf>((k: OpaqueKernel) => {
    const { exclusive = false } = k.params as Partial<ScanParams>
    return { emit: (module, name) => emitRunning(module, kind, linesOf(k), exclusive, name), scratchBytes: 0 }
  })

/** Lines from which on counting three digits pays. */
const LONG = 512

/** One row per primitive of the family `scans`. */
export const scanKernels: CpuTable<typeof scans> = {
  prod: planned('fold'),
  cumsum: running('cumsum'),
  cumprod: running('cumprod'),
  cummax: running('cummax'),
  cummin: running('cummin'),
  linearRecurrence: whole((k: OpaqueKernel) => ({ emit: (module, name) => emitRecurrence(module, linesOf(k), name), scratchBytes: 0 })),
  sort: whole((k: OpaqueKernel) => {
    const { shape, dtype } = k.args[0]!
    const { axis, descending } = k.params as SortParams
    const lines = aroundAxis(shape, axis)
    // Short lines, f64 and parts of an order are left to plain loops.
    if (dtype === 'f64' || lines.size < LONG || k.results[0]!.shape[axis] !== lines.size) return undefined
    return {
      emit: (module, name) => emitSort(module, { ...lines, type: dtype as Sorted['type'], descending }, name),
      scratchBytes: sortScratchBytes(lines.size),
    }
  }),
}
