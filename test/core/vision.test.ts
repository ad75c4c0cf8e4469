/** Layers of images beyond the golden values: conventions, sizes that are none or one, examples one by one, derivatives by differences, what does not fit. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { some } from '../depth.js'

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

const right = (f: (...xs: readonly cd.AnyExpr[]) => unknown, ...args: readonly unknown[]): void => {
  const loss = Object.defineProperty((...xs: readonly cd.AnyExpr[]) => op.sum!(op.sin!(f(...xs))), 'length', { value: args.length })
  expect(report(checkGrad(loss, { order: 1 })(...args))).toMatch(/^ok/)
}
const data = (y: unknown): readonly unknown[] => [...(cd.evaluate(y as never) as unknown as cd.Tensor).data]
/** f under vmap is f of each example. */
const oneByOne = (f: (...xs: readonly cd.AnyExpr[]) => unknown, ...args: readonly cd.Tensor[]): void => {
  const g = Object.defineProperty((...xs: readonly cd.AnyExpr[]) => f(...xs), 'length', { value: args.length })
  const many = cd.evaluate((op.vmap as unknown as (f: unknown) => (...xs: readonly unknown[]) => unknown)(g)(...args) as never)
  const each = Array.from({ length: args[0]!.shape[0]! }, (_, i) => f(...args.map((x) => op.at!(x, i) as cd.AnyExpr)))
  expect(cd.treeAllClose(many as never, cd.evaluate(op.stack!(each)) as never, { rtol: 1e-13, atol: 1e-14 })).toBe(true)
}

describe('pools', () => {
  const dilated = { window: 2, stride: 1, dilation: [2, 3], padding: 1 }
  it('with indices are those without, where they are, and the other way back', () => {
    const x = wave([2, 3, 7, 6])
    for (const o of [
      {
        window: 3,
        stride: 2,
        padding: [
          [1, 0],
          [0, 2],
        ],
      },
      dilated,
      { window: [2, 3], padding: 'same', ceilMode: true },
    ]) {
      const { values, indices } = op.maxPoolWithIndices!(x, o) as { values: cd.AnyExpr; indices: cd.AnyExpr }
      expect(data(values)).toEqual(data(op.maxPool!(x, o)))
      expect(data(op.takeAlongAxis!(op.reshape!(x, [2, 3, 42]), op.reshape!(indices, [2, 3, -1])))).toEqual(data(values))
    }
  })
  it('NaN wins, of equals the first, and what is outside never', () => {
    const low = Number.NEGATIVE_INFINITY
    const x = cd.tensor([[[low, low, 1, Number.NaN, 1]]])
    const { values, indices } = op.maxPoolWithIndices!(x, { window: 2, stride: 1, padding: 1 }) as { values: unknown; indices: unknown }
    expect(data(values)).toEqual([low, low, 1, Number.NaN, Number.NaN, 1])
    expect(data(indices)).toEqual([0, 0, 2, 3, 3, 4])
    expect(data(op.maxPool!(x, { window: 2, stride: 1, padding: 1, dilation: 2 }))).toEqual([low, 1, Number.NaN, 1, Number.NaN])
  })
  it('of no examples have none, of one position that', () => {
    expect(shape(op.maxPool!(wave([0, 2, 5]), { window: 2, dilation: 4 }))).toEqual([0, 2, 1])
    const { values, indices } = op.maxPoolWithIndices!(wave([0, 2, 5]), { window: 2 }) as { values: unknown; indices: unknown }
    expect([shape(values), shape(indices)]).toEqual([
      [0, 2, 2],
      [0, 2, 2],
    ])
    expect(shape(op.maxUnpool!(wave([0, 2, 2]), cd.zeros([0, 2, 2], 'i32'), { size: 5 }))).toEqual([0, 2, 5])
    expect(data(op.maxUnpool!([[[3]]], [[[0]]], { size: 1 }))).toEqual([3])
  })
  it('have right derivatives, and are those of each example under vmap', () => {
    const x = wave([1, 2, 5, 6])
    right((y) => op.maxPool!(y, dilated), x)
    right((y) => (op.maxPoolWithIndices!(y, dilated) as { values: cd.AnyExpr }).values, x)
    const at = op.maxPoolWithIndices!(x, { window: 2 }) as { values: cd.AnyExpr; indices: cd.AnyExpr }
    right((y) => op.maxUnpool!(y, cd.evaluate(at.indices as never), { size: [5, 6] }), cd.evaluate(at.values as never))
    oneByOne((y) => op.maxPool!(y, dilated), wave([3, 1, 2, 5, 6]))
    oneByOne((y) => (op.maxPoolWithIndices!(y, dilated) as { indices: cd.AnyExpr }).indices, wave([3, 1, 2, 5, 6]))
    oneByOne(
      (y) =>
        op.maxUnpool!(
          y,
          [
            [
              [1, 3],
              [2, 0],
            ],
          ],
          { size: 4 },
        ),
      wave([3, 1, 2, 2]),
    )
  })
})

