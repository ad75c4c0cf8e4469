/** Operators on images: other sizes, samples at places, boxes. */
import { greatestOf, leastOf } from '../../core/errors/extremes.js'
import { type AnyExpr, affineGrid, gridSample, reshape, resize, roiAlign } from '../../index.js'
import { axesIn, type Call, counted, integers, like, type Operator, sizeOf, type Table } from '../call.js'
import { asIndex } from '../value.js'

const coordinates: Readonly<Record<string, string>> = {
  half_pixel: 'halfPixel',
  half_pixel_symmetric: 'halfPixelSymmetric',
  pytorch_half_pixel: 'pytorchHalfPixel',
  tf_half_pixel_for_nn: 'tfHalfPixelForNn',
  asymmetric: 'asymmetric',
  align_corners: 'alignCorners',
  tf_crop_and_resize: 'tfCropAndResize',
}
const roundings: Readonly<Record<string, string>> = {
  round_prefer_floor: 'roundPreferFloor',
  round_prefer_ceil: 'roundPreferCeil',
  floor: 'floor',
  ceil: 'ceil',
}
interface Sizes {
  /** Of every axis. */
  readonly size: readonly number[]
  readonly scale: readonly number[]
  readonly region: readonly (readonly [number, number])[]
}
/** The axes that change go behind two that do not, as `resize` has them. */
const resized = (c: Call, x: AnyExpr, { size, scale, region }: Sizes, options: Readonly<Record<string, unknown>>): AnyExpr => {
  const { shape } = x
  // Their weights are listed.
  for (const n of size) counted(c, n)
  if (sizeOf(size) > 2 ** 31) c.refuse(`the result has more elements than an array can have: [${size.join(', ')}].`)
  const crops = options.coordinates === 'tfCropAndResize'
  const part = (from: number): object => ({ scale: scale.slice(from), ...(crops && { region: region.slice(from) }) })
  const isSame = (i: number): boolean => size[i] === shape[i] && scale[i] === 1 && region[i]![0] === 0 && region[i]![1] === 1
  if (shape.length > 2 && isSame(0) && isSame(1)) return resize(x, size.slice(2), { ...options, ...part(2) } as never)
  const y = resize(reshape(x, [1, 1, ...shape]), size as number[], { ...options, ...part(0) } as never)
  return reshape(y, size as number[])
}
const scaled = (c: Call, x: AnyExpr, scales: readonly number[]): Sizes => {
  if (scales.length !== x.shape.length) c.refuse(`scales are ${scales.length} for ${x.shape.length} axes.`)
  return { size: x.shape.map((d, i) => Math.floor(d * scales[i]! + 1e-6)), scale: scales, region: x.shape.map(() => [0, 1] as const) }
}
/** Sizes and scales by input, for the axes that the node names. */
const wanted = (c: Call, x: AnyExpr): Sizes => {
  const rank = x.shape.length
  const axes = c.has('axes') ? axesIn(c, c.ints('axes'), rank) : x.shape.map((_, i) => i)
  const spread = (list: readonly number[], standard: (i: number) => number): number[] => {
    if (list.length !== axes.length) c.refuse(`${list.length} numbers for ${axes.length} axes.`)
    return x.shape.map((_, i) => (axes.includes(i) ? list[axes.indexOf(i)]! : standard(i)))
  }
  const roi = c.maybe(1) === undefined ? [] : c.numbers(1)
  const region = x.shape.map((_, i) => {
    const at = axes.indexOf(i)
    return at < 0 || roi.length !== 2 * axes.length ? ([0, 1] as const) : ([roi[at]!, roi[at + axes.length]!] as const)
  })
  const crops = c.text('coordinate_transformation_mode', 'half_pixel') === 'tf_crop_and_resize'
  const scales = c.maybe(2) === undefined ? [] : c.numbers(2)
  const length = (i: number): number => (crops ? x.shape[i]! * (region[i]![1] - region[i]![0]) : x.shape[i]!)
  if (scales.length > 0) {
    const scale = spread(scales, () => 1)
    return { size: x.shape.map((_, i) => Math.floor(length(i) * scale[i]! + 1e-6)), scale, region }
  }
  let size = spread(c.numbers(3), (i) => x.shape[i]!)
  const policy = c.text('keep_aspect_ratio_policy', 'stretch')
  if (policy !== 'stretch') {
    const ratios = axes.map((i) => size[i]! / x.shape[i]!)
    const ratio = policy === 'not_larger' ? leastOf(ratios) : greatestOf(ratios)
    size = x.shape.map((d, i) => (axes.includes(i) ? Math.round(ratio * d) : d))
    return { size, scale: x.shape.map((_, i) => (axes.includes(i) ? ratio : 1)), region }
  }
  return { size, scale: size.map((d, i) => d / x.shape[i]!), region }
}
const methods: Readonly<Record<string, string>> = {
  nearest: 'nearest',
  linear: 'linear',
  cubic: 'cubic',
  bilinear: 'linear',
  bicubic: 'cubic',
}
const methodOf = (c: Call, standard: string): string =>
  methods[c.text('mode', standard)] ?? c.refuse(`there is no mode ${JSON.stringify(c.text('mode'))}.`)
