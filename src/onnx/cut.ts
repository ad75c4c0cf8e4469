/** A part of a graph: what values inside it are made from, and nothing else. */
import { badInput } from '../core/errors/explain.js'
import type { Declared, Graph, Node } from './graph.js'

/** How many names of values an error lists. */
const SHOWN = 8

/** The names that a node reads: its inputs, and what the graphs inside it read of those around. */
const readBy = (node: Node): readonly string[] => [
  ...node.inputs,
  ...[...node.attributes.values()].flatMap((a) =>
    a.tag === 'graph' ? [...a.value.nodes.flatMap(readBy), ...a.value.outputs.map(({ name }) => name)] : [],
  ),
]
const nameless = (graph: Graph, name: string): never => {
  const made = graph.nodes.flatMap((node) => node.outputs.filter((x) => x !== '').map((x) => `${JSON.stringify(x)} (${node.op})`))
  const last = made.slice(-SHOWN)
  return badInput(
    'fromONNX',
    `outputs: the model makes no value ${JSON.stringify(name)}.`,
    `its ${last.length < made.length ? `last ${SHOWN} values of ${made.length}` : 'values'}: ${last.join(', ')}.`,
  )
}

/** The graph with these values as its outputs, and with the nodes, weights and inputs that they are made from. */
export const cut = (graph: Graph, names: readonly string[]): Graph => {
  const declared = new Map<string, Declared>([...graph.inputs, ...graph.outputs].map((d) => [d.name, d]))
  const made = new Set([...graph.inputs.map(({ name }) => name), ...graph.initializers.keys(), ...graph.nodes.flatMap((n) => n.outputs)])
  for (const name of names) if (name === '' || !made.has(name)) nameless(graph, name)
  const needed = new Set(names)
  const nodes: Node[] = []
  for (let k = graph.nodes.length - 1; k >= 0; k--) {
    const node = graph.nodes[k]!
    if (!node.outputs.some((name) => needed.has(name))) continue
    nodes.unshift(node)
    for (const name of readBy(node)) needed.add(name)
  }
  return {
    ...graph,
    nodes,
    initializers: new Map([...graph.initializers].filter(([name]) => needed.has(name))),
    inputs: graph.inputs.filter(({ name }) => needed.has(name)),
    outputs: names.map((name) => declared.get(name) ?? { name, kind: 'tensor', elements: 0, shape: undefined }),
  }
}
