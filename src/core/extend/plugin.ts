/** Plugins: primitives with all their facets as one value. Plugins are combined by a Monoid that reports duplicates; nothing is global. */

import type { Either } from 'fp-ts/lib/Either.js'
import type { Monoid } from 'fp-ts/lib/Monoid.js'
import { emptyRegistry, type Registry, type Rule, registryIn, registryOf } from '../calculus/rule.js'
import { functionOf, listOf, recordOf, shown } from '../errors/check-arguments.js'
import { left, right } from '../errors/either.js'
import type { AdError } from '../errors/error.js'
import { badInput, raise } from '../errors/explain.js'
import { reading } from '../errors/language.js'
import { type OptionsFor, part, readOptions } from '../errors/options.js'
import type { Expansion } from '../graph/expand.js'
import { applyAny, asExpr } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import { claim, qualifiedName } from '../graph/namespace.js'
import {
  type AnyPrimitive,
  type ArgKind,
  isPrimitive,
  isShipped,
  NO_PARAMS,
  type NoParams,
  type Primitive,
  primitiveOf,
} from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import { composedRules } from './decompose.js'
import type { Facet, KernelFunction, KernelTable, Missing } from './kernel-table.js'

/** A primitive, or the function that `unary` or `binary` made of it. */
export type PluginOp = AnyPrimitive | { readonly primitive: AnyPrimitive }
/** Primitives by their own names. */
export type PluginOps = Readonly<Record<string, PluginOp>>

type ParamsOf<O> = O extends { readonly primitive: Primitive<string, infer P> } ? P : O extends Primitive<string, infer P> ? P : never
type KindsOf<O> = O extends { readonly primitive: { readonly args: infer A } } ? A : O extends { readonly args: infer A } ? A : never
type ArgsOf<A> = A extends readonly ArgKind[]
  ? number extends A['length']
    ? readonly AnyExpr[]
    : { readonly [K in keyof A]: AnyExpr }
  : never

/** The results of a primitive from other primitives: its rules and its kernels follow. */
export type LowerRow<O> = (xs: ArgsOf<KindsOf<O>>, params: ParamsOf<O>) => AnyExpr | readonly AnyExpr[]
/** The calculus of a primitive, or `missing(reason)`. */
export type RuleRow = Rule | Missing
/** How a backend computes a primitive: a function over whole arrays, a facet, or `missing(reason)`. */
export type KernelRow<O, I = never, W = never> = KernelFunction<ParamsOf<O>> | Facet<I, W>

/** A row for each primitive; those that are lowered may have one. */
type Rows<O, L, Row extends { readonly [K in keyof O]: unknown }> = {
  readonly [K in Exclude<keyof O, L>]: Row[K]
} & { readonly [K in keyof O & L]?: Row[K] }

/** What `definePlugin` takes. */
export interface PluginSpec<O extends PluginOps, L extends PropertyKey> {
  readonly name: string
  /** What each primitive is; keys are the primitives' names. */
  readonly ops: O
  /** Primitives that are compositions of others: they need no rule and no kernel. */
  readonly lower?: { readonly [K in keyof O]?: LowerRow<O[K]> } & { readonly [K in L]: unknown }
  /** Calculus: a rule for each primitive, or `missing(reason)`. */
  readonly rules: Rows<O, NoInfer<L>, { readonly [K in keyof O]: RuleRow }>
  /** Kernels by backend; a backend that is left out has none. */
  readonly kernels?: {
    readonly cpu?: Rows<O, NoInfer<L>, { readonly [K in keyof O]: KernelRow<O[K]> }>
    readonly [backend: string]: Rows<O, NoInfer<L>, { readonly [K in keyof O]: KernelRow<O[K], unknown, unknown> }> | undefined
  }
}

/** Primitives with their facets. A value: apart from naming its primitives it changes nothing until codual and a backend are made with it. */
export interface Plugin {
  readonly name: string
  /** By their own names; of several plugins together by their names in the namespace of each: `mine/cube`. */
  readonly ops: ReadonlyMap<string, AnyPrimitive>
  readonly registry: Registry
  /** Kernels by backend: `cpu({ kernels: plugin.kernels.cpu })`. */
  readonly kernels: { readonly cpu?: KernelTable; readonly [backend: string]: KernelTable<unknown, unknown> | undefined }
  /** What more than one of the plugins that it was folded from gives, differently. */
  readonly duplicates: readonly { readonly name: string; readonly facet: string }[]
}

