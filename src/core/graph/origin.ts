/** Where a node of a program comes from: the line of the user's that built it, or that which its derivative is of. Found by replay (source-lines.ts). */
import { programsOf } from './expand.js'
import { APPLY, linearize, type Node, nodesBuilt, watchApplies } from './expr.js'
import type { AnyPrimitive } from './primitive.js'
import type { Program } from './program.js'
import { attempt, here, walking } from './source-lines.js'

/** An application of a program: its position among the applications of the results, from the outermost program in. */
export interface Place {
  readonly at: number
  readonly prim: AnyPrimitive
  /** Which of the programs of its parameters has the next place. */
  readonly inner?: number
}
/** What is known of a node's making. */
export interface Origin {
  readonly source?: string
  /** The primitive of the user's whose derivative it is part of. */
  readonly derivativeOf?: string
}

/** The applications that results are made of, in order: inputs and literals may be made before or between. */
export const applications = (outputs: readonly Node[]): readonly Node[] => linearize(outputs).nodes.filter((n) => n.kind === APPLY)

const nodeAt = (program: Program, places: readonly Place[]): Node | undefined => {
  let within: Program | undefined = program
  let node: Node | undefined
  for (const { at, prim, inner } of places) {
    node = within === undefined ? undefined : applications(within.outputs)[at]
    if (node?.prim !== prim) return undefined
    within = inner === undefined ? undefined : programsOf(prim, node.payload)[inner]
  }
  return node
}

/** Who an application was made of: the same over other arguments, or what a walk was at. */
interface Making {
  readonly of: Node
  readonly derives: boolean
}

/** The user's own node that a node was made of, and the primitive that it is a derivative of. */
const traced = (node: Node, made: WeakMap<Node, Making>): { readonly own: Node; readonly derivativeOf?: string } => {
  let own = node
  let derivativeOf: string | undefined
  for (let m = made.get(own); m !== undefined; m = made.get(own)) {
    own = m.of
    if (m.derives) derivativeOf = own.prim?.name ?? derivativeOf
  }
  return { own, ...(derivativeOf !== undefined && { derivativeOf }) }
}

/** Where the application at these places comes from; nothing where the trace is not the same when it is replayed. */
export const originOf = (places: readonly Place[], retrace: () => Program): Origin => {
  const made = new WeakMap<Node, Making>()
  const before = watchApplies((node, was) => {
    const walk = walking()
    const of = was ?? walk?.node
    if (of !== undefined && of !== node) made.set(node, { of, derives: was === undefined && walk!.derives })
  })
  try {
    const first = attempt(retrace)
    const node = first.value && nodeAt(first.value, places)
    if (node === undefined) return {}
    const { own, derivativeOf } = traced(node, made)
    let source: string | undefined
    let start = 0
    watchApplies((n) => {
      if (n.id - start === own.id - first.start && n.prim === own.prim && walking() === undefined) source = here()
    })
    start = nodesBuilt()
    const { count } = attempt(retrace)
    return { ...(source !== undefined && count === first.count && { source }), ...(derivativeOf !== undefined && { derivativeOf }) }
  } finally {
    watchApplies(before)
  }
}
