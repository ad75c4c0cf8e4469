/** Functions of matrices, and matrices made of vectors and blocks: compositions. */
import { integerOf, listOf, type Names, ofOne, optionsOf } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, constant, type Node } from '../../core/graph/expr.js'
import { lift, liftAll, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { range } from '../../core/graph/shape.js'
import { gt, lt } from '../../core/ops/compare.js'
import { diag } from '../../core/ops/construct.js'
import { matmulNode } from '../../core/ops/contract.js'
import { abs, add, ceil, div, exp2, log2, maximum, minimum, mul, stopGradient, sub, where } from '../../core/ops/elementwise.js'
import { matrixAxes, squareAxes } from '../../core/ops/factorisations.js'
import { gatherNode, iotaNode } from '../../core/ops/indexing-gather.js'
import { roll } from '../../core/ops/layout.js'
import { concatNode } from '../../core/ops/layout-join.js'
import { axisOf, axisOption, broadcastNode, reshapeNode, transposeNode } from '../../core/ops/layout-move.js'
import { padNode, sliceAxis } from '../../core/ops/layout-slice.js'
import { broadcastAvals } from '../../core/ops/lifted.js'
import { identity, inverse } from '../../core/ops/linalg-lead.js'
import { matmul } from '../../core/ops/products.js'
import { any, max, sum } from '../../core/ops/reductions.js'
import { solveNode } from '../../core/ops/systems.js'
import { whileLoop } from '../../core/ops/while-loop.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  BlockDiagFn,
  CrossFn,
  CrossOptions,
  DiagonalFn,
  DiagonalOptions,
  MatrixPowerFn,
  MultiDotFn,
  SquareFn,
  ToeplitzFn,
  TraceFn,
} from '../../core/types/signatures/linalg.js'

/**
 * x times itself n times; of a negative n the inverse, -n times; the identity for 0.
 *
 * Shapes  [..., n, n] -> the same.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  that of its products.   Source  NumPy matrix_power, by squares.
 * Errors  ShapeMismatch unless the last two axes are equal; BadInput unless n is a whole number.
 * @example matrixPower([[1, 1], [0, 1]], 5)   // [[1, 5], [0, 1]]
 */
