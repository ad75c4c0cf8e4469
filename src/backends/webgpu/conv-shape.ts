/** Convolutions as their shaders see them: sizes of both sides, and each axis as a sum over taps; the adjoint in x is such a sum too. */
import type { ConvParams } from '../../core/ops/conv.js'
import { shader, signed, type Word } from './dispatch.js'

/** Lengths of a convolution's axes. */
export interface ConvSizes {
  readonly batch: number
  readonly groups: number
  /** Channels of x and of y, in one group. */
  readonly ins: number
  readonly outs: number
  /** Height and width. */
  readonly x: readonly number[]
  readonly k: readonly number[]
  readonly y: readonly number[]
}
export const convSizes = (x: readonly number[], k: readonly number[], y: readonly number[], p: ConvParams): ConvSizes => ({
  batch: x[0]!,
  groups: p.groups,
  ins: k[1]!,
  outs: k[0]! / p.groups,
  x: x.slice(2),
  k: k.slice(2),
  y: y.slice(2),
})

/**
 * One axis of a correlation: result i, at place `start + i hop`, sums over taps u < `taps` the argument at i stride - before + u step (zero
 * outside of its `size`) times the window's element first + u skip.
 */
export interface Axis {
  readonly results: number
  readonly start: number
  readonly hop: number
  readonly size: number
  readonly stride: number
  readonly before: number
  readonly step: number
  readonly taps: number
  readonly first: number
  readonly skip: number
}
/** No tap of any result lies outside. */
export const within = (a: Axis): boolean => a.before <= 0 && (a.results - 1) * a.stride - a.before + (a.taps - 1) * a.step < a.size

/** The axis of y = conv(x, k). */
export const forwardAxis = (s: ConvSizes, p: ConvParams, axis: 0 | 1): Axis => ({
  results: s.y[axis]!,
  start: 0,
  hop: 1,
  size: s.x[axis]!,
  stride: p.stride[axis]!,
  before: p.padding[2 * axis]!,
  step: p.dilation[axis]!,
  taps: s.k[axis]!,
  first: 0,
  skip: 1,
})

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))
/**
 * The axes of xBar: one for each remainder of its index modulo the stride, since those share the taps that reach them. With d the dilation
 * and s the stride, xBar at r takes yBar at (r + before - u d) / s for the u that make this whole: every s / gcd(d, s)-th one. Taps are
 * numbered backwards, so that the argument's index grows with them.
 */
export const inputAxes = (s: ConvSizes, p: ConvParams, axis: 0 | 1): readonly Axis[] => {
  const [stride, d, before, window, size] = [p.stride[axis]!, p.dilation[axis]!, p.padding[2 * axis]!, s.k[axis]!, s.x[axis]!]
  const common = gcd(d, stride)
  const [skip, step] = [stride / common, d / common]
  return Array.from({ length: Math.min(stride, size) }, (_, r): Axis => {
    const whole = (u: number): boolean => (r + before - u * d) % stride === 0
    const least = Array.from({ length: Math.min(skip, window) }, (_, u) => u).find(whole)
    const taps = least === undefined ? 0 : Math.ceil((window - least) / skip)
    const u = least ?? 0
    return {
      results: Math.ceil((size - r) / stride),
      start: r,
      hop: stride,
      size: s.y[axis]!,
      stride: 1,
      before: taps === 0 ? 0 : (taps - 1) * step - (r + before - u * d) / stride,
      step,
      taps,
      first: taps === 0 ? 0 : u + (taps - 1) * skip,
      skip: -skip,
    }
  })
}

/** Taps up to this many are written out; a wider window is a loop. */
export const WRITTEN_OUT = 7
/** n numbers from 0. */
export const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i)
/** The size of the fewest equal blocks of at most `most` that hold n. */
export const evenly = (n: number, most: number): number => Math.ceil(n / Math.max(1, Math.ceil(n / most)))

/** A shader of f32 whose record's words are i32 values under their names. */
export const named = (
  width: number,
  words: Readonly<Record<string, Word>>,
  body: string,
): { readonly wgsl: string; readonly words: Word[] } => {
  const names = Object.keys(words)
  const lets = names.map((name, k) => `  let ${name} = ${signed(k)};\n`).join('')
  return { wgsl: shader({ width, words: names.length, view: 'f32', body: lets + body }), words: Object.values(words) }
}
