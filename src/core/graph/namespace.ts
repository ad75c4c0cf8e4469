/** The namespace of a primitive: the plugin that declared it. A name says what a primitive is within its plugin, and nowhere else. */
import { type AnyPrimitive, isShipped } from './primitive.js'

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

/** The namespace of primitives of a user's own that no plugin has. */
const OWN = 'own'
/**
 * The one name that a primitive has in registries and in JSON (docs/decisions/names-of-plugins.md): `tanh` for one of the library, `mine/cube` for one of the plugin mine,
 * `own/cube` for one that no plugin has.
 */
export const qualifiedName = (primitive: AnyPrimitive): string =>
  isShipped(primitive) ? primitive.name : `${namespaceOf(primitive) ?? OWN}/${primitive.name}`
