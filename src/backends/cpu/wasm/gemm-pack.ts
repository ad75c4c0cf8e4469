/*
 * Packing of matrix panels, and vectors that load and store only part of themselves.
 */

import type { FuncRef, FunctionBuilder, Local, Module, Op } from './encoder.js'
import { address, type Float } from './float.js'
import { transposed } from './lanes.js'
import * as OP from './opcodes.js'

/** Pushes a vector of the first `count` elements at an address, zeros after; reads nothing else. */
export function loadPartial(f: FunctionBuilder, F: Float, pointer: Local, count: number, offset: number): void {
  if (F.name === 'f64' || count === 1) {
    F.loadOne(f.get(pointer), offset)
    return
  }
  if (count === 3) f.get(pointer)
  f.get(pointer).v128Load64Zero(offset)
  if (count === 3) f.v128Load32Lane(2, offset + 8)
}

/** Writes the first `count` elements of a vector. */
export function storePartial(f: FunctionBuilder, F: Float, pointer: Local, value: Local, count: number, offset: number): void {
  if (count >= 2) f.get(pointer).get(value).v128Store64Lane(0, offset)
  if (count !== 2) F.storeLane(f.get(pointer).get(value), count - 1, offset + (count - 1) * F.bytes)
}

/** Writes the first `count` elements of a vector, or joins what is there with them by an opcode, as a sum or a difference; `value` may change. */
export function storeResult(
  f: FunctionBuilder,
  F: Float,
  pointer: Local,
  value: Local,
  count: number,
  offset: number,
  join: Op | undefined,
): void {
  if (count === F.lanes) {
    f.get(pointer)
    if (join !== undefined) f.op(join, () => f.get(pointer).v128Load(offset), value)
    else f.get(value)
    f.v128Store(offset)
    return
  }
  if (join !== undefined) {
    loadPartial(f, F, pointer, count, offset)
    f.get(value).op(join).set(value)
  }
  storePartial(f, F, pointer, value, count, offset)
}

/** pack(dst, src, k, stride, kStride): `width` lines of length k become k rows of `width` elements. */
export function emitPack(module: Module, F: Float, width: number): FuncRef {
  const e = F.bytes
  const f = module.func(undefined, new Array(5).fill('i32'))
  const [dst, src, k, stride, kStride] = f.parameters(5)
  const i32 = address(f)
  const lines = f.locals('i32', width)
  const block = f.locals('v128', F.lanes)
  const count = f.local('i32')
  f.ifThen(i32.eq(stride, e), () => {
    f.countDown(k, () => {
      copyRow(f, F, dst, src, width)
      f.increment(dst, width * e).increment(src, kStride)
    })
    f.op(OP.return)
  })
  for (let i = 0; i < width; i++) f.set(lines[i]!, i === 0 ? src : i32.add(lines[i - 1]!, stride))
  const blocks = (): void => {
    f.op(OP.i32_div_u, k, F.lanes)
      .localTee(count)
      .if(() =>
        f.countDown(count, () => {
          for (let v = 0; v < width; v += F.lanes) {
            for (let i = 0; i < F.lanes; i++)
              f.get(lines[v + i]!)
                .v128Load()
                .set(block[i]!)
            transposed(f, F.name === 'f64', block, (row, value) => {
              f.get(dst)
              value()
              f.v128Store((row * width + v) * e)
            })
          }
          for (const line of lines) f.increment(line, 16)
          f.increment(dst, 16 * width)
        }),
      )
    f.set(k, i32.and(k, F.lanes - 1))
  }
  if (width % F.lanes === 0) f.ifThen(i32.eq(kStride, e), blocks)
  f.ifThen(k, () =>
    f.countDown(k, () => {
      lines.forEach((line, i) => {
        copyElement(f, F, dst, i * e, line)
        f.increment(line, kStride)
      })
      f.increment(dst, width * e)
    }),
  )
  return f
}

/** Panels that packGroup makes at once: reading their columns row by row, it meets whole lines of the cache. */
export const panelsAtOnce = 4

/** packGroup(dst, src, k, kStride): `panelsAtOnce` panels of contiguous columns that follow each other. */
export function emitPackGroup(module: Module, F: Float, width: number): FuncRef {
  const e = F.bytes
  const f = module.func(undefined, new Array(4).fill('i32'))
  const [dst, src, k, kStride] = f.parameters(4)
  const i32 = address(f)
  const panels = [dst, ...f.locals('i32', panelsAtOnce - 1)]
  for (let p = 1; p < panelsAtOnce; p++) f.set(panels[p]!, i32.add(panels[p - 1]!, i32.mul(k, width * e)))
  f.countDown(k, () => {
    for (let p = 0; p < panelsAtOnce; p++) copyRow(f, F, panels[p]!, src, width, p * width * e)
    for (const panel of panels) f.increment(panel, width * e)
    f.increment(src, kStride)
  })
  return f
}

/** Copies `width` elements: vectors of them, and at most half of one. */
function copyRow(f: FunctionBuilder, F: Float, to: Local, from: Local, width: number, offset = 0): void {
  const e = F.bytes
  for (let v = 0; v + F.lanes <= width; v += F.lanes)
    f.get(to)
      .get(from)
      .v128Load(offset + v * e)
      .v128Store(v * e)
  if (width % F.lanes !== 0)
    f.get(to)
      .get(from)
      .i64Load(offset + (width - 2) * e)
      .i64Store((width - 2) * e)
}

/** packNarrow(dst, src, k, stride, kStride, width): as pack, with as many lines as are given. */
export function emitPackNarrow(module: Module, F: Float): FuncRef {
  const e = F.bytes
  const f = module.func(undefined, new Array(6).fill('i32'))
  const [dst, src, k, stride, kStride, width] = f.parameters(6)
  const i32 = address(f)
  const [from, to, count] = f.locals('i32', 3)
  f.countDown(k, () => {
    f.set(from, src).set(to, dst).set(count, width)
    f.countDown(count, () => {
      copyElement(f, F, to, 0, from)
      f.increment(from, stride).increment(to, e)
    })
    f.increment(src, kStride).increment(dst, i32.mul(width, e))
  })
  return f
}

function copyElement(f: FunctionBuilder, F: Float, to: Local, offset: number, from: Local): void {
  f.get(to).get(from)
  if (F.name === 'f32') f.i32Load().i32Store(offset)
  else f.i64Load().i64Store(offset)
}
