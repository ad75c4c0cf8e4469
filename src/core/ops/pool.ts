/** Pooling over windows of the last two axes. A maximum gives its position too, so that its derivative is a scatter by index. */
import { badShape, showShape } from '../errors/explain.js'
import { type Aval, aval, sameAval } from '../graph/aval.js'
import { boolean, type Codec, naturals, record } from '../graph/codec.js'
import { type Primitive, primitive, type SampleArg } from '../graph/primitive.js'
import { checkGeometry, sizeGiven, windowed } from './conv.js'

export interface PoolParams {
  readonly window: readonly number[]
  readonly stride: readonly number[]
  /** top, bottom, left, right */
  readonly padding: readonly number[]
  /** Height and width of x, where x is not an argument. */
  readonly size?: readonly number[]
  /** Averages divide by the whole window, padding included. */
  readonly countIncludePad?: boolean
}
const codec: Codec<PoolParams> = record<PoolParams>(
  { window: naturals, stride: naturals, padding: naturals, size: naturals, countIncludePad: boolean },
  'size',
  'countIncludePad',
)

const out = (x: Aval, p: PoolParams, op: string): Aval => {
  if (x.shape.length !== 4) badShape(op, [x.shape], `needs rank 4, got ${showShape(x.shape)}.`, 'x is [n, c, h, w].')
  checkGeometry(op, { window: p.window, stride: p.stride }, p.padding)
  const [n, c, h, w] = x.shape as readonly [number, number, number, number]
  const oh = windowed(h, p.window[0]!, p.stride[0]!, p.padding[0]!, p.padding[1]!, 1)
  const ow = windowed(w, p.window[1]!, p.stride[1]!, p.padding[2]!, p.padding[3]!, 1)
  if (
    oh < 1 ||
    ow < 1 ||
    p.padding[0]! >= p.window[0]! ||
    p.padding[1]! >= p.window[0]! ||
    p.padding[2]! >= p.window[1]! ||
    p.padding[3]! >= p.window[1]!
  )
    badShape(
      op,
      [x.shape, p.window],
      `the window ${showShape(p.window)} with padding ${showShape(p.padding)} does not fit x ${showShape(x.shape)}.`,
      'padding must be smaller than the window, and the window at most x.',
    )
  return aval([n, c, oh, ow], x.dtype)
}
const planeShape = (y: Aval, p: PoolParams, op: string): Aval => {
  if (y.shape.length !== 4) badShape(op, [y.shape], `needs rank 4, got ${showShape(y.shape)}.`, 'yBar is [n, c, oh, ow].')
  return aval([y.shape[0]!, y.shape[1]!, ...sizeGiven(op, p.size)], y.dtype)
}

/** Calls f(window, positions of it inside x's plane) for every window of every plane. */
const eachWindow = (
  x: readonly number[],
  y: readonly number[],
  p: PoolParams,
  f: (y: number, plane: number, positions: readonly number[]) => void,
): void => {
  const [n, c, h, w] = x as readonly [number, number, number, number]
  const [, , oh, ow] = y as readonly [number, number, number, number]
  for (let q = 0; q < n * c; q++)
    for (let i = 0; i < oh; i++)
      for (let j = 0; j < ow; j++) {
        const positions: number[] = []
        // Only what lies inside the plane: a window may be much larger.
        const [top, left] = [i * p.stride[0]! - p.padding[0]!, j * p.stride[1]! - p.padding[2]!]
        const [bottom, right] = [Math.min(h, top + p.window[0]!), Math.min(w, left + p.window[1]!)]
        for (let r = Math.max(0, top); r < bottom; r++) for (let s = Math.max(0, left); s < right; s++) positions.push(r * w + s)
        f((q * oh + i) * ow + j, q * h * w, positions)
      }
}

const cases: readonly (readonly [x: readonly number[], p: PoolParams])[] = [
  [[1, 2, 4, 6], { window: [2, 2], stride: [2, 2], padding: [0, 0, 0, 0] }],
  [[2, 1, 5, 4], { window: [3, 2], stride: [1, 2], padding: [1, 1, 0, 1] }],
  [[0, 1, 2, 2], { window: [2, 2], stride: [1, 1], padding: [0, 0, 0, 0] }],
]
const arg = (shape: readonly number[]): SampleArg => ({ shape })
const yShape = ([x, p]: (typeof cases)[number]): readonly number[] => out(aval(x, 'f64'), p, 'pool').shape
const show = (p: PoolParams): string =>
  `window ${showShape(p.window)} stride ${showShape(p.stride)}${p.padding.some((q) => q !== 0) ? ` padding ${showShape(p.padding)}` : ''}`
/** Positions that windows could give: valid ones for a test. */
const indexValues = (c: (typeof cases)[number]): readonly number[] => {
  const values: number[] = []
  eachWindow(c[0], yShape(c), c[1], (y, _plane, positions) => {
    values[y] = positions[y % positions.length]!
  })
  return values
}

export const maxPoolPrimitive: Primitive<'maxPool', PoolParams, readonly ['float']> = primitive({
  name: 'maxPool',
  unbounded: false,
  family: 'nn',
  args: ['float'],
  multi: true,
  codec,
  dtypes: ['float'],
  shapeRule: ([x], p) => {
    const y = out(x!, p, 'maxPool')
    return [y, aval(y.shape, 'i32')]
  },
  meaning: ([x], p, [y, index]) => {
    eachWindow(x!.shape, y!.shape, p, (o, plane, positions) => {
      let best = positions[0]!
      for (const q of positions) {
        const [a, b] = [x!.data[plane + q]!, x!.data[plane + best]!]
        if (a > b || (Number.isNaN(a) && !Number.isNaN(b))) best = q
      }
      y!.data[o] = x!.data[plane + best]!
      index!.data[o] = best
    })
  },
  cost: 8,
  samples: cases.map(([x, p]) => ({ args: [arg(x)], params: p })),
  showParams: show,
  source: 'LeCun et al. 1998',
})

