/** Operators over whole axes: sums, extremes, orders, softmax and losses. */
import {
  type AnyExpr,
  abs,
  add,
  arange,
  argmax,
  argmin,
  cast,
  cumprod,
  cumsum,
  div,
  eq,
  flip,
  full,
  gather,
  log,
  logSoftmax,
  logsumexp,
  lt,
  max,
  mean,
  min,
  moveaxis,
  mul,
  neg,
  oneHot,
  prod,
  reshape,
  softmax,
  sqrt,
  square,
  sub,
  sum,
  takeAlongAxis,
  topk,
  where,
} from '../../index.js'
import { axesIn, axisIn, type Call, like, type Operator, sizeOf, type Table } from '../call.js'
import { typeOf } from '../types.js'
import { asIndex, type Value, value, wrapped } from '../value.js'
import { given } from './shape.js'

type Over = { readonly axis: number[]; readonly keepdims: boolean }
/** A reduction: axes are an attribute up to the version `from`, then an input. */
const reduction = (f: (x: AnyExpr, over: Over) => AnyExpr, from: number, since: readonly number[], ofNone?: -1 | 1): Operator => ({
  since,
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const axes = given(c, 'axes', from, 1)
    const none = axes === undefined || axes.length === 0
    if (none && c.int('noop_with_empty_axes', 0) !== 0) return x
    const axis = none ? x.x.shape.map((_, i) => i) : [...axesIn(c, axes, x.x.shape.length)]
    const keepdims = c.int('keepdims', 1) !== 0
    if (axis.length === 0) return like(x, f(reshape(x.x, [1]), { axis: [0], keepdims: false }))
    if (ofNone !== undefined && axis.some((i) => x.x.shape[i] === 0)) return like(x, ofNothing(x, axis, keepdims, ofNone))
    const y = f(x.x, { axis, keepdims })
    return like(x, y.dtype === x.x.dtype ? y : cast(y, x.x.dtype))
  },
})
/** The largest (-1) or smallest (1) of nothing: the number below, or above, all of the type. */
const ofNothing = (x: Value, axis: readonly number[], keepdims: boolean, side: -1 | 1): AnyExpr => {
  const shape = x.x.shape.flatMap((d, i) => (axis.includes(i) ? (keepdims ? [1] : []) : [d]))
  const [low, high] = x.type.range ?? (x.type.name === 'bool' ? [0, 1] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
  return full(shape, side < 0 ? low : high, x.x.dtype)
}
/** The mean of integers is cut, as their quotients are. */
const average = (x: AnyExpr, over: Over): AnyExpr => mean(x, over)
const SINCE = [1, 11, 13, 18] as const

const index = (f: typeof argmax): Operator => ({
  since: [1, 11, 12, 13],
  read: (c) => {
    const x = c.in(0).x
    const axis = axisIn(c, c.int('axis', 0), x.shape.length)
    const keepdims = c.int('keepdims', 1) !== 0
    if (c.int('select_last_index', 0) === 0) return value(typeOf('int64'), f(x, { axis, keepdims }))
    return value(typeOf('int64'), sub(x.shape[axis]! - 1, f(flip(x, { axis }), { axis, keepdims })))
  },
})
const top: Operator = {
  since: [1, 10, 11],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const k = c.version < 10 ? c.int('k') : c.numbers(1)[0]!
    const axis = axisIn(c, c.int('axis', -1), x.x.shape.length)
    const found = topk(x.x, k, { axis, largest: c.int('largest', 1) !== 0 }) as { readonly values: AnyExpr; readonly indices: AnyExpr }
    return [like(x, found.values), value(typeOf('int64'), found.indices)]
  },
}
const running = (f: typeof cumsum): Operator => ({
  since: [11, 14],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const axis = axisIn(c, c.numbers(1)[0]!, x.x.shape.length)
    const options = { axis, reverse: c.int('reverse', 0) !== 0, exclusive: c.int('exclusive', 0) !== 0 }
    return like(x, wrapped(x.type, f(x.x, options)))
  },
})

/** Before operator set 13 everything from the axis on is one axis. */
const alongLast = (f: (x: AnyExpr, axis: number) => AnyExpr): Operator => ({
  since: [1, 11, 13],
  read: (c) => {
    const x = c.in(0)
    const { shape } = x.x
    if (c.version >= 13) return like(x, f(x.x, axisIn(c, c.int('axis', -1), shape.length)))
    const axis = axisIn(c, c.int('axis', 1), shape.length)
    const rows = reshape(x.x, [sizeOf(shape.slice(0, axis)), sizeOf(shape.slice(axis))])
    return like(x, reshape(f(rows, 1), shape))
  },
})
/** 1 at the first of the largest, 0 elsewhere. */
const hardmax = (x: AnyExpr, axis: number): AnyExpr => {
  const n = x.shape[axis]!
  const places = reshape(
    arange(n, 'i32'),
    x.shape.map((_, i) => (i === axis ? n : 1)),
  )
  return cast(eq(argmax(x, { axis, keepdims: true }), places), x.dtype)
}

