// What the functions of arrays refuse: one error that names the function and says why.
import { describe, expect, it } from 'vitest'
import { type AdError, fn, i32, isAdException, tensor } from '../../src/index.js'
import { untyped as cd } from '../rules/untyped.js'

const errorOf = (f: () => unknown): Pick<AdError, '_tag'> & { readonly text: string } => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return { _tag: e.error._tag, text: e.message }
    throw e
  }
  return { _tag: 'nothing' as never, text: '' }
}
const v = tensor([1, 2, 4])
const A = tensor([[1, 2, 3], [4, 5, 6]]) // biome-ignore format: one row
const k = tensor([0, 1, 0], [3], 'i32')
type Row = readonly [name: string, call: () => unknown, tag: AdError['_tag'], says?: RegExp]

/** A size that is an expression. */
const COMPUTED = /fix: it has to be known when the program is built: give a number that the program captures, x\.shape\[0\] of an input/
const rows: readonly Row[] = [
  // sizes that NumPy needs not
  ['nonzero', () => cd.nonzero!(v), 'BadInput', /known before.*size.*NumPy/s],
  ['argwhere', () => cd.argwhere!(v, {}), 'BadInput', /size/],
  ['booleanMask', () => cd.booleanMask!(v, [true, false, true]), 'BadInput', /size/],
  ['compress', () => cd.compress!([true], v, {}), 'BadInput', /size/],
  ['unique', () => cd.unique!(v, { size: -1 }), 'BadInput', /-1 is not a size/],
  ['unique', () => cd.unique!(v, { size: 1.5 }), 'BadInput'],
  ['bincount', () => cd.bincount!(k), 'BadInput', /size/],
  ['segmentSum', () => cd.segmentSum!(v, k), 'BadInput', /segments/],
  ['repeat', () => cd.repeat!(v, k), 'BadInput', /totalLength/],
  // ranks and shapes
  ['nonzero', () => cd.nonzero!(3, { size: 1 }), 'BadInput'],
  ['fliplr', () => cd.fliplr!(v), 'BadInput'],
  ['flipud', () => cd.flipud!(3), 'BadInput'],
  ['vstack', () => cd.vstack!([v, A, [1]]), 'ShapeMismatch'],
  ['hstack', () => cd.hstack!([]), 'BadInput'],
  ['meshgrid', () => cd.meshgrid!([A]), 'ShapeMismatch'],
  ['interp', () => cd.interp!(v, A, A), 'ShapeMismatch'],
  ['interp', () => cd.interp!(v, v, [1, 2]), 'ShapeMismatch'],
  ['interp', () => cd.interp!(v, [], []), 'BadInput'],
  ['polyval', () => cd.polyval!(A, [1, 2, 3, 4, 5]), 'ShapeMismatch'],
  ['convolve', () => cd.convolve!(A, v), 'ShapeMismatch'],
  ['convolve', () => cd.convolve!(v, []), 'ShapeMismatch'],
  ['correlate', () => cd.correlate!(v, v, { mode: 'some' }), 'BadInput', /'full'/],
  ['cov', () => cd.cov!(tensor([[[1]]])), 'ShapeMismatch'],
  ['cov', () => cd.cov!(A, { weights: [1] }), 'ShapeMismatch'],
  ['average', () => cd.average!(A, { weights: [1, 2] }), 'ShapeMismatch'],
  ['booleanMask', () => cd.booleanMask!(A, [true, false, true], { size: 2 }), 'ShapeMismatch'],
  ['compress', () => cd.compress!([true, true, true], A, { size: 2 }), 'ShapeMismatch'],
  ['segmentMax', () => cd.segmentMax!(A, k, 2), 'ShapeMismatch'],
  ['segmentProd', () => cd.segmentProd!(3, k, 2), 'ShapeMismatch'],
  ['segmentMean', () => cd.segmentMean!(v, k, 2.5), 'BadInput'],
  ['segmentSum', () => fn({ n: i32() }, ({ n }) => cd.segmentSum!(v, k, n) as never)({ n: 2 }), 'BadInput', COMPUTED],
  [
    'segmentSum',
    () => cd.segmentSum!(v, k, tensor(2, [], 'i32')),
    'BadInput',
    /a tensor \(i32 \[\]\) is not a number of segments[\s\S]*item\(\) of a tensor/,
  ],
  ...(
    [
      ['oneHot', (n) => cd.oneHot!(k, n)],
      ['zeros', (n) => cd.zeros!([n])],
      ['reshape', (n) => cd.reshape!(v, [n])],
      ['broadcastTo', (n) => cd.broadcastTo!(v, [n, 3])],
      ['arange', (n) => cd.arange!(n)],
      ['eye', (n) => cd.eye!(n)],
      ['bincount', (n) => cd.bincount!(k, { size: n })],
      ['unique', (n) => cd.unique!(v, { size: n })],
      ['scan', (n) => cd.scan!((c: unknown) => [c, null], v, null, { length: n })],
    ] satisfies readonly (readonly [string, (n: unknown) => unknown])[]
  ).map(([name, f]): Row => [name, () => fn({ n: i32() }, ({ n }) => f(n) as never)({ n: 2 }), 'BadInput', COMPUTED]),
  ['segmentSoftmax', () => cd.segmentSoftmax!(A, [0, 1, 1], 2), 'ShapeMismatch'],
  ['bincount', () => cd.bincount!(k, { size: 3, weights: [1] }), 'ShapeMismatch'],
  ['histogram', () => cd.histogram!(v, { weights: [1] }), 'ShapeMismatch'],
  ['histogram', () => cd.histogram!(v, { bins: [1] }), 'ShapeMismatch'],
  ['putAlongAxis', () => cd.putAlongAxis!(A, [[0, 1]], 1), 'ShapeMismatch'],
  ['putAlongAxis', () => cd.putAlongAxis!(A, [[0], [1]], [1, 2, 3]), 'ShapeMismatch'],
  ['maxAt', () => cd.maxAt!(v, [[0, 1]], [1, 2, 3]), 'ShapeMismatch'],
  ['lexsort', () => cd.lexsort!([v, A]), 'ShapeMismatch'],
  ['quantile', () => cd.quantile!(v, A), 'ShapeMismatch'],
  ['block', () => cd.block!([[A, A], A]), 'BadInput', /depths/],
  ['block', () => cd.block!([[A], []]), 'BadInput'],
  ['selectFirst', () => cd.selectFirst!([[true]], []), 'BadInput'],
  ['piecewise', () => cd.piecewise!(v, [[true, true, true]], []), 'BadInput'],
  // values out of range
  ['quantile', () => cd.quantile!(v, 1.5), 'BadInput', /between 0 and 1/],
  ['quantile', () => cd.quantile!(v, Number.NaN), 'BadInput'],
  ['quantile', () => cd.quantile!(v, []), 'BadInput'],
  ['quantile', () => cd.quantile!(v, 'x'), 'BadInput'],
  ['percentile', () => cd.percentile!(v, 101), 'BadInput', /0 and 100/],
  ['median', () => cd.median!([]), 'BadInput', /empty/],
  ['median', () => cd.median!(v, { axis: 1 }), 'BadInput', /axis 1/],
  ['quantile', () => cd.quantile!(v, 0.5, { method: 'best' }), 'BadInput', /'linear'/],
  ['cummax', () => cd.cummax!(3), 'BadInput'],
  ['cummin', () => cd.cummin!(v, { axis: 2 }), 'BadInput'],
  ['diff', () => cd.diff!(v, { n: -1 }), 'BadInput'],
  ['diff', () => cd.diff!(3), 'BadInput'],
  ['gradient', () => cd.gradient!([1]), 'BadInput'],
  ['gradient', () => cd.gradient!(v, { edgeOrder: 3 }), 'BadInput'],
  ['gradient', () => cd.gradient!(A, { spacing: [1, 2, 3] }), 'BadInput'],
  ['gradient', () => cd.gradient!(v, { spacing: [1, 2] }), 'ShapeMismatch'],
  ['trapezoid', () => cd.trapezoid!(v, { x: v, dx: 1 }), 'BadInput'],
  ['trapezoid', () => cd.trapezoid!(v, { x: [1, 2] }), 'ShapeMismatch'],
  ['arange', () => cd.arange!(0, 1, 0), 'BadInput'],
  ['arange', () => cd.arange!(0, Number.POSITIVE_INFINITY), 'BadInput'],
  ['arange', () => cd.arange!(0, 2, 0.5, 'i32'), 'BadInput'],
  ['arange', () => cd.arange!(0, 1e12), 'BadInput'],
  ['linspace', () => cd.linspace!(0, 1, 3, { endpoint: 1 }), 'BadInput'],
  ['logspace', () => cd.logspace!(0, 1, -1), 'BadInput'],
  ['logspace', () => cd.logspace!(0, 1, 3, { dtype: 'i32' }), 'DTypeMismatch'],
  ['geomspace', () => cd.geomspace!(-1, 1, 3), 'BadInput'],
  ['meshgrid', () => cd.meshgrid!([v], { indexing: 'yx' }), 'BadInput'],
  ['trilIndices', () => cd.trilIndices!(-1), 'BadInput'],
  ['trilIndices', () => cd.trilIndices!(1e6), 'BadInput'],
  ['triuIndices', () => cd.triuIndices!(2, 0.5), 'BadInput'],
  ['moveaxis', () => cd.moveaxis!(A, [0, 1], [0]), 'BadInput'],
  ['moveaxis', () => cd.moveaxis!(A, [0, 0], [0, 1]), 'BadInput'],
  ['swapaxes', () => cd.swapaxes!(A, 0, 2), 'BadInput'],
  ['arraySplit', () => cd.arraySplit!(v, 0), 'BadInput'],
  ['rot90', () => cd.rot90!(v), 'BadInput'],
  ['rot90', () => cd.rot90!(A, { k: 0.5 }), 'BadInput'],
  ['rot90', () => cd.rot90!(A, { axes: [0, 0] }), 'BadInput'],
  ['pad', () => cd.pad!(v, 1, { mode: 'mirror' }), 'BadInput', /'edge'/],
  ['pad', () => cd.pad!(tensor([], [0]), 1, { mode: 'edge' }), 'BadInput', /empty/],
  ['pad', () => cd.pad!(v, 1, { mode: 'edge', value: 2 }), 'BadInput'],
  ['repeat', () => cd.repeat!(v, [1, 2]), 'BadInput'],
  ['repeat', () => cd.repeat!(v, [1, -2, 1]), 'BadInput'],
  ['histogram', () => cd.histogram!(v, { bins: 0 }), 'BadInput'],
  ['histogram', () => cd.histogram!(v, { range: [1, 0] }), 'BadInput'],
  ['bincount', () => cd.bincount!([0.5], { size: 3 }), 'DTypeMismatch'],
  ['segmentSum', () => cd.segmentSum!(v, v, 3), 'DTypeMismatch'],
  ['mulAt', () => cd.mulAt!(tensor([true]), 0, 1), 'DTypeMismatch'],
  ['minAt', () => cd.minAt!(k, 0, tensor([0.5])), 'DTypeMismatch'],
  ['putAlongAxis', () => cd.putAlongAxis!(k, [0], 0.5), 'DTypeMismatch'],
  ['topk', () => cd.topk!(v, 2, { largest: 1 }), 'BadInput'],
  ['flatten', () => cd.flatten!('x'), 'BadInput'],
  ['nanmean', () => cd.nanmean!('x'), 'BadInput'],
  ['fmod', () => cd.fmod!(v, 'x'), 'BadInput'],
]
describe('functions of arrays refuse', () => {
  it.each(rows.map(([name, call, tag, says], i) => ({ what: `${i} ${name}: ${tag}`, name, call, tag, says })))(
    '$what',
    ({ name, call, tag, says }) => {
      const { _tag, text } = errorOf(call)
      expect(_tag, text).toBe(tag)
      expect(text.replace(/^\w+: (?=\w+: )/, '').startsWith(`${name}: `), text).toBe(true)
      if (says !== undefined) expect(text).toMatch(says)
    },
  )
})
