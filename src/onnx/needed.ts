/** Which values must be known when a graph is read, since shapes follow from them: what they come from is no parameter. */
import { type Graph, keyOf, type Node } from './graph.js'
import { operatorOf, type Reading } from './run.js'
import type { Stored } from './tensors.js'
import { isFloat } from './types.js'

/** Operators whose results are known whatever their input is, once its shape is. */
const OF_SHAPES = new Set(['Shape', 'Size'])

/** The names of a model's graph, and of those inside it, that must be known. */
export const neededOf = (reading: Reading): ReadonlySet<string> => {
  const names = new Set<string>()
  const routines = new Map<string, readonly number[]>()
  settle(() => pass(reading, reading.model.graph.nodes, names, routines), names)
  return names
}
/** Again and again until nothing is added: a loop carries names from its end to its beginning. */
const settle = (once: () => void, names: ReadonlySet<string>): void => {
  for (let before = -1; before !== names.size; ) {
    before = names.size
    once()
  }
}
const pass = (reading: Reading, nodes: readonly Node[], names: Set<string>, routines: Map<string, readonly number[]>): void => {
  for (let k = nodes.length - 1; k >= 0; k--) {
    const node = nodes[k]!
    const mark = (i: number): void => {
      const name = node.inputs[i] ?? ''
      if (name !== '') names.add(name)
    }
    for (const i of slotsOf(reading, node, routines)) mark(i)
    const graphs = [...node.attributes.values()].flatMap((a): readonly Graph[] => (a.tag === 'graph' ? [a.value] : []))
    const isNeeded = node.outputs.some((name) => names.has(name))
    for (const graph of graphs) {
      if (isNeeded) for (const { name } of graph.outputs) names.add(name)
      pass(reading, graph.nodes, names, routines)
      for (const [i, { name }] of graph.inputs.entries()) if (names.has(name)) mark(i)
    }
    if (isNeeded && !OF_SHAPES.has(node.op)) for (const i of node.inputs.keys()) mark(i)
  }
}
/** The tensor of a `Constant`, if it is one of several floats: exporters write weights so, too. */
const literalOf = (node: Node): Stored | undefined => {
  const value = node.op === 'Constant' && node.domain === '' ? node.attributes.get('value') : undefined
  return value?.tag === 'tensor' && value.value.size > 1 ? value.value : undefined
}
/**
 * The weights of a model by name: initializers of floats, and constants of several floats, of its graph and of those inside it; unless a
 * shape follows from them, or a name is used in two graphs. `accepts` asks for others than those of floats.
 */
export const weightsOf = (reading: Reading, accepts = (stored: Stored): boolean => isFloat(stored.type)): ReadonlyMap<string, Stored> => {
  const needed = neededOf(reading)
  const found = new Map<string, Stored>()
  const twice = new Set<string>()
  const add = (name: string, stored: Stored | undefined): void => {
    if (stored === undefined || !accepts(stored) || needed.has(name)) return
    if (found.has(name)) twice.add(name)
    found.set(name, stored)
  }
  const walk = (graph: Graph): void => {
    for (const [name, stored] of graph.initializers) add(name, stored)
    for (const node of graph.nodes) {
      add(node.outputs[0] ?? '', literalOf(node))
      for (const a of node.attributes.values()) if (a.tag === 'graph') walk(a.value)
    }
  }
  walk(reading.model.graph)
  for (const name of twice) found.delete(name)
  return found
}
/** Which inputs of a node must be known. */
const slotsOf = (reading: Reading, node: Node, routines: Map<string, readonly number[]>): readonly number[] => {
  const found = operatorOf(reading, node)
  if (found === undefined || 'own' in found) return []
  if ('row' in found) return found.row.known ?? []
  const key = keyOf(node.domain, node.op)
  const known = routines.get(key)
  if (known !== undefined) return known
  routines.set(key, []) // one that calls itself needs nothing more of itself
  const names = new Set<string>()
  settle(() => pass(reading, found.routine.nodes, names, routines), names)
  const slots = found.routine.inputs.flatMap((name, i) => (names.has(name) ? [i] : []))
  routines.set(key, slots)
  return slots
}
