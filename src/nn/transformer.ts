/** Transformer blocks, and stacks of them as one loop; token by token with a cache. */
import { badInput } from '../core/errors/explain.js'
import { choice, flag, number, type OptionsFor, raw, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  type Expr,
  type Exprs,
  evaluate,
  type Float,
  gelu,
  mul,
  layerNorm as normalisedByLayer,
  rmsNorm as normalisedByRms,
  relu,
  type Shape,
  type Spec,
  scan,
  silu,
  type Tensors,
  zeros,
} from '../index.js'
import { dropout as dropped, foldIn, type Key } from '../random/index.js'
import {
  type Attention,
  type AttentionLayerOptions,
  type AttentionParams,
  type AttentionRun,
  attentionOptions,
  type Cache,
  type CacheIn,
  multiHeadAttention,
  type ProductParams,
  product,
  type Weights,
} from './attention.js'
import { repeat } from './compose.js'
import type { Stacked } from './compositions.js'
import { floatSpec, sizeIn, sizeOption } from './given.js'
import { guarded } from './guard.js'
import { blockInTorch, normInTorch } from './in-torch.js'
import { init } from './init.js'
import { type AnyLayer, type Described, type Given, runPart } from './layer.js'

const activations: Readonly<Record<'gelu' | 'relu' | 'silu', (x: AnyExpr) => AnyExpr>> = {
  gelu: (x) => gelu(x) as AnyExpr,
  relu: (x) => relu(x) as AnyExpr,
  silu: (x) => silu(x) as AnyExpr,
}
/** The activation between the two projections of a block. */
export type Activation = 'gelu' | 'relu' | 'silu' | ((x: AnyExpr) => AnyExpr)
export const transformerBlockOptions = {
  ...attentionOptions,
  /** Features between the two projections of a block: 4 times those of x unless given. */
  hidden: sizeOption(0),
  /** Where x is normalised: before each part ('pre', unless given), or after its sum with x. */
  norm: choice(['pre', 'post'], 'pre'),
  /** 'layer' unless given. */
  normKind: choice(['layer', 'rms'], 'layer'),
  /** What is added to the variance: 1e-5 unless given. */
  eps: number(1e-5),
  /** The activation between the two projections: 'gelu' unless given. */
  activation: raw<Activation>(),
  /** Are the features between the two projections multiplied by a third projection, the gate, which then has the activation? */
  gated: flag(),
  /** Does it also attend to a context, between its other parts? */
  cross: flag(),
} satisfies OptionsFor<TransformerBlockOptions>
/** Options of `transformerBlock`. */
export interface TransformerBlockOptions<
  B extends boolean = boolean,
  D extends Float = Float,
  K extends 'layer' | 'rms' = 'layer' | 'rms',
  G extends boolean = boolean,
  C extends boolean = boolean,