export const matrixPower: MatrixPowerFn = typed((x: unknown, power: number): AnyExpr => {
  const given = liftFloat(x, 'matrixPower')
  const { lead, n } = squareAxes(given.shape, 'matrixPower')
  let left = Math.abs(integerOf(power, 'n', 'matrixPower'))
  let square = power < 0 ? inverse(given, 'matrixPower') : given
  let y: Node | undefined
  while (left > 0) {
    if (left % 2 === 1) y = y === undefined ? square : matmulNode(y, square)
    left = Math.floor(left / 2)
    if (left > 0) square = matmulNode(square, square)
  }
  return asExpr(y ?? identity(lead, n, given.dtype))
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
const pade = (x: Node, one: Node): Node => {
  const x2 = matmulNode(x, x)
  const x4 = matmulNode(x2, x2)
  const x6 = matmulNode(x4, x2)
  const combine = (terms: readonly (readonly [Node, number])[]): Node =>
    terms.map(([m, c]) => asNode(mul(asExpr(m), c))).reduce((a, b) => asNode(add(asExpr(a), asExpr(b))))
  const half = (k: 0 | 1): Node => {
    const high = combine([
      [x6, PADE[12 + k]!],
      [x4, PADE[10 + k]!],
      [x2, PADE[8 + k]!],
    ])
    const low = combine([
      [x6, PADE[6 + k]!],
      [x4, PADE[4 + k]!],
      [x2, PADE[2 + k]!],
      [one, PADE[k]!],
    ])
    return asNode(add(asExpr(matmulNode(x6, high)), asExpr(low)))
  }
  const [u, v] = [asExpr(matmulNode(x, half(1))), asExpr(half(0))]
  return solveNode(asNode(sub(v, u)), asNode(add(v, u)))
}

/**
 * The exponential of a square matrix: 1 + x + x x / 2 + x x x / 6 + ..., by Pade's approximant of order 13 of x / 2^s, squared s times.
 *
 * Shapes  [..., n, n] -> the same; each matrix has its own s.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    that of its parts: the derivative of Frechet, of every order.   NaN for a matrix that holds NaN, or whose 1-norm is above 5.37 2^64.
 * Source  Higham 2005, "The scaling and squaring method for the matrix exponential revisited".
 * Errors  ShapeMismatch unless the last two axes are equal.
 * @example expm([[0, 1], [0, 0]])   // [[1, 1], [0, 1]]
 */
export const expm: SquareFn<'expm'> = typed(
  ofOne('expm', (given: unknown): AnyExpr => {
    const n = liftFloat(given, 'expm')
    const { lead, n: size } = squareAxes(n.shape, 'expm')
    if (n.aval.size === 0) return asExpr(n)
    const x = asExpr(n)
    const length = stopGradient(max(sum(abs(x), { axis: -2, keepdims: true }), { axis: -1, keepdims: true }))
    const wanted = maximum(ceil(log2(div(length, THETA))), 0)
    const squares = where(gt(length, THETA), minimum(wanted, SQUARES), 0)
    const first = pade(asNode(div(x, exp2(squares))), identity(lead, size, n.dtype))
    const [[, y]] = whileLoop(
      ([k]: readonly [AnyExpr, AnyExpr]) => any(lt(k, squares)),
      ([k, r]: readonly [AnyExpr, AnyExpr]) => [add(k, 1), where(lt(k, squares), matmul(r, r), r)] as const,
      [asExpr(constant(0, n.dtype)), asExpr(first)] as const,
      { maxSteps: SQUARES },
    ) as unknown as readonly [readonly [AnyExpr, AnyExpr]]
    return where(gt(length, THETA * 2 ** SQUARES), Number.NaN, y)
  }),
)

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
/**
 * The product of several matrices, in the order that takes the fewest multiplications; the first and the last may be vectors.
 *
 * Shapes  [a, b], [b, c], [c, d] ... -> [a, d]; the axis of a vector is dropped.   Dtype  promoted; bool becomes i32.   Rule  that of its products.   Source  NumPy multi_dot.
 * Errors  ShapeMismatch unless neighbours fit, and all but the ends are matrices; BadInput for an empty list.
 * @example multiDot([[[1, 2]], [[3], [4]], [[5]]])   // [[55]]
 */
export const multiDot: MultiDotFn = typed((xs: unknown): AnyExpr => {
  const list = listOf(xs, 'the matrices', 'multiDot')
  if (list.length === 0) raise({ _tag: 'BadInput', where: 'multiDot', reason: 'the list is empty.', fix: 'give one matrix or more.' })
  const nodes = liftAll([...list], 'multiDot', 'number')
  const last = nodes.length - 1
  const shapes = nodes.map((n) => n.shape)
  nodes.forEach((n, i) => {
    const vector = n.shape.length === 1 && (i === 0 || i === last)
    if (!vector && n.shape.length !== 2)
      raise({
        _tag: 'ShapeMismatch',
        op: 'multiDot',
        shapes,
        reason: `matrix ${i} is ${showShape(n.shape)}.`,
        fix: 'use matmul for stacks.',
      })
    if (i > 0 && nodes[i - 1]!.shape.at(-1) !== n.shape[0])
      raise({
        _tag: 'ShapeMismatch',
        op: 'multiDot',
        shapes,
        reason: `matrix ${i - 1} is ${showShape(nodes[i - 1]!.shape)}, matrix ${i} is ${showShape(n.shape)}.`,
        fix: 'the last axis of each must equal the first of the next.',
      })
  })
  const ends = [nodes[0]!.shape.length === 1 ? 1 : nodes[0]!.shape[0]!, nodes[last]!.shape.length === 1 ? 1 : nodes[last]!.shape[1]!]
  const cuts = bestCuts([ends[0]!, ...nodes.slice(1).map((n) => n.shape[0]!), ends[1]!])
  const multiply = (i: number, j: number): AnyExpr =>
    i === j ? asExpr(nodes[i]!) : (matmul(multiply(i, cuts[i]![j]!), multiply(cuts[i]![j]! + 1, j)) as AnyExpr)
  return multiply(0, last)
})

/**
 * The vector product in three dimensions, of each pair of vectors along an axis (the last by default).
 *
 * Shapes  [..., 3] and [..., 3], which broadcast -> [..., 3].   Dtype  promoted; bool becomes i32.   Rule  dy = cross(da, b) + cross(a, db).   Source  NumPy cross.
 * Errors  BadInput for an axis out of range; ShapeMismatch unless both have 3 elements along it, and the others broadcast.
 * @example cross([1, 0, 0], [0, 1, 0])   // [0, 0, 1]
 */
export const cross: CrossFn = typed((a: unknown, b: unknown, options?: CrossOptions): AnyExpr => {
  const { axis: given = -1 } = optionsOf(options, axisOption, 'cross')
  const [x, y] = liftAll([a, b], 'cross', 'number') as [Node, Node]
  const shape = broadcastAvals([x.aval, y.aval], 'cross')
  const axis = axisOf(given, shape.length, 'cross') - shape.length
  if (x.shape.at(axis) !== 3 || y.shape.at(axis) !== 3)
    raise({
      _tag: 'ShapeMismatch',
      op: 'cross',
      shapes: [x.shape, y.shape],
      reason: `needs vectors of 3 elements along axis ${axis}, got ${showShape(x.shape)} and ${showShape(y.shape)}.`,
    })
  const turned = (n: Node, by: number): AnyExpr => roll(asExpr(n), by, { axis })
  return sub(mul(turned(x, -1), turned(y, 1)), mul(turned(x, 1), turned(y, -1)))
})

// ---- matrices made of vectors and blocks -------------------------------------------------------------------------------

const vectorOf = (n: Node, op: string): number =>
  n.shape.length === 1
    ? n.shape[0]!
    : raise({
        _tag: 'ShapeMismatch',
        op,
        shapes: [n.shape],
        reason: `needs vectors, got ${showShape(n.shape)}.`,
        fix: 'reshape it to one axis.',
      })
/**
 * The matrix whose diagonals hold one number each: c is its first column, r its first row (c unless given; its first element is not read).
 *
 * Shapes  c: [m], r: [n] -> [m, n].   Dtype  promoted.   Rule  linear: the sums along diagonals of yBar.   Source  SciPy toeplitz.
 * Errors  ShapeMismatch unless both are vectors.
 * @example toeplitz([1, 2, 3])   // [[1, 2, 3], [2, 1, 2], [3, 2, 1]]
 */
export const toeplitz: ToeplitzFn = typed((c: unknown, r: unknown = c): AnyExpr => {
  const [column, row] = liftAll([c, r], 'toeplitz') as [Node, Node]
  const [m, n] = [vectorOf(column, 'toeplitz'), vectorOf(row, 'toeplitz')]
  if (m === 0 || n === 0) return asExpr(broadcastNode(constant(0, column.dtype), [m, n]))
  // r from its end, then c: the element at (i, j) is n - 1 + i - j places from the first.
  const back = padNode(sliceAxis(row, 0, 1, n - 1), [0], [n - 1], [1], constant(0, row.dtype))
  const reversed = gatherNode(back, asNode(sub(n - 2, asExpr(iotaNode([n - 1], 0, 'i32')))), { axis: 0, batchDims: 0 })
  const all = concatNode([reversed, column], 0)
  const places = add(n - 1, sub(asExpr(iotaNode([m, 1], 0, 'i32')), asExpr(iotaNode([1, n], 1, 'i32'))))
  return asExpr(gatherNode(all, asNode(places), { axis: 0, batchDims: 0 }))
})

/**
 * The matrix with these on its diagonal, one after the other, and zeros elsewhere; a vector is a row, a number one element.
 *
 * Shapes  [m1, n1], [m2, n2] ... -> [m1 + m2 + ..., n1 + n2 + ...].   Dtype  promoted.   Rule  linear: each block of yBar.   Source  SciPy block_diag.
 * Errors  ShapeMismatch for more than two axes; BadInput without a block.
 * @example blockDiag([[1, 2]], [[3], [4]])   // [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
 */
export const blockDiag: BlockDiagFn = typed((...xs: readonly unknown[]): AnyExpr => {
  if (xs.length === 0) raise({ _tag: 'BadInput', where: 'blockDiag', reason: 'no block was given.', fix: 'give one matrix or more.' })
  const blocks = liftAll([...xs], 'blockDiag').map((n) => {
    if (n.shape.length > 2)
      raise({
        _tag: 'ShapeMismatch',
        op: 'blockDiag',
        shapes: [n.shape],
        reason: `a block is ${showShape(n.shape)}.`,
        fix: 'give matrices.',
      })
    return reshapeNode(n, [...new Array<number>(2 - n.shape.length).fill(1), ...n.shape])
  })
  const width = blocks.reduce((total, b) => total + b.shape[1]!, 0)
  let before = 0
  const rows = blocks.map((b) => {
    const [m, n] = b.shape as readonly [number, number]
    const zeros = (columns: number): Node => broadcastNode(constant(0, b.dtype), [m, columns])
    const row = concatNode([zeros(before), b, zeros(width - before - n)], 1)
    before += n
    return row
  })
  return asExpr(concatNode(rows, 0))
})

const diagonalOptions: Names<DiagonalOptions> = { offset: true, axis1: true, axis2: true }
const diagonalOf = (x: unknown, options: DiagonalOptions | undefined, op: string): AnyExpr => {
  const n = lift(x, op)
  const { offset = 0, axis1 = -2, axis2 = -1 } = optionsOf(options, diagonalOptions, op)
  const rank = n.shape.length
  matrixAxes(n.shape, op)
  const [p, q] = [axisOf(axis1, rank, op), axisOf(axis2, rank, op)]
  if (p === q) raise({ _tag: 'BadInput', where: op, reason: `axis1 and axis2 are both axis ${p}.`, fix: 'give two axes.' })
  const others = range(rank).filter((i) => i !== p && i !== q)
  return diag(asExpr(transposeNode(n, [...others, p, q])), integerOf(offset, 'offset', op))
}
/**
 * The elements of x where its place along `axis2` is `offset` after that along `axis1`, as a new last axis; of the last two axes, and 0, unless given.
 *
 * Shapes  x without the two axes, then the length of the diagonal.   Dtype  x's.   Rule  linear: yBar on the diagonal of zeros.   Source  NumPy linalg.diagonal.
 * Errors  ShapeMismatch for fewer than two axes; BadInput for an axis out of range or named twice, or an offset that is no whole number.
 * @example diagonal([[1, 2], [3, 4]], { offset: 1 })   // [2]
 */
export const diagonal: DiagonalFn = typed((x: unknown, options?: DiagonalOptions): AnyExpr => diagonalOf(x, options, 'diagonal'))

/**
 * Sum of a diagonal of a matrix, square or not, or of each of a stack of them: the sum of `diagonal`, with its options.
 *
 * Shapes  [..., m, n] -> [...]; x without the two axes.   Dtype  x's; bool counts in i32.   Rule  linear: yBar at each element of the diagonal of zeros.   Source  NumPy linalg.trace.
 * Errors  as `diagonal`.
 * @example trace([[1, 2, 3], [4, 5, 6]])   // 6
 */
export const trace: TraceFn = typed((x: unknown, options?: DiagonalOptions): AnyExpr => sum(diagonalOf(x, options, 'trace'), { axis: -1 }))
