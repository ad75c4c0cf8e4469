/** What a distribution is: a value made of expressions, and how one is made of formulae. */
import { badShape } from '../core/errors/explain.js'
import { type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  and,
  cast,
  type DType,
  type Expr,
  type Float,
  floor,
  ge,
  le,
  log1p,
  lt,
  minimum,
  neg,
  not,
  or,
  type Shape,
  where,
} from '../index.js'
import {
  checkNumbers,
  type Drawn,
  type DrawnForAll,
  type DtypeFor,
  float,
  floatAmong,
  type GivenKey,
  isArray,
  type NoOptions,
  type Parameter,
  parameterIn,
  type ShapeOf,
  shapeFor,
  shapeIn,
  spread,
} from '../random/given.js'
import type { Bijector } from './bijectors/bijector.js'
import type { Support } from './support.js'

/** A distribution: its draws, its density, and what else of it has a formula. Fields that are absent have none. */
export interface Distribution {
  readonly name: string
  /** The shape of the parameters, which broadcast: distributions of different parameters, side by side. */
  readonly batchShape: readonly number[]
  /** The shape of one draw. */
  readonly eventShape: readonly number[]
  /** The dtype of a draw. */
  readonly dtype: DType
  readonly support: Support
  /** The parameters by their names, as expressions. */
  readonly parameters: Readonly<Record<string, AnyExpr>>
  /** Draws of shape [...shape, ...batchShape, ...eventShape]. */
  readonly sample: (key: GivenKey, shape?: readonly number[]) => AnyExpr
  /** The logarithm of the density, or of the probability, at x: shape [...x, ...batchShape] broadcast, without the axes of the event; -Infinity outside the support. */
  readonly logProb: (x: Parameter) => AnyExpr
  /** The probability of a number of at most x. */
  readonly cdf?: (x: Parameter) => AnyExpr
  /** The logarithm of the probability of a number above x, log(1 - cdf(x)), with its digits where cdf(x) is nearly 1. */
  readonly logSurvival?: (x: Parameter) => AnyExpr
  /** The least x with cdf(x) >= q; NaN unless 0 <= q <= 1. */
  readonly icdf?: (q: Parameter) => AnyExpr
  readonly mean?: () => AnyExpr
  /** The variance of each element of a draw. */
  readonly variance?: () => AnyExpr
  /** The expectation of -logProb. */
  readonly entropy?: () => AnyExpr
  /** What `kl` knows of it. */
  readonly divergence?: Divergence
}
/** What is known of divergences: from the distributions of a family, or where they follow from moments. */
export interface Divergence {
  /** The family and its parameters: 'gamma' of exponential ones too. */
  readonly family?: Family
  /** The expectation of -logProb of this distribution, for draws of another one: undefined where it does not follow from that one's moments. */
  readonly crossEntropy?: (from: Distribution) => AnyExpr | undefined
  /** The divergence from another one, where the distribution is made of others. */
  readonly to?: (other: Distribution) => AnyExpr | undefined
  /** The distribution that it is made of. */
  readonly base?: Distribution
  /** The map by which it is made of it. */
  readonly map?: Bijector
}
/** Distributions whose divergence from each other has a formula. */
export interface Family {
  readonly name: string
  /** The dtype of the parameters; undefined of plain numbers. */
  readonly dtype: Float | undefined
  readonly values: (dtype: Float) => Values
  readonly kl: (p: Values, q: Values) => AnyExpr
}

/** Options of distributions. */
export type FloatOptions = OptionsOf<typeof floatOptions>
export const floatOptions = {
  /** 'f32' or 'f64': that of the parameters unless given, 'f64' for plain numbers. */
  dtype: float,
}
/** Parameters as options ask for them. */
type As<P extends readonly unknown[], O> = O extends { readonly dtype: infer D extends Float }
  ? { readonly [K in keyof P]: Expr<ShapeOf<P[K]>, D> }
  : P
