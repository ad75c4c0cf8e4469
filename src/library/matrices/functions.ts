/** Functions of matrices, and matrices made of vectors and blocks: compositions. */
import { integerOf, listOf } from '../../core/errors/check-arguments.js'
import { badInput, showShape } from '../../core/errors/explain.js'
import { integer, kind, type OptionsOf } from '../../core/errors/options.js'
import { typed } from '../../core/graph/operation.js'
import { range } from '../../core/graph/shape.js'
import { add, div, maximum, minimum, mul, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { arraysOf, literal, misfit, part, positions, sharedShape, sizeOf, spread } from '../../core/ops/arrays.js'
import { gt, lt } from '../../core/ops/compare.js'
import { diag, eye } from '../../core/ops/construct.js'
import { concat } from '../../core/ops/joins.js'
import { broadcastTo, reshape, roll, transpose } from '../../core/ops/layout/layout.js'
import { axisOf } from '../../core/ops/layout/move.js'
import { matrixAxes, squareAxes } from '../../core/ops/linalg/factorisations.js'
import { array, floats, laterAxis, numbers, operation, unread } from '../../core/ops/operation.js'
import { any, max, sum } from '../../core/ops/reductions.js'
import { abs, ceil } from '../../core/ops/unary.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  BlockDiagFn,
  CrossFn,
  DiagonalFn,
  MatrixPowerFn,
  MultiDotFn,
  SquareFn,
  ToeplitzFn,
  TraceFn,
} from '../../core/types/signatures/linalg.js'
import { matmul } from '../../families/contract.js'
import { whileLoop } from '../../families/control.js'
import { exp2, log2 } from '../../families/exponentials.js'
import { gather } from '../../families/indexing.js'
import { inv, solve } from '../../families/systems.js'

/** The identity for each matrix of a stack. */
const identityLike = (x: AnyExpr): AnyExpr => broadcastTo(eye(x.shape.at(-1)!, x.dtype), x.shape)
/**
 * The n-th power of a square matrix: for a negative n, that of the inverse; for 0, the identity.
 *
 * Shapes  [..., n, n] -> the same.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  that of its products.   Source  NumPy matrix_power, by squares.
 * Errors  ShapeMismatch unless the last two axes are equal; BadInput unless n is an integer.
 * @example matrixPower([[1, 1], [0, 1]], 5)   // [[1, 5], [0, 1]]
 */
export const matrixPower: MatrixPowerFn = operation('matrixPower', { x: floats, n: kind(integerOf) }, {}, ({ x, n }, _options, op) => {
  squareAxes(x.shape, op)
  let left = Math.abs(n)
  let square: AnyExpr = n < 0 ? inv(x) : x
  let y: AnyExpr | undefined
  while (left > 0) {
    if (left % 2 === 1) y = y === undefined ? square : matmul(y, square)
    left = Math.floor(left / 2)
    if (left > 0) square = matmul(square, square)
  }
  return y ?? identityLike(x)
})

// ---- the exponential ---------------------------------------------------------------------------------------------------

/** Coefficients of Pade's approximant of order 13, the highest last, over that of the constant; up to this 1-norm it is right to the last digit (Higham 2005). */
const PADE = [
  64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800, 33522128640,
  1323241920, 40840800, 960960, 16380, 182, 1,
].map((c) => c / 64764752532480000)
const THETA = 5.371920351148152
/** A matrix of finite numbers whose exponential is finite needs no more squares than this, unless its entries cancel beyond repair. */
const SQUARES = 64