> extends AttentionLayerOptions<B, D> {
  /** Features between the two projections of a block: 4 times those of x unless given. */
  readonly hidden?: number | undefined
  /** Where x is normalised: before each part ('pre', unless given), or after its sum with x. */
  readonly norm?: 'pre' | 'post' | undefined
  /** 'layer' unless given. */
  readonly normKind?: K | undefined
  /** What is added to the variance: 1e-5 unless given. */
  readonly eps?: number | undefined
  /** The activation between the two projections: 'gelu' unless given. */
  readonly activation?: Activation | undefined
  /** Are the features between the two projections multiplied by a third projection, the gate, which then has the activation? */
  readonly gated?: G | undefined
  /** Does it also attend to a context, between its other parts? */
  readonly cross?: C | undefined
}
/** Scale and bias; for 'rms', scale alone. */
export type NormParams<F extends number, D extends Float, K> = {
  readonly scale: Spec<[F], D>
  readonly bias: K extends 'rms' ? null : Spec<[F], D>
}
/** The parameters of a block: its parts, and the normalisation of each. */
export type BlockParams<F extends number, D extends Float, B, K, G, C> = {
  readonly attention: AttentionParams<F, D, B>
  readonly attentionNorm: NormParams<F, D, K>
  readonly cross: C extends true ? AttentionParams<F, D, B> : null
  readonly crossNorm: C extends true ? NormParams<F, D, K> : null
  readonly up: ProductParams<F, number, D, B>
  readonly gate: G extends true ? ProductParams<F, number, D, B> : null
  readonly down: ProductParams<number, F, D, B>
  readonly denseNorm: NormParams<F, D, K>
}
/** The arguments of a block besides x. */
export interface BlockRun extends AttentionRun {
  /** As `mask`, of what the context's positions score. */
  readonly contextMask?: Expr | undefined
}
/** A layer over F features with parameters P that can also run position by position. */
export interface Transforming<F extends number, D extends Float, P> extends Described {
  readonly declared: P
  readonly init: (key: Key) => Tensors<P>
  apply<N extends Shape>(params: Given<P>, x: Expr<readonly [...N, F], D>, run?: BlockRun): Expr<[...N, F], D>
  /** The declaration of a cache for a number of positions: for a number of sequences, or these leading axes. */
  declaredCache(batch: number | readonly number[], length: number): Cache<D>
  /** A cache of nothing yet. */
  initCache(batch: number | readonly number[], length: number): Tensors<Cache<D>>
  /** The next positions, x: [..., n, features], attending to those before. NaN if the cache is full. */
  step<N extends Shape>(
    params: Given<P>,
    cache: CacheIn<D>,
    x: Expr<readonly [...N, F], D>,
    run?: Pick<BlockRun, 'context' | 'contextMask'>,
  ): [cache: Exprs<Cache<D>>, y: Expr<[...N, F], D>]
}
/** A transformer block over F features. */
export type TransformerBlock<F extends number, D extends Float, B, K, G, C> = Transforming<F, D, BlockParams<F, D, B, K, G, C>>

interface Normal {
  readonly scale: AnyExpr
  readonly bias: AnyExpr | null
}
interface Params {
  readonly attention: never
  readonly attentionNorm: Normal
  readonly cross: never
  readonly crossNorm: Normal
  readonly up: Weights
  readonly gate: Weights | null
  readonly down: Weights
  readonly denseNorm: Normal
}
type Untyped = Attention<number, Float, boolean>
const normalised = ({ scale, bias }: Normal, x: AnyExpr, eps: number): AnyExpr =>
  (bias === null ? normalisedByRms(x, { eps, scale } as never) : normalisedByLayer(x, { eps, scale, bias } as never)) as AnyExpr
const normOf = (f: number, dtype: Float, kind: 'layer' | 'rms') => ({
  scale: floatSpec(dtype, [f]),
  bias: kind === 'layer' ? floatSpec(dtype, [f]) : null,
})

/** The arrays that blocks are told of. */
const blockTold = ['mask', 'context', 'contextMask']
/** What a block and a stack of them share: everything but how they run. */
const read = (options: unknown, op: string) => {
  const given = readOptions(transformerBlockOptions, options, op)
  const activation = given.activation ?? 'gelu'
  const act = typeof activation === 'function' ? activation : Object.hasOwn(activations, activation) ? activations[activation] : undefined
  if (act === undefined)
    badInput(
      op,
      `activation is ${typeof activation === 'string' ? `'${activation}'` : typeof activation}.`,
      "give 'gelu', 'relu', 'silu', or a function of arrays.",
    )
  return { ...given, act: act! }
}
/**
 * A transformer block: x + attention(norm(x)), then x + down(activation(up(norm(x)))); with `norm: 'post'` norm(x + attention(x)), and so on.
 *
 * Options are those of `multiHeadAttention`, and hidden, norm, normKind, eps, activation, gated (activation(gate(x)) up(x): a SwiGLU with 'silu'), cross (between both it attends to `run.context`).
 * In training `dropout` drops weights of attention, hidden features, and what each part adds; needs `run.key`. A causal block has `step(params, cache, x)` as `multiHeadAttention` has.
 * Shapes  x: [..., n, features] -> the same.   Dtype  f32, or the option's.   Errors  as `multiHeadAttention`; BadInput if a context is missing or unexpected.
 * Source  Vaswani et al. 2017; Xiong et al. 2020 ('pre'); `torch.nn.TransformerEncoderLayer`, with cross `TransformerDecoderLayer`; gated by the names of Hugging Face's LLaMA.
 * @example
 * const block = transformerBlock(4, 2, { causal: true })
 * fn({ p: block.declared, x: f32('n', 't', 4) }, ({ p, x }) => block.apply(p, x))({ p: block.init(key(1)), x: [[[0, 0, 0, 0]]] }) // [[[0, 0, 0, 0]]]
 */
