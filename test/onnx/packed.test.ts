/** Weights that stay as the file stores them: the same numbers as widened ones, for every type, in fewer bytes; and nothing of the file is held. */
import { describe, expect, it } from 'vitest'
import { cast, compile, cpu, evaluate, f32, fn, matmul, mul, reference, sum, type Tensor, tensor } from '../../src/index.js'
import { fromONNX, type OnnxModel, type OnnxOptions, toONNX } from '../../src/onnx/index.js'
import { narrowFormats } from '../../src/onnx/narrow.js'
import { widened, wordsOf } from '../../src/onnx/packed.js'
import { elementTypes } from '../../src/onnx/types.js'
import { ioOf, modelOf, nodeOf } from './build.js'

const read = (bytes: Uint8Array, options: OnnxOptions = {}): OnnxModel => {
  const made = fromONNX(bytes, options)
  if (made._tag === 'Left') throw new Error(JSON.stringify(made.left))
  return made.right
}
/** A weight of 40 x 40 by its raw bytes, and what is made of it. */
const of = (type: number, raw: Uint8Array, nodes: readonly object[], outputs: readonly object[] = [ioOf('y', ['n', 40])]): Uint8Array =>
  modelOf({
    input: [ioOf('x', ['n', 40])],
    initializer: [
      { name: 'w', dims: [40, 40], data_type: type, raw_data: raw },
      { name: 'scale', dims: [], data_type: 1, raw_data: new Uint8Array(Float32Array.of(0.05).buffer) },
    ],
    node: nodes as never,
    output: outputs as never,
  })
const bytesOf = (count: number): Uint8Array => Uint8Array.from({ length: count }, (_, i) => (i * 37 + (i >> 3)) & 255)
const x = tensor(
  Float32Array.from({ length: 120 }, (_, i) => Math.sin(i)),
  [3, 40],
)
const run = (m: OnnxModel, backend = cpu()): Tensor =>
  (compile(m.f as never, backend as never) as unknown as (given: object) => { readonly y: Tensor })({ params: m.params, inputs: { x } }).y
/** Quantised: y = x (scale w). */
const dequantised = [nodeOf('DequantizeLinear', ['w', 'scale'], ['d']), nodeOf('MatMul', ['x', 'd'], ['y'])]
const casted = [nodeOf('Cast', ['w'], ['d'], { to: 1 }), nodeOf('MatMul', ['x', 'd'], ['y'])]

describe('weights that stay as they are stored', () => {
  it('are all numbers of every narrow type, on both backends', () => {
    for (const type of Object.values(elementTypes).filter((t) => t.bytes <= 2 && t.name !== 'bool')) {
      const bits = 8 * type.bytes
      const count = Math.min(2 ** bits, 2 ** 16)
      // Every pattern of bits, several to a byte where they are so small, and not a whole number of words.
      const raw = bits >= 8 ? new Uint8Array(count * type.bytes) : Uint8Array.from({ length: 255 }, (_, i) => i)
      if (bits === 16) new Uint16Array(raw.buffer).forEach((_, i, all) => { all[i] = i }) // biome-ignore format: one loop
      if (bits === 8) raw.forEach((_, i) => { raw[i] = i }) // biome-ignore format: one loop
      const size = Math.floor(raw.length / type.bytes) - 1
      const view = new DataView(raw.buffer)
      const want = Array.from({ length: size }, (_, i) => type.read(view, i))
      const words = wordsOf(raw)
      for (const backend of [cpu(), reference()]) {
        const got = (compile((() => widened(words, type, [size], size)) as never, backend as never) as unknown as () => Tensor)()
        expect(got.dtype).toBe(type.dtype)
        expect(Array.from(got.data), type.name).toEqual(want)
      }
    }
    expect(Object.keys(narrowFormats).length).toBe(7)
  })
  it('give what widened weights give, and say how many bytes they take', () => {
    for (const [type, raw, nodes, bytes] of [
      [10, Uint8Array.from(bytesOf(3200), (b, i) => (i % 2 === 1 ? b & 0x3b : b)), casted, 3200],
      [16, Uint8Array.from(bytesOf(3200), (b, i) => (i % 2 === 1 ? 0x3f : b)), casted, 3200],
      [17, Uint8Array.from(bytesOf(1600), (b) => b & 0x77), casted, 1600],
      [3, bytesOf(1600), dequantised, 1600],
      [2, bytesOf(1600), dequantised, 1600],
      [22, bytesOf(800), dequantised, 800],
      [5, bytesOf(3200), casted, 3200],
    ] as const) {
      const file = of(type, raw, nodes)
      const [plain, stored] = [read(file), read(file, { weights: 'stored' })]
      for (const backend of [cpu(), reference()]) {
        const [got, want] = [run(stored, backend as never).data, run(plain, backend as never).data]
        for (let i = 0; i < want.length; i++)
          expect(Math.abs(got[i]! - want[i]!), `${type}`).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(want[i]!)))
      }
      expect(Object.keys(stored.params)).not.toContain('w')
      expect(stored.stored.w).toBe(elementTypes[type]!.name)
      expect(stored.about.weightBytes).toBe(bytes + 4)
      if (plain.params.w !== undefined) expect(plain.about.weightBytes).toBe(6404)
    }
  })
  it('are written as weights of the types that are computed, and small ones are parameters as before', () => {
    const stored = read(of(10, new Uint8Array(3200).fill(0x3c), casted), { weights: 'stored' })
    expect(fromONNX(toONNX(stored.f as never, { values: { params: stored.params } as never }).bytes)._tag).toBe('Right')
    const small = modelOf({
      input: [ioOf('x', [2])],
      initializer: [{ name: 'w', dims: [2], data_type: 10, raw_data: Uint8Array.of(0, 0x3c, 0, 0x40) }],
      node: [nodeOf('Cast', ['w'], ['d'], { to: 1 }), nodeOf('Mul', ['x', 'd'], ['y'])],
      output: [ioOf('y', [2])],
    })
    expect(read(small, { weights: 'stored' }).params.w!.toArray()).toEqual([1, 2])
  })
  it('and parameters hold nothing of the file', async () => {
    const held = (options: OnnxOptions): { readonly model: OnnxModel; readonly file: WeakRef<object> } => {
      const bytes = of(10, new Uint8Array(3200).fill(0x3c), casted)
      return { model: read(bytes, options), file: new WeakRef(bytes.buffer) }
    }
    for (const options of [{}, { weights: 'stored' }] as const) {
      const { model, file } = held(options)
      for (let k = 0; k < 5 && file.deref() !== undefined; k++) {
        await new Promise((done) => setTimeout(done, 10))
        globalThis.gc?.()
      }
      expect(file.deref()).toBeUndefined()
      expect(run(model).shape).toEqual([3, 40])
    }
  })
  it('are refused otherwise', () => {
    expect(fromONNX(of(10, new Uint8Array(3200), casted), { weights: 'packed' as never })).toMatchObject({ _tag: 'Left' })
    const f = fn({ x: f32(2, 2) }, (a) => sum(mul(2, matmul(a.x, a.x))))
    expect(evaluate(cast(f({ x: tensor([[1, 0], [0, 1]], [2, 2], 'f32') }), 'f64')).item()).toBe(4) // biome-ignore format: a matrix
  })
})
