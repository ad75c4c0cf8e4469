/** Indexing by computed positions: gather, scatterAdd, setAt, oneHot, takeAlongAxis, searchsorted, and windows. */

import { computed, dtypeOf, integersOf, settled, shown } from '../../errors/check-arguments.js'
import { badDtype, badInput } from '../../errors/explain.js'
import { choice, type OptionsOf } from '../../errors/options.js'
import { aval } from '../../graph/aval.js'
import { castNode } from '../../graph/cast.js'
import { apply, asExpr, asNode, type Node } from '../../graph/expr.js'
import { lift, liftInto } from '../../graph/lift.js'
import { typed } from '../../graph/operation.js'
import type { Primitive } from '../../graph/primitive.js'
import { broadcastShapes, sameShape } from '../../graph/shape.js'
import { constantOf } from '../../graph/weak.js'
import type { DType } from '../../types/dtype.js'
import type { AnyExpr } from '../../types/expr.js'
import type {
  DynamicSliceFn,
  DynamicUpdateSliceFn,
  GatherFn,
  OneHotFn,
  ScatterAddFn,
  SearchSortedFn,
  SetAtFn,
  TakeAlongAxisFn,
} from '../../types/signatures/index-ops.js'
import { eq } from '../compare.js'
import { axisOf, broadcastNode, reshapeNode } from '../layout/move.js'
import { sliceAxis, sliceNode } from '../layout/slice.js'
import { array, axis, indices, laterAxis, operation, ordered, unread } from '../operation.js'
import { iotaNode } from '../positions.js'
import { searchsortedPrimitive, takeAlongNode } from './along.js'
import { dynamicSliceNode, dynamicUpdateSliceNode, liftStarts, startOf, windowShape } from './dynamic.js'
import { type GatherParams, gatheredShape, gatherNode, liftIndices, resolve, scatterAddPrimitive, setAtPrimitive } from './gather.js'

/**
 * The slices of x at the indices, along an axis (the first by default): x[indices]. A plain number is a view.
 * A negative index counts from the end; one out of range is clamped, because a kernel cannot raise.
 *
 * Shapes  x: [..., n, ...], indices: any -> x's with the indices' shape in place of the axis.   Dtype  x's; indices i32.
 * Rule    dy = gather dx; xBar = yBar added at the indices (scatterAdd into the accumulator).
 * Errors  DTypeMismatch for indices that are not i32; BadInput for an empty axis or one out of range.
 * @example gather(tensor([10, 20, 30]), [2, 0])   // [30, 10]
 */
export const gather: GatherFn = operation('gather', { x: array, indices: unread }, { axis: axis(0) }, ({ x, indices }, o) => {
  const n = asNode(x)
  const i = liftIndices(indices, 'gather')
  const p = { axis: o.axis, batchDims: 0 }
  // A known place is a slice, which plans see through.
  if (typeof indices === 'number' && n.shape[p.axis]! > 0)
    return asExpr(reshapeNode(sliceAxis(n, p.axis, resolve(indices, n.shape[p.axis]!), 1), gatheredShape('gather', n.aval, i.aval, p)))
  return asExpr(gatherNode(n, i, p))
})
/** NumPy's name of `gather`. @example take(tensor([10, 20, 30]), [2, 0])   // [30, 10] */
export const take: GatherFn = gather

const update = <F>(prim: Primitive<'scatterAdd' | 'setAt', GatherParams, readonly ['float', 'int', 'float']>): F =>
  operation(prim.name, { x: unread, indices: unread, updates: unread }, { axis: laterAxis(0) }, ({ x, indices, updates }, o, op) => {
    const [n, u] = liftInto(x, updates, op)
    const i = liftIndices(indices, op)
    const p = { axis: axisOf(o.axis, n.shape.length, op), batchDims: 0 }
    if (op === 'scatterAdd' && n.dtype === 'bool')
      badDtype(op, [n.dtype, u.dtype], 'booleans are not added.', "cast(x, 'i32') to count, or setAt to set.")
    return asExpr(apply(prim, [n, i, broadcastNode(u, gatheredShape(op, n.aval, i.aval, p))], p))
  })

