/*
 * Where the best element along an axis is, as a kernel for one length of it: the first of equals, and the first NaN before all. A line of neighbours is read once, in blocks
 * whose best is compared with that so far, and the block that has it is searched. Other lines go side by side, each lane with its best and where it was.
 */
import type { FunctionBuilder, Label, Local, Module, Op, Operand } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

/** x is [before, size, after], the positions are along the middle axis. `before`, not 0, is a size of the record. */
export interface Best {
  readonly size: number
  readonly after: number
  readonly type: 'f64' | 'f32' | 'i32'
  readonly of: 'max' | 'min'
}
/** What differs from one dtype to another. */
interface Kind {
  readonly bytes: 4 | 8
  readonly scalar: 'f64' | 'f32' | 'i32'
  readonly load: (f: FunctionBuilder, offset?: number) => FunctionBuilder
  readonly splat: (f: FunctionBuilder) => FunctionBuilder
  readonly fromScalar: Op
  readonly lane: (f: FunctionBuilder, l: number) => FunctionBuilder
  /** The better of two in each lane: the first where the second is NaN. */
  readonly choose: Op
  readonly isBetter: Op
  readonly ne: Op
  readonly vectorEq: Op
  readonly vectorNe: Op
  /** Lanes whose first is no better than the second: not where one is NaN. */
  readonly noBetter: Op
  /** The worst number. */
  readonly worst: (f: FunctionBuilder) => FunctionBuilder
}
const kindOf = ({ type, of }: Best): Kind => {
  const max = of === 'max'
  const least = max ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  if (type === 'f64')
    return {
      bytes: 8,
      scalar: 'f64',
      load: (f, offset) => f.f64Load(offset),
      splat: (f) => f.v128Load64Splat(),
      fromScalar: OP.f64x2_splat,
      lane: (f, l) => f.f64x2ExtractLane(l),
      choose: max ? OP.f64x2_pmax : OP.f64x2_pmin,
      isBetter: max ? OP.f64_gt : OP.f64_lt,
      ne: OP.f64_ne,
      vectorEq: OP.f64x2_eq,
      vectorNe: OP.f64x2_ne,
      noBetter: max ? OP.f64x2_le : OP.f64x2_ge,
      worst: (f) => f.f64Const(least),
    }
  if (type === 'f32')
    return {
      bytes: 4,
      scalar: 'f32',
      load: (f, offset) => f.f32Load(offset),
      splat: (f) => f.v128Load32Splat(),
      fromScalar: OP.f32x4_splat,
      lane: (f, l) => f.f32x4ExtractLane(l),
      choose: max ? OP.f32x4_pmax : OP.f32x4_pmin,
      isBetter: max ? OP.f32_gt : OP.f32_lt,
      ne: OP.f32_ne,
      vectorEq: OP.f32x4_eq,
      vectorNe: OP.f32x4_ne,
      noBetter: max ? OP.f32x4_le : OP.f32x4_ge,
      worst: (f) => f.f32Const(least),
    }
  return {
    bytes: 4,
    scalar: 'i32',
    load: (f, offset) => f.i32Load(offset),
    splat: (f) => f.v128Load32Splat(),
    fromScalar: OP.i32x4_splat,
    lane: (f, l) => f.i32x4ExtractLane(l),
    choose: max ? OP.i32x4_max_s : OP.i32x4_min_s,
    isBetter: max ? OP.i32_gt_s : OP.i32_lt_s,
    ne: OP.i32_ne,
    vectorEq: OP.i32x4_eq,
    vectorNe: OP.i32x4_ne,
    noBetter: max ? OP.i32x4_le_s : OP.i32x4_ge_s,
    worst: (f) => f.i32Const(max ? -(2 ** 31) : 2 ** 31 - 1),
  }
}
/** Vectors that are read together, and bytes of a block. */
const VECTORS = 4
const TOGETHER = 16 * VECTORS
const BLOCK = 4096

export const emitPosition = (module: Module, best: Best, name: string): void => {
  const f = module.kernel(name)
  if (best.after === 1) emitLines(f, best)
  else emitColumns(f, best)
}

