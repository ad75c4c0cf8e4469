/**
 * The loops of factorisations in WebAssembly (panels.ts, panel-reflections.ts) beside the plain ones: in every width of a strip and beyond, at odd places
 * with distances between rows, with all that lies around. Both round each operation or fewer, so that they differ by a few units for each row.
 */
import { describe, expect, it } from 'vitest'
import type { Panels } from '../../src/backends/cpu/driven.js'
import { byElimination, byReflections } from '../../src/backends/cpu/panels.js'
import { Module } from '../../src/backends/cpu/wasm/encoder.js'
import { relaxedSimd } from '../../src/backends/cpu/wasm/features.js'
import type { FloatName } from '../../src/backends/cpu/wasm/float.js'
import { random } from '../../src/check/index.js'
import { bidiagonalPanel } from '../../src/core/matrices/bidiagonal.js'
import { decidingOf, rotateAll, signedOf } from '../../src/core/matrices/gauge.js'
import { type Basics, type Eliminating, plainEliminating, type Reflecting, type SecularLoops } from '../../src/core/matrices/loops.js'
import { type Floats, LEAF, subtractProduct } from '../../src/core/matrices/product.js'
import { reflect } from '../../src/core/matrices/reflections.js'
import { sumsAt, vectorOf } from '../../src/core/matrices/secular.js'
import { tridiagonalPanel } from '../../src/core/matrices/tridiagonal.js'

const ROOM = 1 << 20
const COUNT = 16_000
const next = random(5)
const below = (n: number): number => Math.floor(next() * n)
const floats = { f32: Float32Array, f64: Float64Array } as const
const tolerance = { f32: 2e-5, f64: 4e-14 } as const
const variants = (['f32', 'f64'] as const).flatMap((type) => (relaxedSimd() ? [false, true] : [false]).map((madd) => [type, madd] as const))

/** Loops on a memory of their own: numbers from 0 on, the room behind. */
const loopsOf = <L extends Basics>(panels: Panels<L>, type: FloatName, madd: boolean): { readonly all: Floats; readonly loops: L } => {
  const memory = new WebAssembly.Memory({ initial: 2 * (ROOM >> 16) })
  const module = new Module(madd)
  module.importMemory({ min: 1 })
  panels.emit(module, type)
  const code = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } }).exports
  return { all: new floats[type](memory.buffer, 0, COUNT), loops: panels.loops(code, subtractProduct, ROOM, type) }
}
const noise = Float64Array.from({ length: COUNT }, () => 2 * next() - 1)
/** Fills all with noise; what both make of it: equal where the plain loops write nothing, and near elsewhere, after so many steps that build on each other. */
const compare = <X>(
  all: Floats,
  type: FloatName,
  own: (x: Floats) => X,
  plain: (x: Floats) => X,
  fill?: (x: Floats) => void,
  steps = 1,
): void => {
  all.set(noise)
  fill?.(all)
  const before = all.slice()
  const want = all.slice()
  expect(own(all)).toEqual(plain(want))
  for (let i = 0; i < all.length; i++) {
    const [x, y] = [all[i]!, want[i]!]
    if (Object.is(x, y) || Object.is(x, -y)) continue
    if (Object.is(y, before[i]) || !(Math.abs(x - y) <= steps * tolerance[type] * (1 + Math.abs(y))))
      throw new Error(`number ${i} is ${x}, not ${y}`)
  }
}
/** A matrix at an odd place, with something between its rows. */
const placed = (columns: number): readonly [at: number, row: number] => [1 + below(5), columns + below(4)]

