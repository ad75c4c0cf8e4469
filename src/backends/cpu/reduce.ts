/** The CPU facet of the reduce family: folds are part of the planner's loops. */
import { planned, whole } from '../../core/extend/kernel-table.js'
import type { reduce } from '../../core/ops/families.js'
import type { AxisParams } from '../../core/ops/layout/join.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { type CpuTable, noElements, type WholeKernelOf } from './kernel.js'
import { leadingUnits } from './units.js'
import { type Best, emitPosition } from './wasm/positions.js'

const position = (of: Best['of']) =>
  whole<WholeKernelOf>((k: OpaqueKernel) => {
    const { shape, dtype } = k.args[0]!
    if (dtype === 'bool') return undefined
    const { before, size, after } = aroundAxis(shape, (k.params as AxisParams).axis)
    if (before * after === 0) return noElements
    const best: Best = { size, after, type: dtype, of }
    return {
      emit: (module, name) => emitPosition(module, best, name),
      scratchBytes: 0,
      shared: { code: `position ${JSON.stringify(best)}`, sizes: [before] },
      units: leadingUnits(k, 0, before),
    }
  })

/** One row per primitive of the family `reduce`. */
export const reduceKernels: CpuTable<typeof reduce> = {
  sum: planned('fold'),
  max: planned('fold'),
  min: planned('fold'),
  argmax: position('max'),
  argmin: position('min'),
}
