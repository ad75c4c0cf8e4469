// Safetensors: files that Python's library made and the same bytes made here, round trips, templates, and bytes that someone made up.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AdError, explain, f32, f64, isAdException, NoTangent, registerTree, type Tensor, tensor } from '../../src/index.js'
import { type Checkpoint, decodeCheckpoint, decodeSafetensors, encodeCheckpoint, encodeSafetensors } from '../../src/train/index.js'
import { count } from '../depth.js'

const fixture = (name: string): Uint8Array => readFileSync(new URL(`../golden/safetensors/${name}.safetensors`, import.meta.url))
const right = <A>(e: { readonly _tag: 'Left'; readonly left: AdError } | { readonly _tag: 'Right'; readonly right: A }): A => {
  if (e._tag === 'Left') throw new Error(explain(e.left))
  return e.right
}
const errorsOf = (bytes: Uint8Array | ArrayBuffer, options?: { readonly like: unknown }): readonly string[] => {
  const e = options === undefined ? decodeSafetensors(bytes) : decodeSafetensors(bytes, options)
  if (e._tag === 'Right') throw new Error('no error')
  return e.left._tag === 'Decode' ? e.left.errors.map(({ path, reason }) => `${path}: ${reason}`) : [explain(e.left)]
}
const messageOf = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return e.message
    throw e
  }
  throw new Error('no error')
}
/** A file with this header, its length as it is. */
const file = (header: string | object, data: number | Uint8Array = 0): Uint8Array => {
  const text = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header))
  const tail = typeof data === 'number' ? new Uint8Array(data) : data
  const bytes = new Uint8Array(8 + text.length + tail.length)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true)
  bytes.set(text, 8)
  bytes.set(tail, 8 + text.length)
  return bytes
}

describe('files of the Python library', () => {
  it('of PyTorch are read: every dtype, rank 0, empty axes, metadata', () => {
    const { tensors, metadata } = right(decodeSafetensors(fixture('dtypes')))
    expect(metadata).toEqual({ made: 'by Python', ünï: 'cödé' })
    const found = Object.fromEntries(Object.entries(tensors).map(([name, t]) => [name, [t.dtype, t.shape, [...t.data]]]))
    expect(found).toEqual({
      f64: ['f64', [2, 2], [1.5, -0, Number.POSITIVE_INFINITY, 1e-310]],
      f32: ['f32', [3], [3.25, Number.NEGATIVE_INFINITY, Math.fround(1e-40)]],
      i32: ['i32', [2], [-(2 ** 31), 2 ** 31 - 1]],
      bool: ['bool', [3], [1, 0, 1]],
      f16: ['f32', [6], [1, -2.5, 65504, 2 ** -24, Number.POSITIVE_INFINITY, 0.333251953125]],
      bf16: ['f32', [4], [1, -3.140625, 226 * 2 ** 120, Math.fround(1 * 2 ** -133)]],
      u8: ['i32', [2], [0, 255]],
      i8: ['i32', [2], [-128, 127]],
      i16: ['i32', [2], [-32768, 32767]],
      i64: ['i32', [2], [-(2 ** 31), 2 ** 31 - 1]],
      scalar: ['f32', [], [7]],
      empty: ['f32', [2, 0, 3], []],
      'layer.0.w': ['f32', [2, 3], [0, 1, 2, 3, 4, 5]],
      'layer.1.w': ['f32', [3, 2], [0, 0.125, 0.25, 0.375, 0.5, 0.625]],
    })
  })
  it('with an integer that no i32 holds are refused', () => {
    expect(errorsOf(fixture('wide'))).toEqual(['big: entry 1 is 2147483648, which an i32 does not hold.'])
  })
  const layers = {
    b: tensor([true, false]),
    layer: [
      { w: tensor([[0, 1, 2], [3, 4, 5]], [2, 3], 'f32') }, // biome-ignore format: rows
      { w: tensor([[0.5], [-0.25]]), b: tensor([1, -2, 3], [3], 'i32') },
    ],
    s: 2.5,
    ö: tensor([], [0, 4], 'f32'),
  } as const
  it('are byte for byte what is written here of the same tensors', () => {
    expect(Buffer.from(encodeSafetensors(layers, { model: 'two layers' })).equals(fixture('layers'))).toBe(true)
  })
  it('are read onto a tree', () => {
    const { tensors } = right(decodeSafetensors(fixture('layers'), { like: layers }))
    const two: 2 = tensors.layer[0].w.shape[0]
    const s: number = tensors.s
    expect([two, s, tensors.layer[1].b.toArray(), tensors.b.toArray()]).toEqual([2, 2.5, [1, -2, 3], [true, false]])
  })
})