describe.each(variants)('elimination of %s, relaxed: %s', (type, madd) => {
  const { all, loops } = loopsOf(byElimination, type, madd)
  const sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32]
  const columns = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 23, 31, 32, 33, 47, 63, 71]

  it('solves with lower and upper triangles, of rows or of columns', () => {
    for (const n of sizes)
      for (const k of columns) {
        const [at, row] = placed(n)
        const [b, bRow] = [10_000 + below(7), k + below(4)]
        const [unit, upper, turned] = [below(2) === 0, below(2) === 0, below(2) === 0]
        const [r, c] = turned ? [1, row] : [row, 1]
        const run = (by: Eliminating) => (x: Floats) =>
          upper
            ? by.solve(x, at + (n - 1) * (r + c), -r, -c, unit, x, b + (n - 1) * bRow, -bRow, n, k)
            : by.solve(x, at, r, c, unit, x, b, bRow, n, k)
        compare(all, type, run(loops), run(plainEliminating), (x) => {
          for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) x[at + i * row + j] = i === j ? 1 + next() : (next() - 0.5) / n
        })
      }
  })
  it('a zero on the diagonal gives infinities and NaN there, and nowhere else', () => {
    all.fill(0)
    for (let i = 0; i < 3; i++) all[4 * i] = i === 1 ? 0 : 2
    all.fill(1, 100, 103)
    loops.solve(all, 0, 3, 1, false, all, 100, 1, 3, 1)
    expect(Array.from(all.subarray(100, 103))).toEqual([0.5, Number.POSITIVE_INFINITY, Number.NaN])
  })
  it('Cholesky: the upper factor, and what is below the diagonal stays', () => {
    for (const n of [...sizes.filter((x) => x <= LEAF), 6, 10, 11, 12, 13, 14]) {
      const [at, row] = placed(n)
      const run = (by: Eliminating) => (x: Floats) => by.cholesky(x, at, row, n)
      compare(all, type, run(loops), run(plainEliminating), (x) => {
        for (let i = 0; i < n; i++) x[at + i * (row + 1)] = n + next()
      })
    }
  })
  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('Cholesky: a pivot that is %d is found, wherever it is', (bad) => {
    for (let place = 0; place < 9; place++) {
      all.fill(0)
      for (let i = 0; i < 9; i++) all[10 * i] = i === place ? bad : 2
      expect(loops.cholesky(all, 0, 9, 9)).toBe(false)
    }
  })
  const pivots = (by: Eliminating, x: Floats, at: number, row: number, m: number, n: number): readonly number[] => {
    // In the memory, where the panels' own is.
    const own = new Int32Array(x === all ? all.buffer : new ArrayBuffer(400_000), x === all ? ROOM + (ROOM >> 1) : 0, LEAF)
    own.fill(0)
    by.lu(x, at, row, m, n, 100, own, 0)
    return Array.from(own)
  }
  it('LU of panels: pivots, and both factors', () => {
    for (const m of [...sizes, 33, 70, 141])
      for (const n of [1, 2, 3, 5, 8, 13, 15, LEAF]) {
        const [at, row] = placed(n)
        compare(
          all,
          type,
          (x) => pivots(loops, x, at, row, m, n),
          (x) => pivots(plainEliminating, x, at, row, m, n),
          // Pivots far from one another, in an order of their own, so that rounding does not choose.
          (x) => {
            for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) x[at + i * row + j]! *= i === (7 * j + 3) % m ? 4 : 0.5 / m
          },
        )
      }
  })
  it('LU: the first of equals, the first NaN, and columns of zeros', () => {
    const panel = (rows: readonly (readonly number[])[]): readonly number[] => {
      rows.flat().forEach((x, i) => {
        all[i] = x
      })
      return pivots(loops, all, 0, rows[0]!.length, rows.length, rows[0]!.length).slice(0, rows[0]!.length)
    }
    expect(
      panel([
        [1, 2],
        [-1, 1],
        [1, 6],
      ]),
    ).toEqual([100, 102])
    expect(panel([[1], [Number.NaN], [7], [Number.NaN]])).toEqual([101])
    expect(
      panel([
        [0, 1],
        [0, 3],
        [0, -4],
      ]),
    ).toEqual([100, 102])
    expect(Array.from(all.subarray(0, 6))).toEqual([0, 1, 0, -4, 0, -0.75])
    expect(panel([[1], [Number.POSITIVE_INFINITY], [7]])).toEqual([101])
  })
  it('swaps rows', () => {
    for (const k of columns) {
      const [at, row] = placed(k)
      const names = Int32Array.from({ length: 20 }, (_, i) => i + below(20 - i))
      const own = new Int32Array(all.buffer, ROOM, 20)
      own.set(names)
      const [first, count] = [below(6), 1 + below(14)]
      compare(
        all,
        type,
        (x) => loops.swap(x, at, row, k, own, 0, first, count),
        (x) => plainEliminating.swap(x, at, row, k, names, 0, first, count),
      )
    }
  })
  it('turns matrices, of any number of rows and columns', () => {
    for (let m = 0; m <= 9; m++)
      for (const n of [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 66, 129, 131]) {
        const [from, fromRow] = placed(n)
        const [to, toRow] = [10_000 + below(7), m + below(4)]
        const run = (by: Basics) => (x: Floats) => by.turn(x, to, toRow, x, from, fromRow, m, n)
        compare(all, type, run(loops), run(plainEliminating))
      }
  })
  it('results do not depend on where a matrix lies', () => {
    const given = Float64Array.from({ length: 400 }, () => 2 * next() - 1)
    const at = (place: number): ArrayLike<number> => {
      all.fill(0)
      all.set(given, place)
      pivots(loops, all, place, 7, 53, 7)
      loops.solve(all, place, 7, 1, true, all, place + 21, 19, 3, 18)
      return all.slice(place, place + 400)
    }
    const first = at(0)
    for (let place = 1; place < 9; place++) expect(at(place)).toEqual(first)
  })
})

