/** Elementwise functions of floats: what each one is. Rules: rules/elementwise.ts; kernels: backends/cpu/elementwise.ts. */
import { castNode, castPrimitive } from '../cast.js'
import { binary, elementwise as declare, unary } from '../elementwise.js'
import { apply, asExpr, CONST, type Node } from '../expr.js'
import { lift, liftAll, liftFloat } from '../lift.js'
import { NO_PARAMS } from '../primitive.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import { erf as erfScalar, erfc as erfcScalar, lgamma as lgammaScalar, polygamma as polygammaScalar } from '../special.js'
import { polygammaOf } from './polygamma.js'

const big = [-1e30, -1, 0, 1, 1e30]
const roundHalfEven = (x: number): number => {
  const r = Math.round(x)
  return Math.abs(x % 1) === 0.5 && r % 2 !== 0 ? r - 1 : Object.is(x, -0) || (x < 0 && r === 0) ? -0 : r
}
const keepNaN = (a: number, b: number, pick: number): number => (Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : pick)

/** -x. */
export const neg = unary({ name: 'neg', scalar: (x) => -x!, integers: true, extremes: big, source: 'IEEE 754' })
/** |x|; the derivative at 0 is 0. */
export const abs = unary({ name: 'abs', scalar: (x) => Math.abs(x!), domain: [[0.2, 2]], integers: true, extremes: big, kinks: [{ at: [0], partials: [0], why: 'the mean of the one-sided derivatives' }], source: 'IEEE 754' })
/** x^2. */
export const square = unary({ name: 'square', scalar: (x) => x! * x!, integers: true, extremes: big, source: 'IEEE 754' })
/** -1, 0 or 1; NaN stays. The derivative is 0. */
export const sign = unary({ name: 'sign', scalar: (x) => (x! > 0 ? 1 : x! < 0 ? -1 : x!), domain: [[0.2, 2]], integers: true, extremes: big, source: 'NumPy sign' })
/** 1 / x. */
export const reciprocal = unary({ name: 'reciprocal', scalar: (x) => 1 / x!, domain: [[0.5, 2]], extremes: big, cost: 4, source: 'IEEE 754' })
/** The square root. A zero cotangent at 0 stays zero, so that a guarded sqrt has a finite gradient. */
export const sqrt = unary({ name: 'sqrt', scalar: (x) => Math.sqrt(x!), domain: [[0.2, 4]], extremes: [-1, 0, 1e30], cost: 4, source: 'IEEE 754' })
/** 1 / sqrt x. */
export const rsqrt = unary({ name: 'rsqrt', scalar: (x) => 1 / Math.sqrt(x!), domain: [[0.2, 4]], extremes: [-1, 0, 1e30], cost: 8, source: 'IEEE 754' })
/** The real cube root. */
export const cbrt = unary({ name: 'cbrt', scalar: (x) => Math.cbrt(x!), domain: [[0.2, 4]], extremes: big, cost: 15, source: 'DLMF 4.2' })
/** exp x. */
export const exp = unary({ name: 'exp', scalar: (x) => Math.exp(x!), extremes: [-800, -100, 0, 100], cost: 10, source: 'DLMF 4.2.19' })
/** 2^x. */
export const exp2 = unary({ name: 'exp2', scalar: (x) => 2 ** x!, extremes: [-1100, 0, 100], cost: 10, source: 'DLMF 4.2.26' })
/** exp(x) - 1, exact near 0. */
export const expm1 = unary({ name: 'expm1', scalar: (x) => Math.expm1(x!), extremes: [-800, 0, 1e-10, 80], cost: 12, source: 'Kahan' })
/** log x. */
export const log = unary({ name: 'log', scalar: (x) => Math.log(x!), domain: [[0.2, 4]], extremes: [-1, 0, 1e30], cost: 10, source: 'DLMF 4.2.2' })
/** The logarithm to base 2. */
export const log2 = unary({ name: 'log2', scalar: (x) => Math.log2(x!), domain: [[0.2, 4]], extremes: [0, 1e30], cost: 10, source: 'DLMF 4.2' })
/** The logarithm to base 10. */
export const log10 = unary({ name: 'log10', scalar: (x) => Math.log10(x!), domain: [[0.2, 4]], extremes: [0, 1e30], cost: 10, source: 'DLMF 4.2' })
/** log(1 + x), exact near 0. */
export const log1p = unary({ name: 'log1p', scalar: (x) => Math.log1p(x!), domain: [[-0.5, 3]], extremes: [-1, 0, 1e-10, 1e30], cost: 12, source: 'Kahan' })
/** sin x, x in radians. */
export const sin = unary({ name: 'sin', scalar: (x) => Math.sin(x!), extremes: [0, 1e5], cost: 12, source: 'DLMF 4.14.1' })
/** cos x, x in radians. */
export const cos = unary({ name: 'cos', scalar: (x) => Math.cos(x!), extremes: [0, 1e5], cost: 12, source: 'DLMF 4.14.2' })
/** tan x, x in radians. */
export const tan = unary({ name: 'tan', scalar: (x) => Math.tan(x!), domain: [[-1, 1]], cost: 15, source: 'DLMF 4.14.4' })
/** The angle in [-pi/2, pi/2] whose sine is x. */
export const asin = unary({ name: 'asin', scalar: (x) => Math.asin(x!), domain: [[-0.8, 0.8]], extremes: [-2, -1, 0, 1], cost: 15, source: 'DLMF 4.23' })
/** The angle in [0, pi] whose cosine is x. */
export const acos = unary({ name: 'acos', scalar: (x) => Math.acos(x!), domain: [[-0.8, 0.8]], extremes: [-2, -1, 0, 1], cost: 15, source: 'DLMF 4.23' })
/** The angle in (-pi/2, pi/2) whose tangent is x. */
export const atan = unary({ name: 'atan', scalar: (x) => Math.atan(x!), extremes: big, cost: 15, source: 'DLMF 4.23' })
/** The hyperbolic sine. */
export const sinh = unary({ name: 'sinh', scalar: (x) => Math.sinh(x!), extremes: [0, 1e-10], cost: 15, source: 'DLMF 4.28' })
/** The hyperbolic cosine. */
export const cosh = unary({ name: 'cosh', scalar: (x) => Math.cosh(x!), extremes: [0], cost: 15, source: 'DLMF 4.28' })
/** tanh x, the hyperbolic tangent. */
export const tanh = unary({ name: 'tanh', scalar: (x) => Math.tanh(x!), domain: [[-3, 3]], extremes: [-100, 0, 100], cost: 12, source: 'DLMF 4.28.4' })
/** The inverse hyperbolic sine. */
export const asinh = unary({ name: 'asinh', scalar: (x) => Math.asinh(x!), extremes: [0, 1e10], cost: 15, source: 'DLMF 4.37' })
/** The inverse hyperbolic cosine, x >= 1. */
export const acosh = unary({ name: 'acosh', scalar: (x) => Math.acosh(x!), domain: [[1.2, 4]], extremes: [0, 1], cost: 15, source: 'DLMF 4.37' })
/** The inverse hyperbolic tangent, |x| < 1. */
export const atanh = unary({ name: 'atanh', scalar: (x) => Math.atanh(x!), domain: [[-0.8, 0.8]], extremes: [0, 1, 2], cost: 15, source: 'DLMF 4.37' })
/** The error function. */
export const erf = unary({ name: 'erf', scalar: (x) => erfScalar(x!), extremes: [-30, 0, 30], cost: 20, source: 'DLMF 7.2.1' })
/** 1 - erf x, exact in the tail. */
export const erfc = unary({ name: 'erfc', scalar: (x) => erfcScalar(x!), extremes: [-30, 0, 30], cost: 20, source: 'DLMF 7.2.2' })
/** The greatest integer at most x. The derivative is 0. */
export const floor = unary({ name: 'floor', scalar: (x) => Math.floor(x!), domain: [[0.1, 0.9]], extremes: big, source: 'IEEE 754' })
/** The least integer at least x. The derivative is 0. */
export const ceil = unary({ name: 'ceil', scalar: (x) => Math.ceil(x!), domain: [[0.1, 0.9]], extremes: big, source: 'IEEE 754' })
/** The nearest integer, halves to even. The derivative is 0. */
export const round = unary({ name: 'round', scalar: (x) => roundHalfEven(x!), domain: [[0.6, 1.4]], extremes: [-1.5, -0.5, 0.5, 2.5], source: 'IEEE 754 roundToIntegralTiesToEven' })
/** log |gamma(x)|. */
export const lgamma = unary({ name: 'lgamma', scalar: (x) => lgammaScalar(x!), domain: [[0.5, 5]], extremes: [1, 2, 100], cost: 30, source: 'DLMF 5.11, Lanczos' })
/** 1 / (1 + exp(-x)), the logistic function. */
export const sigmoid = unary({ name: 'sigmoid', scalar: (x) => 1 / (1 + Math.exp(-x!)), domain: [[-3, 3]], extremes: [-800, 0, 800], cost: 12, source: 'DLMF 4.2' })
/** log(1 + exp x), without overflow. */
export const softplus = unary({ name: 'softplus', scalar: (x) => Math.max(x!, 0) + Math.log1p(Math.exp(-Math.abs(x!))), extremes: [-800, 0, 800], cost: 20, source: 'Dugas et al. 2001' })
/** max(x, 0); NaN stays; the derivative at 0 is 0. */
export const relu = unary({ name: 'relu', scalar: (x) => keepNaN(x!, 0, Math.max(x!, 0)), domain: [[0.2, 2]], integers: true, extremes: big, kinks: [{ at: [0], partials: [0], why: 'as NNlib and tfjs' }], source: 'Nair and Hinton 2010' })
/** x, with derivative zero. */
export const stopGradient = unary({ name: 'stopGradient', scalar: (x) => x!, integers: true, alias: true, source: 'JAX lax.stop_gradient' })

