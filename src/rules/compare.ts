/** Calculus of comparisons and logic: there is none. */

import type { Rule } from '../core/calculus/rule.js'
import * as op from '../core/ops/compare.js'
import type { compare } from '../core/ops/families.js'
import { nonDifferentiable } from './define.js'

/** One rule per primitive of the family `compare`. */
export const compareRules: { readonly [K in keyof typeof compare]: Rule } = {
  eq: nonDifferentiable(op.eq),
  ne: nonDifferentiable(op.ne),
  lt: nonDifferentiable(op.lt),
  le: nonDifferentiable(op.le),
  gt: nonDifferentiable(op.gt),
  ge: nonDifferentiable(op.ge),
  isnan: nonDifferentiable(op.isnan),
  isfinite: nonDifferentiable(op.isfinite),
  logicalAnd: nonDifferentiable(op.and),
  logicalOr: nonDifferentiable(op.or),
  logicalNot: nonDifferentiable(op.not),
}
