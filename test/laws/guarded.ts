// Random programs whose singular points are guarded off by `where`, told twice: over the library, and over Taylor series.
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import * as j from './jets.js'

/** What a guarded program is made of, whatever computes it. */
export interface Calculus<T> {
  /** A matrix of numbers. */
  readonly of: (rows: readonly (readonly number[])[]) => T
  readonly add: (a: T, b: T) => T
  readonly sub: (a: T, b: T) => T
  readonly mul: (a: T, b: T) => T
  readonly div: (a: T, b: T) => T
  readonly neg: (a: T) => T
  readonly exp: (a: T) => T
  readonly log: (a: T) => T
  readonly sin: (a: T) => T
  readonly tanh: (a: T) => T
  readonly sqrt: (a: T) => T
  readonly cbrt: (a: T) => T
  readonly reciprocal: (a: T) => T
  readonly pow: (a: T, p: number) => T
  /** a where x > bound, else b. */
  readonly guard: (x: T, bound: number, a: T, b: T) => T
  readonly sumRows: (a: T) => T
  readonly sumAll: (a: T) => T
  readonly maxRows: (a: T) => T
  readonly softmax: (a: T) => T
  readonly matmul: (a: T, b: T) => T
  /** Columns swapped by slices and a concat. */
  readonly swapped: (a: T) => T
  /** Columns swapped by a gather. */
  readonly taken: (a: T) => T
  /** The first column padded to the width of a. */
  readonly padded: (a: T) => T
  readonly transposed: (a: T) => T
  readonly running: (a: T) => T
  /** sin(u) u v in one map. */
  readonly mapped: (u: T, v: T) => T
}

