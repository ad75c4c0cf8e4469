/** Graphs in the languages of Graphviz and Mermaid. */
import type { Graph, GraphNode } from '../src/display/index.js'

const typeOf = ({ dtype, shape }: GraphNode): string => `${dtype} [${shape.join(', ')}]`
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
