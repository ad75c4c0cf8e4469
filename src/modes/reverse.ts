/** Reverse mode: CoDuals pulled back through an expression. Only what reaches `wrt` is built. */

import { dropListener } from '../core/calculus/dropped.js'
import type { CoDual } from '../core/calculus/dual.js'
import { type Pullback, type RuleConfig, ruleFor } from '../core/calculus/rule.js'
import { badInput } from '../core/errors/explain.js'
import type { Again } from '../core/graph/again.js'
import type { Aval } from '../core/graph/aval.js'
import { isFloat } from '../core/graph/aval.js'
import { asExpr, asExprs, asNode, type Node, reapplied, resultsOf } from '../core/graph/expr.js'
import { Walk } from '../core/graph/rewrite.js'
import { blamed, type Cursor, entered, left, raiseNotImplemented, remember } from '../core/graph/source-lines.js'
import { type Block, type Forced, type InplaceableThunk, NoTangent, type Tangent, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { add } from '../core/ops/elementwise.js'
import { concatNode } from '../core/ops/layout/join.js'
import type { AnyExpr } from '../core/types/expr.js'
import { derivativeOf, forced, type Place, project } from './common.js'
import { held } from './held.js'
import { functionFrom, listFrom, tangentFrom, valuesFrom } from './returned.js'

/** A contribution to a part of the argument, and the rule it came from. */
interface PendingBlock {
  readonly t: InplaceableThunk
  readonly block: Block
  readonly from: Place | undefined
}

/** The codual of a node: its aval, and the accumulator of its cotangent as an expression. */
export class NodeCoDual implements CoDual<Aval, Tangent, Forced> {
  private acc: Node | undefined
  private failed: Forced | undefined
  /** Contributions to a part of the argument: kept until the end, because blocks that tile it need no accumulator. */
  private blocks: PendingBlock[] = []
  constructor(readonly primal: Aval) {}

  /** One more contribution: added into the accumulator at once, so that what it was made of can be freed. Zeros cost nothing. */
  add(t: Tangent, from?: Place): void {
    if (t._tag === 'ZeroTangent') return
    if (t._tag === 'InplaceableThunk' && t.block !== undefined && this.acc === undefined) this.blocks.push({ t, block: t.block, from })
    else this.into(t, from)
  }

  private into(t: Tangent, from?: Place): void {
    if (this.acc !== undefined && t._tag === 'InplaceableThunk') {
      this.acc = this.own(t.addTo(asExpr(this.acc)), from)
      return
    }
    const f = from === undefined ? unthunk(t) : forced(t, from.node.prim!, 'pullback', this.primal, from.k, from.node.args.length)
    if (f._tag === 'NotImplemented') this.failed = f
    if (f._tag === 'NotImplemented' && from !== undefined) remember(f, from.node)
    if (f._tag !== 'Expr') return
    const p = project(asNode(f), this.primal, from)
    if (p._tag === 'Expr') this.acc = this.acc === undefined ? asNode(p) : asNode(add(asExpr(this.acc), p))
  }
  /** What a thunk made of the accumulator. */
  private own(sum: AnyExpr, from: Place | undefined): Node {
    if (from === undefined) return asNode(sum)
    const t = tangentFrom(from.node.prim!, 'pullback', sum, this.primal, from.k, from.node.args.length)
    return t._tag === 'Expr'
      ? asNode(project(asNode(t), this.primal, from))
      : badInput(`addTo of ${from.node.prim!.name}`, `it returned ${t._tag}.`, 'return the accumulator with the cotangent added.')
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
    else for (const { t, from } of blocks) this.into(t, from)
    return this.failed ?? (this.acc === undefined ? ZeroTangent : asExpr(this.acc))
  }
}

/** One concat, when every contribution is a block and together they tile the argument along one axis. */
const concatBlocks = (pending: readonly PendingBlock[], primal: Aval): Node | undefined => {
  const blocks = pending.map((t) => t.block)
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

export interface Reversed {
  /** The outputs, with rules' own results in place (so residuals share work). */
  readonly values: readonly Node[]
  /** One per `wrt`. */
  readonly cotangents: readonly Forced[]
}

/** Values of `outputs` and cotangents of `wrt` for the seeds, by the registry's rrules. */
export const pull = (config: RuleConfig, outputs: readonly Node[], seeds: readonly Tangent[], wrt: readonly Node[]): Reversed => {
  const at = entered()
  try {
    return pullAt(at, config, outputs, seeds, wrt)
  } catch (e) {
    throw blamed(e, at, outputs)
  } finally {
    left()
  }
}

/** A node while values are made, and whether it depends on what is differentiated by. */
interface Value {
  readonly node: Node
  readonly active: boolean
}
/** One application on the way back. */
interface Entry {
  readonly node: Node
  readonly pullback: Pullback
  /** Which arguments get a cotangent. */
  readonly active: readonly boolean[]
}

const constantly = (node: Node): Value => ({ node, active: false })
/** What a rule is given beside its arguments. */
const contextOf = (ys: readonly Node[], active: readonly boolean[], config: RuleConfig) => ({
  y: asExpr(ys[0]!),
  ys: asExprs(ys),
  active,
  config,
})

/** The coduals of nodes, made when the first contribution arrives. */
class CoDuals {
  private readonly list: (NodeCoDual | undefined)[] = []
  constructor(private readonly walk: Walk<Value>) {}
  add(node: Node, t: Tangent, from?: Place): void {
    const k = this.walk.position(node)
    this.list[k] ??= new NodeCoDual(node.aval)
    this.list[k].add(t, from)
  }
  /** The cotangent of a node to which nothing more is added. */
  take(node: Node): Forced {
    const k = this.walk.position(node)
    const found = this.list[k]
    if (found === undefined) return ZeroTangent
    this.list[k] = undefined
    return found.total()
  }
}

const pullAt = (
  cursor: Cursor,
  config: RuleConfig,
  outputs: readonly Node[],
  seeds: readonly Tangent[],
  wrt: readonly Node[],
): Reversed => {
  const dropped = dropListener(outputs)
  const wanted = new Set(wrt)
  const tape: Entry[] = []
  let again: Again | undefined
  // Forward: rules may replace results by their own, and everything downstream reads those. What was done is on the tape.
  const walk = new Walk<Value>(outputs, { at: (node) => (wanted.has(node) ? { node, active: true } : undefined), leaf: constantly })
  for (let node = walk.next(); node !== undefined; node = walk.next()) {
    cursor.node = node
    const args = walk.args()
    const xs = new Array<Node>(args.length)
    const active = new Array<boolean>(args.length)
    let any = false
    for (let k = 0; k < args.length; k++) {
      const a = args[k]!
      xs[k] = a.node
      active[k] = a.active && isFloat(a.node.aval.dtype)
      if (active[k]) any = true
    }
    const ys = reapplied(node, xs)
    again ??= node.prim!.again?.pass()
    if (again !== undefined) for (const y of ys) again.meet(y)
    if (!any || !ys.some((y) => isFloat(y.dtype))) {
      walk.give(ys.map(constantly))
      continue
    }
    const rrule = ruleFor(config.registry, node.prim!, 'rrule', 'grad (reverse)')
    const made = rrule(asExprs(xs), node.payload as never, contextOf(ys, active, config))
    const values = valuesFrom(node.prim!, 'rrule', made.ys, ys)
    const pullback = functionFrom(node.prim!, 'rrule', made.pullback)
    const later = again?.pullback(xs, ys, values, (as, bs) =>
      functionFrom(node.prim!, 'rrule', rrule(asExprs(as), node.payload as never, contextOf(bs, active, config)).pullback),
    )
    tape.push({ node, pullback: later ?? pullback, active })
    walk.give(values.map((y) => ({ node: y, active: true })))
  }
  const values = walk.values()
  const coduals = new CoDuals(walk)
  outputs.forEach((o, i) => {
    if (values[i]!.active) coduals.add(o, seeds[i]!)
  })
  for (let entry = tape.pop(); entry !== undefined; entry = tape.pop()) {
    const { node, pullback, active } = entry
    cursor.node = node
    // What is differentiated by keeps its cotangent.
    const yBars = resultsOf(node).map((y) => (wanted.has(y) ? ZeroTangent : coduals.take(y)))
    for (const y of yBars) if (y._tag === 'NotImplemented') raiseNotImplemented(y)
    if (yBars.every((y) => y._tag !== 'Expr')) {
      dropped?.(node, active, yBars)
      continue
    }
    const xBars = listFrom(node.prim!, 'pullback', pullback(yBars, active), active.length, 'cotangent', 'argument')
    for (let k = 0; k < active.length; k++)
      if (active[k]) tangentFrom(node.prim!, 'pullback', xBars[k], node.args[k]!.aval, k, active.length)
    dropped?.(node, active, yBars, xBars)
    const kept = held(config, node, yBars, xBars)
    for (let k = 0; k < active.length; k++) if (active[k]) coduals.add(node.args[k]!, kept[k]!, { node, k })
  }
  const cotangents = new Map<Node, Forced>()
  for (const w of [...wanted].sort((p, q) => q.id - p.id)) cotangents.set(w, isFloat(w.dtype) ? coduals.take(w) : NoTangent)
  return { values: values.map((v) => v.node), cotangents: wrt.map((w) => cotangents.get(w)!) }
}

/** Cotangents of wrt as dense nodes. */
export const denseCotangents = (r: Reversed, wrt: readonly Node[]): (Node | NoTangent)[] =>
  r.cotangents.map((c, i) => (c._tag === 'NoTangent' ? NoTangent : derivativeOf(c, wrt[i]!)))
