/** Which primitives an expression applies, in the programs among its parameters too. */
import { programsOf } from '../core/graph/expand.js'
import { linearize, type Node } from '../core/graph/expr.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import type { Program } from '../core/graph/program.js'

/** Every application, each program once: by its primitive and parameters. */
export const eachApplied = (nodes: readonly Node[], visit: (prim: AnyPrimitive, params: unknown) => void): void => {
  const seen = new Set<Program>()
  const look = (roots: readonly Node[]): void => {
    for (const { prim, payload } of linearize(roots).nodes) {
      if (prim === null) continue
      visit(prim, payload)
      for (const p of programsOf(prim, payload))
        if (!seen.has(p)) {
          seen.add(p)
          look(p.outputs)
        }
    }
  }
  look(nodes)
}
/** Is there an application of this kind? */
export const applies = (nodes: readonly Node[], is: (prim: AnyPrimitive, params: unknown) => boolean): boolean => {
  let found = false
  eachApplied(nodes, (prim, params) => {
    found ||= is(prim, params)
  })
  return found
}
/** The names of the primitives that are applied. */
export const namesApplied = (nodes: readonly Node[]): ReadonlySet<string> => {
  const names = new Set<string>()
  eachApplied(nodes, ({ name }) => names.add(name))
  return names
}
