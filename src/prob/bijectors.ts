/** Smooth maps that have an inverse: from all numbers to the supports of distributions, and what is composed of them. */
import { integerOf, shown } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import {
  type AnyExpr,
  abs,
  add,
  cholesky,
  concat,
  cumsum,
  diagonal,
  diff,
  div,
  exp,
  expm1,
  eye,
  gather,
  isExpr,
  isTensor,
  log,
  log1p,
  logit,
  logSigmoid,
  matmul,
  mul,
  neg,
  pow,
  reshape,
  sigmoid,
  slice,
  softplus,
  sqrt,
  sub,
  sum,
  tanh,
  tensor,
  transpose,
  where,
} from '../index.js'
import { exprOf, isArray, type Parameter, parameterIn } from '../random/given.js'
import {
  correlationCholesky,
  greaterThan,
  independentOf,
  interval,
  lessThan,
  lowerCholesky,
  ordered,
  positiveDefinite,
  reals,
  type Support,
  simplex,
} from './support.js'

/** A smooth map with an inverse, and what it does to volumes. */
export interface Bijector {
  readonly name: string
  /** The number of axes of an element: 0 for a map of numbers, 1 for one of vectors, and so on; before the map, and after it. */
  readonly rank: number
  readonly rankAfter: number
  readonly forward: (x: Parameter) => AnyExpr
  readonly inverse: (y: Parameter) => AnyExpr
  /** log |det dy/dx| at x, without the axes of an element. Of what lies on a surface y stands for as many of its coordinates as x has. */
  readonly logDet: (x: Parameter) => AnyExpr
  /** The shape after the map of one before it, and the other way round. */
  readonly shape: (before: readonly number[]) => readonly number[]
  readonly shapeBefore: (after: readonly number[]) => readonly number[]
  /** Where the results lie. */
  readonly codomain: Support
  /** Of maps of numbers: do they rise everywhere (1), or fall (-1)? */
  readonly direction?: 1 | -1
}
type X = AnyExpr
/** A bijector, or an error that says what is. */
export const bijectorIn = (x: unknown, op: string): Bijector =>
  reading(
    op,
    () =>
      typeof x === 'object' &&
      x !== null &&
      !isExpr(x) &&
      !isTensor(x) &&
      typeof (x as { readonly logDet?: unknown }).logDet === 'function',
  )
    ? (x as Bijector)
    : badInput(op, `the map is ${shown(x)}.`, 'give a bijector, such as expBijector.')
const floatsOf = (x: Parameter, op: string): X => {
  if (isArray(x)) return x.dtype === 'f32' || x.dtype === 'f64' ? exprOf(x) : parameterIn(x, 'f64', op, 'x')
  return parameterIn(x, 'f64', op, 'x')
}
type Shapes = (s: readonly number[]) => readonly number[]
const same: Shapes = (s) => s
interface Parts {
  readonly name: string
  readonly rank?: number
  readonly rankAfter?: number
  readonly forward: (x: X) => X
  readonly inverse: (y: X) => X
  readonly logDet: (x: X) => X
  readonly shape?: Shapes
  readonly shapeBefore?: Shapes
  readonly codomain: Support
  readonly direction?: 1 | -1
}
const made = ({ name, rank = 0, rankAfter = rank, shape = same, shapeBefore = same, ...p }: Parts): Bijector => {
  const read = (x: Parameter, least: number): X => {
    const e = floatsOf(x, name)
    return e.shape.length >= least
      ? e
      : badShape(
          name,
          [e.shape],
          `the array has rank ${e.shape.length}, an element has rank ${least}.`,
          'give elements along the last axes.',
        )
  }
  return Object.freeze({
    name,
    rank,
    rankAfter,
    forward: (x) => p.forward(read(x, rank)),
    inverse: (y) => p.inverse(read(y, rankAfter)),
    logDet: (x) => p.logDet(read(x, rank)),
    shape,
    shapeBefore,
    codomain: p.codomain,
    ...(p.direction === undefined ? {} : { direction: p.direction }),
  } satisfies Bijector)
}
const zeros = (x: X): X => mul(0, x) as X

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
const logSech2 = (x: X): X => mul(2, sub(sub(Math.LN2, x), softplus(mul(-2, x)))) as X
const atanh = (y: X): X => mul(0.5, sub(log1p(y), log1p(neg(y)))) as X
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

// ---- vectors

const lastSize = (s: readonly number[]): number => s.at(-1) ?? 0
const withLast =
  (f: (n: number) => number): Shapes =>
  (s) => [...s.slice(0, -1), f(lastSize(s))]
