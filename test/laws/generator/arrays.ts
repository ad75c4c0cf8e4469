/** Builders of functions that are made of others: arrangements, differences, order, counts, choices. */
import { sizeOf } from '../../../src/core/graph/shape.js'
import { CAP, type Draw, dtypeOf, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import type { Builder, Row } from './elementwise.js'
import { apart, awayFrom, awayFromEachOther, axisOf, like, linesOf, positive, within } from './guards.js'
import type { Template } from './program.js'

const floats = (d: Draw, rank = 1, most = 5): Value =>
  d.float(
    (v) => rankOf(v) >= rank && rankOf(v) <= most && v.array.data.length > 0,
    () => d.shape(Math.min(most, Math.max(rank, d.between(1, 3)))),
  )
const some = (d: Draw, rank = 1): Value =>
  d.find((v) => rankOf(v) >= rank && v.array.data.length > 0) ?? (d.canInput() ? d.input(d.shape(Math.max(1, rank))) : redraw('no array'))
const lengthOf = (v: Value, axis: number): number => shapeOf(v)[positive(v, axis)]!
const without = (v: Value): readonly number[] => shapeOf(v).map((_, i) => i)
/** A vector of some length, or one that there is. */
const vector = (d: Draw, n = d.between(2, 5)): Value => like(d, [n])

const plain =
  (name: string, rank = 0, ...more: readonly Template[]): Builder =>
  (d) =>
    void d.op(name, ref(some(d, rank)), ...more)
const pairwise =
  (name: string): Builder =>
  (d) => {
    const v = within(d, floats(d, 0), [-3, 3])
    const w = within(d, like(d, shapeOf(v), dtypeOf(v)), [0.7, 3])
    if (name === 'fmax' || name === 'fmin') awayFromEachOther(d, v, w)
    else if (name !== 'isclose' && name !== 'allclose' && !d.wild) {
      awayFrom(d, d.op('div', ref(v), ref(w)), (x) => [Math.round(x)])
      awayFrom(d, v, () => [0])
    }
    d.op(name, ref(v), ref(w))
  }
const joins =
  (name: string): Builder =>
  (d) => {
    const v = some(d)
    if (rankOf(v) > 3 || v.array.data.length * 3 > CAP) redraw('large')
    d.op(name, [ref(v), ref(like(d, shapeOf(v), dtypeOf(v)))])
  }
const reduction =
  (name: string): Builder =>
  (d) => {
    const v = floats(d)
    const axis = axisOf(d, v)
    if (lengthOf(v, axis) < 2 || linesOf(v, [positive(v, axis)]).length === 0) redraw('no spread')
    apart(d, v, [positive(v, axis)])
    d.op(name, ref(v), ...(/quantile|percentile/.test(name) ? [d.of([0.25, 0.3, 0.9])] : []), {
      axis,
      ...(d.chance(0.3) && { keepdims: true }),
    })
  }
const along =
  (name: string, least = 1, options: (d: Draw) => { readonly [key: string]: Template } = () => ({})): Builder =>
  (d) => {
    const v = floats(d)
    const axis = axisOf(d, v)
    if (lengthOf(v, axis) < least) redraw('short')
    if (name === 'cummax' || name === 'cummin') apart(d, v, [positive(v, axis)])
    d.emit(name, [ref(v), { axis, ...options(d) }])
  }
const segments =
  (name: string): Builder =>
  (d) => {
    const v = name === 'segmentProd' ? within(d, floats(d), [-2, 2]) : floats(d)
    const n = shapeOf(v)[0]!
    apart(d, v, without(v))
    // Every segment has a row: an infinity would leave the bounds.
    const k = d.between(1, Math.max(1, Math.min(3, n)))
    d.op(
      name,
      ref(v),
      ref(
        d.op(
          'cast',
          Array.from({ length: n }, (_, i) => (i < k ? i : d.int(k))),
          'i32',
        ),
      ),
      k,
    )
  }
const places =
  (name: string): Builder =>
  (d) => {
    const v = name === 'mulAt' ? within(d, floats(d), [-2, 2]) : floats(d)
    const n = shapeOf(v)[0]!
    const at = Array.from({ length: d.between(1, 3) }, () => d.int(n))
    const u = like(d, [at.length, ...shapeOf(v).slice(1)], dtypeOf(v))
    const w = name === 'mulAt' ? within(d, u, [-2, 2]) : u
    if (name !== 'mulAt') apart(d, d.op('concat', [ref(v), ref(w)]), without(v))
    d.op(name, ref(v), [at], ref(w))
  }
const mask = (d: Draw, n: number): Template =>
  ref(
    d.op(
      'cast',
      Array.from({ length: n }, () => (d.chance(0.6) ? 1 : 0)),
      'bool',
    ),
  )

const builders: Readonly<Record<string, Builder>> = {
  trunc: (d) => {
    const v = floats(d, 0)
    awayFrom(d, v, (x) => [Math.round(x)])
    d.op('trunc', ref(v))
  },
  ...Object.fromEntries(
    ['floorDivide', 'remainder', 'fmod', 'fmax', 'fmin', 'heaviside', 'isclose', 'allclose'].map((n) => [n, pairwise(n)]),
  ),
  isinf: plain('isinf'),
  signbit: (d) => {
    const v = floats(d, 0)
    awayFrom(d, v, () => [0])
    d.op('signbit', ref(v))
  },
  nanToNum: plain('nanToNum'),
  logspace: (d) => void d.op('logspace', 0, 1, d.between(1, 5), { dtype: d.dtype }),
  geomspace: (d) => void d.op('geomspace', 1, 8, d.between(1, 5), { dtype: d.dtype }),
  meshgrid: (d) => void d.emit('meshgrid', [[ref(vector(d)), ref(vector(d))], ...(d.chance(0.5) ? [{ indexing: 'ij' }] : [])]),
  trilIndices: (d) => void d.emit('trilIndices', [d.between(1, 3)]),
  triuIndices: (d) => void d.emit('triuIndices', [d.between(1, 3)]),
  moveaxis: (d) => ((v) => void d.op('moveaxis', ref(v), axisOf(d, v), axisOf(d, v)))(some(d)),
  swapaxes: (d) => ((v) => void d.op('swapaxes', ref(v), axisOf(d, v), axisOf(d, v)))(some(d)),
  ...Object.fromEntries(['flatten', 'atleast1d', 'atleast2d', 'atleast3d'].map((n) => [n, plain(n)])),
  ...Object.fromEntries(['vstack', 'hstack', 'dstack', 'columnStack'].map((n) => [n, joins(n)])),
  arraySplit: (d) => ((v) => void d.emit('arraySplit', [ref(v), d.between(1, 3), { axis: axisOf(d, v) }]))(some(d)),
  flipud: plain('flipud', 1),
  fliplr: plain('fliplr', 2),
  rot90: (d) => void d.op('rot90', ref(some(d, 2)), { k: d.between(-1, 3) }),
  block: (d) => {
    const [a, b] = [d.between(1, 2), d.between(1, 3)]
    d.op('block', [[ref(like(d, [a, b])), ref(like(d, [a, 1]))], [ref(like(d, [1, b])), ref(like(d, [1, 1]))]]) // biome-ignore format: one row
  },
  pad: (d) => {
    const v = some(d)
    if (v.array.data.length * 4 > CAP) redraw('large')
    const mode = d.of(['edge', 'reflect', 'symmetric', 'wrap'])
    d.op('pad', ref(v), shapeOf(v).map((_, i) => (i === 0 ? [d.int(3), d.int(3)] : [0, d.int(2)])), { mode }) // biome-ignore format: one row
  },
  diff: along('diff', 2),
  gradient: along('gradient', 3, (d) => ({ edgeOrder: d.between(1, 2), spacing: 0.5 })),
  // No difference is near half of the period, where a bit decides on a jump.
  unwrap: (d) => {
    const v = within(d, floats(d), [-2, 2])
    d.emit('unwrap', [ref(v), { axis: axisOf(d, v), period: 9 }])
  },
  trapezoid: along('trapezoid'),
  cumulativeTrapezoid: along('cumulativeTrapezoid', 1, () => ({ dx: 0.5 })),
  interp: (d) => {
    const v = within(d, floats(d, 0), [-2, 2])
    awayFrom(d, v, () => [-1, 0, 1.5])
    d.op('interp', ref(v), [-1, 0, 1.5], ref(like(d, [3], dtypeOf(v))))
  },
  polyval: (d) => {
    const v = within(d, floats(d, 0), [-1.5, 1.5])
    d.op('polyval', ref(within(d, like(d, [3], dtypeOf(v)), [-2, 2])), ref(v))
  },
  convolve: (d) => void d.op('convolve', ref(vector(d)), ref(vector(d)), { mode: d.of(['full', 'same', 'valid']) }),
  correlate: (d) => void d.op('correlate', ref(vector(d)), ref(vector(d)), { mode: d.of(['full', 'same', 'valid']) }),
  ...Object.fromEntries(
    ['quantile', 'percentile', 'nanquantile', 'median', 'nanmedian', 'ptp', 'nansum', 'nanmean', 'nanmax', 'nanmin', 'nanvar', 'nanstd', 'nanargmax', 'nanargmin', 'average', 'nanpercentile'].map((n) => [n, reduction(n)]), // biome-ignore format: a list
  ),
  nancumsum: (d) => void d.op('nancumsum', ref(floats(d)), d.chance(0.5) ? { exclusive: true } : {}),
  nancumprod: (d) => void d.op('nancumprod', ref(within(d, floats(d), [-2, 2]))),
  nanprod: (d) => void d.op('nanprod', ref(within(d, floats(d), [-2, 2]))),
  lexsort: (d) => {
    const v = floats(d)
    apart(d, v, without(v))
    d.op('lexsort', [ref(v), ref(v)])
  },
  cov: (d) => ((v) => (shapeOf(v).at(-1)! < 2 ? redraw('one') : void d.op('cov', ref(v))))(floats(d, 1, 2)),
  corrcoef: (d) => {
    const v = floats(d, 2, 2)
    if (shapeOf(v)[1]! < 3) redraw('few')
    apart(d, v, [1])
    d.op('corrcoef', ref(v))
  },
  nonzero: (d) => ((v) => void d.emit('nonzero', [ref(d.op('cast', ref(v), 'bool')), { size: 3 }]))(intsOf(d)),
  argwhere: (d) => ((v) => void d.op('argwhere', ref(d.op('cast', ref(v), 'bool')), { size: 3 }))(intsOf(d)),
  booleanMask: (d) => ((v) => void d.op('booleanMask', ref(v), mask(d, shapeOf(v)[0]!), { size: 3 }))(some(d)),
  compress: (d) => ((v) => void d.op('compress', mask(d, shapeOf(v)[0]!), ref(v), { size: 3 }))(some(d)),
  unique: (d) => {
    const v = floats(d)
    apart(d, v, without(v))
    d.emit('unique', [ref(v), { size: v.array.data.length }])
  },
  histogram: (d) => {
    const v = floats(d)
    awayFrom(d, v, () => [-3, -1, 1, 3])
    d.emit('histogram', [ref(v), { bins: 3, range: [-3, 3] }])
  },
  bincount: (d) => void d.op('bincount', ref(intsOf(d)), { size: 4 }),
  digitize: (d) => {
    const v = floats(d)
    awayFrom(d, v, () => [-1, 0.5])
    d.op('digitize', ref(v), [-1, 0.5])
  },
  ...Object.fromEntries(
    ['segmentSum', 'segmentProd', 'segmentMax', 'segmentMin', 'segmentMean', 'segmentSoftmax'].map((n) => [n, segments(n)]),
  ),
  ...Object.fromEntries(['maxAt', 'minAt', 'mulAt'].map((n) => [n, places(n)])),
  cummax: along('cummax', 1, (d) => (d.chance(0.3) ? { reverse: true } : {})),
  cummin: along('cummin', 1, (d) => (d.chance(0.3) ? { reverse: true } : {})),
  putAlongAxis: (d) => {
    const v = floats(d)
    const axis = axisOf(d, v)
    const shape = shapeOf(v).map((n, i) => (i === positive(v, axis) ? 1 : n))
    const at = d.op('full', shape, d.int(lengthOf(v, axis)), 'i32')
    if (sizeOf(shape) > CAP) redraw('large')
    d.op('putAlongAxis', ref(v), ref(at), ref(like(d, shape, dtypeOf(v))), { axis })
  },
  selectFirst: (d) => {
    const v = floats(d, 0)
    const m = like(d, shapeOf(v), 'bool')
    d.op('selectFirst', [ref(m)], [ref(v)], ref(like(d, shapeOf(v), dtypeOf(v))))
  },
  piecewise: (d) => {
    const v = floats(d, 0)
    d.op('piecewise', ref(v), [ref(like(d, shapeOf(v), 'bool'))], [ref(like(d, shapeOf(v), dtypeOf(v))), 0])
  },
}
const intsOf = (d: Draw): Value =>
  d.find((v) => dtypeOf(v) === 'i32' && rankOf(v) > 0 && rankOf(v) < 4) ??
  (d.canInput() ? d.input([4], 'i32', [0, 4]) : redraw('no integers'))

export const arrayRows: readonly Row[] = Object.entries(builders).map(([name, build]) => ({
  name: name === 'pad' ? 'pad by mode' : name,
  weight: ['cummax', 'cummin', 'maxAt', 'minAt', 'mulAt', 'segmentMax', 'segmentProd', 'quantile', 'interp', 'gradient'].includes(name)
    ? 2
    : 1,
  build,
}))
