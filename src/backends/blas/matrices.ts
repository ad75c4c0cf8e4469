/** What is done to matrices around a factorisation, within the memory, in WebAssembly: in JavaScript it takes as long as the factorisation of 100 columns. */
import { Module, type Operand } from '../cpu/wasm/encoder.js'
import { type FloatName, floats } from '../cpu/wasm/float.js'
import * as OP from '../cpu/wasm/opcodes.js'

/** On matrices row by row, by the addresses of their first elements. */
export interface Matrices {
  /** to: [n, m] is the transpose of from: [m, n]. */
  readonly transpose: (to: number, from: number, m: number, n: number) => void
  /** to: [n, n] is the lower triangle of from, and 0 above it. */
  readonly lower: (to: number, from: number, n: number) => void
  /** Whether so many numbers are all finite. */
  readonly finite: (from: number, count: number) => boolean
}

/** Columns that are transposed together: as many lines are written, and a cache holds them. */
const TILE = 16

const emitTranspose = (module: Module, type: FloatName): void => {
  const F = floats[type]
  const f = module.func(`${type} transpose`, new Array<'i32'>(4).fill('i32'))
  const { to, from, m, n } = f.namedParameters('to from m n')
  const { i, j, p, q, row, line, wide, left, high, across } = f.namedLocals('i32', 'i j p q row line wide left high across')
  const [a, b] = f.locals('v128', 2)
  const times =
    (x: Operand): Operand =>
    () =>
      f.op(OP.i32_mul, x, F.bytes)
  /** So many rows from `line` on, to columns from `row` on. */
  const rows = (count: number, element: () => void): void => {
    f.set(p, row).set(q, line)
    element()
    f.increment(row, count * F.bytes).increment(line, count === 1 ? across : () => f.op(OP.i32_mul, across, count))
  }
  const scalars = (count: Operand): void => {
    f.localTee(j, count).if(() =>
      f.countDown(j, () => {
        f.get(p)
        F.load(f.get(q))
        F.store(f)
        f.increment(p, high).increment(q, F.bytes)
      }),
    )
  }
  /** Two rows: squares of two by two, and what is left of each. */
  const pair = (): void => {
    f.localTee(j, () => f.op(OP.i32_shr_u, wide, 1)).if(() =>
      f.countDown(j, () => {
        f.get(q).v128Load().set(a)
        f.op(OP.i32_add, q, across).v128Load().set(b)
        f.get(p).get(a).get(b).i64x2Shuffle(0, 2).v128Store()
        f.op(OP.i32_add, p, high).get(a).get(b).i64x2Shuffle(1, 3).v128Store()
        f.increment(p, () => f.op(OP.i32_mul, high, 2)).increment(q, 16)
      }),
    )
    f.op(OP.i32_and, wide, 1).if(() => {
      f.get(p)
      F.load(f.get(q))
      F.store(f)
      f.get(p)
      F.load(f.op(OP.i32_add, q, across))
      F.store(f, F.bytes)
    })
  }
  f.set(left, n).set(high, times(m)).set(across, times(n))
  f.ifThen(
    () => f.op(OP.i32_mul, m, n),
    () =>
      f.loop((next) => {
        f.op(OP.select, left, TILE, () => f.op(OP.i32_lt_u, left, TILE)).set(wide)
        f.set(row, to).set(line, from).set(i, m)
        if (type === 'f64') {
          f.localTee(i, () => f.op(OP.i32_shr_u, m, 1)).if(() => f.countDown(i, () => rows(2, pair)))
          f.op(OP.i32_and, m, 1).set(i)
        }
        f.ifThen(i, () => f.countDown(i, () => rows(1, () => scalars(wide))))
        f.increment(to, () => f.op(OP.i32_mul, wide, high)).increment(from, times(wide))
        f.op(OP.i32_sub, left, wide).localTee(left).brIf(next)
      }),
  )
}
const emitLower = (module: Module, type: FloatName): void => {
  const F = floats[type]
  const f = module.func(`${type} lower`, new Array<'i32'>(3).fill('i32'))
  const { to, from, n } = f.namedParameters('to from n')
  const { own, line } = f.namedLocals('i32', 'own line')
  f.op(OP.i32_mul, n, F.bytes).set(line)
  f.ifThen(n, () =>
    f.countDown(n, () => {
      f.increment(own, F.bytes)
      f.get(to).get(from).get(own).memoryCopy()
      f.op(OP.i32_add, to, own).push(0).op(OP.i32_sub, line, own).memoryFill()
      f.increment(to, line).increment(from, line)
    }),
  )
}
const emitFinite = (module: Module, type: FloatName): void => {
  const F = floats[type]
  const f = module.func(`${type} finite`, ['i32', 'i32'], ['i32'])
  const { from, count } = f.namedParameters('from count')
  const vectors = f.local('i32')
  const [x, sum] = f.locals('v128', 2)
  // x - x is 0, or NaN where x is not finite.
  const add = (): unknown => f.op(F.vadd, sum, () => f.op(F.vsub, x, x)).set(sum)
  f.op(OP.i32_div_u, count, F.lanes).set(vectors)
  f.op(OP.i32_sub, count, () => f.op(OP.i32_mul, vectors, F.lanes)).set(count)
  f.ifThen(vectors, () =>
    f.countDown(vectors, () => {
      f.get(from).v128Load().set(x)
      add()
      f.increment(from, 16)
    }),
  )
  f.ifThen(count, () =>
    f.countDown(count, () => {
      if (type === 'f64') f.get(from).v128Load64Splat().set(x)
      else f.get(from).v128Load32Splat().set(x)
      add()
      f.increment(from, F.bytes)
    }),
  )
  if (type === 'f64') f.op(OP.f64x2_eq, sum, sum).op(OP.i64x2_all_true)
  else f.op(OP.f32x4_eq, sum, sum).op(OP.i32x4_all_true)
}

/** The functions for a memory, made once. */
export const matricesOf = (memory: WebAssembly.Memory): Readonly<Record<FloatName, Matrices>> => {
  const module = new Module()
  module.importMemory({ min: 1 })
  for (const type of ['f32', 'f64'] as const) for (const emit of [emitTranspose, emitLower, emitFinite]) emit(module, type)
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } })
  const of = (type: FloatName): Matrices => {
    const named = <F>(name: string): F => exports[`${type} ${name}`] as F
    const finite = named<(from: number, count: number) => number>('finite')
    return { transpose: named('transpose'), lower: named('lower'), finite: (from, count) => finite(from, count) === 1 }
  }
  return { f32: of('f32'), f64: of('f64') }
}
