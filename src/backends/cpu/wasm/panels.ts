/*
 * Panels of factorisations by elimination: what halving leaves (core/matrices), in vectors. Addresses, distances in bytes and counts are i32.
 *
 *   solve      rows of B, each freed of those before it: strips of columns in registers
 *   cholesky   rows of U with U^T U = A, as solve
 *   lu         columns of a panel, turned so that neighbours in a column are side by side, each freed of those before it (left-looking)
 *   swap       rows in the order of pivots
 *   turn       a transposed copy
 */
import type { FuncRef, Local, Module } from './encoder.js'
import { address, type Float, type FloatName, floats } from './float.js'
import * as OP from './opcodes.js'
import { divide, multiplySubtract, number, type Strip, strips, times, turning } from './panel-parts.js'

/** solve(t, tRow, tColumn, b, bRow, n, columns, unit): B: [n, columns] becomes T^-1 B for the lower triangle of T; with `unit` its diagonal is 1. */
const emitSolve = (module: Module, F: Float, madd: boolean, name: string): void => {
  const f = module.func(name, new Array(8).fill('i32'))
  const [t, tRow, tColumn, b, bRow, n, columns, unit] = f.parameters(8)
  const [i, k, left, row, tp, bp, to] = f.locals('i32', 7)
  const sums = f.locals('v128', 8)
  const x = f.local('v128')
  const strip = ({ vectors, bytes, load, store }: Strip): void => {
    const own = sums.slice(0, vectors)
    f.set(row, t).set(to, b).set(i, 0).set(left, n)
    f.countDown(left, () => {
      own.forEach((s, v) => {
        load(to, v).set(s)
      })
      f.set(tp, row).set(bp, b).set(k, i)
      times(f, k, () => {
        F.loadSplat(f.get(tp)).set(x)
        own.forEach((s, v) => {
          multiplySubtract(f, F, madd, s, x, () => load(bp, v))
        })
        f.increment(tp, tColumn).increment(bp, bRow)
      })
      f.ifThen(
        () => f.op(OP.i32_eqz, unit),
        () => {
          F.loadSplat(f.get(tp)).set(x)
          for (const s of own) f.op(divide(F), s, x).set(s)
        },
      )
      own.forEach((s, v) => {
        store(to, v, s)
      })
      f.increment(row, tRow).increment(to, bRow).increment(i, 1)
    })
    f.increment(b, bytes)
  }
  f.ifThen(n, () => strips(f, F, columns, [8, 4, 2, 1], strip))
}

/** cholesky(a, row, n): the upper triangle of A: [n, n] becomes U; what is below the diagonal is not touched. 0 where a pivot is not positive. */
const emitCholesky = (module: Module, F: Float, madd: boolean, name: string): void => {
  const f = module.func(name, new Array(3).fill('i32'), ['i32'])
  const [a, row, n] = f.parameters(3)
  const i32 = address(f)
  const [i, k, left, own, up, up0, bp, to] = f.locals('i32', 8)
  const sums = f.locals('v128', 4)
  const [x, d] = f.locals('v128', 2)
  const pivot = f.local('f64')
  f.set(own, a)
  times(f, n, () => {
    // Row i from its diagonal on, less the rows above it times their elements above that.
    f.set(up0, i32.add(a, i32.mul(i, F.bytes)))
    f.set(to, i32.add(own, i32.mul(i, F.bytes)))
      .set(left, n)
      .set(bp, up0)
    strips(f, F, left, [4, 2, 1], ({ vectors, bytes, load, store }) => {
      const these = sums.slice(0, vectors)
      these.forEach((s, v) => {
        load(to, v).set(s)
      })
      f.set(up, up0).set(k, i)
      times(f, k, () => {
        F.loadSplat(f.get(up)).set(x)
        these.forEach((s, v) => {
          multiplySubtract(f, F, madd, s, x, () => load(bp, v))
        })
        f.increment(up, row).increment(bp, row)
      })
      these.forEach((s, v) => {
        store(to, v, s)
      })
      f.increment(to, bytes).set(bp, i32.add(i32.sub(bp, i32.mul(i, row)), bytes))
    })
    f.set(to, i32.add(own, i32.mul(i, F.bytes)))
    number(f, F, to).set(pivot)
    f.op(
      OP.i32_and,
      () => f.op(OP.f64_gt, pivot, () => f.f64Const(0)),
      () => f.op(OP.f64_lt, pivot, () => f.f64Const(Number.POSITIVE_INFINITY)),
    )
    f.op(OP.i32_eqz).if(() => f.i32Const(0).op(OP.return))
    F.loadSplat(f.get(to))
      .op(F.name === 'f64' ? OP.f64x2_sqrt : OP.f32x4_sqrt)
      .set(d)
    F.storeLane(f.get(to).get(d), 0)
    f.increment(to, F.bytes).set(left, i32.sub(n, 1))
    strips(f, F, left, [1], ({ bytes, load, store }) => {
      f.op(divide(F), () => load(to, 0), d).set(x)
      store(to, 0, x)
      f.increment(to, bytes)
    })
    f.increment(own, row).increment(i, 1)
  })
  f.i32Const(1)
}