describe('a round trip', () => {
  const entry = fc.oneof(fc.double(), fc.constantFrom(-0, Number.NaN, 1e-310, Number.NEGATIVE_INFINITY))
  const leaf = fc
    .tuple(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }), fc.constantFrom('f64', 'f32', 'i32', 'bool'), fc.array(entry, { minLength: 27, maxLength: 27 }))
    .map(([shape, dtype, xs]) => tensor(xs.slice(0, shape.reduce((n, d) => n * d, 1)).map((x) => (dtype === 'i32' ? (Number.isFinite(x) ? x | 0 : 7) : dtype === 'bool' ? Number(x > 0) : x)), shape, dtype as 'f64')) // biome-ignore format: one tensor
  const key = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'a b', '"', '\\', '\u0000', '0', '😀', '\uffff'),
  )
  const tree = fc.letrec((tie) => ({
    node: fc.oneof({ maxDepth: 3 }, leaf, fc.dictionary(key, tie('node'), { maxKeys: 4 }), fc.array(leaf, { minLength: 1, maxLength: 3 })),
  })).node
  const same = (a: unknown, b: unknown): void => {
    if (typeof a !== 'object') {
      expect(b).toBe(a)
      return
    }
    if ((a as Tensor)._tag === 'Tensor') {
      const [x, y] = [a as Tensor, b as Tensor]
      expect([y.shape, y.dtype]).toEqual([x.shape, x.dtype])
      expect(
        Buffer.from(y.data.buffer, y.data.byteOffset, y.data.byteLength).equals(
          Buffer.from(x.data.buffer, x.data.byteOffset, x.data.byteLength),
        ),
      ).toBe(true)
      return
    }
    expect(Object.keys(b as object).sort()).toEqual(Object.keys(a as object).sort())
    for (const [k, x] of Object.entries(a as object)) same(x, Object.getOwnPropertyDescriptor(b, k)!.value)
  }
  it('gives every tree back to the bit, and the same bytes again', () => {
    let kept = 0
    fc.assert(
      fc.property(tree, fc.nat(7), (x, offset) => {
        let bytes: Uint8Array
        try {
          bytes = encodeSafetensors(x)
        } catch (e) {
          if (isAdException(e) && /have one name|half of a surrogate|__metadata__/.test(e.message)) return
          throw e
        }
        kept++
        // Bytes that begin anywhere in their buffer are read as well.
        const moved = new Uint8Array(bytes.length + offset).subarray(offset)
        moved.set(bytes)
        const back = right(decodeSafetensors(moved, { like: x })).tensors
        same(x, back)
        expect(encodeSafetensors(right(decodeSafetensors(bytes)).tensors)).toEqual(bytes)
      }),
      { numRuns: count(60, 300) },
    )
    expect(kept).toBeGreaterThan(count(40, 200))
  })
  it('of an empty tree, of a tensor alone, of keys with dots', () => {
    expect(right(decodeSafetensors(encodeSafetensors({}))).tensors).toEqual({})
    expect(right(decodeSafetensors(encodeSafetensors(tensor([1, 2])), { like: f64('n') })).tensors.toArray()).toEqual([1, 2])
    const dotted = { 'a.b': tensor([1]), 'a[0]': tensor([2]) }
    expect(Object.keys(right(decodeSafetensors(encodeSafetensors(dotted))).tensors).sort()).toEqual(['a.b', 'a[0]'])
    same(dotted, right(decodeSafetensors(encodeSafetensors(dotted), { like: dotted })).tensors)
  })
  it('reads leaves in the order of the tree, also under keys that JavaScript walks first', () => {
    const x = { b: tensor([1]), a: tensor([2]), 10: tensor([3]), 9: [tensor([4])], '': 5 }
    same(x, right(decodeSafetensors(encodeSafetensors(x), { like: { ...x, '': 0 } })).tensors)
  })
  it('aligns the data: a header of a multiple of 8 bytes, filled up with spaces', () => {
    for (const name of ['a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh']) {
      const bytes = encodeSafetensors({ [name]: tensor([1]) })
      const length = Number(new DataView(bytes.buffer).getBigUint64(0, true))
      expect(length % 8).toBe(0)
      expect(new TextDecoder().decode(bytes.subarray(8, 8 + length))).toMatch(/^\{.*\} {0,7}$/)
    }
  })
  it('gives leaves back as what they are in the template', () => {
    const state = { t: 3, on: true, rows: [[1, 2], [3, 4]], raw: Float32Array.of(1, 2), none: NoTangent, p: [tensor([1])] as const } // biome-ignore format: one row
    const back = right(decodeSafetensors(encodeSafetensors(state), { like: state })).tensors
    const t: number = back.t
    const raw: Float32Array = back.raw
    const on: boolean = back.on
    expect({ ...back, p: back.p[0].toArray() }).toEqual({ ...state, p: [1], t, raw, on })
  })
  it('keeps metadata', () => {
    expect(right(decodeSafetensors(encodeSafetensors({}, { a: '1', __proto: 'x', 'ü"': '\n' }))).metadata).toEqual({
      a: '1',
      __proto: 'x',
      'ü"': '\n',
    })
  })
})