describe('samples', () => {
  const x = wave([2, 3, 4, 5])
  it('at the positions themselves are what is there', () => {
    for (const alignCorners of [false, true])
      for (const method of ['linear', 'nearest', 'cubic'])
        for (const padding of ['zeros', 'border', 'reflection']) {
          const identity = op.broadcastTo!(
            [
              [1, 0, 0],
              [0, 1, 0],
            ],
            [2, 2, 3],
          )
          const y = op.gridSample!(x, op.affineGrid!(identity, [4, 5], { alignCorners }), { alignCorners, method, padding })
          expect(cd.treeAllClose(cd.evaluate(y) as never, x as never, { rtol: 1e-13, atol: 1e-13 })).toBe(true)
        }
  })
  it('of a line', () => {
    expect(data(op.gridSample!(cd.tensor([[[1, 2, 4]]]), cd.tensor([[[-1], [0.5], [1]]]), { alignCorners: true }))).toEqual([1, 3, 4])
    // Infinity is outside, as any number far away; NaN is no place.
    const ends = cd.tensor([[[Number.POSITIVE_INFINITY], [Number.NEGATIVE_INFINITY], [1e300], [0], [Number.NaN]]])
    const row = cd.tensor([[[1, 2, 4, 8]]])
    for (const method of ['linear', 'nearest']) {
      expect(data(op.gridSample!(row, ends, { method })).slice(0, 3)).toEqual([0, 0, 0])
      expect(data(op.gridSample!(row, ends, { method, padding: 'border' })).slice(0, 3)).toEqual([8, 1, 8])
    }
    expect(data(op.gridSample!(row, ends))[3]).toBe(3)
    expect(data(op.gridSample!(row, ends))[4]).toBeNaN()
    expect(data(op.affineGrid!(cd.tensor([[[2, 0.5]]]), 2))).toEqual([-0.5, 1.5])
  })
  it('nothing outside is read: not infinities at weight 0, not where a coordinate is far', () => {
    const far = cd.tensor([
      [
        [
          [1e30, 0],
          [-1e30, 0],
          [1, 1],
        ],
      ],
    ])
    const inf = cd.tensor([
      [
        [
          [1, 2],
          [3, Number.POSITIVE_INFINITY],
        ],
      ],
    ])
    expect(data(op.gridSample!(inf, far))).toEqual([0, 0, Number.POSITIVE_INFINITY])
  })
  it('of no examples, no places and no boxes there are none', () => {
    expect(shape(op.gridSample!(wave([0, 2, 3, 4]), wave([0, 5, 6, 2])))).toEqual([0, 2, 5, 6])
    expect(shape(op.gridSample!(x, wave([2, 0, 6, 2])))).toEqual([2, 3, 0, 6])
    expect(shape(op.roiAlign!(x, wave([0, 4]), cd.zeros([0], 'i32'), { size: [2, 3], samplingRatio: 2 }))).toEqual([0, 3, 2, 3])
    for (const y of [
      op.gridSample!(x, wave([2, 0, 6, 2])),
      op.roiAlign!(x, wave([0, 4]), cd.zeros([0], 'i32'), { size: 1, samplingRatio: 1 }),
    ])
      expect(data(y)).toEqual([])
  })
  it("ONNX's RoiAlign in half pixels: a box of one position's bins is x there", () => {
    const how = { size: [2, 3], samplingRatio: 1, aligned: true }
    const y = op.roiAlign!(x, [[1, 0, 4, 2]], [1], how)
    expect(
      cd.treeAllClose(cd.evaluate(y) as never, cd.evaluate(op.slice!(x, [1, 0, 0, 1], [2, 3, 2, 4])) as never, {
        rtol: 1e-13,
        atol: 1e-13,
      }),
    ).toBe(true)
  })
  const image = wave([1, 1, 2, 3])
  const grid = cd.tensor([[[[-0.9, 0.13], [1.23, -0.52]]]]) // biome-ignore format: one row
  it.each(some([{}, { method: 'cubic', padding: 'border' }, { method: 'nearest' }, { padding: 'reflection', alignCorners: true }], 1))(
    'of a grid have right derivatives: %o',
    (how) => right((y, g) => op.gridSample!(y, g, how), image, grid),
  )
  it.each(some(['max', 'avg'], 1))('of boxes have right derivatives: %s', (mode) =>
    right((y, b) => op.roiAlign!(y, b, [0], { size: [1, 2], samplingRatio: 2, mode }), image, cd.tensor([[-0.61, 0.52, 1.37, 1.88]])),
  )
  it('of an affine map have right derivatives', () => right((t) => op.affineGrid!(t, [2, 3]), wave([1, 2, 3])))
  it('are those of each example under vmap', () => {
    oneByOne((y, g) => op.gridSample!(y, g), wave([3, 1, 2, 3, 4]), wave([3, 1, 2, 2, 2], 1))
    oneByOne((t) => op.affineGrid!(t, [2, 3]), wave([3, 1, 2, 3]))
    oneByOne((y, b) => op.roiAlign!(y, b, [0, 0], { size: 2, samplingRatio: 1 }), wave([3, 1, 2, 3, 4]), wave([3, 2, 4], 1))
  })
})

