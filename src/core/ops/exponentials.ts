/** Exponentials, logarithms, powers and hyperbolic functions, of one number or two: what each one is. Their calculus is in rules/functions.ts. */

import { asExpr, asNode, CONST, type Node } from '../graph/expr.js'
import { typed } from '../graph/operation.js'
import type { AnyExpr } from '../types/expr.js'
import type { FloatBinaryOp, FloatUnaryOp } from '../types/signatures/elementwise.js'
import { mul } from './arithmetic.js'
import { binary, unary } from './lifted.js'
import * as special from './special/functions.js'
import * as f from './unary.js'

const IEEE = 'IEEE 754'
/**
 * The real cube root of x, of negative x too.
 *
 * Rule  dy = dx / (3 y^2): Infinity at 0.   Source  IEEE 754, rootn.
 * @example cbrt([8, -27])   // [2, -3]
 */
export const cbrt: FloatUnaryOp<'cbrt'> = unary({
  name: 'cbrt',
  scalar: (x) => Math.cbrt(x!),
  domain: [[0.2, 4]],
  extremes: [0, -8, 1e30],
  kinks: [{ at: [0], partials: [Number.POSITIVE_INFINITY], why: 'a vertical tangent; a masked cotangent still gives 0' }],
  cost: 12,
  source: IEEE,
})

// ---- exponentials and logarithms -------------------------------------------------------------------------------------

/**
 * e^x.
 *
 * Extremes  0 and Infinity beyond the range of the dtype.   Rule  dy = y dx.   Source  DLMF 4.2.19.
 * @example exp([0, 1])   // [1, 2.718]
 */
export const exp: FloatUnaryOp<'exp'> = unary({
  name: 'exp',
  scalar: (x) => Math.exp(x!),
  extremes: [-800, -100, 0, 100],
  cost: 10,
  source: 'DLMF 4.2.19',
})
/**
 * 2^x.
 *
 * Rule  dy = y log(2) dx.   Source  IEEE 754, exp2.
 * @example exp2([3, -1])   // [8, 0.5]
 */
export const exp2: FloatUnaryOp<'exp2'> = unary({
  name: 'exp2',
  scalar: (x) => 2 ** x!,
  extremes: [-1100, 0, 10, 1100],
  cost: 10,
  source: IEEE,
})
/**
 * e^x - 1, accurate near 0.
 *
 * Rule  dy = (y + 1) dx.   Source  DLMF 4.2.19; IEEE 754, expm1.
 * @example expm1([0, 1])   // [0, 1.718]
 */
export const expm1: FloatUnaryOp<'expm1'> = unary({
  name: 'expm1',
  scalar: (x) => Math.expm1(x!),
  extremes: [-100, -1e-10, 0, 1e-10, 100],
  cost: 12,
  source: 'DLMF 4.2.19',
})
/**
 * The natural logarithm of x.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / x.   Source  DLMF 4.2.2.
 * @example log([1, 2])   // [0, 0.6931]
 */
export const log: FloatUnaryOp<'log'> = unary({
  name: 'log',
  scalar: (x) => Math.log(x!),
  domain: [[0.2, 4]],
  extremes: [0, 1e-30, 1e30, -1],
  cost: 10,
  source: 'DLMF 4.2.2',
})
/**
 * The logarithm of x to base 2.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / (x log 2).   Source  DLMF 4.2.10.
 * @example log2([1, 8])   // [0, 3]
 */
export const log2: FloatUnaryOp<'log2'> = unary({
  name: 'log2',
  scalar: (x) => Math.log2(x!),
  domain: [[0.2, 4]],
  extremes: [0, 1e30, -1],
  cost: 10,
  source: 'DLMF 4.2.10',
})
/**
 * The logarithm of x to base 10.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / (x log 10).   Source  DLMF 4.2.10.
 * @example log10([1, 1000])   // [0, 3]
 */
export const log10: FloatUnaryOp<'log10'> = unary({
  name: 'log10',
  scalar: (x) => Math.log10(x!),
  domain: [[0.2, 4]],
  extremes: [0, 1e30, -1],
  cost: 10,
  source: 'DLMF 4.2.10',
})
/**
 * log(1 + x), accurate near 0.
 *
 * Domain  x > -1; -Infinity at -1, NaN below.   Rule  dy = dx / (1 + x).   Source  IEEE 754, logp1.
 * @example log1p([0, 1])   // [0, 0.6931]
 */
