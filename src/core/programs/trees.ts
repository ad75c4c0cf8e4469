/** Maps, folds and comparisons of trees, and trees as one vector. */

import { functionOf, listOf, numberOf, shown } from '../errors/check-arguments.js'
import { badDtype, badInput, badShape } from '../errors/explain.js'
import { reading } from '../errors/language.js'
import { flag, or, readOptions } from '../errors/options.js'
import { type Aval, aval, isFloat, promote } from '../graph/aval.js'
import { asExpr, isExpr, type Node } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { sameShape, sizeOf } from '../graph/shape.js'
import { isTensor, makeTensor, Tensor, zeroTensor } from '../graph/tensor.js'
import { explainDef, flatten, leafPaths, leavesAlong, type TreeDef, unflatten } from '../graph/tree.js'
import { cast } from '../ops/arithmetic.js'
import { zeros } from '../ops/construct.js'
import { concat } from '../ops/joins.js'
import { reshape, slice } from '../ops/layout/layout.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import type { RavelFn, TreeAllCloseOptions, TreeFlattenFn, TreeMapFn, TreeReduceFn, TreeZipFn } from '../types/signatures/trees.js'
import type { LeafOfTree } from '../types/tree.js'

const isAbsent = (x: unknown): boolean => (x as { readonly _tag?: unknown } | null)?._tag === 'NoTangent'

/** Leaves of `tree` along the structure of the first tree; NoTangent may stand for any leaf. */
const leavesAs = (def: TreeDef, tree: unknown, op: string, position: number): unknown[] =>
  leavesAlong(def, tree) ??
  badInput(
    op,
    `tree ${position} has another structure than tree 0: ${explainDef(def, flatten(tree, op).def) ?? 'its leaves differ'}.`,
    'give trees of the same structure.',
  )

/** f at the leaves of trees of one structure; where one of them has NoTangent the first tree's leaf stays. */
export const zipLeaves = (f: (leaves: unknown[], path: string) => unknown, trees: readonly unknown[], op: string): unknown => {
  const { leaves, def } = flatten(trees[0], op)
  const rest = trees.slice(1).map((t, i) => leavesAs(def, t, op, i + 1))
  const paths = leafPaths(def)
  return unflatten(
    def,
    leaves.map((first, i) => {
      const all = [first, ...rest.map((r) => r[i])]
      return reading(op, () => all.some(isAbsent)) ? first : f(all, paths[i]!)
    }),
  )
}

/**
 * f at every leaf of a tree, in the order of sorted keys: of expressions, tensors or numbers; NoTangent stays. An f that declares one parameter, such as an operation, is given the leaf;
 * others are given its path too, 'layers.0.scale', as `wrt` names it.
 *
 * Types   a leaf becomes what f gives. Where the shape of that is not known to the compiler, the leaf keeps its own shape and dtype, so
 *         that a step's result is of its parameters' type: an f that changes the shape then says so, by assertShape.
 * @example
 * treeMap(square, { a: tensor([3]), b: [tensor([2])] })   // { a: [9], b: [[4]] }
 * treeMap((_, path) => path, { layers: [{ w: tensor(1) }] })   // { layers: [{ w: 'layers.0.w' }] }
 */
export const treeMap = ((f: (leaf: unknown, path: string) => unknown, tree: unknown): unknown => {
  functionOf(f, 'the first argument', 'treeMap')
  return zipLeaves(([x], path) => (f.length === 1 ? (f as (leaf: unknown) => unknown)(x) : f(x, path)), [tree], 'treeMap')
}) as TreeMapFn // the signatures say what comes of a tree

/**
 * f at the leaves of several trees of one structure; where one of them has NoTangent the first tree's leaf stays.
 *
 * Types   as of `treeMap`, by the leaves of the first tree.
 * Errors  BadInput if a tree differs in structure from the first.
 * @example treeZip((p, g) => sub(p, mul(0.1, g)), { w: tensor([1, 2]) }, { w: tensor([10, 10]) })   // { w: [0, 1] }
 */
export const treeZip = ((f: (...leaves: readonly unknown[]) => unknown, first: unknown, ...rest: readonly unknown[]): unknown => {
  functionOf(f, 'the first argument', 'treeZip')
  return zipLeaves((leaves) => f(...leaves), [first, ...rest], 'treeZip')
}) as TreeZipFn // the signatures say what comes of a tree

