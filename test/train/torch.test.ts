// Files of PyTorch: what torch.save wrote, read back to the bit, nothing of it run, and bytes that someone made up.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { type AdError, compile, explain, f32, fn, isAdException, relu, type Tensor, tensor } from '../../src/index.js'
import { batchNorm, dense, fromTorch, sequential } from '../../src/nn/index.js'
import { decodeTorch, type LoadedTorch } from '../../src/train/index.js'
import { loadTorch } from '../../src/train/node.js'
import { unpickled } from '../../src/train/pickle.js'
import { crcOf } from '../../src/train/zip.js'
import { count } from '../depth.js'

interface File {
  readonly bytes: string
  readonly tensors?: Readonly<Record<string, { readonly shape: readonly number[]; readonly data: readonly string[] }>>
}
const golden = new URL('../golden/torch-files.json', import.meta.url)
const files = JSON.parse(readFileSync(golden, 'utf8')) as Readonly<Record<string, File>> & {
  readonly 'state dict': { readonly x: readonly (readonly number[])[]; readonly y: readonly (readonly number[])[] }
}
const bytesOf = (name: string): Uint8Array => new Uint8Array(Buffer.from(files[name]!.bytes, 'base64'))
type Either<A> = { readonly _tag: 'Left'; readonly left: AdError } | { readonly _tag: 'Right'; readonly right: A }
const right = <A>(e: Either<A>): A => {
  if (e._tag === 'Left') throw new Error(explain(e.left))
  return e.right
}
const said = (e: Either<unknown>): string => (e._tag === 'Left' ? explain(e.left) : 'a file')
const numberOf = (text: string): number =>
  text === 'inf' ? Number.POSITIVE_INFINITY : text === '-inf' ? Number.NEGATIVE_INFINITY : text === 'nan' ? Number.NaN : Number(text)
const read = (name: string): LoadedTorch => right(decodeTorch(bytesOf(name)))

/** The files of an archive as they are stored: their data in place. */
const storedIn = (bytes: Uint8Array): ReadonlyMap<string, { readonly data: Uint8Array; readonly entry: number }> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found = new Map<string, { data: Uint8Array; entry: number }>()
  let at = view.getUint32(bytes.length - 6, true)
  for (let i = view.getUint16(bytes.length - 12, true); i > 0; i--) {
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + view.getUint16(at + 28, true)))
    const start = view.getUint32(at + 42, true)
    const from = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true)
    found.set(name, { data: bytes.subarray(from, from + view.getUint32(at + 24, true)), entry: at })
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return found
}
/** The file with one of its own changed in place, its checksum made right. */
const changed = (name: string, inside: string, change: (data: Uint8Array) => void): Uint8Array => {
  const bytes = bytesOf(name)
  const { data, entry } = storedIn(bytes).get(`archive/${inside}`)!
  change(data)
  new DataView(bytes.buffer).setUint32(entry + 16, crcOf(data), true)
  return bytes
}
const replaced = (data: Uint8Array, from: string, to: string): void => {
  const at = Buffer.from(data).indexOf(from, 0, 'latin1')
  if (at < 0 || from.length !== to.length) throw new Error(`${from} is not there`)
  data.set(Buffer.from(to, 'latin1'), at)
}

