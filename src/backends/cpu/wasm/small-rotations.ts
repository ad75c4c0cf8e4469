/*
 * Eigenvalues and singular values of matrices with a few rows, by Jacobi's rotations, as kernels for one shape (pairs.ts); what they are is
 * said in core/matrices. A lane whose matrix is done rotates by nothing, so what a matrix gets does not depend on its neighbour.
 * Source  Golub and Van Loan 2013, 8.5 and 8.6; Demmel and Veselic 1992.
 */
import type { Local, Module, Operand } from './encoder.js'
import * as OP from './opcodes.js'
import { eachPair, loadAll, type Pairs, type SmallShape } from './pairs.js'
import { reflections } from './small-reflections.js'

/** Rounds over all pairs of columns: six are usual. */
const SWEEPS = 30
/** The square of what counts as zero, of a cosine between two columns. */
const ZERO = 2 ** -106

type Columns = readonly (readonly Local[])[]
const pairsOf = (n: number): readonly (readonly [p: number, q: number])[] =>
  Array.from({ length: n }, (_, a) => Array.from({ length: n - a - 1 }, (_, b) => [a, a + 1 + b] as const)).flat()
const identity = (p: Pairs, n: number): Columns =>
  Array.from({ length: n }, (_, j) => Array.from({ length: n }, (_, i) => p.keep(p.c(i === j ? 1 : 0))))
const columnsOf = (rows: Columns, n: number): Columns => Array.from({ length: n }, (_, j) => rows.map((row) => row[j]!))

/** A rotation of two columns. */
interface Rotation {
  readonly t: Local
  readonly c: Local
  readonly s: Local
}
/** The smaller rotation that makes `beside` zero between two diagonal elements; none where the mask is not. */
const rotationOf = (p: Pairs, asked: Operand, first: Operand, second: Operand, beside: Operand): Rotation => {
  const half = p.keep(p.div(p.sub(second, first), p.mul(p.c(2), beside)))
  const size = p.add(p.abs(half), p.sqrt(p.add(p.c(1), p.mul(half, half))))
  const t = p.keep(p.and(asked, p.flip(p.div(p.c(1), size), p.lt(half, p.c(0)))))
  const c = p.keep(p.div(p.c(1), p.sqrt(p.add(p.c(1), p.mul(t, t)))))
  return { t, c, s: p.keep(p.mul(t, c)) }
}
const rotate = (p: Pairs, { c, s }: Rotation, x: Local, y: Local): void => {
  const kept = p.keep(p.sub(p.mul(c, x), p.mul(s, y)))
  p.set(y, p.add(p.mul(s, x), p.mul(c, y)))
  p.set(x, kept)
}
/** Sweeps until no pair is asked for. */
const sweeps = (p: Pairs, asked: readonly Operand[], sweep: () => void): void => {
  const { f } = p
  if (asked.length === 0) return
  const left = f.local('i32')
  f.set(left, SWEEPS).block((done) =>
    f.loop((top) => {
      f.op(OP.i32_eqz, p.any(asked.reduce((a, b) => p.or(a, b)))).brIf(done)
      sweep()
      f.op(OP.i32_sub, left, 1).localTee(left).brIf(top)
    }),
  )
}

/** Values in order, each with its columns: equal ones stay as they are. */
const sorted = (p: Pairs, values: readonly Local[], columns: Columns, isAfter: (a: Local, b: Local) => Operand): void => {
  for (let end = values.length - 1; end > 0; end--)
    for (let j = 0; j < end; j++) {
      const wrong = p.keep(isAfter(values[j]!, values[j + 1]!))
      p.exchange(wrong, values[j]!, values[j + 1]!)
      columns[j]!.forEach((x, i) => {
        p.exchange(wrong, x, columns[j + 1]![i]!)
      })
    }
}
/** Where the largest component is negative: the first of those that are as large, to four digits. */
const isTurned = (p: Pairs, column: readonly Local[]): Local => {
  const most = p.keep(column[0]!)
  const size = p.keep(p.abs(most))
  for (const x of column.slice(1)) {
    const larger = p.keep(p.gt(p.abs(x), p.mul(size, p.c(1.0001))))
    p.set(most, p.choose(larger, x, most))
    p.set(size, p.choose(larger, p.abs(x), size))
  }
  return p.keep(p.lt(most, p.c(0)))
}
/** All numbers over a power of two near the largest, where their squares might overflow or vanish; and where all of them are finite. */
const scaled = (p: Pairs, xs: readonly Local[], type: SmallShape['type']): { readonly fine: Local; readonly scale: Local | undefined } => {
  const size = p.keep(p.largest(xs))
  const fine = p.keep(p.lt(size, p.c(Number.POSITIVE_INFINITY)))
  if (type === 'f32') return { fine, scale: undefined }
  const scale = p.keep(p.powerBelow(size))
  p.over(xs, scale, xs)
  return { fine, scale }
}