/**
 * The leaves of a tree, in the order of sorted keys; NoTangent is not a leaf.
 *
 * @example treeLeaves({ b: tensor([2]), a: [tensor(1), NoTangent] })   // [1, [2]]
 */
export const treeLeaves = <T>(tree: T): LeafOfTree<T>[] => flatten(tree, 'treeLeaves').leaves as LeafOfTree<T>[]

/**
 * f folded over the leaves of a tree, in the order of sorted keys: f(...f(f(initial, leaf1), leaf2)...). An f that declares more than two parameters is given each leaf's path too.
 *
 * @example treeReduce((n, x) => n + x.data.length, { w: tensor([1, 2]), b: tensor(3) }, 0)   // 3
 */
export const treeReduce = ((f: (sum: unknown, leaf: unknown, path: string) => unknown, tree: unknown, initial: unknown): unknown => {
  functionOf(f, 'the first argument', 'treeReduce')
  const { leaves, def } = flatten(tree, 'treeReduce')
  if (f.length === 2) return leaves.reduce((sum, leaf) => (f as (sum: unknown, leaf: unknown) => unknown)(sum, leaf), initial)
  const paths = leafPaths(def)
  return leaves.reduce((sum, leaf, i) => f(sum, leaf, paths[i]!), initial)
}) as TreeReduceFn // the signatures say what a leaf is

/**
 * A tree taken apart: [leaves, unflatten], the leaves in the order of sorted keys, and the function that puts as many back in their places.
 *
 * Errors  BadInput if unflatten is given more or fewer leaves.
 * @example treeFlatten({ b: tensor(1), a: tensor(2) })[1](['first', 'second'])   // { a: 'first', b: 'second' }
 */
export const treeFlatten: TreeFlattenFn = typed((tree: unknown) => {
  const { leaves, def } = flatten(tree, 'treeFlatten')
  const put = (given: unknown): unknown => {
    const list = listOf(given, 'the leaves', 'unflatten')
    if (list.length !== leaves.length) badInput('unflatten', `the tree has ${leaves.length} leaves, not ${list.length}.`)
    return unflatten(def, list)
  }
  return [leaves, put] as const
})

/** The dtype that one vector has for all leaves: the greatest of the floats, or the only one. */
const commonDType = (avals: readonly Aval[], paths: readonly string[]): DType => {
  const first = avals[0]?.dtype ?? 'f64'
  const at = avals.findIndex((a) => a.dtype !== first && !(isFloat(a.dtype) && isFloat(first)))
  if (at >= 0)
    return badDtype(
      `ravel: ${paths[at] || 'argument'}`,
      [avals[at]!.dtype, first],
      `one vector holds floats, or one dtype of integers; ${paths[0]} is ${first}`,
      'put NoTangent in place of what does not belong in it.',
    )
  return avals.reduce((d, a) => promote(d, a.dtype), first)
}

const intact = (x: unknown, place: string): Tensor => (isTensor(x) ? x.intact(place) : makeTensor(x, undefined, undefined, place))
const wrongLength = (length: number, shape: readonly number[]): never =>
  badShape(
    'unravel',
    [shape],
    `the tree has ${length} elements, the vector has shape [${shape.join(', ')}].`,
    `give a vector of shape [${length}].`,
  )

/** The parts of a vector at the leaves' places, as expressions or as tensors that own their elements. */
const partsOf = (vector: unknown, avals: readonly Aval[]): readonly unknown[] => {
  const length = avals.reduce((n, a) => n + sizeOf(a.shape), 0)
  const whole = isExpr(vector) ? vector : intact(vector, 'unravel')
  if (whole.shape.length !== 1 || whole.shape[0] !== length) wrongLength(length, whole.shape)
  let from = 0
  return avals.map((a) => {
    const to = from + sizeOf(a.shape)
    const start = from
    from = to
    if (whole instanceof Tensor) {
      const out = zeroTensor(a.shape, a.dtype)
      for (let i = start; i < to; i++) out.data[i - start] = whole.data[i]!
      return out
    }
    return cast(reshape(slice(asExpr(whole as Node), [start], [to]) as AnyExpr, a.shape as number[]), a.dtype)
  })
}