describe('what is not written', () => {
  it.each<readonly [string, () => unknown, RegExp]>([
    [
      'two leaves of one name',
      () => encodeSafetensors({ a: { b: [tensor([1])] }, 'a.b.0': 1 }),
      /tree\["a"\]\["b"\]\[0\] and tree\["a\.b\.0"\] have one name, a\.b\.0/,
    ],
    ['a tensor of the name __metadata__', () => encodeSafetensors({ __metadata__: tensor([1]) }), /__metadata__/],
    ['a leaf that is a string', () => encodeSafetensors({ a: { w: 'x' } as never }), /a\.w: 'x' is not a number/],
    ['a declared input', () => encodeSafetensors({ w: f64(2) }), /encodeSafetensors: w: /],
    ['a ragged array', () => encodeSafetensors({ w: [[1], [2, 3]] }), /encodeSafetensors: w: ragged/],
    ['metadata of numbers', () => encodeSafetensors({}, { a: 1 } as never), /metadata has other values than strings/],
    ['metadata that is a string', () => encodeSafetensors({}, 'a' as never), /the metadata is 'a'/],
    ['half of a surrogate pair', () => encodeSafetensors({ '\ud800': tensor([1]) }), /half of a surrogate pair/],
    ['a checkpoint without a position', () => encodeCheckpoint({ state: 1 } as unknown as Checkpoint<number>), /the position is not/],
    [
      'a checkpoint with a position of fractions',
      () => encodeCheckpoint({ state: 1, position: { epoch: 0.5, step: 0 } }),
      /the position is not/,
    ],
    ['no checkpoint', () => encodeCheckpoint(7 as never), /7 is not a checkpoint/],
  ])('%s', (_, f, message) => {
    // biome-ignore format: a table
    expect(messageOf(f)).toMatch(message)
  })
  it('a backslash before u is no surrogate', () => {
    const x = { '\\ud800': tensor([1]) }
    expect(Object.keys(right(decodeSafetensors(encodeSafetensors(x))).tensors)).toEqual(['\\ud800'])
  })
})

describe('a template that the file does not fit', () => {
  it('is an error that names every tensor that is missing, extra, of another shape or dtype', () => {
    const bytes = encodeSafetensors({ layer: [{ w: tensor([1, 2]), b: tensor([1]) }, { w: tensor([1], [1], 'f32') }], old: tensor([1]) })
    expect(
      errorsOf(bytes, {
        like: {
          layer: [
            { w: f64(3), b: f64('n') },
            { w: f64(1), b: f32(2, 3) },
          ],
        },
      }),
    ).toEqual([
      'layer.0.w: has shape [2], not [3].',
      'layer.1.b: is missing: f32 [2, 3] is wanted.',
      'layer.1.w: is f32, not f64.',
      'old: is in the file, and not in the tree it is read onto.',
    ])
  })
  it('of leaves that are none is a BadInput', () => {
    expect(errorsOf(encodeSafetensors({}), { like: { w: 'x' } })[0]).toMatch(/w: 'x' is not a number/)
    expect(decodeSafetensors(encodeSafetensors({}), { likes: 1 } as never)).toMatchObject({
      _tag: 'Left',
      left: { _tag: 'BadInput', reason: 'there is no option likes.' },
    })
  })
})

const w = { dtype: 'F32', shape: [2], data_offsets: [0, 8] }
const huge = (n: bigint): Uint8Array => {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setBigUint64(0, n, true)
  return bytes
}

