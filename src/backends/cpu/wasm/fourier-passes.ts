/*
 * The passes of Stockham's transform: one radix each, from x[q + p row + k step] to y[q + r p + k ...] times w^(p k), where q runs along
 * vectors. Every real and imaginary part is an array of its own.
 *
 * Source  Stockham 1966; Van Loan 1992, 1.7; odd radices as Winograd's sums and differences of conjugate pairs.
 */
import type { FunctionBuilder, Local, Module, Op, Operand } from './encoder.js'
import { type Float, type FloatName, floats } from './float.js'
import * as OP from './opcodes.js'

/** A complex number, or a vector of them. */
interface Pair {
  readonly re: Local
  readonly im: Local
}

/** Arithmetic on vectors: each result is a new local. */
class Arithmetic {
  constructor(
    readonly f: FunctionBuilder,
    readonly F: Float,
  ) {}
  kept(x: Operand): Local {
    const y = this.f.local('v128')
    this.f.set(y, x)
    return y
  }
  private two(op: Op, a: Operand, b: Operand): Local {
    return this.kept(() => this.f.op(op, a, b))
  }
  add(a: Operand, b: Operand): Local {
    return this.two(this.F.vadd, a, b)
  }
  sub(a: Operand, b: Operand): Local {
    return this.two(this.F.vsub, a, b)
  }
  mul(a: Operand, b: Operand): Local {
    return this.two(this.F.vmul, a, b)
  }
  scaled(a: Operand, by: number): Local {
    return this.mul(a, () => (this.F.name === 'f64' ? this.f.f64x2Const(by) : this.f.f32x4Const(by)))
  }
  plus(a: Pair, b: Pair): Pair {
    return { re: this.add(a.re, b.re), im: this.add(a.im, b.im) }
  }
  minus(a: Pair, b: Pair): Pair {
    return { re: this.sub(a.re, b.re), im: this.sub(a.im, b.im) }
  }
  /** a - i b, and a + i b. */
  minusTurned(a: Pair, b: Pair): Pair {
    return { re: this.add(a.re, b.im), im: this.sub(a.im, b.re) }
  }
  plusTurned(a: Pair, b: Pair): Pair {
    return { re: this.sub(a.re, b.im), im: this.add(a.im, b.re) }
  }
  times(a: Pair, w: Pair): Pair {
    return {
      re: this.sub(this.mul(a.re, w.re), this.mul(a.im, w.im)),
      im: this.add(this.mul(a.re, w.im), this.mul(a.im, w.re)),
    }
  }
}

/** The transform of r numbers. */
const butterfly = (a: Arithmetic, x: readonly Pair[]): readonly Pair[] => {
  const r = x.length
  if (r === 2) return [a.plus(x[0]!, x[1]!), a.minus(x[0]!, x[1]!)]
  if (r === 4) {
    const [even, odd] = [a.plus(x[0]!, x[2]!), a.plus(x[1]!, x[3]!)]
    const [evens, odds] = [a.minus(x[0]!, x[2]!), a.minus(x[1]!, x[3]!)]
    return [a.plus(even, odd), a.minusTurned(evens, odds), a.minus(even, odd), a.plusTurned(evens, odds)]
  }
  return oddButterfly(a, x)
}
/** An odd number of them: y_k and y_(r - k) are m_k -+ i s_k. */
const oddButterfly = (a: Arithmetic, x: readonly Pair[]): readonly Pair[] => {
  const r = x.length
  const h = (r - 1) / 2
  const pairs = Array.from({ length: h }, (_, j) => j + 1)
  const sums = pairs.map((j) => a.plus(x[j]!, x[r - j]!))
  const differences = pairs.map((j) => a.minus(x[j]!, x[r - j]!))
  const combined = (first: Pair | undefined, parts: readonly Pair[], weight: (j: number) => number): Pair =>
    parts.reduce<Pair | undefined>((sum, p, i) => {
      const w = weight(i + 1)
      const term = { re: a.scaled(p.re, w), im: a.scaled(p.im, w) }
      return sum === undefined ? term : a.plus(sum, term)
    }, first)!
  const ys: Pair[] = new Array(r)
  ys[0] = sums.reduce((s, t) => a.plus(s, t), x[0]!)
  for (const k of pairs) {
    const angle = (j: number): number => (2 * Math.PI * ((j * k) % r)) / r
    const m = combined(x[0], sums, (j) => Math.cos(angle(j)))
    const s = combined(undefined, differences, (j) => Math.sin(angle(j)))
    ys[k] = a.minusTurned(m, s)
    ys[r - k] = a.plusTurned(m, s)
  }
  return ys
}

