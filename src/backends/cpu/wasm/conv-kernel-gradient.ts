/*
 * The kernel gradient of a convolution: for every tap, the dot product of y's cotangent with x shifted by the tap.
 *
 * Two output channels x up to four taps (of one kernel row, and of several input channels when rows are short) are summed at once
 * over at most 256 vectors, then added to totals in f64, which become dK after the last image.
 */

import { greatestOf } from '../../../core/errors/extremes.js'
import { aligned } from '../../plan/memory.js'
import { type ConvOptions, rowTaps, stageInput } from './conv.js'
import { type ConvShape, convOutput, simplifyConv } from './conv-shape.js'
import { clearStaging, copyPlanes, repeat, type Staging, stagingBytes } from './conv-stage.js'
import type { FunctionBuilder, Local, Module } from './encoder.js'
import { address, type Float, type FloatName, floats, multiplyAdd, zeroVector } from './float.js'
import { loadPartial } from './gemm-pack.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

// Eight sums at a time and no unrolling: with more, V8 spills (2x slower).
const mostStreams = 4
const tall = 2
/** Output channels that are summed together: parts of the output channels are multiples. */
export const KERNEL_CHANNELS = tall
const blockVectors = 256

const totalsBytes = ({ outChannels, channels, groups, kernel }: ConvShape): number =>
  aligned(outChannels * (channels / groups) * kernel[0] * kernel[1] * 8, 16)

/** A shifted row of x: where it starts, and the place of its total. */
interface Stream {
  readonly input: number
  readonly total: number
}

/** Adds the kernel of the kernel gradient, dK (+)= pullback of y = x * k at DY; record [DK, X, DY, scratch, batch, output channels of a group]; DK and DY begin with the first of these. */
export function emitConvKernelGradient(
  module: Module,
  { type, madd, accumulate, shape: given }: ConvOptions,
  name?: string,
): FunctionBuilder {
  const F = floats[type]
  const e = F.bytes
  const shape = simplifyConv(given)
  const { channels, height, width, outChannels, groups, dilation } = shape
  const [kh, kw] = shape.kernel
  const [oh, ow] = convOutput(shape)
  const [inputs, outputs] = [channels / groups, outChannels / groups]
  const weights = outChannels * inputs * kh * kw
  const staged = stageInput(F, shape, false)
  const f = module.kernel(name)
  if (weights === 0) return f
  const [dK, x, dY, totals, batch, own] = pointers(f, 6)
  const i32 = address(f)
  const [scratch, source, groupTotals, left] = f.locals('i32', 4)
  const perChannel = inputs * kh * kw
  f.set(scratch, i32.add(totals, totalsBytes(shape)))
  f.get(totals)
    .i32Const(0)
    .push(i32.mul(own, 8 * groups * perChannel))
    .memoryFill()
  clearStaging(f, staged, inputs, scratch)
  if (oh * ow > 0) {
    const chunks = chunkTaps(F, shape, staged)
    const perBlock = Math.max(1, Math.min(inputs, Math.floor(mostStreams / greatestOf(chunks.map((c) => c.length)))))
    const [rowTotals, planeTotals, channelTotals, row, plane, cotangent] = f.locals('i32', 6)
    const dots = dotEmitter(f, F, madd, shape, staged, tall, greatestOf(chunks.map((c) => c.length)) * perBlock)

    const channelBlocks = (height: number, count: number | Local): void => {
      const planeBlocks = (deep: number, blocks: number): void => {
        const streamsOf = (chunk: readonly Stream[]): Stream[] =>
          Array.from({ length: deep }, (_, p) => p).flatMap((p) =>
            chunk.map((s) => ({ input: s.input + p * staged.planeBytes, total: s.total + p * kh * kw * 8 })),
          )
        repeat(f, blocks, () => {
          f.set(row, plane).set(rowTotals, planeTotals)
          repeat(f, kh, () => {
            for (const chunk of chunks) dots(height, streamsOf(chunk), row, cotangent, rowTotals)
            f.increment(row, dilation[0] * staged.rowBytes).increment(rowTotals, kw * 8)
          })
          f.increment(plane, deep * staged.planeBytes).increment(planeTotals, deep * kh * kw * 8)
        })
      }
      repeat(f, count, () => {
        f.set(plane, source).set(planeTotals, channelTotals)
        planeBlocks(perBlock, Math.floor(inputs / perBlock))
        if (inputs % perBlock) planeBlocks(inputs % perBlock, 1)
        f.increment(cotangent, height * oh * ow * e).increment(channelTotals, height * inputs * kh * kw * 8)
      })
    }
    repeat(f, batch, () => {
      f.set(groupTotals, totals)
      repeat(f, groups, () => {
        copyPlanes(f, F, staged, inputs, height, width, x, scratch)
        f.set(source, staged.copied ? scratch : x)
          .set(cotangent, dY)
          .set(channelTotals, groupTotals)
        f.op(OP.i32_div_u, own, tall).set(left)
        channelBlocks(tall, left)
        if (outputs % tall) {
          f.set(left, i32.and(own, tall - 1))
          channelBlocks(1, left)
        }
        f.increment(x, inputs * height * width * e).increment(dY, outputs * oh * ow * e)
        f.increment(groupTotals, i32.mul(own, perChannel * 8))
      })
    })
  }
  f.set(left, i32.mul(own, groups * perChannel))
  repeat(f, left, () => {
    f.get(dK).get(totals).f64Load()
    if (accumulate) {
      F.load(f.get(dK))
      if (type === 'f32') f.op(OP.f64_promote_f32)
      f.op(OP.f64_add)
    }
    if (type === 'f32') f.op(OP.f32_demote_f64)
    F.store(f)
    f.increment(dK, e).increment(totals, 8)
  })
  return f
}

