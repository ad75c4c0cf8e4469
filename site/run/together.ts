/** Which equations of a derivative belong to which of its program: each was made of a node of the function's while the derivative was traced. */
import { isScalarProgram, scalarProgramOf } from '../../src/core/graph/expand.js'
import { type Node, OUTPUT, watchApplies } from '../../src/core/graph/expr.js'
import { applications } from '../../src/core/graph/origin.js'
import type { Program } from '../../src/core/graph/program.js'
import { walking } from '../../src/core/graph/source-lines.js'

/** The equations of the program, counted from 0, that one of the derivative belongs to: several where elementwise ones became one `map`. */
export interface Belongs {
  readonly equations: readonly number[]
  /** It is part of their derivative; otherwise it computes them again. */
  readonly derives: boolean
}
interface Making {
  readonly of: Node
  readonly derives: boolean
}
/** A trace: its equations in order, the nodes that the function's own code built in order, and what the others were made of. */
interface Watched {
  readonly equations: readonly Node[]
  readonly own: readonly Node[]
  readonly made: ReadonlyMap<Node, Making>
}

const watched = (trace: () => Program): Watched => {
  const own: Node[] = []
  const made = new Map<Node, Making>()
  const before = watchApplies((node, was) => {
    const walk = walking()
    const of = was ?? walk?.node
    if (of !== undefined && of !== node) made.set(node, { of, derives: was === undefined && walk!.derives })
    else if (walk === undefined) own.push(node)
  })
  try {
    return { equations: applications(trace().outputs), own, made }
  } finally {
    watchApplies(before)
  }
}
const rootOf = (node: Node, { made }: Watched): { readonly root: Node; readonly derives: boolean } => {
  let root = node
  let derives = false
  for (let m = made.get(root); m !== undefined; m = made.get(root)) {
    root = m.of
    derives ||= m.derives
  }
  return { root, derives }
}

/** For each equation of the derivative, in the order of `show`, what it belongs to; undefined where that is nothing of the program. */
export const together = (traceProgram: () => Program, traceDerivative: () => Program): readonly (Belongs | undefined)[] => {
  const program = watched(traceProgram)
  const derivative = watched(traceDerivative)
  const equationOf = new Map(program.equations.map((node, i) => [rootOf(node, program).root, i]))
  const ownAt = new Map(derivative.own.map((node, i) => [node, i]))
  const found = new Map<Node, Belongs>()
  const add = (node: Node, into: Set<number>): boolean => {
    const { root, derives } = rootOf(node, derivative)
    // The function is traced anew for its derivative, and builds the same nodes in the same order.
    const twin = program.own[ownAt.get(root) ?? -1]
    const equation = equationOf.get(root) ?? (twin?.prim === root.prim ? equationOf.get(twin!) : undefined)
    if (equation !== undefined) into.add(equation)
    return derives
  }
  return derivative.equations.map((node) => {
    const into = new Set<number>()
    let derives = add(node, into)
    if (into.size === 0 && isScalarProgram(node.prim!))
      for (const inner of applications(scalarProgramOf(node.prim!, node.payload).outputs)) derives = add(inner, into) || derives
    // What multiplies the partial derivatives that a map computed belongs to what the map does.
    if (into.size === 0) {
      derives = true
      for (const arg of node.args)
        if (arg.kind === OUTPUT && isScalarProgram(arg.args[0]!.prim!))
          for (const k of found.get(arg.args[0]!)?.equations ?? []) into.add(k)
    }
    if (into.size === 0) return undefined
    const belongs = { equations: [...into].sort((a, b) => a - b), derives }
    found.set(node, belongs)
    return belongs
  })
}
