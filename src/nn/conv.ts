/** Convolutions and pools as layers, over one, two or three axes. */
import { settled } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { flag, type Kind, raw, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  avgPool as averaged,
  type ConvSizes,
  conv,
  convTranspose,
  type Dim,
  type Expr,
  type Float,
  maxPool as greatest,
  mean,
  type PoolSizes,
  reshape,
  type Shape,
  type Spec,
  type Tensors,
} from '../index.js'
import { type Key, lecunNormal } from '../random/index.js'
import { floatOption, floatSpec, initials, sizeIn, sizeOption } from './given.js'
import { guarded } from './guard.js'
import { type Initial, type Initials, init } from './init.js'
import type { Described, Given, Layer, Run } from './layer.js'

/** A number for all axes, or one for each. */
type PerAxis = number | readonly number[]
/** Padding: 'same', 'valid', a number, or pairs of what stands before and after each axis. */
type Pad = 'same' | 'valid' | number | readonly (number | readonly [number, number])[]
const perAxis: Kind<PerAxis, PerAxis> = raw<PerAxis, 1>(1)
export const convOptions = {
  /** Steps from one window to the next: 1 unless given. */
  stride: perAxis,
  /** 'same', 'valid', a number, or pairs: 0 unless given. */
  padding: raw<Pad, 0>(0),
  /** Steps between the entries of a window: 1 unless given. */
  dilation: perAxis,
  /** The number of groups of channels, each convolved by itself: 1 unless given. */
  groups: sizeOption(1),
  /** Is a bias b added? True unless given. */
  bias: flag(true),
  /** 'f32' unless given. */
  dtype: floatOption,
  /** How parameters are initialised, by name: { w, b }. */
  init: initials,
}
/** Options of the convolutions. */
export interface ConvLayerOptions<
  B extends boolean = boolean,
  D extends Float = Float,
  G extends number = number,
  S extends PerAxis = PerAxis,
  P extends Pad = Pad,
  L extends PerAxis = PerAxis,
> {
  /** Steps from one window to the next: 1 unless given. */
  readonly stride?: S | undefined
  /** 'same', 'valid', a number, or pairs: 0 unless given. */
  readonly padding?: P | undefined
  /** Steps between the entries of a window: 1 unless given. */
  readonly dilation?: L | undefined
  /** The number of groups of channels, each convolved by itself: 1 unless given. */
  readonly groups?: G | undefined
  /** Is a bias b added? True unless given. */
  readonly bias?: B | undefined
  /** 'f32' unless given. */
  readonly dtype?: D | undefined
  /** How parameters are initialised, by name: { w, b }. */
  readonly init?: Initials | undefined
}
/** The axes of a window of one, two or three axes. */
type WindowOf<K, N extends number> = K extends readonly number[]
  ? K
  : N extends 1
    ? [K & number]
    : N extends 2
      ? [K & number, K & number]
      : [K & number, K & number, K & number]
type Sizes<N extends number> = N extends 1 ? [Dim] : N extends 2 ? [Dim, Dim] : [Dim, Dim, Dim]
/** The parameters of a convolution. */
export type ConvParams<O extends number, I extends number, W extends readonly number[], D extends Float, B> = {
  readonly w: Spec<[O, I, ...W], D>
  readonly b: B extends false ? null : Spec<[O], D>
}
/** How windows lie: their steps, what stands around, the steps inside of them. */
interface Steps<S, P, L> {
  readonly stride: S
  readonly padding: P
  readonly dilation: L
}
/** So many positions as windows of the sizes K, which lie as Q says, have on positions of the sizes H. */
export type Convolved<H extends Shape, K, Q> =
  Q extends Steps<PerAxis, Pad, PerAxis> ? (K extends readonly number[] ? ConvSizes<H, K, Q> : Unsized<H>) : Unsized<H>