export const transformerBlock = <
  const F extends number,
  B extends boolean = true,
  D extends Float = 'f32',
  K extends 'layer' | 'rms' = 'layer',
  G extends boolean = false,
  C extends boolean = false,
>(
  features: F,
  heads: number,
  options?: TransformerBlockOptions<B, D, K, G, C>,
): TransformerBlock<F, D, B, K, G, C> => {
  const op = 'transformerBlock'
  const given = read(options, op)
  const { norm, normKind, eps, act, gated, bias, dtype, dropout } = given
  const f = sizeIn(features, 'features', op)
  const hidden = given.hidden || 4 * f
  const { kvHeads, headFeatures, contextFeatures, causal, positions, base } = given
  if (contextFeatures !== 0 && !given.cross)
    badInput(op, 'there are contextFeatures, and nothing that attends to a context.', 'make the block with { cross: true }.')
  const common = {
    bias,
    dtype,
    dropout,
    ...(kvHeads !== 0 && { kvHeads }),
    ...(headFeatures !== 0 && { headFeatures }),
  }
  const attention = multiHeadAttention(f, heads, { ...common, causal, positions, base }) as unknown as Untyped
  const cross = given.cross
    ? (multiHeadAttention(f, heads, { ...common, ...(contextFeatures !== 0 && { contextFeatures }) }) as unknown as Untyped)
    : null
  const dense = (i: number, o: number) => ({ w: floatSpec(dtype, [i, o]), b: bias ? floatSpec(dtype, [o]) : null })
  const one = () => normOf(f, dtype, normKind)
  const declared = {
    attention: attention.declared,
    attentionNorm: one(),
    cross: cross?.declared ?? null,
    crossNorm: cross === null ? null : one(),
    up: dense(f, hidden),
    gate: gated ? dense(f, hidden) : null,
    down: dense(hidden, f),
    denseNorm: one(),
  }
  /** One part around the sum with x; `drop` drops in training. */
  const around = (x: AnyExpr, n: Normal, part: (x: AnyExpr) => AnyExpr, drop: (x: AnyExpr) => AnyExpr): AnyExpr =>
    norm === 'pre' ? (add(x, drop(part(normalised(n, x, eps)))) as AnyExpr) : normalised(n, add(x, drop(part(x))) as AnyExpr, eps)
  const through = (p: Params, x: AnyExpr, run: BlockRun, attend: (x: AnyExpr, run: AttentionRun) => AnyExpr): AnyExpr => {
    const { context, contextMask, mask, training = false, key } = run
    if (cross === null && (context ?? contextMask) !== undefined)
      badInput(op, 'there is a context, and nothing that attends to it.', 'make the block with { cross: true }.')
    if (cross !== null && context === undefined) badInput(op, 'there is no context.', 'give one: apply(params, x, { context }).')
    const drops = training && dropout > 0
    if (drops && key === undefined) badInput(op, 'there is no key.', 'in training give one: apply(params, x, { training: true, key }).')
    const keyAt = (i: number) => (drops ? { training, key: foldIn(key!, i) } : {})
    const drop = (i: number) => (y: AnyExpr) => (drops ? (dropped(y, dropout, foldIn(key!, i)) as AnyExpr) : y)
    let y = around(x, p.attentionNorm, (h) => attend(h, { ...keyAt(0), ...(mask !== undefined && { mask }) }), drop(1))
    if (cross !== null) {
      const told = { ...keyAt(2), context: context!, ...(contextMask !== undefined && { mask: contextMask }) }
      y = around(y, p.crossNorm, (h) => cross.apply(p.cross, h as never, told) as AnyExpr, drop(3))
    }
    const between = (h: AnyExpr): AnyExpr =>
      p.gate === null ? act(product(p.up, h)) : (mul(act(product(p.gate, h)), product(p.up, h)) as AnyExpr)
    return around(y, p.denseNorm, (h) => product(p.down, drop(4)(between(h))), drop(5))
  }
  return guarded(
    {
      kind: op,
      torch: blockInTorch({ attention, cross, bias, gated, normKind }),
      declared,
      init: (key: Key) => init(declared as never, key, given.init),
      apply: (p: Params, x: AnyExpr, run: BlockRun = {}) =>
        through(p, x, run, (h, told) => attention.apply(p.attention, h as never, told) as AnyExpr),
      declaredCache: attention.declaredCache,
      initCache: attention.initCache,
      step: (p: Params, cache: never, x: AnyExpr, run: BlockRun = {}) => {
        let after: unknown
        const y = through(p, x, run, (h) => {
          const [next, y] = attention.step(p.attention, cache, h as never)
          after = next
          return y as AnyExpr
        })
        return [after, y]
      },
    },
    { told: blockTold },
  ) as never
}
export const transformerOptions = {
  ...transformerBlockOptions,
  /** The residuals of each block, as for `scan`. */
  checkpoint: raw<'everything' | 'contractions' | 'nothing' | 'sqrt' | number>(),
} satisfies OptionsFor<TransformerOptions>
/** Options of `transformer`. */
export interface TransformerOptions<
  B extends boolean = boolean,
  D extends Float = Float,
  K extends 'layer' | 'rms' = 'layer' | 'rms',
  G extends boolean = boolean,
  C extends boolean = boolean,
