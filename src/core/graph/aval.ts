/** Abstract values: shape and dtype without data. Shared between nodes wherever possible. */

import { dtypeOf, integersOf } from '../errors/check-arguments.js'
import { raise, showShape } from '../errors/explain.js'
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
 * Errors  BadInput for lengths that are negative or not whole, more elements than an array can have, or what is not a dtype.
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
/** A shape from outside; the error names the operation. */
export const shapeGiven = (given: unknown, where: string): readonly number[] => integersOf(given, 'a shape', where)
const noShape = (shape: unknown): never =>
  raise({
    _tag: 'BadInput',
    where: 'shape',
    reason: `${showShape(shapeGiven(shape, 'shape'))} is not a shape of at most ${MAX_SIZE} elements.`,
  })

export const sameAval = (a: Aval, b: Aval): boolean => a === b || (a.dtype === b.dtype && sameShape(a.shape, b.shape))
export const showAval = (a: Aval): string => `${a.dtype} ${showShape(a.shape)}`