export const log1p: FloatUnaryOp<'log1p'> = unary({
  name: 'log1p',
  scalar: (x) => Math.log1p(x!),
  domain: [[-0.6, 3]],
  extremes: [-1, -1e-10, 0, 1e-10, 1e30, -2],
  cost: 12,
  source: IEEE,
})

// ---- activations that are functions of their own ---------------------------------------------------------------------

/**
 * 1 / (1 + exp(-x)), the logistic function.
 *
 * Extremes  0 and 1.   Rule  dy = y (1 - y) dx.   Source  NNlib sigma.
 * @example sigmoid([0, 2])   // [0.5, 0.8808]
 */
export const sigmoid: FloatUnaryOp<'sigmoid'> = unary({
  name: 'sigmoid',
  unbounded: false,
  scalar: (x) => special.sigmoid(x!),
  domain: [[-3, 3]],
  extremes: [-80, 0, 100],
  cost: 12,
  source: 'NNlib sigmoid',
})
/**
 * log(1 + exp x), without overflow.
 *
 * Extremes  0 and x.   Rule  dy = sigmoid(x) dx.   Source  NNlib softplus.
 * @example softplus([0, 1000])   // [0.6931, 1000]
 */
export const softplus: FloatUnaryOp<'softplus'> = unary({
  name: 'softplus',
  unbounded: false,
  scalar: (x) => special.softplus(x!),
  domain: [[-3, 3]],
  extremes: [-80, 0, 1000],
  cost: 20,
  source: 'NNlib softplus',
})

// ---- of two numbers --------------------------------------------------------------------------------------------------

/** Powers that are products; the reciprocal is squared, and not the square inverted, which vanishes where its inverse does not. */
const products: Readonly<Record<number, (x: AnyExpr) => AnyExpr>> = {
  1: (x) => x,
  2: (x) => f.square(x),
  3: (x) => mul(x, f.square(x)),
  4: (x) => f.square(f.square(x)),
  [-1]: (x) => f.reciprocal(x),
  [-2]: (x) => f.square(f.reciprocal(x)),
  0.5: (x) => f.sqrt(x),
}
const power = binary({
  name: 'pow',
  scalar: (a, b) => special.power(a!, b!),
  domain: [
    [0.3, 2],
    [-2, 3],
  ],
  extremes: [0, 1, -2, 3],
  kinks: [
    { at: [0, 2], partials: [0, 0], why: 'x^2 is smooth at 0' },
    { at: [0, 1], partials: [1, 0], why: 'x^1 is x' },
    { at: [0, 3], partials: [0, 0], why: 'x^3 is smooth at 0' },
    { at: [0, 0], partials: [0, Number.NEGATIVE_INFINITY], why: 'x^0 is 1, at 0 too; 0^b falls from 1 to 0' },
  ],
  cost: 30,
  source: 'IEEE 754 pow',
})
/**
 * a^b; 1 for b = 0, at a = 0 too.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool become f64.   Domain  a > 0, or integer b.   Source  IEEE 754 pow.
 * Rule    dy = b a^(b - 1) da + y log(a) db. A literal b has no derivative: x^2, x^3 ... are right at 0 and below.
 * The literals 1, 2, -1 and 0.5 are x, square, reciprocal and sqrt, as in NumPy; 3, 4 and -2 are products of these, within one more rounding.
 * @example pow([-1, 0, 3], 2)   // [1, 0, 9]
 */
export const pow: FloatBinaryOp<'pow'> = typed(
  Object.assign(
    (a: AnyExpr, b: AnyExpr): AnyExpr => {
      const y = asNode(power(a, b))
      const [base, exponent] = y.args as readonly [Node, Node]
      if (exponent.kind !== CONST) return asExpr(y)
      const x = asExpr(base)
      const made = products[exponent.payload as number]
      return made === undefined ? asExpr(y) : made(x)
    },
    { primitive: power.primitive },
  ),
)
/**
 * log(e^a + e^b), without overflow.
 *
 * Shapes  a and b broadcast.   Rule  dy = sigmoid(a - b) da + sigmoid(b - a) db; equal infinities share.   Source  NumPy logaddexp.
 * @example logaddexp([1000], [-1000])   // [1000]
 */
