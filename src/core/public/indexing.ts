// Indexing: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as indexingAlong from '../ops/indexing-along.js'
import * as indexingDynamic from '../ops/indexing-dynamic.js'
import * as indexingGather from '../ops/indexing-gather.js'
import { type Public, typed } from './typed.js'

/**
 * One element of x for each index, along an axis (the last by default): what argsort's or argmax's indices pick.
 *
 * Shapes  x and indices have one shape but for the axis -> the indices'.   Dtype  x's; indices i32, negative from the end, clamped.
 * Rule    dy = takeAlongAxis dx; xBar = yBar added at the indices.
 * Errors  ShapeMismatch when other axes differ; DTypeMismatch for indices that are not i32; BadInput for an axis out of range.
 * @example takeAlongAxis(tensor([[1, 2], [3, 4]]), tensor([[1], [0]], [2, 1], 'i32'))   // [[2], [3]]
 */
export const takeAlongAxis: Public['takeAlongAxis'] = typed(indexingAlong.takeAlongAxis)

/**
 * Where each value would go into an ascending vector: before its equals, or after them with side 'right'.
 *
 * Shapes  sorted: [n], values: any -> values'.   Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  ShapeMismatch unless sorted is a vector; BadInput for another side.
 * @example searchsorted(tensor([1, 3, 5]), tensor([0, 3, 9]))   // [0, 1, 3]
 */
export const searchsorted: Public['searchsorted'] = typed(indexingAlong.searchsorted)

/**
 * The window of the given sizes that begins at computed starts, one per axis. A negative start counts from the end;
 * a window that would stick out is moved inside, because a kernel cannot raise.
 *
 * Shapes  x: rank r, starts: [r] or a list of r scalars -> sizes.   Dtype  x's; starts i32.
 * Rule    dy = dynamicSlice dx; xBar = yBar added at the window.
 * Errors  ShapeMismatch when the window is larger than x; DTypeMismatch for starts that are not i32; BadInput for sizes that are not whole.
 * @example dynamicSlice(tensor([1, 2, 3, 4]), [1], [2])   // [2, 3]
 */
export const dynamicSlice: Public['dynamicSlice'] = typed(indexingDynamic.dynamicSlice)

/**
 * x with the update in place of the window that begins at computed starts; starts as for `dynamicSlice`.
 *
 * Shapes  x: rank r, update: rank r, not larger, starts: [r] or a list of r scalars -> x's.   Dtype  x's; starts i32.
 * Rule    dy = dynamicUpdateSlice(dx, dupdate); xBar = yBar with zeros in the window, updateBar = the window of yBar.
 * Errors  ShapeMismatch when the update is larger than x; DTypeMismatch for starts that are not i32 or float updates of integers.
 * @example dynamicUpdateSlice(tensor([1, 2, 3, 4]), tensor([8, 9]), [1])   // [1, 8, 9, 4]
 */
export const dynamicUpdateSlice: Public['dynamicUpdateSlice'] = typed(indexingDynamic.dynamicUpdateSlice)

/**
 * The slices of x at the indices, along an axis (the first by default): x[indices].
 * A negative index counts from the end; one out of range is clamped, because a kernel cannot raise.
 *
 * Shapes  x: [..., n, ...], indices: any -> x's with the indices' shape in place of the axis.   Dtype  x's; indices i32.
 * Rule    dy = gather dx; xBar = yBar added at the indices (scatterAdd into the accumulator).
 * Errors  DTypeMismatch for indices that are not i32; BadInput for an empty axis or one out of range.
 * @example gather(tensor([10, 20, 30]), [2, 0])   // [30, 10]
 */
export const gather: Public['gather'] = typed(indexingGather.gather)

/** NumPy's name of `gather`. @example take(tensor([10, 20, 30]), [2, 0])   // [30, 10] */
export const take: Public['take'] = typed(indexingGather.take)

/**
 * x with the updates added at the indices, along an axis (the first by default); an index that comes twice adds twice.
 *
 * Shapes  updates broadcast to the shape of gather(x, indices).   Dtype  x's; indices i32, negative from the end, clamped.
 * Rule    dy = scatterAdd(dx, dupdates); xBar = yBar, updatesBar = gather(yBar).
 * Errors  ShapeMismatch when updates do not broadcast; DTypeMismatch for booleans, and for float updates of integers.
 * @example scatterAdd(tensor([1, 2, 3]), [0, 0], tensor([10, 20]))   // [31, 2, 3]
 */
export const scatterAdd: Public['scatterAdd'] = typed(indexingGather.scatterAdd)

/**
 * x with the values in place of its slices at the indices, along an axis (the first by default); of an index that comes twice the last wins.
 *
 * Shapes  values broadcast to the shape of gather(x, indices).   Dtype  x's; indices i32, negative from the end, clamped.
 * Rule    dy = setAt(dx, dvalues); xBar = yBar with zeros there, valuesBar = gather(yBar), zero for values that lost.
 * Errors  ShapeMismatch when values do not broadcast; DTypeMismatch for float values of integers.
 * @example setAt(tensor([1, 2, 3]), [1], tensor([9]))   // [1, 9, 3]
 */
export const setAt: Public['setAt'] = typed(indexingGather.setAt)

/**
 * One-hot code: 1 at the index along a new last axis of length n, 0 elsewhere; all zeros for an index out of range. f64 where no dtype is given.
 *
 * Shapes  indices: any -> [..., n].   Rule  none.
 * Errors  DTypeMismatch for indices that are not i32; BadInput unless n is a non-negative integer, and for what is not a dtype.
 * @example oneHot([0, 2], 3)   // [[1, 0, 0], [0, 0, 1]]
 */
export const oneHot: Public['oneHot'] = typed(indexingGather.oneHot)
