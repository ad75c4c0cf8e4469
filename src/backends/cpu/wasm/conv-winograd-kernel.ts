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
import { addSums, emitResults } from './conv-winograd-totals.js'
import type { FuncRef, FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { address, floats } from './float.js'
import { gemmScratchBytes, productOf } from './gemm.js'
import { longestPart } from './gemm-long.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

const F = floats.f32
/** Where totals lie: the record of the direct kernel comes first. */
const TOTALS = 32
/** Rows of elements of a transformed tile. */
export const ROWS = 4
/** The words behind the scratch: images, output channels, and, for phases, the first image, row or channel of a part, and rows. */
export const winogradSizes = (images: number, outputs: number): readonly number[] => [images, outputs, 0, ROWS]
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
/** Bytes of the totals, in f64. */
export const totalsBytes = (shape: ConvShape): number => 8 * ELEMENTS * shape.outChannels * shape.channels
/** The scratch; `elements`: how many of a transformed tile are summed at a time, all or a row of them; `totals` lie in it, or elsewhere. */
export const layout = (shape: ConvShape, elements: number, totals: boolean) => {
  const g = geometry(shape, 'forward', TILES_AT_ONCE)
  const tiles = tilesOf(g)
  const weights = g.outputs * g.inputs
  const cotangent = stagedCotangent(shape)
  const [ofKernel, ofInput, ofOutput] = [matrix(g.outputs, g.inputs), matrix(g.inputs, tiles), matrix(g.outputs, tiles)]
  const sums = totals ? TOTALS + totalsBytes(shape) : TOTALS
  const input = sums + elements * ofKernel
  const output = input + elements * ofInput
  const planes = output + elements * ofOutput
  const cotangents = planes + aligned(stagingBytes(g.staged, g.inputs), 16)
  const rest = cotangents + aligned(stagingBytes(cotangent, g.outputs), 16)
  const bytes = rest + gemmScratchBytes('f32', g.outputs, g.inputs, tiles)
  return { g, elements, tiles, weights, cotangent, ofKernel, ofInput, ofOutput, sums, input, output, planes, cotangents, rest, bytes }
}
export type Layout = ReturnType<typeof layout>
/** Bytes of scratch of the kernel. */
export const winogradKernelScratchBytes = (shape: ConvShape): number => {
  const { rest, bytes } = layout(shape, ELEMENTS, true)
  return Math.max(bytes, rest + convKernelGradientScratchBytes('f32', shape))
}

/** Images with their cotangents, as a kernel finds them in its record. */
export interface Images {
  readonly x: Local
  readonly dY: Local
  readonly batch: Local
}
export const imageBytes = ({ g }: Layout): number => 4 * g.inputs * g.height * g.width
export const cotangentBytes = ({ g }: Layout): number => 4 * g.outputs * g.rows * g.columns
/** Calls one of the bodies for each image; pointers end where they began. `test` runs a body if an image is ordinary. */
export const eachImage = (
  f: FunctionBuilder,
  at: Layout,
  { x, dY, batch }: Images,
  test: (body: () => void) => void,
  ordinary: () => void,
  other: () => void,
): void => {
  const i32 = address(f)
  const images = f.local('i32')
  f.set(images, batch)
  repeat(f, images, () => {
    f.block((done) => {
      test(() => {
        ordinary()
        f.br(done)
      })
      other()
    })
    f.increment(x, imageBytes(at)).increment(dY, cotangentBytes(at))
  })
  f.set(x, i32.sub(x, i32.mul(batch, imageBytes(at)))).set(dY, i32.sub(dY, i32.mul(batch, cotangentBytes(at))))
}
/** Runs a body if an image and its cotangent are ordinary. */
export const ordinaryPair = (f: FunctionBuilder, at: Layout, { x, dY }: Images, body: () => void): void =>
  isOrdinary(f, x, imageBytes(at) / 4, () => isOrdinary(f, dY, cotangentBytes(at) / 4, body))

/** What sums over tiles are made of. */
export interface Summing {
  readonly images: Images
  readonly scratch: Local
  /** Where the totals of these elements lie. */
  readonly totals: Operand
  /** Which row of elements, where not all are summed. */
  readonly row?: Local
}
/** Adds to the totals what ordinary images give; calls `other` for those that are not. */
export const emitSums = (
  f: FunctionBuilder,
  at: Layout,
  product: FuncRef,
  { images, scratch, totals, row }: Summing,
  test: (body: () => void) => void,
  other: () => void,
): void => {
  const { g } = at
  const i32 = address(f)
  const [first, left, rows, from, to, tiles, element, summed, planes, cotangents] = f.locals('i32', 10)
  const place = (offset: number) => i32.add(scratch, offset)
  const transforms = new Transforms(f, at, false)
  /** The transform of all elements, or of the row that is summed. */
  const ofRow = (transform: (only?: number) => void): void => {
    if (row === undefined) transform()
    else for (let only = 0; only < 4; only++) f.ifThen(i32.eq(row, only), () => transform(only))
  }
  f.set(planes, place(at.planes)).set(cotangents, place(at.cotangents)).set(summed, 0)
  f.push(totals)
    .i32Const(0)
    .i32Const(8 * at.elements * at.weights)
    .memoryFill()
  clearStaging(f, g.staged, g.inputs, planes)
  clearStaging(f, at.cotangent, g.outputs, cotangents)
  const flush = (): void => {
    addSums(f, at, place(at.sums), totals)
    f.set(summed, 0)
  }
  const ordinary = (): void => {
    copyPlanes(f, F, g.staged, g.inputs, g.height, g.width, images.x, planes)
    copyPlanes(f, F, at.cotangent, g.outputs, g.rows, g.columns, images.dY, cotangents)
    f.set(first, 0).set(left, g.tileRows)
    f.loop((next) => {
      f.set(rows, i32.min(left, g.block))
      f.set(left, i32.sub(left, rows))
      f.set(from, i32.add(planes, i32.mul(first, 2 * g.staged.rowBytes))).set(to, place(at.input))
      ofRow((only) => transforms.input(from, to, rows, only))
      f.set(from, i32.add(at.cotangent.copied ? cotangents : images.dY, i32.mul(first, 2 * at.cotangent.rowBytes)))
      f.set(to, place(at.output))
      ofRow((only) => transforms.cotangent(from, at.cotangent, to, rows, only))
      f.set(tiles, i32.mul(rows, g.vectors * TILES))
      f.forLoop(element, 0, at.elements, 1, () => {
        f.push(place(at.sums)).push(i32.mul(element, at.ofKernel)).op(OP.i32_add)
        f.push(place(at.output)).push(i32.mul(element, at.ofOutput)).op(OP.i32_add)
        f.push(place(at.input)).push(i32.mul(element, at.ofInput)).op(OP.i32_add)
        const ofTiles = 4 * at.tiles
        f.call(product, g.outputs, g.inputs, tiles, 4 * g.inputs, ofTiles, 4, 4, ofTiles, place(at.rest), i32.ne(summed, 0))
      })
      f.increment(summed, tiles)
      f.ifThen(i32.atLeast(summed, longestPart - at.tiles + 1), flush)
      f.increment(first, rows).brIf(next, left)
    })
  }
  eachImage(f, at, images, test, ordinary, other)
  f.ifThen(summed, flush)
}

/** Adds the kernel gradient of a convolution that `byWinograd` computes forward; its record is that of `emitConvKernelGradient`. */
export const emitWinogradKernel = (module: Module, options: ConvOptions, name?: string): FunctionBuilder => {
  const at = layout(options.shape, ELEMENTS, true)
  const { g } = at
  const product = productOf(module, 'f32', options.madd, false, 'blocks')
  const direct = emitConvKernelGradient(module, { ...options, accumulate: true })
  const f = module.kernel(name)
  const i32 = address(f)
  const [dK, x, dY, scratch, batch] = pointers(f, 5)
  const others = f.local('i32')
  const images = { x, dY, batch }
  const [totals, rest] = [i32.add(scratch, TOTALS), i32.add(scratch, at.rest)]
  const test = (body: () => void) => ordinaryPair(f, at, images, body)
  f.set(others, 0)
  emitSums(f, at, product, { images, scratch, totals }, test, () => f.set(others, 1))
  emitResults(f, at, totals, dK, g.outputs, options.accumulate)
  f.ifThen(others, () =>
    eachImage(
      f,
      at,
      images,
      test,
      () => {},
      () => callDirect(f, direct, scratch, [dK, x, dY, rest, 1, g.outputs]),
    ),
  )
  return f
}
/** Calls the direct kernel, on a record at the beginning of the scratch. */
export const callDirect = (f: FunctionBuilder, direct: FuncRef, scratch: Local, record: readonly Operand[]): void => {
  for (const [i, word] of record.entries())
    f.get(scratch)
      .push(word)
      .i32Store(4 * i)
  f.call(direct, scratch)
}
