/** Layers of single arrays: dense, embedding, dropout; and what only changes the form. */
import { badInput } from '../core/errors/explain.js'
import { flag, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  type Dim,
  type DType,
  type Expr,
  type Exprs,
  type Float,
  flatten as flat,
  linear,
  matmul,
  mul,
  reshape,
  embedding as rowsOf,
  type Shape,
  type Spec,
  type Tensors,
  transpose,
} from '../index.js'
import { dropout as dropped, type Key, normal } from '../random/index.js'
import { floatOption, floatSpec, initials, rateIn, sizeIn } from './given.js'
import { guarded } from './guard.js'
import { type Initials, init } from './init.js'
import type { Described, Given, Layer, Run } from './layer.js'

export const denseOptions = {
  /** Is a bias b added? True unless given. */
  bias: flag(true),
  /** 'f32' unless given. */
  dtype: floatOption,
  /** How parameters are initialised, by name: { w, b }. */
  init: initials,
}
/** Options of `dense`. */
export interface DenseOptions<B extends boolean = boolean, D extends Float = Float> {
  /** Is a bias b added? True unless given. */
  readonly bias?: B | undefined
  /** 'f32' unless given. */
  readonly dtype?: D | undefined
  /** How parameters are initialised, by name: { w, b }. */
  readonly init?: Initials | undefined
}
/** The parameters of a dense layer. */
export type DenseParams<I extends number, O extends number, D extends Float, B> = {
  readonly w: Spec<[I, O], D>
  readonly b: B extends false ? null : Spec<[O], D>
}
/** A dense layer from I features to O. */
export interface Dense<I extends number, O extends number, D extends Float, B extends boolean> extends Described {
  readonly declared: DenseParams<I, O, D, B>
  readonly init: (key: Key) => Tensors<DenseParams<I, O, D, B>>
  apply<N extends Shape>(params: Given<DenseParams<I, O, D, B>>, x: Expr<readonly [...N, I], D>, run?: Run): Expr<[...N, O], D>
}
/**
 * A dense layer, x w + b: `inputs` features to `outputs`.
 *
 * Shapes  x: [..., inputs] -> [..., outputs]; w: [inputs, outputs], b: [outputs].   Dtype  f32, or the option's. Options bias, dtype, init:
 *         unless given, w is drawn by `lecunNormal` and b is zeros.   Errors  BadInput for invalid sizes.
 * @example
 * const layer = dense(2, 3)
 * fn({ p: layer.declared, x: f32('n', 2) }, ({ p, x }) => layer.apply(p, x))({ p: layer.init(key(1)), x: [[0, 0]] }) // [[0, 0, 0]]
 */
export const dense = <const I extends number, const O extends number, B extends boolean = true, D extends Float = 'f32'>(
  inputs: I,
  outputs: O,
  options?: DenseOptions<B, D>,
): Dense<I, O, D, B> => {
  const given = readOptions(denseOptions, options, 'dense')
  const [i, o] = [sizeIn(inputs, 'inputs', 'dense'), sizeIn(outputs, 'outputs', 'dense')]
  const declared = { w: floatSpec(given.dtype, [i, o]), b: given.bias ? floatSpec(given.dtype, [o]) : null }
  const made: Layer<typeof declared, AnyExpr> = {
    kind: 'dense',
    torch: { weight: { at: 'w', axes: [1, 0] }, ...(given.bias && { bias: { at: 'b' } }) },
    declared,
    init: (key) => init(declared, key, given.init),
    apply: (p, x) => (p.b === null ? linear(x, p.w as AnyExpr) : linear(x, p.w as AnyExpr, p.b as AnyExpr)),
  }
  return guarded(made) as unknown as Dense<I, O, D, B>
}

export const embeddingOptions = {
  /** 'f32' unless given. */
  dtype: floatOption,
  /** How the table begins: { table }. */
  init: initials,
}
/** Options of `embedding`. */
export interface EmbeddingOptions<D extends Float = Float> {
  /** 'f32' unless given. */
  readonly dtype?: D | undefined
  /** How the table begins: { table }. */
  readonly init?: Initials | undefined
}
/** A table of vectors, one for each of N words. */
export interface Embedding<N extends number, F extends number, D extends Float> extends Described {
  readonly declared: { readonly table: Spec<[N, F], D> }
  readonly init: (key: Key) => Tensors<{ readonly table: Spec<[N, F], D> }>
  apply<S extends Shape>(params: Given<{ readonly table: Spec<[N, F], D> }>, x: Expr<S, 'i32'>, run?: Run): Expr<[...S, F], D>
  /** Tied: the scores of all words for vectors x, which are x times the transposed table. The parameters are those of `apply`. */
  attend<S extends Shape>(params: Given<{ readonly table: Spec<[N, F], D> }>, x: Expr<readonly [...S, F], D>): Expr<[...S, N], D>
}
/**
 * A vector for each of `words` indices; `attend(params, x)` is its transpose, with the same table: scores of all words for the vectors x, [..., features] -> [..., words].
 *
 * An index out of range is clamped, as in `take`; a negative one counts from the end.
 * Shapes  x: [...] of i32 -> [..., features]; table: [words, features].   Dtype  f32, or the option's.   Options dtype, init: unless given, normal numbers of variance 1 / features.
 * @example
 * const words = embedding(5, 2)
 * fn({ p: words.declared, x: i32('n') }, ({ p, x }) => words.apply(p, x))({ p: words.init(key(1)), x: [0, 4, 0] }).shape // [3, 2]
 * const scores = fn({ p: words.declared, h: f32('n', 2) }, ({ p, h }) => words.attend(p, h))
 * scores({ p: words.init(key(1)), h: [[1, 0], [0, 1], [1, 1]] }).shape // [3, 5]
 */
