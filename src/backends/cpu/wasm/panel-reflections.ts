/*
 * Panels of factorisations by reflections, in vectors of f64: columns that are reduced one after the other, turned so that neighbours in a column are side
 * by side; and the sums of secular equations.
 */
import type { FuncRef, FunctionBuilder, Local, Module } from './encoder.js'
import { address, floats, multiplyAdd, zeroVector } from './float.js'
import * as OP from './opcodes.js'
import { multiplySubtract, strips, times, turning } from './panel-parts.js'
import type { PanelCode } from './panels.js'

const F = floats.f64
/** As in core/matrices/reflections.ts. */
const FAINT = 2 ** -450
const ENLARGED = 2 ** 700
const WIDTHS = [4, 1]

/** Pushes the sum of four vectors and of their lanes. */
const total = (f: FunctionBuilder, sums: readonly Local[], one: Local): FunctionBuilder => {
  const [a, b, c, d] = sums as readonly [Local, Local, Local, Local]
  f.op(
    OP.f64x2_add,
    () => f.op(OP.f64x2_add, a, b),
    () => f.op(OP.f64x2_add, c, d),
  ).set(one)
  return f.get(one).f64x2ExtractLane(0).get(one).f64x2ExtractLane(1).op(OP.f64_add)
}

/** dot(x, y, n): the sum of n products. */
const emitDot = (module: Module): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'i32'], ['f64'])
  const [x, y, n] = f.parameters(3)
  const sums = f.locals('v128', 4)
  const one = f.local('v128')
  for (const s of sums) zeroVector(f).set(s)
  strips(f, F, n, WIDTHS, ({ vectors, bytes, load }) => {
    for (let v = 0; v < vectors; v++) {
      load(x, v).set(one)
      multiplyAdd(f, F, module.madd, sums[v]!, one, () => load(y, v))
    }
    f.increment(x, bytes).increment(y, bytes)
  })
  total(f, sums, one)
  return f
}
/** less(y, x, n, w): y -= w x. */
const emitLess = (module: Module): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'i32', 'f64'])
  const [y, x, n, w] = f.parameters(4)
  const [by, one] = f.locals('v128', 2)
  f.get(w).op(OP.f64x2_splat).set(by)
  strips(f, F, n, WIDTHS, ({ vectors, bytes, load, store }) => {
    for (let v = 0; v < vectors; v++) {
      load(y, v).set(one)
      multiplySubtract(f, F, module.madd, one, by, () => load(x, v))
      store(y, v, one)
    }
    f.increment(x, bytes).increment(y, bytes)
  })
  return f
}
/** scaled(x, n, by, divides): x *= by, or x /= by. */
const emitScaled = (module: Module): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'f64', 'i32'])
  const [x, n, w, divides] = f.parameters(4)
  const [by, one] = f.locals('v128', 2)
  f.get(w).op(OP.f64x2_splat).set(by)
  strips(f, F, n, [1], ({ bytes, load, store }) => {
    f.ifThen(
      divides,
      () => f.op(OP.f64x2_div, () => load(x, 0), by).set(one),
      () => f.op(OP.f64x2_mul, () => load(x, 0), by).set(one),
    )
    store(x, 0, one)
    f.increment(x, bytes)
  })
  return f
}
/** most(x, n): the largest size of n numbers, NaN where one is. */
const emitMost = (module: Module): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32'], ['f64'])
  const [x, n] = f.parameters(2)
  const most = f.local('v128')
  strips(f, F, n, [1], ({ bytes, load }) => {
    f.op(OP.f64x2_max, most, () => load(x, 0).op(OP.f64x2_abs)).set(most)
    f.increment(x, bytes)
  })
  f.get(most).f64x2ExtractLane(0).get(most).f64x2ExtractLane(1).op(OP.f64_max)
  return f
}

/**
 * reduce(x, n): the reflection that makes n numbers a multiple of the first unit vector, as `reflect` in core/matrices: tau, its vector in their place,
 * the multiple in the place of its 1. The numbers are of a matrix whose largest is near 1.
 */
