/** Sparse derivatives, bound to the shipped rules and the default backend. */

import { from } from '../core/calculus/pack.js'
import { typed } from '../core/graph/operation.js'
import type * as sparse from '../core/types/signatures/sparse.js'
import { gaussNewtonProduct as gaussNewtonProductOf } from '../modes/operators/gauss-newton.js'
import {
  hessianSparsity as hessianSparsityOf,
  sparseHessian as sparseHessianOf,
  sparseJacobian as sparseJacobianOf,
  sparsity as sparsityOf,
  toDense as toDenseCore,
} from '../modes/operators/sparse.js'
import { indexingPack } from '../packs/indexing.js'
import { context } from './context.js'

/**
 * Where the Jacobian of f may be nonzero, read off its expression: f does not run, and of its arguments only the shapes are read.
 *
 * { rows, cols, shape, colours }: entry k stands in row rows[k], column cols[k], row by row; rows count the elements of f's float results, columns those
 * of what `wrt` names (the first argument), as `ravel` does. `colours` is how many products `sparseJacobian` takes. No entry is missing; what is unknown
 * (an index computed from an argument, a primitive of another library) counts as dense. Literal and captured indices are read now.
 * @example sparsity((x) => mul(at(x, '1:'), at(x, ':-1')))([1, 2, 3])   // { rows: [0, 0, 1, 1], cols: [0, 1, 1, 2], shape: [2, 3], ... }
 */
export const sparsity: sparse.SparsityFn = /*#__PURE__*/ typed(from(indexingPack, sparsityOf(context)))
/**
 * Where the Hessian of a scalar function may be nonzero: the `sparsity` of its gradient.
 *
 * Errors  NotScalar when f returns no scalar.
 * @example hessianSparsity((x) => sum(mul(x, mul(x, x))))([1, 2, 3])   // { rows: [0, 1, 2], cols: [0, 1, 2], shape: [3, 3], colours: 1 }
 */
export const hessianSparsity: sparse.HessianSparsityFn = /*#__PURE__*/ typed(from(indexingPack, hessianSparsityOf(context)))
/**
 * The Jacobian as a sparse matrix: the entries that `sparsity` finds, { rows, cols, values, shape }, by one batch of products.
 *
 * Columns that have no row in common go together (`mode: 'forward'`: jvp), or rows that have no column in common ('reverse': vjp), whichever
 * takes fewer products, unless `mode` says. rows, cols and shape are i32. Indices that f captures are read when it is traced: they must stay
 * what they are.
 * Errors  BadInput for more than 2^26 entries.   Source  Curtis, Powell and Reid 1974.
 * @example sparseJacobian((x) => mul(x, x))([1, 2]).values   // [2, 4]
 */
export const sparseJacobian: sparse.SparseJacobianFn = /*#__PURE__*/ typed(from(indexingPack, sparseJacobianOf(context)))
/**
 * The Hessian of a scalar function as a sparse matrix, { rows, cols, values, shape }: by one batch of Hessian-vector products, one for each colour.
 *
 * Both halves are there; it is coloured as a symmetric matrix where that takes fewer products: a tridiagonal one takes 3, one whose first row, first column
 * and diagonal are full takes 2.
 *
 * Errors  NotScalar, and as for `sparseJacobian`.   Source  Coleman and More 1984.
 * @example sparseHessian((x) => sum(mul(x, mul(x, x))))([1, 2]).values   // [6, 12]
 */
export const sparseHessian: sparse.SparseHessianFn = /*#__PURE__*/ typed(from(indexingPack, sparseHessianOf(context)))
/**
 * A sparse matrix, what `sparseJacobian` or `sparseHessian` gave, as an expression of rank 2.
 *
 * Errors  BadInput if its shape is unknown before it runs: if the matrix is an argument of a traced function.
 * @example toDense(sparseJacobian((x) => mul(x, x))([1, 2]))   // [[2, 0], [0, 4]]
 */
export const toDense: sparse.ToDenseFn = /*#__PURE__*/ typed(from(indexingPack, toDenseCore))
/**
 * The Gauss-Newton matrix of x |-> loss(f(x)) times a tangent: (x, dx) |-> J^T H J dx, J that of f and H the Hessian of the loss at f(x).
 *
 * The Hessian without f's own second derivatives, so it is positive semidefinite for a convex loss; no matrix is built. `loss` takes f's result and
 * captures what else it needs (targets).   Errors  NotScalar unless the loss is a scalar.   Source  Schraudolph 2002.
 * @example gaussNewtonProduct((x) => mul(x, x), (y) => sum(square(y)))([1, 2], [1, 1])   // [8, 32]
 */
export const gaussNewtonProduct: sparse.GaussNewtonFn = /*#__PURE__*/ typed(gaussNewtonProductOf(context))
