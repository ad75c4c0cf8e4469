/** Calculus of layout operations: all linear; transposes put elements back. */

import type { Rule } from '../core/calculus/rule.js'
import { asExpr, asNode, constant } from '../core/graph/expr.js'
import { range } from '../core/graph/shape.js'
import { inplaceableThunk, type Tangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { zeros } from '../core/ops/construct.js'
import { where } from '../core/ops/elementwise.js'
import type { layout } from '../core/ops/families.js'
import { concatNode, concatPrimitive, splitNode, splitPrimitive } from '../core/ops/layout/join.js'
import { broadcastTo, reshape, transpose } from '../core/ops/layout/layout.js'
import { broadcastToPrimitive, reshapePrimitive, transposePrimitive } from '../core/ops/layout/move.js'
import {
  type PadParams,
  padNode,
  padPrimitive,
  type SliceParams,
  sliceAddNode,
  sliceAddPrimitive,
  sliceNode,
  slicePrimitive,
  unpadParams,
  unsliceNode,
} from '../core/ops/layout/slice.js'
import { sumToNode } from '../core/ops/reduce.js'
import { sum } from '../core/ops/reductions.js'
import type { AnyExpr } from '../core/types/expr.js'
import { alignBatch, batchAll, dims } from './batching.js'
import { linearRule, multiRule, reapply } from './define.js'

const inverse = (perm: readonly number[]): number[] => range(perm.length).map((i) => perm.indexOf(i))
const shifted = (axis: number): number => axis + 1

/** The block of an argument that a slice with unit steps reads; undefined otherwise. */
const blockOf = (p: SliceParams, value: () => AnyExpr) =>
  p.strides.every((s) => s === 1) ? { starts: p.starts, sizes: p.sizes, value } : undefined
/** A part's cotangent, as a block of its whole. */
const partThunk = (yBar: AnyExpr, whole: readonly number[], p: SliceParams): Tangent =>
  inplaceableThunk(
    () => asExpr(unsliceNode(asNode(yBar), whole, p)),
    (acc) => asExpr(sliceAddNode(asNode(acc), asNode(yBar), p)),
    blockOf(p, () => yBar),
  )
const partOf = (whole: readonly number[], axis: number, start: number, size: number): SliceParams => ({
  starts: whole.map((_, i) => (i === axis ? start : 0)),
  sizes: whole.map((d, i) => (i === axis ? size : d)),
  strides: whole.map(() => 1),
})
const batchSlice = (p: SliceParams, size: number): SliceParams => ({
  starts: [0, ...p.starts],
  sizes: [size, ...p.sizes],
  strides: [1, ...p.strides],
})

/** True where a padded array holds its fill. */
const isPadding = (x: readonly number[], p: PadParams): AnyExpr =>
  asExpr(padNode(asNode(zeros(x, 'bool')), p.starts, p.shape, p.strides, constant(1, 'bool')))

/** One rule per primitive of the family `layout`. */
export const layoutRules: { readonly [K in keyof typeof layout]: Rule } = {
  broadcastTo: linearRule(broadcastToPrimitive, {
    transpose: (yBar, [x]) => [thunk(() => asExpr(sumToNode(asNode(yBar), dims(x))))],
    batch: ([x], _b, { shape }, size) => {
      const [wide] = alignBatch([x], [true], shape.length)
      return broadcastTo(wide!, [size, ...shape])
    },
  }),
  reshape: linearRule(reshapePrimitive, {
    transpose: (yBar, [x]) => [reshape(yBar, dims(x))],
    batch: ([x], _b, { shape }, size) => reshape(x, [size, ...shape]),
  }),
  transpose: linearRule(transposePrimitive, {
    transpose: (yBar, _xs, { perm }) => [transpose(yBar, inverse(perm))],
    batch: ([x], _b, { perm }) => transpose(x, [0, ...perm.map(shifted)]),
  }),
  slice: linearRule(slicePrimitive, {
    transpose: (yBar, [x], p) => [partThunk(yBar, dims(x), p) as never],
    batch: ([x], _b, p, size) => reapply(slicePrimitive, [x], batchSlice(p, size)),
  }),
  sliceAdd: linearRule(sliceAddPrimitive, {
    transpose: (yBar, _xs, p) => [yBar, thunk(() => reapply(slicePrimitive, [yBar], p))],
    batch: (xs, batched, p, size) => reapply(sliceAddPrimitive, batchAll(xs, batched, size), batchSlice(p, size)),
  }),
  pad: linearRule(padPrimitive, {
    transpose: (yBar, [x], p) => [
      thunk(() => reapply(slicePrimitive, [yBar], unpadParams(dims(x), p))),
      thunk(() => sum(where(isPadding(dims(x), p), yBar, 0))),
    ],
    batch: ([x, fill], [bx, bf], p, size) => {
      const all = { starts: [0, ...p.starts], shape: [size, ...p.shape], strides: [1, ...p.strides] }
      const wide = bx ? x : broadcastTo(x, [size, ...dims(x)])
      if (!bf) return reapply(padPrimitive, [wide, fill], all)
      // A fill per example: chosen where there is padding, so that both stay bit for bit what they are.
      const fills = reshape(fill, [size, ...p.shape.map(() => 1)])
      return where(isPadding(dims(wide), all), fills, asExpr(padNode(asNode(wide), all.starts, all.shape, all.strides)))
    },
  }),
  concat: linearRule(concatPrimitive, {
    transpose: (yBar, xs, { axis }) => {
      let at = 0
      return (xs as readonly AnyExpr[]).map((x) => {
        const n = dims(x)[axis]!
        const p = partOf(dims(yBar), axis, at, n)
        at += n
        return thunk(() => asExpr(sliceNode(asNode(yBar), p)))
      }) as never
    },
    batch: (xs, batched, { axis }, size) =>
      reapply(concatPrimitive, batchAll(xs as readonly AnyExpr[], batched, size), { axis: shifted(axis) }),
  }),
  split: multiRule(splitPrimitive, {
    frule: (_xs, [dx], { axis, sizes }, { ys }) => [
      ys,
      dx!._tag === 'Expr' ? splitNode(asNode(dx), axis, sizes).map(asExpr) : ys.map(() => ZeroTangent),
    ],
    rrule: ([x], { axis, sizes }, { ys }) => {
      const splitPullback = (yBars: readonly Tangent[]) => {
        // All parts: one concat and no zeros. Some parts: blocks, each written into one accumulator.
        if (yBars.every((y) => y._tag === 'Expr')) return [asExpr(concatNode((yBars as readonly AnyExpr[]).map(asNode), axis))] as const
        const blocks: { readonly p: SliceParams; readonly y: AnyExpr }[] = []
        let at = 0
        sizes.forEach((n, i) => {
          const y = yBars[i]!
          if (y._tag === 'Expr') blocks.push({ p: partOf(dims(x), axis, at, n), y })
          at += n
        })
        const addAll = (acc: AnyExpr, list: typeof blocks): AnyExpr =>
          list.reduce((a, { p, y }) => asExpr(sliceAddNode(asNode(a), asNode(y), p)), acc)
        const first = blocks[0]
        if (first === undefined) return [ZeroTangent] as const
        return [
          inplaceableThunk(
            () => addAll(asExpr(unsliceNode(asNode(first.y), dims(x), first.p)), blocks.slice(1)),
            (acc) => addAll(acc, blocks),
          ),
        ] as const
      }
      return [ys, splitPullback as never]
    },
    batch: ([x], _b, { axis, sizes }) => splitNode(asNode(x), shifted(axis), sizes).map(asExpr),
  }),
}
