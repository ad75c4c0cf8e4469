/** The CPU facet of scans and sorting: each element waits for the one before, so loops go along lines, one element at a time, or one row of lines side by side. Sorting counts digits. */
import { planned, whole } from '../../core/extend/kernel-table.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { scans } from '../../core/ops/families.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import { placesIn, type RunningParams, type ScanParams, type SortParams } from '../../core/ops/scans.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { type CpuTable, noElements, type WholeKernel, type WholeKernelOf } from './kernel.js'
import { leadingUnits } from './units.js'
import type { Module } from './wasm/encoder.js'
import { emitRanks, isRanked, rankScratchBytes } from './wasm/ranks.js'
import { areBeside, emitRecurrence, emitRunning, type Lines, runningScratchBytes } from './wasm/running.js'
import { emitSelect, isFew, type Places, selectScratchBytes } from './wasm/select.js'
import { emitSort, isDealt, type Sorted, sortScratchBytes } from './wasm/sort.js'

type Emit = (module: Module, lines: Lines, name: string) => void
/** The kernel of lines along an axis of its first argument; `code` names it, but for what lines are. */
const alongLines = (k: OpaqueKernel, code: string, emit: Emit): WholeKernel => {
  const { shape, dtype } = k.args[0]!
  const { axis, reverse } = k.params as RunningParams
  const around = aroundAxis(shape, axis)
  if (sizeOf(shape) === 0) return noElements
  const lines: Lines = { type: dtype as Lines['type'], reverse, beside: areBeside(around) }
  return {
    emit: (module, name) => emit(module, lines, name),
    scratchBytes: runningScratchBytes(lines, around),
    shared: { code: `${code} ${JSON.stringify(lines)}`, sizes: [around.before, around.size, around.after] },
    units: leadingUnits(k, 0, around.before),
  }
}
const running = (kind: Parameters<typeof emitRunning>[1]) =>
  whole<WholeKernelOf>((k: OpaqueKernel) => {
    const { exclusive = false } = k.params as Partial<ScanParams>
    return alongLines(k, `${kind} ${exclusive}`, (module, lines, name) => emitRunning(module, kind, lines, exclusive, name))
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
  linearRecurrence: whole((k: OpaqueKernel) => alongLines(k, 'linearRecurrence', emitRecurrence)),
  sort: whole((k: OpaqueKernel) => {
    const places = selected(k)
    if (isFew(places.to, places.size))
      return { emit: (module, name) => emitSelect(module, places, name), scratchBytes: selectScratchBytes(places) }
    if (isRanked(places)) return { emit: (module, name) => emitRanks(module, places, name), scratchBytes: rankScratchBytes(places) }
    // Short lines, f64 and parts of an order are left to plain loops.
    if (places.type === 'f64' || places.size < LONG || places.from > 0 || places.to < places.size) return undefined
    if (places.before * places.after === 0) return noElements
    const of: Sorted = { type: places.type, descending: places.descending, dealt: isDealt(places.size) }
    return {
      emit: (module, name) => emitSort(module, of, name),
      scratchBytes: sortScratchBytes(places.size),
      shared: { code: `sort ${JSON.stringify(of)}`, sizes: [places.before, places.size, places.after] },
      units: leadingUnits(k, 0, places.before),
    }
  }),
}
