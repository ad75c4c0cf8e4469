/** Operators that read and write at positions. */
import {
  type AnyExpr,
  add,
  addAt,
  arange,
  broadcastTo,
  eye,
  flatten,
  gather,
  lt,
  maxAt,
  minAt,
  mul,
  mulAt,
  reshape,
  set,
  takeAlongAxis,
  tensor,
  vmap,
  where,
} from '../../index.js'
import { axisIn, type Call, integers, like, type Operator, type Sizes, sizeOf, type Table } from '../call.js'
import { asIndex, value } from '../value.js'

type Into = (x: AnyExpr, at: readonly AnyExpr[], v: AnyExpr) => AnyExpr
const reductions: Readonly<Record<string, Into>> = {
  none: (x, at, v) => set(x, at as never, v as never),
  add: (x, at, v) => addAt(x, at as never, v as never),
  mul: (x, at, v) => mulAt(x, at as never, v as never),
  max: (x, at, v) => maxAt(x, at as never, v as never),
  min: (x, at, v) => minAt(x, at as never, v as never),
}
const into = (c: Call): Into => {
  const how = c.text('reduction', 'none')
  return reductions[how] ?? c.refuse(`there is no reduction ${JSON.stringify(how)}.`)
}
/** 0 to n - 1 along one of the axes of a shape. */
const places = (shape: Sizes, axis: number): AnyExpr =>
  reshape(
    arange(shape[axis]!, 'i32'),
    shape.map((d, i) => (i === axis ? d : 1)),
  )

