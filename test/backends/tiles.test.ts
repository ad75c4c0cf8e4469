// Loops over arrays in different orders, in tiles: what the tiles are, and that every element is where it belongs.
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { makeLoop } from '../../src/backends/plan/body.js'
import { itemBytes } from '../../src/core/graph/aval.js'
import { compile, type Tensor, tensor, transpose } from '../../src/index.js'

const tile = { side: 16, from: 2 ** 14, aligned: 512, narrow: 4, long: 64 }
/** The axes of the loop that transposes a matrix of f32. */
const sizesOf = (rows: number, columns: number): readonly number[] => {
  const at = (strides: readonly number[]) => ({ storage: 0, offset: 0, strides, dtype: 'f32' as const })
  const body = { inputs: ['f32' as const], ops: [], results: [0] }
  return makeLoop([columns, rows], body, [at([1, columns])], [at([rows, 1])], itemBytes, true, tile).sizes
}
const plain = compile as unknown as (f: unknown, backend: unknown) => (x: unknown) => Tensor
const transposed = (rows: number, columns: number, dtype: 'f32' | 'f64', backend: unknown): boolean => {
  const data = Array.from({ length: rows * columns }, (_, i) => i)
  const x = (tensor as unknown as (...args: readonly unknown[]) => Tensor)(data, [rows, columns], dtype)
  const got = plain((a: never) => transpose(a), backend)(x).data
  return data.every((_, i) => got[i] === data[(i % rows) * columns + Math.floor(i / rows)])
}

describe('tiles', () => {
  it('are near to square, and narrow where lines lie a multiple of 512 elements apart', () => {
    expect(sizesOf(1000, 1000)).toEqual([40, 40, 25, 25])
    expect(sizesOf(2048, 1024)).toEqual([8, 256, 128, 8])
    expect(sizesOf(1000, 512)).toEqual([4, 125, 128, 8])
    expect(sizesOf(100, 100)).toEqual([100, 100])
  })
  it('are square where an axis has no narrow part', () => {
    expect(sizesOf(961, 512)).toEqual([16, 31, 32, 31])
  })
  it('cover every element once', () => {
    for (const dtype of ['f32', 'f64'] as const)
      for (const [rows, columns] of [
        [512, 512],
        [1000, 512],
        [961, 512],
        [24, 1024],
        [1024, 24],
        [300, 200],
      ] as const)
        expect(transposed(rows, columns, dtype, makeCpu({ verify: dtype === 'f32' })), `${dtype} ${rows} x ${columns}`).toBe(true)
  })
})
