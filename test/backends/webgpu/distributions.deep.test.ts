// Densities, distribution functions, quantiles and draws of codual/prob on a device, in f32, against the CPU.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { type AnyExpr, compile, compileAsync, cpu, type Tensor, tensor } from '../../../src/index.js'
import type { Distribution } from '../../../src/prob/index.js'
import { key } from '../../../src/random/index.js'
import { golden, makers, type Row } from '../../prob/table.js'
import { findLane, useLane } from './adapter.js'

const lane = findLane('lavapipe')
const rows = golden.rows.filter((r, i, all) => all.findIndex((s) => s.name === r.name) === i)
const made = (r: Row): Distribution =>
  (makers[r.name] as unknown as (...p: readonly unknown[]) => Distribution)(...r.params, { dtype: 'f32' })
describe.skipIf(lane === undefined)('on a device', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    useLane(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'] })
    await backend.adapter()
  })
  afterAll(() => backend.dispose())
  it.each(rows.map((r) => [r.name, r] as const))('%s', { timeout: 120_000 }, async (_, r) => {
    const d = made(r)
    const f = (x: AnyExpr, k: AnyExpr): unknown => ({
      logProb: d.logProb(x),
      draws: d.sample(k as never, [8]),
      ...(d.cdf === undefined ? {} : { cdf: d.cdf(x) }),
    })
    const x = tensor(r.x as number[], 'f32') as Tensor
    const want = compile(f as never, cpu())(x as never, key(4) as never) as unknown as Readonly<Record<string, Tensor>>
    const got = (await compileAsync(f as never, backend)(x as never, key(4) as never)) as unknown as Readonly<Record<string, Tensor>>
    for (const what of Object.keys(want)) {
      const [a, b] = [Array.from(got[what]!.data as unknown as number[]), Array.from(want[what]!.data as unknown as number[])]
      // Functions of the device are rounded otherwise: by some units in the last place of the terms that are summed.
      b.forEach((v, i) => {
        if (a[i] !== v) expect(Math.abs(a[i]! - v), `${what} at ${i}: ${a[i]} and ${v}`).toBeLessThan(2e-5 * Math.max(1, Math.abs(v)))
      })
    }
  })
})
