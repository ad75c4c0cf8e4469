/** Factorisations by reflections: vectors that are unique but for a sign have that of core/matrices/gauge.ts. */
import type { QrParams } from '../../core/ops/linalg/factorisations.js'
import { bytesOf, INTEGERS, type Make, routine } from './scratch.js'

/** Blocks of columns in which LAPACK works: as many rows of workspace. */
const BLOCK = 64

export const qr: Make = (given) => {
  const [geqrf, orgqr] = [routine(given, 'geqrf', 0, 8), routine(given, 'orgqr', 0, 9)]
  if (geqrf === undefined || orgqr === undefined) return undefined
  const { m, n, type, room, matrices, kernel } = given
  const [size, columns] = [bytesOf(type), (kernel.params as QrParams).complete ? m : n]
  const [integers, tauAt, signsAt, turnedAt] = [
    room.take(INTEGERS, 1),
    room.take(n, size),
    room.take(columns, size),
    room.take(m * columns, size),
  ]
  const length = BLOCK * columns
  const workAt = room.take(length, size)
  return ([a], [q, r], s) => {
    if (!matrices.finite(a!, m * n)) return false
    const [x, signs] = [s.place(turnedAt), s.place(signsAt)]
    const [at, tau, work] = [x, s.place(tauAt), s.place(workAt)].map((place) => s.address(place))
    matrices.turn(x, m * size, a!, n * size, m, n)
    const [rows, wide, own, given, info] = s.integers(s.place(integers), m, n, columns, length, 0)
    geqrf(rows, wide, at, rows, tau, work, given, info)
    const [numbers, found] = [s.numbers(type, x, m * n), s.numbers(type, signs, columns).fill(1)]
    for (let i = 0; i < n; i++) found[i] = numbers[i * m + i]!
    // R turned, in the room of Q.
    matrices.signed(q!, n * size, x, m * size, n, n, signs)
    matrices.clearAbove(q!, n * size, n)
    matrices.turn(r!, n * size, q!, n * size, n, n)
    if (columns > n) s.numbers(type, r! + n * n * size, (columns - n) * n).fill(0)
    orgqr(rows, own, wide, at, rows, tau, work, given, info)
    matrices.turn(q!, columns * size, x, m * size, columns, m)
    matrices.signed(q!, columns * size, q!, columns * size, m, columns, signs)
    // Columns whose lengths are no numbers of the type.
    return matrices.finite(r!, columns * n) && matrices.finite(q!, m * columns)
  }
}

export const eigh: Make = (given) => {
  const syevd = routine(given, 'syevd', 2, 9)
  if (syevd === undefined) return undefined
  const { n, type, room, matrices } = given
  const size = bytesOf(type)
  const [integers, vectors, decided] = [room.take(INTEGERS, 1), room.take(n * n, size), room.take(2 * n, size)]
  const [length, whole] = [1 + 6 * n + 2 * n * n, 3 + 5 * n]
  const [work, more] = [room.take(length, size), room.take(whole)]
  return ([a], [w, v], s) => {
    const row = n * size
    for (let i = 0; i < n; i++) if (!matrices.finite(a! + i * row, i + 1)) return false
    const [x, signs] = [s.place(vectors), s.place(decided)]
    s.copy(x, a!, n * row)
    const [order, given, integer, info] = s.integers(s.place(integers), n, length, whole, 0)
    const [workspace, rest] = [s.address(s.place(work)), s.address(s.place(more))]
    syevd('V', 'U', order, s.address(x), order, s.address(w!), workspace, given, rest, integer, info, 1, 1)
    if (s.words(s.place(integers) + 24, 1)[0] !== 0) return false
    matrices.turn(v!, row, x, row, n, n)
    matrices.deciding(v!, row, n, n, signs)
    matrices.signed(v!, row, v!, row, n, n, signs)
    return true
  }
}

/** A^T = V S U^T: what LAPACK calls U is V, column by column, and its V^T is U, row by row. */
export const svd: Make = (given) => {
  const gesdd = routine(given, 'gesdd', 1, 13)
  if (gesdd === undefined) return undefined
  const { m, n, type, room, matrices } = given
  const size = bytesOf(type)
  const [integers, copy, left, decided] = [room.take(INTEGERS, 1), room.take(m * n, size), room.take(n * n, size), room.take(2 * n, size)]
  const length = 4 * n * n + 7 * n + BLOCK * (m + 2 * n)
  const [work, more] = [room.take(length, size), room.take(8 * n)]
  return ([a], [u, d, v], s) => {
    if (!matrices.finite(a!, m * n)) return false
    const [row, x, vectors, signs] = [n * size, s.place(copy), s.place(left), s.place(decided)]
    s.copy(x, a!, m * row)
    const [rows, wide, given, info] = s.integers(s.place(integers), n, m, length, 0)
    const [from, values, of, to, workspace, rest] = [x, d!, vectors, u!, s.place(work), s.place(more)].map((place) => s.address(place))
    gesdd('S', rows, wide, from, rows, values, of, rows, to, rows, workspace, given, rest, info, 1)
    if (s.words(s.place(integers) + 24, 1)[0] !== 0) return false
    matrices.turn(v!, row, vectors, row, n, n)
    matrices.deciding(v!, row, n, n, signs)
    for (const [place, count] of [
      [v!, n],
      [u!, m],
    ] as const)
      matrices.signed(place, row, place, row, count, n, signs)
    return true
  }
}
