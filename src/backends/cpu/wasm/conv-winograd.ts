/*
 * 3 x 3 convolutions of stride 1 in f32, and their input gradients, by Winograd's minimal filtering F(2 x 2, 3 x 3) (Lavin and Gray 2015):
 *
 *   Y = A^T [sum over channels of (G g G^T) * (B^T d B)] A      for every tile d of 4 x 4 pixels, which gives 2 x 2 of the output
 *
 * The sums are 16 matrix products, with 16 / 36 of the multiplications of the direct loop (conv.ts). A vector holds the same element of four tiles
 * of a row; products are of blocks of rows of tiles, which the second cache holds. The input gradient is the convolution of y's cotangent with
 * the turned kernel. A tile adds and subtracts its pixels, so what is not finite would reach pixels that no sum connects it with: such images,
 * and all images of such weights, go to the direct loop.
 */

import { aligned } from '../../plan/memory.js'
import { type ConvOptions, convInputGradientScratchBytes, convScratchBytes, emitConv, emitConvInputGradient } from './conv.js'
import { type ConvShape, convOutput } from './conv-shape.js'
import { clearStaging, copyPlanes, repeat, type Staging, staging, stagingBytes } from './conv-stage.js'
import type { FuncRef, FunctionBuilder, Local, Module, Op, Operand, Repeat } from './encoder.js'
import { address, type FloatName, floats } from './float.js'
import { gemmScratchBytes, productOf } from './gemm.js'
import { loadPartial, storeResult } from './gemm-pack.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

const F = floats.f32
/** Tiles that a vector holds, and the pixels that they give in a row. */
export const TILES = 4
export const PIXELS = 2 * TILES
/** Elements of a transformed tile. */
export const ELEMENTS = 16
/** Tiles of a product: fewer, and it is too narrow; more, and the second cache does not hold its operands. */
const TILES_AT_ONCE = 128
/** Channels, of the smaller and of the larger side, from which on transforms cost little beside products; and tiles of an image, also where the transformed kernel is large. */
const CHANNELS = [8, 16] as const
const TILES_OF_IMAGE = [16, 48] as const
/** Pairs of channels above which a transformed kernel is large, and those above which it is too large for the scratch: 64 bytes of each, and 192 for its gradient, which has totals in f64. */
const LARGE = 2 ** 16
const MOST = { forward: 2 ** 19, input: 2 ** 19, kernel: 2 ** 18 } as const
/** The rows of B^T d, of the rows of d. */
const ROWS = [
  [OP.f32x4_sub, 0, 2],
  [OP.f32x4_add, 1, 2],
  [OP.f32x4_sub, 2, 1],
  [OP.f32x4_sub, 1, 3],
] as const
/** Largest magnitude for which no transform or product overflows. */
const LARGEST = 2 ** 50
/** Between the matrices of neighbouring elements, so that the 16 streams of a transform do not fall into one set of the first cache. */
const GAP = 64

export type Direction = 'forward' | 'input'

/** The correlation that is computed: of which planes, to which, and where tiles lie. */
export interface Geometry {
  readonly inputs: number
  readonly outputs: number
  /** Of the planes that are read. */
  readonly height: number
  readonly width: number
  /** Of the planes that are written. */
  readonly rows: number
  readonly columns: number
  readonly staged: Staging
  /** Rows of tiles, vectors of tiles in a row, and rows of tiles in a block. */
  readonly tileRows: number
  readonly vectors: number
  readonly block: number
}

