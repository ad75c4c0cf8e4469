/*
 * Running results along an axis, of any shape, which the record tells: each line a chain, kept in f64 for both floats, as the meanings have it.
 *
 * Along the last axis a line lies in a row, and its total in a register. Lines along another axis stand side by side: they are walked row by row, several in a vector, with their
 * totals in scratch, in strips whose totals stay in the first cache. One after the other they would read a line of each page, and the same places of the cache where rows are a
 * power of two long.
 */
import type { FunctionBuilder, Local, Module, Op, Operand, ValType } from './encoder.js'
import { address, type FloatName } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'
import { STRIP } from './totals.js'

/** x is [before, size, after], its lines along the middle axis. */
export interface Shape {
  readonly before: number
  readonly size: number
  readonly after: number
}
export interface Lines {
  readonly type: FloatName | 'i32'
  readonly reverse: boolean
  /** They are walked side by side. */
  readonly beside: boolean
}
type Type = Lines['type']
const bytesOf = { f64: 8, f32: 4, i32: 4 } as const
/** Vectors in one iteration. */
const UNROLL = 4
/** Lines from which on they are walked side by side: fewer lie in the same lines of the cache. */
const BESIDE = 8
const lanesOf = (type: Type): number => (type === 'i32' ? 4 : 2)
export const areBeside = ({ after }: Shape): boolean => after >= BESIDE
/** Bytes of scratch: a total for each line of a strip. */
export const runningScratchBytes = ({ beside, type }: Lines, { after }: Shape): number =>
  beside ? Math.min(after, STRIP) * (type === 'i32' ? 4 : 8) : 0
/** The sizes of the record, none of them 0. */
interface Sizes {
  readonly before: Local
  readonly size: Local
  readonly after: Local
}
/** Bytes from one element of a line to the next, from its beginning to where its chain begins, and how many steps that has. */
const stepsOf = (f: FunctionBuilder, { type, reverse }: Lines, { size, after }: Sizes, chain: Chain) => {
  const [stride, back, steps, moved, whole] = f.locals('i32', 5)
  const { mul, sub } = address(f)
  f.set(stride, mul(after, bytesOf[type])).set(whole, mul(stride, sub(size, 1)))
  f.set(back, reverse ? whole : 0).set(moved, reverse ? sub(0, stride) : stride)
  f.set(steps, chain.takes ? sub(size, 1) : size)
  return { stride, back, steps, moved, whole }
}

type Fold = 'sum' | 'product' | 'greatest' | 'least'
/** Elements beside each other, promoted as totals are: one in a number, or several in a vector. `part` counts vectors from the pointer on. */
interface Cell {
  readonly total: ValType
  readonly ops: Readonly<Record<Fold, Op | undefined>>
  readonly constant: (x: number) => void
  readonly load: (at: Local, part: number) => Operand
  readonly store: (at: Local, part: number, x: Local) => void
  readonly kept: (at: Local, part: number) => Operand
  readonly keep: (at: Local, part: number, x: Local) => void
}
const number = (f: FunctionBuilder, type: Type): Cell => ({
  total: type === 'i32' ? 'i32' : 'f64',
  ops:
    type === 'i32'
      ? { sum: OP.i32_add, product: OP.i32_mul, greatest: undefined, least: undefined }
      : { sum: OP.f64_add, product: OP.f64_mul, greatest: OP.f64_max, least: OP.f64_min },
  constant: (x) => (type === 'i32' ? f.i32Const(x) : f.f64Const(x)),
  load: (at) => () =>
    type === 'f64' ? f.get(at).f64Load() : type === 'i32' ? f.get(at).i32Load() : f.get(at).f32Load().op(OP.f64_promote_f32),
  store: (at, _part, x) => {
    f.get(at).get(x)
    if (type === 'f64') f.f64Store()
    else if (type === 'i32') f.i32Store()
    else f.op(OP.f32_demote_f64).f32Store()
  },
  kept: (at) => () => (type === 'i32' ? f.get(at).i32Load() : f.get(at).f64Load()),
  keep: (at, _part, x) => {
    f.get(at).get(x)
    if (type === 'i32') f.i32Store()
    else f.f64Store()
  },
})
const vector = (f: FunctionBuilder, type: Type): Cell => ({
  total: 'v128',
  ops:
    type === 'i32'
      ? { sum: OP.i32x4_add, product: OP.i32x4_mul, greatest: OP.i32x4_max_s, least: OP.i32x4_min_s }
      : { sum: OP.f64x2_add, product: OP.f64x2_mul, greatest: OP.f64x2_max, least: OP.f64x2_min },
  constant: (x) => (type === 'i32' ? f.i32x4Const(x) : f.f64x2Const(x)),
  load: (at, part) => () =>
    type === 'f32'
      ? f
          .get(at)
          .v128Load64Zero(8 * part)
          .op(OP.f64x2_promote_low_f32x4)
      : f.get(at).v128Load(16 * part),
  store: (at, part, x) => {
    f.get(at).get(x)
    if (type === 'f32') f.op(OP.f32x4_demote_f64x2_zero).v128Store64Lane(0, 8 * part)
    else f.v128Store(16 * part)
  },
  kept: (at, part) => () => f.get(at).v128Load(16 * part),
  keep: (at, part, x) =>
    f
      .get(at)
      .get(x)
      .v128Store(16 * part),
})

