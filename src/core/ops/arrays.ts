/** What compositions are written with beside operations: arrays of what was given, literals, positions, parts along an axis. */
import { raise } from '../errors/explain.js'
import { castNode, throughI32 } from '../graph/cast.js'

import { asExpr, asNode, constant } from '../graph/expr.js'
import { type Computes, fitted, lift, liftAll, liftFloat, liftInto, liftNumber } from '../graph/lift.js'
import { makeTensor } from '../graph/tensor.js'
import { unflatten } from '../graph/tree.js'
import { beside, declared, isWeak } from '../graph/weak.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr, Expr } from '../types/expr.js'
import type { Shape } from '../types/shape.js'
import { type Leaves, leavesOf, sameLeaf } from './control/step.js'
import { dynamicSliceAddNode } from './indexing/dynamic.js'
import { type FoldMode, scatterReduceNode } from './indexing/fold.js'
import { liftIndices } from './indexing/gather.js'
import { type AxisPart, padNode, type SliceParams, sliceAddNode, sliceAxis, sliceNode } from './layout/slice.js'
import { broadcastAvals } from './lifted.js'
import { keptCount, keptNode } from './masked.js'
import { iotaNode } from './positions.js'

/** What was given as an array, in what is computed; of numbers alone a dtype may be said. */
export const arrayOf = (x: unknown, op: string, computes: Computes = 'any', dtype?: DType): AnyExpr =>
  asExpr(computes === 'float' ? liftFloat(x, op) : computes === 'number' ? liftNumber(x, op) : lift(x, op, dtype))
/** Several, promoted together. */
export const arraysOf = (xs: readonly unknown[], op: string, computes: Computes = 'any'): readonly AnyExpr[] =>
  liftAll(xs, op, computes).map(asExpr)
/** An array, and what is put into it. */
export const intoOf = (x: unknown, values: unknown, op: string): readonly [AnyExpr, AnyExpr] => {
  const [a, b] = liftInto(x, values, op)
  return [asExpr(a), asExpr(b)]
}
/** Values as the dtype of the array that they are put into. */
export const fittedTo = (dtype: DType, x: AnyExpr, op: string): AnyExpr => asExpr(fitted(dtype, asNode(x), op))
/** Positions that were given: whole numbers of i32. */
export const indicesOf = (x: unknown, op: string): AnyExpr => asExpr(liftIndices(x, op))
/** Has nobody declared its dtype? */
export const isUndeclared = (x: AnyExpr): boolean => isWeak(asNode(x))
/** It in the dtype of its neighbours, where nobody declared its own. */
export const takenBeside = (x: AnyExpr, dtype: DType): AnyExpr => asExpr(beside(asNode(x), dtype))
/** It in a dtype that is declared. */
export const declaredAs = (x: AnyExpr, dtype: DType): AnyExpr => asExpr(declared(asNode(x), dtype))
/** It cast, where it has another dtype. */
export const castTo = (x: AnyExpr, dtype: DType): AnyExpr => asExpr(castNode(asNode(x), dtype))
/** A number of a dtype. */
export const literal = (x: number, dtype: DType): AnyExpr => asExpr(constant(x, dtype))
/** The number of elements. */
export const sizeOf = (x: AnyExpr): number => asNode(x).aval.size
/** Each element's position along an axis. */
export const positions = (shape: readonly number[], axis: number, dtype: DType = 'i32'): AnyExpr => asExpr(iotaNode(shape, axis, dtype))
/** `size` elements along an axis, from `start`. */
export const part = (x: AnyExpr, axis: number, start: number, size: number): AnyExpr => asExpr(sliceAxis(asNode(x), axis, start, size))
/** Numbers that are known, as an array. */
export const table = <D extends DType>(data: ArrayLike<number>, shape: readonly number[], dtype: D): Expr<Shape, D> =>
  asExpr(makeTensor(data, shape, dtype).node) as Expr<Shape, D>
