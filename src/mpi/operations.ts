/** The collectives as users call them: inside of functions that are traced, differentiated and compiled. */
import { from } from '../core/calculus/pack.js'
import { badInput } from '../core/errors/explain.js'
import { choice, integer, list, needed, type OptionsOf, refused } from '../core/errors/options.js'
import { apply, asExpr, asNode } from '../core/graph/expr.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { range } from '../core/graph/shape.js'
import { transposeNode } from '../core/ops/layout/move.js'
import { array, axis, floats, numbers, operation } from '../core/ops/operation.js'
import type { AsFloat, AsNumber, DType, WeakF64 } from '../core/types/dtype.js'
import type { AnyExpr, Expr, Plain } from '../core/types/expr.js'
import type { Guard, NoOptions, Ok, Shape } from '../core/types/shape.js'
import type { HasAxis, WithAxis } from '../core/types/shape-index.js'
import { mpiPack } from './pack.js'
import {
  allGatherPrimitive,
  allReduceMaxPrimitive,
  allReducePrimitive,
  allToAllPrimitive,
  broadcastPrimitive,
  mpiFamily,
  reduceScatterPrimitive,
  sendRecvPrimitive,
} from './primitives.js'
import { current } from './world.js'

/** The same shape and dtype on every rank. */
type SameFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(x: Expr<S, D> | Plain, options?: Options) => Expr<S, NoInfer<D>>
const along = {
  /** The axis that is joined or cut: the first unless given. */
  axis: axis(0),
}
/** Options of the collectives along an axis. */
export type AlongOptions = OptionsOf<typeof along>
type AxisOf<O> = O extends { readonly axis: infer A extends number } ? A : 0
/** As many axes, one of them of a length that the number of ranks decides. */
type AlongFn<Op extends string> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends AlongOptions = NoOptions>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => Expr<Ok<WithAxis<S, AxisOf<O>, number, Op>>, NoInfer<D>>
/** As `AlongFn`, of sums: bool counts in i32. */
type AlongSumFn<Op extends string> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends AlongOptions = NoOptions>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => Expr<Ok<WithAxis<S, AxisOf<O>, number, Op>>, AsNumber<D>>
/** The same shape on every rank. */
type AlongSameFn<Op extends string> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends AlongOptions = NoOptions>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => Expr<S, NoInfer<D>>

/** Does f with the axis in front, and puts it back. */
const inFront = (x: AnyExpr, at: number, f: (x: AnyExpr) => AnyExpr): AnyExpr => {
  const n = asNode(x)
  const rest = range(n.shape.length).filter((i) => i !== at)
  const moved = f(asExpr(transposeNode(n, [at, ...rest])))
  return asExpr(
    transposeNode(
      asNode(moved),
      range(n.shape.length).map((i) => (i === at ? 0 : i < at ? i + 1 : i)),
    ),
  )
}
const reduceOptions = {
  /** How elements are combined: 'sum' unless given, 'mean' or 'max'. */
  op: choice(['sum', 'mean', 'max'], 'sum'),
}
/** Options of `allReduce`. */
export type AllReduceOptions = OptionsOf<typeof reduceOptions>
/** The dtype of a sum or a maximum, or of a mean. */
type Reduced<D extends DType, O> = O extends { readonly op: infer P } ? (P extends 'mean' ? AsFloat<D> : AsNumber<D>) : AsNumber<D>
type AllReduceFn = <S extends Shape = Shape, D extends DType = WeakF64, const O extends AllReduceOptions = NoOptions>(
  x: Expr<S, D> | Plain,
  options?: O,
) => Expr<S, Reduced<D, O>>
/**
 * y = the sum over all ranks of their x, on every rank; with `op`, the mean or the maximum.
 *
 * Sums are made by a tree over the ranks that depends on their number alone: the bits are equal on all ranks, in every run and with every MPI library. NaN on one rank is NaN on all.
 * Dtype   x's; bool becomes i32, a mean is a float.
 * Rule    xBar = the sum of the ranks' yBar, or their mean; of a maximum the ranks that hold it share it.
 * Errors  Device where ranks do not agree, or one is missing.
 * @example allReduce([1, 2])   // [1, 2]
 */
export const allReduce: AllReduceFn = /*#__PURE__*/ from(
  mpiPack,
  operation('allReduce', { x: numbers }, reduceOptions, ({ x }, { op }) =>
    asExpr(
      op === 'max'
        ? apply(allReduceMaxPrimitive, [asNode(x)], {})
        : apply(allReducePrimitive, [asNode(op === 'mean' ? floats.read(x, 'x', 'allReduce', []) : x)], { op }),
    ),
  ),
)