/** What a chain does: how a total begins, and one element of each of its arrays. `total` is a local of the cell's type. */
interface Chain {
  readonly begin: (cell: Cell, at: readonly Local[], part: number, total: Local) => void
  readonly step: (cell: Cell, at: readonly Local[], part: number, total: Local) => void
  /** Does the beginning take the first element? */
  readonly takes: boolean
}
/** Every line by itself; the pointers, to arrays of one shape, stand at its first element. */
const lineByLine = (f: FunctionBuilder, lines: Lines, sizes: Sizes, starts: readonly Local[], chain: Chain): void => {
  const bytes = bytesOf[lines.type]
  const cell = number(f, lines.type)
  const at = starts.map(() => f.local('i32'))
  const [column, left] = f.locals('i32', 2)
  const total = f.local(cell.total)
  const { add } = address(f)
  const { back, steps, moved, whole } = stepsOf(f, lines, sizes, chain)
  const next = (): void => {
    for (const p of at) f.increment(p, moved)
  }
  f.countDown(sizes.before, () => {
    f.set(column, sizes.after).countDown(column, () => {
      starts.forEach((start, i) => {
        f.set(at[i]!, add(start, back))
        f.increment(start, bytes)
      })
      chain.begin(cell, at, 0, total)
      f.set(left, steps).ifThen(left, () =>
        f.countDown(left, () => {
          if (chain.takes) next()
          chain.step(cell, at, 0, total)
          if (!chain.takes) next()
        }),
      )
    })
    for (const start of starts) f.increment(start, whole)
  })
}
/** Lines side by side, a row of a strip at a time; their totals are in scratch. */
const sideBySide = (f: FunctionBuilder, lines: Lines, sizes: Sizes, starts: readonly Local[], scratch: Local, chain: Chain): void => {
  const { type } = lines
  const { before, size, after } = sizes
  const [bytes, kept, wide] = [bytesOf[type], type === 'i32' ? 4 : 8, UNROLL * lanesOf(type)]
  const cells = { one: number(f, type), many: vector(f, type) }
  const totals = { one: f.local(cells.one.total), many: Array.from({ length: UNROLL }, () => f.local('v128')) }
  const [rows, at] = [starts.map(() => f.local('i32')), starts.map(() => f.local('i32'))]
  const v = f.namedLocals('i32', 'column width left count place')
  const { add, min, mul, sub } = address(f)
  const { stride, back, steps, moved } = stepsOf(f, lines, sizes, chain)
  const advance = (elements: number): void => {
    for (const p of at) f.increment(p, elements * bytes)
    f.increment(v.place, elements * kept)
  }
  /** One row of the strip. */
  const row = (does: (cell: Cell, part: number, total: Local) => void): void => {
    for (const [i, r] of rows.entries()) f.set(at[i]!, r)
    f.set(v.place, scratch)
    f.localTee(v.count, () => f.op(OP.i32_div_u, v.width, wide)).if(() =>
      f.countDown(v.count, () => {
        totals.many.forEach((total, part) => {
          does(cells.many, part, total)
        })
        advance(wide)
      }),
    )
    f.localTee(v.count, () => f.op(OP.i32_and, v.width, wide - 1)).if(() =>
      f.countDown(v.count, () => {
        does(cells.one, 0, totals.one)
        advance(1)
      }),
    )
  }
  const next = (): void => {
    for (const r of rows) f.increment(r, moved)
  }
  f.countDown(before, () => {
    f.forLoop(v.column, 0, after, STRIP, () => {
      f.set(v.width, min(sub(after, v.column), STRIP))
      starts.forEach((start, i) => {
        f.set(rows[i]!, add(start, mul(v.column, bytes), back))
      })
      row((cell, part, total) => {
        chain.begin(cell, at, part, total)
        cell.keep(v.place, part, total)
      })
      f.set(v.left, steps).ifThen(v.left, () =>
        f.countDown(v.left, () => {
          if (chain.takes) next()
          row((cell, part, total) => {
            f.set(total, cell.kept(v.place, part))
            chain.step(cell, at, part, total)
            cell.keep(v.place, part, total)
          })
          if (!chain.takes) next()
        }),
      )
    })
    for (const start of starts) f.increment(start, mul(size, stride))
  })
}
/** The code of a kernel with so many arrays, the result's first. */
const emitLines = (f: FunctionBuilder, lines: Lines, arrays: number, chain: Chain): void => {
  const all = pointers(f, arrays + 4)
  const starts = all.slice(0, arrays)
  const [scratch, before, size, after] = all.slice(arrays) as [Local, Local, Local, Local]
  const sizes = { before, size, after }
  if (lines.beside) sideBySide(f, lines, sizes, starts, scratch, chain)
  else lineByLine(f, lines, sizes, starts, chain)
}

