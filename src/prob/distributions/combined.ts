/** Distributions that are made of others. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape } from '../../core/errors/explain.js'
import { type OptionsOf, raw, readOptions } from '../../core/errors/options.js'
import {
  type AnyExpr,
  add,
  all,
  any,
  cast,
  div,
  eq,
  exp,
  expandDims,
  type Float,
  full,
  ge,
  log,
  log1p,
  logaddexp,
  logSoftmax,
  logsumexp,
  lt,
  maximum,
  minimum,
  moveaxis,
  mul,
  ne,
  neg,
  not,
  or,
  reshape,
  square,
  stack,
  sub,
  sum,
  takeAlongAxis,
  tensor,
  where,
} from '../../index.js'
import {
  checkNumbers,
  exprOf,
  floatAmong,
  type GivenKey,
  isArray,
  type Parameter,
  parameterIn,
  shapeFor,
  shapeIn,
  spread,
} from '../../random/given.js'
import { bernoulli as drawBernoulli, categorical as drawCategorical, uniform as drawUniform, foldIn } from '../../random/index.js'
import { type Bijector, bijectorIn, imageOf } from '../bijectors.js'
import type { Distribution } from '../distribution.js'
import { distributionIn, klOf } from '../kl.js'
import { greaterThan, independentOf, integers, interval, lessThan, point, reals } from '../support.js'
import { type LogitOptions, logitOptions } from './discrete.js'
import { two } from './positive.js'

type X = AnyExpr
const last = (n: number): number[] => Array.from({ length: n }, (_, i) => -1 - i)
const summed = (x: X, n: number): X => (n === 0 ? x : (sum(x, { axis: last(n) }) as X))
const isFloat = (d: string): boolean => d === 'f32' || d === 'f64'
/** What is given as x: of the distribution's dtype unless it is an array of floats. */
const argument = (x: Parameter, d: Distribution): X =>
  isArray(x) ? exprOf(x) : parameterIn(x, isFloat(d.dtype) ? d.dtype : 'f64', d.name, 'x')
/** Fields that are there where the base has them. */
const having = <K extends string, F>(name: K, field: F | undefined): { readonly [_ in K]?: F } =>
  (field === undefined ? {} : { [name]: field }) as { readonly [_ in K]?: F }

// ---- arrays of independent elements

/**
 * The distribution of arrays of independent elements: the last `rank` axes of the batch become axes of the event, all of them unless given. logProb sums over them.
 *
 * Source  NumPyro's `to_event`, TensorFlow Probability's `Independent`.   Errors  BadInput for a rank that the batch has not.
 * @example independent(normal([0, 0], 1)).logProb([0, 0])   // -1.8379
 */
export const independent = (of: Distribution, rank?: number): Distribution => {
  const op = 'independent'
  const d = distributionIn(of, 'the distribution', op)
  const n = rank ?? d.batchShape.length
  if (!Number.isInteger(n) || n < 0 || n > d.batchShape.length)
    badInput(
      op,
      `rank is ${shown(rank)}, the batch shape is [${d.batchShape.join(', ')}].`,
      `give a whole number from 0 to ${d.batchShape.length}.`,
    )
  if (n === 0) return d
  const split = d.batchShape.length - n
  return Object.freeze({
    name: op,
    batchShape: d.batchShape.slice(0, split),
    eventShape: [...d.batchShape.slice(split), ...d.eventShape],
    dtype: d.dtype,
    support: independentOf(d.support, n),
    parameters: d.parameters,
    sample: d.sample,
    logProb: (x: Parameter) => {
      const e = argument(x, d)
      const event = [...d.batchShape.slice(split), ...d.eventShape]
      if (e.shape.length < event.length)
        badShape(
          op,
          [e.shape],
          `x has shape [${e.shape.join(', ')}], an event has shape [${event.join(', ')}].`,
          'give events along the last axes.',
        )
      return summed(d.logProb(e), n)
    },
    ...having('mean', d.mean),
    ...having('variance', d.variance),
    ...having('entropy', d.entropy === undefined ? undefined : () => summed(d.entropy!(), n)),
    divergence: {
      base: d,
      to: (q: Distribution) => {
        const base = q.divergence?.base
        if (q.name !== op || base === undefined || q.eventShape.length - base.eventShape.length !== n) return undefined
        const each = klOf(d, base)
        if (each === undefined) return undefined
        const shape = shapeFor(undefined, [d.batchShape, base.batchShape], 'kl')
        return summed(spread(each, shape), n)
      },
    },
  })
}

