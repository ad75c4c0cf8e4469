/** Rows of reading and writing at positions that are data. An index from behind counts so in ONNX too; one out of range is moved inside here. */
import type { indexing } from '../../../core/ops/families.js'
import type { GatherParams } from '../../../core/ops/indexing/gather.js'
import { type AnyExpr, and, cast, expandDims, isnan, lt, not, or, sum } from '../../../index.js'
import { as, type Row, type RowsOf } from '../row.js'
import type { Ref, Writer } from '../writer.js'

const size = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
const range = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i)

/** Indices from -n to n - 1. */
const clamped = (w: Writer, at: Ref, n: number): Ref => w.node('Clip', [at, w.scalar('int32', -n), w.scalar('int32', n - 1)])
/** Indices from 0 to n - 1. */
const resolved = (w: Writer, at: Ref, n: number): Ref => {
  const inside = clamped(w, at, n)
  return w.where(w.test('Less', inside, w.scalar('int32', 0)), w.each('Add', inside, w.scalar('int32', n)), inside)
}

/** An array as rows that indices name: the batch axes, the axis, then what is behind and between; and its way back. */
interface Rows {
  readonly perm: readonly number[]
  readonly back: readonly number[]
  readonly rows: readonly number[]
}
const moved = (rank: number, from: number, to: number, count = 1): readonly number[] => {
  const lead = range(rank).filter((i) => i < from || i >= from + count)
  return [...lead.slice(0, to), ...range(count).map((i) => from + i), ...lead.slice(to)]
}
const inverse = (perm: readonly number[]): readonly number[] => perm.map((_, i) => perm.indexOf(i))
const asRows = (x: readonly number[], { axis, batchDims }: GatherParams): Rows => {
  const perm = moved(x.length, axis, batchDims)
  const shape = perm.map((p) => x[p]!)
  return { perm, back: inverse(perm), rows: [size(shape.slice(0, batchDims + 1)), ...shape.slice(batchDims + 1)] }
}
/** Row numbers of all batches, as one line. */
const lines = (w: Writer, at: Ref, x: readonly number[], { axis, batchDims }: GatherParams): Ref => {
  const n = x[axis]!
  const own = resolved(w, at, n)
  const count = size(at.shape.slice(batchDims))
  if (batchDims === 0) return w.reshape(own, [count])
  const batches = size(x.slice(0, batchDims))
  const first = w.each('Mul', w.range(batches, 'int32'), w.scalar('int32', n))
  return w.reshape(w.each('Add', w.reshape(own, [batches, count]), w.reshape(first, [batches, 1])), [batches * count])
}
/** Updates: [pre, indices, post] with the batch axes in front, as a row for each index. */
const updatesAsRows = (w: Writer, u: Ref, at: Ref, { axis, batchDims }: GatherParams, rows: Rows): Ref => {
  const count = at.shape.length - batchDims
  const moves = moved(u.shape.length, axis, batchDims, count)
  return w.reshape(w.transpose(u, moves), [size(at.shape), ...rows.rows.slice(1)])
}
/** x with rows replaced or added to. */
const written =
  (how: (w: Writer, x: Ref, lines: Ref, u: Ref) => Ref): Row<GatherParams>['write'] =>
  (w, [x, at, u], params) => {
    if (size(u!.shape) === 0) return w.node('Identity', [x])
    const rows = asRows(x!.shape, params)
    const front = w.transpose(x!, rows.perm)
    const made = how(w, w.reshape(front, rows.rows), lines(w, at!, x!.shape, params), updatesAsRows(w, u!, at!, params, rows))
    return w.transpose(w.reshape(made, front.shape), rows.back)
  }
/** Element by element, in order: updates of ScatterND that go to one row may be lost where threads share them. */
const added =
  (reduction: string) =>
  (w: Writer, x: Ref, at: Ref, u: Ref): Ref => {
    const place = w.expand(w.reshape(at, [at.shape[0]!, ...x.shape.slice(1).map(() => 1)]), u.shape)
    return w.node('ScatterElements', [x, place, u], { axis: 0, reduction })
  }
/** The last update of each row counts: the largest of the numbers of those that go there. */
const replaced = (w: Writer, x: Ref, at: Ref, u: Ref): Ref => {
  const count = at.shape[0]!
  if (count === 1) return w.node('ScatterND', [x, w.cast(w.reshape(at, [1, 1]), 'int64'), u])
  const n = x.shape[0]!
  const none = w.expand(w.constant('int32', [1], [-1]), [n])
  const last = w.node('ScatterElements', [none, at, w.range(count, 'int32')], { axis: 0, reduction: 'max' })
  const isOld = w.reshape(w.test('Less', last, w.scalar('int32', 0)), [n, ...x.shape.slice(1).map(() => 1)])
  const rows = w.node('Gather', [u, w.node('Max', [last, w.scalar('int32', 0)])], { axis: 0 }, { shape: x.shape })
  return x.type === 'bool' ? w.test('Or', w.test('And', isOld, x), w.test('And', w.test('Not', isOld), rows)) : w.where(isOld, x, rows)
}

// ---- windows -----------------------------------------------------------------------------------------------------------

