/** The primitive to blame: the one whose step fails by itself at its arguments, or without whose own rule nothing fails. */
import type { Registry } from '../../core/calculus/rule.js'
import { composedRules } from '../../core/extend/decompose.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { Finding } from '../findings.js'
import { checkOne } from './laws.js'
import { isShipped, type Setting } from './options.js'
import { type RandomProgram, type Step, valuesOf } from './program.js'
import { alone, unwrapped } from './shrink.js'

/** The registry in which a primitive has the rules of what it expands to. */
const expandedIn = (registry: Registry, primitive: AnyPrimitive): Registry | undefined =>
  primitive.expand === undefined ? undefined : registry.with({ primitive, ...composedRules(primitive.expand) })

/** Of a program that fails, by these findings; undefined where no step does by itself and no rule can be replaced. */
export const guiltyOf = (p: RandomProgram, setting: Setting, seed: number, findings: readonly Finding[]): string | undefined => {
  const shipped = (p: AnyPrimitive): boolean => {
    const rule = setting.registry.ruleOf(p)
    return rule !== undefined && isShipped(rule)
  }
  // Those of the user first: the shipped ones are what makes arguments fit.
  const steps = [...p.steps].sort((a, b) => Number(shipped(a.primitive)) - Number(shipped(b.primitive)))
  const [first] = steps
  if (first === undefined) return undefined
  let values: ReadonlyMap<number, NDArray>
  try {
    values = valuesOf(p)
  } catch {
    return first.primitive.name
  }
  /** Of a step that holds programs: what these are made of, all of their results read, if that fails too. */
  const blamed = (s: Step): string => {
    const whole = alone(p, s, values)
    const within = unwrapped(whole, whole.steps[0]!)
    const found = within === undefined ? [] : checkOne(within, setting, seed).findings
    return (found.length > 0 ? guiltyOf(within!, setting, seed, found) : undefined) ?? s.primitive.name
  }
  if (steps.length === 1) return blamed(first)
  for (const s of steps) if (checkOne(alone(p, s, values), setting, seed).findings.length > 0) return blamed(s)
  const fails = (others: readonly Finding[]): boolean => others.some((f) => findings.some((g) => g.check === f.check))
  // A backend that answers later is not asked here: what it alone finds holds with any rule.
  const replaceable = fails(checkOne(p, setting, seed).findings)
  for (const s of replaceable ? steps : []) {
    const registry = expandedIn(setting.registry, s.primitive)
    if (registry !== undefined && !fails(checkOne(p, { ...setting, registry }, seed).findings)) return s.primitive.name
  }
  const own = [...new Set(steps.filter((s) => !shipped(s.primitive)).map((s) => s.primitive.name))]
  return own.length === 1 ? own[0] : undefined
}