const dtypes: Readonly<Record<string, string>> = { float64: 'f64', float32: 'f32', float16: 'f32', bfloat16: 'f32', bool: 'bool' }
describe('decodeTorch reads what PyTorch wrote', () => {
  for (const [name, { tensors }] of Object.entries(files as Readonly<Record<string, File>>)) {
    if (tensors === undefined) continue
    it(name, () => {
      const found = read(name).tensors
      expect(Object.keys(found).sort()).toEqual(Object.keys(tensors).sort())
      for (const [path, { shape, data }] of Object.entries(tensors)) {
        expect(found[path]!.shape, path).toEqual(shape)
        expect([...found[path]!.data], path).toEqual(data.map(numberOf))
      }
      const dtype = /^dtype (\w+)$/.exec(name)?.[1]
      if (dtype !== undefined) expect(found.w!.dtype).toBe(dtypes[dtype] ?? 'i32')
    })
  }
  it('what is in a checkpoint besides tensors, in its place', () => {
    const { value, tensors } = read('checkpoint')
    expect(value).toMatchObject({
      epoch: 3,
      best: 0.5,
      name: 'größe',
      none: null,
      flags: [true, false],
      long: [2 ** 40, -(2 ** 40), 2n ** 70n, -1, 255, 65535, 65536, -(2 ** 31)],
      size: [2, 3],
      dtype: 'torch.float16',
      device: 'cpu',
      milestones: { 10: 2, 20: 1 },
      ordered: { b: 1 },
      optimizer: { param_groups: [{ lr: 0.125, betas: [0.9, 0.999], params: [0, 1] }] },
    })
    expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ x: 1 })
    expect(({} as { x?: unknown }).x).toBeUndefined()
    expect((value as { readonly model: unknown }).model).toEqual({ weight: tensors['model.weight'], bias: tensors['model.bias'] })
  })
  it('one part of a file, whatever the others are', () => {
    expect(said(decodeTorch(bytesOf('a namespace')))).toContain('args: is made by argparse.Namespace')
    const { tensors } = right(decodeTorch(bytesOf('a namespace'), { part: 'model' }))
    expect(Object.keys(tensors)).toEqual(['weight', 'bias'])
    expect(said(decodeTorch(bytesOf('a namespace'), { part: 'net' }))).toContain("net: is not in the file, which has 'args', 'model'.")
    expect(said(decodeTorch(bytesOf('a tensor'), { part: 'net' }))).toContain('net: is not in the file: what was saved is not a dict.')
    expect(said(decodeTorch(bytesOf('a tensor'), { part: 3 as never }))).toContain('the part must be a string, not 3.')
  })
  it('tensors of a shared storage with memory of their own', () => {
    const { a, b, c } = read('shared').tensors
    expect(a).toBe(b) // one tensor of PyTorch under two names
    a!.data[0] = 9
    expect(c!.data[0]).toBe(0) // a view of it
  })
  it('a network that computes what it computes in PyTorch', () => {
    const net = sequential(dense(3, 4), relu, batchNorm(4), dense(4, 2))
    const { params, state } = fromTorch(net, read('state dict').tensors)
    const run = compile(fn({ p: net.declared, s: net.state, x: f32('n', 3) }, ({ p, s, x }) => net.apply(p, x, { state: s })[0]))
    const { x, y } = files['state dict']
    const found = run({ p: params, s: state, x: tensor(x, 'f32') as Tensor<[number, 3], 'f32'> })
    for (const [k, entry] of y.flat().entries()) expect(found.data[k]).toBeCloseTo(entry, 5)
  })
  it('of the bytes of the other order', () => {
    // As a big-endian machine writes it: a file of the name byteorder, here the renamed version.
    const bytes = changed('dtype float32', 'data/0', (data) => {
      for (let i = 0; i < data.length; i += 4) data.subarray(i, i + 4).reverse()
    })
    const { data, entry } = storedIn(bytes).get('archive/version')!
    data.set(Buffer.from('b'))
    const view = new DataView(bytes.buffer)
    view.setUint32(entry + 16, crcOf(data), true)
    const end = bytes.length
    const longer = new Uint8Array(end + 2)
    longer.set(bytes.subarray(0, entry + 46))
    longer.set(Buffer.from('archive/byteorder'), entry + 46)
    longer.set(bytes.subarray(entry + 46 + 'archive/version'.length), entry + 46 + 'archive/byteorder'.length)
    new DataView(longer.buffer).setUint16(entry + 28, 'archive/byteorder'.length, true)
    expect([...right(decodeTorch(longer)).tensors.w!.data]).toEqual([...read('dtype float32').tensors.w!.data])
  })
})

