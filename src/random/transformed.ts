/** Numbers that are one function of uniform, normal or exponential ones and of parameters. */
import { integerOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type Kind, kind, type OptionsOf, readOptions } from '../core/errors/options.js'
import type { MadeDim, ZeroOf } from '../core/types/shape.js'
import {
  type AnyExpr,
  add,
  cast,
  type Dim,
  type DType,
  div,
  type Expr,
  exp,
  expandDims,
  type Float,
  floor,
  log,
  log1p,
  lt,
  maximum,
  mul,
  neg,
  pow,
  rightShiftLogical,
  type Shape,
  type SizesIn,
  sqrt,
  square,
  sub,
  sum,
  tan,
  where,
} from '../index.js'
import { wordOf, wordsFor } from './bits.js'
import { gammaOf, givenIn } from './gamma.js'
import {
  checkNumbers,
  type DistributionOptions,
  type Drawn,
  type DrawnFor,
  type DrawnForAll,
  type DtypeOption,
  drawnShape,
  dtypeOption,
  floatAmong,
  type GivenKey,
  type NoOptions,
  type Parameter,
  parameterIn,
  type ShapeIn,
  type ShapeOf,
  shapeFor,
  shapeIn,
  spread,
  wordsOf,
} from './given.js'
import { childKey } from './key.js'
import { exponentialOf, normalOf, type ShapedFn } from './normal.js'
import type { Words } from './threefry.js'
import { between, epsOf, fractionOf, tinyOf } from './uniform.js'

/** What draws of a shape and a dtype, by words of a key. */
const shaped = (op: string, f: (words: Words, shape: readonly number[], dtype: Float) => AnyExpr): ShapedFn =>
  ((key: unknown, shape: unknown, options: DtypeOption | undefined): AnyExpr => {
    const { dtype } = readOptions(dtypeOption, options, op)
    return f(wordsOf(key, op), shapeIn(shape, op), dtype)
  }) as never
/** What draws with one positive parameter. */
type WithOne = <const A extends Parameter, const O extends DistributionOptions = NoOptions>(
  key: GivenKey,
  a: A,
  options?: O,
) => DrawnFor<A, O>
const withOne = (op: string, name: string, f: (words: Words, a: AnyExpr, shape: readonly number[], dtype: Float) => AnyExpr): WithOne =>
  ((key: unknown, a: unknown, options: DistributionOptions | undefined): AnyExpr => {
    const { dtype, shape, parameters } = givenIn(options, { [name]: a }, op)
    return f(wordsFor(wordsOf(key, op), shape), parameters[0]!, shape, dtype)
  }) as never

/**
 * Samples of the Cauchy distribution with location 0 and scale 1: tan(pi (u - 1/2)).
 *
 * Errors  BadInput for an invalid key or shape.   Source  `jax.random.cauchy`.
 * @example cauchy(key(0), [2])   // [-0.26193, -1.2378]
 */
export const cauchy: ShapedFn = shaped('cauchy', (words, shape, dtype) =>
  tan(mul(sub(between(fractionOf(wordsFor(words, shape), dtype), epsOf(dtype), 1, dtype), 0.5), Math.PI)),
)
/**
 * Samples of the Maxwell distribution with scale 1: the length of a vector of three normal samples.
 *
 * Errors  BadInput for an invalid key or shape.   Source  `jax.random.maxwell`.
 * @example maxwell(key(0), [2])   // [1.9891, 0.42461]
 */
export const maxwell: ShapedFn = shaped('maxwell', (words, shape, dtype) =>
  sqrt(sum(square(normalOf(wordsFor(words, [...shape, 3]), dtype)), { axis: -1 })),
)
/** What draws -1 or 1: of floats unless `dtype` says i32. */
export type RademacherFn = <const S extends Shape = [], D extends Float | 'i32' = 'i32', R extends Drawn<S> = Drawn<S>>(
  key: GivenKey,
  shape?: SizesIn<S>,
  options?: { readonly dtype?: D | undefined },
) => Expr<R, NoInfer<D>>
const signDtype: Kind<DType, DType> = kind((given = 'i32', what, op) =>
  given === 'i32' || given === 'f32' || given === 'f64'
    ? given
    : badInput(op, `${what} is ${shown(given)}.`, "give 'i32', 'f32' or 'f64'."),
)
export const rademacherOptions = {
  /** 'i32' unless given. */
  dtype: signDtype,
}
/**
 * -1 or 1, each with probability 1/2.
 *
 * Dtype  i32, or the option's.   Rule  none.   Errors  BadInput for an invalid key or shape.   Source  `jax.random.rademacher`.
 * @example rademacher(key(0), [4])   // [-1, -1, 1, 1]
 */