const bad = (plugin: string, reason: string, fix?: string): never =>
  raise({ _tag: 'BadInput', where: `definePlugin ${plugin}`, reason, ...(fix !== undefined && { fix }) })

/** What is given as a plugin. */
export const pluginIn = (given: unknown, where: string): Plugin => {
  const { ops, registry, kernels, duplicates } = reading(
    where,
    () => ({ ...(typeof given === 'object' && given !== null ? given : {}) }) as Partial<Plugin>,
  )
  if (!(ops instanceof Map && typeof kernels === 'object' && kernels !== null && Array.isArray(duplicates)))
    return badInput(where, `${shown(given)} is not a plugin.`, 'make one with definePlugin.')
  registryIn(registry, where)
  return given as Plugin
}

export const pluginParts: OptionsFor<PluginSpec<PluginOps, string>> = { name: part, ops: part, lower: part, rules: part, kernels: part }
const isFacet = (row: KernelRow<never, unknown, unknown>): row is Facet<unknown, unknown> => typeof row === 'object'

/** A kernel row as a facet, of a kind that the primitive can have. */
const facetOf = (plugin: string, p: AnyPrimitive, row: KernelRow<never, unknown, unknown>): Facet<unknown, unknown> => {
  if (row === null || !(typeof row === 'function' || typeof (row as { readonly kind?: unknown }).kind === 'string'))
    return bad(
      plugin,
      `the kernel of ${p.name} is ${shown(row)}.`,
      'give a function (args, params, outs) => void, perElement() or missing(reason).',
    )
  const facet: Facet<unknown, unknown> = isFacet(row) ? row : { kind: 'call', f: row as KernelFunction }
  const scalar = facet.kind === 'inline' || facet.kind === 'perElement'
  if (facet.kind === 'planned') bad(plugin, `the planner knows nothing of ${p.name}`, 'give a function, or lower it.')
  if (facet.kind !== 'missing' && scalar !== (p.class === 'elementwise'))
    bad(
      plugin,
      `${p.name} is ${p.class}, and its kernel is ${facet.kind}`,
      p.class === 'elementwise'
        ? 'perElement(), for webgpu inline(({ x }) => ...), or lower it.'
        : 'a function (args, params, outs) => void, or lower it.',
    )
  return facet
}

/** A facet for each of the primitives that planners see: inline code of several results gives a list, one for each. */
const ofParts = (p: AnyPrimitive, facet: Facet<unknown, unknown>): readonly (readonly [AnyPrimitive, Facet<unknown, unknown>])[] =>
  p.parts === undefined
    ? [[p, facet]]
    : p.parts.map((part, r) => {
        if (facet.kind !== 'inline') return [part, facet] as const
        const code = facet.code as (at: unknown) => unknown
        return [part, { kind: 'inline', code: (at: unknown) => entryOf(p, code(at), r) }] as const
      })

/** Code of result r, of the list that inline code gives for several. */
const entryOf = (p: AnyPrimitive, given: unknown, r: number): unknown =>
  Array.isArray(given) && given.length === p.parts!.length
    ? given[r]
    : badInput(
        `the inline kernel of ${p.name}`,
        `it gave ${Array.isArray(given) ? `a list of ${given.length}` : shown(given)}, and ${p.name} has ${p.parts!.length} results.`,
        'give a list with the code of each.',
      )

/** What a plugin has of the rules of one primitive. */
const ruleOf = (plugin: string, p: AnyPrimitive, row: RuleRow | undefined, lowering: Expansion | undefined): Rule => {
  const derived = lowering === undefined ? {} : composedRules(lowering)
  if (row === undefined) return { primitive: p, ...derived }
  if (typeof row !== 'object' || row === null || !('kind' in row || isPrimitive(row.primitive)))
    return bad(plugin, `the rule of ${p.name} is ${shown(row)}.`, 'give a rule of it, or missing(reason).')
  if ('kind' in row) return { primitive: p, missing: row.reason }
  if (row.primitive !== p) bad(plugin, `the rule of ${p.name} is one of ${row.primitive.name}`, 'give the rule of this very primitive.')
  return { ...derived, ...row }
}

