/**
 * Convolutions and their adjoints as products of the library. Each tap of the kernel is one product with the image shifted by that tap: of an image with its padding, whose rows follow
 * each other, a shift is another first element, and nothing is gathered (Vasudevan et al. 2017). With steps between windows the image is cut into as many: pixels that are a step apart lie
 * side by side, and each tap is a shift in one of them.
 */
import { itemBytes } from '../../core/graph/aval.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import {
  type ConvParams,
  convInputAddPrimitive,
  convInputPrimitive,
  convKernelAddPrimitive,
  convKernelPrimitive,
  convPrimitive,
} from '../../core/ops/conv.js'
import type { WholeByLibrary } from '../cpu/kernel.js'
import type { FloatName } from '../cpu/wasm/float.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Library } from './library.js'
import type { Moves } from './moves.js'
import { type Gemm, gemmOf, type Mapped } from './products.js'

type Floats = Float32Array | Float64Array

/** Channels of x and of the result, of one group, from which products pay; of fewer channels of x, and twice as many of the result, products with gathered columns (bench/operations.ts). */
export const CHANNELS = 8

/** One group of a convolution. */
interface Shape {
  readonly images: number
  readonly groups: number
  /** Channels of x, and of the result. */
  readonly from: number
  readonly to: number
  readonly height: number
  readonly width: number
  /** Height and width of the result. */
  readonly rows: number
  readonly columns: number
  readonly kernel: readonly [number, number]
  readonly params: ConvParams
}
const shapeOf = (x: readonly number[], k: readonly number[], y: readonly number[], params: ConvParams): Shape => ({
  images: x[0]!,
  groups: params.groups,
  from: k[1]!,
  to: k[0]! / params.groups,
  height: x[2]!,
  width: x[3]!,
  rows: y[2]!,
  columns: y[3]!,
  kernel: [k[2]!, k[3]!],
  params,
})

/** What one call works with: the addresses of x, the kernel and the result, or of their cotangents, and of the scratch, in the memory, and of what lies there for the library. */
interface Call {
  readonly x: number
  readonly k: number
  readonly y: number
  readonly work: number
  /** Of an element. */
  readonly bytes: number
  readonly moves: Moves
  readonly gemm: Gemm
  /** So many elements of the scratch, or from an address on, become 0. */
  readonly clear: (count: number) => void
  readonly zero: (at: number, count: number) => void
  /** Added to what the result holds. */
  readonly accumulate: boolean
}
/** Elements of scratch, and what runs for each kind. */
interface Way {
  readonly elements: number
  readonly forward: (c: Call) => void
  readonly toInput: (c: Call) => void
  readonly toKernel: (c: Call) => void
}

/** An image of one group with its padding, cut into as many as there are windows between neighbours, and where in it the windows of each tap begin. */
const cutting = (s: Shape) => {
  const [top, bottom, left, right] = s.params.padding as readonly [number, number, number, number]
  const [down, across] = s.params.dilation as readonly [number, number]
  const [below, beside] = s.params.stride as readonly [number, number]
  const { from, height, width } = s
  const wide = Math.ceil((width + left + right) / beside)
  const plane = Math.ceil((height + top + bottom) / below) * wide
  /** The first pixel of phase `phase` at or behind an edge of so much padding, and where it lies among those of the phase. */
  const first = (before: number, phase: number, step: number): readonly [pixel: number, place: number] => {
    const pixel = (((phase - before) % step) + step) % step
    return [pixel, (pixel + before - phase) / step]
  }
  return {
    wide,
    plane,
    /** The image itself serves where nothing is around it, and nothing between windows. */
    cut: below * beside > 1 || plane !== height * width,
    elements: below * beside * from * plane,
    /** The first element of a tap's windows. */
    shift: (t: number): number => {
      const [y, x] = [Math.floor(t / s.kernel[1]) * down, (t % s.kernel[1]) * across]
      return ((y % below) * beside + (x % beside)) * from * plane + Math.floor(y / below) * wide + Math.floor(x / beside)
    },
    /** Moves every pixel of an image at x to the cut image at `at`, or back. */
    move: ({ moves, bytes: e }: Call, x: number, at: number, way: 'cut' | 'back' | 'add'): void => {
      for (let a = 0; a < below; a++)
        for (let b = 0; b < beside; b++) {
          const [[row, line], [column, place]] = [first(top, a, below), first(left, b, beside)]
          const image = x + e * (row * width + column)
          const cut = at + e * ((a * beside + b) * from * plane + line * wide + place)
          const sizes = [from, Math.max(0, Math.ceil((height - row) / below)), Math.max(0, Math.ceil((width - column) / beside))] as const
          const [ofImage, ofCut] = [[e * height * width, e * below * width, e * beside] as const, [e * plane, e * wide, e] as const]
          if (way === 'cut') moves.copy(cut, image, sizes, ofCut, ofImage)
          else moves[way === 'add' ? 'add' : 'copy'](image, cut, sizes, ofImage, ofCut)
        }
    },
  }
}

