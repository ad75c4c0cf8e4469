/** The CPU facet of convolution and pooling: shape-specialised WebAssembly kernels. */
import { byMeaning, whole } from '../../core/extend/kernel-table.js'
import type { ConvParams } from '../../core/ops/conv.js'
import type { nn } from '../../core/ops/families.js'
import type { PoolParams } from '../../core/ops/pool.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { CpuTable, Units, WholeKernel, WholeKernelOf } from './kernel.js'
import { leadingUnits } from './units.js'
import { type ConvOptions, convInputGradientScratchBytes, convScratchBytes, emitConv, emitConvInputGradient } from './wasm/conv.js'
import { convKernelGradientScratchBytes, emitConvKernelGradient, KERNEL_CHANNELS } from './wasm/conv-kernel-gradient.js'
import { byProduct, emitPointwise, pointwiseScratchBytes } from './wasm/conv-pointwise.js'
import { type ConvShape, convOutput } from './wasm/conv-shape.js'
import { byWinograd, type Direction, emitWinograd, winogradScratchBytes } from './wasm/conv-winograd.js'
import { emitWinogradKernel, winogradKernelScratchBytes, winogradSizes } from './wasm/conv-winograd-kernel.js'
import type { Module } from './wasm/encoder.js'
import { type FloatName, floats } from './wasm/float.js'
import { emitAvgPool, emitAvgPoolGradient, emitMaxPool, emitMaxPoolGradient, type PoolShape } from './wasm/pool.js'

const float = (k: OpaqueKernel): 'f32' | 'f64' => k.results[0]!.dtype as 'f32' | 'f64'
const pairs = (p: readonly number[]): readonly [readonly [number, number], readonly [number, number]] => [
  [p[0]!, p[1]!],
  [p[2]!, p[3]!],
]
/** Code that is that of any number of images, or of planes. */
const shared = (code: string, count: number, ...of: readonly unknown[]) => ({ code: `${code} ${JSON.stringify(of)}`, sizes: [count] })
const planesOf = (x: readonly number[]): number => x[0]! * x[1]!
const two = (x: readonly number[]): readonly [number, number] => [x[0]!, x[1]!]

/** The convolution that a kernel belongs to, from the shapes of x and k. */
const convOf = (x: readonly number[], kernel: readonly number[], p: ConvParams): ConvShape => ({
  channels: x[1]!,
  height: x[2]!,
  width: x[3]!,
  outChannels: kernel[0]!,
  kernel: two(kernel.slice(2)),
  stride: two(p.stride),
  padding: pairs(p.padding),
  dilation: two(p.dilation),
  groups: p.groups,
})
const poolOf = (x: readonly number[], p: PoolParams): PoolShape => ({
  height: x[2]!,
  width: x[3]!,
  window: two(p.window),
  stride: two(p.stride),
  padding: pairs(p.padding),
})

/** The kernel of a convolution or of its input gradient, in the form that is fastest for its class. */
const sums = (k: OpaqueKernel, direction: Direction, shape: ConvShape, accumulate: boolean): WholeKernel => {
  const type = float(k)
  const count = k.results[0]!.shape[0]!
  const of = (emit: (m: Module, o: ConvOptions, name: string) => unknown, scratchBytes: number): WholeKernel => ({
    emit: (m, name) => emit(m, { type, madd: m.madd, accumulate, shape }, name),
    scratchBytes,
    shared: shared(direction, count, type, accumulate, shape),
    // Each image is a unit; all of them read the weights.
    units: leadingUnits(k, 0, count, (argument) => argument === 0),
  })
  if (byWinograd(type, shape, direction))
    return of((m, o, name) => emitWinograd(m, o, direction, name), winogradScratchBytes(shape, direction))
  if (byProduct(shape, direction))
    return of((m, o, name) => emitPointwise(m, o, direction, name), pointwiseScratchBytes(type, shape, direction))
  return direction === 'forward'
    ? of(emitConv, convScratchBytes(type, shape))
    : of(emitConvInputGradient, convInputGradientScratchBytes(type, shape))
}
const input =
  (accumulate: boolean): WholeKernelOf =>
  (k) => {
    const shape = convOf(k.results[0]!.shape, k.args[accumulate ? 2 : 1]!.shape, k.params as ConvParams)
    return sums(k, 'input', shape, accumulate)
  }
