/** Literals at a shape are typed arrays at once: no plan is made, at any size. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

describe('evaluate of a literal at a shape', () => {
  const backend = makeCpu()
  const { evaluate } = cd.makeCodual(cd.coreRegistry, backend)
  const plans = (): number => backend.stats().calls
  it.each([
    ['zeros', cd.zeros([2, 3]), 'f64', [0, 0, 0, 0, 0, 0]],
    ['ones of f32', cd.ones([2], 'f32'), 'f32', [1, 1]],
    ['zeros of nothing', cd.zeros([0, 3]), 'f64', []],
    ['full of i32', cd.full([3], -7, 'i32'), 'i32', [-7, -7, -7]],
    ['full of bool', cd.full([2], 2, 'bool'), 'bool', [1, 1]],
    ['full of f32 rounds', cd.full([2], 0.1, 'f32'), 'f32', [Math.fround(0.1), Math.fround(0.1)]],
    ['full of -0', cd.full([2], -0), 'f64', [-0, -0]],
    ['full of NaN', cd.full([1], Number.NaN), 'f64', [Number.NaN]],
    ['a literal', cd.full([], 3), 'f64', [3]],
  ] as const)('%s', (_, x, dtype, wanted) => {
    const before = plans()
    const t = evaluate(x) as cd.Tensor
    expect([t.shape, t.dtype]).toEqual([x.shape, dtype])
    expect([...(t.data as Float64Array)]).toEqual(wanted)
    expect(plans()).toBe(before)
  })
  it('beside what needs a plan, in the tree that was given; each owned by the caller', () => {
    const zeros = cd.zeros([2])
    const { b, c, w } = evaluate({ b: zeros, c: zeros, w: cd.mul(cd.tensor([1, 2]), 2) }) as Record<'b' | 'c' | 'w', cd.Tensor>
    expect([b.toArray(), w.toArray()]).toEqual([
      [0, 0],
      [2, 4],
    ])
    ;(b.data as Float64Array)[0] = 5
    expect(c.toArray()).toEqual([0, 0])
  })
})
