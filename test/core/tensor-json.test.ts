/** JSON.stringify of a tensor keeps every bit; `tensor` and the codec read it back. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

const tensor = cd.tensor as unknown as (data: unknown, shape?: unknown, dtype?: unknown) => cd.Tensor
const bits = (t: cd.Tensor): Uint8Array => new Uint8Array(t.data.buffer.slice(t.data.byteOffset, t.data.byteOffset + t.data.byteLength))
const payload = new Float64Array(new BigUint64Array([0x7ff8000000000123n, 0xfff8000000000000n, 0x7ff8000000000000n]).buffer)

const cases: readonly (readonly [name: string, t: cd.Tensor])[] = [
  ['NaN, -0, infinities', tensor([Number.NaN, -0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])],
  ['extremes of f64', tensor([Number.MIN_VALUE, Number.MAX_VALUE, 0.1, 1 / 3, 2 ** 53 + 2, -5e-324])],
  ['NaN with other bits', tensor(payload)],
  ['f32', tensor([Math.fround(0.1), -0, Number.NaN, 3.4028234663852886e38, 1e-45], 'f32')],
  ['i32', tensor([-(2 ** 31), 2 ** 31 - 1, 0], 'i32')],
  ['bool', tensor([[true, false]])],
  ['a scalar', tensor(-0)],
  ['a scalar NaN', tensor(Number.NaN)],
  ['rank 3', tensor([[[1, -0], [2, Number.NaN]]])], // biome-ignore format: one row
  ['empty', tensor([])],
  ['[2, 0]', tensor([], [2, 0])],
  ['[0, 3]', tensor([], [0, 3])],
  ['[2, 0, 3]', tensor([], [2, 0, 3])],
]

describe('JSON of a tensor', () => {
  it.each(cases)('%s', (_, t) => {
    const json = JSON.parse(JSON.stringify(t))
    const back = tensor(json)
    expect([back.shape, back.dtype]).toEqual([t.shape, t.dtype])
    expect(bits(back)).toEqual(bits(t))
    const spec = (cd[t.dtype] as (...shape: readonly number[]) => cd.Spec)(...(t.shape as readonly number[]))
    const decoded = cd.codec({ w: spec } as never).decode({ w: json }) as { _tag: string; right: { w: cd.Tensor } }
    expect(decoded._tag).toBe('Right')
    expect(decoded.right.w.shape).toEqual(t.shape)
    expect(bits(decoded.right.w)).toEqual(bits(t))
  })
  it('the codec encodes the same numbers', () => {
    const c = cd.codec({ w: cd.f64(2) })
    const w = tensor([Number.NaN, -0])
    expect(JSON.stringify(c.encode({ w } as never))).toBe('{"w":["NaN","-0"]}')
    expect(bits((c.decode(JSON.parse(JSON.stringify({ w }))) as { right: { w: cd.Tensor } }).right.w)).toEqual(bits(w))
  })
  it.each([
    ['another count', { shape: [2], dtype: 'f64', data: [1] }],
    ['a number for a row', { shape: [2], dtype: 'f64', data: 1 }],
    ['a row for a number', { shape: [], dtype: 'f64', data: [1] }],
    ['entries of an empty one', { shape: [0], dtype: 'f64', data: [1] }],
    ['no dtype', { shape: [1], dtype: 'f16', data: [1] }],
    ['no shape', { shape: [-1], dtype: 'f64', data: [1] }],
    ['text', { shape: [1], dtype: 'f64', data: ['one'] }],
    ['null, as JSON has NaN', { shape: [1], dtype: 'f64', data: [null] }],
    ['a fraction in i32', { shape: [1], dtype: 'i32', data: [0.5] }],
  ])('refuses %s', (_, json) => {
    expect(() => tensor(json)).toThrow(expect.objectContaining({ _tag: 'AdException' }))
  })
})

describe('a tensor across workers', () => {
  it('is what structuredClone made of it, taken by tensor: every dtype, rank and bit', () => {
    fc.assert(
      fc.property(fc.constantFrom('f64', 'f32', 'i32', 'bool'), fc.constantFrom([], [0], [3], [2, 3], [2, 0, 1]), (dtype, shape) => {
        const n = (shape as readonly number[]).reduce((a, d) => a * d, 1)
        const special = dtype === 'i32' || dtype === 'bool' ? [1, 0, 1, 1] : [Number.NaN, -0, Number.NEGATIVE_INFINITY, 0.1]
        const t = tensor(Array.from({ length: n }, (_, i) => special[i % 4]!) as never, shape, dtype as cd.DType) as cd.Tensor
        const back = tensor(structuredClone(t))
        expect(cd.isTensor(back)).toBe(true)
        expect([back.shape, back.dtype]).toEqual([t.shape, t.dtype])
        expect(bits(back)).toEqual(bits(t))
        expect(back.data.buffer).not.toBe(t.data.buffer)
      }),
      { numRuns: 40 },
    )
  })
  it('goes by postMessage, in a tree, with its buffer transferred', async () => {
    const { port1, port2 } = new MessageChannel()
    const params = { w: tensor([1, 2, 3]), b: tensor(0.5, 'f32') }
    const got = new Promise<typeof params>((resolve) => {
      port2.onmessage = ({ data }) => resolve(data as typeof params)
    })
    port1.postMessage(params, [params.w.data.buffer as ArrayBuffer])
    const { w, b } = await got
    port1.close()
    port2.close()
    expect(cd.evaluate(cd.sum(cd.mul(tensor(w), tensor(b)))).item()).toBe(3)
    expect(() => cd.evaluate(cd.sum(params.w))).toThrow(/transferred/)
    // As it came it is no array, and the error says what takes it.
    expect(() => cd.evaluate(cd.sum(w))).toThrow(/tensor\(/)
  })
  it.each([
    ['fewer elements', { shape: [3], dtype: 'f64', data: new Float64Array(2) }],
    ['more elements', { shape: [], dtype: 'f64', data: new Float64Array(2) }],
    ['another dtype', { shape: [2], dtype: 'f32', data: new Float64Array(2) }],
    ['a dtype that is none', { shape: [2], dtype: 'f16', data: new Float64Array(2) }],
    ['an inherited dtype', { shape: [2], dtype: 'toString', data: new Float64Array(2) }],
    ['data of another kind', { shape: [2], dtype: 'f64', data: new Uint16Array(2) }],
    ['a DataView', { shape: [2], dtype: 'f64', data: new DataView(new ArrayBuffer(16)) }],
    ['a buffer', { shape: [2], dtype: 'f64', data: new ArrayBuffer(16) }],
    ['a shape that is none', { shape: [-2], dtype: 'f64', data: new Float64Array(2) }],
    ['a shape that is a text', { shape: '2', dtype: 'f64', data: new Float64Array(2) }],
    ['fields of a prototype', Object.create({ shape: [2], dtype: 'f64', data: new Float64Array(2) })],
    ['only some of them', { shape: [2], data: new Float64Array(2) }],
    ['a field that throws', { shape: [2], dtype: 'f64', get data() { throw new Error('no') } }], // biome-ignore format: one row
  ])('is refused with %s', (_, given) => {
    expect(() => tensor(given as never)).toThrow(expect.objectContaining({ _tag: 'AdException' }))
  })
})
