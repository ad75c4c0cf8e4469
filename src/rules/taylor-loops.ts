/** Taylor mode of loops: a loop over the carry and its coefficients. */
import { FILLED } from '../core/calculus/hard-zeros.js'
import type { Hardness } from '../core/calculus/rule.js'
import { Series, type TaylorContext, type TaylorRule } from '../core/calculus/taylor.js'
import { isFloat } from '../core/graph/aval.js'
import { asExpr, asNode, constant, input, type Node } from '../core/graph/expr.js'
import { flatProgram } from '../core/graph/program.js'
import { range } from '../core/graph/shape.js'
import { type Forced, NoTangent, ZeroTangent } from '../core/graph/tangent.js'
import { type ScanParams, scanNodes } from '../core/ops/control.js'
import { broadcastNode } from '../core/ops/layout-move.js'
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

const scanSeries = (
  xs: readonly Series[],
  params: ScanParams,
  { config, through }: TaylorContext,
  order: number,
): readonly (readonly Forced[])[] => {
  const { program, carries, slices } = params
  const orders = range(order).map((i) => i + 1)
  const outputs = program.outputs.map(asExpr)
  const begin = program.inputs.map(
    (x, i): Moving =>
      orders.map((k) => {
        const d = xs[i]!.at(k)
        return isExpr(d) ? moved(x, d, config.hardness(d)) : undefined
      }),
  )
  /** Coefficients of a step's results, for those of its inputs. */
  const step = (inputs: readonly Moving[]): readonly Series[] => {
    for (const m of there(inputs)) config.hardened(asExpr(m.node), m.hardness)
    return through(
      outputs,
      new Map(
        program.inputs.map((x, i) => {
          const moves = inputs[i]!
          if (moves.every((m) => m === undefined)) return [asExpr(x), new Series(asExpr(x))] as const
          return [asExpr(x), new Series(asExpr(x), (k) => (moves[k - 1] === undefined ? ZeroTangent : asExpr(moves[k - 1]!.node)))] as const
        }),
      ),
    )
  }
  // Coefficients of the carry that are there after a step go round; until a step makes none but those.
  let inputs: readonly Moving[] = begin
  let ys = step(inputs)
  for (let next = around(inputs, ys); next !== undefined; next = around(inputs, ys)) {
    inputs = next
    ys = step(inputs)
  }
  function around(now: readonly Moving[], made: readonly Series[]): readonly Moving[] | undefined {
    let changed = false
    const next = now.map((list, i) =>
      i >= carries
        ? list
        : list.map((m, j) => {
            const d = made[i]!.at(j + 1)
            const hardness = isExpr(d) ? config.hardness(d) : 0
            if (!isExpr(d) || (m !== undefined && hardness <= m.hardness)) return m
            changed = true
            return moved(program.inputs[i]!, m?.given, Math.max(hardness, m?.hardness ?? FILLED) as Hardness)
          }),
    )
    return changed ? next : undefined
  }
  const part = <X>(list: readonly X[]): readonly [readonly X[], readonly X[], readonly X[]] => [
    list.slice(0, carries),
    list.slice(carries, carries + slices),
    list.slice(carries + slices),
  ]
  const moves = part(inputs).map(there) as [Moved[], Moved[], Moved[]]
  const own = part(program.inputs)
  const args = part(xs.map((x) => asNode(x.primal)))
  const after = (i: number, list: Moving): Node[] =>
    list.flatMap((m, j) => {
      const d = ys[i]!.at(j + 1)
      return m === undefined ? [] : [isExpr(d) ? asNode(d) : broadcastNode(constant(0, m.node.dtype), m.node.shape)]
    })
  const stacked = ys.slice(carries).map((y) => orders.map((k) => (y.still ? ZeroTangent : y.at(k))))
  const results = scanNodes(
    [0, 1, 2].flatMap((p) => [...args[p]!, ...moves[p]!.map(givenOr0)]),
    {
      ...params,
      program: flatProgram(
        'step',
        [0, 1, 2].flatMap((p) => [...own[p]!, ...moves[p]!.map((m) => m.node)]),
        [
          ...ys.map((y) => asNode(y.primal)).slice(0, carries),
          ...inputs.slice(0, carries).flatMap((list, i) => after(i, list)),
          ...stacked.flat().filter(isExpr).map(asNode),
        ],
      ),
      carries: carries + moves[0].length,
      slices: own[1].length + moves[1].length,
    },
  ).map(asExpr)
  let at = carries
  const series = [
    ...inputs
      .slice(0, carries)
      .map((list) => list.map((m): Forced => (m === undefined ? ZeroTangent : config.hardened(results[at++]!, m.hardness)))),
    ...stacked.map((list) => list.map((d): Forced => (isExpr(d) ? config.hardened(results[at++]!, config.hardness(d)) : d))),
  ]
  return orders.map((k) => series.map((list, i) => (isFloat(program.outputs[i]!.dtype) ? list[k - 1]! : NoTangent)))
}
