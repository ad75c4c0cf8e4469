/** Builders of indexing, sorting, running and reducing operations. */
import { sizeOf } from '../../../src/core/graph/shape.js'
import { CAP, type Draw, dtypeOf, isFloatValue, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import type { Builder, Row } from './elementwise.js'
import { apart, awayFrom, axisOf, beside, broadcastOf, like, positions, positive, sameShape, tame, within } from './guards.js'
import type { Template } from './program.js'

const array = (d: Draw): Value => d.find((v) => rankOf(v) > 0) ?? (d.canInput() ? d.input(d.shape(d.between(1, 3))) : redraw('no array'))
const floats = (d: Draw, rank = 1): Value =>
  d.float(
    (v) => rankOf(v) >= rank,
    () => d.shape(Math.max(rank, d.between(1, 3))),
  )
const replaced = (shape: readonly number[], axis: number, by: readonly number[]): readonly number[] => [
  ...shape.slice(0, axis),
  ...by,
  ...shape.slice(axis + 1),
]

const gather =
  (name: 'gather' | 'take'): Builder =>
  (d) => {
    const v = array(d)
    const axis = d.chance(0.5) ? 0 : axisOf(d, v)
    const at = d.of([[], [1], [2], [3], [4], [2, 2], ...(d.chance(0.1) ? [[0]] : [])])
    if (sizeOf(replaced(shapeOf(v), positive(v, axis), at)) > CAP) redraw('large')
    d.op(name, ref(v), positions(d, shapeOf(v)[positive(v, axis)]!, at), ...(axis === 0 && d.chance(0.6) ? [] : [{ axis }]))
  }
const update =
  (name: 'scatterAdd' | 'setAt'): Builder =>
  (d) => {
    const v = d.find((x) => rankOf(x) > 0 && dtypeOf(x) !== 'bool') ?? floats(d)
    const axis = d.chance(0.5) ? 0 : axisOf(d, v)
    const at = d.of([[], [1], [2], [3], [2, 2]])
    const shape = replaced(shapeOf(v), positive(v, axis), at)
    const index = positions(d, shapeOf(v)[positive(v, axis)]!, at)
    d.op(name, ref(v), index, beside(d, shape, dtypeOf(v)), ...(axis === 0 ? [] : [{ axis }]))
  }
const takeAlongAxis: Builder = (d) => {
  const v = array(d)
  const axis = axisOf(d, v)
  const n = shapeOf(v)[positive(v, axis)]!
  const at = replaced(shapeOf(v), positive(v, axis), [d.between(1, 3)])
  if (sizeOf(at) === 0 || sizeOf(at) > 24) redraw('size')
  d.op('takeAlongAxis', ref(v), positions(d, n, at), { axis })
}
const starts = (d: Draw, v: Value, sizes: readonly number[]): Template => {
  const most = shapeOf(v).map((n, i) => Math.max(0, n - sizes[i]!))
  const known = most.map((m) => d.between(0, m))
  if (d.chance(0.3)) return known
  const scalar = d.find((x) => dtypeOf(x) === 'i32' && rankOf(x) === 0)
  if (scalar !== undefined && d.chance(0.5)) return known.map((k, i) => (i === 0 ? ref(scalar) : k))
  return ref(d.canInput() && d.chance(0.5) ? d.input([rankOf(v)], 'i32', [0, 4]) : d.op('cast', known, 'i32'))
}
const dynamicSlice: Builder = (d) => {
  const v = array(d)
  const sizes = shapeOf(v).map((n) => d.between(Math.min(1, n), n))
  d.op('dynamicSlice', ref(v), starts(d, v, sizes), sizes)
}
const dynamicUpdateSlice: Builder = (d) => {
  const v = array(d)
  const sizes = shapeOf(v).map((n) => d.between(Math.min(1, n), n))
  const u = like(d, sizes, dtypeOf(v))
  d.op('dynamicUpdateSlice', ref(v), ref(u), starts(d, v, sizes))
}
/** A slice as text, of an axis of length n. */
const sliceText = (d: Draw, n: number): string => {
  const bound = (): string => (d.chance(0.4) ? '' : String(d.between(-n, n)))
  return d.chance(0.3) ? ':' : `${bound()}:${bound()}${d.of(['', '', ':', ':2', ':-1', ':-2'])}`
}
/** A list of indices in NumPy's notation; arrays in it have one shape. */
const indices = (d: Draw, v: Value): readonly Template[] => {
  const shape = shapeOf(v)
  if (sizeOf(shape) * 4 > CAP) redraw('large')
  const together = d.of([[1], [2], [2], [2, 2]])
  const index = (n: number): Template =>
    n === 0 || d.chance(0.4) ? sliceText(d, n) : d.chance(0.4) ? d.between(-n, n - 1) : positions(d, n, d.chance(0.4) ? [] : together)
  const back = d.chance(0.3) ? d.between(0, rankOf(v)) : 0
  const front = d.between(0, rankOf(v) - back)
  const some = (lengths: readonly number[]): readonly Template[] => lengths.flatMap((n) => [...(d.chance(0.1) ? [null] : []), index(n)])
  return [...some(shape.slice(0, front)), ...(back > 0 ? ['...'] : []), ...some(shape.slice(rankOf(v) - back))]
}
const at: Builder = (d) => {
  const v = array(d)
  d.op('at', ref(v), ...indices(d, v))
}
const updated =
  (name: 'set' | 'addAt'): Builder =>
  (d) => {
    const v = name === 'set' ? array(d) : (d.find((x) => rankOf(x) > 0 && dtypeOf(x) !== 'bool') ?? floats(d))
    const list = indices(d, v)
    const part = d.op('at', ref(v), ...list)
    d.op(name, ref(v), list, beside(d, shapeOf(part), dtypeOf(v)))
  }
const oneHot: Builder = (d) => {
  const i =
    d.find((v) => dtypeOf(v) === 'i32' && v.array.data.length <= 24) ?? (d.canInput() ? d.input([3], 'i32', [0, 4]) : redraw('no indices'))
  d.op('oneHot', ref(i), d.between(1, 5), ...(d.chance(0.3) ? [] : [d.of([d.dtype, d.dtype, 'i32'])]))
}

const sorting =
  (name: 'sort' | 'argsort'): Builder =>
  (d) => {
    const v = d.chance(0.15) ? array(d) : floats(d)
    if (dtypeOf(v) === 'bool') redraw('bool')
    const axis = axisOf(d, v)
    apart(d, v, [positive(v, axis)])
    d.op(name, ref(v), { axis, ...(d.chance(0.4) && { descending: true }) })
  }
const topk: Builder = (d) => {
  const v = floats(d)
  const axis = axisOf(d, v)
  apart(d, v, [positive(v, axis)])
  const size = shapeOf(v)[positive(v, axis)]!
  const from = size > 1 && d.chance(0.3) ? d.between(1, size - 1) : 0
  const how = { axis, ...(d.chance(0.3) && { largest: false }), ...(from > 0 && { from }) }
  d.emit('topk', [ref(v), d.between(1, Math.max(1, size - from)), how])
}
const running =
  (name: 'cumsum' | 'cumprod'): Builder =>
  (d) => {
    const v = d.chance(0.15) ? array(d) : floats(d)
    const x = isFloatValue(v) && name === 'cumprod' ? within(d, v, [-2, 2]) : v
    const axis = axisOf(d, x)
    d.op(name, ref(x), { axis, ...(d.chance(0.3) && { reverse: true }), ...(d.chance(0.3) && { exclusive: true }) })
  }
const linearRecurrence: Builder = (d) => {
  const b = floats(d)
  const a = tame(d, like(d, shapeOf(b), dtypeOf(b)), 1.2)
  d.op('linearRecurrence', ref(a), ref(b), { axis: axisOf(d, b), ...(d.chance(0.3) && { reverse: true }) })
}

/** Axes of a reduction, in its options: none, one, several; kept or not. */
const reduceOptions = (d: Draw, v: Value): { readonly options: { readonly [key: string]: Template }; readonly axes: readonly number[] } => {
  const all = shapeOf(v).map((_, i) => i)
  const r = d.next()
  const keep = d.chance(0.35) ? { keepdims: true } : {}
  if (r < 0.25 || all.length === 0) return { options: keep, axes: all }
  if (r < 0.75) {
    const axis = axisOf(d, v)
    return { options: { axis, ...keep }, axes: [positive(v, axis)] }
  }
  const axes = all.filter(() => d.chance(0.5))
  return { options: { axis: axes, ...keep }, axes }
}
/** Options `where` and `initial` of those reductions that have them: the mask given or written out, the first number of a largest beyond all others. */
const foldedFrom = (d: Draw, name: string, x: Value): { readonly [key: string]: Template } => {
  const first = ({ sum: [0.5, 2, -1], prod: [0.5, 2, -1], max: [-400, 400], min: [400, -400] } as { readonly [op: string]: number[] })[name]
  if ((first === undefined && name !== 'mean') || dtypeOf(x) === 'bool' || d.chance(0.7)) return {}
  const bools = d.find((m) => dtypeOf(m) === 'bool' && sameShape(broadcastOf(shapeOf(m), shapeOf(x)) ?? [-1], shapeOf(x)))
  const n = shapeOf(x)[rankOf(x) - 1] ?? 1
  const mask: Template = bools !== undefined ? ref(bools) : rankOf(x) === 0 ? true : Array.from({ length: n }, () => d.chance(0.6))
  const where = d.chance(0.6) ? { where: mask } : {}
  const needed = name === 'max' || name === 'min' || d.chance(0.6)
  const initial = first === undefined || !needed ? {} : { initial: d.of(first.map((k) => (isFloatValue(x) ? k : Math.trunc(k)))) }
  return { ...where, ...initial }
}
type Guard = (d: Draw, v: Value, axes: readonly number[]) => Value
const asIs: Guard = (_, v) => v
const reduction =
  (
    name: string,
    dtypes: 'float' | 'number' | 'any',
    guard: Guard = asIs,
    more: (d: Draw) => { readonly [key: string]: Template } = () => ({}),
  ): Builder =>
  (d) => {
    const v = d.chance(0.8) ? d.float() : d.pick((x) => dtypes !== 'float' && (dtypes === 'any' || dtypeOf(x) !== 'bool'))
    const { options, axes } = reduceOptions(d, v)
    const x = isFloatValue(v) ? guard(d, v, axes) : v
    const given = { ...options, ...more(d), ...foldedFrom(d, name, x) }
    const y = d.op(name, ref(x), ...(Object.keys(given).length === 0 ? [] : [given]))
    // A reduction beside what it reduced.
    if (d.chance(0.25) && isFloatValue(y) && options.keepdims === true) d.op('add', ref(x), ref(y))
  }
const unlike: Guard = (d, v, axes) => {
  apart(d, v, axes)
  return v
}
const nonZero: Guard = (d, v) => {
  awayFrom(d, v, () => [0])
  return v
}
const spread: Guard = (d, v, axes) => {
  if (axes.reduce((n, a) => n * shapeOf(v)[a]!, 1) < 2) redraw('no spread')
  apart(d, v, axes)
  return v
}
const argReduction =
  (name: 'argmax' | 'argmin'): Builder =>
  (d) => {
    const v = d.pick((x) => dtypeOf(x) !== 'bool')
    const whole = rankOf(v) === 0 || d.chance(0.3)
    const axis = whole ? 0 : axisOf(d, v)
    apart(d, v, whole ? shapeOf(v).map((_, i) => i) : [positive(v, axis)])
    d.op(name, ref(v), ...(whole ? [] : [{ axis, ...(d.chance(0.3) && { keepdims: true }) }]))
  }

export const indexingRows: readonly Row[] = [
  { name: 'gather', weight: 1.4, build: gather('gather') },
  { name: 'take', weight: 0.3, build: gather('take') },
  { name: 'scatterAdd', weight: 1, build: update('scatterAdd') },
  { name: 'setAt', weight: 1, build: update('setAt') },
  { name: 'takeAlongAxis', weight: 0.6, build: takeAlongAxis },
  { name: 'dynamicSlice', weight: 0.7, build: dynamicSlice },
  { name: 'dynamicUpdateSlice', weight: 0.7, build: dynamicUpdateSlice },
  { name: 'at', weight: 1.2, build: at },
  { name: 'set', weight: 0.8, build: updated('set') },
  { name: 'addAt', weight: 0.8, build: updated('addAt') },
  { name: 'oneHot', weight: 0.4, build: oneHot },
  { name: 'sort', weight: 0.7, build: sorting('sort') },
  { name: 'argsort', weight: 0.4, build: sorting('argsort') },
  { name: 'topk', weight: 0.5, build: topk },
  { name: 'cumsum', weight: 0.7, build: running('cumsum') },
  { name: 'cumprod', weight: 0.5, build: running('cumprod') },
  { name: 'linearRecurrence', weight: 0.6, build: linearRecurrence },
]
export const reduceRows: readonly Row[] = [
  { name: 'sum', weight: 2, build: reduction('sum', 'any') },
  { name: 'mean', weight: 1, build: reduction('mean', 'number') },
  { name: 'prod', weight: 0.6, build: reduction('prod', 'number', (d, v) => within(d, v, [-2, 2])) },
  { name: 'max', weight: 0.7, build: reduction('max', 'number', unlike) },
  { name: 'min', weight: 0.5, build: reduction('min', 'number', unlike) },
  { name: 'variance', weight: 0.4, build: reduction('variance', 'float', spread, (d) => (d.chance(0.3) ? { ddof: 1 } : {})) },
  { name: 'std', weight: 0.4, build: reduction('std', 'float', spread) },
  {
    name: 'norm',
    weight: 0.4,
    build: reduction(
      'norm',
      'float',
      (d, v, axes) => unlike(d, nonZero(d, v, axes), axes),
      (d) => d.of<{ readonly [key: string]: Template }>([{}, { ord: 1 }, { ord: 'inf' }, { ord: 3 }, { ord: -2 }, { ord: '-inf' }]),
    ),
  },
  { name: 'logsumexp', weight: 0.5, build: reduction('logsumexp', 'float') },
  { name: 'any', weight: 0.2, build: reduction('any', 'any', nonZero) },
  { name: 'all', weight: 0.2, build: reduction('all', 'any', nonZero) },
  { name: 'count', weight: 0.2, build: reduction('count', 'any', nonZero) },
  { name: 'argmax', weight: 0.4, build: argReduction('argmax') },
  { name: 'argmin', weight: 0.3, build: argReduction('argmin') },
]
