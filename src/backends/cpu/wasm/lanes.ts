/**
 * Values in registers. A loop works on L = 4 lanes, or 2 when anything in it is f64; a value fills the low L lanes in its
 * natural format. A boolean is a mask as wide as the loop's lanes; in memory it is one byte, 0 or 1.
 */
import type { DType } from '../../../core/types/dtype.js'
import type { FunctionBuilder, Local, Operand } from './encoder.js'
import * as OP from './opcodes.js'

export const bytesOf: Readonly<Record<DType, number>> = { f64: 8, f32: 4, i32: 4, bool: 1 }

/** A pool of v128 and address locals: freed locals are used again, so that long bodies need few. */
export class Registers {
  private readonly free: Local[] = []
  constructor(readonly f: FunctionBuilder) {}
  take(): Local {
    return this.free.pop() ?? this.f.local('v128')
  }
  give(x: Local): void {
    this.free.push(x)
  }
  /** Runs `body` with the value of `e` in a register of its own. */
  hold<A>(e: Operand, body: (x: Local) => A): A {
    const x = this.take()
    this.f.set(x, e)
    const r = body(x)
    this.give(x)
    return r
  }
}

/** Four 32-bit lanes: the low two of a 64-bit mask. */
const NARROW = [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]

export class Lanes {
  readonly scratch: Local
  private readonly word: Local
  private readonly vector: Local
  constructor(
    readonly f: FunctionBuilder,
    readonly lanes: 2 | 4,
  ) {
    this.scratch = f.local('i32')
    this.word = f.local('i32')
    this.vector = f.local('v128')
  }

  /** Mask of 64-bit lanes from one of 32-bit lanes (low two), on the stack. */
  widen(): void {
    this.f.op(OP.i64x2_extend_low_i32x4_s)
  }
  /** A boolean as a mask for 32-bit lanes. */
  mask32(m: Operand): Operand {
    if (this.lanes === 4) return m
    return () => this.f.push(m).push(m).i8x16Shuffle(NARROW)
  }

  /** Pushes L elements from so many bytes behind address `at` (contiguous). */
  load(dtype: DType, at: Operand, offset = 0): void {
    const { f, lanes } = this
    f.push(at)
    if (dtype === 'f64') f.v128Load(offset)
    else if (dtype !== 'bool') {
      if (lanes === 4) f.v128Load(offset)
      else f.v128Load64Zero(offset)
    } else if (lanes === 4)
      f.v128Load32Zero(offset).op(OP.i16x8_extend_low_i8x16_u).op(OP.i32x4_extend_low_i16x8_u).i32x4Const(0).op(OP.i32x4_ne)
    else {
      f.i32Load16U(offset).op(OP.i32x4_splat).op(OP.i16x8_extend_low_i8x16_u).op(OP.i32x4_extend_low_i16x8_u).i32x4Const(0).op(OP.i32x4_ne)
      this.widen()
    }
  }

  /** Pushes the element at `at` in every lane. */
  splat(dtype: DType, at: Operand): void {
    const { f } = this
    f.push(at)
    if (dtype === 'f64') f.v128Load64Splat()
    else if (dtype !== 'bool') f.v128Load32Splat()
    else f.i32Load8U().op(OP.i32x4_splat).i32x4Const(0).op(OP.i32x4_ne)
  }

  /** Pushes L elements `stride` bytes apart. */
  gather(dtype: DType, at: Operand, stride: Operand): void {
    const { f, lanes, scratch } = this
    this.splat(dtype, at)
    f.op(OP.i32_add, at, stride).set(scratch)
    for (let l = 1; l < lanes; l++) {
      const v = this.vector
      f.set(v)
      if (dtype === 'f64') f.get(scratch).get(v).v128Load64Lane(l)
      else if (dtype !== 'bool') f.get(scratch).get(v).v128Load32Lane(l)
      else {
        const m = this.word
        f.op(OP.i32_sub, 0, () => f.push(scratch).i32Load8U()).set(m)
        f.get(v)
        if (lanes === 4) f.get(m).i32x4ReplaceLane(l)
        else
          f.get(m)
            .i32x4ReplaceLane(2 * l)
            .get(m)
            .i32x4ReplaceLane(2 * l + 1)
      }
      f.op(OP.i32_add, scratch, stride).set(scratch)
    }
  }

  /** Stores the low L lanes of `v` from so many bytes behind address `at` on (contiguous). */
  store(dtype: DType, at: Operand, v: Local, offset = 0): void {
    const { f, lanes } = this
    if (dtype === 'f64') f.push(at).get(v).v128Store(offset)
    else if (dtype !== 'bool') {
      if (lanes === 4) f.push(at).get(v).v128Store(offset)
      else f.push(at).get(v).v128Store64Lane(0, offset)
    } else if (lanes === 4) {
      f.push(at)
      f.get(v).i32x4Const(1).op(OP.v128_and).get(v).i32x4Const(1).op(OP.v128_and).op(OP.i16x8_narrow_i32x4_u)
      f.i32x4Const(0).op(OP.i8x16_narrow_i16x8_u).i32x4ExtractLane(0).i32Store(offset)
    } else
      for (let l = 0; l < 2; l++)
        f.push(at)
          .get(v)
          .i32x4ExtractLane(2 * l)
          .i32Const(1)
          .op(OP.i32_and)
          .i32Store8(offset + l)
  }

  /** Stores lane `l` of `v` at `at`. */
  storeLane(dtype: DType, at: Operand, v: Local, l: number): void {
    const { f, lanes } = this
    f.push(at).get(v)
    if (dtype === 'f64') f.v128Store64Lane(l)
    else if (dtype !== 'bool') f.v128Store32Lane(l)
    else
      f.i32x4ExtractLane(lanes === 4 ? l : 2 * l)
        .i32Const(1)
        .op(OP.i32_and)
        .i32Store8()
  }

  /** Stores L lanes `stride` bytes apart. */
  scatter(dtype: DType, at: Operand, stride: Operand, v: Local): void {
    const { f, lanes, scratch } = this
    f.set(scratch, at)
    for (let l = 0; l < lanes; l++) {
      this.storeLane(dtype, scratch, v, l)
      if (l + 1 < lanes) f.op(OP.i32_add, scratch, stride).set(scratch)
    }
  }
}

/** Hands the rows of the transposed block, four vectors of 32-bit lanes or two wide ones, one by one, to `use`. */
export function transposed(
  f: FunctionBuilder,
  wide: boolean,
  block: readonly Local[],
  use: (row: number, value: () => void) => void,
): void {
  const [a, b, c, d] = block as [Local, Local, Local, Local]
  if (wide) {
    use(0, () => f.get(a).get(b).i64x2Shuffle(0, 2))
    use(1, () => f.get(a).get(b).i64x2Shuffle(1, 3))
    return
  }
  const pairs = (row: number) => () => {
    const [x, y] = row < 2 ? ([0, 4] as const) : ([2, 6] as const)
    f.get(a)
      .get(b)
      .i32x4Shuffle(x, y, x + 1, y + 1)
    f.get(c)
      .get(d)
      .i32x4Shuffle(x, y, x + 1, y + 1)
    if (row % 2 === 0) f.i64x2Shuffle(0, 2)
    else f.i64x2Shuffle(1, 3)
  }
  for (let row = 0; row < 4; row++) use(row, pairs(row))
}