/** A product for each tap. */
const byTaps = (s: Shape): Way => {
  const [kh, kw] = s.kernel
  const taps = kh * kw
  const { wide, plane, cut, elements, shift, move } = cutting(s)
  // Windows of all rows but the last with those that reach over the end of a row: their results are left out.
  const run = (s.rows - 1) * wide + s.columns
  const loose = wide !== s.columns
  const [image, result, weights] = [cut ? elements : 0, loose ? s.to * run : 0, taps * s.to * s.from]
  const { from, to, rows, columns, height, width } = s
  const size = rows * columns
  const ldy = loose ? run : size
  /** Calls with the addresses of one image of x and of the result, and of the scratch, for each image of each group. */
  const each = (c: Call, f: (x: number, y: number, n: number, k: number) => void): void => {
    const e = c.bytes
    c.clear(image + result)
    for (let g = 0; g < s.groups; g++)
      for (let n = 0; n < s.images; n++) {
        const at = n * s.groups + g
        f(c.x + e * at * from * height * width, c.y + e * at * to * size, n, c.k + e * g * to * from * taps)
      }
  }
  const places = ({ work, bytes }: Call) => ({ imageAt: work, resultAt: work + bytes * image, weightsAt: work + bytes * (image + result) })
  /** An image of one group, cut: where it lies. */
  const imageOf = (c: Call, x: number): number => {
    if (!cut) return x
    move(c, x, c.work, 'cut')
    return c.work
  }
  /** A result whose rows follow each other, and with what the windows between them give. */
  const dense = (e: number) => [e * size, e * columns, e] as const
  const spaced = (e: number) => [e * run, e * wide, e] as const
  const ofResult = [to, rows, columns] as const
  /** Cotangents of a result with zeros between its rows: where they lie. */
  const loosened = (c: Call, y: number): number => {
    if (!loose) return y
    const at = places(c).resultAt
    c.moves.copy(at, y, ofResult, spaced(c.bytes), dense(c.bytes))
    return at
  }
  /** The kernel of one group by taps, [taps, to, from], from where it is, [to, from, taps]; and back. */
  const ofKernel = [taps, to, from] as const
  const byTap = (e: number) => [e * to * from, e * from, e] as const
  const asGiven = (e: number) => [e, e * from * taps, e * taps] as const
  const pack = (c: Call, k: number): void => c.moves.copy(places(c).weightsAt, k, ofKernel, byTap(c.bytes), asGiven(c.bytes))
  return {
    elements: image + result + weights,
    forward: (c) => {
      const { gemm, moves, bytes: e } = c
      const { resultAt, weightsAt } = places(c)
      each(c, (x, y, n, k) => {
        if (n === 0) pack(c, k)
        const at = imageOf(c, x)
        const out = loose ? resultAt : y
        for (let t = 0; t < taps; t++)
          gemm(false, false, to, run, from, weightsAt + e * t * to * from, from, at + e * shift(t), plane, t > 0, out, ldy)
        if (loose) moves.copy(y, resultAt, ofResult, dense(e), spaced(e))
      })
    },
    toInput: (c) => {
      const { gemm, bytes: e, accumulate } = c
      const { imageAt, weightsAt } = places(c)
      each(c, (x, y, n, k) => {
        if (n === 0) pack(c, k)
        const given = loosened(c, y)
        if (cut) c.clear(image)
        else if (!accumulate) c.zero(x, from * height * width)
        const out = cut ? imageAt : x
        for (let t = 0; t < taps; t++)
          gemm(true, false, from, run, to, weightsAt + e * t * to * from, from, given, ldy, true, out + e * shift(t), plane)
        if (cut) move(c, x, imageAt, accumulate ? 'add' : 'back')
      })
    },
    toKernel: (c) => {
      const { gemm, moves, bytes: e, accumulate } = c
      const { weightsAt } = places(c)
      each(c, (x, y, n, k) => {
        const [at, given] = [imageOf(c, x), loosened(c, y)]
        for (let t = 0; t < taps; t++)
          gemm(false, true, to, from, run, given, ldy, at + e * shift(t), plane, n > 0, weightsAt + e * t * to * from, from)
        if (n === s.images - 1) moves[accumulate ? 'add' : 'copy'](k, weightsAt, ofKernel, asGiven(e), byTap(e))
      })
    },
  }
}

