/** The gradient checker: rules against their primitives, and users' gradients against finite differences. Results are data. */
import { raise } from '../core/explain.js'
import type { AnyPrimitive, Sample } from '../core/primitive.js'
import type { Registry } from '../core/registry.js'
import { type Checked, report } from './findings.js'
import { checkGradWith, type GradientOptions } from './gradient.js'
import { checkKinks as checkKinksWith, checkRule as checkRuleWith, type RuleOptions } from './rule.js'

export { random } from './draw.js'
export { type Checked, type Finding, type Passed, report } from './findings.js'
export { derivative, type Estimate } from './finite-differences.js'
export type { GradientOptions } from './gradient.js'
export type { RuleOptions } from './rule.js'

/** The checker of one registry. */
export interface Checker {
  /** Every law of one primitive's rule at one of its samples. */
  readonly checkRule: (primitive: AnyPrimitive, sample: Sample, options?: RuleOptions) => Checked
  /** The declared derivative at every kink that a primitive declares. */
  readonly checkKinks: (primitive: AnyPrimitive) => Checked
  /** The derivative of a function at its arguments, in every mode, against finite differences. */
  readonly checkGrad: (f: unknown, args: readonly unknown[], options?: GradientOptions) => Checked
  /** As checkGrad, for tests of any framework: throws with the table of findings. */
  readonly expectGradient: (f: unknown, args: readonly unknown[], options?: GradientOptions) => void
}

/**
 * A checker for a registry; rules of one's own are checked as the shipped ones are.
 *
 * @example makeCheck(coreRegistry.with(myRule)).checkGrad(f, [[1, 2, 3]])
 */
export const makeCheck = (registry: Registry): Checker => {
  const checkGrad = checkGradWith(registry)
  return {
    checkRule: (primitive, sample, options) => checkRuleWith(registry, primitive, sample, options),
    checkKinks: (primitive) => checkKinksWith(registry, primitive),
    checkGrad,
    expectGradient: (f, args, options) => {
      const c = checkGrad(f, args, options)
      if (c._tag === 'Left') raise({ _tag: 'InternalLaw', law: 'the gradient agrees with finite differences', detail: `\n${report(c)}` })
    },
  }
}
