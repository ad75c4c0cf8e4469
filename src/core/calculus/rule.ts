/** The protocol between primitives and modes: rules as data, and the registry that holds them (a Monoid; never global). */

import type { Either } from 'fp-ts/lib/Either.js'
import type { Monoid } from 'fp-ts/lib/Monoid.js'
import { listOf, shown } from '../errors/check-arguments.js'
import { left, right } from '../errors/either.js'
import type { AdError } from '../errors/error.js'
import { badInput, raise } from '../errors/explain.js'
import { holds } from '../errors/language.js'
import type { Aval } from '../graph/aval.js'
import { programsOf } from '../graph/expand.js'
import { linearize, type Node } from '../graph/expr.js'
import { qualifiedName } from '../graph/namespace.js'
import { type AnyPrimitive, isPrimitive } from '../graph/primitive.js'
import type { Program } from '../graph/program.js'
import type { Forced, NoTangent, NotImplemented, Tangent, ZeroTangent } from '../graph/tangent.js'
import type { AnyExpr } from '../types/expr.js'
import { packOf } from './pack.js'
import type { TaylorForm, TaylorRule } from './taylor.js'

/**
 * Which zeros of a (co)tangent are hard: none (0), those of what was filled up or given (1: they hold against what a singular
 * function made), those that a `where` put in place of what was computed (2: they hold against everything).
 */
export type Hardness = 0 | 1 | 2

/** How a rule calls back into the mode that runs it (for primitives that hold programs, such as map). */
export interface RuleConfig {
  readonly registry: Registry
  /** Values and tangents of `outputs` for tangents of some inputs (forward mode); the values share work with the tangents. */
  readonly pushforward: (
    outputs: readonly AnyExpr[],
    seeds: ReadonlyMap<AnyExpr, AnyExpr>,
  ) => { readonly ys: readonly AnyExpr[]; readonly dys: readonly Forced[] }
  /** Values of `outputs` and cotangents of `wrt` for cotangents of `outputs` (reverse mode). */
  readonly pullback: (
    outputs: readonly AnyExpr[],
    seeds: readonly Tangent[],
    wrt: readonly AnyExpr[],
  ) => { readonly ys: readonly AnyExpr[]; readonly xBars: readonly Forced[] }
  /**
   * A (co)tangent times a partial derivative, the (co)tangent first: its hard zeros stay zero whatever the partial is
   * (docs/decisions/strong-zero.md). `scalarRule` multiplies with it; a rule written out does too.
   */
  readonly product: (dx: AnyExpr, partial: AnyExpr) => AnyExpr
  /** Whether a (co)tangent may hold hard zeros. */
  readonly hardness: (dx: AnyExpr) => Hardness
  /** The (co)tangent, of which this is now known. */
  readonly hardened: (dx: AnyExpr, hardness: Hardness) => AnyExpr
  /** A fresh input in place of a (co)tangent, with hard zeros where it may hold them. */
  readonly standIn: (dx: AnyExpr, of: Aval) => AnyExpr
  /**
   * What `make` gave when these keys were first asked for in this derivation. Rules of primitives with programs derive a program once for the same parameters,
   * activity and hardness, so that the work of nested ones adds up and does not multiply.
   */
  readonly once: <T>(keys: readonly unknown[], make: () => T) => T
}

/** What a rule may use beside its arguments: the node's own results for these very arguments, and the calling mode. */
export interface RuleContext {
  readonly y: AnyExpr
  readonly ys: readonly AnyExpr[]
  /** Which arguments depend on what is differentiated. */
  readonly active: readonly boolean[]
  readonly config: RuleConfig
}

/** One cotangent per result (ZeroTangent where none arrived) to one per argument. `active[i]` tells whether anyone wants argument i's. */
export type Pullback = (yBars: readonly Forced[], active: readonly boolean[]) => readonly Tangent[]

export type FRule = (
  xs: readonly AnyExpr[],
  dxs: readonly Tangent[],
  params: never,
  context: RuleContext,
) => { readonly ys: readonly AnyExpr[]; readonly dys: readonly Tangent[] }
export type RRule = (
  xs: readonly AnyExpr[],
  params: never,
  context: RuleContext,
) => { readonly ys: readonly AnyExpr[]; readonly pullback: Pullback }
/** Results with a leading batch axis of length `size`, for arguments of which `batched` have one. */
export type BatchRule = (
  xs: readonly AnyExpr[],
  batched: readonly boolean[],
  params: never,
  size: number,
  through: Batching,
) => readonly AnyExpr[]
/** How the batch rule of a primitive that holds programs calls `vmap`: `outputs` with inputs replaced by batched ones. */
export type Batching = (outputs: readonly AnyExpr[], replaced: ReadonlyMap<AnyExpr, AnyExpr>, size: number) => readonly AnyExpr[]

/**
 * Entries of dy_i/dx_j of an elementwise function, at its arguments and results, a row for each result: a number where they are the same
 * everywhere, NoTangent in the `int` slots, a zero in place of a row of zeros.
 */
