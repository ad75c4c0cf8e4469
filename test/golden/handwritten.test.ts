// Loops written by hand agree with the golden values to 1e-10: data, specification and golden values fit each other.

import { describe, expect, it } from 'vitest'
import { handwritten } from '../../bench/peers/handwritten.js'
import { deep } from '../depth.js'
import { inputsOf } from './data.js'
import { agreement, golden, toleranceOf } from './golden.js'
import { long } from './lanes.js'
import { workloadIds } from './spec.js'

/** These take seconds in plain loops; their programs are the ones of W15s and M15s, and W5 and W6 are products too. */
const slow: readonly string[] = ['W15l', 'M15l', 'W6', 'W5']

describe('hand-written loops in f64', () => {
  for (const id of workloadIds.filter((name) => !slow.includes(name) && (deep || !long.includes(name)))) {
    it(`compute ${id}`, async () => {
      const prepared = await handwritten.workloads[id]!(inputsOf(id, 'f64'))
      await prepared.run()
      const second = await prepared.run()
      expect(agreement(second, golden[id], toleranceOf(id, 'f64')).failures).toEqual([])
    })
  }
})
