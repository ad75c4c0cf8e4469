/** What layers share whose arrays are [n, c, ...positions]: which positions there are, how many are asked for, and elements along their axes. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { table } from '../../core/ops/arrays.js'
import type { AnyExpr } from '../../core/types/expr.js'
import { gather } from '../../families/indexing.js'

/** Positions behind batch and channels, at least one along each axis. */
export const positionsOf = (x: AnyExpr, op: string): readonly number[] => {
  if (x.shape.length < 3 || x.shape.length > 5)
    badShape(op, [x.shape], `x is ${showShape(x.shape)}.`, 'give x as [n, c, w], [n, c, h, w] or [n, c, d, h, w].')
  const positions = x.shape.slice(2)
  if (positions.some((d) => d === 0)) badShape(op, [x.shape], `x ${showShape(x.shape)} has no positions.`)
  return positions
}
/** One length for each axis of positions: a number for all, or a list. */
export const sizesOf = (given: unknown, axes: number, op: string): readonly number[] => {
  const list: readonly unknown[] = Array.isArray(given) ? given : new Array<unknown>(axes).fill(given)
  if (list.length !== axes || !list.every((n) => Number.isSafeInteger(n) && (n as number) >= 1 && (n as number) <= 2 ** 24)) {
    const call = op === 'fold' ? '' : `: ${op}(x, ${axes === 1 ? '4' : `[${new Array(axes).fill(4).join(', ')}]`})`
    const reason = `the size is ${Array.isArray(given) ? `[${given.map(shown).join(', ')}]` : shown(given)}.`
    badInput(op, reason, `give a positive integer, or ${axes} of them${call}; batch and channels stay.`)
  }
  return list as readonly number[]
}
/** What is made of x along each axis of positions: `make` has the axis, its old and new length and how many axes are behind. */
export const overPositions = (
  x: AnyExpr,
  size: unknown,
  op: string,
  make: (y: AnyExpr, axis: number, n: number, m: number, behind: readonly number[]) => AnyExpr,
): AnyExpr => {
  const positions = positionsOf(x, op)
  return sizesOf(size, positions.length, op).reduce(
    (y: AnyExpr, m, i) => make(y, i + 2, positions[i]!, m, new Array<number>(positions.length - i - 1).fill(1)),
    x,
  )
}
/** Elements of x along an axis, which becomes the axes of `shape`. */
export const taken = (x: AnyExpr, axis: number, list: readonly number[], shape: readonly number[]): AnyExpr =>
  gather(x, table(list, shape, 'i32'), { axis })