type BatchOf<P extends readonly unknown[]> = DrawnForAll<P, NoOptions> extends Expr<infer S, infer _D> ? S : Shape
type With<S extends Shape, B extends Shape> = [number] extends [B['length']] ? Shape : [...S, ...B]
type Result<P extends readonly unknown[]> = DrawnForAll<P, NoOptions>
/** What may be absent. */
export type Optional = 'cdf' | 'icdf' | 'mean' | 'variance' | 'entropy'
interface Typed<P extends readonly unknown[]> {
  readonly cdf: <const X extends Parameter>(x: X) => Result<readonly [X, ...P]>
  readonly logSurvival: <const X extends Parameter>(x: X) => Result<readonly [X, ...P]>
  readonly icdf: <const X extends Parameter>(q: X) => Result<readonly [X, ...P]>
  readonly mean: () => Result<P>
  readonly variance: () => Result<P>
  readonly entropy: () => Result<P>
}
/** What all have, whose types do not depend on parameters. */
type Fixed = Omit<Distribution, keyof Typed<readonly []> | 'dtype' | 'sample' | 'logProb'>
/** What goes along with a distribution function. */
type Full<Has extends Optional> = 'cdf' extends Has ? Has | 'logSurvival' : Has
/** A distribution of numbers with the parameters P, which has the fields Has. */
export interface OnLine<P extends readonly unknown[], D extends DType> extends Fixed {
  readonly dtype: D
  readonly sample: <const S extends readonly number[] = []>(key: GivenKey, shape?: S) => Expr<With<Drawn<S>, BatchOf<P>>, D>
  readonly logProb: <const X extends Parameter>(x: X) => Result<readonly [X, ...P]>
}
/** A distribution of floats. */
export type Continuous<P extends readonly unknown[], O, Has extends Optional> = OnLine<As<P, O>, DtypeFor<As<P, O>, NoOptions>> &
  Pick<Typed<As<P, O>>, Full<Has>>
/** A distribution of whole numbers. */
export type Discrete<P extends readonly unknown[], O, Has extends Optional> = CountsOf<As<P, O>> & Pick<Typed<As<P, O>>, Full<Has>>
interface CountsOf<P extends readonly unknown[]> extends Fixed {
  readonly dtype: 'i32'
  readonly sample: <const S extends readonly number[] = []>(key: GivenKey, shape?: S) => Expr<With<Drawn<S>, BatchOf<P>>, 'i32'>
  readonly logProb: <const X extends Parameter>(x: X) => Expr<BatchOf<readonly [X, ...P]>, DtypeFor<P, NoOptions>>
}
/** A distribution of arrays, which has the fields Has. */
export type Having<Has extends Optional> = Distribution & Required<Pick<Distribution, Full<Has>>>
/** All of them. */
export type All = Optional

/** Parameters of one dtype. */
export type Values<N extends string = string> = Readonly<Record<N, AnyExpr>>
/** What a parameter may be. */
export interface Declared {
  /** The axes that belong to the event: none unless given. */
  readonly rank?: number
  /** Which numbers are allowed, and that in words: all unless given. */
  readonly allowed?: (x: number) => boolean
  readonly must?: string
}
export const anything: Declared = {}
export const positive: Declared = { allowed: (x) => x > 0, must: 'positive' }
export const probability: Declared = { allowed: (x) => x >= 0 && x <= 1, must: 'from 0 to 1' }
export const count: Declared = { allowed: (x) => x >= 0 && Number.isInteger(x), must: 'a whole number from 0' }

