/* Places of numbers among sorted ones, as a kernel for one length of these: a binary search without branches, whose steps are known with the length, of several numbers side by side. */
import type { FunctionBuilder, Local, Module, Operand } from './encoder.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

/** The sorted are [batches, size], the numbers [batches, count]; batches and count, neither 0, are sizes of the record. */
export interface Search {
  readonly size: number
  readonly type: 'f64' | 'f32' | 'i32'
  readonly side: 'left' | 'right'
}
/** Numbers that are searched for side by side: each step of one waits for its load. */
const TOGETHER = 4
const comparisons = {
  f64: { left: OP.f64_lt, right: OP.f64_le, eq: OP.f64_eq },
  f32: { left: OP.f32_lt, right: OP.f32_le, eq: OP.f32_eq },
  i32: { left: OP.i32_lt_s, right: OP.i32_le_s, eq: OP.i32_eq },
} as const

export const emitSearch = (module: Module, { size, type, side }: Search, name: string): void => {
  const f = module.kernel(name)
  const bytes = type === 'f64' ? 8 : 4
  const [out, sorted, values, , batches, count] = pointers(f, 6)
  const left = f.local('i32')
  const lows = f.locals('i32', TOGETHER)
  const numbers = f.locals(type, TOGETHER)
  const spare = f.local(type)
  const compare = comparisons[type]
  const load = (offset: number): FunctionBuilder =>
    type === 'f64' ? f.f64Load(offset) : type === 'f32' ? f.f32Load(offset) : f.i32Load(offset)
  /** Moves what holds for the element that many behind the low end up by as many. */
  const step = (low: Local, elements: number, goesBefore: (at: () => void) => void): void => {
    f.get(low)
      .i32Const(0)
      .push(() =>
        goesBefore(() => {
          f.get(low)
          load((elements - 1) * bytes)
        }),
      )
      .op(OP.i32_sub)
      .i32Const(elements * bytes)
      .op(OP.i32_and)
      .op(OP.i32_add)
      .set(low)
  }
  const steps: number[] = []
  for (let length = size; length > 0; ) {
    const half = length > 1 ? length >> 1 : 1
    steps.push(half)
    length -= half
  }
  const search = (k: number, goesBefore: (i: number, at: () => void) => void): void => {
    for (let i = 0; i < k; i++) f.set(lows[i]!, sorted)
    for (const elements of steps) for (let i = 0; i < k; i++) step(lows[i]!, elements, (at) => goesBefore(i, at))
  }
  const ordinary = (i: number, at: () => void): void => {
    at()
    f.get(numbers[i]!).op(compare[side])
  }
  /** What is there goes before a NaN: all numbers do, and on its right NaN too. */
  const unordered = (_: number, at: () => void): void => {
    at()
    f.set(spare)
    if (side === 'left') f.op(compare.eq, spare, spare)
    else f.i32Const(1)
  }
  const several = (k: number): void => {
    for (let i = 0; i < k; i++) {
      f.get(values)
      load(i * bytes).set(numbers[i]!)
    }
    search(k, ordinary)
    for (let i = 0; i < k; i++) {
      const [low, number] = [lows[i]!, numbers[i]!]
      if (type !== 'i32')
        f.op(OP.i32_eqz, () => f.op(compare.eq, number, number)).if(() => {
          f.set(low, sorted)
          for (const elements of steps) step(low, elements, (at) => unordered(i, at))
        })
      f.get(out)
        .op(OP.i32_shr_u, () => f.op(OP.i32_sub, low, sorted), bytes === 8 ? 3 : 2)
        .i32Store(4 * i)
    }
    f.increment(values, k * bytes).increment(out, 4 * k)
  }
  const times = (n: Operand, body: () => void): void => void f.set(left, n).ifThen(left, () => f.countDown(left, body))
  f.countDown(batches, () => {
    times(
      () => f.op(OP.i32_div_u, count, TOGETHER),
      () => several(TOGETHER),
    )
    times(
      () => f.op(OP.i32_rem_u, count, TOGETHER),
      () => several(1),
    )
    f.increment(sorted, size * bytes)
  })
}
