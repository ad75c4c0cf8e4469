/** Calculus of indexing: everything is linear in the arrays; what a gather reads, its pullback adds into the accumulator. */

import type { Rule } from '../core/calculus/rule.js'
import { asExpr } from '../core/graph/expr.js'
import { range, sizeOf } from '../core/graph/shape.js'
import { inplaceableThunk, NoTangent, thunk } from '../core/graph/tangent.js'
import { eq } from '../core/ops/compare.js'
import { zeros } from '../core/ops/construct.js'
import { where } from '../core/ops/elementwise.js'
import type { indexing } from '../core/ops/families.js'
import { scatterAddAlongPrimitive, searchsortedPrimitive, takeAlongAxisPrimitive } from '../core/ops/indexing/along.js'
import {
  dynamicSliceAddPrimitive,
  dynamicSlicePrimitive,
  dynamicUpdateSlicePrimitive,
  type WindowParams,
} from '../core/ops/indexing/dynamic.js'
import { type GatherParams, gatherPrimitive, scatterAddPrimitive, setAtPrimitive } from '../core/ops/indexing/gather.js'
import { broadcastTo, reshape, transpose } from '../core/ops/layout/layout.js'
import { iotaNode } from '../core/ops/positions.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batchAll, dims } from './batching.js'
import { linearRule, nonDifferentiable, reapply } from './define.js'
import { zerosLike } from './forms.js'
import { scatterReduceRule } from './scatter-reduce.js'

const gather = (x: AnyExpr, indices: AnyExpr, p: GatherParams): AnyExpr => reapply(gatherPrimitive, [x, indices], p)
const scatterAdd = (acc: AnyExpr, indices: AnyExpr, u: AnyExpr, p: GatherParams): AnyExpr =>
  reapply(scatterAddPrimitive, [acc, indices, u], p)
const setAt = (x: AnyExpr, indices: AnyExpr, u: AnyExpr, p: GatherParams): AnyExpr => reapply(setAtPrimitive, [x, indices, u], p)

/** Added into the accumulator where there is one, else into zeros of x's shape. */
const addedInto = (x: AnyExpr, add: (acc: AnyExpr) => AnyExpr) => inplaceableThunk(() => add(zerosLike(x)), add)

/** The arguments under a shared batch axis, and the parameters that say so; indices without a batch of their own stay shared. */
const batchGather = (
  xs: readonly AnyExpr[],
  batched: readonly boolean[],
  p: GatherParams,
  size: number,
): readonly [AnyExpr[], GatherParams] => {
  const shared = batched[1] !== true && p.batchDims === 0
  const all = xs.map((x, i) => (batched[i] || (i === 1 && shared) ? x : broadcastTo(x, [size, ...dims(x)])))
  return [all, { axis: p.axis + 1, batchDims: shared ? 0 : p.batchDims + 1 }]
}

/** Of values that went to the same place, true for the last: the one that is there. Shaped to broadcast over the values. */
const winners = (x: AnyExpr, indices: AnyExpr, { axis, batchDims }: GatherParams): AnyExpr => {
  const lead = dims(indices).slice(0, batchDims)
  const each = dims(indices).slice(batchDims)
  const count = sizeOf(each)
  const numbers = broadcastTo(reshape(asExpr(iotaNode([count], 0, 'i32')), each), dims(indices))
  const p = { axis: batchDims, batchDims }
  const written = setAt(zeros([...lead, dims(x)[axis]!], 'i32'), indices, numbers, p)
  const won = eq(gather(written, indices, p), numbers)
  const ones = (n: number): number[] => new Array<number>(n).fill(1)
  return reshape(won, [...lead, ...ones(axis - batchDims), ...each, ...ones(dims(x).length - axis - 1)])
}

const windowBatch = ({ sizes, batchDims }: WindowParams): WindowParams => ({ sizes, batchDims: batchDims + 1 })

/** One rule per primitive of the family `indexing`. */
export const indexingRules: { readonly [K in keyof typeof indexing]: Rule } = {
  gather: linearRule(gatherPrimitive, {
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
  scatterAdd: linearRule(scatterAddPrimitive, {
    transpose: (yBar, [, indices], p) => [yBar, NoTangent, thunk(() => gather(yBar, indices, p))],
    batch: (xs, batched, p, size) => {
      const [all, q] = batchGather(xs, batched, p, size)
      return reapply(scatterAddPrimitive, all, q)
    },
  }),
  setAt: linearRule(setAtPrimitive, {
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
      return reapply(setAtPrimitive, all, q)
    },
  }),
  scatterReduce: scatterReduceRule(batchGather),
  takeAlongAxis: linearRule(takeAlongAxisPrimitive, {
    transpose: (yBar, [x, indices], p) => [addedInto(x, (acc) => reapply(scatterAddAlongPrimitive, [acc, indices, yBar], p)), NoTangent],
    batch: (xs, batched, { axis }, size) => reapply(takeAlongAxisPrimitive, batchAll(xs, batched, size), { axis: axis + 1 }),
  }),
  scatterAddAlong: linearRule(scatterAddAlongPrimitive, {
    transpose: (yBar, [, indices], p) => [yBar, NoTangent, thunk(() => reapply(takeAlongAxisPrimitive, [yBar, indices], p))],
    batch: (xs, batched, { axis }, size) => reapply(scatterAddAlongPrimitive, batchAll(xs, batched, size), { axis: axis + 1 }),
  }),
  searchsorted: nonDifferentiable(searchsortedPrimitive, ([sorted, values], [bs, bv], p, size) => {
    // One sorted vector serves any shape of values.
    if (!bs && p.batchDims === 0) return reapply(searchsortedPrimitive, [sorted, values], p)
    return reapply(searchsortedPrimitive, batchAll([sorted, values], [bs === true, bv === true], size), {
      ...p,
      batchDims: p.batchDims + 1,
    })
  }),
  dynamicSlice: linearRule(dynamicSlicePrimitive, {
    transpose: (yBar, [x, starts], p) => [addedInto(x, (acc) => reapply(dynamicSliceAddPrimitive, [acc, starts, yBar], p)), NoTangent],
    batch: (xs, batched, p, size) => reapply(dynamicSlicePrimitive, batchAll(xs, batched, size), windowBatch(p)),
  }),
  dynamicSliceAdd: linearRule(dynamicSliceAddPrimitive, {
    transpose: (yBar, [, starts], p) => [yBar, NoTangent, thunk(() => reapply(dynamicSlicePrimitive, [yBar, starts], p))],
    batch: (xs, batched, p, size) => reapply(dynamicSliceAddPrimitive, batchAll(xs, batched, size), windowBatch(p)),
  }),
  dynamicUpdateSlice: linearRule(dynamicUpdateSlicePrimitive, {
    transpose: (yBar, [, starts, u], p) => [
      thunk(() => reapply(dynamicUpdateSlicePrimitive, [yBar, starts, zerosLike(u)], p)),
      NoTangent,
      thunk(() => reapply(dynamicSlicePrimitive, [yBar, starts], p)),
    ],
    batch: (xs, batched, p, size) => reapply(dynamicUpdateSlicePrimitive, batchAll(xs, batched, size), windowBatch(p)),
  }),
}
