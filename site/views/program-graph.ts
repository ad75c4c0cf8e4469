/** The graph of a program, from its text as `show` prints it. */

export interface GraphNode {
  readonly id: string
  readonly kind: 'input' | 'apply' | 'output' | 'literal'
  readonly label: string
  /** Shapes of its results, and what else hovering tells. */
  readonly detail: string
}
export interface GraphEdge {
  readonly from: string
  readonly to: string
  /** The shape of what flows. */
  readonly label: string
  /** Which argument of its end it is. */
  readonly argument: number
}
export interface ProgramGraph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

const avals = (text: string): readonly string[] => text.match(/\w+ \[[^\]]*\]/g) ?? []
const listed = (text: string): readonly string[] => (text === '' ? [] : text.split(', '))

export const graphOf = (text: string): ProgramGraph => {
  const nodes: GraphNode[] = []
  const edges: GraphEdge[] = []
  /** Where each name is made, and its type. */
  const made = new Map<string, { readonly node: string; readonly aval: string }>()
  const [head = '', ...lines] = text.split('\n')
  for (const [, name, aval] of head.slice(head.lastIndexOf('(', head.indexOf(': '))).matchAll(/([^\s,(]+): (\w+ \[[^\]]*\])/g)) {
    nodes.push({ id: name!, kind: 'input', label: name!, detail: aval! })
    made.set(name!, { node: name!, aval: aval! })
  }
  const join = (arg: string, to: string, argument: number): void => {
    let source = made.get(arg)
    if (source === undefined) {
      // A literal or a captured tensor, drawn at each of its uses.
      const id = `${arg} of ${to} ${argument}`
      nodes.push({ id, kind: 'literal', label: arg, detail: arg })
      source = { node: id, aval: '' }
    }
    edges.push({ from: source.node, to, label: source.aval, argument })
  }
  let last: string | undefined
  for (const line of lines) {
    const equation = /^ {2}(y\d+(?:, y\d+)*) = (\S+)\(([^()]*)\)(.*)$/.exec(line)
    if (equation !== null) {
      const [, results, prim, args, rest] = equation
      const at = rest!.lastIndexOf(' : ')
      const types = avals(rest!.slice(at))
      const id = results!
      nodes.push({ id, kind: 'apply', label: prim!, detail: line.trim() })
      listed(args!).forEach((arg, argument) => {
        join(arg, id, argument)
      })
      for (const [i, name] of listed(results!).entries()) made.set(name, { node: id, aval: types[i] ?? '' })
      last = id
      continue
    }
    const returned = /^ {2}return (.*)$/.exec(line)
    if (returned !== null)
      for (const [i, part] of listed(returned[1]!).entries()) {
        const [, path, name] = /^(?:(.*): )?(\S+)$/.exec(part) ?? []
        const id = `result ${i}`
        nodes.push({ id, kind: 'output', label: path ?? 'result', detail: part })
        join(name ?? part, id, 0)
      }
    else if (last !== undefined) {
      // The body of a program that the equation holds.
      const at = nodes.findIndex((n) => n.id === last)
      nodes[at] = { ...nodes[at]!, detail: `${nodes[at]!.detail}\n${line}` }
    }
  }
  return { nodes, edges }
}
