/** Programs and expressions as graphs: data, which the picture is drawn from. */
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
/** What flows from one node to another. */
export interface GraphEdge {
  readonly from: string
  readonly to: string
}
/** A program as a graph. */
export interface Graph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  /** The nodes that the program gives, by their paths. */
  readonly outputs: readonly { readonly path: string; readonly id: string }[]
}
type Value = { readonly id: string }

/**
 * A program, or a tree of expressions, as a graph: a node for each input, number, captured tensor and application. Shared expressions are one node;
 * programs inside of primitives (loops, branches) are one application.
 *
 * Errors  BadInput where it is neither.
 * @example graphOf(toProgram((x) => sum(mul(x, x)))([1, 2])).nodes.map((n) => n.label)   // ['x0', 'mul', 'sum']
 */
export const graphOf = (x: Program | AnyExpr): Graph => {
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
