/** Attention of several heads as a layer: to itself or to others, with positions, and token by token with a cache. */
import { badInput, badShape } from '../core/errors/explain.js'
import { choice, flag, number, type OptionsFor, raw, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  and,
  arange,
  cast,
  concat,
  cos,
  div,
  dynamicUpdateSlice,
  type Expr,
  type Exprs,
  evaluate,
  exp,
  type Float,
  gt,
  i32,
  isfinite,
  le,
  linear,
  matmul,
  max,
  mul,
  neg,
  repeat,
  reshape,
  type Shape,
  type Spec,
  scaledDotProductAttention,
  sin,
  split,
  stopGradient,
  sub,
  sum,
  swapaxes,
  type Tensors,
  tensor,
  transpose,
  where,
  zeros,
} from '../index.js'
import { dropout as dropped, type Key } from '../random/index.js'
import { floatOption, floatSpec, initials, leadingAxes, rateIn, sizeIn, sizeOption } from './given.js'
import { guarded } from './guard.js'
import { attentionInTorch } from './in-torch.js'
import { type Initials, init } from './init.js'
import { type Described, type Given, type Run, shapeOf } from './layer.js'

/** How a head knows positions: not at all, by rotating queries and keys, or by a penalty that grows with the distance. */
export type Positions = 'none' | 'rotary' | 'alibi'
export const attentionOptions = {
  /** Heads of keys and values, each of which serves a group of query heads; as many as heads unless given. */
  kvHeads: sizeOption(0),
  /** Features of each head: features / heads unless given. */
  headFeatures: sizeOption(0),
  /** Features of the context, if there is one: those of x unless given. */
  contextFeatures: sizeOption(0),
  /** Does each position attend only to those up to itself? */
  causal: flag(),
  /** Do the four projections have biases? True unless given. */
  bias: flag(true),
  /** 'none' unless given. */
  positions: choice(['none', 'rotary', 'alibi'], 'none'),
  /** The base of rotary frequencies: 10000 unless given. */
  base: number(10_000, { above: 0 }),
  /** The probability with which a weight is dropped in training: 0 unless given. */
  dropout: raw<number, 0>(0),
  /** 'f32' unless given. */
  dtype: floatOption,
  /** How parameters are initialised, by name or path: { 'q.w', 'out.b', w, b }. */
  init: initials,
} satisfies OptionsFor<AttentionLayerOptions>
/** Options of `multiHeadAttention`. */
export interface AttentionLayerOptions<B extends boolean = boolean, D extends Float = Float> {
  /** Heads of keys and values, each of which serves a group of query heads; as many as heads unless given. */
  readonly kvHeads?: number | undefined
  /** Features of each head: features / heads unless given. */
  readonly headFeatures?: number | undefined
  /** Features of the context, if there is one: those of x unless given. */
  readonly contextFeatures?: number | undefined
  /** Does each position attend only to those up to itself? */
  readonly causal?: boolean | undefined
  /** Do the four projections have biases? True unless given. */
  readonly bias?: B | undefined
  /** 'none' unless given. */
  readonly positions?: Positions | undefined
  /** The base of rotary frequencies: 10000 unless given. */
  readonly base?: number | undefined
  /** The probability with which a weight is dropped in training: 0 unless given. */
  readonly dropout?: number | undefined
  /** 'f32' unless given. */
  readonly dtype?: D | undefined
  /** How parameters are initialised, by name or path: { 'q.w', 'out.b', w, b }. */
  readonly init?: Initials | undefined
}
/** A projection, with or without a bias. */
export type ProductParams<I extends number, O extends number, D extends Float, B> = {
  readonly w: Spec<[I, O], D>
  readonly b: B extends false ? null : Spec<[O], D>
}
/** The projections to queries, keys and values, and the output projection. */
export type AttentionParams<F extends number, D extends Float, B> = {
  readonly q: ProductParams<F, number, D, B>
  readonly k: ProductParams<number, number, D, B>
  readonly v: ProductParams<number, number, D, B>
  readonly out: ProductParams<number, F, D, B>
}
/** The arguments of attention besides x. */
export interface AttentionRun extends Run {
  /** The input of keys and values, [..., m, features]: x itself unless given. */
  readonly context?: Expr | undefined
  /**
   * True where a score counts, or a number that is added to it: of n positions by m it is [n, m], with the leading axes of x [..., n, m] ([batch, 1, m] hides what pads each sequence), for each head
   * [..., heads, n, m]. Each axis may be 1.
   */
  readonly mask?: Expr | undefined
}
/** Keys and values so far, [..., kvHeads, length, headFeatures], and how many positions they are of. */
export type Cache<D extends Float> = {
  readonly k: Spec<number[], D>
  readonly v: Spec<number[], D>
  readonly count: Spec<[], 'i32'>
}
/** A cache as it is passed in. */
export type CacheIn<D extends Float> = {
  readonly k: Expr<Shape, D>
  readonly v: Expr<Shape, D>
  readonly count: Expr<[], 'i32'>
}
/** Attention over F features. */
export interface Attention<F extends number, D extends Float, B> extends Described {
  readonly declared: AttentionParams<F, D, B>
  readonly init: (key: Key) => Tensors<AttentionParams<F, D, B>>
  apply<N extends Shape>(params: Given<AttentionParams<F, D, B>>, x: Expr<readonly [...N, F], D>, run?: AttentionRun): Expr<[...N, F], D>
  /** The declaration of a cache for a number of positions: for a number of sequences, or these leading axes. */
  declaredCache(batch: number | readonly number[], length: number): Cache<D>
  /** A cache of nothing yet. */
  initCache(batch: number | readonly number[], length: number): Tensors<Cache<D>>
  /** The next positions, x: [..., n, features], attending to those before. NaN if the cache is full. */
  step<N extends Shape>(
    params: Given<AttentionParams<F, D, B>>,
    cache: CacheIn<D>,
    x: Expr<readonly [...N, F], D>,
  ): [cache: Exprs<Cache<D>>, y: Expr<[...N, F], D>]
}