export const geometry = (shape: ConvShape, direction: Direction, tilesAtOnce = TILES_AT_ONCE): Geometry => {
  const [oh, ow] = convOutput(shape)
  const [[padTop], [padLeft]] = shape.padding
  const forward = direction === 'forward'
  const [height, width, rows, columns] = forward ? [shape.height, shape.width, oh, ow] : [oh, ow, shape.height, shape.width]
  const [top, left] = forward ? [padTop, padLeft] : [2 - padTop, 2 - padLeft]
  const tileRows = Math.ceil(rows / 2)
  const vectors = Math.ceil(columns / PIXELS)
  const border = { top, bottom: 2 * tileRows + 2 - top - height, left, right: PIXELS * vectors + 4 - left - width }
  return {
    inputs: forward ? shape.channels : shape.outChannels,
    outputs: forward ? shape.outChannels : shape.channels,
    height,
    width,
    rows,
    columns,
    staged: staging(F, height, width, border, 1, true),
    tileRows,
    vectors,
    block: Math.min(tileRows, Math.max(1, Math.floor(tilesAtOnce / (vectors * TILES)))),
  }
}

/** Whether a convolution is of this class, and by how much fewer multiplications: at most 4/5 of those of the direct loop. */
export const byWinograd = (type: FloatName, shape: ConvShape, of: Direction | 'kernel'): boolean => {
  const direction = of === 'input' ? of : 'forward'
  const { kernel, stride, dilation, groups, padding, channels, outChannels } = shape
  if (type !== 'f32' || groups !== 1) return false
  if (kernel.some((n) => n !== 3) || [...stride, ...dilation].some((n) => n !== 1)) return false
  if (direction === 'input' && padding.flat().some((n) => n > 2)) return false
  if (Math.min(channels, outChannels) < CHANNELS[0] || Math.max(channels, outChannels) < CHANNELS[1]) return false
  const { rows, columns, tileRows, vectors } = geometry(shape, direction)
  const tiles = tileRows * vectors * TILES
  const weights = channels * outChannels
  if (tiles < TILES_OF_IMAGE[weights > LARGE ? 1 : 0] || weights > MOST[of]) return false
  return 5 * ELEMENTS * tiles <= 4 * 9 * rows * TILES * Math.ceil(columns / TILES)
}

/** Tiles of a block. */
export const tilesOf = (g: Geometry): number => g.block * g.vectors * TILES
/** Bytes from the matrix of one element to that of the next. */
export const matrix = (rows: number, columns: number): number => aligned(4 * rows * columns, 16) + GAP

/** Where things lie in the scratch, and the distances between the matrices of the 16 elements; in bytes. */
const layout = (shape: ConvShape, direction: Direction) => {
  const g = geometry(shape, direction)
  const tiles = tilesOf(g)
  const [ofKernel, ofInput, ofOutput] = [matrix(g.outputs, g.inputs), matrix(g.inputs, tiles), matrix(g.outputs, tiles)]
  // The record of the direct loop comes first.
  const kernel = 32
  const input = kernel + ELEMENTS * ofKernel
  const output = input + ELEMENTS * ofInput
  const planes = output + ELEMENTS * ofOutput
  const rest = planes + aligned(stagingBytes(g.staged, g.inputs), 16)
  const direct = direction === 'forward' ? convScratchBytes('f32', shape) : convInputGradientScratchBytes('f32', shape)
  const bytes = rest + Math.max(direct, gemmScratchBytes('f32', g.outputs, tiles, g.inputs))
  return { g, tiles, ofKernel, ofInput, ofOutput, kernel, input, output, planes, rest, bytes }
}

/** Bytes of scratch of the kernel. */
export const winogradScratchBytes = (shape: ConvShape, direction: Direction): number => layout(shape, direction).bytes

