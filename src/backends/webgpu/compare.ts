/** The WebGPU facet of the compare family. NaN is told by its bits: drivers may take every comparison for one of numbers. */
import type { compare } from '../../core/ops/families.js'
import type { WgslContext, WgslScalar } from './kernel.js'

/** A row from its texts in a and b: of floats, of integers, of booleans. */
const row =
  (float: string, integer: string, bool: string): WgslScalar =>
  ({ x, from }: WgslContext) => {
    const text = from[0] === 'bool' ? bool : from[0] === 'i32' ? integer : float
    return text.replace(/\b[ab]\b/g, (name) => x[name === 'a' ? 0 : 1]!)
  }

/** One row per primitive of the family `compare`. */
export const compareKernels: { readonly [K in keyof typeof compare]: WgslScalar } = {
  eq: row('cd_eq(a, b)', '(a == b)', '(a == b)'),
  ne: row('!cd_eq(a, b)', '(a != b)', '(a != b)'),
  lt: row('cd_lt(a, b)', '(a < b)', '(!a & b)'),
  le: row('cd_le(a, b)', '(a <= b)', '(!a | b)'),
  gt: row('cd_lt(b, a)', '(a > b)', '(a & !b)'),
  ge: row('cd_le(b, a)', '(a >= b)', '(a | !b)'),
  isnan: row('cd_isnan(a)', 'false', 'false'),
  isfinite: row('cd_isfinite(a)', 'true', 'true'),
  logicalAnd: row('', '', '(a & b)'),
  logicalOr: row('', '', '(a | b)'),
  logicalNot: row('', '', '!a'),
}
