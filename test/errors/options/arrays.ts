/** Functions made of others: a call that is right with no options, for each function that takes some and needs none. */
import * as cd from '../../../src/index.js'
import { untyped } from '../../rules/untyped.js'

const x = cd.tensor([
  [1, 2, 4],
  [3, 5, 9],
])
const row = [1, 2, 4]

export const rows: readonly (readonly [name: string, call: (options: never) => unknown])[] = [
  ['isclose', (options?: undefined) => cd.isclose(x, x, options)],
  ['allclose', (options?: undefined) => cd.allclose(x, x, options)],
  ['nanToNum', (options?: undefined) => cd.nanToNum(x, options)],
  ['logspace', (options?: undefined) => cd.logspace(0, 1, 3, options)],
  ['geomspace', (options?: undefined) => cd.geomspace(1, 8, 3, options)],
  ['meshgrid', (options?: undefined) => cd.meshgrid([row, row], options)],
  ['arraySplit', (options?: undefined) => cd.arraySplit(x, 2, options)],
  ['rot90', (options?: undefined) => cd.rot90(x, options)],
  ['diff', (options?: undefined) => cd.diff(x, options)],
  ['gradient', (options?: undefined) => cd.gradient(x, options)],
  ['trapezoid', (options?: undefined) => cd.trapezoid(x, options)],
  ['cumulativeTrapezoid', (options?: undefined) => cd.cumulativeTrapezoid(x, options)],
  ['interp', (options?: undefined) => cd.interp(x, row, row, options)],
  ['convolve', (options?: undefined) => cd.convolve(row, row, options)],
  ['correlate', (options?: undefined) => cd.correlate(row, row, options)],
  ['quantile', (options?: undefined) => cd.quantile(x, 0.5, options)],
  ['percentile', (options?: undefined) => cd.percentile(x, 50, options)],
  ['nanquantile', (options?: undefined) => cd.nanquantile(x, 0.5, options)],
  ['nanpercentile', (options?: undefined) => cd.nanpercentile(x, 50, options)],
  ['lexsort', (options?: undefined) => cd.lexsort([x, x], options)],
  ['cov', (options?: undefined) => cd.cov(x, options)],
  ['corrcoef', (options?: undefined) => cd.corrcoef(x, options)],
  ['histogram', (options?: undefined) => cd.histogram(x, options as never)],
  ['digitize', (options?: undefined) => cd.digitize(x, row, options)],
  ['putAlongAxis', (options?: undefined) => cd.putAlongAxis(x, [[0], [1]], 7, options)],
  ...(
    ['median', 'nanmedian', 'ptp', 'average', 'nansum', 'nanprod', 'nanmean', 'nanmax', 'nanmin', 'nanvar', 'nanstd', 'nanargmax', 'nanargmin', 'cummax', 'cummin', 'nancumsum', 'nancumprod'] as const // biome-ignore format: a list
  )
    .map((name) => [name, (options?: undefined) => untyped[name]!(x, options)] as const),
]
