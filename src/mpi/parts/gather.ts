/** Whole arrays of the parts that ranks have, inside of programs. */
import type { Aval } from '../../core/graph/aval.js'
import { apply, type Node } from '../../core/graph/expr.js'
import { concatNode } from '../../core/ops/layout/join.js'
import { reshapeNode } from '../../core/ops/layout/move.js'
import { sliceAxis } from '../../core/ops/layout/slice.js'
import { allGatherPrimitive } from '../primitives.js'
import { linesOf, partLength } from './geometry.js'

/** How wholes are gathered. */
export interface Gathering {
  readonly ranks: number
  /** Once more in the reverse pass, in place of being kept for it? */
  readonly again: boolean
}

/** The whole arrays of parts; what is no part is as it is. A plan gathers each just before what reads it first. */
export const gathered = (parts: readonly Node[], wholes: readonly Aval[], { ranks, again }: Gathering): readonly Node[] => {
  const made = [...parts]
  for (const line of linesOf(wholes)) {
    const joined = concatNode(
      line.map((i) => parts[i]!),
      0,
    )
    const all = ranks === 1 ? joined : apply(allGatherPrimitive, [joined], again ? { ranks, again: 0 } : { ranks })
    const table = reshapeNode(all, [ranks, joined.aval.size])
    let at = 0
    for (const i of line) {
      const { shape, size } = wholes[i]!
      const k = partLength(size, ranks)
      made[i] = reshapeNode(sliceAxis(reshapeNode(sliceAxis(table, 1, at, k), [ranks * k]), 0, 0, size), shape)
      at += k
    }
  }
  return made
}