/** (V - U)^-1 (V + U) for U, of odd, and V, of even powers of x. */
const pade = (x: AnyExpr): AnyExpr => {
  const one = identityLike(x)
  const x2 = matmul(x, x)
  const x4 = matmul(x2, x2)
  const x6 = matmul(x4, x2)
  const combine = (powers: readonly AnyExpr[], highest: number): AnyExpr =>
    powers.map((p, i) => mul(p, PADE[highest - 2 * i]!)).reduce((a, b) => add(a, b))
  const half = (k: 0 | 1): AnyExpr => {
    const high = combine([x6, x4, x2], 12 + k)
    const low = combine([x6, x4, x2, one], 6 + k)
    return add(matmul(x6, high), low)
  }
  const [u, v] = [matmul(x, half(1)), half(0)]
  return solve(sub(v, u), add(v, u))
}

/**
 * The exponential of a square matrix: 1 + x + x x / 2 + x x x / 6 + ..., by Pade's approximant of order 13 of x / 2^s, squared s times.
 *
 * Shapes  [..., n, n] -> the same; each matrix has its own s.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    that of its parts: the Frechet derivative, to every order.   NaN for a matrix that holds NaN, or whose 1-norm is above 5.37 2^64.
 * Source  Higham 2005, "The scaling and squaring method for the matrix exponential revisited".
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example expm([[0, 1], [0, 0]])   // [[1, 1], [0, 1]]
 */
export const expm: SquareFn<'expm'> = operation('expm', { x: floats }, {}, ({ x }, _options, op) => {
  squareAxes(x.shape, op)
  if (sizeOf(x) === 0) return x
  const length = stopGradient(max(sum(abs(x), { axis: -2, keepdims: true }), { axis: -1, keepdims: true }))
  const wanted = maximum(ceil(log2(div(length, THETA))), 0)
  const squares = where(gt(length, THETA), minimum(wanted, SQUARES), 0)
  const first = pade(div(x, exp2(squares)))
  const [[, y]] = whileLoop(
    ([k]: readonly [AnyExpr, AnyExpr]) => any(lt(k, squares)),
    ([k, r]: readonly [AnyExpr, AnyExpr]) => [add(k, 1), where(lt(k, squares), matmul(r, r), r)] as const,
    [literal(0, x.dtype), first] as const,
    { maxSteps: SQUARES },
  ) as unknown as readonly [readonly [AnyExpr, AnyExpr]]
  return where(gt(length, THETA * 2 ** SQUARES), Number.NaN, y)
})

// ---- products ----------------------------------------------------------------------------------------------------------

/** Where to cut the product of matrices i to j, for the fewest multiplications: cuts[i][j]. */
const bestCuts = (sizes: readonly number[]): readonly (readonly number[])[] => {
  const n = sizes.length - 1
  const costs = range(n).map(() => new Array<number>(n).fill(0))
  const cuts = range(n).map(() => new Array<number>(n).fill(0))
  for (let length = 2; length <= n; length++)
    for (let i = 0; i + length <= n; i++) {
      const j = i + length - 1
      costs[i]![j] = Number.POSITIVE_INFINITY
      for (let k = i; k < j; k++) {
        const cost = costs[i]![k]! + costs[k + 1]![j]! + sizes[i]! * sizes[k + 1]! * sizes[j + 1]!
        if (cost < costs[i]![j]!) {
          costs[i]![j] = cost
          cuts[i]![j] = k
        }
      }
    }
  return cuts
}
const listed = kind<readonly unknown[], unknown>((given, _what, where) => listOf(given, 'the matrices', where))
/**
 * The product of several matrices, in the order that takes the fewest multiplications; the first and the last may be vectors.
 *
 * Shapes  [a, b], [b, c], [c, d] ... -> [a, d]; the axis of a vector is dropped.   Dtype  promoted; bool becomes i32.   Rule  that of its products.   Source  NumPy multi_dot.
 * Errors  ShapeMismatch unless neighbours fit, and all but the ends are matrices; BadInput for an empty list.
 * @example multiDot([[[1, 2]], [[3], [4]], [[5]]])   // [[55]]
 */
