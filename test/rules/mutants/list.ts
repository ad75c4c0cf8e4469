/** All mistakes, and apart from them those that change nothing. */
import { blocks } from './accumulators.js'
import { activity, results } from './activity.js'
import { arrays } from './arrays.js'
import { axes, broadcasting } from './axes.js'
import { batches } from './batches.js'
import { beside } from './beside.js'
import { kinks, literals, ties } from './choices.js'
import { draws } from './draws.js'
import { proofs } from './equivalent.js'
import { higherOrder } from './higher-order.js'
import { linearAlgebra } from './linalg.js'
import { loops } from './loops.js'
import { custom, operators, regions, thunks } from './modes.js'
import type { Mutant } from './mutant.js'
import { factors, operands, signs } from './partials.js'
import { bySize, byTies } from './sizes.js'
import { specialFunctions } from './special.js'
import { unknown } from './unknown.js'
import { dtypes, zeros } from './zeros.js'

export const all: readonly Mutant[] = [
  ...[...signs, ...factors, ...operands, ...higherOrder],
  ...[...axes, ...broadcasting, ...blocks, ...batches],
  ...[...ties, ...kinks, ...literals, ...zeros, ...dtypes],
  ...loops,
  ...[...linearAlgebra, ...specialFunctions, ...arrays, ...draws],
  ...[...bySize, ...byTies, ...unknown, ...beside],
  ...[...activity, ...results, ...thunks, ...custom, ...regions, ...operators],
]
export const equivalents: readonly Mutant[] = all.filter((m) => m.name in proofs)
export const mutants: readonly Mutant[] = all.filter((m) => !(m.name in proofs))
