// Signatures of what takes trees apart and puts them together.
import type { OptionsOf } from '../../errors/options.js'
import type { treeAllCloseOptions } from '../../programs/trees.js'
import type { DType, Settled } from '../dtype.js'
import type { AnyExpr, DTypeOf, Expr, Tensor } from '../expr.js'
import type { Closed, Open } from '../open.js'
import type { AnyLeaf, LeafOfTree, Mapped, Unravelled } from '../tree.js'

/** treeFlatten(tree): its leaves, and the function that puts others in their places. */
export type TreeFlattenFn = <T>(tree: T) => [leaves: LeafOfTree<T>[], unflatten: <R>(leaves: readonly R[]) => Mapped<T, R>]

/** treeMap(f, tree): in code that is generic in the tree a leaf is an operand. */
export interface TreeMapFn {
  <T, R>(f: (leaf: Expr, path: string) => R, tree: T & Open<T>): Mapped<T, R>
  <T, R>(f: (leaf: NoInfer<AnyLeaf<T>>, path: string) => R, tree: T & Closed<T>): Mapped<T, R>
}
/** treeZip(f, ...trees). */
export interface TreeZipFn {
  <T, R>(f: (first: Expr, ...rest: Expr[]) => R, first: T & Open<T>, ...rest: readonly unknown[]): Mapped<T, R>
  <T, U extends readonly unknown[], R>(
    f: (first: NoInfer<AnyLeaf<T>>, ...rest: { [K in keyof U]: NoInfer<AnyLeaf<U[K]>> }) => R,
    first: T & Closed<T>,
    ...rest: U
  ): Mapped<T, R>
}
/** treeReduce(f, tree, initial). */
export interface TreeReduceFn {
  <T, R>(f: (sum: R, leaf: Expr, path: string) => R, tree: T & Open<T>, initial: R): R
  <T, R>(f: (sum: R, leaf: NoInfer<AnyLeaf<T>>, path: string) => R, tree: T & Closed<T>, initial: R): R
}
/** The inverse of `ravel`, from a vector to the tree T: of expressions, or of tensors. */
export interface Unravel<T> {
  (vector: Tensor | readonly number[] | Float64Array | Float32Array): Unravelled<T, 'Tensor'>
  (vector: Expr): Unravelled<T, 'Expr'>
}
type VectorOf<T> = [Exclude<Extract<LeafOfTree<T>, AnyExpr>, Tensor>] extends [never]
  ? Tensor<[number], DTypes<T>>
  : Expr<[number], DTypes<T>>
/** The dtypes among the leaves; the vector has the greatest of them. */
type DTypes<T> = Settled<DTypeOf<LeafOfTree<T>> & DType>
/** ravel(tree): [vector, unravel]. */
export type RavelFn = <T>(tree: T) => [vector: VectorOf<T>, unravel: Unravel<T>]

/** Options of `treeAllClose`. */
export interface TreeAllCloseOptions extends OptionsOf<typeof treeAllCloseOptions> {}
