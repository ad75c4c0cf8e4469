// Models that are read and written again as they were: with the names and the element types of their files, ONNX Runtime gives what the authors of ONNX expect.
import * as ort from 'onnxruntime-web'
import { describe, expect, it } from 'vitest'
import { explain, f32, fn, i32, isAdException, mul, type Tensor, tensor } from '../../../src/index.js'
import { fromONNX, type OnnxFile, toONNX } from '../../../src/onnx/index.js'
import { bitsOf, narrowFormats, narrowOf } from '../../../src/onnx/narrow.js'
import { deep, some } from '../../depth.js'
import { type Case, casesOf } from '../cases.js'
import { errorOf, LEVELS, type Prepared, prepared, type Values } from '../outcome.js'
import './runtime.js'

/** Numbers as ONNX Runtime takes them, by element type, and back. */
const arrays: Readonly<Record<string, readonly [name: string, make: (x: readonly number[]) => unknown]>> = {
  float: ['float32', (x) => Float32Array.from(x)],
  double: ['float64', (x) => Float64Array.from(x)],
  float16: ['float16', (x) => Uint16Array.from(x, (v) => bitsOf(narrowFormats.float16!, v))],
  bool: ['bool', (x) => Uint8Array.from(x)],
  int8: ['int8', (x) => Int8Array.from(x)],
  uint8: ['uint8', (x) => Uint8Array.from(x)],
  int16: ['int16', (x) => Int16Array.from(x)],
  uint16: ['uint16', (x) => Uint16Array.from(x)],
  int32: ['int32', (x) => Int32Array.from(x)],
  uint32: ['uint32', (x) => Uint32Array.from(x)],
  int64: ['int64', (x) => BigInt64Array.from(x, BigInt)],
  uint64: ['uint64', (x) => BigUint64Array.from(x, BigInt)],
}
const numbersOf = (type: string, data: ArrayLike<number | bigint>): readonly number[] =>
  Array.from(data as ArrayLike<number>, (x) => (type === 'float16' ? narrowOf(narrowFormats.float16!, x) : Number(x)))

