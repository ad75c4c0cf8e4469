/**
 * Packs: what the library has for the primitives of some families beside their declarations, rules and kernels of the CPU. Operators look for the rows of what a program is made of
 * here, so that a bundle holds those of the operations that it names and no others.
 */
import { raise } from '../errors/explain.js'
import type { AnyPrimitive, Structure } from '../graph/primitive.js'
import type { Rule } from './rule.js'

type Table<F, R> = { readonly [K in keyof F]: R }
/** What plans primitives of a structure where that is no part of the planner, in the planner's form. */
export type Planners = { readonly [K in Structure['kind']]?: unknown }
/** The rows of some families. */
export interface Pack {
  readonly rules: Readonly<Record<string, Rule>>
  readonly cpu: Readonly<Record<string, unknown>>
  /** Packs of the primitives that its rules and operations are written with. */
  readonly needs: readonly Pack[]
}
/** The one pack of each primitive. A constant that is known late: no operation can be reached whose primitives have none yet. */
const packs = new WeakMap<AnyPrimitive, Pack>()
/** The pack of a primitive; undefined for those of the base, and of others. */
export const packOf = (primitive: AnyPrimitive): Pack | undefined => packs.get(primitive)

/** As packs, for all that is of a structure: those of users and of other copies too. */
const planners: Planners = {}
export const plannerOf = (kind: keyof Planners): unknown => planners[kind]

/** The pack of a family's primitives: a row that lacks does not compile, nor does a row without its primitive. */
export const pack = <F extends object, R extends Table<F, Rule>>(
  primitives: F & Table<R, unknown>,
  rows: { readonly rules: R; readonly cpu: Table<F, unknown>; readonly planners?: Planners },
  needs: readonly Pack[] = [],
): Pack => {
  const made: Pack = { rules: rows.rules, cpu: rows.cpu as Pack['cpu'], needs }
  Object.assign(planners, rows.planners)
  for (const p of Object.values(primitives) as readonly AnyPrimitive[]) {
    if (packs.has(p)) raise({ _tag: 'InternalLaw', law: 'a primitive has one pack', detail: p.name })
    packs.set(p, made)
  }
  return made
}
/** An operation of a pack, which a bundle then holds with it. */
export const from = <F>(of: Pack, operation: F): F =>
  of.rules === undefined ? raise({ _tag: 'InternalLaw', law: 'a pack has rules', detail: 'none' }) : operation