> extends TransformerBlockOptions<B, D, K, G, C> {
  /** The residuals of each block, as for `scan`. */
  readonly checkpoint?: 'everything' | 'contractions' | 'nothing' | 'sqrt' | number | undefined
}
/** L blocks, each array with a leading axis of length L, and the final normalisation; null if each block ends with one. */
export type StackParams<F extends number, L extends number, D extends Float, B, K, G, C> = {
  readonly layers: Stacked<BlockParams<F, D, B, K, G, C>, L>
  readonly norm: NormParams<F, D, K> | null
}
/** A stack of L transformer blocks over F features. */
export type Transformer<F extends number, L extends number, D extends Float, B, K, G, C> = Transforming<
  F,
  D,
  StackParams<F, L, D, B, K, G, C>
>
/**
 * A stack of transformer blocks as one loop, with a final normalisation: an encoder, with `causal` a decoder, with `cross` one that attends to an encoder's result (`run.context`).
 *
 * Parameters { layers, norm }: those of `transformerBlock`, each array with an axis of length `layers` in front; norm is null with `norm: 'post'`.   Options  as
 * `transformerBlock`, and checkpoint, as for `scan`. `step(params, cache, x)` gives [cache, y] for the next positions; a cache has an axis of layers in front too.
 * Shapes, Dtype, Errors  as `transformerBlock`.
 * Source  `torch.nn.TransformerEncoder`, `TransformerDecoder`.
 * @example
 * const model = transformer(4, 2, 12, { causal: true, positions: 'rotary' })
 * fn({ p: model.declared, x: f32('n', 't', 4) }, ({ p, x }) => model.apply(p, x))({ p: model.init(key(1)), x: [[[0, 0, 0, 0]]] }) // [[[0, 0, 0, 0]]]
 */