/**
 * Primitives of your own with all their facets as one value: what they are (ops), their calculus (rules), how backends compute them (kernels).
 *
 * A row that is forgotten does not compile; one left out on purpose is `missing(reason)`. A kernel is a function over typed arrays, which
 * may run compiled functions; `perElement()` for elementwise ones. Programs print and save a primitive as `plugin/name`. A primitive that is a composition of others has a row in `lower` alone.
 * Errors  BadInput where a key is not its primitive's name or a row is of another primitive; later MissingRule and MissingKernel.
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const doubling = definePlugin({
 *   name: 'doubling',
 *   ops: { twice },
 *   rules: { twice: scalarRule(twice, () => [2]) },
 *   kernels: { cpu: { twice: perElement() } },
 * })
 * codualWith(doubling).grad((x) => sum(twice(x)))([1, 2])   // [2, 2]
 */
export const definePlugin = <const O extends PluginOps, L extends PropertyKey = never>(spec: PluginSpec<O, L>): Plugin => {
  readOptions(pluginParts, recordOf(spec, 'the plugin', 'definePlugin'), 'definePlugin')
  if (typeof spec.name !== 'string' || spec.name === '') badInput('definePlugin', `its name is ${shown(spec.name)}.`, 'give a text.')
  const ops = new Map<string, AnyPrimitive>()
  for (const [name, op] of Object.entries(recordOf(spec.ops, 'ops', `definePlugin ${spec.name}`))) {
    const p = primitiveOf(op, `definePlugin ${spec.name}: ${name}`)
    if (p.name !== name) bad(spec.name, `the primitive under ${name} has the name ${p.name}`, 'use its own name as the key.')
    ops.set(name, p)
    if (!isShipped(p)) claim(p, spec.name)
  }
  const rows = <R>(what: string, table: object | undefined): ReadonlyMap<string, R> => {
    const given = new Map(
      Object.entries(table === undefined ? {} : recordOf(table, what, `definePlugin ${spec.name}`)).filter(([, row]) => row !== undefined),
    )
    for (const name of given.keys()) if (!ops.has(name)) bad(spec.name, `${what} has a row for ${name}, which is none of its ops`)
    return given
  }
  const lowerings = rows<Expansion>('lower', spec.lower)
  for (const [name, f] of lowerings) functionOf(f, `lower.${name}`, `definePlugin ${spec.name}`)
  const rules = rows<RuleRow>('rules', spec.rules)
  const registry = registryOf(
    [...ops].map(([name, p]) => ruleOf(spec.name, p, rules.get(name), lowerings.get(name) ?? (rules.has(name) ? undefined : p.expand))),
  )
  const table = (backend: string): KernelTable<unknown, unknown> => {
    const given = rows<KernelRow<never, unknown, unknown>>(`kernels.${backend}`, spec.kernels?.[backend])
    const facets = new Map<AnyPrimitive, Facet<unknown, unknown>>()
    for (const [name, p] of ops) {
      const row = given.get(name)
      const lowering = lowerings.get(name)
      if (row !== undefined) for (const [part, facet] of ofParts(p, facetOf(spec.name, p, row))) facets.set(part, facet)
      else if (lowering !== undefined) facets.set(p, { kind: 'lower', f: lowering })
    }
    return facets
  }
  // Lowerings are for every shipped backend.
  const { kernels: given = {} } = spec
  const backends = new Set(['cpu', 'webgpu', ...Object.keys(recordOf(given, 'kernels', `definePlugin ${spec.name}`))])
  const kernels = Object.fromEntries([...backends].map((b) => [b, table(b)] as const).filter(([, t]) => t.size > 0))
  return { name: spec.name, ops, registry, kernels: kernels as Plugin['kernels'], duplicates: [] }
}

const empty: Plugin = { name: '', ops: new Map(), registry: emptyRegistry, kernels: {}, duplicates: [] }

