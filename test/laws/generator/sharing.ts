/** Builders of sharing: a value read again where a plan would like to overwrite it; deep sharing; chains; wide DAGs. */
import { type Draw, dtypeOf, isFloatValue, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import type { Builder, Row } from './elementwise.js'
import { apart, like, positions, sameShape, tame, within } from './guards.js'

const vector = (d: Draw, rank = 1): Value =>
  d.float(
    (v) => rankOf(v) >= rank && v.array.data.length > 0,
    () => d.shape(d.between(rank, 3)),
  )
const SMOOTH = ['tanh', 'sin', 'cos', 'sigmoid', 'atan', 'asinh', 'erf'] as const

/** x + g(x), where g moves, sorts, reduces or multiplies x: an accumulator that its own kernel reads. */
const besideItself: Builder = (d) => {
  const x = d.chance(0.6) ? d.op(d.of(SMOOTH), ref(vector(d))) : vector(d)
  const n = shapeOf(x)[0]!
  const last = shapeOf(x)[rankOf(x) - 1]!
  const g = d.of<() => Value>([
    () => d.op('gather', ref(x), positions(d, n, [n])),
    () => d.op('flip', ref(x)),
    () => d.op('roll', ref(x), 1),
    () => d.op('cumsum', ref(x), { axis: 0 }),
    () => d.op('sum', ref(x), { axis: 0, keepdims: true }),
    () => d.op('softmax', ref(x)),
    () => {
      apart(d, x, [rankOf(x) - 1])
      return d.op('sort', ref(x))
    },
    () => d.op('matmul', ref(x), ref(d.op('tanh', ref(like(d, [last, last]))))),
    () => d.op('setAt', ref(x), positions(d, n, []), ref(d.op('sum', ref(x), { axis: 0 }))),
    () => d.op('scatterAdd', ref(x), positions(d, n, [2]), ref(d.op('gather', ref(x), positions(d, n, [2])))),
    () => (rankOf(x) === 2 && n === last ? d.op('transpose', ref(x)) : d.op('slice', ref(x), [0], [n])),
    () => d.op('where', ref(d.op('gt', ref(d.op('stopGradient', ref(apartFrom(x, 0.2)))), 0.2)), ref(x), ref(d.op('flip', ref(x)))),
  ])()
  if (!sameShape(shapeOf(g), shapeOf(x)) && rankOf(g) !== rankOf(x)) redraw('shape')
  const y = d.op(d.of(['add', 'add', 'sub', 'mul']), ref(tame(d, x)), ref(tame(d, g)))
  if (d.chance(0.5)) d.op(d.of(SMOOTH), ref(y))
}
const apartFrom = (x: Value, at: number): Value => {
  for (const v of x.array.data) if (Math.abs(v - at) < 5e-3) redraw('close')
  return x
}
/** setAt(y, i, y): the same value as target and as what is written. */
const intoItself: Builder = (d) => {
  const y = d.op('tanh', ref(vector(d)))
  const n = shapeOf(y)[0]!
  const op = d.of(['setAt', 'scatterAdd'])
  d.op(op, ref(y), positions(d, n, [n]), ref(y))
}
/** z = z z, z = z + sin z ...: each value read twice. */
const doubling: Builder = (d) => {
  let z = d.op('tanh', ref(d.float()))
  const n = d.between(2, 12)
  const op = d.of(['mul', 'add', 'mix'])
  for (let i = 0; i < n; i++) {
    const o = op === 'mix' ? d.of(['mul', 'add', 'sub']) : op
    z = d.op(o, ref(z), ref(d.chance(0.7) ? z : d.op('sin', ref(z))))
    if (o === 'add') z = d.op('mul', ref(z), 0.5)
  }
}
/** A long chain with values that are read again far away. */
const chain =
  (low: number, high: number): Builder =>
  (d) => {
    const x = d.float((v) => v.array.data.length <= 20)
    const shared = d.op('sin', ref(x))
    let z: Value = x
    const n = d.between(low, high)
    const every = d.of([7, 20, 50, 1000])
    for (let i = 0; i < n; i++) {
      z = d.op(d.of(['tanh', 'sin', 'tanh', 'atan']), ref(z))
      if (i % every === every - 1) z = d.op(d.of(['add', 'mul']), ref(z), ref(shared))
    }
    d.op('add', ref(z), ref(shared))
  }
/** A part of what was joined, read again; what is read later in a part of a join. */
const joinedAndRead: Builder = (d) => {
  const a = d.op(d.of(SMOOTH), ref(vector(d)))
  const axis = d.int(rankOf(a))
  const b = d.chance(0.3) ? a : d.op(d.of(SMOOTH), ref(d.chance(0.5) ? a : like(d, shapeOf(a))))
  const join = d.chance(0.5) ? d.op('concat', [ref(a), ref(b)], { axis }) : d.op('stack', [ref(a), ref(b)], { axis })
  const other = like(d, shapeOf(join))
  const z = d.op(d.of(['add', 'mul']), ref(join), ref(tame(d, other)))
  const again = d.of([a, b])
  if (rankOf(again) > 1 && d.chance(0.5)) {
    const k = shapeOf(again)[rankOf(again) - 2]!
    const w = tame(d, like(d, [d.between(1, 4), k]))
    d.op('matmul', ref(w), ref(again))
  } else d.op('mul', ref(again), ref(d.op('mean', ref(z))))
}
/** Slices that are worked on and put together again. */
const cutAndJoined: Builder = (d) => {
  const x = vector(d)
  const axis = d.int(rankOf(x))
  const n = shapeOf(x)[axis]!
  const cut = d.int(n + 1)
  const parts = d.emit('split', [ref(x), [cut, n - cut], { axis }])
  const worked = parts.map((p) => (d.chance(0.6) ? d.op(d.of(SMOOTH), ref(p)) : p))
  const order = d.chance(0.5) ? worked : [...worked].reverse()
  d.op('concat', order.map(ref), { axis })
  const k = d.int(2)
  if (d.chance(0.3)) d.op('mul', ref(worked[k]!), ref(parts[k]!))
}
/** The same literal in several dtypes and shapes. */
const literals: Builder = (d) => {
  const v = d.of([0, 1, -1, 0.5])
  const x = d.float()
  const y = d.op('add', ref(x), v)
  const z = d.op('mul', ref(tame(d, y)), v === 0 ? 1 : v)
  if (d.chance(0.5)) d.op('add', ref(z), ref(d.op('full', shapeOf(z), v, dtypeOf(z))))
  if (d.chance(0.5) && Number.isInteger(v)) d.op('add', ref(d.op('full', [2], v, 'i32')), v)
}

export const sharingRows: readonly Row[] = [
  { name: 'beside itself', weight: 2, build: besideItself },
  { name: 'into itself', weight: 0.5, build: intoItself },
  { name: 'doubling', weight: 0.8, build: doubling },
  { name: 'chain', weight: 0.3, build: chain(10, 30) },
  { name: 'joined and read', weight: 1.2, build: joinedAndRead },
  { name: 'cut and joined', weight: 0.8, build: cutAndJoined },
  { name: 'literals', weight: 0.5, build: literals },
]
export const longChain: Row = { name: 'long chain', weight: 1, build: chain(200, 300) }

/** A wide elementwise DAG over up to 60 buffers of one or two shapes: sums in random order, with shared parts, folds, and what is done to them. */
export const wideDag: Builder = (d) => {
  const n = d.of([3, 6, 12, 20, 31, 32, 33, 34, 40, 50, 60])
  const shape = d.of([[5], [3], [2, 3], [7]])
  const other = d.chance(0.4) ? d.of([[], [1], shape.slice(-1)]) : shape
  const xs = Array.from({ length: n }, () => d.input(d.chance(0.75) ? shape : other, d.dtype, [-1, 1]))
  const live: Value[] = [...xs]
  const shared: Value[] = []
  const take = (): Value => live.splice(d.int(live.length), 1)[0]!
  while (live.length > 1) {
    const a = take()
    const r = d.next()
    if (r < 0.3) {
      const y = d.op(d.of(['tanh', 'sin', 'sigmoid', 'neg']), ref(a))
      if (d.chance(0.3)) shared.push(y)
      live.push(y)
      if (d.chance(0.5)) continue
    } else live.push(a)
    const x = take()
    const b = live.length > 0 && d.chance(0.75) ? take() : shared.length > 0 ? d.of(shared) : d.of(xs)
    let y = d.op(d.of(['add', 'add', 'add', 'sub', 'mul']), ref(within(d, x, [-30, 30])), ref(within(d, b, [-6, 6])))
    if (d.chance(0.06) && rankOf(y) > 0) y = d.op('add', ref(y), ref(d.op(d.of(['sum', 'mean']), ref(y), { axis: 0, keepdims: true })))
    if (d.chance(0.15)) shared.push(y)
    live.push(y)
  }
  for (const s of shared) if (d.chance(0.3)) live[0] = d.op('add', ref(live[0]!), ref(s))
  if (!isFloatValue(live[0]!)) redraw('no float')
}