export const embedding = <const N extends number, const F extends number, D extends Float = 'f32'>(
  words: N,
  features: F,
  options?: EmbeddingOptions<D>,
): Embedding<N, F, D> => {
  const given = readOptions(embeddingOptions, options, 'embedding')
  const shape = [sizeIn(words, 'words', 'embedding'), sizeIn(features, 'features', 'embedding')]
  const declared = { table: floatSpec(given.dtype, shape) }
  const made: Layer<typeof declared, AnyExpr> & { attend: (p: Exprs<typeof declared>, x: AnyExpr) => AnyExpr } = {
    kind: 'embedding',
    torch: { weight: { at: 'table' } },
    declared,
    init: (key) => init(declared, key, given.init ?? { table: (k, s, { dtype }) => scaled(k, s, dtype, shape[1]!) }),
    apply: (p, x) => rowsOf(p.table as AnyExpr, x as Expr<Shape, 'i32'>),
    attend: (p, x) => matmul(x, transpose(p.table as AnyExpr)),
  }
  return guarded(made) as unknown as Embedding<N, F, D>
}
/** Normal numbers of variance 1 / features. */
const scaled = (key: Key, shape: readonly number[], dtype: Float, features: number): AnyExpr =>
  mul(normal(key, shape as number[], { dtype }), 1 / Math.sqrt(features)) as AnyExpr

/** A layer that keeps the shape. */
export interface Keeping extends Described {
  readonly declared: null
  readonly init: (key: Key) => null
  apply<S extends Shape, D extends DType>(params: null, x: Expr<S, D>, run?: Run): Expr<S, D>
}
/**
 * Dropout: in training x / (1 - rate) with probability 1 - rate, else 0; x itself otherwise.
 *
 * Needs `run.key` in training.   Errors  BadInput unless 0 <= rate < 1, and without a key in training.   Source  Srivastava et al. 2014.
 * @example evaluate(dropout(0.5).apply(null, tensor([1, 1, 1, 1], [4], 'f32'), { training: true, key: key(1) })) // [2, 0, 2, 2]
 */
export const dropout = (rate: number): Keeping => {
  const share = rateIn(rate, 'rate', 'dropout')
  const made: Layer<null, AnyExpr> = {
    kind: 'dropout',
    declared: null,
    init: () => null,
    apply: (_, x, { training = false, key } = {}) => {
      if (!training || share === 0) return x
      if (key === undefined)
        return badInput('dropout', 'there is no key.', 'in training give one: apply(params, x, { training: true, key }).')
      return dropped(x, share, key) as AnyExpr
    },
  }
  return guarded(made) as unknown as Keeping
}

/** One axis of all but the first. */
export type Flat<S extends Shape> = [number] extends [S['length']]
  ? [Dim, number]
  : S extends readonly [infer N extends Dim, ...infer R extends Shape]
    ? R extends readonly []
      ? [N]
      : [N, Product<R>]
    : [Dim, number]
/** As many as there are in an array of the shape R: what reshape to [-1] says. */
type Product<R extends Shape> = typeof reshape<readonly [-1], R, 'f32'> extends (x: never, shape: never) => Expr<infer S, infer _D>
  ? S extends readonly [infer P extends Dim]
    ? P
    : number
  : number
/** A layer that makes one axis of all but the first. */
export interface Flatten extends Described {
  readonly kind: 'flatten'
  readonly declared: null
  readonly init: (key: Key) => null
  apply<N extends Shape, D extends DType>(params: null, x: Expr<N, D>, run?: Run): Expr<Flat<N>, D>
}
/**
 * One vector for each example: all axes but the first become one.
 *
 * Shapes  [n, ...] -> [n, product of the others].   Errors  BadInput for a scalar.
 * @example evaluate(flattened().apply(null, ones([2, 3, 4]))).shape // [2, 12]
 */
export const flattened = (): Flatten => {
  const made: Layer<null, AnyExpr> = {
    kind: 'flatten',
    declared: null,
    init: () => null,
    apply: (_, x) => {
      const [n, ...others] = x.shape
      if (n === undefined) return badInput('flattened', 'the input is a scalar.', 'give an array with an axis of examples.')
      return others.length === 0 ? flat(x) : reshape(x, [n, others.reduce((a, d) => a * d, 1)])
    },
  }
  return guarded(made) as unknown as Flatten
}
