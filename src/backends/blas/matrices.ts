/** What is done to matrices around a factorisation, within the memory, in WebAssembly: in JavaScript it takes as long as the factorisation of 100 columns. */
import { Module } from '../cpu/wasm/encoder.js'
import { type FloatName, floats } from '../cpu/wasm/float.js'
import * as OP from '../cpu/wasm/opcodes.js'
import { turning } from '../cpu/wasm/panel-parts.js'
import { emitDeciding, emitSigned } from '../cpu/wasm/panel-signs.js'

/** On matrices row by row, by the places of their first elements and the distances of their rows in bytes. */
export interface Matrices {
  /** to: [n, m] is the transpose of from: [m, n]. */
  readonly turn: (to: number, toRow: number, from: number, fromRow: number, m: number, n: number) => void
  /** Zeros above the diagonal of [n, n]. */
  readonly clearAbove: (at: number, row: number, n: number) => void
  /** Whether so many numbers are all finite. */
  readonly finite: (from: number, count: number) => boolean
  /** Of the columns of X: [m, n] the numbers that decide about their signs (core/matrices/gauge.ts); room for n numbers is behind these. */
  readonly deciding: (x: number, row: number, m: number, n: number, to: number) => void
  /** Columns of [m, n], with the other sign where the number of `signs` is negative. */
  readonly signed: (to: number, toRow: number, from: number, fromRow: number, m: number, n: number, signs: number) => void
}

const emitClearAbove = (module: Module, type: FloatName): void => {
  const { bytes } = floats[type]
  const f = module.func('clearAbove', new Array<'i32'>(3).fill('i32'))
  const { at, row, n } = f.namedParameters('at row n')
  f.increment(at, bytes)
  f.ifThen(n, () =>
    f.countDown(n, () => {
      f.get(at).push(0)
      f.op(OP.i32_mul, () => f.op(OP.i32_sub, n, 1), bytes).memoryFill()
      f.increment(at, () => f.op(OP.i32_add, row, bytes))
    }),
  )
}
/** Vectors that are looked at together: each sum waits for the one before it. */
const TOGETHER = 4

const emitFinite = (module: Module, type: FloatName): void => {
  const F = floats[type]
  const f = module.func('finite', ['i32', 'i32'], ['i32'])
  const { from, count } = f.namedParameters('from count')
  const { runs, vectors } = f.namedLocals('i32', 'runs vectors')
  const x = f.local('v128')
  const sums = f.locals('v128', TOGETHER)
  const [sum] = sums
  // x - x is 0, or NaN where x is not finite.
  const add = (to: typeof x): unknown => f.op(F.vadd, to, () => f.op(F.vsub, x, x)).set(to)
  f.op(OP.i32_div_u, count, TOGETHER * F.lanes).set(runs)
  f.op(OP.i32_sub, count, () => f.op(OP.i32_mul, runs, TOGETHER * F.lanes)).set(count)
  f.op(OP.i32_div_u, count, F.lanes).set(vectors)
  f.op(OP.i32_sub, count, () => f.op(OP.i32_mul, vectors, F.lanes)).set(count)
  f.ifThen(runs, () =>
    f.countDown(runs, () => {
      sums.forEach((own, i) => {
        f.get(from)
          .v128Load(16 * i)
          .set(x)
        add(own)
      })
      f.increment(from, 16 * TOGETHER)
    }),
  )
  for (const own of sums.slice(1)) f.op(F.vadd, sum!, own).set(sum!)
  f.ifThen(vectors, () =>
    f.countDown(vectors, () => {
      f.get(from).v128Load().set(x)
      add(sum!)
      f.increment(from, 16)
    }),
  )
  f.ifThen(count, () =>
    f.countDown(count, () => {
      F.loadSplat(f.get(from)).set(x)
      add(sum!)
      f.increment(from, F.bytes)
    }),
  )
  if (type === 'f64') f.op(OP.f64x2_eq, sum!, sum!).op(OP.i64x2_all_true)
  else f.op(OP.f32x4_eq, sum!, sum!).op(OP.i32x4_all_true)
}

/** The functions for a memory and a type, made once. */
export const matricesOf = (memory: WebAssembly.Memory, type: FloatName): Matrices => {
  const module = new Module()
  module.importMemory({ min: 1 })
  const F = floats[type]
  turning(module.func('turn', new Array(6).fill('i32')), F)
  emitClearAbove(module, type)
  emitFinite(module, type)
  emitDeciding(module, F)
  emitSigned(module, F)
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } })
  // The module's exports are these functions, but for how finite says it.
  const code = exports as unknown as Omit<Matrices, 'finite'> & { readonly finite: (from: number, count: number) => number }
  return { ...code, finite: (from, count) => code.finite(from, count) === 1 }
}