/** Columns that reflections reduce, in plain loops: R with the vectors, V and T, as `Reflecting.reflect` has them. */
const reflected: NonNullable<Reflecting['reflect']> = (a, at, row, m, n, t, tRow, v, vRow) => {
  for (let j = 0; j < n; j++) {
    const from = at + j * (row + 1)
    const tau = reflect(a, from, row, m - j)
    for (let i = 0; i < m; i++) a[v + i * vRow + j] = i < j ? 0 : i === j ? 1 : a[at + i * row + j]!
    for (let k = j + 1; k < n; k++) {
      let s = 0
      for (let i = j; i < m; i++) s += a[v + i * vRow + j]! * a[at + i * row + k]!
      for (let i = j; i < m; i++) a[at + i * row + k]! -= tau * s * a[v + i * vRow + j]!
    }
    const z = Array.from({ length: j }, (_, k) => {
      let s = 0
      for (let i = 0; i < m; i++) s += a[v + i * vRow + k]! * a[v + i * vRow + j]!
      return s
    })
    for (let k = 0; k < j; k++) {
      let s = 0
      for (let l = k; l < j; l++) s += a[t + k * tRow + l]! * z[l]!
      a[t + k * tRow + j] = -tau * s
    }
    a[t + j * (tRow + 1)] = tau
  }
}

