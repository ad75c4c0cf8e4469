/*
 * The kernel gradient of a 3 x 3 convolution of stride 1 in f32, by the transpose of the minimal filtering in conv-winograd.ts:
 *
 *   dK = G^T [sum over tiles of (A y A^T) * (B^T d B)] G      y: 2 x 2 of the cotangent, d: the 4 x 4 pixels that they came from
 *
 * The sums over tiles are 16 matrix products. Products of up to 4096 tiles are added up in f32, as those of long inner axes are (gemm-long.ts), then in totals of f64. Images with what is not
 * finite, in x or in the cotangent, are added at the end by the direct kernel.
 */

import { aligned } from '../../plan/memory.js'
import type { ConvOptions } from './conv.js'
import { convKernelGradientScratchBytes, emitConvKernelGradient } from './conv-kernel-gradient.js'
import type { ConvShape } from './conv-shape.js'
import { clearStaging, copyPlanes, repeat, type Staging, staging, stagingBytes } from './conv-stage.js'
import { ELEMENTS, geometry, isOrdinary, matrix, PIXELS, TILES, Transforms, tilesOf } from './conv-winograd.js'
import type { FunctionBuilder, Local, Module, Op, Operand } from './encoder.js'
import { address, floats } from './float.js'
import { gemmScratchBytes, productOf } from './gemm.js'
import { longestPart } from './gemm-long.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

const F = floats.f32
/** Tiles of a product: its operands are read once, so that they need not stay in a cache. */
const TILES_AT_ONCE = 256

/** Planes of the cotangent in whole tiles. */
const stagedCotangent = (shape: ConvShape): Staging => {
  const g = geometry(shape, 'forward')
  return staging(
    F,
    g.rows,
    g.columns,
    { top: 0, bottom: 2 * g.tileRows - g.rows, left: 0, right: PIXELS * g.vectors - g.columns },
    1,
    false,
  )
}
const layout = (shape: ConvShape) => {
  const g = geometry(shape, 'forward', TILES_AT_ONCE)
  const tiles = tilesOf(g)
  const weights = g.outputs * g.inputs
  const cotangent = stagedCotangent(shape)
  const [ofKernel, ofInput, ofOutput] = [matrix(g.outputs, g.inputs), matrix(g.inputs, tiles), matrix(g.outputs, tiles)]
  // The record of the direct kernel comes first; its scratch is also that of products.
  const totals = 32
  const sums = totals + 8 * ELEMENTS * weights
  const input = sums + ELEMENTS * ofKernel
  const output = input + ELEMENTS * ofInput
  const planes = output + ELEMENTS * ofOutput
  const cotangents = planes + aligned(stagingBytes(g.staged, g.inputs), 16)
  const rest = cotangents + aligned(stagingBytes(cotangent, g.outputs), 16)
  const bytes = rest + Math.max(convKernelGradientScratchBytes('f32', shape), gemmScratchBytes('f32', g.outputs, g.inputs, tiles))
  return { g, tiles, weights, cotangent, ofKernel, ofInput, ofOutput, totals, sums, input, output, planes, cotangents, rest, bytes }
}
/** Bytes of scratch of the kernel. */
export const winogradKernelScratchBytes = (shape: ConvShape): number => layout(shape).bytes

