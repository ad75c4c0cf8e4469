/** Grids: numbers in geometric progression, coordinates, the places of triangles. */

import { integerOf, listOf, numberOf, shown } from '../../core/errors/check-arguments.js'
import { badDtype, badInput, badShape, showShape } from '../../core/errors/explain.js'
import { choice, dtype, flag, kind, number, type OptionsOf, type ReadOf, wholeNumber } from '../../core/errors/options.js'
import { MAX_SIZE } from '../../core/graph/shape.js'
import { arrayOf, arraysOf, declaredAs, sizeOf } from '../../core/ops/arrays.js'
import { broadcastTo, reshape } from '../../core/ops/layout/layout.js'
import { operation } from '../../core/ops/operation.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { LowerIndicesFn, MeshgridFn, SpacedFn, UpperIndicesFn } from '../../core/types/signatures/arrays.js'

const length = wholeNumber({ to: MAX_SIZE }, (n) => `${shown(n)} is not a length.`, 'give a non-negative integer.')
const ends = { from: kind(numberOf), to: kind(numberOf), n: length }
const spacedOptions = { endpoint: flag(true) }
interface SpacedOptions extends OptionsOf<typeof spacedOptions> {}
const logspaceOptions = { ...spacedOptions, base: number(10) }
interface LogspaceOptions extends OptionsOf<typeof logspaceOptions> {}
const typed = { dtype: dtype() }
/** n numbers, the i-th of them f(i / (n - 1)), i / n without the end: made on the host. */
const sampled = (n: number, f: (t: number) => number, o: ReadOf<typeof spacedOptions & typeof typed>, op: string): AnyExpr => {
  if (o.dtype === 'i32' || o.dtype === 'bool') badDtype(op, [o.dtype], `${o.dtype} is not a float`, 'cast the result.')
  const all = arrayOf(Array.from({ length: n }, (_, i) => f(i === 0 ? 0 : i / (o.endpoint ? n - 1 : n))), op) // biome-ignore format: one row
  return o.dtype === undefined ? all : declaredAs(all, o.dtype)
}

/**
 * n numbers whose logarithms to `base` (10 unless given) are at equal distances: base^from to base^to, both included unless `endpoint` is false.
 *
 * Shapes  [n].   Dtype  `dtype`; without it that of the floats that it is combined with, else f64.   Source  NumPy logspace.
 * Errors  BadInput unless n is a non-negative integer; DTypeMismatch for a dtype that is not a float.
 * @example logspace(0, 2, 3)   // [1, 10, 100]
 */
export const logspace: SpacedFn<LogspaceOptions> = operation('logspace', ends, { ...logspaceOptions, ...typed }, ({ from, to, n }, o, op) =>
  sampled(n, (t) => o.base ** (t === 1 ? to : from + t * (to - from)), o, op),
)

/**
 * n numbers in geometric progression from `from` to `to`, both included unless `endpoint` is false.
 *
 * Shapes  [n].   Domain  both of one sign, neither 0.   Dtype  as `logspace`.   Source  NumPy geomspace.
 * Errors  BadInput for ends without a ratio, and unless n is a non-negative integer; DTypeMismatch for a dtype that is not a float.
 * @example geomspace(1, 8, 4)   // [1, 2, 4, 8]
 */
export const geomspace: SpacedFn<SpacedOptions> = operation('geomspace', ends, { ...spacedOptions, ...typed }, ({ from, to, n }, o, op) => {
  const ratio = to / from
  if (!(ratio > 0 && Number.isFinite(ratio)))
    badInput(op, `from ${shown(from)} to ${shown(to)} there is no ratio.`, 'give two numbers of one sign, neither of them 0.')
  return sampled(n, (t) => (t === 1 ? to : from * ratio ** t), o, op)
})

const meshgridOptions = { indexing: choice(['xy', 'ij'], 'xy') }
interface MeshgridOptions extends OptionsOf<typeof meshgridOptions> {}
/**
 * The coordinates of a grid: an array for each vector, all of one shape. With indexing 'xy', the default, the first vector runs along the columns (the
 * second axis), the second along the rows; with 'ij' vector i runs along axis i.
 *
 * Shapes  [n], [m], [k], ... -> [m, n, k, ...], with 'ij' [n, m, k, ...].   Dtype  promoted.   Rule  xBar = yBar summed over the other axes.
 * Errors  ShapeMismatch for arrays of rank 2 and more; BadInput for an unknown indexing.   Source  NumPy meshgrid.
 * @example meshgrid([[1, 2], [5, 6]])   // [[[1, 2], [1, 2]], [[5, 5], [6, 6]]]
 */
export const meshgrid: MeshgridFn<MeshgridOptions> = operation(
  'meshgrid',
  { xs: kind<readonly AnyExpr[]>((given, _what, op) => arraysOf(listOf(given, 'the first argument', op), op)) },
  meshgridOptions,
  ({ xs }, { indexing }, op) => {
    for (const { shape } of xs)
      if (shape.length > 1)
        badShape(
          op,
          xs.map((x) => x.shape),
          `needs vectors, got ${showShape(shape)}.`,
          'flatten it.',
        )
    // Where the axis of vector i stands.
    const place = (i: number): number => (indexing === 'xy' && xs.length > 1 && i < 2 ? 1 - i : i)
    const shape = xs.map((_, i) => sizeOf(xs[place(i)]!))
    return xs.map((x, i) => broadcastTo(reshape(x, shape.map((d, axis) => (axis === place(i) ? d : 1))), shape)) // biome-ignore format: one row
  },
)

const diagonal = kind((k, _what, op) => (k === undefined ? 0 : integerOf(k, 'the number of a diagonal', op)))
const columns = kind((m, what, op, shape) => (m === undefined ? undefined : length.read(m, what, op, shape)))
const triangle = <F>(name: string, keep: (right: number, k: number) => boolean): F =>
  operation(name, { n: length, k: diagonal, m: columns }, {}, ({ n, k, m = n }, _, op) => {
    if (n * m > MAX_SIZE) badInput(op, `a matrix of ${n} by ${m} is too large.`, 'work on blocks of it.')
    const [rows, columns]: [number[], number[]] = [[], []]
    for (let i = 0; i < n; i++)
      for (let j = 0; j < m; j++)
        if (keep(j - i, k)) {
          rows.push(i)
          columns.push(j)
        }
    return { rows: arrayOf(Int32Array.from(rows), op), columns: arrayOf(Int32Array.from(columns), op) }
  })

/**
 * Rows and columns of the lower triangle of an n by m matrix (m is n unless given), on and below the k-th diagonal, row by row.
 *
 * Dtype  i32.   Source  NumPy tril_indices.   Errors  BadInput for sizes and diagonals that are not integers.
 * @example trilIndices(2)   // { rows: [0, 1, 1], columns: [0, 0, 1] }
 */
export const trilIndices: LowerIndicesFn = triangle('trilIndices', (right, k) => right <= k)

/**
 * Rows and columns of the upper triangle of an n by m matrix (m is n unless given), on and above the k-th diagonal, row by row.
 *
 * Dtype  i32.   Source  NumPy triu_indices.   Errors  BadInput for sizes and diagonals that are not integers.
 * @example triuIndices(2)   // { rows: [0, 0, 1], columns: [0, 1, 1] }
 */
export const triuIndices: UpperIndicesFn = triangle('triuIndices', (right, k) => right >= k)
