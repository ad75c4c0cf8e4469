/** Layers that are made of other operations. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput, within } from '../../core/errors/explain.js'
import type { Kind, OptionsOf } from '../../core/errors/options.js'
import { typed } from '../../core/graph/operation.js'
import { add, div, mul, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { arrayOf } from '../../core/ops/arrays.js'
import { axes, axis, floats, operation } from '../../core/ops/operation.js'
import { max, sum } from '../../core/ops/reductions.js'
import type { AnyExpr, Expr } from '../../core/types/expr.js'
import type { Shape } from '../../core/types/shape.js'
import type { DropoutFn, EmbeddingFn, LinearFn } from '../../core/types/signatures/nn.js'
import type { FloatOverAxesFn } from '../../core/types/signatures/reduce.js'
import { matmul } from '../../families/contract.js'
import { exp, log } from '../../families/exponentials.js'
import { gather } from '../../families/indexing.js'

/** One axis or several, the last unless given: of all of them there is a list. */
const over: Kind<readonly number[], number | readonly number[]> = {
  read: (given, what, where, shape) =>
    given === null ? [axis(-1).read(given, what, where, shape)] : axes(-1).read(given, what, where, shape),
}
const softmaxOptions = {
  /** The axis, or several, over which the sum is 1: the last unless given. */
  axis: over,
}
/** Options of `softmax` and `logSoftmax`. */
interface SoftmaxOptions extends OptionsOf<typeof softmaxOptions> {}
/** x less its largest entry along the axes: no exponential overflows; the shift has no derivative. */
const shifted = (x: AnyExpr, along: readonly number[]): AnyExpr => sub(x, stopGradient(max(x, { axis: along, keepdims: true })))

/**
 * exp x normalised along an axis (the last by default), or over several: positive, with sum 1.
 *
 * Rule    xBar = y (yBar - sum(y yBar)), from the output.   Source  Bridle 1990.
 * Errors  BadInput when an axis is out of range or named twice.
 * @example
 * softmax([0, 0])                              // [0.5, 0.5]
 * softmax([[0, 0], [0, 0]], { axis: [0, 1] })  // [[0.25, 0.25], [0.25, 0.25]]
 */
export const softmax: FloatOverAxesFn<'softmax', SoftmaxOptions> = operation('softmax', { x: floats }, softmaxOptions, ({ x }, o) => {
  const e = exp(shifted(x, o.axis))
  return div(e, sum(e, { ...o, keepdims: true }))
})

/**
 * log of softmax, without cancellation; over several axes like it.
 *
 * Rule    xBar = yBar - softmax(x) sum(yBar).
 * Errors  BadInput when an axis is out of range or named twice.
 * @example logSoftmax([0, 0])   // [-0.6931, -0.6931]
 */
export const logSoftmax: FloatOverAxesFn<'logSoftmax', SoftmaxOptions> = operation(
  'logSoftmax',
  { x: floats },
  softmaxOptions,
  ({ x }, o) => {
    const z = shifted(x, o.axis)
    return sub(z, log(sum(exp(z), { ...o, keepdims: true })))
  },
)

/**
 * A dense layer: x W + b, or x W.
 *
 * Shapes  x: [..., m], w: [m, n], b: [n] -> [..., n].   Dtype  promoted; bool becomes i32, i32 wraps.   Rule  of matmul and add.
 * Errors  ShapeMismatch when x's last axis is not w's first.
 * @example linear([[1, 2]], [[3], [4]], [5])   // [[16]]
 */
export const linear: LinearFn = typed(
  (x: AnyExpr, w: AnyExpr, b?: AnyExpr): AnyExpr => within('linear', () => (b === undefined ? matmul(x, w) : add(matmul(x, w), b))),
)

/**
 * Rows of a table: one vector for each index.
 *
 * Shapes  table: [n, d], indices: [...] -> [..., d].   Dtype  the table's; indices i32.
 * Rule    the table's cotangent is yBar added at the indices.   Errors  DTypeMismatch for indices that are not i32.
 * @example embedding([[1, 2], [3, 4]], [1])   // [[3, 4]]
 */
export const embedding: EmbeddingFn = typed(
  (table: AnyExpr, indices: Expr<Shape, 'i32'>): AnyExpr => within('embedding', () => gather(table, indices)),
)

/**
 * x where the mask holds, divided by 1 - rate, and 0 elsewhere. The mask is drawn by the caller: true with probability 1 - rate.
 *
 * Shapes  x and the mask broadcast.   Rule  xBar = yBar masked and scaled alike.   Source  Srivastava et al. 2014.
 * Errors  BadInput unless 0 <= rate < 1.
 * @example dropout([1, 2], [true, false], 0.5)   // [2, 0]
 */
export const dropout: DropoutFn = typed((x: unknown, mask: AnyExpr, rate: number): AnyExpr => {
  if (!(typeof rate === 'number' && rate >= 0 && rate < 1))
    badInput(
      'dropout',
      `rate ${shown(rate)} is not a probability below 1.`,
      'write dropout(x, mask, rate) with 0 <= rate < 1; the mask is drawn by you, true with probability 1 - rate. dropout(x, rate, key) of codual/random draws it.',
    )
  return where(mask, mul(arrayOf(x, 'dropout', 'float'), 1 / (1 - rate)), 0)
})
