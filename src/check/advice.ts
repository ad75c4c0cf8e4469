/** What to write in the place of a product that loses a zero: advice beside a finding. */
import { literalOf } from '../core/calculus/hard-zeros.js'
import { isAdException } from '../core/errors/error.js'
import type { Node } from '../core/graph/expr.js'
import { where } from '../core/ops/elementwise.js'
import { broadcastToPrimitive, reshapePrimitive } from '../core/ops/layout/move.js'
import { type WrittenProduct, writtenProducts } from './masked.js'
import type { Derived } from './subject.js'

/** An expression as an author of a rule writes it, to a small depth; what moves is `dx` or `yBar`. */
const written = (n: Node, names: ReadonlyMap<Node, string>, depth = 2): string => {
  const known = names.get(n)
  if (known !== undefined) return known
  const literal = literalOf(n)
  if (literal !== undefined) return String(literal)
  // Which mask stands before an argument, and into which shape it is brought, is no part of the rule.
  if (n.prim === (where.primitive as unknown) && names.has(n.args[1]!)) return names.get(n.args[1]!)!
  if (n.prim === broadcastToPrimitive || n.prim === reshapePrimitive) return written(n.args[0]!, names, depth)
  if (n.prim === null || depth === 0) return '...'
  return `${n.prim.name}(${n.args.map((a) => written(a, names, depth - 1)).join(', ')})`
}

const inWords = ({ mode, factors, moves }: WrittenProduct, names: ReadonlyMap<Node, string>): string | undefined => {
  const d = mode === 'forward' ? 'dx' : 'yBar'
  const facet = mode === 'forward' ? 'frule' : 'pullback'
  const [first, second] = factors.map((f, i) => (moves[i] ? d : written(f, names)))
  if (moves[1])
    return `in the ${facet}, write mul(${second}, ${first}) for mul(${first}, ${second}): a product keeps the zeros of its first factor, which is the ${mode === 'forward' ? 'tangent' : 'cotangent'}`
  return literalOf(factors[1]) !== undefined
    ? undefined
    : `in the ${facet}, write scaleTangent(${first}, ${second}, config) for mul(${first}, ${second}): a zero of ${first} stays zero, also where ${second} is infinite`
}

/** Which product of a rule loses a zero that was put there, and what to write for it (docs/decisions/strong-zero.md); nothing where none does. `how`: how the loss was found. */
export const lostZeros = (derived: () => Derived | undefined, how: string): string => {
  try {
    const d = derived()
    if (d === undefined) return ''
    const { products, values } = writtenProducts(d)
    const names = new Map<Node, string>()
    d.inputs.forEach((x, i) => {
      names.set(x, d.inputs.length === 1 ? 'x' : `x${i}`)
    })
    for (const ys of [d.outs, values])
      ys.forEach((y, i) => {
        if (!names.has(y)) names.set(y, ys.length === 1 ? 'y' : `y${i}`)
      })
    // Of the mode that lost it first; there a (co)tangent in the wrong place first, which is the plainer mistake.
    const rank = (p: WrittenProduct): number => (how.includes(p.mode) ? 0 : 2) + (p.moves[1] ? 0 : 1)
    return (
      [...products]
        .sort((a, b) => rank(a) - rank(b))
        .map((p) => inWords(p, names))
        .find((words) => words !== undefined) ?? ''
    )
  } catch (e) {
    if (isAdException(e)) return '' // its derivatives cannot be had: that is the finding
    throw e
  }
}
