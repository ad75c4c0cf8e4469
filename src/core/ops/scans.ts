import { badInput, badShape, showShape } from '../errors/explain.js'
import { aval, sameAval } from '../graph/aval.js'
import { castNode } from '../graph/cast.js'
import { boolean, type Codec, natural, naturals, record } from '../graph/codec.js'
import { apply, applyMulti, type Node } from '../graph/expr.js'
import { type Primitive, primitive, type Sample } from '../graph/primitive.js'
import { placesOf, sorting } from './radix-sort.js'
import { aroundAxis, eachReduced, type ReduceParams, reduceCodec, reduceSamples, reduceShape, showAxes } from './reduce.js'

const family = 'scans'

/** Calls f(offset of a line's first element, distance between neighbours, length) for every line along the axis. */
const eachLine = (shape: readonly number[], axis: number, f: (start: number, step: number, size: number) => void): void => {
  const { before, size, after } = aroundAxis(shape, axis)
  for (let b = 0; b < before; b++) for (let c = 0; c < after; c++) f(b * size * after + c, after, size)
}

const hasAxis = (shape: readonly number[], axis: number, op: string): void => {
  if (!(Number.isInteger(axis) && axis >= 0 && axis < shape.length)) badInput(op, `axis ${axis} is out of range for ${showShape(shape)}.`)
}

// ---- cumsum and cumprod ------------------------------------------------------------------------------------------------

/** Which axis; from its end when `reverse`; without the element itself when `exclusive`. */
export interface ScanParams {
  readonly axis: number
  readonly reverse: boolean
  readonly exclusive: boolean
}
const scanCodec: Codec<ScanParams> = record({ axis: natural, reverse: boolean, exclusive: boolean })
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
    structure: { kind: 'running', by: name === 'cumsum' ? 'sum' : 'product' },
    unbounded: false,
    gaps: ({ exclusive }) => exclusive,
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

// ---- prod: its derivative is made of running products ---------------------------------------------------------------------

export const prodPrimitive: Primitive<'prod', ReduceParams, readonly ['float']> = primitive({
  name: 'prod',
  structure: { kind: 'fold', by: 'prod' },
  unbounded: false,
  family,
  args: ['float'],
  codec: reduceCodec,
  dtypes: ['number'],
  shapeRule: reduceShape,
  meaning: ([x], { axes }, [out]) => {
    const total = x!.dtype === 'i32' ? new Int32Array(out!.data.length).fill(1) : new Float64Array(out!.data.length).fill(1)
    eachReduced(x!, axes, (o, i) => {
      total[o] = x!.dtype === 'i32' ? Math.imul(total[o]!, x!.data[i]!) : total[o]! * x!.data[i]!
    })
    out!.data.set(total as never)
  },
  samples: [
    ...reduceSamples(),
    { args: [{ shape: [4], values: [2, 0, 3, -1] }], params: { axes: [0] }, note: 'one zero' },
    { args: [{ shape: [2, 3], values: [0, 0, 3, 1, 2, 0] }], params: { axes: [1] }, note: 'two zeros' },
    { args: [{ shape: [2, 3, 4] }], params: { axes: [0, 1] }, note: 'axes in front' },
    { args: [{ shape: [5], dtype: 'i32', domain: [-4, 5] }], params: { axes: [0] } },
  ],
  showParams: showAxes,
  source: 'NumPy prod',
})

// ---- cummax and cummin -------------------------------------------------------------------------------------------------

export interface RunningParams {
  readonly axis: number
  readonly reverse: boolean
}
const runningCodec: Codec<RunningParams> = record({ axis: natural, reverse: boolean })
const showRunning = ({ axis, reverse }: RunningParams): string => `axis ${axis}${reverse ? ' reverse' : ''}`

const extreme = <const N extends 'cummax' | 'cummin'>(
  name: N,
  choose: (a: number, b: number) => number,
): Primitive<N, RunningParams, readonly ['float']> =>
  primitive({
    name,
    structure: { kind: 'running', by: 'extreme' },
    unbounded: false,
    family,
    args: ['float'],
    codec: runningCodec,
    dtypes: ['number'],
    shapeRule: ([x], { axis }) => {
      hasAxis(x!.shape, axis, name)
      return x!
    },
    meaning: ([x], { axis, reverse }, [out]) => {
      eachLine(x!.shape, axis, (start, stride, size) => {
        let best = 0
        for (let k = 0; k < size; k++) {
          const at = start + (reverse ? size - 1 - k : k) * stride
          best = k === 0 ? x!.data[at]! : choose(best, x!.data[at]!)
          out!.data[at] = best
        }
      })
    },
    samples: [
      { args: [{ shape: [5] }], params: { axis: 0, reverse: false } },
      { args: [{ shape: [2, 3] }], params: { axis: 0, reverse: true } },
      { args: [{ shape: [2, 4, 2] }], params: { axis: 1, reverse: false } },
      { args: [{ shape: [1] }], params: { axis: 0, reverse: true } },
      { args: [{ shape: [2, 0] }], params: { axis: 1, reverse: false } },
      { args: [{ shape: [0, 3] }], params: { axis: 1, reverse: false } },
      { args: [{ shape: [6], dtype: 'i32', domain: [-4, 5] }], params: { axis: 0, reverse: false } },
    ],
    showParams: showRunning,
    source: `NumPy ${name === 'cummax' ? 'maximum' : 'minimum'}.accumulate`,
  })

