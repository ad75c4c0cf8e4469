/** Primitives as compositions of others: what stands in their place before planning, and the rules that follow. */
import { aval, sameAval, showAval } from './aval.js'
import { raise } from './explain.js'
import { asExpr, asNode, input, linearize, Node, OUTPUT, resultAvals } from './expr.js'
import { withoutCustom } from './ops/custom.js'
import { expandMap, type MapParams, mapPrimitive } from './ops/map.js'
import type { AnyPrimitive } from './primitive.js'
import { makeProgram, type Program } from './program.js'
import type { BatchRule, FRule, RRule } from './registry.js'
import { type Forced, unthunk } from './tangent.js'
import type { AnyExpr } from './types/expr.js'
import { rebuilt } from './written-out.js'

/** The results of a primitive from other primitives. */
export type Lowering = (xs: readonly AnyExpr[], params: unknown) => AnyExpr | readonly AnyExpr[]
/** Lowerings by primitive. */
export type LoweringTable = ReadonlyMap<AnyPrimitive, Lowering>

const listed = (ys: AnyExpr | readonly AnyExpr[]): readonly AnyExpr[] => (Array.isArray(ys) ? ys : [ys as AnyExpr])

/** The composition's nodes for one application, of the avals that the primitive's shape rule promises. */
const expanded = (lowering: Lowering, n: Node, args: readonly Node[]): readonly Node[] => {
  const ys = listed(lowering(args.map(asExpr), n.data)).map(asNode)
  const want = resultAvals(n)
  if (ys.length !== want.length || ys.some((y, i) => !sameAval(y.aval, want[i]!)))
    raise({
      _tag: 'BadInput',
      where: `lower of ${n.prim!.name}`,
      reason: `its composition is ${ys.map((y) => showAval(y.aval)).join(', ')}, its shape rule says ${want.map(showAval).join(', ')}.`,
    })
  return ys
}

/** Does a scalar program apply any of these primitives? */
const applies = (p: Program, table: LoweringTable): boolean => linearize(p.outputs).nodes.some((n) => n.prim !== null && table.has(n.prim))

const pass = (outputs: readonly Node[], table: LoweringTable): readonly Node[] => {
  const { nodes, index } = linearize(outputs)
  const made: Node[] = []
  const results = new Map<number, readonly Node[]>()
  let changed = false
  nodes.forEach((n, i) => {
    const args = n.args.map((a) => made[index.get(a)]!)
    const lowering = n.prim === null ? undefined : table.get(n.prim)
    const held = n.prim === mapPrimitive && applies((n.data as MapParams).program, table)
    if (lowering !== undefined || held) {
      changed = true
      const ys = lowering !== undefined ? expanded(lowering, n, args) : expandMap((n.data as MapParams).program, args)
      results.set(i, ys)
      made.push(n.prim!.multi ? n : ys[0]!)
    } else if (n.kind === OUTPUT) {
      const own = results.get(index.get(n.args[0]!))?.[n.data as number]
      made.push(own ?? (args[0] === n.args[0] ? n : new Node(OUTPUT, n.aval, null, args, n.data)))
    } else made.push(args.every((a, k) => a === n.args[k]) ? n : new Node(n.kind, n.aval, n.prim, args, n.data))
  })
  return changed ? outputs.map((o) => made[index.get(o)]!) : outputs
}

/** A composition of compositions is written out level by level; more than this is one that holds itself. */
const MAX_LEVELS = 64

/** The program in which each primitive of the table is its composition; it may hold others of the table. */
export const lowerProgram = (program: Program, table: LoweringTable): Program => {
  if (table.size === 0) return program
  const first = withoutCustom(program.outputs)
  let outputs = first
  for (let level = 0; level < MAX_LEVELS; level++) {
    const next = pass(outputs, table)
    if (next === outputs) return outputs === first ? program : makeProgram({ ...program, outputs })
    outputs = next
  }
  return raise({ _tag: 'BadInput', where: 'lower', reason: 'a composition applies the primitive that it stands for.' })
}

/** (Co)tangents with their expressions over other nodes. */
const put = (ts: readonly Forced[], to: ReadonlyMap<Node, Node>): readonly Forced[] => {
  const made = rebuilt(
    ts.flatMap((t) => (t._tag === 'Expr' ? [asNode(t)] : [])),
    (n) => to.get(n),
  )
  let k = 0
  return ts.map((t) => (t._tag === 'Expr' ? asExpr(made[k++]!) : t))
}

/** The three facets of a rule, by the rules of what the primitive is composed of. On inputs of its own, so that an argument used twice has both its derivatives. */
export const composedRules = (lowering: Lowering): { readonly frule: FRule; readonly rrule: RRule; readonly batch: BatchRule } => {
  const on = (us: readonly Node[], params: unknown): readonly AnyExpr[] => listed(lowering(us.map(asExpr), params))
  return {
    frule: (xs, dxs, params, { config }) => {
      const us = xs.map((x) => input(asNode(x).aval))
      const ys = on(us, params)
      const live = dxs.map(unthunk)
      const dus = live.map((dx, i) => (dx._tag === 'Expr' ? input(us[i]!.aval) : undefined))
      const seeds = new Map(us.flatMap((u, i) => (dus[i] === undefined ? [] : [[asExpr(u), asExpr(dus[i])] as const])))
      const to = new Map(us.map((u, i) => [u, asNode(xs[i])]))
      dus.forEach((du, i) => {
        if (du !== undefined) to.set(du, asNode(live[i]))
      })
      return { ys: put(ys, to) as readonly AnyExpr[], dys: put(config.pushforward(ys, seeds), to) }
    },
    rrule: (xs, params, { config }) => {
      const us = xs.map((x) => input(asNode(x).aval))
      const ys = on(us, params)
      const to = new Map(us.map((u, i) => [u, asNode(xs[i])]))
      return {
        ys: put(ys, to) as readonly AnyExpr[],
        pullback: (yBars) => {
          const vs = yBars.map((yBar, i) => (yBar._tag === 'Expr' ? asExpr(input(asNode(ys[i]).aval)) : yBar))
          const all = new Map(to)
          vs.forEach((v, i) => {
            if (v._tag === 'Expr') all.set(asNode(v), asNode(yBars[i]))
          })
          return put(config.pullback(ys, vs, us.map(asExpr)), all)
        },
      }
    },
    batch: (xs, batched, params, size, through) => {
      const us = xs.map((x, i) => {
        const a = asNode(x).aval
        return input(batched[i] ? aval(a.shape.slice(1), a.dtype) : a)
      })
      const pairs = us.map((u, i) => [u, asNode(xs[i])] as const)
      const ys = through(on(us, params), new Map(pairs.flatMap(([u, x], i) => (batched[i] ? [[asExpr(u), asExpr(x)] as const] : []))), size)
      const to = new Map<Node, Node>(pairs)
      for (const [, x] of pairs) to.set(x, x)
      return put(ys, to) as readonly AnyExpr[]
    },
  }
}
