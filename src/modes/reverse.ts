/** Reverse mode: CoDuals pulled back through an expression. Only what reaches `wrt` is built. */

import type { Aval } from '../core/aval.js'
import { isFloat } from '../core/aval.js'
import type { CoDual } from '../core/dual.js'
import { raise } from '../core/explain.js'
import { APPLY, asExpr, asNode, linearize, Node, OUTPUT, resultAvals, withArgs } from '../core/expr.js'
import { add } from '../core/ops/elementwise.js'
import { concatNode } from '../core/ops/layout-join.js'
import { dependents } from '../core/program.js'
import { type Pullback, type RuleConfig, ruleFor } from '../core/registry.js'
import { blaming, type Cursor, raiseNotImplemented, remember } from '../core/sites.js'
import { type Block, type Forced, type InplaceableThunk, NoTangent, type Tangent, unthunk, ZeroTangent } from '../core/tangent.js'
import { instantiate, outputsOf, project } from './common.js'

/** The codual of a node: its aval, and the accumulator of its cotangent as an expression. */
export class NodeCoDual implements CoDual<Aval, Tangent, Forced> {
  private acc: Node | undefined
  private failed: Forced | undefined
  /** Contributions to a part of the argument: kept until the end, because blocks that tile it need no accumulator. */
  private blocks: InplaceableThunk[] = []
  constructor(
    readonly primal: Aval,
    private readonly rule: string,
  ) {}

  /** One more contribution: added into the accumulator at once, so that what it was made of can be freed. Zeros cost nothing. */
  add(t: Tangent, from?: Node): void {
    if (t._tag === 'ZeroTangent' || t._tag === 'NoTangent') return
    if (t._tag === 'InplaceableThunk' && t.block !== undefined && this.acc === undefined) this.blocks.push(t)
    else this.into(t, from)
  }

  private into(t: Tangent, from?: Node): void {
    if (this.acc !== undefined && t._tag === 'InplaceableThunk') {
      this.acc = asNode(t.addTo(asExpr(this.acc)))
      return
    }
    const f = unthunk(t)
    if (f._tag === 'NotImplemented') this.failed = f
    if (f._tag === 'NotImplemented' && from !== undefined) remember(f, from)
    if (f._tag !== 'Expr') return
    const p = project(asNode(f), this.primal, this.rule)
    if (p._tag === 'Expr') this.acc = this.acc === undefined ? asNode(p) : asNode(add(asExpr(this.acc), p))
  }

  /**
   * The sum of the contributions. N of them cost one accumulator: the first creates it, the others are added into it
   * (`addTo`, which the plan does in place). Blocks that tile the argument become one concat, without zeros.
   */
  total(): Forced {
    const blocks = this.blocks
    this.blocks = []
    const tiled = concatBlocks(blocks, this.primal)
    if (tiled !== undefined) this.into(asExpr(tiled))
    else for (const b of blocks) this.into(b)
    return this.failed ?? (this.acc === undefined ? ZeroTangent : asExpr(this.acc))
  }
}

/** One concat, when every contribution is a block and together they tile the argument along one axis. */
const concatBlocks = (pending: readonly InplaceableThunk[], primal: Aval): Node | undefined => {
  const blocks: Block[] = []
  for (const t of pending) {
    if (t.block === undefined) return undefined
    blocks.push(t.block)
  }
  const shape = primal.shape
  if (blocks.length < 2) return undefined
  const axis = shape.findIndex((d, i) => blocks[0]!.sizes[i] !== d)
  if (axis < 0 || !blocks.every((b) => shape.every((d, i) => i === axis || (b.starts[i] === 0 && b.sizes[i] === d)))) return undefined
  const sorted = [...blocks].sort((a, b) => a.starts[axis]! - b.starts[axis]!)
  let at = 0
  for (const b of sorted) {
    if (b.starts[axis] !== at) return undefined
    at += b.sizes[axis]!
  }
  return at === shape[axis]
    ? concatNode(
        sorted.map((b) => asNode(b.value())),
        axis,
      )
    : undefined
}

/** For each further node of a result of several: the position of the first one. What is differentiated by stands for itself. */
const firstOutputs = (
  nodes: readonly Node[],
  results: ReturnType<typeof outputsOf>,
  wanted: ReadonlySet<Node>,
): ReadonlyMap<number, number> => {
  const first = new Map<number, number>()
  for (const list of results.values()) {
    const of = new Map<number, number>()
    for (const { at, result } of list) {
      if (wanted.has(nodes[at]!)) continue
      const known = of.get(result)
      if (known === undefined) of.set(result, at)
      else first.set(at, known)
    }
  }
  return first
}

export interface Reversed {
  /** The outputs, with rules' own results in place (so residuals share work). */
  readonly values: readonly Node[]
  /** One per `wrt`. */
  readonly cotangents: readonly Forced[]
}

/** Values of `outputs` and cotangents of `wrt` for the seeds, by the registry's rrules. */
export const pull = (config: RuleConfig, outputs: readonly Node[], seeds: readonly Tangent[], wrt: readonly Node[]): Reversed =>
  blaming(outputs, (at) => pullAt(at, config, outputs, seeds, wrt))