type Unsized<H extends Shape> = { readonly [K in keyof H]: number }
/** A convolution from I channels to O over N axes, by windows K that lie as Q says. Variance is annotated, since TypeScript takes ten times as long to infer it. */
export interface ConvLayer<
  out I extends number,
  out O extends number,
  out N extends number,
  in out P,
  out D extends Float,
  in out K = unknown,
  in out Q = unknown,
> extends Described {
  readonly kind: `conv${string}`
  readonly declared: P
  readonly init: (key: Key) => Tensors<P>
  apply<E extends Dim, H extends Sizes<N>>(
    params: Given<P>,
    x: Expr<readonly [E, I, ...H], D>,
    run?: Run,
  ): Expr<[E, O, ...Convolved<H, K, Q>], D>
}
type OfGroups<I extends number, G> = G extends 1 ? I : number
type ConvOf<N extends number> = <
  const I extends number,
  const O extends number,
  const K extends PerAxis,
  B extends boolean = true,
  D extends Float = 'f32',
  const G extends number = 1,
  const S extends PerAxis = 1,
  const P extends Pad = 0,
  const L extends PerAxis = 1,
>(
  inputs: I,
  outputs: O,
  window: K,
  options?: ConvLayerOptions<B, D, G, S, P, L>,
) => ConvLayer<I, O, N, ConvParams<O, OfGroups<I, G>, WindowOf<K, N>, D, B>, D, WindowOf<K, N>, Steps<S, P, L>>
type ConvTransposeOf<N extends number> = <
  const I extends number,
  const O extends number,
  const K extends PerAxis,
  B extends boolean = true,
  D extends Float = 'f32',
  const G extends number = 1,
>(
  inputs: I,
  outputs: O,
  window: K,
  options?: ConvLayerOptions<B, D, G> & { readonly outputPadding?: PerAxis | undefined },
) => ConvLayer<
  I,
  O,
  N,
  { readonly w: Spec<[I, OfGroups<O, G>, ...WindowOf<K, N>], D>; readonly b: B extends false ? null : Spec<[O], D> },
  D
>
const windowIn = (given: unknown, axes: number, op: string): readonly number[] => {
  const read = settled(given, 'window', op)
  const list: readonly unknown[] = Array.isArray(read) ? read : new Array<unknown>(axes).fill(read)
  if (list.length !== axes) badInput(op, `the window has ${list.length} axes.`, `give a size, or ${axes} of them.`)
  return list.map((n) => sizeIn(n, 'window', op))
}
const withBias = (y: AnyExpr, b: AnyExpr | null, axes: number): AnyExpr =>
  b === null ? y : (add(y, reshape(b, [b.shape[0]!, ...new Array<number>(axes).fill(1)])) as AnyExpr)
export const transposeOptions = { ...convOptions, outputPadding: raw<PerAxis, 0>(0) }
/** Convolutions, and their adjoints, over so many axes: they differ in the order of the kernel's channels and in the function that they are. */
const layerOver =
  (op: string, axes: number, adjoint: boolean) =>
  (inputs: unknown, outputs: unknown, given: unknown, options: unknown): unknown => {
    const {
      dtype,
      bias,
      init: how,
      ...told
    } = adjoint ? readOptions(transposeOptions, options as never, op) : readOptions(convOptions, options as never, op)
    const [i, out] = [sizeIn(inputs, 'inputs', op), sizeIn(outputs, 'outputs', op)]
    if (i % told.groups !== 0 || out % told.groups !== 0)
      badInput(op, `${told.groups} groups do not divide ${i} and ${out} channels.`, 'give a number that divides both.')
    const channels = adjoint ? [i, out / told.groups] : [out, i / told.groups]
    const declared = {
      w: floatSpec(dtype, [...channels, ...windowIn(given, axes, op)]),
      b: bias ? floatSpec(dtype, [out]) : null,
    }
    const f = (adjoint ? convTranspose : conv) as unknown as (x: AnyExpr, w: AnyExpr, options: object) => AnyExpr
    // A kernel begins by what comes in at each position.
    const w: Initial = (key, shape, { dtype }) =>
      lecunNormal(key, shape as number[], { dtype, inAxis: adjoint ? 0 : 1, outAxis: adjoint ? 1 : 0 }) as AnyExpr
    const made: Layer<typeof declared, AnyExpr> = {
      kind: op,
      torch: { weight: { at: 'w' }, ...(bias && { bias: { at: 'b' } }) },
      declared,
      init: (key) => init(declared, key, { w, ...how }),
      apply: ({ w, b }, x) => withBias(f(x, w as AnyExpr, told), b as AnyExpr | null, axes),
    }
    return guarded(made)
  }
