/** A distribution cut at bounds. */
import { badInput } from '../../core/errors/explain.js'
import { type OptionsOf, raw, readOptions } from '../../core/errors/options.js'
import { type AnyExpr, add, cast, div, exp, ge, log, lt, maximum, minimum, mul, sub, where } from '../../index.js'
import { type GivenKey, type Parameter, parameterIn, shapeFor, shapeIn } from '../../random/given.js'
import { uniform as drawUniform } from '../../random/index.js'
import type { Distribution } from '../distribution.js'
import { distributionIn } from '../kl.js'
import { greaterThan, interval, lessThan } from '../support.js'
import { argument, having } from './combined.js'

type X = AnyExpr
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
