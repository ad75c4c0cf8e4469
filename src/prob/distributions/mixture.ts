/** Distributions that choose between others. */

import { badInput, badShape } from '../../core/errors/explain.js'
import { leastOf } from '../../core/errors/extremes.js'
import { readOptions } from '../../core/errors/options.js'
import {
  type AnyExpr,
  add,
  cast,
  div,
  eq,
  exp,
  expandDims,
  type Float,
  log,
  log1p,
  logaddexp,
  logSoftmax,
  logsumexp,
  lt,
  moveaxis,
  mul,
  neg,
  reshape,
  square,
  stack,
  sub,
  sum,
  takeAlongAxis,
  where,
} from '../../index.js'
import { checkNumbers, floatAmong, type GivenKey, type Parameter, parameterIn, shapeFor, shapeIn, spread } from '../../random/given.js'
import { bernoulli as drawBernoulli, categorical as drawCategorical, foldIn } from '../../random/index.js'
import type { Distribution } from '../distribution.js'
import { distributionIn } from '../kl.js'
import { greaterThan, independentOf, integers, reals } from '../support.js'
import { argument, having, isFloat } from './combined.js'
import { type LogitOptions, logitOptions } from './discrete.js'
import { two } from './numbers.js'

type X = AnyExpr
/**
 * The mixture of distributions: the k-th with probability p[k]. The components are a list of distributions, or one whose last axis of the batch numbers them.
 *
 * p is divided by its sum; with `{ logits: true }` it is the softmax of what is given.
 * Shapes  p: [..., n], components of batch shape [...] (a list) or [..., n], with the same shape of events.   Rule  of samples: that of the component that was drawn.
 * Source  NumPyro's `MixtureSameFamily`, `MixtureGeneral`.   Errors  BadInput for an empty list or other lists of weights; ShapeMismatch.
 * @example mixture([0.5, 0.5], normal([-1, 1], 1)).logProb(0)   // -1.4189
 * @example mixture([0.5, 0.5], [normal(0, 1), laplace(0, 1)]).cdf!(0)   // 0.5
 */
