/** The CPU facet of the reduce family: folds are part of the planner's loops. */
import { byMeaning, planned } from '../../core/extend/kernel-table.js'
import type { reduce } from '../../core/ops/families.js'
import type { CpuTable } from './kernel.js'

const POSITION = 'a fold of values with their positions; loops fold values alone'

/** One row per primitive of the family `reduce`. */
export const reduceKernels: CpuTable<typeof reduce> = {
  sum: planned('fold'),
  max: planned('fold'),
  min: planned('fold'),
  argmax: byMeaning(POSITION),
  argmin: byMeaning(POSITION),
}