/** a + b. */
export const add = binary({ name: 'add', scalar: (a, b) => a! + b!, integers: true, source: 'IEEE 754' })
/** a - b. */
export const sub = binary({ name: 'sub', scalar: (a, b) => a! - b!, integers: true, source: 'IEEE 754' })
/** a b. */
export const mul = binary({ name: 'mul', scalar: (a, b) => a! * b!, integers: true, identity: [1, 1], source: 'IEEE 754' })
/** a / b. */
export const div = binary({ name: 'div', scalar: (a, b) => a! / b!, domain: [[-2, 2], [0.5, 2]], cost: 4, identity: [null, 1], source: 'IEEE 754' })
const power = binary({ name: 'pow', scalar: (a, b) => a! ** b!, domain: [[0.3, 2], [-2, 2]], cost: 25, source: 'DLMF 4.2.26' })
/** The angle of the point (x, y), y first, in (-pi, pi]. */
export const atan2 = binary({ name: 'atan2', scalar: (y, x) => Math.atan2(y!, x!), domain: [[0.3, 2], [0.3, 2]], cost: 20, source: 'IEEE 754' })
/** sqrt(a^2 + b^2), without overflow; the derivative at (0, 0) is 0. */
export const hypot = binary({ name: 'hypot', scalar: (a, b) => Math.hypot(a!, b!), domain: [[0.3, 2], [0.3, 2]], cost: 15, kinks: [{ at: [0, 0], partials: [0, 0], why: 'as norm' }], source: 'IEEE 754' })
/** The larger of a and b; NaN stays; where they are equal each has half of the derivative. */
export const maximum = binary({ name: 'maximum', scalar: (a, b) => keepNaN(a!, b!, Math.max(a!, b!)), domain: [[-2, -0.1], [0.1, 2]], integers: true, kinks: [{ at: [1, 1], partials: [0.5, 0.5], why: 'ties share 1' }], source: 'NumPy maximum' })
/** The smaller of a and b; NaN stays; where they are equal each has half of the derivative. */
export const minimum = binary({ name: 'minimum', scalar: (a, b) => keepNaN(a!, b!, Math.min(a!, b!)), domain: [[-2, -0.1], [0.1, 2]], integers: true, kinks: [{ at: [1, 1], partials: [0.5, 0.5], why: 'ties share 1' }], source: 'NumPy minimum' })
/** a - b floor(a / b): the remainder with the divisor's sign, as Python. */
export const mod = binary({
  name: 'mod',
  scalar: (a, b) => {
    const r = a! % b!
    return r !== 0 && r < 0 !== b! < 0 ? r + b! : r
  },
  domain: [[0.1, 0.9], [1.1, 2]],
  integers: true,
  cost: 6,
  source: 'NumPy mod',
})
/** log(exp a + exp b), without overflow. */
export const logaddexp = binary({
  name: 'logaddexp',
  scalar: (a, b) => (a === b ? a! + Math.LN2 : Math.max(a!, b!) + Math.log1p(Math.exp(-Math.abs(a! - b!)))),
  cost: 22,
  source: 'NumPy logaddexp',
})
/** |a| with the sign of b. */
export const copysign = binary({ name: 'copysign', scalar: (a, b) => (b! < 0 || Object.is(b, -0) ? -Math.abs(a!) : Math.abs(a!)), domain: [[0.2, 2], [0.2, 2]], source: 'IEEE 754' })
/** a log b, 0 where a is 0. */
export const xlogy = binary({ name: 'xlogy', scalar: (a, b) => (a === 0 && !Number.isNaN(b!) ? 0 : a! * Math.log(b!)), domain: [[0.2, 2], [0.2, 2]], cost: 12, source: 'SciPy xlogy' })

