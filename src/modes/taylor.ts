/** Taylor mode: series pushed through an expression, all coefficients in one pass. */
import { FILLED, GUARDED, SOFT } from '../core/calculus/hard-zeros.js'
import { type Rule, type RuleConfig, ruleFor } from '../core/calculus/rule.js'
import { Series, type TaylorContext, type TaylorOf } from '../core/calculus/taylor.js'
import { isFloat } from '../core/graph/aval.js'
import { expanded, isScalarProgram } from '../core/graph/expand.js'
import { asExpr, asNode, asNodes, CONST, input, type Node, reapplied } from '../core/graph/expr.js'
import { Identities } from '../core/graph/identity.js'
import { fold } from '../core/graph/rewrite.js'
import { blaming, type Cursor } from '../core/graph/source-lines.js'
import { type Forced, NoTangent, type Tangent, ZeroTangent } from '../core/graph/tangent.js'
import { and, eq, isfinite, not } from '../core/ops/compare.js'
import { mul, strongMul, where } from '../core/ops/elementwise.js'
import type { AnyExpr } from '../core/types/expr.js'
import { projectTangent, zeros } from './common.js'
import { listFrom } from './returned.js'

/** The series of `outputs` up to this order, for those of some inputs. */
export const pushSeries = (
  config: RuleConfig,
  outputs: readonly Node[],
  known: ReadonlyMap<Node, Series>,
  order: number,
  taylorOf: TaylorOf,
): readonly Series[] =>
  blaming(outputs, (cursor) => {
    const walk = new TaylorWalk(config, cursor, taylorOf)
    const made = walk.over(outputs, known)
    // Node after node, the highest order first: a loop is built once for all orders.
    for (const { node, ys } of made.steps) {
      cursor.node = node
      for (const y of ys) {
        y.at(order)
        for (let k = 1; k < order; k++) y.at(k)
      }
    }
    return made.roots
  })

interface Walked {
  readonly roots: readonly Series[]
  /** The series that were made, arguments first. */
  readonly steps: readonly { readonly node: Node; readonly ys: readonly Series[] }[]
}

/** One call of Taylor mode. */
class TaylorWalk {
  private readonly identities = new Identities()
  /** Elementwise applications by what they are and of which series: sin and cos find each other. */
  private readonly applied = new Map<string, Series>()
  private readonly leaves = new Map<Node | string, Series>()
  readonly context: TaylorContext

  constructor(
    private readonly config: RuleConfig,
    private readonly cursor: Cursor,
    private readonly taylorOf: TaylorOf,
  ) {
    this.context = {
      config,
      times: (u, v) => product(config, u, v),
      through: (outputs, known) => this.through(outputs, known),
    }
  }

  /** Series of `outputs`, in which coefficients of lower nodes are made before those of higher ones: no recursion goes deep. */
  private through(outputs: readonly AnyExpr[], known: ReadonlyMap<AnyExpr, Series>): readonly Series[] {
    const { roots, steps } = this.over(asNodes(outputs), new Map([...known].map(([x, s]) => [asNode(x), s])))
    return roots.map((root) =>
      root.still
        ? root
        : new Series(root.primal, (k) => {
            for (const { ys } of steps) for (const y of ys) y.at(k)
            return root.at(k)
          }),
    )
  }

  over(outputs: readonly Node[], known: ReadonlyMap<Node, Series>): Walked {
    const steps: { readonly node: Node; readonly ys: readonly Series[] }[] = []
    const roots = fold<Series>(outputs, {
      at: (n) => known.get(n),
      leaf: (n) => this.leaf(n),
      apply: (n, xs) => {
        this.cursor.node = n
        const key = n.prim!.class === 'elementwise' && !n.prim!.multi ? this.key(n, xs) : undefined
        const before = key === undefined ? undefined : this.applied.get(key)
        if (before !== undefined) return [before]
        const ys = this.apply(n, xs)
        if (key !== undefined) this.applied.set(key, ys[0]!)
        if (ys.some((y) => !y.still)) steps.push({ node: n, ys })
        return ys
      },
    })
    return { roots, steps }
  }
  private key(n: Node, xs: readonly Series[]): string {
    const { identities: ids } = this
    return `${ids.id(n.prim)}:${ids.paramsId(n.prim, n.payload)}(${xs.map((x) => x.id).join()})`
  }
  private leaf(n: Node): Series {
    const key = n.kind === CONST ? `${n.dtype} ${Object.is(n.payload, -0) ? '-0' : String(n.payload)}` : n
    let s = this.leaves.get(key)
    if (s === undefined) {
      s = new Series(asExpr(n))
      this.leaves.set(key, s)
    }
    return s
  }

