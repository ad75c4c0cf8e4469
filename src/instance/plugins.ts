/** The shipped primitives as a plugin, and codual with primitives of one's own. */
import { type CpuOptions, cpu, plainOptions } from '../backends/cpu/index.js'
import { settled } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import { readOptions } from '../core/errors/options.js'
import { type KernelTable, kernelTable } from '../core/extend/kernel-table.js'
import { type Plugin, pluginIn, pluginMonoid, uniquePlugin } from '../core/extend/plugin.js'
import { qualifiedName } from '../core/graph/namespace.js'
import { families } from '../core/ops/families.js'
import type { Codual } from '../core/types/signatures/codual.js'
import { coreRegistry, cpuFamilies, shippedPrimitives } from '../packs/all.js'
import { makeCodual } from './make.js'

const combined = (plugins: readonly Plugin[]): Plugin => plugins.reduce(pluginMonoid.concat, pluginMonoid.empty)

/**
 * The shipped primitives with their rules and their CPU kernels, as one plugin.
 *
 * @example corePlugin.duplicates   // []
 */
export const corePlugin: Plugin = {
  name: Object.keys(families).join(' + '),
  ops: new Map(shippedPrimitives.map((p) => [qualifiedName(p), p] as const)),
  registry: coreRegistry,
  kernels: { cpu: kernelTable(families as never, cpuFamilies as never) as KernelTable },
  duplicates: [],
}

/**
 * codual with primitives of your own: their rules in addition to the shipped ones, their kernels in the CPU backend.
 *
 * A primitive is saved as `plugin/name`, so it may have the name of a shipped one.   Errors  DuplicatePrimitive if two plugins of the same name declare a primitive of the same
 * name, or a plugin has a second rule for a shipped primitive.
 * @example
 * const twice = unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
 * const doubling = definePlugin({ name: 'doubling', ops: { twice }, rules: { twice: scalarRule(twice, () => [2]) } })
 * codualWith(doubling).grad((x) => sum(twice(x)))([1, 2])   // [2, 2]
 */
export const codualWith = (plugins: Plugin | readonly Plugin[], options?: Omit<CpuOptions, 'kernels'>): Codual => {
  const plain = readOptions(plainOptions, options, 'codualWith')
  const own = combined([settled(plugins, 'the plugins', 'codualWith')].flat().map((p) => pluginIn(p, 'codualWith')))
  const all = uniquePlugin(pluginMonoid.concat(corePlugin, own))
  if (all._tag === 'Left') return raise(all.left)
  return makeCodual(all.right.registry, cpu({ ...plain, ...(own.kernels.cpu && { kernels: own.kernels.cpu }) }))
}