const along = { axis: -1 } as const
const exclusive = { axis: -1, exclusive: true } as const
/** The elements of the last axis from one place to another. */
const part = (x: X, from: number, to: number): X => {
  const starts = x.shape.map((_, i) => (i === x.shape.length - 1 ? from : 0))
  const ends = x.shape.map((d, i) => (i === x.shape.length - 1 ? to : d))
  return slice(x, starts, ends) as X
}
/** x - log(n - k) for the n numbers x: 0 is the middle of the simplex. */
const centred = (x: X): X => {
  const n = lastSize(x.shape)
  return sub(
    x,
    tensor(
      Array.from({ length: n }, (_, k) => Math.log(n - k)),
      [n],
      x.dtype as 'f64',
    ),
  ) as X
}
/**
 * The map from vectors of n numbers to the n + 1 positive ones of sum 1: a part of 1 is broken off for each, and 0 gives equal parts.
 *
 * Shapes  [..., n] -> [..., n + 1].   Source  Stan's reference manual, "Unit simplex".
 * @example evaluate(simplexBijector.forward([0, 0]))   // [0.3333, 0.3333, 0.3333]
 */
export const simplexBijector: Bijector = /*#__PURE__*/ made({
  name: 'simplex',
  rank: 1,
  forward: (x) => {
    const t = centred(x)
    const left = logSigmoid(neg(t)) as X
    const logs = add(logSigmoid(t), cumsum(left, exclusive))
    return exp(concat([logs, sum(left, { axis: -1, keepdims: true })] as never, along)) as X
  },
  inverse: (y) => {
    const n = lastSize(y.shape) - 1
    // What is left after each part: summed from the end, so that small parts keep their digits.
    const left = part(cumsum(y, { axis: -1, reverse: true, exclusive: true }) as X, 0, n)
    const t = sub(log(part(y, 0, n)), log(left)) as X
    return sub(t, centred(zeros(t))) as X
  },
  logDet: (x) => {
    const t = centred(x)
    const left = logSigmoid(neg(t)) as X
    return sum(add(add(logSigmoid(t), left), cumsum(left, exclusive)), along) as X
  },
  shape: /*#__PURE__*/ withLast((n) => n + 1),
  shapeBefore: /*#__PURE__*/ withLast((n) => n - 1),
  codomain: simplex,
})
/**
 * The map from vectors to rising ones: the first number stays, and each other one is the logarithm of a step.
 *
 * @example evaluate(orderedBijector.forward([1, 0, 0]))   // [1, 2, 3]
 */
export const orderedBijector: Bijector = /*#__PURE__*/ made({
  name: 'ordered',
  rank: 1,
  forward: (x) => cumsum(concat([part(x, 0, 1), exp(part(x, 1, lastSize(x.shape)))] as never, along)) as X,
  inverse: (y) => concat([part(y, 0, 1), log(diff(y))] as never, along) as X,
  logDet: (x) => sum(part(x, 1, lastSize(x.shape)), along) as X,
  codomain: ordered,
})

// ---- matrices

/** n with n (n + 1) / 2 elements on and below the diagonal. */
const orderOf = (size: number, strict: boolean, op: string): number => {
  const n = Math.round((Math.sqrt(8 * size + 1) - 1) / 2)
  if ((n * (n + 1)) / 2 !== size)
    badInput(
      op,
      `a vector of ${size} elements does not fill a triangle.`,
      `give n (n ${strict ? '-' : '+'} 1) / 2 of them for a matrix of order n.`,
    )
  return strict ? n + 1 : n
}
/** Where each element of a matrix stands in the vector of its lower triangle, row by row. */
const triangle = (n: number, strict: boolean): { readonly at: number[]; readonly own: boolean[]; readonly from: number[] } => {
  const at = new Array<number>(n * n).fill(0)
  const own = new Array<boolean>(n * n).fill(false)
  const from: number[] = []
  for (let i = 0; i < n; i++)
    for (let j = 0; j < (strict ? i : i + 1); j++) {
      at[i * n + j] = from.length
      own[i * n + j] = true
      from.push(i * n + j)
    }
  return { at, own, from }
}
const ints = (x: readonly number[], shape: readonly number[]): X => tensor(x as number[], shape as number[], 'i32') as X
const mask = (x: readonly boolean[], n: number): X => tensor(x as never, [n, n], 'bool') as X
/** A vector as the lower triangle of a matrix, and 0 above. */
const matrixOf = (x: X, strict: boolean, op: string): X => {
  const n = orderOf(lastSize(x.shape), strict, op)
  const { at, own, from } = triangle(n, strict)
  if (from.length === 0) return mul(0, eye(n, n, 0, x.dtype as 'f64')) as X
  return where(mask(own, n), gather(x, ints(at, [n, n]) as never, { axis: -1 }), 0) as X
}
const vectorOf = (y: X, strict: boolean): X => {
  const n = lastSize(y.shape)
  const { from } = triangle(n, strict)
  const flat = reshape(y, [...y.shape.slice(0, -2), n * n]) as X
  return gather(flat, ints(from, [from.length]) as never, { axis: -1 }) as X
}
const onDiagonal = (x: X, f: (d: X) => X): X => {
  const n = lastSize(x.shape)
  const one = Array.from({ length: n * n }, (_, i) => Math.floor(i / n) === i % n)
  const m = mask(one, n)
  return where(m, f(where(m, x, 1) as X), x) as X
}
const square: Shapes = (s) => {
  const n = orderOf(lastSize(s), false, 'shape')
  return [...s.slice(0, -1), n, n]
}
const lowerVector: Shapes = (s) => [...s.slice(0, -2), (lastSize(s) * (lastSize(s) + 1)) / 2]
/**
 * The map from vectors to lower triangular matrices with a positive diagonal: row by row, and e to the power of what is on the diagonal.
 *
 * Shapes  [..., n (n + 1) / 2] -> [..., n, n].   Errors  BadInput for a vector of another length.
 * @example evaluate(choleskyBijector.forward([0, 2, 0]))   // [[1, 0], [2, 1]]
 */
