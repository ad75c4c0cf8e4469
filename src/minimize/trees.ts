/** What a user's function returns, as one vector. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type AnyExpr, cast, concat, isExpr, isTensor, reshape, treeMap } from '../index.js'

/** The elements of a tree of floats, one after the other, as f64. */
export const flatResult = (y: unknown, op: string, what: string): AnyExpr => {
  const parts: AnyExpr[] = []
  const take = (leaf: unknown): void => {
    if (typeof leaf === 'number') parts.push(reshape(leaf, [1]) as AnyExpr)
    else if (isExpr(leaf) || isTensor(leaf)) {
      const x = leaf as AnyExpr
      if (x.dtype !== 'f64' && x.dtype !== 'f32') badInput(op, `${what} returned ${x.dtype}.`, 'return floats.')
      parts.push(cast(reshape(x, [-1]), 'f64') as AnyExpr)
    } else badInput(op, `${what} returned ${shown(leaf)}.`, 'return what it computes: an array, or a tree of arrays.')
  }
  if (y === undefined || y === null) take(y)
  else
    treeMap((leaf: unknown) => {
      take(leaf)
      return 0
    }, y as AnyExpr)
  if (parts.length === 0) badInput(op, `${what} returned no numbers.`, 'return an array, or a tree of arrays.')
  return parts.length === 1 ? parts[0]! : (concat(parts) as AnyExpr)
}
