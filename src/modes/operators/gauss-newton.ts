/** gaussNewtonProduct: the tangent pushed through f, through the loss's gradient, and pulled back through f. */
import { badInput } from '../../core/errors/explain.js'
import { calledAs } from '../../core/errors/hints.js'
import { readOptions } from '../../core/errors/options.js'
import { metaOf, readArgs } from '../../core/functions/function.js'
import { isFloat } from '../../core/graph/aval.js'
import { asExpr, input } from '../../core/graph/expr.js'
import { liftList, liftTree } from '../../core/graph/program.js'
import { rewrite } from '../../core/graph/rewrite.js'
import { NoTangent, type Tangent } from '../../core/graph/tangent.js'
import { unflatten } from '../../core/graph/tree.js'
import { activeLeaves, select, spread, tangentSeeds, type WrtOptions, wrtOptions } from '../arguments.js'
import { instantiate } from '../common.js'
import { denseCotangents } from '../reverse.js'
import { pullback, pushforward } from '../transform.js'
import { gradientOf } from './gradient.js'
import { type Callable, type Context, mixed, operator, resultOf, treeOf, withTangents } from './shared.js'

export const gaussNewtonProduct =
  (c: Context) =>
  (f: unknown, loss: unknown, given?: WrtOptions): Callable => {
    const op = 'gaussNewtonProduct'
    const m = metaOf(f, op)
    const gradient = gradientOf(c, metaOf(loss, op), {}, op)
    const { wrt } = readOptions(wrtOptions, given, op)
    const name = `${op}(${m.name})`
    return operator(c, {
      name,
      arity: 2,
      differentiates: true,
      read: (args) => {
        if (args.length !== 2) badInput(name, `takes 2 arguments, got ${args.length}.`, `the point, then a tangent of it: ${calledAs(op)}.`)
        const p = readArgs(m, spread(m, args[0]))
        const s = select(m, p.def, wrt, op)
        return withTangents(m, p, s, [args[1]], name, ([t]) => t!)
      },
      body: ([primals, tangents]) => {
        const list = spread(m, primals)
        const p = liftList(list, 'primals')
        const s = select(m, p.def, wrt, op)
        const xs = activeLeaves(p.nodes, s, op, wrt !== undefined)
        const out = resultOf(m, list)
        const seeds = tangentSeeds({ nodes: xs, def: s.def }, tangents, name)
        const { values, tangents: pushed } = pushforward(c.registry, out.nodes, seeds)
        // The loss is differentiated by inputs of its own, in place of f's results and their tangents.
        const ys = out.nodes.map((y) => input(y.aval))
        const dys = ys.map((y) => (isFloat(y.dtype) ? input(y.aval) : undefined))
        const own = gradient.body([unflatten(out.def, ys.map(asExpr))])
        const yBar = liftTree(own, 'the gradient of the loss').nodes
        const curved = pushforward(c.registry, yBar, new Map(ys.flatMap((y, i) => (dys[i] === undefined ? [] : [[y, dys[i]] as const]))))
        const to = new Map(ys.map((y, i) => [y, values[i]!]))
        dys.forEach((dy, i) => {
          if (dy !== undefined) to.set(dy, instantiate(pushed[i]!, out.nodes[i]!.aval))
        })
        const made = rewrite(
          yBar.map((y, i) => instantiate(curved.tangents[i]!, y.aval)),
          { at: (n) => to.get(n) },
        )
        let k = 0
        const bars = out.nodes.map((y): Tangent => (isFloat(y.dtype) ? asExpr(made[k++]!) : NoTangent))
        const r = pullback(c.registry, mixed(out.nodes, xs), bars, xs)
        return treeOf(s.def, denseCotangents(r, xs))
      },
    })
  }
