/**
 * Hard zeros: those of a (co)tangent that stay zero whatever they are multiplied with, because something was not selected or does
 * not move. Whether an expression may hold them is read off the expression, once per node (docs/decisions/strong-zero.md).
 */
import { programsOf } from '../graph/expand.js'
import { APPLY, asExpr, asNode, CONST, type Node, NodeIndex, nodesBuilt, OUTPUT } from '../graph/expr.js'
import { orderOf } from '../graph/order.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import type { Program } from '../graph/program.js'
import { mul, neg, strongMul } from '../ops/elementwise.js'
import { broadcastToPrimitive, reshapePrimitive } from '../ops/layout/move.js'
import type { AnyExpr } from '../types/expr.js'
import type { Hardness } from './rule.js'

/** No zero is hard. */
export const SOFT = 0
/** Zeros of what was filled up (a slice's, a gather's or relu's cotangent) or given from outside: products with what may be singular are strong. */
export const FILLED = 1
/** Zeros that a `where` put in place of what was computed: every product is strong. */
export const GUARDED = 2

type Of = (x: Node) => Hardness
const max = (a: Hardness, b: Hardness): Hardness => (a > b ? a : b)
const any = (n: Node, of: Of): Hardness => {
  let h: Hardness = SOFT
  for (const a of n.args) if (a.dtype === 'f64' || a.dtype === 'f32') h = max(h, of(a))
  return h
}
/** A sum is a hard zero where both terms are. */
const both = (a: Hardness, b: Hardness): Hardness => (a === SOFT || b === SOFT ? SOFT : max(a, b))

/** How an application passes on the hard zeros of its arguments, by what its primitive declares. The (co)tangent is the first factor of a product. */
const passedOn = (n: Node, of: Of): Hardness => {
  const { zeros, structure }: Partial<AnyPrimitive> = n.prim ?? {}
  if (zeros === 'guard') return GUARDED
  if (zeros === 'terms') return n.args.map(of).reduce(both)
  if (zeros !== undefined) return of(n.args[zeros]!)
  // The sum of a whole given direction is no zero that was given.
  if (structure?.kind === 'fold' && structure.by === 'sum') return n.aval.size === 1 && any(n, of) !== GUARDED ? SOFT : any(n, of)
  // What lies outside the part that is added is the accumulator's.
  if (structure?.kind === 'adds' && structure.by !== 'fold') {
    const acc = of(n.args[0]!)
    return acc === SOFT ? SOFT : max(acc, of(n.args[n.args.length - 1]!))
  }
  if ((structure?.kind === 'product' || structure?.kind === 'contraction') && n.args.length === 3)
    return both(of(n.args[0]!), max(of(n.args[1]!), of(n.args[2]!)))
  return any(n, of)
}

/** Hard zeros of an application's result; one whose elements may be sums of nothing has those too. */
const passed = (n: Node, of: Of): Hardness => {
  const h = passedOn(n, of)
  return n.prim?.gaps?.(n.payload) === true ? max(FILLED, h) : h
}

/**
 * May this application be infinite or NaN where its arguments are finite? What holds programs, if they do; anything else, if its declaration does not deny it. Copies never
 * are, nor what is no float.
 */
const isSingular = (n: Node): boolean => {
  const p = n.prim!
  const inside = programsOf(p, n.payload)
  if (inside.length > 0) return inside.some(hasSingular)
  return p.class !== 'layout' && p.unbounded !== false && (p.multi || n.dtype === 'f64' || n.dtype === 'f32')
}

/** The literal that x is, repeated or not. */
export const literalOf = (x: Node): number | undefined => {
  let n = x
  while (n.prim === broadcastToPrimitive || n.prim === reshapePrimitive) n = n.args[0]!
  return n.kind === CONST ? (n.payload as number) : undefined
}
/** Results of `of` over an expression, arguments first: a worklist, so depth has no limit. `done` says what needs no arguments. */
const settle = (root: Node, memo: NodeIndex, leaf: (n: Node) => number, made: (n: Node, of: (x: Node) => number) => number): number => {
  /** What is known without arguments; -1 of anything else. */
  const known = (n: Node): number => {
    const before = memo.get(n)
    if (before >= 0) return before
    const now = leaf(n)
    if (now >= 0) memo.set(n, now)
    return now
  }
  const at = known(root)
  if (at >= 0) return at
  const of = (x: Node): number => memo.get(x)
  const stack = [root]
  while (stack.length > 0) {
    const n = stack[stack.length - 1]!
    let ready = true
    for (let k = 0; k < n.args.length; k++)
      if (known(n.args[k]!) < 0) {
        stack.push(n.args[k]!)
        ready = false
      }
    if (!ready) continue
    if (!memo.has(n)) memo.set(n, made(n, of))
    stack.pop()
  }
  return memo.get(root)
}

const programs = new WeakMap<Program, boolean>()
const hasSingular = (p: Program): boolean => {
  let known = programs.get(p)
  if (known === undefined) {
    known = orderOf(p.outputs).nodes.some((n) => n.prim !== null && isSingular(n))
    programs.set(p, known)
  }
  return known
}

/** What one walk of forward or reverse mode knows of the hard zeros in the (co)tangents that it makes; what is older is no (co)tangent of its. */
export class HardZeros {
  private readonly from = nodesBuilt()
  private readonly hard = new NodeIndex()
  private readonly taint = new NodeIndex()

  /** Says what is known of a (co)tangent beside what it is made of. */
  mark(t: AnyExpr, h: Hardness): AnyExpr {
    this.hard.set(asNode(t), h)
    return t
  }

  /** May this (co)tangent hold hard zeros? */
  of(t: AnyExpr): Hardness {
    return settle(
      asNode(t),
      this.hard,
      (n) =>
        n.id < this.from ? SOFT : n.kind === CONST ? (n.payload === 0 ? FILLED : SOFT) : n.kind === APPLY || n.kind === OUTPUT ? -1 : SOFT,
      (n, of) => passed(n, of as Of),
    ) as Hardness
  }

  /** May x be infinite or NaN: did a singular function make it, any number of operations ago? */
  private maybeSingular(x: Node): boolean {
    return (
      settle(
        x,
        this.taint,
        (n) => (n.kind === OUTPUT ? -1 : n.kind !== APPLY ? 0 : isSingular(n) ? 1 : -1),
        (n, of) => (n.args.some((a) => of(a) === 1) ? 1 : 0),
      ) === 1
    )
  }

  /** A (co)tangent times a partial derivative: hard zeros stay, where there may be any. */
  product(dx: AnyExpr, partial: AnyExpr): AnyExpr {
    const h = this.of(dx)
    const p = asNode(partial)
    if (h === SOFT || Number.isFinite(literalOf(p))) return mul(dx, partial)
    if (h === GUARDED) return strongMul(dx, partial)
    return this.maybeSingular(p) ? this.outside(dx, partial) : mul(dx, partial)
  }

  /**
   * dx p, with what dx was multiplied with before (d = s q) taken to p: s (q p). So a zero of q is not mistaken for one of s, and
   * 0 times Infinity is NaN as in the other modes.
   */
  private outside(dx: AnyExpr, partial: AnyExpr): AnyExpr {
    const n = asNode(dx)
    const negated = n.id >= this.from && n.prim === neg.primitive
    const d = negated ? n.args[0]! : n
    if (d.id < this.from || (d.prim !== mul.primitive && d.prim !== strongMul.primitive)) return strongMul(dx, partial)
    const [s, q] = d.args.map(asExpr) as [AnyExpr, AnyExpr]
    return strongMul(s, mul(negated ? neg(q) : q, partial))
  }
}
