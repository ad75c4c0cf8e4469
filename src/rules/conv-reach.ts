/** Which elements of a convolution's factors meet a cotangent that is not 0 (`ReachOf`), group by group. */
import { castNode } from '../core/graph/cast.js'
import { asExpr, asNode, constant } from '../core/graph/expr.js'
import { gt } from '../core/ops/compare.js'
import { type ConvParams, convInputPrimitive, convPrimitive } from '../core/ops/conv.js'
import { broadcastTo, reshape } from '../core/ops/layout.js'
import { any } from '../core/ops/statistics.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims } from './batching.js'
import { reapply } from './define.js'

type Reach = (moves: AnyExpr, k: 0 | 1, xs: readonly AnyExpr[], p: ConvParams) => AnyExpr
const bare = ({ stride, padding, dilation, groups }: ConvParams): ConvParams => ({ stride, padding, dilation, groups })
const someOf = (x: AnyExpr, axis: readonly number[]): AnyExpr => any(x, { axis: [...axis], keepdims: true }) as AnyExpr
/** Images [n, c, h, w] as one of flags for each group: [n, groups, h, w]. */
const byGroup = (x: AnyExpr, groups: number): AnyExpr => {
  const [n, c, h, w] = dims(x) as readonly [number, number, number, number]
  return reshape(someOf(reshape(x, [n, groups, c / groups, h, w]), [2]), [n, groups, h, w])
}
/** One flag for each group, for all of its channels. */
const toChannels = (x: AnyExpr, channels: number): AnyExpr => {
  const [n, groups, h, w] = dims(x) as readonly [number, number, number, number]
  return reshape(broadcastTo(reshape(x, [n, groups, 1, h, w]), [n, groups, channels / groups, h, w]), [n, channels, h, w])
}
/** Windows of ones, one for each group, over the flags of images: conv or its adjoint. */
const through = (primitive: typeof convPrimitive | typeof convInputPrimitive, flags: AnyExpr, kernel: AnyExpr, p: ConvParams): AnyExpr => {
  const [, , kh, kw] = dims(kernel) as readonly [number, number, number, number]
  const float = asExpr(castNode(asNode(byGroup(flags, p.groups)), kernel.dtype))
  const window = broadcastTo(asExpr(constant(1, kernel.dtype)), [p.groups, 1, kh, kw])
  return gt(reapply(primitive as typeof convPrimitive, [float, window], p), 0)
}

/** y = conv(x, k). */
export const convReach: Reach = (moves, k, [x, kernel], p) =>
  k === 0
    ? toChannels(through(convInputPrimitive, moves, kernel!, { ...bare(p), size: dims(x!).slice(2) }), dims(x!)[1]!)
    : reshape(someOf(moves, [0, 2, 3]), [dims(kernel!)[0]!, 1, 1, 1])
/** x = convInput(y, k). */
export const convInputReach: Reach = (moves, k, [y, kernel], p) => {
  if (k === 0) return toChannels(through(convPrimitive, moves, kernel!, bare(p)), dims(y!)[1]!)
  const [o, i] = dims(kernel!) as readonly [number, number, number, number]
  const channels = reshape(someOf(moves, [0, 2, 3]), [p.groups, 1, i])
  return reshape(broadcastTo(channels, [p.groups, o / p.groups, i]), [o, i, 1, 1])
}
/** k = convKernel(x, y). */
export const convKernelReach: Reach = (moves, k, [x], p) => {
  const [o, i] = dims(moves) as readonly [number, number, number, number]
  if (k === 1) return reshape(someOf(moves, [1, 2, 3]), [1, o, 1, 1])
  return reshape(someOf(reshape(someOf(moves, [2, 3]), [p.groups, o / p.groups, i]), [1]), [1, dims(x!)[1]!, 1, 1])
}
