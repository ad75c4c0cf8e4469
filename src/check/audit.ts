/** The audit of a registry: what each primitive has, and what is missing, as data. */

import { type Registry, registryIn } from '../core/calculus/rule.js'
import { functionOf, recordOf } from '../core/errors/check-arguments.js'
import { isAdException } from '../core/errors/error.js'
import { type SyncBackend, syncBackendOf } from '../core/functions/backend.js'
import { aval } from '../core/graph/aval.js'
import { applyAny, input } from '../core/graph/expr.js'
import { type AnyPrimitive, primitiveOf } from '../core/graph/primitive.js'
import { makeProgram } from '../core/graph/program.js'
import { type Checked, Collector } from './findings.js'
import { overridesIn } from './ran.js'

/** What a registry and the backends have for one primitive. */
export interface Row {
  readonly name: string
  readonly family: string
  readonly frule: boolean
  readonly rrule: boolean
  readonly batch: boolean
  readonly samples: number
  /** Backends that say they have a kernel for it. */
  readonly kernels: readonly string[]
  /** Does codual ship another rule, or another primitive, of this name? */
  readonly overrides: boolean
}
/** Does a backend run this primitive? By the backend's name. */
export type Kernels = Readonly<Record<string, (primitive: AnyPrimitive) => boolean>>

/**
 * Does a backend prepare every sample of a primitive? MissingKernel and Unsupported mean no.
 *
 * @example preparedBy(cpu())(coreRegistry.rules.get('tanh')!.primitive)   // true
 */
export const preparedBy = (backend: SyncBackend): ((primitive: AnyPrimitive) => boolean) => {
  syncBackendOf(backend, 'preparedBy')
  return (primitive) =>
    primitiveOf(primitive, 'preparedBy').samples.every((sample) => {
      const inputs = sample.args.map((a) => input(aval(a.shape, a.dtype ?? 'f64')))
      const outputs = applyAny(primitive, inputs, sample.params)
      const leaves = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
      const { length } = outputs
      try {
        const program = makeProgram({ name: primitive.name, inputs, inputTree: leaves(inputs.length), outputs, outputTree: leaves(length) })
        backend.prepare(program).dispose()
        return true
      } catch (e) {
        if (isAdException(e) && (e.error._tag === 'MissingKernel' || e.error._tag === 'Unsupported')) return false
        throw e
      }
    })
}

/** What is given as kernels: for each backend a function of primitives. */
const kernelsIn = (given: Kernels, where: string): Kernels => {
  for (const [name, has] of Object.entries(recordOf(given, 'the kernels', where))) functionOf(has, `that of ${name}`, where)
  return given
}

/**
 * One row for each primitive of a registry, by name.
 *
 * @example rowsOf(coreRegistry)[0]   // { name: 'abs', family: 'elementwise', frule: true, rrule: true, batch: true, ... }
 */
export const rowsOf = (registry: Registry, kernels: Kernels = {}): readonly Row[] => {
  kernelsIn(kernels, 'rowsOf')
  const table = registryIn(registry, 'rowsOf')
  const overrides = overridesIn(table)
  return [...table.byPrimitive.values()]
    .map(({ primitive, frule, rrule, batch }) => ({
      name: primitive.name,
      family: primitive.family,
      frule: frule !== undefined,
      rrule: rrule !== undefined,
      batch: batch !== undefined,
      samples: primitive.samples.length,
      kernels: Object.keys(kernels).filter((k) => kernels[k]!(primitive)),
      overrides: overrides.includes(primitive.name),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * The audit of a registry: every primitive has a frule, an rrule, a batch rule, samples and (if `kernels` are given) a kernel in each
 * backend; each rule's key is its primitive's name, and no two parts of the registry declare the same primitive.
 *
 * @example report(audit(coreRegistry))   // 'ok   registry: ...'
 */
export const audit = (registry: Registry, kernels: Kernels = {}): Checked => {
  registryIn(registry, 'audit')
  kernelsIn(kernels, 'audit')
  const out = new Collector('registry', 0)
  for (const name of overridesIn(registry)) out.looking.override(name)
  for (const name of registry.duplicates) out.note('registry', name, 0, 'declared once', 'declared twice')
  for (const [key, { primitive }] of registry.rules) {
    out.is('registry', `${key}: the key of its rule`, primitive.name, key)
    if (!/^[a-z][A-Za-z0-9]*$/.test(key)) out.note('registry', key, 0, 'a camelCase name', key)
  }
  for (const row of rowsOf(registry, kernels)) {
    for (const facet of ['frule', 'rrule', 'batch'] as const) out.is('registry', `${row.name}: ${facet}`, row[facet], true)
    out.is('registry', `${row.name}: samples`, row.samples > 0, true)
    for (const backend of Object.keys(kernels)) out.is('registry', `${row.name}: kernel of ${backend}`, row.kernels.includes(backend), true)
  }
  return out.result()
}
