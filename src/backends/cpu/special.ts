/** The CPU facet of the special functions: recurrences, series and continued fractions, called at every element of a fused loop. */
import { type PerElement, perElement } from '../../core/extend/kernel-table.js'
import { special } from '../../core/ops/families.js'

/** One row per primitive of the family `special`. */
export const specialKernels = Object.fromEntries(Object.keys(special).map((name) => [name, perElement()])) as {
  readonly [K in keyof typeof special]: PerElement
}
