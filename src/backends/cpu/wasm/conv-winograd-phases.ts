/*
 * The kernel gradient by minimal filtering (conv-winograd-kernel.ts) in phases, for threads: which images are ordinary; the totals of each row of elements of a transformed tile; and dK of each
 * output channel. The rows share no arithmetic: a row of B^T d B needs two rows of the pixels, and its sums are products of their own. What phases share: all totals, then a word for each image.
 */
import { aligned } from '../../plan/memory.js'
import type { PhasedKernel, Phases } from '../kernel.js'
import { convKernelGradientScratchBytes, emitConvKernelGradient, KERNEL_CHANNELS } from './conv-kernel-gradient.js'
import {
  callDirect,
  cotangentBytes,
  eachImage,
  emitSums,
  imageBytes,
  layout,
  ordinaryPair,
  ROWS,
  totalsBytes,
} from './conv-winograd-kernel.js'
import { emitResults } from './conv-winograd-totals.js'
import type { FunctionBuilder, Local, Module } from './encoder.js'
import { address } from './float.js'
import { productOf } from './gemm.js'
import { pointers } from './pointers.js'

/** Bytes of the record of the direct kernel, which comes first in the scratch. */
const DIRECT = 32
/** Operations of a test of an element, and of the results of a weight, about. */
const TEST_FLOPS = 1
const RESULT_FLOPS = 100

const record = (f: FunctionBuilder) => {
  const [dK, x, dY, scratch, batch, outputs, first, rows, shared] = pointers(f, 9)
  return { dK, images: { x, dY, batch }, scratch, outputs, first, rows, shared }
}
/** The word that says whether an image is ordinary, and goes on to the next. */
const nextFlag = (f: FunctionBuilder, flag: Local): FunctionBuilder => f.get(flag).i32Load().increment(flag, 4)

/** The phases of the kernel gradient of a convolution that `byWinograd` computes forward. */
export const winogradPhases = ({ shape, accumulate, images: batch }: PhasedKernel): Phases => {
  const at = layout(shape, ROWS, false)
  const { g, weights } = at
  const flags = totalsBytes(shape)
  const [ofImage, ofCotangent] = [imageBytes(at), cotangentBytes(at)]
  const emitTests = (m: Module, name: string): void => {
    const f = m.kernel(name)
    const i32 = address(f)
    const { images, first, shared } = record(f)
    const flag = f.local('i32')
    f.set(flag, i32.add(shared, flags, i32.mul(first, 4)))
    const end = (ordinary: number) => () => f.get(flag).i32Const(ordinary).i32Store().increment(flag, 4)
    eachImage(f, at, images, (body) => ordinaryPair(f, at, images, body), end(1), end(0))
  }
  const emitRows = (m: Module, name: string): void => {
    const product = productOf(m, 'f32', m.madd, false, 'blocks')
    const f = m.kernel(name)
    const i32 = address(f)
    const { images, scratch, first, rows, shared } = record(f)
    const [flag, totals] = f.locals('i32', 2)
    f.countDown(rows, () => {
      f.set(totals, i32.add(shared, i32.mul(first, 8 * ROWS * weights)))
      f.set(flag, i32.add(shared, flags))
      emitSums(
        f,
        at,
        product,
        { images, scratch, totals, row: first },
        (body) => nextFlag(f, flag).if(body),
        () => {},
      )
      f.increment(first, 1)
    })
  }
  const emitChannels = (m: Module, name: string): void => {
    const direct = emitConvKernelGradient(m, { type: 'f32', madd: m.madd, shape, accumulate: true })
    const f = m.kernel(name)
    const i32 = address(f)
    const { dK, images, scratch, outputs, first, shared } = record(f)
    const flag = f.local('i32')
    emitResults(f, at, i32.add(shared, i32.mul(first, 8 * g.inputs)), dK, outputs, accumulate)
    f.set(flag, i32.add(shared, flags))
    eachImage(
      f,
      at,
      images,
      (body) => nextFlag(f, flag).if(body),
      () => {},
      () => callDirect(f, direct, scratch, [dK, images.x, images.dY, i32.add(scratch, DIRECT), 1, outputs]),
    )
  }
  return {
    sharedBytes: flags + aligned(4 * batch, 64),
    each: [
      {
        emit: emitTests,
        flops: (TEST_FLOPS * batch * (ofImage + ofCotangent)) / 4,
        scratchBytes: 0,
        units: { size: 0, first: 2, count: batch, results: [0], args: [ofImage, ofCotangent] },
      },
      { emit: emitRows, scratchBytes: at.bytes, units: { size: 3, first: 2, count: ROWS, results: [0], args: [0, 0] } },
      {
        emit: emitChannels,
        flops: RESULT_FLOPS * weights,
        scratchBytes: DIRECT + convKernelGradientScratchBytes('f32', shape),
        units: {
          size: 1,
          first: 2,
          count: g.outputs,
          multiple: KERNEL_CHANNELS,
          results: [4 * 9 * g.inputs],
          args: [0, ofCotangent / g.outputs],
        },
      },
    ],
  }
}
