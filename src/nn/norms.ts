/** Normalisations as layers: with scale and bias of their own; those over a batch keep what they saw. */
import { badInput } from '../core/errors/explain.js'
import { flag, integer, number, type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  batchStatistics,
  type Dim,
  type Expr,
  type Exprs,
  evaluate,
  type Float,
  mul,
  batchNorm as normalisedByBatch,
  groupNorm as normalisedByGroup,
  layerNorm as normalisedByLayer,
  rmsNorm as normalisedByRms,
  ones,
  type Shape,
  type Spec,
  stopGradient,
  type Tensors,
  zeros,
} from '../index.js'
import type { Key } from '../random/index.js'
import { floatOption, floatSpec, sizeIn } from './given.js'
import { guarded } from './guard.js'
import { init } from './init.js'
import type { Described, Given, Layer, Run, RunWith, Stateful } from './layer.js'

/** Scale and bias of n channels: null where there is none. */
export type Affine<N extends number, D extends Float> = { readonly scale: Spec<[N], D>; readonly bias: Spec<[N], D> }
/** Options of the normalisations with a dtype. */
interface NormOptions<D extends Float> {
  /** What is added to the variance: 1e-5 unless given. */
  readonly eps?: number | undefined
  /** 'f32' unless given. */
  readonly dtype?: D | undefined
}
export const normOptions = {
  /** What is added to the variance: 1e-5 unless given. */
  eps: number(1e-5),
  /** 'f32' unless given. */
  dtype: floatOption,
}
const affine = <D extends Float>(n: number, dtype: D) => ({ scale: floatSpec(dtype, [n]), bias: floatSpec(dtype, [n]) })
const inTorch = { weight: { at: 'scale' }, bias: { at: 'bias' } } as const
/** A layer over the last axis that keeps the shape. */
export interface LastAxisNorm<P, N extends number, D extends Float> extends Described {
  readonly declared: P
  readonly init: (key: Key) => Tensors<P>
  apply<S extends Shape>(params: Given<P>, x: Expr<readonly [...S, N], D>, run?: Run): Expr<[...S, N], D>
}
/**
 * Layer normalisation: mean 0 and variance 1 over the last axis, times scale, plus bias.
 *
 * Shapes  x: [..., features].   Options eps, dtype.   Source  Ba et al. 2016; `torch.nn.LayerNorm`.
 * @example
 * const layer = layerNorm(2)
 * fn({ p: layer.declared, x: f32('n', 2) }, ({ p, x }) => layer.apply(p, x))({ p: layer.init(key(1)), x: [[1, 3]] }) // [[-1.0000, 1.0000]]
 */
export const layerNorm = <const N extends number, D extends Float = 'f32'>(
  features: N,
  options?: NormOptions<D>,
): LastAxisNorm<Affine<N, D>, N, D> => {
  const { eps, dtype } = readOptions(normOptions, options, 'layerNorm')
  const declared = affine(sizeIn(features, 'features', 'layerNorm'), dtype)
  const made: Layer<typeof declared, AnyExpr> = {
    kind: 'layerNorm',
    torch: inTorch,
    declared,
    init: (key) => init(declared, key),
    apply: ({ scale, bias }, x) => normalisedByLayer(x, { eps, scale, bias } as never) as AnyExpr,
  }
  return guarded(made) as never
}
/**
 * Normalisation by the root mean square over the last axis, times scale.
 *
 * Shapes  x: [..., features].   Options eps, dtype.   Source  Zhang and Sennrich 2019; `torch.nn.RMSNorm`.
 * @example
 * const layer = rmsNorm(2)
 * fn({ p: layer.declared, x: f32('n', 2) }, ({ p, x }) => layer.apply(p, x))({ p: layer.init(key(1)), x: [[1, 7]] }) // [[0.2000, 1.4000]]
 */
export const rmsNorm = <const N extends number, D extends Float = 'f32'>(
  features: N,
  options?: NormOptions<D>,
): LastAxisNorm<{ readonly scale: Spec<[N], D> }, N, D> => {
  const { eps, dtype } = readOptions(normOptions, options, 'rmsNorm')
  const declared = { scale: floatSpec(dtype, [sizeIn(features, 'features', 'rmsNorm')]) }
  const made: Layer<typeof declared, AnyExpr> = {
    kind: 'rmsNorm',
    torch: { weight: { at: 'scale' } },
    declared,
    init: (key) => init(declared, key),
    apply: ({ scale }, x) => normalisedByRms(x, { eps, scale } as never) as AnyExpr,
  }
  return guarded(made) as never
}
/** A layer over channels, the second axis, that keeps the shape. */
export interface ChannelNorm<C extends number, D extends Float> extends Described {
  readonly declared: Affine<C, D>
  readonly init: (key: Key) => Tensors<Affine<C, D>>
  apply<N extends Dim, R extends Shape>(params: Given<Affine<C, D>>, x: Expr<readonly [N, C, ...R], D>, run?: Run): Expr<[N, C, ...R], D>
}
/**
 * Group normalisation: mean 0 and variance 1 over groups of channels and all positions, times scale, plus bias for each channel.
 *
 * Shapes  x: [n, channels, ...].   Options eps, dtype.   Errors  BadInput if groups do not divide channels.   Source  Wu and He 2018; `torch.nn.GroupNorm`.
 * @example
 * const layer = groupNorm(1, 2)
 * fn({ p: layer.declared, x: f32('n', 2) }, ({ p, x }) => layer.apply(p, x))({ p: layer.init(key(1)), x: [[1, 3]] }) // [[-1.0000, 1.0000]]
 */