/** Adds the kernel of a convolution of this class, or of its input gradient; its record is that of `emitConv` or `emitConvInputGradient`. */
export const emitWinograd = (module: Module, options: ConvOptions, direction: Direction, name?: string): FunctionBuilder => {
  const { shape, madd, accumulate } = options
  const at = layout(shape, direction)
  const { g } = at
  const product = productOf(module, 'f32', madd, false, 'blocks')
  const direct: FuncRef = direction === 'forward' ? emitConv(module, options) : emitConvInputGradient(module, options)
  const f = module.kernel(name)
  const i32 = address(f)
  const [y, x, k, scratch, batch] = pointers(f, 5)
  const [ordinary, first, left, rows, from, to, tiles, element] = f.locals('i32', 8)
  const place = (offset: number) => i32.add(scratch, offset)
  const planes = f.local('i32')
  f.set(planes, place(at.planes))
  const parts = new Transforms(f, at, accumulate)

  f.set(ordinary, 0)
  isOrdinary(f, k, 9 * g.inputs * g.outputs, () => {
    f.set(ordinary, 1)
    f.set(to, place(at.kernel))
    parts.kernel(k, to, direction, shape.channels, shape.outChannels)
    clearStaging(f, g.staged, g.inputs, planes)
  })
  repeat(f, batch, () => {
    f.block((done) => {
      f.ifThen(ordinary, () =>
        isOrdinary(f, x, g.inputs * g.height * g.width, () => {
          copyPlanes(f, F, g.staged, g.inputs, g.height, g.width, x, planes)
          f.set(first, 0).set(left, g.tileRows)
          f.loop((next) => {
            f.set(rows, i32.min(left, g.block))
            f.set(left, i32.sub(left, rows))
            f.set(from, i32.add(planes, i32.mul(first, 2 * g.staged.rowBytes))).set(to, place(at.input))
            parts.input(from, to, rows)
            f.set(tiles, i32.mul(rows, g.vectors * TILES))
            f.forLoop(element, 0, ELEMENTS, 1, () => {
              f.push(place(at.output)).push(i32.mul(element, at.ofOutput)).op(OP.i32_add)
              f.push(place(at.kernel)).push(i32.mul(element, at.ofKernel)).op(OP.i32_add)
              f.push(place(at.input)).push(i32.mul(element, at.ofInput)).op(OP.i32_add)
              const [row, inner] = [4 * at.tiles, 4 * g.inputs]
              f.call(product, g.outputs, tiles, g.inputs, row, inner, 4, row, 4, place(at.rest), 0)
            })
            f.set(from, place(at.output)).set(to, i32.add(y, i32.mul(first, 8 * g.columns)))
            parts.output(from, to, rows, left)
            f.increment(first, rows).brIf(next, left)
          })
          f.br(done)
        }),
      )
      const words = [y, x, k, place(at.rest), 1]
      for (const [i, word] of words.entries())
        f.get(scratch)
          .push(word)
          .i32Store(4 * i)
      f.call(direct, scratch)
    })
    f.increment(x, 4 * g.inputs * g.height * g.width).increment(y, 4 * g.outputs * g.rows * g.columns)
  })
  return f
}

/** Runs `body` if so many elements are all of ordinary size: as integers, magnitudes are in the order of their bits, and NaN are the largest. */
export function isOrdinary(f: FunctionBuilder, from: Local, count: number, body: () => void): void {
  const [at, left] = f.locals('i32', 2)
  const largest = f.local('v128')
  const take = (value: () => unknown): void => {
    f.op(OP.i32x4_max_s, largest, () => f.op(OP.v128_and, value, () => f.i32x4Const(0x7fffffff))).set(largest)
  }
  f.i32x4Const(0).set(largest)
  f.set(at, from)
  const vectors = Math.floor(count / 4)
  if (vectors > 0)
    f.set(left, vectors).countDown(left, () => {
      take(() => f.get(at).v128Load())
      f.increment(at, 16)
    })
  if (count % 4 > 0) take(() => loadPartial(f, F, at, count % 4, 0))
  f.op(OP.i32x4_gt_s, largest, () => f.f32x4Const(LARGEST))
  f.op(OP.v128_any_true).op(OP.i32_eqz).if(body)
}

