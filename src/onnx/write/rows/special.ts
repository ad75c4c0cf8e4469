/** Rows of special functions, comparisons, logic and bits. */
import type { bitwise, compare, special } from '../../../core/ops/families.js'
import type { ShiftByParams, ShiftKind } from '../../../core/ops/shift.js'
import { type AnyExpr, add, and, bitwiseAnd, cast, eq, floorDivide, ge, le, lt, mul, sub, where } from '../../../index.js'
import { as, type Row, type RowsOf, refused, test } from '../row.js'
import * as fn from './functions.js'

const series = refused('it is computed by series and continued fractions, whose number of terms depends on the numbers')
export const specialRows: RowsOf<typeof special> = {
  erfinv: as(([x]) => fn.erfinv(x!)),
  erfcinv: as(([x]) => fn.erfcinv(x!)),
  erfcx: as(([x]) => fn.erfcx(x!)),
  ndtr: as(([x]) => fn.ndtr(x!)),
  logNdtr: as(([x]) => fn.logNdtr(x!)),
  beta: series,
  betaln: series,
  betainc: series,
  betaincGradA: series,
  betaincGradB: series,
  gammainc: series,
  gammaincc: series,
  gammaincGradA: series,
  zeta: series,
  zetaGradS: series,
  besselI: series,
  besselIe: series,
  besselJ: series,
}

/** Booleans compare as numbers: runtimes have no kernels of order for them. */
const order = (op: string): Row => ({
  write: (w, xs) => w.test(op, ...xs.map((x) => (x.type === 'bool' ? w.cast(x, 'int32') : x))),
})
export const compareRows: RowsOf<typeof compare> = {
  eq: test('Equal'),
  ne: { write: (w, xs) => w.test('Not', w.test('Equal', ...xs)) },
  lt: order('Less'),
  le: order('LessOrEqual'),
  gt: order('Greater'),
  ge: order('GreaterOrEqual'),
  logicalAnd: test('And'),
  logicalOr: test('Or'),
  logicalNot: test('Not'),
  isnan: {
    write: (w, [x]) => (x!.type === 'float' || x!.type === 'double' ? w.test('IsNaN', x!) : w.test('Not', w.test('Equal', x!, x!))),
  },
  isfinite: {
    write: (w, [x]) =>
      x!.type === 'float' || x!.type === 'double'
        ? w.test('Not', w.test('Or', w.test('IsNaN', x!), w.test('IsInf', x!)))
        : w.test('Equal', x!, x!),
  },
}

const bits = (op: string): Row => ({ write: (w, xs) => w.each(op, ...xs), since: 18 })
/** 2^k of i32. */
const power = (k: number): number => (k === 31 ? -(2 ** 31) : 2 ** k)
/** x shifted by one count: products wrap, quotients are floored. ONNX shifts unsigned numbers alone. */
const shifted = (x: AnyExpr, kind: ShiftKind, count: number): AnyExpr => {
  if (count === 0) return x
  if (kind === 'left') return mul(x, power(count))
  const right = count === 31 ? where(lt(x, 0), cast(-1, 'i32'), cast(0, 'i32')) : floorDivide(x, power(count))
  return kind === 'right' ? right : bitwiseAnd(right, 2 ** (32 - count) - 1)
}
/** By counts that are computed: bit after bit of the count. One outside of 0 to 31 shifts every bit out. */
const counted = (kind: ShiftKind): Row =>
  as(([x, n]) => {
    const inside = and(ge(n!, 0), le(n!, 31))
    const count = where(inside, n!, kind === 'right' ? 31 : 0)
    const made = [1, 2, 4, 8, 16].reduce<AnyExpr>(
      (y, step) => where(eq(bitwiseAnd(count, step), 0), y, shifted(y, kind, step)),
      add(x!, mul(n!, 0)),
    )
    return kind === 'right' ? made : where(inside, made, 0)
  })
export const bitwiseRows: RowsOf<typeof bitwise> = {
  bitwiseAnd: bits('BitwiseAnd'),
  bitwiseOr: bits('BitwiseOr'),
  bitwiseXor: bits('BitwiseXor'),
  bitwiseNot: as(([x]) => sub(-1, x!)),
  leftShift: counted('left'),
  rightShift: counted('right'),
  rightShiftLogical: counted('logical'),
  shiftBy: as<ShiftByParams>(([x], { kind, count }) => shifted(x!, kind, count)),
}