/** The taps of a kernel row in chunks of about equal size that registers can hold. */
function chunkTaps(F: Float, shape: ConvShape, staged: Staging): Stream[][] {
  const streams = rowTaps(F, shape, staged).flatMap((run) =>
    Array.from({ length: run.count }, (_, t) => ({
      input: run.firstInput + t * run.input,
      total: ((run.firstWeight + t * run.weight) / F.bytes) * 8,
    })),
  )
  const count = Math.ceil(streams.length / mostStreams)
  const size = Math.ceil(streams.length / count)
  return Array.from({ length: count }, (_, i) => streams.slice(i * size, (i + 1) * size))
}

/** Emits, for each call, the dot products of `height` cotangent planes with the streams, added to their totals. */
function dotEmitter(f: FunctionBuilder, F: Float, madd: boolean, shape: ConvShape, staged: Staging, maxHeight: number, maxStreams: number) {
  const e = F.bytes
  const { channels, groups, kernel, stride } = shape
  const [oh, ow] = convOutput(shape)
  const channelTotal = (channels / groups) * kernel[0] * kernel[1] * 8
  const i32 = address(f)
  const rest = ow % F.lanes
  const vectors = (ow - rest) / F.lanes
  const rowsPerBlock = Math.max(1, Math.floor(blockVectors / Math.max(1, vectors)))
  const [rowsLeft, rows, xRow, xAt, dyAt] = f.locals('i32', 5)
  const sums = f.locals('v128', maxHeight * maxStreams)
  const cotangents = f.locals('v128', maxHeight)
  const pixels = f.local('v128')

  return (height: number, streams: readonly Stream[], x: Local, dY: Local, totals: Local): void => {
    const step = (load: (pointer: Local, offset: number) => unknown, offset: number): void => {
      for (let c = 0; c < height; c++) {
        load(dyAt, c * oh * ow * e + offset)
        f.set(cotangents[c]!)
      }
      streams.forEach((stream, s) => {
        load(xAt, stream.input + offset)
        f.set(pixels)
        for (let c = 0; c < height; c++) multiplyAdd(f, F, madd, sums[c * streams.length + s]!, pixels, cotangents[c]!)
      })
    }
    const whole = (pointer: Local, offset: number) => f.get(pointer).v128Load(offset)
    const part = (pointer: Local, offset: number) => loadPartial(f, F, pointer, rest, offset)
    f.set(rowsLeft, oh).set(xRow, x).set(dyAt, dY)
    f.loop((nextBlock) => {
      for (let i = 0; i < height * streams.length; i++) zeroVector(f).set(sums[i]!)
      f.set(rows, i32.min(rowsLeft, rowsPerBlock))
      f.set(rowsLeft, i32.sub(rowsLeft, rows))
      f.countDown(rows, () => {
        f.set(xAt, xRow)
        repeat(f, vectors, () => {
          step(whole, 0)
          f.increment(xAt, 16).increment(dyAt, 16)
        })
        if (rest > 0) {
          step(part, 0)
          f.increment(dyAt, rest * e)
        }
        f.increment(xRow, stride[0] * staged.rowBytes)
      })
      for (let c = 0; c < height; c++) {
        streams.forEach((stream, s) => {
          addLanes(f, F, totals, c * channelTotal + stream.total, sums[c * streams.length + s]!)
        })
      }
      f.brIf(nextBlock, rowsLeft)
    })
  }
}

/** The f64 at pointer + offset += the sum of the lanes. */
function addLanes(f: FunctionBuilder, F: Float, pointer: Local, offset: number, sum: Local): void {
  if (F.name === 'f32') {
    f.get(sum).op(OP.f64x2_promote_low_f32x4)
    f.get(sum).get(sum).i32x4Shuffle(2, 3, 2, 3).op(OP.f64x2_promote_low_f32x4)
    f.op(OP.f64x2_add).set(sum)
  }
  f.get(pointer).get(pointer).f64Load(offset)
  f.get(sum).f64x2ExtractLane(0).get(sum).f64x2ExtractLane(1).op(OP.f64_add).op(OP.f64_add)
  f.f64Store(offset)
}

/** Bytes of scratch of the kernel gradient. */
export function convKernelGradientScratchBytes(type: FloatName, given: ConvShape): number {
  const shape = simplifyConv(given)
  return totalsBytes(shape) + stagingBytes(stageInput(floats[type], shape, false), shape.channels / shape.groups)
}
