/** The CPU facet of scans and sorting: each element waits for the one before, so loops go along lines, one element at a time, or one row of lines side by side. Sorting counts digits. */
import { planned, whole } from '../../core/extend/kernel-table.js'
import type { scans } from '../../core/ops/families.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import { placesIn, type RunningParams, type ScanParams, type SortParams } from '../../core/ops/scans.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { CpuTable, WholeKernelOf } from './kernel.js'
import { emitRanks, isRanked, rankScratchBytes } from './wasm/ranks.js'
import { emitRecurrence, emitRunning, type Lines, runningScratchBytes } from './wasm/running.js'
import { emitSelect, isFew, type Places, selectScratchBytes } from './wasm/select.js'
import { emitSort, type Sorted, sortScratchBytes } from './wasm/sort.js'

const linesOf = (k: OpaqueKernel): Lines => {
  const { shape, dtype } = k.args[0]!
  const { axis, reverse } = k.params as RunningParams
  return { ...aroundAxis(shape, axis), type: dtype as Lines['type'], reverse }
}
const running = (kind: Parameters<typeof emitRunning>[1]) =>
  whole<WholeKernelOf>((k: OpaqueKernel) => {
    const { exclusive = false } = k.params as Partial<ScanParams>
    const lines = linesOf(k)
    return { emit: (module, name) => emitRunning(module, kind, lines, exclusive, name), scratchBytes: runningScratchBytes(lines) }
  })

/** Lines from which on counting three digits pays. */
const LONG = 512
const selected = (k: OpaqueKernel): Places => {
  const { shape, dtype } = k.args[0]!
  const { axis, descending, ...rest } = k.params as SortParams
  const around = aroundAxis(shape, axis)
  const [from, to] = placesIn({ axis, descending, ...rest }, around.size)
  return { ...around, type: dtype as Lines['type'], descending, from, to }
}

/** One row per primitive of the family `scans`. */
export const scanKernels: CpuTable<typeof scans> = {
  prod: planned('fold'),
  cumsum: running('cumsum'),
  cumprod: running('cumprod'),
  cummax: running('cummax'),
  cummin: running('cummin'),
  linearRecurrence: whole((k: OpaqueKernel) => {
    const lines = linesOf(k)
    return { emit: (module, name) => emitRecurrence(module, lines, name), scratchBytes: runningScratchBytes(lines) }
  }),
  sort: whole((k: OpaqueKernel) => {
    const places = selected(k)
    if (isFew(places.to, places.size))
      return { emit: (module, name) => emitSelect(module, places, name), scratchBytes: selectScratchBytes(places) }
    if (isRanked(places)) return { emit: (module, name) => emitRanks(module, places, name), scratchBytes: rankScratchBytes(places) }
    // Short lines, f64 and parts of an order are left to plain loops.
    if (places.type === 'f64' || places.size < LONG || places.from > 0 || places.to < places.size) return undefined
    return {
      emit: (module, name) => emitSort(module, { ...places, type: places.type as Sorted['type'] }, name),
      scratchBytes: sortScratchBytes(places.size),
    }
  }),
}
