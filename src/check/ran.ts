/** Which rules of one's own ran: each is counted where a mode asks it. */

import type { FRule, Registry, RRule, Rule } from '../core/calculus/rule.js'
import { registryOf } from '../core/calculus/rule.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { coreRegistry } from '../packs/all.js'

/** A facet of a rule that modes call. */
export type RanFacet = 'frule' | 'rrule' | 'batch'
/** How often a rule that codual does not ship was called. */
export interface RuleRan {
  readonly name: string
  /** The facets that the rule has. */
  readonly has: readonly RanFacet[]
  /** Those that ran. */
  readonly ran: readonly RanFacet[]
  /** How often it was asked, and how often of these it declined (optOut). */
  readonly asked: number
  readonly declined: number
}

const facets: readonly RanFacet[] = ['frule', 'rrule', 'batch']
interface Count {
  readonly ran: Set<RanFacet>
  asked: number
  declined: number
}

const counted = (rule: Rule, count: Count): Rule => {
  const heard = (facet: RanFacet, xs: readonly unknown[], params: unknown): void => {
    count.asked++
    if (facet !== 'batch' && rule.optsOut?.(xs as never, params as never) === true) count.declined++
    else count.ran.add(facet)
  }
  const { frule, rrule, batch } = rule
  return {
    ...rule,
    ...(frule && {
      frule: ((xs, dxs, params, context) => {
        heard('frule', xs, params)
        return frule(xs, dxs, params, context)
      }) as FRule,
    }),
    ...(rrule && {
      rrule: ((xs, params, context) => {
        heard('rrule', xs, params)
        return rrule(xs, params, context)
      }) as RRule,
    }),
    ...(batch && {
      batch: (xs, batched, params, size, through) => {
        heard('batch', xs, params)
        return batch(xs, batched, params, size, through)
      },
    }),
  }
}

/** A registry whose rules that are not codual's own are counted, and what they say. */
export interface Counting {
  readonly registry: Registry
  readonly rules: () => readonly RuleRan[]
}
/** Primitives of codual's for which the registry has another rule, by name. */
export const overridesIn = (registry: Registry): readonly string[] =>
  [...registry.byPrimitive].flatMap(([p, rule]) => {
    const shipped = coreRegistry.ruleOf(p)
    return shipped === undefined || shipped === rule ? [] : [p.name]
  })

/** `of`: the primitives whose rules are counted; those that have no rule of codual's unless given. */
export const counting = (registry: Registry, of?: readonly AnyPrimitive[]): Counting => {
  const primitives = of ?? [...registry.byPrimitive].flatMap(([p, rule]) => (coreRegistry.ruleOf(p) === rule ? [] : [p]))
  const own = primitives.flatMap((p) => {
    const rule = registry.ruleOf(p)
    return rule === undefined ? [] : [{ rule, count: { ran: new Set<RanFacet>(), asked: 0, declined: 0 } }]
  })
  if (own.length === 0) return { registry, rules: () => [] }
  // Not `with`, which lays a rule over another one.
  const all = new Map(registry.byPrimitive)
  for (const { rule, count } of own) all.set(rule.primitive, counted(rule, count))
  return {
    registry: { ...registryOf([...all.values()]), duplicates: registry.duplicates },
    rules: () =>
      own.map(({ rule, count }) => ({
        name: rule.primitive.name,
        has: facets.filter((f) => rule[f] !== undefined),
        ran: facets.filter((f) => count.ran.has(f)),
        asked: count.asked,
        declined: count.declined,
      })),
  }
}

/** What several checks counted of the same rules. */
export const togetherRan = (all: readonly RuleRan[]): readonly RuleRan[] => {
  const known = new Map<string, RuleRan>()
  for (const r of all) {
    const k = known.get(r.name)
    known.set(
      r.name,
      k === undefined
        ? r
        : {
            name: r.name,
            has: facets.filter((f) => k.has.includes(f) || r.has.includes(f)),
            ran: facets.filter((f) => k.ran.includes(f) || r.ran.includes(f)),
            asked: k.asked + r.asked,
            declined: k.declined + r.declined,
          },
    )
  }
  return [...known.values()]
}

/** In words: what ran, and what never did. */
export const ranInWords = (rules: readonly RuleRan[]): readonly string[] => {
  const derives = (r: RuleRan): boolean => r.ran.some((f) => f !== 'batch') || !r.has.some((f) => f !== 'batch')
  const ran = rules.filter((r) => r.ran.length > 0)
  const out: string[] = []
  const declined = rules.filter((r) => !derives(r) && r.declined > 0)
  for (const r of declined.slice(0, 3))
    out.push(`the rule of ${r.name} never ran: it opted out each of the ${r.declined} times that it was asked`)
  if (ran.length > 0)
    out.push(
      `rules that ran: ${ran
        .slice(0, 6)
        .map((r) => `${r.name} (${r.ran.join(', ')})`)
        .join(', ')}${ran.length > 6 ? ` and ${ran.length - 6} more` : ''}`,
    )
  const never = rules.filter((r) => !derives(r) && r.declined === 0)
  if (never.length > 0)
    out.push(
      `rules that never ran: ${never
        .slice(0, 6)
        .map((r) => r.name)
        .join(
          ', ',
        )}${never.length > 6 ? ` and ${never.length - 6} more` : ''}: nothing that was differentiated applies ${never.length === 1 ? 'it' : 'them'}`,
    )
  return out
}
