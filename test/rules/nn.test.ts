import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asNode } from '../../src/core/graph/expr.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import { makeTensor } from '../../src/core/graph/tensor.js'
import type { ConvOptions, PoolOptions } from '../../src/core/types/shape-windows.js'
import { batchStatistics } from '../../src/library/networks/norms.js'
import { untyped } from './untyped.js'
import { errorOf, evaluated, gradientOf, nested, numbersOf, random } from './values.js'

const {
  avgPool,
  conv,
  maxPool,
  sum,
  mul,
  square,
  batchNorm,

  crossEntropy,
  dropout,
  embedding,
  layerNorm,
  linear,
  logSoftmax,
  softmax,
} = untyped

const inf = Number.POSITIVE_INFINITY
const nan = Number.NaN
type Four = [number, number, number, number]
const whole = (shape: readonly number[], next: () => number): number[] =>
  Array.from({ length: sizeOf(shape) }, () => Math.floor(9 * next()) - 4)
const tensor = (data: readonly number[], shape: readonly number[]) => makeTensor(data as number[], shape as number[], 'f64')
const plus = (x: ArrayLike<number>): number[] => Array.from(x, (v) => v + 0)

/** The padded plane, written out; then windows of it: another road than the meaning's, which skips what is outside. */
const padded = (x: readonly number[], [n, c, h, w]: Four, [t, b, l, r]: Four, fill: number) => {
  const [hp, wp] = [h + t + b, w + l + r]
  const data = new Array<number>(n * c * hp * wp).fill(fill)
  for (let q = 0; q < n * c; q++)
    for (let i = 0; i < h; i++) for (let j = 0; j < w; j++) data[(q * hp + i + t) * wp + j + l] = x[(q * h + i) * w + j]!
  return { data, hp, wp }
}
interface Geometry {
  readonly stride: [number, number]
  readonly padding: [[number, number], [number, number]]
  readonly dilation: [number, number]
  readonly groups: number
}
const naiveConv = (x: readonly number[], xs: Four, k: readonly number[], ks: Four, g: Geometry) => {
  const { data, hp, wp } = padded(x, xs, g.padding.flat() as Four, 0)
  const [n, c] = xs
  const [o, ci, kh, kw] = ks
  const oh = Math.floor((hp - (g.dilation[0] * (kh - 1) + 1)) / g.stride[0]) + 1
  const ow = Math.floor((wp - (g.dilation[1] * (kw - 1) + 1)) / g.stride[1]) + 1
  const y: number[] = []
  for (let b = 0; b < n; b++)
    for (let q = 0; q < o; q++)
      for (let i = 0; i < oh; i++)
        for (let j = 0; j < ow; j++) {
          let s = 0
          for (let l = 0; l < ci; l++)
            for (let u = 0; u < kh; u++)
              for (let v = 0; v < kw; v++) {
                const channel = Math.floor((q * g.groups) / o) * ci + l
                const row = i * g.stride[0] + u * g.dilation[0]
                const column = j * g.stride[1] + v * g.dilation[1]
                s += data[((b * c + channel) * hp + row) * wp + column]! * k[((q * ci + l) * kh + u) * kw + v]!
              }
          y.push(s)
        }
  return { y, shape: [n, o, oh, ow] }
}

const small = (max: number, min = 1) => fc.integer({ min, max })
const geometries = fc
  .record({
    n: small(2, 0),
    groups: small(3),
    ci: small(2),
    perGroup: small(2),
    h: small(5),
    w: small(5),
    kh: small(3),
    kw: small(3),
    stride: fc.tuple(small(3), small(3)),
    dilation: fc.tuple(small(2), small(2)),
    padding: fc.tuple(fc.tuple(small(2, 0), small(2, 0)), fc.tuple(small(2, 0), small(2, 0))),
    seed: fc.nat(),
  })
  .filter(
    (g) =>
      g.h + g.padding[0][0] + g.padding[0][1] >= g.dilation[0] * (g.kh - 1) + 1 &&
      g.w + g.padding[1][0] + g.padding[1][1] >= g.dilation[1] * (g.kw - 1) + 1,
  )
  .map((g) => {
    const next = random(g.seed)
    const xs: Four = [g.n, g.groups * g.ci, g.h, g.w]
    const ks: Four = [g.groups * g.perGroup, g.ci, g.kh, g.kw]
    return { g: g as Geometry, xs, ks, x: whole(xs, next), k: whole(ks, next) }
  })

