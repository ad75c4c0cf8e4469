/** jvp and linearize: tangents pushed through a function. */

import { readOptions } from '../../core/errors/options.js'
import { metaOf, readArgs } from '../../core/functions/function.js'
import { isFloat } from '../../core/graph/aval.js'
import { partition } from '../../core/graph/close.js'
import { asExpr, input, type Node } from '../../core/graph/expr.js'
import { inline, liftList, type Program } from '../../core/graph/program.js'
import { NoTangent } from '../../core/graph/tangent.js'
import type { TreeDef } from '../../core/graph/tree.js'
import { chosen, readPair, spread, tangentMeta, tangentSeeds, varied, type WrtOptions, wrtOptions } from '../arguments.js'
import { derivativeOf } from '../common.js'
import { pushforward } from '../transform.js'
import { type Callable, type Context, derived, operator, resultOf, treeOf } from './shared.js'

/** Values of f's results, and their tangents along those of some inputs: NoTangent where a result has none. */
const along = (
  { registry }: Context,
  out: { readonly nodes: readonly Node[] },
  seeds: ReadonlyMap<Node, Node>,
): { readonly values: readonly Node[]; readonly dys: readonly (Node | NoTangent)[] } => {
  const { values, tangents } = pushforward(registry, out.nodes, seeds)
  const dys = tangents.map((t, i) => {
    const y = out.nodes[i]!
    return isFloat(y.dtype) ? derivativeOf(t, y) : NoTangent
  })
  return { values, dys }
}

/** (primals, tangents of those that vary) to [values, their tangents]. */
export const jvp =
  (c: Context) =>
  (f: unknown, given?: WrtOptions): Callable => {
    const m = metaOf(f, 'jvp')
    const { wrt } = readOptions(wrtOptions, given, 'jvp')
    return operator(c, {
      name: `jvp(${m.name})`,
      arity: 2,
      differentiates: true,
      read: readPair(m, 'jvp', wrt, 'tangents'),
      body: ([primals, tangents]) => {
        const list = spread(m, primals)
        const p = varied(m, list, wrt, 'jvp')
        const out = resultOf(m, list)
        const { values, dys } = along(c, out, tangentSeeds(p, tangents, `jvp(${m.name})`))
        return [treeOf(out.def, values), treeOf(out.def, dys)]
      },
    })
  }

/** What is left of a linearized function: its tangents from those of the primals that vary and the residuals. */
interface Linear {
  /** Of the tangents, then of the residuals. */
  readonly program: Program
  readonly varied: { readonly nodes: readonly Node[]; readonly def: TreeDef }
  readonly result: TreeDef
  /** Which results have a tangent. */
  readonly floats: readonly boolean[]
}

/** f's value at a point, and its tangents there as a linear function of the tangents alone. What they need of the point is computed with the value, once. */
export const linearize = (c: Context) => (f: unknown, given?: WrtOptions) => {
  const m = metaOf(f, 'linearize')
  const { wrt } = readOptions(wrtOptions, given, 'linearize')
  const name = `linearize(${m.name})`
  return (primals: unknown): readonly [value: unknown, derivative: Callable] => {
    const list = spread(m, primals)
    const { leaves, def } = readArgs(m, list)
    let linear: Linear | undefined
    const atPoint = derived(m, 'linearize', (args) => {
      const p = varied(m, args, wrt, 'linearize')
      const dxs = new Map(p.nodes.flatMap((x) => (isFloat(x.dtype) ? [[x, input(x.aval, 'dx')] as const] : [])))
      const out = resultOf(m, args)
      const { values, dys } = along(c, out, dxs)
      const live = dys.filter((dy): dy is Node => dy._tag !== 'NoTangent')
      const { program, captured } = partition(name, live, [...dxs.values()])
      linear = { program, varied: p, result: out.def, floats: dys.map((dy) => dy._tag !== 'NoTangent') }
      return [treeOf(out.def, values), ...captured.map(asExpr)]
    })
    const [value, ...residuals] = operator(c, atPoint)(...list) as readonly unknown[]
    const s = chosen(m, def, wrt, 'linearize')
    const tangent = tangentMeta(
      name,
      s.def,
      s.at.map((i) => leaves[i]!),
    )
    const derivative = operator(c, {
      ...tangent,
      body: ([t]) => {
        const { program, varied: p, result, floats } = linear!
        const seeds = tangentSeeds(p, t, name)
        const dxs = p.nodes.flatMap((x) => (isFloat(x.dtype) ? [seeds.get(x)!] : []))
        const dys = inline(program, [...dxs, ...liftList(residuals, name).nodes])
        let k = 0
        return treeOf(
          result,
          floats.map((float) => (float ? dys[k++]! : NoTangent)),
        )
      },
    })
    return [value, derivative]
  }
}