const gathered: Operator = {
  since: [1, 11, 13],
  read: (c) => {
    const x = c.in(0)
    return like(x, gather(x.x, asIndex(c.in(1).x), { axis: axisIn(c, c.int('axis', 0), x.x.shape.length) }))
  },
}
const elements: Operator = {
  since: [11, 13],
  read: (c) => {
    const [x, index] = [c.in(0), asIndex(c.in(1).x)]
    const axis = axisIn(c, c.int('axis', 0), x.x.shape.length)
    // The other axes of the indices may be shorter: positions count from 0.
    if (index.shape.every((d, i) => i === axis || d === x.x.shape[i])) return like(x, takeAlongAxis(x.x, index, { axis }))
    const shape = index.shape
    const at = shape.map((_, i) => (i === axis ? index : places(shape, i)))
    return like(x, takeAt(x.x, at, []))
  },
}
/** x at places that broadcast, one array for each of its first axes. */
const takeAt = (x: AnyExpr, at: readonly AnyExpr[], rest: Sizes): AnyExpr => {
  const sizes = x.shape.slice(0, at.length)
  const flat = reshape(x, [sizeOf(sizes), ...rest])
  let place: AnyExpr | undefined
  for (const [i, p] of at.entries()) {
    const positive = where(lt(p, 0), add(p, sizes[i]!), p)
    place = place === undefined ? positive : add(mul(place, sizes[i]!), positive)
  }
  return gather(flat, place!, { axis: 0 })
}
const nd: Operator = {
  since: [11, 12, 13],
  read: (c) => {
    const [x, index] = [c.in(0), asIndex(c.in(1).x)]
    const batch = c.int('batch_dims', 0)
    const depth = index.shape.at(-1) ?? c.refuse('the indices have no axis.')
    const one = (t: AnyExpr, i: AnyExpr): AnyExpr => {
      const at = Array.from({ length: depth }, (_, k) => gather(i, k, { axis: i.shape.length - 1 }))
      return depth === 0 ? broadcastTo(t, [...i.shape.slice(0, -1), ...t.shape]) : takeAt(t, at, t.shape.slice(depth))
    }
    let f = one
    for (let b = 0; b < batch; b++) f = mapped(f)
    return like(x, f(x.x, index))
  },
}
const mapped = (f: (t: AnyExpr, i: AnyExpr) => AnyExpr): ((t: AnyExpr, i: AnyExpr) => AnyExpr) => vmap(f as never) as never
const scattered: Operator = {
  since: [11, 13, 16, 18],
  read: (c) => {
    const [x, index, updates] = [c.in(0), asIndex(c.in(1).x), c.in(2)]
    const axis = axisIn(c, c.int('axis', 0), x.x.shape.length)
    const at = index.shape.map((_, i) => (i === axis ? index : places(index.shape, i)))
    return like(x, into(c)(x.x, at, updates.x))
  },
}
const scatteredNd: Operator = {
  since: [11, 13, 16, 18],
  read: (c) => {
    const [x, index, updates] = [c.in(0), asIndex(c.in(1).x), c.in(2)]
    const depth = index.shape.at(-1) ?? c.refuse('the indices have no axis.')
    const at = Array.from({ length: depth }, (_, k) => gather(index, k, { axis: index.shape.length - 1 }))
    return like(x, into(c)(x.x, at, updates.x))
  },
}
const range: Operator = {
  since: [11],
  known: [0, 1, 2],
  read: (c) => {
    const [start, limit, delta] = [c.numbers(0)[0]!, c.numbers(1)[0]!, c.numbers(2)[0]!]
    if (delta === 0) c.refuse('delta is 0.')
    const n = Math.max(0, Math.ceil((limit - start) / delta))
    if (!Number.isFinite(n)) c.refuse(`it has no end: from ${start} to ${limit} by ${delta}.`)
    const first = c.in(0)
    return like(first, add(start, mul(arange(n, first.x.dtype), delta)))
  },
}
const compressed: Operator = {
  since: [9, 11],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const kept = c.numbers(1).flatMap((k, i) => (k === 0 ? [] : [i]))
    const of = c.has('axis') ? x.x : flatten(x.x)
    return like(x, gather(of, tensor(kept, [kept.length], 'i32'), { axis: axisIn(c, c.int('axis', 0), of.shape.length) }))
  },
}
const nonZero: Operator = {
  since: [9, 13],
  known: [0],
  read: (c) => {
    const numbers = c.numbers(0)
    const { shape } = c.in(0).x
    const flat = numbers.flatMap((x, i) => (x === 0 ? [] : [i]))
    const rows = shape.map((d, axis) => {
      const after = sizeOf(shape.slice(axis + 1))
      return flat.map((k) => Math.floor(k / after) % d)
    })
    return integers(rows.flat(), [shape.length, flat.length])
  },
}
/** By the first number in which two slices differ. */
const inOrder = (a: readonly number[], b: readonly number[]): number => {
  const i = a.findIndex((x, k) => x !== b[k])
  return i < 0 ? 0 : a[i]! - b[i]!
}
/** The different elements of an array that is known, or its different slices along an axis, in their order or sorted. */
const different: Operator = {
  since: [11],
  known: [0],
  read: (c) => {
    const x = c.in(0)
    const numbers = c.numbers(0)
    const { shape } = x.x
    const axis = c.has('axis') ? axisIn(c, c.int('axis'), shape.length) : 0
    const n = c.has('axis') ? shape[axis]! : numbers.length
    // What is compared: elements, or slices along the axis.
    const after = c.has('axis') ? sizeOf(shape.slice(axis + 1)) : 1
    const slices: number[][] = Array.from({ length: n }, () => [])
    for (const [i, k] of numbers.entries()) slices[Math.floor(i / after) % n]!.push(k)
    const first = new Map<string, number>()
    const keys = slices.map((s) => s.join())
    for (const [i, key] of keys.entries()) if (!first.has(key)) first.set(key, i)
    const kept = [...first.values()]
    if (c.int('sorted', 1) !== 0) kept.sort((i, j) => inOrder(slices[i]!, slices[j]!))
    const place = new Map(kept.map((i, at) => [keys[i]!, at]))
    const counts = kept.map(() => 0)
    for (const key of keys) counts[place.get(key)!]!++
    const from = c.has('axis') ? x.x : flatten(x.x)
    return [
      like(x, gather(from, tensor(kept, [kept.length], 'i32'), { axis })),
      integers(kept),
      integers(keys.map((key) => place.get(key)!)),
      integers(counts),
    ]
  },
}

export const indexing: Table = {
  Compress: compressed,
  EyeLike: {
    since: [9],
    read: (c) => {
      const { shape } = c.in(0).x
      if (shape.length !== 2) c.refuse(`its input has ${shape.length} axes, not 2.`)
      const type = c.typeAt('dtype', c.in(0).type)
      return value(type, eye(shape[0]!, shape[1]!, c.int('k', 0), type.dtype))
    },
  },
  Gather: gathered,
  GatherElements: elements,
  GatherND: nd,
  NonZero: nonZero,
  Range: range,
  Scatter: { ...scattered, since: [9, 11] },
  ScatterElements: scattered,
  ScatterND: scatteredNd,
  Unique: different,
}
