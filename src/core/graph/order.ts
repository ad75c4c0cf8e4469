/** Orders of graphs, made once: kept with the list of roots, and handed on to lists over the same nodes. */
import { type Linear, linearize, type Node, NodeIndex } from './expr.js'

const kept = new WeakMap<readonly Node[], Linear>()

/** The order of a list of roots, which nobody changes any more: made when it is first asked for, and kept as long as the list. */
export const orderOf = (roots: readonly Node[]): Linear => {
  const known = kept.get(roots)
  if (known !== undefined) return known
  const linear = linearize(roots)
  kept.set(roots, linear)
  return linear
}
/** The same where somebody has asked for it, or knew it. */
export const orderKept = (roots: readonly Node[]): Linear | undefined => kept.get(roots)
/** Roots whose order is known: whoever made them knows it. */
export const inOrder = <R extends readonly Node[]>(roots: R, linear: Linear): R => {
  kept.set(roots, linear)
  return roots
}

/** The order of nodes that are in it, each once, and with their arguments. */
export const linearOf = (nodes: readonly Node[]): Linear => {
  const index = new NodeIndex()
  for (let i = 0; i < nodes.length; i++) index.set(nodes[i]!, i)
  return { nodes, index }
}

/** Which nodes of an order these roots need, by position; of those for which `cut` holds, asked users first, what they are made of is not. */
export const needs = ({ nodes, index }: Linear, roots: readonly Node[], cut?: (n: Node) => boolean): Uint8Array => {
  const needed = new Uint8Array(nodes.length)
  for (const r of roots) needed[index.get(r)] = 1
  for (let i = nodes.length - 1; i >= 0; i--) {
    if (needed[i] === 0 || cut?.(nodes[i]!) === true) continue
    const { args } = nodes[i]!
    for (let k = 0; k < args.length; k++) needed[index.get(args[k]!)] = 1
  }
  return needed
}

/** Some nodes of an order as roots, with the part of it that they are made of. */
export const among = (linear: Linear, roots: readonly Node[]): readonly Node[] => {
  const needed = needs(linear, roots)
  return inOrder(roots, needed.includes(0) ? linearOf(linear.nodes.filter((_, i) => needed[i] === 1)) : linear)
}
