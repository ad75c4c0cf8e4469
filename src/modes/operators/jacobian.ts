/** jacfwd, jacrev and hessian: rows of basis vectors pushed or pulled at once; blocks [...out, ...in] for each pair of leaves. */

import type { Registry } from '../../core/calculus/rule.js'
import { readOptions } from '../../core/errors/options.js'
import { type Meta, metaOf } from '../../core/functions/function.js'
import { isFloat } from '../../core/graph/aval.js'
import { asExpr, type Node } from '../../core/graph/expr.js'
import { liftList } from '../../core/graph/program.js'
import { NoTangent } from '../../core/graph/tangent.js'
import { unflatten } from '../../core/graph/tree.js'
import { declaredLike } from '../../core/graph/weak.js'
import { reshapeNode, transposeNode } from '../../core/ops/layout/move.js'
import { activeLeaves, type JacOptions, jacOptions, select } from '../arguments.js'
import { direction, instantiate } from '../common.js'
import { denseCotangents } from '../reverse.js'
import { pullback, pushforward } from '../transform.js'
import { gradientOf } from './gradient.js'
import { type Callable, type Context, derived, mixed, operator, overBasis, resultOf, treeOf } from './shared.js'

/** For each output a row of blocks, one for each leaf of wrt. */
type Blocks = (
  registry: Registry,
  outs: readonly Node[],
  wrt: readonly Node[],
  chunk?: number,
) => readonly (readonly (Node | NoTangent)[])[]

const forwardBlocks: Blocks = (registry, outs, wrt, chunk) => {
  const columns = wrt.map((w) => {
    if (!isFloat(w.dtype)) return outs.map(() => NoTangent)
    const n = w.aval.size
    const dx = direction(w.aval, 'dx')
    const { tangents } = pushforward(registry, outs, new Map([[w, dx]]))
    const dys = outs.map((o, i) => (isFloat(o.dtype) ? instantiate(tangents[i]!, o.aval) : undefined))
    const live = dys.filter((d): d is Node => d !== undefined)
    const ys = overBasis(registry, live, dx, chunk)
    let k = 0
    return dys.map((d, i) => {
      if (d === undefined) return NoTangent
      const o = outs[i]!
      return declaredLike(reshapeNode(transposeNode(reshapeNode(ys[k++]!, [n, o.aval.size]), [1, 0]), [...o.shape, ...w.shape]), w)
    })
  })
  return outs.map((_, i) => columns.map((c) => c[i]!))
}

const reverseBlocks: Blocks = (registry, outs, wrt, chunk) =>
  outs.map((o) => {
    if (!isFloat(o.dtype)) return wrt.map(() => NoTangent)
    const yBar = direction(o.aval, 'yBar')
    const r = denseCotangents(pullback(registry, mixed([o], wrt), [asExpr(yBar)], wrt), wrt)
    const live = r.filter((x): x is Node => x._tag !== 'NoTangent')
    const ys = overBasis(registry, live, yBar, chunk)
    let k = 0
    return r.map((x, i) => (x._tag === 'NoTangent' ? NoTangent : reshapeNode(ys[k++]!, [...o.shape, ...wrt[i]!.shape])))
  })

const jacobian = (c: Context, blocksOf: Blocks, m: Meta, { wrt: path, chunk }: JacOptions, op: string): Callable =>
  operator(
    c,
    derived(m, op, (args) => {
      const { nodes, def } = liftList(args, 'arguments')
      const s = select(m, def, path, op)
      const wrt = activeLeaves(nodes, s, op, path !== undefined)
      const out = resultOf(m, args)
      const blocks = blocksOf(c.registry, out.nodes, wrt, chunk)
      return unflatten(
        out.def,
        blocks.map((row) => treeOf(s.def, row)),
      )
    }),
  )

export const jacfwd =
  (c: Context) =>
  (f: unknown, given?: JacOptions): Callable =>
    jacobian(c, forwardBlocks, metaOf(f, 'jacfwd'), readOptions(jacOptions, given, 'jacfwd'), 'jacfwd')
export const jacrev =
  (c: Context) =>
  (f: unknown, given?: JacOptions): Callable =>
    jacobian(c, reverseBlocks, metaOf(f, 'jacrev'), readOptions(jacOptions, given, 'jacrev'), 'jacrev')
export const hessian =
  (c: Context) =>
  (f: unknown, given?: JacOptions): Callable => {
    const options = readOptions(jacOptions, given, 'hessian')
    return jacobian(c, forwardBlocks, gradientOf(c, metaOf(f, 'hessian'), { wrt: options.wrt }, 'hessian'), options, 'hessian')
  }
