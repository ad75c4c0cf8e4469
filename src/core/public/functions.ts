// Functions of one number, and map: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.

import * as functions from '../ops/functions.js'
import { map as mapOp } from '../ops/map.js'
import { type Public, typed } from './typed.js'

/**
 * f, a function of scalars, at every index of xs (which broadcast); f may return a tree of scalars.
 *
 * Rule    forward mode inside f: one partial per active argument; reverse outside.
 * Errors  BadInput when f uses an array or an operation that is not elementwise. A captured scalar expression becomes an argument.
 * @example map((x) => mul(x, x), [1, 2, 3])   // [1, 4, 9]
 */
export const map: Public['map'] = typed(mapOp)

/**
 * -x.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = -dx.   Source  IEEE 754.
 * @example neg([1, -2])   // [-1, 2]
 */
export const neg: Public['neg'] = typed(functions.neg)

/**
 * |x|.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = sign(x) dx, so 0 at the kink 0.   Source  IEEE 754.
 * @example abs([3, -3])   // [3, 3]
 */
export const abs: Public['abs'] = typed(functions.abs)

/**
 * x x.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = 2 x dx, 0 at 0.   Source  IEEE 754.
 * @example square([3, -2])   // [9, 4]
 */
export const square: Public['square'] = typed(functions.square)

/**
 * -1, 0 or 1 as x is negative, zero or positive; NaN stays.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = 0 everywhere, at the jump too.   Source  NumPy sign.
 * @example sign([-5, 0, 7])   // [-1, 0, 1]
 */
export const sign: Public['sign'] = typed(functions.sign)

/**
 * The largest integer that is not above x, as a float.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTowardNegative.
 * @example floor([1.7, -1.2])   // [1, -2]
 */
export const floor: Public['floor'] = typed(functions.floor)

/**
 * The smallest integer that is not below x, as a float.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTowardPositive.
 * @example ceil([1.2, -1.7])   // [2, -1]
 */
export const ceil: Public['ceil'] = typed(functions.ceil)

/**
 * The nearest integer, halves to even, as a float.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTiesToEven; NumPy round.
 * @example round([0.5, 1.5, 2.4])   // [0, 2, 2]
 */
export const round: Public['round'] = typed(functions.round)

/**
 * 1 / x.
 *
 * Domain  x != 0; 1 / 0 is Infinity.   Rule  dy = -y^2 dx.   Source  IEEE 754.
 * @example reciprocal([2, -4])   // [0.5, -0.25]
 */
export const reciprocal: Public['reciprocal'] = typed(functions.reciprocal)

/**
 * The square root of x.
 *
 * Domain  x >= 0, NaN below.   Rule  dy = dx / (2 y): Infinity at 0, and exactly 0 there where the cotangent is 0.   Source  IEEE 754.
 * @example sqrt([0, 4, 9])   // [0, 2, 3]
 */
export const sqrt: Public['sqrt'] = typed(functions.sqrt)

/**
 * 1 / sqrt x.
 *
 * Domain  x > 0; Infinity at 0, NaN below.   Rule  dy = -y^3 dx / 2.   Source  IEEE 754.
 * @example rsqrt([1, 4])   // [1, 0.5]
 */
export const rsqrt: Public['rsqrt'] = typed(functions.rsqrt)

/**
 * The real cube root of x, of negative x too.
 *
 * Rule  dy = dx / (3 y^2): Infinity at 0.   Source  IEEE 754, rootn.
 * @example cbrt([8, -27])   // [2, -3]
 */
export const cbrt: Public['cbrt'] = typed(functions.cbrt)

/**
 * e^x.
 *
 * Extremes  0 and Infinity beyond the range of the dtype.   Rule  dy = y dx.   Source  DLMF 4.2.19.
 * @example exp([0, 1])   // [1, 2.718]
 */
export const exp: Public['exp'] = typed(functions.exp)

/**
 * 2^x.
 *
 * Rule  dy = y log(2) dx.   Source  IEEE 754, exp2.
 * @example exp2([3, -1])   // [8, 0.5]
 */
export const exp2: Public['exp2'] = typed(functions.exp2)

/**
 * e^x - 1, accurate near 0.
 *
 * Rule  dy = (y + 1) dx.   Source  DLMF 4.2.19; IEEE 754, expm1.
 * @example expm1([0, 1])   // [0, 1.718]
 */
export const expm1: Public['expm1'] = typed(functions.expm1)

/**
 * The natural logarithm of x.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / x.   Source  DLMF 4.2.2.
 * @example log([1, 2])   // [0, 0.6931]
 */
export const log: Public['log'] = typed(functions.log)

/**
 * The logarithm of x to base 2.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / (x log 2).   Source  DLMF 4.2.10.
 * @example log2([1, 8])   // [0, 3]
 */
export const log2: Public['log2'] = typed(functions.log2)

/**
 * The logarithm of x to base 10.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / (x log 10).   Source  DLMF 4.2.10.
 * @example log10([1, 1000])   // [0, 3]
 */
export const log10: Public['log10'] = typed(functions.log10)

/**
 * log(1 + x), accurate near 0.
 *
 * Domain  x > -1; -Infinity at -1, NaN below.   Rule  dy = dx / (1 + x).   Source  IEEE 754, logp1.
 * @example log1p([0, 1])   // [0, 0.6931]
 */
export const log1p: Public['log1p'] = typed(functions.log1p)

/**
 * 1 / (1 + exp(-x)), the logistic function.
 *
 * Extremes  0 and 1.   Rule  dy = y (1 - y) dx.   Source  NNlib sigma.
 * @example sigmoid([0, 2])   // [0.5, 0.8808]
 */
export const sigmoid: Public['sigmoid'] = typed(functions.sigmoid)

/**
 * log(1 + exp x), without overflow.
 *
 * Extremes  0 and x.   Rule  dy = sigmoid(x) dx.   Source  NNlib softplus.
 * @example softplus([0, 1000])   // [0.6931, 1000]
 */
export const softplus: Public['softplus'] = typed(functions.softplus)

/**
 * max(x, 0).
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = dx where x > 0, else 0: 0 at the kink 0.   Source  NNlib relu.
 * @example relu([-1, 0, 2])   // [0, 0, 2]
 */
export const relu: Public['relu'] = typed(functions.relu)