/** Parameters of a pass, all but the first five in bytes: rows p of it, length of a vector q, distances of rows and of the r parts, twiddles. */
export const PASS = ['xr', 'xi', 'yr', 'yi', 'count', 's', 'xRow', 'xStep', 'yRow', 'yStep', 'tw'] as const
type Parameters = Readonly<Record<(typeof PASS)[number], Local>>
/** With twiddles, without, and with them element by element where vectors are shorter than a register. */
type Variant = 'turned' | 'plain' | 'single'

const emitPass = (module: Module, F: Float, r: number, variant: Variant): FunctionBuilder => {
  const f = module.func(
    undefined,
    PASS.map(() => 'i32'),
  )
  const o = f.namedParameters(PASS.join(' ')) as Parameters
  const a = new Arithmetic(f, F)
  const step = variant === 'single' ? F.bytes : 16
  const [q, last] = f.locals('i32', 2)
  const load = (p: Operand): Local => a.kept(() => (variant === 'single' ? F.loadOne(f.push(p)) : f.push(p).v128Load()))
  const store = (p: Operand, x: Local): void => {
    f.push(p).get(x)
    if (variant === 'single') F.storeLane(f, 0)
    else f.v128Store()
  }
  const xs = f.locals('i32', r)
  const ys = f.locals('i32', r)
  const [dx, dy] = f.locals('i32', 2)
  f.localSet(dx, () => f.op(OP.i32_sub, o.xi, o.xr)).localSet(dy, () => f.op(OP.i32_sub, o.yi, o.yr))
  f.localSet(last, () => f.op(OP.i32_sub, o.s, step))
  f.countDown(o.count, () => {
    const twiddles =
      variant === 'plain'
        ? []
        : Array.from({ length: r - 1 }, (_, k): Pair => {
            const of = (part: number): Local => a.kept(() => F.loadSplat(f.get(o.tw), F.bytes * (2 * k + part)))
            return { re: of(0), im: of(1) }
          })
    f.set(q, 0)
    for (let k = 0; k < r; k++) {
      f.localSet(xs[k]!, k === 0 ? o.xr : () => f.op(OP.i32_add, xs[k - 1]!, o.xStep))
      f.localSet(ys[k]!, k === 0 ? o.yr : () => f.op(OP.i32_add, ys[k - 1]!, o.yStep))
    }
    f.loop((again) => {
      const x = xs.map((p): Pair => {
        const from = f.local('i32')
        f.localSet(from, () => f.op(OP.i32_add, p, q))
        return { re: load(from), im: load(() => f.op(OP.i32_add, from, dx)) }
      })
      butterfly(a, x).forEach((y, k) => {
        const z = k === 0 || variant === 'plain' ? y : a.times(y, twiddles[k - 1]!)
        const to = f.local('i32')
        f.localSet(to, () => f.op(OP.i32_add, ys[k]!, q))
        store(to, z.re)
        store(() => f.op(OP.i32_add, to, dy), z.im)
      })
      f.increment(q, step)
      f.op(OP.i32_lt_s, q, o.s).if(() => {
        // The last vector overlaps the one before.
        f.op(OP.select, q, last, () => f.op(OP.i32_lt_s, q, last)).set(q)
        f.br(again)
      })
    })
    f.increment(o.xr, o.xRow).increment(o.yr, o.yRow)
    if (variant !== 'plain') f.increment(o.tw, 2 * F.bytes * (r - 1))
  })
  return f
}

/** A square of lanes, transposed. */
export const transposed = (f: FunctionBuilder, x: readonly Local[]): readonly Local[] => {
  const two = (a: Local, b: Local, lanes: readonly number[]): Local => {
    const y = f.local('v128')
    f.get(a).get(b)
    if (lanes.length === 2) f.i64x2Shuffle(lanes[0]!, lanes[1]!)
    else f.i32x4Shuffle(...(lanes as [number, number, number, number]))
    f.set(y)
    return y
  }
  if (x.length === 2) return [two(x[0]!, x[1]!, [0, 2]), two(x[0]!, x[1]!, [1, 3])]
  const [a, b, c, d] = x as [Local, Local, Local, Local]
  const [ab, cd] = [two(a, b, [0, 4, 1, 5]), two(c, d, [0, 4, 1, 5])]
  const [AB, CD] = [two(a, b, [2, 6, 3, 7]), two(c, d, [2, 6, 3, 7])]
  return [two(ab, cd, [0, 1, 4, 5]), two(ab, cd, [2, 3, 6, 7]), two(AB, CD, [0, 1, 4, 5]), two(AB, CD, [2, 3, 6, 7])]
}
/** Vectors over p, of each of r parts, as a run of memory: the parts of one p after those of another. */
const interleaved = (f: FunctionBuilder, lanes: number, parts: readonly Local[]): readonly Local[] => {
  const squares = Array.from({ length: parts.length / lanes }, (_, i) => transposed(f, parts.slice(i * lanes, (i + 1) * lanes)))
  return Array.from({ length: lanes }, (_, l) => squares.map((s) => s[l]!)).flat()
}

