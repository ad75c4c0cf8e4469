/** Arguments that are views on lavapipe: transposed, every second element of a larger array, broadcast. Elements outside a view are NaN. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { coreRegistry } from '../../../src/packs/all.js'
import { findLane, useLane } from './adapter.js'
import { chosen, declares, entries, promiseOf, runAll } from './conformance-suite.js'
import { caseOf, type View, views } from './suite-cases.js'
import { judge } from './suite-measure.js'

const lane = findLane('lavapipe')

/** Loops read views themselves: each view is tried, for functions of one number and special functions in turn. Other primitives are given copies: one view shows it. */
const inLoops = ['elementwise', 'special', 'compare', 'reduce', 'layout', 'map']
const rows = entries
  .filter((entry) => entry.dtype === 'f32' && entry.prim.args.includes('float'))
  .map((entry, i) => ({
    entry,
    views: !inLoops.includes(entry.family)
      ? (['sliced'] as const)
      : entry.family === 'special' || (entry.family === 'elementwise' && entry.prim.args.length === 1)
        ? [views[i % views.length]!]
        : views,
  }))

describe.skipIf(lane === undefined)('views on lavapipe', () => {
  let backend: WebGpuBackend
  beforeAll(async () => {
    useLane(lane!)
    backend = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
    await backend.adapter()
  })
  afterAll(() => backend.dispose())

  for (const { entry, views: own } of rows)
    it(`${entry.family}: ${entry.prim.name}`, async () => {
      const { prim, dtype } = entry
      const tried = chosen(entry, 'one small sample').flatMap((i) => own.map((view: View) => ({ i, view })))
      const got = await runAll(
        backend,
        tried.map(({ i, view }) => caseOf(prim, prim.samples[i]!, dtype, { view })),
      )
      tried.forEach(({ i, view }, k) => {
        const make = (wide: boolean, fill?: (x: number) => number) => caseOf(prim, prim.samples[i]!, dtype, { wide, fill, view })
        expect(judge(make, got[k]!, promiseOf(entry)).failures, `sample ${i}, ${view}`).toEqual([])
      })
    })

  it('every primitive that takes f32 has a row, and loops of each family read every view', () => {
    const names = rows.map((r) => r.entry.prim.name)
    for (const { primitive } of coreRegistry.rules.values())
      if (primitive.args.includes('float') && declares(primitive, 'f32')) expect(names).toContain(primitive.name)
    for (const family of inLoops)
      for (const view of views)
        expect(rows.some((r) => r.entry.family === family && (r.views as readonly View[]).includes(view))).toBe(true)
  })
})
