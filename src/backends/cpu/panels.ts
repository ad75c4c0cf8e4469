/** The loops of factorisations (core/matrices/loops.ts) in WebAssembly, on matrices in the memory of the backend. */
import type { Eliminating, Reflecting } from '../../core/matrices/loops.js'
import { type Floats, LEAF, type SubtractProduct } from '../../core/matrices/product.js'
import type { Panels } from './driven.js'
import type { FloatName } from './wasm/float.js'
import { emitReflections, type ReflectionCode } from './wasm/panel-reflections.js'
import { emitPanels, type PanelCode, turnedBytes } from './wasm/panels.js'

/** Where elements lie, for matrices in the memory. */
const placeBy =
  (size: number) =>
  (x: Floats, at: number): number =>
    x.byteOffset + size * at
/** The loops of elimination in WebAssembly. */
const eliminatingBy = (by: PanelCode, subtract: SubtractProduct, panel: number, type: FloatName): Eliminating => {
  const size = type === 'f64' ? 8 : 4
  const place = placeBy(size)
  return {
    subtract,
    turn: (to, toAt, toRow, from, fromAt, fromRow, m, n) =>
      by.turn(place(to, toAt), size * toRow, place(from, fromAt), size * fromRow, m, n),
    solve: (t, tAt, tRow, tColumn, unit, b, bAt, bRow, n, columns) =>
      by.solve(place(t, tAt), size * tRow, size * tColumn, place(b, bAt), size * bRow, n, columns, unit ? 1 : 0),
    cholesky: (a, at, row, n) => by.cholesky(place(a, at), size * row, n) === 1,
    lu: (a, at, row, m, n, first, pivots, pAt) =>
      by.lu(place(a, at), size * row, m, n, first, pivots.byteOffset + 4 * pAt, panel, turnedBytes(type, m)),
    swap: (a, at, row, columns, pivots, pAt, first, count) =>
      by.swap(place(a, at), size * row, columns, pivots.byteOffset + 4 * pAt, first, count),
    leaf: 2 * LEAF,
  }
}
/** Those of reflections; rotations and secular equations are f64 always. */
const reflectingBy = (
  by: ReflectionCode,
  subtract: SubtractProduct,
  panel: number,
  type: FloatName,
  narrow: Reflecting | undefined,
): Reflecting => {
  const size = type === 'f64' ? 8 : 4
  const [place, wide] = [placeBy(size), placeBy(8)]
  return {
    subtract,
    turn: (to, toAt, toRow, from, fromAt, fromRow, m, n) =>
      by.turn(place(to, toAt), size * toRow, place(from, fromAt), size * fromRow, m, n),
    reflect: (a, at, row, m, n, t, tRow, v, vRow) =>
      by.reflect(place(a, at), size * row, m, n, place(a, t), size * tRow, place(a, v), size * vRow, panel, turnedBytes(type, m)),
    deciding: (x, at, row, m, n, to) => by.deciding(place(x, at), size * row, m, n, place(x, to)),
    signed: (to, toAt, x, at, row, m, n, signs) => by.signed(place(to, toAt), size * n, place(x, at), size * row, m, n, place(x, signs)),
    rotate: (a, at, row, n, count, cs) => by.rotate(wide(a, at), 8 * row, n, count, wide(a, cs)),
    tridiagonal: (a, at, row, n, count, v, vRow, d, e, tau, c) =>
      by.tridiagonal(place(a, at), size * row, n, count, place(a, v), size * vRow, place(a, d), place(a, e), place(a, tau), place(a, c)),
    bidiagonal: (a, at, row, n, count, left, right, pRow, d, e, tauLeft, tauRight, c) =>
      by.bidiagonal(
        place(a, at),
        size * row,
        n,
        count,
        place(a, left),
        place(a, right),
        size * pRow,
        place(a, d),
        place(a, e),
        place(a, tauLeft),
        place(a, tauRight),
        place(a, c),
      ),
    secular: {
      sums: (a, d, w, split, n, own, tau, squares, gaps, sums) =>
        by.sums(wide(a, d), wide(a, w), split, n, own, tau, squares ? 1 : 0, wide(a, gaps), wide(a, sums)),
      weigh: (a, to, gaps, d, n, own, squares) => by.weigh(wide(a, to), wide(a, gaps), wide(a, d), n, own, squares ? 1 : 0),
      vector: (a, gaps, shares, n, place, to, room) =>
        by.vector(wide(a, gaps), wide(a, shares), n, place.byteOffset, wide(a, to), wide(a, room)),
    },
    ...(narrow !== undefined && { narrow }),
  }
}

/** Columns of a panel lie turned in its room. */
const bytes = (type: FloatName, rows: number): number => LEAF * turnedBytes(type, rows)
export const byElimination: Panels<Eliminating> = {
  name: 'elimination',
  emit: emitPanels,
  bytes,
  loops: (code, subtract, panel, type) => eliminatingBy(code as unknown as PanelCode, subtract, panel, type),
}
export const byReflections: Panels<Reflecting> = {
  name: 'reflections',
  emit: emitReflections,
  bytes,
  loops: (code, subtract, panel, type, narrow) => reflectingBy(code as unknown as ReflectionCode, subtract, panel, type, narrow),
}
