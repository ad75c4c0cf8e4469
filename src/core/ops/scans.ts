/** Scans and order along one axis: cumsum, cumprod, linear recurrences, sort. */
import * as t from 'io-ts'
import { aval, isFloat, sameAval } from '../aval.js'
import { castNode } from '../cast.js'
import { broadcastAvals } from '../elementwise.js'
import { raise } from '../explain.js'
import { apply, applyMulti, asExpr, type Node } from '../expr.js'
import { flagOf, type Names, optionsOf, shown } from '../given.js'
import { lift, liftAll } from '../lift.js'
import { natural } from '../params.js'
import { type Primitive, primitive, type Sample } from '../primitive.js'
import { showShape } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'
import { axisOf, broadcastNode } from './layout.js'
import { sliceAxis } from './layout-slice.js'
import { aroundAxis } from './reduce.js'

const family = 'scans'

/** Calls f(offset of a line's first element, distance between neighbours, length) for every line along the axis. */
const eachLine = (shape: readonly number[], axis: number, f: (start: number, step: number, size: number) => void): void => {
  const { before, size, after } = aroundAxis(shape, axis)
  for (let b = 0; b < before; b++) for (let c = 0; c < after; c++) f(b * size * after + c, after, size)
}

const hasAxis = (shape: readonly number[], axis: number, op: string): void => {
  if (!(Number.isInteger(axis) && axis >= 0 && axis < shape.length))
    raise({ _tag: 'BadInput', where: op, reason: `axis ${axis} is out of range for ${showShape(shape)}.` })
}

// ---- cumsum and cumprod ------------------------------------------------------------------------------------------------

/** Which axis; from its end when `reverse`; without the element itself when `exclusive`. */
export interface ScanParams {
  readonly axis: number
  readonly reverse: boolean
  readonly exclusive: boolean
}
const scanCodec: t.Type<ScanParams> = t.type({ axis: natural, reverse: t.boolean, exclusive: t.boolean })
const scanSamples: readonly Sample<ScanParams>[] = [
  { args: [{ shape: [5] }], params: { axis: 0, reverse: false, exclusive: false } },
  { args: [{ shape: [2, 3] }], params: { axis: 0, reverse: false, exclusive: true } },
  { args: [{ shape: [2, 3, 2] }], params: { axis: 1, reverse: true, exclusive: false } },
  { args: [{ shape: [3, 4] }], params: { axis: 1, reverse: true, exclusive: true } },
  { args: [{ shape: [1] }], params: { axis: 0, reverse: false, exclusive: true } },
  { args: [{ shape: [2, 0] }], params: { axis: 1, reverse: false, exclusive: true } },
  { args: [{ shape: [0, 3] }], params: { axis: 1, reverse: false, exclusive: false } },
  { args: [{ shape: [4], dtype: 'i32', domain: [-4, 5] }], params: { axis: 0, reverse: false, exclusive: false } },
]

const scan = <const N extends 'cumsum' | 'cumprod'>(
  name: N,
  identity: number,
  step: (total: number, x: number) => number,
  more: readonly Sample<ScanParams>[],
): Primitive<N, ScanParams, readonly ['float']> =>
  primitive({
    name,
    family,
    args: ['float'],
    codec: scanCodec,
    dtypes: ['number'],
    shapeRule: ([x], { axis }) => {
      hasAxis(x!.shape, axis, name)
      return x!
    },
    meaning: ([x], { axis, reverse, exclusive }, [out]) => {
      const integer = x!.dtype === 'i32'
      eachLine(x!.shape, axis, (start, stride, size) => {
        let total = identity
        for (let k = 0; k < size; k++) {
          const at = start + (reverse ? size - 1 - k : k) * stride
          const v = x!.data[at]!
          if (exclusive) out!.data[at] = total
          total = integer ? (name === 'cumprod' ? Math.imul(total, v) : (total + v) | 0) : step(total, v)
          if (!exclusive) out!.data[at] = total
        }
      })
    },
    samples: [...scanSamples, ...more],
    showParams: ({ axis, reverse, exclusive }) => `axis ${axis}${reverse ? ' reverse' : ''}${exclusive ? ' exclusive' : ''}`,
    source: `NumPy ${name}`,
  })

