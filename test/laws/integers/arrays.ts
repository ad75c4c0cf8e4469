// Functions of arrays, under the law of integers: those that move and pick, that fold, sort, count and index.
import { untyped as cd } from '../../rules/untyped.js'
import type { Becomes, Exact, Row } from './law.js'

type Name = keyof typeof cd
type Call = (...xs: readonly unknown[]) => unknown
const op = (name: Name): Call => (cd as unknown as Readonly<Record<string, Call>>)[name]!
const M = [[3, 4]] as const
const V = [[6]] as const
/** Functions of one array, with what stands behind it. */
const one = (
  becomes: Becomes | readonly Becomes[],
  rows: Readonly<Record<string, readonly unknown[]>>,
  shapes: Row['shapes'] = M,
): readonly Row[] =>
  Object.entries(rows).map(([name, rest]) => ({
    name,
    becomes: typeof becomes === 'string' ? [becomes] : becomes,
    shapes,
    f: (x) => op(name as Name)(x, ...rest),
  }))
const I = (...xs: readonly number[]): Int32Array => Int32Array.from(xs)
const SAME: Row['only'] = [['i32', 'i32'], ['bool', 'bool'], ['i32', 'bool']] // biome-ignore format: one row
const NUMBERS: Row['only'] = [['i32', 'i32'], ['i32', 'bool']] // biome-ignore format: one row
const sum = (xs: readonly bigint[]): bigint => xs.reduce((a, b) => a + b, 0n)
const prod = (xs: readonly bigint[]): bigint => xs.reduce((a, b) => a * b, 1n)
/** The rows of a matrix of 4 columns, folded. */
const byRow =
  (of: (row: readonly bigint[]) => readonly bigint[]): Exact =>
  (x) =>
    [0, 4, 8].flatMap((i) => of(x!.slice(i, i + 4)))
const running =
  (of: (xs: readonly bigint[]) => bigint): ((row: readonly bigint[]) => readonly bigint[]) =>
  (row) =>
    row.map((_, k) => of(row.slice(0, k + 1)))
const fold = (names: string, of: (xs: readonly bigint[]) => bigint): readonly Row[] =>
  names
    .split(' ')
    .map((name) => ({ name, becomes: ['counts'], shapes: M, f: (x) => op(name as Name)(x, { axis: 1 }), exact: byRow((r) => [of(r)]) }))
const scanned = (names: string, of: (xs: readonly bigint[]) => bigint): readonly Row[] =>
  names.split(' ').map((name) => ({ name, becomes: ['counts'], shapes: M, f: op(name as Name), exact: byRow(running(of)) }))
const bySegment =
  (start: bigint, of: (a: bigint, b: bigint) => bigint): Exact =>
  (x) =>
    [[0, 2], [1, 3, 4]].map((is) => is.reduce((a, i) => of(a, x![i]!), start)) // biome-ignore format: one row
/** x with v at 1 and 3, twice at 3. */
const put =
  (of: (a: bigint, b: bigint) => bigint): Exact =>
  (x, v) => {
    const y = [...x!]
    ;[1, 3, 3].forEach((to, k) => {
      y[to] = of(y[to]!, v![k]!)
    })
    return y
  }

