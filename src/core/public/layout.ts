// Constructors and layout: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.

import * as layout from '../ops/layout.js'
import * as layoutJoin from '../ops/layout-join.js'
import * as layoutMore from '../ops/layout-more.js'
import * as layoutMove from '../ops/layout-move.js'
import * as layoutSlice from '../ops/layout-slice.js'
import { type Public, typed } from './typed.js'

/**
 * Arrays joined along an axis (the first by default).
 *
 * Rule    xBar_i = the part of yBar that came from x_i.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays or an axis out of range.
 * @example concat([[1, 2], [3]])   // [1, 2, 3]
 */
export const concat: Public['concat'] = typed(layoutJoin.concat)

/**
 * x cut along an axis (the first by default) into n equal parts, or parts of the given sizes.
 *
 * Rule    xBar = concat of the parts' cotangents: one buffer, no zero fills.
 * Errors  ShapeMismatch when n does not divide the axis or the sizes do not add up to it; BadInput for an axis out of range.
 * @example split(tensor([1, 2, 3, 4]), 2)   // [[1, 2], [3, 4]]
 */
export const split: Public['split'] = typed(layoutJoin.split)

/**
 * Arrays of one shape joined along a new axis (the first by default).
 *
 * Rule    xBar_i = the i-th slice of yBar.
 * Errors  ShapeMismatch when shapes differ; BadInput for no arrays or an axis out of range.
 * @example stack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const stack: Public['stack'] = typed(layoutJoin.stack)

/**
 * The slices of x along an axis (the first by default), without that axis.
 *
 * Rule    xBar = the slices' cotangents, stacked.
 * Errors  BadInput for an axis out of range.
 * @example unstack(tensor([[1, 2], [3, 4]]))   // [[1, 2], [3, 4]]
 */
export const unstack: Public['unstack'] = typed(layoutJoin.unstack)

/**
 * An array of one value, f64 where no dtype is given; the value may be a scalar expression.
 *
 * Rule    valueBar = the sum of yBar.
 * Errors  BadInput for a shape or a dtype that is not one; ShapeMismatch when the value does not broadcast.
 * @example full([2], 7)   // [7, 7]
 */
export const full: Public['full'] = typed(layoutMore.full)

/**
 * Zeros: a broadcast literal, no buffer. f64 where no dtype is given.
 *
 * Errors  BadInput for a shape or a dtype that is not one.
 * @example zeros([2])   // [0, 0]
 */
export const zeros: Public['zeros'] = typed(layoutMore.zeros)

/**
 * Ones: a broadcast literal, no buffer. f64 where no dtype is given.
 *
 * Errors  BadInput for a shape or a dtype that is not one.
 * @example ones([2])   // [1, 1]
 */
export const ones: Public['ones'] = typed(layoutMore.ones)

/**
 * Zeros of x's shape and dtype.
 * @example zerosLike([1, 2])   // [0, 0]
 */
export const zerosLike: Public['zerosLike'] = typed(layoutMore.zerosLike)

/**
 * Ones of x's shape and dtype.
 * @example onesLike([1, 2])   // [1, 1]
 */
export const onesLike: Public['onesLike'] = typed(layoutMore.onesLike)

/**
 * 0, 1, ..., n - 1; f64 where no dtype is given.
 *
 * Errors  BadInput unless n is a non-negative integer.
 * @example arange(3)   // [0, 1, 2]
 */
export const arange: Public['arange'] = typed(layoutMore.arange)

/**
 * n numbers at equal distances from `from` to `to`, both included; f64 where no dtype is given. The ends may be scalar expressions.
 *
 * Rule    dy_i = (1 - i / (n - 1)) dfrom + i / (n - 1) dto.
 * Errors  BadInput unless n is a non-negative integer; DTypeMismatch for a dtype that is not a float.
 * @example linspace(0, 1, 3)   // [0, 0.5, 1]
 */
export const linspace: Public['linspace'] = typed(layoutMore.linspace)

/**
 * The n by n identity matrix; f64 where no dtype is given.
 *
 * Errors  BadInput unless n is a non-negative integer.
 * @example eye(2)   // [[1, 0], [0, 1]]
 */
export const eye: Public['eye'] = typed(layoutMore.eye)

/**
 * The square matrix with the vector x on its k-th diagonal; or, of a matrix (or a stack of them), the k-th diagonal.
 * k = 0 is the main diagonal, above it k is positive.
 *
 * Shapes  [n] -> [n + |k|, n + |k|]; [..., n, m] -> [..., length of the diagonal].   Dtype  x's.
 * Rule    linear: the diagonal of the cotangent, or the cotangent on the diagonal of zeros.
 * Errors  ShapeMismatch for rank 0; BadInput unless k is an integer.
 * @example diag(tensor([1, 2]))   // [[1, 0], [0, 2]]
 */
export const diag: Public['diag'] = typed(layoutMore.diag)

/**
 * A matrix (or a stack of them) with zeros above its k-th diagonal.
 *
 * Rule    linear: xBar = tril(yBar, k).
 * Errors  ShapeMismatch below rank 2; BadInput unless k is an integer.
 * @example tril([[1, 2], [3, 4]])   // [[1, 0], [3, 4]]
 */
export const tril: Public['tril'] = typed(layoutMore.tril)

