// The parameters and measures that models.py used, so that its values and gradients are those of the programs.
import { expect } from 'vitest'
import type { TensorTree } from '../../../src/core/types/tree.js'
import { type Float, type Spec, type Tensor, tensor, treeLeaves } from '../../../src/index.js'

/** For treeMap over a declaration: 0.5 sin(1 + 1.7 k), where k counts the numbers of all leaves. */
export const wave = <D extends Float>(dtype: D) => {
  let k = 0
  return ({ shape }: Spec<readonly number[], D>) => {
    const size = shape.reduce((a, b) => a * b, 1)
    const data = Float64Array.from({ length: size }, () => 0.5 * Math.sin(1 + 1.7 * k++))
    return tensor(data, shape, dtype)
  }
}

/** Holds a gradient to that of another system: for each leaf the sum of g cos(0.3 k), to `tolerance` of the whole gradient's norm. */
export const expectGradient = (gradient: TensorTree, want: { projections: number[]; norms: number[] }, tolerance: number): void => {
  let k = 0
  const got = treeLeaves(gradient).map((leaf: Tensor) => {
    let sum = 0
    for (const g of leaf.data) sum += g * Math.cos(0.3 * k++)
    return sum
  })
  expect(got.length).toBe(want.norms.length)
  got.forEach((g, i) => {
    expect(Math.abs(g - want.projections[i]!)).toBeLessThan(tolerance * Math.hypot(...want.norms))
  })
}