type Window = { readonly sizes: readonly number[]; readonly batchDims: number }
/** The first places of a window along each axis, within 0 and what it leaves. */
const starts = (w: Writer, at: Ref, x: readonly number[], { sizes, batchDims }: Window): readonly Ref[] =>
  sizes.map((n, i) => {
    const length = x[batchDims + i]!
    const picked = w.node('Gather', [at, w.constant('int32', [], [i])], { axis: batchDims }, { shape: at.shape.slice(0, -1) })
    const own = w.where(w.test('Less', picked, w.scalar('int32', 0)), w.each('Add', picked, w.scalar('int32', length)), picked)
    return w.node('Clip', [own, w.scalar('int32', 0), w.scalar('int32', length - n)])
  })
/** The places of a window's elements in x as one line: [batch, sizes]. */
const places = (w: Writer, at: Ref, x: readonly number[], p: Window): Ref => {
  const { sizes, batchDims } = p
  const lead = x.slice(0, batchDims)
  const rest = x.slice(batchDims)
  const whole = size(rest)
  const first = starts(w, at, x, p)
  const shape = [...lead, ...sizes]
  const terms = sizes.map((n, i) => {
    const stride = size(rest.slice(i + 1))
    const line = w.reshape(
      w.range(n, 'int32'),
      shape.map((_, k) => (k === batchDims + i ? n : 1)),
    )
    const from = w.reshape(first[i]!, [...lead, ...sizes.map(() => 1)])
    return w.each('Mul', w.each('Add', line, from), w.scalar('int32', stride))
  })
  if (batchDims > 0) {
    const batches = w.each('Mul', w.range(size(lead), 'int32'), w.scalar('int32', whole))
    terms.push(w.reshape(batches, [...lead, ...sizes.map(() => 1)]))
  }
  return w.expand(
    terms.reduce((a, b) => w.each('Add', a, b)),
    shape,
  )
}
const updated =
  (reduction: string): Row<Window>['write'] =>
  (w, [x, at, u], p) => {
    if (size(u!.shape) === 0) return w.node('Identity', [x])
    if (p.sizes.length === 0) return reduction === 'none' ? w.node('Identity', [u]) : w.each('Add', x!, u!)
    const line = w.reshape(x!, [size(x!.shape)])
    const at1 = w.reshape(places(w, at!, x!.shape, p), [size(u!.shape)])
    const made = w.node('ScatterElements', [line, at1, w.reshape(u!, [size(u!.shape)])], { axis: 0, reduction })
    return w.reshape(made, x!.shape)
  }

/** Is a before b, where NaN comes last? */
const before = (a: AnyExpr, b: AnyExpr): AnyExpr => or(lt(a, b), and(isnan(b), not(isnan(a))))

export const indexingRows: RowsOf<typeof indexing> = {
  gather: {
    write: (w, [x, at], params, [y]) => {
      const { axis, batchDims } = params
      if (batchDims === 0) return w.node('Gather', [x, clamped(w, at!, x!.shape[axis]!)], { axis }, { shape: y!.shape })
      const rows = asRows(x!.shape, params)
      const front = w.reshape(w.transpose(x!, rows.perm), rows.rows)
      const found = w.node(
        'Gather',
        [front, lines(w, at!, x!.shape, params)],
        { axis: 0 },
        { shape: [size(at!.shape), ...rows.rows.slice(1)] },
      )
      const shape = [...at!.shape, ...rows.rows.slice(1)]
      const count = at!.shape.length - batchDims
      return w.transpose(w.reshape(found, shape), inverse(moved(shape.length, axis, batchDims, count)))
    },
  },
  scatterAdd: { write: written(added('add')) },
  setAt: { write: written(replaced), since: 18 },
  scatterReduce: { write: (w, xs, p, ys, inside) => written(added(p.mode))!(w, xs, p, ys, inside), since: 18 },
  takeAlongAxis: {
    write: (w, [x, at], { axis }) => w.node('GatherElements', [x, clamped(w, at!, x!.shape[axis]!)], { axis }, { shape: at!.shape }),
  },
  scatterAddAlong: {
    write: (w, [x, at, u], { axis }) =>
      size(u!.shape) === 0
        ? w.node('Identity', [x])
        : w.node('ScatterElements', [x, clamped(w, at!, x!.shape[axis]!), u], { axis, reduction: 'add' }),
  },
  searchsorted: as(([sorted, values], { side, batchDims }) => {
    const apart = values!.shape.length - batchDims
    const all = range(apart).reduce<AnyExpr>((x) => expandDims(x, batchDims), sorted!)
    const one = expandDims(values!, -1)
    return sum(cast(side === 'left' ? before(all, one) : not(before(one, all)), 'i32'), { axis: -1 })
  }),
  dynamicSlice: {
    write: (w, [x, at], p, [y]) => {
      if (p.batchDims > 0) {
        const line = w.reshape(x!, [size(x!.shape)])
        return w.node('Gather', [line, places(w, at!, x!.shape, p)], { axis: 0 }, { shape: y!.shape })
      }
      return starts(w, at!, x!.shape, p).reduce((from, start, i) => {
        const n = p.sizes[i]!
        if (n === from.shape[i]) return from
        const at1 = w.each('Add', w.range(n, 'int32'), start)
        return w.node('Gather', [from, at1], { axis: i }, { shape: from.shape.map((d, k) => (k === i ? n : d)) })
      }, x!)
    },
  },
  dynamicSliceAdd: { write: updated('add') },
  dynamicUpdateSlice: { write: updated('none') },
}
