/** What a step of a loop keeps for the way back: values that its pullback reads and cannot make again cheaply. */
import { aval } from '../core/graph/aval.js'
import { APPLY, CONST, INPUT, input, type Node } from '../core/graph/expr.js'
import { Identities } from '../core/graph/identity.js'
import { orderOf } from '../core/graph/order.js'
import { dependents, type Program } from '../core/graph/program.js'
import { rewrite } from '../core/graph/rewrite.js'
import type { Keep } from '../core/ops/control/control.js'

/** Values that steps keep, and how an expression is made to read them. */
export interface Residuals {
  /** Further results of a step. The carry as the step found it is among them: everything can be made again from it. */
  readonly nodes: readonly Node[]
  /**
   * The expressions with inputs in place of what was kept, and which of `nodes` they read. They need not be of the same trace: equal expressions over
   * the program's inputs are equal.
   */
  readonly over: (outputs: readonly Node[]) => {
    readonly outputs: readonly Node[]
    readonly rows: readonly number[]
    readonly inputs: readonly (Node | undefined)[]
  }
}

/** Costs no more than reading it would: sums, products and copies, and what is made of literals alone. */
const CHEAP = 2
const isCheap = (n: Node): boolean =>
  n.kind === CONST ||
  (n.kind === APPLY && (n.prim!.class === 'layout' || (n.prim!.class === 'elementwise' && !n.prim!.multi && n.prim!.cost <= CHEAP)))

const isProduct = ({ prim }: Node): boolean => prim?.structure?.kind === 'product' || prim?.structure?.kind === 'contraction'
/** What is made again rather than kept. */
const remade: Readonly<Record<Keep, (n: Node) => boolean>> = {
  everything: isCheap,
  contractions: (n) => n.kind !== INPUT && !isProduct(n),
  nothing: (n) => n.kind !== INPUT,
}

/** What a value is made of by operations that are done again: values of others, and inputs. */
const sourcesOf = (n: Node, isRemade: (n: Node) => boolean): readonly Node[] => {
  const found = new Set<Node>()
  const seen = new Set<Node>()
  const open = [n]
  for (let m = open.pop(); m !== undefined; m = open.pop()) {
    if (seen.has(m)) continue
    seen.add(m)
    if (isRemade(m)) for (const a of m.args) open.push(a)
    else found.add(m)
  }
  return [...found]
}

/** What is kept of a step whose pullback gives these cotangents; slices and what is the same at every step are there anyway. */
export const residualsOf = ({ inputs }: Program, carries: number, cotangents: readonly Node[], policy: Keep = 'everything'): Residuals => {
  const linear = orderOf(cotangents)
  const own = new Set(inputs)
  const bars = linear.nodes.filter((n) => n.kind === INPUT && !own.has(n))
  const depends = dependents(linear, bars)
  const read = new Set<Node>()
  linear.nodes.forEach((n, i) => {
    if (depends[i] === 1) for (const a of n.args) if (depends[linear.index.get(a)] !== 1) read.add(a)
  })
  for (const n of cotangents) if (depends[linear.index.get(n)] !== 1) read.add(n)
  const sources = (n: Node): readonly Node[] => sourcesOf(n, remade[policy])
  const ids = new Identities()
  const idOf = ids.nodeIds(linear, depends)
  const carry = inputs.slice(0, carries)
  const free = new Set(inputs.slice(carries))
  const kept = new Map<number, Node>()
  const keep = (n: Node): void => {
    if (!free.has(n) && !kept.has(idOf(n))) kept.set(idOf(n), n)
  }
  for (const n of carry) keep(n)
  const whole: Node[] = []
  for (const n of read) {
    const needed = sources(n).filter((s) => !free.has(s))
    if (needed.length <= 1 || policy !== 'everything') needed.forEach(keep)
    else whole.push(n)
  }
  // Of several sources: kept itself, unless all of them are there already.
  for (const n of whole) if (sources(n).some((s) => !free.has(s) && !kept.has(idOf(s)))) keep(n)
  const nodes = [...kept.values()]
  const at = new Map([...kept.keys()].map((k, i) => [k, i]))
  return {
    nodes,
    over: (outputs) => {
      const made: (Node | undefined)[] = nodes.map(() => undefined)
      const idOf = ids.nodeIds(orderOf(outputs))
      const rewritten = rewrite(outputs, {
        at: (n) => {
          const k = at.get(idOf(n))
          if (k === undefined) return undefined
          const node = nodes[k]!
          made[k] ??= input(aval(node.shape, node.dtype))
          return made[k]
        },
      })
      return { outputs: rewritten, inputs: made, rows: made.flatMap((m, k) => (m === undefined ? [] : [k])) }
    },
  }
}
