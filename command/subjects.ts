/** What of a file can be checked, and with which arguments: its functions, rules and plugins. */
import {
  type Codual,
  codualWith,
  coreRegistry,
  cpu,
  makeCodual,
  type Plugin,
  pluginMonoid,
  type Registry,
  type Rule,
  registryMonoid,
  type SyncBackend,
} from '../src/index.js'
import { fail, perhaps } from './failure.js'
import type { Loaded } from './load.js'

/** An entry of the export `checks`: arguments of a function, and options of its check. */
export interface Given {
  readonly args?: readonly unknown[]
  readonly [option: string]: unknown
}
export type Kind = 'function' | 'rule' | 'plugin'
/** One export to be checked. */
export interface Subject {
  readonly name: string
  readonly kind: Kind
  readonly value: unknown
  readonly given: Given
}
/** One that is not, and why. */
export interface Unchecked {
  readonly name: string
  readonly reason: string
}
export interface Subjects {
  readonly checked: readonly Subject[]
  readonly unchecked: readonly Unchecked[]
}

/** What users write beside their functions: `export const checks = { energy: { args: [[1, 2]] } }`. */
export const CHECKS = 'checks'

const isRecord = (x: unknown): x is Readonly<Record<string, unknown>> => typeof x === 'object' && x !== null
export const isPlugin = (x: unknown): x is Plugin =>
  isRecord(x) && x.ops instanceof Map && isRecord(x.registry) && isRecord(x.kernels) && Array.isArray(x.duplicates)
const isPrimitive = (x: unknown): boolean => isRecord(x) && typeof x.shapeRule === 'function' && typeof x.name === 'string'
export const isRule = (x: unknown): x is Rule =>
  isRecord(x) && isPrimitive(x.primitive) && ['frule', 'rrule', 'batch', 'taylor'].some((part) => part in x)
const primitiveIn = (x: unknown): unknown =>
  isPrimitive(x)
    ? x
    : isPrimitive((x as { readonly primitive?: unknown } | null)?.primitive)
      ? (x as { readonly primitive: unknown }).primitive
      : undefined
/** Is x a function that `fn` or a transform made? */
export const isFn = (x: unknown): boolean => typeof x === 'function' && (x as { readonly _tag?: unknown })._tag === 'Fn'
const isClass = (x: unknown): boolean => typeof x === 'function' && /^class\b/.test(Function.prototype.toString.call(x))

/** The entries of `checks`, held against what the file exports. */
const entriesOf = ({ exports, path }: Loaded): Readonly<Record<string, Given | false>> => {
  const given = exports[CHECKS] ?? {}
  if (!isRecord(given) || Array.isArray(given))
    return fail(`${path} exports ${CHECKS}, which is not a record.`, `write export const ${CHECKS} = { name: { args: [...] } }.`)
  const names = Object.keys(exports).filter((name) => name !== CHECKS)
  for (const [name, entry] of Object.entries(given)) {
    if (!names.includes(name))
      fail(
        `${CHECKS}.${name} of ${path} does not match an export.`,
        `${perhaps(name, names)}It exports ${names.join(', ') || 'nothing else'}.`,
      )
    if (entry === false) continue
    if (!isRecord(entry) || Array.isArray(entry) || ('args' in entry && !Array.isArray(entry.args)))
      fail(`${CHECKS}.${name} of ${path} is invalid.`, 'give { args: [...] } and options of the check, or false.')
  }
  return given as Readonly<Record<string, Given | false>>
}

/** The plugins and the rules of a file, as one: what functions of the file are run and differentiated with. */
export interface Kit {
  readonly registry: Registry
  readonly backend: SyncBackend
  readonly codual: Codual
}
export const kitOf = ({ exports }: Loaded): Kit => {
  const values = Object.values(exports)
  const plugins = values.filter(isPlugin)
  const all = plugins.reduce(pluginMonoid.concat, pluginMonoid.empty)
  // Two plugins that clash are told by the library, in its words.
  if (plugins.length > 0) codualWith(plugins)
  const rules = values.filter(isRule)
  const own = plugins.length === 0 ? coreRegistry : registryMonoid.concat(coreRegistry, all.registry)
  const registry = rules.length === 0 ? own : own.with(...rules)
  const backend = cpu(all.kernels.cpu === undefined ? {} : { kernels: all.kernels.cpu })
  return { registry, backend, codual: makeCodual(registry, backend) }
}

/** Whether an fn declares its inputs: then arguments can be drawn. */
export const declares = (f: unknown, draw: (f: unknown) => unknown): boolean => {
  if (!isFn(f)) return false
  try {
    draw(f)
    return true
  } catch {
    return false
  }
}

/** What of a file is checked. `draw` makes arguments of what a function declares, or throws. */
export const subjectsOf = (loaded: Loaded, draw: (f: unknown) => unknown): Subjects => {
  const entries = entriesOf(loaded)
  const exports = Object.entries(loaded.exports).filter(([name]) => name !== CHECKS)
  const values = exports.map(([, value]) => value)
  const plugins = values.filter(isPlugin)
  const ruled = new Map<unknown, string>()
  for (const [name, value] of exports) {
    if (isPlugin(value)) for (const p of value.ops.values()) ruled.set(p, name)
    else if (isRule(value)) ruled.set(value.primitive, name)
  }
  const checked: Subject[] = []
  const unchecked: Unchecked[] = []
  const seen = new Map<unknown, string>()
  for (const [name, value] of exports) {
    const not = (reason: string): void => void unchecked.push({ name, reason })
    const given = entries[name] ?? {}
    const as = (kind: Kind): void => void checked.push({ name, kind, value, given: given as Given })
    const before = seen.get(value)
    const primitive = primitiveIn(value)
    if (typeof value !== 'function' && !isPlugin(value) && !isRule(value) && primitive === undefined) continue // a number, a declaration, a layer
    if (given === false) not(`${CHECKS}.${name} is false`)
    else if (before !== undefined) not(`it is ${before}`)
    else if (isPlugin(value)) as('plugin')
    else if (isRule(value)) {
      const of = plugins.find((p) => p.registry.ruleOf(value.primitive) === value)
      if (of === undefined) as('rule')
      else not(`it is checked with the plugin ${ruled.get(value.primitive)}`)
    } else if (primitive !== undefined)
      not(ruled.has(primitive) ? `it is checked by ${ruled.get(primitive)}` : 'the file has no rule for it')
    else if (isClass(value)) not('it is a class')
    else if (given.args !== undefined || declares(value, draw)) as('function')
    else not(`it has no arguments: export const ${CHECKS} = { ${name}: { args: [...] } }`)
    seen.set(value, name)
  }
  return { checked, unchecked }
}
