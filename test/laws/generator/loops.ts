/**
 * Builders of loops over values of one shape: carries that rotate, swap, stand still, begin with anything and are read after they are replaced; what is
 * stacked of them; loops in loops, in branches and under every transform.
 */
import type { NDArray } from '../../../src/core/graph/ndarray.js'
import { sameShape, sizeOf } from '../../../src/core/graph/shape.js'
import { type Draw, dtypeOf, isFloatValue, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import { change, type Home, homely, mask, weighted } from './loop-steps.js'
import type { Lambda, Param, Template } from './program.js'

/** Tries a few times to add a value. */
export const attempts = (d: Draw, n: number, build: (d: Draw) => void): void => {
  let left = n
  for (let tries = 0; left > 0 && tries < 5 * n; tries++) if (d.attempt(build)) left--
}

// ---- what a loop begins with
interface Start {
  readonly init: Template
  readonly array: NDArray
}
const startOf = (v: Value): Start => ({ init: ref(v), array: v.array })
const arrayOf = (d: Draw, shape: readonly number[], values: readonly number[]): NDArray => ({
  shape,
  dtype: d.dtype,
  data: d.dtype === 'f32' ? Float32Array.from(values) : Float64Array.from(values),
})
const nested = (values: readonly number[], shape: readonly number[]): Template => {
  if (shape.length === 0) return values[0]!
  const n = values.length / shape[0]!
  return Array.from({ length: shape[0]! }, (_, i) => nested(values.slice(i * n, (i + 1) * n), shape.slice(1)))
}
/** Numbers written out. */
const literal = (d: Draw, home: Home): Start => {
  if (sizeOf(home) === 0) redraw('no numbers')
  const values = Array.from({ length: sizeOf(home) }, () => d.of([0, 1, 2, 3, -1, 0.5]))
  // Without a dtype of its own it would be promoted by what the step makes of it: as f32 it is given one.
  return d.dtype === 'f64'
    ? { init: nested(values, home), array: arrayOf(d, home, values) }
    : startOf(d.op('cast', nested(values, home), d.dtype))
}
const view = (d: Draw, home: Home): Value => {
  const v = homely(d, home)
  if (home.length === 0) return d.op('sum', ref(v))
  const n = home[0]!
  return d.of<() => Value>([
    () => d.op('flip', ref(v)),
    () => d.op('slice', ref(d.op('concat', [ref(v), ref(homely(d, home))], { axis: 0 })), [n], [2 * n]),
    () => d.op('broadcastTo', ref(d.op('at', ref(v), 0)), home),
    () => (home.length === 2 && home[1] === n ? d.op('transpose', ref(v)) : d.op('reshape', ref(v), home)),
    () => d.op('at', ref(d.op('stack', [ref(v), ref(homely(d, home))])), d.int(2)),
  ])()
}
const begun = (d: Draw, home: Home, sofar: readonly Start[]): Start => {
  const r = d.next()
  if (r < 0.15) return literal(d, home)
  if (r < 0.3) return startOf(view(d, home))
  if (r < 0.4 && sofar.length > 0) return d.of(sofar)
  if (r < 0.5 && d.canInput()) return startOf(d.input(home))
  if (r < 0.55) return startOf(d.op('full', home, d.of([0, 1, 0.5]), d.dtype))
  return startOf(homely(d, home))
}

// ---- what a loop goes along
/** An array of rows of the home shape or of numbers: one that there is, such as the rows of another loop, or one put together. */
const sliced = (d: Draw, home: Home, length: number | undefined): Value => {
  const rows = d.find(
    (v) =>
      isFloatValue(v) &&
      dtypeOf(v) === d.dtype &&
      rankOf(v) > 0 &&
      (length === undefined ? shapeOf(v)[0]! <= 4 : shapeOf(v)[0] === length) &&
      (sameShape(shapeOf(v).slice(1), home) || rankOf(v) === 1),
  )
  if (rows !== undefined && d.chance(0.7)) return d.chance(0.25) ? d.op('flip', ref(rows), { axis: 0 }) : rows
  const n = length ?? d.of([1, 2, 2, 3, 3, 4])
  if (n === 0) return d.op('zeros', [0, ...home], d.dtype)
  if (d.canInput() && d.chance(0.4)) return d.input([n, ...(d.chance(0.7) ? home : [])])
  return d.op(
    'stack',
    Array.from({ length: n }, () => ref(homely(d, home))),
  )
}
const row0 = (v: Value): NDArray => {
  const shape = shapeOf(v).slice(1)
  // Of an array without rows there is none to draw at: numbers do.
  const data = v.array.data.length === 0 ? v.array.data.constructor : undefined
  return {
    shape,
    dtype: dtypeOf(v),
    data:
      data === undefined
        ? v.array.data.slice(0, sizeOf(shape))
        : (Float64Array.from({ length: sizeOf(shape) }, () => 0.5) as NDArray['data']),
  }
}

// ---- what a step gives
export const lateOf = (d: Draw, xs: readonly Value[]): Value => xs[Math.min(xs.length - 1, Math.floor(xs.length * Math.sqrt(d.next())))]!
/** What the next step is given: each what it was, another one, or what was made of them. */
const nextOf = (d: Draw, own: readonly Value[], made: readonly Value[]): readonly Value[] => {
  const n = own.length
  const turn = d.chance(0.35) ? d.of([1, n - 1, 1]) : 0
  return own.map((v, i) => {
    const r = d.next()
    if (turn !== 0 && r < 0.65) return own[(i + turn) % n]!
    if (r < 0.12) return v
    if (r < 0.3) return d.of(own)
    return lateOf(d, made.length > 0 ? made : own)
  })
}
/** What is stacked: carries as they were found or left, values of the step, numbers of them. */
const rowsOf = (d: Draw, own: readonly Value[], next: readonly Value[], made: readonly Value[]): Template => {
  const one = (): Template => {
    const r = d.next()
    if (r < 0.3) return ref(d.of(own))
    if (r < 0.55) return ref(d.of(next))
    const v = made.length > 0 ? d.of(made) : d.of(own)
    return ref(r < 0.9 ? v : d.op('sum', ref(d.op('sin', ref(v)))))
  }
  const n = d.of([0, 1, 1, 1, 2, 2, 2, 3])
  return n === 0 ? null : n === 1 && d.chance(0.7) ? one() : Array.from({ length: n }, one)
}

const howOf = (d: Draw): { readonly [key: string]: Template } => ({
  ...(d.chance(0.12) && { unroll: d.between(1, 3) }),
  ...(d.chance(0.3) && {
    checkpoint: d.of<Template>(['nothing', 'contractions', 'everything', 'sqrt', 1, 2, 3, { snapshots: 1 }, { snapshots: 2 }]),
  }),
})
const counted = (n: number): NDArray => ({ shape: [], dtype: 'i32', data: Int32Array.of(n) })
const lengthOf = (d: Draw): number => (d.chance(0.05) ? 0 : d.chance(0.1) ? 1 : d.of([2, 2, 2, 3, 3, 4]))
const optional = (o: { readonly [key: string]: Template }): readonly Template[] => (Object.keys(o).length === 0 ? [] : [o])
/** A scalar i32 that is known when it runs: given, or computed. */
const countOf = (d: Draw): Template => {
  const known = d.find((v) => dtypeOf(v) === 'i32' && rankOf(v) === 0 && v.array.data[0]! <= 4)
  if (known !== undefined && d.chance(0.7)) return d.chance(0.3) ? ref(d.op('add', ref(known), 1)) : ref(known)
  return ref(d.canInput() ? d.input([], 'i32', [0, 4]) : d.op('cast', d.between(0, 3), 'i32'))
}

/** Steps of a body over its carries (all values of the home shape among the last), then what it gives. */
const stepsOf = (d: Draw, home: Home, least = 1): readonly Value[] => {
  const before = d.pool.length
  attempts(d, d.between(least, d.depth > 1 ? 3 : 4), (x) => stepBy(x, home))
  return d.pool.slice(before).filter((v) => dtypeOf(v) === d.dtype && sameShape(shapeOf(v), home))
}
interface Carried {
  readonly starts: readonly Start[]
  readonly inits: readonly Template[]
  /** A Value for each, as arguments of a lambda. */
  readonly values: readonly Value[]
  readonly arrays: readonly NDArray[]
}
const carriedOf = (d: Draw, home: Home): Carried => {
  const n = d.of([1, 1, 2, 2, 2, 3, 3, 4])
  const starts: Start[] = []
  for (let i = 0; i < n; i++) starts.push(begun(d, home, starts))
  const any = homely(d, home)
  return { starts, inits: starts.map((s) => s.init), values: starts.map(() => any), arrays: starts.map((s) => s.array) }
}
/** One carry alone, or a list of them. */
const tree = <X>(xs: readonly X[], alone: boolean): X | readonly X[] => (alone ? xs[0]! : xs)

const scanning = (d: Draw, home: Home): void => {
  const c = carriedOf(d, home)
  const n = c.values.length
  const stacked = d.pool.some((v) => v.made && rankOf(v) === home.length + 1 && v.node.dtype === d.dtype)
  const along = d.chance(stacked ? 0.75 : 0.45)
  const length = lengthOf(d)
  const xs = along ? [sliced(d, home, undefined)] : []
  if (along && d.chance(0.25)) xs.push(sliced(d, home, shapeOf(xs[0]!)[0]!))
  const alone = n === 1 && d.chance(0.7)
  const f = d.lambda(
    [...c.values, ...xs],
    (inner) => {
      const own = inner.pool.slice(-n - xs.length).slice(0, n)
      const made = stepsOf(inner, home)
      const next = nextOf(inner, own, made)
      return [tree(next.map(ref), alone), rowsOf(inner, own, next, made)]
    },
    {
      at: [...c.arrays, ...xs.map(row0)],
      open: d.chance(0.4),
      as: (ids) => [tree<Param>(ids.slice(0, n), alone), ...(along ? [tree<Param>(ids.slice(n), xs.length === 1)] : [])],
    },
  )
  const options = { ...(!along && { length }), ...(d.chance(0.3) && { reverse: true }), ...howOf(d) }
  d.emit('scan', [{ fn: f }, tree(c.inits, alone), along ? tree(xs.map(ref), xs.length === 1) : null, ...optional(options)])
}
const counting = (d: Draw, home: Home): void => {
  const c = carriedOf(d, home)
  const n = c.values.length
  const alone = n === 1 && d.chance(0.7)
  const f = d.lambda(
    [c.values[0]!, ...c.values],
    (inner) => {
      const own = inner.pool.slice(-n)
      return tree(nextOf(inner, own, stepsOf(inner, home)).map(ref), alone)
    },
    { at: [counted(0), ...c.arrays], open: d.chance(0.4), as: ([k, ...ids]) => [k!, tree<Param>(ids, alone)] },
  )
  // Reverse mode needs a number of steps that is known.
  const computed = d.chance(0.15)
  d.emit('fori', [computed ? countOf(d) : lengthOf(d), { fn: f }, tree(c.inits, alone), ...(computed ? [] : optional(howOf(d)))])
}
const conditioned = (d: Draw, home: Home): void => {
  const c = carriedOf(d, home)
  const n = c.values.length
  const at = [counted(0), ...c.arrays]
  const as = (ids: readonly number[]): readonly Param[] => [ids]
  const args = [c.values[0]!, ...c.values]
  const limit: Template = d.chance(0.3) ? countOf(d) : d.between(0, 4)
  const more = d.lambda(args, (inner) => ref(inner.op('lt', ref(inner.pool[inner.pool.length - 1 - n]!), limit)), { at, as, open: true })
  const f = d.lambda(
    args,
    (inner) => {
      const own = inner.pool.slice(-n)
      const k = inner.pool[inner.pool.length - 1 - n]!
      const made = stepsOf(inner, home)
      return [ref(inner.op('add', ref(k), 1)), ...nextOf(inner, own, made).map(ref)]
    },
    { at, as, open: d.chance(0.4) },
  )
  const options = d.chance(0.9) ? { maxSteps: d.between(0, 4), ...howOf(d) } : {}
  const start = d.chance(0.7) ? ref(d.op('cast', d.between(0, 1), 'i32')) : countOf(d)
  d.emit('whileLoop', [{ fn: more }, { fn: f }, [start, ...c.inits], ...optional(options)])
}
/** A loop over values of the home shape: its results are carries and rows. */
export const loop = (d: Draw, home: Home): void => {
  if (d.depth > 3) redraw('deep')
  weighted(d, [
    [5, scanning],
    [3, counting],
    [1.3, conditioned],
  ] as const)(d, home)
}

// ---- branches and transforms around steps
/** A function of one or two home values to one. */
const functionOf = (d: Draw, home: Home, args: readonly Value[], least = 1): Lambda =>
  d.lambda(args, (inner) => ref(resultOf(inner, home, least)), { open: d.chance(0.5) })
/** What a function of home values gives: often a loop is among its steps. */
const resultOf = (d: Draw, home: Home, least = 1): Value => {
  const before = d.pool.length
  if (d.chance([1, 0.6, 0.25][d.depth] ?? 0)) d.attempt((x) => loop(x, home))
  if (d.pool.length === before || d.chance(0.4)) stepsOf(d, home, least)
  const made = d.pool.slice(before).filter((v) => dtypeOf(v) === d.dtype && sameShape(shapeOf(v), home))
  return made.length > 0 ? lateOf(d, made) : d.pool[d.pool.length - 1]!
}
const loss = (d: Draw, home: Home, args: readonly Value[]): Lambda =>
  d.lambda(args, (inner) => ref(inner.op('sum', ref(inner.op(inner.of(['sin', 'tanh', 'cos']), ref(resultOf(inner, home)))))), {
    open: d.chance(0.5),
  })
export type Around = (d: Draw, home: Home) => void
const argumentsOf = (d: Draw, home: Home): readonly Value[] => {
  const x = homely(d, home)
  const y = homely(d, home)
  return x.ref === y.ref || d.chance(0.5) ? [x] : [x, y]
}
export const branching: Around = (d, home) => {
  const xs = argumentsOf(d, home)
  const branch = (): Template => ({ fn: functionOf(d, home, xs, 0) })
  const counter = d.find((v) => dtypeOf(v) === 'i32' && rankOf(v) === 0)
  if (d.chance(0.6)) {
    const m = mask(d, [])
    d.emit('cond', [m, branch(), branch(), ...xs.map(ref)])
  } else {
    const branches = Array.from({ length: d.between(1, 3) }, branch)
    d.emit('switchCase', [counter === undefined ? d.of([-1, 0, 1, 2, 7]) : ref(counter), branches, ...xs.map(ref)])
  }
}
export const checkpointed: Around = (d, home) => {
  const xs = argumentsOf(d, home)
  d.emit(
    'checkpoint',
    [{ fn: functionOf(d, home, xs) }, ...(d.chance(0.6) ? [d.of(['nothing', 'contractions', 'everything'])] : [])],
    xs.map(ref),
  )
}
const one = (xs: readonly Value[]): Template => (xs.length === 1 ? ref(xs[0]!) : xs.map(ref))
export const gradient: Around = (d, home) => {
  const xs = argumentsOf(d, home)
  const options = { ...(d.chance(0.6) && { mode: d.of(['mixed', 'reverse', 'forward']) }), ...(xs.length > 1 && { wrt: [0, 1] }) }
  d.emit('grad', [{ fn: loss(d, home, xs) }, ...optional(options)], xs.map(ref))
}
export const hessianProduct: Around = (d, home) => {
  const x = homely(d, home)
  d.emit('hvp', [{ fn: loss(d, home, [x]) }], [ref(x), ref(homely(d, home))])
}
export const tangents: Around = (d, home) => {
  const xs = argumentsOf(d, home)
  d.emit('jvp', [{ fn: functionOf(d, home, xs) }], [one(xs), one(xs.map(() => homely(d, home)))])
}
export const pulled: Around = (d, home) => {
  const xs = argumentsOf(d, home)
  d.emit('vjp', [{ fn: functionOf(d, home, xs) }], [one(xs), ref(homely(d, home))])
}
/** Over any axis of a stack of home values; what is captured is the same at each. */
export const mapped: Around = (d, home) => {
  const n = d.between(1, 3)
  const axisOf = (): number => d.int(home.length + 1)
  const [a, b, out] = [axisOf(), axisOf(), axisOf()]
  const stacked = (axis: number): Value =>
    d.op(
      'stack',
      Array.from({ length: n }, () => ref(homely(d, home))),
      { axis },
    )
  const x = stacked(a)
  const second = d.next()
  const y = second < 0.3 ? stacked(b) : second < 0.6 ? homely(d, home) : undefined
  const any = homely(d, home)
  const xs = y === undefined ? [x] : [x, y]
  const f = d.lambda(xs, (inner) => ref(resultOf(inner, home)), { at: xs.map(() => any.array), open: d.chance(0.6) })
  const axes = y === undefined ? [a] : [a, second < 0.3 ? b : null]
  const z = d.emit('vmap', [{ fn: f }, { inAxes: axes, outAxes: out }], xs.map(ref))[0]!
  // Back to the home shape.
  if (d.chance(0.7)) d.op(d.of(['mean', 'sum']), ref(z), { axis: out })
}

export const plain: Around = (d, home) => void change(d, home)
const around: readonly (readonly [number, Around])[] = [
  [1, loop],
  [0.8, branching],
  [0.3, checkpointed],
  [0.2, gradient],
  [0.1, hessianProduct],
  [0.15, tangents],
  [0.15, pulled],
  [0.25, mapped],
]
/** A step of a body: the deeper it is, the more likely a plain one. */
const stepBy = (d: Draw, home: Home): void => (d.chance([0, 0.25, 0.1][d.depth] ?? 0) ? weighted(d, around) : plain)(d, home)