export const mixture = (p: Parameter, components: Distribution | readonly Distribution[], options?: LogitOptions): Distribution => {
  const op = 'mixture'
  const { logits, dtype: asked } = readOptions(logitOptions, options, op)
  const list = Array.isArray(components)
    ? (components as readonly unknown[]).map((d, i) => distributionIn(d, `component ${i}`, op))
    : undefined
  const single = list === undefined ? distributionIn(components, 'the components', op) : undefined
  const first = single ?? list![0]
  if (first === undefined) return badInput(op, 'there are no components.', 'give one or more.')
  const batch =
    single === undefined
      ? shapeFor(
          undefined,
          list!.map((d) => d.batchShape),
          op,
        )
      : single.batchShape.slice(0, -1)
  const n = list?.length ?? single!.batchShape.at(-1)
  if (n === undefined)
    return badShape(op, [[]], 'the components have no axis that numbers them.', 'give parameters of rank 1 or more, or a list.')
  const { eventShape } = first
  for (const d of list ?? [])
    if (d.eventShape.length !== eventShape.length || d.eventShape.some((s, i) => s !== eventShape[i]))
      badShape(op, [eventShape, d.eventShape], 'components have events of other shapes.')
  const float: Float = asked ?? (isFloat(first.dtype) ? (first.dtype as Float) : floatAmong([p]))
  const weights = parameterIn(p, float, op, 'p')
  if (weights.shape.at(-1) !== n)
    badShape(
      op,
      [weights.shape],
      `p has shape [${weights.shape.join(', ')}], there are ${n} components.`,
      'give one for each, along the last axis.',
    )
  const logWeights = (logits ? logSoftmax(weights, { axis: -1 }) : log(div(weights, sum(weights, { axis: -1, keepdims: true })))) as X
  const batchShape = shapeFor(undefined, [batch, weights.shape.slice(0, -1)], op)
  for (const own of list === undefined ? [batch] : list.map((d) => d.batchShape))
    if (own.some((d, i) => d !== batchShape[i + batchShape.length - own.length]))
      badShape(
        op,
        [own, batchShape],
        `components of batch shape [${own.join(', ')}] in a mixture of [${batchShape.join(', ')}].`,
        'give their parameters that shape, or fewer axes.',
      )
  const rank = eventShape.length
  /** f of each component at x, along a new last axis. */
  const each = (x: X, f: (d: Distribution, x: X) => X): X => {
    if (list !== undefined) {
      const ys = list.map((d) => f(d, x))
      const shape = shapeFor(
        undefined,
        ys.map((y) => y.shape),
        op,
      )
      return stack(ys.map((y) => spread(y, shape)) as never, { axis: -1 }) as X
    }
    return f(single!, expandDims(x, -1 - rank) as X)
  }
  const w = (dtype: string): X => cast(logWeights, dtype as 'f64') as X
  /** A moment of each component, with the component's axis last. */
  const moments = (f: (d: Distribution) => X): X => {
    if (list !== undefined) return stack(list.map((d) => spread(f(d), [...batch, ...eventShape])) as never, { axis: -1 }) as X
    return moveaxis(f(single!), -1 - rank, -1) as X
  }
  const weighing = (x: X): X => {
    const wide = exp(w(x.dtype)) as X
    return sum(mul(rank === 0 ? wide : reshape(wide, [...wide.shape.slice(0, -1), ...eventShape.map(() => 1), n] as number[]), x), {
      axis: -1,
    }) as X
  }
  const mean = (): X => weighing(moments((d) => d.mean!()))
  const variance = (): X => {
    const ms = moments((d) => d.mean!())
    const m = weighing(ms)
    return weighing(
      add(
        moments((d) => d.variance!()),
        square(sub(ms, expandDims(m, -1))),
      ) as X,
    )
  }
  const everyHas = (field: 'cdf' | 'logSurvival' | 'mean' | 'variance'): boolean => (list ?? [single!]).every((d) => d[field] !== undefined)
  return Object.freeze({
    name: op,
    batchShape,
    eventShape,
    dtype: first.dtype,
    support: single?.support ?? commonSupport(list!),
    parameters: { p: weights },
    sample: (key: GivenKey, shape?: readonly number[]) => {
      const to = [...shapeIn(shape, op), ...batchShape]
      const [a, b] = two(key)
      const k = drawCategorical(a as never, spread(logWeights, [...batchShape, n]) as never, { shape: to } as never) as X
      // All components are drawn, and one of them is kept: what is not has no derivative.
      const fewer = (own: readonly number[]): readonly number[] => to.slice(0, to.length - own.length)
      const draws =
        list === undefined
          ? moveaxis(single!.sample(b as never, fewer(batch)), -1 - rank, -1)
          : stack(list.map((d, i) => d.sample(foldIn(b as never, i) as never, fewer(d.batchShape))) as never, { axis: -1 })
      const at = reshape(k, [...to, ...eventShape.map(() => 1), 1] as number[])
      return reshape(takeAlongAxis(draws as X, spread(at as X, [...to, ...eventShape, 1]) as never, { axis: -1 }), [
        ...to,
        ...eventShape,
      ] as number[]) as X
    },
    logProb: (x: Parameter) => {
      const each_ = each(argument(x, first), (d, y) => d.logProb(y))
      return logsumexp(add(each_, w(each_.dtype)), { axis: -1 }) as X
    },
    ...having(
      'cdf',
      rank === 0 && everyHas('cdf')
        ? (x: Parameter) => {
            const ps = each(argument(x, first), (d, y) => d.cdf!(y))
            return sum(mul(exp(w(ps.dtype)), ps), { axis: -1 }) as X
          }
        : undefined,
    ),
    ...having(
      'logSurvival',
      rank === 0 && everyHas('logSurvival')
        ? (x: Parameter) => {
            const tails = each(argument(x, first), (d, y) => d.logSurvival!(y))
            return logsumexp(add(tails, w(tails.dtype)), { axis: -1 }) as X
          }
        : undefined,
    ),
    ...having('mean', everyHas('mean') ? () => spread(mean(), [...batchShape, ...eventShape]) : undefined),
    ...having('variance', everyHas('variance') && everyHas('mean') ? () => spread(variance(), [...batchShape, ...eventShape]) : undefined),
  } satisfies Distribution)
}
const commonSupport = (list: readonly Distribution[]): Distribution['support'] => {
  const [a] = list
  const same = list.every(({ support: s }) => s.kind === a!.support.kind && s.lower === a!.support.lower && s.upper === a!.support.upper)
  if (same) return a!.support
  if (a!.support.discrete) return integers()
  const lowest = list.map(({ support }) => support.lower)
  if (a!.eventShape.length === 0 && lowest.every((l): l is number => typeof l === 'number')) return greaterThan(leastOf(lowest))
  return independentOf(reals, a!.eventShape.length)
}

