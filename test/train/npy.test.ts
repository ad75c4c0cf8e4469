// Files of NumPy: arrays of every dtype, byte order and layout that it wrote, the same read back, and bytes that someone made up.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { type AdError, explain, type Tensor, tensor } from '../../src/index.js'
import { decodeNpy, decodeNpz, encodeNpy, encodeNpz } from '../../src/train/index.js'
import { count } from '../depth.js'

interface File {
  readonly bytes: string
  readonly shape?: readonly number[]
  readonly data?: readonly string[]
}
const files = JSON.parse(readFileSync(new URL('../golden/npy.json', import.meta.url), 'utf8')) as Readonly<Record<string, File>>
const bytesOf = (name: string): Uint8Array => new Uint8Array(Buffer.from(files[name]!.bytes, 'base64'))
type Either<A> = { readonly _tag: 'Left'; readonly left: AdError } | { readonly _tag: 'Right'; readonly right: A }
const right = <A>(e: Either<A>): A => {
  if (e._tag === 'Left') throw new Error(explain(e.left))
  return e.right
}
const said = (e: Either<unknown>): string => (e._tag === 'Left' ? explain(e.left) : 'an array')
const numberOf = (text: string): number => (text === 'inf' ? Number.POSITIVE_INFINITY : text === 'nan' ? Number.NaN : Number(text))

const dtypes: Readonly<Record<string, string>> = { f8: 'f64', f4: 'f32', f2: 'f32', b1: 'bool' }
describe('decodeNpy reads what NumPy wrote', () => {
  for (const [name, { shape, data }] of Object.entries(files)) {
    if (shape === undefined || name.startsWith('too large')) continue
    it(name, () => {
      const t = right(decodeNpy(bytesOf(name)))
      expect(t.shape).toEqual(shape)
      expect([...t.data]).toEqual(data!.map(numberOf))
      const type = /^dtype .(\w\d)$/.exec(name)?.[1]
      if (type !== undefined) expect(t.dtype).toBe(dtypes[type] ?? 'i32')
    })
  }
  it('from an ArrayBuffer, and from bytes in the middle of one', () => {
    const bytes = bytesOf('rank 1')
    const wide = new Uint8Array(bytes.length + 3)
    wide.set(bytes, 3)
    expect([...right(decodeNpy(wide.subarray(3))).data]).toEqual([...right(decodeNpy(bytes.buffer as ArrayBuffer)).data])
  })
})

describe('decodeNpy refuses', () => {
  const cases: Readonly<Record<string, string>> = {
    objects: 'holds pickled objects of Python, which are not read: a pickle runs code.',
    complex: "has elements of the type '<c16', which codual does not have.",
    texts: "has elements of the type '<U2'",
    dates: "has elements of the type '<M8[D]'",
    records: "has elements of the type [('a', '<i4'), ('b', '<f4')]",
    'too large for an i32': 'entry 1 is 2147483648, which an i32 does not hold.',
  }
  for (const [name, says] of Object.entries(cases)) it(name, () => expect(said(decodeNpy(bytesOf(name)))).toContain(says))

  it('what is no file of NumPy, or not all of one', () => {
    const good = bytesOf('rank 1')
    expect(said(decodeNpy(new Uint8Array(3)))).toContain('is no .npy file')
    expect(said(decodeNpy(good.subarray(0, 100)))).toContain('has a header of 118 bytes, and the file has 100.')
    expect(said(decodeNpy(good.subarray(0, good.length - 1)))).toContain('has 39 bytes of elements where its shape [5] has 40.')
    expect(said(decodeNpy(Uint8Array.from(good, (x, i) => (i === 6 ? 9 : x))))).toContain('is of version 9.0')
    expect(said(decodeNpy('a.npy' as never))).toContain('where the bytes of a file must be')
  })

  it('a shape that is larger than the file, before memory is taken', () => {
    const header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1073741824, 4), }\n"
    const bytes = new Uint8Array([0x93, 78, 85, 77, 80, 89, 1, 0, header.length, 0, ...new TextEncoder().encode(header)])
    expect(said(decodeNpy(bytes))).toContain('has 0 bytes of elements')
    const more = header.replace('4)', '99999999999)')
    expect(said(decodeNpy(new Uint8Array([0x93, 78, 85, 77, 80, 89, 1, 0, more.length, 0, ...new TextEncoder().encode(more)])))).toContain(
      'more elements than an array can have',
    )
  })
})