/** Bytes between columns of a panel with m rows that lies turned: an odd number of lines of the cache, so that columns do not fall on one another. */
export const turnedBytes = (F: FloatName, m: number): number => (Math.ceil((m * floats[F].bytes) / 64) * 64) | 64

/**
 * lu(a, row, m, n, first, pivots, p, step): columns of A: [m, n] become L and U, and pivot number s goes to pivots[s], counted from `first`. The
 * panel lies turned at `p` meanwhile, `step` bytes between its columns.
 */
const emitLu = (module: Module, F: Float, madd: boolean, turn: FuncRef, name: string): void => {
  const f = module.func(name, new Array(8).fill('i32'))
  const [a, row, m, n, first, pivots, p, step] = f.parameters(8)
  const i32 = address(f)
  const e = F.bytes
  const [s, k, left, column, cp, up, lp, to, best, last, steps] = f.locals('i32', 11)
  const sums = f.locals('v128', 8)
  const [x, d] = f.locals('v128', 2)
  const [size, most] = f.locals('f64', 2)
  f.call(turn, p, step, a, row, m, n)
  f.set(column, p).set(steps, i32.min(m, n)).set(s, 0)
  /** The column at `column` less that at `lp` times the number at `up`, `left` elements of each from `cp` and `lp` on. */
  const above = (): void => {
    // U of this column: rows 1 to s - 1, by the unit triangle above.
    f.set(up, column).set(lp, i32.add(p, e)).set(k, s)
    times(f, k, () => {
      f.set(cp, i32.add(up, e)).set(to, lp).set(left, i32.sub(k, 1))
      F.loadSplat(f.get(up)).set(x)
      strips(f, F, left, [1], ({ bytes, load, store }) => {
        load(cp, 0).set(d)
        multiplySubtract(f, F, madd, d, x, () => load(to, 0))
        store(cp, 0, d)
        f.increment(cp, bytes).increment(to, bytes)
      })
      f.increment(up, e).increment(lp, i32.add(step, e))
    })
  }
  /** Rows s and on of the column, less all columns before it. */
  const below = (): void => {
    f.set(cp, i32.add(column, i32.mul(s, e)))
      .set(lp, i32.add(p, i32.mul(s, e)))
      .set(left, i32.sub(m, s))
    strips(f, F, left, [8, 2, 1], ({ vectors, bytes, load, store }) => {
      const own = sums.slice(0, vectors)
      own.forEach((sum, v) => {
        load(cp, v).set(sum)
      })
      f.set(up, column).set(to, lp).set(k, s)
      times(f, k, () => {
        F.loadSplat(f.get(up)).set(x)
        own.forEach((sum, v) => {
          multiplySubtract(f, F, madd, sum, x, () => load(to, v))
        })
        f.increment(up, e).increment(to, step)
      })
      own.forEach((sum, v) => {
        store(cp, v, sum)
      })
      f.increment(cp, bytes).increment(lp, bytes)
    })
  }
  /** The row of the number that is largest in size, the first of equals; of the first NaN where there is one. */
  const search = (): void => {
    f.f64Const(-1).set(most)
    f.set(k, s)
      .set(best, s)
      .set(cp, i32.add(column, i32.mul(s, e)))
    f.block((found) =>
      f.loop((next) => {
        number(f, F, cp).op(OP.f64_abs).set(size)
        f.ifThen(
          () => f.op(OP.f64_gt, size, most),
          () => f.get(size).set(most).set(best, k),
          () =>
            f.ifThen(
              () => f.op(OP.f64_ne, size, size),
              () => f.set(best, k).br(found),
            ),
        )
        f.increment(cp, e).increment(k, 1)
        f.brIf(next, i32.below(k, m))
      }),
    )
  }
  /** Rows s and `best` of the panel change places. */
  const exchange = (): void => {
    f.set(cp, i32.add(p, i32.mul(s, e)))
      .set(to, i32.add(p, i32.mul(best, e)))
      .set(k, n)
    f.countDown(k, () => {
      F.loadOne(f.get(cp)).set(x)
      F.loadOne(f.get(to)).set(d)
      F.storeLane(f.get(cp).get(d), 0)
      F.storeLane(f.get(to).get(x), 0)
      f.increment(cp, step).increment(to, step)
    })
  }
  const scale = (): void => {
    f.set(cp, i32.add(column, i32.mul(s, e))).set(left, i32.sub(i32.sub(m, s), 1))
    // A column of zeros needs no elimination, and its pivot has no reciprocal.
    number(f, F, cp)
      .f64Const(0)
      .op(OP.f64_ne)
      .if(() => {
        F.loadSplat(f.get(cp)).set(d)
        f.increment(cp, e)
        strips(f, F, left, [1], ({ bytes, load, store }) => {
          f.op(divide(F), () => load(cp, 0), d).set(x)
          store(cp, 0, x)
          f.increment(cp, bytes)
        })
      })
  }
  f.set(last, n)
  times(f, last, () => {
    f.ifThen(
      i32.below(s, steps),
      () => {
        above()
        below()
        search()
        f.get(i32At(pivots, s)).push(i32.add(best, first)).i32Store()
        f.ifThen(i32.ne(best, s), exchange)
        scale()
        f.increment(s, 1)
      },
      above,
    )
    f.increment(column, step)
  })
  f.call(turn, a, row, p, step, n, m)
  function i32At(base: Local, index: Local): Local {
    f.set(cp, i32.add(base, i32.mul(index, 4)))
    return cp
  }
}

