/*
 * The convolution kernels against plain loops in f64: forward, input gradient and kernel gradient.
 *
 * Bounds. A sum of k products in precision u has error at most (k + 1) u sum |a||b| (Higham 2002, 3.1); inputs are exact in f32 and
 * the loops here add in f64. Sums of |a||b| are computed by the same loops on absolute values.
 */

import { describe, expect, it } from 'vitest'
import {
  convInputGradientScratchBytes,
  convScratchBytes,
  emitConv,
  emitConvInputGradient,
  type ConvOptions as Options,
} from '../../src/backends/cpu/wasm/conv.js'
import { convKernelGradientScratchBytes, emitConvKernelGradient } from '../../src/backends/cpu/wasm/conv-kernel-gradient.js'
import { convOutput, type ConvShape as Geometry } from '../../src/backends/cpu/wasm/conv-shape.js'
import { type FunctionBuilder, Module } from '../../src/backends/cpu/wasm/encoder.js'
import { relaxedSimd } from '../../src/backends/cpu/wasm/features.js'
import type { FloatName } from '../../src/backends/cpu/wasm/float.js'

const memory = new WebAssembly.Memory({ initial: 64 })

let seed = 99
const random = (): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return seed / 2 ** 32
}
const below = (n: number): number => Math.floor(random() * n)

type Triple = readonly [y: Float64Array, x: Float64Array, k: Float64Array]

/** Visits every product y[i] += x[j] k[l] of a convolution. */
const visit = (s: ConvShape, each: (i: number, j: number, l: number) => void): void => {
  const [oh, ow] = convOutput(s)
  const [kh, kw] = s.kernel
  const [inputs, outputs] = [s.channels / s.groups, s.outChannels / s.groups]
  for (let n = 0; n < s.batch; n++)
    for (let o = 0; o < s.outChannels; o++)
      for (let c = 0; c < inputs; c++)
        for (let oy = 0; oy < oh; oy++)
          for (let ox = 0; ox < ow; ox++)
            for (let ky = 0; ky < kh; ky++)
              for (let kx = 0; kx < kw; kx++) {
                const iy = oy * s.stride[0] + ky * s.dilation[0] - s.padding[0][0]
                const ix = ox * s.stride[1] + kx * s.dilation[1] - s.padding[1][0]
                if (iy < 0 || ix < 0 || iy >= s.height || ix >= s.width) continue
                const channel = Math.floor(o / outputs) * inputs + c
                each(
                  ((n * s.outChannels + o) * oh + oy) * ow + ox,
                  ((n * s.channels + channel) * s.height + iy) * s.width + ix,
                  ((o * inputs + c) * kh + ky) * kw + kx,
                )
              }
}

/** Of so many images. */
interface ConvShape extends Geometry {
  readonly batch: number
}
interface ConvOptions extends Options {
  readonly shape: ConvShape
}
type Kind = 'forward' | 'input' | 'kernel'
const kinds: Record<
  Kind,
  { emit: (m: Module, o: ConvOptions, name: string) => FunctionBuilder; scratch: (t: FloatName, s: ConvShape) => number; out: 0 | 1 | 2 }
> = {
  forward: { emit: emitConv, scratch: convScratchBytes, out: 0 },
  input: { emit: emitConvInputGradient, scratch: convInputGradientScratchBytes, out: 1 },
  kernel: { emit: emitConvKernelGradient, scratch: convKernelGradientScratchBytes, out: 2 },
}

/** Runs one kernel on random data (or `data`) and returns its output, having checked that nothing else was written. */
const run = (kind: Kind, options: ConvOptions, data: (which: 0 | 1 | 2, i: number) => number) => {
  const { type, shape } = options
  const FloatArray = type === 'f32' ? Float32Array : Float64Array
  const bytes = FloatArray.BYTES_PER_ELEMENT
  const [oh, ow] = convOutput(shape)
  const sizes = [
    shape.batch * shape.outChannels * oh * ow,
    shape.batch * shape.channels * shape.height * shape.width,
    shape.outChannels * (shape.channels / shape.groups) * shape.kernel[0] * shape.kernel[1],
  ]
  let top = 64
  const place = (size: number): number => {
    const at = (top + 15) & ~15
    top = at + size
    return at
  }
  const { emit, scratch, out } = kinds[kind]
  const pointers = sizes.map((n) => place((n + 5) * bytes) + bytes)
  const scratchBytes = scratch(type, shape)
  const at = place(scratchBytes)
  place(64)
  expect(top).toBeLessThan(memory.buffer.byteLength)
  // stale scratch holds NaN bit patterns: nothing of it may leak into results
  new Uint8Array(memory.buffer, 0, top).fill(0xff)
  const arrays = sizes.map((n, which) => {
    const values = new FloatArray(memory.buffer, pointers[which]!, n)
    for (let i = 0; i < n; i++) values[i] = data(which as 0 | 1 | 2, i)
    return values
  })
  const before = arrays.map((a) => Float64Array.from(a)) as unknown as Triple
  const m = new Module()
  m.importMemory({ min: 1 })
  emit(m, options, 'f')
  const code = m.finish()
  expect(WebAssembly.validate(code)).toBe(true)
  const order = [out, ...[0, 1, 2].filter((i) => i !== out)]
  // dX takes (DX, DY, K), dK takes (DK, X, DY)
  if (kind === 'kernel') order.splice(1, 2, 1, 0)
  new Int32Array(memory.buffer, 0, 5).set([...order.map((i) => pointers[i]!), at, shape.batch])
  const instance = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory } })
  const kernel = instance.exports.f as (record: number) => void
  kernel(0)
  const result = Float64Array.from(arrays[out]!)
  arrays.forEach((a, i) => {
    if (i !== out) expect(Float64Array.from(a)).toEqual(before[i])
  })
  const all = new Uint8Array(memory.buffer)
  const untouched = (from: number, to: number): void => {
    for (let i = from; i < to; i++) if (all[i] !== 0xff) throw new Error(`${kind} wrote outside at ${i}: ${JSON.stringify(options)}`)
  }
  sizes.forEach((n, i) => {
    untouched(pointers[i]! - bytes, pointers[i]!)
    untouched(pointers[i]! + n * bytes, pointers[i]! + (n + 4) * bytes)
  })
  untouched(at + scratchBytes, at + scratchBytes + 64)
  return { result, before }
}

