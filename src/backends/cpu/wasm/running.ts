/* Running results along an axis, as kernels for one shape: each line a chain, kept in f64 for both floats, as the meanings have it. */
import type { FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { address, type FloatName } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

/** x is [before, size, after], its lines along the middle axis. */
export interface Lines {
  readonly before: number
  readonly size: number
  readonly after: number
  readonly type: FloatName | 'i32'
  readonly reverse: boolean
}
const bytesOf = { f64: 8, f32: 4, i32: 4 } as const
type Type = Lines['type']
const load = (f: FunctionBuilder, type: Type, at: Local): Operand => {
  const get = (): FunctionBuilder => f.get(at)
  return () => (type === 'f64' ? get().f64Load() : type === 'i32' ? get().i32Load() : get().f32Load().op(OP.f64_promote_f32))
}
const store = (f: FunctionBuilder, type: Type, at: Local, x: Local): void => {
  f.get(at).get(x)
  if (type === 'f64') f.f64Store()
  else if (type === 'i32') f.i32Store()
  else f.op(OP.f32_demote_f64).f32Store()
}
/** Code for every line; the pointers, to arrays of one shape, stand at its first element and are moved by `next`. */
const eachLine = (
  f: FunctionBuilder,
  { before, size, after, type, reverse }: Lines,
  starts: readonly Local[],
  body: (at: readonly Local[], next: () => void) => void,
): void => {
  if (before * size * after === 0) return
  const bytes = bytesOf[type]
  const step = (reverse ? -1 : 1) * after * bytes
  const at = starts.map(() => f.local('i32'))
  const [block, column] = f.locals('i32', 2)
  const { add } = address(f)
  const next = (): void => {
    for (const p of at) f.increment(p, step)
  }
  f.set(block, before).countDown(block, () => {
    f.set(column, after).countDown(column, () => {
      starts.forEach((start, i) => {
        f.set(at[i]!, add(start, reverse ? (size - 1) * after * bytes : 0))
        f.increment(start, bytes)
      })
      body(at, next)
    })
    for (const start of starts) f.increment(start, (size - 1) * after * bytes)
  })
}

/** Sums, products and extremes: `by` takes the total and an element. */
const folds = {
  cumsum: { f64: OP.f64_add, i32: OP.i32_add, identity: 0, integer: 0 },
  cumprod: { f64: OP.f64_mul, i32: OP.i32_mul, identity: 1, integer: 1 },
  cummax: { f64: OP.f64_max, i32: undefined, identity: Number.NEGATIVE_INFINITY, integer: -(2 ** 31) },
  cummin: { f64: OP.f64_min, i32: undefined, identity: Number.POSITIVE_INFINITY, integer: 2 ** 31 - 1 },
} as const
export const emitRunning = (module: Module, kind: keyof typeof folds, lines: Lines, exclusive: boolean, name: string): void => {
  const f = module.kernel(name)
  const { type, size } = lines
  const starts = pointers(f, 2)
  const fold = folds[kind]
  const [total, left] = [f.local(type === 'i32' ? 'i32' : 'f64'), f.local('i32')]
  const better = kind === 'cummax' ? OP.i32_gt_s : OP.i32_lt_s
  const combined = (x: Operand): void => {
    if (type !== 'i32') f.op(fold.f64, total, x)
    else if (fold.i32 !== undefined) f.op(fold.i32, total, x)
    else f.op(OP.select, total, x, () => f.op(better, total, x))
  }
  eachLine(f, lines, starts, ([to, from], next) => {
    if (type === 'i32') f.i32Const(fold.integer)
    else f.f64Const(fold.identity)
    f.set(total)
    f.set(left, size).countDown(left, () => {
      if (exclusive) store(f, type, to!, total)
      combined(load(f, type, from!))
      f.set(total)
      if (!exclusive) store(f, type, to!, total)
      next()
    })
  })
}

/** s_k = a_k s_{k - 1} + b_k, and b_0 at the start. */
export const emitRecurrence = (module: Module, lines: Lines, name: string): void => {
  const f = module.kernel(name)
  const { type, size } = lines
  const starts = pointers(f, 3)
  const [total, left] = [f.local('f64'), f.local('i32')]
  eachLine(f, lines, starts, ([to, a, b], next) => {
    f.set(total, load(f, type, b!))
    store(f, type, to!, total)
    if (size === 1) return
    f.set(left, size - 1).countDown(left, () => {
      next()
      f.op(OP.f64_add, () => f.op(OP.f64_mul, load(f, type, a!), total), load(f, type, b!)).set(total)
      store(f, type, to!, total)
    })
  })
}
