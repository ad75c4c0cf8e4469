/** Which elements of a convolution's images and kernel meet in a product (`ReachOf`), group by group. */
import type { Aval } from '../core/graph/aval.js'
import { castNode } from '../core/graph/cast.js'
import { asExpr, asNode, constant } from '../core/graph/expr.js'
import { gt } from '../core/ops/compare.js'
import { type ConvParams, convInputPrimitive, convPrimitive } from '../core/ops/conv.js'
import { broadcastTo, reshape } from '../core/ops/layout/layout.js'
import { anyOf } from '../core/ops/reduce.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims } from './batching.js'
import { reapply } from './define.js'

/** What takes part in y = conv(x, k), and in what makes one of them from the other two. */
type Role = 'x' | 'k' | 'y'
type Four = readonly [number, number, number, number]
const someOf = (x: AnyExpr, axis: readonly number[]): AnyExpr => anyOf(x, axis, true)
/** Images [n, c, h, w] as one of flags for each group: [n, groups, h, w]; and one flag for each group as one for all of its channels. */
const byGroup = (x: AnyExpr, groups: number): AnyExpr => {
  const [n, c, h, w] = dims(x) as Four
  return reshape(someOf(reshape(x, [n, groups, c / groups, h, w]), [2]), [n, groups, h, w])
}
const toChannels = (x: AnyExpr, channels: number): AnyExpr => {
  const [n, groups, h, w] = dims(x) as Four
  return reshape(broadcastTo(reshape(x, [n, groups, 1, h, w]), [n, groups, channels / groups, h, w]), [n, channels, h, w])
}
/** Flags that are true wherever a window of ones meets one that is. */
const through = (
  primitive: typeof convPrimitive | typeof convInputPrimitive,
  flags: AnyExpr,
  [, , kh, kw]: Four,
  { stride, padding, dilation, groups }: ConvParams,
  size?: readonly number[],
): AnyExpr => {
  const float = asExpr(castNode(asNode(byGroup(flags, groups)), 'f32'))
  const window = broadcastTo(asExpr(constant(1, 'f32')), [groups, 1, kh, kw])
  return gt(reapply(primitive as typeof convPrimitive, [float, window], { stride, padding, dilation, groups, ...(size && { size }) }), 0)
}
const met = (flags: AnyExpr, from: Role, to: Role, shapes: Readonly<Record<Role, Four>>, p: ConvParams): AnyExpr => {
  const { groups } = p
  const [o, i] = shapes.k
  const channels = someOf(flags, [0, 2, 3])
  switch (`${from}${to}`) {
    case 'xy':
      return toChannels(through(convPrimitive, flags, shapes.k, p), o)
    case 'yx':
      return toChannels(through(convInputPrimitive, flags, shapes.k, p, shapes.x.slice(2)), shapes.x[1])
    case 'xk':
      return reshape(broadcastTo(reshape(channels, [groups, 1, i]), [groups, o / groups, i]), [o, i, 1, 1])
    case 'yk':
      return reshape(channels, [o, 1, 1, 1])
    case 'ky':
      return reshape(someOf(flags, [1, 2, 3]), [1, o, 1, 1])
    default:
      return reshape(someOf(reshape(someOf(flags, [2, 3]), [groups, o / groups, i]), [1]), [1, groups * i, 1, 1])
  }
}
/** The roles of two arguments and the result. */
export const convReach =
  (roles: readonly [Role, Role, Role]) =>
  (flags: AnyExpr, from: 0 | 1 | 2, to: 0 | 1 | 2, avals: readonly Aval[], p: ConvParams): AnyExpr => {
    const shapes = Object.fromEntries(roles.map((r, k) => [r, avals[k]!.shape])) as unknown as Readonly<Record<Role, Four>>
    return met(flags, roles[from], roles[to], shapes, p)
  }
