// Signatures of contractions and linear algebra.
import type { AsNumber, Float } from '../dtype.js'
import type { Arg, Expr, ShapeOf, ShapesOf, Typed } from '../expr.js'
import type { Dim, Guard, Inner, InnerDim, NoOptions, Ok, Shape, Strict } from '../shape.js'
import type { Dot, Einsum, MatMul, Vecdot } from '../shape-contract.js'
import type { Kron, SameSize, Tensordot, TensordotAxes } from '../shape-products.js'
import type { Joined } from '../tree.js'
import type { PromoteArgs, PromoteArgs3 } from './elementwise.js'
import type { PromoteAll } from './layout.js'
import type { AxisOptions } from './reduce.js'

/** matmul(a, b): the matrix product, leading axes broadcast; a vector stands for a row (a) or a column (b). */
export interface MatMulFn {
  <N extends Dim, K extends Dim, M extends Dim, D extends Float>(a: Expr<[N, K], D>, b: Expr<[NoInfer<K>, M], NoInfer<D>>): Expr<[N, M], D>
  // leading axes may be one parameter, and axes readonly
  <S extends Shape, K extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [...S, K], D>,
    b: Expr<readonly [NoInfer<K>, M], NoInfer<D>>,
  ): Expr<[...S, M], D>
  <N extends Dim, K extends Dim, D extends Float>(a: Expr<[N, K], D>, b: Expr<[NoInfer<K>], NoInfer<D>>): Expr<[N], D>
  <K extends Dim, M extends Dim, D extends Float>(a: Expr<[K], D>, b: Expr<[NoInfer<K>, M], NoInfer<D>>): Expr<[M], D>
  // stacks of as many
  <P extends Dim, N extends Dim, K extends Dim, M extends Dim, D extends Float>(
    a: Expr<[P, N, K], D>,
    b: Expr<[NoInfer<P>, NoInfer<K>, M], NoInfer<D>>,
  ): Expr<[P, N, M], D>
  <P extends Dim, Q extends Dim, N extends Dim, K extends Dim, M extends Dim, D extends Float>(
    a: Expr<[P, Q, N, K], D>,
    b: Expr<[NoInfer<P>, NoInfer<Q>, NoInfer<K>, M], NoInfer<D>>,
  ): Expr<[P, Q, N, M], D>
  // a number of unknown size beside a parameter
  <S extends Shape, K extends Dim, L extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [...S, K], D>,
    b: Expr<readonly [L, M], NoInfer<D>> & Typed<readonly [InnerDim<K, L> & Dim, M]>,
  ): Expr<[...S, M], D>
  <S extends Shape, K extends Dim, L extends Dim, D extends Float>(
    a: Expr<readonly [...S, K], D>,
    b: Expr<readonly [L], NoInfer<D>> & Typed<readonly [InnerDim<K, L> & Dim]>,
  ): Expr<S, D>
  <A extends Arg, B extends Arg>(
    a: A,
    b: Strict<MatMul<ShapeOf<A>, ShapeOf<B>>, B, Inner<ShapeOf<A>, ShapeOf<B>>, ShapeOf<A>[number] | ShapeOf<B>[number]>,
  ): Expr<Ok<MatMul<ShapeOf<A>, ShapeOf<B>>>, AsNumber<PromoteArgs<A, B>>>
}
/** dot(a, b): NumPy's: the inner product of vectors, the matrix product of matrices. */
export interface DotFn {
  <K extends Dim, D extends Float>(a: Expr<[K], D>, b: Expr<[NoInfer<K>], NoInfer<D>>): Expr<[], D>
  <A extends Arg, B extends Arg>(
    a: A,
    b: Guard<Dot<ShapeOf<A>, ShapeOf<B>>, B>,
  ): Expr<Ok<Dot<ShapeOf<A>, ShapeOf<B>>>, AsNumber<PromoteArgs<A, B>>>
}
/** vecdot(a, b, { axis }): the inner product of vectors along an axis, the last by default. */
export type VecdotFn = <A extends Arg, B extends Arg, const O extends AxisOptions = NoOptions>(
  a: A,
  b: Guard<Vecdot<ShapeOf<A>, ShapeOf<B>, AxisIn<O>>, B>,
  options?: O,
) => Expr<Ok<Vecdot<ShapeOf<A>, ShapeOf<B>, AxisIn<O>>>, AsNumber<PromoteArgs<A, B>>>
type AxisIn<O> = O extends { readonly axis: infer X } ? X : -1
/** outer(a, b): every product of an element of a with one of b. */
export interface OuterFn {
  <N extends Dim, M extends Dim, D extends Float>(a: Expr<[N], D>, b: Expr<[M], NoInfer<D>>): Expr<[N, M], D>
  <A extends Arg, B extends Arg>(a: A, b: B): Expr<Joined<ShapeOf<A>, ShapeOf<B>>, AsNumber<PromoteArgs<A, B>>>
}
/** einsum('ij,jk->ik', a, b): the shape is known for a literal. */
export type EinsumFn = <const E extends string, const X extends Arg[]>(
  spec: Guard<Einsum<E, ShapesOf<X>>, E>,
  ...xs: X
) => Expr<Ok<Einsum<E, ShapesOf<X>>>, AsNumber<PromoteAll<X>>>
/** tensordot(a, b, axes): the sum over the last axes of a and the first of b, 2 by default, or over listed axes of each. */
export type TensordotFn = <A extends Arg, B extends Arg, const X extends TensordotAxes = 2>(
  a: A,
  b: Guard<Tensordot<ShapeOf<A>, ShapeOf<B>, X>, B>,
  axes?: X,
) => Expr<Ok<Tensordot<ShapeOf<A>, ShapeOf<B>, X>>, AsNumber<PromoteArgs<A, B>>>
/** vdot(a, b): the inner product of two arrays of one size, flattened. */
export type VdotFn = <A extends Arg, B extends Arg>(
  a: A,
  b: Guard<SameSize<ShapeOf<A>, ShapeOf<B>>, B>,
) => Expr<[], AsNumber<PromoteArgs<A, B>>>
/** kron(a, b): a with each element replaced by it times b. */
export type KronFn = <A extends Arg, B extends Arg>(a: A, b: B) => Expr<Kron<ShapeOf<A>, ShapeOf<B>>, AsNumber<PromoteArgs<A, B>>>
/** matmulAdd(acc, a, b): acc + a b, in place when the plan may. */
export type MatMulAddFn = <C extends Arg, A extends Arg, B extends Arg>(
  acc: C,
  a: A,
  b: Guard<MatMul<ShapeOf<A>, ShapeOf<B>>, B>,
) => Expr<Ok<MatMul<ShapeOf<A>, ShapeOf<B>>>, AsNumber<PromoteArgs3<C, A, B>>>
/** einsumPath(spec, ...xs): the order in which einsum contracts, and its cost. */
export type EinsumPathFn = (
  spec: string,
  ...xs: readonly Arg[]
) => { readonly path: readonly (readonly [number, number])[]; readonly flops: number; readonly largest: number }
