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
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Library } from './library.js'
import { type Gemm, gemmOf, type Mapped } from './products.js'

type Floats = Float32Array | Float64Array

/** Channels of x and of the result, of one group, from which products pay (bench/operations.ts). */
export const CHANNELS = 16

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

/** What one call works with: the arrays of x, the kernel and the result, or of their cotangents, and the scratch. */
interface Call {
  readonly x: Floats
  readonly k: Floats
  readonly y: Floats
  readonly work: Floats
  readonly place: (a: Floats, element: number) => number
  readonly gemm: Gemm
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

const row = (to: Floats, at: number, from: Floats, start: number, count: number): void => {
  for (let i = 0; i < count; i++) to[at + i] = from[start + i]!
}

/** A product for each tap. */
const byTaps = (s: Shape): Way => {
  const [top, bottom, left, right] = s.params.padding as readonly [number, number, number, number]
  const [down, across] = s.params.dilation as readonly [number, number]
  const [below, beside] = s.params.stride as readonly [number, number]
  const [kh, kw] = s.kernel
  const taps = kh * kw
  const phases = below * beside
  const wide = Math.ceil((s.width + left + right) / beside)
  const plane = Math.ceil((s.height + top + bottom) / below) * wide
  /** The image itself serves where nothing is around it, and nothing between windows. */
  const cut = phases > 1 || plane !== s.height * s.width
  // Windows of all rows but the last with those that reach over the end of a row: their results are left out.
  const run = (s.rows - 1) * wide + s.columns
  const loose = wide !== s.columns
  const [image, result, weights] = [cut ? phases * s.from * plane : 0, loose ? s.to * run : 0, taps * s.to * s.from]
  const [imageAt, resultAt, weightsAt] = [0, image, image + result]
  /** The first element of a tap's windows. */
  const shift = (t: number): number => {
    const [y, x] = [Math.floor(t / kw) * down, (t % kw) * across]
    return ((y % below) * beside + (x % beside)) * s.from * plane + Math.floor(y / below) * wide + Math.floor(x / beside)
  }
  const { from, to, rows, columns, height, width } = s
  const size = rows * columns
  const each = (f: (n: number, g: number) => void): void => {
    for (let g = 0; g < s.groups; g++) for (let n = 0; n < s.images; n++) f(n, g)
  }
  const xOf = (n: number, g: number): number => (n * s.groups + g) * from * height * width
  const yOf = (n: number, g: number): number => (n * s.groups + g) * to * size
  /** Moves every pixel of an image from x to the cut image, back, or back into a sum: by runs of a row whose pixels lie `beside` apart. */
  const move = (x: Floats, work: Floats, start: number, way: 'cut' | 'back' | 'add'): void => {
    for (let c = 0, row = start; c < from; c++)
      for (let i = 0; i < height; i++, row += width) {
        const phase = ((i + top) % below) * beside
        const y = imageAt + c * plane + Math.floor((i + top) / below) * wide
        for (let b = 0; b < beside; b++) {
          // The first pixel of the row in this phase.
          const first = (((b - left) % beside) + beside) % beside
          const end = row + width
          let at = y + (phase + b) * from * plane + (first + left - b) / beside
          if (way === 'cut') for (let j = row + first; j < end; j += beside) work[at++] = x[j]!
          else if (way === 'back') for (let j = row + first; j < end; j += beside) x[j] = work[at++]!
          else for (let j = row + first; j < end; j += beside) x[j]! += work[at++]!
        }
      }
  }
  /** An image of one group, cut: where it lies. */
  const imageOf = ({ x, work, place }: Call, n: number, g: number): number => {
    if (!cut) return place(x, xOf(n, g))
    move(x, work, xOf(n, g), 'cut')
    return place(work, imageAt)
  }
  /** Cotangents of a result with zeros between its rows: where they lie. */
  const loosened = ({ y, work, place }: Call, n: number, g: number): number => {
    if (!loose) return place(y, yOf(n, g))
    for (let o = 0, at = yOf(n, g); o < to; o++)
      for (let i = 0; i < rows; i++, at += columns) row(work, resultAt + o * run + i * wide, y, at, columns)
    return place(work, resultAt)
  }
  const empty = ({ work }: Call): void => void work.fill(0, 0, image + result)
  /** The kernel of one group by taps: [taps, to, from]. */
  const packed = ({ k, work }: Call, g: number): void => {
    const first = g * to * from * taps
    for (let o = 0; o < to; o++)
      for (let c = 0; c < from; c++)
        for (let t = 0; t < taps; t++) work[weightsAt + (t * to + o) * from + c] = k[first + (o * from + c) * taps + t]!
  }
  const ldy = loose ? run : size
  return {
    elements: image + result + weights,
    forward: (c) => {
      const { y, work, place, gemm } = c
      empty(c)
      each((n, g) => {
        if (n === 0) packed(c, g)
        const at = imageOf(c, n, g)
        const out = loose ? place(work, resultAt) : place(y, yOf(n, g))
        const bytes = y.BYTES_PER_ELEMENT
        for (let t = 0; t < taps; t++)
          gemm(false, false, to, run, from, place(work, weightsAt + t * to * from), from, at + bytes * shift(t), plane, t > 0, out, ldy)
        if (!loose) return
        for (let o = 0, first = yOf(n, g); o < to; o++)
          for (let i = 0; i < rows; i++, first += columns) row(y, first, work, resultAt + o * run + i * wide, columns)
      })
    },
    toInput: (c) => {
      const { x, work, place, gemm, accumulate } = c
      empty(c)
      if (!cut && !accumulate) x.fill(0)
      const bytes = x.BYTES_PER_ELEMENT
      each((n, g) => {
        if (n === 0) packed(c, g)
        const given = loosened(c, n, g)
        if (cut) work.fill(0, imageAt, imageAt + image)
        const out = cut ? place(work, imageAt) : place(x, xOf(n, g))
        for (let t = 0; t < taps; t++)
          gemm(true, false, from, run, to, place(work, weightsAt + t * to * from), from, given, ldy, true, out + bytes * shift(t), plane)
        if (cut) move(x, work, xOf(n, g), accumulate ? 'add' : 'back')
      })
    },
    toKernel: (c) => {
      const { k, work, place, gemm, accumulate } = c
      empty(c)
      const bytes = k.BYTES_PER_ELEMENT
      each((n, g) => {
        const [at, given] = [imageOf(c, n, g), loosened(c, n, g)]
        for (let t = 0; t < taps; t++)
          gemm(false, true, to, from, run, given, ldy, at + bytes * shift(t), plane, n > 0, place(work, weightsAt + t * to * from), from)
        if (n < s.images - 1) return
        const first = g * to * from * taps
        for (let o = 0; o < to; o++)
          for (let ch = 0; ch < from; ch++)
            for (let t = 0; t < taps; t++) {
              const [a, b] = [first + (o * from + ch) * taps + t, weightsAt + (t * to + o) * from + ch]
              k[a] = accumulate ? k[a]! + work[b]! : work[b]!
            }
      })
    },
  }
}

const wayOf = (s: Shape, channels: number): Way | undefined => {
  if ([s.images, s.rows, s.columns, s.height, s.width, s.from, s.to, ...s.kernel].includes(0)) return undefined
  return Math.min(s.from, s.to) < channels ? undefined : byTaps(s)
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
export const convolutionBy = (library: Library, at: Mapped, k: OpaqueKernel, channels: number): WholeByLibrary | undefined => {
  const [run, roles] = kinds.get(k.prim) ?? []
  if (run === undefined) return undefined
  const of = roles!(k)
  const way = wayOf(shapeOf(of.x, of.k, of.y, k.params as ConvParams), channels)
  if (way === undefined) return undefined
  const type = k.results[0]!.dtype as 'f32' | 'f64'
  const gemm = gemmOf(library, type)
  const accumulate = k.inPlace !== undefined
  return {
    scratchBytes: aligned(way.elements * itemBytes[type]),
    run: ({ args, results }, scratch) => {
      const { buffer } = at.words
      const work = new (type === 'f32' ? Float32Array : Float64Array)(buffer as ArrayBuffer, scratch, way.elements)
      const place = (a: Floats, element: number): number => at.base + a.byteOffset + element * a.BYTES_PER_ELEMENT
      const [p, q] = args.slice(accumulate ? 1 : 0).map((a: NDArray) => a.data as Floats)
      const out = results[0]!.data as Floats
      const [x, kernel, y] = run === 'forward' ? [p!, q!, out] : run === 'toInput' ? [out, q!, p!] : [p!, out, q!]
      way[run]({ x, k: kernel, y, work, place, gemm, accumulate })
      return true
    },
  }
}
