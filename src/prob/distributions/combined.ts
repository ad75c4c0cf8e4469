/** Distributions of another one: arrays of independent elements, images under a map, a single point, and a part of a batch. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape } from '../../core/errors/explain.js'
import { type AnyExpr, all, any, eq, expandDims, full, log, lt, mul, ne, not, or, sub, tensor, where } from '../../index.js'
import { exprOf, type GivenKey, isArray, type Parameter, parameterIn, shapeFor, shapeIn, spread } from '../../random/given.js'
import { lastAxes, sumOverLast } from '../axes.js'
import { type Bijector, bijectorIn } from '../bijectors/bijector.js'
import { imageOf } from '../bijectors/combined.js'
import type { Distribution } from '../distribution.js'
import { distributionIn, klOf } from '../kl.js'
import { independentOf, point } from '../support.js'

type X = AnyExpr
export const isFloat = (d: string): boolean => d === 'f32' || d === 'f64'
/** What is given as x: of the distribution's dtype unless it is an array of floats. */
export const argument = (x: Parameter, d: Distribution): X =>
  isArray(x) ? exprOf(x) : parameterIn(x, isFloat(d.dtype) ? d.dtype : 'f64', d.name, 'x')
/** Fields that are there where the base has them. */
export const having = <K extends string, F>(name: K, field: F | undefined): { readonly [_ in K]?: F } =>
  (field === undefined ? {} : { [name]: field }) as { readonly [_ in K]?: F }

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
      return sumOverLast(d.logProb(e), n)
    },
    ...having('mean', d.mean),
    ...having('variance', d.variance),
    ...having('entropy', d.entropy === undefined ? undefined : () => sumOverLast(d.entropy!(), n)),
    divergence: {
      base: d,
      to: (q: Distribution) => {
        const base = q.divergence?.base
        if (q.name !== op || base === undefined || q.eventShape.length - base.eventShape.length !== n) return undefined
        const each = klOf(d, base)
        if (each === undefined) return undefined
        const shape = shapeFor(undefined, [d.batchShape, base.batchShape], 'kl')
        return sumOverLast(spread(each, shape), n)
      },
    },
  })
}

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
    const lp = sub(d.logProb(x), sumOverLast(f.logDet(x), apart)) as X
    if (out === undefined) return lp
    return where(apart <= 0 ? out : any(out, { axis: lastAxes(apart) }), Number.NEGATIVE_INFINITY, lp) as X
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
      return where(rank === 0 ? same : all(same, { axis: lastAxes(rank) }), 0, Number.NEGATIVE_INFINITY) as X
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
