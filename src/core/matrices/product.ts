/** What factorisations are made of: matrices in typed arrays, and C -= A B, which a backend may compute faster. */

/** What a matrix of floats lies in. Arithmetic is in f64; what is stored is rounded to the array's own precision. */
export type Floats = Float64Array | Float32Array

/**
 * C -= A B, for C: [m, n] with unit column stride, A: [m, k], B: [k, n]. Each matrix is an array, where its first element lies in it, and
 * the distances between rows and columns in elements.
 */
export type SubtractProduct = (
  c: Floats,
  cAt: number,
  cRow: number,
  a: Floats,
  aAt: number,
  aRow: number,
  aColumn: number,
  b: Floats,
  bAt: number,
  bRow: number,
  bColumn: number,
  m: number,
  n: number,
  k: number,
) => void

/** Matrices of at most so many rows are worked on element by element; larger ones are halved, so that most of the work is products. */
export const LEAF = 16

/** The larger of two halves of n, in whole rows of leaves where there are several. */
export const halfOf = (n: number): number => (n > 2 * LEAF ? LEAF * Math.ceil(n / (2 * LEAF)) : Math.ceil(n / 2))

/** In plain loops. */
export const subtractProduct: SubtractProduct = (c, cAt, cRow, a, aAt, aRow, aColumn, b, bAt, bRow, bColumn, m, n, k) => {
  for (let i = 0; i < m; i++) {
    const to = cAt + i * cRow
    if (n === 1) {
      let x = c[to]!
      for (let l = 0; l < k; l++) x -= a[aAt + i * aRow + l * aColumn]! * b[bAt + l * bRow]!
      c[to] = x
      continue
    }
    for (let l = 0; l < k; l++) {
      const x = a[aAt + i * aRow + l * aColumn]!
      const from = bAt + l * bRow
      for (let j = 0; j < n; j++) c[to + j]! -= x * b[from + j * bColumn]!
    }
  }
}