/** Arrays of a product. */
export interface Weights {
  readonly w: AnyExpr
  readonly b: AnyExpr | null
}
interface Params {
  readonly q: Weights
  readonly k: Weights
  readonly v: Weights
  readonly out: Weights
}
/** x w + b. */
export const product = ({ w, b }: Weights, x: AnyExpr): AnyExpr => (b === null ? linear(x, w) : linear(x, w, b)) as AnyExpr
/** [..., n, heads d] as [..., heads, n, d], and back. */
const inHeads = (x: AnyExpr, heads: number): AnyExpr => {
  const shape = shapeOf(x)
  return swapaxes(reshape(x, [...shape.slice(0, -1), heads, shape.at(-1)! / heads]), -3, -2) as AnyExpr
}
const joined = (x: AnyExpr): AnyExpr => {
  const [heads, n, d] = shapeOf(x).slice(-3) as [number, number, number]
  return reshape(swapaxes(x, -3, -2), [...shapeOf(x).slice(0, -3), n, heads * d]) as AnyExpr
}
/** Place of each of n positions from a start, as a column; or of n from 0 as a row. */
const column = (n: number, start: AnyExpr | number): AnyExpr => add(reshape(arange(n, 'i32'), [n, 1]), start as AnyExpr) as AnyExpr
const row = (n: number): AnyExpr => reshape(arange(n, 'i32'), [1, n]) as AnyExpr

