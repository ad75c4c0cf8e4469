/** Parts of an array in NumPy's notation: read (at), replaced (set), added to (addAt). */
import { settled } from '../../../core/errors/check-arguments.js'
import { badDtype } from '../../../core/errors/explain.js'
import { reading } from '../../../core/errors/language.js'
import { kind, raw } from '../../../core/errors/options.js'
import { typed } from '../../../core/graph/operation.js'
import { arrayOf, asNumbers, castTo, intoOf } from '../../../core/ops/arrays.js'
import { operation } from '../../../core/ops/operation.js'
import type { AnyExpr } from '../../../core/types/expr.js'
import type { AddAtFn, AtFn, MaxAtFn, MinAtFn, MulAtFn, SetFn } from '../../../core/types/signatures/index-ops.js'
import { indicesIn } from './notation.js'
import { readPart, stepsOf, valuesFor, type Way, writePart } from './parts.js'

/**
 * x[indices] in NumPy's notation, one index for each leading axis:
 * a number (drops the axis; negative from the end), a slice as text ('1:3', '::-1', ':'), '...' (the axes between), null (a new axis),
 * an i32 scalar that is computed (drops the axis), an array of whole numbers (a gather; several broadcast together). Known parts are views.
 *
 * Shapes  as in NumPy; axes beyond the indices are kept.   Dtype  x's; computed indices i32, negative from the end, clamped.
 * Rule    dy = dx[indices]; xBar = yBar added at those places.   Source  NumPy indexing, basic and advanced.
 * Errors  BadInput for a number out of range, more indices than axes, and for booleans; ShapeMismatch for arrays that do not broadcast together.
 * @example at(tensor([[1, 2, 3], [4, 5, 6]]), ':', '::-1')   // [[3, 2, 1], [6, 5, 4]]
 * @example at(tensor([[1, 2, 3], [4, 5, 6]]), -1, [2, 0])   // [6, 4]
 */
export const at: AtFn = typed((given: unknown, ...indices: readonly unknown[]): AnyExpr => {
  const x = arrayOf(given, 'at')
  return readPart(x, stepsOf(indicesIn(indices, x.shape, 'at'), x.shape, 'at'))
})

/** Indices in a list, or one alone. */
const list = kind<readonly unknown[]>((given, what, op) =>
  reading(op, () => Array.isArray(given)) ? settled(given as [], what, op) : [given],
)
const updating = <F>(name: string, how: Way): F =>
  operation(name, { x: raw(), indices: list, v: raw() }, {}, ({ x: given, indices, v }, _, op) => {
    const [x, u] = intoOf(given, v, op)
    if ((how === 'add' || how === 'mul') && x.dtype === 'bool')
      badDtype(op, [x.dtype, u.dtype], `booleans are not ${how === 'add' ? 'added' : 'multiplied'}.`, "cast(x, 'i32') to count, or set.")
    const steps = stepsOf(indicesIn(indices, x.shape, op), x.shape, op)
    const written = (y: AnyExpr): AnyExpr =>
      writePart(y, steps, how, (part) => castTo(valuesFor(part, u, 'the part, which is', op), y.dtype))
    return how === 'set' ? written(x) : asNumbers(x, written)
  })

/**
 * x with v in place of x[indices]; indices are a list, as for `at`, or a single index. x itself does not change. For a repeated index the
 * last value wins.
 *
 * Shapes  v broadcasts to the shape of at(x, ...indices) -> x's.   Dtype  x's.
 * Rule    xBar = yBar with zeros there; vBar = yBar[indices], summed to v's shape, zero for overwritten values.   Source  NumPy assignment.
 * Errors  as `at`; ShapeMismatch when v does not broadcast; DTypeMismatch for float values of integers.
 * @example set(tensor([[1, 2], [3, 4]]), [':', 0], [8, 9])   // [[8, 2], [9, 4]]
 */
export const set: SetFn = updating('set', 'set')

/**
 * x with v added to x[indices]; indices are a list, as for `at`, or a single index. A repeated index adds each time.
 *
 * Shapes  v broadcasts to the shape of at(x, ...indices) -> x's.   Dtype  x's.
 * Rule    xBar = yBar; vBar = yBar[indices], summed to v's shape.   Source  NumPy add.at.
 * Errors  as `set`; DTypeMismatch for booleans.
 * @example addAt(tensor([1, 2, 3]), [[0, 0]], [10, 20])   // [31, 2, 3]
 */
export const addAt: AddAtFn = updating('addAt', 'add')

/**
 * x with the larger of v and x[indices] there; indices are a list, as for `at`, or a single index. For a repeated index all values are
 * compared.
 *
 * Shapes  v broadcasts to the shape of at(x, ...indices) -> x's.   Dtype  x's.   Source  NumPy maximum.at, JAX's x.at[].max.
 * Rule    an element's cotangent is shared equally by those that are as large: x's own element and the v for its place.
 * Errors  as `set`.
 * @example maxAt(tensor([1, 5, 3]), [[0, 1]], [4, 4])   // [4, 5, 3]
 */
export const maxAt: MaxAtFn = updating('maxAt', 'max')

/**
 * x with the smaller of v and x[indices] there; indices are a list, as for `at`, or a single index. For a repeated index all values are
 * compared.
 *
 * Shapes  v broadcasts to the shape of at(x, ...indices) -> x's.   Dtype  x's.   Source  NumPy minimum.at, JAX's x.at[].min.
 * Rule    an element's cotangent is shared equally by those that are as small: x's own element and the v for its place.
 * Errors  as `set`.
 * @example minAt(tensor([1, 5, 3]), [[0, 1]], [4, 4])   // [1, 4, 3]
 */
export const minAt: MinAtFn = updating('minAt', 'min')

/**
 * x with x[indices] multiplied by v; indices are a list, as for `at`, or a single index. A repeated index multiplies each time.
 *
 * Shapes  v broadcasts to the shape of at(x, ...indices) -> x's.   Dtype  x's.   Source  NumPy multiply.at, JAX's x.at[].multiply.
 * Rule    each factor has the cotangent times the product of the others: exact where some are zero.
 * Errors  as `set`; DTypeMismatch for booleans.
 * @example mulAt(tensor([1, 5, 3]), [[0, 0]], [2, 3])   // [6, 5, 3]
 */
export const mulAt: MulAtFn = updating('mulAt', 'mul')
