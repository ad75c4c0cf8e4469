/** What a declaration says of an elementwise primitive's kernels: how near they come where a backend has no bound of its own, and where to try. */

import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { compare, elementwise } from '../../src/core/ops/families.js'

export type Interval = readonly [low: number, high: number]

/** Units in the last place of a format with this eps: 4, or what the declaration's tolerance says, with its reason. */
export const unitsOf = ({ tolerance }: AnyPrimitive, eps: number): number => Math.max(4, (tolerance?.relative ?? 0) / eps)
/** The declared domain, and as far as the extremes reach. */
export const intervalsOf = ({ samples, extremes }: AnyPrimitive): readonly Interval[] => {
  const domains = (samples[0]?.args ?? []).map((a) => a.domain ?? ([-2, 2] as const))
  const far = extremes.filter(Number.isFinite)
  const reach: readonly Interval[] = far.length > 1 ? [[Math.min(...far), Math.max(...far)]] : []
  return [...domains, ...reach]
}

const tables = [...Object.values(elementwise), ...Object.values(compare)] as readonly AnyPrimitive[]
const taking = (arity: number, takes: string, result: 'compare' | 'elementwise') =>
  tables.filter(
    (p) =>
      p.family === result && p.scalar !== undefined && p.args.length === arity && p.dtypes !== 'own' && p.dtypes.every((t) => t === takes),
  )
/** Functions of one and of two floats: those with bounds. */
export const floatFunctions: readonly AnyPrimitive[] = tables.filter(
  (p) => p.family === 'elementwise' && p.scalar !== undefined && p.args.every((kind) => kind === 'float'),
)
/** Operations that keep integers. */
export const integerUnaries = taking(1, 'number', 'elementwise')
export const integerBinaries = taking(2, 'number', 'elementwise')
/** Comparisons of two, tests of one, and logic. */
export const comparisons = taking(2, 'any', 'compare')
export const tests = taking(1, 'any', 'compare')
export const logic = [...taking(2, 'bool', 'compare'), ...taking(1, 'bool', 'compare')]