export const rademacher: RademacherFn = ((key: unknown, shape: unknown, options: unknown): AnyExpr => {
  const op = 'rademacher'
  const { dtype } = readOptions(rademacherOptions, options as never, op)
  const words = wordsFor(wordsOf(key, op), shapeIn(shape, op))
  const down = mul(cast(rightShiftLogical(wordOf(words), 31), 'i32'), -2)
  return cast(add(down, 1), dtype) as AnyExpr
}) as never

/**
 * Samples of the lognormal distribution: e to the power of sigma times a normal sample.
 *
 * Shapes  sigma's, or `shape`.   Rule  in sigma: dx = x z dsigma.   Errors  BadInput for an invalid key, or for parameters that are not positive;
 *         ShapeMismatch.
 * Source  `jax.random.lognormal`.
 * @example lognormal(key(0), 1, { shape: [2] })   // [0.81396, 0.45623]
 */
export const lognormal: WithOne = withOne('lognormal', 'sigma', (words, sigma, _, dtype) => exp(mul(sigma, normalOf(words, dtype))))
/**
 * Samples of the Rayleigh distribution: the scale times the root of twice an exponential sample.
 *
 * Shapes  the scale's, or `shape`.   Rule  linear in the scale.   Errors  BadInput for an invalid key, or for parameters that are not positive;
 *         ShapeMismatch.
 * Source  `jax.random.rayleigh`.
 * @example rayleigh(key(0), 1, { shape: [2] })   // [1.31999, 1.74992]
 */
export const rayleigh: WithOne = withOne('rayleigh', 'scale', (words, scale, _, dtype) =>
  mul(scale, sqrt(mul(-2, log(between(fractionOf(words, dtype), tinyOf(dtype), 1, dtype))))),
)
/**
 * Samples of the Pareto distribution, 1 or more, of density b / x^(b + 1).
 *
 * Shapes  b's, or `shape`.   Rule  in b: x = e^(y / b), y exponential.   Errors  BadInput for an invalid key, or for parameters that are not positive;
 *         ShapeMismatch.
 * Source  `jax.random.pareto`.
 * @example pareto(key(0), 2, { shape: [2] })   // [1.3113, 1.1296]
 */
export const pareto: WithOne = withOne('pareto', 'b', (words, b, _, dtype) => exp(div(exponentialOf(words, dtype), b)))

/**
 * Samples of the Weibull distribution: the scale times an exponential sample to the power of 1 / concentration.
 *
 * Shapes  the parameters', which broadcast, or `shape`.   Rule  in both parameters.   Errors  BadInput for an invalid key, or for parameters that are not positive;
 *         ShapeMismatch.
 * Source  `jax.random.weibull_min`.
 * @example weibull(key(0), 1, 2, { shape: [2] })   // [0.73625, 0.49368]
 */
export const weibull = <const A extends Parameter, const B extends Parameter, const O extends DistributionOptions = NoOptions>(
  key: GivenKey,
  scale: A,
  concentration: B,
  options?: O,
): DrawnForAll<readonly [A, B], O> => {
  const op = 'weibull'
  const { dtype, shape, parameters } = givenIn(options as DistributionOptions | undefined, { scale, concentration }, op)
  // The logarithm of 0 would have no derivative: a number of 0 is drawn about once in 2^52.
  const e = maximum(exponentialOf(wordsFor(wordsOf(key, op), shape), dtype), tinyOf(dtype))
  return mul(parameters[0]!, pow(e, div(1, parameters[1]!))) as never
}
/**
 * Samples of the triangular distribution from `left` to `right`, most likely at `mode`.
 *
 * Shapes  the parameters', which broadcast, or `shape`.   Rule  in all three, with the quantile fixed.
 * Errors  BadInput for an invalid key, or unless left <= mode <= right with left below right, for plain numbers; ShapeMismatch.   Source  `jax.random.triangular`.
 * @example triangular(key(0), 0, 1, 4, { shape: [2] })   // [1.3583, 0.93015]
 */
export const triangular = <
  const A extends Parameter,
  const B extends Parameter,
  const C extends Parameter,
  const O extends DistributionOptions = NoOptions,
