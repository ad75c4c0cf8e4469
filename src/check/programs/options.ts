/** Options of random programs, checked; and what is drawn from: the primitives of a registry with their weights. */
import { type CpuOptions, cpu } from '../../backends/cpu/index.js'
import { type Registry, type Rule, registryIn } from '../../core/calculus/rule.js'
import {
  functionOf,
  integerOf,
  listOf,
  type Names,
  numberOf,
  optionsOf,
  recordOf,
  settled,
  shown,
} from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { type Plugin, pluginIn, pluginMonoid, uniquePlugin } from '../../core/extend/plugin.js'
import { type Backend, backendOf, syncBackendOf } from '../../core/functions/backend.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { coreRegistry } from '../../packs/all.js'
import { type Switches, switchesOf } from '../check-names.js'
import { needSamples } from '../sampled.js'

/** What is drawn, and what is checked of each program. */
export interface ProgramOptions {
  /** How many programs (default 200). */
  readonly runs?: number
  /** The seed of the first program; the next one has the next seed (default 1). */
  readonly seed?: number
  /** At most so many applications in a program, beside what makes arguments fit (default 8). */
  readonly steps?: number
  /** At most so many elements in a value that is not a sample's own (default 24). */
  readonly size?: number
  /** Dtypes of floats: f64, f32 or both (default both). */
  readonly dtypes?: readonly ('f64' | 'f32')[]
  /** Programs apply these primitives alone, but for what makes arguments fit. */
  readonly only?: readonly string[]
  /** How often a primitive is drawn, by name (default 1; those that are not the shipped ones get half of the steps together). */
  readonly weights?: Readonly<Record<string, number>>
  /** What is held against the reference (default: the CPU backend, with the kernels of the plugins). */
  readonly backends?: readonly Backend[]
  /** Derivatives to which order are checked (default 2). */
  readonly order?: 1 | 2
  /** Turns single checks off. */
  readonly checks?: Switches
  /** At most so many smaller programs are tried for a failure (default 400). */
  readonly shrinks?: number
  /** Told after each program. */
  readonly progress?: (done: number, runs: number) => void
}

const names: Names<ProgramOptions> = {
  runs: true,
  seed: true,
  steps: true,
  size: true,
  dtypes: true,
  only: true,
  weights: true,
  backends: true,
  order: true,
  checks: true,
  shrinks: true,
  progress: true,
}

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
    if (rule === undefined)
      raise({ _tag: 'BadInput', where, reason: `${what} names ${shown(name)}, which is no primitive of the registry.` })
    else if (rule.primitive.samples.length === 0)
      raise({
        _tag: 'BadInput',
        where,
        reason: `${what} names ${name}, which has no samples to be applied at.`,
        fix: 'declare samples or a domain.',
      })
  }
  o.only?.forEach((name) => {
    known(name, 'only')
  })
  for (const [name, w] of Object.entries(o.weights ?? {})) {
    known(name, 'weights')
    if (!(numberOf(w, name, `${where}: weights`) >= 0 && w < Infinity))
      raise({ _tag: 'BadInput', where, reason: `the weight of ${name} is ${w}.`, fix: 'give a number from 0 on.' })
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
    raise({ _tag: 'BadInput', where, reason: 'there is no primitive to be drawn.', fix: 'give primitives with samples a weight above 0.' })
  return all
}

const atLeast = (given: number | undefined, least: number, otherwise: number, what: string, where: string): number => {
  if (given === undefined) return otherwise
  if (integerOf(given, what, where) < least)
    raise({ _tag: 'BadInput', where, reason: `${what} is ${given}.`, fix: `give a whole number from ${least} on.` })
  return given
}
const dtypesOf = (given: ProgramOptions['dtypes'], where: string): Setting['dtypes'] => {
  if (given === undefined) return ['f64', 'f32']
  const list = listOf(given, 'dtypes', where)
  if (list.length === 0 || list.some((d) => d !== 'f64' && d !== 'f32'))
    raise({ _tag: 'BadInput', where, reason: `dtypes are ${list.map(shown).join(', ') || 'none'}.`, fix: "give ['f64'], ['f32'] or both." })
  return given
}

/** What is given, checked. `sync`: backends must answer at once. */
export const settingOf = (of: ProgramsOf, given: ProgramOptions | undefined, where: string, sync: boolean): Setting => {
  const { registry, kernels } = sourceOf(of, where)
  const o = optionsOf(given, names, where)
  if (o.only !== undefined) listOf(o.only, 'only', where)
  if (o.weights !== undefined) recordOf(o.weights, 'weights', where)
  if (o.progress !== undefined) functionOf(o.progress, 'progress', where)
  if (o.order !== undefined && o.order !== 1 && o.order !== 2)
    raise({ _tag: 'BadInput', where, reason: `order is ${shown(o.order)}.`, fix: 'give 1 or 2.' })
  switchesOf(o.checks, where)
  if (o.backends !== undefined) for (const b of listOf(o.backends, 'backends', where)) (sync ? syncBackendOf : backendOf)(b, where)
  const { runs: _runs, seed: _seed, backends: _backends, progress: _progress, ...rest } = o
  return {
    where,
    registry,
    candidates: candidatesOf(registry, o, where),
    backends: o.backends ?? [cpu(kernels === undefined ? {} : { kernels })],
    runs: atLeast(o.runs, 1, 200, 'runs', where),
    seed: o.seed === undefined ? 1 : integerOf(o.seed, 'seed', where),
    steps: atLeast(o.steps, 1, 8, 'steps', where),
    size: atLeast(o.size, 1, 24, 'size', where),
    dtypes: dtypesOf(o.dtypes, where),
    order: o.order ?? 2,
    checks: o.checks ?? {},
    shrinks: atLeast(o.shrinks, 0, 400, 'shrinks', where),
    progress: o.progress ?? (() => undefined),
    written: Object.entries(rest)
      .filter(([, v]) => v !== undefined)
      .map(([k, v]) => `, ${k}: ${JSON.stringify(v)}`)
      .join('')
      .replaceAll('"', "'"),
  }
}