/** Pairs (i, i + d / 2) of features turned by place base^(-2 i / d). Source: Su et al. 2021; pairs of halves, as Hugging Face's LLaMA. */
const rotated = (x: AnyExpr, start: AnyExpr | number, base: number): AnyExpr => {
  const [n, d] = shapeOf(x).slice(-2) as [number, number]
  const frequencies = tensor(
    Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d)),
    [1, d / 2],
    x.dtype as Float,
  )
  const angle = mul(cast(column(n, start), x.dtype), frequencies as never)
  const [c, s] = [cos(angle), sin(angle)]
  const [a, b] = split(x, 2, { axis: -1 }) as unknown as readonly [AnyExpr, AnyExpr]
  return concat([sub(mul(a, c), mul(b, s)) as AnyExpr, add(mul(b, c), mul(a, s)) as AnyExpr], { axis: -1 }) as AnyExpr
}
/** How steep the penalty of each head is: 2^(-8 i / n), of the next power of two below and between where n is none. Source: Press et al. 2022. */
const slopes = (heads: number): readonly number[] => {
  const whole = 2 ** Math.floor(Math.log2(heads))
  const of = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => 2 ** ((-8 * (i + 1)) / n))
  return [...of(whole), ...of(2 * whole).filter((_, i) => i % 2 === 0)].slice(0, heads)
}
/** -slope times the distance, for each head: [heads, n, m]. */
const penalties = (heads: number, n: number, m: number, start: AnyExpr | number, dtype: Float): AnyExpr => {
  const ahead = sub(column(n, start), row(m))
  const distance = where(gt(ahead, 0), neg(ahead), ahead)
  return mul(cast(distance as AnyExpr, dtype), tensor(slopes(heads) as number[], [heads, 1, 1], dtype)) as AnyExpr
}

interface Scoring {
  readonly mask: AnyExpr | undefined
  readonly causal: boolean
}
/** Attention whose weights are dropped: what `scaledDotProductAttention` is, with the weights in hand. */
const withDropout = (q: AnyExpr, k: AnyExpr, v: AnyExpr, { mask, causal }: Scoring, rate: number, key: Key): AnyExpr => {
  const groups = shapeOf(q).at(-3)! / shapeOf(k).at(-3)!
  const [keys, values] = [k, v].map((x) => repeat(x, groups, { axis: -3 }) as AnyExpr) as [AnyExpr, AnyExpr]
  const products = matmul(div(q, Math.sqrt(shapeOf(q).at(-1)!)), transpose(keys)) as AnyExpr
  const [n, m] = shapeOf(products).slice(-2) as [number, number]
  const biased = mask === undefined ? products : mask.dtype === 'bool' ? where(mask as never, products, -Infinity) : add(products, mask)
  const scores = (causal ? where(le(row(m), column(n, 0)), biased, -Infinity) : biased) as AnyExpr
  const top = stopGradient(max(scores, { axis: -1, keepdims: true }))
  const e = exp(sub(scores, where(isfinite(top), top, 0)))
  const total = sum(e, { axis: -1, keepdims: true })
  const weights = div(e, where(gt(total, 0), total, 1)) as AnyExpr
  return matmul(dropped(weights, rate, key) as AnyExpr, values) as AnyExpr
}
/** A mask as it stands beside scores, [..., heads, n, m]: one with no more axes than x is the same for all heads. */
const maskIn = (mask: AnyExpr, scores: readonly number[], op: string): AnyExpr => {
  const shape = shapeOf(mask)
  const wide = shape.length > 2 && shape.length < scores.length ? [...shape.slice(0, -2), 1, ...shape.slice(-2)] : shape
  if (wide.length > scores.length || wide.some((d, i) => d !== 1 && d !== scores[i + scores.length - wide.length]))
    badShape(
      op,
      [shape],
      `the mask does not fit scores [${scores.join(', ')}], [..., heads, n, m].`,
      `give [n, m], [..., n, m] with the leading axes of x, or [..., heads, n, m]; each axis may be 1.`,
    )
  return (wide === shape ? mask : reshape(mask, wide)) as AnyExpr
}
/** Both of two masks, of truth values or of numbers. */
const both = (a: AnyExpr | undefined, b: AnyExpr | undefined): AnyExpr | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  if (a.dtype === 'bool' && b.dtype === 'bool') return and(a as never, b as never) as AnyExpr
  if (a.dtype === 'bool') return where(a as never, b, -Infinity) as AnyExpr
  return b.dtype === 'bool' ? (where(b as never, a, -Infinity) as AnyExpr) : (add(a, b) as AnyExpr)
}

