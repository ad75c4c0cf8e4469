/*
 * 2-D convolution y = x * k (cross-correlation, NCHW by OIHW) and its input gradient, as kernels for one shape.
 *
 * Both are the same loop (conv-taps.ts) over staged planes (conv-stage.ts). The gradient splits x by phase modulo the stride: pixels
 * of one phase meet a fixed set of taps, so each phase is a correlation of stride 1 over y's cotangent.
 * Padding is zeros that take part in the sums: 0 * Infinity is NaN at a border as anywhere else. Rows of the gradient's taps that meet nothing else are left out.
 * The kernel's gradient is in conv-kernel-gradient.ts.
 */

import { greatestOf } from '../../../core/errors/extremes.js'
import { type ConvShape, convOutput, type Run, simplifyConv, tapsOfPhase } from './conv-shape.js'
import { clearStaging, copyPlanes, repeat, type Staging, staging, stagingBytes } from './conv-stage.js'
import { emitTapLoop } from './conv-taps.js'
import type { FunctionBuilder, Local, Module } from './encoder.js'
import { address, type Float, type FloatName, floats } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

export interface ConvOptions {
  readonly type: FloatName
  /** Use relaxed multiply-add; needs relaxed SIMD. */
  readonly madd: boolean
  /** Add to the output instead of overwriting it. */
  readonly accumulate: boolean
  readonly shape: ConvShape
}

/** Planes of x with its padding, columns by phase of the stride. */
export function stageInput(F: Float, shape: ConvShape, overreach: boolean): Staging {
  const [[top, bottom], [left, right]] = shape.padding
  return staging(F, shape.height, shape.width, { top, bottom, left, right }, shape.stride[1], overreach)
}

const forwardStaging = (F: Float, shape: ConvShape): Staging => stageInput(F, shape, convOutput(shape)[1] % F.lanes !== 0)

/** The runs of taps of a kernel row, and where they read in staged rows; in bytes. */
export function rowTaps(F: Float, shape: ConvShape, staged: Staging) {
  const [, sx] = shape.stride
  const [, dx] = shape.dilation
  return Array.from({ length: sx }, (_, phase) => ({ phase, run: tapsOfPhase(shape.kernel[1], sx, dx, phase) }))
    .filter(({ run }) => run.count > 0)
    .map(({ phase, run }) => ({
      count: run.count,
      firstInput: (phase * staged.phaseWidth + Math.floor((run.first * dx) / sx)) * F.bytes,
      input: ((run.step * dx) / sx) * F.bytes,
      firstWeight: run.first * F.bytes,
      weight: run.step * F.bytes,
    }))
}

/** Adds the kernel y (+)= x * k; record [Y, X, K, scratch, batch]. */
export function emitConv(module: Module, { type, madd, accumulate, shape: given }: ConvOptions, name?: string): FunctionBuilder {
  const F = floats[type]
  const e = F.bytes
  const shape = simplifyConv(given)
  const { channels, height, width, outChannels, groups, stride, dilation } = shape
  const [kh, kw] = shape.kernel
  const [oh, ow] = convOutput(shape)
  const [inputs, outputs] = [channels / groups, outChannels / groups]
  const staged = forwardStaging(F, shape)
  const f = module.kernel(name)
  if (outChannels * oh * ow === 0) return f
  const [y, x, k, scratch, batch] = pointers(f, 5)
  const weights = f.local('i32')
  clearStaging(f, staged, inputs, scratch)
  repeat(f, batch, () => {
    f.set(weights, k)
    repeat(f, groups, () => {
      copyPlanes(f, F, staged, inputs, height, width, x, scratch)
      emitTapLoop(
        f,
        F,
        {
          channels: { count: outputs, weight: inputs * kh * kw * e, output: oh * ow * e },
          ys: { count: oh, input: stride[0] * staged.rowBytes, output: ow * e },
          xs: { count: ow, output: e },
          planes: { count: inputs, input: staged.planeBytes, weight: kh * kw * e },
          rows: { count: kh, input: dilation[0] * staged.rowBytes, weight: kw * e },
          taps: rowTaps(F, shape, staged),
          madd,
          accumulate,
        },
        staged.copied ? scratch : x,
        weights,
        y,
      )
      f.increment(x, inputs * height * width * e).increment(y, outputs * oh * ow * e)
      f.increment(weights, outputs * inputs * kh * kw * e)
    })
  })
  return f
}