/** swap(a, row, columns, pivots, first, count): rows `first` to `first + count` change places with those that the pivots name, one after the other. */
const emitSwap = (module: Module, F: Float, name: string): void => {
  const f = module.func(name, new Array(6).fill('i32'))
  const [a, row, columns, pivots, first, count] = f.parameters(6)
  const i32 = address(f)
  const [pp, other, left, x, y] = f.locals('i32', 5)
  const [u, v] = f.locals('v128', 2)
  f.set(pp, i32.add(pivots, i32.mul(first, 4)))
  times(f, count, () => {
    f.get(pp).i32Load().set(other)
    f.ifThen(i32.ne(other, first), () => {
      f.set(x, i32.add(a, i32.mul(first, row)))
        .set(y, i32.add(a, i32.mul(other, row)))
        .set(left, columns)
      strips(f, F, left, [1], ({ bytes, load, store }) => {
        load(x, 0).set(u)
        load(y, 0).set(v)
        store(x, 0, v)
        store(y, 0, u)
        f.increment(x, bytes).increment(y, bytes)
      })
    })
    f.increment(pp, 4).increment(first, 1)
  })
}

/** What the panels are called with; names of exports. */
export interface PanelCode {
  readonly solve: (t: number, tRow: number, tColumn: number, b: number, bRow: number, n: number, columns: number, unit: number) => void
  readonly cholesky: (a: number, row: number, n: number) => number
  readonly lu: (a: number, row: number, m: number, n: number, first: number, pivots: number, p: number, step: number) => void
  readonly swap: (a: number, row: number, columns: number, pivots: number, first: number, count: number) => void
  readonly turn: (to: number, toRow: number, from: number, fromRow: number, m: number, n: number) => void
}
/** Adds all of them to a module, for one type. */
export const emitPanels = (module: Module, type: FloatName): void => {
  const F = floats[type]
  const turn = turning(module.func('turn', new Array(6).fill('i32')), F)
  emitSolve(module, F, module.madd, 'solve')
  emitCholesky(module, F, module.madd, 'cholesky')
  emitLu(module, F, module.madd, turn, 'lu')
  emitSwap(module, F, 'swap')
}