export const transformer = <
  const F extends number,
  const L extends number,
  B extends boolean = true,
  D extends Float = 'f32',
  K extends 'layer' | 'rms' = 'layer',
  G extends boolean = false,
  C extends boolean = false,
>(
  features: F,
  heads: number,
  layers: L,
  options?: TransformerOptions<B, D, K, G, C>,
): Transformer<F, L, D, B, K, G, C> => {
  const op = 'transformer'
  const { checkpoint, activation, ...given } = readOptions(transformerOptions, options, op)
  const { hidden, kvHeads, headFeatures, contextFeatures, init: how, ...others } = given
  const count = sizeIn(layers, 'layers', op)
  const block = transformerBlock(features, heads, {
    ...others,
    ...Object.fromEntries(Object.entries({ hidden, kvHeads, headFeatures, contextFeatures }).filter(([, n]) => n !== 0)),
    ...(activation !== undefined && { activation }),
    ...(how !== undefined && { init: how }),
  }) as unknown as Transforming<number, Float, object>
  const { dtype, norm, normKind, eps } = given
  const stack = repeat(block as AnyLayer, count, { ...(checkpoint !== undefined && { checkpoint }) }) as unknown as AnyLayer
  const last: AnyLayer | null =
    norm === 'post'
      ? null
      : {
          kind: normKind === 'layer' ? 'layerNorm' : 'rmsNorm',
          torch: normInTorch(normKind),
          declared: normOf(features, dtype, normKind),
          init: (key) => init(normOf(features, dtype, normKind) as never, key),
          apply: (p: never, x: never) => normalised(p, x, eps),
        }
  const ended = (p: { readonly norm: never }, y: AnyExpr, run: BlockRun = {}): AnyExpr =>
    last === null ? y : (runPart(last, { name: 'norm', index: 1 }, p.norm, y, run)[0] as AnyExpr)
  const inFront = <T>(cache: Cache<Float>, f: (shape: readonly number[]) => T) => ({
    k: f([count, ...cache.k.shape]),
    v: f([count, ...cache.v.shape]),
  })
  return guarded(
    {
      kind: op,
      parts: { layers: stack, ...(last !== null && { norm: last }) },
      declared: { layers: stack.declared, norm: last?.declared ?? null },
      init: (key: Key) => ({ layers: stack.init(foldIn(key, 0)), norm: last?.init(foldIn(key, 1)) ?? null }),
      apply: (p: { readonly layers: never; readonly norm: never }, x: never, run: BlockRun = {}) =>
        ended(p, runPart(stack, { name: 'layers', index: 0 }, p.layers, x, run)[0] as AnyExpr, run),
      declaredCache: (batch: number, length: number) => {
        const one = block.declaredCache(batch, length)
        return { ...inFront(one, (shape) => floatSpec(dtype, shape)), count: one.count }
      },
      initCache: (batch: number, length: number) => {
        const one = block.declaredCache(batch, length)
        return evaluate({ ...inFront(one, (shape) => zeros(shape as number[], dtype)), count: zeros([], 'i32') } as never)
      },
      step: (p: { readonly layers: never; readonly norm: never }, cache: CacheIn<Float>, x: AnyExpr, run: BlockRun = {}) => {
        const { count: before, k, v } = cache
        const [y, held] = scan(
          ((h: AnyExpr, [own, kept]: readonly [never, { readonly k: AnyExpr; readonly v: AnyExpr }]) => {
            const [next, y] = block.step(own, { ...kept, count: before } as never, h as never, run)
            return [y, { k: next.k, v: next.v }]
          }) as never,
          x as never,
          [p.layers, { k, v }] as never,
        ) as unknown as readonly [AnyExpr, { readonly k: AnyExpr; readonly v: AnyExpr }]
        return [{ ...held, count: add(before as AnyExpr, x.shape.at(-2)!) }, ended(p, y)]
      },
    },
    { told: blockTold },
  ) as never
}