// ---- transformed

/**
 * The distribution of y = f(x) for draws x of a distribution and a bijector f: log density log p(x) - log |det dy/dx|.
 *
 * A map of vectors takes the last axes of the batch for its elements. cdf, icdf: for maps of numbers that rise or fall everywhere.
 * Source  NumPyro's `TransformedDistribution`.   Errors  BadInput for a distribution of whole numbers; ShapeMismatch.
 * @example transformed(normal(0, 1), expBijector).logProb(1)   // -0.9189
 */
export const transformed = (of: Distribution, bijector: Bijector): Distribution => {
  const op = 'transformed'
  const given = distributionIn(of, 'the distribution', op)
  const f = bijectorIn(bijector, op)
  if (given.support.discrete) badInput(op, `${given.name} is of whole numbers.`, 'they have no density that a map could change.')
  const more = f.rank - given.eventShape.length
  if (more > given.batchShape.length)
    badShape(
      op,
      [given.batchShape, given.eventShape],
      `the map is of arrays of rank ${f.rank}, draws have fewer axes.`,
      'give the parameters more axes.',
    )
  const d = more > 0 ? independent(given, more) : given
  const apart = d.eventShape.length - f.rank
  const eventShape = f.shape(d.eventShape)
  const support = independentOf(imageOf(d.support, f), eventShape.length - f.rankAfter)
  const { outside, inner } = f.codomain
  const back = (y: X): readonly [X, X | undefined] => {
    const out = outside?.(y)
    return out === undefined || inner === undefined ? [f.inverse(y), undefined] : [f.inverse(inner(y, out)), out]
  }
  const logProb = (given: Parameter): X => {
    const y = argument(given, d)
    const [x, out] = back(y)
    const lp = sub(d.logProb(x), summed(f.logDet(x), apart)) as X
    if (out === undefined) return lp
    return where(apart <= 0 ? out : any(out, { axis: last(apart) }), Number.NEGATIVE_INFINITY, lp) as X
  }
  const isLine = f.direction !== undefined && d.eventShape.length === 0
  const rises = f.direction === 1
  const cdf = (given: Parameter): X => {
    const y = argument(given, d)
    const [x, out] = back(y)
    const p = rises ? d.cdf!(x) : (sub(1, d.cdf!(x)) as X)
    if (out === undefined) return p
    const { lower } = f.codomain
    return where(out, lower === undefined ? 1 : where(or(lt(y, lower), eq(y, lower)), 0, 1), p) as X
  }
  const logSurvival = (given: Parameter): X => {
    const y = argument(given, d)
    const [x, out] = back(y)
    const s = rises ? d.logSurvival!(x) : (log(d.cdf!(x)) as X)
    if (out === undefined) return s
    const { lower } = f.codomain
    return where(
      out,
      lower === undefined ? Number.NEGATIVE_INFINITY : where(or(lt(y, lower), eq(y, lower)), 0, Number.NEGATIVE_INFINITY),
      s,
    ) as X
  }
  const icdf = (q: Parameter): X => f.forward(d.icdf!(rises ? q : (sub(1, argument(q, d)) as X)))
  return Object.freeze({
    name: op,
    batchShape: d.batchShape,
    eventShape,
    dtype: d.dtype,
    support,
    parameters: d.parameters,
    sample: (key: GivenKey, shape?: readonly number[]) => f.forward(d.sample(key, shape)),
    logProb,
    ...having('cdf', isLine && d.cdf !== undefined ? cdf : undefined),
    ...having('logSurvival', isLine && d.cdf !== undefined && (!rises || d.logSurvival !== undefined) ? logSurvival : undefined),
    ...having('icdf', isLine && d.icdf !== undefined ? icdf : undefined),
    divergence: {
      base: d,
      map: f,
      to: ({ divergence: other }: Distribution) => (other?.map === f && other.base !== undefined ? klOf(d, other.base) : undefined),
    },
  } satisfies Distribution)
}

// ---- mixtures

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
  if (a!.eventShape.length === 0 && lowest.every((l): l is number => typeof l === 'number')) return greaterThan(Math.min(...lowest))
  return independentOf(reals, a!.eventShape.length)
}

