/** What a user's function returns, as one vector. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput, raise } from '../core/errors/explain.js'
import { type AdException, type AnyExpr, cast, concat, isExpr, isTensor, reshape, treeMap } from '../index.js'

/** Runs what walks a tree; its refusals are of this place. */
const under = (where: string, walk: () => unknown): void => {
  try {
    walk()
  } catch (e) {
    const { error } = e as Partial<AdException>
    if (error?._tag === 'BadInput' && /^treeMap\b/.test(error.where)) raise({ ...error, where: error.where.replace('treeMap', where) })
    throw e
  }
}
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
  if (typeof (y as { readonly then?: unknown } | null | undefined)?.then === 'function')
    badInput(op, `${what} returned a Promise; a traced function must be synchronous.`, 'await outside, and capture the value.')
  // Leaves of a tree may be null or text; the whole may not.
  if (typeof y !== 'object' || y === null) take(y)
  else
    under(`${op}: ${what} returned`, () =>
      treeMap((leaf: unknown) => {
        if (leaf !== null && typeof leaf !== 'string') take(leaf)
        return 0
      }, y as AnyExpr),
    )
  if (parts.length === 0) badInput(op, `${what} returned no numbers.`, 'return an array, or a tree of arrays.')
  return parts.length === 1 ? parts[0]! : (concat(parts) as AnyExpr)
}
