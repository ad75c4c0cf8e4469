/** Calculus of operations on bits: there is none. */

import type { Rule } from '../core/calculus/rule.js'
import * as op from '../core/ops/bitwise.js'
import type { bitwise } from '../core/ops/families.js'
import { shiftByPrimitive } from '../core/ops/shift.js'
import { nonDifferentiable } from './define.js'

/** One rule per primitive of the family `bitwise`. */
export const bitwiseRules: { readonly [K in keyof typeof bitwise]: Rule } = {
  bitwiseAnd: nonDifferentiable(op.bitwiseAnd),
  bitwiseOr: nonDifferentiable(op.bitwiseOr),
  bitwiseXor: nonDifferentiable(op.bitwiseXor),
  bitwiseNot: nonDifferentiable(op.bitwiseNot),
  leftShift: nonDifferentiable(op.leftShift),
  rightShift: nonDifferentiable(op.rightShift),
  rightShiftLogical: nonDifferentiable(op.rightShiftLogical),
  shiftBy: nonDifferentiable(shiftByPrimitive),
}