describe('conv is its definition', () => {
  it('for any geometry: whole numbers, so exactly', () => {
    fc.assert(
      fc.property(geometries, ({ g, xs, ks, x, k }) => {
        const want = naiveConv(x, xs, k, ks, g)
        const { stride, padding, dilation, groups } = g
        const got = evaluated(conv(tensor(x, xs), tensor(k, ks), { stride, padding, dilation, groups }))
        expect(got.shape).toEqual(want.shape)
        expect(plus(got.data)).toEqual(plus(want.y))
      }),
      { numRuns: 200 },
    )
  })
  it('and its gradients are those of the definition, which is linear in each argument', () => {
    fc.assert(
      fc.property(geometries, ({ g, xs, ks, x, k }) => {
        const unit = (n: number, at: number) => Array.from({ length: n }, (_, i) => (i === at ? 1 : 0))
        const total = (u: readonly number[], v: readonly number[]) =>
          naiveConv(u, xs, v, ks, g).y.reduce((s, y, i) => s + y * ((i % 5) - 2), 0)
        const { stride, padding, dilation, groups } = g
        const loss = (u: unknown, v: unknown) => {
          const y = conv(u, v, { stride, padding, dilation, groups })
          const shape = y.shape as readonly number[]
          return mul(
            y,
            tensor(
              Array.from({ length: sizeOf(shape) }, (_, i) => (i % 5) - 2),
              shape,
            ),
          )
        }
        expect(plus(gradientOf((u) => loss(u, tensor(k, ks)), xs, x))).toEqual(plus(x.map((_, i) => total(unit(x.length, i), k))))
        expect(plus(gradientOf((v) => loss(tensor(x, xs), v), ks, k))).toEqual(plus(k.map((_, i) => total(x, unit(k.length, i)))))
      }),
      { numRuns: 30 },
    )
  })
  it('with each way to say the padding and the stride', () => {
    const x = tensor(whole([1, 1, 5, 6], random(1)), [1, 1, 5, 6])
    const k = tensor(whole([1, 1, 3, 3], random(2)), [1, 1, 3, 3])
    const shape = (options: ConvOptions) => asNode(conv(x, k, options)).shape.slice(2)
    expect(shape({})).toEqual([3, 4])
    expect(shape({ padding: 'valid', stride: 2 })).toEqual([2, 2])
    expect(shape({ padding: 'same' })).toEqual([5, 6])
    expect(shape({ padding: 'same', stride: 2 })).toEqual([3, 3])
    expect(shape({ padding: 'same', dilation: 2 })).toEqual([5, 6])
    expect(shape({ padding: 1 })).toEqual([5, 6])
    expect(shape({ padding: [0, 1] })).toEqual([3, 6])
    expect(
      shape({
        padding: [
          [0, 1],
          [2, 0],
        ],
      }),
    ).toEqual([4, 6])
    expect(shape({ padding: [1, [0, 2]] as never })).toEqual([5, 6])
    expect(shape({ stride: [2, 3] })).toEqual([2, 2])
    expect(shape({ dilation: [2, 1] })).toEqual([1, 4])
  })
  it('over one axis', () => {
    const x = [[[1, 2, 3, 4]]]
    expect(nested(conv(x, [[[1, 1]]]))).toEqual([[[3, 5, 7]]])
    expect(nested(conv(x, [[[1, 1]]], { stride: 2, padding: 1 }))).toEqual([[[1, 5, 4]]])
    expect(nested(conv(x, [[[1, 1]]], { dilation: [2], padding: 'same' }))).toEqual([[[2, 4, 6, 3]]])
    expect(nested(conv(x, [[[1, 1]]], { padding: [[2, 0]] }))).toEqual([[[0, 1, 3, 5, 7]]])
    expect(
      nested(
        conv(
          [
            [
              [1, 2],
              [3, 4],
            ],
          ],
          [[[1, 1]], [[2, 2]]],
          { groups: 2 },
        ),
      ),
    ).toEqual([[[3], [14]]])
  })
})