type E = cd.AnyExpr
const c = cd as unknown as Record<string, (...xs: readonly unknown[]) => E>
/** Programs of the library. */
export const library: Calculus<E> = {
  of: (rows) => c.tensor!(rows),
  add: (a, b) => c.add!(a, b),
  sub: (a, b) => c.sub!(a, b),
  mul: (a, b) => c.mul!(a, b),
  div: (a, b) => c.div!(a, b),
  neg: (a) => c.neg!(a),
  exp: (a) => c.exp!(a),
  log: (a) => c.log!(a),
  sin: (a) => c.sin!(a),
  tanh: (a) => c.tanh!(a),
  sqrt: (a) => c.sqrt!(a),
  cbrt: (a) => c.cbrt!(a),
  reciprocal: (a) => c.reciprocal!(a),
  pow: (a, p) => c.pow!(a, p),
  guard: (x, bound, a, b) => c.where!(c.gt!(x, bound), a, b),
  sumRows: (a) => c.sum!(a, { axis: 1, keepdims: true }),
  sumAll: (a) => c.sum!(a, { axis: [0, 1], keepdims: true }),
  maxRows: (a) => c.max!(a, { axis: 1, keepdims: true }),
  softmax: (a) => c.softmax!(a),
  matmul: (a, b) => c.matmul!(a, b),
  swapped: (a) => {
    const [m, n] = a.shape as readonly [number, number]
    return c.concat!([c.slice!(a, [0, 1], [m, n]), c.slice!(a, [0, 0], [m, 1])], { axis: 1 })
  },
  taken: (a) => c.take!(a, [1, 0], { axis: 1 }),
  padded: (a) => {
    const [m, n] = a.shape as readonly [number, number]
    return c.pad!(c.slice!(a, [0, 0], [m, 1]), [
      [0, 0],
      [0, n - 1],
    ])
  },
  transposed: (a) => c.transpose!(a),
  running: (a) => c.cumsum!(a, { axis: 1 }),
  mapped: (u, v) => c.map!((p: E, q: E) => c.mul!(c.mul!(c.sin!(p), p), q), u, v),
}
const moved = (a: j.Jet): j.Jet => j.jet(a.shape, (r, k) => j.get(a, r, (k + 1) % a.shape[1]))
const fold = (xs: readonly (readonly number[])[], f: (a: readonly number[], b: readonly number[]) => readonly number[]) => xs.reduce(f)
const row = (a: j.Jet, i: number): readonly (readonly number[])[] => Array.from({ length: a.shape[1] }, (_, k) => j.get(a, i, k))
/** The same over Taylor series. */
export const series: Calculus<j.Jet> = {
  of: (rows) => j.jet([rows.length, rows[0]!.length], (i, k) => j.still(rows[i]![k]!)),
  add: (a, b) => j.each(j.plus as never, a, b),
  sub: (a, b) => j.each(j.minus as never, a, b),
  mul: (a, b) => j.each(j.times as never, a, b),
  div: (a, b) => j.each(j.over as never, a, b),
  neg: (a) => j.each((x) => j.minus(j.still(0), x!), a),
  exp: (a) => j.each((x) => j.exp(x!), a),
  log: (a) => j.each((x) => j.log(x!), a),
  sin: (a) => j.each((x) => j.sin(x!), a),
  tanh: (a) => j.each((x) => j.tanh(x!), a),
  sqrt: (a) => j.each((x) => j.power(x!, 0.5), a),
  cbrt: (a) => j.each((x) => j.power(x!, 1 / 3), a),
  reciprocal: (a) => j.each((x) => j.over(j.still(1), x!), a),
  pow: (a, p) => j.each((x) => j.power(x!, p), a),
  guard: (x, bound, a, b) => j.each((u, p, q) => (u![0]! > bound ? p! : q!), x, a, b),
  sumRows: (a) => j.jet([a.shape[0], 1], (i) => fold(row(a, i), j.plus)),
  sumAll: (a) => j.jet([1, 1], () => fold(a.at, j.plus)),
  maxRows: (a) => j.jet([a.shape[0], 1], (i) => fold(row(a, i), (p, q) => (p[0]! >= q[0]! ? p : q))),
  softmax: (a) => {
    const e = j.each((x) => j.exp(x!), a)
    return series.div(e, series.sumRows(e))
  },
  matmul: (a, b) =>
    j.jet([a.shape[0], b.shape[1]], (i, k) =>
      fold(
        row(a, i).map((x, l) => j.times(x, j.get(b, l, k))),
        j.plus,
      ),
    ),
  swapped: moved,
  taken: moved,
  padded: (a) => j.jet(a.shape, (i, k) => (k === 0 ? j.get(a, i, 0) : j.still(0))),
  transposed: (a) => j.jet([a.shape[1], a.shape[0]], (i, k) => j.get(a, k, i)),
  running: (a) => j.jet(a.shape, (i, k) => fold(row(a, i).slice(0, k + 1), j.plus)),
  mapped: (u, v) => j.each((p, q) => j.times(j.times(j.sin(p!), p!), q!), u, v),
}

/** Points of a guarded program: a row of zeros, where everything may be singular, and elements at the bound of a second guard. */
export const points = (seed: number): readonly (readonly number[])[] => {
  const next = random(seed)
  const some = (): number => 0.4 + 1.2 * next()
  return [
    [some(), some() + 1],
    [0, 0],
    [1, some()],
  ]
}

/**
 * A random function of a [3, 2] matrix, guarded where its rows are 0: `size` operations before the guard, all of which keep rows
 * apart, and a few after it.
 */
