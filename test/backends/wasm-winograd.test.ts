/*
 * The 3 x 3 kernels by minimal filtering against plain loops in f64, forward and input gradient.
 *
 * Bounds. With n channels, an entry goes through 4 roundings of the transformed kernel, 2 of the transformed image, n of the sums of products
 * and 4 of the last transform (2 more where it is added to y), so its error is at most (n + 12) u times what the same sums give of absolute
 * values: |A^T| [sum |G| |g| |G^T| * |B^T| |d| |B|] |A|, which the loops here compute tile by tile.
 */
import { describe, expect, it } from 'vitest'
import { convOutput } from '../../src/backends/cpu/wasm/conv-shape.js'
import { byWinograd, type Direction, emitWinograd, winogradScratchBytes } from '../../src/backends/cpu/wasm/conv-winograd.js'
import { emitWinogradKernel, winogradKernelScratchBytes } from '../../src/backends/cpu/wasm/conv-winograd-kernel.js'
import { relaxedSimd } from '../../src/backends/cpu/wasm/features.js'
import { some } from '../depth.js'
import { below, type ConvShape, type Emitter, random, run, visit } from './conv-harness.js'

type Kind = Direction | 'kernel'
const emitters: Readonly<Record<Kind, Emitter>> = {
  forward: {
    emit: (m, o, name) => emitWinograd(m, o, 'forward', name),
    scratch: (_, s) => winogradScratchBytes(s, 'forward'),
    out: 0,
  },
  input: {
    emit: (m, o, name) => emitWinograd(m, o, 'input', name),
    scratch: (_, s) => winogradScratchBytes(s, 'input'),
    out: 1,
  },
  kernel: { emit: emitWinogradKernel, scratch: (_, s) => winogradKernelScratchBytes(s), out: 2 },
}
const kinds = ['forward', 'input', 'kernel'] as const

/** |B^T|, |G| and |A^T|. */
const [B, G, A] = [
  [
    [1, 0, 1, 0],
    [0, 1, 1, 0],
    [0, 1, 1, 0],
    [0, 1, 0, 1],
  ],
  [
    [1, 0, 0],
    [0.5, 0.5, 0.5],
    [0.5, 0.5, 0.5],
    [0, 0, 1],
  ],
  [
    [1, 1, 1, 0],
    [0, 1, 1, 1],
  ],
] as const
type Matrix = readonly (readonly number[])[]
/** T x T^T, x flat and square. */
const both = (T: Matrix, x: ArrayLike<number>): number[] => {
  const n = T[0]!.length
  return T.flatMap((r) =>
    T.map((c) => {
      let sum = 0
      for (let i = 0; i < n; i++) if (r[i] !== 0) for (let j = 0; j < n; j++) sum += r[i]! * x[n * i + j]! * c[j]!
      return sum
    }),
  )
}
/** What the sums are of absolute values, for each entry of the result. */
const sizes = (s: ConvShape, direction: Direction, [y, x, k]: readonly [Float64Array, Float64Array, Float64Array]): Float64Array => {
  const [oh, ow] = convOutput(s)
  const forward = direction === 'forward'
  const from = forward ? x : y
  const [inputs, height, width] = forward ? [s.channels, s.height, s.width] : [s.outChannels, oh, ow]
  const [outputs, rows, columns] = forward ? [s.outChannels, oh, ow] : [s.channels, s.height, s.width]
  const [top, left] = forward ? [s.padding[0][0], s.padding[1][0]] : [2 - s.padding[0][0], 2 - s.padding[1][0]]
  const kernels = Array.from({ length: outputs * inputs }, (_, i) => {
    const [o, c] = [Math.floor(i / inputs), i % inputs]
    const at = 9 * (forward ? o * inputs + c : c * outputs + o)
    return both(
      G,
      Array.from({ length: 9 }, (_, j) => Math.abs(k[at + (forward ? j : 8 - j)]!)),
    )
  })
  const size = new Float64Array(s.batch * outputs * rows * columns)
  for (let n = 0; n < s.batch; n++)
    for (let r = 0; r < rows; r += 2)
      for (let q = 0; q < columns; q += 2) {
        const tiles = Array.from({ length: inputs }, (_, c) =>
          both(
            B,
            Array.from({ length: 16 }, (_, i) => {
              const [a, b] = [r + Math.floor(i / 4) - top, q + (i % 4) - left]
              return a < 0 || b < 0 || a >= height || b >= width ? 0 : Math.abs(from[((n * inputs + c) * height + a) * width + b]!)
            }),
          ),
        )
        for (let o = 0; o < outputs; o++) {
          const sums = new Float64Array(16)
          for (let c = 0; c < inputs; c++) for (let i = 0; i < 16; i++) sums[i]! += tiles[c]![i]! * kernels[o * inputs + c]![i]!
          both(A, sums).forEach((v, i) => {
            const [a, b] = [r + Math.floor(i / 2), q + (i % 2)]
            if (a < rows && b < columns) size[((n * outputs + o) * rows + a) * columns + b] = v
          })
        }
      }
  return size
}