export const cumsumPrimitive = scan('cumsum', 0, (total, x) => total + x, [])
export const cumprodPrimitive = scan('cumprod', 1, (total, x) => total * x, [
  { args: [{ shape: [4], values: [2, 0, 3, -1] }], params: { axis: 0, reverse: false, exclusive: false }, note: 'one zero' },
  { args: [{ shape: [5], values: [2, 0, 3, 0, 5] }], params: { axis: 0, reverse: true, exclusive: false }, note: 'two zeros' },
  { args: [{ shape: [5], values: [2, 0, 3, 0, 5] }], params: { axis: 0, reverse: false, exclusive: true }, note: 'two zeros' },
])

/** Options of cumsum and cumprod. */
export interface ScanOptions {
  readonly axis?: number
  readonly reverse?: boolean
  readonly exclusive?: boolean
}
const scanOptions: Names<ScanOptions> = { axis: true, reverse: true, exclusive: true }
const scanned =
  (prim: Primitive<'cumsum' | 'cumprod', ScanParams, readonly ['float']>) =>
  (x: unknown, options?: ScanOptions): AnyExpr => {
    const n = lift(x, prim.name)
    const { axis = -1, reverse, exclusive } = optionsOf(options, scanOptions, prim.name)
    return asExpr(
      apply(prim, [n.dtype === 'bool' ? castNode(n, 'i32') : n], {
        axis: axisOf(axis, n.shape.length, prim.name),
        reverse: flagOf(reverse, 'reverse', prim.name),
        exclusive: flagOf(exclusive, 'exclusive', prim.name),
      }),
    )
  }

/**
 * Running sums y_k = x_0 + ... + x_k along an axis (the last by default); `reverse` runs from the end, `exclusive` leaves x_k out.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32.
 * Rule    dy = cumsum dx; xBar = cumsum of yBar from the other end.
 * Errors  BadInput for an axis out of range.
 * @example cumsum([1, 2, 3])   // [1, 3, 6]
 */
export const cumsum: (x: unknown, options?: ScanOptions) => AnyExpr = scanned(cumsumPrimitive as never)

/**
 * Running products y_k = x_0 ... x_k along an axis (the last by default); `reverse` runs from the end, `exclusive` leaves x_k out.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32.
 * Rule    dy_k = x_k dy_{k-1} + dx_k y_{k-1}, a linear recurrence: exact where some x are zero.
 * Errors  BadInput for an axis out of range.
 * @example cumprod([1, 2, 3])   // [1, 2, 6]
 */
export const cumprod: (x: unknown, options?: ScanOptions) => AnyExpr = scanned(cumprodPrimitive as never)

// ---- linear recurrences ------------------------------------------------------------------------------------------------

export interface RecurrenceParams {
  readonly axis: number
  readonly reverse: boolean
}

export const linearRecurrencePrimitive: Primitive<'linearRecurrence', RecurrenceParams, readonly ['float', 'float']> = primitive({
  name: 'linearRecurrence',
  family,
  args: ['float', 'float'],
  codec: t.type({ axis: natural, reverse: t.boolean }),
  dtypes: ['float', 'float'],
  shapeRule: ([a, b], { axis }) => {
    if (!sameAval(a!, b!))
      raise({
        _tag: 'ShapeMismatch',
        op: 'linearRecurrence',
        shapes: [a!.shape, b!.shape],
        reason: `a is ${a!.dtype} ${showShape(a!.shape)}, b is ${b!.dtype} ${showShape(b!.shape)}.`,
        fix: `broadcastTo and cast one of them.`,
      })
    hasAxis(a!.shape, axis, 'linearRecurrence')
    return a!
  },
  meaning: ([a, b], { axis, reverse }, [out]) => {
    eachLine(a!.shape, axis, (start, stride, size) => {
      let s = 0
      for (let k = 0; k < size; k++) {
        const at = start + (reverse ? size - 1 - k : k) * stride
        s = k === 0 ? b!.data[at]! : a!.data[at]! * s + b!.data[at]!
        out!.data[at] = s
      }
    })
  },
  samples: [
    { args: [{ shape: [5] }, { shape: [5] }], params: { axis: 0, reverse: false } },
    { args: [{ shape: [2, 3] }, { shape: [2, 3] }], params: { axis: 0, reverse: true } },
    { args: [{ shape: [2, 3, 2] }, { shape: [2, 3, 2] }], params: { axis: 1, reverse: true } },
    { args: [{ shape: [1] }, { shape: [1] }], params: { axis: 0, reverse: false } },
    { args: [{ shape: [2, 0] }, { shape: [2, 0] }], params: { axis: 1, reverse: false } },
  ],
  showParams: ({ axis, reverse }) => `axis ${axis}${reverse ? ' reverse' : ''}`,
  source: 'Blelloch 1990, first-order recurrences',
})
export const recurrenceNode = (a: Node, b: Node, params: RecurrenceParams): Node => apply(linearRecurrencePrimitive, [a, b], params)

