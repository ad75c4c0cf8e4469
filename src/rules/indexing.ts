/** Calculus of indexing: everything is linear in the arrays; what a gather reads, its pullback adds into the accumulator. */
import { asExpr } from '../core/expr.js'
import { eq } from '../core/ops/compare.js'
import { where } from '../core/ops/elementwise.js'
import * as op from '../core/ops/indexing.js'
import { broadcastTo, reshape, transpose } from '../core/ops/layout.js'
import { zeros } from '../core/ops/layout-more.js'
import type { Rule } from '../core/registry.js'
import { range, sizeOf } from '../core/shape.js'
import { inplaceableThunk, NoTangent, thunk } from '../core/tangent.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batchAll, dims } from './batching.js'
import { linearRule, nonDifferentiable, reapply, zerosLike } from './define.js'

const gather = (x: AnyExpr, indices: AnyExpr, p: op.GatherParams): AnyExpr => reapply(op.gatherPrimitive, [x, indices], p)
const scatterAdd = (acc: AnyExpr, indices: AnyExpr, u: AnyExpr, p: op.GatherParams): AnyExpr =>
  reapply(op.scatterAddPrimitive, [acc, indices, u], p)
const setAt = (x: AnyExpr, indices: AnyExpr, u: AnyExpr, p: op.GatherParams): AnyExpr => reapply(op.setAtPrimitive, [x, indices, u], p)

/** Added into the accumulator where there is one, else into zeros of x's shape. */
const addedInto = (x: AnyExpr, add: (acc: AnyExpr) => AnyExpr) => inplaceableThunk(() => add(zerosLike(x)), add)

/** The arguments under a shared batch axis, and the parameters that say so; indices without a batch of their own stay shared. */
const batchGather = (
  xs: readonly AnyExpr[],
  batched: readonly boolean[],
  p: op.GatherParams,
  size: number,
): readonly [AnyExpr[], op.GatherParams] => {
  const shared = batched[1] !== true && p.batchDims === 0
  const all = xs.map((x, i) => (batched[i] || (i === 1 && shared) ? x : broadcastTo(x, [size, ...dims(x)])))
  return [all, { axis: p.axis + 1, batchDims: shared ? 0 : p.batchDims + 1 }]
}

/** Of values that went to the same place, true for the last: the one that is there. Shaped to broadcast over the values. */
const winners = (x: AnyExpr, indices: AnyExpr, { axis, batchDims }: op.GatherParams): AnyExpr => {
  const lead = dims(indices).slice(0, batchDims)
  const each = dims(indices).slice(batchDims)
  const count = sizeOf(each)
  const numbers = broadcastTo(reshape(asExpr(op.iotaNode([count], 0, 'i32')), each), dims(indices))
  const p = { axis: batchDims, batchDims }
  const written = setAt(zeros([...lead, dims(x)[axis]!], 'i32'), indices, numbers, p)
  const won = eq(gather(written, indices, p), numbers)
  const ones = (n: number): number[] => new Array<number>(n).fill(1)
  return reshape(won, [...lead, ...ones(axis - batchDims), ...each, ...ones(dims(x).length - axis - 1)])
}

const windowBatch = ({ sizes, batchDims }: op.WindowParams): op.WindowParams => ({ sizes, batchDims: batchDims + 1 })

