/** jet: derivatives of any order along a curve, in one pass. */
import { Series, type TaylorOf } from '../../core/calculus/taylor.js'
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { calledAs } from '../../core/errors/hints.js'
import { type OptionsFor, type OptionsOf, readOptions } from '../../core/errors/options.js'
import { type Meta, metaOf, type ReadArgs, readArgs } from '../../core/functions/function.js'
import { isFloat } from '../../core/graph/aval.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { type Forced, NoTangent, ZeroTangent } from '../../core/graph/tangent.js'
import { mul } from '../../core/ops/elementwise.js'
import type * as signatures from '../../core/types/signatures/transforms.js'
import { chosen, fromOne, spread, tangentSeeds, varied, wrtOptions } from '../arguments.js'
import { derivativeOf } from '../common.js'
import { seriesThrough } from '../transform.js'
import { type Callable, type Context, operator, resultOf, treeOf, withTangents } from './shared.js'

/** The highest order whose factorial is a number. */
const MOST = 170
export const jetOptions = { ...wrtOptions, order: fromOne(MOST) } satisfies OptionsFor<signatures.JetOptions<readonly unknown[], unknown>>
export type JetOptions = OptionsOf<typeof jetOptions>

/** The derivatives that were given, a list of trees of tangents; and how many are asked for. */
const listed = (
  given: unknown,
  order: number | undefined,
  where: string,
): { readonly list: readonly unknown[]; readonly order: number } => {
  const wrong = (reason: string, fix: string): never => badInput(where, reason, fix)
  if (!Array.isArray(given)) return wrong(`the series is ${shown(given)}.`, 'give a list: the first derivative, the second ...: [dx, ddx].')
  if (order !== undefined && given.length > order)
    return wrong(`${given.length} derivatives were given, the order is ${order}.`, 'leave the last ones out, or give a higher order.')
  if (order === undefined && (given.length === 0 || given.length > MOST))
    return wrong(`${given.length} derivatives were given.`, `give from 1 to ${MOST}, or the option order.`)
  return { list: given, order: order ?? given.length }
}
/** Reads primals as m's own arguments, then a list of tangents of those that vary. */
const readSeries =
  (m: Meta, { wrt, order }: JetOptions, name: string): NonNullable<Meta['read']> =>
  (args): ReadArgs => {
    if (args.length !== 2) badInput(name, `takes 2 arguments, got ${args.length}.`, `the point, then the series: ${calledAs('jet')}.`)
    const p = readArgs(m, spread(m, args[0]))
    const s = chosen(m, p.def, wrt, 'jet')
    return withTangents(m, p, s, listed(args[1], order, name).list, name, (items) => ({ _tag: 'Tuple', items }))
  }

/** n! */
const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1))
const scaledBy = (x: Node, c: number): Node => (c === 1 ? x : asNode(mul(asExpr(x), c)))

/** (primals, their derivatives along a curve) to [values, their derivatives along it], by the Taylor rule that `taylorOf` finds of each rule. */
export const jet =
  (c: Context, taylorOf: TaylorOf) =>
  (f: unknown, given?: JetOptions): Callable => {
    const m = metaOf(f, 'jet')
    const options = readOptions(jetOptions, given, 'jet')
    const name = `jet(${m.name})`
    return operator(c, {
      name,
      arity: 2,
      differentiates: true,
      read: readSeries(m, options, name),
      body: ([primals, derivatives]) => {
        const { list, order } = listed(derivatives, options.order, name)
        const args = spread(m, primals)
        const p = varied(m, args, options.wrt, 'jet')
        const out = resultOf(m, args)
        const seeds = list.map((d) => tangentSeeds(p, d, name))
        const known = new Map<Node, Series>()
        for (const x of p.nodes) {
          if (!isFloat(x.dtype)) continue
          const coefficients = seeds.map((s, i) => scaledBy(s.get(x)!, 1 / factorial(i + 1)))
          known.set(
            x,
            new Series(asExpr(x), (k): Forced => (coefficients[k - 1] === undefined ? ZeroTangent : asExpr(coefficients[k - 1]!))),
          )
        }
        const series = seriesThrough(c.registry, out.nodes, known, order, taylorOf)
        const derivative = (k: number): unknown =>
          treeOf(
            out.def,
            series.map((s, i) => {
              const y = out.nodes[i]!
              const d = s.at(k)
              if (!isFloat(y.dtype)) return NoTangent
              return derivativeOf(d._tag === 'Expr' ? asExpr(scaledBy(asNode(d), factorial(k))) : d, y)
            }),
          )
        return [
          treeOf(
            out.def,
            series.map((s) => asNode(s.primal)),
          ),
          Array.from({ length: order }, (_, i) => derivative(i + 1)),
        ]
      },
    })
  }
