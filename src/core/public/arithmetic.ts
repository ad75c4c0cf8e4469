// Arithmetic, powers, choices: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as arithmetic from '../ops/arithmetic.js'
import { type Public, typed } from './typed.js'

/**
 * a + b.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 wraps.   Rule  dy = da + db.   Source  IEEE 754.
 * @example add([1, 2], 3)   // [4, 5]
 */
export const add: Public['add'] = typed(arithmetic.add)

/**
 * a - b.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 wraps.   Rule  dy = da - db.   Source  IEEE 754.
 * @example sub([1, 2], 3)   // [-2, -1]
 */
export const sub: Public['sub'] = typed(arithmetic.sub)

/**
 * a b.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 wraps.   Rule  dy = b da + a db.   Source  IEEE 754.
 * @example mul([1, 2], 3)   // [3, 6]
 */
export const mul: Public['mul'] = typed(arithmetic.mul)

/**
 * a b, but a where a is 0, whatever b is: a strong zero.
 *
 * Shapes  a and b broadcast.   Rule  dy = strongMul(da, b) + strongMul(a, db).   Source  Enzyme's strong zero; TensorFlow multiply_no_nan.
 * Derivatives multiply a (co)tangent with it that may hold zeros that were put there: they stay 0 beside an infinite partial.
 * @example strongMul([0, 2], [Infinity, 3])   // [0, 6]
 */
export const strongMul: Public['strongMul'] = typed(arithmetic.strongMul)

/**
 * a / b.
 *
 * Domain  b != 0; x / 0 is infinite, 0 / 0 NaN.   Dtype  promoted; i32 and bool become f64.
 * Rule    dy = (da - y db) / b.   Source  IEEE 754.
 * @example div([1, 2], 4)   // [0.25, 0.5]
 */
export const div: Public['div'] = typed(arithmetic.div)

/**
 * a modulo b, with the sign of b: a - b floor(a / b).
 *
 * Domain  b != 0; NaN for floats, 0 for i32 there.   Dtype  promoted; i32 stays.   Rule  dy = da - floor(a / b) db.   Source  NumPy mod.
 * @example mod([5, -5], 3)   // [2, 1]
 */
export const mod: Public['mod'] = typed(arithmetic.mod)

/**
 * a^b; 1 for b = 0, at a = 0 too.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool become f64.   Domain  a > 0, or integer b.   Source  IEEE 754 pow.
 * Rule    dy = b a^(b - 1) da + y log(a) db. A literal b has no derivative: x^2, x^3 ... are right at 0 and below.
 * The literals 1, 2, -1 and 0.5 are x, square, reciprocal and sqrt, as in NumPy.
 * @example pow([-1, 0, 3], 2)   // [1, 0, 9]
 */
export const pow: Public['pow'] = typed(arithmetic.pow)

/**
 * sqrt(a^2 + b^2), without overflow.
 *
 * Shapes  a and b broadcast.   Rule  dy = (a da + b db) / y, 0 at the kink (0, 0).   Source  IEEE 754 hypot.
 * @example hypot([3, 5], [4, 12])   // [5, 13]
 */
export const hypot: Public['hypot'] = typed(arithmetic.hypot)

/**
 * The angle of the point (x, y), y first: in [-pi, pi].
 *
 * Shapes  y and x broadcast.   Rule  d = (x dy - y dx) / (x^2 + y^2), 0 at the origin.   Source  DLMF 4.23.24.
 * @example atan2([1], [-1])   // [2.356]
 */
export const atan2: Public['atan2'] = typed(arithmetic.atan2)

/**
 * log(e^a + e^b), without overflow.
 *
 * Shapes  a and b broadcast.   Rule  dy = sigmoid(a - b) da + sigmoid(b - a) db; equal infinities share.   Source  NumPy logaddexp.
 * @example logaddexp([1000], [-1000])   // [1000]
 */
export const logaddexp: Public['logaddexp'] = typed(arithmetic.logaddexp)

/**
 * x log y, and 0 where x is 0 (unless y is NaN).
 *
 * Shapes  x and y broadcast.   Rule  d = log(y) dx + x / y dy; at (0, 0) both are 0.   Source  SciPy xlogy.
 * @example xlogy([0, 2], [0, 3])   // [0, 2.197]
 */
export const xlogy: Public['xlogy'] = typed(arithmetic.xlogy)

/**
 * The larger of a and b; NaN where one is NaN.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 stays.   Rule  the cotangent goes to the larger; ties share, half each.   Source  NumPy maximum.
 * @example maximum([1, 5], 3)   // [3, 5]
 */
export const maximum: Public['maximum'] = typed(arithmetic.maximum)

/**
 * The smaller of a and b; NaN where one is NaN.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 stays.   Rule  the cotangent goes to the smaller; ties share, half each.   Source  NumPy minimum.
 * @example minimum([1, 5], 3)   // [1, 3]
 */
export const minimum: Public['minimum'] = typed(arithmetic.minimum)

/**
 * |a| with the sign of b (the sign bit: -0 is negative; NaN counts as positive).
 *
 * Shapes  a and b broadcast.   Rule  dy = sign(a) sign(b) da, 0 at a = 0; none for b.   Source  IEEE 754 copySign.
 * @example copysign([1, -2], -1)   // [-1, -2]
 */
export const copysign: Public['copysign'] = typed(arithmetic.copysign)

/**
 * a where the condition holds, b elsewhere. A condition that is not bool is compared with 0.
 *
 * Shapes  all three broadcast.   Dtype  of a and b, promoted.   Source  NumPy where.
 * Rule    dy = where(c, da, db); aBar = where(c, yBar, 0), bBar = where(c, 0, yBar): the cotangent is masked, not multiplied.
 * Errors  ShapeMismatch when the shapes do not broadcast.
 * @example where([1, 0], [1, 2], 9)   // [1, 9]
 */
export const where: Public['where'] = typed(arithmetic.where)

/**
 * Another name of `where`.
 *
 * @example select([1, 0], [1, 2], 9)   // [1, 9]
 */
export const select: Public['select'] = typed(arithmetic.select)

/**
 * The same values, taken as constants by every derivative. Of a tree: every leaf; integers and booleans stay as they are.
 *
 * Rule  dy = 0.   Source  JAX stop_gradient. Plans copy nothing for it.
 * @example stopGradient([1, 2])   // [1, 2]
 */
export const stopGradient: Public['stopGradient'] = typed(arithmetic.stopGradient)

/**
 * x in another dtype: f32 rounds to nearest even, i32 truncates and saturates (NaN is 0), bool is x != 0.
 *
 * Rule  dy = dx in the dtype of y; none through i32 and bool.   Source  IEEE 754; WebAssembly trunc_sat.
 * Errors  BadInput for what is not a dtype.
 * @example cast([1.7, -1.7], 'i32')   // [1, -1]
 */
export const cast: Public['cast'] = typed(arithmetic.cast)