export const choleskyBijector: Bijector = /*#__PURE__*/ made({
  name: 'lowerCholesky',
  rank: 1,
  rankAfter: 2,
  forward: (x) => onDiagonal(matrixOf(x, false, 'choleskyBijector'), (d) => exp(d) as X),
  inverse: (y) =>
    vectorOf(
      onDiagonal(y, (d) => log(d) as X),
      false,
    ),
  logDet: (x) => sum(diagonal(matrixOf(x, false, 'choleskyBijector')), along) as X,
  shape: square,
  shapeBefore: lowerVector,
  codomain: lowerCholesky,
})
/**
 * The map from vectors to symmetric positive definite matrices, L L^T for the matrix L of `choleskyBijector`.
 *
 * Shapes  [..., n (n + 1) / 2] -> [..., n, n].   Errors  BadInput for a vector of another length.
 * @example evaluate(positiveDefiniteBijector.forward([0, 2, 0]))   // [[1, 2], [2, 5]]
 */
export const positiveDefiniteBijector: Bijector = /*#__PURE__*/ made({
  name: 'positiveDefinite',
  rank: 1,
  rankAfter: 2,
  forward: (x) => {
    const l = choleskyBijector.forward(x)
    return matmul(l, transpose(l)) as X
  },
  inverse: (y) => choleskyBijector.inverse(cholesky(y) as X),
  logDet: (x) => {
    const d = diagonal(matrixOf(x, false, 'positiveDefiniteBijector')) as X
    const n = lastSize(d.shape)
    const weights = tensor(
      Array.from({ length: n }, (_, i) => n - i + 1),
      [n],
      x.dtype as 'f64',
    )
    return add(sum(mul(weights, d), along), n * Math.LN2) as X
  },
  shape: square,
  shapeBefore: lowerVector,
  codomain: positiveDefinite,
})
/** Half of the log of what the squares before each element of a row leave of 1: of partial correlations z, given log(1 - z^2). */
const roots = (logs: X): X => mul(0.5, cumsum(logs, exclusive)) as X
/** The Cholesky factor of correlations by partial ones z and log(1 - z^2), below the diagonal. */
const factorOf = (z: X, logs: X): X => {
  const n = lastSize(z.shape)
  return mul(add(z, eye(n, n, 0, z.dtype as 'f64')), exp(roots(logs))) as X
}
/** The same of a vector of partial correlations. */
export const correlationOf = (z: X): X => {
  const m = matrixOf(z, true, 'correlationOf')
  return factorOf(m, log1p(neg(mul(m, m))) as X)
}
/**
 * The map from vectors to Cholesky factors of correlation matrices: tanh of each number is a partial correlation.
 *
 * Shapes  [..., n (n - 1) / 2] -> [..., n, n].   Errors  BadInput for a vector of another length.   Source  Lewandowski, Kurowicka and Joe 2009.
 * @example evaluate(correlationBijector.forward([Math.atanh(0.6)]))   // [[1, 0], [0.6, 0.8]]
 */
export const correlationBijector: Bijector = /*#__PURE__*/ made({
  name: 'correlationCholesky',
  rank: 1,
  rankAfter: 2,
  forward: (x) => {
    const m = matrixOf(x, true, 'correlationBijector')
    return factorOf(tanh(m) as X, logSech2(m))
  },
  inverse: (y) => {
    // The squares from an element on, summed from the end of the row: what those before it leave of 1.
    const left = sqrt(cumsum(mul(y, y), { axis: -1, reverse: true }))
    return atanh(div(vectorOf(y, true), vectorOf(left as X, true)) as X)
  },
  logDet: (x) => {
    const m = matrixOf(x, true, 'correlationBijector')
    const logs = logSech2(m)
    const strict = matrixOf(add(zeros(x), 1) as X, true, 'correlationBijector')
    return sum(mul(strict, add(logs, roots(logs))), { axis: [-1, -2] }) as X
  },
  shape: (s) => {
    const n = orderOf(lastSize(s), true, 'shape')
    return [...s.slice(0, -1), n, n]
  },
  shapeBefore: (s) => [...s.slice(0, -2), (lastSize(s) * (lastSize(s) - 1)) / 2],
  codomain: correlationCholesky,
})

// ---- of others

const last = (n: number): number[] => Array.from({ length: n }, (_, i) => -1 - i)
const reduced = (x: X, n: number): X => (n <= 0 ? x : (sum(x, { axis: last(n) }) as X))
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
    logDet: (x) => reduced(of.logDet(x), more),
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
      logDet: (x) => add(reduced(a.logDet(x), more), reduced(b.logDet(a.forward(x)), moreAfter)) as X,
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
