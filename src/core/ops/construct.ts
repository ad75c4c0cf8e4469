/** Constructors of arrays (zeros, arange, eye, ...) and compositions of layout operations (diag, tril, triu). */

import { computed, dtypeOf, listOf, numberOf, shown } from '../errors/check-arguments.js'
import { badDtype, badInput, badShape, showShape } from '../errors/explain.js'
import { dtype, flag, type OptionsOf, readOptions } from '../errors/options.js'
import { aval, shapeGiven } from '../graph/aval.js'
import { castNode } from '../graph/cast.js'
import { asExpr, asNode, constant, type Node } from '../graph/expr.js'
import { lift, liftAll } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { MAX_SIZE } from '../graph/shape.js'
import { isTensor } from '../graph/tensor.js'
import { constantOf, isWeak } from '../graph/weak.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import type {
  ArangeFn,
  AssertShapeFn,
  DiagFn,
  EyeFn,
  FilledFn,
  FullFn,
  LikeFn,
  LinspaceFn,
  TriangleFn,
} from '../types/signatures/layout.js'
import { eq } from './compare.js'
import { add, div, mul, sub, where } from './elementwise.js'
import { broadcastNode, reshapeNode } from './layout/move.js'
import { diagonalNode, padNode } from './layout/slice.js'
import { declares } from './operation.js'
import { iotaNode, triangleOf } from './positions.js'

const lengthOf = (n: number, op: string): number =>
  Number.isInteger(n) && n >= 0 ? n : badInput(op, `${shown(n)} is not a length.`, computed(n) ?? 'give a non-negative integer.')

/**
 * An array of one value. Without a dtype it takes that of the floats that it is combined with, else f64. The value may be a scalar
 * expression, whose dtype it has.
 *
 * Rule    valueBar = the sum of yBar.
 * Errors  BadInput for an invalid shape or dtype; ShapeMismatch when the value does not broadcast.
 * @example full([2], 7)   // [7, 7]
 */
export const full: FullFn = typed((shape: readonly number[], value: unknown, dtype?: DType): AnyExpr => filled(shape, value, dtype, 'full'))
const filled = (shape: readonly number[], value: unknown, dtype: DType | undefined, op: string): AnyExpr => {
  aval(shapeGiven(shape, op), dtype === undefined ? 'f64' : dtypeOf(dtype, op))
  // Of a bool that is asked for, every number but 0 is true.
  const own = dtype === 'bool' ? undefined : dtype
  if (typeof value !== 'number') {
    const n = lift(value, op, own)
    return asExpr(broadcastNode(dtype === undefined ? n : castNode(n, dtype), shape))
  }
  return asExpr(constantOf(dtype, (d) => broadcastNode(d === 'bool' ? constant(value, d) : lift(value, op, d), shape)))
}

/**
 * Zeros: a broadcast literal, no buffer. Without a dtype it takes that of the floats that it is combined with, else f64.
 *
 * Errors  BadInput for an invalid shape or dtype.
 * @example zeros([2])   // [0, 0]
 */
export const zeros: FilledFn = typed((shape: readonly number[], dtype?: DType): AnyExpr => filled(shape, 0, dtype, 'zeros'))

/**
 * Ones: a broadcast literal, no buffer. Without a dtype it takes that of the floats that it is combined with, else f64.
 *
 * Errors  BadInput for an invalid shape or dtype.
 * @example ones([2])   // [1, 1]
 */
export const ones: FilledFn = typed((shape: readonly number[], dtype?: DType): AnyExpr => filled(shape, 1, dtype, 'ones'))

const filledLike = (x: unknown, value: number, op: string): AnyExpr => {
  const n = lift(x, op)
  return asExpr(constantOf(isWeak(n) ? undefined : n.dtype, (d) => broadcastNode(constant(value, d), n.shape)))
}

/**
 * Zeros of x's shape and dtype.
 * @example zerosLike([1, 2])   // [0, 0]
 */
export const zerosLike: LikeFn = typed((x: unknown): AnyExpr => filledLike(x, 0, 'zerosLike'))

/**
 * Ones of x's shape and dtype.
 * @example onesLike([1, 2])   // [1, 1]
 */
export const onesLike: LikeFn = typed((x: unknown): AnyExpr => filledLike(x, 1, 'onesLike'))

/**
 * 0, 1, ..., n - 1; or start, start + step, ... up to stop, which is excluded (the step is 1 unless given). Without a dtype it takes that of the
 * floats that it is combined with, else f64.
 *
 * Shapes  [n], or [ceil((stop - start) / step)], 0 where that is negative.   Source  NumPy arange.
 * Errors  BadInput unless n is a non-negative integer, for a step of 0, and for bounds that are not finite.
 * @example
 * arange(3)          // [0, 1, 2]
 * arange(7, 1, -2)   // [7, 5, 3]
 */
