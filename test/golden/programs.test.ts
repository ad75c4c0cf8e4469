// Every workload, compiled for the CPU backend, agrees with values that PyTorch computed in float64.

import { describe, expect, it } from 'vitest'
import { codual } from '../../bench/codual.js'
import type { Prepare } from '../../bench/peer.js'
import { deep } from '../depth.js'
import { inputsOf } from './data.js'
import { agreement, golden, toleranceOf } from './golden.js'
import { long } from './lanes.js'
import { spec, type WorkloadDtype, type WorkloadId, workloadIds } from './spec.js'

const failuresOf = async (prepare: Prepare, id: WorkloadId, dtype: WorkloadDtype): Promise<readonly string[]> => {
  const prepared = await prepare(inputsOf(id, dtype))
  await prepared.run()
  const warm = await prepared.run()
  const { failures } = agreement(warm, golden[id], toleranceOf(id, dtype))
  prepared.dispose?.()
  return failures
}

const rows = [
  ...workloadIds.map((id) => ({ name: id as string, of: id, prepare: codual.workloads[id]! })),
  ...Object.entries(codual.variants ?? {}).map(([name, { of, prepare }]) => ({ name, of, prepare })),
]

describe('the workloads in their own dtype', () => {
  for (const { name, of, prepare } of rows) {
    it(`${name}: ${spec[of].doc}`, async () => {
      expect(await failuresOf(prepare, of, spec[of].dtype)).toEqual([])
    })
  }
})

describe('the f32 workloads in f64, inputs promoted', () => {
  for (const { name, of, prepare } of rows.filter((row) => spec[row.of].dtype === 'f32' && (deep || !long.includes(row.of)))) {
    it(`${name}: ${spec[of].doc}`, async () => {
      expect(await failuresOf(prepare, of, 'f64')).toEqual([])
    })
  }
})