>(
  key: GivenKey,
  left: A,
  mode: B,
  right: C,
  options?: O,
): DrawnForAll<readonly [A, B, C], O> => {
  const op = 'triangular'
  const given = readOptions(triangularOptions, options as never, op)
  const dtype = given.dtype ?? floatAmong([left, mode, right])
  const named = [left, mode, right].map((x, i) => parameterIn(x, dtype, op, ['left', 'mode', 'right'][i]!))
  if (typeof left === 'number' && typeof mode === 'number' && typeof right === 'number' && !(left <= mode && mode <= right && left < right))
    badInput(op, `left, mode and right are ${left}, ${mode} and ${right}.`, 'give left <= mode <= right, left below right.')
  const shape = shapeFor(
    given.shape,
    named.map((x) => x.shape),
    op,
  )
  const [a, c, b] = named.map((x) => spread(x, shape)) as [AnyExpr, AnyExpr, AnyExpr]
  const u = fractionOf(wordsFor(wordsOf(key, op), shape), dtype)
  const width = sub(b, a)
  const rising = lt(u, div(sub(c, a), width))
  // Each root has its own side alone: on the other it would be of a number that is not its.
  const up = sqrt(where(rising, mul(mul(u, width), sub(c, a)), 1))
  const down = sqrt(where(rising, 1, mul(mul(sub(1, u), width), sub(b, c))))
  return where(rising, add(a, up), sub(b, down)) as never
}
export const triangularOptions = {
  /** The shape of the result, to which the parameters broadcast: theirs unless given. */
  shape: drawnShape,
  /** 'f32' or 'f64': that of the parameters unless given, 'f64' for plain numbers. */
  dtype: kind<Float | undefined, Float>((given, what, op) =>
    given === undefined || given === 'f32' || given === 'f64' ? given : badInput(op, `${what} is ${shown(given)}.`, "give 'f32' or 'f64'."),
  ),
}

export const geometricOptions = {
  /** The shape of the result, to which p broadcasts: that of p unless given. */
  shape: drawnShape,
}
/** Options of `geometric`. */
export type GeometricOptions = OptionsOf<typeof geometricOptions>
/**
 * Samples of the geometric distribution: the number of trials, 1 or more, until one succeeds, each with probability p.
 *
 * Shapes  p's, or `shape`.   Dtype  i32, 2147483647 at most.   Rule  none.   Errors  BadInput unless 0 < p <= 1.   Source  `jax.random.geometric`.
 * @example geometric(key(0), 0.3, { shape: [3] })   // [3, 5, 1]
 */
export const geometric = <const P extends Parameter, const O extends GeometricOptions = NoOptions>(
  key: GivenKey,
  p: P,
  options?: O,
): Expr<ShapeIn<O, ShapeOf<P>>, 'i32'> => {
  const op = 'geometric'
  const given = readOptions(geometricOptions, options as never, op)
  checkNumbers(p, (x) => x > 0 && x <= 1, 'p', 'above 0 and at most 1', op)
  const dtype = floatAmong([p])
  const share = parameterIn(p, dtype, op, 'p')
  const shape = shapeFor(given.shape, [share.shape], op)
  const u = between(fractionOf(wordsFor(wordsOf(key, op), shape), dtype), tinyOf(dtype), 1, dtype)
  return cast(add(floor(div(log(u), log1p(neg(share)))), 1), 'i32') as never
}

export const ballOptions = {
  ...dtypeOption,
  /** Which norm is at most 1: that of order p, 2 unless given. */
  p: kind<number, number>((given = 2, what, op) =>
    typeof given === 'number' && given > 0 && given < Number.POSITIVE_INFINITY
      ? given
      : badInput(op, `${what} is ${shown(given)}.`, 'give a positive number.'),
  ),
}
/** Options of `ball`. */
export interface BallOptions<D extends Float = Float> extends DtypeOption<D> {
  /** Which norm is at most 1: that of order p, 2 unless given. */
  readonly p?: number | undefined
}
/**
 * Points of d coordinates, uniform in the unit ball of the norm of order p.
 *
 * Shapes  [...shape, d].   Errors  BadInput for an invalid key, or for a dimension below 1 or a p that is not positive.
 * Source  Barthe et al. 2005; `jax.random.ball`.
 * @example ball(key(0), 3, [2]).shape   // [2, 3]
 */
export const ball = <const N extends number, const S extends readonly number[] = [], D extends Float = 'f64'>(
  key: GivenKey,
  d: N,
  shape?: S,
  options?: BallOptions<D>,
): Expr<[...Drawn<S>, MadeDim<N, ZeroOf<S>> & Dim], NoInfer<D>> => {
  const op = 'ball'
  const { dtype, p } = readOptions(ballOptions, options as never, op)
  const n = integerOf(d, 'd', op)
  if (n < 1) badInput(op, `d is ${n}.`, 'give a positive integer.')
  const to = shapeIn(shape, op)
  const words = wordsOf(key, op)
  const [first, second] = [childKey(words, 0), childKey(words, 1)]
  const sizes = [...to, n]
  // |g|^p is a gamma number of 1 / p where g has a density like e^-|g|^p.
  const powered = gammaOf(childKey(first, 0), spread(parameterIn(1 / p, dtype, op, 'p'), sizes), dtype, false, op)
  const sign = sub(1, mul(cast(rightShiftLogical(wordOf(wordsFor(childKey(first, 1), sizes)), 31), dtype), 2))
  const total = add(sum(powered, { axis: -1 }), exponentialOf(wordsFor(second, to), dtype))
  return mul(sign, pow(div(powered, expandDims(total, -1)), 1 / p)) as never
}