/**
 * Attention of several heads: softmax(q k^T / sqrt(d)) v of q = x q.w + q.b, and so on (`q`, `k`, `v` and `out` of the parameters), in `heads` parts of the features; the results
 * are joined and projected once more.
 *
 * `apply(params, x)` attends to x itself, or to `run.context`; `run.mask` is true where a score counts, or a number that is added: [n, m], [..., n, m] with the leading axes of x,
 * or [..., heads, n, m]; each axis may be 1. A causal layer also runs token by token: `step(params, cache, x)` gives [cache, y] for the positions of x after those in the cache,
 * which begins as `initCache(batch, length)`. `positions: 'rotary'` rotates the pairs (i, i + d / 2) of queries and keys, as in Hugging Face's LLaMA; 'alibi' subtracts slope times
 * distance from the scores.
 * Shapes  x: [..., n, features] -> the same; q.w: [features, heads d], k.w, v.w: [features, kvHeads d], out.w: [heads d, features].   Dtype  f32, or the option's. Options kvHeads,
 *         headFeatures d, contextFeatures, causal, bias, positions, base, dropout, dtype, init. A step beyond the end of its cache gives NaN.
 * Errors  BadInput if heads do not divide features, or kvHeads heads; for a context with a causal layer or with positions; for a step of a layer that is not causal.
 * Source  Vaswani et al. 2017; kvHeads: Ainslie et al. 2023; rotary: Su et al. 2021; ALiBi: Press et al. 2022.
 * @example
 * const layer = multiHeadAttention(4, 2, { causal: true })
 * fn({ p: layer.declared, x: f32('n', 't', 4) }, ({ p, x }) => layer.apply(p, x))({ p: layer.init(key(1)), x: [[[0, 0, 0, 0]]] }) // [[[0, 0, 0, 0]]]
 */