describe('channels and sequences', () => {
  it('space and depth are each the way back of the other, in both orders', () => {
    const x = wave([2, 8, 3, 1])
    for (const order of ['DCR', 'CRD']) expect(data(op.spaceToDepth!(op.depthToSpace!(x, 2, { order }), 2, { order }))).toEqual(data(x))
    expect(data(op.depthToSpace!(x, 2, { order: 'CRD' }))).toEqual(data(op.pixelShuffle!(x, 2)))
    expect(data(op.spaceToDepth!(wave([1, 2, 4, 2]), 2, { order: 'CRD' }))).toEqual(data(op.pixelUnshuffle!(wave([1, 2, 4, 2]), 2)))
    expect(shape(op.depthToSpace!(wave([0, 8, 3, 1]), 2))).toEqual([0, 2, 6, 2])
  })
  it('a sequence reversed twice is itself; lengths beyond are the whole, below 0 nothing', () => {
    const x = wave([4, 3, 2])
    const twice = op.reverseSequence!(op.reverseSequence!(x, [4, 2, 0]), [4, 2, 0])
    expect(data(twice)).toEqual(data(x))
    expect(data(op.reverseSequence!(x, [9, 9, 9]))).toEqual(data(op.flip!(x, { axis: 0 })))
    expect(data(op.reverseSequence!(x, [-1, -5, 0]))).toEqual(data(x))
    expect(shape(op.reverseSequence!(wave([0, 2]), [0, 0]))).toEqual([0, 2])
  })
  it('keeps the dtype', () => {
    const x = cd.tensor([[1, 2], [3, 4]], 'i32') // biome-ignore format: one row
    expect((op.reverseSequence!(x, [2, 1]) as cd.AnyExpr).dtype).toBe('i32')
    expect(data(op.reverseSequence!(x, [2, 1]))).toEqual([3, 2, 1, 4])
  })
  it('have right derivatives, and are those of each example under vmap', () => {
    right((x) => op.depthToSpace!(x, 2), wave([1, 4, 1, 2]))
    right((x) => op.localResponseNorm!(x, 3, { alpha: 0.7 }), wave([1, 4, 2]))
    right((x) => op.reverseSequence!(x, [3, 2]), wave([3, 2]))
    right((x) => op.softmax!(x, { axis: [0, 1] }), wave([2, 3]))
    right((x) => op.logSoftmax!(x, { axis: [0, 1] }), wave([2, 3]))
    oneByOne((x) => op.depthToSpace!(x, 2), wave([3, 1, 4, 1, 2]))
    oneByOne((x) => op.localResponseNorm!(x, 3), wave([3, 1, 4, 2]))
    oneByOne((x) => op.reverseSequence!(x, [3, 2]), wave([3, 3, 2]))
    oneByOne((x) => op.softmax!(x, { axis: [0, 1] }), wave([3, 2, 3]))
  })
  it('a softmax over all axes is that of the flattened array', () => {
    const x = wave([2, 3, 4])
    for (const name of ['softmax', 'logSoftmax'])
      expect(data(op[name]!(x, { axis: [2, 0, 1] }))).toEqual(data(op[name]!(op.reshape!(x, [24]))))
    expect(data(op.softmax!(cd.tensor([1000, 1000]), { axis: [0] }))).toEqual([0.5, 0.5])
  })
  it('of no examples have none', () => {
    expect(shape(op.localResponseNorm!(wave([0, 3, 2]), 2))).toEqual([0, 3, 2])
    expect(shape(op.softmax!(wave([0, 3, 2]), { axis: [1, 2] }))).toEqual([0, 3, 2])
  })
  it('negative padding takes away after all padding', () => {
    expect(data(op.pad!([1, 2], [[-3, 2]]))).toEqual([0])
    expect(data(op.pad!([1, 2, 3], [[-1, 2]], { mode: 'reflect' }))).toEqual([2, 3, 2, 1])
    expect(data(op.pad!([1, 2, 3], -1))).toEqual([2])
    expect(shape(op.pad!([1, 2, 3], [[-3, 0]]))).toEqual([0])
    right((x) => op.pad!(x, [[-1, 2], [1, -1]], 0.5), wave([2, 3])) // biome-ignore format: one row
    right((x) => op.pad!(x, [[-1, 2], [1, -1]], { mode: 'reflect' }), wave([3, 3])) // biome-ignore format: one row
  })
})

