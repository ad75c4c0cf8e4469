/** Builders of what takes functions: map, customRule, and the transforms, nested. */
import type { NDArray } from '../../../src/core/graph/ndarray.js'
import { sameShape, sizeOf } from '../../../src/core/graph/shape.js'
import { type Draw, dtypeOf, isFloatValue, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import { type Builder, elementwiseRows, type Row } from './elementwise.js'
import { like, within } from './guards.js'
import type { Lambda, Template } from './program.js'

type Body = (d: Draw) => Template
/** Some steps by these rows; the result is a late float. */
const stepsBy = (d: Draw, rows: readonly Row[], n: number): void => {
  let left = n
  for (let tries = 0; left > 0 && tries < 6 * n; tries++) if (d.attempt(choose(d, rows).build)) left--
}
export const choose = (d: Draw, rows: readonly Row[]): Row => {
  let r = d.next() * rows.reduce((s, x) => s + x.weight, 0)
  for (const x of rows) {
    r -= x.weight
    if (r <= 0) return x
  }
  return rows[rows.length - 1]!
}
const lastFloat = (d: Draw): Value => [...d.pool].reverse().find((v) => isFloatValue(v)) ?? redraw('no float in the function')
/** One number of the last value. */
const scalarOf = (d: Draw): Value => {
  const y = within(d, lastFloat(d), [-20, 20])
  return rankOf(y) === 0 ? y : d.op('sum', ref(d.chance(0.5) ? d.op('mul', ref(y), 0.3) : d.op('sin', ref(y))))
}
const body =
  (rows: () => readonly Row[], n: number): Body =>
  (d) => {
    stepsBy(d, rows(), d.between(1, n))
    return ref(lastFloat(d))
  }
const scalarBody =
  (rows: () => readonly Row[], n: number): Body =>
  (d) => {
    stepsBy(d, rows(), d.between(1, n))
    return ref(scalarOf(d))
  }
const little = (d: Draw, most: number): Value =>
  d.float(
    (v) => v.array.data.length <= most,
    () => d.of([[], [2], [3], [2, 2]]),
  )

// ---- map
const numberRows = elementwiseRows.filter((r) => r.scalar === true)
const element = (v: Value): NDArray => ({ shape: [], dtype: dtypeOf(v), data: v.array.data.slice(0, 1) })
const mapped: Builder = (d) => {
  const first = d.float((v) => v.array.data.length > 0)
  const args = [first]
  for (let k = 0; k < d.of([0, 1, 1, 2]); k++) args.push(d.chance(0.3) ? like(d, []) : d.chance(0.2) ? first : like(d, shapeOf(first)))
  const distinct = args.filter((a, i) => args.findIndex((b) => b.ref === a.ref) === i)
  // Where a function has a kink is decided at each element: only smooth ones, on what tanh gives.
  const f = d.lambda(
    distinct,
    (inner) => {
      const own = inner.pool.slice(-distinct.length)
      // Some arguments may be ignored.
      for (const v of own) if (inner.chance(0.8)) inner.op(inner.of(['tanh', 'sin', 'sigmoid']), ref(v))
      const n = inner.between(0, 4)
      for (let i = 0; i < n; i++) {
        const [a, b] = [inner.pick(isFloatValue), inner.pick(isFloatValue)]
        const r = inner.next()
        if (r < 0.4) inner.op(inner.of(['add', 'mul', 'sub']), ref(inner.op('tanh', ref(a))), ref(b))
        else if (r < 0.7) inner.op(inner.of(['sin', 'cos', 'tanh', 'sigmoid', 'atan', 'erf']), ref(a))
        else if (r < 0.85) inner.op('mul', ref(a), inner.of([0, 1, -1, 0.5, 0.7]))
        else inner.attempt((x) => choose(x, numberRows).build(x))
      }
      const result = inner.of<Template>([ref(lastFloat(inner)), ref(lastFloat(inner)), [ref(lastFloat(inner)), ref(inner.pick())]])
      return result
    },
    { at: distinct.map(element), open: d.chance(0.4), scalar: true },
  )
  if (usesKinks(f)) redraw('a kink inside map')
  d.emit('map', [{ fn: f }, ...distinct.map(ref)])
}
const SMOOTH = new Set(
  'add sub mul tanh sin cos sigmoid atan erf erfc neg square exp expm1 softplus sinh cosh asinh softsign silu mish logSigmoid radians hypot logaddexp'.split(
    ' ',
  ),
)
const usesKinks = (f: Lambda): boolean => f.steps.some((s) => !SMOOTH.has(s.op))

// ---- transforms
const rowsInside: { rows: readonly Row[] } = { rows: [] }
/** What functions inside a program are made of; set once by the list of all builders. */
export const setInside = (rows: readonly Row[]): void => {
  rowsInside.rows = rows
}
const inside = (): readonly Row[] => rowsInside.rows
const shallow = (d: Draw): void => {
  if (d.depth > 1) redraw('deep')
}
const one = (xs: readonly Value[]): Template => (xs.length === 1 ? ref(xs[0]!) : xs.map(ref))
/** One or two arguments, distinct. */
const arguments_ = (d: Draw, most = 24): readonly Value[] => {
  const x = little(d, most)
  const y = d.chance(0.4) ? d.find((v) => isFloatValue(v) && v.ref !== x.ref && v.array.data.length <= most) : undefined
  return y === undefined ? [x] : [x, y]
}
const graded =
  (name: 'grad' | 'valueAndGrad'): Builder =>
  (d) => {
    shallow(d)
    const xs = arguments_(d)
    const f = d.lambda(xs, scalarBody(inside, 3), { open: d.chance(0.4) })
    const options: { [key: string]: Template } = {}
    if (d.chance(0.6)) options.mode = d.of(['mixed', 'reverse', 'forward'])
    if (xs.length > 1 && d.chance(0.6)) options.wrt = d.of<Template>([0, 1, [0, 1], [1, 0]])
    if (d.chance(0.2)) options.seed = d.of([1, 2, -0.5])
    d.emit(name, [{ fn: f }, ...(Object.keys(options).length === 0 ? [] : [options])], xs.map(ref))
  }
const directional =
  (name: 'jvp' | 'linearizeAt'): Builder =>
  (d) => {
    shallow(d)
    const xs = name === 'jvp' ? arguments_(d, 60) : [little(d, 60)]
    const f = d.lambda(xs, body(inside, 3), { open: d.chance(0.4) })
    const tangents = xs.map((x) => like(d, shapeOf(x), dtypeOf(x)))
    if (name === 'jvp') d.emit('jvp', [{ fn: f }], [one(xs), one(tangents)])
    else d.emit(name, [{ fn: f }, one(xs), one(tangents)])
  }
const pulled: Builder = (d) => {
  shallow(d)
  const xs = arguments_(d, 60)
  let shape: readonly number[] = []
  let dtype = d.dtype
  const f = d.lambda(xs, (inner) => {
    const r = body(inside, 3)(inner)
    const y = lastFloat(inner)
    shape = shapeOf(y)
    dtype = dtypeOf(y) as 'f64'
    return r
  })
  d.emit('vjp', [{ fn: f }], [one(xs), ref(like(d, shape, dtype))])
}
const hessianProduct: Builder = (d) => {
  shallow(d)
  const x = little(d, 24)
  const f = d.lambda([x], scalarBody(inside, 3), { open: d.chance(0.3) })
  d.emit('hvp', [{ fn: f }], [ref(x), ref(like(d, shapeOf(x), dtypeOf(x)))])
}
const jacobian =
  (name: 'jacfwd' | 'jacrev'): Builder =>
  (d) => {
    shallow(d)
    const x = little(d, 6)
    const f = d.lambda([x], (inner) => {
      const r = body(inside, 2)(inner)
      if (lastFloat(inner).array.data.length > 12) redraw('large')
      return r
    })
    d.emit(name, [{ fn: f }, ...(d.chance(0.3) ? [{ chunk: d.between(1, 3) }] : [])], [ref(x)])
  }
const hessian: Builder = (d) => {
  shallow(d)
  const x = little(d, 4)
  d.emit('hessian', [{ fn: d.lambda([x], scalarBody(inside, 2)) }], [ref(x)])
}
const vmapped: Builder = (d) => {
  shallow(d)
  const x = d.float(
    (v) => rankOf(v) > 0 && v.array.data.length > 0,
    () => d.shape(d.between(1, 3)),
  )
  const n = shapeOf(x)[0]!
  if (n === 0) redraw('empty')
  const y = d.chance(0.5) ? d.find((v) => v.ref !== x.ref && rankOf(v) < 4 && v.array.data.length > 0) : undefined
  const same = y === undefined || shapeOf(y)[0] !== n || d.chance(0.4)
  const xs = y === undefined ? [x] : [x, y]
  const row = (v: Value, whole: boolean): NDArray => {
    if (whole) return v.array
    const shape = shapeOf(v).slice(1)
    return { shape, dtype: dtypeOf(v), data: v.array.data.slice(0, sizeOf(shape)) }
  }
  const f = d.lambda(
    xs,
    body(() => inside().filter((r) => !['vmap', 'jacfwd', 'jacrev', 'hessian'].includes(r.name)), 3),
    {
      at: xs.map((v, i) => row(v, i === 1 && same)),
      open: d.chance(0.3),
    },
  )
  // A function with a kink is drawn at one row alone: the others may lie on it.
  if (!smooth(f)) redraw('a kink inside vmap')
  d.emit('vmap', [{ fn: f }, ...(y !== undefined && (same || d.chance(0.3)) ? [{ inAxes: [0, same ? null : 0] }] : [])], xs.map(ref))
}
// Operations without a kink, a tie or a domain.
const SAFE = new Set(
  'reshape transpose slice broadcastTo concat stack split unstack pad flip roll tile repeat expandDims squeeze diag tril triu gather take scatterAdd setAt dynamicSlice dynamicUpdateSlice takeAlongAxis sum mean prod logsumexp cumsum cumprod linearRecurrence matmul matmulAdd linear einsum tensordot dot vecdot vdot outer kron trace conv avgPool softmax logSoftmax full zeros ones zerosLike onesLike cast oneHot embedding dropout where select map hvp grad jvp vjp valueAndGrad stopGradient fma eye arange linspace assertShape count any all maxPool sort argsort argmax max min topk relu abs scan fori whilePair associativeScan lt'.split(
    ' ',
  ),
)
// ---- loops and branches: what is drawn at the first step must be tame at every one
const smooth = (l: Lambda): boolean => l.steps.every((s) => SMOOTH.has(s.op) || SAFE.has(s.op))
const tame = (): readonly Row[] =>
  inside().filter((r) => !['jacfwd', 'jacrev', 'hessian', 'scan', 'fori', 'whileLoop', 'checkpoint', 'cond', 'switchCase'].includes(r.name))
/** Of the shape of a value, bounded, and moved by another one of any shape. */
const stirred = (d: Draw, h: Value, y: Value): Value => {
  const same = sameShape(shapeOf(h), shapeOf(y)) && dtypeOf(h) === dtypeOf(y) && d.chance(0.7)
  const by = same ? y : d.op('cast', ref(d.op('sum', ref(d.op('sin', ref(y))))), dtypeOf(h))
  return d.op(d.of(['tanh', 'sin']), ref(d.op('add', ref(d.op('mul', ref(h), 0.7)), ref(by))))
}
const row0 = (v: Value): NDArray => {
  const shape = shapeOf(v).slice(1)
  return { shape, dtype: dtypeOf(v), data: v.array.data.slice(0, sizeOf(shape)) }
}
/** How a loop is put together and what it keeps: neither changes what it gives. */
const howOf = (d: Draw): { readonly [key: string]: Template } => ({
  ...(d.chance(0.2) && { unroll: d.between(1, 3) }),
  ...(d.chance(0.3) && { checkpoint: d.of<Template>(['nothing', 'contractions', 'everything', 'sqrt', 1, 2, 3]) }),
})
const scanned: Builder = (d) => {
  shallow(d)
  const h = little(d, 12)
  const xs = d.float(
    (v) =>
      rankOf(v) > 0 && shapeOf(v)[0]! > 0 && shapeOf(v)[0]! <= 4 && v.array.data.length <= 48 && v.array.data.length > 0 && v.ref !== h.ref,
    () => [d.between(1, 4), ...d.of([[], [2], [3]])],
  )
  const f = d.lambda(
    [h, xs],
    (inner) => {
      const [own, x] = inner.pool.slice(-2) as [Value, Value]
      if (inner.chance(0.8)) inner.op('mul', ref(inner.op('sin', ref(x))), 0.5)
      stepsBy(inner, tame(), inner.between(0, 2))
      const y = lastFloat(inner)
      const next = stirred(inner, own, y)
      return [ref(next), inner.of<Template>([ref(y), [ref(next), ref(y)], []])]
    },
    { at: [h.array, row0(xs)], open: d.chance(0.4) },
  )
  if (!smooth(f)) redraw('a kink inside scan')
  const options = { ...(d.chance(0.4) && { reverse: true }), ...howOf(d) }
  d.emit('scan', [{ fn: f }, ref(h), ref(xs), ...(Object.keys(options).length === 0 ? [] : [options])])
}
const counted: Builder = (d) => {
  shallow(d)
  const c = little(d, 12)
  const f = d.lambda(
    [c, c],
    (inner) => {
      const [k, own] = inner.pool.slice(-2) as [Value, Value]
      const moved = inner.op('add', ref(own), ref(inner.op('mul', ref(inner.op('cast', ref(k), dtypeOf(own))), 0.25)))
      stepsBy(inner, tame(), inner.between(0, 2))
      return ref(stirred(inner, own, inner.chance(0.5) ? moved : lastFloat(inner)))
    },
    { at: [{ shape: [], dtype: 'i32', data: Int32Array.of(0) }, c.array], open: d.chance(0.4) },
  )
  if (!smooth(f)) redraw('a kink inside fori')
  const how = howOf(d)
  d.emit('fori', [d.between(0, 4), { fn: f }, ref(c), ...(Object.keys(how).length === 0 ? [] : [how])])
}
/** A loop that ends when its count is reached, or its steps are at an end. */
const conditioned: Builder = (d) => {
  shallow(d)
  const c = little(d, 12)
  const counts = d.find((v) => dtypeOf(v) === 'i32' && rankOf(v) === 0 && Math.abs(v.array.data[0]!) <= 4)
  const count: Template = counts !== undefined && d.chance(0.7) ? ref(counts) : ref(d.op('cast', d.between(0, 2), 'i32'))
  const k: NDArray = { shape: [], dtype: 'i32', data: Int32Array.of(0) }
  const at = { at: [k, c.array], open: d.chance(0.4) }
  const limit = d.between(0, 4)
  const more = d.lambda([c, c], (inner) => ref(inner.op('lt', ref(inner.pool[inner.pool.length - 2]!), limit)), at)
  const body = d.lambda(
    [c, c],
    (inner) => {
      const [n, own] = inner.pool.slice(-2) as [Value, Value]
      stepsBy(inner, tame(), inner.between(0, 2))
      return [ref(inner.op('add', ref(n), 1)), ref(stirred(inner, own, lastFloat(inner)))]
    },
    at,
  )
  if (!smooth(body)) redraw('a kink inside whileLoop')
  d.emit('whilePair', [{ fn: more }, { fn: body }, count, ref(c), d.between(0, 4)])
}
const checkpointed: Builder = (d) => {
  shallow(d)
  const xs = arguments_(d, 60)
  const f = d.lambda(xs, body(inside, 3), { open: d.chance(0.5) })
  d.emit('checkpoint', [{ fn: f }, ...(d.chance(0.5) ? [d.of(['nothing', 'contractions', 'everything'])] : [])], xs.map(ref))
}
/** Running results of a function that is associative, or of one that is not: in the order of their rounds they are a function all the same. */
const associated: Builder = (d) => {
  shallow(d)
  const x = d.float(
    (v) => rankOf(v) > 0 && v.array.data.length <= 24 && v.array.data.length > 0,
    () => d.shape(d.between(1, 2)),
  )
  const axis = d.between(-rankOf(x), rankOf(x) - 1)
  // op is called with more elements and fewer: only what works at every index.
  const op = d.lambda(
    [x, x],
    (inner) => {
      const [a, b] = inner.pool.slice(-2) as [Value, Value]
      const [p, q] = [inner.chance(0.5) ? inner.op('sin', ref(a)) : a, inner.chance(0.5) ? inner.op('mul', ref(b), 0.7) : b]
      return ref(inner.op('tanh', ref(inner.op(inner.of(['add', 'mul', 'sub']), ref(p), ref(q)))))
    },
    { at: [x.array, x.array] },
  )
  d.emit('associativeScan', [{ fn: op }, ref(x), { axis, ...(d.chance(0.4) && { reverse: true }) }])
}
const branch = (d: Draw, xs: readonly Value[]): Lambda =>
  d.lambda(
    xs,
    (inner) => {
      const own = inner.pool.slice(-xs.length)[0]!
      stepsBy(inner, tame(), inner.between(0, 2))
      return [ref(stirred(inner, own, lastFloat(inner)))]
    },
    { open: d.chance(0.4) },
  )
const conditional: Builder = (d) => {
  shallow(d)
  const xs = arguments_(d)
  // The condition stays what it is at points beside this one.
  const s = scalarOf(d)
  const [at] = s.array.data
  const condition = d.op('gt', ref(s), at! + d.of([-1.5, 1.5]))
  d.emit('cond', [ref(condition), { fn: branch(d, xs) }, { fn: branch(d, xs) }, ...xs.map(ref)])
}
const switched: Builder = (d) => {
  shallow(d)
  const xs = arguments_(d)
  const index = d.chance(0.5) ? d.find((v) => dtypeOf(v) === 'i32' && rankOf(v) === 0) : undefined
  const branches = Array.from({ length: d.between(1, 3) }, () => ({ fn: branch(d, xs) }))
  d.emit('switchCase', [index === undefined ? d.of([-1, 0, 1, 2, 7]) : ref(index), branches, ...xs.map(ref)])
}

const rule: Builder = (d) => {
  shallow(d)
  const xs = arguments_(d, 60)
  const f = d.lambda(
    xs,
    body(() => inside().filter((r) => !['customRule'].includes(r.name)), 3),
  )
  d.emit('customRule', [{ fn: f }, { rule: d.of(['frule', 'both', 'both'] as const), of: f }], xs.map(ref))
}
const declared: Builder = (d) => {
  shallow(d)
  const x = d.float((v) => rankOf(v) <= 3)
  d.emit('declared', [{ fn: d.lambda([x], body(inside, 3)) }, ref(x)])
}
export const higherRows: readonly Row[] = [
  { name: 'map', weight: 2.5, build: mapped },
  { name: 'grad', weight: 1.2, build: graded('grad') },
  { name: 'valueAndGrad', weight: 0.6, build: graded('valueAndGrad') },
  { name: 'jvp', weight: 0.7, build: directional('jvp') },
  { name: 'vjp', weight: 0.7, build: pulled },
  { name: 'linearize', weight: 0.4, build: directional('linearizeAt') },
  { name: 'hvp', weight: 0.5, build: hessianProduct },
  { name: 'jacfwd', weight: 0.4, build: jacobian('jacfwd') },
  { name: 'jacrev', weight: 0.4, build: jacobian('jacrev') },
  { name: 'hessian', weight: 0.3, build: hessian },
  { name: 'vmap', weight: 1.2, build: vmapped },
  { name: 'customRule', weight: 0.8, build: rule },
  { name: 'scan', weight: 1, build: scanned },
  { name: 'fori', weight: 0.6, build: counted },
  { name: 'whileLoop', weight: 0.6, build: conditioned },
  { name: 'associativeScan', weight: 0.5, build: associated },
  { name: 'checkpoint', weight: 0.5, build: checkpointed },
  { name: 'cond', weight: 0.6, build: conditional },
  { name: 'switchCase', weight: 0.5, build: switched },
  { name: 'fn', weight: 0.3, build: declared },
  { name: 'tap', weight: 0.3, build: (d) => void d.emit('shown', [ref(d.float())]) },
  { name: 'tapGradient', weight: 0.2, build: (d) => void d.emit('shownBack', [ref(d.float())]) },
]
