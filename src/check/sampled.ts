/** The samples that primitives are tried at: in a bundle for users the library's own have none (`#samples` of package.json), and what would try them says so. */
import { badInput } from '../core/errors/explain.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { sampled } from '../core/graph/samples.js'
import { coreRegistry } from '../packs/all.js'

/** Raises BadInput where these primitives are to be tried, and are without the samples that they are shipped with. */
export const needSamples = (primitives: readonly AnyPrimitive[], where: string): void => {
  if (!sampled && primitives.some((p) => p.samples.length === 0 && coreRegistry.ruleOf(p) !== undefined))
    badInput(
      where,
      'this is a bundle for users: the primitives of codual have no samples in it.',
      "run it in Node, or bundle it with the condition 'development', as development servers do.",
    )
}
