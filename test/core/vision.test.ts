/** Layers of images beyond the golden values: conventions, sizes that are none or one, examples one by one, derivatives by differences, what does not fit. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type Any = (...xs: readonly unknown[]) => never
const op = cd as unknown as Readonly<Record<string, Any>>
const wave = (shape: readonly number[], k = 0): cd.Tensor =>
  cd.tensor(
    Float64Array.from({ length: shape.reduce((n, d) => n * d, 1) }, (_, i) => Math.sin(1 + k + 3 * i)),
    [...shape],
  ) as unknown as cd.Tensor
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.message
    throw e
  }
  return 'no error'
}
const shape = (y: unknown): readonly number[] => (y as cd.AnyExpr).shape

describe('resize', () => {
  it('of no examples has none, and of one position is that', () => {
    expect(shape(op.resize!(wave([0, 2, 3, 4]), [2, 5], { method: 'cubic', coordinates: 'asymmetric' }))).toEqual([0, 2, 2, 5])
    for (const coordinates of ['halfPixel', 'halfPixelSymmetric', 'pytorchHalfPixel', 'asymmetric', 'alignCorners', 'tfCropAndResize'])
      for (const method of ['nearest', 'linear', 'cubic']) {
        const y = cd.evaluate(op.resize!(cd.tensor([[[7]]]), 3, { method, coordinates })) as unknown as cd.Tensor
        for (const v of y.data) expect(Number(v)).toBeCloseTo(7, 12)
      }
  })
  it("'nearest-exact' is half pixels, rounded to the later of two", () => {
    const x = wave([1, 1, 5, 7])
    const how = { method: 'nearest', coordinates: 'halfPixel', rounding: 'roundPreferCeil' }
    for (const size of [
      [3, 4],
      [10, 9],
    ])
      expect(
        cd.treeAllClose(
          cd.evaluate(op.resize!(x, size, how)) as never,
          cd.evaluate(op.resize!(x, size, { method: 'nearest-exact' })) as never,
        ),
      ).toBe(true)
  })
})

describe('what does not fit is one error', () => {
  const x = wave([2, 4, 5, 6])
  it.each([
    ['other coordinates', () => op.resize!(x, 3, { coordinates: 'half_pixel' }), "resize: coordinates is 'half_pixel'."],
    [
      'coordinates and corners',
      () => op.resize!(x, 3, { alignCorners: true, coordinates: 'halfPixel' }),
      'resize: alignCorners and coordinates',
    ],
    ['a rounding of another method', () => op.resize!(x, 3, { rounding: 'floor' }), "resize: the method 'linear' does not round."],
    [
      'a rounding of its own',
      () => op.resize!(x, 3, { method: 'nearest-exact', rounding: 'floor' }),
      "resize: 'nearest-exact' has its own",
    ],
    ['a coefficient of another method', () => op.resize!(x, 3, { cubic: -0.5 }), "resize: the method 'linear' has no coefficient."],
    ['antialias of corners', () => op.resize!(x, 3, { antialias: true, coordinates: 'alignCorners' }), 'resize: antialias is of linear'],
    ['nearest inside', () => op.resize!(x, 3, { method: 'nearest', excludeOutside: true }), 'resize: nearest positions are inside.'],
    ['a scale of 0', () => op.resize!(x, 3, { scale: 0 }), 'resize: scale is 0.'],
    ['three scales of two axes', () => op.resize!(x, 3, { scale: [1, 2, 3] }), 'resize: scale is '],
    ['a region without its coordinates', () => op.resize!(x, 3, { region: [[0, 1], [0, 1]] }), 'resize: region is '], // biome-ignore format: one row
    ['half a region', () => op.resize!(x, 3, { coordinates: 'tfCropAndResize', region: [[0, 1]] }), 'resize: region is '],
  ] as const)('%s', (_name, call, says) => {
    expect(message(call)).toContain(says)
  })
})