// ---- points, masks, zeros, bounds

/**
 * The distribution of a single value: log probability 0 there, -Infinity elsewhere.
 *
 * Shapes  the last `rank` axes of the value are of the event, none unless given.   Source  NumPyro's `Delta`.   Errors  BadInput for a rank that the value has not.
 * @example delta(2).logProb([1, 2])   // [-Infinity, 0]
 */
export const delta = (value: Parameter, rank = 0): Distribution => {
  const op = 'delta'
  const dtype = isArray(value) ? (value.dtype === 'bool' ? 'i32' : value.dtype) : 'f64'
  const v = parameterIn(value, dtype, op, 'value')
  if (!Number.isInteger(rank) || rank < 0 || rank > v.shape.length)
    badInput(op, `rank is ${shown(rank)}, the value has rank ${v.shape.length}.`, `give a whole number from 0 to ${v.shape.length}.`)
  const [batchShape, eventShape] = [v.shape.slice(0, v.shape.length - rank), v.shape.slice(v.shape.length - rank)]
  return Object.freeze({
    name: op,
    batchShape,
    eventShape,
    dtype,
    support: point(v, rank),
    parameters: { value: v },
    sample: (_: GivenKey, shape?: readonly number[]) => spread(v, [...shapeIn(shape, op), ...v.shape]),
    logProb: (x: Parameter) => {
      const same = eq(argument(x, { dtype, name: op } as Distribution), v) as X
      return where(rank === 0 ? same : all(same, { axis: last(rank) }), 0, Number.NEGATIVE_INFINITY) as X
    },
    mean: () => v,
    variance: () => mul(0, v) as X,
    entropy: () => full(batchShape as number[], 0, isFloat(dtype) ? (dtype as 'f64') : 'f64') as X,
  } satisfies Distribution)
}
/**
 * The distribution, of which elements of the batch count for nothing where the mask is false: their logProb is 0, with a derivative of 0.
 *
 * Shapes  the mask broadcasts with the batch.   Source  NumPyro's `mask`.   Errors  BadInput for a mask that is not of truth values; ShapeMismatch.
 * @example masked(normal([0, 0], 1), [true, false]).logProb([1, 1])   // [-1.4189, 0]
 */