const rootOptions = {
  /** The rank whose array it is: 0 unless given. */
  root: integer(0, { from: 0 }),
}
/** Options of `broadcast`. */
export type BroadcastOptions = OptionsOf<typeof rootOptions>
/**
 * The root's x on every rank.
 *
 * Rule    xBar = the sum over ranks of their yBar on the root, 0 on the others.
 * Errors  BadInput where there is no such rank.
 * @example broadcast([1, 2])   // [1, 2]
 */
export const broadcast: SameFn<BroadcastOptions> = /*#__PURE__*/ from(
  mpiPack,
  operation('broadcast', { x: array }, rootOptions, ({ x }, { root }) => asExpr(apply(broadcastPrimitive, [asNode(x)], { root }))),
)
const blocks = <F>(name: string, primitive: AnyPrimitive, kind: typeof array): F =>
  from(
    mpiPack,
    operation(name, { x: kind }, along, ({ x }, { axis: at }) =>
      inFront(x, at, (front) => asExpr(apply(primitive, [asNode(front)], { ranks: current().size }))),
    ),
  )
/**
 * The ranks' arrays joined along an axis, in the order of ranks, on every rank.
 *
 * Shapes  x: [k, ...] -> [n k, ...] on n ranks.   Rule  xBar = reduceScatter(yBar).
 * Errors  BadInput for an axis that is not there; Device where ranks do not agree.
 * @example allGather([1, 2])   // [1, 2]
 */
export const allGather: AlongFn<'allGather'> = /*#__PURE__*/ blocks('allGather', allGatherPrimitive, array)
/**
 * Part r, along an axis, of the sum over all ranks of their x, on rank r.
 *
 * Shapes  x: [n k, ...] -> [k, ...] on n ranks.   Rule  xBar = allGather(yBar).
 * Errors  ShapeMismatch where the number of ranks does not divide the axis.
 * @example reduceScatter([1, 2])   // [1, 2]
 */
export const reduceScatter: AlongSumFn<'reduceScatter'> = /*#__PURE__*/ blocks('reduceScatter', reduceScatterPrimitive, numbers)
/**
 * On rank r, part r of every rank's x along an axis, in the order of ranks.
 *
 * Shapes  x: [n k, ...] -> [n k, ...] on n ranks.   Rule  xBar = allToAll(yBar).
 * Errors  ShapeMismatch where the number of ranks does not divide the axis.
 * @example allToAll([1, 2])   // [1, 2]
 */
export const allToAll: AlongSameFn<'allToAll'> = /*#__PURE__*/ blocks('allToAll', allToAllPrimitive, array)

const routeOptions = {
  /** For each rank the rank that receives its x, null for none. */
  to: needed<readonly (number | null)[]>((given, what, where, shape) =>
    given === undefined
      ? refused(given, what, where, 'give a list with a rank, or null, for each rank.')
      : (list<number | null>().read(given, what, where, shape) as readonly (number | null)[]),
  ),
}
/** Options of `sendRecv`. */
export type SendRecvOptions = OptionsOf<typeof routeOptions>
/**
 * Each rank's x on the rank to which `to` sends it; zeros on a rank that receives nothing. With `to: [1, 2, null]` values move one stage on, as in a pipeline.
 *
 * Rule    xBar = yBar, sent the other way.
 * Errors  BadInput unless `to` has an entry for each rank, and no rank twice.
 * @example sendRecv([1, 2], { to: [0] })   // [1, 2]
 */
export const sendRecv: <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  options: SendRecvOptions,
) => Expr<S, NoInfer<D>> = /*#__PURE__*/ from(
  mpiPack,
  operation('sendRecv', { x: array }, routeOptions, ({ x }, { to }) => {
    const { size } = current()
    const wrong = to.find((r) => r !== null && !(Number.isInteger(r) && r >= 0 && r < size))
    if (to.length !== size || wrong !== undefined)
      badInput(
        'sendRecv',
        `to is [${to.map(String).join(', ')}], and there ${size === 1 ? 'is 1 rank' : `are ${size} ranks`}.`,
        'give a rank, or null, for each rank.',
      )
    return asExpr(apply(sendRecvPrimitive, [asNode(x)], { to: to.map((r) => r ?? -1) }))
  }),
)

/** The primitives of collectives: `fromJSON(text, collectives)` reads programs that have some. */
export const collectives: readonly AnyPrimitive[] = /*#__PURE__*/ Object.values(mpiFamily)