describe('boxes that are kept', () => {
  const scores = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3]
  const sides = (y: number): readonly number[] => [0, y, 1, y + 1]
  const boxes = [0, 0.1, -0.1, 10, 10.1, 100].map(sides)
  it.each([
    ['by overlap', boxes, { size: 3, score: 0 }, [3, 0, 5]],
    ['by overlap and score', boxes, { size: 3, score: 0.4 }, [3, 0, -1]],
    ['at most two', boxes, { size: 2 }, [3, 0]],
    ['corners in another order', boxes.map(([a, b, c, d]) => [c, d, a, b]), { size: 3 }, [3, 0, 5]],
    ['centres', [0.5, 0.6, 0.4, 10.5, 10.6, 100.5].map((y) => [0.5, y, 1, 1]), { size: 3, format: 'cxcywh' }, [3, 0, 5]],
    ['as many as there are', boxes, {}, [3, 0, 5, -1, -1, -1]],
  ] as const)("ONNX's published: %s", (_name, given, o, want) => {
    expect(data(op.nonMaxSuppression!(given, scores, o))).toEqual(want)
  })
  it('of equal scores the first; neither NaN nor -infinity, nor boxes without area', () => {
    expect(data(op.nonMaxSuppression!([sides(0), sides(0), sides(5)], [1, 1, 1]))).toEqual([0, 2, -1])
    expect(data(op.nonMaxSuppression!([sides(0), sides(5), sides(9)], [Number.NaN, Number.NEGATIVE_INFINITY, 1]))).toEqual([2, -1, -1])
    expect(data(op.nonMaxSuppression!([[1, 1, 1, 1], [1, 1, 1, 1]], [1, 2]))).toEqual([1, 0]) // biome-ignore format: one row
  })
  it('of no boxes there are none, and of each image its own under vmap', () => {
    expect(data(op.nonMaxSuppression!(wave([0, 4]), wave([0]), { size: 2, fill: 7 }))).toEqual([7, 7])
    expect(data(op.nonMaxSuppression!(wave([0, 4]), wave([0])))).toEqual([])
    expect(data(op.nonMaxSuppression!(wave([3, 4]), wave([3]), { size: 0 }))).toEqual([])
    oneByOne((b, s) => op.nonMaxSuppression!(b, s, { iou: 0.2 }), wave([3, 6, 4]), wave([3, 6], 1))
  })
  it('passes no derivative on', () => {
    const f = (b: cd.AnyExpr): cd.AnyExpr => op.sum!(op.gather!(b, op.nonMaxSuppression!(b, [0.1, 0.9], { size: 1 })))
    expect(data((op.grad! as unknown as (f: unknown) => (x: unknown) => unknown)(f)(cd.tensor([sides(0), sides(0.1)] as never)))).toEqual([
      0, 0, 0, 0, 1, 1, 1, 1,
    ])
  })
})

