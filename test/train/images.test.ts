// Images and labels: PNG files of every type with the pixels that Pillow reads, idx files as MNIST's, and bytes that someone made up.
import { readFileSync } from 'node:fs'
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { type AdError, explain } from '../../src/index.js'
import { decodeIdx, decodePng } from '../../src/train/index.js'
import { crcOf } from '../../src/train/zip.js'
import { count } from '../depth.js'

interface File {
  readonly bytes: string
  readonly shape: readonly number[]
  readonly data: readonly number[]
}
const files = JSON.parse(readFileSync(new URL('../golden/png.json', import.meta.url), 'utf8')) as Readonly<Record<string, File>>
const bytesOf = (name: string): Uint8Array => new Uint8Array(Buffer.from(files[name]!.bytes, 'base64'))
type Either<A> = { readonly _tag: 'Left'; readonly left: AdError } | { readonly _tag: 'Right'; readonly right: A }
const right = <A>(e: Either<A>): A => {
  if (e._tag === 'Left') throw new Error(explain(e.left))
  return e.right
}
const said = (e: Either<unknown>): string => (e._tag === 'Left' ? explain(e.left) : 'an array')

/** The chunks of a PNG file, from the eighth byte. */
const chunksOf = (bytes: Uint8Array): readonly { readonly at: number; readonly name: string; readonly length: number }[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found = []
  for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at))
    found.push({ at, name: Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1'), length: view.getUint32(at) })
  return found
}
/** The checksum of the chunk at a byte, made right. */
const sealed = (bytes: Uint8Array, { at, length }: { readonly at: number; readonly length: number }): void =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).setUint32(at + 8 + length, crcOf(bytes.subarray(at + 4, at + 8 + length)))
/** The file with another header. */
const withHead = (name: string, change: (head: DataView) => void): Uint8Array => {
  const bytes = bytesOf(name)
  change(new DataView(bytes.buffer, bytes.byteOffset + 16, 13))
  sealed(bytes, { at: 8, length: 13 })
  return bytes
}
/** The file with other pixels, deflated. */
const withData = (name: string, data: Uint8Array): Uint8Array => {
  const bytes = bytesOf(name)
  const chunk = new Uint8Array(12 + data.length)
  new DataView(chunk.buffer).setUint32(0, data.length)
  chunk.set(Buffer.from('IDAT'), 4)
  chunk.set(data, 8)
  sealed(chunk, { at: 0, length: data.length })
  return new Uint8Array(Buffer.concat([bytes.subarray(0, 33), chunk, bytes.subarray(bytes.length - 12)]))
}

describe('decodePng', () => {
  for (const [name, { shape, data }] of Object.entries(files))
    it(`reads ${name}`, async () => {
      const t = right(await decodePng(bytesOf(name))())
      expect([t.dtype, t.shape]).toEqual(['i32', shape])
      expect([...t.data]).toEqual(data)
    })
  it('says what is wrong with bytes', async () => {
    const of = async (bytes: Uint8Array): Promise<string> => said(await decodePng(bytes)())
    const good = bytesOf('colour')
    expect(await of(new Uint8Array(3))).toContain('is not a PNG file: it does not begin with \\x89PNG.')
    expect(await of(good.subarray(0, 30))).toContain('was cut off in the chunk at byte 8.')
    expect(await of(good.subarray(0, good.length - 40))).toContain('was cut off in the chunk at byte 33.')
    expect(await of(Uint8Array.from(good, (x, i) => (i === 60 ? x ^ 1 : x)))).toContain(
      'is damaged in the chunk at byte 33: its checksum is another.',
    )
    expect(await of(withHead('colour', (head) => head.setUint8(9, 7)))).toContain('has pixels of the type 7')
    expect(await of(withHead('colour', (head) => head.setUint32(0, 0)))).toContain('has no pixels: 0 x 7.')
    expect(await of(withHead('colour', (head) => head.setUint32(4, 8)))).toContain('has 196 bytes where it is said to have 224.')
    expect(said(await decodePng('a.png' as never)())).toContain('where the bytes of a file must be')
  })
  it('takes no memory for what a file only promises', async () => {
    const promised = withHead('colour', (head) => head.setUint32(0, 2 ** 31 - 1))
    expect(said(await decodePng(promised)())).toMatch(/is said to have \d+ bytes, more than \d+ deflated ones can hold\./)
    // 128 MiB of zeros in 128 kB, behind the header of an image of 63 pixels.
    const zeros = deflateSync(new Uint8Array(2 ** 27))
    const files = ['colour', 'interlaced'].map((name) => withData(name, zeros))
    for (const file of files) {
      const before = process.memoryUsage().rss
      expect(said(await decodePng(file)())).toMatch(/has more than the \d+ bytes that it is said to have\./)
      expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 26)
    }
  })
  it('gives an image or an error for mutated files', async () => {
    const draw = random(11)
    const whole = (n: number): number => Math.floor(draw() * n)
    const names = Object.keys(files)
    let readable = 0
    for (let k = 0; k < count(300, 5000); k++) {
      const bytes = bytesOf(names[whole(names.length)]!)
      const chunks = chunksOf(bytes)
      const chunk = chunks[whole(chunks.length - 1)]!
      for (let n = 0; n < 1 + draw() * 3; n++) bytes[chunk.at + 8 + whole(chunk.length)] = whole(256)
      // Four of five times with a good checksum: else that would be all that is tried.
      if (draw() < 0.8) sealed(bytes, chunk)
      const e = await decodePng(draw() < 0.1 ? bytes.subarray(0, whole(bytes.length)) : bytes)()
      if (e._tag === 'Left') expect(e.left._tag).toBe('Decode')
      else readable++
    }
    expect(readable).toBeGreaterThan(10)
  })
})

