/** All mistakes, and those that change nothing, with the reason. */
import type { Mutant } from './mutant.js'
import { factors, higherOrder, operands, signs } from './partials.js'
import { axes, batches, blocks, broadcasting } from './shapes.js'

export const mutants: readonly Mutant[] = [...signs, ...factors, ...operands, ...higherOrder, ...axes, ...broadcasting, ...blocks, ...batches]
export const equivalents: readonly (Mutant & { readonly proof: string })[] = []
