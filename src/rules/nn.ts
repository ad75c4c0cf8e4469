/** Calculus of convolution and pooling: each primitive's derivatives are the others. */

import type { Rule } from '../core/calculus/rule.js'
import { applyMulti, asExpr, asNode } from '../core/graph/expr.js'
import type { AnyPrimitive, Primitive } from '../core/graph/primitive.js'
import { type Forced, inplaceableThunk, NoTangent, type Tangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import {
  type ConvParams,
  convInputAddPrimitive,
  convInputPrimitive,
  convKernelAddPrimitive,
  convKernelPrimitive,
  convPrimitive,
} from '../core/ops/conv.js'
import { add } from '../core/ops/elementwise.js'
import type { nn } from '../core/ops/families.js'
import { broadcastTo, reshape, transpose } from '../core/ops/layout/layout.js'
import {
  avgPoolInputPrimitive,
  avgPoolPrimitive,
  maxPoolPrimitive,
  type PoolParams,
  poolGatherPrimitive,
  unpoolPrimitive,
} from '../core/ops/pool.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batchAll, dims } from './batching.js'
import { convReach } from './conv-reach.js'
import { bilinearRule, linearRule, multiRule, reapply, rule } from './define.js'
import { besideZeros } from './product.js'
import { withTaylor } from './taylor.js'

const sizeOf = (x: AnyExpr): readonly number[] => dims(x).slice(2)
const bare = ({ stride, padding, dilation, groups }: ConvParams): ConvParams => ({ stride, padding, dilation, groups })
const sized = (p: ConvParams, x: AnyExpr): ConvParams => ({ ...bare(p), size: sizeOf(x) })

const inputThunk = (yBar: AnyExpr, k: AnyExpr, x: AnyExpr, p: ConvParams) =>
  inplaceableThunk(
    () => reapply(convInputPrimitive, [yBar, k], sized(p, x)),
    (acc) => reapply(convInputAddPrimitive, [acc, yBar, k], sized(p, x)),
  )
const kernelThunk = (x: AnyExpr, yBar: AnyExpr, k: AnyExpr, p: ConvParams) =>
  inplaceableThunk(
    () => reapply(convKernelPrimitive, [x, yBar], sized(p, k)),
    (acc) => reapply(convKernelAddPrimitive, [acc, x, yBar], sized(p, k)),
  )

/** [b, n, c, ...] to [n, b c, ...]: a batch of convolutions as one with more groups. */
const intoGroups = (x: AnyExpr): AnyExpr => {
  const [b, n, c, h, w] = dims(x) as readonly [number, number, number, number, number]
  return reshape(transpose(x, [1, 0, 2, 3, 4]), [n, b * c, h, w])
}
/** [n, b c, ...] back to [b, n, c, ...]. */
const outOfGroups = (y: AnyExpr, b: number): AnyExpr => {
  const [n, c, h, w] = dims(y) as readonly [number, number, number, number]
  return transpose(reshape(y, [n, b, c / b, h, w]), [1, 0, 2, 3, 4])
}
/** [b, n, ...] to [b n, ...], and back. */
const fold = (x: AnyExpr): AnyExpr => reshape(x, [dims(x)[0]! * dims(x)[1]!, ...dims(x).slice(2)])
const unfold = (y: AnyExpr, b: number): AnyExpr => reshape(y, [b, dims(y)[0]! / b, ...dims(y).slice(1)])

type Two = readonly [AnyExpr, AnyExpr]
/** conv and convInput: the first argument alone folds into its batch axis; otherwise groups keep the examples apart. */
const byKernel =
  (primitive: Primitive<string, ConvParams>) =>
  (xs: Two, batched: readonly boolean[], p: ConvParams, size: number): AnyExpr => {
    if (!batched[1]) return unfold(reapply(primitive, [fold(xs[0]), xs[1]], p), size)
    const [x, k] = batchAll(xs, batched, size) as unknown as Two
    return outOfGroups(reapply(primitive, [intoGroups(x), fold(k)], { ...p, groups: p.groups * size }), size)
  }
const pairwise =
  (primitive: Primitive<string, ConvParams>) =>
  (xs: Two, batched: readonly boolean[], p: ConvParams, size: number): AnyExpr => {
    const [x, y] = batchAll(xs, batched, size) as unknown as Two
    return unfold(reapply(primitive, [intoGroups(x), intoGroups(y)], { ...p, groups: p.groups * size }), size)
  }
/** acc + the batched term. */
const added =
  (term: (xs: Two, batched: readonly boolean[], p: ConvParams, size: number) => AnyExpr, primitive: Primitive<string, ConvParams>) =>
  (xs: readonly AnyExpr[], batched: readonly boolean[], p: ConvParams, size: number): AnyExpr => {
    const rest = [xs[1]!, xs[2]!] as const
    const t = batched[1] || batched[2] ? term(rest, batched.slice(1), p, size) : reapply(primitive, rest, p)
    const acc = batched[0] ? xs[0]! : broadcastTo(xs[0]!, [size, ...dims(xs[0]!)])
    return add(acc, t)
  }

/** frule and rrule of acc + f(a, b). */
const accumulating = (
  add_: Primitive<string, ConvParams>,
  base: Primitive<string, ConvParams>,
  adjoints: (yBar: AnyExpr, a: AnyExpr, b: AnyExpr, p: ConvParams) => readonly [Exclude<Tangent, NoTangent>, Exclude<Tangent, NoTangent>],
  reach: ReturnType<typeof convReach>,
  batch: (xs: readonly AnyExpr[], batched: readonly boolean[], p: ConvParams, size: number) => AnyExpr,
): Rule =>
  rule(add_ as Primitive<string, ConvParams, readonly ['float', 'float', 'float']>, {
    frule: ([, a, b], [dacc, da, db], p, { y }) => {
      let dy: Forced = dacc
      const more = (u: AnyExpr, v: AnyExpr): void => {
        dy = dy._tag === 'Expr' ? reapply(add_, [dy, u, v], p) : reapply(base, [u, v], p)
      }
      if (da._tag === 'Expr') more(da, b)
      if (db._tag === 'Expr') more(a, db)
      return [y, dy]
    },
    rrule: ([, a, b], p, { y, config }) => {
      const accumulatingPullback = (yBar: AnyExpr, active: readonly boolean[]) => {
        const avals = [a, b, y].map((x) => asNode(x).aval)
        const factors = besideZeros(config, yBar, [a, b], active.slice(1), (flags, from, to) => reach(flags, from, to, avals, p))
        return [yBar, ...adjoints(yBar, ...(factors as unknown as Two), p)] as const
      }
      return [y, accumulatingPullback]
    },
    batch: (xs, batched, p, size) => batch(xs, batched, p, size),
  })

const inputAdjoints = (xBar: AnyExpr, yBar: AnyExpr, k: AnyExpr, p: ConvParams) =>
  [thunk(() => reapply(convPrimitive, [xBar, k], bare(p))), kernelThunk(xBar, yBar, k, p)] as const
const kernelAdjoints = (kBar: AnyExpr, x: AnyExpr, yBar: AnyExpr, p: ConvParams) =>
  [inputThunk(yBar, kBar, x, p), thunk(() => reapply(convPrimitive, [x, kBar], bare(p)))] as const

const batchPool =
  (primitive: Primitive<string, PoolParams>) =>
  (xs: readonly AnyExpr[], batched: readonly boolean[], p: PoolParams, size: number): AnyExpr =>
    unfold(reapply(primitive, batchAll(xs, batched, size).map(fold), p), size)
const plainPool = ({ window, stride, padding }: PoolParams): PoolParams => ({ window, stride, padding })

/** One rule per primitive of the family `nn`. */
export const nnRules: { readonly [K in keyof typeof nn]: Rule } = withTaylor(
  {
    conv: bilinearRule(convPrimitive, {
      transposeA: (yBar, x, k, p) => inputThunk(yBar, k, x, p),
      transposeB: (yBar, x, k, p) => kernelThunk(x, yBar, k, p),
      reach: convReach(['x', 'k', 'y']),
      batch: (xs, batched, p, size) => byKernel(convPrimitive)(xs, batched, p, size),
    }),
    convInput: bilinearRule(convInputPrimitive, {
      transposeA: (xBar, yBar, k, p) => inputAdjoints(xBar, yBar, k, p)[0],
      transposeB: (xBar, yBar, k, p) => inputAdjoints(xBar, yBar, k, p)[1],
      reach: convReach(['y', 'k', 'x']),
      batch: (xs, batched, p, size) => byKernel(convInputPrimitive)(xs, batched, p, size),
    }),
    convKernel: bilinearRule(convKernelPrimitive, {
      transposeA: (kBar, x, yBar, p) => kernelAdjoints(kBar, x, yBar, p)[0],
      transposeB: (kBar, x, yBar, p) => kernelAdjoints(kBar, x, yBar, p)[1],
      reach: convReach(['x', 'y', 'k']),
      batch: (xs, batched, p, size) => pairwise(convKernelPrimitive)(xs, batched, p, size),
    }),
    convInputAdd: accumulating(
      convInputAddPrimitive,
      convInputPrimitive,
      inputAdjoints,
      convReach(['y', 'k', 'x']),
      added(byKernel(convInputPrimitive), convInputPrimitive),
    ),
    convKernelAdd: accumulating(
      convKernelAddPrimitive,
      convKernelPrimitive,
      kernelAdjoints,
      convReach(['x', 'y', 'k']),
      added(pairwise(convKernelPrimitive), convKernelPrimitive),
    ),
    maxPool: multiRule(maxPoolPrimitive, {
      frule: (_xs, [dx], p, { ys }) => [
        ys,
        [dx!._tag === 'Expr' ? reapply(poolGatherPrimitive, [dx!, ys[1]!], p) : ZeroTangent, NoTangent],
      ],
      rrule: ([x], p, { ys }) => [
        ys,
        (yBars) => {
          const yBar = yBars[0]!
          return [yBar._tag === 'Expr' ? thunk(() => reapply(unpoolPrimitive, [yBar, ys[1]!], { ...p, size: sizeOf(x) })) : ZeroTangent]
        },
      ],
      batch: ([x], _b, p, size) => applyMulti(maxPoolPrimitive, [asNode(fold(x))], p).map((y) => unfold(asExpr(y), size)),
    }),
    unpool: linearRule(unpoolPrimitive, {
      transpose: (xBar, [, index], p) => [thunk(() => reapply(poolGatherPrimitive, [xBar, index], plainPool(p))), NoTangent],
      batch: (xs, batched, p, size) => batchPool(unpoolPrimitive)(xs, batched, p, size),
    }),
    poolGather: linearRule(poolGatherPrimitive, {
      transpose: (yBar, [x, index], p) => [
        thunk(() => reapply(unpoolPrimitive, [yBar, index], { ...plainPool(p), size: sizeOf(x) })),
        NoTangent,
      ],
      batch: (xs, batched, p, size) => batchPool(poolGatherPrimitive)(xs, batched, p, size),
    }),
    avgPool: linearRule(avgPoolPrimitive, {
      transpose: (yBar, [x], p) => [thunk(() => reapply(avgPoolInputPrimitive, [yBar], { ...p, size: sizeOf(x) }))],
      batch: (xs, batched, p, size) => batchPool(avgPoolPrimitive)(xs, batched, p, size),
    }),
    avgPoolInput: linearRule(avgPoolInputPrimitive, {
      transpose: (xBar, _xs, { size: _size, ...p }) => [thunk(() => reapply(avgPoolPrimitive, [xBar], p))],
      batch: (xs, batched, p, size) => batchPool(avgPoolInputPrimitive)(xs, batched, p, size),
    }),
  },
  {
    convInputAdd: { accumulates: convInputPrimitive as AnyPrimitive },
    convKernelAdd: { accumulates: convKernelPrimitive as AnyPrimitive },
    maxPool: 'each',
  },
)