/** -w_t logP_t for classes t along the second axis, and what each weighs: 0 of classes that are left out. */
const negativeLogs = (c: Call, logP: AnyExpr, target: AnyExpr, weight: Value | undefined): readonly [losses: AnyExpr, weights: AnyExpr] => {
  const n = logP.shape[1]!
  const t = asIndex(target)
  const ignored = c.has('ignore_index') ? eq(t, c.int('ignore_index')) : undefined
  const safe = ignored === undefined ? t : where(ignored, 0, t)
  const index = cast(safe, 'i32')
  const shape = [t.shape[0]!, 1, ...t.shape.slice(1)]
  const picked = reshape(takeAlongAxis(logP, reshape(index, shape), { axis: 1 }), t.shape)
  const ones = cast(eq(index, index), logP.dtype)
  const w = weight === undefined ? ones : gather(weight.x, index)
  const weights = ignored === undefined ? w : where(ignored, 0, w)
  if (n === 0) c.refuse('there are no classes.')
  return [neg(mul(weights, picked)), weights]
}
const reducedLoss = (c: Call, losses: AnyExpr, weights: AnyExpr): AnyExpr => {
  const how = c.text('reduction', 'mean')
  if (how === 'none') return losses
  if (how === 'sum') return sum(losses)
  return div(sum(losses), sum(weights))
}
const nll: Operator = {
  since: [12, 13],
  read: (c) => like(c.in(0), reducedLoss(c, ...negativeLogs(c, c.in(0).x, c.in(1).x, c.maybe(2)))),
}
const crossEntropy: Operator = {
  since: [12, 13],
  read: (c) => {
    const logP = logSoftmax(c.in(0).x, { axis: 1 })
    return [like(c.in(0), reducedLoss(c, ...negativeLogs(c, logP, c.in(1).x, c.maybe(2)))), like(c.in(0), logP)]
  },
}
const lpNorm: Operator = {
  since: [1],
  read: (c) => {
    const x = c.in(0)
    const over = { axis: axisIn(c, c.int('axis', -1), x.x.shape.length), keepdims: true }
    const total = c.int('p', 2) === 1 ? sum(abs(x.x), over) : sum(square(x.x), over)
    // A vector of zeros stays one.
    const isNone = eq(total, 0)
    const positive = where(isNone, 1, total)
    return like(x, where(isNone, 0, div(x.x, c.int('p', 2) === 1 ? positive : sqrt(positive))))
  },
}
const hot: Operator = {
  since: [9, 11],
  known: [1],
  read: (c) => {
    const [index, values] = [c.in(0), c.in(2)]
    const n = c.numbers(1)[0]!
    const i = asIndex(index.x)
    const rank = i.shape.length + 1
    const axis = c.int('axis', -1)
    const at = axis < 0 ? axis + rank : axis
    const code = oneHot(where(lt(i, 0), add(i, n), i), n, 'i32')
    const moved = moveaxis(code, -1, at)
    const [off, on] = [gather(values.x, 0), gather(values.x, 1)]
    return like(values, where(eq(moved, 1), on, off))
  },
}

export const reductions: Table = {
  ArgMax: index(argmax),
  ArgMin: index(argmin as typeof argmax),
  CumProd: { ...running(cumprod as typeof cumsum), since: [26] },
  CumSum: running(cumsum),
  Hardmax: alongLast(hardmax),
  LogSoftmax: alongLast((x, axis) => logSoftmax(x, { axis })),
  LpNormalization: lpNorm,
  NegativeLogLikelihoodLoss: nll,
  OneHot: hot,
  ReduceL1: reduction((x, o) => sum(abs(x), o), 18, SINCE),
  ReduceL2: reduction((x, o) => sqrt(sum(square(x), o)), 18, SINCE),
  ReduceLogSum: reduction((x, o) => log(sum(x, o)), 18, SINCE),
  ReduceLogSumExp: reduction((x, o) => logsumexp(x, o), 18, SINCE),
  ReduceMax: reduction((x, o) => max(x, o), 18, [1, 11, 12, 13, 18, 20], -1),
  ReduceMean: reduction(average, 18, SINCE),
  ReduceMin: reduction((x, o) => min(x, o), 18, [1, 11, 12, 13, 18, 20], 1),
  ReduceProd: reduction((x, o) => prod(x, o), 18, SINCE),
  ReduceSum: reduction((x, o) => sum(x, o), 13, [1, 11, 13]),
  ReduceSumSquare: reduction((x, o) => sum(square(x), o), 18, SINCE),
  Softmax: alongLast((x, axis) => softmax(x, { axis })),
  SoftmaxCrossEntropyLoss: crossEntropy,
  TopK: top,
}
