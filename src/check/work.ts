/** How much a program computes: what says which checks it can have. */
import { programsOf } from '../core/graph/expand.js'
import { linearize, type Node } from '../core/graph/expr.js'
import { total } from './subject.js'

/** Programs over more numbers get the checks that cost a few evaluations. */
export const LARGE = 1024
/** So do those that compute more numbers: of a loop those of each step. */
const LONG = 2e5

/** Numbers that are computed for these nodes. A loop that its condition ends counts once: nobody knows its steps. */
const workOf = (nodes: readonly Node[]): number =>
  linearize(nodes).nodes.reduce((sum, { prim, payload, aval }) => {
    const programs = prim === null ? [] : programsOf(prim, payload)
    const { length, until } = (programs.length > 0 ? payload : {}) as { readonly length?: unknown; readonly until?: unknown }
    const steps = typeof length === 'number' && until === undefined ? length : 1
    return sum + aval.size + steps * programs.reduce((s, p) => s + workOf(p.outputs), 0)
  }, 0)
/** Can every check be had, at the cost of many evaluations? */
export const isSmall = (inputs: readonly Node[], outs: readonly Node[]): boolean => total(inputs) <= LARGE && workOf(outs) <= LONG
