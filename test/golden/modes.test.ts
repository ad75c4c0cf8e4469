// Every workload with a loss, in every mode, on the CPU backend, against values that PyTorch computed.

import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { deep } from '../depth.js'
import { dtypesOf, failures, long, type Mode, withLoss } from './lanes.js'
import type { WorkloadId } from './spec.js'

/** Forward mode makes one column per input entry: for small inputs only. */
const small: readonly WorkloadId[] = ['W11', 'W12', 'W14']

const lanes: readonly { readonly mode: Mode; readonly ids: readonly WorkloadId[] }[] = [
  { mode: 'mixed', ids: withLoss },
  { mode: 'reverse', ids: withLoss },
  { mode: 'forward', ids: small },
]

let counted = 0
for (const { mode, ids } of lanes)
  describe(`cpu, ${mode}`, () => {
    for (const id of ids)
      for (const dtype of dtypesOf(id)) {
        counted++
        if (deep || !long.includes(id))
          it(`${id} ${dtype}`, () => {
            expect(failures(id, dtype, mode, makeCpu({ verify: true }))).toEqual([])
          })
      }
  })

it('counts its rows: a missing one fails', () => {
  // 16 losses, of which two are in f64 alone.
  expect(withLoss.length).toBe(16)
  expect(counted).toBe(2 * (2 * 14 + 2) + 2 * 3)
})
