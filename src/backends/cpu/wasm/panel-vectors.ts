/*
 * Products of matrices and vectors for reductions by reflections, four rows at a time: each number of A is read once, in the order in which it lies.
 * Addresses, distances in bytes and counts are i32.
 */
import type { FuncRef, FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { address, type Float, multiplyAdd, zeroVector } from './float.js'
import { multiplySubtract, strips, times } from './panel-parts.js'

const ROWS = 4
const WIDTHS = [2, 1]

/** Pushes the sum of a vector's lanes. */
export const across = (f: FunctionBuilder, F: Float, v: Local): FunctionBuilder => {
  for (let lane = 0; lane < F.lanes; lane++) {
    F.extractLane(f.get(v), lane)
    if (lane > 0) f.op(F.add)
  }
  return f
}
/** The number at `offset` from y, less a value. */
const less = (f: FunctionBuilder, F: Float, y: Local, offset: number, value: Operand): void => {
  f.get(y).op(F.sub, () => F.load(f.get(y), offset), value)
  F.store(f, offset)
}
/** Rows of A, `height` of them from the local `a` on, for as long as `left` has so many; then those that are left, one by one. */
const byRows = (f: FunctionBuilder, left: Local, body: (height: number) => void): void => {
  const i32 = address(f)
  f.block((done) =>
    f.loop((next) => {
      f.push(i32.below(left, ROWS)).brIf(done)
      body(ROWS)
      f.set(left, i32.sub(left, ROWS)).br(next)
    }),
  )
  times(f, left, () => body(1))
}
const pointAt = (f: FunctionBuilder, rows: readonly Local[], a: Local, row: Local): void => {
  rows.forEach((p, r) => {
    f.set(p, r === 0 ? a : address(f).add(rows[r - 1]!, row))
  })
}

/** forward(y, m, a, row, x, n): y -= A x for A: [m, n]. */
export const emitForward = (module: Module, F: Float): FuncRef => {
  const f = module.func(undefined, new Array(6).fill('i32'))
  const [y, m, a, row, x, n] = f.parameters(6)
  const i32 = address(f)
  const pointers = f.locals('i32', ROWS)
  const [left, xp] = f.locals('i32', 2)
  const sums = f.locals('v128', ROWS)
  const [xv, av] = f.locals('v128', 2)
  byRows(f, m, (height) => {
    const rows = pointers.slice(0, height)
    pointAt(f, rows, a, row)
    for (const s of sums) zeroVector(f).set(s)
    f.set(left, n).set(xp, x)
    strips(f, F, left, [4, 1], ({ vectors, bytes, load }) => {
      for (let v = 0; v < vectors; v++) {
        load(xp, v).set(xv)
        rows.forEach((p, r) => {
          load(p, v).set(av)
          // One row alone has four sums, so that none waits for another.
          multiplyAdd(f, F, module.madd, sums[height === 1 ? v : r]!, av, xv)
        })
      }
      for (const p of [...rows, xp]) f.increment(p, bytes)
    })
    if (height === 1) for (const s of sums.slice(1)) f.op(F.vadd, sums[0]!, s).set(sums[0]!)
    for (let r = 0; r < height; r++) less(f, F, y, F.bytes * r, () => across(f, F, sums[r]!))
    f.increment(a, i32.mul(row, height)).increment(y, F.bytes * height)
  })
  return f
}

/** backward(y, n, x, m, a, row): y -= A^T x for A: [m, n]. */
export const emitBackward = (module: Module, F: Float): FuncRef => {
  const f = module.func(undefined, new Array(6).fill('i32'))
  const [y, n, x, m, a, row] = f.parameters(6)
  const i32 = address(f)
  const pointers = f.locals('i32', ROWS)
  const [left, yp] = f.locals('i32', 2)
  const ofX = f.locals('v128', ROWS)
  const [yv, av] = f.locals('v128', 2)
  byRows(f, m, (height) => {
    const rows = pointers.slice(0, height)
    pointAt(f, rows, a, row)
    for (let r = 0; r < height; r++) F.loadSplat(f.get(x), F.bytes * r).set(ofX[r]!)
    f.set(left, n).set(yp, y)
    strips(f, F, left, WIDTHS, ({ vectors, bytes, load, store }) => {
      for (let v = 0; v < vectors; v++) {
        load(yp, v).set(yv)
        rows.forEach((p, r) => {
          load(p, v).set(av)
          multiplySubtract(f, F, module.madd, yv, av, ofX[r]!)
        })
        store(yp, v, yv)
      }
      for (const p of [...rows, yp]) f.increment(p, bytes)
    })
    f.increment(a, i32.mul(row, height)).increment(x, F.bytes * height)
  })
  return f
}

/** symmetric(y, n, a, row, x): y -= A x for the symmetric A: [n, n] whose upper triangle is read. */
export const emitSymmetric = (module: Module, F: Float): FuncRef => {
  const f = module.func(undefined, new Array(5).fill('i32'))
  const [y, n, a, row, x] = f.parameters(5)
  const i32 = address(f)
  const e = F.bytes
  const pointers = f.locals('i32', ROWS)
  const [left, other, xp, yp] = f.locals('i32', 4)
  const [sums, ofX] = [f.locals('v128', ROWS), f.locals('v128', ROWS)]
  const [xv, yv, av] = f.locals('v128', 3)
  const product =
    (r: number, c: number, by: number): Operand =>
    () =>
      f.op(
        F.mul,
        () => F.load(f.get(pointers[r]!), e * c),
        () => F.load(f.get(x), e * by),
      )
  f.set(left, n)
  byRows(f, left, (height) => {
    const rows = pointers.slice(0, height)
    pointAt(f, rows, a, row)
    for (let r = 0; r < height; r++)
      for (let c = r; c < height; c++) {
        less(f, F, y, e * r, product(r, c, c))
        if (c > r) less(f, F, y, e * c, product(r, c, r))
      }
    for (let r = 0; r < height; r++) {
      F.loadSplat(f.get(x), e * r).set(ofX[r]!)
      zeroVector(f).set(sums[r]!)
    }
    f.set(other, i32.sub(left, height))
      .set(xp, i32.add(x, height * e))
      .set(yp, i32.add(y, height * e))
    for (const p of rows) f.increment(p, height * e)
    strips(f, F, other, WIDTHS, ({ vectors, bytes, load, store }) => {
      for (let v = 0; v < vectors; v++) {
        load(xp, v).set(xv)
        load(yp, v).set(yv)
        rows.forEach((p, r) => {
          load(p, v).set(av)
          multiplyAdd(f, F, module.madd, sums[r]!, av, xv)
          multiplySubtract(f, F, module.madd, yv, av, ofX[r]!)
        })
        store(yp, v, yv)
      }
      for (const p of [...rows, xp, yp]) f.increment(p, bytes)
    })
    for (let r = 0; r < height; r++) less(f, F, y, e * r, () => across(f, F, sums[r]!))
    f.increment(a, i32.mul(i32.add(row, e), height))
    f.increment(x, height * e).increment(y, height * e)
  })
  return f
}

/** rotate(a, row, n, count, by): rows of n numbers, each but the last with the next, as `rotateAll` in core/matrices; cosine and sine of each at `by`. */
export const emitRotate = (module: Module, F: Float): void => {
  const f = module.func('rotate', new Array(5).fill('i32'))
  const [a, row, n, count, by] = f.parameters(5)
  const i32 = address(f)
  const [left, from, to, angle] = f.locals('i32', 4)
  const carried = f.locals('v128', 4)
  const [c, s, y, turned] = f.locals('v128', 4)
  f.ifThen(count, () =>
    strips(f, F, n, [4, 2, 1], ({ vectors, bytes, load, store }) => {
      const xs = carried.slice(0, vectors)
      f.set(from, a).set(angle, by).set(left, count)
      xs.forEach((x, v) => {
        load(from, v).set(x)
      })
      f.countDown(left, () => {
        F.loadSplat(f.get(angle)).set(c)
        F.loadSplat(f.get(angle), F.bytes).set(s)
        f.set(to, i32.add(from, row))
        xs.forEach((x, v) => {
          load(to, v).set(y)
          f.op(F.vmul, c, x).set(turned)
          multiplyAdd(f, F, module.madd, turned, s, y)
          store(from, v, turned)
          f.op(F.vmul, c, y).set(turned)
          multiplySubtract(f, F, module.madd, turned, s, x)
          f.set(x, turned)
        })
        f.set(from, to).increment(angle, 2 * F.bytes)
      })
      xs.forEach((x, v) => {
        store(from, v, x)
      })
      f.increment(a, bytes)
    }),
  )
}