/** One rule per primitive of core/ops/indexing.ts. */
export const indexingRules: { readonly [K in keyof typeof op.indexing]: Rule } = {
  iota: nonDifferentiable(op.iotaPrimitive, (_xs, _b, p, size) =>
    broadcastTo(asExpr(op.iotaNode(p.shape, p.axis, p.dtype)), [size, ...p.shape]),
  ),
  gather: linearRule(op.gatherPrimitive, {
    transpose: (yBar, [x, indices], p) => [addedInto(x, (acc) => scatterAdd(acc, indices, yBar, p)), NoTangent],
    batch: ([x, indices], batched, p, size) => {
      if (batched[0] || p.batchDims > 0) {
        const [[xs, is], q] = batchGather([x, indices], batched, p, size)
        return gather(xs!, is!, q)
      }
      // One array, a batch of indices: their axis comes out where the indexed axis was.
      const y = gather(x, indices, p)
      const rank = dims(y).length
      return transpose(y, [p.axis, ...range(rank).filter((i) => i !== p.axis)])
    },
  }),
  scatterAdd: linearRule(op.scatterAddPrimitive, {
    transpose: (yBar, [, indices], p) => [yBar, NoTangent, thunk(() => gather(yBar, indices, p))],
    batch: (xs, batched, p, size) => {
      const [all, q] = batchGather(xs, batched, p, size)
      return reapply(op.scatterAddPrimitive, all, q)
    },
  }),
  setAt: linearRule(op.setAtPrimitive, {
    transpose: (yBar, [x, indices, values], p) => [
      thunk(() => setAt(yBar, indices, zerosLike(values), p)),
      NoTangent,
      thunk(() => {
        const read = gather(yBar, indices, p)
        return sizeOf(dims(indices).slice(p.batchDims)) < 2 ? read : where(winners(x, indices, p), read, 0)
      }),
    ],
    batch: (xs, batched, p, size) => {
      const [all, q] = batchGather(xs, batched, p, size)
      return reapply(op.setAtPrimitive, all, q)
    },
  }),
  takeAlongAxis: linearRule(op.takeAlongAxisPrimitive, {
    transpose: (yBar, [x, indices], p) => [addedInto(x, (acc) => reapply(op.scatterAddAlongPrimitive, [acc, indices, yBar], p)), NoTangent],
    batch: (xs, batched, { axis }, size) => reapply(op.takeAlongAxisPrimitive, batchAll(xs, batched, size), { axis: axis + 1 }),
  }),
  scatterAddAlong: linearRule(op.scatterAddAlongPrimitive, {
    transpose: (yBar, [, indices], p) => [yBar, NoTangent, thunk(() => reapply(op.takeAlongAxisPrimitive, [yBar, indices], p))],
    batch: (xs, batched, { axis }, size) => reapply(op.scatterAddAlongPrimitive, batchAll(xs, batched, size), { axis: axis + 1 }),
  }),
  searchsorted: nonDifferentiable(op.searchsortedPrimitive, ([sorted, values], [bs, bv], p, size) => {
    // One sorted vector serves any shape of values.
    if (!bs && p.batchDims === 0) return reapply(op.searchsortedPrimitive, [sorted, values], p)
    return reapply(op.searchsortedPrimitive, batchAll([sorted, values], [bs === true, bv === true], size), {
      ...p,
      batchDims: p.batchDims + 1,
    })
  }),
  dynamicSlice: linearRule(op.dynamicSlicePrimitive, {
    transpose: (yBar, [x, starts], p) => [addedInto(x, (acc) => reapply(op.dynamicSliceAddPrimitive, [acc, starts, yBar], p)), NoTangent],
    batch: (xs, batched, p, size) => reapply(op.dynamicSlicePrimitive, batchAll(xs, batched, size), windowBatch(p)),
  }),
  dynamicSliceAdd: linearRule(op.dynamicSliceAddPrimitive, {
    transpose: (yBar, [, starts], p) => [yBar, NoTangent, thunk(() => reapply(op.dynamicSlicePrimitive, [yBar, starts], p))],
    batch: (xs, batched, p, size) => reapply(op.dynamicSliceAddPrimitive, batchAll(xs, batched, size), windowBatch(p)),
  }),
  dynamicUpdateSlice: linearRule(op.dynamicUpdateSlicePrimitive, {
    transpose: (yBar, [, starts, u], p) => [
      thunk(() => reapply(op.dynamicUpdateSlicePrimitive, [yBar, starts, zerosLike(u)], p)),
      NoTangent,
      thunk(() => reapply(op.dynamicSlicePrimitive, [yBar, starts], p)),
    ],
    batch: (xs, batched, p, size) => reapply(op.dynamicUpdateSlicePrimitive, batchAll(xs, batched, size), windowBatch(p)),
  }),
}
