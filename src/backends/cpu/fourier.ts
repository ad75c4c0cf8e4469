/** The CPU facet of Fourier transforms: one kernel for all lengths of the same radices, which follows a table. */
import { whole } from '../../core/extend/kernel-table.js'
import type { fourier } from '../../core/ops/families.js'
import type { FourierParams } from '../../core/ops/fourier.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { fourierPlan } from './fourier-plan.js'
import type { CpuTable, WholeKernelOf } from './kernel.js'
import type { FloatName } from './wasm/float.js'
import { emitFourier, type FourierKind } from './wasm/fourier.js'

const transforming = (kind: FourierKind) =>
  whole<WholeKernelOf>((k: OpaqueKernel) => {
    const { shape, dtype } = kind === 'realTransposed' ? k.results[0]! : k.args[0]!
    const type = dtype as FloatName
    const { before, size, after } = aroundAxis(shape, (k.params as FourierParams).axis)
    const { radices, table, scratchBytes } = fourierPlan({ kind, type, outer: before, n: size, inner: after })
    return {
      emit: (module, name) => emitFourier(module, { kind, type, radices }, name),
      scratchBytes,
      shared: { code: `fourier ${kind} ${type} ${radices}`, table },
    }
  })

/** One row per primitive of the family `fourier`. */
export const fourierKernels: CpuTable<typeof fourier> = {
  dft: transforming('complex'),
  realDft: transforming('real'),
  realDftTransposed: transforming('realTransposed'),
}