describe('pools are their definitions', () => {
  it('for any geometry', () => {
    fc.assert(
      fc.property(geometries, fc.boolean(), ({ g, xs, ks, x }, countIncludePad) => {
        const window: [number, number] = [ks[2], ks[3]]
        const padding = g.padding.map((p, i) => p.map((d) => Math.min(d, window[i]! - 1))) as Geometry['padding']
        const [h, w] = [xs[2] + padding[0][0] + padding[0][1], xs[3] + padding[1][0] + padding[1][1]]
        fc.pre(h >= window[0] && w >= window[1])
        const options: PoolOptions = { window, stride: g.stride, padding }
        const values = padded(x, xs, padding.flat() as Four, -inf)
        const [oh, ow] = [Math.floor((h - window[0]) / g.stride[0]) + 1, Math.floor((w - window[1]) / g.stride[1]) + 1]
        const windows: number[][] = []
        for (let q = 0; q < xs[0] * xs[1]; q++)
          for (let i = 0; i < oh; i++)
            for (let j = 0; j < ow; j++) {
              const list: number[] = []
              for (let u = 0; u < window[0]; u++)
                for (let v = 0; v < window[1]; v++) list.push(values.data[(q * h + i * g.stride[0] + u) * w + j * g.stride[1] + v]!)
              windows.push(list)
            }
        const largest = evaluated(maxPool(tensor(x, xs), options))
        expect(largest.shape).toEqual([xs[0], xs[1], oh, ow])
        expect(plus(largest.data)).toEqual(windows.map((l) => Math.max(...l) + 0))
        const inside = windows.map((l) => l.filter((v) => v !== -inf))
        expect(plus(evaluated(avgPool(tensor(x, xs), { ...options, countIncludePad })).data)).toEqual(
          inside.map((l, i) => l.reduce((s, v) => s + v, 0) / (countIncludePad ? windows[i]!.length : l.length) + 0),
        )
      }),
      { numRuns: 200 },
    )
  })
  it('over one axis', () => {
    const line = [[[1, 3, 2, 5, 4]]]
    expect(nested(maxPool(line, { window: 2 }))).toEqual([[[3, 5]]])
    expect(nested(maxPool(line, { window: [2], stride: 1, padding: [[0, 1]] }))).toEqual([[[3, 3, 5, 5, 4]]])
    expect(nested(avgPool(line, { window: 3, stride: [2], padding: 1 }))).toEqual([[[2, 10 / 3, 4.5]]])
    expect(nested(avgPool(line, { window: 3, stride: 2, padding: 1, countIncludePad: true }))).toEqual([[[4 / 3, 10 / 3, 3]]])
    expect(nested(maxPool(line, { window: 2, padding: 'same' }))).toEqual([[[3, 5, 4]]])
    expect(gradientOf((x) => maxPool(x, { window: 2 }), [1, 1, 5], line.flat(2))).toEqual([0, 1, 0, 1, 0])
    expect(errorOf(() => maxPool(line, { window: [2, 2] }))).toBe('BadInput')
    expect(errorOf(() => conv(line, [[[1]]], { stride: [1, 1] }))).toBe('BadInput')
    expect(errorOf(() => conv(line, [[[1]]], { padding: [1, 1] }))).toBe('BadInput')
  })
  it('the first of equals gets the cotangent, and NaN wins', () => {
    expect(gradientOf((x) => maxPool(x, { window: 2 }), [1, 1, 2, 2], [3, 3, 3, 3])).toEqual([1, 0, 0, 0])
    expect(
      numbersOf(
        maxPool(
          [
            [
              [
                [1, nan],
                [inf, 2],
              ],
            ],
          ],
          { window: 2 },
        ),
      ),
    ).toEqual([nan])
    expect(numbersOf(maxPool([[[[-inf, -inf]]]], { window: [1, 2] }))).toEqual([-inf])
    expect(gradientOf((x) => square(maxPool(x, { window: 2, stride: 1 })), [1, 1, 2, 3], [1, 5, 2, 0, 3, 4])).toEqual([0, 20, 0, 0, 0, 0])
  })
})