describe('loadTorch', () => {
  it('gives errors of the file system and of the file as values', async () => {
    expect(said(await loadTorch('no such file')())).toMatch(/^BadInput: loadTorch: .*ENOENT/)
    expect(said(await loadTorch(golden.pathname)())).toContain('is not a file of torch.save: it has no directory of an archive.')
    expect(said(await loadTorch(golden.pathname, { part: 1 as never })())).toContain('loadTorch: the part must be a string')
  })
})

describe('decodeTorch refuses', () => {
  const cases: Readonly<Record<string, string>> = {
    'too large for an i32': 'n: entry 1 is 2147483648, which an i32 does not hold.',
    complex: 'w: has the elements of a torch.ComplexFloatStorage, which codual does not have.',
    sparse: 'w: is made by torch._utils._rebuild_sparse_tensor, which is not called',
    quantised: 'w: is made by torch._utils._rebuild_qtensor, which is not called',
    'a model': 'is made by torch.nn.modules.linear.Linear, which is not called: nothing of a pickle runs. Save model.state_dict()',
    'a number of numpy': 'best: is made by numpy.core.multiarray.scalar',
    'a function': 'f: is made by __builtin__.print, which is not called',
    bytes: 'raw: is made by _codecs.encode',
    'before 1.6': 'is no zip archive: PyTorch before 1.6 wrote it.',
    'protocol 4': 'data.pkl: byte 0: is of protocol 4; protocol 2 is read',
  }
  for (const [name, says] of Object.entries(cases)) it(name, () => expect(said(decodeTorch(bytesOf(name)))).toContain(says))

  it('what is no file of torch.save, or not all of one', () => {
    const good = bytesOf('dtype float32')
    expect(said(decodeTorch(new Uint8Array(3)))).toContain('is not a file of torch.save: it has no directory of an archive.')
    expect(said(decodeTorch(good.subarray(0, good.length - 30)))).toContain('is not a file of torch.save')
    expect(said(decodeTorch('a.pt' as never))).toContain('where the bytes of a file must be')
    const damaged = good.slice()
    storedIn(damaged).get('archive/data/0')!.data[0]! ^= 1
    expect(said(decodeTorch(damaged))).toContain('w: its file data/0 is damaged: its checksum is another.')
    const packed = good.slice()
    packed[storedIn(packed).get('archive/data/0')!.entry + 10] = 8
    expect(said(decodeTorch(packed))).toContain('w: its file data/0 is packed by method 8')
    const lost = good.slice()
    lost[storedIn(lost).get('archive/data/0')!.entry + 46 + 'archive/data/'.length] = 0x39
    expect(said(decodeTorch(lost))).toContain('w: its file data/0 is not in the archive.')
  })
  it('tensors that are not in their storage', () => {
    const of = (from: string, to: string): string =>
      said(decodeTorch(changed('dtype float32', 'data.pkl', (data) => replaced(data, from, to))))
    // The end of the arguments: the offset 0, the shape (3, 4), the strides (4, 1).
    expect(of('K\x00K\x03K\x04', 'K\x01K\x03K\x04')).toContain('w: reaches element 12 of a storage of 12.')
    expect(of('K\x00K\x03K\x04', 'K\x00K\x04K\x04')).toContain('w: reaches element 15 of a storage of 12.')
    expect(of('torch\nFloatStorage', 'torch\nBoolSStorage')).toContain('w: has the elements of a torch.BoolSStorage')
    expect(of('X\x01\x00\x00\x000q', 'X\x01\x00\x00\x007q')).toContain('w: its file data/7 is not in the archive.')
    expect(of('K\x0ctq', 'K\x0dtq')).toContain('w: has 48 bytes of elements where its storage of 13 has 52.')
    expect(of('_rebuild_tensor_v2', '_rebuild_tensor_v9')).toContain('w: is made by torch._utils._rebuild_tensor_v9')
    expect(of('collections\nOrderedDict', 'collections\nOrderedDikt')).toBe('a file') // hooks, which are not read
  })
})

