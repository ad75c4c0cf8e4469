/** The gradient checker: rules against their primitives, and users' gradients against finite differences. Results are data. */

import { cpu } from '../backends/cpu/index.js'
import { type Registry, type Rule, registryIn } from '../core/calculus/rule.js'
import { functionOf } from '../core/errors/check-arguments.js'
import { badInput, raise } from '../core/errors/explain.js'
import { readGiven } from '../core/errors/options.js'
import { type AnyPrimitive, primitiveOf } from '../core/graph/primitive.js'
import { coreRegistry } from '../packs/all.js'
import { consistent, type Expectations } from './expectations.js'
import { type Checked, lookedToo, together } from './findings.js'
import { checkGradWith, type GradientOptions, gradientOptionsOf } from './gradient.js'
import { counting, overridesIn } from './ran.js'
import { report } from './report.js'
import { checkKinks as checkKinksWith, checkSample } from './rule.js'
import { type RuleOptions, ruleOptions, samplesOf } from './sample-subject.js'
import { needSamples } from './sampled.js'

export { audit, type Kernels, preparedBy, type Row, rowsOf } from './audit.js'
export type { Budget } from './budget.js'
export { type CheckName, checks, type Switches } from './check-names.js'
export type { DrawOptions, Range } from './declared.js'
export { random } from './draw.js'
export type { Expectations, Expected } from './expectations.js'
export type { Checked, Finding, Passed } from './findings.js'
export { derivative, type Estimate, oneSided } from './finite-differences.js'
export { type DrawArgumentsOptions, type DrawnArguments, drawArguments, type GradientOptions } from './gradient.js'
export type { Looked, Region } from './looked.js'
export { type MatcherResult, matchers } from './matchers.js'
export { checkPlugin, checkPluginAsync, type LaterOptions } from './plugin.js'
export type { CheckOptions } from './program.js'
export {
  forAllPrograms,
  forAllProgramsAsync,
  type ProgramCounterexample,
  type ProgramsChecked,
  type ProgramsPassed,
  type Reached,
} from './programs/for-all-programs.js'
export type { ProgramOptions, ProgramsOf } from './programs/options.js'
export { reportPrograms } from './programs/report.js'
export type { RanFacet, RuleRan } from './ran.js'
export { type ReportOptions, report } from './report.js'
export type { RuleOptions } from './sample-subject.js'
export type { Mode } from './subject.js'

/** The checker of one registry. */
export interface Checker {
  /** `checkRule` for this registry: every law of a rule, or of the rule that the registry has for a primitive, at all of its samples and kinks, or at one sample. */
  readonly checkRule: (rule: Rule | AnyPrimitive | { readonly primitive: AnyPrimitive }, options?: RuleOptions) => Checked
  /** The declared derivative at every kink that a primitive declares. */
  readonly checkKinks: (primitive: AnyPrimitive) => Checked
  /** `checkGrad` for this registry: the derivative of a function at its arguments, in every mode, against finite differences; without arguments at some that are drawn from its declaration. */
  readonly checkGrad: (f: unknown, options?: GradientOptions) => (...args: readonly unknown[]) => Checked
  /** As checkGrad, for tests of any framework: throws with the table of findings. */
  readonly expectGradient: (f: unknown, options?: GradientOptions) => (...args: readonly unknown[]) => void
}

const ruleOptionsOf = (given: RuleOptions | undefined): RuleOptions => consistent(readGiven(ruleOptions, given, 'checkRule'), 'checkRule')
/** Values belong to one sample; functions of the arguments to all. */
const ofOneSample = ({ tangents, cotangents, expected }: Expectations, name: string): void => {
  const values = Object.values(expected ?? {}).some((x) => x !== undefined && typeof x !== 'function')
  if (tangents !== undefined || cotangents !== undefined || values)
    badInput(
      `checkRule of ${name}`,
      'values are given, and the samples of a primitive have different shapes.',
      'say which sample they are for: { sample: 0, ... }, or give functions of the arguments.',
    )
}
const allSamples = (registry: Registry, prim: AnyPrimitive, given?: RuleOptions): Checked => {
  const options = ruleOptionsOf(given)
  needSamples([prim], `checkRule of ${prim.name}`)
  if (prim.samples.length === 0)
    badInput(`checkRule of ${prim.name}`, 'the primitive has no samples to be checked at.', 'declare samples or a domain.')
  const seed = options.seed ?? 1
  const only = options.sample
  if (typeof only === 'object') return checkSample(registry, prim, only, options)
  if (only !== undefined) {
    const sample =
      samplesOf(prim)[only] ?? badInput(`checkRule of ${prim.name}`, `it has no sample ${only}.`, `it has ${samplesOf(prim).length}.`)
    return checkSample(registry, prim, sample, options, `sample ${only}`)
  }
  ofOneSample(options, prim.name)
  return together(prim.name, [
    ...samplesOf(prim).map((s, i) => checkSample(registry, prim, s, { ...options, seed: seed + i }, `sample ${i}`)),
    checkKinksWith(registry, prim, options),
  ])
}
/** A check of one primitive's rule, which says whether the rule ran where it is not codual's own. */
const ofOwn = (registry: Registry, prim: AnyPrimitive, check: (registry: Registry) => Checked): Checked => {
  const overrides = overridesIn(registry).filter((name) => name === prim.name)
  if (coreRegistry.ruleOf(prim) === registry.ruleOf(prim)) return check(registry)
  const own = counting(registry, [prim])
  const checked = check(own.registry)
  return lookedToo(checked, { rules: own.rules(), overrides })
}