const moves = one('stays', {
  arraySplit: [2], atleast1d: [], atleast2d: [], atleast3d: [], block: [], flatten: [], fliplr: [], flipud: [], moveaxis: [0, 1], rot90: [], swapaxes: [0, 1],
  at: [1, [2, 0]], tril: [], triu: [], diag: [1], diagonal: [], flip: [], transpose: [], squeeze: [], expandDims: [0], reshape: [[2, 6]], roll: [1, { axis: 1 }],
  slice: [[0, 1], [3, 4], [2, 1]], tile: [[2, 1]], repeat: [2], broadcastTo: [[2, 3, 4]], pad: [[[1, 1], [0, 1]]], assertShape: [[3, 4]], fftshift: [], ifftshift: [],
  onesLike: [], zerosLike: [], dynamicSlice: [[1, 1], [2, 2]], gather: [[2, 0]], take: [[2, 0]], takeAlongAxis: [[[1], [0], [3]]], compress: [], booleanMask: [],
  tap: [() => undefined], embedding: [[2, 0]], unstack: [],
}) // biome-ignore format: a table
const several: Readonly<Record<string, number>> = { arraySplit: 2, unstack: 3 }
const called: Readonly<Record<string, (x: unknown) => unknown>> = {
  block: (x) => cd.block([[x, x]]),
  compress: (x) => cd.compress([true, false, true], x, { size: 3 }),
  booleanMask: (x) => cd.booleanMask(x, [true, false, true], { size: 2 }),
}
const movesAs = moves.map((r) => ({ ...r, becomes: new Array<Becomes>(several[r.name] ?? 1).fill('stays'), f: called[r.name] ?? r.f }))
const joins: readonly Row[] = ['concat', 'stack', 'vstack', 'hstack', 'dstack', 'columnStack'].map((name) => ({
  name,
  becomes: ['stays'],
  shapes: [
    [3, 4],
    [3, 4],
  ],
  f: (x, y) => op(name as Name)([x, y]),
}))
const folds: readonly Row[] = [
  ...fold('sum nansum', sum),
  ...fold('prod nanprod', prod),
  {
    name: 'ptp',
    becomes: ['counts'],
    shapes: M,
    f: op('ptp'),
    exact: (x) => [x!.reduce((a, b) => (a > b ? a : b)) - x!.reduce((a, b) => (a < b ? a : b))],
  },
  ...scanned('cumsum nancumsum', sum),
  ...scanned('cumprod nancumprod', prod),
  {
    name: 'diff',
    becomes: ['counts'],
    shapes: M,
    f: op('diff'),
    exact: byRow((r) => r.slice(1).map((x, i) => x - r[i]!)),
    only: [['i32']],
  },
  { name: 'trace', becomes: ['counts'], shapes: M, f: op('trace'), exact: (x) => [x![0]! + x![5]! + x![10]!] },
  ...one('stays', { max: [{ axis: 0 }], min: [{ axis: 1 }], nanmax: [], nanmin: [], sort: [], cummax: [], cummin: [{ reverse: true }] }),
  ...one(['stays', 'i32'], { topk: [2] }),
  ...one(['stays', 'i32', 'i32', 'i32'], { unique: [{ size: 5 }] }),
  ...one('i32', {
    argmax: [],
    argmin: [{ axis: 0 }],
    nanargmax: [],
    nanargmin: [],
    argsort: [],
    count: [],
    argwhere: [{ size: 4 }],
    matrixRank: [],
  }),
  ...one(['i32', 'i32'], { nonzero: [{ size: 4 }] }),
  ...one('bool', { any: [], all: [{ axis: 0 }] }),
  { name: 'lexsort', becomes: ['i32'], shapes: [[6], [6]], f: (x, y) => cd.lexsort([x, y]) },
  ...one('floats', {
    mean: [], median: [], nanmean: [], nanmedian: [{ axis: 1 }], variance: [], std: [], nanvar: [], nanstd: [], norm: [], logsumexp: [], logcumsumexp: [], quantile: [[0.3, 0.5]],
    percentile: [30], nanquantile: [0.3], nanpercentile: [30], softmax: [], logSoftmax: [],
  }), // biome-ignore format: a table
  { name: 'average', becomes: ['floats'], shapes: [[3, 4], [4]], f: (x, w) => cd.average(x, { weights: w, axis: 1 }) },
  { name: 'cov', becomes: ['floats'], shapes: M, f: op('cov') },
  { name: 'corrcoef', becomes: ['floats'], shapes: M, f: op('corrcoef') },
]
const places: readonly Row[] = [
  { name: 'searchsorted', becomes: ['i32'], shapes: [[5], [6]], f: op('searchsorted'), data: [[-2147483648, -5, 16777216, 16777217, 2147483647], [16777217, 16777216, 2147483647, 0, 2147483646, -2147483648]], only: [['i32', 'i32']] }, // biome-ignore format: one row
  { name: 'digitize', becomes: ['i32'], shapes: [[6], [5]], f: op('digitize'), data: [[16777217, 16777216, 2147483647, 0, 2147483646, -2147483648], [-2147483648, -5, 16777216, 16777217, 2147483647]], only: [['i32', 'i32']] }, // biome-ignore format: one row
  { name: 'histogram', becomes: ['i32', 'floats'], shapes: V, f: (x) => cd.histogram(x, { bins: 3 }) },
  {
    name: 'bincount',
    becomes: ['counts'],
    shapes: [[5]],
    f: (w) => cd.bincount([0, 1, 0, 1, 1], { size: 2, weights: w }),
    exact: bySegment(0n, (a, b) => a + b),
  },
  ...(
    [
      ['segmentSum', 'counts', bySegment(0n, (a, b) => a + b)],
      ['segmentProd', 'counts', bySegment(1n, (a, b) => a * b)],
      ['segmentMax', 'stays', bySegment(-(2n ** 31n), (a, b) => (a > b ? a : b))],
      ['segmentMin', 'stays', bySegment(2n ** 31n, (a, b) => (a < b ? a : b))],
    ] as const
  ).map(([name, becomes, exact]): Row => ({ name, becomes: [becomes], shapes: [[5]], f: (x) => cd[name](x, [0, 1, 0, 1, 1], 2), exact })),
  { name: 'segmentMean', becomes: ['floats'], shapes: [[5]], f: (x) => cd.segmentMean(x, [0, 1, 0, 1, 1], 2) },
  { name: 'segmentSoftmax', becomes: ['floats'], shapes: [[5]], f: (x) => cd.segmentSoftmax(x, [0, 1, 0, 1, 1], 2) },
  {
    name: 'scatterAdd',
    becomes: ['stays'],
    shapes: [[4], [3]],
    f: (x, v) => cd.scatterAdd(x, [1, 3, 3], v),
    exact: put((a, b) => a + b),
    only: NUMBERS,
  },
  {
    name: 'addAt',
    becomes: ['stays'],
    shapes: [[4], [3]],
    f: (x, v) => cd.addAt(x, [[1, 3, 3]], v),
    exact: put((a, b) => a + b),
    only: NUMBERS,
  },
  {
    name: 'mulAt',
    becomes: ['stays'],
    shapes: [[4], [3]],
    f: (x, v) => cd.mulAt(x, [[1, 3, 3]], v),
    exact: put((a, b) => a * b),
    only: NUMBERS,
  },
  {
    name: 'maxAt',
    becomes: ['stays'],
    shapes: [[4], [3]],
    f: (x, v) => cd.maxAt(x, [[1, 3, 3]], v),
    exact: put((a, b) => (a > b ? a : b)),
    only: SAME,
  },
  {
    name: 'minAt',
    becomes: ['stays'],
    shapes: [[4], [3]],
    f: (x, v) => cd.minAt(x, [[1, 3, 3]], v),
    exact: put((a, b) => (a < b ? a : b)),
    only: SAME,
  },
  { name: 'set', becomes: ['stays'], shapes: [[4], [3]], f: (x, v) => cd.set(x, [[1, 3, 3]], v), exact: put((_, b) => b), only: SAME },
  { name: 'setAt', becomes: ['stays'], shapes: [[4], [3]], f: (x, v) => cd.setAt(x, I(1, 3, 3), v), exact: put((_, b) => b), only: SAME },
  {
    name: 'putAlongAxis',
    becomes: ['stays'],
    shapes: [[4], [3]],
    f: (x, v) => cd.putAlongAxis(x, [1, 3, 3], v),
    exact: put((_, b) => b),
    only: SAME,
  },
  {
    name: 'dynamicUpdateSlice',
    becomes: ['stays'],
    shapes: [[4], [3]],
    f: (x, v) => cd.dynamicUpdateSlice(x, v, [1]),
    exact: (x, v) => [x![0]!, ...v!],
    only: SAME,
  },
]
export const arrayRows: readonly Row[] = [
  ...movesAs,
  { name: 'split', becomes: ['stays', 'stays'], shapes: M, f: (x) => cd.split(x, 2, { axis: 1 }) },
  ...joins,
  { name: 'meshgrid', becomes: ['stays', 'stays'], shapes: [[2], [3]], f: (x, y) => cd.meshgrid([x, y]) },
  { name: 'toeplitz', becomes: ['stays'], shapes: [[3], [2]], f: op('toeplitz') },
  {
    name: 'blockDiag',
    becomes: ['stays'],
    shapes: [
      [2, 2],
      [1, 3],
    ],
    f: op('blockDiag'),
  },
  { name: 'full', becomes: ['stays'], shapes: [[]], f: (x) => cd.full([2], x) },
  ...folds,
  ...places,
]