describe('encodeNpy', () => {
  it('is read back: every dtype, rank and number', () => {
    for (const t of [
      tensor([1.5, -0, Number.NaN, Number.NEGATIVE_INFINITY, 5e-324]),
      tensor([[1, 2, 3]], 'f32'),
      tensor([-(2 ** 31), 2 ** 31 - 1], 'i32'),
      tensor([[true], [false]]),
      tensor(7),
      tensor(0, [2, 0, 3], 'f32'),
    ] as readonly Tensor[]) {
      const back = right(decodeNpy(encodeNpy(t)))
      expect([back.dtype, back.shape, [...back.data]]).toEqual([t.dtype, t.shape, [...t.data]])
    }
  })
  it('writes the bytes of the format: elements begin at a multiple of 64', () => {
    const bytes = encodeNpy(tensor([1, 2, 3], 'i32'))
    expect(Buffer.from(bytes.subarray(0, 128)).toString('latin1')).toBe(
      `\x93NUMPY\x01\x00\x76\x00${"{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }".padEnd(117)}\n`,
    )
    expect(bytes.length).toBe(140)
  })
  it('refuses what is no array', () => {
    expect(() => encodeNpy({ w: [1] })).toThrow('encodeNpy: the array')
    expect(() => encodeNpy('x')).toThrow('encodeNpy')
  })
})

describe('archives', () => {
  for (const name of ['savez', 'savez_compressed'])
    it(`of numpy.${name} are read`, async () => {
      const found = right(await decodeNpz(bytesOf(name))())
      expect(Object.keys(found).sort()).toEqual(['arr_0', 'größe', 'layer.0.b', 'w'])
      expect([...found.arr_0!.data]).toEqual(Array.from({ length: 24 }, (_, i) => i))
      expect([found.w!.dtype, found.w!.shape, [...found.w!.data]]).toEqual(['f64', [3, 4], Array.from({ length: 12 }, (_, i) => i)])
      expect([...found['layer.0.b']!.data]).toEqual(Array.from({ length: 1000 }, (_, i) => i % 7))
      expect(found.größe!.item()).toBe(true)
    })

  it('are read back, by the names of encodeSafetensors', async () => {
    const tree = { layer: [{ w: tensor([[1, 2]], 'f32') }, { w: [3, 4] }], ü: tensor([true]), __proto__: null, n: 5 }
    const found = right(await decodeNpz(encodeNpz(tree))())
    expect(Object.fromEntries(Object.entries(found).map(([k, t]) => [k, t.toArray()]))).toEqual({ 'layer.0.w': [[1, 2]], 'layer.1.w': [3, 4], ü: [true], n: 5 }) // biome-ignore format: a record
    expect(right(await decodeNpz(encodeNpz({}))())).toEqual({})
  })

  const changed = (bytes: Uint8Array, at: number, x: number): Uint8Array =>
    Uint8Array.from(bytes, (b, i) => (i === (at < 0 ? bytes.length + at : at) ? x : b))
  it('that are damaged are errors that name the array', async () => {
    const good = encodeNpz({ w: [1, 2] })
    const of = async (bytes: Uint8Array): Promise<string> => said(await decodeNpz(bytes)())
    expect(await of(new Uint8Array(10))).toContain('is no .npz file')
    expect(await of(changed(good, 150, 99))).toContain('w.npy: is damaged: its checksum is another.')
    expect(await of(good.subarray(0, good.length - 30))).toContain('is no .npz file')
    const directory = good.length - 22 - 46 - 5
    expect(await of(changed(good, directory + 10, 12))).toContain('w.npy: is packed by method 12')
    expect(await of(changed(good, directory + 8, 1))).toContain('w.npy: is encrypted.')
    expect(await of(changed(good, directory + 27, 200))).toContain('w.npy: is damaged')
    expect(await of(changed(good, directory + 46, 0x78))).toBe('an array') // the directory's name counts
    expect(said(await decodeNpz(null as never)())).toContain('where the bytes of a file must be')
  })

  it('that promise more than they can hold are errors before memory is taken', async () => {
    const packed = bytesOf('savez_compressed')
    const at = packed.findIndex(
      (_, i) => i > 100 && packed[i] === 0x50 && packed[i + 1] === 0x4b && packed[i + 2] === 1 && packed[i + 3] === 2,
    )
    const bytes = packed.slice()
    new DataView(bytes.buffer).setUint32(at + 24, 0xf0000000, true)
    expect(said(await decodeNpz(bytes)())).toContain('is said to have 4026531840 bytes, more than')
    new DataView(bytes.buffer).setUint32(at + 24, 300, true)
    expect(said(await decodeNpz(bytes)())).toMatch(/is said to have|damaged|deflated/)
  })
})

describe('mutated files', () => {
  it('are an array or an error, never more', async () => {
    const draw = random(3)
    const names = Object.keys(files)
    for (let k = 0; k < count(200, 5000); k++) {
      const name = names[Math.floor(draw() * names.length)]!
      const bytes = bytesOf(name)
      for (let n = 0; n < 1 + draw() * 4; n++) bytes[Math.floor(draw() * bytes.length)] = Math.floor(draw() * 256)
      const cut = draw() < 0.3 ? bytes.subarray(0, Math.floor(draw() * bytes.length)) : bytes
      const e = name.startsWith('savez') ? await decodeNpz(cut)() : decodeNpy(cut)
      if (e._tag === 'Left') expect(['Decode', 'BadInput']).toContain(e.left._tag)
    }
  })
})