/**
 * A tree as one vector: [vector, unravel], the leaves' elements in the order of sorted keys, and its inverse.
 *
 * Shapes  a tree of N elements -> [N]; unravel gives each leaf its shape and dtype. NoTangent is left out and put back.
 * Dtype   the greatest among floats. Expressions give an expression, concrete arrays a tensor.
 * Rule    linear: the vector's cotangent, unravelled.
 * Errors  DTypeMismatch for integers beside floats; ShapeMismatch if unravel is given a vector of another length.
 * @example ravel({ w: tensor([[1, 2], [3, 4]]), b: tensor([5]) })[0]   // [5, 1, 2, 3, 4]
 */
export const ravel: RavelFn = typed((tree: unknown) => {
  const { leaves, def } = flatten(tree, 'ravel')
  const paths = leafPaths(def)
  const traced = leaves.some(isExpr)
  const parts = leaves.map((x, i) => {
    const place = `ravel: ${paths[i] || 'argument'}`
    return traced ? lift(x, place) : intact(x, place)
  })
  const avals = parts.map((x) => aval(x.shape, x.dtype))
  const dtype = commonDType(avals, paths)
  const unravel = (vector: unknown): unknown => unflatten(def, partsOf(vector, avals))
  if (traced) {
    const flat = parts.map((x) => cast(reshape(asExpr(x as Node), [-1]), dtype))
    return [flat.length === 0 ? zeros([0], dtype) : concat(flat), unravel] as const
  }
  const out = zeroTensor([avals.reduce((n, a) => n + sizeOf(a.shape), 0)], dtype)
  let at = 0
  for (const x of parts) {
    out.data.set((x as Tensor).data, at)
    at += (x as Tensor).data.length
  }
  return [out, unravel] as const
})

const close = (x: number, y: number, rtol: number, atol: number, equalNan: boolean): boolean =>
  x === y || (Number.isNaN(x) && Number.isNaN(y) ? equalNan : Number.isFinite(y) && Math.abs(x - y) <= atol + rtol * Math.abs(y))

const notNegative = (given: unknown, what: string, where: string): number =>
  numberOf(given, what, where) >= 0 ? (given as number) : badInput(where, `${what} must not be negative, but is ${shown(given)}.`)
export const treeAllCloseOptions = {
  /** The relative tolerance, of b; 1e-5 unless given. */
  rtol: or(1e-5, notNegative),
  /** The absolute tolerance; 1e-8 unless given. */
  atol: or(1e-8, notNegative),
  /** Is NaN near NaN? Not unless given. */
  equalNan: flag(),
}
/**
 * Are all numbers of the tree a near those of b?   |a - b| <= atol + rtol |b|, infinities equal, NaN only with `equalNan`.
 *
 * Dtypes may differ; `rtol` is 1e-5, `atol` 1e-8 unless given (NumPy's).
 * Errors  BadInput for trees that differ in structure and for expressions, ShapeMismatch with the leaf's path.
 * @example treeAllClose({ w: tensor([1, 2]) }, { w: [1, 2 + 1e-9] })   // true
 */
export const treeAllClose = (a: unknown, b: unknown, options?: TreeAllCloseOptions): boolean => {
  const { rtol, atol, equalNan: nan } = readOptions(treeAllCloseOptions, options, 'treeAllClose')
  const { leaves, def } = flatten(a, 'treeAllClose')
  const others = leavesAs(def, b, 'treeAllClose', 1)
  const paths = leafPaths(def)
  return leaves.every((x, i) => {
    const place = `treeAllClose: ${paths[i] || 'argument'}`
    if (reading(place, () => isAbsent(others[i]))) return false
    const [s, t] = [concreteAt(x, place), concreteAt(others[i], place)]
    if (!sameShape(s.shape, t.shape))
      badShape(
        place,
        [s.shape, t.shape],
        `shapes [${s.shape.join(', ')}] and [${t.shape.join(', ')}] differ.`,
        'compare arrays of the same shape.',
      )
    return s.data.every((v: number, j: number) => close(v, t.data[j]!, rtol, atol, nan))
  })
}
const concreteAt = (x: unknown, place: string): Tensor =>
  isExpr(x) ? badInput(place, 'an expression has no numbers to compare.', 'compare what evaluate(x) gives.') : intact(x, place)