/** One phase of one axis: the taps it meets, its first pixel, how many, and the first output it reads. */
interface Phase {
  readonly run: Run
  readonly pixel: number
  readonly count: number
  readonly output: number
  /** Outputs between consecutive taps. */
  readonly distance: number
}

function phasesOf(shape: ConvShape, axis: 0 | 1): Phase[] {
  const extent = axis === 0 ? shape.height : shape.width
  const stride = shape.stride[axis]
  const dilation = shape.dilation[axis]
  const before = shape.padding[axis][0]
  return Array.from({ length: stride }, (_, phase) => {
    const run = tapsOfPhase(shape.kernel[axis], stride, dilation, phase)
    const first = Math.ceil((before - phase) / stride)
    const last = Math.floor((extent - 1 + before - phase) / stride)
    return {
      run,
      pixel: first * stride + phase - before,
      count: Math.max(0, last - first + 1),
      output: first - (run.first * dilation - phase) / stride,
      distance: (run.step * dilation) / stride,
    }
  })
}

/** How far the phases reach before the first and past the last of `outputs`. */
function reach(phases: readonly Phase[], outputs: number): readonly [number, number] {
  const used = phases.filter((p) => p.run.count > 0 && p.count > 0)
  const before = greatestOf(
    used.map((p) => (p.run.count - 1) * p.distance - p.output),
    0,
  )
  const after = greatestOf(
    used.map((p) => p.output + p.count - outputs),
    0,
  )
  return [before, after]
}

/** Do enough taps of a phase meet no output, but zeros, that it pays to find which? Only of those that go back by one output. */
function manyOutside({ run, count, output, distance }: Phase, outputs: number): boolean {
  if (distance !== 1) return false
  let met = 0
  for (let s = 0; s < run.count; s++) met += Math.max(0, Math.min(count, outputs + s - output) - Math.max(0, s - output))
  return met < 0.9 * count * run.count
}

/** More phases than this would be more code than speed: one loop scatters instead. */
const mostPhases = 16

const scatters = ({ stride }: ConvShape): boolean => stride[0] * stride[1] > mostPhases

function gradientStaging(F: Float, shape: ConvShape): Staging {
  const [oh, ow] = convOutput(shape)
  const [top, bottom] = reach(phasesOf(shape, 0), oh)
  const columns = phasesOf(shape, 1)
  const [left, right] = reach(columns, ow)
  return staging(
    F,
    oh,
    ow,
    { top, bottom, left, right },
    1,
    columns.some((p) => p.count % F.lanes !== 0),
  )
}

