/** Reductions over axes: what each one is. */
import { badInput, showShape } from '../errors/explain.js'
import { type Aval, aval } from '../graph/aval.js'
import { castNode } from '../graph/cast.js'
import { type Codec, naturals, record } from '../graph/codec.js'
import { apply, asExpr, asNode, constant, type Node } from '../graph/expr.js'
import type { NDArray } from '../graph/ndarray.js'
import { type Primitive, primitive, type Sample } from '../graph/primitive.js'
import { forEachIndex, otherAxes, range, sizeOf, stridesOf } from '../graph/shape.js'
import type { AnyExpr } from '../types/expr.js'
import { type AxisParams, axisCodec } from './layout/join.js'
import { axisOf, broadcastNode, distinctAxes, reshapeNode } from './layout/move.js'

/** Axes that are folded (sorted, from the front); the result keeps the others. */
export interface ReduceParams {
  readonly axes: readonly number[]
}
export const reduceCodec: Codec<ReduceParams> = record({ axes: naturals })

/** Shape rule of a reduction. */
export const reduceShape = ([x]: readonly Aval[], { axes }: ReduceParams): Aval => {
  if (axes.length === 0) return x!
  const rank = x!.shape.length
  if (axes.some((a, i) => !(Number.isInteger(a) && a > (axes[i - 1] ?? -1) && a < rank)))
    badInput('reduction', `axes ${showShape(axes)} are not axes of ${showShape(x!.shape)} in order.`)
  return aval(
    otherAxes(rank, axes).map((i) => x!.shape[i]!),
    x!.dtype,
  )
}

/** Shape rule of a fold without an identity: some element must be there for every result. */
const nonEmptyShape =
  (op: string) =>
  (args: readonly Aval[], params: ReduceParams): Aval => {
    const y = reduceShape(args, params)
    if (args[0]!.size === 0 && y.size > 0) noElement(op, args[0]!.shape)
    return y
  }
export const noElement = (op: string, shape: readonly number[]): never =>
  badInput(op, `${op} of no elements: an axis of ${showShape(shape)} that is folded is empty.`, `concat a starting value first.`)

/** Calls f(result index, argument index) for every element of the argument, results in row-major order. */
export const eachReduced = (x: NDArray, axes: readonly number[], f: (out: number, at: number) => void): void => {
  const kept = otherAxes(x.shape.length, axes)
  const outStrides = stridesOf(kept.map((i) => x.shape[i]!))
  const strides = new Array<number>(x.shape.length).fill(0)
  kept.forEach((axis, j) => {
    strides[axis] = outStrides[j]!
  })
  forEachIndex(x.shape, [strides], (o, flat) => f(o[0]!, flat))
}

/** Samples over the usual axes. */
export const reduceSamples = (domain: readonly [number, number] = [-2, 2], empty = true): readonly Sample<ReduceParams>[] => [
  { args: [{ shape: [5], domain }], params: { axes: [0] } },
  { args: [{ shape: [2, 3], domain }], params: { axes: [1] } },
  { args: [{ shape: [2, 3], domain }], params: { axes: [0] } },
  { args: [{ shape: [2, 3, 4], domain }], params: { axes: [0, 2] } },
  { args: [{ shape: [2, 1, 3], domain }], params: { axes: [0, 1, 2] } },
  { args: [{ shape: [], domain }], params: { axes: [] } },
  ...(empty
    ? [
        { args: [{ shape: [0, 3], domain }], params: { axes: [0] } },
        { args: [{ shape: [2, 0], domain }], params: { axes: [0] } },
      ]
    : []),
]
export const showAxes = ({ axes }: ReduceParams): string => `axes ${showShape(axes)}`

export const sumPrimitive: Primitive<'sum', ReduceParams, readonly ['float']> = primitive({
  name: 'sum',
  structure: { kind: 'fold', by: 'sum' },
  unbounded: false,
  family: 'reduce',
  args: ['float'],
  codec: reduceCodec,
  dtypes: ['number'],
  shapeRule: reduceShape,
  meaning: ([x], { axes }, [out]) => {
    const total = new Float64Array(out!.data.length)
    eachReduced(x!, axes, (o, i) => {
      total[o]! += x!.data[i]!
    })
    out!.data.set(total as never)
  },
  samples: reduceSamples(),
  showParams: showAxes,
  source: 'NumPy sum',
})

/** The fold that keeps the better of two; a NaN is better than anything. */
const extremum = <const N extends 'max' | 'min'>(
  name: N,
  better: (a: number, b: number) => boolean,
): Primitive<N, ReduceParams, readonly ['float']> =>
  primitive({
    name,
    structure: { kind: 'fold', by: name },
    unbounded: false,
    family: 'reduce',
    args: ['float'],
    codec: reduceCodec,
    dtypes: ['number'],
    shapeRule: nonEmptyShape(name),
    meaning: ([x], { axes }, [out]) => {
      const seen = new Uint8Array(out!.data.length)
      eachReduced(x!, axes, (o, i) => {
        const v = x!.data[i]!
        if (seen[o] === 0 || better(v, out!.data[o]!) || Number.isNaN(v)) out!.data[o] = v
        seen[o] = 1
      })
    },
    samples: [
      ...reduceSamples([-2, 2], false),
      { args: [{ shape: [2, 0] }], params: { axes: [0] } },
      { args: [{ shape: [2, 3], dtype: 'i32', domain: [-9, 9] }], params: { axes: [1] } },
    ],
    showParams: showAxes,
    source: `NumPy ${name}`,
  })