const emitReduce = (module: Module, dot: FuncRef): FuncRef => {
  const [most, scaled] = [emitMost(module), emitScaled(module)]
  const f = module.func(undefined, ['i32', 'i32'], ['f64'])
  const [x, n] = f.parameters(2)
  const i32 = address(f)
  const [scale, enlarged, own, length] = f.locals('f64', 4)
  f.call(most, i32.add(x, 8), i32.sub(n, 1)).set(scale)
  f.op(OP.f64_eq, scale, () => f.f64Const(0)).if(() => f.f64Const(0).op(OP.return))
  f.op(OP.f64_max, scale, () => f.get(x).f64Load().op(OP.f64_abs)).set(scale)
  f.f64Const(1).set(enlarged)
  f.op(OP.f64_lt, scale, () => f.f64Const(FAINT)).if(() => {
    f.f64Const(ENLARGED).set(enlarged)
    f.call(scaled, x, n, enlarged, 0)
  })
  f.get(x).f64Load().set(own)
  f.call(dot, x, x, n).op(OP.f64_sqrt).set(length)
  f.op(OP.f64_gt, own, () => f.f64Const(0)).if(() => f.op(OP.f64_neg, length).set(length))
  f.call(scaled, i32.add(x, 8), i32.sub(n, 1), () => f.op(OP.f64_sub, own, length), 1)
  f.get(x).op(OP.f64_div, length, enlarged).f64Store()
  f.op(OP.f64_div, () => f.op(OP.f64_sub, length, own), length)
  return f
}

/**
 * reflect(a, row, m, n, t, tRow, v, vRow, p, step): n columns of A: [m, n], m >= n, become R and the vectors of their reflections. These go to V: [m, n] as
 * well, with their ones and zeros, and T of I - V T V^T to the upper triangle of T: [n, n]. The panel lies turned at `p` meanwhile, `step` bytes between
 * its columns, with room for n numbers behind.
 */
const emitReflect = (module: Module, turn: FuncRef, dot: FuncRef): void => {
  const less = emitLess(module)
  const reduce = emitReduce(module, dot)
  const f = module.func('reflect', new Array(10).fill('i32'))
  const [a, row, m, n, t, tRow, v, vRow, p, step] = f.parameters(10)
  const i32 = address(f)
  const [own, count, left, other, s, z, k, to, from, place] = f.locals('i32', 10)
  const [tau, w] = f.locals('f64', 2)
  f.call(turn, p, step, a, row, m, n)
  f.set(own, p)
    .set(count, m)
    .set(left, n)
    .set(z, i32.add(p, i32.mul(n, step)))
  times(f, left, () => {
    f.call(reduce, own, count).set(tau)
    // The columns after it.
    f.op(OP.f64_ne, tau, () => f.f64Const(0)).if(() => {
      f.set(other, i32.add(own, step)).set(k, i32.sub(left, 1))
      times(f, k, () => {
        f.op(OP.f64_mul, tau, () =>
          f.op(
            OP.f64_add,
            () => f.get(other).f64Load(),
            () => f.call(dot, i32.add(own, 8), i32.add(other, 8), i32.sub(count, 1)),
          ),
        ).set(w)
        f.get(other)
          .op(OP.f64_sub, () => f.get(other).f64Load(), w)
          .f64Store()
        f.call(less, i32.add(other, 8), i32.add(own, 8), i32.sub(count, 1), w)
        f.increment(other, step)
      })
    })
    // T: tau on the diagonal, and -tau T V^T v above.
    f.set(other, i32.add(p, i32.mul(s, 8)))
      .set(to, z)
      .set(k, s)
    times(f, k, () => {
      f.get(to)
      f.op(
        OP.f64_add,
        () => f.get(other).f64Load(),
        () => f.call(dot, i32.add(own, 8), i32.add(other, 8), i32.sub(count, 1)),
      )
      f.f64Store()
      f.increment(other, step).increment(to, 8)
    })
    f.set(other, t)
      .set(from, z)
      .set(to, i32.add(t, i32.mul(s, 8)))
      .set(k, s)
    times(f, k, () => {
      f.get(to)
      f.op(OP.f64_neg, () => f.op(OP.f64_mul, tau, () => f.call(dot, other, from, k)))
      f.f64Store()
      f.increment(to, tRow).increment(other, i32.add(tRow, 8)).increment(from, 8)
    })
    f.get(to).get(tau).f64Store()
    f.increment(own, i32.add(step, 8)).set(count, i32.sub(count, 1)).increment(s, 1)
  })
  f.call(turn, a, row, p, step, n, m)
  f.call(turn, v, vRow, p, step, n, m)
  f.set(left, n).set(place, v)
  times(f, left, () => {
    f.get(place).f64Const(1).f64Store()
    f.set(to, place).set(k, i32.sub(left, 1))
    times(f, k, () => {
      f.increment(to, 8)
      f.get(to).f64Const(0).f64Store()
    })
    f.increment(place, i32.add(vRow, 8))
  })
}