export const arange: ArangeFn = typed((first: number, second?: DType | number, step = 1, fourth?: DType): AnyExpr => {
  if (typeof second !== 'number') return asExpr(constantOf(second, (d) => numbers(lengthOf(first, 'arange'), dtypeOf(d, 'arange'))))
  for (const [x, what] of [[first, 'start'], [second, 'stop'], [step, 'step']] as const) // biome-ignore format: one row
    if (!Number.isFinite(numberOf(x, what, 'arange'))) badInput('arange', `${what} must be finite, not ${shown(x)}.`)
  if (step === 0) badInput('arange', 'with a step of 0 the end is never reached.', 'use full.')
  const n = Math.max(0, Math.ceil((second - first) / step))
  if (n > MAX_SIZE) badInput('arange', `${n} numbers are too many.`, 'take a longer step.')
  return asExpr(constantOf(fourth, (d) => progression(first, step, n, dtypeOf(d, 'arange'))))
})
/** start + i step. */
const progression = (start: number, step: number, n: number, dtype: DType): Node => {
  if (dtype === 'bool') return castNode(progression(start, step, n, 'f64'), 'bool')
  if (dtype === 'i32' && !(Number.isInteger(start) && Number.isInteger(step)))
    badInput('arange', `from ${start} by ${step} are not integers.`, `cast the result, or take 'f64'.`)
  const i = iotaNode([n], 0, dtype)
  const scaled = step === 1 ? i : asNode(mul(asExpr(i), step))
  return start === 0 ? scaled : asNode(add(asExpr(scaled), start))
}
const numbers = (n: number, dtype: DType): Node => (dtype === 'bool' ? castNode(iotaNode([n], 0, 'i32'), 'bool') : iotaNode([n], 0, dtype))

const spacedOptions = {
  /** Is the end one of the numbers? */
  endpoint: flag(true),
}
const linspaceOptions = { ...spacedOptions, dtype: dtype() }
/** Options of `linspace`. */
interface LinspaceOptions extends OptionsOf<typeof spacedOptions> {}

/**
 * n evenly spaced numbers from `from` to `to`, both included unless `endpoint` is false. Without a dtype it takes that of the floats that it is
 * combined with, else f64. The ends may be scalar expressions.
 *
 * Rule    dy_i = (1 - i / (n - 1)) dfrom + i / (n - 1) dto; n in place of n - 1 without the end.
 * Errors  BadInput unless n is a non-negative integer; DTypeMismatch for a dtype that is not a float.
 * @example
 * linspace(0, 1, 3)                        // [0, 0.5, 1]
 * linspace(0, 1, 4, { endpoint: false })   // [0, 0.25, 0.5, 0.75]
 */
export const linspace: LinspaceFn<LinspaceOptions> = declares(
  { name: 'linspace', args: {}, options: linspaceOptions },
  (from: unknown, to: unknown, n: number, given?: DType | (LinspaceOptions & { readonly dtype?: DType })): AnyExpr => {
    const { endpoint, dtype } =
      typeof given === 'object' ? readOptions(linspaceOptions, given, 'linspace') : { endpoint: true, dtype: given }
    const numbersAlone = typeof from === 'number' && typeof to === 'number'
    return numbersAlone
      ? asExpr(constantOf(dtype, (d) => asNode(spaced(from, to, n, d, !endpoint))))
      : spaced(from, to, n, dtype, !endpoint)
  },
)
const spaced = (from: unknown, to: unknown, n: number, dtype: DType | undefined, open: boolean): AnyExpr => {
  const [a0, b0] = liftAll([from, to], 'linspace', 'float')
  const d = dtype === undefined ? (a0!.dtype === 'f32' ? 'f32' : 'f64') : dtypeOf(dtype, 'linspace')
  if (d !== 'f64' && d !== 'f32') badDtype('linspace', [d], `${d} is not a float`, `cast the result.`)
  const a = asExpr(castNode(a0!, d))
  const b = asExpr(castNode(b0!, d))
  const last = lengthOf(n, 'linspace') - 1
  const i = asExpr(iotaNode([n], 0, d))
  if (open) return add(a, mul(i, div(sub(b, a), Math.max(n, 1))))
  if (last < 1) return add(mul(i, 0), a)
  // The last number is `to` itself, not what rounding makes of it.
  return where(eq(i, last), b, add(a, mul(i, div(sub(b, a), last))))
}

/**
 * The n by m matrix with ones on its k-th diagonal, above the main one for a positive k: the n by n identity if m and k are left out. Without a dtype
 * it takes that of the floats that it is combined with, else f64.
 *
 * Source  NumPy eye.   Errors  BadInput unless n and m are non-negative integers and k is an integer.
 * @example
 * eye(2)         // [[1, 0], [0, 1]]
 * eye(2, 3, 1)   // [[0, 1, 0], [0, 0, 1]]
 */