describe('bytes that someone made up', () => {
  it.each<readonly [string, Uint8Array | ArrayBuffer, string]>([
    ['nothing', new Uint8Array(), 'header: 0 bytes are not a safetensors file: the first 8 say how long its header is.'],
    ['7 bytes', new ArrayBuffer(7), 'header: 7 bytes are not a safetensors file: the first 8 say how long its header is.'],
    ['a header longer than the file', huge(9n), 'header: the header has 9 bytes, of which 8 are there: the file was cut off.'],
    [
      'a header of 2^64 - 1 bytes',
      huge(2n ** 64n - 1n),
      'header: the header would have 18446744073709551615 bytes, more than 100000000: this is not a safetensors file.',
    ],
    ['no header', huge(0n), 'header: the header does not begin with {.'],
    ['an array', file('[]'), 'header: the header does not begin with {.'],
    ['a space first', file(' {}'), 'header: the header does not begin with {.'],
    ['a byte order mark', file('\ufeff{}'), 'header: the header does not begin with {.'],
    [
      'bytes that are not UTF-8',
      file(new TextDecoder('latin1').decode(Uint8Array.of(0x7b, 0x7d))).map((x, i) => (i === 9 ? 0xff : x)),
      'header: the header is not UTF-8.',
    ],
    [
      'a key twice',
      file('{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\\u0077":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4),
      "header: the header has the key 'w' twice.",
    ],
    [
      'a key of an entry twice',
      file('{"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4),
      "header: the header has the key 'dtype' twice.",
    ],
    ['metadata twice', file('{"__metadata__":{},"__metadata__":{}}'), "header: the header has the key '__metadata__' twice."],
    ['metadata of numbers', file({ __metadata__: { a: 1 } }), '__metadata__: is not a record of strings.'],
    ['an entry that is a number', file({ w: 1 }), 'w: is 1, not { dtype, shape, data_offsets }.'],
    ['an entry that is null', file({ w: null }), 'w: is null, not { dtype, shape, data_offsets }.'],
    [
      'an unknown dtype',
      file({ w: { ...w, dtype: 'F8_E4M3' } }, 8),
      "w: its dtype is 'F8_E4M3'; what can be read: F64, F32, I32, BOOL, F16, BF16, U8, I8, U16, I16, U32, I64, U64.",
    ],
    [
      'a dtype of Object',
      file({ w: { ...w, dtype: 'toString' } }, 8),
      "w: its dtype is 'toString'; what can be read: F64, F32, I32, BOOL, F16, BF16, U8, I8, U16, I16, U32, I64, U64.",
    ],
    [
      'no dtype but an inherited one',
      file('{"w":{"__proto__":{"dtype":"F32"},"shape":[2],"data_offsets":[0,8]}}', 8),
      'w: its dtype is undefined; what can be read: F64, F32, I32, BOOL, F16, BF16, U8, I8, U16, I16, U32, I64, U64.',
    ],
    ['a negative size', file({ w: { ...w, shape: [-2] } }, 8), 'w: its shape is not an array of sizes.'],
    ['a size of 1.5', file({ w: { ...w, shape: [1.5] } }, 8), 'w: its shape is not an array of sizes.'],
    [
      'sizes beyond any memory',
      file({ w: { ...w, shape: [2 ** 40, 2 ** 40] } }, 8),
      'w: F32 [1099511627776, 1099511627776] needs 4.835703278458517e+24 bytes, its data_offsets have 8.',
    ],
    ['one offset', file({ w: { ...w, data_offsets: [0] } }, 8), 'w: its data_offsets are not [begin, end].'],
    ['offsets of 1e300', file({ w: { ...w, data_offsets: [0, 1e300] } }, 8), 'w: its data_offsets are not [begin, end].'],
    ['offsets backwards', file({ w: { ...w, data_offsets: [8, 0] } }, 8), 'w: its data_offsets [8, 0] are not within the 8 bytes of data.'],
    [
      'offsets beyond the file',
      file({ w: { ...w, data_offsets: [0, 8] } }, 7),
      'w: its data_offsets [0, 8] are not within the 7 bytes of data.',
    ],
    ['offsets of another size', file({ w: { ...w, shape: [3] } }, 8), 'w: F32 [3] needs 12 bytes, its data_offsets have 8.'],
    ['tensors that overlap', file({ a: w, b: { ...w, data_offsets: [4, 12] } }, 12), 'b: overlaps a: it begins at byte 4, before 8.'],
    ['two tensors of the same bytes', file({ a: w, b: w }, 8), 'b: overlaps a: it begins at byte 0, before 8.'],
    ['a hole', file({ w: { ...w, data_offsets: [4, 12] } }, 12), 'w: begins at byte 4; bytes 0 to 4 belong to no tensor.'],
    ['bytes at the end', file({ w }, 9), 'data: 1 bytes after the last tensor belong to none.'],
    ['data without a tensor', file('{}', 1), 'data: 1 bytes after the last tensor belong to none.'],
    [
      'a boolean of 2',
      file({ b: { dtype: 'BOOL', shape: [2], data_offsets: [0, 2] } }, Uint8Array.of(1, 2)),
      'b: entry 1 is 2, which is not a boolean.',
    ],
    ['an empty axis beside 2^53 - 1', file({ w: { dtype: 'F32', shape: [0, Number.MAX_SAFE_INTEGER, 3], data_offsets: [0, 0] } }), ''],
  ])('%s', (_, bytes, message) => {
    // biome-ignore format: a table
    if (message === '') expect(['Left', 'Right']).toContain(decodeSafetensors(bytes)._tag)
    else expect(errorsOf(bytes)).toEqual([message])
  })
  it('are refused where the JSON is none', () => {
    expect(errorsOf(file('{"w":'))[0]).toMatch(/^header: the header is not JSON: /)
    expect(errorsOf(file('{} x'))[0]).toMatch(/^header: the header is not JSON: /)
    expect(errorsOf(file('{"w'))[0]).toMatch(/^header: the header is not JSON: /)
    expect(errorsOf(file('{"\\x":1}'))[0]).toMatch(/^header: the header is not JSON: /)
  })
  it('may have strings of megabytes, nesting and lists without end: no stack runs out', () => {
    const long = 'k'.repeat(2e7)
    expect(right(decodeSafetensors(file(`{"__metadata__":{"${long}":"${'\\\\n'.repeat(5e6)}"}}`))).metadata[long]?.length).toBe(1e7)
    expect(errorsOf(file(`{"__metadata__":{"${long}":"","${long}":""}}`))[0]).toMatch(/^header: the header has the key 'kkk.*' twice\.$/)
    expect(errorsOf(file(`{"w":${'['.repeat(2e7)}${']'.repeat(2e7)}}`))).toEqual(['header: the header is nested deeper than 32 levels.'])
    expect(errorsOf(file(`{"w":{"dtype":"F32","data_offsets":[0,0],"shape":[${'1,'.repeat(3e5)}1]}}`))[0]).toMatch(
      /^w: F32 \[1, 1, .*needs 4 bytes/,
    )
    expect(errorsOf(file(`{"a":"\\"","a\\\\":1,"a\\\\":2}`))[0]).toMatch(/twice/)
  })
  it('with many errors show the first 20', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`w${i}`, 1]))
    expect(errorsOf(file(many)).length).toBe(21)
    expect(errorsOf(file(many)).at(-1)).toBe('...: and 10 more.')
  })
  it('with the key __proto__ give a tensor of that name, and write no prototype', () => {
    const { tensors, metadata } = right(
      decodeSafetensors(file('{"__metadata__":{"__proto__":"x"},"__proto__":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', 8)),
    )
    expect(Object.keys(tensors)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(tensors)).toBe(Object.prototype)
    expect(Object.keys(metadata)).toEqual(['__proto__'])
    expect(({} as { dtype?: unknown }).dtype).toBeUndefined()
  })
  it('may be padded by spaces, and have fields that are not known', () => {
    expect(
      right(decodeSafetensors(file('{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"note":[{}]}}    ', 8))).tensors.w?.toArray(),
    ).toEqual([0, 0])
  })

  const samples = [
    fixture('dtypes'),
    fixture('layers'),
    fixture('wide'),
    encodeSafetensors({}),
    encodeCheckpoint({ state: { w: tensor([1]) }, position: { epoch: 0, step: 1 } }),
  ]
  const known = new Set(['Decode', 'BadInput'])
  const harmless = (bytes: Uint8Array): void => {
    for (const e of [
      decodeSafetensors(bytes),
      decodeSafetensors(bytes, { like: { w: f64(1) } }),
      decodeCheckpoint(bytes, { like: { w: f64(1) } }),
    ])
      if (e._tag === 'Left') expect(known).toContain(e.left._tag)
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(clean)
  }
  const clean = Object.getOwnPropertyNames(Object.prototype)
  it('fuzzed, never throw: any bytes; changed, cut and repeated files; any JSON as a header', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), harmless), { numRuns: count(100, 500) })
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }),
        (sample, changes) => {
          const bytes = Uint8Array.from(sample)
          for (const [at, x] of changes) bytes[at % bytes.length] = x
          harmless(bytes)
        },
      ),
      { numRuns: count(600, 3000) },
    )
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.nat(), fc.nat(), (sample, from, to) => {
        const cut = [from % sample.length, to % sample.length].sort((a, b) => a - b)
        harmless(sample.subarray(0, cut[1]))
        harmless(Uint8Array.from([...sample.subarray(0, cut[1]), ...sample.subarray(cut[0])]))
      }),
      { numRuns: count(100, 500) },
    )
    const strange = fc.oneof(
      fc.constantFrom('F32', 'I64', 'BOOL', '__proto__', null, -1, 2 ** 53, 1e308, 0.5),
      fc.integer({ min: 0, max: 20 }),
      fc.jsonValue(),
    )
    const list = fc.oneof(fc.array(strange, { maxLength: 3 }), strange)
    const entry = fc.record({ dtype: strange, shape: list, data_offsets: list }, { requiredKeys: [] })
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '__metadata__', 'w')), fc.oneof(entry, fc.jsonValue()), {
          maxKeys: 4,
        }),
        fc.nat(40),
        (header, data) => {
          harmless(file(header, data))
        },
      ),
      { numRuns: count(400, 2000) },
    )
  })
})