export const masked = (of: Distribution, mask: AnyExpr | boolean | readonly boolean[]): Distribution => {
  const op = 'masked'
  const d = distributionIn(of, 'the distribution', op)
  const m = isArray(mask) ? exprOf(mask) : maskOf(mask, op)
  if (m.dtype !== 'bool') badInput(op, `the mask is ${m.dtype}.`, 'give truth values, such as gt(x, 0).')
  shapeFor(undefined, [m.shape, d.batchShape], op)
  const { divergence: _, ...rest } = d
  const safe = (x: X): X => {
    // What is masked may be anything, NaN too: a draw of the support stands in its place.
    const missing = or(ne(x, x), not(d.support.contains(x))) as X
    return d.eventShape.length > 0 || d.support.inner === undefined
      ? where(ne(x, x), 0, x)
      : d.support.inner(where(ne(x, x), 0, x) as X, missing)
  }
  return Object.freeze({
    ...rest,
    name: op,
    logProb: (x: Parameter) => {
      const e = argument(x, d)
      const shape = shapeFor(undefined, [e.shape.slice(0, e.shape.length - d.eventShape.length), m.shape, d.batchShape], op)
      const wide = d.eventShape.reduce((y) => expandDims(y, -1) as X, spread(m, shape))
      const all_ = spread(e, [...shape, ...d.eventShape])
      return where(spread(m, shape), d.logProb(where(wide, all_, safe(all_)) as X), 0) as X
    },
  })
}
const maskOf = (mask: unknown, op: string): X => {
  if (typeof mask === 'boolean') return full([], mask ? 1 : 0, 'bool') as X
  if (Array.isArray(mask) && mask.every((v) => typeof v === 'boolean')) return tensor(mask as never, [mask.length], 'bool') as X
  return badInput(op, `the mask is ${shown(mask)}.`, 'give truth values: true, an array of them, or an expression such as gt(x, 0).')
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

export const boundOptions = {
  /** The least number: none unless given. */
  lower: raw<Parameter>(),
  /** The largest number: none unless given. */
  upper: raw<Parameter>(),
}
/** Options of `truncated`. */
export type BoundOptions = OptionsOf<typeof boundOptions>
/**
 * A distribution of floats, given that the number is from `lower` to `upper`: density p(x) / (F(upper) - F(lower)).
 *
 * Shapes  the bounds broadcast with the batch.   Source  NumPyro's `TruncatedDistribution`.   Accuracy  that of F: `truncatedNormal` is exact in the tails.
 * Errors  BadInput without bounds, or for a distribution that has no cdf; ShapeMismatch.
 * @example truncated(exponential(1), { upper: 1 }).logProb([0.5, 2])   // [-0.041325, -Infinity]
 */
export const truncated = (of: Distribution, options: BoundOptions): Distribution => {
  const op = 'truncated'
  const d = distributionIn(of, 'the distribution', op)
  const { lower, upper } = readOptions(boundOptions, options, op)
  if (lower === undefined && upper === undefined) badInput(op, 'there are no bounds.', 'give { lower, upper }, or one of them.')
  if (d.cdf === undefined || d.support.discrete || d.eventShape.length > 0)
    return badInput(op, `${d.name} has no distribution function of floats.`, 'give a distribution of numbers that has a cdf.')
  const own = d.cdf
  const bound = (b: Parameter | undefined, what: string): X | undefined => (b === undefined ? undefined : parameterIn(b, d.dtype, op, what))
  const [low, high] = [bound(lower, 'lower'), bound(upper, 'upper')]
  const batchShape = shapeFor(undefined, [d.batchShape, ...[low, high].flatMap((b) => (b === undefined ? [] : [b.shape]))], op)
  const limits = [low, high].map((b, i) => {
    const base = i === 0 ? d.support.lower : d.support.upper
    if (b === undefined) return base
    if (base === undefined) return b
    return (i === 0 ? maximum(b, base) : minimum(b, base)) as X
  })
  const support =
    limits[0] === undefined ? lessThan(limits[1]!) : limits[1] === undefined ? greaterThan(limits[0]) : interval(limits[0], limits[1])
  const under = (): X => (low === undefined ? (cast(0, d.dtype as 'f64') as X) : own(low))
  const mass = (): X => sub(high === undefined ? 1 : own(high), under()) as X
  const { outside, inner } = support
  return Object.freeze({
    name: op,
    batchShape,
    eventShape: [],
    dtype: d.dtype,
    support,
    parameters: d.parameters,
    sample: (key: GivenKey, shape?: readonly number[]) => {
      if (d.icdf === undefined) return badInput(op, `${d.name} has no quantile function, of which draws would be made.`)
      const u = drawUniform(key, [...shapeIn(shape, op), ...batchShape], { dtype: d.dtype as 'f64' })
      return d.icdf(add(under(), mul(u, mass())) as X)
    },
    logProb: (x: Parameter) => {
      const e = argument(x, d)
      const out = outside!(e)
      const lp = d.logProb(inner!(e, out))
      return where(out, Number.NEGATIVE_INFINITY, sub(lp, cast(log(mass()), lp.dtype as 'f64'))) as X
    },
    cdf: (x: Parameter) => {
      const e = argument(x, d)
      return minimum(1, maximum(0, div(sub(own(e), under()), mass()))) as X
    },
    ...having(
      'logSurvival',
      d.logSurvival === undefined
        ? undefined
        : (x: Parameter) => {
            const e = argument(x, d)
            const above = (at: X): X => exp(d.logSurvival!(at)) as X
            const rest: X | number = high === undefined ? 0 : above(high)
            const whole = sub(low === undefined ? 1 : above(low), rest)
            const inside = where(outside!(e), limits[0] ?? limits[1]!, e) as X
            const tail =
              high === undefined ? sub(d.logSurvival!(inside), log(whole)) : log(div(maximum(0, sub(above(inside), rest)), whole))
            const past = limits[1] === undefined ? undefined : ge(e, limits[1])
            const before = limits[0] === undefined ? undefined : lt(e, limits[0])
            const up = past === undefined ? tail : where(past, Number.NEGATIVE_INFINITY, tail)
            return (before === undefined ? up : where(before, 0, up)) as X
          },
    ),
    ...having('icdf', d.icdf === undefined ? undefined : (q: Parameter) => d.icdf!(add(under(), mul(argument(q, d), mass())) as X)),
  } satisfies Distribution)
}