export const eye: EyeFn = typed((n: number, second?: number | DType, third?: number | DType, fourth?: DType): AnyExpr => {
  const m = typeof second === 'number' ? lengthOf(second, 'eye') : lengthOf(n, 'eye')
  const k = typeof second === 'number' && typeof third === 'number' ? diagonalOf(third, 'eye') : 0
  const dtype = typeof second !== 'number' ? second : typeof third !== 'number' ? third : fourth
  const length = Math.max(0, Math.min(lengthOf(n, 'eye') + Math.min(k, 0), m - Math.max(k, 0)))
  const start = length === 0 ? 0 : k >= 0 ? k : -k * m
  aval(shapeGiven([n, m], 'eye'), 'f64')
  return asExpr(constantOf(dtype, (d) => reshapeNode(padNode(asNode(filled([length], 1, d, 'eye')), [start], [n * m], [m + 1]), [n, m])))
})
const diagonalOf = (k: number, op: string): number =>
  Number.isInteger(k) ? k : badInput(op, `${shown(k)} is not the number of a diagonal.`, `give an integer.`)

/**
 * The square matrix with the vector x on its k-th diagonal; or, for a matrix (or a stack of them), the k-th diagonal. k = 0 is the main
 * diagonal; above it k is positive.
 *
 * Shapes  [n] -> [n + |k|, n + |k|]; [..., n, m] -> [..., length of the diagonal].   Dtype  x's.
 * Rule    linear: the diagonal of the cotangent, or the cotangent on the diagonal of zeros.
 * Errors  ShapeMismatch for rank 0; BadInput unless k is an integer.
 * @example diag(tensor([1, 2]))   // [[1, 0], [0, 2]]
 */
export const diag: DiagFn = typed((x: unknown, k = 0): AnyExpr => {
  const n = lift(x, 'diag')
  const rank = n.shape.length
  if (rank === 0) badShape('diag', [n.shape], `needs a vector or a matrix, got ${showShape(n.shape)}.`, `reshape it to [1].`)
  diagonalOf(k, 'diag')
  if (rank > 1) return asExpr(diagonalNode(n, k))
  const length = n.shape[0]!
  const width = length + Math.abs(k)
  const start = length === 0 ? 0 : k >= 0 ? k : -k * width
  return asExpr(reshapeNode(padNode(n, [start], [width * width], [width + 1]), [width, width]))
})

const triangle = (op: 'tril' | 'triu', x: unknown, k: number): AnyExpr => {
  const n = lift(x, op)
  if (n.shape.length < 2) badShape(op, [n.shape], `needs a matrix, got ${showShape(n.shape)}.`, `expandDims first.`)
  return asExpr(triangleOf(op, n, diagonalOf(k, op)))
}

/**
 * A matrix (or a stack of them) with zeros above its k-th diagonal.
 *
 * Rule    linear: xBar = tril(yBar, k).
 * Errors  ShapeMismatch below rank 2; BadInput unless k is an integer.
 * @example tril([[1, 2], [3, 4]])   // [[1, 0], [3, 4]]
 */
export const tril: TriangleFn = typed((x: unknown, k = 0): AnyExpr => triangle('tril', x, k))

/**
 * A matrix (or a stack of them) with zeros below its k-th diagonal.
 *
 * Rule    linear: xBar = triu(yBar, k).
 * Errors  ShapeMismatch below rank 2; BadInput unless k is an integer.
 * @example triu([[1, 2], [3, 4]])   // [[1, 2], [0, 4]]
 */
export const triu: TriangleFn = typed((x: unknown, k = 0): AnyExpr => triangle('triu', x, k))

/**
 * x itself, if it has this shape: numbers must be equal, and a name stands for one length wherever it appears.
 *
 * Rule    xBar = yBar.
 * Errors  ShapeMismatch for another shape; BadInput for anything but a list of numbers and names.
 * @example assertShape(tensor([1, 2]), [2])   // [1, 2]
 */
export const assertShape: AssertShapeFn = typed((x: unknown, shape: readonly (number | string)[]): AnyExpr => {
  const n = lift(x, 'assertShape')
  for (const want of listOf(shape, 'the shape', 'assertShape'))
    if (typeof want !== 'number' && typeof want !== 'string')
      badInput('assertShape', `${shown(want)} is neither a length nor the name of one.`)
  const names = new Map<string, number>()
  const fits =
    shape.length === n.shape.length &&
    shape.every((want, i) => {
      const d = n.shape[i]!
      if (typeof want === 'number') return want === d
      const before = names.get(want)
      names.set(want, before ?? d)
      return before === undefined || before === d
    })
  if (!fits)
    badShape(
      'assertShape',
      [n.shape],
      `the shape is ${showShape(n.shape)}, not ${showShape(shape)}.`,
      `reshape it, or assert the shape it has.`,
    )
  return isTensor(x) ? (x as unknown as AnyExpr) : asExpr(n)
})
