/** Taylor mode of loops: a loop over the carry and its coefficients. */
import { FILLED, GUARDED } from '../core/calculus/hard-zeros.js'
import type { Hardness } from '../core/calculus/rule.js'
import { Series, type TaylorContext, type TaylorRule } from '../core/calculus/taylor.js'
import { isFloat } from '../core/graph/aval.js'
import { asExpr, asExprs, asNode, constant, input, type Node } from '../core/graph/expr.js'
import { flatProgram } from '../core/graph/program.js'
import { range } from '../core/graph/shape.js'
import { type Forced, NoTangent, ZeroTangent } from '../core/graph/tangent.js'
import { type ScanParams, scanNodes } from '../core/ops/control/control.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import type { AnyExpr } from '../core/types/expr.js'

/** A loop is built for the highest order that was asked for; all lower ones are in it. */
export const taylorOfScan: TaylorRule = (xs, _ys, params, context) => {
  let made: readonly (readonly Forced[])[] = []
  return (k) => {
    if (k > made.length) made = scanSeries(xs, params, context, k)
    return made[k - 1]!
  }
}

/** The coefficients of one input of the step: an input of its own for each that is there. */
type Moving = readonly (Moved | undefined)[]
interface Moved {
  readonly node: Node
  /** What a loop begins with, or is given. */
  readonly given: AnyExpr | undefined
  readonly hardness: Hardness
}
const moved = (of: Node, given: AnyExpr | undefined, hardness: Hardness): Moved => ({ node: input(of.aval), given, hardness })
const givenOr0 = ({ node, given }: Moved): Node =>
  given === undefined ? broadcastNode(constant(0, node.dtype), node.shape) : asNode(given)
const isExpr = (t: Forced): t is AnyExpr => t._tag === 'Expr'
const there = (lists: readonly Moving[]): Moved[] => lists.flatMap((list) => list.filter((m) => m !== undefined))

/** A step with the coefficients that go round: those of its inputs, and the series of its results. */
interface Step {
  readonly inputs: readonly Moving[]
  readonly ys: readonly Series[]
}
const stepAlong = (inputs: readonly Moving[], { program }: ScanParams, { config, through }: TaylorContext): Step => {
  for (const m of there(inputs)) config.hardened(asExpr(m.node), m.hardness)
  const known = program.inputs.map((n, i) => {
    const [x, moves] = [asExpr(n), inputs[i]!]
    if (moves.every((m) => m === undefined)) return [x, new Series(x)] as const
    return [x, new Series(x, (k) => (moves[k - 1] === undefined ? ZeroTangent : asExpr(moves[k - 1]!.node)))] as const
  })
  return { inputs, ys: through(asExprs(program.outputs), new Map(known)) }
}
/** The inputs with those coefficients of the carry that are there, or may hold harder zeros, after a step alone; undefined where none is new. */
const around = ({ inputs, ys }: Step, { program, carries }: ScanParams, { config }: TaylorContext): readonly Moving[] | undefined => {
  let changed = false
  const next = inputs.map((list, i) =>
    i >= carries
      ? list
      : list.map((m, j) => {
          const d = ys[i]!.at(j + 1)
          const hardness = isExpr(d) ? config.hardness(d) : 0
          if (!isExpr(d) || (m !== undefined && hardness <= m.hardness)) return m
          changed = true
          return moved(program.inputs[i]!, m?.given, Math.max(hardness, m?.hardness ?? FILLED) as Hardness)
        }),
  )
  return changed ? next : undefined
}
const scanSeries = (xs: readonly Series[], params: ScanParams, context: TaylorContext, order: number): readonly (readonly Forced[])[] => {
  const { config } = context
  const orders = range(order).map((i) => i + 1)
  const begin = params.program.inputs.map(
    (x, i): Moving =>
      orders.map((k) => {
        const d = xs[i]!.at(k)
        return isExpr(d) ? moved(x, d, config.hardness(d)) : undefined
      }),
  )
  let step = stepAlong(begin, params, context)
  for (let next = around(step, params, context); next !== undefined; next = around(step, params, context))
    step = stepAlong(next, params, context)
  const { results, stacked } = looped(
    step,
    xs.map((x) => asNode(x.primal)),
    params,
    orders,
  )
  const { carries, program, until } = params
  let at = carries
  const series = [
    ...step.inputs
      .slice(0, carries)
      .map((list) => list.map((m): Forced => (m === undefined ? ZeroTangent : config.hardened(results[at++]!, m.hardness)))),
    ...stacked.map((list) =>
      list.map((d): Forced => (isExpr(d) ? config.hardened(results[at++]!, until === undefined ? config.hardness(d) : GUARDED) : d)),
    ),
  ]
  return orders.map((k) => series.map((list, i) => (isFloat(program.outputs[i]!.dtype) ? list[k - 1]! : NoTangent)))
}
/** The loop over the carry and its coefficients: its results, and the coefficients of a step's rows. */
const looped = (
  { inputs, ys }: Step,
  args: readonly Node[],
  params: ScanParams,
  orders: readonly number[],
): { readonly results: readonly AnyExpr[]; readonly stacked: readonly (readonly Forced[])[] } => {
  const { program, carries, slices } = params
  const part = <X>(list: readonly X[]): readonly (readonly X[])[] => [
    list.slice(0, carries),
    list.slice(carries, carries + slices),
    list.slice(carries + slices),
  ]
  const [own, given, moves] = [part(program.inputs), part(args), part(inputs).map(there)]
  const after = (i: number, list: Moving): Node[] =>
    list.flatMap((m, j) => {
      const d = ys[i]!.at(j + 1)
      return m === undefined ? [] : [isExpr(d) ? asNode(d) : broadcastNode(constant(0, m.node.dtype), m.node.shape)]
    })
  const stacked = ys.slice(carries).map((y) => orders.map((k) => y.at(k)))
  const body = flatProgram(
    'step',
    own.flatMap((list, p) => [...list, ...moves[p]!.map((m) => m.node)]),
    [
      ...ys.slice(0, carries).map((y) => asNode(y.primal)),
      ...inputs.slice(0, carries).flatMap((list, i) => after(i, list)),
      ...stacked.flat().filter(isExpr).map(asNode),
    ],
  )
  const all = given.flatMap((list, p) => [...list, ...moves[p]!.map(givenOr0)])
  const { until } = params
  const results = scanNodes(all, {
    ...params,
    ...(until !== undefined && { until: body.inputs.indexOf(program.inputs[until]!) }),
    program: body,
    carries: carries + moves[0]!.length,
    slices: slices + moves[1]!.length,
  })
  return { results: results.map(asExpr), stacked }
}