export type PartialsOf = (at: {
  readonly x: readonly AnyExpr[]
  readonly ys: readonly AnyExpr[]
  readonly params: never
}) => readonly (readonly (AnyExpr | number | ZeroTangent | NoTangent | NotImplemented)[] | ZeroTangent | NoTangent)[]
/** Cotangents of the arguments in which a function is linear, for those of its results. */
export type TransposeOf = (
  yBars: readonly AnyExpr[],
  xs: readonly AnyExpr[],
  params: never,
  active: readonly boolean[],
) => readonly Tangent[]

/**
 * Which elements of the argument or result `to` are in a product with an element of `from` for which the flags hold: 0 and 1 are the arguments, 2 is the result. In the shape of
 * `to`, or one that broadcasts to it. Too many are no mistake; all of them, where nothing better is known.
 */
export type ReachOf = (flags: AnyExpr, from: 0 | 1 | 2, to: 0 | 1 | 2, avals: readonly Aval[], params: never) => AnyExpr

/**
 * What a primitive is as a function of its float arguments; frule and rrule follow from it.
 *
 * `linear`: f(a x + b y) = a f(x) + b f(y), over all float arguments together; `bilinear`: so in each of its two arguments;
 * `partials`: elementwise, with these partial derivatives; `constant`: its derivative is 0 wherever there is one.
 */
export type Form =
  | { readonly _tag: 'linear'; readonly transpose: TransposeOf }
  | { readonly _tag: 'bilinear'; readonly transpose: TransposeOf; readonly reach?: ReachOf }
  | { readonly _tag: 'partials'; readonly partials: PartialsOf }
  | { readonly _tag: 'constant' }

/** The calculus of one primitive. A missing facet is a MissingRule error when it is needed. */
export interface Rule {
  readonly primitive: AnyPrimitive
  /** What frule and rrule follow from; not there where they are written out. */
  readonly form?: Form
  readonly frule?: FRule
  readonly rrule?: RRule
  readonly batch?: BatchRule
  /** Taylor coefficients of its results. Where it is not there, they follow from the form, or from the frule. */
  readonly taylor?: TaylorRule | TaylorForm
  /** Are its derivatives, at these parameters, deliberately not those of the primitive (straight-through, clipped ...)? */
  readonly estimates?: (params: never) => boolean
  /** Does it leave these arguments to another composition (optOut)? */
  readonly optsOut?: (xs: readonly AnyExpr[], params: never) => boolean
  /** Does it follow from a composition of other primitives? Its own results then round as that does, not as the meaning. */
  readonly composed?: boolean
  /** Why facets are left out on purpose: part of the MissingRule error. */
  readonly missing?: string
}

/** Rules by primitive. Immutable. */
export interface Registry {
  /** By name: `tanh` for a primitive of the library, `mine/cube` for one of the plugin mine, `own/cube` for one that no plugin has. */
  readonly rules: ReadonlyMap<string, Rule>
  /** By the primitive itself, whatever others are called. */
  readonly byPrimitive: ReadonlyMap<AnyPrimitive, Rule>
  /** The rule of a primitive. The registry of the library's own operators finds those of all its operations, whether they are among `rules` or not. */
  readonly ruleOf: (primitive: AnyPrimitive) => Rule | undefined
  /** Names declared by more than one of the parts it was folded from. */
  readonly duplicates: readonly string[]
  /** This registry with one more rule; a rule for a known primitive replaces the facets that it gives. */
  readonly with: (...rules: readonly Rule[]) => Registry
}

/** What is given as a rule. */
export const ruleIn = (given: unknown, where: string): Rule =>
  holds(() => isPrimitive((given as Partial<Rule> | null | undefined)?.primitive))
    ? (given as Rule)
    : badInput(where, `${shown(given)} is not a rule.`, 'make one with rule, scalarRule, linearRule ...')

/** A rule without its form and what follows from that: other derivatives do not. */
export const formless = ({ form: _form, taylor: _taylor, ...rule }: Rule): Rule => rule
/** A rule over another one of the same primitive. */
const over = (old: Rule, r: Rule): Rule => {
  if (r.frule === undefined && r.rrule === undefined) return { ...old, ...r }
  const { estimates: _estimates, optsOut: _optsOut, ...kept } = formless(old)
  return { ...kept, ...r }
}

