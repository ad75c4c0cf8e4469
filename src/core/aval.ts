/** Abstract values: shape and dtype without data. Shared between nodes wherever possible. */

import { raise } from './explain.js'
import { MAX_SIZE, sameShape, showShape, sizeOf } from './shape.js'
import type { DType } from './types/dtype.js'

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
 * Errors  BadInput for lengths that are negative or not whole, or more elements than an array can have.
 * @example aval([2, 3], 'f32').size   // 6
 */
export const aval = (shape: readonly number[], dtype: DType): Aval => {
  if (shape.length === 0) return scalars[dtype]
  const size = sizeOf(shape)
  if (!(size <= MAX_SIZE) || shape.some((d) => !Number.isInteger(d) || d < 0))
    raise({ _tag: 'BadInput', where: 'shape', reason: `${showShape(shape)} is not a shape of at most ${MAX_SIZE} elements.` })
  return { shape, dtype, size }
}

export const sameAval = (a: Aval, b: Aval): boolean => a === b || (a.dtype === b.dtype && sameShape(a.shape, b.shape))
export const showAval = (a: Aval): string => `${a.dtype} ${showShape(a.shape)}`
