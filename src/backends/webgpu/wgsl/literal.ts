/** Numbers as WGSL expressions, and the dtypes that WGSL has. */
import type { DType } from '../../../core/types/dtype.js'

/** f64 is refused before any kernel is written. In registers these are f32, i32 and bool. */
export type WgslDType = Exclude<DType, 'f64'>

const cell = new DataView(new ArrayBuffer(4))
/**
 * x rounded to f32. Infinity and NaN have no literal, and a literal -0 may become 0 (cd_minus_zero says why); subnormal numbers are
 * given by their bits.
 */
export const float = (x: number): string => {
  const y = Math.fround(x)
  if (Number.isNaN(y)) return 'cd_nan()'
  if (Math.abs(y) === Number.POSITIVE_INFINITY) return y > 0 ? 'cd_inf()' : '(-cd_inf())'
  if (Object.is(y, -0)) return 'cd_minus_zero()'
  if (y !== 0 && Math.abs(y) < 2 ** -126) {
    cell.setFloat32(0, y)
    return `bitcast<f32>(${cell.getUint32(0)}u)`
  }
  const text = /[.e]/.test(`${y}`) ? `${y}f` : `${y}.0f`
  return y < 0 ? `(${text})` : text
}