export const guardedFunction =
  (seed: number, size: number) =>
  <T>(k: Calculus<T>) =>
  (x: T): T => {
    const next = random(seed)
    const pick = (n: number): number => Math.floor(next() * n)
    const number = (): T => k.of([[0.3 + next()]])
    const from = (pool: readonly T[]): T => pool[Math.max(0, pool.length - 1 - pick(3))]!
    // Positive where x is, 0, infinite or NaN elsewhere; and any finite number where x is positive.
    const positive: T[] = [x]
    const real: T[] = [x]
    const unary: readonly ((a: T) => T)[] = [k.neg, k.sin, k.tanh, k.neg, (a) => k.mul(a, number()), (a) => k.add(a, number())]
    for (let i = 0; i < size; i++) {
      const p = from(positive)
      const a = from(real)
      const b = from(real)
      switch (pick(20)) {
        case 0:
          positive.push(k.sqrt(p))
          break
        case 1:
          positive.push(k.reciprocal(k.add(p, k.mul(p, p))))
          break
        case 2:
          positive.push(k.pow(k.tanh(p), 1.5))
          break
        case 3:
          positive.push(k.cbrt(p))
          break
        case 4:
          real.push(k.tanh(k.log(p)))
          break
        case 5:
          real.push(k.log(p))
          break
        case 6:
          real.push(k.mul(k.tanh(a), b))
          break
        case 7:
          real.push(k.div(k.sin(a), p))
          break
        case 8:
          real.push(
            k.mul(
              k.tanh(
                k.matmul(
                  k.mul(
                    a,
                    k.of([
                      [1, 1],
                      [1, 1],
                      [1, 1],
                    ]),
                  ),
                  k.of([
                    [0.5, -0.3],
                    [0.2, 0.7],
                  ]),
                ),
              ),
              k.log(p),
            ),
          )
          break
        case 9:
          real.push(k.mul(a, k.sumRows(k.tanh(b))))
          break
        case 10:
          real.push(k.add(k.softmax(k.tanh(a)), k.neg(b)))
          break
        case 11:
          real.push(
            k.swapped(
              k.mul(
                a,
                k.of([
                  [1, 1],
                  [1, 1],
                  [1, 1],
                ]),
              ),
            ),
          )
          break
        case 12:
          real.push(
            k.taken(
              k.mul(
                a,
                k.of([
                  [1, 1],
                  [1, 1],
                  [1, 1],
                ]),
              ),
            ),
          )
          break
        case 13:
          real.push(k.mapped(k.tanh(a), k.sqrt(p)))
          break
        case 14:
          real.push(k.guard(x, 1, k.log(k.sub(x, k.of([[1]]))), number()))
          break
        case 15:
          real.push(
            k.padded(
              k.mul(
                a,
                k.of([
                  [1, 1],
                  [1, 1],
                  [1, 1],
                ]),
              ),
            ),
          )
          break
        case 16:
          real.push(
            k.add(
              k.running(
                k.mul(
                  k.sin(a),
                  k.of([
                    [1, 1],
                    [1, 1],
                    [1, 1],
                  ]),
                ),
              ),
              k.maxRows(b),
            ),
          )
          break
        default:
          real.push(unary[pick(unary.length)]!(a))
      }
    }
    const inside = [from(positive), from(real), from(real)].map((e) => k.tanh(e)).reduce((s, e) => k.add(k.mul(s, from(real)), e))
    let y = k.guard(x, 0, k.mul(inside, k.mul(k.tanh(inside), k.log(from(positive)))), next() < 0.5 ? k.of([[0]]) : k.sin(x))
    for (let i = pick(4); i > 0; i--)
      switch (pick(5)) {
        case 0:
          y = k.tanh(
            k.matmul(
              y,
              k.of([
                [0.4, 0.9],
                [-0.6, 0.1],
              ]),
            ),
          )
          break
        case 1:
          y = k.mul(y, k.sin(k.sumAll(y)))
          break
        case 2:
          y = k.tanh(k.swapped(y))
          break
        case 3:
          y = k.mul(k.softmax(y), k.of([[0.7, -1.1]]))
          break
        default:
          y = k.add(k.sin(y), k.mul(x, x))
      }
    return k.sumAll(
      k.mul(
        y,
        k.of([
          [1, -0.5],
          [0.8, 1.2],
          [0.3, 0.6],
        ]),
      ),
    )
  }
