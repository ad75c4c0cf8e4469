/** Colourings of sparse matrices: which columns are found by one product. */

/** The entries of a matrix, row by row: those of row i are cols[start[i]] to cols[start[i + 1] - 1], from the smallest up. */
export interface Pattern {
  readonly rows: number
  readonly columns: number
  readonly start: Int32Array
  readonly cols: Int32Array
}
export const transposed = ({ rows, columns, start, cols }: Pattern): Pattern => {
  const from = new Int32Array(columns + 1)
  for (const c of cols) from[c + 1]!++
  for (let i = 0; i < columns; i++) from[i + 1]! += from[i]!
  const place = from.slice(0, columns)
  const out = new Int32Array(cols.length)
  for (let r = 0; r < rows; r++) for (let k = start[r]!; k < start[r + 1]!; k++) out[place[cols[k]!]!++] = r
  return { rows: columns, columns: rows, start: from, cols: out }
}

/** A colour for each column (or vertex), and how many there are. */
export interface Colours {
  readonly of: Int32Array
  readonly count: number
}
/**
 * Colours of columns: two that have an entry in one row have different ones. Greedy, in order. Of each row all colours below one are used, and
 * some above it: a row of n entries takes n steps, not n^2.   Source  Curtis, Powell and Reid 1974; Gebremedhin, Manne and Pothen 2005.
 */
export const columnColours = (p: Pattern): Colours => {
  const { start, cols: rowsOf } = transposed(p)
  const of = new Int32Array(p.columns)
  const below = new Int32Array(p.rows)
  const above: (number[] | undefined)[] = new Array<number[] | undefined>(p.rows)
  const taken: number[] = []
  let count = 0
  for (let c = 0; c < p.columns; c++) {
    let colour = 0
    for (let k = start[c]!; k < start[c + 1]!; k++) colour = Math.max(colour, below[rowsOf[k]!]!)
    for (let k = start[c]!; k < start[c + 1]!; k++) for (const used of above[rowsOf[k]!] ?? []) taken[used] = c
    while (taken[colour] === c) colour++
    of[c] = colour
    count = Math.max(count, colour + 1)
    for (let k = start[c]!; k < start[c + 1]!; k++) use(rowsOf[k]!, colour, below, above)
  }
  return { of, count }
}
const use = (row: number, colour: number, below: Int32Array, above: (number[] | undefined)[]): void => {
  if (colour !== below[row]) {
    above[row] ??= []
    above[row].push(colour)
    return
  }
  below[row]!++
  const rest = above[row]
  for (let i = rest?.indexOf(below[row]!) ?? -1; i >= 0; i = rest!.indexOf(below[row]!)) {
    rest![i] = rest![rest!.length - 1]!
    rest!.pop()
    below[row]!++
  }
}

/** A colouring of a symmetric matrix, and where each entry is found. */
export interface SymmetricColours extends Colours {
  /** Is entry (i, j) found in row i of the product of j's colour? Else it is in row j of that of i's. */
  readonly direct: (i: number, j: number) => boolean
}
const MANY = -1
/**
 * Colours of a symmetric matrix: neighbours have different ones, and for each two neighbours one is the only neighbour of the other that has its colour
 * (a star colouring), so each entry stands alone in a product. Greedy, in order.   Source  Coleman and More 1984; Gebremedhin, Tarafdar, Manne
 * and Pothen 2007.
 */
export const starColours = ({ rows, start, cols }: Pattern): SymmetricColours => {
  const of = new Int32Array(rows).fill(-1)
  /** Of a vertex and a colour: its only neighbour of that colour, or MANY. */
  const only = new Map<number, number>()
  const key = (v: number, colour: number): number => v * rows + colour
  /** Last vertex that had a neighbour of the colour, and how many. */
  const near: number[] = []
  const many: number[] = []
  let count = 0
  for (let v = 0; v < rows; v++) {
    const each = (f: (w: number, colour: number) => boolean): boolean => {
      for (let k = start[v]!; k < start[v + 1]!; k++) {
        const w = cols[k]!
        if (w !== v && of[w]! >= 0 && !f(w, of[w]!)) return false
      }
      return true
    }
    each((_, d) => {
      many[d] = near[d] === v ? many[d]! + 1 : 1
      near[d] = v
      return true
    })
    const fits = (colour: number): boolean =>
      each((w, d) => {
        const x = only.get(key(w, colour))
        if (x === undefined) return true
        return many[d] === 1 && (x === MANY || only.get(key(x, d)) !== MANY)
      })
    let colour = 0
    while (near[colour] === v || !fits(colour)) colour++
    of[v] = colour
    count = Math.max(count, colour + 1)
    for (let k = start[v]!; k < start[v + 1]!; k++) {
      const w = cols[k]!
      if (w !== v) only.set(key(w, colour), only.has(key(w, colour)) ? MANY : v)
    }
  }
  return { of, count, direct: (i, j) => i === j || only.get(key(i, of[j]!)) !== MANY }
}
