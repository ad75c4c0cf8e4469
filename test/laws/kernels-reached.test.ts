/** Random programs reach the kernels that are chosen by sizes and strides: the forms of products, and arrays that are read turned. */
import { expect, it, vi } from 'vitest'
import { products } from '../../src/backends/cpu/products.js'
import { KernelNames } from '../../src/backends/plan/body.js'
import type { LoopKernel } from '../../src/backends/plan/kernel.js'
import { count as depthOf } from '../depth.js'
import { generate } from './generator/generate.js'
import { cpuLanes } from './generator/lanes.js'
import { shipped } from './generator/program.js'
import { tracedOf } from './generator/traced.js'

it('reach every form of products, and loops that read arrays turned', () => {
  const seen: Record<string, number> = {}
  const count = (what: string): void => {
    seen[what] = (seen[what] ?? 0) + 1
  }
  const { formOf } = products
  vi.spyOn(products as { formOf: typeof formOf }, 'formOf').mockImplementation((...xs) => {
    const form = formOf(...xs)
    count(`${form}, ${xs[0]}`)
    return form
  })
  const { loop } = KernelNames.prototype
  vi.spyOn(KernelNames.prototype, 'loop').mockImplementation(function (this: KernelNames, k: LoopKernel) {
    if (k.inputs.includes('turned')) count('turned')
    return loop.call(this, k)
  })
  const backend = cpuLanes().lanes[0]!.backend
  const seeds = depthOf(250, 600, 2000)
  for (let seed = 1; seed <= seeds; seed++) {
    const { program } = generate(seed)
    if (program.wild === true) continue
    const [values, derivatives] = tracedOf(program, shipped, ['reverse'])
    for (const p of [values, ...derivatives]) backend.prepare(p).dispose()
  }
  vi.restoreAllMocks()
  for (const form of ['vector', 'few rows', 'few columns', 'blocks'])
    for (const dtype of ['f32', 'f64']) expect(seen[`${form}, ${dtype}`] ?? 0, `${form}, ${dtype}`).toBeGreaterThan(0)
  expect(seen.turned ?? 0).toBeGreaterThan(seeds / 10)
})
