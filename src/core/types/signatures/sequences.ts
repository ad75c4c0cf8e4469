// Signatures of layers and losses over sequences.
import type { AsFloat, DType, Promote, WeakF64 } from '../dtype.js'
import type { Arg, Expr, Operand, Plain, PlainIndex } from '../expr.js'
import type { Shape } from '../shape.js'
import type { Index } from './index-ops.js'
import type { LossOptions } from './nn.js'
import type { AxisOptions } from './reduce.js'

/** Options of `scaledDotProductAttention`. */
export interface AttentionOptions {
  /** True where a score counts, or a number that is added to it; broadcasts against [..., n, m]. */
  readonly mask?: Arg | undefined
  /** Row i of q sees k's rows up to i. */
  readonly causal?: boolean | undefined
  /** 1 / sqrt(d) unless given. */
  readonly scale?: number | undefined
}
/** The rows of q with the width of v. */
type Attended<Q extends Shape, V extends Shape> = Q extends readonly [...infer B extends Shape, infer N extends number | string, unknown]
  ? V extends readonly [...Shape, infer E extends number | string]
    ? [...B, N, E]
    : Shape
  : Shape
/** scaledDotProductAttention(q, k, v, { mask, causal, scale }): softmax(q k^T scale) v. */
export type AttentionFn = <Q extends Shape, D extends DType, DK extends DType, V extends Shape, DV extends DType>(
  q: Operand<Q, D>,
  k: Operand<Shape, DK>,
  v: Operand<V, DV>,
  options?: AttentionOptions,
) => Expr<Attended<Q, V>, AsFloat<Promote<Promote<D, DK>, DV>>>
/** Options of `ctcLoss`: the class that stands for nothing, 0 by default. */
export interface CtcOptions extends LossOptions {
  readonly blank?: number | undefined
  readonly zeroInfinity?: boolean | undefined
}
type Whole = Index | PlainIndex
/** ctcLoss(logP, targets, inputLengths, targetLengths, { blank, reduction, zeroInfinity }). */
export type CtcFn = <D extends DType = WeakF64, const O extends CtcOptions = CtcOptions>(
  logP: Operand<Shape, D>,
  targets: Whole,
  inputLengths: Whole,
  targetLengths: Whole,
  options?: O,
) => Expr<O extends { readonly reduction: 'none' } ? [number] : [], AsFloat<D>>
/** Options of `reverseSequence`. */
export interface ReverseSequenceOptions {
  /** The axis of the steps, the first unless given. */
  readonly axis?: number | undefined
  /** The axis of the examples, the second unless given. */
  readonly batchAxis?: number | undefined
}
/** reverseSequence(x, lengths, { axis, batchAxis }): the first entries of each sequence in reverse. */
export type ReverseSequenceFn = <S extends Shape, D extends DType>(
  x: Operand<S, D>,
  lengths: Whole,
  options?: ReverseSequenceOptions,
) => Expr<S, D>
/** topkFilter(logits, k, { axis }), toppFilter(logits, p, { axis, least }): the unlikely at -infinity. */
export type LogitsFilterFn<Extra = unknown> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions & Extra = AxisOptions & Extra,
>(
  logits: Operand<S, D> | Plain,
  most: number,
  options?: O,
) => Expr<S, AsFloat<D>>