const check = (shape: ConvShape, type: FloatName, madd = false): void => {
  for (const kind of ['forward', 'input', 'kernel'] as const) {
    for (const accumulate of [false, true]) {
      const { result, before } = run(kind, { type, madd, accumulate, shape }, () => Math.fround(random() * 2 - 1))
      const { out } = kinds[kind]
      const expected = accumulate ? before[out].slice() : new Float64Array(before[out].length)
      const size = expected.map(Math.abs)
      const terms = new Int32Array(expected.length)
      const [a, b] = [0, 1, 2].filter((i) => i !== out) as [0 | 1 | 2, 0 | 1 | 2]
      visit(shape, (...at) => {
        const product = before[a][at[a]]! * before[b][at[b]]!
        const target = at[out]
        expected[target]! += product
        size[target]! += Math.abs(product)
        terms[target]!++
      })
      const u = type === 'f32' ? 2 ** -24 : 2 ** -52
      expected.forEach((value, i) => {
        if (!(Math.abs(result[i]! - value) <= (terms[i]! + 2) * u * size[i]!))
          throw new Error(`${kind} ${type} accumulate ${accumulate} ${JSON.stringify(shape)}: [${i}] = ${result[i]}, not ${value}`)
      })
    }
  }
}

const base: ConvShape = {
  batch: 2,
  channels: 3,
  height: 8,
  width: 8,
  outChannels: 4,
  kernel: [3, 3],
  stride: [1, 1],
  padding: [
    [0, 0],
    [0, 0],
  ],
  dilation: [1, 1],
  groups: 1,
}
const square = (p: number): ConvShape['padding'] => [
  [p, p],
  [p, p],
]