describe('softmax and its logarithm', () => {
  it('values', () => {
    expect(
      nested(
        softmax([
          [0, 0],
          [1000, 1000],
          [-1000, -1000],
        ]),
      ),
    ).toEqual([
      [0.5, 0.5],
      [0.5, 0.5],
      [0.5, 0.5],
    ])
    expect(
      nested(
        softmax(
          [
            [0, 1],
            [0, -inf],
          ],
          { axis: 0 },
        ),
      ),
    ).toEqual([
      [0.5, 1],
      [0.5, 0],
    ])
    expect(numbersOf(logSoftmax([-1000, 0]))).toEqual([-1000, 0])
    expect(numbersOf(logSoftmax([1, 2, 3]))[0]).toBeCloseTo(-2.4076059644443806, 15)
    expect(evaluated(softmax(Float32Array.of(1, 2))).dtype).toBe('f32')
  })
  it('gradients are finite where entries are far apart or masked', () => {
    const [y0, y1] = numbersOf(softmax([1, 2])) as [number, number]
    const g = gradientOf((x) => mul(softmax(x), [1, 0]), [2], [1, 2])
    expect(g[0]).toBeCloseTo(y0 * y1, 15)
    expect(g[1]).toBeCloseTo(-y0 * y1, 15)
    expect(gradientOf((x) => mul(softmax(x), [1, 0]), [2], [1000, -1000]).map((v) => v + 0)).toEqual([0, 0])
    expect(gradientOf((x) => mul(logSoftmax(x), [1, 0]), [2], [-1000, 1000])).toEqual([1, -1])
    expect(gradientOf((x) => mul(softmax(x), [1, 0]), [2], [0, -inf]).map((v) => v + 0)).toEqual([0, 0])
  })
})

describe('losses and layers', () => {
  const logits = [
    [1, 2, 3],
    [1, 0, -1],
  ]
  const classes = makeTensor([2, 0], [2], 'i32')
  it('crossEntropy of classes and of probabilities', () => {
    const each = numbersOf(crossEntropy(logits, classes, { reduction: 'none' }))
    each.forEach((v) => {
      expect(v).toBeCloseTo(0.4076059644443804, 15)
    })
    const oneHot = [
      [0, 0, 1],
      [1, 0, 0],
    ]
    expect(numbersOf(crossEntropy(logits, oneHot, { reduction: 'none' }))).toEqual(each)
    expect(nested(crossEntropy(logits, [2, 0]))).toBeCloseTo(0.4076059644443804, 15)
    expect(nested(crossEntropy(logits, classes, { reduction: 'sum' }))).toBeCloseTo(2 * 0.4076059644443804, 15)
    const turned = [
      [1, 1],
      [2, 0],
      [3, -1],
    ]
    expect(numbersOf(crossEntropy(turned, classes, { axis: 0, reduction: 'none' }))).toEqual(each)
    expect(nested(crossEntropy([[0, 0]], [7]))).toBeCloseTo(0, 15)
    expect(nested(crossEntropy([[0, -inf]], [0]))).toBeCloseTo(0, 15)
  })
  it('its gradient is softmax less the target, over the count', () => {
    const y = numbersOf(softmax(logits))
    const want = y.map((p, i) => (p - (i === 2 || i === 3 ? 1 : 0)) / 2)
    for (const t of [
      classes,
      [
        [0, 0, 1],
        [1, 0, 0],
      ],
    ])
      gradientOf((x) => crossEntropy(x, t), [2, 3], logits.flat()).forEach((v, i) => {
        expect(v).toBeCloseTo(want[i]!, 15)
      })
  })
  it('linear, embedding, dropout', () => {
    expect(nested(linear([[1, 2]], [[3], [4]], [5]))).toEqual([[16]])
    expect(nested(linear([[1, 2]], [[3], [4]]))).toEqual([[11]])
    expect(
      nested(
        embedding(
          [
            [1, 2],
            [3, 4],
          ],
          [[1], [0]],
        ),
      ),
    ).toEqual([[[3, 4]], [[1, 2]]])
    expect(gradientOf((t) => embedding(t, [1, 1]), [2, 2], [1, 2, 3, 4])).toEqual([0, 0, 2, 2])
    expect(nested(dropout([1, nan, 3], [true, false, true], 0.5))).toEqual([2, 0, 6])
    expect(gradientOf((x) => dropout(x, [1, 0], 0.75), [2], [1, 2])).toEqual([4, 0])
    expect(evaluated(dropout(Float32Array.of(1), [true], 0)).dtype).toBe('f32')
  })
})

