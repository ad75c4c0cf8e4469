/** Gamma numbers by rejection, and what is made of them. */

import { badShape } from '../core/errors/explain.js'
import { readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  and,
  any,
  arange,
  cast,
  clamp,
  cond,
  cumsum,
  customRule,
  type Dim,
  div,
  type Expr,
  eq,
  exp,
  type Float,
  full,
  gammainc,
  ge,
  gt,
  le,
  log,
  lt,
  maximum,
  minimum,
  mul,
  neg,
  not,
  or,
  pow,
  reshape,
  type Shape,
  searchsorted,
  slice,
  softmax,
  sqrt,
  stack,
  sub,
  takeAlongAxis,
  where,
  whileLoop,
  zerosLike,
} from '../index.js'
import { firstWords, wordsFor } from './bits.js'
import { gammaGradient } from './gamma-gradient.js'
import {
  checkNumbers,
  type DistributionOptions,
  type DrawnFor,
  type DrawnForAll,
  type DtypeFor,
  drawOptions,
  floatAmong,
  type GivenKey,
  type NoOptions,
  type Parameter,
  parameterIn,
  type ShapeIn,
  type ShapeOf,
  shapeFor,
  sizeOf,
  spread,
  wordsOf,
} from './given.js'
import { childKey } from './key.js'
import { exponentialOf, normalOf } from './normal.js'
import type { Words } from './threefry.js'
import { fractionOf, tinyOf } from './uniform.js'

/** Rejections in a row: one more in twenty at most, so that none of 2^31 numbers takes so many. */
const MAX_STEPS = 100
/** Elements from which on those whose first number is not taken are gathered, and the share of all for which there is room at once. */
const MANY = 2048
const SHARE = 32

const chosen = (c: AnyExpr, [a, b]: Words, [d, e]: Words): Words => [where(c, a, d), where(c, b, e)]

/** Where elements stand between trials: the keys that the next one has, and whether it has keys of its own or draws a normal number again. */
interface State {
  readonly outer: Words
  readonly x: Words
  readonly u: Words
  readonly fresh: AnyExpr
  readonly open: AnyExpr
  readonly cube: AnyExpr
}
/** The number of a trial from its two keys: whether 1 + c x is positive, whether the number is taken, and its cube. */
const tried = (from: Words, u: Words, d: AnyExpr, dtype: Float) => {
  const normal = normalOf(firstWords(childKey(from, 1)), dtype)
  const v = add(1, mul(normal, div(1 / 3, sqrt(d))))
  const positive = gt(v, 0)
  const x2 = mul(normal, normal)
  const cube = where(positive, mul(mul(v, v), v), 1)
  const uniform = fractionOf(firstWords(u), dtype)
  const quick = lt(uniform, sub(1, mul(0.0331, mul(x2, x2))))
  const exact = lt(log(uniform), add(mul(0.5, x2), mul(d, add(sub(1, cube), log(cube)))))
  return { positive, taken: and(positive, or(quick, exact)), cube }
}
/** Each trial has three keys of the one before; a normal number that makes 1 + c x negative is drawn again from the second. */
const trial = (s: State, d: AnyExpr, dtype: Float): State => {
  const outer = chosen(s.fresh, childKey(s.outer, 0), s.outer)
  const from = chosen(s.fresh, childKey(s.outer, 1), s.x)
  const u = chosen(s.fresh, childKey(s.outer, 2), s.u)
  const { positive, taken, cube } = tried(from, u, d, dtype)
  return {
    ...{ outer, x: childKey(from, 0), u, fresh: positive, open: and(s.open, not(taken)) },
    cube: where(and(s.open, positive), cube, s.cube),
  }
}
/** Trials of all elements until each has its number: where they are few. */
const untilTaken = (init: State, d: AnyExpr, dtype: Float): AnyExpr => {
  const [end] = whileLoop(
    (s: { readonly open: AnyExpr }) => any(s.open) as never,
    ((s: State) => trial(s, d, dtype)) as never,
    init as never,
    { maxSteps: MAX_STEPS },
  )
  return (end as State).cube
}
const begun = (keys: Words, d: AnyExpr): State => {
  const unset = zerosLike(keys[0]) as AnyExpr
  const open = not(zerosLike(d) as AnyExpr) as AnyExpr
  return { outer: keys, x: [unset, unset], u: [unset, unset], fresh: open, open, cube: add(zerosLike(d) as AnyExpr, 1) }
}

