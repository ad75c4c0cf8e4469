/** What all operators use: the context that they are bound to, functions derived from functions, and the basis of a space. */

import type { Registry } from '../../core/calculus/rule.js'
import { callable, type Meta, type ReadArgs, type Runtime, readArgs } from '../../core/functions/function.js'
import { asExpr, type Node } from '../../core/graph/expr.js'
import { liftTree } from '../../core/graph/program.js'
import { blaming } from '../../core/graph/source-lines.js'
import { NoTangent } from '../../core/graph/tangent.js'
import { zeroTensor } from '../../core/graph/tensor.js'
import { type TreeDef, unflatten } from '../../core/graph/tree.js'
import { concatNode } from '../../core/ops/layout/join.js'
import { reshapeNode } from '../../core/ops/layout/move.js'
import type { DType } from '../../core/types/dtype.js'
import { primalsDef, type Selection, tangentMeta } from '../arguments.js'
import { regionized } from '../mixed.js'
import { batch } from '../vmap.js'

/** What an operator works with: the rules, and what runs the functions that it makes. */
export interface Context {
  readonly registry: Registry
  readonly runtime: Runtime
}
export type Callable = (...args: readonly unknown[]) => unknown

/** A function of f's arguments, whose body differentiates by them. */
export const derived = (f: Meta, op: string, body: Meta['body']): Meta => ({
  name: `${op}(${f.name})`,
  arity: f.arity,
  differentiates: true,
  body,
  ...(f.declared && { declared: f.declared }),
  ...(f.read && { read: f.read }),
  ...(f.most && { most: f.most }),
})
export const operator = ({ runtime }: Context, meta: Meta): Callable => callable(runtime, meta)

/** Primals that were read, and then a list of tangents of those that were selected, in the tree that `as` makes of theirs. */
export const withTangents = (
  f: Meta,
  primals: ReadArgs,
  s: Selection,
  tangents: readonly unknown[],
  name: string,
  as: (trees: readonly TreeDef[]) => TreeDef,
): ReadArgs => {
  const meta = tangentMeta(
    name,
    s.def,
    s.at.map((i) => primals.leaves[i]!),
  )
  const read = tangents.map((t) => readArgs(meta, [t]))
  const trees = read.map(({ def }) => (def as Extract<TreeDef, { _tag: 'Tuple' }>).items[0]!)
  return {
    leaves: [...primals.leaves, ...read.flatMap((t) => t.leaves)],
    def: { _tag: 'Tuple', items: [primalsDef(f, primals.def), as(trees)] },
  }
}

/** What f gives for these arguments, which are inputs of the caller's own, as nodes. */
export const resultOf = (f: Meta, args: readonly unknown[]): { readonly nodes: Node[]; readonly def: TreeDef } =>
  liftTree(f.body(args), `the result of ${f.name}`)

/** A tree of nodes as expressions: NoTangent at leaves without a tangent space. */
export const treeOf = (def: TreeDef, leaves: readonly (Node | NoTangent)[]): unknown =>
  unflatten(
    def,
    leaves.map((l) => (l._tag === 'NoTangent' ? NoTangent : asExpr(l))),
  )

/** `outputs` in which regions that forward mode differentiates more cheaply are maps: none of that is the user's. */
export const mixed = (outputs: readonly Node[], wrt: readonly Node[]): readonly Node[] => blaming(outputs, () => regionized(outputs, wrt))

/** Rows of the identity matrix of size n: the basis that jacobians push or pull. */
const eyeNode = (n: number, dtype: DType, from: number, to: number): Node => {
  const t = zeroTensor([to - from, n], dtype)
  for (let i = from; i < to; i++) t.data[(i - from) * n + i] = 1
  return t.node
}

/** `outs` at every row of the identity of x's size, `chunk` rows at once: [size, ...out]. */
export const overBasis = (registry: Registry, outs: readonly Node[], x: Node, chunk: number = x.aval.size): Node[] => {
  const n = x.aval.size
  const rows = (from: number, to: number): Node[] =>
    batch(registry, outs, new Map([[x, reshapeNode(eyeNode(n, x.dtype, from, to), [to - from, ...x.shape])]]), to - from)
  if (chunk >= n) return rows(0, n)
  const parts = Array.from({ length: Math.ceil(n / chunk) }, (_, i) => rows(i * chunk, Math.min(n, (i + 1) * chunk)))
  return outs.map((_, k) =>
    concatNode(
      parts.map((p) => p[k]!),
      0,
    ),
  )
}