export const multiDot: MultiDotFn = operation('multiDot', { xs: listed }, {}, ({ xs: list }, _options, op) => {
  if (list.length === 0) badInput(op, 'the list is empty.', 'give one matrix or more.')
  const xs = arraysOf(list, op, 'number')
  const last = xs.length - 1
  const shapes = xs.map((x) => x.shape)
  shapes.forEach((s, i) => {
    const vector = s.length === 1 && (i === 0 || i === last)
    if (!vector && s.length !== 2) misfit(op, xs, `matrix ${i} is ${showShape(s)}.`, 'use matmul for stacks.')
    const before = shapes[i - 1]
    if (before !== undefined && before.at(-1) !== s[0])
      misfit(
        op,
        xs,
        `matrix ${i - 1} is ${showShape(before)}, matrix ${i} is ${showShape(s)}.`,
        'the last axis of each must equal the first of the next.',
      )
  })
  const [first, end] = [shapes[0]!, shapes[last]!]
  const cuts = bestCuts([first.length === 1 ? 1 : first[0]!, ...shapes.slice(1).map((s) => s[0]!), end[1] ?? 1])
  const multiply = (i: number, j: number): AnyExpr => (i === j ? xs[i]! : matmul(multiply(i, cuts[i]![j]!), multiply(cuts[i]![j]! + 1, j)))
  return multiply(0, last)
})

const crossOptions = { axis: laterAxis(-1) }
interface CrossOptions extends OptionsOf<typeof crossOptions> {}
/**
 * The vector product in three dimensions, of each pair of vectors along an axis (the last by default).
 *
 * Shapes  [..., 3] and [..., 3], which broadcast -> [..., 3].   Dtype  promoted; bool becomes i32.   Rule  dy = cross(da, b) + cross(a, db).   Source  NumPy cross.
 * Errors  BadInput for an axis out of range; ShapeMismatch unless both have 3 elements along it, and the others broadcast.
 * @example cross([1, 0, 0], [0, 1, 0])   // [0, 0, 1]
 */
export const cross: CrossFn<CrossOptions> = operation('cross', { a: numbers, b: numbers }, crossOptions, ({ a, b }, options, op) => {
  const rank = sharedShape([a, b], op).length
  const axis = axisOf(options.axis, rank, op) - rank
  if (a.shape.at(axis) !== 3 || b.shape.at(axis) !== 3)
    misfit(op, [a, b], `needs vectors of 3 elements along axis ${axis}, got ${showShape(a.shape)} and ${showShape(b.shape)}.`)
  const turned = (x: AnyExpr, by: number): AnyExpr => roll(x, by, { axis })
  return sub(mul(turned(a, -1), turned(b, 1)), mul(turned(a, 1), turned(b, -1)))
})

// ---- matrices made of vectors and blocks -------------------------------------------------------------------------------

const lengthOf = (x: AnyExpr, op: string): number =>
  x.shape.length === 1 ? x.shape[0]! : misfit(op, [x], `needs vectors, got ${showShape(x.shape)}.`, 'reshape it to one axis.')
/**
 * The matrix whose diagonals hold one number each: c is its first column, r its first row (c unless given; its first element is not read).
 *
 * Shapes  c: [m], r: [n] -> [m, n].   Dtype  promoted.   Rule  linear: the sums along diagonals of yBar.   Source  SciPy toeplitz.
 * Errors  ShapeMismatch unless both are vectors.
 * @example toeplitz([1, 2, 3])   // [[1, 2, 3], [2, 1, 2], [3, 2, 1]]
 */
export const toeplitz: ToeplitzFn = operation('toeplitz', { c: unread, r: unread }, {}, ({ c, r = c }, _options, op) => {
  const [column, row] = arraysOf([c, r], op) as [AnyExpr, AnyExpr]
  const [m, n] = [lengthOf(column, op), lengthOf(row, op)]
  if (m === 0 || n === 0) return broadcastTo(literal(0, column.dtype), [m, n])
  // r from its end, then c: the element at (i, j) is n - 1 + i - j places from the first.
  const back = spread(part(row, 0, 1, n - 1), [0], [n - 1], [1])
  const reversed = gather(back, sub(n - 2, positions([n - 1], 0)))
  const all = concat([reversed, column])
  return gather(all, add(n - 1, sub(positions([m, 1], 0), positions([1, n], 1))))
})

