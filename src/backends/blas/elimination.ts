/** Factorisations by elimination, and triangular systems. LAPACK's matrices lie column by column, so that they are turned before a routine and after it. */
import { meanOfTriangles } from '../../core/matrices/cholesky.js'
import type { TriangularParams } from '../../core/ops/linalg/factorisations.js'
import { bytesOf, INTEGERS, type Make, routine } from './scratch.js'

/** Columns of a triangle that are turned together. */
const STRIP = 64

/** The upper triangle of the mean is LAPACK's lower one: OpenBLAS takes 1.4 times as long with the other, whose factor would need no turn. */
export const cholesky: Make = (given) => {
  const potrf = routine(given, 'potrf', 1, 4)
  if (potrf === undefined) return undefined
  const { n, type, room, matrices } = given
  const [size, row] = [bytesOf(type), n * bytesOf(type)]
  /** The lower triangle of A becomes the upper one of X, or the other way round; what is beside them is of no account. */
  const turnTriangle = (x: number, a: number, lower: boolean): void => {
    for (let j = 0; j < n; j += STRIP) {
      const [columns, at] = [Math.min(STRIP, n - j), j * (row + size)]
      matrices.turn(x + at, row, a + at, row, lower ? n - j : columns, lower ? columns : n - j)
    }
  }
  const [integers, turned] = [room.take(INTEGERS, 1), room.take(n * n, size)]
  return ([a], [l], s) => {
    const x = s.place(turned)
    turnTriangle(x, a!, true)
    meanOfTriangles(s.numbers(type, x, n * n), 0, s.numbers(type, a!, n * n), 0, n)
    const [order, info] = s.integers(s.place(integers), n, 0)
    potrf('L', order, s.address(x), order, info, 1)
    turnTriangle(l!, x, false)
    matrices.clearAbove(l!, row, n)
    const found = s.numbers(type, l!, n * n)
    // The library goes on with NaN, as if it were a positive pivot.
    if (s.words(s.place(integers) + 8, 1)[0] !== 0 || Number.isNaN(found[n * n - 1]!)) found.fill(Number.NaN)
    return true
  }
}

export const triangularSolve: Make = ({ library, type, n, kernel }) => {
  const [letter, number] = type === 'f32' ? ['s', 'float'] : ['d', 'double']
  const columns = kernel.args[1]!.shape.at(-1)!
  const { lower, transpose, unitDiagonal } = kernel.params as TriangularParams
  const said = [lower ? 122 : 121, transpose ? 112 : 111, unitDiagonal ? 132 : 131, n] as const
  const [trsv, trsm] = [
    library.cblas('void', `${letter}trsv`, 'int, int, int, int, int, uintptr_t, int, uintptr_t, int'),
    library.cblas('void', `${letter}trsm`, `int, int, int, int, int, int, int, ${number}, uintptr_t, int, uintptr_t, int`),
  ]
  return ([a, b], [x], s) => {
    const numbers = s.numbers(type, a!, n * n)
    // A zero on the diagonal: which infinities and NaN follow is the backend's to say.
    if (!unitDiagonal) for (let i = 0; i < n; i++) if (numbers[i * n + i] === 0) return false
    s.copy(x!, b!, n * columns * bytesOf(type))
    const [from, to] = [s.address(a!), s.address(x!)]
    if (columns === 1) trsv(101, ...said, from, n, to, 1)
    else trsm(101, 141, ...said, columns, 1, from, n, to, columns)
    return true
  }
}

export const lu: Make = (given) => {
  const getrf = routine(given, 'getrf', 0, 6)
  if (getrf === undefined) return undefined
  const { m, n, type, room, matrices, library } = given
  const [size, steps] = [bytesOf(type), Math.min(m, n)]
  const [integers, swaps, turned] = [room.take(INTEGERS, 1), room.take(steps), room.take(m * n, size)]
  const step = library.wide ? 2 : 1
  return ([a], [packed, pivotsAt, orderAt], s) => {
    if (!matrices.finite(a!, m * n)) return false
    const x = s.place(turned)
    matrices.turn(x, m * size, a!, n * size, m, n)
    const [rows, columns, info] = s.integers(s.place(integers), m, n, 0)
    getrf(rows, columns, s.address(x), rows, s.address(s.place(swaps)), info)
    matrices.turn(packed!, n * size, x, m * size, n, m)
    const [found, pivots, order] = [s.words(s.place(swaps), steps * step), s.words(pivotsAt!, steps), s.words(orderAt!, m)]
    for (let i = 0; i < m; i++) order[i] = i
    for (let i = 0; i < steps; i++) {
      const j = found[i * step]! - 1
      pivots[i] = j
      const kept = order[i]!
      order[i] = order[j]!
      order[j] = kept
    }
    return true
  }
}
