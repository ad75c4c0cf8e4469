/** Rows of running folds and orders. */
import { asExpr, asNode } from '../../../core/graph/expr.js'
import type { scans } from '../../../core/ops/families.js'
import { sliceAxis } from '../../../core/ops/layout/slice.js'
import { type AnyExpr, add, concat, full, maximum, minimum, moveaxis, mul, ones, scan, zeros } from '../../../index.js'
import { as, type RowsOf } from '../row.js'
import { reduction } from './layout.js'

type Along = { readonly axis: number; readonly reverse: boolean }
/** A loop over the elements of an axis: of the state and the elements at a place to the next state, which stands there. */
const along = (
  xs: readonly AnyExpr[],
  { axis, reverse }: Along,
  init: AnyExpr,
  next: (state: AnyExpr, at: readonly AnyExpr[]) => AnyExpr,
  exclusive = false,
): AnyExpr => {
  const [x] = xs as readonly [AnyExpr]
  if (x.shape.includes(0)) return x
  const front = xs.map((y) => moveaxis(y, axis, 0))
  const step = (state: AnyExpr, at: readonly AnyExpr[]): readonly [AnyExpr, AnyExpr] => {
    const made = next(state, at)
    return [made, exclusive ? state : made]
  }
  const [, ys] = (scan as unknown as (f: typeof step, init: AnyExpr, xs: readonly AnyExpr[], o: object) => readonly [AnyExpr, AnyExpr])(
    step,
    init,
    front,
    { reverse },
  )
  return moveaxis(ys, 0, axis)
}
const without = (x: AnyExpr, axis: number): readonly number[] => x.shape.filter((_, i) => i !== axis)
const extreme = (f: (a: AnyExpr, b: AnyExpr) => AnyExpr, none: (dtype: string) => number) =>
  as<Along>(([x], p) => along([x!], p, full(without(x!, p.axis) as number[], none(x!.dtype), x!.dtype), (s, [y]) => f(s, y!)))

export const scanRows: RowsOf<typeof scans> = {
  cumsum: {
    write: (w, [x], { axis, reverse, exclusive }) =>
      w.node('CumSum', [x, w.constant('int64', [], [axis])], { reverse: Number(reverse), exclusive: Number(exclusive) }),
  },
  cumprod: as(([x], p) => along([x!], p, ones(without(x!, p.axis) as number[], x!.dtype), (s, [y]) => mul(s, y!), p.exclusive)),
  cummax: extreme(maximum, (d) => (d === 'i32' ? -(2 ** 31) : Number.NEGATIVE_INFINITY)),
  cummin: extreme(minimum, (d) => (d === 'i32' ? 2 ** 31 - 1 : Number.POSITIVE_INFINITY)),
  linearRecurrence: as(([a, b], p) => {
    if (a!.shape.includes(0)) return b!
    // The first factor has nothing to multiply, whatever it is.
    const n = a!.shape[p.axis]!
    const row = zeros(a!.shape.map((d, i) => (i === p.axis ? 1 : d)) as number[], a!.dtype)
    const part = (from: number): AnyExpr => asExpr(sliceAxis(asNode(a!), p.axis, from, n - 1))
    const factors = n === 1 ? row : p.reverse ? concat([part(0), row], { axis: p.axis }) : concat([row, part(1)], { axis: p.axis })
    return along([factors, b!], p, zeros(without(a!, p.axis) as number[], a!.dtype), (s, [f, y]) => add(mul(f!, s), y!))
  }),
  prod: reduction('ReduceProd', 18),
  sort: {
    write: (w, [x], { axis, descending, places }, [values]) => {
      const n = x!.shape[axis]!
      const [from, to] = [places?.[0] ?? 0, places?.[1] ?? n]
      const shape = x!.shape.map((d, i) => (i === axis ? to : d))
      const found = w.all('TopK', [x, w.ints([to])], { axis, largest: Number(descending), sorted: 1 }, [
        { type: x!.type, shape },
        { type: 'int64', shape },
      ])
      const kept = found.map((y) =>
        from === 0 ? y : w.node('Slice', [y, w.ints([from]), w.ints([to]), w.ints([axis])], {}, { shape: values!.shape }),
      )
      return [kept[0]!, w.cast(kept[1]!, 'int32')]
    },
  },
}
