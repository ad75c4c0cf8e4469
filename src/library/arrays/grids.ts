/** Grids: numbers in geometric progression, coordinates, the places of triangles. */

import { dtypeOf, flagOf, integerOf, listOf, type Names, numberOf, optionsOf, shown } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr } from '../../core/graph/expr.js'
import { liftAll } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { MAX_SIZE } from '../../core/graph/shape.js'
import { makeTensor } from '../../core/graph/tensor.js'
import { constantOf } from '../../core/graph/weak.js'
import { broadcastNode, reshapeNode } from '../../core/ops/layout-move.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { MeshgridFn, SpacedFn, TriangleIndicesFn } from '../../core/types/signatures/arrays.js'

interface SpacedOptions {
  readonly endpoint?: boolean | undefined
  readonly dtype?: DType | undefined
}
interface LogOptions extends SpacedOptions {
  readonly base?: number | undefined
}
const geomOptions: Names<SpacedOptions> = { endpoint: true, dtype: true }
const logOptions: Names<LogOptions> = { ...geomOptions, base: true }

/** n numbers, the i-th of them f(i / (n - 1)), i / n without the end: made on the host. */
const sampled = (n: number, f: (t: number) => number, { endpoint = true, dtype }: SpacedOptions, op: string): AnyExpr => {
  if (!(integerOf(n, 'the number of elements', op) >= 0))
    raise({ _tag: 'BadInput', where: op, reason: `${n} is not a length.`, fix: 'give a non-negative integer.' })
  const closed = flagOf(endpoint, 'endpoint', op)
  const data = Float64Array.from({ length: n }, (_, i) => f(i === 0 ? 0 : i / (closed ? n - 1 : n)))
  if (dtype !== undefined && dtypeOf(dtype, op) !== 'f64' && dtype !== 'f32')
    raise({ _tag: 'DTypeMismatch', op, dtypes: [dtype], reason: `${dtype} is not a float`, fix: 'cast the result.' })
  return asExpr(constantOf(dtype, (d) => makeTensor(data, undefined, d).node))
}

/**
 * n numbers whose logarithms to `base` (10 unless given) are at equal distances: base^from to base^to, both included unless `endpoint` is false.
 *
 * Shapes  [n].   Dtype  `dtype`; without it that of the floats beside it, f64 alone.   Source  NumPy logspace.
 * Errors  BadInput unless n is a non-negative integer; DTypeMismatch for a dtype that is not a float.
 * @example logspace(0, 2, 3)   // [1, 10, 100]
 */
export const logspace: SpacedFn<{ readonly endpoint?: boolean | undefined; readonly base?: number | undefined }> = typed(
  (from: number, to: number, n: number, options?: LogOptions): AnyExpr => {
    const given = optionsOf(options, logOptions, 'logspace')
    const base = numberOf(given.base ?? 10, 'base', 'logspace')
    const [a, b] = [numberOf(from, 'from', 'logspace'), numberOf(to, 'to', 'logspace')]
    return sampled(n, (t) => base ** (t === 1 ? b : a + t * (b - a)), given, 'logspace')
  },
)

/**
 * n numbers in geometric progression from `from` to `to`, both included unless `endpoint` is false.
 *
 * Shapes  [n].   Domain  both of one sign, neither 0.   Dtype  as `logspace`.   Source  NumPy geomspace.
 * Errors  BadInput for ends that have no ratio, and unless n is a non-negative integer; DTypeMismatch for a dtype that is not a float.
 * @example geomspace(1, 8, 4)   // [1, 2, 4, 8]
 */
export const geomspace: SpacedFn<{ readonly endpoint?: boolean | undefined }> = typed(
  (from: number, to: number, n: number, options?: SpacedOptions): AnyExpr => {
    const given = optionsOf(options, geomOptions, 'geomspace')
    const ratio = numberOf(to, 'to', 'geomspace') / numberOf(from, 'from', 'geomspace')
    if (!(ratio > 0 && Number.isFinite(ratio)))
      raise({
        _tag: 'BadInput',
        where: 'geomspace',
        reason: `from ${shown(from)} to ${shown(to)} there is no ratio.`,
        fix: 'give two numbers of one sign, neither of them 0.',
      })
    return sampled(n, (t) => (t === 1 ? to : from * ratio ** t), given, 'geomspace')
  },
)

