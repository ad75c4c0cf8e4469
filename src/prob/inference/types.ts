/** The types of what is drawn. */
import type { AnyExpr, Expr, NoTangent, Static, Tensor } from '../../index.js'
import type { Found, Inside } from '../../minimize/types.js'

export type { Inside }

/** A tree with two leading axes at every tensor: chains and draws. */
type Stacked<X> =
  X extends Expr<infer S, infer D>
    ? Tensor<[number, number, ...S], D>
    : X extends NoTangent | Static
      ? X
      : { readonly [K in keyof X]: Stacked<X[K]> }
/** Draws of a tree like X: [chains, draws, ...] at every leaf. */
export type Draws<X> = Stacked<Found<X>>
/** What a log density is: a function of a tree that returns a scalar. */
export type LogDensity<X> = (x: Inside<X>) => AnyExpr | number