/** A distribution as formulae of its parameters. What they are given lies in the support. */
export interface Recipe<N extends string> {
  readonly name: string
  readonly parameters: Readonly<Record<N, Declared>>
  readonly discrete?: boolean
  readonly support: (p: Values<N>) => Support
  /** The shape of an event: [] unless given. */
  readonly eventShape?: (p: Values<N>) => readonly number[]
  /** What the parameters are turned into, once: factors of matrices. */
  readonly prepare?: (p: Values<N>) => Values<N>
  /** Draws; the shape is that of the draws and the batch. */
  readonly sample: (key: GivenKey, shape: readonly number[], p: Values<N>, dtype: Float) => AnyExpr
  readonly logProb: (x: AnyExpr, p: Values<N>, dtype: Float) => AnyExpr
  readonly cdf?: (x: AnyExpr, p: Values<N>, dtype: Float) => AnyExpr
  /** log(1 - cdf(x)); from the distribution function where none is given. */
  readonly logSurvival?: (x: AnyExpr, p: Values<N>, dtype: Float) => AnyExpr
  readonly icdf?: (q: AnyExpr, p: Values<N>, dtype: Float) => AnyExpr
  readonly mean?: (p: Values<N>, dtype: Float) => AnyExpr
  readonly variance?: (p: Values<N>, dtype: Float) => AnyExpr
  readonly entropy?: (p: Values<N>, dtype: Float) => AnyExpr
  readonly family?: { readonly name: string; readonly of?: (p: Values<N>) => Values; readonly kl: (p: Values, q: Values) => AnyExpr }
  readonly crossEntropy?: (p: Values<N>, from: Distribution) => AnyExpr | undefined
}
/** No draw is larger. */
const MOST = 2 ** 31 - 1
const isFloat = (d: DType): boolean => d === 'f32' || d === 'f64'
const size = (rank: number, shape: readonly number[]): readonly number[] => shape.slice(0, shape.length - rank)

