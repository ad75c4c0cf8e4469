/*
 * What the panels of factorisations share: lines of neighbours in strips of vectors, transposed copies, numbers one at a time. Each element is computed as
 * in any other place of its line, so that results do not depend on where a matrix lies.
 */
import type { FunctionBuilder, Local, Operand } from './encoder.js'
import { address, type Float } from './float.js'
import { transposed } from './lanes.js'
import * as OP from './opcodes.js'

/** One strip: `vectors` of them, or a single element. */
export interface Strip {
  readonly vectors: number
  readonly single: boolean
  readonly bytes: number
  /** Pushes vector number v at an address. */
  readonly load: (pointer: Local, v: number) => FunctionBuilder
  /** Stores a local as vector number v. */
  readonly store: (pointer: Local, v: number, value: Local) => void
}
const stripOf = (f: FunctionBuilder, F: Float, vectors: number, single: boolean): Strip => ({
  vectors,
  single,
  bytes: single ? F.bytes : 16 * vectors,
  load: (pointer, v) => (single ? F.loadOne(f.get(pointer)) : f.get(pointer).v128Load(16 * v)),
  store: (pointer, v, value) => {
    f.get(pointer).get(value)
    if (single) F.storeLane(f, 0)
    else f.v128Store(16 * v)
  },
})
/** `left` elements, which may be none, in strips as wide as they go; `body` moves its pointers by the strip's bytes. `left` is 0 after. */
export const strips = (f: FunctionBuilder, F: Float, left: Local, widths: readonly number[], body: (strip: Strip) => void): void => {
  const i32 = address(f)
  const run = (strip: Strip): void => {
    const elements = strip.bytes / F.bytes
    f.block((done) =>
      f.loop((next) => {
        f.push(i32.below(left, elements)).brIf(done)
        body(strip)
        f.set(left, i32.sub(left, elements)).br(next)
      }),
    )
  }
  for (const vectors of widths) run(stripOf(f, F, vectors, false))
  run(stripOf(f, F, 1, true))
}
/** sum -= a b on vectors, fused when `madd`. */
export const multiplySubtract = (f: FunctionBuilder, F: Float, madd: boolean, sum: Local, a: Operand, b: Operand): void => {
  if (madd) f.op(F.name === 'f64' ? OP.f64x2_relaxed_nmadd : OP.f32x4_relaxed_nmadd, a, b, sum).set(sum)
  else f.op(F.vsub, sum, () => f.op(F.vmul, a, b)).set(sum)
}
export const divide = (F: Float): typeof OP.f64x2_div | typeof OP.f32x4_div => (F.name === 'f64' ? OP.f64x2_div : OP.f32x4_div)

/** Pushes the number at an address as an f64. */
export const number = (f: FunctionBuilder, F: Float, pointer: Local): FunctionBuilder => {
  F.load(f.get(pointer))
  return F.name === 'f32' ? f.op(OP.f64_promote_f32) : f
}
/** body, `n` times, which may be none; `n` is 0 after. */
export const times = (f: FunctionBuilder, n: Local, body: () => unknown): FunctionBuilder => f.ifThen(n, () => f.countDown(n, body))

/** Columns of a matrix that are turned together: lines of the cache that are written to stay near. */
const TOGETHER = 64
/** turn(to, toRow, from, fromRow, m, n): element (j, i) of `to` is (i, j) of `from`: [m, n]. Distances in bytes; neighbours in a row are side by side. */
export const turning = (f: FunctionBuilder, F: Float): FunctionBuilder => {
  const [to, toRow, from, fromRow, m, n] = f.parameters(6)
  const i32 = address(f)
  const { lanes, bytes } = F
  const [wide, i, j, source, target, row] = f.locals('i32', 6)
  const sources = f.locals('i32', lanes)
  const block = f.locals('v128', lanes)
  const one = (): void => {
    f.get(target).get(source)
    if (F.name === 'f32') f.i32Load().i32Store()
    else f.i64Load().i64Store()
    f.increment(source, bytes).increment(target, toRow)
  }
  f.block((done) =>
    f.loop((next) => {
      f.op(OP.i32_eqz, n).brIf(done)
      f.set(wide, i32.min(n, TOGETHER)).set(i, m).set(row, from)
      f.block((end) =>
        f.loop((again) => {
          f.push(i32.below(i, lanes)).brIf(end)
          for (let l = 0; l < lanes; l++) f.set(sources[l]!, l === 0 ? row : i32.add(sources[l - 1]!, fromRow))
          f.set(target, to).set(j, wide)
          f.block((rest) =>
            f.loop((more) => {
              f.push(i32.below(j, lanes)).brIf(rest)
              for (let l = 0; l < lanes; l++) f.get(sources[l]!).v128Load().set(block[l]!)
              transposed(f, F.name === 'f64', block, (_row, value) => {
                f.get(target)
                value()
                f.v128Store()
                f.increment(target, toRow)
              })
              for (const s of sources) f.increment(s, 16)
              f.set(j, i32.sub(j, lanes)).br(more)
            }),
          )
          times(f, j, () => {
            sources.forEach((s, l) => {
              f.get(target).get(s)
              if (F.name === 'f32') f.i32Load().i32Store(l * bytes)
              else f.i64Load().i64Store(l * bytes)
              f.increment(s, bytes)
            })
            f.increment(target, toRow)
          })
          f.increment(row, i32.mul(fromRow, lanes)).increment(to, 16)
          f.set(i, i32.sub(i, lanes)).br(again)
        }),
      )
      times(f, i, () => {
        f.set(source, row).set(target, to).set(j, wide)
        f.countDown(j, one)
        f.increment(row, fromRow).increment(to, bytes)
      })
      // The next columns: rows of `to` further down.
      f.set(to, i32.sub(i32.add(to, i32.mul(toRow, wide)), i32.mul(m, bytes)))
      f.increment(from, i32.mul(wide, bytes))
      f.set(n, i32.sub(n, wide)).br(next)
    }),
  )
  return f
}