/**
 * A convolution over one axis: `inputs` channels to `outputs`, by windows of this length.
 *
 * Shapes  x: [n, inputs, l] -> [n, outputs, l']; w: [outputs, inputs / groups, window], b: [outputs].   Options stride, padding, dilation, groups, bias, dtype, init.
 * Errors  BadInput for invalid sizes, and groups that do not divide the channels.   Source  `torch.nn.Conv1d`.
 * @example conv1d(2, 3, 5).declared.w.shape // [3, 2, 5]
 */
export const conv1d: ConvOf<1> = /*#__PURE__*/ layerOver('conv1d', 1, false) as never
/**
 * A convolution over two axes: `inputs` channels to `outputs`, by square windows, or windows of two sizes.
 *
 * Shapes  x: [n, inputs, h, w] -> [n, outputs, h', w']; w: [outputs, inputs / groups, ...window], b: [outputs].   Options stride, padding ('same', 'valid', a number or pairs), dilation, groups, bias, dtype, init.
 * Errors  BadInput for invalid sizes, and groups that do not divide the channels.   Source  `torch.nn.Conv2d`.
 * @example conv2d(1, 8, [3, 5], { padding: 'same' }).declared.w.shape // [8, 1, 3, 5]
 */
export const conv2d: ConvOf<2> = /*#__PURE__*/ layerOver('conv2d', 2, false) as never
/**
 * A convolution over three axes.
 *
 * Shapes  x: [n, inputs, d, h, w] -> [n, outputs, d', h', w'].   Options as for `conv2d`.   Errors  as for `conv2d`.
 * Source  `torch.nn.Conv3d`.
 * @example conv3d(1, 8, 3).declared.w.shape // [8, 1, 3, 3, 3]
 */
export const conv3d: ConvOf<3> = /*#__PURE__*/ layerOver('conv3d', 3, false) as never

/**
 * The adjoint of a convolution over one axis in its input: it increases the number of positions.
 *
 * Shapes  x: [n, inputs, l] -> [n, outputs, l']; w: [inputs, outputs / groups, window].   Options as for `conv1d`, and outputPadding.
 * Source  `torch.nn.ConvTranspose1d`.
 * @example convTranspose1d(2, 3, 5).declared.w.shape // [2, 3, 5]
 */
export const convTranspose1d: ConvTransposeOf<1> = /*#__PURE__*/ layerOver('convTranspose1d', 1, true) as never
/**
 * `convTranspose1d` over two axes.
 *
 * Shapes  x: [n, inputs, h, w] -> [n, outputs, h', w'].   Options as for `conv2d`, and outputPadding.   Source  `torch.nn.ConvTranspose2d`.
 * @example convTranspose2d(2, 3, 5).declared.w.shape // [2, 3, 5, 5]
 */
export const convTranspose2d: ConvTransposeOf<2> = /*#__PURE__*/ layerOver('convTranspose2d', 2, true) as never
/**
 * `convTranspose1d` over three axes.
 *
 * Shapes  x: [n, inputs, d, h, w] -> [n, outputs, d', h', w'].   Options as for `conv3d`, and outputPadding.
 * Source  `torch.nn.ConvTranspose3d`.
 * @example convTranspose3d(2, 3, 2).declared.w.shape // [2, 3, 2, 2, 2]
 */
