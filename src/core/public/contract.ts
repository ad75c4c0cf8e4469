// Contractions: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as contract from '../ops/contract.js'
import * as contractions from '../ops/einsum.js'
import * as products from '../ops/products.js'
import { type Public, typed } from './typed.js'

/**
 * Matrix product y = A B; a vector a is a row, a vector b a column, and the axis added for it is dropped again.
 *
 * Shapes  a: [..., m, k], b: [..., k, n] -> [..., m, n]; leading axes broadcast.   Dtype  promoted; bool becomes i32, i32 wraps; f32 sums in f32.
 * Rule    dy = dA B + A dB ;  ABar = yBar B^T, BBar = A^T yBar.   Source  Giles 2008, 2.2.1.
 * Errors  ShapeMismatch when a's last axis differs from b's second last.
 * @example matmul([[1, 2]], [[3], [4]])   // [[11]]
 */
export const matmul: Public['matmul'] = typed(contract.matmul)

/**
 * Einstein's summation: every axis has a letter; axes of one letter run together, and letters not in the output are summed.
 * A letter twice in one operand takes its diagonal. An ellipsis stands for axes without letters, which broadcast. Without an arrow the output
 * is those of the ellipsis, then the letters that occur once, in alphabetical order.
 *
 * Shapes  as the letters say; axes of one letter are equally long.   Dtype  promoted; bool becomes i32, i32 wraps.
 * Rule    of the matrix products, two operands at a time from the left, that it is made of.   Source  NumPy einsum.
 * Errors  ShapeMismatch when ranks or lengths differ, BadInput for letters that do not fit and an ellipsis that the output leaves out.
 * @example einsum('...ij,...jk->...ik', [[[1, 2]], [[5, 6]]], [[3], [4]])   // [[[11]], [[39]]]
 */
export const einsum: Public['einsum'] = typed(contractions.einsum)

/**
 * Inner product over the last axis: sum(a b).
 *
 * Shapes  a: [..., k], b: [..., k] -> [...]; leading axes broadcast.   Dtype  promoted; bool becomes i32, i32 wraps.
 * Rule    dy = dot(da, b) + dot(a, db); aBar = yBar b, bBar = yBar a.
 * Errors  ShapeMismatch when the last axes differ or the leading ones do not broadcast.
 * @example dot([1, 2], [3, 4])   // 11
 */
export const dot: Public['dot'] = typed(products.dot)

/**
 * Every product of an element of a with one of b.
 *
 * Shapes  the axes of a, then those of b.   Dtype  promoted; bool becomes i32.
 * Rule    dy = outer(da, b) + outer(a, db); aBar = the sum of yBar b over b's axes.
 * @example outer([1, 2], [3, 4])   // [[3, 4], [6, 8]]
 */
export const outer: Public['outer'] = typed(products.outer)

/**
 * Sum of the main diagonal of a square matrix, or of each of a stack of them.
 *
 * Shapes  [..., n, n] -> [...].   Dtype  x's.   Rule  xBar = yBar on the diagonal of zeros.
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example trace(tensor([[1, 2], [3, 4]]))   // 5
 */
export const trace: Public['trace'] = typed(products.trace)

/**
 * The sum of a b over axes of a and axes of b: a number n means the last n of a and the first n of b (2 by default).
 *
 * Shapes  the axes of a that are left, then those of b.   Dtype  promoted; bool becomes i32.
 * Rule    of the matrix product that it is.   Source  NumPy tensordot.
 * Errors  ShapeMismatch when two axes differ in length, BadInput for axes that do not exist or do not pair up.
 * @example tensordot([[1, 2]], [[3], [4]], 1)   // [[11]]
 */
export const tensordot: Public['tensordot'] = typed(contractions.tensordot)

/**
 * Inner product of two arrays of one size, flattened.
 *
 * Shapes  any, equally many elements -> [].   Dtype  promoted; bool becomes i32.   Rule  aBar = yBar b, bBar = yBar a.   Source  NumPy vdot.
 * Errors  ShapeMismatch when the sizes differ.
 * @example vdot([[1, 2]], [[3], [4]])   // 11
 */
export const vdot: Public['vdot'] = typed(products.vdot)

/**
 * Kronecker product: a with each element replaced by it times b.
 *
 * Shapes  a: [m, n], b: [p, q] -> [m p, n q]; an array of lower rank gets axes of length 1 in front.   Dtype  promoted; bool becomes i32.
 * Rule    bilinear, as outer.   Source  NumPy kron.
 * @example kron([[1, 2]], [[1], [1]])   // [[1, 2], [1, 2]]
 */
export const kron: Public['kron'] = typed(products.kron)

/**
 * acc + A B: what a cotangent of a matrix product adds to an accumulator, in place when the plan may.
 *
 * Shapes  acc: [..., m, n], a: [..., m, k], b: [..., k, n].   Rule  accBar = yBar, ABar = yBar B^T, BBar = A^T yBar.
 * @example matmulAdd([[1]], [[1, 2]], [[3], [4]])   // [[12]]
 */
export const matmulAdd: Public['matmulAdd'] = typed(contract.matmulAdd)
