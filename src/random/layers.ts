/** What layers draw: first parameters and masks. */
import { integerOf, shown } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { integer, number, type OptionsFor, type OptionsOf, raw, readOptions } from '../core/errors/options.js'
import type { MadeDim } from '../core/types/shape.js'
import {
  type AnyExpr,
  add,
  cholesky,
  type Dim,
  type Expr,
  expandDims,
  type Float,
  full,
  lt,
  dropout as masked,
  matmul,
  mul,
  qr,
  type Shape,
  type Size,
  type SizesIn,
  squeeze,
  type Tensor,
  type WithNumber,
} from '../index.js'
import { wordsFor } from './bits.js'
import {
  type DistributionOptions,
  type Drawn,
  type DtypeFor,
  type DtypeOption,
  drawOptions,
  dtypeOption,
  exprOf,
  floatAmong,
  type GivenKey,
  isArray,
  type Known,
  type NoOptions,
  type NumberLists,
  type Parameter,
  parameterIn,
  type ShapeIn,
  type ShapeOf,
  shapeFor,
  shapeIn,
  sizeOf,
  wordsOf,
} from './given.js'
import { normalOf, truncatedOf } from './normal.js'
import { between, fractionOf } from './uniform.js'

/** Options of the initialisers. */
export interface InitOptions<D extends Float = Float> extends DtypeOption<D> {
  /** A factor of the standard deviation: 1 unless given. */
  readonly gain?: number | undefined
  /** The axis of the inputs: the second last unless given. For kernels of `conv`, 1. */
  readonly inAxis?: number | undefined
  /** The axis of the outputs: the last unless given. For kernels of `conv`, 0. */
  readonly outAxis?: number | undefined
}
export const initOptions = { ...dtypeOption, gain: number(1), inAxis: integer(-2), outAxis: integer(-1) } satisfies OptionsFor<InitOptions>
/** Initial parameters of a shape: `f(key, shape, options)`. */
export interface Initialiser {
  <const S extends Shape, D extends Float = 'f64', R extends Drawn<S> = Drawn<S>>(
    key: GivenKey,
    shape: SizesIn<S>,
    options?: InitOptions<D>,
    ...no: WithNumber<S>
  ): Expr<R, NoInfer<D>>
  <const S extends Shape, D extends Float = 'f64'>(key: GivenKey, shape: SizesIn<S>, options?: InitOptions<D>): Expr<Known<S>, NoInfer<D>>
}

/** The standard deviation of what lies between -2 and 2 of normal numbers. */
const WITHIN_TWO = 0.8796256610342398
/** Numbers of mean 0 and variance gain^2 scale / fan. */
const initialiser = (op: string, scale: number, fan: (inside: number, outside: number) => number, normal: boolean): Initialiser =>
  ((key: unknown, given: unknown, options: InitOptions | undefined): AnyExpr => {
    const { dtype, gain, inAxis, outAxis } = readOptions(initOptions, options, op)
    const shape = shapeIn(given, op)
    const at = (i: number, what: string): number => {
      if (shape.length >= 2 && i >= -shape.length && i < shape.length) return (i + shape.length) % shape.length
      return badInput(
        op,
        `${what} is ${i}, the shape is [${shape.join(', ')}].`,
        'give a shape with an axis for what comes in and one for what goes out.',
      )
    }
    const [i, o] = [at(inAxis, 'inAxis'), at(outAxis, 'outAxis')]
    if (i === o) badInput(op, `inAxis and outAxis are both ${i}.`)
    const field = sizeOf(shape.filter((_, k) => k !== i && k !== o))
    // An empty array has no numbers to scale.
    const deviation = gain * Math.sqrt(scale / Math.max(1, fan(shape[i]! * field, shape[o]! * field)))
    const words = wordsFor(wordsOf(key, op), shape)
    if (!normal) return mul(between(fractionOf(words, dtype), -1, 1, dtype), deviation * Math.sqrt(3))
    const bound = (x: number): AnyExpr => full([], x, dtype) as AnyExpr
    return mul(truncatedOf(words, bound(-2), bound(2), dtype), deviation / WITHIN_TWO)
  }) as never
const mean = (a: number, b: number): number => (a + b) / 2
const incoming = (a: number): number => a

/**
 * Initial parameters for tanh and sigmoid: uniform, of variance 2 / (in + out).
 *
 * Errors  BadInput for a shape of fewer than two axes.   Source  Glorot and Bengio 2010; `jax.nn.initializers.glorot_uniform`.
 * @example glorotUniform(key(0), [2, 3]).shape   // [2, 3]
 */
