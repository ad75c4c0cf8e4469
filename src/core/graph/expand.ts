/** Primitives that are made of others: what stands in their place, and the programs among parameters. */

import { shown } from '../errors/check-arguments.js'
import { badInput } from '../errors/explain.js'
import type { AnyExpr } from '../types/expr.js'
import { type Aval, sameAval, showAval } from './aval.js'
import { APPLY, asExpr, asNode, isExpr, type Node, resultAvals } from './expr.js'
import { orderOf } from './order.js'
import type { AnyPrimitive } from './primitive.js'
import type { Program } from './program.js'
import { rewrite } from './rewrite.js'

const NONE: readonly Program[] = []
/** The programs among the parameters of an application. */
export const programsOf = (prim: AnyPrimitive, params: unknown): readonly Program[] => prim.programs?.(params) ?? NONE

/** A program of scalars at every index: planners make it a loop. */
export const isScalarProgram = (prim: AnyPrimitive): boolean => prim.class === 'elementwise' && prim.programs !== undefined
/** The program that such a primitive is, at every index. */
export const scalarProgramOf = (prim: AnyPrimitive, params: unknown): Program => prim.programs!(params)[0]!

/** The results of a primitive from other primitives. */
export type Expansion = (xs: readonly AnyExpr[], params: unknown) => AnyExpr | readonly AnyExpr[]

/** An expansion's results as a list. */
export const listed = (ys: AnyExpr | readonly AnyExpr[]): readonly AnyExpr[] => (Array.isArray(ys) ? ys : [ys as AnyExpr])

/** What stands in place of one application, of the avals that the primitive's shape rule promises. */
export const expanded = (n: Node, args: readonly Node[], by: Expansion = n.prim!.expand!): readonly Node[] =>
  expansionOf(n.prim!, by(args.map(asExpr), n.payload), resultAvals(n))

/** What an expansion gave, as nodes of these avals. */
export const expansionOf = (prim: AnyPrimitive, given: ReturnType<Expansion>, want: readonly Aval[]): readonly Node[] => {
  const where = `the expansion of ${prim.name}`
  const ys = listed(given).map((y) =>
    isExpr(y) ? asNode(y) : badInput(where, `it gave ${shown(y)}.`, 'give an expression, of several results a list of them.'),
  )
  if (ys.length !== want.length || ys.some((y, i) => !sameAval(y.aval, want[i]!)))
    badInput(where, `it is ${ys.map((y) => showAval(y.aval)).join(', ')}, the shape rule says ${want.map(showAval).join(', ')}.`)
  return ys
}

/** Results over the nodes that `by` expands, level by level until it expands none; more levels than this are an expansion that holds itself. */
export const expandAll = (
  outputs: readonly Node[],
  by: (n: Node) => Expansion | undefined,
  where: string,
  levels: number,
): readonly Node[] => {
  let roots = outputs
  for (let level = 0; level < levels; level++) {
    const expansions = new Map<Node, Expansion>()
    for (const n of orderOf(roots).nodes) {
      const e = n.kind === APPLY ? by(n) : undefined
      if (e !== undefined) expansions.set(n, e)
    }
    if (expansions.size === 0) return roots
    roots = rewrite(roots, {
      apply: (n, args) => {
        const e = expansions.get(n)
        return e && expanded(n, args, e)
      },
    })
  }
  return badInput(where, 'a composition applies the primitive that it stands for.', 'make it of other primitives.')
}

/** What planners see: every application that has an expansion is it, but for programs of scalars, which become loops. */
export const writtenOut = (outputs: readonly Node[]): readonly Node[] =>
  expandAll(outputs, ({ prim }) => (isScalarProgram(prim!) ? undefined : prim!.expand), 'planning', 1000)
