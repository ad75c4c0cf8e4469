/** Options of random programs, checked; and what is drawn from: the primitives of a registry with their weights. */
import { type CpuOptions, cpu } from '../../backends/cpu/index.js'
import { type Registry, type Rule, registryIn } from '../../core/calculus/rule.js'
import { listOf, numberOf, settled, shown } from '../../core/errors/check-arguments.js'
import { badInput, raise } from '../../core/errors/explain.js'
import { func, integer, list, type OptionsOf, object, or, readGiven } from '../../core/errors/options.js'
import { type Plugin, pluginIn, pluginMonoid, uniquePlugin } from '../../core/extend/plugin.js'
import { type Backend, backendOf, syncBackendOf } from '../../core/functions/backend.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { coreRegistry } from '../../packs/all.js'
import { orders, type Switches, switches } from '../check-names.js'
import { needSamples } from '../sampled.js'

export const programOptions = {
  /** How many programs (default 200). */
  runs: integer(undefined, { from: 1 }),
  /** The seed of the first program; the next one has the next seed (default 1). */
  seed: integer(),
  /** The maximum number of applications in a program, besides those that make arguments fit (default 8). */
  steps: integer(undefined, { from: 1 }),
  /** The maximum number of elements of a value that is not a sample's own (default 24). */
  size: integer(undefined, { from: 1 }),
  /** Dtypes of floats: f64, f32 or both (default both). */
  dtypes: or<readonly ('f64' | 'f32')[], undefined>(undefined, (given, what, where) => {
    const list = listOf(given, what, where) as readonly ('f64' | 'f32')[]
    return list.length > 0 && list.every((d) => d === 'f64' || d === 'f32')
      ? list
      : badInput(where, `${what} are ${list.map(shown).join(', ') || 'none'}.`, "give ['f64'], ['f32'] or both.")
  }),
  /** Programs apply only these primitives, besides those that make arguments fit. */
  only: list<string>(),
  /** How often a primitive is drawn, by name (default 1; those that are not the shipped ones get half of the steps together). */
  weights: object<Readonly<Record<string, number>>>(),
  /** The backends that are compared with the reference (default: the CPU backend, with the kernels of the plugins). */
  backends: list<Backend>(),
  /** The highest order of derivatives that is checked (default 2). */
  order: orders(1, 2),
  /** Turns single checks off. */
  checks: switches,
  /** The maximum number of smaller programs that are tried for a failure (default 400). */
  shrinks: integer(undefined, { from: 0 }),
  /** Called after each program. */
  progress: func<((done: number, runs: number) => void) | undefined>(),
}
/** What is drawn, and what is checked of each program. */
export type ProgramOptions = OptionsOf<typeof programOptions>

/** A primitive that programs may apply. */
export interface Candidate {
  readonly primitive: AnyPrimitive
  readonly rule: Rule
  readonly weight: number
}
/** Everything that a run shares. */
export interface Setting {
  readonly registry: Registry
  readonly candidates: readonly Candidate[]
  readonly backends: readonly Backend[]
  readonly runs: number
  readonly seed: number
  readonly steps: number
  readonly size: number
  readonly dtypes: readonly ('f64' | 'f32')[]
  readonly order: 1 | 2
  readonly checks: Switches
  readonly shrinks: number
  readonly progress: (done: number, runs: number) => void
  /** The function that was called. */
  readonly where: string
  /** The options beside seed, runs and functions, as they are written in a replay. */
  readonly written: string
}

/** A registry, a plugin, or several plugins. */
export type ProgramsOf = Registry | Plugin | readonly Plugin[]

const isRegistry = (x: unknown): x is Registry =>
  typeof x === 'object' && x !== null && 'rules' in x && !('ops' in x) && (x as { readonly rules: unknown }).rules instanceof Map

