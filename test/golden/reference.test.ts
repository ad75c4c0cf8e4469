// Every workload on the reference: meanings and rules alone, without plan or kernels, against values that PyTorch computed.

import { describe, expect, it } from 'vitest'
import { reference } from '../../src/backends/reference/index.js'
import { deep, sample } from '../depth.js'
import { dtypesOf, failures, long, type Mode, withLoss, withoutLoss } from './lanes.js'
import { type WorkloadId, workloadIds } from './spec.js'

/** Forward mode makes one column per input entry: for small inputs only. */
const small: readonly WorkloadId[] = ['W11', 'W12', 'W14']

const lanes: readonly { readonly mode: Mode; readonly ids: readonly WorkloadId[] }[] = [
  { mode: 'mixed', ids: withLoss },
  { mode: 'reverse', ids: withLoss },
  { mode: 'forward', ids: small },
  { mode: 'whole', ids: withoutLoss },
]

const rows: string[] = []
for (const { mode, ids } of lanes)
  describe(`reference, ${mode}`, () => {
    for (const id of ids)
      for (const dtype of dtypesOf(id)) {
        rows.push(`${id} ${dtype} ${mode}`)
        if (!long.includes(id) || (deep && sample(long, 2).includes(id)))
          it(`${id} ${dtype}`, () => {
            expect(failures(id, dtype, mode, reference())).toEqual([])
          })
      }
  })

it('counts its rows: a missing one fails', () => {
  // 16 losses, of which two are in f64 alone; W13, W14h, M15s and M15l are what they are.
  expect(withLoss.length).toBe(16)
  expect(withoutLoss).toEqual(['W13', 'W14h', 'M15s', 'M15l'])
  expect(rows.length).toBe(2 * (2 * 14 + 2) + 2 * 3 + 2 * 4)
  for (const id of workloadIds)
    for (const dtype of dtypesOf(id)) expect(rows.filter((r) => r.startsWith(`${id} ${dtype} `))).not.toEqual([])
})