/** Sums, products and extremes. */
const folds = {
  cumsum: { by: 'sum', identity: 0, integer: 0 },
  cumprod: { by: 'product', identity: 1, integer: 1 },
  cummax: { by: 'greatest', identity: Number.NEGATIVE_INFINITY, integer: -(2 ** 31) },
  cummin: { by: 'least', identity: Number.POSITIVE_INFINITY, integer: 2 ** 31 - 1 },
} as const
export const emitRunning = (module: Module, kind: keyof typeof folds, lines: Lines, exclusive: boolean, name: string): void => {
  const f = module.kernel(name)
  const { by, identity, integer } = folds[kind]
  emitLines(f, lines, 2, {
    takes: false,
    begin: (cell, _at, _part, total) => {
      cell.constant(lines.type === 'i32' ? integer : identity)
      f.set(total)
    },
    step: (cell, [to, from], part, total) => {
      const x = cell.load(from!, part)
      const op = cell.ops[by]
      if (exclusive) cell.store(to!, part, total)
      if (op !== undefined) f.op(op, total, x)
      else f.op(OP.select, total, x, () => f.op(by === 'greatest' ? OP.i32_gt_s : OP.i32_lt_s, total, x))
      f.set(total)
      if (!exclusive) cell.store(to!, part, total)
    },
  })
}

/** s_k = a_k s_{k - 1} + b_k, and b_0 at the start. */
export const emitRecurrence = (module: Module, lines: Lines, name: string): void => {
  const f = module.kernel(name)
  emitLines(f, lines, 3, {
    takes: true,
    begin: (cell, [to, , b], part, total) => {
      f.set(total, cell.load(b!, part))
      cell.store(to!, part, total)
    },
    step: (cell, [to, a, b], part, total) => {
      f.op(cell.ops.sum!, () => f.op(cell.ops.product!, cell.load(a!, part), total), cell.load(b!, part)).set(total)
      cell.store(to!, part, total)
    },
  })
}
