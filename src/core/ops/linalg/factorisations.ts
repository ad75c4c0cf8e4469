/** Factorisations of matrices, and systems with a triangular one: each matrix of a stack, in core/matrices. */
import { badShape, showShape } from '../../errors/explain.js'
import { type Aval, aval } from '../../graph/aval.js'
import { boolean, record } from '../../graph/codec.js'
import { apply, applyMulti, type Node } from '../../graph/expr.js'
import type { NDArray } from '../../graph/ndarray.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive, type SampleArg } from '../../graph/primitive.js'
import { sameShape, sizeOf } from '../../graph/shape.js'
import { cholesky } from '../../matrices/cholesky.js'
import { eigh, eighRoom } from '../../matrices/eigh.js'
import { type Basics, type Eliminating, plainBasics, plainEliminating, type Reflecting, spaceOf } from '../../matrices/loops.js'
import { lu } from '../../matrices/lu.js'
import type { Floats } from '../../matrices/product.js'
import { qr, qrIsLarge, qrLayout } from '../../matrices/qr.js'
import { svd, svdRoom } from '../../matrices/svd.js'
import { solveTriangular } from '../../matrices/triangular.js'

const family = 'linalg'

/** The axes before the last two, and these. */
export const matrixAxes = (
  shape: readonly number[],
  op: string,
): { readonly lead: readonly number[]; readonly rows: number; readonly columns: number } => {
  const [rows, columns] = shape.slice(-2)
  if (rows === undefined || columns === undefined)
    return badShape(op, [shape], `needs a matrix, got ${showShape(shape)}.`, 'reshape it to two axes or more: the last two are the matrix.')
  return { lead: shape.slice(0, -2), rows, columns }
}
/** As `matrixAxes`, of square matrices. */
export const squareAxes = (shape: readonly number[], op: string): { readonly lead: readonly number[]; readonly n: number } => {
  const { lead, rows, columns } = matrixAxes(shape, op)
  if (rows !== columns) badShape(op, [shape], `needs square matrices, got ${showShape(shape)} (${rows} is not ${columns}).`)
  return { lead, n: rows }
}
const tall = ([x]: readonly Aval[], op: string): ReturnType<typeof matrixAxes> => {
  const axes = matrixAxes(x!.shape, op)
  if (axes.rows < axes.columns)
    badShape(
      op,
      [x!.shape],
      `the primitive takes no matrices with fewer rows than columns, got ${showShape(x!.shape)}.`,
      `${op} of the library takes any.`,
    )
  return axes
}
/** Matrices A and right-hand sides B: [..., n, k] of the same leading axes. */
export const systemShape = (op: string, a: Aval, b: Aval, rows: number): Aval => {
  const x = matrixAxes(b.shape, op)
  const { lead } = matrixAxes(a.shape, op)
  if (x.rows !== rows || !sameShape(x.lead, lead))
    badShape(op, [a.shape, b.shape], `right-hand sides ${showShape(b.shape)} do not fit matrices ${showShape(a.shape)}.`)
  return b
}

/** What a factorisation does, given its loops, and room for so many numbers where it needs some, in which those work too. */
export type Factorise<P, L extends Basics = Eliminating> = (
  args: readonly NDArray[],
  params: P,
  outs: readonly NDArray[],
  loops: L,
  room: (numbers: number) => Float64Array,
) => void
const floats = (x: NDArray): Floats => x.data as Floats
const count = (x: NDArray): number => sizeOf(x.shape.slice(0, -2))
const axesOf = (x: NDArray): readonly [m: number, n: number] => [x.shape[x.shape.length - 2]!, x.shape[x.shape.length - 1]!]
const plainly =
  <P, L extends Basics>(run: Factorise<P, L>, loops: L): Primitive<string, P>['meaning'] =>
  (args, params, outs) =>
    run(args, params, outs, loops, (numbers) => new Float64Array(numbers))

// ---- samples -----------------------------------------------------------------------------------------------------------

type Draw = NonNullable<SampleArg['draw']>
/** Matrices whose elements at (i, j) are what `at` gives for a uniform number between -1/2 and 1/2. */
const drawn =
  (at: (noise: number, i: number, j: number) => number): Draw =>
  (next, shape) => {
    const [m, n] = shape.slice(-2) as [number, number]
    return Array.from({ length: sizeOf(shape) }, (_, k) => at(next() - 0.5, Math.floor(k / n) % m, k % n))
  }
