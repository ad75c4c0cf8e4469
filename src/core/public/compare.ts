// Comparisons and logic: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as compare from '../ops/compare.js'
import { type Public, typed } from './typed.js'

/**
 * a = b; NaN equals nothing.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example eq([1, 2], 2)   // [false, true]
 */
export const eq: Public['eq'] = typed(compare.eq)

/**
 * a != b; NaN differs from everything.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example ne([1, 2], 2)   // [true, false]
 */
export const ne: Public['ne'] = typed(compare.ne)

/**
 * a < b.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example lt([1, 2], 2)   // [true, false]
 */
export const lt: Public['lt'] = typed(compare.lt)

/**
 * a <= b.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example le([1, 3], 2)   // [true, false]
 */
export const le: Public['le'] = typed(compare.le)

/**
 * a > b.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example gt([1, 3], 2)   // [false, true]
 */
export const gt: Public['gt'] = typed(compare.gt)

/**
 * a >= b.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example ge([1, 2], 2)   // [false, true]
 */
export const ge: Public['ge'] = typed(compare.ge)

/**
 * Is x not a number?
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example isnan([1, NaN])   // [false, true]
 */
export const isnan: Public['isnan'] = typed(compare.isnan)

/**
 * Is x a finite number?
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example isfinite([1, Infinity, NaN])   // [true, false, false]
 */
export const isfinite: Public['isfinite'] = typed(compare.isfinite)

/**
 * a and b. Numbers count as true unless they are 0.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  NumPy logical_and.
 * @example and([1, 0], [1, 1])   // [true, false]
 */
export const and: Public['and'] = typed(compare.and)

/**
 * a or b. Numbers count as true unless they are 0.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  NumPy logical_or.
 * @example or([1, 0], [0, 0])   // [true, false]
 */
export const or: Public['or'] = typed(compare.or)

/**
 * not x. Numbers count as true unless they are 0.
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  NumPy logical_not.
 * @example not([1, 0])   // [false, true]
 */
export const not: Public['not'] = typed(compare.not)