/** The tiles of a block, and the bytes between the matrices of the 16 elements: of the kernel, of the image and of the result. */
interface Matrices {
  readonly g: Geometry
  readonly tiles: number
  readonly ofKernel: number
  readonly ofInput: number
  readonly ofOutput: number
}
export class Transforms {
  private readonly v: Repeat<Local, 12>
  constructor(
    private readonly f: FunctionBuilder,
    private readonly at: Matrices,
    private readonly accumulate: boolean,
  ) {
    this.v = f.locals('v128', 12)
  }

  /** G g G^T of all weights, from [outChannels, channels, 3, 3]: a matrix [outputs, inputs] for each element; turned for the gradient. */
  kernel(weights: Local, to: Local, direction: Direction, channels: number, outChannels: number): void {
    const { f, at } = this
    const [from, row, outer, inner] = f.locals('i32', 4)
    const [a, b, c, sum, half, r0, r1, r2, r3] = this.v
    const rows = [r0, r1, r2, r3]
    const forward = direction === 'forward'
    /** G times three vectors: the first, (a + b + c) / 2, (a - b + c) / 2, the last. */
    const transformed = (first: Local, last: Local, use: (i: number, value: () => unknown) => void): void => {
      const halved = (x: () => unknown) => () => f.op(OP.f32x4_mul, x, () => f.f32x4Const(0.5))
      f.set(
        sum,
        halved(() => f.op(OP.f32x4_add, first, last)),
      )
      f.set(
        half,
        halved(() => f.get(b)),
      )
      use(0, () => f.get(first))
      use(1, () => f.op(OP.f32x4_add, sum, half))
      use(2, () => f.op(OP.f32x4_sub, sum, half))
      use(3, () => f.get(last))
    }
    const [alongInputs, alongOutputs] = [4, 4 * at.g.inputs]
    f.set(from, weights)
    f.set(outer, outChannels).countDown(outer, () => {
      f.set(row, to)
      f.set(inner, channels).countDown(inner, () => {
        f.get(from).v128Load().set(a)
        f.get(from).v128Load(12).set(b)
        f.get(from).v128Load(20).set(c)
        f.get(c).get(c).i32x4Shuffle(1, 2, 3, 3).set(c)
        transformed(forward ? a : c, forward ? c : a, (i, value) => f.set(rows[i]!, value))
        for (const [i, column] of [a, b, c].entries()) {
          const x = i - (i % 2)
          for (const [upper, lower] of [
            [r0, r1],
            [r2, r3],
          ] as const)
            f.get(upper)
              .get(lower)
              .i32x4Shuffle(x, 4 + x, x + 1, 5 + x)
          f.i64x2Shuffle(i % 2, 2 + (i % 2)).set(column)
        }
        transformed(forward ? a : c, forward ? c : a, (q, value) => {
          f.set(r0, value)
          for (let r = 0; r < 4; r++)
            f.get(row)
              .get(r0)
              .v128Store32Lane(r, (4 * r + q) * at.ofKernel)
        })
        f.increment(row, forward ? alongInputs : alongOutputs).increment(from, 36)
      })
      f.increment(to, forward ? alongOutputs : alongInputs)
    })
  }