/** An idx file: the format's words, not the reader's. */
const idx = (type: number, shape: readonly number[], elements: Buffer): Uint8Array => {
  const head = Buffer.alloc(4 + 4 * shape.length)
  head[2] = type
  head[3] = shape.length
  for (const [i, d] of shape.entries()) head.writeUInt32BE(d, 4 + 4 * i)
  return new Uint8Array(Buffer.concat([head, elements]))
}
const written = (size: number, values: readonly number[], write: (b: Buffer, x: number, at: number) => void): Buffer => {
  const b = Buffer.alloc(size * values.length)
  for (const [i, x] of values.entries()) write(b, x, i * size)
  return b
}
describe('decodeIdx', () => {
  const cases = {
    'bytes, as images': [
      0x08,
      [2, 1, 3],
      'i32',
      [0, 255, 7, 1, 2, 128],
      written(1, [0, 255, 7, 1, 2, 128], (b, x, at) => b.writeUInt8(x, at)),
    ],
    'signed bytes': [0x09, [2], 'i32', [-128, 127], written(1, [-128, 127], (b, x, at) => b.writeInt8(x, at))],
    i16: [0x0b, [2], 'i32', [-300, 300], written(2, [-300, 300], (b, x, at) => b.writeInt16BE(x, at))],
    i32: [0x0c, [2, 1], 'i32', [-(2 ** 31), 2 ** 31 - 1], written(4, [-(2 ** 31), 2 ** 31 - 1], (b, x, at) => b.writeInt32BE(x, at))],
    f32: [
      0x0d,
      [3],
      'f32',
      [1.5, -0, Number.POSITIVE_INFINITY],
      written(4, [1.5, -0, Number.POSITIVE_INFINITY], (b, x, at) => b.writeFloatBE(x, at)),
    ],
    f64: [0x0e, [2], 'f64', [0.1, 5e-324], written(8, [0.1, 5e-324], (b, x, at) => b.writeDoubleBE(x, at))],
    'no elements': [0x0d, [0, 28, 28], 'f32', [], Buffer.alloc(0)],
    'no axes': [0x08, [], 'i32', [9], Buffer.from([9])],
  } as const
  for (const [name, [type, shape, dtype, data, elements]] of Object.entries(cases))
    it(`reads ${name}`, () => {
      const t = right(decodeIdx(idx(type, shape, elements)))
      expect([t.dtype, t.shape, [...t.data]]).toEqual([dtype, shape, data])
    })
  const labels = idx(0x08, [3], Buffer.from([7, 2, 1]))
  it('reads what gunzip gives, and says so of what is packed', () => {
    const packed = gzipSync(labels)
    expect([...right(decodeIdx(new Uint8Array(gunzipSync(packed)))).data]).toEqual([7, 2, 1])
    expect(said(decodeIdx(new Uint8Array(packed)))).toContain('is compressed by gzip: unpack it first, by gunzipSync')
  })
  it('says what is wrong with bytes', () => {
    expect(said(decodeIdx(new Uint8Array(3)))).toContain('is not an idx file')
    expect(said(decodeIdx(Uint8Array.from(labels, (x, i) => (i === 0 ? 1 : x))))).toContain('is not an idx file')
    expect(said(decodeIdx(Uint8Array.from(labels, (x, i) => (i === 2 ? 10 : x))))).toContain('has elements of the type 10')
    expect(said(decodeIdx(Uint8Array.from(labels, (x, i) => (i === 3 ? 200 : x))))).toContain(
      'ends in its header: 200 axes have 800 bytes of sizes',
    )
    expect(said(decodeIdx(labels.subarray(0, labels.length - 1)))).toContain('has 2 bytes of elements where its shape [3] has 3.')
    expect(
      said(
        decodeIdx(
          idx(
            0x0e,
            Array.from({ length: 200 }, () => 0xffffffff),
            Buffer.alloc(9),
          ),
        ),
      ),
    ).toContain('has 9 bytes of elements where')
    expect(said(decodeIdx('a' as never))).toContain('where the bytes of a file must be')
  })
  it('gives an array or an error for mutated files', () => {
    const draw = random(13)
    const all = Object.values(cases).map(([type, shape, , , elements]) => idx(type, shape, elements))
    for (let k = 0; k < count(500, 10_000); k++) {
      const bytes = all[Math.floor(draw() * all.length)]!.slice()
      for (let n = 0; n < 1 + draw() * 3; n++) bytes[Math.floor(draw() * bytes.length)] = Math.floor(draw() * 256)
      const e = decodeIdx(draw() < 0.3 ? bytes.subarray(0, Math.floor(draw() * bytes.length)) : bytes)
      if (e._tag === 'Left') expect(e.left._tag).toBe('Decode')
    }
  })
})