/**
 * The matrix with these blocks along its diagonal and zeros elsewhere; a vector is a row, a number one element.
 *
 * Shapes  [m1, n1], [m2, n2] ... -> [m1 + m2 + ..., n1 + n2 + ...].   Dtype  promoted.   Rule  linear: each block of yBar.   Source  SciPy block_diag.
 * Errors  ShapeMismatch for more than two axes; BadInput without blocks.
 * @example blockDiag([[1, 2]], [[3], [4]])   // [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
 */
export const blockDiag: BlockDiagFn = typed((...xs: readonly unknown[]): AnyExpr => {
  const op = 'blockDiag'
  if (xs.length === 0) badInput(op, 'no block was given.', 'give one matrix or more.')
  const blocks = arraysOf(xs, op).map((x) => {
    if (x.shape.length > 2) misfit(op, [x], `a block is ${showShape(x.shape)}.`, 'give matrices.')
    return reshape(x, [...new Array<number>(2 - x.shape.length).fill(1), ...x.shape])
  })
  const width = blocks.reduce((total, b) => total + b.shape[1]!, 0)
  let before = 0
  const rows = blocks.map((b) => {
    const [m, n] = b.shape as readonly [number, number]
    const zeros = (columns: number): AnyExpr => broadcastTo(literal(0, b.dtype), [m, columns])
    const row = concat([zeros(before), b, zeros(width - before - n)], { axis: 1 })
    before += n
    return row
  })
  return concat(rows)
})

const diagonals = { offset: integer(0), axis1: laterAxis(-2), axis2: laterAxis(-1) }
/** Options of `diagonal` and `trace`: the main one of the last two axes unless given. */
interface DiagonalOptions extends OptionsOf<typeof diagonals> {}
/** The diagonal, and what is made of it. */
const diagonalOf = <F>(name: string, result: (d: AnyExpr) => AnyExpr): F =>
  operation(name, { x: array }, diagonals, ({ x }, { offset, axis1, axis2 }, op) => {
    const rank = x.shape.length
    matrixAxes(x.shape, op)
    const [p, q] = [axisOf(axis1, rank, op), axisOf(axis2, rank, op)]
    if (p === q) badInput(op, `axis1 and axis2 are both axis ${p}.`, 'give two axes.')
    const others = range(rank).filter((i) => i !== p && i !== q)
    return result(diag(transpose(x, [...others, p, q]), offset))
  })
/**
 * The elements of x whose index along `axis2` is `offset` more than that along `axis1`, as a new last axis; the last two axes and 0 unless given.
 *
 * Shapes  x without the two axes, then the length of the diagonal.   Dtype  x's.   Rule  linear: yBar on the diagonal of zeros.   Source  NumPy linalg.diagonal.
 * Errors  ShapeMismatch for fewer than two axes; BadInput for an axis out of range or named twice, or an offset that is not an integer.
 * @example diagonal([[1, 2], [3, 4]], { offset: 1 })   // [2]
 */
export const diagonal: DiagonalFn<DiagonalOptions> = diagonalOf('diagonal', (d) => d)

/**
 * Sum of a diagonal of a matrix, square or not, or of each of a stack of them: the sum of `diagonal`, with its options.
 *
 * Shapes  [..., m, n] -> [...]; x without the two axes.   Dtype  x's; bool counts in i32.   Rule  linear: yBar at each element of the diagonal of zeros.   Source  NumPy linalg.trace.
 * Errors  as `diagonal`.
 * @example trace([[1, 2, 3], [4, 5, 6]])   // 6
 */
export const trace: TraceFn<DiagonalOptions> = diagonalOf('trace', (d) => sum(d, { axis: -1 }))