/** The registry of what is given, with the kernels of its plugins. */
const sourceOf = (of: ProgramsOf, where: string): { readonly registry: Registry; readonly kernels: CpuOptions['kernels'] } => {
  if (isRegistry(of)) return { registry: registryIn(of, where), kernels: undefined }
  const plugins = [settled(of, 'the plugins', where) as Plugin | readonly Plugin[]].flat().map((p) => pluginIn(p, where))
  const own = plugins.reduce((a, b) => pluginMonoid.concat(a, b), pluginMonoid.empty)
  const unique = uniquePlugin(own)
  if (unique._tag === 'Left') return raise(unique.left)
  return { registry: coreRegistry.with(...own.registry.byPrimitive.values()), kernels: own.kernels.cpu }
}

/** Is this the shipped primitive with its shipped rule? */
export const isShipped = (rule: Rule): boolean => coreRegistry.ruleOf(rule.primitive) === rule

const candidatesOf = (registry: Registry, o: ProgramOptions, where: string): readonly Candidate[] => {
  needSamples(
    [...registry.byPrimitive.values()].map((r) => r.primitive),
    where,
  )
  // By its own name, or by that in its plugin's namespace.
  const isCalled = (p: AnyPrimitive, name: string): boolean =>
    registry.rules.has(name) ? registry.rules.get(name)!.primitive === p : p.name === name
  const known = (name: string, what: string): void => {
    const rule = [...registry.byPrimitive.values()].find((r) => isCalled(r.primitive, name))
    if (rule === undefined) badInput(where, `${what} names ${shown(name)}, which is not a primitive of the registry.`)
    else if (rule.primitive.samples.length === 0)
      badInput(where, `${what} names ${name}, which has no samples to be applied at.`, 'declare samples or a domain.')
  }
  o.only?.forEach((name) => {
    known(name, 'only')
  })
  for (const [name, w] of Object.entries(o.weights ?? {})) {
    known(name, 'weights')
    if (!(numberOf(w, name, `${where}: weights`) >= 0 && w < Infinity))
      badInput(where, `the weight of ${name} is ${w}.`, 'give a number that is not negative.')
  }
  const rules = [...registry.byPrimitive.values()].filter(
    (r) => r.primitive.samples.length > 0 && (o.only?.some((name) => isCalled(r.primitive, name)) ?? true),
  )
  const own = rules.filter((r) => !isShipped(r)).length
  const share = own === 0 ? 1 : Math.max(1, (rules.length - own) / own)
  const all = rules.map((rule) => {
    const named = Object.keys(o.weights ?? {}).find((name) => isCalled(rule.primitive, name))
    const weight = (named === undefined ? undefined : o.weights?.[named]) ?? (isShipped(rule) ? 1 : share)
    return { primitive: rule.primitive, rule, weight }
  })
  if (!all.some((c) => c.weight > 0))
    badInput(where, 'there is no primitive to be drawn.', 'give primitives with samples a weight above 0.')
  return all
}

/** What is given, checked. `sync`: backends must answer at once. */
export const settingOf = (of: ProgramsOf, given: ProgramOptions | undefined, where: string, sync: boolean): Setting => {
  const { registry, kernels } = sourceOf(of, where)
  const o = readGiven(programOptions, given, where)
  for (const b of o.backends ?? []) (sync ? syncBackendOf : backendOf)(b, where)
  const { runs: _runs, seed: _seed, backends: _backends, progress: _progress, ...rest } = o
  return {
    where,
    registry,
    candidates: candidatesOf(registry, o, where),
    backends: o.backends ?? [cpu(kernels === undefined ? {} : { kernels })],
    runs: o.runs ?? 200,
    seed: o.seed ?? 1,
    steps: o.steps ?? 8,
    size: o.size ?? 24,
    dtypes: o.dtypes ?? ['f64', 'f32'],
    order: o.order ?? 2,
    checks: o.checks ?? {},
    shrinks: o.shrinks ?? 400,
    progress: o.progress ?? (() => undefined),
    written: Object.entries(rest)
      .filter(([, v]) => v !== undefined)
      .map(([k, v]) => `, ${k}: ${JSON.stringify(v)}`)
      .join('')
      .replaceAll('"', "'"),
  }
}
