/** The table by which programs are written: a row for each primitive. The operators that they name stand in the table of the reader. */
import type { families } from '../../../core/ops/families.js'
import type { Row, RowsOf } from '../row.js'
import { controlRows, customRows, heldRows, mapRows, tapRows } from './control.js'
import { elementwiseRows } from './elementwise.js'
import { indexingRows } from './indexing.js'
import { layoutRows, positionRows, reduceRows } from './layout.js'
import { linalgRows } from './linalg.js'
import { nnRows } from './nn.js'
import { contractRows, fourierRows } from './products.js'
import { scanRows } from './scans.js'
import { bitwiseRows, compareRows, specialRows } from './special.js'

/** By family. */
export const rowsByFamily: { readonly [F in keyof typeof families]: RowsOf<(typeof families)[F]> } = {
  elementwise: elementwiseRows,
  special: specialRows,
  compare: compareRows,
  bitwise: bitwiseRows,
  layout: layoutRows,
  reduce: reduceRows,
  positions: positionRows,
  scans: scanRows,
  indexing: indexingRows,
  contract: contractRows,
  linalg: linalgRows,
  fourier: fourierRows,
  nn: nnRows,
  map: mapRows,
  custom: customRows,
  control: controlRows,
  tap: tapRows,
  held: heldRows,
}
export const rows = /*#__PURE__*/ Object.assign({}, ...Object.values(rowsByFamily)) as Readonly<Record<string, Row>>