/** V of gamma numbers d V with d = a - 1/3, a >= 1: the cube of 1 + c times a normal number, where a uniform one accepts it.   Source  Marsaglia and Tsang 2000. */
const accepted = (keys: Words, d: AnyExpr, dtype: Float): AnyExpr => {
  const n = sizeOf(d.shape)
  if (n < MANY) return untilTaken(begun(keys, d), d, dtype)
  const flat = (x: AnyExpr): AnyExpr => reshape(x, [n]) as AnyExpr
  return reshape(acceptedOfMany([flat(keys[0]), flat(keys[1])], flat(d), n, dtype), d.shape as number[]) as AnyExpr
}
/**
 * The same of many elements. All of them have one trial, which leaves at most one in twenty without a number; these are gathered, a share of all at a time, for their other trials.
 * Which they are follows from how many are open up to each.
 */
const acceptedOfMany = (keys: Words, d: AnyExpr, n: number, dtype: Float): AnyExpr => {
  const first = tried(childKey(keys, 1), childKey(keys, 2), d, dtype)
  const open = not(first.taken) as AnyExpr
  const upTo = cumsum(cast(open, 'i32')) as AnyExpr
  const size = Math.ceil(n / SHARE)
  const total = reshape(slice(upTo, [n - 1], [n]) as AnyExpr, []) as AnyExpr
  const body = ({ done, cube }: { readonly done: AnyExpr; readonly cube: AnyExpr }) => {
    const which = add(arange(size, 'i32') as AnyExpr, add(done, 1))
    const at = minimum(searchsorted(upTo as never, which as never) as AnyExpr, n - 1) as AnyExpr
    const of = (x: AnyExpr): AnyExpr => takeAlongAxis(x, at as never) as AnyExpr
    const [k, own]: [Words, AnyExpr] = [[of(keys[0]), of(keys[1])], of(d)]
    const s = trial(begun(k, own), own, dtype)
    // What is past the last one is done.
    const cubes = untilTaken({ ...s, open: and(s.open, le(which, total)) }, own, dtype)
    const place = sub(sub(upTo, 1), done)
    const here = and(open, and(ge(place, 0), lt(place, size)))
    const taken = takeAlongAxis(cubes, clamp(place, 0, size - 1) as never) as AnyExpr
    return { done: add(done, size), cube: where(here, taken, cube) }
  }
  const [end] = whileLoop(
    (s: { readonly done: AnyExpr }) => lt(s.done, total) as never,
    body as never,
    { done: full([], 0, 'i32') as AnyExpr, cube: first.cube } as never,
    { maxSteps: SHARE },
  )
  return (end as { readonly cube: AnyExpr }).cube
}

/** Gamma numbers, or their logarithms, of keys for each element. Below a = 1 that of a + 1 times u^(1 / a). */
const sampled = (keys: Words, a: AnyExpr, dtype: Float, logs: boolean): AnyExpr => {
  const above = ge(a, 1)
  const d = sub(where(above, a, add(a, 1)), 1 / 3)
  const v = accepted(childKey(keys, 0), d, dtype)
  const whole = logs ? add(log(d), log(v)) : mul(d, v)
  const boosted = (y: AnyExpr, k: Words, a: AnyExpr): AnyExpr => {
    const [boost, above] = [firstWords(childKey(k, 1)), ge(a, 1)]
    if (logs) {
      const power = neg(exponentialOf(boost, dtype))
      return add(y, where(or(above, eq(power, 0)), 0, div(power, a)))
    }
    return mul(y, where(above, 1, pow(sub(1, fractionOf(boost, dtype)), div(1, where(above, 1, a)))))
  }
  return cond(any(not(above)), boosted as never, ((y: AnyExpr) => y) as never, whole as never, keys as never, a as never) as never
}