type Rules = ReadonlyMap<AnyPrimitive, Rule>
const make = (byPrimitive: Rules, duplicates: readonly string[], open = false): Registry => {
  const ruleOf = (p: AnyPrimitive): Rule | undefined => byPrimitive.get(p) ?? (open ? packOf(p)?.rules[p.name] : undefined)
  return {
    rules: new Map([...byPrimitive].map(([p, r]) => [qualifiedName(p), r])),
    byPrimitive,
    ruleOf,
    duplicates,
    with: (...more) => {
      for (const r of more) ruleIn(r, 'registry.with')
      const next = new Map(byPrimitive)
      for (const r of more) next.set(r.primitive, over(next.get(r.primitive) ?? ruleOf(r.primitive) ?? r, r))
      return make(next, duplicates, open)
    },
  }
}
/** A registry of these rules, and of those of any pack. */
export const openRegistry = (rules: readonly Rule[]): Registry => make(new Map(rules.map((r) => [r.primitive, r])), [], true)
/** One rule for each primitive of a list, the last; and the names that it has differently before. */
const folded = (
  rules: Iterable<Rule>,
  differ: (old: Rule, r: Rule) => boolean,
): { readonly own: Rules; readonly twice: readonly string[] } => {
  const own = new Map<AnyPrimitive, Rule>()
  const names = new Map<string, Rule>()
  const twice: string[] = []
  for (const r of rules) {
    const name = qualifiedName(r.primitive)
    const old = names.get(name)
    if (old !== undefined && differ(old, r)) twice.push(name)
    names.set(name, r)
    own.set(r.primitive, r)
  }
  return { own, twice }
}

/** What is given as a registry. */
export const registryIn = (given: unknown, where: string): Registry =>
  holds(() => {
    const { rules, byPrimitive, ruleOf, duplicates } = (typeof given === 'object' && given !== null ? given : {}) as Partial<Registry>
    return rules instanceof Map && byPrimitive instanceof Map && typeof ruleOf === 'function' && Array.isArray(duplicates)
  })
    ? (given as Registry)
    : badInput(where, `${shown(given)} is not a registry.`, 'use coreRegistry, coreRegistry.with(rule) or registryOf(rules).')

/** The registry without rules: the unit of `registryMonoid`. */
export const emptyRegistry: Registry = make(new Map(), [])

/**
 * A registry of these rules; the same primitive twice is reported in `duplicates`.
 *
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * registryOf([scalarRule(twice, () => [2]), scalarRule(twice, () => [2])]).duplicates   // ['own/twice']
 */
export const registryOf = (rules: readonly Rule[]): Registry => {
  const given = listOf(rules, 'the rules', 'registryOf').map((r) => ruleIn(r, 'registryOf'))
  const { own, twice } = folded(given, () => true)
  return make(own, twice)
}

/**
 * Union of registries. A name in both is kept from the second and reported in `duplicates`.
 *
 * @example registryMonoid.concat(emptyRegistry, coreRegistry).duplicates   // []
 */
export const registryMonoid: Monoid<Registry> = {
  empty: emptyRegistry,
  concat: (a, b) => {
    registryIn(a, 'registryMonoid')
    registryIn(b, 'registryMonoid')
    if (a.rules.size === 0) return b
    if (b.rules.size === 0) return a
    const { own, twice } = folded([...a.byPrimitive.values(), ...b.byPrimitive.values()], (old, r) => old !== r)
    return make(own, [...a.duplicates, ...b.duplicates, ...twice])
  },
}

/** The registry, or the error that names what was declared twice. */
export const withoutDuplicates = (r: Registry): Either<AdError, Registry> =>
  r.duplicates.length === 0 ? right(r) : left({ _tag: 'DuplicatePrimitive', name: r.duplicates[0]!, facet: 'rules' })

/** Why a primitive may have the name of another one, and what to do. */
export const OTHER_COPY =
  'one of your own, which wants a name of its own, or one of another copy of codual: load it once, by import or by require.'

/** A facet of a primitive's rule; raises MissingRule. */
export const ruleFor = <K extends 'frule' | 'rrule' | 'batch'>(
  registry: Registry,
  primitive: AnyPrimitive,
  facet: K,
  neededBy: string,
): NonNullable<Rule[K]> => {
  const own = registry.ruleOf(primitive)
  const other = own === undefined && registry.rules.has(primitive.name)
  return (own?.[facet] ??
    raise({
      _tag: 'MissingRule',
      primitive: primitive.name,
      rule: facet,
      arity: primitive.args.length,
      neededBy,
      ...(own?.missing !== undefined && { fix: `its author left it out: ${own.missing}.` }),
      ...(other && { fix: `the registry's rule is for another primitive of this name: ${OTHER_COPY}` }),
    })) as NonNullable<Rule[K]>
}

/**
 * The applications in an expression, and in the programs among its parameters, whose derivatives are deliberately not their own: by the names
 * of their primitives, each once. Whoever holds derivatives against differences leaves such expressions out.
 */
export const estimatesIn = (registry: Registry, outputs: readonly Node[]): readonly string[] => {
  const found = new Set<string>()
  const seen = new Set<Program>()
  const look = (roots: readonly Node[]): void => {
    for (const { prim, payload } of linearize(roots).nodes) {
      if (prim === null) continue
      if (registry.ruleOf(prim)?.estimates?.(payload as never) === true) found.add(prim.showParams?.(payload) ?? prim.name)
      for (const p of programsOf(prim, payload))
        if (!seen.has(p)) {
          seen.add(p)
          look(p.outputs)
        }
    }
  }
  look(outputs)
  return [...found]
}