const resizing: Operator = {
  since: [10, 11, 13, 18, 19],
  known: [1, 2, 3],
  read: (c) => {
    const x = c.in(0)
    const method = methodOf(c, 'nearest')
    if (c.version < 11) return like(x, resized(c, x.x, scaled(c, x.x, c.numbers(1)), { method, coordinates: 'asymmetric' }))
    const how = c.text('coordinate_transformation_mode', 'half_pixel')
    const round = c.text('nearest_mode', 'round_prefer_floor')
    const options = {
      method,
      coordinates: coordinates[how] ?? c.refuse(`there is no coordinate_transformation_mode ${JSON.stringify(how)}.`),
      ...(method === 'nearest' && { rounding: roundings[round] ?? c.refuse(`there is no nearest_mode ${JSON.stringify(round)}.`) }),
      ...(method === 'cubic' && { cubic: c.float('cubic_coeff_a', -0.75) }),
      ...(method !== 'nearest' && { excludeOutside: c.int('exclude_outside', 0) !== 0, antialias: c.int('antialias', 0) !== 0 }),
      extrapolation: c.float('extrapolation_value', 0),
    }
    return like(x, resized(c, x.x, wanted(c, x.x), options))
  },
}
const upsample: Operator = {
  since: [7, 9],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const scales = c.version < 9 ? c.floats('scales') : c.numbers(1)
    return like(x, resized(c, x.x, scaled(c, x.x, scales), { method: methodOf(c, 'nearest'), coordinates: 'asymmetric' }))
  },
}
const sampled: Operator = {
  since: [16, 20],
  read: (c) => {
    const options = {
      method: methodOf(c, 'linear'),
      padding: c.text('padding_mode', 'zeros'),
      alignCorners: c.int('align_corners', 0) !== 0,
    }
    return like(c.in(0), gridSample(c.in(0).x, c.in(1).x, options as never))
  },
}
const aligned: Operator = {
  since: [10, 16],
  read: (c) => {
    const x = c.in(0)
    const samplingRatio = c.int('sampling_ratio', 0)
    if (samplingRatio === 0)
      c.refuse('sampling_ratio 0 takes a number of samples that depends on data.', 'export it with sampling_ratio 1 or more.')
    const options = {
      size: [c.int('output_height', 1), c.int('output_width', 1)],
      samplingRatio,
      spatialScale: c.float('spatial_scale', 1),
      aligned: c.version >= 16 && c.text('coordinate_transformation_mode', 'half_pixel') === 'half_pixel',
      mode: c.text('mode', 'avg'),
    }
    return like(x, roiAlign(x.x, c.in(1).x, asIndex(c.in(2).x) as never, options as never))
  },
}
const grid: Operator = {
  since: [20],
  known: [1],
  read: (c) => like(c.in(0), affineGrid(c.in(0).x, c.numbers(1).slice(2) as number[], { alignCorners: c.int('align_corners', 0) !== 0 })),
}

type Box = readonly [y1: number, x1: number, y2: number, x2: number]
const overlap = (a: Box, b: Box): number => {
  const side = (p: number, q: number, r: number, s: number): number => Math.max(0, Math.min(q, s) - Math.max(p, r))
  const area = ([y1, x1, y2, x2]: Box): number => (y2 - y1) * (x2 - x1)
  const both = side(a[0], a[2], b[0], b[2]) * side(a[1], a[3], b[1], b[3])
  const all = area(a) + area(b) - both
  return all <= 0 ? 0 : both / all
}
/** How many boxes stay depends on their scores: it is computed where these are known. */
const suppression: Operator = {
  since: [10, 11],
  known: [0, 1, 2, 3, 4],
  read: (c) => {
    const unknown = [0, 1].some((i) => c.known(c.in(i)) === undefined)
    if (unknown)
      c.refuse(
        'how many boxes it keeps depends on data.',
        "cut the model before it, and use codual's nonMaxSuppression, which keeps a fixed number.",
      )
    const [boxes, scores] = [c.numbers(0), c.numbers(1)]
    const [batches, classes, n] = c.in(1).x.shape as readonly [number, number, number]
    const one = (i: number, standard: number): number => (c.maybe(i) === undefined ? standard : c.numbers(i)[0]!)
    const [most, iou, least] = [one(2, 0), one(3, 0), one(4, Number.NEGATIVE_INFINITY)]
    const centred = c.int('center_point_box', 0) !== 0
    const boxOf = (b: number, k: number): Box => {
      const [p, q, r, s] = boxes.slice(4 * (b * n + k), 4 * (b * n + k) + 4) as [number, number, number, number]
      if (centred) return [q - s / 2, p - r / 2, q + s / 2, p + r / 2]
      return [Math.min(p, r), Math.min(q, s), Math.max(p, r), Math.max(q, s)]
    }
    const found: number[] = []
    for (let b = 0; b < batches; b++)
      for (let k = 0; k < classes; k++) {
        const score = (i: number): number => scores[(b * classes + k) * n + i]!
        const order = Array.from({ length: n }, (_, i) => i)
          .filter((i) => score(i) > least)
          .sort((i, j) => score(j) - score(i) || i - j)
        const kept: number[] = []
        for (const i of order) if (kept.length < most && kept.every((j) => overlap(boxOf(b, i), boxOf(b, j)) <= iou)) kept.push(i)
        for (const i of kept) found.push(b, k, i)
      }
    return integers(found, [found.length / 3, 3])
  },
}

export const vision: Table = {
  AffineGrid: grid,
  GridSample: sampled,
  NonMaxSuppression: suppression,
  Resize: resizing,
  RoiAlign: aligned,
  Upsample: upsample,
}
