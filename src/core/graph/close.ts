/** Closure conversion: a traced body becomes a closed program, whose captured expressions and tensors are its last inputs. */
import { APPLY, CONST, INPUT, input, type Node, OUTPUT } from './expr.js'
import { orderOf } from './order.js'
import { dependents, flatProgram, type Program } from './program.js'
import { rewrite } from './rewrite.js'

/** A body closed over what it captured. */
export interface Closed {
  /** Its inputs are the body's own, then one for each captured node. */
  readonly program: Program
  /** What the body captured: further arguments wherever it is applied. */
  readonly captured: readonly Node[]
}

/** Of a body traced since this many nodes had been built: what is older, or an input of elsewhere, is captured; what the body computes is not. */
export const builtBefore =
  (mark: number) =>
  (n: Node): boolean =>
    n.kind === INPUT || n.id < mark || (n.kind === OUTPUT && n.args[0]!.id < mark)

/** What does not depend on these inputs is captured, so it is computed once, outside. */
export const independentOf = (inputs: readonly Node[], outputs: readonly Node[]): ((n: Node) => boolean) => {
  const linear = orderOf(outputs)
  const depends = dependents(linear, inputs)
  return (n) => depends[linear.index.get(n)] !== 1
}

/** The program of a body with these inputs and outputs; `outside` says what it captured. */
export const close = (name: string, inputs: readonly Node[], outputs: readonly Node[], outside: (n: Node) => boolean): Closed => {
  const own = new Set(inputs)
  const captured = new Map<Node, Node>()
  // A list of its own, whose order nobody has made: what is captured stands in the order in which it is reached.
  const body = rewrite([...outputs], {
    at: (n) => {
      if (own.has(n) || n.kind === CONST) return n
      if (!outside(n)) return undefined
      const to = captured.get(n) ?? input(n.aval, 'captured')
      captured.set(n, to)
      return to
    },
  })
  return { program: flatProgram(name, [...inputs, ...captured.values()], body), captured: [...captured.keys()] }
}

/**
 * The part of results that depends on some inputs, as a program of these and then of the residuals: what it needs of the other part, which is
 * known without them. Views are on its side, so that a residual is not larger than what it is a view of.
 */
export const partition = (name: string, outputs: readonly Node[], wrt: readonly Node[]): Closed => {
  const known = independentOf(wrt, outputs)
  return close(name, wrt, outputs, (n) => known(n) && (n.kind !== APPLY || n.prim!.class !== 'layout'))
}
