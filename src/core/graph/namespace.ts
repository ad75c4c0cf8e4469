/** The namespace of a primitive: the plugin that declared it. A name says what a primitive is within its plugin, and nowhere else. */
import type { AnyPrimitive } from './primitive.js'

const namespaces = new WeakMap<AnyPrimitive, string>()

/** Puts a primitive into the namespace of a plugin; one that has a namespace keeps it. */
export const claim = (primitive: AnyPrimitive, plugin: string): void => {
  if (!namespaces.has(primitive)) namespaces.set(primitive, plugin)
}
/** The plugin that declared a primitive; undefined for the shipped ones, and for those that no plugin has. */
export const namespaceOf = (primitive: AnyPrimitive): string | undefined => namespaces.get(primitive)

/** The name as it prints: `plugin/name`, without a plugin the name. */
export const printedName = (primitive: AnyPrimitive): string => {
  const plugin = namespaces.get(primitive)
  return plugin === undefined ? primitive.name : `${plugin}/${primitive.name}`
}