export const logaddexp: FloatBinaryOp<'logaddexp'> = binary({
  name: 'logaddexp',
  unbounded: false,
  scalar: (a, b) => special.logAddExp(a!, b!),
  domain: [[-3, 3]],
  extremes: [-1000, 0, 1000, Number.NEGATIVE_INFINITY],
  kinks: [{ at: [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY], partials: [0.5, 0.5], why: 'ties share' }],
  cost: 24,
  source: 'NumPy logaddexp',
})
/**
 * x log y, and 0 where x is 0 (unless y is NaN).
 *
 * Shapes  x and y broadcast.   Rule  d = log(y) dx + x / y dy; at (0, y) with y <= 0 both are 0.   Source  SciPy xlogy.
 * @example xlogy([0, 2], [0, 3])   // [0, 2.197]
 */
export const xlogy: FloatBinaryOp<'xlogy'> = binary({
  name: 'xlogy',
  scalar: (x, y) => (x === 0 && !Number.isNaN(y) ? 0 : x! * Math.log(y!)),
  domain: [
    [-2, 2],
    [0.3, 3],
  ],
  extremes: [0, 1e20],
  kinks: [
    { at: [0, 0], partials: [0, 0], why: 'the limit along x = 0; entropies with empty classes' },
    { at: [0, -1], partials: [0, 0], why: 'along x = 0 it is 0; beside it there is no value' },
  ],
  cost: 12,
  source: 'SciPy xlogy',
})

// ---- hyperbolic functions --------------------------------------------------------------------------------------------

/**
 * (e^x - e^-x) / 2.
 *
 * Rule  dy = cosh(x) dx.   Source  DLMF 4.28.1.
 * @example sinh([0, 1])   // [0, 1.175]
 */
export const sinh: FloatUnaryOp<'sinh'> = unary({
  name: 'sinh',
  scalar: (x) => Math.sinh(x!),
  extremes: [-100, -1e-10, 0, 100],
  cost: 14,
  source: 'DLMF 4.28.1',
})

/**
 * (e^x + e^-x) / 2.
 *
 * Rule  dy = sinh(x) dx.   Source  DLMF 4.28.2.
 * @example cosh([0, 1])   // [1, 1.543]
 */
export const cosh: FloatUnaryOp<'cosh'> = unary({
  name: 'cosh',
  scalar: (x) => Math.cosh(x!),
  extremes: [-100, 0, 100],
  cost: 14,
  source: 'DLMF 4.28.2',
})

/**
 * The hyperbolic tangent of x.
 *
 * Extremes  -1 and 1.   Rule  dy = (1 - y^2) dx.   Source  DLMF 4.28.4.
 * @example tanh([0, 1])   // [0, 0.7616]
 */
export const tanh: FloatUnaryOp<'tanh'> = unary({
  name: 'tanh',
  unbounded: false,
  scalar: (x) => Math.tanh(x!),
  domain: [[-3, 3]],
  extremes: [-100, 0, 100],
  cost: 12,
  source: 'DLMF 4.28.4',
})

/**
 * The number whose hyperbolic sine is x.
 *
 * Rule  dy = dx / sqrt(1 + x^2).   Source  DLMF 4.37.1.
 * @example asinh([0, 1])   // [0, 0.8814]
 */
export const asinh: FloatUnaryOp<'asinh'> = unary({
  name: 'asinh',
  unbounded: false,
  scalar: (x) => Math.asinh(x!),
  extremes: [-1e10, -1e-10, 0, 1e10],
  cost: 16,
  source: 'DLMF 4.37.1',
})

/**
 * The non-negative number whose hyperbolic cosine is x.
 *
 * Domain  x >= 1, NaN below.   Rule  dy = dx / sqrt(x^2 - 1): Infinity at 1.   Source  DLMF 4.37.2.
 * @example acosh([1, 2])   // [0, 1.317]
 */
export const acosh: FloatUnaryOp<'acosh'> = unary({
  name: 'acosh',
  scalar: (x) => Math.acosh(x!),
  domain: [[1.3, 4]],
  extremes: [1, 1e10, 0],
  cost: 16,
  source: 'DLMF 4.37.2',
})

/**
 * The number whose hyperbolic tangent is x.
 *
 * Domain  (-1, 1); infinite at the ends, NaN outside.   Rule  dy = dx / (1 - x^2).   Source  DLMF 4.37.3.
 * @example atanh([0, 0.5])   // [0, 0.5493]
 */
export const atanh: FloatUnaryOp<'atanh'> = unary({
  name: 'atanh',
  scalar: (x) => Math.atanh(x!),
  domain: [[-0.7, 0.7]],
  extremes: [-1, -1e-10, 0, 1, 2],
  cost: 16,
  source: 'DLMF 4.37.3',
})