/** The same with their derivative by a: of the logarithm, divided by the number itself. */
export const gammaOf = (key: Words, a: AnyExpr, dtype: Float, logs: boolean, name: string): AnyExpr => {
  const draw = ([k, alpha]: readonly [AnyExpr, AnyExpr]): AnyExpr => {
    const keys = wordsFor(wordsOf(k, name), alpha.shape)
    return sampled(keys, alpha, dtype, logs)
  }
  const made = customRule(((k: AnyExpr, alpha: AnyExpr) => draw([k, alpha])) as never, {
    name,
    frule: (([k, alpha]: readonly [AnyExpr, AnyExpr], [, da]: readonly [unknown, AnyExpr]) => {
      const y = made(k, alpha)
      const x = logs ? maximum(exp(y), tinyOf(dtype)) : y
      const slope = gammaGradient(alpha, x, dtype)
      return [y, mul(da, logs ? div(slope, x) : slope)]
    }) as never,
    distribution: ((y: AnyExpr, _k: AnyExpr, alpha: AnyExpr) => gammainc(alpha, logs ? exp(y) : y)) as never,
  }) as unknown as (k: AnyExpr, alpha: AnyExpr) => AnyExpr
  return made(stack([key[0], key[1]]) as AnyExpr, a)
}

const positive = (x: number): boolean => x > 0
export interface Given {
  readonly dtype: Float
  readonly shape: readonly number[]
  readonly parameters: readonly AnyExpr[]
}
/** Options and positive parameters, spread over the shape. */
export const givenIn = (options: DistributionOptions | undefined, parameters: Readonly<Record<string, unknown>>, op: string): Given => {
  const given = readOptions(drawOptions, options, op)
  const dtype = given.dtype ?? floatAmong(Object.values(parameters))
  const each = Object.entries(parameters).map(([name, x]) => {
    checkNumbers(x, positive, name, 'positive', op)
    return parameterIn(x, dtype, op, name)
  })
  const shape = shapeFor(
    given.shape,
    each.map((x) => x.shape),
    op,
  )
  return { dtype, shape, parameters: each.map((x) => spread(x, shape)) }
}

/**
 * Samples of the gamma distribution with shape parameter a > 0 and scale 1, of density x^(a - 1) e^-x / Gamma(a).
 *
 * Shapes  a's, or `shape`.   Rule  implicit: dx = -(dP/da) / p(x) da, P the distribution function of density p.
 * Errors  BadInput for an invalid key, or for parameters that are not positive; ShapeMismatch if a does not broadcast to the shape.
 * Source  Marsaglia and Tsang 2000; Figurnov, Mohamed and Mnih 2018; `jax.random.gamma`, whose samples these are up to rounding.
 * @example gamma(key(0), [0.5, 3])   // [0.098054, 1.9621]
 */
export const gamma = <const A extends Parameter, const O extends DistributionOptions = NoOptions>(
  key: GivenKey,
  a: A,
  options?: O,
): DrawnFor<A, O> => {
  const op = 'gamma'
  const { dtype, parameters } = givenIn(options as DistributionOptions | undefined, { a }, op)
  return gammaOf(wordsOf(key, op), parameters[0]!, dtype, false, op) as never
}

/** Two keys of one. */
const pair = (key: unknown, op: string): readonly [Words, Words] => {
  const words = wordsOf(key, op)
  return [childKey(words, 0), childKey(words, 1)]
}
/**
 * Samples of the beta distribution with parameters a > 0 and b > 0, of density x^(a - 1) (1 - x)^(b - 1) / B(a, b): x / (x + y) of two
 * gamma samples.
 *
 * Shapes  a's and b's, which broadcast, or `shape`.   Rule  that of the gamma samples, from whose logarithms it is computed.
 * Errors  BadInput for an invalid key, or for parameters that are not positive; ShapeMismatch.   Source  `jax.random.beta`.
 * @example beta(key(0), 2, 3, { shape: [2] })   // [0.32796, 0.61381]
 */