describe('a checkpoint', () => {
  it('comes back, and no other file is one', () => {
    const state = { w: tensor([[1, 2]], [1, 2], 'f32'), t: 4 }
    const bytes = encodeCheckpoint({ state, position: { epoch: 3, step: 17 } })
    const back = right(decodeCheckpoint(bytes, { like: state }))
    expect([back.position, back.state.w.toArray(), back.state.t]).toEqual([{ epoch: 3, step: 17 }, [[1, 2]], 4])
    const left = (b: Uint8Array) => decodeCheckpoint(b, { like: state })
    expect(left(encodeSafetensors(state))).toMatchObject({
      _tag: 'Left',
      left: { errors: [{ path: '__metadata__.codual.position', reason: 'is missing: this is not a checkpoint.' }] },
    })
    for (const text of ['{', '[]', '{"epoch":-1,"step":0}', '{"epoch":1}', 'null'])
      expect(left(encodeSafetensors(state, { 'codual.position': text }))).toMatchObject({
        _tag: 'Left',
        left: { errors: [{ reason: 'is no position.' }] },
      })
    expect(decodeCheckpoint(bytes, {} as never)).toMatchObject({ _tag: 'Left', left: { _tag: 'BadInput' } })
    expect(decodeCheckpoint(7 as never, { like: state })).toMatchObject({ _tag: 'Left', left: { _tag: 'BadInput' } })
  })
})

