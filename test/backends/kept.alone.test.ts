/** Tensors that stay and are forgotten give their memory back, some time after the engine has found them gone. */
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

it('a hundred of 0.8 MB, one after the other, take a small part of 80', async () => {
  const backend = makeCpu()
  for (let k = 0; k < 100; k++) {
    await cd.onDevice(cd.tensor(new Float64Array(100_000).fill(k)), backend)
    if (k % 5 === 4) globalThis.gc!()
    await setImmediate()
  }
  expect(backend.memoryBytes()).toBeLessThan(20e6)
})