const pullAt = (
  cursor: Cursor,
  config: RuleConfig,
  outputs: readonly Node[],
  seeds: readonly Tangent[],
  wrt: readonly Node[],
): Reversed => {
  const linear = linearize(outputs)
  const { nodes, index } = linear
  const n = nodes.length
  const active = dependents(linear, wrt)
  const results = outputsOf(linear)
  // Forward: rules may replace results by their own; everything downstream then reads those.
  const primal: Node[] = new Array<Node>(n)
  const pullbacks: (Pullback | undefined)[] = new Array<Pullback | undefined>(n)
  const replacedResults = new Map<number, readonly Node[]>()
  for (let i = 0; i < n; i++) {
    const node = nodes[i]!
    cursor.node = node
    if (node.kind === OUTPUT) {
      const from = index.get(node.args[0]!)
      const own = replacedResults.get(from)
      primal[i] =
        own !== undefined
          ? own[node.data as number]!
          : primal[from] === node.args[0]
            ? node
            : new Node(OUTPUT, node.aval, null, [primal[from]!], node.data)
      continue
    }
    if (node.kind !== APPLY) {
      primal[i] = node
      continue
    }
    let changed = false
    const args = node.args
    for (let k = 0; k < args.length; k++) if (primal[index.get(args[k]!)] !== args[k]) changed = true
    const self = changed
      ? withArgs(
          node,
          args.map((a) => primal[index.get(a)]!),
        )
      : node
    primal[i] = self
    if (active[i] === 0 || !hasFloatResult(node)) continue
    const rrule = ruleFor(config.registry, node.prim!, 'rrule', 'grad (reverse)')
    const ys = node.prim!.multi ? resultAvals(self).map((a, r) => new Node(OUTPUT, a, null, [self], r)) : [self]
    const made = rrule(self.args.map(asExpr), node.data as never, {
      y: asExpr(ys[0]!),
      ys: ys.map(asExpr),
      active: args.map((a) => active[index.get(a)] === 1 && isFloat(a.aval.dtype)),
      config,
    })
    pullbacks[i] = made.pullback
    const own = made.ys.map(asNode)
    if (node.prim!.multi) replacedResults.set(i, own)
    else primal[i] = own[0]!
  }
  // Backward, in reverse build order.
  const coduals: (NodeCoDual | undefined)[] = new Array<NodeCoDual | undefined>(n)
  // A result may have several nodes, one from each walk that made it: they have one cotangent.
  const wanted = new Set(wrt)
  const first = firstOutputs(nodes, results, wanted)
  const deposit = (node: number, t: Tangent, rule: string, from?: Node): void => {
    if (active[node] === 0) return
    const at = first.get(node) ?? node
    coduals[at] ??= new NodeCoDual(nodes[at]!.aval, rule)
    coduals[at].add(t, from)
  }
  outputs.forEach((o, i) => {
    const seed = seeds[i]!
    deposit(index.get(o), seed, 'seed')
  })
  const out = new Map<Node, Forced>()
  for (let i = n - 1; i >= 0; i--) {
    const node = nodes[i]!
    cursor.node = node
    if (wanted.has(node)) {
      out.set(node, coduals[i]?.total() ?? ZeroTangent)
      coduals[i] = undefined
      continue
    }
    if (active[i] === 0 || node.kind !== APPLY) continue
    const pull = pullbacks[i]
    if (pull === undefined) continue
    pullbacks[i] = undefined
    let yBars: Forced[]
    if (node.prim!.multi) {
      yBars = resultAvals(node).map(() => ZeroTangent)
      for (const { at, result } of results.get(i) ?? []) {
        if (first.has(at) || wanted.has(nodes[at]!)) continue
        yBars[result] = coduals[at]?.total() ?? ZeroTangent
        coduals[at] = undefined
      }
    } else {
      yBars = [coduals[i]?.total() ?? ZeroTangent]
      coduals[i] = undefined
    }
    for (const y of yBars) if (y._tag === 'NotImplemented') raiseNotImplemented(y)
    if (yBars.every((y) => y._tag !== 'Expr')) continue
    const mask = node.args.map((a) => active[index.get(a)] === 1 && isFloat(a.aval.dtype))
    const xBars = pull(yBars, mask)
    if (xBars.length !== node.args.length)
      raise({
        _tag: 'InternalLaw',
        law: 'a pullback gives one cotangent per argument',
        detail: `${node.prim!.name} gave ${xBars.length} for ${node.args.length}`,
      })
    for (let k = 0; k < node.args.length; k++) if (mask[k]) deposit(index.get(node.args[k]!), xBars[k]!, node.prim!.name, node)
  }
  return {
    values: outputs.map((o) => primal[index.get(o)]!),
    cotangents: wrt.map((w) => (isFloat(w.aval.dtype) ? (out.get(w) ?? ZeroTangent) : NoTangent)),
  }
}

const hasFloatResult = (node: Node): boolean =>
  node.prim!.multi ? resultAvals(node).some((a) => isFloat(a.dtype)) : isFloat(node.aval.dtype)

/** Cotangents of wrt as dense nodes. */
export const denseCotangents = (r: Reversed, wrt: readonly Node[]): (Node | NoTangent)[] =>
  r.cotangents.map((c, i) => (c._tag === 'NoTangent' ? NoTangent : instantiate(c, wrt[i]!.aval)))