/** The first pass over a run of memory (q is one element): vectors lie along p. Its twiddles are vectors too: for each vector of p, w, w^2 ... */
const emitFirst = (module: Module, F: Float, r: number): FunctionBuilder => {
  const f = module.func(undefined, ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'])
  const o = f.namedParameters('xr xi yr yi size tw')
  const a = new Arithmetic(f, F)
  const [p, last, dx, dy, to, from] = f.locals('i32', 6)
  f.localSet(dx, () => f.op(OP.i32_sub, o.xi, o.xr)).localSet(dy, () => f.op(OP.i32_sub, o.yi, o.yr))
  f.localSet(last, () => f.op(OP.i32_sub, o.size, 16))
  f.loop((again) => {
    f.localSet(from, () => f.op(OP.i32_add, o.xr, p))
    const x: Pair[] = []
    for (let k = 0; k < r; k++) {
      if (k > 0) f.increment(from, o.size)
      x.push({ re: a.kept(() => f.get(from).v128Load()), im: a.kept(() => f.op(OP.i32_add, from, dx).v128Load()) })
    }
    const ys = butterfly(a, x).map((y, k): Pair => {
      if (k === 0) return y
      const of = (part: number): Local => a.kept(() => f.get(o.tw).v128Load(16 * (2 * (k - 1) + part)))
      return a.times(y, { re: of(0), im: of(1) })
    })
    f.localSet(to, () => f.op(OP.i32_add, o.yr, () => f.op(OP.i32_mul, p, r)))
    for (const part of ['re', 'im'] as const) {
      const parts = ys.map((y) => y[part])
      if (part === 'im') f.increment(to, dy)
      if (r % F.lanes === 0)
        for (const [i, y] of interleaved(f, F.lanes, parts).entries())
          f.push(to)
            .push(y)
            .v128Store(16 * i)
      else for (let l = 0; l < F.lanes; l++) for (const [k, y] of parts.entries()) F.storeLane(f.get(to).get(y), l, F.bytes * (l * r + k))
    }
    f.increment(p, 16).increment(o.tw, 32 * (r - 1))
    f.op(OP.i32_lt_s, p, o.size).if(() => {
      f.op(OP.i32_gt_s, p, last).if(() => f.set(p, last))
      f.br(again)
    })
  })
  return f
}

/** The passes of some radices. */
export interface Passes {
  readonly pass: FunctionBuilder
  readonly first: FunctionBuilder
}
/** pass(radix, ...) and first(radix, ...), which call that of the radix. */
export const emitPasses = (module: Module, type: FloatName, radices: readonly number[]): Passes => {
  const F = floats[type]
  const made = radices.map((r) => ({
    r,
    turned: emitPass(module, F, r, 'turned'),
    plain: emitPass(module, F, r, 'plain'),
    single: emitPass(module, F, r, 'single'),
    first: emitFirst(module, F, r),
  }))
  const pass = module.func(undefined, ['i32', ...PASS.map(() => 'i32' as const)])
  const args = PASS.map((_, i) => pass.param(i + 1))
  const [s, tw] = [args[PASS.indexOf('s')]!, args[PASS.indexOf('tw')]!]
  for (const { r, turned, plain, single } of made)
    pass.op(OP.i32_eq, pass.param(0), r).if(() =>
      pass.op(OP.i32_lt_u, s, 16).if(
        () => pass.call(single, ...args),
        () =>
          pass.push(tw).if(
            () => pass.call(turned, ...args),
            () => pass.call(plain, ...args),
          ),
      ),
    )
  const first = module.func(undefined, ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'])
  for (const m of made)
    first.op(OP.i32_eq, first.param(0), m.r).if(() => first.call(m.first, ...[1, 2, 3, 4, 5, 6].map((i) => first.param(i))))
  return { pass, first }
}
