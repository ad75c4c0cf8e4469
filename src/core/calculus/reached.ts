/** Which results depend on some inputs, looked up inside of loops and branches: of a loop that carries several things, each by itself. */
import { programsOf } from '../graph/expand.js'
import { INPUT, type Node, NodeIndex, OUTPUT } from '../graph/expr.js'
import { orderOf } from '../graph/order.js'
import type { Program } from '../graph/program.js'
import type { ScanParams } from '../ops/control/control.js'

/** For each output whether it depends on any of these inputs. */
export const reached = (outputs: readonly Node[], from: readonly Node[]): readonly boolean[] => {
  const found = new NodeIndex()
  for (const n of from) found.set(n, 1)
  const results = new Map<Node, readonly boolean[]>()
  for (const n of orderOf(outputs).nodes) {
    if (found.has(n)) continue
    if (n.kind === INPUT) found.set(n, 0)
    else if (n.kind === OUTPUT) found.set(n, results.get(n.args[0]!)?.[n.payload as number] === false ? 0 : found.get(n.args[0]!))
    else {
      const args = n.args.map((a) => found.get(a) === 1)
      const any = args.includes(true)
      found.set(n, any ? 1 : 0)
      if (any && n.prim?.multi === true) {
        const own = within(n, args)
        if (own !== undefined) results.set(n, own)
      }
    }
  }
  return outputs.map((n) => found.get(n) === 1)
}
const through = (p: Program, given: readonly boolean[]): readonly boolean[] =>
  reached(
    p.outputs,
    p.inputs.filter((_, i) => given[i]),
  )
/** For each result of an application that holds programs whether it depends on arguments that are marked; undefined where that is not known of it. */
const within = ({ prim, payload }: Node, args: readonly boolean[]): readonly boolean[] | undefined => {
  if (prim!.structure?.kind === 'branches') {
    if (args[0]) return undefined
    const branches = programsOf(prim!, payload).map((p) => through(p, args.slice(1)))
    return branches[0]!.map((_, i) => branches.some((b) => b[i]))
  }
  if (prim!.structure?.kind !== 'loop') return undefined
  const { program, carries, until } = payload as ScanParams
  // What a carry depends on at one step it depends on at all that follow.
  let given = args
  for (;;) {
    if (until !== undefined && given[until]) return undefined
    const made = through(program, given)
    const next = given.map((g, i) => g || (i < carries && made[i]!))
    if (next.every((g, i) => g === given[i])) return made.map((m, i) => m || (i < carries && given[i]!))
    given = next
  }
}