describe('what is no array', () => {
  class Pair {
    constructor(
      readonly a: unknown,
      readonly b: unknown,
    ) {}
  }
  registerTree(Pair, { toTree: ({ a, b }) => ({ a, b }), fromTree: ({ a, b }) => new Pair(a, b) })
  it('nothing is nothing in a file, and comes back from the template', () => {
    const tree = { w: tensor([1, 2]), b: null, more: [{ c: undefined, d: tensor(3) }] }
    const bytes = encodeSafetensors(tree)
    expect(Object.keys(right(decodeSafetensors(bytes)).tensors)).toEqual(['more.0.d', 'w'])
    const { tensors } = right(decodeSafetensors(bytes, { like: tree }))
    expect([tensors.b, tensors.more[0]!.c, tensors.w.toArray(), tensors.more[0]!.d.item()]).toEqual([null, undefined, [1, 2], 3])
  })
  it('a text or a function is not left out in silence', () => {
    expect(messageOf(() => encodeSafetensors({ w: tensor([1]), act: Math.sin } as never))).toMatch(/act: a function is not a number/)
  })
  it('objects of registered classes are read by their parts', () => {
    const bytes = encodeSafetensors({ p: new Pair(tensor([1]), { c: tensor([2]) }) } as never)
    expect(Object.keys(right(decodeSafetensors(bytes)).tensors)).toEqual(['p.a', 'p.b.c'])
  })
})
