/** Calculus of functions with rules of their own: the rules themselves, transposed where only the frule is given, batched for vmap. */

import { reached } from '../core/calculus/reached.js'
import type { Batching, Rule, RuleConfig } from '../core/calculus/rule.js'
import { raise } from '../core/errors/explain.js'
import { type Aval, aval, isFloat } from '../core/graph/aval.js'
import { applyMulti, asExpr, asNode, constant, input, type Node } from '../core/graph/expr.js'
import { flatProgram } from '../core/graph/program.js'
import { rewrite } from '../core/graph/rewrite.js'
import { type Forced, NoTangent, notImplemented, type Tangent, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { type CustomFRule, type CustomParams, type CustomRRule, type customFamily, customPrimitive } from '../core/ops/custom.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import { sum } from '../core/ops/reductions.js'
import type { AnyExpr } from '../core/types/expr.js'
import { estimating, multiRule } from './define.js'

const CAPTURED =
  'the function captured an expression that is differentiated, and its rules say nothing of it: pass it as an argument, or stopGradient it'

const missing = ({ name, arity }: CustomParams, rule: 'frule' | 'rrule', neededBy: string): never =>
  raise({
    _tag: 'MissingRule',
    primitive: name,
    rule,
    arity,
    neededBy,
    fix: rule === 'frule' ? 'give it { frule: (primals, tangents) => [y, dy] }.' : 'give it { rrule: (primals) => [y, pullback] }.',
  })

/** Forced (co)tangents with their expressions replaced by what `f` makes of all of them at once. */
const throughExprs = (ts: readonly Forced[], f: (nodes: readonly Node[]) => readonly Node[]): readonly Forced[] => {
  const live = ts.flatMap((t) => (t._tag === 'Expr' ? [asNode(t)] : []))
  const made = f(live)
  let k = 0
  return ts.map((t) => (t._tag === 'Expr' ? asExpr(made[k++]!) : t))
}
/** Inputs that stand for (co)tangents, and what they stand for. */
const standIns = (ts: readonly Forced[], avals: readonly Aval[]): readonly Forced[] =>
  ts.map((t, i) => (t._tag === 'Expr' ? asExpr(input(avals[i]!)) : t))
const pairs = (from: readonly Forced[], to: readonly Forced[]): (readonly [Node, Node])[] =>
  from.flatMap((f, i) => (f._tag === 'Expr' ? [[asNode(f), asNode(to[i] as AnyExpr)] as const] : []))
/** Puts nodes in place of inputs, and does not look into what they are. */
const putting = (map: readonly (readonly [Node, Node])[]): ((nodes: readonly Node[]) => Node[]) => {
  const at = new Map(map)
  for (const [, to] of map) at.set(to, to)
  return (nodes) => rewrite(nodes, { at: (n) => at.get(n) })
}

/** Reverse mode from an frule alone: dy is linear in dx, so its pullback with respect to dx is the transpose. */
const transposed =
  ({ name, program, arity }: CustomParams, frule: CustomFRule, config: RuleConfig): CustomRRule =>
  (xs) => {
    const us = program.inputs.map((x) => input(x.aval))
    const dus = us.map((u, i) => (i < arity && isFloat(u.dtype) ? input(u.aval) : undefined))
    const { ys, dys } = frule(
      us,
      us.map((u, i) => (dus[i] !== undefined ? asExpr(dus[i]) : isFloat(u.dtype) ? ZeroTangent : NoTangent)),
    )
    const atXs = us.map((u, i) => [u, xs[i]!] as const)
    return {
      ys: putting(atXs)(ys),
      pullback: (yBars, active) => {
        const out = dys.map(unthunk).flatMap((dy, i) => (dy._tag === 'Expr' && yBars[i]!._tag === 'Expr' ? [{ dy, i }] : []))
        for (const dy of dys.map(unthunk)) if (dy._tag === 'NotImplemented') raise(dy)
        const vs = yBars.map((yBar, i) => (yBar._tag === 'Expr' ? config.standIn(yBar, program.outputs[i]!.aval) : yBar))
        const wrt = dus.flatMap((du, i) => (du !== undefined && active[i] ? [{ du, i }] : []))
        const { xBars: cotangents } = config.pullback(
          out.map((o) => o.dy),
          out.map((o) => vs[o.i]!),
          wrt.map((w) => asExpr(w.du)),
        )
        const live = cotangents.flatMap((c) => (c._tag === 'Expr' ? [asNode(c)] : []))
        const tangents = dus.filter((du) => du !== undefined)
        if (reached(live, tangents).includes(true))
          raise({
            _tag: 'NotDifferentiable',
            op: name,
            reason: 'its frule is not linear in the tangents, so reverse mode cannot transpose it; give an rrule',
          })
        // A loop of values and tangents keeps both for the way back, which reads the values alone.
        const none = tangents.map((du) => [du, broadcastNode(constant(0, du.dtype), du.shape)] as const)
        const placed = throughExprs(cotangents, putting([...atXs, ...none, ...pairs(vs, yBars)]))
        const at = new Map(wrt.map((w, k) => [w.i, placed[k]!]))
        return program.inputs.slice(0, arity).map((x, i) => (isFloat(x.dtype) ? (at.get(i) ?? ZeroTangent) : NoTangent))
      },
    }
  }

/**
 * The same function over other dtypes: its program is `program`, and its rules answer over their own dtypes as ever, and what they answer goes through `through`, which puts
 * the second of each pair in the place of the first.
 */
export const retypedParams = (
  params: CustomParams,
  program: CustomParams['program'],
  through: (nodes: readonly Node[], to: ReadonlyMap<Node, Node>) => readonly Node[],
): CustomParams => {
  const { frule, rrule, distribution, name, arity, stopped, estimates } = params
  const avals = params.program.inputs.map((x) => x.aval)
  const resultAvals = params.program.outputs.map((o) => o.aval)
  const zip = (from: readonly Node[], to: readonly Node[]): (readonly [Node, Node])[] => from.map((u, i) => [u, to[i]!] as const)
  return {
    name,
    arity,
    stopped,
    estimates,
    program,
    ...(distribution && {
      distribution: (ys, xs) => {
        const us = avals.map((a) => input(a))
        const vs = resultAvals.map((a) => input(a))
        return through(distribution(vs, us), new Map([...zip(us, xs), ...zip(vs, ys)]))
      },
    }),
    ...(frule && {
      frule: (xs, dxs) => {
        const us = avals.map((a) => input(a))
        const dus = standIns(dxs, avals)
        const { ys, dys } = frule(us, dus)
        const to = new Map([...zip(us, xs), ...pairs(dus, dxs)])
        return { ys: [...through(ys, to)], dys: throughExprs(dys.map(unthunk), (nodes) => through(nodes, to)) }
      },
    }),
    ...(rrule && {
      rrule: (xs) => {
        const us = avals.map((a) => input(a))
        const { ys, pullback } = rrule(us)
        return {
          ys: [...through(ys, new Map(zip(us, xs)))],
          pullback: (yBars, active) => {
            const vs = standIns(yBars, resultAvals)
            const to = new Map([...zip(us, xs), ...pairs(vs, yBars)])
            return throughExprs(pullback(vs, active).map(unthunk), (nodes) => through(nodes, to))
          },
        }
      },
    }),
  }
}

/** The same function over a leading axis: its program batched, and its own rules batched where they are asked for. */
const batchedParams = (params: CustomParams, batched: readonly boolean[], size: number, through: Batching): CustomParams => {
  const { program, frule, rrule, distribution, name, arity, stopped, estimates } = params
  const wide = (a: Aval): Aval => aval([size, ...a.shape], a.dtype)
  const over = (nodes: readonly Node[], map: readonly (readonly [Node, Node])[]): Node[] =>
    through(nodes.map(asExpr), new Map(map.map(([from, to]) => [asExpr(from), asExpr(to)])), size).map(asNode)
  const inputs = program.inputs.map((x, i) => (batched[i] ? input(wide(x.aval)) : x))
  const ofBatched = <X>(list: readonly X[]): X[] => list.filter((_, i) => batched[i])
  const ofOthers = <X>(list: readonly X[]): X[] => list.filter((_, i) => !batched[i])
  const zip = (from: readonly Node[], to: readonly Node[]): (readonly [Node, Node])[] => from.map((u, i) => [u, to[i]!] as const)
  const avals = program.inputs.map((x) => x.aval)
  const resultAvals = program.outputs.map((o) => o.aval)
  return {
    name,
    arity,
    stopped,
    estimates,
    program: flatProgram(name, inputs, over(program.outputs, ofBatched(zip(program.inputs, inputs)))),
    ...(distribution && {
      distribution: (ys, xs) => {
        const us = avals.map((a) => input(a))
        const vs = resultAvals.map((a) => input(a))
        const rows = over(distribution(vs, us), [...ofBatched(zip(us, xs)), ...zip(vs, ys)])
        return putting([...ofOthers(zip(us, xs)), ...xs.map((x) => [x, x] as const), ...ys.map((y) => [y, y] as const)])(rows)
      },
    }),
    ...(frule && {
      frule: (xs, dxs) => {
        const us = avals.map((a) => input(a))
        const dus = standIns(dxs, avals)
        const { ys, dys } = frule(us, dus)
        const ofTangents = (flag: boolean): (readonly [Node, Node])[] =>
          pairs(
            dus.map((d, i) => (batched[i] === flag ? d : ZeroTangent)),
            dxs,
          )
        const run = (nodes: readonly Node[]): Node[] =>
          putting([...ofOthers(zip(us, xs)), ...ofTangents(false), ...xs.map((x) => [x, x] as const), ...pairs(dxs, dxs)])(
            over(nodes, [...ofBatched(zip(us, xs)), ...ofTangents(true)]),
          )
        return { ys: run(ys), dys: throughExprs(dys.map(unthunk), run) }
      },
    }),
    ...(rrule && {
      rrule: (xs) => {
        const us = avals.map((a) => input(a))
        const { ys, pullback } = rrule(us)
        const at = ofBatched(zip(us, xs))
        const others = putting([...ofOthers(zip(us, xs)), ...xs.map((x) => [x, x] as const)])
        return {
          ys: others(over(ys, at)),
          pullback: (yBars, active) => {
            const vs = standIns(yBars, resultAvals)
            const xBars = pullback(vs, active).map(
              (t, i): Forced => (active[i] ? unthunk(t) : isFloat(avals[i]!.dtype) ? ZeroTangent : NoTangent),
            )
            const rows = throughExprs(xBars, (nodes) =>
              putting([...ofOthers(zip(us, xs)), ...xs.map((x) => [x, x] as const), ...pairs(yBars, yBars)])(
                over(nodes, [...at, ...pairs(vs, yBars)]),
              ),
            )
            // What every example shares gets the sum of their cotangents.
            return rows.map((r, i) => (r._tag === 'Expr' && !batched[i] ? sum(r, { axis: 0 }) : r))
          },
        }
      },
    }),
  }
}

/** One rule per primitive of core/ops/custom.ts. */
export const customRules: { readonly [K in keyof typeof customFamily]: Rule } = {
  customRule: estimating(
    multiRule(customPrimitive, {
      frule: (xs, dxs, params) => {
        const frule = params.frule ?? missing(params, 'frule', 'jvp (forward)')
        if (dxs.slice(params.arity).some((d, i) => d._tag === 'Expr' && !params.stopped[i]))
          raise({ _tag: 'NotImplemented', rule: params.name, reason: CAPTURED })
        const { ys, dys } = frule((xs as readonly AnyExpr[]).map(asNode), dxs)
        return [ys.map(asExpr), dys]
      },
      rrule: (xs, params, { config }) => {
        const args = (xs as readonly AnyExpr[]).map(asNode)
        const rrule = params.rrule ?? transposed(params, params.frule ?? missing(params, 'rrule', 'grad (reverse)'), config)
        const { ys, pullback } = rrule(args)
        const none = (x: Node): Tangent => (isFloat(x.dtype) ? ZeroTangent : NoTangent)
        const customPullback = (yBars: readonly Forced[], active: readonly boolean[]): readonly Tangent[] =>
          yBars.every((y) => y._tag !== 'Expr')
            ? args.map(none)
            : [
                ...pullback(yBars, active),
                ...args
                  .slice(params.arity)
                  .map((x, i) => (isFloat(x.dtype) && !params.stopped[i] ? notImplemented(params.name, CAPTURED) : none(x))),
              ]
        return [ys.map(asExpr), customPullback as never]
      },
      batch: (xs, batched, params, size, through) =>
        applyMulti(customPrimitive, (xs as readonly AnyExpr[]).map(asNode), batchedParams(params, batched, size, through)).map(asExpr),
    }),
    ({ estimates }: CustomParams) => estimates !== false,
  ),
}