/** Bytes of the columns that are gathered at once: they stay in the second cache. */
const GATHERED = 2 ** 18
/** Of few channels: the windows of some rows of the result are gathered as columns, and are one product with the kernel as it is. */
const byColumns = (s: Shape): Pick<Way, 'elements' | 'forward'> => {
  const { from, to, rows, columns, height, width } = s
  const taps = s.kernel[0] * s.kernel[1]
  const { wide, plane, cut, elements, shift, move } = cutting(s)
  const image = cut ? elements : 0
  const depth = from * taps
  const most = Math.max(1, Math.min(rows, Math.floor(GATHERED / (8 * depth * columns))))
  return {
    elements: image + depth * most * columns,
    forward: (c) => {
      const { gemm, moves, bytes: e, work } = c
      const gathered = work + e * image
      c.clear(image)
      for (let g = 0; g < s.groups; g++)
        for (let n = 0; n < s.images; n++) {
          const [x, y] = [c.x + e * (n * s.groups + g) * from * height * width, c.y + e * (n * s.groups + g) * to * rows * columns]
          if (cut) move(c, x, work, 'cut')
          for (let r = 0; r < rows; r += most) {
            const some = Math.min(most, rows - r)
            const run = some * columns
            for (let t = 0; t < taps; t++)
              moves.copy(
                gathered + e * t * run,
                (cut ? work : x) + e * (shift(t) + r * wide),
                [from, some, columns],
                [e * taps * run, e * columns, e],
                [e * plane, e * wide, e],
              )
            gemm(false, false, to, run, depth, c.k + e * g * to * depth, depth, gathered, run, false, y + e * r * columns, rows * columns)
          }
        }
    },
  }
}

const wayOf = (s: Shape, channels: number): (Partial<Way> & Pick<Way, 'elements'>) | undefined => {
  if ([s.images, s.rows, s.columns, s.height, s.width, s.from, s.to, ...s.kernel].includes(0)) return undefined
  if (Math.min(s.from, s.to) >= channels) return byTaps(s)
  return s.to >= 2 * channels ? byColumns(s) : undefined
}

/** Which arrays of a primitive are x, the kernel and the result. */
type Roles = (k: OpaqueKernel) => { readonly x: readonly number[]; readonly k: readonly number[]; readonly y: readonly number[] }
const shape = (x: { readonly shape: readonly number[] } | undefined): readonly number[] => x!.shape
const kinds: ReadonlyMap<AnyPrimitive, readonly [run: 'forward' | 'toInput' | 'toKernel', roles: Roles]> = /*#__PURE__*/ new Map<
  AnyPrimitive,
  readonly [run: 'forward' | 'toInput' | 'toKernel', roles: Roles]
>([
  [convPrimitive, ['forward', ({ args: [x, k], results: [y] }) => ({ x: shape(x), k: shape(k), y: shape(y) })]],
  [convInputPrimitive, ['toInput', ({ args: [y, k], results: [x] }) => ({ x: shape(x), k: shape(k), y: shape(y) })]],
  [convInputAddPrimitive, ['toInput', ({ args: [, y, k], results: [x] }) => ({ x: shape(x), k: shape(k), y: shape(y) })]],
  [convKernelPrimitive, ['toKernel', ({ args: [x, y], results: [k] }) => ({ x: shape(x), k: shape(k), y: shape(y) })]],
  [convKernelAddPrimitive, ['toKernel', ({ args: [, x, y], results: [k] }) => ({ x: shape(x), k: shape(k), y: shape(y) })]],
])

/** A convolution, or an adjoint of one, with so many channels and more; undefined for any other primitive. */
export const convolutionBy = (
  library: Library,
  at: Mapped,
  moves: () => Readonly<Record<FloatName, Moves>>,
  k: OpaqueKernel,
  channels: number,
): WholeByLibrary | undefined => {
  const [run, roles] = kinds.get(k.prim) ?? []
  if (run === undefined) return undefined
  const of = roles!(k)
  const way = wayOf(shapeOf(of.x, of.k, of.y, k.params as ConvParams), channels)
  const compute = way?.[run]
  if (way === undefined || compute === undefined) return undefined
  const type = k.results[0]!.dtype as FloatName
  const call = gemmOf(library, type)
  // Addresses of the memory, which are those of the library without its base.
  const gemm: Gemm = (ta, tb, m, n, k, a, lda, b, ldb, add, c, ldc) =>
    call(ta, tb, m, n, k, at.base + a, lda, at.base + b, ldb, add, at.base + c, ldc)
  const accumulate = k.inPlace !== undefined
  const bytes = itemBytes[type]
  return {
    scratchBytes: aligned(way.elements * bytes),
    run: ({ args, results }, scratch) => {
      const { buffer } = at.words
      const zero = (from: number, count: number): unknown => new Uint8Array(buffer, from, count * bytes).fill(0)
      const place = (a: NDArray): number => (a.data as Floats).byteOffset
      const [p, q] = args.slice(accumulate ? 1 : 0).map(place) as [number, number]
      const out = place(results[0]!)
      const [x, kernel, y] = run === 'forward' ? [p, q, out] : run === 'toInput' ? [out, q, p] : [p, out, q]
      compute({
        x,
        k: kernel,
        y,
        work: scratch,
        bytes,
        moves: moves()[type],
        gemm,
        clear: (count) => zero(scratch, count),
        zero,
        accumulate,
      })
      return true
    },
  }
}
