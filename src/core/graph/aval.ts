/** Abstract values: shape and dtype without data. Shared between nodes wherever possible. */

import { dtypeOf, integersOf, shown } from '../errors/check-arguments.js'
import { badInput, showShape } from '../errors/explain.js'
import type { DType } from '../types/dtype.js'
import { MAX_SIZE, sameShape } from './shape.js'

/** Type without data. */
export interface Aval {
  readonly shape: readonly number[]
  readonly dtype: DType
  /** Number of elements. */
  readonly size: number
}

/** Order of promotion: bool < i32 < f32 < f64. */
export const dtypes: readonly DType[] = ['bool', 'i32', 'f32', 'f64']
export const promote = (a: DType, b: DType): DType => (dtypes.indexOf(a) >= dtypes.indexOf(b) ? a : b)
export const isFloat = (d: DType): boolean => d === 'f64' || d === 'f32'
export const itemBytes: Readonly<Record<DType, number>> = { f64: 8, f32: 4, i32: 4, bool: 1 }

const scalars: Readonly<Record<DType, Aval>> = {
  f64: { shape: [], dtype: 'f64', size: 1 },
  f32: { shape: [], dtype: 'f32', size: 1 },
  i32: { shape: [], dtype: 'i32', size: 1 },
  bool: { shape: [], dtype: 'bool', size: 1 },
}

/**
 * The aval of a shape and a dtype: what a primitive's shape rule gives.
 *
 * Errors  BadInput for lengths that are negative or not whole, more elements than an array can have, or an invalid dtype.
 * @example aval([2, 3], 'f32').size   // 6
 */
export const aval = (shape: readonly number[], dtype: DType): Aval => {
  dtypeOf(dtype, 'dtype')
  if (!Array.isArray(shape)) return noShape(shape)
  if (shape.length === 0) return scalars[dtype]
  let size = 1
  for (let i = 0; i < shape.length; i++) {
    const d = shape[i]!
    if (!(Number.isInteger(d) && d >= 0)) return noShape(shape)
    size *= d
  }
  return size <= MAX_SIZE ? { shape, dtype, size } : noShape(shape)
}
/** What a shape rule gave: an aval or, of `multi`, a list of them. One that is not what `aval` makes of its shape and dtype is an error. */
export const avalsFrom = <G extends Aval | readonly Aval[]>(name: string, multi: boolean, given: G): G => {
  if (!Array.isArray(given) && !multi) return isAval(given) ? given : noAval(name, given, '')
  if (!Array.isArray(given) || !multi)
    return badInput(
      `the shape rule of ${name}`,
      multi ? `it gave ${shown(given)}, and ${name} has several results.` : 'it gave a list, and there is one result.',
      multi ? 'give a list, with an aval for each result.' : 'give its aval alone, or declare multi: true.',
    )
  for (let i = 0; i < given.length; i++) if (!isAval(given[i])) return noAval(name, given[i], ` as result ${i}`)
  return given
}
/** Does an aval say of itself what is true? A shape that was changed beside its size does not. */
const isAval = (given: unknown): boolean => {
  if (typeof given !== 'object' || given === null) return false
  const { shape, dtype, size } = given as Partial<Aval>
  if (!Array.isArray(shape)) return false
  let product = 1
  for (let i = 0; i < shape.length; i++) product *= shape[i]
  return product === size && dtype !== undefined && itemBytes[dtype] !== undefined
}
const noAval = (name: string, given: unknown, place: string): never => {
  const { shape, dtype, size } = (typeof given === 'object' && given !== null ? given : {}) as Partial<Aval>
  const listed = Array.isArray(shape)
  const reason = !listed
    ? `it gave ${shown(given)}${place}, which is not an aval.`
    : dtype === undefined || itemBytes[dtype] === undefined
      ? `it gave an aval${place} of dtype ${shown(dtype)}.`
      : `it gave ${dtype} ${showShape(shape)}${place} with the size ${shown(size)}, which is not that of its shape.`
  return badInput(
    `the shape rule of ${name}`,
    reason,
    `make it with aval(${listed ? showShape(shape) : 'shape'}, ${dtype !== undefined && itemBytes[dtype] !== undefined ? `'${dtype}'` : 'x.dtype'}), which counts the elements.`,
  )
}
/** A shape from outside; the error names the operation. */
export const shapeGiven = (given: unknown, where: string): readonly number[] => integersOf(given, 'a shape', where)
const noShape = (shape: unknown): never =>
  badInput('shape', `${showShape(shapeGiven(shape, 'shape'))} is not a shape of at most ${MAX_SIZE} elements.`)

export const sameAval = (a: Aval, b: Aval): boolean => a === b || (a.dtype === b.dtype && sameShape(a.shape, b.shape))
export const showAval = (a: Aval): string => `${a.dtype} ${showShape(a.shape)}`