/**
 * x with the updates added at the indices, along an axis (the first by default); a repeated index adds each time.
 *
 * Shapes  updates broadcast to the shape of gather(x, indices).   Dtype  x's; indices i32, negative from the end, clamped.
 * Rule    dy = scatterAdd(dx, dupdates); xBar = yBar, updatesBar = gather(yBar).
 * Errors  ShapeMismatch when updates do not broadcast; DTypeMismatch for booleans, and for float updates of integers.
 * @example scatterAdd(tensor([1, 2, 3]), [0, 0], tensor([10, 20]))   // [31, 2, 3]
 */
export const scatterAdd: ScatterAddFn = update(scatterAddPrimitive as never)

/**
 * x with the values in place of its slices at the indices, along an axis (the first by default); for a repeated index the last value wins.
 *
 * Shapes  values broadcast to the shape of gather(x, indices).   Dtype  x's; indices i32, negative from the end, clamped.
 * Rule    dy = setAt(dx, dvalues); xBar = yBar with zeros there, valuesBar = gather(yBar), zero for overwritten values.
 * Errors  ShapeMismatch when values do not broadcast; DTypeMismatch for float values of integers.
 * @example setAt(tensor([1, 2, 3]), [1], tensor([9]))   // [1, 9, 3]
 */
export const setAt: SetAtFn = update(setAtPrimitive as never)

/**
 * One-hot code: 1 at the index along a new last axis of length n, 0 elsewhere; all zeros for an index out of range. Without a dtype it
 * takes that of the floats that it is combined with, else f64.
 *
 * Shapes  indices: any -> [..., n].   Rule  none.
 * Errors  DTypeMismatch for indices that are not i32; BadInput unless n is a non-negative integer, and for an invalid dtype.
 * @example oneHot([0, 2], 3)   // [[1, 0, 0], [0, 0, 1]]
 */
export const oneHot: OneHotFn = typed((indices: unknown, n: number, dtype?: DType): AnyExpr => {
  const i = liftIndices(indices, 'oneHot')
  if (!(Number.isInteger(n) && n >= 0))
    badInput('oneHot', `${shown(n)} is not a number of classes.`, computed(n) ?? 'give a non-negative integer.')
  const hit = asNode(eq(asExpr(reshapeNode(i, [...i.shape, 1])), asExpr(iotaNode([n], 0, 'i32'))))
  return asExpr(constantOf(dtype, (d) => castNode(hit, dtypeOf(d, 'oneHot'))))
})

/**
 * One element of x for each index, along an axis (the last by default): for instance by the indices of argsort or argmax.
 *
 * Shapes  x and indices have the same rank and broadcast, except along the axis -> the indices' along the axis.   Dtype  x's; indices i32, negative from the
 *         end, clamped.
 * Rule    dy = takeAlongAxis dx; xBar = yBar added at the indices.
 * Errors  ShapeMismatch when other axes do not broadcast; DTypeMismatch for indices that are not i32; BadInput for an axis out of range.
 * @example takeAlongAxis(tensor([[1, 2], [3, 4]]), tensor([[1], [0]], [2, 1], 'i32'))   // [[2], [3]]
 */
export const takeAlongAxis: TakeAlongAxisFn = operation('takeAlongAxis', { x: array, indices }, { axis: axis(-1) }, (given, o) => {
  const [x, places] = [asNode(given.x), asNode(given.indices)]
  const others = (n: Node): readonly number[] => n.shape.map((d, i) => (i === o.axis ? 1 : d))
  const shared = x.shape.length === places.shape.length ? broadcastShapes(others(x), others(places)) : undefined
  // What does not broadcast is told by the primitive.
  if (shared === undefined) return asExpr(takeAlongNode(x, places, o.axis))
  const wide = (n: Node): Node => {
    const shape = shared.map((d, i) => (i === o.axis ? n.shape[i]! : d))
    return sameShape(shape, n.shape) ? n : broadcastNode(n, shape)
  }
  return asExpr(takeAlongNode(wide(x), wide(places), o.axis))
})