const emitLines = (f: FunctionBuilder, { size, ...of }: Best): void => {
  const k = kindOf({ size, ...of })
  const float = k.scalar !== 'i32'
  const [out, x, , before] = pointers(f, 4)
  const [at, from, start, end, stop] = f.locals('i32', 5)
  const [best, found] = f.locals(k.scalar, 2)
  const accs = f.locals('v128', VECTORS)
  const [nan, v] = f.locals('v128', 2)
  const { add, below, choose } = address(f)
  const whole = Math.floor((size * k.bytes) / TOGETHER) * TOGETHER
  const isNan =
    (p: Local): Operand =>
    () =>
      f.op(k.ne, p, p)
  /** Moves `start` to the first element that fits: there is one. */
  const search = (vector: () => void, fits: Operand): void => {
    if (whole > 0)
      f.block((near) => {
        f.loop((top) => {
          f.op(OP.i32_gt_u, add(start, 16), end).brIf(near)
          f.get(start).v128Load().set(v)
          vector()
          f.op(OP.v128_any_true).brIf(near)
          f.increment(start, 16).br(top)
        })
      })
    f.block((here) => {
      f.loop((top) => {
        k.load(f.get(start)).set(found)
        f.brIf(here, fits)
        f.increment(start, k.bytes).br(top)
      })
    })
  }
  /** A number that is better than the best is in what begins at `where`. */
  const offer = (where: Local): void => {
    f.op(k.isBetter, found, best).if(() => f.set(best, found).set(start, where))
  }
  /** The best of each block, and where the block begins that has the best of all; to `met` where there is a NaN. */
  const blocks = (met: Label): void => {
    f.loop((next) => {
      f.set(from, at)
      f.set(stop, choose(below(add(at, BLOCK), add(x, whole)), add(at, BLOCK), add(x, whole)))
      for (const a of accs) k.worst(f).op(k.fromScalar).set(a)
      if (float) f.i32x4Const(0).set(nan)
      f.loop((top) => {
        accs.forEach((a, i) => {
          f.get(at)
            .v128Load(16 * i)
            .set(v)
          f.op(k.choose, a, v).set(a)
          if (float) f.op(OP.v128_or, nan, () => f.op(k.vectorNe, v, v)).set(nan)
        })
        f.increment(at, TOGETHER).brIf(top, below(at, stop))
      })
      if (float) {
        f.op(OP.v128_any_true, nan).if(() => f.set(start, from))
        f.op(OP.v128_any_true, nan).brIf(met)
      }
      for (let n = VECTORS; n > 1; n /= 2) for (let i = 0; i < n / 2; i++) f.op(k.choose, accs[i]!, accs[i + n / 2]!).set(accs[i]!)
      for (let l = 0; l < 16 / k.bytes; l++) {
        k.lane(f.get(accs[0]!), l).set(found)
        offer(from)
      }
      f.brIf(next, below(at, add(x, whole)))
    })
  }
  /** What is behind the whole vectors. */
  const rest = (met: Label): void => {
    f.loop((top) => {
      k.load(f.get(at)).set(found)
      if (float) {
        f.push(isNan(found)).if(() => f.set(start, at))
        f.push(isNan(found)).brIf(met)
      }
      offer(at)
      f.increment(at, k.bytes).brIf(top, below(at, end))
    })
  }
  f.countDown(before, () => {
    f.set(at, x)
      .set(start, x)
      .set(end, add(x, size * k.bytes))
    k.worst(f).set(best)
    f.block((done) => {
      f.block((met) => {
        if (whole > 0) blocks(met)
        if (whole < size * k.bytes) rest(met)
        const same = (): void => {
          f.op(k.vectorEq, v, () => f.get(best).op(k.fromScalar))
        }
        search(same, () => f.op(OP.i32_eqz, () => f.op(k.ne, found, best)))
        f.br(done)
      })
      if (float) search(() => void f.op(k.vectorNe, v, v), isNan(found))
    })
    f.get(out)
      .op(OP.i32_div_u, () => f.op(OP.i32_sub, start, x), k.bytes)
      .i32Store()
    f.increment(out, 4).set(x, end)
  })
}

const emitColumns = (f: FunctionBuilder, { size, after, ...of }: Best): void => {
  const k = kindOf({ size, after, ...of })
  const float = k.scalar !== 'i32'
  const lanes = 16 / k.bytes
  const [out, x, , before] = pointers(f, 4)
  const [left, at, down] = f.locals('i32', 3)
  const [best, where] = [f.locals('v128', VECTORS), f.locals('v128', VECTORS)]
  const [v, better, count] = f.locals('v128', 3)
  /** So many columns: vectors side by side, or one column. */
  const columns = (vectors: number, single: boolean): void => {
    const load = (i: number): FunctionBuilder => (single ? k.splat(f.get(at)) : f.get(at).v128Load(16 * i))
    f.set(at, x)
    f.i32x4Const(0).set(count)
    for (let i = 0; i < vectors; i++) {
      load(i).set(best[i]!)
      f.i32x4Const(0).set(where[i]!)
    }
    if (size > 1)
      f.set(down, size - 1).countDown(down, () => {
        f.increment(at, after * k.bytes)
        if (k.bytes === 8) f.op(OP.i64x2_add, count, () => f.i64x2Const(1n)).set(count)
        else f.op(OP.i32x4_add, count, () => f.i32x4Const(1)).set(count)
        for (let i = 0; i < vectors; i++) {
          const b = best[i]!
          load(i).set(v)
          f.op(k.noBetter, v, b).op(OP.v128_not)
          if (float) f.op(OP.v128_and, () => f.op(k.vectorEq, b, b))
          f.set(better)
          f.op(OP.v128_bitselect, v, b, better).set(b)
          f.op(OP.v128_bitselect, count, where[i]!, better).set(where[i]!)
        }
      })
    for (let i = 0; i < vectors; i++) {
      const w = where[i]!
      if (single) f.get(out).get(w).v128Store32Lane(0)
      else if (k.bytes === 4)
        f.get(out)
          .get(w)
          .v128Store(16 * i)
      else
        f.get(out)
          .get(w)
          .get(w)
          .i32x4Shuffle(0, 2, 0, 2)
          .v128Store64Lane(0, 8 * i)
    }
    const width = single ? 1 : vectors * lanes
    f.increment(x, width * k.bytes).increment(out, 4 * width)
  }
  const many = Math.floor(after / (VECTORS * lanes))
  const some = Math.floor((after - many * VECTORS * lanes) / lanes)
  const few = after % lanes
  f.countDown(before, () => {
    if (many > 0) f.set(left, many).countDown(left, () => columns(VECTORS, false))
    if (some > 0) f.set(left, some).countDown(left, () => columns(1, false))
    if (few > 0) f.set(left, few).countDown(left, () => columns(1, true))
    f.increment(x, (size - 1) * after * k.bytes)
  })
}