/** The mean of such a matrix and its transpose is positive definite. */
const definite = drawn((x, i, j) => (i === j ? 2.5 + x : x))
/** Far from singular, with another row as the pivot of each column. */
const pivoted = drawn((x, i, j) => (i === (j + 1) % 3 ? 3 + x : x))
const dominant = drawn((x, i, j) => (i === j ? 2.5 + x : x))
/** Eigenvalues, or singular values, that are well apart. */
const spread = drawn((x, i, j) => (i === j ? 2 * i + 1 + x : 0.5 * x))
const square = (shape: readonly number[], draw: Draw): SampleArg => ({ shape, draw })
/** Matrices H D G of reflections H and G and a diagonal D, whose first two numbers differ by `gap` alone; `symmetric`: G is H. */
const nearlyEqual = (gap: number, symmetric: boolean): SampleArg => ({
  shape: [3, 3],
  dtype: 'f64',
  draw: (next, shape) => {
    const [m, n] = shape.slice(-2) as [number, number]
    const reflection = (size: number): ((i: number, j: number) => number) => {
      const v = Array.from({ length: size }, () => 0.5 + next())
      const norm = v.reduce((s, x) => s + x * x, 0)
      return (i, j) => (i === j ? 1 : 0) - (2 * v[i]! * v[j]!) / norm
    }
    const diagonal = Array.from({ length: Math.min(m, n) }, (_, i) => (i < 2 ? 1 + gap * i : i + 1))
    return Array.from({ length: sizeOf(shape.slice(0, -2)) }, () => {
      const left = reflection(m)
      const right = symmetric ? left : reflection(n)
      return Array.from({ length: m * n }, (_, k) => diagonal.reduce((s, d, l) => s + left(Math.floor(k / n), l) * d * right(l, k % n), 0))
    }).flat()
  },
})

// ---- cholesky ----------------------------------------------------------------------------------------------------------

export const choleskyRun: Factorise<NoParams> = ([a], _params, [l], loops) => {
  const [, n] = axesOf(a!)
  for (let k = count(a!), at = 0; k > 0; k--, at += n * n) cholesky(floats(a!), floats(l!), at, n, loops)
}
/** Of the mean of A and its transpose, so that the gradient is symmetric. */
export const choleskyPrimitive: Primitive<'cholesky', NoParams, readonly ['float']> = primitive({
  name: 'cholesky',
  stacked: 2,
  family,
  args: ['float'],
  dtypes: ['float'],
  shapeRule: ([a]) => {
    squareAxes(a!.shape, 'cholesky')
    return a!
  },
  meaning: plainly(choleskyRun, plainEliminating),
  cost: 100,
  samples: [
    { args: [square([3, 3], definite)], params: NO_PARAMS },
    { args: [square([2, 2, 2], definite)], params: NO_PARAMS },
    { args: [square([1, 1], definite)], params: NO_PARAMS },
    { args: [square([2, 0, 0], definite)], params: NO_PARAMS },
  ],
  source: 'Golub and Van Loan 2013, 4.2',
})

// ---- triangularSolve ---------------------------------------------------------------------------------------------------

/** Which triangle of A is read; whether it stands for A^T; whether its diagonal is taken to be 1, and not read. */
export interface TriangularParams {
  readonly lower: boolean
  readonly transpose: boolean
  readonly unitDiagonal: boolean
}
export const triangularRun: Factorise<TriangularParams> = ([a, b], { lower, transpose, unitDiagonal }, [x], loops) => {
  const [n, k] = axesOf(b!)
  const to = floats(x!)
  to.set(floats(b!))
  for (let c = count(b!), at = 0, bAt = 0; c > 0; c--, at += n * n, bAt += n * k) {
    const [row, column] = transpose ? [1, n] : [n, 1]
    solveTriangular({ data: floats(a!), at, row, column, lower: lower !== transpose, unit: unitDiagonal }, 0, n, to, bAt, k, k, loops)
  }
}
const sides = (shape: readonly number[]): SampleArg => ({ shape })
export const triangularSolvePrimitive: Primitive<'triangularSolve', TriangularParams, readonly ['float', 'float']> = primitive({
  name: 'triangularSolve',
  stacked: 2,
  family,
  args: ['float', 'float'],
  dtypes: ['float', 'float'],
  codec: record({ lower: boolean, transpose: boolean, unitDiagonal: boolean }),
  shapeRule: ([a, b]) => systemShape('triangularSolve', a!, b!, squareAxes(a!.shape, 'triangularSolve').n),
  meaning: plainly(triangularRun, plainEliminating),
  cost: 100,
  samples: [
    { args: [square([3, 3], dominant), sides([3, 2])], params: { lower: true, transpose: false, unitDiagonal: false } },
    { args: [square([2, 2, 2], dominant), sides([2, 2, 3])], params: { lower: true, transpose: true, unitDiagonal: false } },
    { args: [square([3, 3], dominant), sides([3, 1])], params: { lower: false, transpose: false, unitDiagonal: true } },
    { args: [square([2, 2], dominant), sides([2, 2])], params: { lower: false, transpose: true, unitDiagonal: false } },
    { args: [square([2, 2], dominant), sides([2, 1])], params: { lower: true, transpose: true, unitDiagonal: true } },
    { args: [square([0, 0], dominant), sides([0, 2])], params: { lower: true, transpose: false, unitDiagonal: false } },
  ],
  showParams: (p) => `${p.lower ? 'lower' : 'upper'}${p.transpose ? ' transposed' : ''}${p.unitDiagonal ? ' unit' : ''}`,
  source: 'BLAS trsm',
})
export const triangularNode = (a: Node, b: Node, params: TriangularParams): Node => apply(triangularSolvePrimitive, [a, b], params)