export const glorotUniform: Initialiser = initialiser('glorotUniform', 1, mean, false)
/**
 * Initial parameters for tanh and sigmoid: normal, truncated at two standard deviations, of variance 2 / (in + out).
 *
 * Errors  BadInput for a shape of fewer than two axes.   Source  Glorot and Bengio 2010; `jax.nn.initializers.glorot_normal`.
 * @example glorotNormal(key(0), [2, 3]).shape   // [2, 3]
 */
export const glorotNormal: Initialiser = initialiser('glorotNormal', 1, mean, true)
/**
 * Initial parameters for relu: uniform, of variance 2 / in.
 *
 * Errors  BadInput for a shape of fewer than two axes.   Source  He et al. 2015; `jax.nn.initializers.he_uniform`.
 * @example heUniform(key(0), [2, 3]).shape   // [2, 3]
 */
export const heUniform: Initialiser = initialiser('heUniform', 2, incoming, false)
/**
 * Initial parameters for relu: normal, truncated at two standard deviations, of variance 2 / in.
 *
 * Errors  BadInput for a shape of fewer than two axes.   Source  He et al. 2015; `jax.nn.initializers.he_normal`.
 * @example heNormal(key(0), [2, 3]).shape   // [2, 3]
 */
export const heNormal: Initialiser = initialiser('heNormal', 2, incoming, true)
/**
 * Initial parameters for selu: uniform, of variance 1 / in.
 *
 * Errors  BadInput for a shape of fewer than two axes.   Source  LeCun et al. 1998; `jax.nn.initializers.lecun_uniform`.
 * @example lecunUniform(key(0), [2, 3]).shape   // [2, 3]
 */
export const lecunUniform: Initialiser = initialiser('lecunUniform', 1, incoming, false)
/**
 * Initial parameters for selu: normal, truncated at two standard deviations, of variance 1 / in.
 *
 * Errors  BadInput for a shape of fewer than two axes.   Source  LeCun et al. 1998; `jax.nn.initializers.lecun_normal`.
 * @example lecunNormal(key(0), [2, 3]).shape   // [2, 3]
 */
export const lecunNormal: Initialiser = initialiser('lecunNormal', 1, incoming, true)

/**
 * x / (1 - rate) with probability 1 - rate, else 0: the `dropout` of the library with a mask drawn from the key.
 *
 * Shapes  x's.   Dtype  x's, f64 for i32 and bool; the mask is of f32 numbers, the same for every dtype.   Rule  xBar = yBar masked and scaled alike.
 * Errors  BadInput unless 0 <= rate < 1, or for an invalid key.   Source  Srivastava et al. 2014.
 * @example dropout([1, 1, 1, 1], 0.5, key(1))   // [2, 0, 2, 2]
 */
export const dropout = <const X extends Expr | Tensor | NumberLists | number>(
  x: X,
  rate: number,
  key: GivenKey,
): Expr<ShapeOf<X>, X extends { readonly dtype: infer D } ? (D extends Float ? D : 'f64') : 'f64'> => {
  const op = 'dropout'
  if (!(typeof rate === 'number' && rate >= 0 && rate < 1))
    badInput(op, `rate is ${shown(rate)}.`, 'write dropout(x, rate, key) with 0 <= rate < 1.')
  const words = wordsOf(key, op)
  const array = isArray(x) ? exprOf(x) : parameterIn(x, 'f64', op, 'x')
  return masked(array, lt(fractionOf(wordsFor(words, array.shape), 'f32'), Math.fround(1 - rate)), rate) as never
}

export const multivariateOptions = {
  ...drawOptions,
  /** Positive definite, [..., n, n]: its Cholesky factor is taken, as `cholesky` has it. */
  covariance: raw<Parameter>(),
  /** In its place L with L L^T the covariance, [..., n, n]: its Cholesky factor, or any other. */
  factor: raw<Parameter>(),
}
/** Options of `multivariateNormal`. */
export type MultivariateNormalOptions = OptionsOf<typeof multivariateOptions>
/** The shape of a parameter, of lists by their lengths. */
type Extents<A> = A extends readonly number[]
  ? [number extends A['length'] ? Dim : A['length']]
  : A extends readonly (infer Row)[]
    ? number extends Row
      ? Shape
      : Extents<Row> extends infer S extends Shape
        ? [number extends A['length'] ? Dim : A['length'], ...S]
        : Shape
    : ShapeOf<A>