interface GridOptions {
  readonly indexing?: 'xy' | 'ij' | undefined
}
const gridOptions: Names<GridOptions> = { indexing: true }

/**
 * The coordinates of a grid: an array for each vector, all of one shape. With indexing 'xy', the default, the first vector runs along the columns (the
 * second axis), the second along the rows; with 'ij' vector i runs along axis i.
 *
 * Shapes  [n], [m], [k], ... -> [m, n, k, ...], with 'ij' [n, m, k, ...].   Dtype  promoted.   Rule  xBar = yBar summed over the other axes.
 * Errors  ShapeMismatch for arrays of rank 2 and more; BadInput for another indexing.   Source  NumPy meshgrid.
 * @example meshgrid([[1, 2], [5, 6]])   // [[[1, 2], [1, 2]], [[5, 5], [6, 6]]]
 */
export const meshgrid: MeshgridFn = typed((xs: readonly unknown[], options?: GridOptions): AnyExpr[] => {
  const { indexing = 'xy' } = optionsOf(options, gridOptions, 'meshgrid')
  if (indexing !== 'xy' && indexing !== 'ij')
    raise({ _tag: 'BadInput', where: 'meshgrid', reason: `there is no indexing ${shown(indexing)}.`, fix: `it is 'xy' or 'ij'.` })
  const ns = liftAll(Array.from(listOf(xs, 'the first argument', 'meshgrid')), 'meshgrid')
  for (const n of ns)
    if (n.shape.length > 1)
      raise({
        _tag: 'ShapeMismatch',
        op: 'meshgrid',
        shapes: ns.map((m) => m.shape),
        reason: `needs vectors, got ${showShape(n.shape)}.`,
        fix: 'flatten it.',
      })
  // Where the axis of vector i stands.
  const place = (i: number): number => (indexing === 'xy' && ns.length > 1 && i < 2 ? 1 - i : i)
  const shape = ns.map((_, i) => ns[place(i)]!.aval.size)
  return ns.map((n, i) =>
    asExpr(
      broadcastNode(
        reshapeNode(
          n,
          ns.map((_, axis) => (axis === place(i) ? n.aval.size : 1)),
        ),
        shape,
      ),
    ),
  )
})

const triangleIndices = (op: string, n: number, k: number, m: number, keep: (row: number, column: number) => boolean) => {
  for (const size of [n, m])
    if (!(integerOf(size, 'a number of rows and columns', op) >= 0))
      raise({ _tag: 'BadInput', where: op, reason: `${size} is not a length.` })
  integerOf(k, 'the number of a diagonal', op)
  if (n * m > MAX_SIZE)
    raise({ _tag: 'BadInput', where: op, reason: `a matrix of ${n} by ${m} is too large.`, fix: 'work on blocks of it.' })
  const [rows, columns]: [number[], number[]] = [[], []]
  for (let i = 0; i < n; i++)
    for (let j = 0; j < m; j++)
      if (keep(i, j)) {
        rows.push(i)
        columns.push(j)
      }
  const places = (list: readonly number[]): AnyExpr => asExpr(makeTensor(Int32Array.from(list), undefined, 'i32').node)
  return { rows: places(rows), columns: places(columns) }
}

/**
 * Rows and columns of the lower triangle of an n by m matrix (m is n unless given), on and below the k-th diagonal, row by row.
 *
 * Dtype  i32.   Source  NumPy tril_indices.   Errors  BadInput for sizes and diagonals that are not whole.
 * @example trilIndices(2)   // { rows: [0, 1, 1], columns: [0, 0, 1] }
 */
export const trilIndices: TriangleIndicesFn = typed((n: number, k = 0, m = n) =>
  triangleIndices('trilIndices', n, k, m, (i, j) => j - i <= k),
)

/**
 * Rows and columns of the upper triangle of an n by m matrix (m is n unless given), on and above the k-th diagonal, row by row.
 *
 * Dtype  i32.   Source  NumPy triu_indices.   Errors  BadInput for sizes and diagonals that are not whole.
 * @example triuIndices(2)   // { rows: [0, 0, 1], columns: [0, 1, 1] }
 */
export const triuIndices: TriangleIndicesFn = typed((n: number, k = 0, m = n) =>
  triangleIndices('triuIndices', n, k, m, (i, j) => j - i >= k),
)
