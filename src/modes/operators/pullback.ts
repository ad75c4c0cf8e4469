/** vjp, cotangents pulled back through a function; and hvp, tangents pushed through its gradient. */
import { readOptions } from '../../core/errors/options.js'
import { metaOf } from '../../core/functions/function.js'
import { liftList, liftTree } from '../../core/graph/program.js'
import { declaredLike } from '../../core/graph/weak.js'
import { cotangentLeaves, readPair, select, spread, tangentSeeds, varied, type WrtOptions, wrtOptions } from '../arguments.js'
import { instantiate } from '../common.js'
import { denseCotangents } from '../reverse.js'
import { pullback, pushforward } from '../transform.js'
import { gradientOf } from './gradient.js'
import { type Callable, type Context, mixed, operator, resultOf, treeOf } from './shared.js'

export const vjp =
  (c: Context) =>
  (f: unknown, given?: WrtOptions): Callable => {
    const m = metaOf(f, 'vjp')
    const { wrt } = readOptions(wrtOptions, given, 'vjp')
    return operator(c, {
      name: `vjp(${m.name})`,
      arity: 2,
      differentiates: true,
      read: readPair(m, 'vjp', wrt, 'cotangent'),
      body: ([primals, yBar]) => {
        const p = varied(m, spread(m, primals), wrt, 'vjp')
        const out = resultOf(m, spread(m, primals))
        const seeds = cotangentLeaves(out, yBar, `vjp(${m.name})`)
        const r = pullback(c.registry, mixed(out.nodes, p.nodes), seeds, p.nodes)
        return [treeOf(out.def, r.values), treeOf(p.def, denseCotangents(r, p.nodes))]
      },
    })
  }

export const hvp =
  (c: Context) =>
  (f: unknown, given?: WrtOptions): Callable => {
    const m = metaOf(f, 'hvp')
    const options = readOptions(wrtOptions, given, 'hvp')
    const gradient = gradientOf(c, m, options, 'hvp')
    return operator(c, {
      name: `hvp(${m.name})`,
      arity: 2,
      differentiates: true,
      read: readPair(m, 'hvp', options.wrt, 'tangents'),
      body: ([primals, tangents]) => {
        const list = spread(m, primals)
        const p = liftList(list, 'primals')
        const s = select(m, p.def, options.wrt, 'hvp')
        const seeds = tangentSeeds({ nodes: s.at.map((i) => p.nodes[i]!), def: s.def }, tangents, `hvp(${m.name})`)
        // The gradient's tree has wrt's structure; its tangent is the product.
        const out = liftTree(gradient.body(list), `the gradient of ${m.name}`)
        const r = pushforward(c.registry, out.nodes, seeds)
        return treeOf(
          out.def,
          r.tangents.map((t, i) => declaredLike(instantiate(t, out.nodes[i]!.aval), out.nodes[i]!)),
        )
      },
    })
  }