/** What the options give as a matrix. */
type MatrixOf<O> = O extends { readonly covariance: infer A } | { readonly factor: infer A } ? A : never
/** Without axes in front of the matrix a vector has the mean's shape. */
type VectorsOf<M, O> = O extends { readonly shape: infer Z extends readonly number[] }
  ? Extents<M> extends readonly [...unknown[], infer N extends Dim]
    ? [...Drawn<Z>, N]
    : Shape
  : 'shape' extends keyof O
    ? Shape
    : Extents<MatrixOf<O>> extends readonly [unknown, unknown]
      ? Extents<M>
      : Shape
/**
 * Samples of the multivariate normal distribution with a mean and a covariance L L^T, or its factor L: mean + L z. NaN if the covariance is not positive
 * definite.
 *
 * Shapes  mean [..., n], covariance or factor [..., n, n]; the axes in front broadcast, to `shape` where it is given: [...shape, n].
 * Rule    linear in the mean and in the factor, with z fixed.   Source  `jax.random.multivariate_normal`.
 * Errors  ShapeMismatch unless the covariance is square, of the mean's length; BadInput for an invalid key, or unless one of covariance and factor is given.
 * @example multivariateNormal(key(0), [1, 2], { factor: [[1, 0], [3, 0.5]] })   // [0.79416, 0.99009]
 */
export const multivariateNormal = <const M extends Parameter, const O extends MultivariateNormalOptions>(
  key: GivenKey,
  mean: M,
  options: O,
): Expr<VectorsOf<M, O>, DtypeFor<readonly [M, MatrixOf<O>], O>> => {
  const op = 'multivariateNormal'
  const given = readOptions(multivariateOptions, options, op)
  if ((given.covariance === undefined) === (given.factor === undefined))
    badInput(op, 'one of covariance and factor is needed.', 'write { covariance } or { factor }.')
  const what = given.factor === undefined ? 'covariance' : 'factor'
  const dtype = given.dtype ?? floatAmong([mean, given[what]!])
  const [m, square] = [parameterIn(mean, dtype, op, 'the mean'), parameterIn(given[what], dtype, op, what)]
  const n = m.shape.at(-1)
  if (n === undefined || square.shape.at(-1) !== n || square.shape.at(-2) !== n)
    badShape(
      op,
      [m.shape, square.shape],
      `the mean is [${m.shape.join(', ')}], the ${what} [${square.shape.join(', ')}].`,
      `give a mean [..., n] and a ${what} [..., n, n].`,
    )
  const l = what === 'factor' ? square : (cholesky(square as never) as AnyExpr)
  const shape = shapeFor(given.shape, [m.shape.slice(0, -1), l.shape.slice(0, -2)], op)
  const z = normalOf(wordsFor(wordsOf(key, op), [...shape, n!]), dtype)
  return add(m, squeeze(matmul(l, expandDims(z, -1)), -1)) as never
}

/** Options of `orthogonal`. */
export interface OrthogonalOptions extends DistributionOptions {}
/**
 * Orthogonal matrices, uniform among all of them (Haar measure): the q of a matrix of normal samples whose r has a positive diagonal.
 *
 * Shapes  n -> [...shape, n, n].   Dtype  f64, or the one that is given.   Source  Mezzadri 2007; `jax.random.orthogonal`.
 * Errors  BadInput unless n is a non-negative integer, or for an invalid key.
 * @example orthogonal(key(0), 3, { shape: [2] }).shape   // [2, 3, 3]
 */
export const orthogonal = <const N extends Dim, const O extends OrthogonalOptions = NoOptions, Zero = 0, R extends MadeDim<N, Zero> = N>(
  key: GivenKey,
  n: Size<N>,
  options?: O,
): Expr<[...ShapeIn<O, []>, R, R], DtypeFor<[], O>> => {
  const op = 'orthogonal'
  const given = readOptions(drawOptions, options, op)
  const size = integerOf(n, 'n', op)
  if (size < 0) badInput(op, `n is ${size}.`, 'give a whole number from 0.')
  const dtype = given.dtype ?? 'f64'
  const shape = shapeIn([...(given.shape ?? []), size, size], op)
  const z = normalOf(wordsFor(wordsOf(key, op), shape), dtype)
  return (size === 0 ? z : (qr(z as never) as unknown as { readonly q: AnyExpr }).q) as never
}