/** Adds the kernel gradient of a convolution that `byWinograd` computes forward; its record is that of `emitConvKernelGradient`. */
export const emitWinogradKernel = (module: Module, options: ConvOptions, name?: string): FunctionBuilder => {
  const { shape, madd, accumulate } = options
  const at = layout(shape)
  const { g, weights } = at
  const product = productOf(module, 'f32', madd)
  const direct = emitConvKernelGradient(module, { ...options, accumulate: true })
  const f = module.kernel(name)
  const i32 = address(f)
  const [dK, x, dY, scratch, batch] = pointers(f, 5)
  const [others, first, left, rows, from, to, tiles, element, summed, planes, cotangents] = f.locals('i32', 11)
  const place = (offset: number) => i32.add(scratch, offset)
  const [imageBytes, cotangentBytes] = [4 * g.inputs * g.height * g.width, 4 * g.outputs * g.rows * g.columns]
  /** Calls one of the bodies for each image; pointers end where they began. */
  const eachImage = (ordinary: () => void, other: () => void): void => {
    const images = f.local('i32')
    f.set(images, batch)
    repeat(f, images, () => {
      f.block((done) => {
        isOrdinary(f, x, imageBytes / 4, () =>
          isOrdinary(f, dY, cotangentBytes / 4, () => {
            ordinary()
            f.br(done)
          }),
        )
        other()
      })
      f.increment(x, imageBytes).increment(dY, cotangentBytes)
    })
    f.set(x, i32.sub(x, i32.mul(batch, imageBytes))).set(dY, i32.sub(dY, i32.mul(batch, cotangentBytes)))
  }
  const parts = new Transforms(f, at, false)
  f.set(planes, place(at.planes)).set(cotangents, place(at.cotangents)).set(summed, 0).set(others, 0)
  f.push(place(at.totals))
    .i32Const(0)
    .i32Const(8 * ELEMENTS * weights)
    .memoryFill()
  clearStaging(f, g.staged, g.inputs, planes)
  clearStaging(f, at.cotangent, g.outputs, cotangents)
  const flush = (): void => {
    addSums(f, at, place)
    f.set(summed, 0)
  }
  eachImage(
    () => {
      copyPlanes(f, F, g.staged, g.inputs, g.height, g.width, x, planes)
      copyPlanes(f, F, at.cotangent, g.outputs, g.rows, g.columns, dY, cotangents)
      f.set(first, 0).set(left, g.tileRows)
      f.loop((next) => {
        f.set(rows, i32.min(left, g.block))
        f.set(left, i32.sub(left, rows))
        f.set(from, i32.add(planes, i32.mul(first, 2 * g.staged.rowBytes))).set(to, place(at.input))
        parts.input(from, to, rows)
        f.set(from, i32.add(at.cotangent.copied ? cotangents : dY, i32.mul(first, 2 * at.cotangent.rowBytes))).set(to, place(at.output))
        parts.cotangent(from, at.cotangent, to, rows)
        f.set(tiles, i32.mul(rows, g.vectors * TILES))
        f.forLoop(element, 0, ELEMENTS, 1, () => {
          f.push(place(at.sums)).push(i32.mul(element, at.ofKernel)).op(OP.i32_add)
          f.push(place(at.output)).push(i32.mul(element, at.ofOutput)).op(OP.i32_add)
          f.push(place(at.input)).push(i32.mul(element, at.ofInput)).op(OP.i32_add)
          const row = 4 * at.tiles
          f.call(product, g.outputs, g.inputs, tiles, 4 * g.inputs, row, 4, 4, row, place(at.rest), i32.ne(summed, 0))
        })
        f.increment(summed, tiles)
        f.ifThen(i32.atLeast(summed, longestPart - at.tiles + 1), flush)
        f.increment(first, rows).brIf(next, left)
      })
    },
    () => f.set(others, 1),
  )
  f.ifThen(summed, flush)
  finish(f, at, place(at.totals), dK, accumulate)
  f.ifThen(others, () =>
    eachImage(
      () => {},
      () => {
        for (const [i, word] of [dK, x, dY, place(at.rest), 1, g.outputs].entries())
          f.get(scratch)
            .push(word)
            .i32Store(4 * i)
        f.call(direct, scratch)
      },
    ),
  )
  return f
}

type Place = (offset: number) => Operand
/** Adds the sums of all elements to their totals. */
const addSums = (f: FunctionBuilder, at: ReturnType<typeof layout>, place: Place): void => {
  const [from, next, to, element, left] = f.locals('i32', 5)
  f.set(next, place(at.sums)).set(to, place(at.totals))
  f.set(element, ELEMENTS).countDown(element, () => {
    f.set(from, next)
    f.set(left, Math.floor(at.weights / 2)).countDown(left, () => {
      f.get(to)
      f.op(
        OP.f64x2_add,
        () => f.get(to).v128Load(),
        () => f.get(from).v128Load64Zero().op(OP.f64x2_promote_low_f32x4),
      )
      f.v128Store()
      f.increment(from, 8).increment(to, 16)
    })
    if (at.weights % 2 === 1) {
      f.get(to)
      f.op(
        OP.f64_add,
        () => f.get(to).f64Load(),
        () => f.get(from).f32Load().op(OP.f64_promote_f32),
      )
      f.f64Store()
      f.increment(to, 8)
    }
    f.increment(next, at.ofKernel)
  })
}
/** dK (+)= G^T u G of the totals, in f64. */
const finish = (f: FunctionBuilder, at: ReturnType<typeof layout>, totals: Operand, dK: Local, accumulate: boolean): void => {
  const [from, to, left] = f.locals('i32', 3)
  const [u0, u1, u2, u3, sum, difference] = f.locals('f64', 6)
  const columns = Array.from({ length: 4 }, () => f.locals('f64', 3))
  /** G^T times four numbers: u0 + (u1 + u2) / 2, (u1 - u2) / 2, (u1 + u2) / 2 + u3. */
  const folded = (use: (i: number, value: () => void) => void): void => {
    const half = (code: Op) => () => {
      f.op(
        OP.f64_mul,
        () => f.op(code, u1, u2),
        () => f.f64Const(0.5),
      )
    }
    f.set(sum, half(OP.f64_add)).set(difference, half(OP.f64_sub))
    use(0, () => f.op(OP.f64_add, u0, sum))
    use(1, () => f.get(difference))
    use(2, () => f.op(OP.f64_add, sum, u3))
  }
  const u = [u0, u1, u2, u3]
  f.set(from, totals).set(to, dK)
  f.set(left, at.weights).countDown(left, () => {
    for (const [q, column] of columns.entries()) {
      for (const [r, x] of u.entries())
        f.get(from)
          .f64Load(8 * at.weights * (4 * r + q))
          .set(x)
      folded((i, value) => f.set(column[i]!, value))
    }
    for (let r = 0; r < 3; r++) {
      for (const [q, x] of u.entries()) f.set(x, columns[q]![r]!)
      folded((i, value) => {
        const offset = 4 * (3 * r + i)
        f.get(to).push(value)
        if (accumulate) f.op(OP.f64_add, () => f.get(to).f32Load(offset).op(OP.f64_promote_f32))
        f.op(OP.f32_demote_f64).f32Store(offset)
      })
    }
    f.increment(from, 8).increment(to, 36)
  })
}
