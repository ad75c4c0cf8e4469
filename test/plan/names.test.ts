/** Kernels of plans by their texts: what is equal is one object in all plans of a backend, and each part of a kernel tells it from others. */
import { describe, expect, it } from 'vitest'
import { KernelNames } from '../../src/backends/plan/body.js'
import { buildIr } from '../../src/backends/plan/ir.js'
import type { LoopKernel } from '../../src/backends/plan/kernel.js'
import { makePlan, type Plan } from '../../src/backends/plan/plan.js'
import { Identities } from '../../src/core/graph/identity.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import type { Program } from '../../src/core/graph/program.js'
import { leafPaths, type TreeDef } from '../../src/core/graph/tree.js'
import * as cd from '../../src/index.js'

const [add, mul] = [cd.add.primitive, cd.mul.primitive] as unknown as readonly AnyPrimitive[] as readonly [AnyPrimitive, AnyPrimitive]
const kernel: LoopKernel = {
  kind: 'loop',
  rank: 1,
  body: { inputs: ['f64', 'f64'], ops: [{ prim: add, params: {}, args: [0, 1], dtype: 'f64' }], results: [2] },
  inputs: ['unit', 'unit'],
  outputs: [{ dtype: 'f64', access: 'unit' }],
}
const fold = { op: 'sum', axes: [true], accumulate: false } as const
const folded = { ...kernel, outputs: [{ dtype: 'f64', access: 'zero', fold }] } as const
const op = kernel.body.ops[0]!
const body = (changed: Partial<LoopKernel['body']>): LoopKernel => ({ ...kernel, body: { ...kernel.body, ...changed } })
const output = (changed: object): LoopKernel => ({ ...folded, outputs: [{ ...folded.outputs[0], fold: { ...fold, ...changed } }] })
/** Each differs from the first, and from all others, in one part. */
const others: Readonly<Record<string, LoopKernel>> = {
  primitive: body({ ops: [{ ...op, prim: mul }] }),
  parameters: body({ ops: [{ ...op, params: { k: 1 } }] }),
  'other parameters': body({ ops: [{ ...op, params: { k: -0 } }] }),
  arguments: body({ ops: [{ ...op, args: [1, 0] }] }),
  'dtype of an operation': body({ ops: [{ ...op, dtype: 'f32' }] }),
  'dtype of an input': body({ inputs: ['f64', 'f32'] }),
  'an input more': body({ inputs: ['f64', 'f64', 'f64'] }),
  'an operation more': body({ ops: [op, op] }),
  result: body({ results: [1] }),
  rank: { ...kernel, rank: 2 },
  'walk of an input': { ...kernel, inputs: ['unit', 'zero'] },
  'walk of a result': { ...kernel, outputs: [{ dtype: 'f64', access: 'any' }] },
  'dtype of a result': { ...kernel, outputs: [{ dtype: 'f32', access: 'unit' }] },
  'two results': { ...kernel, outputs: [kernel.outputs[0]!, kernel.outputs[0]!] },
  fold: folded,
  'what is folded by': output({ op: 'max' }),
  'axes that are folded': output({ axes: [false] }),
  accumulation: output({ accumulate: true }),
}

describe('texts of kernels', () => {
  it.each(Object.keys(others))('say the %s', (what) => {
    const names = new KernelNames()
    const texts = Object.values({ itself: kernel, ...others }).map((k) => names.loop(k))
    expect(texts.filter((t) => t === names.loop(others[what]!)).length).toBe(1)
  })
  it('are those of equal kernels, whoever made them', () => {
    const names = new KernelNames()
    for (const k of Object.values({ itself: kernel, ...others })) {
      const copy = { ...k, body: { ...k.body, ops: k.body.ops.map((o) => ({ ...o, params: { ...(o.params as object) } })) } }
      const key = names.loop(k)
      expect(names.loop(copy)).toBe(key)
      expect(names.first(key, k)).toBe(k)
      expect(names.first(names.loop(copy), copy)).toBe(k)
    }
  })
})

describe('plans of one function at two sizes', () => {
  const ids = new Identities()
  const names = new KernelNames(ids)
  const f = cd.fn({ x: cd.f64('n', 3) }, ({ x }) => cd.sum(cd.mul(cd.sin(x), cd.exp(x)), { axis: 0 }))
  const planned = (n: number): Plan =>
    makePlan(buildIr(cd.toProgram(f, { n }) as unknown as Program, ids), { nodes: 64, buffers: 12 }, names)
  const [small, large] = [planned(5), planned(7)]
  it('have the same loops, as objects, and sizes of their own', () => {
    expect(small.kernels.length).toBeGreaterThan(0)
    expect(large.kernels.length).toBe(small.kernels.length)
    large.kernels.forEach((k, i) => {
      expect(k).toBe(small.kernels[i])
    })
    expect(large.steps.map((s) => s.sizes)).not.toEqual(small.steps.map((s) => s.sizes))
  })
  it('have loops of their own with other names', () => {
    const other = makePlan(buildIr(cd.toProgram(f, { n: 5 }) as unknown as Program, ids), { nodes: 64, buffers: 12 }, new KernelNames(ids))
    expect(other.kernels).toEqual(small.kernels)
    other.kernels.forEach((k, i) => {
      expect(k).not.toBe(small.kernels[i])
    })
  })
})

describe('paths of leaves', () => {
  const leaf: TreeDef = { _tag: 'Leaf' }
  const record = (...keys: readonly string[]): TreeDef => ({ _tag: 'Record', keys, items: keys.map(() => leaf) })
  it('are found once for a structure, and another structure has its own', () => {
    const [one, other] = [record('a', 'b'), record('a', 'c')]
    expect(leafPaths(one)).toBe(leafPaths(one))
    expect(leafPaths(one)).toEqual(['a', 'b'])
    expect(leafPaths(other)).toEqual(['a', 'c'])
    expect(leafPaths({ _tag: 'Tuple', items: [one, leaf, other] })).toEqual(['0.a', '0.b', '1', '2.a', '2.c'])
  })
})
