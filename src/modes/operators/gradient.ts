/** grad and valueAndGrad. */

import type { Registry } from '../../core/calculus/rule.js'
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { readOptions } from '../../core/errors/options.js'
import { type Meta, metaOf } from '../../core/functions/function.js'
import { isFloat } from '../../core/graph/aval.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift } from '../../core/graph/lift.js'
import { liftList, liftTree } from '../../core/graph/program.js'
import { raiseAt } from '../../core/graph/source-lines.js'
import { type Forced, NoTangent } from '../../core/graph/tangent.js'
import { showDef, unflatten } from '../../core/graph/tree.js'
import { mul } from '../../core/ops/elementwise.js'
import { broadcastNode, reshapeNode } from '../../core/ops/layout/move.js'
import type { AnyExpr } from '../../core/types/expr.js'
import { activeLeaves, type GradOptions, gradOptions, needsArguments, select } from '../arguments.js'
import { direction, instantiate, ones } from '../common.js'
import { denseCotangents, type Reversed } from '../reverse.js'
import { pullback, pushforward } from '../transform.js'
import { type Callable, type Context, derived, mixed, operator, overBasis, treeOf } from './shared.js'

/** What a function with `aux` returned: its loss and the rest. */
const withAux = (out: unknown, op: string): readonly unknown[] =>
  Array.isArray(out) && out.length === 2
    ? out
    : badInput(
        op,
        `with aux the function returns a pair, and it returned ${shown(out)}.`,
        'return [loss, aux], or leave the option aux out.',
      )
/** What the function gives: its loss, a scalar of a float dtype, and with `aux` what else it returned. */
const lossOf = (f: Meta, args: readonly unknown[], options: GradOptions, op: string): { readonly loss: Node; readonly aux?: unknown } => {
  needsArguments(args.length, `${op}(${f.name})`)
  const out = f.body(args)
  const [lossTree, aux] = options.aux === true ? withAux(out, op) : [out, undefined]
  const { nodes, def } = liftTree(lossTree, `the result of ${f.name}`)
  const loss = nodes[0]
  if (def._tag !== 'Leaf' || loss === undefined || loss.shape.length !== 0 || !isFloat(loss.dtype))
    return raiseAt(loss, {
      _tag: 'NotScalar',
      op,
      shape: loss?.shape ?? [],
      dtype: loss?.dtype ?? 'f64',
      ...(def._tag !== 'Leaf' && { tree: showDef(def) }),
    })
  return { loss, aux }
}

/** Cotangents by forward mode: for each leaf one pushed tangent, over the rows of a basis. */
const pushedCotangents = (registry: Registry, loss: Node, seed: AnyExpr, wrt: readonly Node[]): Reversed => ({
  values: [loss],
  cotangents: wrt.map((w): Forced => {
    if (!isFloat(w.dtype)) return NoTangent
    const dx = direction(w.aval, 'dx')
    const { tangents } = pushforward(registry, [loss], new Map([[w, dx]]))
    const dy = asExpr(instantiate(tangents[0]!, loss.aval))
    return asExpr(reshapeNode(overBasis(registry, [asNode(mul(dy, seed))], dx)[0]!, w.shape))
  }),
})

/** What `given` makes of a loss, what was returned beside it, and the gradient. */
const gradients = (
  { registry }: Context,
  f: Meta,
  options: GradOptions,
  op: string,
  given: (loss: AnyExpr, aux: unknown, grad: unknown) => unknown,
  asked = op,
): Meta =>
  derived(f, op, (args) => {
    const { loss, aux } = lossOf(f, args, options, asked)
    const { nodes, def } = liftList(args, 'arguments')
    const s = select(f, def, options.wrt, op)
    const wrt = activeLeaves(nodes, s, asked, options.wrt !== undefined)
    const seed = asExpr(options.seed === undefined ? ones(loss.aval) : broadcastNode(lift(options.seed, op, loss.dtype), []))
    const besides = options.aux === true ? liftTree(aux, 'aux') : undefined
    const r =
      options.mode === 'forward'
        ? pushedCotangents(registry, loss, seed, wrt)
        : pullback(registry, options.mode === 'reverse' ? [loss] : mixed([loss], wrt), [seed], wrt)
    return given(asExpr(r.values[0]!), besides && unflatten(besides.def, besides.nodes.map(asExpr)), treeOf(s.def, denseCotangents(r, wrt)))
  })

/** The gradient of a function as a function; `asked` is what the user called. */
export const gradientOf = (c: Context, f: Meta, options: GradOptions, asked = 'grad'): Meta =>
  gradients(c, f, options, 'grad', (_, aux, grad) => (options.aux === true ? [grad, aux] : grad), asked)

export const grad =
  (c: Context) =>
  (f: unknown, given?: GradOptions): Callable =>
    operator(c, gradientOf(c, metaOf(f, 'grad'), readOptions(gradOptions, given, 'grad')))

export const valueAndGrad =
  (c: Context) =>
  (f: unknown, given?: GradOptions): Callable => {
    const m = metaOf(f, 'valueAndGrad')
    const options = readOptions(gradOptions, given, 'valueAndGrad')
    return operator(
      c,
      gradients(c, m, options, 'valueAndGrad', (value, aux, grad) => (options.aux === true ? { value, aux, grad } : { value, grad })),
    )
  }