  /** B^T d B of so many rows of tiles of every channel, from the staged planes: a matrix [inputs, tiles] for each element, or for those of one row of it. */
  input(planes: Local, matrices: Local, rows: Local, only?: number): void {
    const { f, at } = this
    const { g } = at
    const { rowBytes, planeBytes } = g.staged
    const [plane, from, to, matrixRow, channel, row] = f.locals('i32', 6)
    const [a0, a1, a2, b0, b1, b2, wa, wb, wc, e, o, later] = this.v
    const [above, below, w] = [
      [a0, a1, a2],
      [b0, b1, b2],
      [wa, wb, wc],
    ] as const
    const parts = [0, 1, 2] as const
    const load = (r: number, part: number) => () =>
      part === 2 ? f.get(from).v128Load64Zero(r * rowBytes + 32) : f.get(from).v128Load(r * rowBytes + 16 * part)
    /** Rows that are read more than once stay in registers. */
    const pixels = (r: number, part: 0 | 1 | 2): Operand => {
      if (only !== undefined || r === 0 || r === 3) return load(r, part)
      return r === 1 ? above[part] : below[part]
    }
    const store = (i: number, q: number, code: Op, x: Local, y: Local): void => {
      f.get(to)
        .op(code, x, y)
        .v128Store((only === undefined ? 4 * i + q : q) * at.ofInput)
    }
    /** The four columns of a row of B^T d. */
    const columns = (i: number): void => {
      f.get(wa).get(wb).i32x4Shuffle(0, 2, 4, 6).set(e)
      f.get(wa).get(wb).i32x4Shuffle(1, 3, 5, 7).set(o)
      f.get(e).get(wc).i32x4Shuffle(1, 2, 3, 4).set(later)
      store(i, 0, OP.f32x4_sub, e, later)
      store(i, 1, OP.f32x4_add, o, later)
      store(i, 2, OP.f32x4_sub, later, o)
      f.op(OP.i64x2_shr_u, wc, 32).set(wc)
      f.get(o).get(wc).i32x4Shuffle(1, 2, 3, 4).set(later)
      store(i, 3, OP.f32x4_sub, o, later)
    }
    f.set(plane, planes).set(matrixRow, matrices)
    f.set(channel, g.inputs).countDown(channel, () => {
      f.set(from, plane).set(to, matrixRow)
      f.set(row, rows).countDown(row, () => {
        repeat(f, g.vectors, () => {
          if (only === undefined) for (const part of parts) f.set(above[part], load(1, part)).set(below[part], load(2, part))
          for (const [i, [code, first, second]] of ROWS.entries()) {
            if (only !== undefined && i !== only) continue
            for (const part of parts) f.op(code, pixels(first, part), pixels(second, part)).set(w[part])
            columns(i)
          }
          f.increment(from, 4 * PIXELS).increment(to, 16)
        })
        f.increment(from, 2 * rowBytes - 4 * PIXELS * g.vectors)
      })
      f.increment(plane, planeBytes).increment(matrixRow, 4 * at.tiles)
    })
  }

  /** A^T m A of so many rows of tiles of every channel, into y; `left` are the rows of tiles after them. */
  output(matrices: Local, out: Local, rows: Local, left: Local): void {
    const { f, at, accumulate } = this
    const { g } = at
    const i32 = address(f)
    const [from, to, matrixRow, channel, row, plane] = f.locals('i32', 6)
    const [m0, m1, m2, m3, u0, u1, u2, u3, l0, l1, l2, l3] = this.v
    const [upper, lower] = [
      [u0, u1, u2, u3],
      [l0, l1, l2, l3],
    ] as const
    const vector = (height: number, count: number): void => {
      for (let q = 0; q < 4; q++) {
        for (const [r, m] of [m0, m1, m2, m3].entries())
          f.get(from)
            .v128Load((4 * r + q) * at.ofOutput)
            .set(m)
        f.op(OP.f32x4_add, () => f.op(OP.f32x4_add, m0, m1), m2).set(upper[q]!)
        if (height === 2) f.op(OP.f32x4_sub, () => f.op(OP.f32x4_sub, m1, m2), m3).set(lower[q]!)
      }
      for (let r = 0; r < height; r++) {
        const [s0, s1, s2, s3] = r === 0 ? upper : lower
        f.op(OP.f32x4_add, () => f.op(OP.f32x4_add, s0, s1), s2).set(m0)
        f.op(OP.f32x4_sub, () => f.op(OP.f32x4_sub, s1, s2), s3).set(m1)
        for (const part of [0, 1] as const) {
          const lanes = Math.min(4, count - 4 * part)
          if (lanes <= 0) continue
          f.get(m0)
            .get(m1)
            .i32x4Shuffle(2 * part, 4 + 2 * part, 2 * part + 1, 5 + 2 * part)
            .set(m2)
          storeResult(f, F, to, m2, lanes, 4 * r * g.columns + 16 * part, accumulate ? F.vadd : undefined)
        }
      }
    }
    const rest = g.columns - PIXELS * (g.vectors - 1)
    const rowOfTiles = (height: number): void => {
      repeat(f, g.vectors - 1, () => {
        vector(height, PIXELS)
        f.increment(from, 16).increment(to, 4 * PIXELS)
      })
      vector(height, rest)
      f.increment(from, 16).increment(to, 4 * (2 * g.columns - PIXELS * (g.vectors - 1)))
    }
    f.set(matrixRow, matrices).set(plane, out)
    f.set(channel, g.outputs).countDown(channel, () => {
      f.set(from, matrixRow).set(to, plane)
      if (g.rows % 2 === 0) f.set(row, rows).countDown(row, () => rowOfTiles(2))
      else {
        // The last row of tiles gives one row of pixels.
        f.set(
          row,
          i32.sub(rows, () => f.op(OP.i32_eqz, left)),
        )
        f.ifThen(row, () => f.countDown(row, () => rowOfTiles(2)))
        f.op(OP.i32_eqz, left).if(() => rowOfTiles(1))
      }
      f.increment(matrixRow, 4 * at.tiles).increment(plane, 4 * g.rows * g.columns)
    })
  }