// ---- lu ----------------------------------------------------------------------------------------------------------------

export const luRun: Factorise<NoParams> = ([a], _params, [packed, pivots, order], loops) => {
  const [m, n] = axesOf(a!)
  const [swaps, rows] = [pivots!.data as Int32Array, order!.data as Int32Array]
  for (let k = 0; k < count(a!); k++) lu(floats(a!), floats(packed!), swaps, rows, k, m, n, loops)
}
/** L and U in one matrix; which row was swapped with each of the first; the rows of A in their new order. */
export const luPrimitive: Primitive<'lu', NoParams, readonly ['float']> = primitive({
  name: 'lu',
  stacked: 2,
  family,
  args: ['float'],
  multi: true,
  dtypes: ['float'],
  shapeRule: ([a]) => {
    const { lead, rows, columns } = matrixAxes(a!.shape, 'lu')
    return [a!, aval([...lead, Math.min(rows, columns)], 'i32'), aval([...lead, rows], 'i32')]
  },
  meaning: plainly(luRun, plainEliminating),
  cost: 100,
  samples: [
    { args: [square([3, 3], pivoted)], params: NO_PARAMS },
    { args: [square([2, 3, 2], pivoted)], params: NO_PARAMS },
    { args: [square([3, 4], pivoted)], params: NO_PARAMS },
    { args: [square([1, 1], dominant)], params: NO_PARAMS },
    { args: [square([0, 2], pivoted)], params: NO_PARAMS },
  ],
  source: 'Golub and Van Loan 2013, 3.4; LAPACK getrf',
})
export const luNodes = (a: Node): readonly [packed: Node, pivots: Node, order: Node] =>
  applyMulti(luPrimitive, [a], NO_PARAMS) as unknown as readonly [Node, Node, Node]

// ---- qr ----------------------------------------------------------------------------------------------------------------

/** With `complete`, Q is square. */
export interface QrParams {
  readonly complete: boolean
}
const qrLayoutOf = (m: number, n: number, { complete }: QrParams): ReturnType<typeof qrLayout> => qrLayout(m, n, complete ? m : n)
/** Numbers that it needs room for. */
export const qrRoom = (m: number, n: number, params: QrParams): number => qrLayoutOf(m, n, params).size
export const qrRun: Factorise<QrParams, Reflecting> = ([a], params, [q, r], loops, room) => {
  const [m, n] = axesOf(a!)
  const of = qrLayoutOf(m, n, params)
  const { x, by } = spaceOf(room(of.size), loops, qrIsLarge(n))
  for (let k = 0; k < count(a!); k++) qr(floats(a!), k * m * n, floats(q!), k * m * of.columns, floats(r!), k * of.columns * n, of, x, by)
}
export const qrPrimitive: Primitive<'qr', QrParams, readonly ['float']> = primitive({
  name: 'qr',
  stacked: 2,
  family,
  args: ['float'],
  multi: true,
  dtypes: ['float'],
  codec: record({ complete: boolean }),
  shapeRule: (args, { complete }) => {
    const { lead, rows, columns } = tall(args, 'qr')
    const own = complete ? rows : columns
    return [aval([...lead, rows, own], args[0]!.dtype), aval([...lead, own, columns], args[0]!.dtype)]
  },
  meaning: plainly(qrRun, plainBasics),
  cost: 200,
  samples: [
    { args: [square([3, 3], dominant)], params: { complete: false } },
    { args: [square([2, 3, 2], dominant)], params: { complete: false } },
    { args: [square([2, 2], dominant)], params: { complete: true } },
    { args: [square([3, 0], dominant)], params: { complete: false } },
  ],
  hard: [{ args: [square([3, 2], dominant)], params: { complete: true }, note: 'the last column of q is any that is left' }],
  showParams: ({ complete }) => (complete ? 'complete' : ''),
  source: 'Golub and Van Loan 2013, 5.2',
})
export const qrNodes = (a: Node, params: QrParams): readonly [q: Node, r: Node] =>
  applyMulti(qrPrimitive, [a], params) as unknown as readonly [Node, Node]