describe('logits of which the unlikely are left out', () => {
  const low = Number.NEGATIVE_INFINITY
  it('equals of the least stay', () => {
    expect(data(op.topkFilter!([1, 3, 2, 2, 0], 2))).toEqual([low, 3, 2, 2, low])
    expect(data(op.toppFilter!([0, 5, 0], 0.999))).toEqual([0, 5, 0])
  })
  it('all of them stay for a k beyond, and a p of 1; one at least', () => {
    expect(data(op.topkFilter!([1, 3], 5))).toEqual([1, 3])
    expect(data(op.toppFilter!([0, 100, -100], 1))).toEqual([0, 100, -100])
    expect(data(op.toppFilter!([1, 3, 2], 0))).toEqual([low, 3, low])
    expect(data(op.toppFilter!([1, 3, 2], 0, { least: 9 }))).toEqual([1, 3, 2])
    expect(shape(op.toppFilter!(wave([2, 0]), 0.5))).toEqual([2, 0])
    expect(shape(op.topkFilter!(wave([0, 3]), 2))).toEqual([0, 3])
    expect(data(op.toppFilter!([7], 0.5))).toEqual([7])
  })
  it('have right derivatives, and are those of each example under vmap', () => {
    for (const f of [(x: unknown) => op.topkFilter!(x, 2), (x: unknown) => op.toppFilter!(x, 0.6)]) {
      right((x) => op.softmax!(f(x)), wave([2, 4]))
      oneByOne((x) => op.softmax!(f(x)), wave([3, 2, 4]))
    }
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
    ['corners of its own', () => op.resize!(x, 3, { method: 'nearest-exact', alignCorners: true }), "resize: 'nearest-exact' has its own"],
    [
      'a region without end',
      () =>
        op.resize!(x, 3, {
          coordinates: 'tfCropAndResize',
          region: [
            [0, 1],
            [0, 1e300],
          ],
        }),
      'resize: region is ',
    ],
    ['a coefficient of another method', () => op.resize!(x, 3, { cubic: -0.5 }), "resize: the method 'linear' has no coefficient."],
    ['antialias of corners', () => op.resize!(x, 3, { antialias: true, coordinates: 'alignCorners' }), 'resize: antialias is for linear'],
    ['nearest inside', () => op.resize!(x, 3, { method: 'nearest', excludeOutside: true }), 'resize: nearest positions are inside.'],
    ['a scale of 0', () => op.resize!(x, 3, { scale: 0 }), 'resize: scale is 0.'],
    ['three scales of two axes', () => op.resize!(x, 3, { scale: [1, 2, 3] }), 'resize: scale is '],
    ['a region without its coordinates', () => op.resize!(x, 3, { region: [[0, 1], [0, 1]] }), 'resize: region is '], // biome-ignore format: one row
    ['half a region', () => op.resize!(x, 3, { coordinates: 'tfCropAndResize', region: [[0, 1]] }), 'resize: region is '],
    ['a dilation of 0', () => op.maxPool!(x, { window: 2, dilation: 0 }), 'maxPool: dilation 0 is not one or two positive integers'],
    [
      'a dilated window that is too large',
      () => op.maxPool!(x, { window: 3, dilation: 3 }),
      'maxPool: the window [7, 7] with padding [0, 0, 0, 0] does not fit',
    ],
    [
      'a window with no place inside',
      () => op.maxPool!(wave([1, 1, 4]), { window: 2, dilation: 5, padding: 1 }),
      'maxPool: the window [6]',
    ],
    ['a mean of dilated windows', () => op.avgPool!(x, { window: 2, dilation: 2 }), 'avgPool: there is no option dilation'],
    ['no window', () => op.maxPoolWithIndices!(x, {}), 'maxPoolWithIndices: window undefined is not'],
    ['no positions', () => op.maxPoolWithIndices!(wave([2, 3]), { window: 2 }), 'maxPoolWithIndices: x is [2, 3].'],
    [
      'indices of another shape',
      () => op.maxUnpool!(wave([1, 1, 2]), cd.zeros([1, 1, 3], 'i32'), { size: 4 }),
      'maxUnpool: x is [1, 1, 2], the indices are [1, 1, 3].',
    ],
    ['indices that are floats', () => op.maxUnpool!(wave([1, 1, 2]), wave([1, 1, 2]), { size: 4 }), 'maxUnpool: '],
    ['no size', () => op.maxUnpool!(wave([1, 1, 2]), cd.zeros([1, 1, 2], 'i32'), {}), 'maxUnpool: the size does not follow from x.'],
    [
      'same',
      () => op.maxUnpool!(wave([1, 1, 2]), cd.zeros([1, 1, 2], 'i32'), { window: 2, padding: 'same' }),
      "maxUnpool: padding is 'same'.",
    ],
    [
      'a grid of other images',
      () => op.gridSample!(x, wave([3, 2, 2, 2])),
      'gridSample: the grid [3, 2, 2, 2] does not fit x [2, 4, 5, 6].',
    ],
    ['coordinates of volumes', () => op.gridSample!(x, wave([2, 2, 2, 3])), 'gridSample: the grid [2, 2, 2, 3] does not fit'],
    [
      'an image without positions',
      () => op.gridSample!(wave([1, 1, 0, 2]), wave([1, 2, 2, 2])),
      'gridSample: x [1, 1, 0, 2] has no positions.',
    ],
    ['another padding', () => op.gridSample!(x, wave([2, 2, 2, 2]), { padding: 'wrap' }), "gridSample: padding is 'wrap'."],
    ['another method', () => op.gridSample!(x, wave([2, 2, 2, 2]), { method: 'bilinear' }), "gridSample: there is no method 'bilinear'."],
    ['theta of another shape', () => op.affineGrid!(wave([2, 3, 3]), [2, 2]), 'affineGrid: theta is [2, 3, 3].'],
    ['the size of a volume', () => op.affineGrid!(wave([2, 2, 3]), [2, 2, 2]), 'affineGrid: the size is [2, 2, 2].'],
    [
      'boxes with their image',
      () => op.roiAlign!(x, wave([2, 5]), [0, 0], { size: 1, samplingRatio: 1 }),
      'roiAlign: x [2, 4, 5, 6], boxes [2, 5] and images [2]',
    ],
    ['no number of samples', () => op.roiAlign!(x, wave([1, 4]), [0], { size: 1 }), 'roiAlign: how many samples there are would follow'],
    ['no bins', () => op.roiAlign!(x, wave([1, 4]), [0], { samplingRatio: 1 }), 'roiAlign: the size is '],
    ['images that are floats', () => op.roiAlign!(x, wave([1, 4]), wave([1]), { size: 1, samplingRatio: 1 }), 'roiAlign: indices are i32'],
    ['another order', () => op.depthToSpace!(x, 2, { order: 'CDR' }), "depthToSpace: there is no order 'CDR'."],
    ['channels that are too few', () => op.depthToSpace!(x, 3), 'depthToSpace: 4 channels are not a multiple of 9.'],
    ['space that is not divided', () => op.spaceToDepth!(x, 2), 'spaceToDepth: 2 does not divide 5 and 6.'],
    ['neighbours of no channel', () => op.localResponseNorm!(x, 0), 'localResponseNorm: size is 0.'],
    ['no channels', () => op.localResponseNorm!([1], 2), 'localResponseNorm: x is [1].'],
    ['one axis twice', () => op.reverseSequence!(x, [1, 1], { axis: 1 }), 'reverseSequence: axis and batchAxis are both 1.'],
    ['lengths of others', () => op.reverseSequence!(x, [1, 1]), 'reverseSequence: lengths [2] do not fit x [2, 4, 5, 6].'],
    ['a number that is no sequence', () => op.reverseSequence!(1, [1]), 'reverseSequence: '],
    ['an axis twice', () => op.softmax!(x, { axis: [1, -3] }), 'softmax: '],
    ['an axis that is not there', () => op.logSoftmax!(x, { axis: [0, 4] }), 'logSoftmax: axis 4'],
    ['more taken than there is', () => op.pad!([1, 2], [[-1, -2]]), 'pad: widths [[-1,-2]] do not fit [2].'],
    [
      'boxes of five',
      () => op.nonMaxSuppression!(wave([2, 5]), [1, 2]),
      'nonMaxSuppression: boxes [2, 5] and scores [2] do not fit together.',
    ],
    ['scores of other boxes', () => op.nonMaxSuppression!(wave([2, 4]), [1]), 'nonMaxSuppression: boxes [2, 4] and scores [1]'],
    ['an overlap above 1', () => op.nonMaxSuppression!(wave([1, 4]), [1], { iou: 2 }), 'nonMaxSuppression: iou is 2.'],
    ['another format', () => op.nonMaxSuppression!(wave([1, 4]), [1], { format: 'yxyx' }), "nonMaxSuppression: there is no format 'yxyx'."],
    ['none of them', () => op.topkFilter!([1, 2], 0), 'topkFilter: k is 0.'],
    ['a probability above 1', () => op.toppFilter!([1, 2], 1.5), 'toppFilter: p is 1.5.'],
    ['no probability', () => op.toppFilter!([1, 2]), 'toppFilter: p is undefined.'],
    ['no axis', () => op.toppFilter!(1, 0.5), 'toppFilter: '],
  ] as const)('%s', (_name, call, says) => {
    expect(message(call)).toContain(says)
  })
})

describe('signals of very many positions', () => {
  const n = 70_000
  const ramp = cd.tensor(
    Float64Array.from({ length: n }, (_, i) => i),
    [1, 1, n],
  )
  const at = (y: unknown, i: number): number => (cd.evaluate(y as never) as unknown as cd.Tensor).data[i]! as number

  it('are resized to twice as many', () => {
    const y = cd.evaluate(op.resize!(ramp, 2 * n) as never) as unknown as cd.Tensor
    expect(y.shape).toEqual([1, 1, 2 * n])
    expect([0, 1, n, 2 * n - 1].map((i) => y.data[i])).toEqual([0, 0.25, n / 2 - 0.25, n - 1])
  })
  it('are pooled into more windows than that', () => {
    expect(at(op.adaptiveAvgPool!(ramp, 2 * n), 2 * n - 1)).toBe(n - 1)
    expect(at(op.adaptiveMaxPool!(ramp, 2 * n), 3)).toBe(1)
  })
})
