// Operations of neural networks: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as convolution from '../ops/conv.js'
import * as nn from '../ops/nn.js'
import * as pool from '../ops/pool.js'
import { type Public, typed } from './typed.js'

/**
 * Cross-correlation of x with the kernels k over the last two axes (the last one for rank 3).
 *
 * Shapes  x: [n, c, h, w], k: [o, c / groups, kh, kw] -> [n, o, oh, ow] with oh = floor((h + pad - dilation (kh - 1) - 1) / stride) + 1.
 * Dtype   promoted.   Rule  bilinear; xBar and kBar are convolutions of yBar.   Source  Dumoulin and Visin 2016.
 * Errors  ShapeMismatch when channels differ or the kernel is larger than x, BadInput for options of another form.
 * @example conv(tensor([[[[1, 2, 3]]]]), tensor([[[[1, 1]]]]))   // [[[[3, 5]]]]
 */
export const conv: Public['conv'] = typed(convolution.conv)

/**
 * exp x normalised along an axis (the last by default): positive, with sum 1.
 *
 * Rule    xBar = y (yBar - sum(y yBar)), from the output.   Source  Bridle 1990.
 * Errors  BadInput when the axis is out of range.
 * @example softmax([0, 0])   // [0.5, 0.5]
 */
export const softmax: Public['softmax'] = typed(nn.softmax)

/**
 * log of softmax, without cancellation.
 *
 * Rule    xBar = yBar - softmax(x) sum(yBar).
 * Errors  BadInput when the axis is out of range.
 * @example logSoftmax([0, 0])   // [-0.6931, -0.6931]
 */
export const logSoftmax: Public['logSoftmax'] = typed(nn.logSoftmax)

/**
 * x with mean 0 and variance 1 over axes (the last by default), then scale and bias along them.
 *
 * Shapes  x's; scale and bias have the lengths of the axes, or broadcast.   Source  Ba, Kiros and Hinton 2016; eps 1e-5.
 * Rule    of the mean, the square and rsqrt that it is made of.
 * Errors  BadInput for an axis out of range, ShapeMismatch for a scale or bias that does not fit.
 * @example layerNorm(tensor([[1, 3]]))   // [[-1.000, 1.000]]
 */
export const layerNorm: Public['layerNorm'] = typed(nn.layerNorm)

/**
 * x with mean 0 and variance 1 in each channel over all other axes, or by a given mean and variance; then scale and bias by channel.
 *
 * Shapes  x: [n, c, ...], scale, bias, mean, variance: [c] -> x's.   Source  Ioffe and Szegedy 2015; eps 1e-5.
 * Rule    of the mean, the square and rsqrt that it is made of: through the batch's statistics, unless they are given.
 * Errors  BadInput for an axis out of range or a mean without a variance, ShapeMismatch for a parameter that does not fit.
 * @example batchNorm(tensor([[1], [3]]))   // [[-1.000], [1.000]]
 */
export const batchNorm: Public['batchNorm'] = typed(nn.batchNorm)

/**
 * Maximum over windows of the last two axes (the last one for rank 3); stride is the window unless given. NaN wins; among equals the first.
 *
 * Shapes  x: [n, c, h, w] -> [n, c, oh, ow].   Rule  xBar = yBar at the maximum of each window.
 * Errors  ShapeMismatch when the window does not fit, BadInput without a window of positive integers.
 * @example maxPool(tensor([[[[1, 2], [3, 4]]]]), { window: 2 })   // [[[[4]]]]
 */
export const maxPool: Public['maxPool'] = typed(pool.maxPool)

/**
 * Mean over windows of the last two axes (the last one for rank 3); padding does not count unless `countIncludePad`.
 *
 * Shapes  x: [n, c, h, w] -> [n, c, oh, ow].   Rule  xBar = yBar spread over each window.
 * Errors  ShapeMismatch when the window does not fit, BadInput without a window of positive integers.
 * @example avgPool(tensor([[[[1, 2], [3, 4]]]]), { window: 2 })   // [[[[2.5]]]]
 */
export const avgPool: Public['avgPool'] = typed(pool.avgPool)

/**
 * A dense layer: x W + b, or x W.
 *
 * Shapes  x: [..., m], w: [m, n], b: [n] -> [..., n].   Dtype  promoted.   Rule  of matmul and add.
 * Errors  ShapeMismatch when x's last axis is not w's first.
 * @example linear([[1, 2]], [[3], [4]], [5])   // [[16]]
 */
export const linear: Public['linear'] = typed(nn.linear)

/**
 * -sum(target log softmax(logits)) along an axis (the last by default), and its mean over everything else.
 * Targets are probabilities of the logits' rank, or i32 classes without the axis; a class out of range adds 0.
 *
 * Shapes  logits: [..., k], targets: [..., k] or [...] -> [], or [...] without a reduction.   Source  Goodfellow et al. 2016, 6.2.
 * Rule    of logSoftmax; classes have no tangent.
 * Errors  ShapeMismatch when targets do not belong to the logits, DTypeMismatch for classes that are not i32, BadInput for another reduction.
 * @example crossEntropy([[0, 0]], [1])   // 0.6931471805599453
 */
export const crossEntropy: Public['crossEntropy'] = typed(nn.crossEntropy)

/**
 * Rows of a table: one vector for each index.
 *
 * Shapes  table: [n, d], indices: [...] -> [..., d].   Dtype  the table's; indices i32.
 * Rule    the table's cotangent is yBar added at the indices.   Errors  DTypeMismatch for indices that are not i32.
 * @example embedding([[1, 2], [3, 4]], [1])   // [[3, 4]]
 */
export const embedding: Public['embedding'] = typed(nn.embedding)

/**
 * x where the mask holds, divided by 1 - rate, and 0 elsewhere. The mask is drawn by the caller: true with probability 1 - rate.
 *
 * Shapes  x and the mask broadcast.   Rule  xBar = yBar masked and scaled alike.   Source  Srivastava et al. 2014.
 * Errors  BadInput unless 0 <= rate < 1.
 * @example dropout([1, 2], [true, false], 0.5)   // [2, 0]
 */
export const dropout: Public['dropout'] = typed(nn.dropout)

/**
 * Mean and variance (divided by the count) of each channel over all other axes: what batchNorm uses, for running averages.
 * Beside a batchNorm of the same x it costs nothing: both share the sums.
 *
 * Shapes  x: [n, c, ...] -> mean, variance: [c].   Errors  BadInput for an axis out of range.
 * @example batchStatistics([[1], [3]]).mean   // [2]
 */
export const batchStatistics: Public['batchStatistics'] = typed(nn.batchStatistics)