const literalOf = (x: Node): number | undefined => (x.kind === CONST ? (x.data as number) : undefined)
/**
 * a^b. A literal exponent is exact at 0 and for negative a: x^2 is square(x), x^0 is 1.
 *
 * Rule  da^b/da = b a^(b-1), da^b/db = a^b log a.   Source  DLMF 4.2.26.
 * @example pow([1, 2, 3], 2)   // [1, 4, 9]
 */
export const pow = Object.assign(
  (a: unknown, b: unknown): AnyExpr => {
    if (b === 2) return square(a)
    if (b === 1) return asExpr(liftFloat(a, 'pow'))
    if (b === 0.5) return sqrt(a)
    if (b === -1) return reciprocal(a)
    return power(a, b)
  },
  { primitive: power.primitive },
)
/** The literal exponent of a pow node, if it is one: rules need no logarithm for it. */
export const literalExponent = (b: AnyExpr): number | undefined => literalOf(b as unknown as Node)

export const wherePrimitive = {
  ...declare(['int', 'float', 'float'] as const, { name: 'where', scalar: (c, a, b) => (c ? a! : b!), integers: true, source: 'NumPy where' }),
  shapeRule: (args: Parameters<(typeof add)['primitive']['shapeRule']>[0]) => whereShape(args, NO_PARAMS),
  samples: (
    [
      [[3], [3], [3]],
      [[], [2, 2], [2, 2]],
      [[2, 1], [1, 3], []],
      [[0], [1], [0]],
    ] as const
  ).map(([c, a, b]) => ({ args: [{ shape: c, dtype: 'bool' as const, domain: [0, 2] as const }, { shape: a }, { shape: b }], params: NO_PARAMS })),
}
import { aval } from '../aval.js'
import { broadcastAvals } from '../elementwise.js'
const whereShape: (typeof add)['primitive']['shapeRule'] = (args) => aval(broadcastAvals(args, 'where'), args[1]!.dtype)

