/*
 * Rows added where indices say, as kernels for rows of one length: gather's and takeAlong's adjoints. Rows of f32 are added up in f64 and rounded once, as the meanings have it.
 * How many rows there are is in the record; which form of the kernel it is (where totals are) is in the code.
 */
import { noElements, type WholeKernel } from '../kernel.js'
import type { FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'
import { type Along, alongSizes, loadIndex, type Rows, rowSizes } from './take-along.js'

type Type = 'f64' | 'f32' | 'i32'
const bytesOf = { f64: 8, f32: 4, i32: 4 } as const
const aligned = (bytes: number): number => 16 * Math.ceil(bytes / 16)
/** Calls the body for each row that is added, in order, with the place where it goes. */
type Walk = (f: FunctionBuilder, indices: Local, sizes: Sizes, body: (row: Local) => void) => void

/** The sizes of the record that a walk reads, those of `Rows` or `Along`. It leaves them as they are. */
type Sizes = readonly [Local, Local, Local, Local]

/** What is added to: so many rows of so many elements; and how many rows are. */
interface Target {
  readonly type: Type
  readonly rows: number
  readonly width: number
  readonly added: number
}
/** Totals of all rows, where more are added than about half of them; else a table of where each row has its total, and the totals. */
const isDense = ({ rows, added }: Target): boolean => rows <= 2 * added
/** Elements of each row whose totals are taken at once: they stay in the second cache, however wide rows are. */
const TOTALS = 2 ** 16
const stripOf = ({ rows, width }: Target): number =>
  rows * width <= TOTALS ? width : Math.min(width, Math.max(16, 16 * Math.floor(TOTALS / rows / 16)))
/** Elements of a row whose totals are taken at once where the rows that are added to one are listed: they stay in the first cache. */
const LISTED = 256
/** Whether rows are listed by where they go, so that each result is read and written once: where totals of all would not stay in the second cache. */
const isListed = (target: Target): boolean =>
  isDense(target) && target.added <= (target.width < 256 ? 1 : 4) * target.rows && target.width >= 32 && target.rows * target.width > TOTALS
/** Where totals are: of f32 that is one of three forms. */
type Form = 'none' | 'lists' | 'all' | 'some'
const formOf = (target: Target): Form => {
  if (target.type !== 'f32') return 'none'
  return isListed(target) ? 'lists' : isDense(target) ? 'all' : 'some'
}
/** Bytes of what lies in the scratch before the totals: lists of rows, or the table of where each has its total. */
const tableBytes = (form: Form, { rows, added }: Target): number =>
  form === 'lists' ? aligned(4 * (rows + 1 + added)) : form === 'some' ? aligned(4 * rows) : 0
const scratchBytes = (form: Form, target: Target): number => {
  const { rows, width, added } = target
  if (form === 'none') return 0
  const totals = form === 'lists' ? Math.min(width, LISTED) : form === 'all' ? stripOf(target) * rows : width * Math.min(rows, added)
  return tableBytes(form, target) + 8 * totals
}
/** What the code of a kernel depends on. `strip`: the elements of each row whose totals are taken at once. */
interface Code {
  readonly type: Type
  readonly form: Form
  readonly width: number
  readonly strip: number
}
/** The words of the record: addresses, how many rows there are, and bytes of the table. */
interface Record {
  readonly out: Local
  readonly indices: Local
  readonly u: Local
  readonly scratch: Local
  readonly rows: Local
  readonly table: Local
  readonly sizes: Sizes
}

/** Elements of a row that are taken together. */
const TOGETHER = 4
/** The elements of a row, four of them and one by one; pointers, in bytes of an element each, move along. */
const along = (
  f: FunctionBuilder,
  width: number,
  moving: readonly (readonly [Local, number])[],
  four: () => void,
  one: () => void,
): void => {
  const times = (count: number, elements: number, body: () => void): void => {
    const step = (): void => {
      body()
      for (const [p, bytes] of moving) f.increment(p, elements * bytes)
    }
    if (count === 1) step()
    else if (count > 1) {
      const left = f.local('i32')
      f.set(left, count).countDown(left, step)
    }
  }
  times(Math.floor(width / TOGETHER), TOGETHER, four)
  times(width % TOGETHER, 1, one)
}
/** Two of four f32 from an address on, as f64. */
const promotedPair =
  (f: FunctionBuilder, at: Local, pair: 0 | 1): Operand =>
  () =>
    f
      .get(at)
      .v128Load64Zero(8 * pair)
      .op(OP.f64x2_promote_low_f32x4)
const promoted =
  (f: FunctionBuilder, at: Local): Operand =>
  () =>
    f.get(at).f32Load().op(OP.f64_promote_f32)
const PAIRS = [0, 1] as const

/** Rows of u are added to what lies at the result: the planner has put the accumulator there. */
const emitAdding = (module: Module, code: Code, walk: Walk, name: string): void => {
  const f = module.kernel(name)
  const { type, form, width } = code
  const [out, indices, u, scratch, rows, table, ...sizes] = pointers(f, 10)
  const of: Record = { out, indices, u, scratch, rows, table, sizes }
  if (type !== 'f32') walk(f, indices, sizes, (row) => addRow(f, type, width, out, u, row))
  else if (form === 'lists') inLists(f, width, of, walk)
  else if (form === 'all') inAllTotals(f, code, of, walk)
  else inTotals(f, width, of, walk)
}
const addRow = (f: FunctionBuilder, type: 'f64' | 'i32', width: number, out: Local, u: Local, row: Local): void => {
  const bytes = bytesOf[type]
  const to = f.local('i32')
  const { add, mul } = address(f)
  f.set(to, add(out, mul(row, width * bytes)))
  const both = [to, u].map((p) => () => (type === 'f64' ? f.get(p).f64Load() : f.get(p).i32Load()))
  const four = (): void => {
    for (let at = 0; at < TOGETHER * bytes; at += 16)
      f.get(to)
        .op(type === 'f64' ? OP.f64x2_add : OP.i32x4_add, ...[to, u].map((p) => () => f.get(p).v128Load(at)))
        .v128Store(at)
  }
  along(f, width, [[to, bytes] as const, [u, bytes] as const], four, () => {
    f.get(to).op(type === 'f64' ? OP.f64_add : OP.i32_add, ...both)
    if (type === 'f64') f.f64Store()
    else f.i32Store()
  })
}

/** Elements of f32, so many, as totals. */
const begin = (f: FunctionBuilder, width: number, total: Local, from: Local): void => {
  const four = (): void => {
    for (const pair of PAIRS)
      f.get(total)
        .push(promotedPair(f, from, pair))
        .v128Store(16 * pair)
  }
  along(f, width, [[total, 8] as const, [from, 4] as const], four, () => f.get(total).push(promoted(f, from)).f64Store())
}
const addToTotal = (f: FunctionBuilder, width: number, total: Local, u: Local): void => {
  const four = (): void => {
    for (const pair of PAIRS)
      f.get(total)
        .op(OP.f64x2_add, () => f.get(total).v128Load(16 * pair), promotedPair(f, u, pair))
        .v128Store(16 * pair)
  }
  along(f, width, [[total, 8] as const, [u, 4] as const], four, () =>
    f
      .get(total)
      .op(OP.f64_add, () => f.get(total).f64Load(), promoted(f, u))
      .f64Store(),
  )
}
const rounded = (f: FunctionBuilder, width: number, total: Local, to: Local): void => {
  const four = (): void => {
    for (const pair of PAIRS)
      f.get(to)
        .get(total)
        .v128Load(16 * pair)
        .op(OP.f32x4_demote_f64x2_zero)
        .v128Store64Lane(0, 8 * pair)
  }
  along(f, width, [[total, 8] as const, [to, 4] as const], four, () => f.get(to).get(total).f64Load().op(OP.f32_demote_f64).f32Store())
}
/** A row of f32 is added to another. */
const addSingle = (f: FunctionBuilder, width: number, to: Local, from: Local): void => {
  const four = (): void => {
    f.get(to)
      .op(
        OP.f32x4_add,
        () => f.get(to).v128Load(),
        () => f.get(from).v128Load(),
      )
      .v128Store()
  }
  along(f, width, [[to, 4] as const, [from, 4] as const], four, () =>
    f
      .get(to)
      .op(
        OP.f32_add,
        () => f.get(to).f32Load(),
        () => f.get(from).f32Load(),
      )
      .f32Store(),
  )
}
/**
 * Rows of f32, one result after the other: rows of u are listed by where they go, in order, as a counting sort does. What one row is added to is their sum in f32, which is that in f64, rounded;
 * more are added up in totals, a part of the row at a time.
 */
const inLists = (f: FunctionBuilder, width: number, { out, indices, u, scratch, rows, table, sizes }: Record, walk: Walk): void => {
  const [at, list, totals, place, total, to, from, left, end, next, count, item, offset] = f.locals('i32', 13)
  const { add, mul, sub } = address(f)
  const heads = (): void => void f.push(mul(add(rows, 1), 4))
  const counted = (): void => {
    f.get(place)
      .push(add(() => f.get(place).i32Load(), 1))
      .i32Store()
  }
  f.set(list, add(scratch, heads)).set(totals, add(scratch, table))
  f.get(scratch).i32Const(0).push(heads).memoryFill()
  // How many go to the row before: then, added up, where the list of a row begins; and, as it is filled, where it ends.
  f.set(at, indices)
  walk(f, at, sizes, (row) => {
    f.set(place, add(scratch, 4, mul(row, 4)))
    counted()
  })
  f.set(place, scratch).set(end, 0)
  f.set(left, add(rows, 1)).countDown(left, () => {
    f.set(
      end,
      add(end, () => f.get(place).i32Load()),
    )
    f.get(place).get(end).i32Store()
    f.increment(place, 4)
  })
  f.set(at, indices).set(from, u)
  walk(f, at, sizes, (row) => {
    f.set(place, add(scratch, mul(row, 4)))
    f.push(
      add(
        list,
        mul(() => f.get(place).i32Load(), 4),
      ),
    )
      .get(from)
      .i32Store()
    counted()
    f.increment(from, 4 * width)
  })
  const part = (elements: number): void => {
    f.set(to, add(out, offset)).set(total, totals)
    begin(f, elements, total, to)
    f.set(item, next).set(at, count)
    f.countDown(at, () => {
      f.set(
        from,
        add(() => f.get(item).i32Load(), offset),
      ).set(total, totals)
      addToTotal(f, elements, total, from)
      f.increment(item, 4)
    })
    f.set(to, add(out, offset)).set(total, totals)
    rounded(f, elements, total, to)
  }
  f.set(place, scratch).set(next, list)
  f.set(left, rows).countDown(left, () => {
    f.set(
      end,
      add(
        list,
        mul(() => f.get(place).i32Load(), 4),
      ),
    )
    f.set(count, sub(end, next))
    f.ifThen(count, () => {
      f.op(OP.i32_eq, count, 4).if(
        () => {
          f.get(next).i32Load().set(from)
          f.set(to, out)
          addSingle(f, width, to, from)
        },
        () => {
          f.set(count, () => f.op(OP.i32_shr_u, count, 2))
          const parts = Math.floor(width / LISTED)
          if (parts > 0) f.forLoop(offset, 0, 4 * LISTED * parts, 4 * LISTED, () => part(LISTED))
          if (width % LISTED > 0) {
            f.set(offset, 4 * LISTED * parts)
            part(width % LISTED)
          }
        },
      )
    })
    f.set(next, end)
    f.increment(out, 4 * width).increment(place, 4)
  })
}
/** Rows of f32, each with totals in the scratch, which are rounded at the end: a strip of all rows after the other. */
const inAllTotals = (
  f: FunctionBuilder,
  { width, strip: many }: Code,
  { out, indices, u, scratch, rows, sizes }: Record,
  walk: Walk,
): void => {
  const [to, total, next, at, added, left, from, strips] = f.locals('i32', 8)
  const { add, mul } = address(f)
  const strip = (elements: number): void => {
    const eachRow = (body: () => void): void => {
      f.set(next, out).set(total, scratch)
      f.set(left, rows).countDown(left, () => {
        f.set(to, next)
        body()
        f.increment(next, 4 * width)
      })
    }
    eachRow(() => begin(f, elements, total, to))
    f.set(at, indices).set(added, u)
    walk(f, at, sizes, (row) => {
      f.set(total, add(scratch, mul(row, 8 * elements))).set(from, added)
      addToTotal(f, elements, total, from)
      f.increment(added, 4 * width)
    })
    eachRow(() => rounded(f, elements, total, to))
    f.increment(out, 4 * elements).increment(u, 4 * elements)
  }
  const count = Math.floor(width / many)
  if (count === 1) strip(many)
  else f.set(strips, count).countDown(strips, () => strip(many))
  if (width % many > 0) strip(width % many)
}
/** Rows of f32: those that something is added to have totals in the scratch, which are rounded at the end. */
const inTotals = (f: FunctionBuilder, width: number, { out, indices, u, scratch, rows, table, sizes }: Record, walk: Walk): void => {
  const [to, place, total, free, left] = f.locals('i32', 5)
  const { add, mul } = address(f)
  f.get(scratch).i32Const(0).push(mul(rows, 4)).memoryFill()
  f.set(free, add(scratch, table))
  walk(f, indices, sizes, (row) => {
    f.set(place, add(scratch, mul(row, 4)))
    f.get(place).i32Load().set(total)
    f.op(OP.i32_eqz, total).if(() => {
      f.get(place).get(free).i32Store()
      f.set(total, free).set(to, add(out, mul(row, 4 * width)))
      begin(f, width, free, to)
    })
    addToTotal(f, width, total, u)
  })
  f.set(place, scratch).set(to, out)
  f.set(left, rows).countDown(left, () => {
    f.get(place).i32Load().set(total)
    f.ifThen(
      total,
      () => rounded(f, width, total, to),
      () => f.increment(to, 4 * width),
    )
    f.increment(place, 4)
  })
}

/** Rows of x: [batches, outer, size, row]; see `emitRows`. */
const eachRow: Walk = (f, indices, [batches, outer, size, count], body) => {
  const [batch, block, left, at, index, base] = f.locals('i32', 6)
  f.set(base, 0)
  f.set(batch, batches).countDown(batch, () => {
    f.set(block, outer).countDown(block, () => {
      f.set(at, indices)
      f.set(left, count).countDown(left, () => {
        loadIndex(f, at, size, index)
        f.op(OP.i32_add, index, base).set(index)
        body(index)
        f.increment(at, 4)
      })
      f.increment(base, size)
    })
    f.set(indices, at)
  })
}
/** Elements of x: [before, size, after]; see `emitTakeAlong`. */
const eachElement: Walk = (f, indices, [before, size, after, count], body) => {
  const [block, row, column, index, base] = f.locals('i32', 5)
  const { add, mul } = address(f)
  f.set(base, 0)
  f.set(block, before).countDown(block, () => {
    f.set(row, count).countDown(row, () => {
      f.forLoop(column, 0, after, 1, () => {
        loadIndex(f, indices, size, index)
        f.set(index, add(base, add(mul(index, after), column)))
        body(index)
        f.increment(indices, 4)
      })
    })
    f.increment(base, mul(size, after))
  })
}
const adding = (of: string, target: Target, walk: Walk, sizes: readonly number[]): WholeKernel => {
  const { type, rows, width, added } = target
  if (rows * width * added === 0) return noElements
  const form = formOf(target)
  const code = { type, form, width, strip: form === 'all' ? stripOf(target) : 0 }
  return {
    emit: (module, name) => emitAdding(module, code, walk, name),
    scratchBytes: scratchBytes(form, target),
    shared: { code: `${of} ${type} ${form} ${width} ${code.strip}`, sizes: [rows, tableBytes(form, target), ...sizes] },
  }
}
export const addingRows = (type: Type, of: Rows): WholeKernel => {
  const { batches, outer, size, count, bytes } = of
  const target = { type, rows: batches * outer * size, width: bytes / bytesOf[type], added: batches * outer * count }
  return adding('scatterAdd', target, eachRow, rowSizes(of))
}
export const addingAlong = (type: Type, of: Along): WholeKernel => {
  const { before, size, after, count } = of
  return adding(
    'scatterAddAlong',
    { type, rows: before * size * after, width: 1, added: before * count * after },
    eachElement,
    alongSizes(of),
  )
}
