/** The one walk over expressions (`Walk`): a value for each node, arguments first (`fold`); expressions over other nodes (`rewrite`). */

import { raise } from '../errors/explain.js'
import { sameAval } from './aval.js'
import { APPLY, type Linear, linearize, type Node, OUTPUT, reapplied } from './expr.js'
import { needs, orderKept } from './order.js'

/** How a fold makes a value of A for each node. */
export interface Folding<A> {
  /** The value of a node that is known already; undefined: it is made of its arguments' values. What only known nodes need is never visited. */
  readonly at?: (n: Node) => A | undefined
  /** The value of an input or a literal. */
  readonly leaf: (n: Node) => A
  /** The values of an application's results. */
  readonly apply: (n: Node, args: readonly A[]) => readonly A[]
  /** Forget a value after its last use: for values that hold memory. */
  readonly release?: boolean
}

/** Position of the last node that uses each one; that of a root is the end. Those that are not visited use none. */
const lastUses = ({ nodes, index }: Linear, visits: (i: number) => boolean, roots: readonly Node[]): Int32Array => {
  const last = new Int32Array(nodes.length).fill(-1)
  nodes.forEach((n, i) => {
    if (visits(i)) for (const a of n.args) last[index.get(a)] = i
  })
  for (const r of roots) last[index.get(r)] = nodes.length
  return last
}

/** The applications that `roots` are made of, one after the other, arguments first; whoever walks gives the values of each one's results. */
export class Walk<A> {
  private readonly linear: Linear
  private readonly known = new Map<Node, A>()
  private readonly made: (A | undefined)[]
  private readonly several = new Map<number, readonly A[]>()
  private readonly last: Int32Array | undefined
  /** Of an order that was there, which nodes are needed; undefined: all. */
  private readonly needed: Uint8Array | undefined
  private i = -1

  constructor(
    private readonly roots: readonly Node[],
    private readonly how: Omit<Folding<A>, 'apply'>,
  ) {
    const { at, release } = how
    const cut = (n: Node): boolean => {
      const a = at!(n)
      if (a === undefined) return false
      this.known.set(n, a)
      return true
    }
    const kept = orderKept(roots)
    this.linear = kept ?? linearize(roots, at && cut)
    this.needed = kept && at && needs(kept, roots, cut)
    const { nodes } = this.linear
    this.made = new Array<A | undefined>(nodes.length)
    const visits = (i: number): boolean => this.needed?.[i] !== 0 && !this.known.has(nodes[i]!)
    this.last = release === true ? lastUses(this.linear, visits, roots) : undefined
  }

  /** The next application; undefined after the last. */
  next(): Node | undefined {
    const { known, made, several, last, needed, how } = this
    const { nodes, index } = this.linear
    for (this.i++; this.i < nodes.length; this.i++) {
      if (needed?.[this.i] === 0) continue
      const n = nodes[this.i]!
      const given = known.size === 0 ? undefined : known.get(n)
      if (given !== undefined) made[this.i] = given
      else if (n.kind === APPLY) return n
      else if (n.kind === OUTPUT) {
        const from = index.get(n.args[0]!)
        made[this.i] = several.get(from)![n.payload as number]!
        if (last?.[from] === this.i) several.delete(from)
      } else made[this.i] = how.leaf(n)
    }
    return undefined
  }
  /** The place of a node in the order, -1 of any other. */
  position(n: Node): number {
    return this.linear.index.get(n)
  }
  /** The values of its arguments. */
  args(): A[] {
    const { args } = this.linear.nodes[this.i]!
    const values = new Array<A>(args.length)
    for (let k = 0; k < args.length; k++) values[k] = this.made[this.linear.index.get(args[k]!)] as A
    return values
  }
  /** Its results are these. */
  give(results: readonly A[]): void {
    const { made, several, last, i } = this
    const { nodes, index } = this.linear
    const n = nodes[i]!
    if (n.prim!.multi) several.set(i, results)
    else made[i] = results[0]
    if (last !== undefined) for (const a of n.args) if (last[index.get(a)] === i) made[index.get(a)] = undefined
  }
  /** The values of the roots, after the last application. */
  values(): A[] {
    return this.roots.map((r) => this.made[this.linear.index.get(r)] as A)
  }
}

/** Values of `roots`. A worklist, so depth has no limit; a shared node is made once. */
export const fold = <A>(roots: readonly Node[], how: Folding<A>): A[] => {
  const walk = new Walk<A>(roots, how)
  for (let n = walk.next(); n !== undefined; n = walk.next()) walk.give(how.apply(n, walk.args()))
  return walk.values()
}

/** How a rewrite replaces nodes. */
export interface Rewriting {
  /** What stands in place of a node; undefined: it is kept, and looked into. */
  readonly at?: (n: Node) => Node | undefined
  /** What stands in place of an application over its new arguments: a node for each result; undefined: the same application. */
  readonly apply?: (n: Node, args: readonly Node[]) => readonly Node[] | undefined
}

const self = (n: Node): Node => n

/** `roots` over other nodes. What is shared stays shared; what does not change is the same node. */
export const rewrite = (roots: readonly Node[], { at, apply }: Rewriting): Node[] =>
  fold<Node>(roots, {
    ...(at && { at }),
    leaf: self,
    apply: apply === undefined ? reapplied : (n, args) => apply(n, args) ?? reapplied(n, args),
  })

/** `roots` with nodes of the same avals in place of others. */
export const substitute = (roots: readonly Node[], map: ReadonlyMap<Node, Node>): Node[] => {
  for (const [from, to] of map)
    if (!sameAval(from.aval, to.aval)) raise({ _tag: 'InternalLaw', law: 'substitute keeps avals', detail: `${from} became ${to}` })
  return map.size === 0 ? [...roots] : rewrite(roots, { at: (n) => map.get(n) })
}
