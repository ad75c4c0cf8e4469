/** What the reverse pass makes again in place of keeping it: results of primitives that say so, and what is made of nothing else by operations that cost little. */
import { APPLY, apply, CONST, type Node, reapplied } from './expr.js'
import { rewrite } from './rewrite.js'

/** One reverse pass. It costs nobody a byte whose primitives have no `again`: they bring it. */
export class Again {
  private readonly from = new Set<Node>()
  private readonly made = new Map<Node, Node>()
  /** A result of the forward pass. */
  meet(node: Node): void {
    const { kind, prim } = node
    if (kind !== APPLY || prim!.multi) return
    if (
      prim!.again?.params(node.payload) !== undefined ||
      ((prim!.class === 'layout' || prim!.class === 'elementwise') &&
        node.args.some((x) => this.from.has(x)) &&
        node.args.every((x) => x.kind === CONST || this.from.has(x)))
    )
      this.from.add(node)
  }
  /** What the reverse pass reads in its place: where it is asked for first it is built, and so in the order of the pass. */
  private readonly of = (node: Node): Node => {
    if (!this.from.has(node)) return node
    const [made] = rewrite([node], {
      at: (n) => this.made.get(n) ?? (this.from.has(n) || n.kind === CONST ? undefined : n),
      apply: (n, args) => {
        const params = n.prim!.again?.params(n.payload)
        const y = params === undefined ? reapplied(n, args)[0]! : apply(n.prim!, args, params)
        this.made.set(n, y)
        return [y]
      },
    })
    return made!
  }
  /** A pullback by the rule at what is made again; undefined where nothing is. A rule with results of its own has residuals among them: they are of the forward pass. */
  pullback<A extends readonly unknown[], B>(
    xs: readonly Node[],
    ys: readonly Node[],
    own: readonly Node[],
    rule: (xs: readonly Node[], ys: readonly Node[]) => (...given: A) => B,
  ): ((...given: A) => B) | undefined {
    return xs.some((x) => this.from.has(x)) && own.every((y, i) => y === ys[i])
      ? (...given) => rule(xs.map(this.of), ys.map(this.of))(...given)
      : undefined
  }
}
