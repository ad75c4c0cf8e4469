/** What the steps of drawn loops are made of: values of one shape, accumulated in place, moved, mixed and folded, and read again before and after. */
import { sameShape, sizeOf } from '../../../src/core/graph/shape.js'
import { type Draw, dtypeOf, isFloatValue, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import type { Template } from './program.js'

/** The shape that most values of a program have, so that any of them may follow another. */
export type Home = readonly number[]
export const homeOf = (d: Draw): Home =>
  d.of<Home>([[2], [3], [3], [4], [5], [2, 2], [2, 3], [3, 2], [3, 3], [], [1], [2, 1, 2], ...(d.chance(0.03) ? [[0]] : [])])
const isHome =
  (d: Draw, home: Home) =>
  (v: Value): boolean =>
    dtypeOf(v) === d.dtype && sameShape(shapeOf(v), home)
/** A value of the home shape, rather a late one. */
export const homely = (d: Draw, home: Home): Value => {
  const last = d.pool[d.pool.length - 1]
  return last !== undefined && d.chance(0.3) && isHome(d, home)(last) ? last : d.pick(isHome(d, home))
}
/** One of the same dtype and shape as a value of the program so far, which is bounded wherever it is: what is multiplied. */
const bounded = (d: Draw, v: Value): Value => d.op(d.of(['tanh', 'sin', 'cos']), ref(v))

/** A number: a literal, a scalar that there is, an element, a sum. */
const number = (d: Draw, home: Home): Template => {
  const r = d.next()
  if (r < 0.35) return d.of([7, 0.5, -1, 2, 0.25, 0])
  if (r < 0.55) {
    const s = d.find((v) => isFloatValue(v) && rankOf(v) === 0 && dtypeOf(v) === d.dtype)
    if (s !== undefined) return ref(s)
  }
  const v = homely(d, home)
  if (home.length === 0) return ref(d.op('mul', ref(v), 0.5))
  if (r < 0.85 && sizeOf(home) > 0) return ref(d.op('at', ref(v), ...home.map((n) => d.between(-n, n - 1))))
  return ref(d.op('mul', ref(d.op('sum', ref(v))), 0.25))
}
const some = (d: Draw, home: Home): number => d.int(home[0] ?? redraw('a number has no parts'))
const indices = (d: Draw, n: number, count: number): Template =>
  ref(
    d.op(
      'cast',
      Array.from({ length: count }, () => d.between(-n, n - 1)),
      'i32',
    ),
  )
/** A slice of an axis of length n in NumPy's notation. */
const sliceText = (d: Draw, n: number): string => d.of([':', '::-1', '::2', ':1', '-1:', `:${Math.max(1, n - 1)}`, '1:'])
/** Something for the part of a home value at a list of indices: a number, or an equal part of another value. */
const forPart = (d: Draw, home: Home, list: readonly Template[]): Template =>
  d.chance(0.5) ? number(d, home) : ref(d.op('mul', ref(d.op('at', ref(homely(d, home)), ...list)), d.of([0.5, -0.7, 1])))

type Change = (d: Draw, home: Home, v: Value) => Value
const notation =
  (op: 'addAt' | 'set' | 'mulAt'): Change =>
  (d, home, v) => {
    const n = home[0] ?? redraw('a number has no parts')
    const list = d.chance(0.55) ? [d.between(-n, n - 1)] : d.chance(0.7) ? [sliceText(d, n)] : [indices(d, n, d.between(1, 2))]
    const u = op === 'mulAt' ? d.of([0.5, -1, 1.5]) : forPart(d, home, list)
    return d.op(op, ref(v), list, u)
  }
const atRows =
  (op: 'setAt' | 'scatterAdd'): Change =>
  (d, home, v) => {
    const n = home[0] ?? redraw('a number has no rows')
    const count = d.between(1, 3)
    const u = d.op('gather', ref(homely(d, home)), indices(d, n, count))
    return d.op(op, ref(v), indices(d, n, count), ref(d.chance(0.5) ? u : d.op('mul', ref(u), 0.5)))
  }
const window: Change = (d, home, v) => {
  const sizes = home.map((n) => d.between(Math.min(1, n), n))
  if (sizes.length === 0) redraw('a number has no windows')
  const u = d.op(
    'slice',
    ref(homely(d, home)),
    home.map(() => 0),
    sizes,
  )
  const counter = d.find((x) => dtypeOf(x) === 'i32' && rankOf(x) === 0)
  const starts = home.map((n, i) => (counter !== undefined && d.chance(0.4) ? ref(counter) : d.between(0, n - sizes[i]!)))
  return d.op('dynamicUpdateSlice', ref(v), ref(d.chance(0.6) ? u : d.op('cos', ref(u))), starts)
}
/** v + a b, of vectors as rows. */
const product: Change = (d, home, v) => {
  if (home.length === 0 || home.length > 2 || sizeOf(home) === 0) redraw('no product')
  const other = bounded(d, homely(d, home))
  if (home.length === 2) {
    const square = d.op('matmul', ref(other), ref(d.op('transpose', ref(d.op('mul', ref(bounded(d, homely(d, home))), 0.3)))))
    return d.op('matmulAdd', ref(v), ref(square), ref(homely(d, home)))
  }
  const w = d.op('outer', ref(other), ref(bounded(d, homely(d, home))))
  const row = (x: Value): Template => ref(d.op('reshape', ref(x), [1, home[0]!]))
  return d.op('reshape', ref(d.op('matmulAdd', row(v), row(bounded(d, homely(d, home))), ref(w))), home)
}
const accumulations: readonly (readonly [number, Change])[] = [
  [3, notation('addAt')],
  [3, notation('set')],
  [0.7, notation('mulAt')],
  [1.2, atRows('setAt')],
  [1.2, atRows('scatterAdd')],
  [1.2, window],
  [1.2, product],
]
export const weighted = <X>(d: Draw, rows: readonly (readonly [number, X])[]): X => {
  let r = d.next() * rows.reduce((s, [w]) => s + w, 0)
  for (const [w, x] of rows) {
    r -= w
    if (r <= 0) return x
  }
  return rows[rows.length - 1]![1]
}
/** A value changed in place, where a plan can. */
const accumulated: Change = (d, home, v) =>
  home.length === 0 ? d.op('add', ref(v), number(d, home)) : weighted(d, accumulations)(d, home, v)

/** The elements of a value in other places. */
const moved: Change = (d, home, v) => {
  const n = home[0] ?? redraw('a number does not move')
  const k = some(d, home)
  return d.of<() => Value>([
    () => d.op('flip', ref(v)),
    () => d.op('flip', ref(v), { axis: 0 }),
    () => d.op('roll', ref(v), 1, { axis: 0 }),
    () => d.op('concat', [ref(d.op('slice', ref(v), [k], [n])), ref(d.op('slice', ref(homely(d, home)), [0], [k]))], { axis: 0 }),
    () => d.op('concat', [ref(d.op('mul', ref(d.op('slice', ref(v), [0], [k])), 0.5)), ref(d.op('slice', ref(v), [k], [n]))], { axis: 0 }),
    () => d.op('at', ref(v), '::-1'),
    () => d.op('cumsum', ref(d.op('mul', ref(v), 0.5)), { axis: 0 }),
    () => (home.length === 2 && home[1] === n ? d.op('transpose', ref(v)) : d.op('flip', ref(v))),
    () => d.op('mul', ref(d.op('broadcastTo', ref(d.op('at', ref(v), k)), home)), 0.5),
    () => d.op('gather', ref(v), indices(d, n, n)),
  ])()
}
/** Point by point. */
const mixed: Change = (d, home, v) =>
  d.of<() => Value>([
    () => d.op(d.of(['cos', 'sin', 'tanh', 'sigmoid']), ref(v)),
    () => d.op('mul', ref(v), d.of([0.5, -0.5, 2, 1.5, 0.7])),
    () => d.op('mul', d.of([0.5, -1, 0.7]), ref(v)),
    () => d.op(d.of(['add', 'sub']), ref(v), ref(homely(d, home))),
    () => d.op('mul', ref(bounded(d, v)), ref(homely(d, home))),
    () => d.op('add', ref(v), number(d, home)),
    () => d.op('neg', ref(v)),
  ])()

/** A mask that is the same wherever the program is evaluated: given, written out, or of a counter. */
export const mask = (d: Draw, home: Home): Template => {
  const given = d.find((v) => dtypeOf(v) === 'bool' && sameShape(shapeOf(v), home))
  if (given !== undefined && d.chance(0.5)) return ref(given)
  const counter = d.find((v) => dtypeOf(v) === 'i32' && rankOf(v) === 0)
  if (counter !== undefined && d.chance(0.6)) return ref(d.op(d.of(['lt', 'gt', 'eq']), ref(counter), d.between(0, 3)))
  const n = home[home.length - 1]
  return n === undefined || n === 0 ? d.chance(0.5) : Array.from({ length: n }, () => d.chance(0.6))
}
/** Options `where` and `initial` of reductions. */
export const masking = (d: Draw, home: Home, name: string): { readonly [key: string]: Template } => {
  const where = d.chance(0.5) ? { where: mask(d, home) } : {}
  if (name === 'mean') return where
  // Ties of a largest element with the first number of the fold would be a kink: that one is larger, or smaller, than all.
  const far = name === 'max' ? d.of([-400, 400]) : name === 'min' ? d.of([400, -400]) : d.of([0.5, 2, -1])
  return { ...where, ...((name === 'max' || name === 'min' || d.chance(0.5)) && { initial: far }) }
}
/** Moved by what it, or another value, is folded to. */
const folded: Change = (d, home, v) => {
  const name = d.of(['sum', 'sum', 'mean', 'prod'])
  const axis = home.length > 0 && d.chance(0.6) ? { axis: d.int(home.length), keepdims: true } : {}
  if (name === 'mean' && sizeOf(home) === 0) redraw('the mean of nothing')
  const options = { ...axis, ...masking(d, home, name) }
  const x = name === 'prod' ? bounded(d, homely(d, home)) : homely(d, home)
  // A mean of nothing is NaN.
  const { where: _, ...whole } = options as { readonly where?: Template }
  const s = d.op(name, ref(x), name === 'mean' ? whole : options)
  return d.op(d.of(['add', 'sub']), ref(v), ref(d.op('mul', ref(s), 0.3)))
}
const chosen: Change = (d, home, v) => d.op('where', mask(d, home), ref(v), ref(homely(d, home)))

/** A value, what becomes of it in place, and one or both of them read again: before, after, or together. */
const readAgain: Change = (d, home, v) => {
  const reader = (x: Value): Value => (d.chance(0.5) ? x : d.chance(0.5) ? mixed(d, home, x) : moved(d, home, x))
  const before = d.chance(0.4) ? reader(v) : undefined
  const y = accumulated(d, home, v)
  const z = d.op(d.of(['add', 'sub']), ref(reader(d.chance(0.5) ? y : v)), ref(reader(d.chance(0.5) ? v : (before ?? y))))
  return d.chance(0.3) ? accumulated(d, home, y) : z
}

const changes: readonly (readonly [number, Change])[] = [
  [4, accumulated],
  [2, moved],
  [4, mixed],
  [1.2, folded],
  [0.5, chosen],
  [2, readAgain],
]
/** One more value of the home shape. */
export const change = (d: Draw, home: Home): Value => weighted(d, changes)(d, home, homely(d, home))
