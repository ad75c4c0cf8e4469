/*
 * Staging: copies of image planes in scratch with zero borders, whose columns are sorted by their phase modulo the stride, so that
 * the convolution loops read contiguous vectors and need no edge cases.
 */

import { aligned } from '../../plan/memory.js'
import type { FunctionBuilder, Local } from './encoder.js'
import type { Float } from './float.js'
import { loadPartial, storePartial } from './gemm-pack.js'
import * as OP from './opcodes.js'

/** Planes as the loops read them; sizes in elements unless named otherwise. */
export interface Staging {
  /** False: the loops read the planes where they are. */
  readonly copied: boolean
  readonly rows: number
  readonly top: number
  readonly left: number
  /** Columns of each phase. */
  readonly phaseWidth: number
  readonly phases: number
  readonly rowBytes: number
  readonly planeBytes: number
}

/** Planes of height x width with a border, columns split in `phases`; copied when anything differs from the source or vectors overreach. */
export function staging(
  F: Float,
  height: number,
  width: number,
  border: { readonly top: number; readonly bottom: number; readonly left: number; readonly right: number },
  phases: number,
  overreach: boolean,
): Staging {
  const { top, bottom, left, right } = border
  const copied = overreach || phases > 1 || top + bottom + left + right > 0
  const rows = top + height + bottom
  const phaseWidth = Math.ceil((left + width + right) / phases)
  const rowBytes = phaseWidth * phases * F.bytes
  return { copied, rows, top, left, phaseWidth, phases, rowBytes, planeBytes: rows * rowBytes }
}

/** Scratch for `planes` planes, with room for vectors that reach past the end. */
export const stagingBytes = (s: Staging, planes: number): number => (s.copied ? aligned(planes * s.planeBytes, 16) + 16 : 0)

/** Repeats a body a known number of times: nothing, inline or a loop. */
export function repeat(f: FunctionBuilder, count: number | Local, body: () => void): void {
  if (typeof count !== 'number') {
    // a count that the record tells, used up
    f.ifThen(count, () => f.countDown(count, body))
    return
  }
  if (count <= 0) return
  if (count === 1) {
    body()
    return
  }
  const left = f.local('i32')
  f.set(left, count).countDown(left, body)
}

/** Zeroes the borders, once per call: copies leave them alone. */
export function clearStaging(f: FunctionBuilder, s: Staging, planes: number, scratch: Local): void {
  if (!s.copied) return
  f.get(scratch)
    .i32Const(0)
    .i32Const(planes * s.planeBytes)
    .memoryFill()
}

/** Copies `planes` planes of height x width from `source` into scratch. */
export function copyPlanes(
  f: FunctionBuilder,
  F: Float,
  s: Staging,
  planes: number,
  height: number,
  width: number,
  source: Local,
  scratch: Local,
): void {
  if (!s.copied || height * width === 0) return
  const e = F.bytes
  const [from, to] = f.locals('i32', 2)
  f.set(from, source)
  f.op(OP.i32_add, scratch, s.top * s.rowBytes + (s.phases === 1 ? s.left * e : 0)).set(to)
  if (s.phases === 1 && s.rowBytes === width * e && s.rows === height) {
    f.get(to)
      .get(from)
      .i32Const(planes * height * width * e)
      .memoryCopy()
    return
  }
  repeat(f, planes, () => {
    repeat(f, height, () => {
      if (s.phases === 1) copyRow(f, F, width, from, to)
      else splitRow(f, F, s, width, from, to)
      f.increment(from, width * e).increment(to, s.rowBytes)
    })
    f.increment(to, s.planeBytes - height * s.rowBytes)
  })
}

function copyRow(f: FunctionBuilder, F: Float, width: number, from: Local, to: Local): void {
  const e = F.bytes
  const rest = width % F.lanes
  const vectors = (width - rest) / F.lanes
  if (vectors > 16) {
    f.get(to)
      .get(from)
      .i32Const(width * e)
      .memoryCopy()
    return
  }
  for (let v = 0; v < vectors; v++)
    f.get(to)
      .get(from)
      .v128Load(v * 16)
      .v128Store(v * 16)
  if (rest > 0) {
    const tail = f.local('v128')
    loadPartial(f, F, from, rest, vectors * 16)
    f.set(tail)
    storePartial(f, F, to, tail, rest, vectors * 16)
  }
}

/** Column p of the bordered row goes to phase p mod phases, place p div phases. */
function splitRow(f: FunctionBuilder, F: Float, s: Staging, width: number, from: Local, to: Local): void {
  if (F.name === 'f32' && s.phases === 2 && width >= 8) splitPairs(f, F, s, width, from, to)
  else splitColumns(f, F, s, width, from, to)
}
/** Of two phases in f32: eight columns at a time, the last ones maybe again. */
function splitPairs(f: FunctionBuilder, F: Float, s: Staging, width: number, from: Local, to: Local): void {
  const [read, even, odd] = f.locals('i32', 3)
  const [a, b] = f.locals('v128', 2)
  const place = (column: number): number => ((column % 2) * s.phaseWidth + Math.floor(column / 2)) * F.bytes
  const eight = (at: number): void => {
    f.get(read)
      .v128Load(4 * at)
      .set(a)
    f.get(read)
      .v128Load(4 * at + 16)
      .set(b)
    f.get(even)
      .get(a)
      .get(b)
      .i32x4Shuffle(0, 2, 4, 6)
      .v128Store(2 * at)
    f.get(odd)
      .get(a)
      .get(b)
      .i32x4Shuffle(1, 3, 5, 7)
      .v128Store(2 * at)
  }
  f.set(read, from)
  f.op(OP.i32_add, to, place(s.left)).set(even)
  f.op(OP.i32_add, to, place(s.left + 1)).set(odd)
  repeat(f, Math.floor(width / 8), () => {
    eight(0)
    f.increment(read, 32).increment(even, 16).increment(odd, 16)
  })
  const rest = width % 8
  if (rest === 0) return
  // Columns counted from an even one, so that evens stay evens.
  const back = 8 - rest + (rest % 2)
  f.increment(read, -4 * back)
    .increment(even, -2 * back)
    .increment(odd, -2 * back)
  eight(0)
  if (rest % 2 === 1) f.get(even).get(read).i32Load(32).i32Store(16)
}
function splitColumns(f: FunctionBuilder, F: Float, s: Staging, width: number, from: Local, to: Local): void {
  const e = F.bytes
  const [read, write, phase] = f.locals('i32', 3)
  const first = s.left % s.phases
  f.set(read, from).set(phase, first)
  f.op(OP.i32_add, to, (first * s.phaseWidth + Math.floor(s.left / s.phases)) * e).set(write)
  repeat(f, width, () => {
    F.store(F.load(f.get(write).get(read)))
    f.increment(read, e)
      .increment(write, s.phaseWidth * e)
      .increment(phase, 1)
    f.op(OP.i32_eq, phase, s.phases).if(() => {
      f.set(phase, 0).increment(write, (1 - s.phases * s.phaseWidth) * e)
    })
  })
}
