/** Primitives that hold a program, replaced by what the program computes. */
import { linearize, Node, OUTPUT } from './expr.js'
import type { AnyPrimitive } from './primitive.js'
import type { Program } from './program.js'

/** `outputs` in which every application of a primitive of several results is what `expand` makes of its arguments. */
export const writtenOut = (
  outputs: readonly Node[],
  primitive: AnyPrimitive,
  expand: (params: unknown, args: readonly Node[]) => readonly Node[],
): readonly Node[] => {
  const { nodes, index } = linearize(outputs)
  if (!nodes.some((n) => n.prim === primitive)) return outputs
  const made: Node[] = []
  const results = new Map<number, readonly Node[]>()
  nodes.forEach((n, i) => {
    const args = n.args.map((a) => made[index.get(a)]!)
    if (n.prim === primitive) {
      results.set(i, expand(n.data, args))
      made.push(n)
    } else if (n.kind === OUTPUT)
      made.push(
        results.get(index.get(n.args[0]!))?.[n.data as number] ??
          (args[0] === n.args[0] ? n : new Node(OUTPUT, n.aval, null, args, n.data)),
      )
    else made.push(args.every((a, k) => a === n.args[k]) ? n : new Node(n.kind, n.aval, n.prim, args, n.data))
  })
  return outputs.map((o) => made[index.get(o)]!)
}

/** A program's nodes in order, each with the positions of its arguments: placed many times without another walk. */
interface Tape {
  readonly nodes: readonly Node[]
  readonly args: readonly (readonly number[])[]
  /** Which input each node is; -1 for the others. */
  readonly input: readonly number[]
  readonly outputs: readonly number[]
}
const tapes = new WeakMap<Program, Tape>()

const tapeOf = (p: Program, outputs: () => readonly Node[]): Tape => {
  let tape = tapes.get(p)
  if (tape === undefined) {
    const roots = outputs()
    const { nodes, index } = linearize(roots)
    tape = {
      nodes,
      args: nodes.map((n) => n.args.map((a) => index.get(a))),
      input: nodes.map((n) => p.inputs.indexOf(n)),
      outputs: roots.map((o) => index.get(o)),
    }
    tapes.set(p, tape)
  }
  return tape
}

/** A closed program's outputs over other arguments of the same avals; `outputs` are what it is made of the first time. */
export const placed = (p: Program, args: readonly Node[], outputs: () => readonly Node[] = () => p.outputs): Node[] => {
  const tape = tapeOf(p, outputs)
  const made: Node[] = []
  tape.nodes.forEach((n, i) => {
    const k = tape.input[i]!
    if (k >= 0) made.push(args[k]!)
    else if (tape.args[i]!.every((a) => made[a] === tape.nodes[a])) made.push(n)
    else
      made.push(
        new Node(
          n.kind,
          n.aval,
          n.prim,
          tape.args[i]!.map((a) => made[a]!),
          n.data,
        ),
      )
  })
  return tape.outputs.map((k) => made[k]!)
}

/**
 * `roots` over other nodes: `at` gives what stands in place of a node, undefined where it is kept and looked into.
 * What is below a replaced node is never visited.
 */
export const rebuilt = (roots: readonly Node[], at: (n: Node) => Node | undefined): Node[] => {
  const made = new Map<Node, Node>()
  const found: Node[] = []
  const seen = new Set<Node>(roots)
  const stack = [...seen]
  while (stack.length > 0) {
    const n = stack.pop()!
    const to = at(n)
    if (to !== undefined) {
      made.set(n, to)
      continue
    }
    found.push(n)
    for (const a of n.args)
      if (!seen.has(a)) {
        seen.add(a)
        stack.push(a)
      }
  }
  found.sort((a, b) => a.id - b.id)
  for (const n of found)
    made.set(
      n,
      n.args.every((a) => made.get(a) === a)
        ? n
        : new Node(
            n.kind,
            n.aval,
            n.prim,
            n.args.map((a) => made.get(a)!),
            n.data,
          ),
    )
  return roots.map((r) => made.get(r)!)
}