/** Two maps as one; `clash` hears of a key that both have with different values. */
const union = <K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>, clash: (key: K) => void): ReadonlyMap<K, V> => {
  const all = new Map(a)
  for (const [key, v] of b) {
    if (all.has(key) && all.get(key) !== v) clash(key)
    all.set(key, v)
  }
  return all
}

/**
 * Union of plugins. If both define a name, a rule or a kernel, the second is kept, and `duplicates` reports it.
 *
 * @example
 * const doubling = () => {
 *   const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 *   return definePlugin({ name: 'doubling', ops: { twice }, rules: { twice: missing('an example') } })
 * }
 * pluginMonoid.concat(doubling(), doubling()).duplicates   // [{ name: 'doubling/twice', facet: 'ops' }]
 */
export const pluginMonoid: Monoid<Plugin> = {
  empty,
  concat: (a, b) => {
    pluginIn(a, 'pluginMonoid')
    pluginIn(b, 'pluginMonoid')
    if (a === empty || a === b) return b
    if (b === empty) return a
    const duplicates = [...a.duplicates, ...b.duplicates]
    const report =
      (facet: string) =>
      (name: string): void => {
        if (!duplicates.some((d) => d.name === name)) duplicates.push({ name, facet })
      }
    const [ops, more] = [a, b].map((x) => new Map([...x.ops.values()].map((p) => [qualifiedName(p), p] as const)))
    const all = union(ops!, more!, report('ops'))
    const backends = new Set([...Object.keys(a.kernels), ...Object.keys(b.kernels)])
    const kernels = [...backends].map((backend) => {
      const [x, y] = [a.kernels[backend] ?? new Map(), b.kernels[backend] ?? new Map()]
      return [backend, union(x, y, (p) => report(`kernels of ${backend}`)(qualifiedName(p)))] as const
    })
    const rules = union(a.registry.byPrimitive, b.registry.byPrimitive, (p) => report('rules')(qualifiedName(p)))
    return {
      name: `${a.name} + ${b.name}`,
      ops: all,
      registry: registryOf([...rules.values()]),
      kernels: Object.fromEntries(kernels) as Plugin['kernels'],
      duplicates,
    }
  },
}

/** The plugin, or the error that names what was declared twice, and its facet. */
export const uniquePlugin = (p: Plugin): Either<AdError, Plugin> =>
  p.duplicates.length === 0 ? right(p) : left({ _tag: 'DuplicatePrimitive', ...p.duplicates[0]! })

/**
 * The results of a primitive, one expression each. Numbers, arrays and tensors among the arguments are lifted.
 *
 * Errors  BadInput unless it is a primitive; those of the primitive's shape rule.
 * @example evaluate(applyPrimitive(coreRegistry.rules.get('abs')!.primitive, [-2])[0])   // 2
 */
export const applyPrimitive = <N extends string, P, A extends readonly ArgKind[]>(
  primitive: Primitive<N, P, A>,
  args: readonly unknown[],
  ...[params]: NoParams extends P ? readonly [params?: P] : readonly [params: P]
): readonly [AnyExpr, ...AnyExpr[]] => {
  if (!isPrimitive(primitive))
    return badInput(
      'applyPrimitive',
      `${shown(primitive)} is not a primitive.`,
      'a function that unary or binary made has one: op.primitive. It can be called itself.',
    )
  listOf(args, 'the arguments', `applyPrimitive: ${primitive.name}`)
  if (!primitive.codec.is(params ?? NO_PARAMS))
    badInput(
      `applyPrimitive: ${primitive.name}`,
      params === undefined ? 'its parameters are missing.' : `${shown(params)} is none of its parameters.`,
      `they are ${primitive.codec.name}.`,
    )
  if (!primitive.variadic && args.length !== primitive.args.length)
    badInput(primitive.name, `takes ${primitive.args.length} arguments, got ${args.length}.`)
  const nodes = args.map((x) => lift(x, primitive.name))
  const ys = applyAny(primitive as unknown as Primitive<string, P>, nodes, (params ?? NO_PARAMS) as P).map(asExpr)
  return ys as unknown as readonly [AnyExpr, ...AnyExpr[]]
}
