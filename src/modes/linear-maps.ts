/** A derivative at a point as a linear map: an expression of inputs that stand for (co)tangents; and its pattern. */
import type { Pattern } from '../core/calculus/colouring.js'
import { dependence, numbered } from '../core/calculus/dependence.js'
import { IndexSets } from '../core/calculus/index-sets.js'
import type { Registry } from '../core/calculus/rule.js'
import { badInput } from '../core/errors/explain.js'
import { asExpr, input, type Node } from '../core/graph/expr.js'
import { instantiate } from './common.js'
import { pullback, pushforward } from './transform.js'

/** Results that are linear in inputs of their own; the pattern has a row for each element of the results, a column for each of the inputs. */
export interface Linear {
  readonly inputs: readonly Node[]
  readonly outputs: readonly Node[]
  readonly pattern: Pattern
}
const sizeOf = (nodes: readonly Node[]): number => nodes.reduce((n, x) => n + x.aval.size, 0)
/** More entries than this are no sparse matrix. */
const MOST = 2 ** 26

const mapOf = (inputs: readonly Node[], outputs: readonly Node[]): Linear => {
  const columns = sizeOf(inputs)
  const sets = new IndexSets(columns)
  let from = 0
  const known = new Map(
    inputs.map((x) => {
      const own = numbered(sets, from, x.aval.size)
      from += x.aval.size
      return [x, own] as const
    }),
  )
  const found = dependence(outputs, known, sets)
  const rows = sizeOf(outputs)
  const start = new Int32Array(rows + 1)
  let row = 0
  let total = 0
  outputs.forEach((y, k) => {
    for (let i = 0; i < y.aval.size; i++) {
      total += sets.count(found[k]?.[i] ?? IndexSets.empty)
      if (total > MOST) tooMany(rows, columns)
      start[++row] = total
    }
  })
  const cols = new Int32Array(total)
  row = 0
  outputs.forEach((y, k) => {
    const ids = found[k]
    for (let i = 0; i < y.aval.size; i++, row++) if (ids !== undefined) cols.set(sets.members(ids[i]!), start[row]!)
  })
  return { inputs, outputs, pattern: { rows, columns, start, cols } }
}
const tooMany = (rows: number, columns: number): never =>
  badInput(
    'sparsity',
    `more than ${MOST} of the ${rows} x ${columns} entries may be nonzero: it is not sparse, as far as its expression tells.`,
    'use products with it: jvp, vjp, hvp.',
  )

/** dx to dy. */
export const forwardLinear = (registry: Registry, outs: readonly Node[], wrt: readonly Node[]): Linear => {
  const dxs = wrt.map((x) => input(x.aval, 'dx'))
  const { tangents } = pushforward(registry, outs, new Map(wrt.map((x, i) => [x, dxs[i]!])))
  return mapOf(
    dxs,
    outs.map((y, i) => instantiate(tangents[i]!, y.aval)),
  )
}
/** yBar to xBar. */
export const reverseLinear = (registry: Registry, outs: readonly Node[], wrt: readonly Node[]): Linear => {
  const yBars = outs.map((y) => input(y.aval, 'yBar'))
  const { cotangents } = pullback(registry, outs, yBars.map(asExpr), wrt)
  return mapOf(
    yBars,
    wrt.map((x, i) => instantiate(cotangents[i]!, x.aval)),
  )
}