/** The same of the kernel gradient: |G^T| [sum |A| |y| |A^T| * |B^T| |d| |B|] |G|. */
const sizesOfKernel = (s: ConvShape, [y, x]: readonly [Float64Array, Float64Array, Float64Array]): Float64Array => {
  const [oh, ow] = convOutput(s)
  const sums = Array.from({ length: s.outChannels * s.channels }, () => new Float64Array(16))
  const transposed = (T: Matrix): Matrix => T[0]!.map((_, i) => T.map((row) => row[i]!))
  const tile = (
    data: Float64Array,
    plane: number,
    [height, width]: readonly [number, number],
    [a, b]: readonly [number, number],
    n: number,
  ) =>
    Array.from({ length: n * n }, (_, i) => {
      const [r, c] = [a + Math.floor(i / n), b + (i % n)]
      return r < 0 || c < 0 || r >= height || c >= width ? 0 : Math.abs(data[(plane * height + r) * width + c]!)
    })
  for (let n = 0; n < s.batch; n++)
    for (let r = 0; r < oh; r += 2)
      for (let q = 0; q < ow; q += 2) {
        const [ys, xs] = [
          Array.from({ length: s.outChannels }, (_, o) => both(transposed(A), tile(y, n * s.outChannels + o, [oh, ow], [r, q], 2))),
          Array.from({ length: s.channels }, (_, c) =>
            both(B, tile(x, n * s.channels + c, [s.height, s.width], [r - s.padding[0][0], q - s.padding[1][0]], 4)),
          ),
        ]
        for (const [o, m] of ys.entries())
          for (const [c, d] of xs.entries()) for (let i = 0; i < 16; i++) sums[o * s.channels + c]![i]! += m[i]! * d[i]!
      }
  return Float64Array.from(sums.flatMap((u) => both(transposed(G), u)))
}

const check = (shape: ConvShape, kind: Kind, accumulate: boolean, madd = false): void => {
  expect(byWinograd('f32', shape, kind)).toBe(true)
  const options = { type: 'f32', madd, accumulate, shape } as const
  const emitter = emitters[kind]
  const { result, before } = run(kind, options, () => Math.fround(random() * 2 - 1), emitter)
  const { out } = emitter
  const expected = accumulate ? before[out].slice() : new Float64Array(before[out].length)
  const size = kind === 'kernel' ? sizesOfKernel(shape, before) : sizes(shape, kind, before)
  const [a, b] = ([0, 1, 2] as const).filter((i) => i !== out) as [0 | 1 | 2, 0 | 1 | 2]
  visit(shape, (...at) => {
    expected[at[out]]! += before[a][at[a]]! * before[b][at[b]]!
  })
  const [oh, ow] = convOutput(shape)
  const tiles = shape.batch * Math.ceil(oh / 2) * Math.ceil(ow / 2)
  const terms = kind === 'kernel' ? Math.min(tiles, 4096) : kind === 'forward' ? shape.channels : shape.outChannels
  expected.forEach((value, i) => {
    const bound = (terms + 12) * 2 ** -24 * (size[i]! + Math.abs(before[out][i]!))
    if (!(Math.abs(result[i]! - value) <= bound))
      throw new Error(`${kind} accumulate ${accumulate} ${JSON.stringify(shape)}: [${i}] = ${result[i]}, not ${value}`)
  })
}

const base: ConvShape = {
  batch: 2,
  channels: 9,
  height: 12,
  width: 14,
  outChannels: 17,
  kernel: [3, 3],
  stride: [1, 1],
  padding: [
    [1, 1],
    [1, 1],
  ],
  dilation: [1, 1],
  groups: 1,
}

