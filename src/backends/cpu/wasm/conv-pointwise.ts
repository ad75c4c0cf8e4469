/*
 * 1 x 1 convolutions, and their input gradients, as products: of the matrix K of channels with the pixels of each image,
 *
 *   y[:, pixel] = K x[:, pixel]         dx[:, pixel] = K^T dy[:, pixel]
 */

import { leastOf } from '../../../core/errors/extremes.js'
import type { ConvOptions } from './conv.js'
import { type ConvShape, isPointwise } from './conv-shape.js'
import { repeat } from './conv-stage.js'
import type { Direction } from './conv-winograd.js'
import type { FunctionBuilder, Module } from './encoder.js'
import { type FloatName, floats } from './float.js'
import { gemmScratchBytes, productOf } from './gemm.js'
import { pointers } from './pointers.js'

/** Channels on each side, and pixels, from which on the product is ahead of the direct loop. */
const FEWEST = 8

/** Rows, columns and inner axis of the product. */
const sizesOf = ({ channels, outChannels, height, width }: ConvShape, direction: Direction): readonly [m: number, n: number, k: number] =>
  direction === 'forward' ? [outChannels, height * width, channels] : [channels, height * width, outChannels]

/** Whether a convolution is of this class. */
export const byProduct = (shape: ConvShape, direction: Direction): boolean =>
  shape.groups === 1 && isPointwise(shape) && leastOf(sizesOf(shape, direction)) >= FEWEST

/** Bytes of scratch of the kernel. */
export const pointwiseScratchBytes = (type: FloatName, shape: ConvShape, direction: Direction): number =>
  gemmScratchBytes(type, ...sizesOf(shape, direction))

/** Adds the kernel of a convolution of this class, or of its input gradient; its record is that of `emitConv` or `emitConvInputGradient`. */
export const emitPointwise = (
  module: Module,
  { type, madd, accumulate, shape }: ConvOptions,
  direction: Direction,
  name?: string,
): FunctionBuilder => {
  const e = floats[type].bytes
  const [rows, pixels, inner] = sizesOf(shape, direction)
  const product = productOf(module, type, madd, false, 'blocks')
  const f = module.kernel(name)
  const [y, x, k, scratch, batch] = pointers(f, 5)
  const [kRow, kColumn] = direction === 'forward' ? [inner * e, e] : [e, rows * e]
  repeat(f, batch, () => {
    f.call(product, y, k, x, rows, pixels, inner, pixels * e, kRow, kColumn, pixels * e, e, scratch, accumulate ? 1 : 0)
    f.increment(y, rows * pixels * e).increment(x, inner * pixels * e)
  })
  return f
}