export interface RecurrenceOptions {
  readonly axis?: number
  readonly reverse?: boolean
}
const recurrenceOptions: Names<RecurrenceOptions> = { axis: true, reverse: true }

/**
 * Linear recurrence s_0 = b_0, s_k = a_k s_{k-1} + b_k along an axis (the last by default); `reverse` runs from the end. a_0 is not read.
 *
 * Shapes  a and b broadcast.   Dtype  promoted float.
 * Rule    ds_k = a_k ds_{k-1} + da_k s_{k-1} + db_k; the cotangents run the recurrence from the other end.
 * Errors  ShapeMismatch when a and b do not broadcast; BadInput for an axis out of range.
 * @example linearRecurrence([0, 2, 2], [1, 1, 1])   // [1, 3, 7]
 */
export const linearRecurrence = (a: unknown, b: unknown, options?: RecurrenceOptions): AnyExpr => {
  const { axis = -1, reverse } = optionsOf(options, recurrenceOptions, 'linearRecurrence')
  const lifted = liftAll([a, b], 'linearRecurrence')
  const pair = isFloat(lifted[0]!.dtype) ? lifted : lifted.map((n) => castNode(n, 'f64'))
  const shape = broadcastAvals(
    pair.map((n) => n.aval),
    'linearRecurrence',
  )
  const [x, y] = pair.map((n) => broadcastNode(n, shape))
  return asExpr(
    recurrenceNode(x!, y!, {
      axis: axisOf(axis, shape.length, 'linearRecurrence'),
      reverse: flagOf(reverse, 'reverse', 'linearRecurrence'),
    }),
  )
}

// ---- sort --------------------------------------------------------------------------------------------------------------

export interface SortParams {
  readonly axis: number
  readonly descending: boolean
}

/** Order of numbers in which NaN comes after everything. */
const ascending = (a: number, b: number): number =>
  a < b ? -1 : a > b ? 1 : a === b ? 0 : Number(Number.isNaN(a)) - Number(Number.isNaN(b))

export const sortPrimitive: Primitive<'sort', SortParams, readonly ['float']> = primitive({
  name: 'sort',
  family,
  args: ['float'],
  multi: true,
  codec: t.type({ axis: natural, descending: t.boolean }),
  dtypes: ['number'],
  shapeRule: ([x], { axis }) => {
    hasAxis(x!.shape, axis, 'sort')
    return [x!, aval(x!.shape, 'i32')]
  },
  meaning: ([x], { axis, descending }, [values, indices]) => {
    eachLine(x!.shape, axis, (start, stride, size) => {
      const at = (i: number): number => x!.data[start + i * stride]!
      const order = Array.from({ length: size }, (_, i) => i)
      order.sort(descending ? (i, j) => ascending(at(j), at(i)) || i - j : (i, j) => ascending(at(i), at(j)) || i - j)
      order.forEach((i, k) => {
        values!.data[start + k * stride] = at(i)
        indices!.data[start + k * stride] = i
      })
    })
  },
  samples: [
    { args: [{ shape: [6] }], params: { axis: 0, descending: false } },
    { args: [{ shape: [3, 4] }], params: { axis: 0, descending: false } },
    { args: [{ shape: [2, 3, 2] }], params: { axis: 1, descending: true } },
    { args: [{ shape: [1] }], params: { axis: 0, descending: true } },
    { args: [{ shape: [2, 0] }], params: { axis: 1, descending: false } },
    { args: [{ shape: [5], dtype: 'i32', domain: [-3, 3] }], params: { axis: 0, descending: false } },
  ],
  showParams: ({ axis, descending }) => `axis ${axis}${descending ? ' descending' : ''}`,
  source: 'NumPy sort, stable',
})
/** Values and indices, in order. */
export const sortNodes = (x: Node, params: SortParams): readonly [Node, Node] =>
  applyMulti(sortPrimitive, [x], params) as unknown as readonly [Node, Node]