export const cummaxPrimitive = extreme('cummax', Math.max)
export const cumminPrimitive = extreme('cummin', Math.min)

// ---- linear recurrences ------------------------------------------------------------------------------------------------

export type RecurrenceParams = RunningParams

export const linearRecurrencePrimitive: Primitive<'linearRecurrence', RecurrenceParams, readonly ['float', 'float']> = primitive({
  name: 'linearRecurrence',
  structure: { kind: 'running', by: 'product' },
  zeros: 1,
  unbounded: false,
  family,
  args: ['float', 'float'],
  codec: runningCodec,
  dtypes: ['float', 'float'],
  shapeRule: ([a, b], { axis }) => {
    if (!sameAval(a!, b!))
      badShape(
        'linearRecurrence',
        [a!.shape, b!.shape],
        `a is ${a!.dtype} ${showShape(a!.shape)}, b is ${b!.dtype} ${showShape(b!.shape)}.`,
        `broadcastTo and cast one of them.`,
      )
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
  showParams: showRunning,
  source: 'Blelloch 1990, first-order recurrences',
})
export const recurrenceNode = (a: Node, b: Node, params: RecurrenceParams): Node => apply(linearRecurrencePrimitive, [a, b], params)

// ---- sort --------------------------------------------------------------------------------------------------------------

export interface SortParams {
  readonly axis: number
  readonly descending: boolean
  /** [from, to]: the places from ... to - 1 of the order; all of them where it is not there. */
  readonly places?: readonly number[]
}
/** The places that are asked for, of so many. */
export const placesIn = ({ places = [] }: SortParams, size: number): readonly [from: number, to: number] => [
  places[0] ?? 0,
  places[1] ?? size,
]
const sortCodec: Codec<SortParams> = record<SortParams>({ axis: natural, descending: boolean, places: naturals }, 'places')

export const sortPrimitive: Primitive<'sort', SortParams, readonly ['float']> = primitive({
  name: 'sort',
  unbounded: false,
  family,
  args: ['float'],
  multi: true,
  codec: sortCodec,
  dtypes: ['number'],
  shapeRule: ([x], params) => {
    const { axis, places } = params
    hasAxis(x!.shape, axis, 'sort')
    const [from, to] = placesIn(params, x!.shape[axis]!)
    if ((places !== undefined && places.length !== 2) || from > to || to > x!.shape[axis]!)
      badShape('sort', [x!.shape], `there are no places [${places}] along axis ${axis}.`, 'take places from 0 to the length of the axis.')
    const shape = x!.shape.map((d, i) => (i === axis ? to - from : d))
    return [aval(shape, x!.dtype), aval(shape, 'i32')]
  },
  meaning: ([x], params, [values, indices]) => {
    const { axis, descending } = params
    const size = x!.shape[axis]!
    const [from, to] = placesIn(params, size)
    const count = to - from
    const room = sorting(size, x!.dtype)
    const [line, inOrder] = [new Float64Array(size), new Float64Array(count)]
    const starts: number[] = []
    eachLine(values!.shape, axis, (start) => starts.push(start))
    let next = 0
    eachLine(x!.shape, axis, (start, stride) => {
      if (stride === 1) line.set(x!.data.subarray(start, start + size))
      else for (let i = 0; i < size; i++) line[i] = x!.data[start + i * stride]!
      const order = placesOf(room, line, { descending, from, to })
      for (let k = 0; k < count; k++) inOrder[k] = line[order[k]!]!
      const at = starts[next++]!
      if (stride === 1) {
        values!.data.set(inOrder, at)
        indices!.data.set(order, at)
      } else
        for (let k = 0; k < count; k++) {
          values!.data[at + k * stride] = inOrder[k]!
          indices!.data[at + k * stride] = order[k]!
        }
    })
  },
  samples: [
    { args: [{ shape: [6] }], params: { axis: 0, descending: false } },
    { args: [{ shape: [3, 4] }], params: { axis: 0, descending: false } },
    { args: [{ shape: [2, 3, 2] }], params: { axis: 1, descending: true } },
    { args: [{ shape: [1] }], params: { axis: 0, descending: true } },
    { args: [{ shape: [2, 0] }], params: { axis: 1, descending: false } },
    { args: [{ shape: [5], dtype: 'i32', domain: [-3, 3] }], params: { axis: 0, descending: false } },
    { args: [{ shape: [2, 5, 2] }], params: { axis: 1, descending: true, places: [1, 3] } },
  ],
  showParams: ({ axis, descending, places }) =>
    `axis ${axis}${descending ? ' descending' : ''}${places === undefined ? '' : `, places ${places.join(' to ')}`}`,
  source: 'NumPy sort, stable',
})
/** Values and indices, in order, all of them or those of some places; booleans stay booleans. */
export const sortNodes = (x: Node, params: SortParams): readonly [Node, Node] => {
  const [values, indices] = applyMulti(sortPrimitive, [x.dtype === 'bool' ? castNode(x, 'i32') : x], params)
  return [castNode(values!, x.dtype), indices!]
}
