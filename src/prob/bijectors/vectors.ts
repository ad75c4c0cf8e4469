/** Maps of vectors. */
import { type AnyExpr, add, concat, cumsum, diff, exp, log, logSigmoid, neg, slice, sub, sum, tensor } from '../../index.js'
import { ordered, simplex } from '../support.js'
import { type Bijector, made, type Shapes, zeros } from './bijector.js'

type X = AnyExpr
export const lastSize = (s: readonly number[]): number => s.at(-1) ?? 0
const withLast =
  (f: (n: number) => number): Shapes =>
  (s) => [...s.slice(0, -1), f(lastSize(s))]
export const along = { axis: -1 } as const
export const exclusive = { axis: -1, exclusive: true } as const
/** The elements of the last axis from one place to another. */
const part = (x: X, from: number, to: number): X => {
  const starts = x.shape.map((_, i) => (i === x.shape.length - 1 ? from : 0))
  const ends = x.shape.map((d, i) => (i === x.shape.length - 1 ? to : d))
  return slice(x, starts, ends) as X
}
/** x - log(n - k) for the n numbers x: 0 is the middle of the simplex. */
const centred = (x: X): X => {
  const n = lastSize(x.shape)
  return sub(
    x,
    tensor(
      Array.from({ length: n }, (_, k) => Math.log(n - k)),
      [n],
      x.dtype as 'f64',
    ),
  ) as X
}
/**
 * The map from vectors of n numbers to the n + 1 positive ones of sum 1: a part of 1 is broken off for each, and 0 gives equal parts.
 *
 * Shapes  [..., n] -> [..., n + 1].   Source  Stan's reference manual, "Unit simplex".
 * @example evaluate(simplexBijector.forward([0, 0]))   // [0.3333, 0.3333, 0.3333]
 */
export const simplexBijector: Bijector = /*#__PURE__*/ made({
  name: 'simplex',
  rank: 1,
  forward: (x) => {
    const t = centred(x)
    const left = logSigmoid(neg(t)) as X
    const logs = add(logSigmoid(t), cumsum(left, exclusive))
    return exp(concat([logs, sum(left, { axis: -1, keepdims: true })] as never, along)) as X
  },
  inverse: (y) => {
    const n = lastSize(y.shape) - 1
    // What is left after each part: summed from the end, so that small parts keep their digits.
    const left = part(cumsum(y, { axis: -1, reverse: true, exclusive: true }) as X, 0, n)
    const t = sub(log(part(y, 0, n)), log(left)) as X
    return sub(t, centred(zeros(t))) as X
  },
  logDet: (x) => {
    const t = centred(x)
    const left = logSigmoid(neg(t)) as X
    return sum(add(add(logSigmoid(t), left), cumsum(left, exclusive)), along) as X
  },
  shape: /*#__PURE__*/ withLast((n) => n + 1),
  shapeBefore: /*#__PURE__*/ withLast((n) => n - 1),
  codomain: simplex,
})
/**
 * The map from vectors to rising ones: the first number stays, and each other one is the logarithm of a step.
 *
 * @example evaluate(orderedBijector.forward([1, 0, 0]))   // [1, 2, 3]
 */
export const orderedBijector: Bijector = /*#__PURE__*/ made({
  name: 'ordered',
  rank: 1,
  forward: (x) => cumsum(concat([part(x, 0, 1), exp(part(x, 1, lastSize(x.shape)))] as never, along)) as X,
  inverse: (y) => concat([part(y, 0, 1), log(diff(y))] as never, along) as X,
  logDet: (x) => sum(part(x, 1, lastSize(x.shape)), along) as X,
  codomain: ordered,
})
