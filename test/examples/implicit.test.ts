/** The layer that is a fixed point: its gradient is that of many layers and of differences, in less memory, and it learns. */
import { describe, expect, it } from 'vitest'
import * as implicit from '../../examples/implicit.js'
import { normals } from '../../examples/normal.js'
import { derivative } from '../../src/check/index.js'
import { compile, evaluate, mul, sum, tensor, treeMap, treeReduce, treeZip } from '../../src/index.js'
import { pictured } from './told.js'

describe('implicit', () => {
  it('learns two moons; the gradient is that of 400 layers, in less memory', async () => {
    const { result, text } = await pictured((log, out) => implicit.main(log, { steps: 200, out }))
    expect(result.losses.length).toBe(200)
    expect(result.losses.at(-1)!).toBeLessThan(result.losses[0]! / 5)
    expect(result.apart).toBeLessThan(1e-7)
    expect(result.bytes.implicit).toBeLessThan(result.bytes.unrolled / 2)
    expect(result.accuracy).toBeGreaterThan(0.95)
    expect(text).toMatch(/^the gradient beside that of 400 layers: at most /m)
  })

  it('the gradient is that of differences of the loss', () => {
    const data = implicit.moons(12, 5)
    const p = implicit.initial(5)
    const normal = normals(6)
    const direction = treeMap((leaf) => tensor(Array.from(leaf.data, normal), leaf.shape), p)
    const loss = compile(implicit.lossBy('implicit'))
    const ahead = (h: number) =>
      treeZip((leaf, d) => tensor(leaf.data.map((v, i) => v + h * d.data[i]!), leaf.shape), p, direction) // biome-ignore format: one row
    const differences = derivative((h) => loss({ p: ahead(h), ...data }).item(), 0.01)
    const gradient = implicit.gradientBy('implicit')({ p, ...data })
    const slope = treeReduce((s, v) => s + v.item(), evaluate(treeZip((g, d) => sum(mul(g, d)), gradient, direction)), 0)
    expect(Math.abs(slope - differences.value)).toBeLessThan(1e-6)
  })
})
