/** Predicates have no tangent. */
import { compare } from '../core/ops/compare.js'
import type { Rule } from '../core/registry.js'
import { nonDifferentiable } from './define.js'

/** One rule per primitive of core/ops/compare.ts. */
export const compareRules: { readonly [K in keyof typeof compare]: Rule } = {
  eq: nonDifferentiable(compare.eq),
  ne: nonDifferentiable(compare.ne),
  lt: nonDifferentiable(compare.lt),
  le: nonDifferentiable(compare.le),
  gt: nonDifferentiable(compare.gt),
  ge: nonDifferentiable(compare.ge),
  isnan: nonDifferentiable(compare.isnan),
  isfinite: nonDifferentiable(compare.isfinite),
  logicalAnd: nonDifferentiable(compare.logicalAnd),
  logicalOr: nonDifferentiable(compare.logicalOr),
  logicalNot: nonDifferentiable(compare.logicalNot),
}