export const multiHeadAttention = <const F extends number, B extends boolean = true, D extends Float = 'f32'>(
  features: F,
  heads: number,
  options?: AttentionLayerOptions<B, D>,
): Attention<F, D, B> => {
  const op = 'multiHeadAttention'
  const given = readOptions(attentionOptions, options, op)
  const [f, h] = [sizeIn(features, 'features', op), sizeIn(heads, 'heads', op)]
  const { causal, bias, positions, base, dtype } = given
  const rate = rateIn(given.dropout, 'dropout', op)
  const kept = given.kvHeads || h
  if (h % kept !== 0) badInput(op, `${h} heads are not a multiple of kvHeads, ${kept}.`, 'give a kvHeads that divides heads.')
  if (given.headFeatures === 0 && f % h !== 0)
    badInput(op, `${h} heads do not divide ${f} features.`, 'give heads that divide features, or headFeatures.')
  const d = given.headFeatures || f / h
  const from = given.contextFeatures || f
  if (positions === 'rotary' && d % 2 !== 0)
    badInput(op, `each head has ${d} features, which rotary positions cannot pair.`, 'give an even number for each head.')
  const dense = (i: number, o: number) => ({ w: floatSpec(dtype, [i, o]), b: bias ? floatSpec(dtype, [o]) : null })
  const declared = { q: dense(f, h * d), k: dense(from, kept * d), v: dense(from, kept * d), out: dense(h * d, f) }

  /** Rows of x from a start on, attending to keys and values. */
  const attended = (p: Params, q: AnyExpr, k: AnyExpr, v: AnyExpr, scoring: Scoring, start: AnyExpr | number, run: Run): AnyExpr => {
    const [n, m] = [shapeOf(q).at(-2)!, shapeOf(k).at(-2)!]
    const mask = positions === 'alibi' ? both(scoring.mask, penalties(h, n, m, start, dtype)) : scoring.mask
    const drops = rate > 0 && run.training === true
    if (drops && run.key === undefined) badInput(op, 'there is no key.', 'in training give one: apply(params, x, { training: true, key }).')
    const { causal } = scoring
    const y = drops
      ? withDropout(q, k, v, { mask, causal }, rate, run.key!)
      : (scaledDotProductAttention(q, k, v, { causal, ...(mask !== undefined && { mask }) }) as AnyExpr)
    return product(p.out, joined(y))
  }
  const placed = (x: AnyExpr, start: AnyExpr | number): AnyExpr => (positions === 'rotary' ? rotated(x, start, base) : x)
  const checked = (x: AnyExpr): AnyExpr => {
    const shape = shapeOf(x)
    return shape.length >= 2 ? x : badShape(op, [shape], 'the input has no axis of positions.', `give [..., n, ${f}].`)
  }
  const cacheShape = (batch: unknown, length: unknown) => [...leadingAxes(batch, op), kept, sizeIn(length, 'length', op), d]
  return guarded(
    {
      kind: op,
      torch: attentionInTorch({ heads: h, kept, d, f, from, bias }),
      declared,
      init: (key: Key) => init(declared as never, key, given.init),
      apply: (p: Params, x: AnyExpr, run: AttentionRun = {}) => {
        const { context } = run
        if (context !== undefined && causal) badInput(op, 'a causal layer has no context.', 'leave out causal where x attends to others.')
        if (context !== undefined && positions !== 'none')
          badInput(op, `there is a context, and positions are '${positions}'.`, 'leave out positions where x attends to others.')
        const seen = checked((context ?? x) as AnyExpr)
        if (context !== undefined && shapeOf(seen).at(-1) !== from)
          badShape(
            op,
            [shapeOf(seen)],
            `the context has ${shapeOf(seen).at(-1)} features where ${from} are taken.`,
            `give [..., m, ${from}].`,
          )
        const q = placed(inHeads(product(p.q, checked(x)), h), 0)
        const k = placed(inHeads(product(p.k, seen), kept), 0)
        const v = inHeads(product(p.v, seen), kept)
        const scores = [...shapeOf(q).slice(0, -1), shapeOf(k).at(-2)!]
        const mask = run.mask === undefined ? undefined : maskIn(run.mask as AnyExpr, scores, op)
        return attended(p, q, k, v, { mask, causal }, 0, run)
      },
      declaredCache: (batch: unknown, length: unknown) => {
        const shape = cacheShape(batch, length)
        return { k: floatSpec(dtype, shape), v: floatSpec(dtype, shape), count: i32() }
      },
      initCache: (batch: unknown, length: unknown) => {
        const shape = cacheShape(batch, length)
        return evaluate({ k: zeros(shape, dtype), v: zeros(shape, dtype), count: zeros([], 'i32') } as never)
      },
      step: (p: Params, cache: { readonly k: AnyExpr; readonly v: AnyExpr; readonly count: AnyExpr }, x: AnyExpr) => {
        if (!causal) badInput(op, 'a layer that is not causal has no step.', 'make it with { causal: true }, or use apply.')
        const [n, length] = [shapeOf(checked(x)).at(-2)!, shapeOf(cache.k).at(-2)!]
        if (n > length)
          badShape(
            op,
            [shapeOf(x), shapeOf(cache.k)],
            `${n} positions do not fit into a cache of ${length}.`,
            'give a longer one to initCache.',
          )
        const { count } = cache
        const written = (to: AnyExpr, some: AnyExpr): AnyExpr =>
          dynamicUpdateSlice(to, some, [
            ...shapeOf(to)
              .slice(0, -2)
              .map(() => 0),
            count as never,
            0,
          ]) as AnyExpr
        const k = written(cache.k, placed(inHeads(product(p.k, x), kept), count))
        const v = written(cache.v, inHeads(product(p.v, x), kept))
        const q = placed(inHeads(product(p.q, x), h), count)
        const y = attended(p, q, k, v, { mask: le(row(length), column(n, count)) as AnyExpr, causal: false }, count, {})
        const next = add(count, n) as AnyExpr
        // Past its end the cache has no place left: that must not look like an answer.
        return [{ k, v, count: next }, where(le(next, length), y, Number.NaN)]
      },
    },
    { told: ['context', 'mask'] },
  ) as never
}
