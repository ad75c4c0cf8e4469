/** Rows of layout, reductions and positions. */
import { asExpr, asNode } from '../../../core/graph/expr.js'
import type { layout, positions, reduce } from '../../../core/ops/families.js'
import { type SliceParams, unsliceNode } from '../../../core/ops/layout/slice.js'
import { add } from '../../../index.js'
import type { Row, RowsOf } from '../row.js'
import type { Ref, Writer } from '../writer.js'

const shapeTo: Row<{ readonly shape: readonly number[] }> = { write: (w, [x], { shape }) => w.reshape(x!, shape) }

/** Elements from `starts`, so many at these distances, of the axes that are not whole. */
const cut = (w: Writer, x: Ref, { starts, sizes, strides }: SliceParams): Ref => {
  const axes = x.shape.flatMap((d, i) => (starts[i] === 0 && sizes[i] === d && strides[i] === 1 ? [] : [i]))
  if (axes.length === 0) return x
  // An end before the first element is one that no axis has.
  const end = (i: number): number => {
    const past = starts[i]! + sizes[i]! * strides[i]!
    return sizes[i] === 0 ? starts[i]! : past < 0 ? -(2 ** 31) : past
  }
  const of = (f: (i: number) => number): Ref => w.ints(axes.map(f))
  return w.node('Slice', [x, of((i) => starts[i]!), of(end), w.ints(axes), of((i) => strides[i]!)], {}, { shape: sizes })
}
const padRow: Row<{ readonly starts: readonly number[]; readonly shape: readonly number[]; readonly strides: readonly number[] }> = {
  write: (w, [x, fill], { starts, shape, strides }) => {
    const whole = (of: Ref) => ({ starts: of.shape.map(() => 0), sizes: of.shape, strides: of.shape.map(() => 1) })
    const from = x!.shape
    // Axes that run backwards are turned, and neighbours at a distance have the fill between them.
    let y = cut(w, x!, {
      starts: from.map((d, i) => (strides[i]! < 0 && d > 0 ? d - 1 : 0)),
      sizes: from,
      strides: strides.map((s, i) => (s < 0 && from[i]! > 0 ? -1 : 1)),
    })
    const apart = strides.map((s, i) => (from[i]! > 1 ? Math.abs(s) : 1))
    if (apart.some((s) => s > 1)) {
      const pairs = from.flatMap((d) => [d, 1])
      const wide = w.reshape(y, pairs)
      const ends = apart.flatMap((s) => [0, s - 1])
      const spread = w.node(
        'Pad',
        [wide, w.ints([...pairs.map(() => 0), ...ends]), fill],
        {},
        { shape: from.flatMap((d, i) => [d, apart[i]!]) },
      )
      const joined = w.reshape(
        spread,
        from.map((d, i) => d * apart[i]!),
      )
      y = cut(w, joined, { ...whole(joined), sizes: from.map((d, i) => (d === 0 ? 0 : (d - 1) * apart[i]! + 1)) })
    }
    const before = starts.map((b, i) => (from[i] === 0 ? 0 : b))
    const after = shape.map((d, i) => d - before[i]! - y.shape[i]!)
    if (before.every((b) => b === 0) && after.every((a) => a === 0)) return y
    return w.node('Pad', [y, w.ints([...before, ...after]), fill], {}, { shape })
  },
}

export const layoutRows: RowsOf<typeof layout> = {
  broadcastTo: { write: (w, [x], { shape }) => w.expand(x!, shape) },
  reshape: shapeTo,
  transpose: { write: (w, [x], { perm }) => w.transpose(x!, perm) },
  pad: padRow,
  slice: { write: (w, [x], params) => cut(w, x!, params) },
  sliceAdd: { as: ([acc, u], params) => add(acc!, asExpr(unsliceNode(asNode(u), acc!.shape, params))) },
  concat: { write: (w, xs, { axis }) => (xs.length === 1 ? xs[0]! : w.concat(xs, axis)) },
  split: {
    write: (w, [x], { axis, sizes }, results) =>
      w.all(
        'Split',
        [x, w.ints(sizes)],
        { axis },
        results.map(({ shape }) => ({ type: x!.type, shape })),
      ),
  },
}

/** Axes are an input: of sums from operator set 13 on, of others from 18. */
const reduced = (w: Writer, op: string, from: number, x: Ref, axes: readonly number[]): Ref => {
  const like = { shape: x.shape.filter((_, i) => !axes.includes(i)) }
  return w.opset >= from ? w.node(op, [x, w.ints(axes)], { keepdims: 0 }, like) : w.node(op, [x], { axes, keepdims: 0 }, like)
}
/** A reduction; of several axes of f32 the last by itself, so that runtimes which add up in one f32 add up less. */
export const reduction = (op: string, from: number): Row<{ readonly axes: readonly number[] }> => ({
  write: (w, [x], { axes }) => {
    if (axes.length === 0) return x!
    if (op !== 'ReduceSum' || x!.type !== 'float' || axes.length === 1) return reduced(w, op, from, x!, axes)
    const lead = axes.slice(0, -1)
    return reduced(w, op, from, reduced(w, op, from, x!, axes.slice(-1)), lead)
  },
})
const position = (op: string): Row<{ readonly axis: number }> => ({
  write: (w, [x], { axis }, [y]) => {
    const from = x!.type === 'bool' ? w.cast(x!, 'int32') : x!
    return w.cast(w.node(op, [from], { axis, keepdims: 0 }, { type: 'int64', shape: y!.shape }), 'int32')
  },
})
export const reduceRows: RowsOf<typeof reduce> = {
  sum: reduction('ReduceSum', 13),
  max: reduction('ReduceMax', 18),
  min: reduction('ReduceMin', 18),
  argmax: position('ArgMax'),
  argmin: position('ArgMin'),
}
export const positionRows: RowsOf<typeof positions> = {
  iota: {
    write: (w, _xs, { axis, shape, dtype }) => {
      const type = dtype === 'f32' ? 'float' : dtype === 'f64' ? 'double' : 'int32'
      const line = w.range(shape[axis]!, type)
      return w.expand(
        w.reshape(
          line,
          shape.map((d, i) => (i === axis ? d : 1)),
        ),
        shape,
      )
    },
  },
}