/** Mean and variance of a list. */
const moments = (list: readonly number[]) => {
  const m = list.reduce((s, v) => s + v, 0) / list.length
  return { m, v: list.reduce((s, x) => s + (x - m) ** 2, 0) / list.length }
}
describe('normalisation', () => {
  const shape: Four = [2, 3, 2, 2]
  const next = random(7)
  const x = Array.from({ length: 24 }, () => 4 * next() - 1)
  const channel = (i: number) => Math.floor(i / 4) % 3
  const members = (c: number) => x.filter((_, i) => channel(i) === c)
  const [scale, bias] = [
    [2, 3, 5],
    [-1, 0, 1],
  ]

  it('batchNorm by the statistics of each channel, or by given ones', () => {
    const y = numbersOf(batchNorm(tensor(x, shape), { scale, bias, eps: 0.1 }))
    y.forEach((got, i) => {
      const { m, v } = moments(members(channel(i)))
      expect(got).toBeCloseTo(((x[i]! - m) / Math.sqrt(v + 0.1)) * scale[channel(i)]! + bias[channel(i)]!, 13)
    })
    const { mean, variance } = batchStatistics(tensor(x, shape) as never)
    const [means, variances] = [numbersOf(mean), numbersOf(variance)]
    expect(asNode(mean).shape).toEqual([3])
    ;[0, 1, 2].forEach((c) => {
      expect(means[c]).toBeCloseTo(moments(members(c)).m, 14)
      expect(variances[c]).toBeCloseTo(moments(members(c)).v, 14)
    })
    expect(numbersOf(batchNorm(tensor(x, shape), { scale, bias, eps: 0.1, mean, variance }))).toEqual(y)
    expect(
      numbersOf(
        batchNorm(
          [
            [1, 10],
            [3, 30],
          ],
          { mean: [1, 10], variance: [4, 25], eps: 0 },
        ),
      ),
    ).toEqual([0, 0, 1, 4])
    expect(
      nested(
        batchNorm(
          [
            [1, 1],
            [2, 4],
          ],
          { axis: 0, eps: 0 },
        ),
      ),
    ).toEqual([
      [nan, nan],
      [-1, 1],
    ])
    expect(nested(batchNorm([[1], [1]]))).toEqual([[0], [0]])
  })
  it('layerNorm over one axis and over several', () => {
    const last = numbersOf(layerNorm(tensor(x, [8, 3]), { scale, bias }))
    last.forEach((got, i) => {
      const { m, v } = moments(x.slice(3 * Math.floor(i / 3), 3 * Math.floor(i / 3) + 3))
      expect(got).toBeCloseTo(((x[i]! - m) / Math.sqrt(v + 1e-5)) * scale[i % 3]! + bias[i % 3]!, 12)
    })
    const example = numbersOf(layerNorm(tensor(x, shape), { axis: [1, 2, 3], eps: 0 }))
    example.forEach((got, i) => {
      const { m, v } = moments(x.slice(12 * Math.floor(i / 12), 12 * Math.floor(i / 12) + 12))
      expect(got).toBeCloseTo((x[i]! - m) / Math.sqrt(v), 12)
    })
    expect(numbersOf(layerNorm(tensor(x, [2, 3, 4]), { axis: 1, scale }))).toEqual(
      numbersOf(layerNorm(tensor(x, [2, 3, 4]), { axis: 1, scale: [[[2], [3], [5]]] })),
    )
  })
  it('gradients sum to zero over what is normalised, and are finite differences', () => {
    const loss = (u: unknown) =>
      mul(layerNorm(u, { scale: [1, 2, 3] }), [
        [1, 0, 2],
        [0, 3, 1],
      ])
    const at = x.slice(0, 6)
    const g = gradientOf(loss, [2, 3], at)
    expect(g[0]! + g[1]! + g[2]!).toBeCloseTo(0, 12)
    const h = 1e-5
    const value = (i: number, d: number): number =>
      nested(
        sum(
          loss(
            tensor(
              at.map((v, k) => (k === i ? v + d : v)),
              [2, 3],
            ),
          ),
        ),
      ) as number
    g.forEach((got, i) => {
      expect(got).toBeCloseTo((value(i, h) - value(i, -h)) / (2 * h), 7)
    })
    const b = gradientOf((u) => square(batchNorm(u)), [3, 2], at)
    expect(b[0]! + b[2]! + b[4]!).toBeCloseTo(0, 12)
    expect(gradientOf((u) => layerNorm(u), [3], [2, 2, 2]).every(Number.isFinite)).toBe(true)
  })
})

