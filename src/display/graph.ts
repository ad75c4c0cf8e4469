/** Programs, functions and expressions as graphs: data, from which pictures are drawn. */
import { type AnyExpr, fromProgram, interpret, type Program } from '../index.js'

/** A node of a graph: an input, a number, a captured tensor, or one application of a primitive. */
export interface GraphNode {
  readonly id: string
  readonly kind: 'input' | 'literal' | 'captured' | 'apply'
  /** Its path in the arguments, its number, or the name of its primitive. */
  readonly label: string
  /** Of its first result. */
  readonly shape: readonly number[]
  readonly dtype: string
}
/** An argument of an application: the node that computes it, and the application. */
export interface GraphEdge {
  readonly from: string
  readonly to: string
}
/** A program as a graph. */
export interface Graph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  /** The nodes that the program returns, by their paths. */
  readonly outputs: readonly { readonly path: string; readonly id: string }[]
}
type Value = { readonly id: string }

/**
 * The graph of a program, a declared function or a tree of expressions: a node for each input, number, captured tensor and application. A shared
 * expression is one node. A primitive that holds programs (a loop, a branch) is one application.
 *
 * A program over other registries is given as the function that its own `fromProgram` makes.
 *
 * Errors  BadInput for anything else, and for a function that does not declare its inputs.
 * @example graphOf(toProgram((x) => sum(mul(x, x)))([1, 2])).nodes.map((n) => n.label)   // ['input', 'mul', 'sum']
 */
export const graphOf = (x: Program<unknown> | AnyExpr | { readonly _tag: 'Fn' }): Graph => {
  const nodes: GraphNode[] = []
  const edges: GraphEdge[] = []
  const add = (kind: GraphNode['kind'], label: string, shape: readonly number[], dtype: string): Value => {
    const id = `n${nodes.length}`
    nodes.push({ id, kind, label, shape: [...shape], dtype })
    return { id }
  }
  const folded = interpret<Value>({
    input: (at) => add('input', at.path || 'input', at.shape, at.dtype),
    literal: (value, dtype) => add('literal', Object.is(value, -0) ? '-0' : String(value), [], dtype),
    captured: (tensor) => add('captured', 'tensor', tensor.shape, tensor.dtype),
    apply: ({ primitive, results }, args) => {
      const made = add('apply', primitive.name, results[0]?.shape ?? [], results[0]?.dtype ?? '')
      for (const arg of args) edges.push({ from: arg.id, to: made.id })
      return results.map(() => made)
    },
  })
  const isProgram = Array.isArray((x as unknown as { readonly inputs?: unknown } | null)?.inputs)
  const out = folded((isProgram ? fromProgram(x as Program) : x) as never) as unknown
  const outputs: { path: string; id: string }[] = []
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (typeof (value as { readonly id?: unknown }).id === 'string') outputs.push({ path, id: (value as Value).id })
    else for (const [key, y] of Object.entries(value)) visit(y, path === '' ? key : `${path}.${key}`)
  }
  visit(out, '')
  return { nodes, edges, outputs }
}