  /** A y A^T of so many rows of tiles of every channel, from staged planes of y's cotangent: a matrix [outputs, tiles] for each element, or for those of one row of it. */
  cotangent(planes: Local, staged: Staging, matrices: Local, rows: Local, only?: number): void {
    const { f, at } = this
    const { g } = at
    const [plane, from, to, matrixRow, channel, row] = f.locals('i32', 6)
    const [a, b, even, odd, u0, u1, u2, u3, l0, l1, l2, l3] = this.v
    const halves = [
      [u0, u1, u2, u3],
      [l0, l1, l2, l3],
    ] as const
    f.set(plane, planes).set(matrixRow, matrices)
    f.set(channel, g.outputs).countDown(channel, () => {
      f.set(from, plane).set(to, matrixRow)
      f.set(row, rows).countDown(row, () => {
        repeat(f, g.vectors, () => {
          for (const [r, columns] of halves.entries()) {
            if (only === 3 * (1 - r)) continue // the first row of elements has no lower pixels, the last no upper ones
            f.get(from)
              .v128Load(r * staged.rowBytes)
              .set(a)
            f.get(from)
              .v128Load(r * staged.rowBytes + 16)
              .set(b)
            f.get(a).get(b).i32x4Shuffle(0, 2, 4, 6).set(even)
            f.get(a).get(b).i32x4Shuffle(1, 3, 5, 7).set(odd)
            f.set(columns[0], even)
            f.op(OP.f32x4_add, even, odd).set(columns[1])
            f.op(OP.f32x4_sub, even, odd).set(columns[2])
            f.op(OP.f32x4_neg, odd).set(columns[3])
          }
          for (let q = 0; q < 4; q++) {
            const [upper, lower] = [halves[0][q]!, halves[1][q]!]
            const values = [
              upper,
              () => f.op(OP.f32x4_add, upper, lower),
              () => f.op(OP.f32x4_sub, upper, lower),
              () => f.op(OP.f32x4_neg, lower),
            ]
            for (const [r, value] of values.entries()) {
              if (only !== undefined && r !== only) continue
              f.get(to)
                .push(value)
                .v128Store((only === undefined ? 4 * r + q : q) * at.ofOutput)
            }
          }
          f.increment(from, 4 * PIXELS).increment(to, 16)
        })
        f.increment(from, 2 * staged.rowBytes - 4 * PIXELS * g.vectors)
      })
      f.increment(plane, staged.planeBytes).increment(matrixRow, 4 * at.tiles)
    })
  }
}
