// Every workload with a loss, in every mode and on each backend that is quick enough for it, against values that PyTorch computed.
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import * as cd from '../../src/index.js'
import { inputsOf } from './data.js'
import { agreement, golden, toleranceOf } from './golden.js'
import { programs } from './programs.js'
import { spec, type Workload, type WorkloadDtype, type WorkloadId, workloadIds } from './spec.js'

type Loose = (...args: readonly unknown[]) => unknown
type Mode = 'mixed' | 'reverse' | 'forward'

/** Forward mode makes one column per input entry, and the reference is plain loops: both for small work only. */
const small: readonly WorkloadId[] = ['W11', 'W12']
const quickOnReference: readonly WorkloadId[] = ['W1', 'W2', 'W3', 'W10', 'W11', 'W12', 'W14']

const withLoss = workloadIds.filter((id) => programs[id]('f32').primal !== undefined && id !== 'W13' && id !== 'W14h')
const lanes: readonly {
  readonly backend: string
  readonly make: () => cd.SyncBackend
  readonly mode: Mode
  readonly ids: readonly WorkloadId[]
}[] = [
  { backend: 'cpu', make: () => makeCpu({ verify: true }), mode: 'mixed', ids: withLoss },
  { backend: 'cpu', make: () => makeCpu({ verify: true }), mode: 'reverse', ids: withLoss },
  { backend: 'cpu', make: () => makeCpu({ verify: true }), mode: 'forward', ids: small },
  { backend: 'reference', make: reference, mode: 'mixed', ids: quickOnReference },
  { backend: 'reference', make: reference, mode: 'reverse', ids: quickOnReference },
  { backend: 'reference', make: reference, mode: 'forward', ids: small },
]

let counted = 0
for (const { backend, make, mode, ids } of lanes)
  describe(`${backend}, ${mode}`, () => {
    for (const id of ids)
      for (const dtype of ['f64', 'f32'] as const)
        if (dtype === 'f64' || (spec[id] as Workload).dtype === 'f32') {
          counted++
          it(`${id} ${dtype}`, () => {
            expect(failures(id, dtype, mode, make())).toEqual([])
          })
        }
  })

it('counts its rows: a missing one fails', () => {
  const twice = (ids: readonly WorkloadId[]): number => ids.reduce((n, id) => n + ((spec[id] as Workload).dtype === 'f32' ? 2 : 1), 0)
  expect(withLoss.length).toBe(16)
  expect(counted).toBe(2 * twice(withLoss) + 2 * twice(small) + 2 * twice(quickOnReference))
})

const failures = (id: WorkloadId, dtype: WorkloadDtype, mode: Mode, backend: cd.SyncBackend): readonly string[] => {
  const { wrt }: Workload = spec[id]
  const step = (cd.compile as unknown as (f: unknown, b: cd.SyncBackend) => Loose)(
    (cd.valueAndGrad as unknown as Loose)(programs[id](dtype).primal, { wrt, mode }),
    backend,
  )
  const inputs = inputsOf(id, dtype)
  const r = step(
    Object.fromEntries(Object.entries(inputs).map(([name, { shape, data }]) => [name, (cd.tensor as unknown as Loose)(data, shape)])),
  ) as {
    value: cd.Tensor
    grad: Readonly<Record<string, cd.Tensor>>
  }
  const got = { value: r.value.item(), ...Object.fromEntries(Object.entries(r.grad).map(([k, t]) => [k, t.data as Float64Array])) }
  return agreement(got, golden[id], toleranceOf(id, dtype)).failures
}