/** The distribution of a recipe with these parameters. */
export const make = <N extends string>(recipe: Recipe<N>, given: Readonly<Record<N, unknown>>, options: unknown): Distribution => {
  const { name, parameters } = recipe
  const names = Object.keys(parameters) as N[]
  const asked = readOptions(floatOptions, options, name).dtype
  const once = {} as Record<N, Parameter>
  for (const n of names) {
    const { allowed, must } = parameters[n]
    const x = given[n]
    if (allowed !== undefined) checkNumbers(x, allowed, n, must!, name)
    // Arrays of numbers have no dtype of their own; they are read once, here.
    once[n] = typeof x === 'number' || isArray(x) ? x : parameterIn(x, 'f64', name, n)
  }
  const plain = asked === undefined && !names.some((n) => isArray(given[n]))
  const own = asked ?? floatAmong(names.map((n) => given[n]))
  const made = new Map<Float, Values<N>>()
  const at = (dtype: Float): Values<N> => {
    const known = made.get(dtype)
    if (known !== undefined) return known
    const values = Object.fromEntries(names.map((n) => [n, parameterIn(once[n], dtype, name, n)])) as unknown as Values<N>
    const prepared = recipe.prepare?.(values) ?? values
    made.set(dtype, prepared)
    return prepared
  }
  const values = at(own)
  for (const n of names) {
    const [rank, { shape }] = [parameters[n].rank ?? 0, values[n]]
    if (shape.length < rank) badShape(name, [shape], `${n} has rank ${shape.length}, and must have ${rank} or more.`)
  }
  const batchShape = shapeFor(
    undefined,
    names.map((n) => size(parameters[n].rank ?? 0, values[n].shape)),
    name,
  )
  const eventShape = recipe.eventShape?.(values) ?? []
  const support = recipe.support(values)
  /** What is given as x, and the dtype of the result. */
  const argument = (x: Parameter, what: string): readonly [AnyExpr, Float] => {
    const its = isArray(x) && (isFloat(x.dtype) || recipe.discrete !== true) ? x.dtype : undefined
    const dtype =
      its === undefined || (plain && !isFloat(its)) ? own : plain ? (its as Float) : own === 'f32' && its === 'f32' ? 'f32' : 'f64'
    const e = parameterIn(x, dtype, name, what)
    const wrong = e.shape.length < eventShape.length || eventShape.some((d, i) => e.shape[e.shape.length - eventShape.length + i] !== d)
    if (wrong)
      badShape(
        name,
        [e.shape],
        `${what} has shape [${e.shape.join(', ')}], an event has shape [${eventShape.join(', ')}].`,
        'give events along the last axes.',
      )
    shapeFor(undefined, [size(eventShape.length, e.shape), batchShape], name)
    return [e, dtype]
  }
  const supportAt = (dtype: Float): Support => (dtype === own ? support : recipe.support(at(dtype)))
  const logProb = (given: Parameter): AnyExpr => {
    const [x, dtype] = argument(given, 'x')
    const { outside, inner } = supportAt(dtype)
    const out = outside?.(x)
    const p = at(dtype)
    if (out === undefined) return recipe.logProb(x, p, dtype)
    return where(out, Number.NEGATIVE_INFINITY, recipe.logProb(inner === undefined ? x : inner(x, out), p, dtype)) as AnyExpr
  }
  /** A function of x inside the support; below that it is `low`, and from its end on `high`. */
  const along =
    (f: (x: AnyExpr, p: Values<N>, dtype: Float) => AnyExpr, low: number, high: number) =>
    (given: Parameter): AnyExpr => {
      const [x0, dtype] = argument(given, 'x')
      const { lower, upper, inner } = supportAt(dtype)
      const x = recipe.discrete === true ? (minimum(floor(x0), MOST) as AnyExpr) : x0
      const [below, above] = [lower === undefined ? undefined : lt(x, lower), upper === undefined ? undefined : ge(x, upper)]
      const out = below === undefined ? above : above === undefined ? below : or(below, above)
      const y = f(out === undefined || inner === undefined ? x : inner(x, out as AnyExpr), at(dtype), dtype)
      const up = above === undefined ? y : where(above, high, y)
      return (below === undefined ? up : where(below, low, up)) as AnyExpr
    }
  const icdf = (given: Parameter): AnyExpr => {
    const [q, dtype] = argument(given, 'q')
    const out = not(and(ge(q, 0), le(q, 1))) as AnyExpr
    return where(out, Number.NaN, recipe.icdf!(where(out, 0.5, q) as AnyExpr, at(dtype), dtype)) as AnyExpr
  }
  const moment = (f: (p: Values<N>, dtype: Float) => AnyExpr) => (): AnyExpr => spread(f(values, own), [...batchShape, ...eventShape])
  const scalar = (f: (p: Values<N>, dtype: Float) => AnyExpr) => (): AnyExpr => spread(f(values, own), batchShape)
  const { family, crossEntropy } = recipe
  const divergence: Divergence = {
    ...(family === undefined
      ? {}
      : {
          family: {
            name: family.name,
            dtype: plain ? undefined : own,
            values: (dtype) => family.of?.(at(dtype)) ?? (at(dtype) as Values),
            kl: family.kl,
          },
        }),
    ...(crossEntropy === undefined ? {} : { crossEntropy: (from) => crossEntropy(values, from) }),
  }
  return Object.freeze({
    name,
    batchShape,
    eventShape,
    dtype: recipe.discrete === true ? 'i32' : own,
    support,
    parameters: values as Values,
    sample: (key: GivenKey, shape?: readonly number[]) => {
      const to = [...shapeIn(shape, name), ...batchShape]
      const drawn = recipe.sample(key, to, values, own)
      return spread(recipe.discrete === true ? (cast(drawn, 'i32') as AnyExpr) : drawn, [...to, ...eventShape])
    },
    logProb,
    ...(recipe.cdf === undefined
      ? {}
      : {
          cdf: along(recipe.cdf, 0, 1),
          logSurvival: along(
            recipe.logSurvival ?? ((x, p, dtype) => log1p(neg(recipe.cdf!(x, p, dtype))) as AnyExpr),
            0,
            Number.NEGATIVE_INFINITY,
          ),
        }),
    ...(recipe.icdf === undefined ? {} : { icdf }),
    ...(recipe.mean === undefined ? {} : { mean: moment(recipe.mean) }),
    ...(recipe.variance === undefined ? {} : { variance: moment(recipe.variance) }),
    ...(recipe.entropy === undefined ? {} : { entropy: scalar(recipe.entropy) }),
    divergence,
  })
}