/** Adds the kernel of the input gradient, dX (+)= pullback of y = x * k at DY; record [DX, DY, K, scratch, batch]. */
export function emitConvInputGradient(
  module: Module,
  { type, madd, accumulate, shape: given }: ConvOptions,
  name?: string,
): FunctionBuilder {
  const F = floats[type]
  const e = F.bytes
  const shape = simplifyConv(given)
  const { channels, height, width, outChannels, groups, stride } = shape
  const [kh, kw] = shape.kernel
  const [oh, ow] = convOutput(shape)
  const [inputs, outputs] = [channels / groups, outChannels / groups]
  const f = module.kernel(name)
  if (channels * height * width === 0) return f
  const [dX, dY, k, scratch, batch] = pointers(f, 5)
  if (oh * ow === 0 || scatters(shape)) {
    if (!accumulate)
      f.get(dX)
        .i32Const(0)
        .push(address(f).mul(batch, channels * height * width * e))
        .memoryFill()
    if (oh * ow > 0) emitScatter(f, F, shape, { dX, dY, k, batch })
    return f
  }
  const staged = gradientStaging(F, shape)
  const [weights, input, phaseWeights, output] = f.locals('i32', 4)
  clearStaging(f, staged, outputs, scratch)
  repeat(f, batch, () => {
    f.set(weights, k)
    repeat(f, groups, () => {
      copyPlanes(f, F, staged, outputs, oh, ow, dY, scratch)
      for (const row of phasesOf(shape, 0)) {
        for (const column of phasesOf(shape, 1)) {
          if (row.count * column.count === 0) continue
          const start = (staged.top + row.output) * staged.rowBytes + (staged.left + column.output) * e
          f.op(OP.i32_add, staged.copied ? scratch : dY, start).set(input)
          f.op(OP.i32_add, weights, row.run.first * kw * e).set(phaseWeights)
          f.op(OP.i32_add, dX, (row.pixel * width + column.pixel) * e).set(output)
          emitTapLoop(
            f,
            F,
            {
              channels: { count: inputs, weight: kh * kw * e, output: height * width * e },
              ys: { count: row.count, input: staged.rowBytes, output: stride[0] * width * e },
              xs: { count: column.count, output: stride[1] * e },
              planes: { count: outputs, input: staged.planeBytes, weight: inputs * kh * kw * e },
              rows: {
                count: row.run.count,
                input: -row.distance * staged.rowBytes,
                weight: row.run.step * kw * e,
                ...(manyOutside(row, oh) && { inside: { from: row.output, count: oh } }),
              },
              taps:
                column.run.count === 0
                  ? []
                  : [
                      {
                        count: column.run.count,
                        firstInput: 0,
                        input: -column.distance * e,
                        firstWeight: column.run.first * e,
                        weight: column.run.step * e,
                      },
                    ],
              madd,
              accumulate,
            },
            input,
            phaseWeights,
            output,
          )
        }
      }
      f.increment(dX, inputs * height * width * e).increment(dY, outputs * oh * ow * e)
      f.increment(weights, outputs * inputs * kh * kw * e)
    })
  })
  return f
}

/** dX += pullback, one product at a time, in the order of y. */
function emitScatter(
  f: FunctionBuilder,
  F: Float,
  shape: ConvShape,
  { dX, dY, k, batch }: Readonly<Record<'dX' | 'dY' | 'k' | 'batch', Local>>,
): void {
  const e = F.bytes
  const { channels, height, width, outChannels, groups, stride, dilation, padding } = shape
  const [kh, kw] = shape.kernel
  const [oh, ow] = convOutput(shape)
  const [inputs, outputs] = [channels / groups, outChannels / groups]
  const i32 = address(f)
  const [weights, weight, plane, row, column, r, c, target] = f.locals('i32', 8)
  repeat(f, batch, () => {
    f.set(weights, k)
    repeat(f, groups, () => {
      repeat(f, outputs, () => {
        f.set(row, -padding[0][0])
        repeat(f, oh, () => {
          f.set(column, -padding[1][0])
          repeat(f, ow, () => {
            f.set(weight, weights).set(plane, dX)
            repeat(f, inputs, () => {
              f.set(r, row)
              repeat(f, kh, () => {
                f.set(c, column)
                repeat(f, kw, () => {
                  // a negative place is a large unsigned one
                  f.ifThen(i32.and(i32.below(r, height), i32.below(c, width)), () => {
                    f.set(target, i32.add(plane, i32.mul(i32.add(i32.mul(r, width), c), e)))
                    F.load(f.get(target).get(target))
                    F.load(F.load(f.get(dY)).get(weight))
                      .op(F.mul)
                      .op(F.add)
                    F.store(f)
                  })
                  f.increment(c, dilation[1]).increment(weight, e)
                })
                f.increment(r, dilation[0])
              })
              f.increment(plane, height * width * e)
            })
            f.increment(dY, e).increment(column, stride[1])
          })
          f.increment(row, stride[0])
        })
        f.increment(weights, inputs * kh * kw * e)
      })
      f.increment(dX, inputs * height * width * e)
    })
  })
}

/** Bytes of scratch of the forward kernel. */
export function convScratchBytes(type: FloatName, shape: ConvShape): number {
  return stagingBytes(forwardStaging(floats[type], simplifyConv(shape)), shape.channels / shape.groups)
}

/** Bytes of scratch of the input gradient. */
export function convInputGradientScratchBytes(type: FloatName, given: ConvShape): number {
  const shape = simplifyConv(given)
  const [oh, ow] = convOutput(shape)
  if (scatters(shape) || oh * ow * shape.height * shape.width === 0) return 0
  return stagingBytes(gradientStaging(floats[type], shape), shape.outChannels / shape.groups)
}
