/** Layout: operations whose result elements are copies of argument elements (or a fill): the whole family, and compositions. */
import { raise } from '../explain.js'
import { asExpr } from '../expr.js'
import { integersOf, optionsOf, settled, shown } from '../given.js'
import { lift } from '../lift.js'
import { range } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'
import { concatNode, concatPrimitive, splitPrimitive } from './layout-join.js'
import {
  type AxisOptions,
  axesIn,
  axisOf,
  axisOption,
  broadcastNode,
  broadcastToPrimitive,
  distinctAxes,
  reshapeNode,
  reshapePrimitive,
  transposePrimitive,
} from './layout-move.js'
import { padPrimitive, sliceAddPrimitive, sliceAxis, sliceNode, slicePrimitive } from './layout-slice.js'

export * from './layout-join.js'
export * from './layout-move.js'
export * from './layout-slice.js'

/** Which axis, or axes, an operation runs along. */
export interface AxesOptions {
  readonly axis?: number | readonly number[]
}

/**
 * x reversed along the axes (all by default).
 *
 * Rule    xBar = yBar reversed.
 * Errors  BadInput for an axis out of range or named twice.
 * @example flip([1, 2, 3])   // [3, 2, 1]
 */
export const flip = (x: unknown, options?: AxesOptions): AnyExpr => {
  const { axis } = optionsOf(options, axisOption, 'flip')
  const n = lift(x, 'flip')
  const axes = axis === undefined ? range(n.shape.length) : distinctAxes(axis, n.shape.length, 'flip')
  const turned = (i: number, d: number): boolean => axes.includes(i) && d > 1
  return asExpr(
    sliceNode(n, {
      starts: n.shape.map((d, i) => (turned(i, d) ? d - 1 : 0)),
      sizes: n.shape,
      strides: n.shape.map((d, i) => (turned(i, d) ? -1 : 1)),
    }),
  )
}

/**
 * x rotated by `shift` places along an axis, or along each of several; without an axis the flattened array is rotated.
 * Element i goes to i + shift, modulo the length.
 *
 * Rule    xBar = yBar rotated by -shift.
 * Errors  BadInput for an axis out of range, a fractional shift, or as many shifts as there are not axes.
 * @example roll(tensor([1, 2, 3]), 1)   // [3, 1, 2]
 */
export const roll = (x: unknown, shift: number | readonly number[], options?: AxesOptions): AnyExpr => {
  const { axis } = optionsOf(options, axisOption, 'roll')
  const n = lift(x, 'roll')
  const shiftList = settled(shift, 'shift', 'roll')
  const given = Array.isArray(shiftList) ? (shiftList as readonly number[]) : [shiftList as number]
  const axes = axis === undefined ? [0] : axesIn(axis, n.shape.length, 'roll')
  const shifts = given.length === 1 ? axes.map(() => given[0]!) : given
  if (shifts.length !== axes.length || !shifts.every(Number.isInteger) || given.includes(undefined as never))
    raise({
      _tag: 'BadInput',
      where: 'roll',
      reason: `shifts ${shown(given)} do not fit ${axes.length} ${axes.length === 1 ? 'axis' : 'axes'}.`,
      fix: `give one whole number, or one per axis.`,
    })
  const start = axis === undefined ? reshapeNode(n, [n.aval.size]) : n
  const rolled = axes.reduce((y, a, i) => {
    const d = y.shape[a]!
    const k = d === 0 ? 0 : ((shifts[i]! % d) + d) % d
    return k === 0 ? y : concatNode([sliceAxis(y, a, d - k, k), sliceAxis(y, a, 0, d - k)], a)
  }, start)
  return asExpr(reshapeNode(rolled, n.shape))
}

/**
 * x repeated as a whole `reps[i]` times along each axis; a number is for the last axis.
 *
 * Rule    xBar = the sum of yBar's copies.
 * Errors  BadInput unless reps are non-negative integers.
 * @example tile(tensor([1, 2]), [2])   // [1, 2, 1, 2]
 */
export const tile = (x: unknown, reps: number | readonly number[]): AnyExpr => {
  const n = lift(x, 'tile')
  const given = settled(reps, 'reps', 'tile')
  const list = Array.isArray(given) ? integersOf(given, 'reps', 'tile') : [given as number]
  const rank = Math.max(n.shape.length, list.length)
  const shape = [...new Array<number>(rank - n.shape.length).fill(1), ...n.shape]
  const r = [...new Array<number>(rank - list.length).fill(1), ...list]
  if (r.some((k) => !Number.isInteger(k) || k < 0))
    raise({ _tag: 'BadInput', where: 'tile', reason: `reps ${shown(list)} must be non-negative integers.` })
  const wide = reshapeNode(
    n,
    shape.flatMap((d) => [1, d]),
  )
  return asExpr(
    reshapeNode(
      broadcastNode(
        wide,
        shape.flatMap((d, i) => [r[i]!, d]),
      ),
      shape.map((d, i) => d * r[i]!),
    ),
  )
}

/**
 * Each element of x repeated `times` times along an axis (the first by default).
 *
 * Rule    xBar = the sum of yBar over each element's copies.
 * Errors  BadInput unless times is a non-negative integer.
 * @example repeat(tensor([1, 2]), 2)   // [1, 1, 2, 2]
 */
export const repeat = (x: unknown, times: number, options?: AxisOptions): AnyExpr => {
  const { axis: along = 0 } = optionsOf(options, axisOption, 'repeat')
  const n = lift(x, 'repeat')
  const axis = axisOf(along, n.shape.length, 'repeat')
  if (!Number.isInteger(times) || times < 0)
    raise({ _tag: 'BadInput', where: 'repeat', reason: `${shown(times)} is not a number of repetitions.` })
  const at = (k: number): number[] => [...n.shape.slice(0, axis + 1), k, ...n.shape.slice(axis + 1)]
  return asExpr(
    reshapeNode(
      broadcastNode(reshapeNode(n, at(1)), at(times)),
      n.shape.map((d, i) => (i === axis ? d * times : d)),
    ),
  )
}

/** Primitives of this family, by name. */
export const layout = {
  broadcastTo: broadcastToPrimitive,
  reshape: reshapePrimitive,
  transpose: transposePrimitive,
  slice: slicePrimitive,
  sliceAdd: sliceAddPrimitive,
  pad: padPrimitive,
  concat: concatPrimitive,
  split: splitPrimitive,
} as const