describe.each(variants)('reflections of %s, relaxed: %s', (type, madd) => {
  const { all, loops } = loopsOf(byReflections, type, madd)
  /** What rotations and secular equations work on, whatever the type. */
  const wide = new Float64Array(all.buffer, 0, COUNT)
  /** A power of two whose square is no number any more. */
  const small = type === 'f64' ? 2 ** -1000 : 2 ** -120
  const each = (fill?: (x: Floats, at: number, row: number, m: number) => void): void => {
    for (const n of [1, 2, 3, 5, 7, 8])
      for (const m of [n, n + 1, n + 2, n + 7, n + 8, n + 9, 40, 101]) {
        const [at, row] = placed(n)
        const [t, tRow] = [5000 + below(5), n + below(4)]
        const [v, vRow] = [7000 + below(5), n + below(4)]
        const run = (by: NonNullable<Reflecting['reflect']>) => (x: Floats) => by(x, at, row, m, n, t, tRow, v, vRow)
        compare(all, type, run(loops.reflect!), run(reflected), (x) => fill?.(x, at, row, m))
      }
  }
  it('reduce columns', () => each())
  it('reduce columns of zeros, of numbers near the smallest, and those whose first number is alone', () => {
    each((x, at, row, m) => {
      for (let i = 0; i < m; i++) {
        x[at + i * row] = 0
        x[at + i * row + 1]! *= small
        x[at + i * row + 2]! *= i === 2 ? 1 : 0
      }
    })
  })
  /** Panels of the first `count` columns of n rows, at odd places, with numbers behind each row that stay. */
  const panels = (of: (x: number, i: number, j: number, n: number) => number): void => {
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 23, 31, 40, 61])
      for (const count of new Set([1, 2, 3, Math.min(n, 8), Math.min(n, 15), Math.min(n, 16)])) {
        const [at, row] = placed(n)
        const pRow = n + below(4)
        const [left, right, d, c] = [5000 + below(3), 8000 + below(3), 11_000 + below(3), 12_000 + below(3)]
        const columns = (by: NonNullable<Reflecting['bidiagonal']>) => (x: Floats) =>
          by(x, at, row, n, count, left, right, pRow, d, d + 100, d + 200, d + 300, c)
        const rows = (by: NonNullable<Reflecting['tridiagonal']>) => (x: Floats) =>
          by(x, at, row, n, count, left, pRow, d, d + 100, d + 200, c)
        const filled = (x: Floats): void => {
          for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) x[at + i * row + j] = of(x[at + i * row + j]!, i, j, n)
        }
        if (count <= n) compare(all, type, columns(loops.bidiagonal!), columns(bidiagonalPanel), filled, count)
        if (count < n) compare(all, type, rows(loops.tridiagonal!), rows(tridiagonalPanel), filled, count)
      }
  }
  /** What is large lies where it stays, so that rounding is not magnified. */
  const stable = (x: number, i: number, j: number, n: number): number => (i === j ? 20 + x : j === i + 1 ? 9 + x : x / n)
  it('panels of tridiagonal and bidiagonal form', () => panels(stable))
  it('panels of numbers near the smallest', () => panels((x, i, j, n) => small * stable(x, i, j, n)))
  it('panels that are bidiagonal already, or zeros: their reflections are none', () => {
    panels((x, i, j) => (j === i || j === i + 1 ? x : 0))
    panels(() => 0)
  })
  it('what is left of a column of numbers near the smallest is as small', () => {
    const x = Float64Array.from({ length: 9 }, (_, i) => (1 + i) * small)
    all.set(x)
    loops.reflect!(all, 0, 1, 9, 1, 5000, 1, 7000, 1)
    const digits = type === 'f64' ? 14 : 6
    expect(all[0]! / (-Math.sqrt(285) * small)).toBeCloseTo(1, digits)
    expect(all[5000]!).toBeCloseTo(1 + 1 / Math.sqrt(285), digits)
  })
  it('NaN and infinities are in the result', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY])
      for (const place of [0, 1, 20]) {
        for (let i = 0; i < 63; i++) all[i] = 2 * next() - 1
        all[3 * place] = bad
        loops.reflect!(all, 0, 3, 21, 3, 5000, 3, 7000, 3)
        expect(Array.from(all.subarray(0, 63)).some(Number.isNaN)).toBe(true)
      }
  })
  it('numbers that decide about the signs of columns, the first of nearly equal ones; and columns with these signs', () => {
    for (const m of [1, 2, 5, 9])
      for (const n of [1, 2, 3, 4, 7, 8, 9, 16, 17, 31]) {
        const [at, row] = placed(n)
        const signs = 3000 + below(5)
        const fill = (x: Floats): void => {
          for (let j = 0; j < n; j += 3) for (let i = 0; i < m; i++) x[at + i * row + j] = i % 2 === 0 ? -0.5 : 0.50001
        }
        const deciding = (of: NonNullable<Reflecting['deciding']>) => (x: Floats) => of(x, at, row, m, n, signs)
        compare(all, type, deciding(loops.deciding!), deciding(decidingOf), fill)
        const signed = (of: NonNullable<Reflecting['signed']>) => (x: Floats) => of(x, 6001, x, at, row, m, n, signs)
        compare(all, type, signed(loops.signed!), signed(signedOf), fill)
      }
  })
  it('rotations of neighbours, in either direction', () => {
    for (const n of [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 17, 25, 31])
      for (const count of [0, 1, 2, 3, 7, 20]) {
        const [at, row] = placed(n)
        const by = 10_000 + below(5)
        for (const [from, step] of [
          [at, row],
          [at + count * row, -row],
        ] as const) {
          const run = (rotate: typeof rotateAll) => (x: Floats) => rotate(x as Float64Array, from, step, n, count, by)
          compare(wide, 'f64', run(loops.rotate!), run(rotateAll))
        }
      }
  })
  it('vectors of roots, whose elements go to places of their own', () => {
    for (let n = 1; n <= 17; n++)
      for (const to of [200, 300]) {
        const names = new Int32Array(wide.buffer, 8 * COUNT, n)
        for (let j = 0; j < n; j++) names[j] = (j + (n >> 1)) % n
        const run = (of: SecularLoops['vector']) => (a: Floats) => of(a as Float64Array, 201, 101, n, names, to, 400)
        compare(wide, 'f64', run(loops.secular!.vector), run(vectorOf))
      }
  })
  it('sums of secular equations, of d and of squares', () => {
    for (const squares of [false, true])
      for (let n = 0; n <= 17; n++) {
        const [d, w, gaps, sums] = [1 + below(4), 100 + below(4), 200 + below(4), 300 + below(4)]
        const [own, tau] = [0.7, 0.013]
        const fill = (a: Floats): void => {
          for (let j = 0; j < n; j++) a[d + j] = 1 + j
        }
        for (const split of [0, n >> 1, n]) {
          const run = (of: SecularLoops['sums']) => (a: Floats) => of(a as Float64Array, d, w, split, n, own, tau, squares, gaps, sums)
          compare(wide, 'f64', run(loops.secular!.sums), run(sumsAt), fill)
        }
        const weigh = (a: Floats): void => {
          for (let j = 0; j < n; j++) a[w + j]! *= a[gaps + j]! / ((a[d + j]! - own) * (squares ? a[d + j]! + own : 1))
        }
        compare(wide, 'f64', (x) => loops.secular!.weigh(x as Float64Array, w, gaps, d, n, own, squares), weigh, fill)
      }
  })
})