// ---- eigh --------------------------------------------------------------------------------------------------------------

export const eighRun: Factorise<NoParams, Reflecting> = ([a], _params, [w, v], loops, room) => {
  const [, n] = axesOf(a!)
  const work = room(eighRoom(n))
  for (let k = 0; k < count(a!); k++) eigh(floats(a!), k * n * n, floats(w!), k * n, floats(v!), n, work, loops)
}
/** Reads the lower triangle alone: its gradient lies there. */
export const eighPrimitive: Primitive<'eigh', NoParams, readonly ['float']> = primitive({
  name: 'eigh',
  stacked: 2,
  family,
  args: ['float'],
  multi: true,
  dtypes: ['float'],
  shapeRule: ([a]) => {
    const { lead, n } = squareAxes(a!.shape, 'eigh')
    return [aval([...lead, n], a!.dtype), a!]
  },
  meaning: plainly(eighRun, plainBasics),
  cost: 300,
  samples: [
    { args: [square([3, 3], spread)], params: NO_PARAMS },
    { args: [square([2, 2, 2], spread)], params: NO_PARAMS },
    { args: [square([1, 1], spread)], params: NO_PARAMS },
    { args: [square([0, 0], spread)], params: NO_PARAMS },
  ],
  hard: [
    { args: [nearlyEqual(1e-4, true)], params: NO_PARAMS, note: 'two eigenvalues are 1e-4 apart' },
    { args: [nearlyEqual(1e-8, true)], params: NO_PARAMS, note: 'two eigenvalues are 1e-8 apart', scale: 1e-7 },
  ],
  source: 'EISPACK tred2 and tql2; Gu and Eisenstat 1995; Giles 2008, 3.1',
})
export const eighNodes = (a: Node): readonly [w: Node, v: Node] =>
  applyMulti(eighPrimitive, [a], NO_PARAMS) as unknown as readonly [Node, Node]

// ---- svd ---------------------------------------------------------------------------------------------------------------

export const svdRun: Factorise<NoParams, Reflecting> = ([a], _params, [u, s, v], loops, room) => {
  const [m, n] = axesOf(a!)
  const work = room(svdRoom(m, n))
  for (let k = 0; k < count(a!); k++) svd(floats(a!), floats(u!), floats(s!), floats(v!), k, m, n, work, loops)
}
/** U, singular values and V (not its transpose). */
export const svdPrimitive: Primitive<'svd', NoParams, readonly ['float']> = primitive({
  name: 'svd',
  stacked: 2,
  family,
  args: ['float'],
  multi: true,
  dtypes: ['float'],
  shapeRule: (args) => {
    const { lead, columns } = tall(args, 'svd')
    const { dtype } = args[0]!
    return [args[0]!, aval([...lead, columns], dtype), aval([...lead, columns, columns], dtype)]
  },
  meaning: plainly(svdRun, plainBasics),
  cost: 500,
  samples: [
    { args: [square([3, 3], spread)], params: NO_PARAMS },
    { args: [square([2, 3, 2], spread)], params: NO_PARAMS },
    { args: [square([1, 1], spread)], params: NO_PARAMS },
    { args: [square([2, 0], spread)], params: NO_PARAMS },
  ],
  hard: [
    { args: [nearlyEqual(1e-4, false)], params: NO_PARAMS, note: 'two singular values are 1e-4 apart' },
    { args: [nearlyEqual(1e-8, false)], params: NO_PARAMS, note: 'two singular values are 1e-8 apart', scale: 1e-7 },
  ],
  source: 'Golub and Reinsch 1970; Gu and Eisenstat 1994; Townsend 2016',
})
export const svdNodes = (a: Node): readonly [u: Node, s: Node, v: Node] =>
  applyMulti(svdPrimitive, [a], NO_PARAMS) as unknown as readonly [Node, Node, Node]