/**
 * a where the condition is true, else b.
 *
 * Rule  each branch gets the cotangent where it was chosen and zero elsewhere.
 * @example where([true, false], [1, 2], [3, 4])   // [1, 4]
 */
export const where = (condition: unknown, a: unknown, b: unknown): AnyExpr => {
  const c = castNode(lift(condition, 'where'), 'bool')
  const [x, y] = liftAll([a, b], 'where') as [Node, Node]
  return asExpr(apply(wherePrimitive, [c, x, y], NO_PARAMS))
}
export const select = where

/**
 * x in another dtype: f32 rounds to nearest even, i32 truncates and saturates (NaN is 0), bool is x != 0.
 * @example cast([1.7, -1.7], 'i32')   // [1, -1]
 */
export const cast = (x: unknown, dtype: DType): AnyExpr => asExpr(castNode(lift(x, 'cast'), dtype))

/** psi^(n)(x): the n-th derivative of digamma. @example polygamma(0, 1)   // -0.5772156649015329 */
export const polygamma = (n: number, x: unknown): AnyExpr => asExpr(apply(polygammaOf, [liftFloat(x, 'polygamma')], { n }))
/** The derivative of lgamma. @example digamma(1)   // -0.5772156649015329 */
export const digamma = (x: unknown): AnyExpr => polygamma(0, x)
export { polygammaScalar }

