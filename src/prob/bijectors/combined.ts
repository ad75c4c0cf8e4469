/** Maps that are made of others, and the map to a support. */
import { integerOf, shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { reading } from '../../core/errors/language.js'
import { type AnyExpr, add, neg } from '../../index.js'
import { sumOverLast } from '../axes.js'
import { greaterThan, independentOf, interval, lessThan, reals, type Support } from '../support.js'
import { type Bijector, bijectorIn, made } from './bijector.js'
import { choleskyBijector, correlationBijector, positiveDefiniteBijector } from './matrices.js'
import { affineBijector, expBijector, identityBijector, intervalBijector, sigmoidBijector } from './numbers.js'
import { orderedBijector, simplexBijector } from './vectors.js'

type X = AnyExpr
/**
 * A map of arrays from one of their elements: `logDet` sums over `rank` further axes.
 *
 * @example evaluate(batchBijector(expBijector, 1).logDet([1, 2]))   // 3
 */
export const batchBijector = (map: Bijector, rank: number): Bijector => {
  const op = 'batchBijector'
  const of = bijectorIn(map, op)
  const more = integerOf(rank, 'rank', op)
  if (more < 0) badInput(op, `rank is ${more}.`, 'give a whole number from 0.')
  if (more === 0) return of
  return made({
    name: of.name,
    rank: of.rank + more,
    rankAfter: of.rankAfter + more,
    forward: of.forward,
    inverse: of.inverse,
    logDet: (x) => sumOverLast(of.logDet(x), more),
    shape: of.shape,
    shapeBefore: of.shapeBefore,
    codomain: independentOf(of.codomain, more),
  })
}
/**
 * The maps one after the other, the first one first.
 *
 * Errors  BadInput for none.
 * @example evaluate(chainBijectors(expBijector, affineBijector(1)).forward(0))   // 2
 */
export const chainBijectors = (...maps: readonly Bijector[]): Bijector => {
  const [first, ...rest] = maps.map((map) => bijectorIn(map, 'chainBijectors'))
  if (first === undefined) return badInput('chainBijectors', 'no maps are given.', 'give one or more.')
  return rest.reduce((a, b) => {
    // Elements have the larger of both ranks in the middle: each map sums over the axes that the other has in addition.
    const middle = Math.max(a.rankAfter, b.rank)
    const [more, moreAfter] = [middle - a.rankAfter, middle - b.rank]
    const direction = a.direction === undefined || b.direction === undefined ? undefined : ((a.direction * b.direction) as 1 | -1)
    return made({
      name: `${a.name}, ${b.name}`,
      rank: a.rank + more,
      rankAfter: b.rankAfter + moreAfter,
      forward: (x) => b.forward(a.forward(x)),
      inverse: (y) => a.inverse(b.inverse(y)),
      logDet: (x) => add(sumOverLast(a.logDet(x), more), sumOverLast(b.logDet(a.forward(x)), moreAfter)) as X,
      shape: (s) => b.shape(a.shape(s)),
      shapeBefore: (s) => a.shapeBefore(b.shapeBefore(s)),
      codomain: independentOf(imageOf(a.codomain, b), moreAfter),
      ...(direction === undefined ? {} : { direction }),
    })
  }, first)
}
/** Where a map takes a set: all of its codomain, or of numbers the part between the images of the bounds. */
export const imageOf = (of: Support, map: Bijector): Support => {
  const whole = of.kind === 'real' || of.kind === 'independent' || of.eventRank > 0 || map.rank > 0 || map.direction === undefined
  if (whole) return map.codomain
  const at = (bound: X | number | undefined): X | number | undefined => (bound === undefined ? undefined : map.forward(bound))
  const [low, high] = [at(of.lower), at(of.upper)]
  const [a, b] = map.direction === 1 ? [low, high] : [high, low]
  const { lower, upper } = map.codomain
  const [from, to] = [a ?? lower, b ?? upper]
  if (from === undefined && to === undefined) return reals
  if (from === undefined) return lessThan(to!)
  return to === undefined ? greaterThan(from) : interval(from, to)
}
/**
 * The map the other way round.
 *
 * @example evaluate(inverseBijector(expBijector).forward(1))   // 0
 */
export const inverseBijector = (map: Bijector): Bijector => {
  const of = bijectorIn(map, 'inverseBijector')
  return made({
    name: `inverse of ${of.name}`,
    rank: of.rankAfter,
    rankAfter: of.rank,
    forward: of.inverse,
    inverse: of.forward,
    logDet: (y) => neg(of.logDet(of.inverse(y))) as X,
    shape: of.shapeBefore,
    shapeBefore: of.shape,
    codomain: independentOf(reals, of.rank),
    ...(of.direction === undefined ? {} : { direction: of.direction }),
  })
}

/**
 * The map from unconstrained numbers to a support, such as `d.support`.
 *
 * Positive numbers by exp, intervals by sigmoid, simplices by breaking a stick, Cholesky factors by their elements; arrays of elements element by element.
 * Errors  BadInput for a support of whole numbers or of a single point.
 * @example evaluate(bijectorTo(supports.interval(0, 10)).forward(0))   // 5
 */
export const bijectorTo = (support: Support): Bijector => {
  const op = 'bijectorTo'
  const known = reading(op, () => typeof support === 'object' && support !== null && typeof support.contains === 'function')
  if (!known) badInput(op, `the support is ${shown(support)}.`, 'give a support, such as d.support or supports.positive.')
  const { kind, lower, upper } = support
  if (kind === 'real') return identityBijector
  if (kind === 'greaterThan') return lower === 0 ? expBijector : chainBijectors(expBijector, affineBijector(lower!))
  if (kind === 'lessThan') return chainBijectors(expBijector, affineBijector(upper!, -1))
  if (kind === 'interval') return lower === 0 && upper === 1 ? sigmoidBijector : intervalBijector(lower!, upper!)
  if (kind === 'simplex') return simplexBijector
  if (kind === 'ordered') return orderedBijector
  if (kind === 'lowerCholesky') return choleskyBijector
  if (kind === 'correlationCholesky') return correlationBijector
  if (kind === 'positiveDefinite') return positiveDefiniteBijector
  if (kind === 'independent') return batchBijector(bijectorTo(support.base!), support.eventRank - support.base!.eventRank)
  return badInput(
    op,
    kind === 'point' ? 'the support is a single point.' : 'the support has whole numbers alone.',
    'no smooth map from all numbers reaches it.',
  )
}
