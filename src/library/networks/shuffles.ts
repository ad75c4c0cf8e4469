/** Channels moved into space and back, in the orders that PyTorch, ONNX and TensorFlow have. */
import { badInput } from '../../core/errors/explain.js'
import { choice, type OptionsOf, whole } from '../../core/errors/options.js'
import { four } from '../../core/ops/conv.js'
import { reshape, transpose } from '../../core/ops/layout/layout.js'
import { array, operation } from '../../core/ops/operation.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { DepthToSpaceFn, PixelShuffleFn, PixelUnshuffleFn, SpaceToDepthFn } from '../../core/types/signatures/windows.js'

const shuffled = { x: array, factor: whole({ from: 1 }) }
/** Channels to space: they are [r, r, c] where depth comes first, else [c, r, r]. */
const spread = (x: AnyExpr, r: number, depthFirst: boolean, op: string): AnyExpr => {
  const [b, c, h, w] = four(x, op)
  if (c % (r * r) !== 0) badInput(op, `${c} channels are not a multiple of ${r * r}.`, 'give a factor whose square divides them.')
  const rest = c / (r * r)
  const parts = reshape(x, depthFirst ? [b, r, r, rest, h, w] : [b, rest, r, r, h, w])
  return reshape(transpose(parts, depthFirst ? [0, 3, 4, 1, 5, 2] : [0, 1, 4, 2, 5, 3]), [b, rest, h * r, w * r])
}
/** Space to channels, in the same orders. */
const folded = (x: AnyExpr, r: number, depthFirst: boolean, op: string): AnyExpr => {
  const [b, c, h, w] = four(x, op)
  if (h % r !== 0 || w % r !== 0) badInput(op, `${r} does not divide ${h} and ${w}.`, 'give a factor that divides both.')
  const parts = reshape(x, [b, c, h / r, r, w / r, r])
  return reshape(transpose(parts, depthFirst ? [0, 3, 5, 1, 2, 4] : [0, 1, 3, 5, 2, 4]), [b, c * r * r, h / r, w / r])
}
/**
 * Channels moved into space: each r r channels become one of r times the height and width.
 *
 * Shapes  x: [n, c r r, h, w] -> [n, c, h r, w r].   Dtype  x's.   Rule  linear.   Source  Shi et al. 2016.
 * Errors  ShapeMismatch for x of another rank, BadInput unless r r divides the channels.
 * @example pixelShuffle(tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2)   // [[[[1, 2], [3, 4]]]]
 */
export const pixelShuffle: PixelShuffleFn = operation('pixelShuffle', shuffled, {}, ({ x, factor }, _, op) => spread(x, factor, false, op))
/**
 * Space moved into channels: the inverse of `pixelShuffle`.
 *
 * Shapes  x: [n, c, h r, w r] -> [n, c r r, h, w].   Dtype  x's.   Rule  linear.   Source  PyTorch pixel_unshuffle.
 * Errors  ShapeMismatch for x of another rank, BadInput unless r divides height and width.
 * @example pixelUnshuffle(tensor([[[[1, 2], [3, 4]]]]), 2)   // [[[[1]], [[2]], [[3]], [[4]]]]
 */
export const pixelUnshuffle: PixelUnshuffleFn = operation('pixelUnshuffle', shuffled, {}, ({ x, factor }, _, op) =>
  folded(x, factor, false, op),
)

const order = {
  /** Which comes first in the channels: what is moved ('DCR', unless given), or the channels that stay ('CRD'). */
  order: choice(['DCR', 'CRD'], 'DCR', 'order'),
}
/** Options of `depthToSpace` and `spaceToDepth`. */
interface OrderOptions extends OptionsOf<typeof order> {}
/**
 * Channels moved into space as ONNX and TensorFlow do it: channel (i r + j) c + k is row i, column j of channel k ('DCR', depth first); 'CRD' is `pixelShuffle`.
 *
 * Shapes  x: [n, r r c, h, w] -> [n, c, h r, w r].   Dtype  x's.   Rule  linear.   Source  ONNX DepthToSpace.
 * Errors  ShapeMismatch for x of another rank, BadInput unless r r divides the channels, or for an unknown order.
 * @example depthToSpace(tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2)   // [[[[1, 2], [3, 4]]]]
 */
export const depthToSpace: DepthToSpaceFn<OrderOptions> = operation('depthToSpace', shuffled, order, ({ x, factor }, { order: o }, op) =>
  spread(x, factor, o === 'DCR', op),
)
/**
 * Space moved into channels: the inverse of `depthToSpace` in the same order.
 *
 * Shapes  x: [n, c, h r, w r] -> [n, r r c, h, w].   Dtype  x's.   Rule  linear.   Source  ONNX SpaceToDepth, which has 'DCR'.
 * Errors  ShapeMismatch for x of another rank, BadInput unless r divides height and width, or for an unknown order.
 * @example spaceToDepth(tensor([[[[1, 2], [3, 4]]]]), 2)   // [[[[1]], [[2]], [[3]], [[4]]]]
 */
export const spaceToDepth: SpaceToDepthFn<OrderOptions> = operation('spaceToDepth', shuffled, order, ({ x, factor }, { order: o }, op) =>
  folded(x, factor, o === 'DCR', op),
)