describe('made-up pickles', () => {
  const bytes = (...parts: readonly (string | number)[]): Uint8Array =>
    Uint8Array.from(parts.flatMap((p) => (typeof p === 'number' ? [p] : [...Buffer.from(p, 'latin1')])))
  const of = (pickle: Uint8Array): string => {
    try {
      unpickled(pickle, 'p')
      return 'a value'
    } catch (e) {
      if (isAdException(e)) return explain(e.error)
      throw e
    }
  }
  it('are errors with their place', () => {
    expect(of(bytes(0x80, 2, 'cos\nsystem\nX\x02\x00\x00\x00ls\x85R.'))).toBe('a value') // a name, which is not called
    expect(of(bytes(0x80, 2))).toContain('p: byte 2: the pickle was cut off: 1 bytes are missing after 2.')
    expect(of(bytes('X\xff\xff\xff\xff'))).toContain('byte 0: the pickle was cut off: 4294967295 bytes are missing')
    expect(of(bytes('0.'))).toContain('byte 0: the opcode 48 is not among those that torch.save writes.')
    expect(of(bytes('NN.'))).toContain('ends with other than one value.')
    expect(of(bytes('(e.'))).toContain('byte 1: takes from an empty stack.')
    expect(of(bytes('t.'))).toContain('byte 0: has no mark before it.')
    expect(of(bytes('h\x07.'))).toContain('there is nothing at 7 of the memo.')
    expect(of(bytes('](NNu.'))).toContain('puts entries where no dict is.')
    expect(of(bytes('}(Nu.'))).toContain('has a key without a value.')
    expect(of(bytes('}(Ne.'))).toContain('appends where no list is.')
    expect(of(bytes('N)R.'))).toContain('calls what is not a function.')
    expect(of(bytes('ctorch\nSize\n)R.'))).toContain('calls torch.Size with other arguments than torch.save does.')
    expect(of(bytes('NQ.'))).toContain('has another reference than torch.save writes for a storage.')
    expect(of(bytes('X\x01\x00\x00\x00\xff.'))).toContain('a text is not UTF-8.')
    expect(of(bytes('cabc'))).toContain('a name has no end.')
  })
  /** An archive of a pickle and of what else there is: as torch.save stores them. */
  const archive = (...contents: readonly Uint8Array[]): Uint8Array => {
    const files = contents.map((content, i) => ({ content, name: Buffer.from(i === 0 ? 'a/data.pkl' : `a/data/${i - 1}`) }))
    const parts: Buffer[] = []
    const directory: Buffer[] = []
    let at = 0
    for (const { content, name } of files) {
      const [head, entry] = [Buffer.alloc(30), Buffer.alloc(46)]
      head.writeUInt32LE(0x04034b50)
      head.writeUInt16LE(name.length, 26)
      entry.writeUInt32LE(0x02014b50)
      entry.writeUInt32LE(crcOf(content), 16)
      entry.writeUInt32LE(content.length, 20)
      entry.writeUInt32LE(content.length, 24)
      entry.writeUInt16LE(name.length, 28)
      entry.writeUInt32LE(at, 42)
      parts.push(head, name, Buffer.from(content))
      directory.push(entry, name)
      at += 30 + name.length + content.length
    }
    const end = Buffer.alloc(22)
    end.writeUInt32LE(0x06054b50)
    end.writeUInt16LE(files.length, 10)
    end.writeUInt32LE(at, 16)
    return new Uint8Array(Buffer.concat([...parts, ...directory, end]))
  }
  const value = (...parts: readonly (string | number)[]): string => said(decodeTorch(archive(bytes(...parts))))
  it('that are nested in themselves, or double at every level, are errors at once', () => {
    expect(value('K\x05.')).toBe('a file')
    expect(value(']'.repeat(60), 'a'.repeat(59), '.')).toBe('a file')
    expect(value(']'.repeat(70), 'a'.repeat(69), '.')).toContain('is nested deeper than 64 levels, or in itself.')
    expect(value(']q\x00h\x00a.')).toContain('is the same value in so many places')
    // Each tuple has the one before it twice, by the memo: 2^50 values in some hundred bytes.
    const twice = (i: number): string => `h${String.fromCharCode(i)}\x86q${String.fromCharCode(i + 1)}`
    expect(value('Nq\x00', ...Array.from({ length: 50 }, (_, i) => twice(i)), '.')).toContain('is the same value in so many places')
    expect(value('}(X\x03\x00\x00\x00a.bNX\x01\x00\x00\x00cNu.')).toBe('a file')
    expect(value('}(K\x01NX\x01\x00\x00\x001Nu.')).toContain("has the key '1' twice.")
    expect(value('}()Nu.')).toContain('has a key that is neither a string nor a number.')
    expect(value('}(X\xff\x0f\x00\x00', 'k'.repeat(0xfff), 'Nu.')).toContain('has a name of more than 1000 characters.')
  })
  it('that repeat what is stored are errors before memory is taken', () => {
    const data = 'expanded'
    const grown = changed('strides and offsets', 'data.pkl', (pickle) => {
      // The shape (2, 3) of strides (1, 0), with sizes of one byte in the place of which four bytes fit nowhere: 255 rows of 255 are refused by the storage.
      const at = Buffer.from(pickle).indexOf(data)
      const sizes = Buffer.from(pickle).indexOf(Buffer.from('K\x02K\x03\x86', 'latin1'), at)
      pickle[sizes + 1] = 255
    })
    expect(said(decodeTorch(grown))).toContain('expanded: reaches element 254 of a storage of 2.')
    // One element of a file of 4 bytes, 2^30 times.
    const pickle = (size: string): Uint8Array =>
      bytes(
        '}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n',
        `X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x01tQK\x00J${size}\x85K\x00\x85\x89NtRs.`,
      )
    const one = new Uint8Array(new Float32Array([2.5]).buffer)
    expect(said(decodeTorch(archive(pickle('\x00\x00\x00\x40'), one)))).toContain(
      'w: has 1073741824 elements, and the tensors of the file more than',
    )
    expect([...right(decodeTorch(archive(pickle('\x03\x00\x00\x00'), one))).tensors.w!.data]).toEqual([2.5, 2.5, 2.5])
    expect(said(decodeTorch(archive(pickle('\x03\x00\x00\x00'))))).toContain('w: its file data/0 is not in the archive.')
  })
})

describe('mutated files', () => {
  it('are a file or an error, never more', () => {
    const draw = random(7)
    const names = Object.keys(files)
    const whole = (n: number): number => Math.floor(draw() * n)
    let readable = 0
    for (let k = 0; k < count(1000, 20_000); k++) {
      const name = names[whole(names.length)]!
      const mutate = (data: Uint8Array): void => {
        for (let n = 0; n < 1 + draw() * 4; n++) data[whole(data.length)] = draw() < 0.5 ? whole(256) : data[whole(data.length)]!
      }
      let bytes = bytesOf(name)
      // Two of three times the pickle with a good checksum: else the checksum would be all that is tried.
      if (k % 3 === 0 || name === 'before 1.6') mutate(bytes)
      else bytes = changed(name, 'data.pkl', mutate)
      const e = decodeTorch(draw() < 0.1 ? bytes.subarray(0, whole(bytes.length)) : bytes)
      if (e._tag === 'Left') expect(e.left._tag).toBe('Decode')
      else readable++
    }
    expect(readable).toBeGreaterThan(10)
  })
})
