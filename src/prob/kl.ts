/** Divergences between distributions. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { type AnyExpr, isExpr, isTensor, sub } from '../index.js'
import type { Distribution } from './distribution.js'

const isDistribution = (x: unknown): boolean =>
  typeof x === 'object' && x !== null && !isExpr(x) && !isTensor(x) && typeof (x as { readonly logProb?: unknown }).logProb === 'function'
export const distributionIn = (x: unknown, what: string, op: string): Distribution =>
  reading(op, () => isDistribution(x))
    ? (x as Distribution)
    : badInput(op, `${what} is ${shown(x)}.`, 'give a distribution, such as normal(0, 1).')

/** The divergence, where there is a formula. */
export const klOf = (p: Distribution, q: Distribution): AnyExpr | undefined => {
  const [a, b] = [p.divergence?.family, q.divergence?.family]
  if (a !== undefined && b !== undefined && a.name === b.name) {
    const own = [a.dtype, b.dtype].filter((d) => d !== undefined)
    const dtype = own.length > 0 && own.every((d) => d === 'f32') ? 'f32' : 'f64'
    return a.kl(a.values(dtype), b.values(dtype))
  }
  const to = p.divergence?.to?.(q)
  if (to !== undefined) return to
  const cross = q.divergence?.crossEntropy?.(p)
  return cross === undefined || p.entropy === undefined ? undefined : (sub(cross, p.entropy()) as AnyExpr)
}
/**
 * The Kullback-Leibler divergence of p from q: the expectation of log p(x) - log q(x) for draws of p.
 *
 * There are formulae for pairs of one family (exponential and chi2 are gamma distributions, rayleigh is a weibull one), from anything with moments and an entropy to `normal` and `mvNormal` (of the
 * latter's own kind), from positive numbers to `exponential`, from what lies within its bounds to `uniform`; and for `independent` and `transformed` ones of such pairs.
 * Shapes  the batch shapes, which broadcast.   Errors  BadInput for a pair without a formula; ShapeMismatch for other shapes of events.
 * @example kl(normal(0, 1), normal(1, 2))   // 0.44315
 * @example kl(gamma(2, 1), exponential(1))   // 0.42278
 */
export const kl = (p: Distribution, q: Distribution): AnyExpr => {
  const op = 'kl'
  const [a, b] = [distributionIn(p, 'p', op), distributionIn(q, 'q', op)]
  if (a.eventShape.length !== b.eventShape.length || a.eventShape.some((d, i) => d !== b.eventShape[i]))
    badShape(
      op,
      [a.eventShape, b.eventShape],
      `events of p have shape [${a.eventShape.join(', ')}], those of q [${b.eventShape.join(', ')}].`,
    )
  return (
    klOf(a, b) ??
    badInput(
      op,
      `there is no formula for ${a.name} from ${b.name}.`,
      'estimate it with draws of p: x = p.sample(key, [n]), then mean(sub(p.logProb(x), q.logProb(x))).',
    )
  )
}
