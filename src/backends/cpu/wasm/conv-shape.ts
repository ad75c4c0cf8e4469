/*
 * The geometry of a 2-D convolution: output size, and where a tap reads.
 */

/** x [batch, channels, height, width], k [outChannels, channels / groups, kh, kw] -> y [batch, outChannels, oh, ow]: what its code depends on, which is all but the batch. */
export interface ConvShape {
  readonly channels: number
  readonly height: number
  readonly width: number
  readonly outChannels: number
  readonly kernel: readonly [number, number]
  readonly stride: readonly [number, number]
  /** [[top, bottom], [left, right]] */
  readonly padding: readonly [readonly [number, number], readonly [number, number]]
  readonly dilation: readonly [number, number]
  readonly groups: number
}

/** [oh, ow]; zero where the kernel does not fit. */
export function convOutput({ height, width, kernel, stride, padding, dilation }: ConvShape): readonly [number, number] {
  const size = (axis: 0 | 1, extent: number): number => {
    const reach = dilation[axis] * (kernel[axis] - 1) + 1
    return Math.max(0, Math.floor((extent + padding[axis][0] + padding[axis][1] - reach) / stride[axis]) + 1)
  }
  return [size(0, height), size(1, width)]
}

/** Whether each pixel has its own sums: a 1 x 1 kernel that meets all of them, and nothing else. */
export const isPointwise = ({ kernel, stride, padding }: ConvShape): boolean =>
  kernel[0] * kernel[1] === 1 && stride[0] * stride[1] === 1 && padding.flat().every((p) => p === 0)

/** The same convolution on a shape that vectors fill better: pixels of a 1 x 1 convolution form one row. */
export const simplifyConv = (shape: ConvShape): ConvShape =>
  isPointwise(shape) ? { ...shape, height: 1, width: shape.height * shape.width, dilation: [1, 1] } : shape

/** Taps at equal distances: `count` of them from `first`, in units of the kernel's axis. */
export interface Run {
  readonly first: number
  readonly step: number
  readonly count: number
}

/** The taps of an axis that meet stride phase `phase`: dilation * tap = phase (mod stride). */
export function tapsOfPhase(kernel: number, stride: number, dilation: number, phase: number): Run {
  const step = stride / gcd(stride, dilation)
  for (let first = 0; first < Math.min(kernel, step); first++) {
    if ((first * dilation) % stride === phase) return { first, step, count: Math.ceil((kernel - first) / step) }
  }
  return { first: 0, step, count: 0 }
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))
