/** Convolutions and pools of volumes, made of those of planes: along the depth a convolution is a sum of convolutions, a pool a pool of pools. */
import { raise, showShape } from '../errors/explain.js'
import { apply, asExpr, asNode, type Node } from '../graph/expr.js'
import type { AnyExpr } from '../types/expr.js'
import { type ConvParams, convInputPrimitive, convPrimitive, windowed } from './conv.js'
import { add } from './elementwise.js'
import { reshapeNode, transposeNode } from './layout-move.js'
import { padNode, sliceNode } from './layout-slice.js'
import type { PoolParams } from './pool.js'

/** Parameters for depth, height and width. */
export interface Volume {
  readonly stride: readonly number[]
  /** Before and behind each axis. */
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
  readonly groups: number
}
type Five = readonly [number, number, number, number, number]
const five = (x: Node, op: string): Five =>
  x.shape.length === 5
    ? (x.shape as Five)
    : raise({
        _tag: 'ShapeMismatch',
        op,
        shapes: [x.shape],
        reason: `needs rank 5, got ${showShape(x.shape)}.`,
        fix: 'x is [n, c, d, h, w].',
      })
/** The parameters of the planes. */
const plane = ({ stride, padding, dilation, groups }: Volume): ConvParams => ({
  stride: stride.slice(1),
  padding: padding.slice(2),
  dilation: dilation.slice(1),
  groups,
})
/** Each place along the depth as an example of its own, and back. */
const asExamples = (x: Node): Node => {
  const [n, c, d, h, w] = x.shape as unknown as Five
  return reshapeNode(transposeNode(x, [0, 2, 1, 3, 4]), [n * d, c, h, w])
}
const asVolumes = (y: Node, n: number, d: number): Node => transposeNode(reshapeNode(y, [n, d, ...y.shape.slice(1)]), [0, 2, 1, 3, 4])
/** One slice of the kernel along its depth. */
const layer = (k: Node, u: number): Node => {
  const [o, c, , kh, kw] = k.shape as unknown as Five
  return reshapeNode(sliceNode(k, { starts: [0, 0, u, 0, 0], sizes: [o, c, 1, kh, kw], strides: [1, 1, 1, 1, 1] }), [o, c, kh, kw])
}
const total = (terms: readonly Node[]): Node => terms.reduce((a, b) => asNode(add(asExpr(a), asExpr(b))))
const along = (x: Node, depth: number): readonly number[] => x.shape.map((d, i) => (i === 2 ? depth : d))

const checked = (op: string, k: Node, out: number, x: Node): void => {
  if (k.shape[2]! < 1 || out < 1)
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [x.shape, k.shape],
      reason: `the kernel ${showShape(k.shape)} does not fit along the depth of x ${showShape(x.shape)} with its padding.`,
      fix: 'pad more, or use a smaller kernel.',
    })
}
/** y = conv(x, k) of volumes. */
export const convVolume = (x: Node, k: Node, p: Volume, op: string): Node => {
  const [n, , d] = five(x, op)
  const [, , kd] = five(k, op)
  const [before, behind] = p.padding as readonly [number, number]
  const out = windowed(d, kd, p.stride[0]!, before, behind, p.dilation[0]!)
  checked(op, k, out, x)
  const wide = before + behind === 0 ? x : padNode(x, [0, 0, before, 0, 0], along(x, d + before + behind), [1, 1, 1, 1, 1])
  const terms = Array.from({ length: kd }, (_, u) => {
    const read = { starts: [0, 0, u * p.dilation[0]!, 0, 0], sizes: along(x, out), strides: [1, 1, p.stride[0]!, 1, 1] }
    return apply(convPrimitive, [asExamples(sliceNode(wide, read)), layer(k, u)], plane(p))
  })
  return asVolumes(total(terms), n, out)
}
/** The adjoint of `convVolume` in x: of the size that is given. */
export const convInputVolume = (y: Node, k: Node, p: Volume, size: readonly number[], op: string): Node => {
  const [n, , d] = five(y, op)
  const [, , kd] = five(k, op)
  const [before, behind] = p.padding as readonly [number, number]
  const wide = size[0]! + before + behind
  checked(op, k, d, y)
  const terms = Array.from({ length: kd }, (_, u) => {
    const x = asVolumes(apply(convInputPrimitive, [asExamples(y), layer(k, u)], { ...plane(p), size: size.slice(1) }), n, d)
    return padNode(x, [0, 0, u * p.dilation[0]!, 0, 0], along(x, wide), [1, 1, p.stride[0]!, 1, 1])
  })
  const sum = total(terms)
  return sliceNode(sum, { starts: [0, 0, before, 0, 0], sizes: along(sum, size[0]!), strides: [1, 1, 1, 1, 1] })
}
/** A pool over height and width, and one over the depth of what it gave. */
export const poolVolume = (x: Node, p: PoolParams, op: string, pool: (x: Node, p: PoolParams) => Node): Node => {
  const [n, c, d, h, w] = five(x, op)
  const rest = p.countIncludePad === true ? { countIncludePad: true } : {}
  const planes = pool(reshapeNode(x, [n, c * d, h, w]), {
    window: p.window.slice(1),
    stride: p.stride.slice(1),
    padding: p.padding.slice(2),
    ...rest,
  })
  const [, , oh, ow] = planes.shape as readonly [number, number, number, number]
  const y = pool(reshapeNode(planes, [n, c, d, oh * ow]), {
    window: [p.window[0]!, 1],
    stride: [p.stride[0]!, 1],
    padding: [...p.padding.slice(0, 2), 0, 0],
    ...rest,
  })
  return reshapeNode(y, [n, c, y.shape[2]!, oh, ow])
}
/** The adjoint of a convolution of planes or volumes in its input, of the size that is given. */
export const convInputOver = (y: AnyExpr, k: AnyExpr, p: Volume, size: readonly number[], op: string): AnyExpr =>
  asExpr(
    size.length === 3
      ? convInputVolume(asNode(y), asNode(k), p, size, op)
      : apply(convInputPrimitive, [asNode(y), asNode(k)], { ...p, size }),
  )
