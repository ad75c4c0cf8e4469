/** Random programs in a worker, which has them as data: the bits of this thread. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { type WorkerBackend, worker } from '../../src/backends/worker/index.js'
import type { TypedArray } from '../../src/core/graph/ndarray.js'
import { orderOf } from '../../src/core/graph/order.js'
import type { Program } from '../../src/core/graph/program.js'
import { startingFile } from '../backends/worker.js'
import { count } from '../depth.js'
import { generate, type Wanted } from './generator/generate.js'
import { runOn } from './generator/lanes.js'
import { argumentsOf, arrayOf, shipped } from './generator/program.js'
import { tracedOf } from './generator/traced.js'

const alone = makeCpu()
let backend: WorkerBackend
beforeAll(async () => {
  backend = worker({ start: (await startingFile(`import { serve } from 'codual/worker'\nserve()`)).start })
})
afterAll(() => backend.dispose())
const bits = (xs: readonly TypedArray[]): string =>
  xs.map((x) => Buffer.from(x.buffer, x.byteOffset, x.byteLength).toString('base64')).join(' ')

/** Programs of value and gradient: how many were run. */
const hold = async (kind: Wanted, seeds: number): Promise<number> => {
  let held = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const { program } = generate(seed, kind)
    if (program.wild === true) continue
    let traced: readonly Program[]
    try {
      const [values, derivatives] = tracedOf(program, shipped, ['mixed'])
      traced = [values, ...derivatives]
    } catch {
      // A loop of any number of steps has no way back.
      continue
    }
    const inputs = argumentsOf(program).map((x) => arrayOf(x).data)
    for (const one of traced) {
      if (orderOf(one.outputs).nodes.some((n) => n.prim?.name === 'tap')) continue
      const executable = await backend.prepare(one)
      if (bits((await executable.run(inputs.map((x) => x.slice()))) as TypedArray[]) !== bits(runOn(alone, one, inputs)))
        throw new Error(`${kind}, seed ${seed}: other bits`)
      executable.dispose()
      held++
    }
  }
  return held
}

for (const kind of ['all', 'dag', 'loops'] as const)
  it(`random programs (${kind}) have the bits of this thread`, { timeout: 900_000 }, async () => {
    const n = count(20, 150, 400)
    expect(await hold(kind, n)).toBeGreaterThan(n / 2)
  })