const run = async (file: OnnxFile, given: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>> => {
  const session = await ort.InferenceSession.create(file.bytes, { graphOptimizationLevel: 'basic', logSeverityLevel: 4 })
  try {
    const feeds = Object.fromEntries(
      Object.entries(file.inputs).map(([name, { type }]) => {
        const { data, shape } = given[name]!
        const [kind, make] = arrays[type]!
        return [name, new ort.Tensor(kind as 'float32', make(Array.from(data)) as Float32Array, shape as number[])]
      }),
    )
    const out = await session.run(feeds)
    return Object.fromEntries(
      Object.entries(file.outputs).map(([name, { type, dtype }]) => {
        const { data, dims } = out[name]!
        return [name, tensor(numbersOf(type, data as never) as number[], dims as number[], dtype) as unknown as Tensor]
      }),
    )
  } finally {
    await session.release()
  }
}

/** Cases whose numbers are not what ONNX defines (test/onnx/nodes.test.ts). */
const otherMeaning = /^node\/(resize_downsample_scales_(cubic|linear)_align_corners|roialign_mode_max)$/
/** A case as a file again: or why it is none. */
const writtenAgain = (c: Case): (Prepared & { readonly file: OnnxFile }) | string => {
  let last = ''
  for (const level of LEVELS)
    try {
      const p = prepared(c, 1e-3, level)
      if ('tag' in p) {
        last = p.tag
        continue
      }
      if (Object.values(p.given.inputs).some((v) => v === null || Array.isArray(v))) return 'a sequence'
      const sizes = Object.fromEntries(
        Object.entries(p.model.inputs).flatMap(([name, { shape }]) =>
          shape!.flatMap((d, i) => (typeof d === 'string' ? [[d, (p.given.inputs[name] as Tensor).shape[i]!] as const] : [])),
        ),
      )
      return { ...p, file: toONNX(p.f as never, { ...p.model.written, values: { params: p.model.params }, sizes, opset: 20 }) }
    } catch (e) {
      last = errorOf(e).tag
    }
  return last
}

describe('cases of ONNX, read and written again', { timeout: 600_000 }, () => {
  it('give what is expected, by names and types of their own', async () => {
    const wrong: string[] = []
    const refused: string[] = []
    let right = 0
    for (const c of some(casesOf('1.23').cases, 60)) {
      if (otherMeaning.test(c.name)) continue
      const again = writtenAgain(c)
      if (typeof again === 'string') continue
      const { file, model } = again
      // A sequence has no tensor of its own to be written.
      if (Object.values(model.outputs).some(({ type }) => type.includes(' of '))) continue
      for (const [name, { type }] of Object.entries(model.outputs))
        if (file.outputs[name] === undefined || (Object.hasOwn(arrays, type) && file.outputs[name].type !== type)) wrong.push(`${c.name}: ${name} is ${file.outputs[name]?.type}, not ${type}`) // biome-ignore format: one line
      if ([...Object.values(file.inputs), ...Object.values(file.outputs)].some(({ type }) => !Object.hasOwn(arrays, type))) continue
      let out: Readonly<Record<string, Values>>
      try {
        out = await run(file, again.given.inputs as Readonly<Record<string, Tensor>>)
      } catch (e) {
        refused.push(`${c.name}: ${String(e).slice(0, 200)}`)
        continue
      }
      const found = again.compared(out)
      if (found.tag === 'passed') right++
      else wrong.push(`${c.name}: ${'reason' in found ? found.reason : ''}`)
    }
    console.log(`${right} cases are right, ONNX Runtime refuses ${refused.length}`)
    expect(wrong).toEqual([])
    expect(refused).toEqual([])
    expect(right).toBeGreaterThan(deep ? 1690 : 40)
  })
})

describe('types', () => {
  const w = tensor([[1.5, -2, 1 / 3]], [1, 3], 'f32')
  const model = fn({ params: { w: f32(1, 3) }, x: f32('n', 1), k: i32('n', 1) }, ({ params, x, k }) => ({
    y: mul(x, params.w),
    twice: mul(k, 2),
  }))
  it('are those of inputs, outputs and weights, with named axes', async () => {
    const file = toONNX(model, {
      types: { 'params.w': 'float16', x: 'double', k: 'int64', y: 'float16', twice: 'uint8' },
      names: { 'params.w': 'weight' },
      values: { params: { w } },
    })
    expect(file.inputs).toEqual({
      x: { type: 'double', dtype: 'f64', shape: ['n', 1] },
      k: { type: 'int64', dtype: 'i32', shape: ['n', 1] },
    })
    expect(file.outputs.y).toEqual({ type: 'float16', dtype: 'f32', shape: ['n', 3] })
    const out = await run(file, { x: tensor([[2], [1]], [2, 1], 'f64'), k: tensor([[3], [4]], [2, 1], 'i32') } as never)
    expect(out.twice!.toArray()).toEqual([[6], [8]])
    expect(out.y!.toArray()).toEqual([
      [3, -4, 0.66650390625],
      [1.5, -2, 0.333251953125],
    ])
    const back = fromONNX(file.bytes)
    expect(back).toMatchObject({
      _tag: 'Right',
      right: { stored: { weight: 'float16' }, inputs: { k: { type: 'int64' } }, outputs: { twice: { type: 'uint8' } } },
    })
  })
  it('are refused where there is no such place, no such type, or the numbers are of another kind', () => {
    const said = (types: object): string => {
      try {
        toONNX(model, { types: types as never, values: { params: { w } } })
      } catch (e) {
        return isAdException(e) ? explain(e.error) : String(e)
      }
      return 'nothing'
    }
    expect(said({ z: 'float' })).toContain('types: there is no input or output "z"')
    expect(said({ x: 'half' })).toContain("types: x is 'half'")
    expect(said({ x: 'int8' })).toContain('types: x is float, which has floats, and int8 has integers')
    expect(said({ twice: 'bool' })).toContain('types: twice is int32, which has integers, and bool has truths')
    const whole = fn({ k: i32(2) }, ({ k }) => mul(k, 2))
    expect(() => toONNX(whole, { types: { k: 'int8' }, values: { k: [1, 300] } })).toThrow(/k has 300, which int8 does not hold/)
  })
})

describe('floats of few bits', () => {
  it('are their bits and back, and the nearest of any number', () => {
    for (const [name, f] of Object.entries(narrowFormats)) {
      const all = Array.from({ length: 2 ** (1 + f.exponent + f.fraction) }, (_, bits) => narrowOf(f, bits))
      for (const x of all) expect(narrowOf(f, bitsOf(f, x)), name).toBe(x)
      const sorted = all.filter(Number.isFinite).sort((a, b) => a - b)
      for (let k = 0; k < (all.length > 256 ? 20 : 300); k++) {
        const x = Math.sin(k) * 2 ** ((k % 40) - 20)
        const near = narrowOf(f, bitsOf(f, x))
        const least = sorted.reduce((best, y) => Math.min(best, Math.abs(y - x)), Number.POSITIVE_INFINITY)
        expect(Number.isFinite(near) ? Math.abs(near - x) : least, `${name} of ${x}`).toBe(least)
      }
    }
  })
})
