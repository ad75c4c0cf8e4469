/** Deformable convolution: windows whose places move by computed offsets (Dai et al. 2017; with a mask Zhu et al. 2018). */
import { type AnyExpr, add, arange, concat, div, einsum, gridSample, mul, reshape, slice, stack, sub } from '../../index.js'
import { type Call, like, type Operator, type Table } from '../call.js'
import { windowsOf } from './conv.js'

/** n entries of an axis from the k-th group of so many on. */
const groupOf = (x: AnyExpr, axis: number, k: number, n: number): AnyExpr => {
  const [from, to] = [x.shape.map(() => 0), [...x.shape]]
  from[axis] = k * n
  to[axis] = (k + 1) * n
  return slice(x, from, to)
}
/** 0, step ... along one of five axes: batch, window rows, window columns, rows, columns. */
const steps = (n: number, step: number, start: number, axis: number): AnyExpr =>
  reshape(
    add(mul(arange(n), step), start),
    [1, 1, 1, 1, 1].map((one, i) => (i === axis ? n : one)),
  )

const deformable: Operator = {
  since: [19, 22],
  read: (c) => {
    const [x, k, offset] = [c.in(0), c.in(1), c.in(2)]
    const [bias, mask] = [c.maybe(3), c.maybe(4)]
    if (x.x.shape.length !== 4) c.refuse(`its input has ${x.x.shape.length - 2} axes of positions; two are computed.`)
    const [n, channels, h, w] = x.x.shape as readonly [number, number, number, number]
    const [kh, kw] = k.x.shape.slice(2) as [number, number]
    const { stride, dilation, padding } = windowsOf(c, [h, w], [kh, kw])
    const [oh, ow] = offset.x.shape.slice(2) as [number, number]
    const groups = c.int('offset_group', 1)
    const each = channels / groups
    const sampled = Array.from({ length: groups }, (_, g) => {
      // [n, kh, kw, 2, oh, ow]: how far each place of a window moves, by rows and by columns.
      const moved = reshape(groupOf(offset.x, 1, g, 2 * kh * kw), [n, kh, kw, 2, oh, ow])
      const part = (i: number): AnyExpr => reshape(groupOf(moved, 3, i, 1), [n, kh, kw, oh, ow])
      const rows = add(add(steps(oh, stride[0]!, -padding[0]![0], 3), steps(kh, dilation[0]!, 0, 1)), part(0))
      const columns = add(add(steps(ow, stride[1]!, -padding[1]![0], 4), steps(kw, dilation[1]!, 0, 2)), part(1))
      const unit = (at: AnyExpr, size: number): AnyExpr => sub(div(add(mul(at, 2), 1), size), 1)
      const grid = reshape(stack([unit(columns, w), unit(rows, h)], { axis: -1 }), [n, kh * kw * oh, ow, 2])
      const y = reshape(gridSample(groupOf(x.x, 1, g, each), grid), [n, each, kh * kw, oh, ow])
      return mask === undefined ? y : mul(y, reshape(groupOf(mask.x, 1, g, kh * kw), [n, 1, kh * kw, oh, ow]))
    })
    return like(x, biased(contracted(c, concat(sampled, { axis: 1 }), k.x), bias?.x))
  },
}
/** The kernels times what was sampled [n, channels, window, rows, columns], by groups. */
const contracted = (c: Call, sampled: AnyExpr, k: AnyExpr): AnyExpr => {
  const groups = c.int('group', 1)
  const [n, channels, window, oh, ow] = sampled.shape as readonly [number, number, number, number, number]
  const out = k.shape[0]!
  const x = reshape(sampled, [n, groups, channels / groups, window, oh, ow])
  const kernels = reshape(k, [groups, out / groups, channels / groups, window])
  return reshape(einsum('ngcwij,gocw->ngoij', x, kernels), [n, out, oh, ow])
}
const biased = (y: AnyExpr, bias: AnyExpr | undefined): AnyExpr => (bias === undefined ? y : add(y, reshape(bias, [-1, 1, 1])))

export const deformables: Table = { DeformConv: deformable }