for (const type of ['f32', 'f64'] as const) {
  describe(`conv ${type}`, () => {
    it('LeNet layers', () => {
      check({ ...base, channels: 1, height: 28, width: 28, outChannels: 6, kernel: [5, 5] }, type)
      check({ ...base, channels: 6, height: 12, width: 12, outChannels: 16, kernel: [5, 5] }, type)
      check({ ...base, channels: 1, height: 28, width: 28, outChannels: 6, kernel: [5, 5], padding: square(2) }, type)
    })
    it('every output width from 1 to 40', () => {
      for (let width = 1; width <= 40; width++)
        check(
          {
            ...base,
            batch: 1,
            channels: 2,
            height: 2,
            width,
            kernel: [1, 3],
            padding: [
              [0, 0],
              [1, 1],
            ],
            outChannels: 3,
          },
          type,
        )
    })
    it('every number of channels', () => {
      for (let c = 1; c <= 13; c++) {
        check({ ...base, batch: 1, height: 4, width: 7, channels: c, outChannels: 14 - c }, type)
        check({ ...base, batch: 1, height: 3, width: 18, channels: c, outChannels: 14 - c, kernel: [2, 2] }, type)
      }
    })
    it('strides, dilations and uneven padding', () => {
      for (const sy of [1, 2, 3])
        for (const sx of [1, 2, 3, 5])
          for (const d of [1, 2, 3])
            check(
              {
                ...base,
                batch: 1,
                channels: 2,
                height: 9,
                width: 11,
                outChannels: 2,
                stride: [sy, sx],
                dilation: [d, 4 - d],
                padding: [
                  [1, 2],
                  [3, 0],
                ],
              },
              type,
            )
    })
    it('groups and depthwise', () => {
      check({ ...base, channels: 6, outChannels: 4, groups: 2 }, type)
      check({ ...base, channels: 5, outChannels: 5, groups: 5, padding: square(1) }, type)
      check({ ...base, channels: 3, outChannels: 9, groups: 3, stride: [2, 2] }, type)
    })
    it('1 x 1 kernels, whole-image kernels, long and tall ones', () => {
      check({ ...base, kernel: [1, 1] }, type)
      check({ ...base, kernel: [1, 1], channels: 17, outChannels: 9, height: 3, width: 3 }, type)
      check({ ...base, kernel: [1, 1], stride: [2, 2], padding: square(1) }, type)
      check({ ...base, kernel: [8, 8] }, type)
      check({ ...base, height: 1, width: 200, kernel: [1, 39], channels: 2, outChannels: 2 }, type)
      check(
        {
          ...base,
          height: 1,
          width: 200,
          kernel: [1, 39],
          channels: 2,
          outChannels: 2,
          stride: [1, 2],
          dilation: [1, 3],
          padding: [
            [0, 0],
            [20, 7],
          ],
        },
        type,
      )
      check({ ...base, height: 200, width: 1, kernel: [39, 1], channels: 2, outChannels: 2, stride: [2, 1] }, type)
      check({ ...base, batch: 1, channels: 1, outChannels: 1, height: 12, width: 400, kernel: [2, 2] }, type)
    })
    it('strides with many phases, and kernels smaller than the stride', () => {
      check({ ...base, height: 12, width: 10, kernel: [5, 5], stride: [5, 5] }, type)
      check({ ...base, height: 11, width: 13, kernel: [2, 2], stride: [4, 4], padding: square(1) }, type)
      check({ ...base, height: 11, width: 13, kernel: [2, 3], stride: [6, 3], padding: square(1), groups: 1 }, type)
      check({ ...base, height: 7, width: 9, channels: 4, kernel: [1, 2], stride: [3, 3], groups: 2 }, type)
    })
    it('nothing to do: empty batch, no channels, kernel larger than the image', () => {
      check({ ...base, batch: 0 }, type)
      check({ ...base, channels: 0 }, type)
      check({ ...base, outChannels: 0 }, type)
      check({ ...base, kernel: [9, 3] }, type)
      check({ ...base, height: 1, width: 1, kernel: [1, 1], channels: 1, outChannels: 1, batch: 1 }, type)
      check({ ...base, height: 1, width: 1, padding: square(1) }, type)
    })
    it('random shapes', () => {
      for (let i = 0; i < 60; i++) {
        const groups = 1 + below(3)
        const kernel = [1 + below(4), 1 + below(6)] as const
        const pad = (): readonly [number, number] => [below(4), below(4)]
        check(
          {
            batch: 1 + below(2),
            channels: groups * (1 + below(3)),
            outChannels: groups * (1 + below(4)),
            height: kernel[0] + below(9),
            width: kernel[1] + below(20),
            kernel,
            stride: [1 + below(3), 1 + below(3)],
            dilation: [1 + below(3), 1 + below(3)],
            padding: [pad(), pad()],
            groups,
          },
          type,
        )
      }
    })
    if (relaxedSimd())
      it('relaxed multiply-add', () => {
        check({ ...base, padding: square(1) }, type, true)
        check({ ...base, width: 19, outChannels: 5, stride: [2, 2] }, type, true)
      })
    it('NaN and Infinity of an image stay where the sums meet them; those of weights reach at least there', () => {
      const shape: ConvShape = { ...base, batch: 1, channels: 1, outChannels: 2, height: 7, width: 11, padding: square(1), stride: [1, 2] }
      for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
        for (const kind of ['forward', 'input', 'kernel'] as const) {
          const { out } = kinds[kind]
          for (const operand of ([0, 1, 2] as const).filter((i) => i !== out)) {
            // padding is zeros that take part: 0 * Infinity is NaN where a bad weight meets them
            const exact = operand === (kind === 'input' ? 0 : 1)
            for (const place of [0, 10, 17]) {
              const { result } = run(kind, { type, madd: false, accumulate: false, shape }, (which, i) =>
                which === operand && i === place ? bad : 1,
              )
              const touched = new Set<number>()
              visit(shape, (...at) => {
                if (at[operand] === place) touched.add(at[out])
              })
              result.forEach((v, i) => {
                if (touched.has(i)) expect(Number.isFinite(v)).toBe(false)
                else if (exact) expect(Number.isFinite(v)).toBe(true)
              })
            }
          }
        }
      }
    })
  })
}

it('kernel gradients in f32 sum in blocks: an image of 250,000 equal pixels keeps six digits', () => {
  const shape: ConvShape = { ...base, batch: 1, channels: 1, outChannels: 1, height: 500, width: 500, kernel: [1, 2] }
  const { result } = run('kernel', { type: 'f32', madd: false, accumulate: false, shape }, () => Math.fround(0.1))
  const exact = 500 * 499 * Math.fround(0.1) ** 2
  for (const v of result) expect(Math.abs(v - exact) / exact).toBeLessThan(1e-5)
})