export const groupNorm = <const C extends number, D extends Float = 'f32'>(
  groups: number,
  channels: C,
  options?: NormOptions<D>,
): ChannelNorm<C, D> => {
  const { eps, dtype } = readOptions(normOptions, options, 'groupNorm')
  const [g, c] = [sizeIn(groups, 'groups', 'groupNorm'), sizeIn(channels, 'channels', 'groupNorm')]
  if (c % g !== 0) badInput('groupNorm', `${g} groups do not divide ${c} channels.`, 'give a number of groups that divides the channels.')
  const declared = affine(c, dtype)
  const made: Layer<typeof declared, AnyExpr> = {
    kind: 'groupNorm',
    torch: inTorch,
    declared,
    init: (key) => init(declared, key),
    apply: ({ scale, bias }, x) => normalisedByGroup(x as never, g, { eps, scale, bias } as never) as AnyExpr,
  }
  return guarded(made) as never
}

export const batchNormOptions = {
  ...normOptions,
  /** The share of the running statistics that each batch replaces: 0.1 unless given. */
  momentum: number(0.1),
  /** The axis of the channels: 1 unless given. */
  axis: integer(1),
  /** Are there scale and bias? True unless given. */
  affine: flag(true),
}
/** Options of `batchNorm`. */
export interface BatchNormOptions<D extends Float = Float> extends Omit<Partial<OptionsOf<typeof batchNormOptions>>, 'dtype'> {
  /** 'f32' unless given. */
  readonly dtype?: D | undefined
}
/** What batches were like: mean and variance of each channel. */
export type Running<C extends number, D extends Float> = { readonly mean: Spec<[C], D>; readonly variance: Spec<[C], D> }
/** Batch normalisation: with running state. */
export interface BatchNorm<C extends number, D extends Float> extends Described {
  readonly declared: Affine<C, D>
  readonly init: (key: Key) => Tensors<Affine<C, D>>
  readonly state: Running<C, D>
  readonly initState: () => Tensors<Running<C, D>>
  apply<S extends Shape>(
    params: Given<Affine<C, D>>,
    x: Expr<S, D>,
    run: RunWith<Given<Running<C, D>>>,
  ): [y: Expr<S, D>, state: Exprs<Running<C, D>>]
}
/**
 * Batch normalisation: in training by the mean and variance of the batch, whose running averages are returned as state; otherwise by these averages.
 *
 * Shapes  x: [n, channels, ...].   State  { mean, variance }, of 0 and 1 at first; (1 - momentum) old + momentum new, the variance divided by n - 1; without derivatives.
 * Options eps, momentum, axis, affine, dtype.   Source  Ioffe and Szegedy 2015; `torch.nn.BatchNorm2d`.
 * @example
 * const layer = batchNorm(1)
 * const [y, next] = layer.apply(layer.init(key(1)), tensor([[1], [3]], [2, 1], 'f32'), { training: true, state: layer.initState() })
 * evaluate([y, next.mean]) // [[[-1.0000], [1.0000]], [0.2000]]
 */
export const batchNorm = <const C extends number, D extends Float = 'f32'>(channels: C, options?: BatchNormOptions<D>): BatchNorm<C, D> => {
  const given = readOptions(batchNormOptions, options, 'batchNorm')
  const c = sizeIn(channels, 'channels', 'batchNorm')
  const { eps, momentum, axis, dtype } = given
  if (!(momentum >= 0 && momentum <= 1)) badInput('batchNorm', `momentum is ${momentum}.`, 'give a share from 0 to 1.')
  const declared = given.affine ? affine(c, dtype) : { scale: null, bias: null }
  const state = { mean: floatSpec(dtype, [c]), variance: floatSpec(dtype, [c]) }
  const made: Stateful<typeof declared, typeof state, AnyExpr> = {
    kind: 'batchNorm',
    torch: {
      ...(given.affine && inTorch),
      running_mean: { at: 'mean', in: 'state' },
      running_var: { at: 'variance', in: 'state' },
    },
    declared,
    init: (key) => init(declared, key) as never,
    state,
    initState: () => evaluate({ mean: zeros([c], dtype), variance: ones([c], dtype) }) as never,
    apply: ({ scale, bias }, x, run) => {
      if (run?.state === undefined || run.state === null)
        return badInput('batchNorm', 'there is no state.', 'give what initState() gives, or what came out: apply(params, x, { state }).')
      const { mean, variance } = run.state as { readonly mean: AnyExpr; readonly variance: AnyExpr }
      const own = { axis, eps, ...(scale !== null && { scale, bias }) }
      if (run.training !== true) return [normalisedByBatch(x, { ...own, mean, variance } as never) as AnyExpr, run.state]
      const seen = batchStatistics(x, { axis }) as unknown as { readonly mean: AnyExpr; readonly variance: AnyExpr }
      const count = x.shape.reduce((n, d, i) => (i === (axis + x.shape.length) % x.shape.length ? n : n * d), 1)
      const next = (old: AnyExpr, now: AnyExpr): AnyExpr => stopGradient(add(mul(old, 1 - momentum), mul(now, momentum))) as AnyExpr
      const unbiased = mul(seen.variance, count / Math.max(1, count - 1)) as AnyExpr
      return [normalisedByBatch(x, own as never) as AnyExpr, { mean: next(mean, seen.mean), variance: next(variance, unbiased) } as never]
    },
  }
  return guarded(made) as never
}
