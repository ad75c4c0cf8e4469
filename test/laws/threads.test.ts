/** Random programs whose steps are cut as finely as they can be: several threads compute the bits of one, whatever the order of the parts. */
import { afterAll, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import type { Program } from '../../src/core/graph/program.js'
import { FINE_CHUNK, threaded } from '../backends/threads.js'
import { count } from '../depth.js'
import { generate, type Wanted } from './generator/generate.js'
import { runOn } from './generator/lanes.js'
import { argumentsOf, arrayOf, shipped } from './generator/program.js'
import { tracedOf } from './generator/traced.js'

const TRIES = 40
const alone = makeCpu({ chunk: FINE_CHUNK })
const crews = [threaded(2, { poison: true }), threaded(3, { turn: 3, delay: 200 }), threaded(2, { turn: 1, delay: 1000 })]
afterAll(() => {
  for (const { backend } of crews) backend.endThreads()
})
const bits = (xs: readonly { readonly buffer: ArrayBufferLike; readonly byteOffset: number; readonly byteLength: number }[]): string =>
  xs.map((x) => Buffer.from(x.buffer, x.byteOffset, x.byteLength).toString('base64')).join(' ')

/** Programs of value and gradient, and how many of their steps were cut. */
const hold = (kind: Wanted, seeds: number): number => {
  let cut = 0
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
      const expected = bits(runOn(alone, one, inputs))
      const { backend, crew } = crews[seed % crews.length]!
      const executable = backend.prepare(one)
      cut += Number(/share (\d+)/.exec(executable.explain().threads!)![1])
      // Until another thread has a part of it, which it does not where the caller is too quick.
      const before = crew().helped()
      for (let k = 0; k < 3 || (k < TRIES && crew().helped() === before); k++)
        if (bits(executable.run(inputs)) !== expected) throw new Error(`${kind}, seed ${seed}: other bits`)
      executable.dispose()
    }
  }
  return cut
}

it('random programs have the bits of one thread', { timeout: 900_000 }, () => {
  const n = count(24, 200, 600)
  expect(hold('all', n)).toBeGreaterThan(n / 2)
})
it('wide ones too', { timeout: 900_000 }, () => {
  const n = count(10, 60, 150)
  expect(hold('dag', n)).toBeGreaterThan(n / 5)
})
it('and loops', { timeout: 900_000 }, () => {
  const n = count(12, 100, 300)
  expect(hold('loops', n)).toBeGreaterThan(n / 2)
})
it('other threads took part', { timeout: 300_000 }, async () => {
  // On a busy machine the caller may be through before another thread wakes.
  for (const since = performance.now(); performance.now() - since < 120_000 && crews.some(({ crew }) => crew().helped() <= 3); ) {
    hold('all', crews.length)
    await new Promise((later) => setTimeout(later, 20))
  }
  for (const { crew } of crews) expect(crew().helped()).toBeGreaterThan(3)
})
