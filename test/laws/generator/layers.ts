/** Builders of layers and losses that are compositions. */
import type { Draw } from './draw.js'
import { dtypeOf, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import type { Builder, Row } from './elementwise.js'
import { apart, awayFrom, like as likeOf, positions, within } from './guards.js'
import type { Template } from './program.js'

/** Of the dtype of what stands beside it. */
const like = (d: Draw, shape: readonly number[], beside?: Value): Value =>
  likeOf(d, shape, beside === undefined ? d.dtype : dtypeOf(beside))
const whole = (d: Draw, list: Template): Template => ref(d.op('cast', list, 'i32'))
const floats = (d: Draw, rank: number, sizes: () => number[]): Value =>
  d.float((v) => rankOf(v) === rank && v.array.data.length > 0 && v.array.data.length <= 64, sizes)
const vectors = (d: Draw): Value => floats(d, 2, () => [d.between(1, 4), d.between(2, 4)])
/** [n, c, ...positions] with so many axes of positions. */
const volumes = (d: Draw, axes: number): Value =>
  floats(d, axes + 2, () => [d.between(1, 2), d.between(1, 2), ...Array.from({ length: axes }, () => d.between(2, 4))])
const reduction = (d: Draw): { [key: string]: Template } => (d.chance(0.5) ? {} : { reduction: d.of(['mean', 'sum', 'none']) })

/** A loss of x and a target of its shape; `far`: where x - t is not, by chance, near a kink. */
const loss =
  (
    name: string,
    domain: readonly [number, number],
    target: readonly [number, number],
    far: (d: Draw, x: Value, t: Value) => void = () => undefined,
  ): Builder =>
  (d) => {
    const x = within(d, vectors(d), domain)
    const t = within(d, like(d, shapeOf(x), x), target)
    far(d, x, t)
    d.op(name, ref(x), ref(t), reduction(d))
  }
const notNear =
  (...kinks: readonly number[]) =>
  (_d: Draw, x: Value, t: Value): void => {
    for (let i = 0; i < x.array.data.length; i++) {
      const difference = x.array.data[i]! - t.array.data[i]!
      if (kinks.some((k) => Math.abs(Math.abs(difference) - k) < 0.02)) redraw('a kink of the loss')
    }
  }
const margin = (_d: Draw, x: Value, t: Value): void => {
  for (let i = 0; i < x.array.data.length; i++) if (Math.abs(1 - x.array.data[i]! * t.array.data[i]!) < 0.02) redraw('a kink of the loss')
}
const ranks: Builder = (d) => {
  const x = volumes(d, d.between(1, 2))
  const [, c, ...rest] = shapeOf(x) as [number, number, ...number[]]
  if (rest.reduce((n, k) => n * k, 1) < 2) redraw('no spread')
  apart(d, x)
  const given = { ...(d.chance(0.5) && { scale: ref(like(d, [c], x)) }), ...(d.chance(0.4) && { eps: 0.1 }) }
  if (d.chance(0.5)) d.op('groupNorm', ref(x), d.chance(0.5) ? 1 : c, given)
  else d.op('instanceNorm', ref(x), given)
}
const rms: Builder = (d) => {
  const x = vectors(d)
  d.op('rmsNorm', ref(x), { eps: 0.1, ...(d.chance(0.5) && { scale: ref(like(d, shapeOf(x).slice(1), x)) }) })
}
const attention: Builder = (d) => {
  const q = within(d, vectors(d), [-2, 2])
  const [n, k] = shapeOf(q) as [number, number]
  const m = d.between(1, 4)
  const keys = within(d, like(d, [m, k], q), [-2, 2])
  const values = like(d, [m, d.between(1, 3)], q)
  const masked = d.chance(0.4)
  d.op('scaledDotProductAttention', ref(q), ref(keys), ref(values), {
    ...(d.chance(0.4) && { causal: true }),
    ...(d.chance(0.3) && { scale: 0.5 }),
    ...(masked && { mask: ref(like(d, [n, m], q)) }),
  })
}
const cosine: Builder = (d) => {
  const x = vectors(d)
  const y = like(d, shapeOf(x), x)
  for (const v of [x, y]) {
    const width = shapeOf(v)[1]!
    for (let i = 0; i < v.array.data.length; i += width) if (Math.hypot(...v.array.data.slice(i, i + width)) < 0.1) redraw('a short vector')
  }
  d.op('cosineSimilarity', ref(x), ref(y), { axis: -1 })
}
const nll: Builder = (d) => {
  const p = d.op('logSoftmax', ref(within(d, vectors(d), [-5, 5])))
  const [n, k] = shapeOf(p) as [number, number]
  const weight = d.chance(0.4) && { weight: ref(within(d, like(d, [k], p), [0.5, 2])) }
  // A mean over classes of which all are ignored would be NaN.
  const how = d.chance(0.4) ? { reduction: d.of(['sum', 'none']), ignoreIndex: 0 } : reduction(d)
  d.op('nllLoss', ref(p), positions(d, k, [n]), { ...how, ...weight, ...(d.chance(0.5) && { labelSmoothing: 0.2 }) })
}
const ctc: Builder = (d) => {
  const [t, k] = [d.between(3, 4), 3]
  const p = d.op('logSoftmax', ref(within(d, like(d, [t, 1, k]), [-3, 3])))
  d.op('ctcLoss', ref(p), whole(d, [[d.of([1, 2])]]), whole(d, [t]), whole(d, [1]), reduction(d))
}
const convTranspose: Builder = (d) => {
  const axes = d.between(1, 3)
  const x = volumes(d, axes)
  const k = like(d, [shapeOf(x)[1]!, d.between(1, 2), ...Array.from({ length: axes }, () => d.between(1, 2))], x)
  const stride = d.between(1, 2)
  d.op('convTranspose', ref(x), ref(k), {
    stride,
    ...(stride > 1 && d.chance(0.5) && { outputPadding: 1 }),
    ...(d.chance(0.3) && { dilation: 2 }),
  })
}
const adaptive =
  (name: string): Builder =>
  (d) => {
    const x = volumes(d, d.between(1, 3))
    if (name === 'adaptiveMaxPool') apart(d, x)
    d.op(name, ref(x), d.between(1, 4))
  }
const resize: Builder = (d) =>
  void d.op('resize', ref(volumes(d, d.between(1, 2))), d.between(1, 5), {
    ...(d.chance(0.7)
      ? d.chance(0.5)
        ? {
            method: d.of(['nearest', 'linear', 'cubic']),
            coordinates: d.of(['halfPixel', 'pytorchHalfPixel', 'asymmetric', 'alignCorners']),
          }
        : d.chance(0.2)
          ? { method: 'nearest-exact' }
          : { method: d.of(['nearest', 'linear', 'cubic']), ...(d.chance(0.4) && { alignCorners: true }) }
      : { method: d.of(['linear', 'cubic']), antialias: true }),
  })
const unpool: Builder = (d) => {
  const x = volumes(d, d.between(1, 2))
  apart(d, x)
  const size = shapeOf(x).slice(2)
  const window = {
    window: 2,
    stride: 2,
    ...(d.chance(0.5) && { padding: 1 }),
    ...(size.every((n) => n > 2) && d.chance(0.3) && { dilation: 2 }),
  }
  const [values, indices] = d.emit('maxPoolWithIndices', [ref(x), window]) as [Value, Value]
  if (d.chance(0.7)) d.op('maxUnpool', ref(values), ref(indices), { size })
}
/** Places on the grid of halves are where weights have kinks, and roundings jumps. */
const sampled: Builder = (d) => {
  const axes = d.between(1, 2)
  const x = volumes(d, axes)
  const [n, , ...size] = shapeOf(x) as [number, number, ...number[]]
  const alignCorners = d.chance(0.4)
  const span = (k: number): number => (alignCorners ? k - 1 : k)
  const grid = within(d, like(d, [n, ...size.map(() => d.between(1, 2)), axes], x), [-1.9, 1.9])
  awayFrom(d, grid, (g) => size.map((k) => Math.round((g + 1) * span(k)) / span(k) - 1))
  d.op('gridSample', ref(x), ref(grid), {
    alignCorners,
    method: d.of(['linear', 'nearest', 'cubic']),
    padding: d.of(['zeros', 'border', 'reflection']),
  })
}
const affine: Builder = (d) => {
  const axes = d.between(1, 2)
  const theta = like(d, [d.between(1, 2), axes, axes + 1])
  const size = Array.from({ length: axes }, () => d.between(1, 3))
  d.op('affineGrid', ref(theta), size, { ...(d.chance(0.4) && { alignCorners: true }) })
}
const boxed: Builder = (d) => {
  const x = volumes(d, 2)
  const corners = d.op('tanh', ref(like(d, [2, 4], x)))
  const boxes = d.op('add', ref(d.op('mul', ref(corners), 0.02)), [
    [0.3, 0.2, 2.4, 1.9],
    [-0.7, 0.6, 0.55, 0.8],
  ])
  const images = whole(d, [0, shapeOf(x)[0]! - 1])
  d.op('roiAlign', ref(x), ref(boxes), images, { size: [1, 2], samplingRatio: 1, aligned: true })
}
const windows: Builder = (d) => {
  const x = volumes(d, 2)
  const size = shapeOf(x).slice(2) as [number, number]
  const how = { window: [d.between(1, 2), d.between(1, 2)], stride: d.between(1, 2), ...(d.chance(0.4) && { padding: 1 }) }
  const columns = d.op('unfold', ref(x), how)
  d.op('fold', ref(columns), { ...how, size })
}
const shuffle: Builder = (d) => {
  const x = like(d, [1, 4 * d.between(1, 2), d.between(1, 2), d.between(1, 3)])
  const y = d.op('pixelShuffle', ref(x), 2)
  if (d.chance(0.5)) d.op('pixelUnshuffle', ref(y), 2)
}
const spaced: Builder = (d) => {
  const x = like(d, [1, 4 * d.between(1, 2), d.between(1, 2), d.between(1, 3)])
  const how = d.chance(0.5) ? {} : { order: d.of(['DCR', 'CRD']) }
  const y = d.op('depthToSpace', ref(x), 2, how)
  if (d.chance(0.5)) d.op('spaceToDepth', ref(y), 2, how)
}
const response: Builder = (d) => {
  const x = within(d, volumes(d, 1), [-3, 3])
  d.op('localResponseNorm', ref(x), d.between(1, 4), { ...(d.chance(0.6) && { alpha: 0.5, beta: d.of([0.75, 1, 2]) }) })
}
const reversed: Builder = (d) => {
  const x = floats(d, 2, () => [d.between(1, 4), d.between(1, 3)])
  const [t, n] = shapeOf(x) as [number, number]
  d.op(
    'reverseSequence',
    ref(x),
    whole(
      d,
      Array.from({ length: n }, () => d.int(t + 1)),
    ),
  )
}
const suppressed: Builder = (d) => {
  const scores = like(d, [3])
  apart(d, scores)
  const boxes = [
    [0, 0, 2, 2],
    [0.5, 0, 2, 3],
    [4, 4, 5, 6],
  ]
  d.op('nonMaxSuppression', boxes, ref(scores), { iou: d.of([0.3, 0.7]), ...(d.chance(0.4) && { size: d.between(1, 4) }) })
}
/** Filtered logits have infinities: they are read through a softmax. */
const likely: Builder = (d) => {
  const x = within(d, vectors(d), [-4, 4])
  apart(d, x)
  const kept = d.chance(0.5) ? d.op('topkFilter', ref(x), d.between(1, 3)) : d.op('toppFilter', ref(x), 0.4321, { least: d.between(1, 2) })
  d.op('softmax', ref(kept))
}
const gated: Builder = (d) => {
  const x = floats(d, 2, () => [d.between(1, 3), 2 * d.between(1, 2)])
  const axis = shapeOf(x).findIndex((n) => n % 2 === 0)
  if (axis < 0) redraw('no even axis')
  d.op('glu', ref(x), { axis })
}

export const layerRows: readonly Row[] = [
  { name: 'losses of numbers', weight: 0.3, build: loss('mseLoss', [-3, 3], [-3, 3]) },
  { name: 'l1Loss', weight: 0.2, build: loss('l1Loss', [-3, 3], [-3, 3], notNear(0)) },
  { name: 'huberLoss', weight: 0.2, build: loss('huberLoss', [-3, 3], [-3, 3], notNear(1)) },
  { name: 'smoothL1Loss', weight: 0.2, build: loss('smoothL1Loss', [-3, 3], [-3, 3], notNear(1)) },
  { name: 'bceWithLogits', weight: 0.2, build: loss('bceWithLogits', [-4, 4], [0.1, 0.9]) },
  { name: 'focalLoss', weight: 0.2, build: loss('focalLoss', [-4, 4], [0.1, 0.9]) },
  { name: 'hingeLoss', weight: 0.2, build: loss('hingeLoss', [-3, 3], [-1, 1], margin) },
  { name: 'binaryCrossEntropy', weight: 0.2, build: loss('binaryCrossEntropy', [0.1, 0.9], [0, 1]) },
  { name: 'klDivLoss', weight: 0.2, build: loss('klDivLoss', [-3, -0.1], [0.1, 0.9]) },
  { name: 'nllLoss', weight: 0.2, build: nll },
  { name: 'ctcLoss', weight: 0.2, build: ctc },
  { name: 'cosineSimilarity', weight: 0.2, build: cosine },
  { name: 'groupNorm, instanceNorm', weight: 0.4, build: ranks },
  { name: 'rmsNorm', weight: 0.2, build: rms },
  { name: 'scaledDotProductAttention', weight: 0.3, build: attention },
  { name: 'convTranspose', weight: 0.3, build: convTranspose },
  { name: 'adaptiveAvgPool', weight: 0.2, build: adaptive('adaptiveAvgPool') },
  { name: 'adaptiveMaxPool', weight: 0.2, build: adaptive('adaptiveMaxPool') },
  { name: 'resize', weight: 0.3, build: resize },
  { name: 'maxPoolWithIndices, maxUnpool', weight: 0.3, build: unpool },
  { name: 'gridSample', weight: 0.4, build: sampled },
  { name: 'affineGrid', weight: 0.2, build: affine },
  { name: 'roiAlign', weight: 0.2, build: boxed },
  { name: 'unfold, fold', weight: 0.3, build: windows },
  { name: 'pixelShuffle', weight: 0.2, build: shuffle },
  { name: 'depthToSpace, spaceToDepth', weight: 0.2, build: spaced },
  { name: 'localResponseNorm', weight: 0.2, build: response },
  { name: 'reverseSequence', weight: 0.2, build: reversed },
  { name: 'nonMaxSuppression', weight: 0.2, build: suppressed },
  { name: 'topkFilter, toppFilter', weight: 0.4, build: likely },
  { name: 'glu', weight: 0.2, build: gated },
]