  /** The series of an application's results. */
  private apply(n: Node, xs: readonly Series[]): readonly Series[] {
    const ys = reapplied(
      n,
      xs.map((x) => asNode(x.primal)),
    )
    if (xs.every((x) => x.still) || ys.every((y) => !isFloat(y.dtype))) return ys.map((y) => new Series(asExpr(y)))
    const made = new Map<number, readonly Forced[]>()
    let rule: ((k: number) => readonly Tangent[]) | undefined
    const results = ys.map((y, r) =>
      isFloat(y.dtype)
        ? new Series(asExpr(y), (k) => {
            rule ??= this.rule(n, ys, xs, results)
            let list = made.get(k)
            if (list === undefined) {
              list = rule(k).map((t, i) => projectTangent(t, ys[i]!.aval, { node: n, k: i }))
              made.set(k, list)
            }
            return list[r]!
          })
        : new Series(asExpr(y)),
    )
    return results
  }
  private rule(n: Node, ys: readonly Node[], xs: readonly Series[], results: readonly Series[]): (k: number) => readonly Tangent[] {
    const prim = n.prim!
    const own = this.config.registry.ruleOf(prim)
    const taylor = own && this.taylorOf(own)
    if (taylor !== undefined) return taylor === 'each' ? this.each(n, ys, xs) : taylor(xs, results, n.payload as never, this.context)
    return isComposed(n, own) ? this.composed(n, xs) : this.nested(n, xs, results)
  }
  /** The frule along the coefficients of one order. */
  private each(n: Node, ys: readonly Node[], xs: readonly Series[]): (k: number) => readonly Tangent[] {
    const frule = ruleFor(this.config.registry, n.prim!, 'frule', 'jet (Taylor mode)')
    return (k) => {
      const dxs = xs.map((x): Forced => (isFloat(x.primal.dtype) ? x.at(k) : NoTangent))
      return frule(
        xs.map((x) => x.primal),
        dxs,
        n.payload as never,
        { y: asExpr(ys[0]!), ys: ys.map(asExpr), active: dxs.map((d) => d._tag === 'Expr'), config: this.config },
      ).dys
    }
  }
  /** By the primitives that stand in its place. */
  private composed(n: Node, xs: readonly Series[]): (k: number) => readonly Tangent[] {
    const us = n.args.map((a) => input(a.aval))
    const ys = this.through(expanded(n, us).map(asExpr), new Map(us.map((u, i) => [asExpr(u), xs[i]!])))
    return (k) => ys.map((y) => y.at(k))
  }
  /**
   * By the frule alone: y' = F(x, x'), so k y_k is the coefficient k - 1 of F, whose own series go through what it is made of. On inputs of
   * its own, so that an argument used twice is in two places.
   */
  private nested(n: Node, xs: readonly Series[], results: readonly Series[]): (k: number) => readonly Tangent[] {
    const { config } = this
    const frule = ruleFor(config.registry, n.prim!, 'frule', 'jet (Taylor mode)')
    const us = xs.map((x) => (asNode(x.primal).kind === CONST ? asNode(x.primal) : input(asNode(x.primal).aval)))
    const slopes = xs.map((x) => (x.still ? undefined : slopeOf(x)))
    const dus = slopes.map((d, i) => (d === undefined ? undefined : standIn(config, d.first, us[i]!)))
    const vs = reapplied(n, us)
    const { dys } = frule(
      us.map(asExpr),
      us.map((u, i) => dus[i] ?? (isFloat(u.dtype) ? ZeroTangent : NoTangent)),
      n.payload as never,
      { y: asExpr(vs[0]!), ys: vs.map(asExpr), active: dus.map((d) => d !== undefined), config },
    )
    const forced = listFrom(n.prim!, 'frule', dys, vs.length, 'tangent', 'result').map((t, i) =>
      projectTangent(t, vs[i]!.aval, { node: n, k: i }),
    )
    const known = new Map<AnyExpr, Series>()
    us.forEach((u, i) => {
      known.set(asExpr(u), xs[i]!)
      if (dus[i] !== undefined) known.set(dus[i], slopes[i]!.series)
    })
    vs.forEach((v, r) => {
      known.set(asExpr(v), results[r]!)
    })
    const series = this.through(
      forced.filter((t): t is AnyExpr => t._tag === 'Expr'),
      known,
    )
    let at = 0
    const slopesOfY = forced.map((t) => (t._tag === 'Expr' ? series[at++]! : t))
    return (k) =>
      slopesOfY.map((s): Tangent => {
        if (!(s instanceof Series)) return s
        const t = k === 1 ? s.primal : s.at(k - 1)
        return t._tag !== 'Expr' || k === 1 ? t : mul(t, 1 / k)
      })
  }
}

/** Is it made of other primitives, whose rules are its own? */
const isComposed = ({ prim }: Node, rule: Rule | undefined): boolean =>
  prim!.expand !== undefined && (rule?.composed === true || isScalarProgram(prim!))

/** x' as a series, and its value. */
const slopeOf = (x: Series): { readonly series: Series; readonly first: Forced } => {
  const first = x.at(1)
  const primal = first._tag === 'Expr' ? first : asExpr(zeros(asNode(x.primal).aval))
  const series = new Series(primal, (k) => {
    const next = x.at(k + 1)
    return next._tag === 'Expr' ? mul(next, k + 1) : next
  })
  return { series, first }
}
const standIn = (config: RuleConfig, first: Forced, u: Node): AnyExpr =>
  first._tag === 'Expr' ? config.standIn(first, u.aval) : config.hardened(asExpr(input(u.aval)), FILLED)

/** The product of two coefficients, both of which may hold hard zeros: the harder one first. */
const product = (config: RuleConfig, u: AnyExpr, v: AnyExpr): AnyExpr => {
  const [a, b] = [config.hardness(u), config.hardness(v)]
  if (a === SOFT && b === SOFT) return mul(u, v)
  if (a !== GUARDED || b !== GUARDED) return b > a ? config.product(v, u) : config.product(u, v)
  return config.hardened(strongMul(where(and(eq(v, 0), not(isfinite(u))), 0, u), v), GUARDED)
}
