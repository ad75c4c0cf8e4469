/** The one name that a primitive has in registries and in JSON (docs/decisions/names-of-plugins.md). */
import { namespaceOf } from '../graph/namespace.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import { families } from './families.js'

const shipped: ReadonlySet<AnyPrimitive> = /*#__PURE__*/ new Set(
  /*#__PURE__*/ Object.values(families).flatMap((family): readonly AnyPrimitive[] => Object.values(family)),
)
/** The namespace of primitives of a user's own that no plugin has. */
const OWN = 'own'

/** Is it one of the library's? */
export const isShipped = (primitive: AnyPrimitive): boolean => shipped.has(primitive)
/** `tanh` for a primitive of the library, `mine/cube` for one of the plugin mine, `own/cube` for one that no plugin has. */
export const qualifiedName = (primitive: AnyPrimitive): string =>
  shipped.has(primitive) ? primitive.name : `${namespaceOf(primitive) ?? OWN}/${primitive.name}`