/** yBar scattered to the positions `index` of each plane. */
export const unpoolPrimitive: Primitive<'unpool', PoolParams, readonly ['float', 'int']> = primitive({
  name: 'unpool',
  unbounded: false,
  gaps: () => true,
  family: 'nn',
  args: ['float', 'int'],
  codec,
  dtypes: ['float', 'i32'],
  shapeRule: ([y, index], p) => {
    const plane = planeShape(y!, p, 'unpool')
    if (index!.shape.join() !== y!.shape.join() || index!.dtype !== 'i32' || !sameAval(out(plane, p, 'unpool'), y!))
      badShape('unpool', [y!.shape, index!.shape], `yBar ${showShape(y!.shape)} and index ${showShape(index!.shape)} do not fit together.`)
    return plane
  },
  meaning: ([y, index], p, [x]) => {
    const plane = p.size![0]! * p.size![1]!
    const per = y!.shape[2]! * y!.shape[3]!
    const sum = new Float64Array(x!.data.length)
    for (let o = 0; o < y!.data.length; o++) sum[Math.floor(o / per) * plane + index!.data[o]!]! += y!.data[o]!
    x!.data.set(sum as never)
  },
  cost: 8,
  samples: cases.map((c) => ({
    args: [arg(yShape(c)), { shape: yShape(c), dtype: 'i32' as const, values: indexValues(c) }],
    params: { ...c[1], size: c[0].slice(2) },
  })),
  showParams: show,
  source: 'adjoint of poolGather',
})

/** The elements of each plane at the positions `index`. */
export const poolGatherPrimitive: Primitive<'poolGather', PoolParams, readonly ['float', 'int']> = primitive({
  name: 'poolGather',
  unbounded: false,
  family: 'nn',
  args: ['float', 'int'],
  codec,
  dtypes: ['float', 'i32'],
  shapeRule: ([x, index], p) => {
    const y = out(x!, p, 'poolGather')
    if (index!.shape.join() !== y.shape.join() || index!.dtype !== 'i32')
      badShape('poolGather', [x!.shape, index!.shape], `index ${showShape(index!.shape)} does not fit x ${showShape(x!.shape)}.`)
    return y
  },
  meaning: ([x, index], _p, [y]) => {
    const plane = x!.shape[2]! * x!.shape[3]!
    const per = y!.shape[2]! * y!.shape[3]!
    for (let o = 0; o < y!.data.length; o++) y!.data[o] = x!.data[Math.floor(o / per) * plane + index!.data[o]!]!
  },
  cost: 4,
  samples: cases.map((c) => ({ args: [arg(c[0]), { shape: yShape(c), dtype: 'i32' as const, values: indexValues(c) }], params: c[1] })),
  showParams: show,
  source: 'gather by a pooling index',
})

export const avgPoolPrimitive: Primitive<'avgPool', PoolParams, readonly ['float']> = primitive({
  name: 'avgPool',
  unbounded: false,
  family: 'nn',
  args: ['float'],
  codec,
  dtypes: ['float'],
  shapeRule: ([x], p) => out(x!, p, 'avgPool'),
  meaning: ([x], p, [y]) => {
    eachWindow(x!.shape, y!.shape, p, (o, plane, positions) => {
      let s = 0
      for (const q of positions) s += x!.data[plane + q]!
      y!.data[o] = s / (p.countIncludePad === true ? p.window[0]! * p.window[1]! : positions.length)
    })
  },
  cost: 8,
  samples: [
    ...cases.map(([x, p]) => ({ args: [arg(x)], params: p })),
    { args: [arg(cases[1]![0])], params: { ...cases[1]![1], countIncludePad: true } },
  ],
  showParams: show,
  source: 'LeCun et al. 1998',
})

/** Each cotangent spread evenly over its window. */
export const avgPoolInputPrimitive: Primitive<'avgPoolInput', PoolParams, readonly ['float']> = primitive({
  name: 'avgPoolInput',
  unbounded: false,
  gaps: () => true,
  family: 'nn',
  args: ['float'],
  codec,
  dtypes: ['float'],
  shapeRule: ([y], p) => {
    const plane = planeShape(y!, p, 'avgPoolInput')
    const pooled = out(plane, p, 'avgPoolInput')
    if (!sameAval(pooled, y!))
      badShape('avgPoolInput', [y!.shape, pooled.shape], `yBar is ${showShape(y!.shape)}, the pool gives ${showShape(pooled.shape)}.`)
    return plane
  },
  meaning: ([y], p, [x]) => {
    const sum = new Float64Array(x!.data.length)
    eachWindow(x!.shape, y!.shape, p, (o, plane, positions) => {
      const s = y!.data[o]! / (p.countIncludePad === true ? p.window[0]! * p.window[1]! : positions.length)
      for (const q of positions) sum[plane + q]! += s
    })
    x!.data.set(sum as never)
  },
  cost: 8,
  samples: [false, true].flatMap((countIncludePad) =>
    cases.map((c) => ({ args: [arg(yShape(c))], params: { ...c[1], size: c[0].slice(2), ...(countIncludePad && { countIncludePad }) } })),
  ),
  showParams: show,
  source: 'adjoint of avgPool',
})