describe('errors', () => {
  const x = [
    [
      [
        [1, 2],
        [3, 4],
      ],
    ],
  ]
  it('name what is wrong', () => {
    expect(errorOf(() => conv(x, [[[[1, 2, 3]]]]))).toBe('ShapeMismatch')
    expect(errorOf(() => conv(x, [[[[1]], [[1]]]]))).toBe('ShapeMismatch')
    expect(errorOf(() => conv(x, [1]))).toBe('ShapeMismatch')
    expect(errorOf(() => conv(x, x, { groups: 2 }))).toBe('ShapeMismatch')
    expect(errorOf(() => conv(x, x, { groups: 0 }))).toBe('BadInput')
    expect(errorOf(() => conv(x, x, { stride: 0 }))).toBe('BadInput')
    expect(errorOf(() => conv(x, x, { dilation: 1.5 }))).toBe('BadInput')
    expect(errorOf(() => conv(x, x, { padding: -1 }))).toBe('BadInput')
    expect(errorOf(() => conv(x, x, { padding: [1, 2, 3] }))).toBe('BadInput')
    expect(errorOf(() => conv(x, x, { padding: 'full' as never }))).toBe('BadInput')
    expect(errorOf(() => maxPool(x, { window: 3 }))).toBe('ShapeMismatch')
    expect(errorOf(() => maxPool(x, { window: 2, padding: 2 }))).toBe('ShapeMismatch')
    expect(errorOf(() => maxPool([1], { window: 2 }))).toBe('ShapeMismatch')
    expect(errorOf(() => avgPool(x, { window: 0 }))).toBe('BadInput')
    expect(errorOf(() => avgPool(x, { window: 2, stride: 0 }))).toBe('BadInput')
    expect(errorOf(() => softmax([1], { axis: 1 }))).toBe('BadInput')
    expect(errorOf(() => softmax(1))).toBe('BadInput')
    expect(errorOf(() => crossEntropy([[1, 2]], [0, 1]))).toBe('ShapeMismatch')
    expect(errorOf(() => crossEntropy([[1, 2]], [0.5]))).toBe('DTypeMismatch')
    expect(errorOf(() => dropout([1], [1], 1))).toBe('BadInput')
    expect(errorOf(() => layerNorm([[1, 2]], { axis: 2 }))).toBe('BadInput')
    expect(errorOf(() => layerNorm([[1, 2]], { scale: [1, 2, 3] }))).toBe('ShapeMismatch')
    expect(errorOf(() => batchNorm(x, { scale: [1, 2] }))).toBe('ShapeMismatch')
    expect(errorOf(() => batchNorm(x, { mean: [0] }))).toBe('BadInput')
    expect(errorOf(() => batchNorm([1]))).toBe('BadInput')
  })
  it('in words', () => {
    expect(() => conv(x, [[[[1]], [[1]]]])).toThrow('conv: x [1, 1, 2, 2] has 1 channel, k [1, 2, 1, 1] with 1 group wants 2.')
    expect(() => crossEntropy([[1, 2]], [0, 1])).toThrow('crossEntropy: targets [2] do not fit logits [1, 2].')
  })
})
