// Adam (Kingma and Ba 2015) as a pure function of trees: parameters, gradient and moments share one structure.
import { type AnyExpr, add, div, mul, sqrt, square, sub } from '../../src/index.js'

/** Layers of named arrays, to any depth. */
export type Tree<L> = L | { readonly [key: string]: Tree<L> }

const isLeaf = <L>(x: Tree<L>): x is L => typeof x !== 'object' || x === null || '_tag' in x || ArrayBuffer.isView(x)

/** f at every leaf of trees of one structure. */
export const mapTrees = <L, R>(f: (...leaves: L[]) => R, first: Tree<L>, ...rest: readonly Tree<L>[]): Tree<R> => {
  if (isLeaf(first)) return f(first, ...(rest as L[]))
  return Object.fromEntries(
    Object.entries(first).map(([key, x]) => [key, mapTrees(f, x, ...rest.map((r) => (r as { [key: string]: Tree<L> })[key]!))]),
  )
}

/** The leaves of a tree, in order of its keys. */
export const leavesOf = <L>(tree: Tree<L>): readonly L[] => (isLeaf(tree) ? [tree] : Object.values(tree).flatMap((x) => leavesOf(x)))

/** What Adam keeps of the gradients: their running mean and the running mean of their squares. */
export interface Adam<P> {
  readonly params: P
  readonly m: P
  readonly v: P
}

/**
 * One step: m' = 0.9 m + 0.1 g, v' = 0.999 v + 0.001 g^2, p' = p - rate m' / (sqrt(v') + 1e-8).
 * The corrections of the first steps' bias are in `rate` (see `rateAt`).
 */
export const adam = <P>(state: Adam<P>, gradient: unknown, rate: AnyExpr): Adam<P> => {
  // mapTrees keeps the structure of its first tree, so the types of `state` hold for the result.
  const { params, m, v } = state as Adam<Tree<AnyExpr>>
  const g = gradient as Tree<AnyExpr>
  const m1 = mapTrees((mi: AnyExpr, gi: AnyExpr) => add(mul(0.9, mi), mul(0.1, gi)), m, g)
  const v1 = mapTrees((vi: AnyExpr, gi: AnyExpr) => add(mul(0.999, vi), mul(0.001, square(gi))), v, g)
  const p1 = mapTrees((p: AnyExpr, mi: AnyExpr, vi: AnyExpr) => sub(p, div(mul(rate, mi), add(sqrt(vi), 1e-8))), params, m1, v1)
  return { params: p1, m: m1, v: v1 } as Adam<P>
}

/** The rate of step t = 1, 2, ... of n: corrected for the moments' bias, and falling to 0 as a half cosine. */
export const rateAt = (t: number, n: number, rate: number): number =>
  (rate * 0.5 * (1 + Math.cos((Math.PI * (t - 1)) / n)) * Math.sqrt(1 - 0.999 ** t)) / (1 - 0.9 ** t)
