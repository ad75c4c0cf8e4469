/** All mistakes, and apart from them those that change nothing. */
import { dtypes, kinks, literals, ties, zeros } from './choices.js'
import { proofs } from './equivalent.js'
import { activity, custom, operators, regions, results, thunks } from './modes.js'
import type { Mutant } from './mutant.js'
import { factors, higherOrder, operands, signs } from './partials.js'
import { axes, batches, blocks, broadcasting } from './shapes.js'

export const all: readonly Mutant[] = [
  ...[...signs, ...factors, ...operands, ...higherOrder],
  ...[...axes, ...broadcasting, ...blocks, ...batches],
  ...[...ties, ...kinks, ...literals, ...zeros, ...dtypes],
  ...[...activity, ...results, ...thunks, ...custom, ...regions, ...operators],
]
export const equivalents: readonly Mutant[] = all.filter((m) => m.name in proofs)
export const mutants: readonly Mutant[] = all.filter((m) => !(m.name in proofs))
