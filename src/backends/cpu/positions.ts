/** The CPU facet of positions. */
import { whole } from '../../core/extend/kernel-table.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { positions } from '../../core/ops/families.js'
import type { IotaParams } from '../../core/ops/positions.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { CpuTable } from './kernel.js'
import { emitIota, type Iota } from './wasm/iota.js'

/** Fewer numbers are written by plain loops in less time than a module takes to compile. */
const FEW = 4096

/** One row per primitive of the family `positions`. */
export const positionKernels: CpuTable<typeof positions> = {
  iota: whole((k: OpaqueKernel) => {
    const { shape, axis, dtype } = k.params as IotaParams
    if (sizeOf(shape) < FEW) return undefined
    const { before, size, after } = aroundAxis(shape, axis)
    const iota: Iota = { type: dtype as Iota['type'], last: after === 1 }
    return {
      emit: (module, name) => emitIota(module, iota, name),
      scratchBytes: 0,
      shared: { code: `iota ${JSON.stringify(iota)}`, sizes: [before, size, after] },
    }
  }),
}
