/** NumPy's notation of indices, read: numbers, slices as text, '...', null, expressions and arrays, each checked against its axis. */
import { shown } from '../../../core/errors/check-arguments.js'
import { badInput, showShape } from '../../../core/errors/explain.js'
import { reading } from '../../../core/errors/language.js'
import { isExpr } from '../../../core/graph/expr.js'
import { describe, dtypeOfTypedArray, isTensor, makeTensor, shapeOfNested } from '../../../core/graph/tensor.js'
import { arrayOf, indicesOf, sizeOf } from '../../../core/ops/arrays.js'
import { type AxisPart, partOfAxis } from '../../../core/ops/layout/slice.js'
import type { AnyExpr } from '../../../core/types/expr.js'

/** An index of one axis: the elements that a slice reads, one known place, one computed place, or an array of places. */
export type AxisIndex =
  | { readonly kind: 'slice' | 'number'; readonly part: AxisPart }
  | { readonly kind: 'scalar' | 'array'; readonly at: AnyExpr; readonly known: ArrayLike<number> | undefined }
/** What stands in a list of indices: those of axes, in order, a new axis, and the place of '...', which may be of no axes. */
export type Index = AxisIndex | { readonly kind: 'new' } | { readonly kind: 'ellipsis' }

export const wholeOf = (length: number): AxisPart => ({ start: 0, size: length, stride: 1 })
const notation = "give a number, a slice such as ':', '1:3' or '::-1', '...', null, an i32 expression or an array of whole numbers."

const SLICE = /^(-?\d+)?:(-?\d+)?(?::(-?\d+)?)?$/
const bound = (text: string | undefined): number | undefined => (text === undefined || text === '' ? undefined : Number(text))
const sliceOf = (text: string, length: number, op: string): AxisIndex => {
  const m = SLICE.exec(text)
  if (m === null)
    return badInput(
      op,
      `${shown(text)} is not a slice.`,
      /^-?\d+$/.test(text)
        ? `write the number ${text}.`
        : "write 'start:end' or 'start:end:step' of whole numbers, each may be left out, or '...'; where the start is computed, dynamicSlice.",
    )
  const step = bound(m[3]) ?? 1
  if (step === 0) return badInput(op, `the step of ${shown(text)} is 0.`, "write a positive or a negative step: '::2', '::-1'.")
  return { kind: 'slice', part: partOfAxis(bound(m[1]), bound(m[2]), step, length) }
}

/** The place from the front that a known index means. */
const placeOf = (index: number, axis: number, length: number, op: string): number =>
  index >= -length && index < length
    ? index + (index < 0 ? length : 0)
    : badInput(
        op,
        `index ${index} is out of range for axis ${axis}, which has length ${length}.`,
        length === 0 ? 'an empty axis has no elements.' : `indices go from ${-length} to ${length - 1}.`,
      )
const numberOf = (index: number, axis: number, length: number, op: string): AxisIndex =>
  Number.isInteger(index)
    ? { kind: 'number', part: { start: placeOf(index, axis, length, op), size: 1, stride: 1 } }
    : badInput(op, `the index ${index} of axis ${axis} is not a whole number.`, 'round it.')

const refuseMask = (op: string): never =>
  badInput(
    op,
    'an index of booleans: how many elements it picks is not known before the program runs.',
    'where(mask, x, 0) keeps the shape; or give the places as an array of whole numbers.',
  )
/** A list of numbers and nulls that was meant as a slice, as text. */
const asSlice = (x: readonly unknown[]): string | undefined =>
  x.length >= 2 && x.length <= 3 && x.every((v) => v === null || v === undefined || Number.isInteger(v))
    ? x.map((v) => (typeof v === 'number' ? v : '')).join(':')
    : undefined
/** Raises for what is not an array of whole numbers, and says what was meant where that can be told. */
const checkEntries = (x: readonly unknown[], op: string): void => {
  const depth = shapeOfNested(x, op).length
  const visit = (y: unknown, d: number): void => {
    if (d < depth && Array.isArray(y)) for (let i = 0; i < y.length; i++) visit(y[i], d + 1)
    else if (typeof y === 'boolean') refuseMask(op)
    else if (typeof y !== 'number') {
      const slice = asSlice(x)
      badInput(
        op,
        `an array of indices holds ${describe(y)}, which is not a whole number.`,
        slice === undefined ? notation : `write the slice '${slice}'.`,
      )
    }
  }
  visit(x, 0)
}
/** An array that is written out: its places are checked now. What is computed is clamped when it runs. */
const knownArray = (index: unknown, axis: number, length: number, op: string): AxisIndex => {
  const places = makeTensor(index, undefined, 'i32', op)
  for (let i = 0; i < places.data.length; i++) placeOf(places.data[i]!, axis, length, op)
  return { kind: 'array', at: arrayOf(places, op), known: places.data }
}
const placesOf = (index: unknown, axis: number, length: number, op: string): AxisIndex => {
  if (reading(op, () => Array.isArray(index))) {
    reading(op, () => checkEntries(index as readonly unknown[], op))
    return knownArray(index, axis, length, op)
  }
  const dtype = isExpr(index) || isTensor(index) ? index.dtype : reading(op, () => dtypeOfTypedArray(index))
  if (dtype === undefined) badInput(op, `${describe(index)} is not an index.`, notation)
  if (dtype === 'bool') refuseMask(op)
  const at = indicesOf(index, op)
  if (!(isExpr(index) || isTensor(index))) return knownArray(index, axis, length, op)
  if (length === 0 && sizeOf(at) > 0) badInput(op, `axis ${axis} is empty: no index is in range.`, 'an empty axis has no elements.')
  return { kind: at.shape.length === 0 ? 'scalar' : 'array', at, known: undefined }
}

/** Indices of an array of this shape, read: each axis has one, those that nobody named are kept whole. */
export const indicesIn = (given: readonly unknown[], shape: readonly number[], op: string): readonly Index[] => {
  const named = given.filter((x) => x !== null && x !== '...').length
  const ellipses = given.filter((x) => x === '...').length
  if (ellipses > 1) badInput(op, `'...' stands ${ellipses} times.`, "write it once, and ':' for each other axis.")
  if (named > shape.length)
    badInput(
      op,
      shape.length === 0
        ? 'a scalar has no axis to index.'
        : `${named} indices for the ${shape.length === 1 ? 'one axis' : `${shape.length} axes`} of ${showShape(shape)}.`,
      'give at most one for each axis; null makes a new axis.',
    )
  let axis = 0
  const whole = (count: number): Index[] => Array.from({ length: count }, () => ({ kind: 'slice', part: wholeOf(shape[axis++]!) }))
  const out = given.flatMap((index): readonly Index[] => {
    if (index === null) return [{ kind: 'new' }]
    if (index === '...') return [{ kind: 'ellipsis' }, ...whole(shape.length - named)]
    const at = axis++
    const length = shape[at]!
    if (typeof index === 'number') return [numberOf(index, at, length, op)]
    if (typeof index === 'string') return [sliceOf(index, length, op)]
    if (typeof index === 'boolean') return refuseMask(op)
    return [placesOf(index, at, length, op)]
  })
  return [...out, ...whole(shape.length - axis)]
}
