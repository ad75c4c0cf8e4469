/** All mistakes, and those that change nothing, with the reason. */
import { dtypes, kinks, literals, ties, zeros } from './choices.js'
import { activity, custom, operators, regions, results, thunks } from './modes.js'
import type { Mutant } from './mutant.js'
import { factors, higherOrder, operands, signs } from './partials.js'
import { axes, batches, blocks, broadcasting } from './shapes.js'

export const mutants: readonly Mutant[] = [
  ...[...signs, ...factors, ...operands, ...higherOrder],
  ...[...axes, ...broadcasting, ...blocks, ...batches],
  ...[...ties, ...kinks, ...literals, ...zeros, ...dtypes],
  ...[...activity, ...results, ...thunks, ...custom, ...regions, ...operators],
]
export const equivalents: readonly (Mutant & { readonly proof: string })[] = []
