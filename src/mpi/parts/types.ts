// The types of arrays in parts.
import type { AnyFn, ArgsOf, ResultOf } from '../../core/types/fn.js'
import type { DType, Expr, Fn, NoTangent, Shape, Spec, Static, Tensor } from '../../index.js'

type PartShape<S> = S extends readonly [] ? [] : [number]
/** A rank's parts of a tree of arrays: lines of numbers, and scalars as they are. */
export type Parts<T> = T extends { readonly _tag: 'Spec'; readonly shape: infer S; readonly dtype: infer D extends DType }
  ? Spec<PartShape<S>, D>
  : T extends { readonly _tag: 'Tensor'; readonly shape: infer S; readonly dtype: infer D extends DType }
    ? Tensor<PartShape<S>, D>
    : T extends { readonly _tag: 'Expr'; readonly shape: infer S; readonly dtype: infer D extends DType }
      ? Expr<PartShape<S>, D>
      : T extends NoTangent | Static
        ? T
        : { -readonly [K in keyof T]: Parts<T[K]> }
/** The whole arrays of such a tree: of the number of axes nothing is known. */
export type Joined<T> = T extends { readonly _tag: 'Tensor' | 'Expr'; readonly shape: infer S; readonly dtype: infer D extends DType }
  ? Tensor<S extends readonly [] ? [] : Shape, D>
  : T extends NoTangent | Static
    ? T
    : { -readonly [K in keyof T]: Joined<T[K]> }

type PartsAt<I, K> = { readonly [N in keyof I]: N extends K ? Parts<I[N]> : I[N] }
/** A function of one record whose inputs K are in parts. */
export type OnParts<F extends AnyFn, K> = ArgsOf<F> extends readonly [infer I] ? Fn<[PartsAt<I, K>], ResultOf<F>> : F