/** Eigenvalues w: [n] and eigenvectors: [n, n] of the symmetric matrix whose lower triangle is A's. */
export const emitSmallEigh = (module: Module, { type, rows: n }: SmallShape, name: string): void =>
  eachPair(
    module,
    name,
    [
      [type, n],
      [type, n * n],
      [type, n * n],
    ],
    (p, toW, toV, matrix) => {
      const lower = Array.from({ length: n }, (_, i) => Array.from({ length: i + 1 }, (_, j) => p.keep(p.load(matrix, i * n + j))))
      const at = (i: number, j: number): Local => lower[Math.max(i, j)]![Math.min(i, j)]!
      const { fine, scale } = scaled(p, lower.flat(), type)
      const v = identity(p, n)
      const asked = (i: number, j: number): Operand => {
        const x = at(i, j)
        return p.gt(p.mul(x, x), p.mul(p.c(ZERO), p.abs(p.mul(at(i, i), at(j, j)))))
      }
      const all = pairsOf(n)
      sweeps(
        p,
        all.map(([i, j]) => asked(i, j)),
        () => {
          for (const [i, j] of all) {
            const mask = p.keep(asked(i, j))
            const r = rotationOf(p, mask, at(i, i), at(j, j), at(i, j))
            const moved = p.keep(p.mul(r.t, at(i, j)))
            p.set(at(i, i), p.sub(at(i, i), moved))
            p.set(at(j, j), p.add(at(j, j), moved))
            p.set(at(i, j), p.without(at(i, j), mask))
            for (let k = 0; k < n; k++) if (k !== i && k !== j) rotate(p, r, at(k, i), at(k, j))
            v[i]!.forEach((x, k) => {
              rotate(p, r, x, v[j]![k]!)
            })
          }
        },
      )
      const w = lower.map((row, i) => row[i]!)
      sorted(p, w, v, p.gt)
      const nan = p.c(Number.NaN)
      w.forEach((x, j) => {
        p.store(toW, j, p.choose(fine, scale ? p.mul(scale, x) : x, nan))
        const turned = isTurned(p, v[j]!)
        v[j]!.forEach((e, i) => {
          p.store(toV, i * n + j, p.choose(fine, p.flip(e, turned), nan))
        })
      })
    },
  )

/** U: [m, n], s: [n] and V: [n, n] of A: [m, n], m >= n: A V has columns at right angles, whose reflections give U whole, also where values are 0. */
export const emitSmallSvd = (module: Module, { type, rows: m, columns: n }: SmallShape, name: string): void =>
  eachPair(
    module,
    name,
    [
      [type, m * n],
      [type, n],
      [type, n * n],
      [type, m * n],
    ],
    (p, toU, toS, toV, matrix) => {
      const rows = loadAll(p, matrix, m, n)
      const a = columnsOf(rows, n)
      const { fine, scale } = scaled(p, rows.flat(), type)
      const v = identity(p, n)
      const product = (i: number, j: number): Operand => p.dot(...a[i]!.map((x, k): [Local, Local] => [x, a[j]![k]!]))
      const asked = (ii: Operand, jj: Operand, ij: Local): Operand => p.gt(p.mul(ij, ij), p.mul(p.c(ZERO * m * m), p.mul(ii, jj)))
      const all = pairsOf(n)
      const squares = a.map(() => p.local())
      const measured = (): void =>
        squares.forEach((x, j) => {
          p.set(x, product(j, j))
        })
      measured()
      sweeps(
        p,
        all.map(
          ([i, j]) =>
            () =>
              p.f.push(asked(squares[i]!, squares[j]!, p.keep(product(i, j)))),
        ),
        () => {
          for (const [i, j] of all) {
            const beside = p.keep(product(i, j))
            const [ii, jj] = [p.keep(product(i, i)), p.keep(product(j, j))]
            const r = rotationOf(p, p.keep(asked(ii, jj, beside)), ii, jj, beside)
            for (const of of [a, v])
              of[i]!.forEach((x, k) => {
                rotate(p, r, x, of[j]![k]!)
              })
          }
          measured()
        },
      )
      sorted(
        p,
        squares,
        a.map((column, j) => [...column, ...v[j]!]),
        (x, y) => p.lt(x, y),
      )
      const u = reflections(p, rows, n)
      const nan = p.c(Number.NaN)
      for (let j = 0; j < n; j++) {
        const turned = isTurned(p, v[j]!)
        const s = p.keep(p.sqrt(squares[j]!))
        p.store(toS, j, p.choose(fine, scale ? p.mul(scale, s) : s, nan))
        u.forEach((row, i) => {
          p.store(toU, i * n + j, p.choose(fine, p.flip(row[j]!, turned), nan))
        })
        v[j]!.forEach((e, i) => {
          p.store(toV, i * n + j, p.choose(fine, p.flip(e, turned), nan))
        })
      }
    },
  )
