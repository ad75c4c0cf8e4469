// Signatures of what knows where a derivative is zero, and of products with a part of it.
import type { Float } from '../dtype.js'
import type { Expr, Tensor } from '../expr.js'
import type { AnyFn, ArgsOf, Fn, ResultOf, ValuesOf } from '../fn.js'
import type { Active, Gradient, LooseArgs, Primals, ScalarOnly } from '../tree.js'
import type { Paths, WrtOptions } from './transforms.js'

/** Where a matrix may be nonzero: entry k stands in row rows[k] and column cols[k]; row by row, each row from its first column. */
export interface Sparsity {
  readonly rows: Int32Array
  readonly cols: Int32Array
  readonly shape: readonly [rows: number, columns: number]
  /** How many products give all entries. */
  readonly colours: number
}
/** A sparse matrix: entry k is values[k], in row rows[k] and column cols[k]; `shape` holds how many rows and columns there are. */
export interface Sparse {
  readonly rows: Expr<readonly [number], 'i32'>
  readonly cols: Expr<readonly [number], 'i32'>
  readonly values: Expr<readonly [number], Float>
  readonly shape: Expr<readonly [2], 'i32'>
}
/** `Sparse`, of tensors. */
export interface SparseTensors {
  readonly rows: Tensor<readonly [number], 'i32'>
  readonly cols: Tensor<readonly [number], 'i32'>
  readonly values: Tensor<readonly [number], Float>
  readonly shape: Tensor<readonly [2], 'i32'>
}

/** Options of `sparsity` and `sparseJacobian`. */
export interface SparseOptions<A extends readonly unknown[], W> extends WrtOptions<A, W> {
  /** Products with columns (forward) or rows (reverse); whichever are fewer, unless given. */
  readonly mode?: 'forward' | 'reverse' | undefined
}
/** What `sparsity` gives: of arguments, whose shapes alone matter, where the derivative may be nonzero. */
export interface SparsityOf<A extends readonly unknown[]> {
  (...args: ValuesOf<A>): Sparsity
  (...args: { readonly [K in keyof A]: LooseArgs<A[K]> }): Sparsity
}
/** sparsity(f, { wrt, mode })(x): the pattern of the Jacobian. */
export type SparsityFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F,
  options?: SparseOptions<ArgsOf<F>, W>,
) => SparsityOf<ArgsOf<F>>
/** hessianSparsity(f, { wrt })(x): the pattern of the Hessian. */
export type HessianSparsityFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F & ScalarOnly<ResultOf<F>, 'hessianSparsity'>,
  options?: WrtOptions<ArgsOf<F>, W>,
) => SparsityOf<ArgsOf<F>>
/** sparseJacobian(f, { wrt, mode }): the entries of the Jacobian that may be other than zero. */
export type SparseJacobianFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F,
  options?: SparseOptions<ArgsOf<F>, W>,
) => Fn<ArgsOf<F>, Sparse>
/** sparseHessian(f, { wrt }): the entries of the Hessian that may be other than zero. */
export type SparseHessianFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F & ScalarOnly<ResultOf<F>, 'sparseHessian'>,
  options?: WrtOptions<ArgsOf<F>, W>,
) => Fn<ArgsOf<F>, Sparse>
/** toDense(a): a sparse matrix as an expression of rank 2. */
export type ToDenseFn = (a: Sparse | SparseTensors) => Expr<readonly [number, number], Float>

/** The function gaussNewtonProduct(f, loss): (primals, tangents) -> J^T H J times the tangents. */
export type GaussNewtonFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F,
  loss: (y: ResultOf<F>) => Expr<readonly []> | Expr,
  options?: WrtOptions<ArgsOf<F>, W>,
) => Fn<[Primals<ArgsOf<F>>, Gradient<Active<ArgsOf<F>, W>>], Gradient<Active<ArgsOf<F>, W>>>
