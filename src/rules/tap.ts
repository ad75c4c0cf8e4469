/** Calculus of what is shown: that of the identity. */
import type { Rule } from '../core/calculus/rule.js'
import { type tapFamily, tapPrimitive } from '../core/ops/tap.js'
import { scalarRule } from './define.js'

/** One rule per primitive of core/ops/tap.ts. */
export const tapRules: { readonly [K in keyof typeof tapFamily]: Rule } = {
  tap: scalarRule(tapPrimitive, () => [1]),
}
