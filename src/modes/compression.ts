/** Which products with a linear map give all its entries, and where each of them is found. */
import { type Colours, columnColours, type Pattern, starColours, transposed } from '../core/calculus/colouring.js'
import type { Linear } from './linear-maps.js'

/** Entries of a matrix, and the place of each in the products of all colours, [colours, outputs of the map]: in the order of the places. */
export interface Coloured {
  readonly pattern: Pattern
  readonly rows: Int32Array
  readonly cols: Int32Array
  readonly shape: readonly [rows: number, columns: number]
  readonly colours: Colours
  readonly at: Int32Array
}
/** The row of each entry, row by row. */
export const rowsOf = ({ rows, start, cols }: Pattern): Int32Array => {
  const out = new Int32Array(cols.length)
  for (let r = 0; r < rows; r++) out.fill(r, start[r]!, start[r + 1]!)
  return out
}
const placed = (p: Pattern, colours: Colours, outputs: number, place: (row: number, col: number) => number): Coloured => {
  const rows = rowsOf(p)
  // Sorted by counting: entries that are mirror images may have one place.
  const start = new Int32Array(colours.count * outputs + 1)
  const at = rows.map((r, k) => place(r, p.cols[k]!))
  for (const a of at) start[a + 1]!++
  for (let i = 1; i < start.length; i++) start[i]! += start[i - 1]!
  const order = new Int32Array(at.length)
  at.forEach((a, k) => {
    order[start[a]!++] = k
  })
  const sorted = (list: Int32Array): Int32Array => order.map((k) => list[k]!)
  return { pattern: p, rows: sorted(rows), cols: sorted(p.cols), shape: [p.rows, p.columns], colours, at: sorted(at) }
}

/** Of a forward map: products with columns. */
export const colouredColumns = ({ pattern: p }: Pick<Linear, 'pattern'>): Coloured => {
  const colours = columnColours(p)
  return placed(p, colours, p.rows, (r, c) => colours.of[c]! * p.rows + r)
}
/** Of a reverse map, whose pattern is the matrix transposed: products with rows. */
export const colouredRows = ({ pattern }: Pick<Linear, 'pattern'>): Coloured => {
  const colours = columnColours(pattern)
  const p = transposed(pattern)
  return placed(p, colours, p.columns, (r, c) => colours.of[r]! * p.columns + c)
}
/** Of a symmetric map: an entry is found in its own row or in that of its mirror image, where that takes fewer products. */
export const colouredSymmetric = ({ pattern }: Pick<Linear, 'pattern'>): Coloured => {
  const p = symmetric(pattern)
  const star = starColours(p)
  const columns = columnColours(p)
  if (columns.count <= star.count) return placed(p, columns, p.rows, (r, c) => columns.of[c]! * p.rows + r)
  return placed(p, star, p.rows, (r, c) => (star.direct(r, c) ? star.of[c]! * p.rows + r : star.of[r]! * p.rows + c))
}
/** The entries of a matrix and of its mirror image. */
const symmetric = (p: Pattern): Pattern => {
  const other = transposed(p)
  const start = new Int32Array(p.rows + 1)
  const cols = new Int32Array(2 * p.cols.length)
  let n = 0
  for (let r = 0; r < p.rows; r++) {
    let [i, j] = [p.start[r]!, other.start[r]!]
    while (i < p.start[r + 1]! || j < other.start[r + 1]!) {
      const a = i < p.start[r + 1]! ? p.cols[i]! : Number.POSITIVE_INFINITY
      const b = j < other.start[r + 1]! ? other.cols[j]! : Number.POSITIVE_INFINITY
      cols[n++] = Math.min(a, b)
      if (a <= b) i++
      if (b <= a) j++
    }
    start[r + 1] = n
  }
  return { ...p, start, cols: cols.slice(0, n) }
}
