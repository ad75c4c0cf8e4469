// Signatures of layers and losses over sequences.
import type { AsFloat, DType, Promote, WeakF64 } from '../dtype.js'
import type { Expr, Plain, PlainIndex } from '../expr.js'
import type { Dim, Shape } from '../shape.js'
import type { Index } from './index-ops.js'

/** The rows of q with the width of v. */
type Attended<Q extends Shape, V extends Shape> = Q extends readonly [...infer B extends Shape, infer N extends number | string, unknown]
  ? V extends readonly [...unknown[], infer E extends number | string]
    ? [...B, N, E]
    : Shape
  : Shape
/** scaledDotProductAttention(q, k, v, { mask, causal, scale }): softmax(q k^T scale) v. */
export type AttentionFn<Options> = <
  Q extends Shape = Shape,
  D extends DType = WeakF64,
  DK extends DType = WeakF64,
  V extends Shape = Shape,
  DV extends DType = WeakF64,
>(
  q: Expr<Q, D> | Plain,
  k: Expr<Shape, DK> | Plain,
  v: Expr<V, DV> | Plain,
  options?: Options,
) => Expr<Attended<Q, V>, AsFloat<Promote<Promote<D, DK>, DV>>>
type Whole = Index | PlainIndex
/** ctcLoss(logP, targets, inputLengths, targetLengths, { blank, reduction, zeroInfinity }). */
export type CtcFn<Options> = <D extends DType = WeakF64, const O extends Options = Options, S extends Shape = Shape>(
  logP: Expr<S, D> | Plain,
  targets: Whole,
  inputLengths: Whole,
  targetLengths: Whole,
  options?: O,
) => Expr<
  O extends { readonly reduction: 'none' } ? [S extends readonly [unknown, infer N extends Dim, unknown] ? N : number] : [],
  AsFloat<D>
>
/** reverseSequence(x, lengths, { axis, batchAxis }): the first entries of each sequence in reverse. */
export type ReverseSequenceFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  lengths: Whole,
  options?: Options,
) => Expr<S, D>
/** topkFilter(logits, k, { axis }), toppFilter(logits, p, { axis, least }): the unlikely at -infinity. */
export type LogitsFilterFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  logits: Expr<S, D> | Plain,
  most: number,
  options?: O,
) => Expr<S, AsFloat<D>>
