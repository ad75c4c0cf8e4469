/** Whole arrays of the parts that ranks have, inside of programs: gathered where they are first used. */
import type { Aval } from '../../core/graph/aval.js'
import { apply, type Node, reapplied } from '../../core/graph/expr.js'
import { fold } from '../../core/graph/rewrite.js'
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

/** The whole arrays of one line, by their numbers. */
const gatherLine = (
  line: readonly number[],
  parts: readonly Node[],
  wholes: readonly Aval[],
  { ranks, again }: Gathering,
): readonly Node[] => {
  const of = line.map((i) => parts[i]!)
  const params = again ? { ranks, again: 0 } : { ranks }
  const all = ranks === 1 ? concatNode(of, 0) : apply(allGatherPrimitive, [concatNode(of, 0)], params)
  const width = all.aval.size / ranks
  const table = reshapeNode(all, [ranks, width])
  let at = 0
  return line.map((i) => {
    const { shape, size } = wholes[i]!
    const k = partLength(size, ranks)
    const own = sliceAxis(table, 1, at, k)
    at += k
    return reshapeNode(sliceAxis(reshapeNode(own, [ranks * k]), 0, 0, size), shape)
  })
}

/** Inputs that stand for whole arrays while what reads them is traced, and the parts that are there of each. */
export interface StandIns {
  readonly inputs: readonly Node[]
  readonly parts: readonly Node[]
}
/**
 * Results over the parts: in place of each stand-in stands the whole, gathered just before the first node that reads it. So plans, which run things in the order in which they
 * were built, need not hold all wholes at once, and the reverse pass has done with one when it comes to the next.
 */
export const gatherLazily = (outputs: readonly Node[], { inputs, parts }: StandIns, how: Gathering): readonly Node[] => {
  const wholes = inputs.map((x) => x.aval)
  const lineOf = new Map<number, readonly number[]>()
  for (const line of linesOf(wholes)) for (const i of line) lineOf.set(i, line)
  const numberOf = new Map(inputs.map((x, i) => [x, i]))
  const made = new Map<number, Node>()
  const whole = (n: Node): Node => {
    const i = numberOf.get(n)
    if (i === undefined) return n
    if (!made.has(i)) {
      const line = lineOf.get(i)!
      for (const [k, y] of gatherLine(line, parts, wholes, how).entries()) made.set(line[k]!, y)
    }
    return made.get(i)!
  }
  return fold<Node>(outputs, { leaf: (n) => n, apply: (n, args) => reapplied(n, args.map(whole)) }).map(whole)
}
