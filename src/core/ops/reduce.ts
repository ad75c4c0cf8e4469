/** Reductions over axes: what each one is. */
import * as t from 'io-ts'
import { type Aval, aval } from '../aval.js'
import { raise } from '../explain.js'
import { apply, asExpr, type Node } from '../expr.js'
import { lift, liftFloat } from '../lift.js'
import { castNode } from '../cast.js'
import type { NDArray } from '../ndarray.js'
import { type Primitive, primitive, type Sample } from '../primitive.js'
import { forEachIndex, normalizeAxis, otherAxes, range, showShape, stridesOf } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'
import { div } from './elementwise.js'
import { reshapeNode } from './layout.js'

/** Axes that are folded (sorted, from the front); the result keeps the others. */
export interface ReduceParams {
  readonly axes: readonly number[]
}
export const reduceCodec: t.Type<ReduceParams> = t.type({ axes: t.readonlyArray(t.number) })
/** Which axes, and whether they stay with length 1. */
export interface ReduceOptions {
  readonly axis?: number | readonly number[]
  readonly keepdims?: boolean
}

/** Shape rule of a reduction. */
export const reduceShape = ([x]: readonly Aval[], { axes }: ReduceParams): Aval =>
  axes.length === 0 ? x! : aval(otherAxes(x!.shape.length, axes).map((i) => x!.shape[i]!), x!.dtype)

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
  ...(empty ? [{ args: [{ shape: [0, 3], domain }], params: { axes: [0] } }, { args: [{ shape: [2, 0], domain }], params: { axes: [0] } }] : []),
]
const showAxes = ({ axes }: ReduceParams): string => `axes ${showShape(axes)}`

export const sumPrimitive: Primitive<'sum', ReduceParams, readonly ['float']> = primitive({
  name: 'sum',
  family: 'reduce',
  args: ['float'],
  class: 'reduce',
  codec: reduceCodec,
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

/** Axes of the options, sorted and from the front; raises BadInput for a missing or repeated one. */
export const axesOf = (rank: number, options: ReduceOptions | undefined, op: string): readonly number[] => {
  const axis = options?.axis
  if (axis === undefined) return range(rank)
  const axes = (typeof axis === 'number' ? [axis] : axis).map(
    (a) => normalizeAxis(a, rank) ?? raise({ _tag: 'BadInput', where: op, reason: `axis ${a} is out of range for rank ${rank}.`, fix: `axes go from ${-rank} to ${rank - 1}.` }),
  )
  const sorted = [...axes].sort((a, b) => a - b)
  if (sorted.some((a, i) => a === sorted[i + 1])) raise({ _tag: 'BadInput', where: op, reason: `axes [${axes.join(', ')}] name an axis twice.` })
  return sorted
}

/** Applies a reduction; keepdims is a reshape after it. */
export const reduceNode = (prim: Primitive<string, ReduceParams>, x: Node, axes: readonly number[], keepdims = false): Node => {
  const y = axes.length === 0 ? x : apply(prim, [x], { axes })
  return keepdims ? reshapeNode(y, x.shape.map((d, i) => (axes.includes(i) ? 1 : d))) : y
}

/**
 * Sum over axes (all by default).
 *
 * Shapes  x: any -> without the axes, or with length 1 there when keepdims.   Dtype  x's; bool becomes i32; f32 sums in blocks with f64 totals.
 * Rule    dy = sum dx; xBar = yBar repeated along the axes.
 * Errors  BadInput for an axis out of range or named twice.
 * @example sum([[1, 2], [3, 4]], { axis: 0 })   // [4, 6]
 */
export const sum = (x: unknown, options?: ReduceOptions): AnyExpr => {
  const n0 = lift(x, 'sum')
  const n = n0.dtype === 'bool' ? castNode(n0, 'i32') : n0
  return asExpr(reduceNode(sumPrimitive, n, axesOf(n.shape.length, options, 'sum'), options?.keepdims))
}

/** Sum down to a shape that broadcasts to x's: the inverse of broadcasting. */
export const sumToNode = (x: Node, shape: readonly number[]): Node => {
  const off = x.shape.length - shape.length
  const axes = range(x.shape.length).filter((i) => i < off || (shape[i - off] === 1 && x.shape[i] !== 1))
  return reshapeNode(reduceNode(sumPrimitive, x, axes), shape)
}

/**
 * Arithmetic mean over axes (all by default): sum / count. NaN for an empty axis.
 *
 * Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar = yBar / count repeated.
 * @example mean([1, 2, 3])   // 2
 */
export const mean = (x: unknown, options?: ReduceOptions): AnyExpr => {
  const n = liftFloat(x, 'mean')
  const axes = axesOf(n.shape.length, options, 'mean')
  const count = axes.reduce((k, a) => k * n.shape[a]!, 1)
  return div(asExpr(reduceNode(sumPrimitive, n, axes, options?.keepdims)), count)
}

/** Primitives of this family, by name. */
export const reduce = { sum: sumPrimitive } as const
