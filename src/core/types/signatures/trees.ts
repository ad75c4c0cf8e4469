// Signatures of what takes trees apart and puts them together.
import type { OptionsOf } from '../../errors/options.js'
import type { treeAllCloseOptions } from '../../programs/trees.js'
import type { DType, Settled } from '../dtype.js'
import type { AnyExpr, DTypeOf, Expr, Tensor } from '../expr.js'
import type { LeafOfTree, Mapped, Unravelled } from '../tree.js'

/** treeFlatten(tree): its leaves, and the function that puts others in their places. */
export type TreeFlattenFn = <T>(tree: T) => readonly [leaves: LeafOfTree<T>[], unflatten: <R>(leaves: readonly R[]) => Mapped<T, R>]

/** The inverse of `ravel`, from a vector to the tree T: of expressions, or of tensors. */
export interface Unravel<T> {
  (vector: Expr): Unravelled<T, 'Expr'>
  (vector: Tensor | readonly number[] | Float64Array | Float32Array): Unravelled<T, 'Tensor'>
}
type VectorOf<T> = [Extract<LeafOfTree<T>, AnyExpr>] extends [never] ? Tensor<[number], DTypes<T>> : Expr<[number], DTypes<T>>
/** The dtypes among the leaves; the vector has the greatest of them. */
type DTypes<T> = Settled<DTypeOf<LeafOfTree<T>> & DType>
/** ravel(tree): [vector, unravel]. */
export type RavelFn = <T>(tree: T) => readonly [vector: VectorOf<T>, unravel: Unravel<T>]

/** Options of `treeAllClose`. */
export interface TreeAllCloseOptions extends OptionsOf<typeof treeAllCloseOptions> {}
