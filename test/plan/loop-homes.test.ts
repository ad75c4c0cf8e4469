/** Where the carries of loops live: no state is written over while something reads it. WebGPU runs the same loops in test/backends/webgpu/loops.test.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import type { Program } from '../../src/core/graph/program.js'
import * as cd from '../../src/index.js'
import { loopCases } from './loop-cases.js'

const backends = [makeCpu({ verify: true, simd: true }), makeCpu({ verify: true, simd: false }), reference()] as const
const leaves = (t: unknown): number[] =>
  cd.isTensor(t) ? [...(t.data as Float64Array)] : (Object.values(t as object) as readonly unknown[]).flatMap(leaves)
const run = cd.compile as unknown as (f: unknown, b: unknown) => (x: readonly number[]) => unknown

describe.each(backends.map((b, i) => [['SIMD', 'plain', 'reference'][i]!, b] as const))('%s', (_, backend) => {
  it.each(loopCases.map((c) => [c.name, c] as const))('%s', (_name, { f, x, wanted }) => {
    const got = leaves(run(f, backend)(x))
    expect(got.length).toBe(wanted.length)
    wanted.forEach((w, i) => {
      expect(Math.abs(got[i]! - w)).toBeLessThan(1e-9 * Math.max(1, Math.abs(w)))
    })
  })
  it('the gradient of a gradient through loops of loops', () => {
    const read = cd.fromJSON(JSON.parse(readFileSync(join(import.meta.dirname, 'second-order-loop.json'), 'utf8')))
    if (read._tag === 'Left') throw new Error(JSON.stringify(read.left))
    const program = read.right as unknown as Program
    const inputs = program.inputs.map((n) => Float64Array.from({ length: n.aval.size }, (_, i) => Math.sin(1.3 * i + 0.4)))
    const [y] = backend.prepare(program).run(inputs)
    expect(y![0]).toBeCloseTo(-3.551452357, 8)
    expect(y![1]).toBeCloseTo(-3.144777658, 8)
  })
})

describe('the plan of a loop', () => {
  const plan = (f: unknown): readonly cd.Explanation['loops'][number][] =>
    (run(f, backends[0]) as unknown as { readonly explain: (x: readonly number[]) => cd.Explanation }).explain([1, 2, 3]).loops
  it('copies nothing where each next state is made when the last one is dead', () => {
    const { sin, mul, scan } = cd as unknown as Readonly<Record<'sin' | 'mul' | 'scan', (...xs: readonly unknown[]) => readonly never[]>>
    const [loop] = plan((x: never) => scan((c: never) => [mul(sin(c), 2), null], x, null, { length: 5 })[0])
    expect(loop!.end - loop!.first).toBe(1)
  })
})
