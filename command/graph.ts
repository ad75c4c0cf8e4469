/** Programs as graphs: data, the language of Graphviz, and that of Mermaid. */
import { type AnyPrimitive, interpret, type Program } from '../src/index.js'
import type { Operators } from './function.js'

export interface Node {
  readonly id: string
  readonly kind: 'input' | 'literal' | 'captured' | 'apply'
  readonly label: string
  readonly shape: readonly number[]
  readonly dtype: string
}
export interface Edge {
  readonly from: string
  readonly to: string
}
export interface Graph {
  readonly nodes: readonly Node[]
  readonly edges: readonly Edge[]
  /** The nodes that the program gives, by their paths. */
  readonly outputs: readonly { readonly path: string; readonly id: string }[]
}

type Value = { readonly id: string }

/** A program as a graph: a node for each input, number, captured tensor and application. */
export const graphOf = (program: Program, { fromProgram }: Pick<Operators, 'fromProgram'>): Graph => {
  const nodes: Node[] = []
  const edges: Edge[] = []
  const add = (kind: Node['kind'], label: string, shape: readonly number[], dtype: string): Value => {
    const id = `n${nodes.length}`
    nodes.push({ id, kind, label, shape: [...shape], dtype })
    return { id }
  }
  const out = interpret<Value>({
    input: (at) => add('input', at.path || 'input', at.shape, at.dtype),
    literal: (value, dtype) => add('literal', String(value), [], dtype),
    captured: (x) => add('captured', 'captured', x.shape as readonly number[], x.dtype),
    apply: (
      at: { readonly primitive: AnyPrimitive; readonly results: readonly { readonly shape: readonly number[]; readonly dtype: string }[] },
      args,
    ) => {
      const [first] = at.results
      const made = add('apply', at.primitive.name, first?.shape ?? [], first?.dtype ?? '')
      for (const arg of args) edges.push({ from: arg.id, to: made.id })
      return at.results.map(() => made)
    },
  })(fromProgram(program) as never) as unknown
  const outputs: { path: string; id: string }[] = []
  const visit = (x: unknown, path: string): void => {
    if (typeof x !== 'object' || x === null) return
    if (typeof (x as { id?: unknown }).id === 'string') outputs.push({ path, id: (x as Value).id })
    else for (const [key, y] of Object.entries(x)) visit(y, path === '' ? key : `${path}.${key}`)
  }
  visit(out, '')
  return { nodes, edges, outputs }
}

const typeOf = ({ dtype, shape }: Node): string => `${dtype} [${shape.join(', ')}]`
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

/** In the language of Graphviz: `codual show FILE#f --dot | dot -Tsvg`. */
export const dotOf = (name: string, { nodes, edges, outputs }: Graph): string =>
  [
    `digraph ${quoted(name)} {`,
    '  rankdir=TB; node [fontname="sans-serif"];',
    ...nodes.map(
      (n) =>
        `  ${n.id} [label=${quoted(`${n.label}\n${typeOf(n)}`).replaceAll('\n', '\\n')}, shape=${n.kind === 'apply' ? 'ellipse' : 'box'}];`,
    ),
    ...edges.map(({ from, to }) => `  ${from} -> ${to};`),
    ...outputs.flatMap(({ path, id }, i) => [`  out${i} [label=${quoted(path || 'result')}, shape=doubleoctagon];`, `  ${id} -> out${i};`]),
    '}',
  ].join('\n')

/** In the language of Mermaid, which GitHub draws. */
export const mermaidOf = ({ nodes, edges, outputs }: Graph): string => {
  const text = (s: string): string => `"${s.replaceAll('"', '#quot;')}"`
  return [
    'flowchart TD',
    ...nodes.map((n) => {
      const label = text(`${n.label}<br/>${typeOf(n)}`)
      return `  ${n.id}${n.kind === 'apply' ? `(${label})` : `[${label}]`}`
    }),
    ...edges.map(({ from, to }) => `  ${from} --> ${to}`),
    ...outputs.flatMap(({ path, id }, i) => [`  out${i}([${text(path || 'result')}])`, `  ${id} --> out${i}`]),
  ].join('\n')
}