/**
 * part(d, w, n, own, tau, squares, gaps, sums): of n poles, the gaps g_j = p_j - x between them and the root own + tau, and sum w_j / g_j and
 * sum w_j / g_j^2, as `partAt` in core/matrices/secular.ts.
 */
const emitPart = (module: Module): void => {
  const f = module.func('part', ['i32', 'i32', 'i32', 'f64', 'f64', 'i32', 'i32', 'i32'])
  const [d, w, n, own, tau, squares, gaps, sums] = f.parameters(8)
  const [o, t, root, gap, share, sum, slope, value] = f.locals('v128', 8)
  f.get(own).op(OP.f64x2_splat).set(o)
  f.get(tau).op(OP.f64x2_splat).set(t)
  f.op(OP.f64x2_add, o, t).set(root)
  strips(f, F, n, [1], ({ single, bytes, load, store }) => {
    load(d, 0).set(value)
    f.op(OP.f64x2_sub, () => f.op(OP.f64x2_sub, value, o), t).set(gap)
    f.ifThen(squares, () => f.op(OP.f64x2_mul, gap, () => f.op(OP.f64x2_add, value, root)).set(gap))
    store(gaps, 0, gap)
    // The weight of a lane without an element is 0; with a gap of 1 its share is as well.
    if (single) f.get(gap).f64Const(1).f64x2ReplaceLane(1).set(gap)
    f.op(OP.f64x2_div, () => load(w, 0), gap).set(share)
    f.op(OP.f64x2_add, sum, share).set(sum)
    f.op(OP.f64x2_add, slope, () => f.op(OP.f64x2_div, share, gap)).set(slope)
    f.increment(d, bytes).increment(w, bytes).increment(gaps, bytes)
  })
  for (const [i, x] of [sum, slope].entries()) {
    f.get(sums)
      .get(x)
      .f64x2ExtractLane(0)
      .get(x)
      .f64x2ExtractLane(1)
      .op(OP.f64_add)
      .f64Store(8 * i)
  }
}
/** weigh(to, gaps, d, n, own, squares): n numbers are multiplied by gaps_j / (p_j - p), for poles as in part. */
const emitWeigh = (module: Module): void => {
  const f = module.func('weigh', ['i32', 'i32', 'i32', 'i32', 'f64', 'i32'])
  const [to, gaps, d, n, own, squares] = f.parameters(6)
  const [o, between, value] = f.locals('v128', 3)
  f.get(own).op(OP.f64x2_splat).set(o)
  strips(f, F, n, [1], ({ bytes, load, store }) => {
    load(d, 0).set(value)
    f.op(OP.f64x2_sub, value, o).set(between)
    f.ifThen(squares, () => f.op(OP.f64x2_mul, between, () => f.op(OP.f64x2_add, value, o)).set(between))
    f.op(
      OP.f64x2_mul,
      () => load(to, 0),
      () => f.op(OP.f64x2_div, () => load(gaps, 0), between),
    ).set(value)
    store(to, 0, value)
    f.increment(to, bytes).increment(gaps, bytes).increment(d, bytes)
  })
}
/** Names of exports. */
export interface ReflectionCode {
  readonly turn: PanelCode['turn']
  readonly reflect: (
    a: number,
    row: number,
    m: number,
    n: number,
    t: number,
    tRow: number,
    v: number,
    vRow: number,
    p: number,
    step: number,
  ) => void
  readonly part: (d: number, w: number, n: number, own: number, tau: number, squares: number, gaps: number, sums: number) => void
  readonly weigh: (to: number, gaps: number, d: number, n: number, own: number, squares: number) => void
}
/** Adds all of them to a module. */
export const emitReflections = (module: Module): void => {
  const turn = turning(module.func('turn', new Array(6).fill('i32')), F)
  emitReflect(module, turn, emitDot(module))
  emitPart(module)
  emitWeigh(module)
}
