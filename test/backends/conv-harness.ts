/** Kernels of convolutions, run alone on random data in a memory of their own, and plain loops that visit the same products. */
import { expect } from 'vitest'
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
import type { FloatName } from '../../src/backends/cpu/wasm/float.js'

const memory = new WebAssembly.Memory({ initial: 256 })

let seed = 99
export const random = (): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return seed / 2 ** 32
}
export const below = (n: number): number => Math.floor(random() * n)

export type Triple = readonly [y: Float64Array, x: Float64Array, k: Float64Array]

/** Visits every product y[i] += x[j] k[l] of a convolution. */
export const visit = (s: ConvShape, each: (i: number, j: number, l: number) => void): void => {
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
export interface ConvShape extends Geometry {
  readonly batch: number
}
export interface ConvOptions extends Options {
  readonly shape: ConvShape
}
export type Kind = 'forward' | 'input' | 'kernel'
/** How a kernel is made, its scratch, and which of y, x and k it writes. */
export interface Emitter {
  readonly emit: (m: Module, o: ConvOptions, name: string) => FunctionBuilder
  readonly scratch: (t: FloatName, s: ConvShape) => number
  readonly out: 0 | 1 | 2
}
export const kinds: Readonly<Record<Kind, Emitter>> = {
  forward: { emit: emitConv, scratch: convScratchBytes, out: 0 },
  input: { emit: emitConvInputGradient, scratch: convInputGradientScratchBytes, out: 1 },
  kernel: { emit: emitConvKernelGradient, scratch: convKernelGradientScratchBytes, out: 2 },
}

/** Runs one kernel on random data (or `data`) and returns its output, having checked that nothing else was written. */
export const run = (
  kind: Kind,
  options: ConvOptions,
  data: (which: 0 | 1 | 2, i: number) => number,
  { emit, scratch, out }: Emitter = kinds[kind],
) => {
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
  new Int32Array(memory.buffer, 0, 6).set([...order.map((i) => pointers[i]!), at, shape.batch, shape.outChannels / shape.groups])
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