const searchOptions = {
  /** Before equal elements ('left'), or after them. */
  side: choice(['left', 'right'], 'left', 'side'),
}
/** Options of `searchsorted`. */
interface SearchOptions extends OptionsOf<typeof searchOptions> {}
/**
 * The index at which each value would be inserted into an ascending vector: before equal elements, or after them with side 'right'.
 *
 * Shapes  sorted: [n], values: any -> values'.   Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  ShapeMismatch unless sorted is a vector; BadInput for an unknown side.
 * @example searchsorted(tensor([1, 3, 5]), tensor([0, 3, 9]))   // [0, 1, 3]
 */
export const searchsorted: SearchSortedFn<SearchOptions> = operation(
  'searchsorted',
  { sorted: ordered, values: ordered },
  searchOptions,
  ({ sorted, values }, { side }) => asExpr(apply(searchsortedPrimitive, [asNode(sorted), asNode(values)], { side, batchDims: 0 })),
)

/**
 * The window of the given sizes that begins at computed starts, one per axis. A negative start counts from the end; a window that would
 * reach outside is moved inside, because a kernel cannot raise.
 *
 * Shapes  x: rank r, starts: [r] or a list of r scalars -> sizes.   Dtype  x's; starts i32.
 * Rule    dy = dynamicSlice dx; xBar = yBar added at the window.
 * Errors  ShapeMismatch when the window is larger than x; DTypeMismatch for starts that are not i32; BadInput for sizes that are not whole.
 * @example dynamicSlice(tensor([1, 2, 3, 4]), [1], [2])   // [2, 3]
 */
export const dynamicSlice: DynamicSliceFn = typed((x: unknown, given: unknown, sizes: readonly number[]): AnyExpr => {
  const starts = settled(given, 'starts', 'dynamicSlice')
  const n = lift(x, 'dynamicSlice')
  const p = { sizes: [...integersOf(sizes, 'sizes', 'dynamicSlice')], batchDims: 0 }
  // Known places are a slice, which plans see through.
  if (Array.isArray(starts) && starts.every((s) => Number.isInteger(s))) {
    windowShape('dynamicSlice', n.aval, aval([starts.length], 'i32'), p)
    return asExpr(
      sliceNode(n, {
        starts: n.shape.map((d, i) => startOf(starts[i] as number, d, sizes[i]!)),
        sizes: p.sizes,
        strides: n.shape.map(() => 1),
      }),
    )
  }
  return asExpr(dynamicSliceNode(n, liftStarts(starts, 'dynamicSlice'), p))
})

/**
 * x with the update in place of the window that begins at computed starts; starts as for `dynamicSlice`.
 *
 * Shapes  x: rank r, update: rank r, not larger, starts: [r] or a list of r scalars -> x's.   Dtype  x's; starts i32.
 * Rule    dy = dynamicUpdateSlice(dx, dupdate); xBar = yBar with zeros in the window, updateBar = the window of yBar.
 * Errors  ShapeMismatch when the update is larger than x; DTypeMismatch for starts that are not i32 or float updates of integers.
 * @example dynamicUpdateSlice(tensor([1, 2, 3, 4]), tensor([8, 9]), [1])   // [1, 8, 9, 4]
 */
export const dynamicUpdateSlice: DynamicUpdateSliceFn = typed((x: unknown, update: unknown, starts: unknown): AnyExpr => {
  const [n, u] = liftInto(x, update, 'dynamicUpdateSlice')
  return asExpr(dynamicUpdateSliceNode(n, liftStarts(starts, 'dynamicUpdateSlice'), u, { sizes: u.shape, batchDims: 0 }))
})