// ---- compositions ------------------------------------------------------------------------------------------------------

/** x kept between low and high. @example clamp([-1, 0.5, 2], 0, 1)   // [0, 0.5, 1] */
export const clamp = (x: unknown, low: unknown, high: unknown): AnyExpr => minimum(maximum(x, low), high)
/** a b + c, rounded twice. @example fma(2, 3, 4)   // 10 */
export const fma = (a: unknown, b: unknown, c: unknown): AnyExpr => add(mul(a, b), c)
/** x, or slope x below 0 (slope 0.01). @example leakyRelu([-1, 1])   // [-0.01, 1] */
export const leakyRelu = (x: unknown, options: { readonly slope?: number } = {}): AnyExpr => {
  const y = asExpr(liftFloat(x, 'leakyRelu'))
  return where(gtZero(y), y, mul(y, options.slope ?? 0.01))
}
/** x, or alpha (exp(x) - 1) below 0. @example elu([0, 1])   // [0, 1] */
export const elu = (x: unknown, options: { readonly alpha?: number } = {}): AnyExpr => {
  const y = asExpr(liftFloat(x, 'elu'))
  return where(gtZero(y), y, mul(expm1(minimum(y, 0)), options.alpha ?? 1))
}
/** x sigmoid(x), swish. @example silu(0)   // 0 */
export const silu = (x: unknown): AnyExpr => {
  const y = asExpr(liftFloat(x, 'silu'))
  return mul(y, sigmoid(y))
}
/** x Phi(x) with the normal distribution function; `approximate` uses tanh. @example gelu(0)   // 0 */
export const gelu = (x: unknown, options: { readonly approximate?: boolean } = {}): AnyExpr => {
  const y = asExpr(liftFloat(x, 'gelu'))
  const inner = options.approximate === true ? tanh(mul(Math.sqrt(2 / Math.PI), add(y, mul(0.044715, mul(y, mul(y, y)))))) : erf(mul(y, Math.SQRT1_2))
  return mul(mul(0.5, y), add(1, inner))
}
import { gt } from './compare.js'
const gtZero = (y: AnyExpr): AnyExpr => gt(y, 0)

const unaries = { neg, abs, square, sign, reciprocal, sqrt, rsqrt, cbrt, exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, erfc, floor, ceil, round, lgamma, sigmoid, softplus, relu, stopGradient } as const
const binaries = { add, sub, mul, div, pow: power, atan2, hypot, maximum, minimum, mod, logaddexp, copysign, xlogy } as const
type Primitives<T extends Record<string, { readonly primitive: unknown }>> = { readonly [K in keyof T]: T[K]['primitive'] }
const primitivesOf = <T extends Record<string, { readonly primitive: unknown }>>(ops: T): Primitives<T> => Object.fromEntries(Object.entries(ops).map(([k, f]) => [k, f.primitive])) as Primitives<T>

/** Primitives of this family, by name. */
export const elementwise = { ...primitivesOf(unaries), ...primitivesOf(binaries), where: wherePrimitive, cast: castPrimitive, polygamma: polygammaOf } as const