export const beta = <const A extends Parameter, const B extends Parameter, const O extends DistributionOptions = NoOptions>(
  key: GivenKey,
  a: A,
  b: B,
  options?: O,
): DrawnForAll<readonly [A, B], O> => {
  const op = 'beta'
  const { dtype, parameters } = givenIn(options as DistributionOptions | undefined, { a, b }, op)
  const [first, second] = pair(key, op)
  const x = gammaOf(first, parameters[0]!, dtype, true, op)
  const y = gammaOf(second, parameters[1]!, dtype, true, op)
  const most = maximum(x, y)
  const [p, q] = [exp(sub(x, most)), exp(sub(y, most))]
  return div(p, add(p, q)) as never
}

/** S, or the shape that options ask for in front of its last axis. */
type BeforeLast<S extends Shape, O> = 'shape' extends keyof O
  ? S extends readonly [...unknown[], infer N extends Dim]
    ? [...ShapeIn<O, []>, N]
    : Shape
  : S
/**
 * Samples of the Dirichlet distribution: along the last axis positive numbers with sum 1, gamma samples with parameters `alpha` divided by
 * their sum.
 *
 * Shapes  alpha's, [..., n]; with `shape`, those of alpha without its last axis broadcast to it: [...shape, n].
 * Rule    that of the gamma samples, from whose logarithms it is computed.   Source  `jax.random.dirichlet`.
 * Errors  BadInput for an invalid key, or for parameters that are not positive; ShapeMismatch, also for alpha of rank 0.
 * @example sum(dirichlet(key(0), [1, 2, 3]))   // 1
 */
export const dirichlet = <const A extends Parameter, const O extends DistributionOptions = NoOptions>(
  key: GivenKey,
  alpha: A,
  options?: O,
): Expr<BeforeLast<ShapeOf<A>, O>, DtypeFor<readonly [A], O>> => {
  const op = 'dirichlet'
  const given = readOptions(drawOptions, options, op)
  checkNumbers(alpha, positive, 'alpha', 'positive', op)
  const dtype = given.dtype ?? floatAmong([alpha])
  const a = parameterIn(alpha, dtype, op, 'alpha')
  const n = a.shape.at(-1)
  if (n === undefined) return badShape(op, [a.shape], 'alpha has rank 0.', 'give a parameter for each of the numbers that sum to 1.')
  const shape = [...shapeFor(given.shape, [a.shape.slice(0, -1)], op), n]
  return softmax(gammaOf(wordsOf(key, op), spread(a, shape), dtype, true, op), { axis: -1 }) as never
}

/**
 * Samples of Student's t distribution with `df` > 0 degrees of freedom: a normal sample divided by the root of a gamma sample of df / 2
 * over df / 2.
 *
 * Shapes  df's, or `shape`.   Rule  that of the gamma samples.   Source  `jax.random.t`.
 * Errors  BadInput for an invalid key, or for parameters that are not positive; ShapeMismatch.
 * @example studentT(key(0), 3, { shape: [2] })   // [1.4012, -0.60725]
 */
export const studentT = <const A extends Parameter, const O extends DistributionOptions = NoOptions>(
  key: GivenKey,
  df: A,
  options?: O,
): DrawnFor<A, O> => {
  const op = 'studentT'
  const { dtype, shape, parameters } = givenIn(options as DistributionOptions | undefined, { df }, op)
  const [first, second] = pair(key, op)
  const half = div(parameters[0]!, 2)
  return mul(normalOf(wordsFor(first, shape), dtype), sqrt(div(half, gammaOf(second, half, dtype, false, op)))) as never
}
