/** The WebGPU facet of the bitwise family. WGSL takes shifts by counts up to 31 alone; a negative count is a large unsigned number. */
import type { bitwise } from '../../core/ops/families.js'
import type { ShiftByParams, ShiftKind } from '../../core/ops/shift.js'
import type { WgslContext, WgslScalar } from './kernel.js'

const row =
  (text: string): WgslScalar =>
  ({ x }: WgslContext) =>
    text.replace(/\b[ab]\b/g, (name) => x[name === 'a' ? 0 : 1]!)
const unsigned = (x: string): string => `bitcast<u32>(${x})`
/** The shift of a by the count n, an unsigned one below 32. */
const shifted = (kind: ShiftKind, a: string, n: string): string =>
  kind === 'logical' ? `bitcast<i32>(${unsigned(a)} >> ${n})` : `(${a} ${kind === 'left' ? '<<' : '>>'} ${n})`
const within = (kind: ShiftKind): string => `select(0, ${shifted(kind, 'a', `(${unsigned('b')} & 31u)`)}, ${unsigned('b')} < 32u)`

/** One row per primitive of the family `bitwise`. */
export const bitwiseKernels: { readonly [K in keyof typeof bitwise]: WgslScalar } = {
  bitwiseAnd: row('(a & b)'),
  bitwiseOr: row('(a | b)'),
  bitwiseXor: row('(a ^ b)'),
  bitwiseNot: row('~a'),
  leftShift: row(within('left')),
  rightShift: row(shifted('right', 'a', `min(${unsigned('b')}, 31u)`)),
  rightShiftLogical: row(within('logical')),
  shiftBy: ({ x, params }) => {
    const { kind, count } = params as ShiftByParams
    return shifted(kind, x[0]!, `${count}u`)
  },
}
