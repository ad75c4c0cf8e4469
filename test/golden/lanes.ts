// Lanes: a workload in one dtype, in one mode, on one backend, against values that PyTorch computed.
import * as cd from '../../src/index.js'
import { inputsOf } from './data.js'
import { agreement, golden, type Outputs, toleranceOf } from './golden.js'
import { programs } from './programs.js'
import { spec, type Workload, type WorkloadDtype, type WorkloadId, workloadIds } from './spec.js'

type Loose = (...args: readonly unknown[]) => unknown
type Result = { readonly C: cd.Tensor } | { readonly value: cd.Tensor; readonly grad: Readonly<Record<string, cd.Tensor>> }

/** `whole`: the derivative that the workload itself asks for; otherwise value and gradient of its loss in that mode. */
export type Mode = 'mixed' | 'reverse' | 'forward' | 'whole'

/** Workloads whose golden values are their loss's value and gradient; the others have derivatives of their own, or none. */
export const withLoss: readonly WorkloadId[] = workloadIds.filter(
  (id) => programs[id]('f32').primal !== undefined && id !== 'W13' && id !== 'W14h',
)
export const withoutLoss: readonly WorkloadId[] = workloadIds.filter((id) => !withLoss.includes(id))

/** These take seconds where nothing is fast, and what they hold is held by smaller ones too: tried in depth. */
export const long: readonly WorkloadId[] = ['W4', 'W5', 'W5d', 'W6', 'W7', 'W8', 'W9', 'W15s', 'W15l', 'M15l']

/** Its own dtype, and f64 with the inputs promoted. */
export const dtypesOf = (id: WorkloadId): readonly WorkloadDtype[] => ((spec[id] as Workload).dtype === 'f32' ? ['f64', 'f32'] : ['f64'])

const outputsOf = (r: Result): Outputs =>
  'C' in r
    ? { C: r.C.data as Float64Array }
    : { value: r.value.item(), ...Object.fromEntries(Object.entries(r.grad).map(([k, t]) => [k, t.data as Float64Array])) }

/** What disagrees: one line each. */
export const failures = (id: WorkloadId, dtype: WorkloadDtype, mode: Mode, backend: cd.SyncBackend): readonly string[] => {
  const { wrt }: Workload = spec[id]
  const { primal, whole } = programs[id](dtype)
  const step = (cd.compile as unknown as (f: unknown, b: cd.SyncBackend) => Loose)(
    mode === 'whole' ? whole : (cd.valueAndGrad as unknown as Loose)(primal, { wrt, mode }),
    backend,
  )
  const inputs = Object.entries(inputsOf(id, dtype)).map(([name, { shape, data }]) => [name, (cd.tensor as unknown as Loose)(data, shape)])
  return agreement(outputsOf(step(Object.fromEntries(inputs)) as Result), golden[id], toleranceOf(id, dtype)).failures
}