/** Options of sort, argsort. */
export interface SortOptions {
  readonly axis?: number
  readonly descending?: boolean
}
const sortOptions: Names<SortOptions> = { axis: true, descending: true }
/** x as it is sorted. */
const sortable = (x: unknown, op: string): Node => {
  const n = lift(x, op)
  return n.dtype === 'bool' ? castNode(n, 'i32') : n
}
const sorted = (x: unknown, options: SortOptions | undefined, op: string): readonly [Node, Node] => {
  const n = sortable(x, op)
  const { axis = -1, descending } = optionsOf(options, sortOptions, op)
  return sortNodes(n, { axis: axisOf(axis, n.shape.length, op), descending: flagOf(descending, 'descending', op) })
}

/**
 * x in ascending order along an axis (the last by default), equals in their order; a NaN counts as the largest.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32.
 * Rule    dy = dx in the same order; xBar = yBar put back. Equals keep their own entries.
 * Errors  BadInput for an axis out of range.
 * @example sort([3, 1, 2])   // [1, 2, 3]
 */
export const sort = (x: unknown, options?: SortOptions): AnyExpr => asExpr(sorted(x, options, 'sort')[0])

/**
 * The indices that sort x along an axis (the last by default), equals in their order; a NaN counts as the largest.
 *
 * Shapes  x's.   Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range.
 * @example argsort([3, 1, 2])   // [1, 2, 0]
 */
export const argsort = (x: unknown, options?: SortOptions): AnyExpr => asExpr(sorted(x, options, 'argsort')[1])

export interface TopKOptions {
  readonly axis?: number
}
const topkOptions: Names<TopKOptions> = { axis: true }

/**
 * The k largest elements along an axis (the last by default), the largest first, and where they are; a NaN counts as the largest.
 *
 * Shapes  x's with k along the axis.   Dtype  x's, and i32 for the indices.
 * Rule    xBar = valuesBar put back at the indices.
 * Errors  BadInput unless k is a whole number from 0 to the axis' length.
 * @example topk([1, 4, 3], 2).values   // [4, 3]
 */
export const topk = (x: unknown, k: number, options?: TopKOptions): { readonly values: AnyExpr; readonly indices: AnyExpr } => {
  const n = sortable(x, 'topk')
  const { axis: given = -1 } = optionsOf(options, topkOptions, 'topk')
  const axis = axisOf(given, n.shape.length, 'topk')
  const [values, indices] = sortNodes(n, { axis, descending: true })
  if (!(Number.isInteger(k) && k >= 0 && k <= values.shape[axis]!))
    raise({
      _tag: 'BadInput',
      where: 'topk',
      reason: `k = ${shown(k)} of ${values.shape[axis]} elements (axis ${axis} of ${showShape(values.shape)}).`,
      fix: `k is from 0 to ${values.shape[axis]}.`,
    })
  return { values: asExpr(sliceAxis(values, axis, 0, k)), indices: asExpr(sliceAxis(indices, axis, 0, k)) }
}

/** Primitives of this family, by name. */
export const scans = {
  cumsum: cumsumPrimitive,
  cumprod: cumprodPrimitive,
  linearRecurrence: linearRecurrencePrimitive,
  sort: sortPrimitive,
} as const