/** Is this a rule, and not a primitive alone? */
const isWritten = (given: Rule | AnyPrimitive | { readonly primitive: AnyPrimitive }): given is Rule =>
  'frule' in given || 'rrule' in given || 'batch' in given || 'taylor' in given
const checkRuleWith = (
  registry: Registry,
  given: Rule | AnyPrimitive | { readonly primitive: AnyPrimitive },
  options?: RuleOptions,
): Checked => {
  const primitive = primitiveOf(given, 'checkRule')
  return ofOwn(isWritten(given) ? registry.with(given) : registry, primitive, (r) => allSamples(r, primitive, options))
}
const curried =
  <A>(run: (f: unknown, args: readonly unknown[], options: GradientOptions) => A, op: string) =>
  (f: unknown, options?: GradientOptions): ((...args: readonly unknown[]) => A) => {
    const given = gradientOptionsOf(options, op)
    functionOf(f, 'the first argument', op)
    return (...args) => run(f, args, given)
  }

/**
 * A checker for a registry: its functions are called like `checkRule` and `checkGrad`. It uses the reference backend unless `backends` names more.
 *
 * @example
 * const cube = unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
 * const registry = coreRegistry.with(scalarRule(cube, ({ x: [x] }) => [mul(3, mul(x, x))]))
 * report(makeCheck(registry).checkGrad((x: AnyExpr) => sum(cube(x)))([1, 2, 3]))   // 'ok   f: ...'
 */
export const makeCheck = (registry: Registry): Checker => {
  const check = checkGradWith(registryIn(registry, 'makeCheck'))
  return {
    checkRule: (rule, options) => checkRuleWith(registry, rule, options),
    checkKinks: (primitive) => checkKinksWith(registry, primitiveOf(primitive, 'checkKinks')),
    checkGrad: curried((f, args, options) => check(f, args, options), 'checkGrad'),
    expectGradient: curried((f, args, options) => {
      const c = check(f, args, options, 'expectGradient')
      if (c._tag === 'Left') raise({ _tag: 'InternalLaw', law: 'the gradient agrees with finite differences', detail: `\n${report(c)}` })
    }, 'expectGradient'),
  }
}

/**
 * A check of the derivative of f at its arguments: jvp and vjp against finite differences in f64 and the modes against each other, to the second
 * order, on the CPU backend too. Left: what disagreed, with argument and index. Right: how much was compared. Without arguments they are drawn
 * from the declaration of a function made by `fn`: the same for the same seed, from `sizes` of its named dimensions and the `domain` of its
 * inputs.
 *
 * Errors  BadInput if there are no arguments, and no declaration to draw them from.
 * @example
 * report(checkGrad((x: AnyExpr) => sum(mul(x, x)))([1, 2]))   // 'ok   f: ...'
 * report(checkGrad(fn({ x: f64('n') }, ({ x }) => sum(log(x))), { seed: 3, domain: { x: [0.5, 2] } })())   // 'ok   fn: ...'
 */
export const checkGrad: (f: unknown, options?: GradientOptions) => (...args: readonly unknown[]) => Checked = /*#__PURE__*/ curried(
  (f, args, options) => checkGradWith(coreRegistry)(f, args, { backends: [cpu()], ...options }),
  'checkGrad',
)

/**
 * A check of a rule at all samples and kinks of its primitive. It takes a rule, or a primitive that has one already.
 *
 * @example
 * const cube = unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
 * report(checkRule(scalarRule(cube, ({ x: [x] }) => [mul(3, mul(x, x))])))   // 'ok   cube: ...'
 */
export const checkRule = (rule: Rule | AnyPrimitive | { readonly primitive: AnyPrimitive }, options?: RuleOptions): Checked =>
  checkRuleWith(coreRegistry, rule, options)