/**
 * The distribution of counts that are 0 with probability `gate`, and otherwise drawn from a distribution of whole numbers.
 *
 * Shapes  the gate broadcasts with the batch.   Source  NumPyro's `ZeroInflatedDistribution`.
 * Errors  BadInput for a gate outside [0, 1], or for a distribution that is not of single whole numbers; ShapeMismatch.
 * @example zeroInflated(poisson(2), 0.5).logProb([0, 1])   // [-0.56622, -2]
 */
export const zeroInflated = (of: Distribution, gate: Parameter): Distribution => {
  const op = 'zeroInflated'
  const d = distributionIn(of, 'the distribution', op)
  if (!d.support.discrete || d.eventShape.length > 0)
    badInput(op, `${d.name} is not of single whole numbers.`, 'give one such as poisson(2).')
  checkNumbers(gate, (x) => x >= 0 && x <= 1, 'gate', 'from 0 to 1', op)
  const float = floatAmong([gate, ...Object.values(d.parameters)])
  const g = parameterIn(gate, float, op, 'gate')
  const batchShape = shapeFor(undefined, [g.shape, d.batchShape], op)
  if (d.batchShape.some((s, i) => s !== batchShape[i + batchShape.length - d.batchShape.length]))
    badShape(op, [d.batchShape, batchShape], 'the gate has more elements than the distribution.', 'give its parameters that shape.')
  const { lower, upper } = d.support
  return Object.freeze({
    name: op,
    batchShape,
    eventShape: [],
    dtype: 'i32',
    support: integers(typeof lower === 'number' ? Math.min(0, lower) : undefined, upper),
    parameters: { ...d.parameters, gate: g },
    sample: (key: GivenKey, shape?: readonly number[]) => {
      const to = [...shapeIn(shape, op), ...batchShape]
      const [a, b] = two(key)
      return where(drawBernoulli(a as never, g, { shape: to }), 0, d.sample(b as never, to.slice(0, to.length - d.batchShape.length))) as X
    },
    logProb: (x: Parameter) => {
      const e = argument(x, d)
      const rest = add(d.logProb(e), log1p(neg(g))) as X
      return where(eq(e, 0), logaddexp(log(g), rest), rest) as X
    },
    ...having('mean', d.mean === undefined ? undefined : () => spread(mul(sub(1, g), d.mean!()) as X, batchShape)),
    ...having(
      'variance',
      d.mean === undefined || d.variance === undefined
        ? undefined
        : () => spread(mul(sub(1, g), add(d.variance!(), mul(g, square(d.mean!())))) as X, batchShape),
    ),
    ...having(
      'cdf',
      d.cdf === undefined
        ? undefined
        : (x: Parameter) => {
            const e = argument(x, d)
            return add(mul(sub(1, g), d.cdf!(e)), where(lt(e, 0), 0, g)) as X
          },
    ),
    ...having(
      'logSurvival',
      d.logSurvival === undefined
        ? undefined
        : (x: Parameter) => {
            const e = argument(x, d)
            const rest = add(log1p(neg(g)), d.logSurvival!(e)) as X
            return where(lt(e, 0), logaddexp(log(g), rest), rest) as X
          },
    ),
  } satisfies Distribution)
}
