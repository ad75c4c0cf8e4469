/*
 * The instructions with immediates that need nothing but a byte buffer: constants, memory accesses, lanes.
 */

import { ByteBuffer } from './bytes.js'

/** Where the bytes of a vector are put together. */
const sixteen = new DataView(new ArrayBuffer(16))
const bytesOf = new Uint8Array(sixteen.buffer)
/** Appends instructions to a byte buffer; the base of FunctionBuilder. */
export class Instructions {
  protected readonly code = new ByteBuffer()

  i32Const(n: number): this {
    this.code.byte(0x41).s32(n)
    return this
  }

  f32Const(x: number): this {
    this.code.byte(0x43).f32(x)
    return this
  }

  f64Const(x: number): this {
    this.code.byte(0x44).f64(x)
    return this
  }

  /** The same f32 in the four lanes. */
  f32x4Const(x: number): this {
    for (let i = 0; i < 4; i++) sixteen.setFloat32(4 * i, x, true)
    return this.v128Const(bytesOf)
  }

  /** The same f64 in both lanes. */
  f64x2Const(x: number): this {
    for (let i = 0; i < 2; i++) sixteen.setFloat64(8 * i, x, true)
    return this.v128Const(bytesOf)
  }

  /** The same 32-bit pattern in the four lanes. */
  i32x4Const(n: number): this {
    for (let i = 0; i < 4; i++) sixteen.setInt32(4 * i, n, true)
    return this.v128Const(bytesOf)
  }

  /** The same 64-bit pattern in both lanes. */
  i64x2Const(n: bigint): this {
    for (let i = 0; i < 2; i++) sixteen.setBigInt64(8 * i, n, true)
    return this.v128Const(bytesOf)
  }

  /** A 16-byte constant, byte by byte. */
  v128Const(bytes: ArrayLike<number>): this {
    if (bytes.length !== 16) throw new RangeError(`v128.const takes 16 bytes, not ${bytes.length}`)
    this.simd(0x0c).code.bytes(bytes)
    return this
  }

  // Memory: the address is on the stack (for stores: address, then value)

  i32Load(offset = 0): this {
    return this.access(0x28, 2, offset)
  }
  i64Load(offset = 0): this {
    return this.access(0x29, 3, offset)
  }
  f32Load(offset = 0): this {
    return this.access(0x2a, 2, offset)
  }
  f64Load(offset = 0): this {
    return this.access(0x2b, 3, offset)
  }
  i32Load8S(offset = 0): this {
    return this.access(0x2c, 0, offset)
  }
  i32Load8U(offset = 0): this {
    return this.access(0x2d, 0, offset)
  }
  i32Load16U(offset = 0): this {
    return this.access(0x2f, 1, offset)
  }
  i32Store(offset = 0): this {
    return this.access(0x36, 2, offset)
  }
  i64Store(offset = 0): this {
    return this.access(0x37, 3, offset)
  }
  f32Store(offset = 0): this {
    return this.access(0x38, 2, offset)
  }
  f64Store(offset = 0): this {
    return this.access(0x39, 3, offset)
  }
  i32Store8(offset = 0): this {
    return this.access(0x3a, 0, offset)
  }

  v128Load(offset = 0): this {
    return this.vectorAccess(0x00, 4, offset)
  }
  v128Store(offset = 0): this {
    return this.vectorAccess(0x0b, 4, offset)
  }
  v128Load32Splat(offset = 0): this {
    return this.vectorAccess(0x09, 2, offset)
  }
  v128Load64Splat(offset = 0): this {
    return this.vectorAccess(0x0a, 3, offset)
  }
  v128Load32Zero(offset = 0): this {
    return this.vectorAccess(0x5c, 2, offset)
  }
  v128Load64Zero(offset = 0): this {
    return this.vectorAccess(0x5d, 3, offset)
  }

  /** Address and vector on the stack: the vector with one lane read from memory. */
  v128Load32Lane(lane: number, offset = 0): this {
    return this.vectorAccess(0x56, 2, offset).byte(lane)
  }
  v128Load64Lane(lane: number, offset = 0): this {
    return this.vectorAccess(0x57, 3, offset).byte(lane)
  }
  /** Address and vector on the stack: writes one lane. */
  v128Store32Lane(lane: number, offset = 0): this {
    return this.vectorAccess(0x5a, 2, offset).byte(lane)
  }
  v128Store64Lane(lane: number, offset = 0): this {
    return this.vectorAccess(0x5b, 3, offset).byte(lane)
  }

  /** On the stack: destination, source, byte count. */
  memoryCopy(): this {
    this.code.byteAndU32(0xfc, 10).byte(0).byte(0)
    return this
  }

  /** On the stack: destination, byte value, byte count. */
  memoryFill(): this {
    this.code.byteAndU32(0xfc, 11).byte(0)
    return this
  }

  // Lanes

  i32x4ExtractLane(lane: number): this {
    return this.simd(0x1b).byte(lane)
  }
  i32x4ReplaceLane(lane: number): this {
    return this.simd(0x1c).byte(lane)
  }
  f32x4ExtractLane(lane: number): this {
    return this.simd(0x1f).byte(lane)
  }
  f32x4ReplaceLane(lane: number): this {
    return this.simd(0x20).byte(lane)
  }
  f64x2ExtractLane(lane: number): this {
    return this.simd(0x21).byte(lane)
  }
  f64x2ReplaceLane(lane: number): this {
    return this.simd(0x22).byte(lane)
  }

  /** i8x16.shuffle of two vectors: 16 byte indices, 0-15 from the first, 16-31 from the second. */
  i8x16Shuffle(bytes: ArrayLike<number>): this {
    if (bytes.length !== 16) throw new RangeError(`i8x16.shuffle takes 16 indices, not ${bytes.length}`)
    this.simd(0x0d).code.bytes(bytes)
    return this
  }

  /** Shuffle of 32-bit lanes: four indices, 0-3 from the first vector, 4-7 from the second. */
  i32x4Shuffle(...lanes: readonly [number, number, number, number]): this {
    return this.i8x16Shuffle(lanes.flatMap((l) => [l * 4, l * 4 + 1, l * 4 + 2, l * 4 + 3]))
  }

  /** Shuffle of 64-bit lanes: two indices, 0-1 from the first vector, 2-3 from the second. */
  i64x2Shuffle(...lanes: readonly [number, number]): this {
    return this.i32x4Shuffle(lanes[0] * 2, lanes[0] * 2 + 1, lanes[1] * 2, lanes[1] * 2 + 1)
  }

  protected opcode(code: number): this {
    if (code < 0x100) this.code.byte(code)
    else this.code.byteAndU32(code >>> 16, code & 0xffff)
    return this
  }

  /** An atomic access by its code, which WebAssembly wants at its own alignment, 2^align. */
  atomic(code: number, align: 2 | 3, offset = 0): this {
    this.code.byteAndU32(0xfe, code).byte(align).u32(offset)
    return this
  }

  private byte(b: number): this {
    this.code.byte(b)
    return this
  }

  private simd(code: number): this {
    this.code.byteAndU32(0xfd, code)
    return this
  }

  private access(code: number, align: number, offset: number): this {
    this.code.byte(code).byte(align).u32(offset)
    return this
  }

  private vectorAccess(code: number, align: number, offset: number): this {
    this.code.byteAndU32(0xfd, code).byte(align).u32(offset)
    return this
  }
}
