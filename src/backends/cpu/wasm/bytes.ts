/*
 * A growing byte buffer with LEB128 integers, little-endian floats and names, as the WebAssembly binary format writes them.
 */

const scratch = new DataView(new ArrayBuffer(8))
const utf8 = new TextEncoder()

export class ByteBuffer {
  private data: Uint8Array<ArrayBuffer>
  length = 0

  constructor(capacity = 256) {
    this.data = new Uint8Array(capacity)
  }

  byte(b: number): this {
    if (this.length === this.data.length) this.reserve(1)
    this.data[this.length++] = b
    return this
  }

  bytes(source: ArrayLike<number>): this {
    this.reserve(source.length)
    this.data.set(source, this.length)
    this.length += source.length
    return this
  }

  /** Unsigned LEB128 of an integer below 2^32. */
  u32(n: number): this {
    n >>>= 0
    while (n > 127) {
      this.byte((n & 127) | 128)
      n >>>= 7
    }
    return this.byte(n)
  }

  /** A byte, then an unsigned LEB128: what most instructions are. */
  byteAndU32(b: number, n: number): this {
    const { data, length } = this
    if (n >>> 7 !== 0 || length + 2 > data.length) return this.byte(b).u32(n)
    data[length] = b
    data[length + 1] = n
    this.length = length + 2
    return this
  }

  /** Signed LEB128 of a 32-bit integer; unsigned values wrap. */
  s32(n: number): this {
    n |= 0
    while (n < -64 || n > 63) {
      this.byte((n & 127) | 128)
      n >>= 7
    }
    return this.byte(n & 127)
  }

  /** Signed LEB128 of a 64-bit integer; unsigned values wrap. */
  s64(n: bigint): this {
    n = BigInt.asIntN(64, n)
    while (n < -64n || n > 63n) {
      this.byte(Number(n & 127n) | 128)
      n >>= 7n
    }
    return this.byte(Number(n & 127n))
  }

  u32le(n: number): this {
    return this.byte(n & 255)
      .byte((n >>> 8) & 255)
      .byte((n >>> 16) & 255)
      .byte(n >>> 24)
  }

  u64le(n: bigint): this {
    const u = BigInt.asUintN(64, n)
    return this.u32le(Number(u & 0xffffffffn)).u32le(Number(u >> 32n))
  }

  f32(x: number): this {
    scratch.setFloat32(0, x, true)
    return this.u32le(scratch.getInt32(0, true))
  }

  f64(x: number): this {
    scratch.setFloat64(0, x, true)
    return this.u32le(scratch.getInt32(0, true)).u32le(scratch.getInt32(4, true))
  }

  /** A length-prefixed UTF-8 string. */
  name(s: string): this {
    const encoded = utf8.encode(s)
    return this.u32(encoded.length).bytes(encoded)
  }

  /** The bytes so far, not copied; valid until the next append. */
  view(): Uint8Array<ArrayBuffer> {
    return this.data.subarray(0, this.length)
  }

  /** A copy of the bytes so far. */
  copy(): Uint8Array<ArrayBuffer> {
    return this.data.slice(0, this.length)
  }

  private reserve(extra: number): void {
    const needed = this.length + extra
    if (needed <= this.data.length) return
    const grown = new Uint8Array(Math.max(needed, this.data.length * 2))
    grown.set(this.view())
    this.data = grown
  }
}
