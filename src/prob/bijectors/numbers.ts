/** Maps of numbers. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import {
  type AnyExpr,
  abs,
  add,
  div,
  exp,
  expm1,
  isExpr,
  isTensor,
  log,
  log1p,
  logit,
  logSigmoid,
  mul,
  neg,
  pow,
  sigmoid,
  softplus,
  sub,
  tanh,
} from '../../index.js'
import { type Parameter, parameterIn } from '../../random/given.js'
import { greaterThan, interval, reals } from '../support.js'
import { type Bijector, made, zeros } from './bijector.js'

type X = AnyExpr
/**
 * The map y = x.
 *
 * @example evaluate(identityBijector.logDet([1, 2]))   // [0, 0]
 */
export const identityBijector: Bijector = /*#__PURE__*/ made({
  name: 'identity',
  forward: (x) => x,
  inverse: (y) => y,
  logDet: zeros,
  codomain: reals,
  direction: 1,
})
/**
 * The map y = e^x, from all numbers to the positive ones.
 *
 * @example evaluate(expBijector.inverse([1, 10]))   // [0, 2.3026]
 */
export const expBijector: Bijector = /*#__PURE__*/ made({
  name: 'exp',
  forward: (x) => exp(x) as X,
  inverse: (y) => log(y) as X,
  logDet: (x) => x,
  codomain: greaterThan(0, true),
  direction: 1,
})
/**
 * The map y = log(1 + e^x), from all numbers to the positive ones, nearly y = x where x is large.
 *
 * @example evaluate(softplusBijector.forward([0, 3]))   // [0.69315, 3.0486]
 */
export const softplusBijector: Bijector = /*#__PURE__*/ made({
  name: 'softplus',
  forward: (x) => softplus(x) as X,
  inverse: (y) => add(y, log(neg(expm1(neg(y))))) as X,
  logDet: (x) => logSigmoid(x) as X,
  codomain: greaterThan(0, true),
  direction: 1,
})
/**
 * The map y = 1 / (1 + e^-x), from all numbers to those between 0 and 1.
 *
 * @example evaluate(sigmoidBijector.logDet(0))   // -1.3863
 */
export const sigmoidBijector: Bijector = /*#__PURE__*/ made({
  name: 'sigmoid',
  forward: (x) => sigmoid(x) as X,
  inverse: (y) => logit(y) as X,
  logDet: (x) => add(logSigmoid(x), logSigmoid(neg(x))) as X,
  codomain: interval(0, 1, true),
  direction: 1,
})
/** log(1 - tanh(x)^2). */
export const logSech2 = (x: X): X => mul(2, sub(sub(Math.LN2, x), softplus(mul(-2, x)))) as X
export const atanh = (y: X): X => mul(0.5, sub(log1p(y), log1p(neg(y)))) as X
/**
 * The map y = tanh x, from all numbers to those between -1 and 1.
 *
 * @example evaluate(tanhBijector.inverse(0.5))   // 0.54931
 */
export const tanhBijector: Bijector = /*#__PURE__*/ made({
  name: 'tanh',
  forward: (x) => tanh(x) as X,
  inverse: atanh,
  logDet: logSech2,
  codomain: interval(-1, 1, true),
  direction: 1,
})
/** A parameter of a map, of x's dtype. */
const like = (given: Parameter, x: X, op: string, what: string): X => parameterIn(given, x.dtype as 'f64', op, what)
const settled = (given: Parameter, op: string, what: string): Parameter =>
  typeof given === 'number' || isExpr(given) || isTensor(given)
    ? given
    : Array.isArray(given)
      ? (parameterIn(given, 'f64', op, what) as Parameter)
      : badInput(op, `${what} is ${shown(given)}.`, 'give an expression, a tensor, a number or an array of numbers.')
/**
 * The map y = shift + scale x.
 *
 * Shapes  the parameters broadcast with x.   Errors  BadInput for a scale of 0.
 * @example evaluate(affineBijector(1, 2).forward([0, 1]))   // [1, 3]
 */
export const affineBijector = (shift: Parameter, scale: Parameter = 1): Bijector => {
  const op = 'affineBijector'
  const [a, b] = [settled(shift, op, 'shift'), settled(scale, op, 'scale')]
  if (b === 0) badInput(op, 'scale is 0.', 'such a map has no inverse.')
  return made({
    name: 'affine',
    forward: (x) => add(like(a, x, op, 'shift'), mul(like(b, x, op, 'scale'), x)) as X,
    inverse: (y) => div(sub(y, like(a, y, op, 'shift')), like(b, y, op, 'scale')) as X,
    logDet: (x) => add(zeros(x), log(abs(like(b, x, op, 'scale')))) as X,
    codomain: reals,
    ...(typeof b === 'number' ? { direction: b > 0 ? (1 as const) : (-1 as const) } : {}),
  })
}
/**
 * The map y = x^power of positive numbers.
 *
 * Errors  BadInput for a power that is 0 or not finite.
 * @example evaluate(powerBijector(2).inverse(9))   // 3
 */
export const powerBijector = (power: number): Bijector => {
  const op = 'powerBijector'
  if (typeof power !== 'number' || power === 0 || !Number.isFinite(power))
    badInput(op, `power is ${shown(power)}.`, 'give a number other than 0.')
  return made({
    name: 'power',
    forward: (x) => pow(x, power) as X,
    inverse: (y) => pow(y, 1 / power) as X,
    logDet: (x) => add(mul(power - 1, log(x)), Math.log(Math.abs(power))) as X,
    codomain: greaterThan(0, true),
    direction: power > 0 ? 1 : -1,
  })
}
/**
 * The map from all numbers to those between two bounds: y = lower + (upper - lower) / (1 + e^-x).
 *
 * Shapes  the bounds broadcast with x.
 * @example evaluate(intervalBijector(2, 4).forward(0))   // 3
 */
export const intervalBijector = (lower: Parameter, upper: Parameter): Bijector => {
  const op = 'intervalBijector'
  const [a, b] = [settled(lower, op, 'lower'), settled(upper, op, 'upper')]
  const ends = (x: X): readonly [X, X] => [like(a, x, op, 'lower'), like(b, x, op, 'upper')]
  return made({
    name: 'interval',
    forward: (x) => {
      const [low, high] = ends(x)
      return add(low, mul(sub(high, low), sigmoid(x))) as X
    },
    inverse: (y) => {
      const [low, high] = ends(y)
      return sub(log(sub(y, low)), log(sub(high, y))) as X
    },
    logDet: (x) => {
      const [low, high] = ends(x)
      return add(log(sub(high, low)), add(logSigmoid(x), logSigmoid(neg(x)))) as X
    },
    codomain: interval(a as X | number, b as X | number, true),
    direction: 1,
  })
}
