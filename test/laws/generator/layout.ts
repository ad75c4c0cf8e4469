/** Builders of operations that move elements: views, views of views, joins, parts, constants. */
import { sizeOf } from '../../../src/core/graph/shape.js'
import { CAP, type Draw, dtypeOf, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import type { Builder, Row } from './elementwise.js'
import { axisOf, like, positive, within } from './guards.js'
import type { Template } from './program.js'

const some = (d: Draw, least = 0): Value =>
  d.find((v) => rankOf(v) >= least) ?? (d.canInput() ? d.input(d.shape(Math.max(1, least))) : redraw('no array'))
const shuffled = (d: Draw, n: number): number[] => {
  const xs = Array.from({ length: n }, (_, i) => i)
  for (let i = n - 1; i > 0; i--) {
    const j = d.int(i + 1)
    ;[xs[i], xs[j]] = [xs[j]!, xs[i]!]
  }
  return xs
}
/** Another shape of as many elements. */
const regrouped = (d: Draw, size: number): readonly number[] => {
  if (size === 0) return d.of([[0], [0, 3], [2, 0], [1, 0, 2]])
  const factors: number[] = []
  let rest = size
  for (let p = 2; rest > 1; p++)
    while (rest % p === 0) {
      factors.push(p)
      rest /= p
    }
  const out: number[] = []
  for (const f of shuffled(d, factors.length).map((i) => factors[i]!)) {
    if (out.length === 0 || d.chance(0.5)) out.push(f)
    else out[d.int(out.length)]! *= f
  }
  if (d.chance(0.25)) out.splice(d.int(out.length + 1), 0, 1)
  return out.length > 5 ? [size] : out
}

const reshape: Builder = (d) => {
  const v = some(d)
  const to = regrouped(d, v.array.data.length)
  const unknown = to.length > 0 && v.array.data.length > 0 && d.chance(0.15) ? d.int(to.length) : -1
  d.op(
    'reshape',
    ref(v),
    to.map((n, i) => (i === unknown ? -1 : n)),
  )
}
const transpose: Builder = (d) => {
  const v = some(d, 2)
  d.op('transpose', ref(v), ...(d.chance(0.4) ? [] : [shuffled(d, rankOf(v))]))
}
const slice: Builder = (d) => {
  const v = some(d, 1)
  const strided = d.chance(0.5)
  const parts = shapeOf(v).map((n) => {
    const stride = strided ? d.of([1, 1, 2, 3, -1, -1, -2]) : 1
    if (n === 0) return [0, 0, 1] as const
    if (stride > 0) {
      const start = d.int(n)
      return [start, d.between(start + (d.chance(0.05) ? 0 : 1), n), stride] as const
    }
    const start = d.int(n)
    const end = d.int(start + 1) - 1
    return [start, end < 0 ? -Infinity : end, stride] as const
  })
  d.op(
    'slice',
    ref(v),
    parts.map((p) => p[0]),
    parts.map((p) => p[1]),
    ...(strided ? [parts.map((p) => p[2])] : []),
  )
}
const broadcastTo: Builder = (d) => {
  const v = d.pick()
  const own = shapeOf(v).map((n) => (n === 1 ? d.between(1, 4) : n))
  const to = [...Array.from({ length: d.int(Math.min(3, 6 - own.length)) }, () => d.between(1, 3)), ...own]
  if (sizeOf(to) > CAP || to.length > 5) redraw('large')
  d.op('broadcastTo', ref(v), to)
}
const parts = (d: Draw): { readonly xs: readonly Value[]; readonly axis: number } => {
  const v = some(d, 1)
  const axis = d.int(rankOf(v))
  const n = d.between(1, 3)
  const xs = Array.from({ length: n }, () => {
    if (d.chance(0.25)) return v
    const shape = shapeOf(v).map((k, i) => (i === axis ? d.between(d.chance(0.06) ? 0 : 1, 3) : k))
    return like(d, shape, dtypeOf(v))
  })
  return { xs: [...xs.slice(0, d.int(n + 1)), v, ...xs.slice(d.int(n + 1))].slice(0, 4), axis }
}
const concat: Builder = (d) => {
  const { xs, axis } = parts(d)
  const y = d.op('concat', xs.map(ref), { axis })
  // A part of the concat read again, beside the concat.
  if (d.chance(0.3)) {
    const x = d.of(xs)
    if (dtypeOf(x) === 'f64' || dtypeOf(x) === 'f32') d.op('mul', ref(x), ref(d.op('sum', ref(within(d, y, [-3, 3])))))
  }
}
const stack: Builder = (d) => {
  const v = d.pick((x) => rankOf(x) < 4)
  const xs = Array.from({ length: d.between(1, 3) }, () => (d.chance(0.3) ? v : like(d, shapeOf(v), dtypeOf(v))))
  if (sizeOf(shapeOf(v)) * xs.length > CAP) redraw('large')
  d.op('stack', xs.map(ref), { axis: d.int(rankOf(v) + 1) })
}
const split: Builder = (d) => {
  const v = some(d, 1)
  const axis = axisOf(d, v)
  const n = shapeOf(v)[positive(v, axis)]!
  const cut = d.int(n + 1)
  const whole = [1, 2, 3].filter((k) => n % k === 0)
  d.emit('split', [ref(v), d.chance(0.5) ? d.of(whole) : d.chance(0.5) ? [cut, n - cut] : [cut, 0, n - cut], { axis }])
}
const unstack: Builder = (d) => {
  const v = some(d, 1)
  const axis = axisOf(d, v)
  const n = shapeOf(v)[positive(v, axis)]!
  if (n === 0 || n > 5) redraw('many')
  d.emit('unstack', [ref(v), { axis }])
}
const pad: Builder = (d) => {
  const v = some(d, 1)
  const widths = shapeOf(v).map((n) => [n > 0 && d.chance(0.1) ? -1 : d.int(3), d.int(3)])
  if (sizeOf(shapeOf(v).map((n, i) => n + widths[i]![0]! + widths[i]![1]!)) > CAP) redraw('large')
  d.op(
    'pad',
    ref(v),
    d.chance(0.15) && shapeOf(v).length < 3 ? 1 : widths,
    ...(d.chance(0.5) || dtypeOf(v) === 'bool' ? [] : [d.of([0, 1, -1, 2])]),
  )
}
const axes = (d: Draw, v: Value): number | readonly number[] =>
  d.chance(0.6) ? axisOf(d, v) : shuffled(d, rankOf(v)).slice(0, d.between(1, rankOf(v)))
const flip: Builder = (d) => {
  const v = some(d, 1)
  d.op('flip', ref(v), ...(d.chance(0.3) ? [] : [{ axis: axes(d, v) }]))
}
const roll: Builder = (d) => {
  const v = some(d, 1)
  d.op('roll', ref(v), d.between(-3, 4), ...(d.chance(0.3) ? [] : [{ axis: axes(d, v) }]))
}
const tile: Builder = (d) => {
  const v = some(d)
  const reps: Template = rankOf(v) > 0 && d.chance(0.7) ? shapeOf(v).map(() => d.of([1, 1, 2, 3])) : d.between(1, 3)
  if (v.array.data.length * 9 > 4 * CAP) redraw('large')
  d.op('tile', ref(v), reps)
}
const repeat: Builder = (d) => {
  const v = some(d, 1)
  d.op('repeat', ref(v), d.between(1, 3), ...(d.chance(0.3) ? [] : [{ axis: axisOf(d, v) }]))
}
const expandDims: Builder = (d) => {
  const v = some(d)
  if (rankOf(v) > 4) redraw('rank')
  d.op('expandDims', ref(v), d.int(rankOf(v) + 1))
}
const squeeze: Builder = (d) => {
  const v = d.pick((x) => shapeOf(x).includes(1))
  d.op('squeeze', ref(v), ...(d.chance(0.5) ? [] : [shapeOf(v).indexOf(1)]))
}
const diag: Builder = (d) => {
  const v = d.pick((x) => rankOf(x) >= 1 && (rankOf(x) > 1 || x.array.data.length < 9))
  d.op('diag', ref(v), ...(d.chance(0.5) ? [] : [d.between(-1, 1)]))
}
const triangle =
  (name: string): Builder =>
  (d) =>
    void d.op(name, ref(some(d, 2)), ...(d.chance(0.5) ? [] : [d.between(-1, 2)]))
/** Several views of one value, one after the other, and the value beside them. */
const views: Builder = (d) => {
  const v = some(d, 1)
  const names: readonly Builder[] = [reshape, transpose, slice, flip, broadcastTo, roll, expandDims, squeeze]
  const start = d.pool.length
  let last = v
  for (let i = 0; i < d.between(2, 4); i++) {
    const own = d.pool.splice(0, d.pool.length, last)
    try {
      d.of(names)(d)
    } finally {
      const made = d.pool.filter((x) => x !== last)
      d.pool.splice(0, d.pool.length, ...own, ...made)
    }
    last = d.pool[d.pool.length - 1]!
  }
  if (d.pool.length === start) redraw('no view')
  if (d.chance(0.5) && last.array.data.length === v.array.data.length && (dtypeOf(v) === 'f64' || dtypeOf(v) === 'f32'))
    d.op('add', ref(last), ref(like(d, shapeOf(last), dtypeOf(last))))
}

const constants: readonly Row[] = [
  { name: 'full', weight: 0.15, build: (d) => void d.op('full', d.shape(), d.of([0, 1, -1, 2.5]), d.of([d.dtype, d.dtype, 'f64'])) },
  { name: 'zeros', weight: 0.1, build: (d) => void d.op('zeros', d.shape(), d.of([d.dtype, 'i32', 'bool'])) },
  { name: 'ones', weight: 0.1, build: (d) => void d.op('ones', d.shape(), d.of([d.dtype, 'i32', 'bool'])) },
  { name: 'zerosLike', weight: 0.15, build: (d) => void d.op('zerosLike', ref(d.pick())) },
  { name: 'onesLike', weight: 0.15, build: (d) => void d.op('onesLike', ref(d.pick())) },
  { name: 'arange', weight: 0.15, build: (d) => void d.op('arange', d.length(), d.of([d.dtype, 'i32'])) },
  {
    name: 'linspace',
    weight: 0.2,
    build: (d) => {
      const v = d.chance(0.5) ? d.find((x) => rankOf(x) === 0 && dtypeOf(x) === d.dtype) : undefined
      d.op('linspace', v === undefined ? -1 : ref(v), d.of([1, 0.5, 2]), d.length(), d.dtype)
    },
  },
  { name: 'eye', weight: 0.15, build: (d) => void d.op('eye', d.between(1, 5), d.of([d.dtype, d.dtype, 'i32'])) },
]

export const layoutRows: readonly Row[] = [
  { name: 'reshape', weight: 1.5, build: reshape },
  { name: 'transpose', weight: 1.5, build: transpose },
  { name: 'slice', weight: 2, build: slice },
  { name: 'broadcastTo', weight: 1, build: broadcastTo },
  { name: 'concat', weight: 1.6, build: concat },
  { name: 'stack', weight: 1.2, build: stack },
  { name: 'split', weight: 0.8, build: split },
  { name: 'unstack', weight: 0.6, build: unstack },
  { name: 'pad', weight: 1, build: pad },
  { name: 'flip', weight: 0.8, build: flip },
  { name: 'roll', weight: 0.5, build: roll },
  { name: 'tile', weight: 0.3, build: tile },
  { name: 'repeat', weight: 0.3, build: repeat },
  { name: 'expandDims', weight: 0.3, build: expandDims },
  { name: 'squeeze', weight: 0.3, build: squeeze },
  { name: 'diag', weight: 0.4, build: diag },
  { name: 'tril', weight: 0.3, build: triangle('tril') },
  { name: 'triu', weight: 0.3, build: triangle('triu') },
  { name: 'assertShape', weight: 0.1, build: (d) => ((v) => void d.op('assertShape', ref(v), shapeOf(v)))(d.pick()) },
  { name: 'views', weight: 1.2, build: views },
  ...constants,
]