describe('3 x 3 convolutions by minimal filtering', () => {
  it('random shapes: odd and even sizes, uneven padding, one block of rows and several', () => {
    const reached = { forward: 0, input: 0, kernel: 0, blocks: 0 }
    for (let i = 0; i < 12; i++) {
      const pad = (): readonly [number, number] => [below(4), below(4)]
      const large = i % 5 === 0
      const shape: ConvShape = {
        ...base,
        batch: large ? 1 : 1 + below(2),
        channels: 8 + below(12),
        outChannels: 16 + below(5),
        height: (large ? 24 : 5) + below(16),
        width: (large ? 30 : 5) + below(20),
        padding: [pad(), pad()],
      }
      for (const kind of kinds)
        if (byWinograd('f32', shape, kind)) {
          check(shape, kind, i % 2 === 1)
          reached[kind]++
          if (large) reached.blocks++
        }
    }
    expect(reached.forward).toBeGreaterThan(5)
    expect(reached.input).toBeGreaterThan(1)
    expect(reached.kernel).toBeGreaterThan(5)
    expect(reached.blocks).toBeGreaterThan(4)
  })
  it('every width of the last vector of tiles', () => {
    for (const width of some([16, 17, 18, 19, 20, 21, 22, 23, 24], 3))
      for (const kind of kinds) if (byWinograd('f32', { ...base, width }, kind)) check({ ...base, width }, kind, false)
  })
  it('kernel gradients of many tiles are added up in f64', () => {
    const shape: ConvShape = {
      ...base,
      batch: 6,
      channels: 8,
      outChannels: 16,
      height: 60,
      width: 60,
      padding: [
        [0, 0],
        [0, 0],
      ],
    }
    const tenth = Math.fround(0.1)
    const { result } = run('kernel', { type: 'f32', madd: false, accumulate: false, shape }, () => tenth, emitters.kernel)
    const exact = 6 * 58 * 58 * tenth ** 2
    for (const v of result) expect(Math.abs(v - exact) / exact).toBeLessThan(3e-6)
  })
  it('many channels: blocks of the inner axis', () => {
    check({ ...base, batch: 1, channels: 300, outChannels: 16, height: 8, width: 8 }, 'forward', false)
  })
  if (relaxedSimd()) it('relaxed multiply-add', () => check(base, 'forward', true, true))

  it('what it leaves to the direct loop', () => {
    const asks = (over: Partial<ConvShape>, direction: Kind = 'forward', type: 'f32' | 'f64' = 'f32') =>
      byWinograd(type, { ...base, ...over }, direction)
    expect(asks({})).toBe(true)
    expect(asks({}, 'input')).toBe(true)
    expect(asks({}, 'forward', 'f64')).toBe(false)
    for (const over of [
      { kernel: [3, 5] as const },
      { stride: [1, 2] as const },
      { dilation: [2, 1] as const },
      { channels: 7 },
      { channels: 8, outChannels: 15 },
      { groups: 2, channels: 32, outChannels: 32 },
      { height: 2, width: 12 },
      { height: 1, width: 33 },
      { channels: 1024, outChannels: 1024 },
    ])
      expect(asks(over), JSON.stringify(over)).toBe(false)
    expect(asks({ channels: 1024, outChannels: 512, height: 14 })).toBe(true)
    expect(asks({ channels: 1024, outChannels: 512, height: 14 }, 'kernel')).toBe(false)
    expect(asks({ channels: 512, outChannels: 512, height: 8, width: 8 })).toBe(false)
    const wide = [
      [3, 3],
      [3, 3],
    ] as const
    expect(asks({ padding: wide })).toBe(true)
    expect(asks({ padding: wide }, 'input')).toBe(false)
  })

  it('an image with NaN, Infinity or huge numbers is computed by the direct loop, and no other image changes', () => {
    for (const direction of ['forward', 'input'] as const) {
      const emitter = emitters[direction]
      const other = direction === 'forward' ? 1 : 0
      const options = { type: 'f32', madd: false, accumulate: false, shape: base } as const
      const data = (which: number, i: number): number => Math.fround(Math.sin(1 + i + 1000 * which))
      const clean = run(direction, options, data, emitter).result
      const count = run(direction, options, data, emitter).before[other].length
      // In the first image, in the second, and in the last elements of both.
      for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 51])
        for (const place of [33, count / 2 - 1, count / 2 + 33, count - 1]) {
          const put = (which: number, i: number): number => (which === other && i === place ? bad : data(which, i))
          const { result } = run(direction, options, put, emitter)
          const { result: direct } = run(direction, options, put)
          const half = result.length / 2
          const image = place < count / 2 ? 0 : 1
          result.forEach((v, i) => {
            const want = Math.floor(i / half) === image ? direct[i]! : clean[i]!
            if (!Object.is(v, want)) throw new Error(`${direction}, ${bad} at ${place}: [${i}] = ${v}, not ${want}`)
          })
        }
      // Weights concern all images.
      const put = (which: number, i: number): number => (which === 2 && i === 100 ? Number.POSITIVE_INFINITY : data(which, i))
      expect(run(direction, options, put, emitter).result).toEqual(run(direction, options, put).result)
    }
  })
  it('what is not finite in an image or in its cotangent meets the weights that it meets in the sums, and no others', () => {
    const options = { type: 'f32', madd: false, accumulate: false, shape: { ...base, batch: 3 } } as const
    const data = (which: number, i: number): number => Math.fround(Math.sin(1 + i + 1000 * which))
    const clean = run('kernel', options, data, emitters.kernel)
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 51])
      for (const which of [0, 1] as const)
        for (const place of [0, clean.before[which].length - 1, Math.floor(clean.before[which].length / 2)]) {
          const put = (w: number, i: number): number => (w === which && i === place ? bad : data(w, i))
          const { result } = run('kernel', options, put, emitters.kernel)
          const { result: direct } = run('kernel', options, put)
          result.forEach((v, i) => {
            const near = Number.isFinite(direct[i]!)
              ? Math.abs(v - direct[i]!) <= 1e-6 * Math.max(1e3, Math.abs(direct[i]!))
              : Object.is(v, direct[i])
            if (!near) throw new Error(`${bad} at ${place} of ${which}: [${i}] = ${v}, not ${direct[i]}`)
          })
        }
  })
})
