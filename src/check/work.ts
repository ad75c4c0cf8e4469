/** How much a program computes: what says which checks it can have. */
import { programsOf } from '../core/graph/expand.js'
import { linearize, type Node } from '../core/graph/expr.js'
import { UNBOUNDED } from '../core/ops/control/control.js'
import { total } from './subject.js'

/** Programs over more numbers get the checks that cost a few evaluations. */
export const LARGE = 1024
/** So do those that compute more numbers: of a loop those of each step. */
const LONG = 2e5

/** What an operation of a step costs beside its numbers, where steps are interpreted one after the other: as many numbers, about. */
const OPERATION = 128
/** Numbers that are computed for these nodes. A loop that its condition ends counts with the most steps that it may take: its way back goes over all of them; one without a bound, which has no way back, counts once. */
const workOf = (nodes: readonly Node[], each = 0): number =>
  linearize(nodes).nodes.reduce((sum, { prim, payload, aval }) => {
    const programs = prim === null ? [] : programsOf(prim, payload)
    const { length } = (programs.length > 0 ? payload : {}) as { readonly length?: unknown }
    const steps = typeof length === 'number' && length !== UNBOUNDED ? length : 1
    return sum + aval.size + each + steps * programs.reduce((s, p) => s + workOf(p.outputs, OPERATION), 0)
  }, 0)
/** Can every check be had, at the cost of many evaluations? */
export const isSmall = (inputs: readonly Node[], outs: readonly Node[]): boolean => total(inputs) <= LARGE && workOf(outs) <= LONG