const kernel =
  (accumulate: boolean): WholeKernelOf =>
  (k) => {
    const shape = convOf(k.args[accumulate ? 1 : 0]!.shape, k.results[0]!.shape, k.params as ConvParams)
    const type = float(k)
    const images = k.args[accumulate ? 1 : 0]!.shape[0]!
    const made = shared('convKernel', images, type, accumulate, shape)
    if (byWinograd(type, shape, 'kernel'))
      return {
        emit: (m, name) => emitWinogradKernel(m, { type, madd: m.madd, accumulate, shape }, name),
        scratchBytes: winogradKernelScratchBytes(shape),
        shared: { ...made, sizes: winogradSizes(images, shape.outChannels) },
        phased: { shape, accumulate, images },
      }
    return {
      emit: (m, name) => emitConvKernelGradient(m, { type, madd: m.madd, accumulate, shape }, name),
      scratchBytes: convKernelGradientScratchBytes(type, shape),
      shared: { ...made, sizes: [images, shape.outChannels / shape.groups] },
      ...(shape.groups === 1 && { units: outChannelUnits(type, shape) }),
    }
  }

/** A kernel's gradient sums over images, and each output channel has its own sums: every part reads all of x, and a part of each image's cotangent. */
const outChannelUnits = (type: FloatName, shape: ConvShape): Units => {
  const [oh, ow] = convOutput(shape)
  const bytes = floats[type].bytes
  return {
    size: 1,
    count: shape.outChannels,
    multiple: KERNEL_CHANNELS,
    results: [bytes * shape.channels * shape.kernel[0] * shape.kernel[1]],
    args: [0, bytes * oh * ow],
  }
}

/** One row per primitive of the family `nn`. */
export const nnKernels: CpuTable<typeof nn> = {
  conv: whole((k: OpaqueKernel) => {
    const shape = convOf(k.args[0]!.shape, k.args[1]!.shape, k.params as ConvParams)
    return sums(k, 'forward', shape, false)
  }),
  convInput: whole(input(false)),
  convKernel: whole(kernel(false)),
  convInputAdd: whole(input(true)),
  convKernelAdd: whole(kernel(true)),
  maxPool: whole((k: OpaqueKernel) => {
    const x = k.args[0]!.shape
    const of = { type: float(k), shape: poolOf(x, k.params as PoolParams) }
    return {
      emit: (m, name) => emitMaxPool(m, of, name),
      scratchBytes: 0,
      shared: shared('maxPool', planesOf(x), of),
      units: leadingUnits(k, 0, planesOf(x)),
    }
  }),
  unpool: whole((k: OpaqueKernel) => {
    const x = k.results[0]!.shape
    const of = { type: float(k), shape: poolOf(x, k.params as PoolParams) }
    return {
      emit: (m, name) => emitMaxPoolGradient(m, of, name),
      scratchBytes: 0,
      shared: shared('unpool', planesOf(x), of),
      units: leadingUnits(k, 0, planesOf(x)),
    }
  }),
  poolGather: byMeaning('a gather by index is bound by memory'),
  avgPool: whole((k: OpaqueKernel) => {
    const x = k.args[0]!.shape
    const p = k.params as PoolParams
    const of = { type: float(k), shape: poolOf(x, p), countIncludePad: p.countIncludePad === true }
    return {
      emit: (m, name) => emitAvgPool(m, of, name),
      scratchBytes: 0,
      shared: shared('avgPool', planesOf(x), of),
      units: leadingUnits(k, 0, planesOf(x)),
    }
  }),
  avgPoolInput: whole((k: OpaqueKernel) => {
    const x = k.results[0]!.shape
    const p = k.params as PoolParams
    const of = { type: float(k), shape: poolOf(x, p), countIncludePad: p.countIncludePad === true }
    return {
      emit: (m, name) => emitAvgPoolGradient(m, of, name),
      scratchBytes: 0,
      shared: shared('avgPoolInput', planesOf(x), of),
      units: leadingUnits(k, 0, planesOf(x)),
    }
  }),
}