export const convTranspose3d: ConvTransposeOf<3> = /*#__PURE__*/ layerOver('convTranspose3d', 3, true) as never

/** Options of the pools. */
export interface PoolLayerOptions<W extends PerAxis = PerAxis, S extends PerAxis | undefined = PerAxis | undefined, P extends Pad = Pad> {
  /** The sizes of a window, or one for all axes. */
  readonly window: W
  /** Steps from one window to the next: the window unless given. */
  readonly stride?: S | undefined
  /** 'same', 'valid', a number, or pairs: 0 unless given. */
  readonly padding?: P | undefined
}
/** How the windows of a pool lie. */
interface Windows<W, S, P> {
  readonly window: W
  readonly stride: S
  readonly padding: P
}
/** So many positions as windows Q have on positions of the sizes H. */
export type Pooled<H extends Shape, Q> = Q extends Windows<PerAxis, PerAxis | undefined, Pad> ? PoolSizes<H, Q> : Unsized<H>
/** A layer over positions that keeps examples and channels, by windows Q. */
export interface Pool<in out Q = unknown> extends Described {
  readonly kind: `${string}Pool`
  readonly declared: null
  readonly init: (key: Key) => null
  apply<N extends Dim, C extends Dim, R extends readonly Dim[], D extends Float>(
    params: null,
    x: Expr<readonly [N, C, ...R], D>,
    run?: Run,
  ): Expr<[N, C, ...Pooled<R, Q>], D>
}
/** maxPool({ window, stride, padding }), avgPool. */
type PoolOf = <const W extends PerAxis, const S extends PerAxis | undefined = undefined, const P extends Pad = 0>(
  options: PoolLayerOptions<W, S, P>,
) => Pool<Windows<W, S, P>>
const pool =
  (kind: 'maxPool' | 'avgPool', f: (x: never, options: never) => unknown) =>
  (options: unknown): unknown => {
    const made: Layer<null, AnyExpr> = {
      kind,
      declared: null,
      init: () => null,
      apply: (_, x) => f(x as never, options as never) as AnyExpr,
    }
    return guarded(made)
  }
/**
 * The maximum of each window.
 *
 * Shapes  x: [n, c, ...] -> [n, c, ...fewer].   Errors  those of `maxPool` of codual, when it runs.
 * @example evaluate(maxPool({ window: 2 }).apply(null, tensor([[[1, 2, 3, 4]]]))) // [[[2, 4]]]
 */
export const maxPool: PoolOf = /*#__PURE__*/ pool('maxPool', greatest as never) as never
/**
 * The mean of each window.
 *
 * Shapes  x: [n, c, ...] -> [n, c, ...fewer].   Errors  those of `avgPool` of codual, when it runs.
 * @example evaluate(avgPool({ window: 2 }).apply(null, tensor([[[1, 3, 3, 5]]]))) // [[[2, 4]]]
 */
export const avgPool: PoolOf = /*#__PURE__*/ pool('avgPool', averaged as never) as never
/** The mean over all positions of each channel. */
export interface GlobalPool extends Described {
  readonly declared: null
  readonly init: (key: Key) => null
  apply<N extends Dim, C extends Dim, R extends readonly Dim[], D extends Float>(
    params: null,
    x: Expr<readonly [N, C, ...R], D>,
    run?: Run,
  ): Expr<[N, C], D>
}
/**
 * The mean of each channel over all positions.
 *
 * Shapes  x: [n, c, ...] -> [n, c].
 * @example evaluate(globalAvgPool().apply(null, tensor([[[1, 3], [5, 7]]]))) // [[2, 6]]
 */
export const globalAvgPool = (): GlobalPool => {
  const made: Layer<null, AnyExpr> = {
    kind: 'globalAvgPool',
    declared: null,
    init: () => null,
    apply: (_, x) => (x.shape.length <= 2 ? x : (mean(x, { axis: x.shape.map((_, i) => i).slice(2) }) as AnyExpr)),
  }
  return guarded(made) as unknown as GlobalPool
}
