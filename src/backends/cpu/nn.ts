/** The CPU facet of convolution and pooling: shape-specialised WebAssembly kernels. */
import { byMeaning, whole } from '../../core/extend/kernel-table.js'
import type { ConvParams } from '../../core/ops/conv.js'
import type { nn } from '../../core/ops/families.js'
import type { PoolParams } from '../../core/ops/pool.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { CpuTable, WholeKernelOf } from './kernel.js'
import { convInputGradientScratchBytes, convScratchBytes, emitConv, emitConvInputGradient } from './wasm/conv.js'
import { convKernelGradientScratchBytes, emitConvKernelGradient } from './wasm/conv-kernel-gradient.js'
import type { ConvShape } from './wasm/conv-shape.js'
import { emitAvgPool, emitAvgPoolGradient, emitMaxPool, emitMaxPoolGradient, type PoolShape } from './wasm/pool.js'

const float = (k: OpaqueKernel): 'f32' | 'f64' => k.results[0]!.dtype as 'f32' | 'f64'
const pairs = (p: readonly number[]): readonly [readonly [number, number], readonly [number, number]] => [
  [p[0]!, p[1]!],
  [p[2]!, p[3]!],
]
const two = (x: readonly number[]): readonly [number, number] => [x[0]!, x[1]!]

/** The convolution that a kernel belongs to, from the shapes of x and k. */
const convOf = (x: readonly number[], kernel: readonly number[], p: ConvParams): ConvShape => ({
  batch: x[0]!,
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
  planes: x[0]! * x[1]!,
  height: x[2]!,
  width: x[3]!,
  window: two(p.window),
  stride: two(p.stride),
  padding: pairs(p.padding),
})

const input =
  (accumulate: boolean): WholeKernelOf =>
  (k) => {
    const shape = convOf(k.results[0]!.shape, k.args[accumulate ? 2 : 1]!.shape, k.params as ConvParams)
    const type = float(k)
    return {
      emit: (m, name) => emitConvInputGradient(m, { type, madd: m.madd, accumulate, shape }, name),
      scratchBytes: convInputGradientScratchBytes(type, shape),
    }
  }
const kernel =
  (accumulate: boolean): WholeKernelOf =>
  (k) => {
    const shape = convOf(k.args[accumulate ? 1 : 0]!.shape, k.results[0]!.shape, k.params as ConvParams)
    const type = float(k)
    return {
      emit: (m, name) => emitConvKernelGradient(m, { type, madd: m.madd, accumulate, shape }, name),
      scratchBytes: convKernelGradientScratchBytes(type, shape),
    }
  }

/** One row per primitive of the family `nn`. */
export const nnKernels: CpuTable<typeof nn> = {
  conv: whole((k: OpaqueKernel) => {
    const shape = convOf(k.args[0]!.shape, k.args[1]!.shape, k.params as ConvParams)
    const type = float(k)
    return {
      emit: (m, name) => emitConv(m, { type, madd: m.madd, accumulate: false, shape }, name),
      scratchBytes: convScratchBytes(type, shape),
    }
  }),
  convInput: whole(input(false)),
  convKernel: whole(kernel(false)),
  convInputAdd: whole(input(true)),
  convKernelAdd: whole(kernel(true)),
  maxPool: whole((k: OpaqueKernel) => ({
    emit: (m, name) => emitMaxPool(m, { type: float(k), shape: poolOf(k.args[0]!.shape, k.params as PoolParams) }, name),
    scratchBytes: 0,
  })),
  unpool: whole((k: OpaqueKernel) => ({
    emit: (m, name) => emitMaxPoolGradient(m, { type: float(k), shape: poolOf(k.results[0]!.shape, k.params as PoolParams) }, name),
    scratchBytes: 0,
  })),
  poolGather: byMeaning('a gather by index is bound by memory'),
  avgPool: whole((k: OpaqueKernel) => {
    const p = k.params as PoolParams
    return {
      emit: (m, name) =>
        emitAvgPool(m, { type: float(k), shape: poolOf(k.args[0]!.shape, p), countIncludePad: p.countIncludePad === true }, name),
      scratchBytes: 0,
    }
  }),
  avgPoolInput: whole((k: OpaqueKernel) => {
    const p = k.params as PoolParams
    return {
      emit: (m, name) =>
        emitAvgPoolGradient(
          m,
          { type: float(k), shape: poolOf(k.results[0]!.shape, p), countIncludePad: p.countIncludePad === true },
          name,
        ),
      scratchBytes: 0,
    }
  }),
}