/** x within zeros of a shape: its elements from `starts` on, `strides` apart. */
export const spread = (x: AnyExpr, starts: readonly number[], shape: readonly number[], strides: readonly number[]): AnyExpr =>
  asExpr(padNode(asNode(x), starts, shape, strides))
const sliceParams = (parts: readonly AxisPart[]): SliceParams => ({
  starts: parts.map((a) => a.start),
  sizes: parts.map((a) => a.size),
  strides: parts.map((a) => a.stride),
})
/** The elements at these parts of the axes. */
export const atParts = (x: AnyExpr, parts: readonly AxisPart[]): AnyExpr => asExpr(sliceNode(asNode(x), sliceParams(parts)))
/** x with u added to them. */
export const addedAtParts = (x: AnyExpr, u: AnyExpr, parts: readonly AxisPart[]): AnyExpr =>
  asExpr(sliceAddNode(asNode(x), asNode(u), sliceParams(parts)))
/** Zeros of a shape with u at these parts of the axes, whose strides are positive. */
export const spreadOver = (shape: readonly number[], u: AnyExpr, parts: readonly AxisPart[]): AnyExpr => {
  const { starts, strides } = sliceParams(parts)
  return asExpr(padNode(asNode(u), starts, shape, strides))
}
/** x with u added to the window that begins at computed starts. */
export const windowAdded = (x: AnyExpr, u: AnyExpr, starts: AnyExpr): AnyExpr =>
  asExpr(dynamicSliceAddNode(asNode(x), asNode(starts), asNode(u), { sizes: u.shape, batchDims: 0 }))
/** x with u folded into its slices at the indices, along an axis. */
export const foldedAt = (x: AnyExpr, indices: AnyExpr, u: AnyExpr, mode: FoldMode, axis = 0): AnyExpr =>
  asExpr(scatterReduceNode(asNode(x), asNode(indices), asNode(u), { axis, batchDims: 0, mode }))
/** What f makes of booleans as numbers, as booleans again. */
export const asNumbers = (x: AnyExpr, f: (x: AnyExpr) => AnyExpr): AnyExpr => asExpr(throughI32(asNode(x), (n) => asNode(f(asExpr(n)))))
/** A tree of arrays: its leaves, and where they stand. */
export interface Tree extends Leaves {
  readonly leaves: readonly AnyExpr[]
}
/** What was given as a tree. */
export const treeIn = (given: unknown, where: string): Tree => {
  const tree = leavesOf(given, where)
  return { ...tree, leaves: tree.nodes.map(asExpr) }
}
/** Other leaves in the tree's place. */
export const treeWith = ({ def }: Tree, leaves: readonly AnyExpr[]): unknown => unflatten(def, leaves)
/** Raises unless what was got is of the shape and dtype that it must have. */
export const sameArray = (op: string, what: string, got: AnyExpr, want: AnyExpr): void =>
  sameLeaf(op, what, asNode(got).aval, asNode(want).aval)
/** It with `value` where the mask of a reduction does not hold; itself without a mask. */
export const keptOf = (x: AnyExpr, mask: unknown, value: number, op: string): AnyExpr => asExpr(keptNode(asNode(x), mask, value, op))
/** How many elements are folded into each result: a number, or one for each where a mask says which. */
export const keptCountOf = (x: AnyExpr, mask: unknown, axes: readonly number[], keepdims: boolean, op: string): AnyExpr | number =>
  keptCount(asNode(x), mask, axes, keepdims, op)
/** The shape that they broadcast to. */
export const sharedShape = (xs: readonly AnyExpr[], op: string): readonly number[] =>
  broadcastAvals(
    xs.map((x) => asNode(x).aval),
    op,
  )
/** Raises ShapeMismatch: arrays that do not fit. */
export const misfit = (op: string, xs: readonly AnyExpr[], reason: string, fix?: string): never =>
  raise({ _tag: 'ShapeMismatch', op, shapes: xs.map((x) => x.shape), reason, ...(fix !== undefined && { fix }) })