export const maxPrimitive = extremum('max', (a, b) => a > b)
export const minPrimitive = extremum('min', (a, b) => a < b)

/** Where along one axis the best element is: the first of equals, the first NaN before all. */
const position = <const N extends 'argmax' | 'argmin'>(
  name: N,
  better: (a: number, b: number) => boolean,
): Primitive<N, AxisParams, readonly ['float']> =>
  primitive({
    name,
    unbounded: false,
    family: 'reduce',
    args: ['float'],
    codec: axisCodec,
    dtypes: ['any'],
    shapeRule: ([x], { axis }) => {
      const y = reduceShape([x!], { axes: [axis] })
      if (x!.size === 0 && y.size > 0) noElement(name, x!.shape)
      return aval(y.shape, 'i32')
    },
    meaning: ([x], { axis }, [out]) => {
      const { before, size, after } = aroundAxis(x!.shape, axis)
      for (let b = 0; b < before; b++)
        for (let c = 0; c < after; c++) {
          const start = b * size * after + c
          let at = 0
          for (let i = 0; i < size; i++) {
            const best = x!.data[start + at * after]!
            const v = x!.data[start + i * after]!
            if (!Number.isNaN(best) && (better(v, best) || Number.isNaN(v))) at = i
          }
          out!.data[b * after + c] = at
        }
    },
    samples: [
      { args: [{ shape: [5] }], params: { axis: 0 } },
      { args: [{ shape: [2, 3] }], params: { axis: 1 } },
      { args: [{ shape: [3, 4, 2] }], params: { axis: 1 } },
      { args: [{ shape: [0, 2] }], params: { axis: 1 } },
      { args: [{ shape: [4], values: [1, 3, 3, 0] }], params: { axis: 0 }, note: 'ties' },
      { args: [{ shape: [4], dtype: 'i32', domain: [-9, 9] }], params: { axis: 0 } },
    ],
    showParams: ({ axis }) => `axis ${axis}`,
    source: `NumPy ${name}`,
  })
export const argmaxPrimitive = position('argmax', (a, b) => a > b)
export const argminPrimitive = position('argmin', (a, b) => a < b)

/** Lengths before, along and after an axis: element i of line (b, c) is at (b size + i) after + c. */
export const aroundAxis = (
  shape: readonly number[],
  axis: number,
): { readonly before: number; readonly size: number; readonly after: number } => ({
  before: sizeOf(shape.slice(0, axis)),
  size: shape[axis]!,
  after: sizeOf(shape.slice(axis + 1)),
})

/** The axes given (all without), sorted and from the front; raises BadInput for a missing or repeated one. */
export const axesOf = (rank: number, axis: number | readonly number[] | null | undefined, op: string): readonly number[] =>
  axis === undefined || axis === null
    ? range(rank)
    : typeof axis === 'number'
      ? [axisOf(axis, rank, op)]
      : sorted(distinctAxes(axis, rank, op))
const sorted = (axes: readonly number[]): readonly number[] => (axes.length < 2 ? axes : [...axes].sort((a, b) => a - b))

/** Applies a reduction; keepdims is a reshape after it. */
export const reduceNode = (prim: Primitive<string, ReduceParams>, x: Node, axes: readonly number[], keepdims = false): Node => {
  const y = axes.length === 0 ? x : apply(prim, [x], { axes })
  return keepdims
    ? reshapeNode(
        y,
        x.shape.map((d, i) => (axes.includes(i) ? 1 : d)),
      )
    : y
}
/** The shape that a reduction of n has. */
export const reducedShape = (n: Node, axes: readonly number[], keepdims: boolean): readonly number[] =>
  keepdims ? n.shape.map((d, i) => (axes.includes(i) ? 1 : d)) : reduceShape([n.aval], { axes }).shape
/** Each element as a number: is it not 0? */
export const truthsNode = (x: Node): Node => castNode(castNode(x, 'bool'), 'i32')
/** Is any (or every) truth over the axes 1? Of none, not any, and every. */
export const quantifiedNode = (op: 'any' | 'all', truths: Node, axes: readonly number[], keepdims: boolean): Node =>
  axes.some((a) => truths.shape[a] === 0)
    ? broadcastNode(constant(op === 'all' ? 1 : 0, 'bool'), reducedShape(truths, axes, keepdims))
    : castNode(reduceNode(op === 'any' ? maxPrimitive : minPrimitive, truths, axes, keepdims), 'bool')
/** Is any element over the axes not 0? The axes stay, with length 1, where `keepdims` says so. */
export const anyOf = (x: AnyExpr, axes: readonly number[], keepdims = false): AnyExpr =>
  asExpr(quantifiedNode('any', truthsNode(asNode(x)), axes, keepdims))
/** Sum down to a shape that broadcasts to x's: the inverse of broadcasting. */
export const sumToNode = (x: Node, shape: readonly number[]): Node => {
  const off = x.shape.length - shape.length
  const axes = range(x.shape.length).filter((i) => i < off || (shape[i - off] === 1 && x.shape[i] !== 1))
  return reshapeNode(reduceNode(sumPrimitive, x, axes), shape)
}