/**
 * A matrix (or a stack of them) with zeros below its k-th diagonal.
 *
 * Rule    linear: xBar = triu(yBar, k).
 * Errors  ShapeMismatch below rank 2; BadInput unless k is an integer.
 * @example triu([[1, 2], [3, 4]])   // [[1, 2], [0, 4]]
 */
export const triu: Public['triu'] = typed(layoutMore.triu)

/**
 * x itself, once its shape is what was said: numbers must be equal, a name stands for one length wherever it appears.
 *
 * Rule    xBar = yBar.
 * Errors  ShapeMismatch when the shape is another; BadInput for what is not a list of numbers and names.
 * @example assertShape(tensor([1, 2]), [2])   // [1, 2]
 */
export const assertShape: Public['assertShape'] = typed(layoutMore.assertShape)

/**
 * x repeated along new leading axes and along axes of length 1.
 *
 * Shapes  x: broadcastable to shape -> shape.   Dtype  x's.
 * Rule    dy = broadcast dx; xBar = yBar summed over the repeated axes.   Source  NumPy broadcasting.
 * Errors  ShapeMismatch when x does not broadcast to shape; BadInput for what is not a shape.
 * @example broadcastTo([1, 2], [2, 2])   // [[1, 2], [1, 2]]
 */
export const broadcastTo: Public['broadcastTo'] = typed(layoutMove.broadcastTo)

/**
 * The same elements in row-major order under another shape; one axis may be -1.
 *
 * Rule    dy = reshape dx; xBar = yBar in x's shape.
 * Errors  ShapeMismatch when the sizes differ; BadInput for what is not a shape.
 * @example reshape([[1, 2], [3, 4]], [4])   // [1, 2, 3, 4]
 */
export const reshape: Public['reshape'] = typed(layoutMove.reshape)

/**
 * Axes permuted; without `axes` the last two are swapped (a matrix transpose, batched).
 *
 * Rule    dy = transpose dx; xBar = yBar with the inverse permutation.
 * Errors  BadInput when axes is not a permutation; ShapeMismatch below rank 2 without axes.
 * @example transpose([[1, 2, 3]])   // [[1], [2], [3]]
 */
export const transpose: Public['transpose'] = typed(layoutMove.transpose)

/**
 * New axes of length 1 at the positions `axis` of the result.
 *
 * Rule    xBar = yBar in x's shape.
 * Errors  BadInput for an axis out of range or named twice.
 * @example expandDims([1, 2], 0)   // [[1, 2]]
 */
export const expandDims: Public['expandDims'] = typed(layoutMove.expandDims)

/**
 * x without its axes of length 1, or without those named.
 *
 * Rule    xBar = yBar in x's shape.
 * Errors  BadInput when a named axis is not 1.
 * @example squeeze([[1, 2]])   // [1, 2]
 */
export const squeeze: Public['squeeze'] = typed(layoutMove.squeeze)

/**
 * x[starts:ends:strides] along each leading axis, Python's way: negative positions count from the end, positions are clipped.
 * With a negative stride, an end of -Infinity reads down to the first element.
 *
 * Shapes  axes beyond starts are kept whole.   Dtype  x's.
 * Rule    xBar = yBar written into zeros at those positions.
 * Errors  BadInput for a stride of 0 or more positions than axes.
 * @example slice(tensor([1, 2, 3, 4]), [1], [3])   // [2, 3]
 */
export const slice: Public['slice'] = typed(layoutSlice.slice)

/**
 * x with `widths[i] = [before, after]` entries of `value` added along axis i; a number stands for both ends.
 *
 * Shapes  axes beyond widths are kept; one number alone pads every axis.   Dtype  x's; value is cast to it.
 * Rule    xBar = yBar without the padding; valueBar = the sum of yBar over the padding.
 * Errors  BadInput for negative widths or more widths than axes.
 * @example pad(tensor([1, 2]), [[1, 0]])   // [0, 1, 2]
 */
export const pad: Public['pad'] = typed(layoutSlice.pad)

/**
 * x reversed along the axes (all by default).
 *
 * Rule    xBar = yBar reversed.
 * Errors  BadInput for an axis out of range or named twice.
 * @example flip([1, 2, 3])   // [3, 2, 1]
 */
export const flip: Public['flip'] = typed(layout.flip)

/**
 * x rotated by `shift` places along an axis, or along each of several; without an axis the flattened array is rotated.
 * Element i goes to i + shift, modulo the length.
 *
 * Rule    xBar = yBar rotated by -shift.
 * Errors  BadInput for an axis out of range, a fractional shift, or as many shifts as there are not axes.
 * @example roll(tensor([1, 2, 3]), 1)   // [3, 1, 2]
 */
export const roll: Public['roll'] = typed(layout.roll)

/**
 * x repeated as a whole `reps[i]` times along each axis; a number is for the last axis.
 *
 * Rule    xBar = the sum of yBar's copies.
 * Errors  BadInput unless reps are non-negative integers.
 * @example tile(tensor([1, 2]), [2])   // [1, 2, 1, 2]
 */
export const tile: Public['tile'] = typed(layout.tile)

/**
 * Each element of x repeated `times` times along an axis (the first by default).
 *
 * Rule    xBar = the sum of yBar over each element's copies.
 * Errors  BadInput unless times is a non-negative integer.
 * @example repeat(tensor([1, 2]), 2)   // [1, 1, 2, 2]
 */
export const repeat: Public['repeat'] = typed(layout.repeat)
