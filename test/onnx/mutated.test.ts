// Bytes from anyone: models with mistakes in them are one error with a place, or another model; never a crash, a hang, or more memory than the file has.
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { type AdError, explain, isAdException, toProgram } from '../../src/index.js'
import { fromONNX } from '../../src/onnx/index.js'
import { count } from '../depth.js'
import { encode, ioOf, modelOf, nodeOf, tensorOf } from './build.js'
import { casesOf } from './cases.js'

const models = casesOf('1.12').cases.filter(({ name }) =>
  /^node\/(lstm_with_peepholes|loop11|if|conv_with_strides_padding|resize_upsample_sizes_cubic|qlinearconv|sce_mean_weight_ii|einsum_batch_matmul|scan9_sum|gather_1|celu_expanded|batchnorm_example|range_int32_type_negative_delta_expanded|slice|constantofshape_int_zeros|pad)$|^pytorch-converted\/(Linear|Conv1d_stride|Embedding|PReLU_1d)$|^simple\/(shrink|single_relu_model|expand_shape_model1)$/.test(
    name,
  ),
)

type Draw = () => number
/** One mistake: bits, bytes, lengths, parts that are missing, doubled or exchanged. */
const mutated = (bytes: Uint8Array, draw: Draw): Uint8Array => {
  const place = (): number => Math.floor(draw() * bytes.length)
  const out = bytes.slice()
  switch (Math.floor(draw() * 7)) {
    case 0:
      out[place()]! ^= 1 << Math.floor(draw() * 8)
      return out
    case 1:
      out[place()] = Math.floor(draw() * 256)
      return out
    case 2:
      return out.subarray(0, place())
    case 3: {
      const [from, to] = [place(), place()].sort((a, b) => a - b) as [number, number]
      return Uint8Array.from([...bytes.subarray(0, to), ...bytes.subarray(from)])
    }
    case 4: {
      const [from, to] = [place(), place()].sort((a, b) => a - b) as [number, number]
      return Uint8Array.from([...bytes.subarray(0, from), ...bytes.subarray(to)])
    }
    case 5: {
      // A number as large as a varint can be.
      const at = place()
      return Uint8Array.from([...bytes.subarray(0, at), 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, ...bytes.subarray(at)])
    }
    default: {
      const [from, to] = [place(), place()]
      for (let i = 0; i < 8; i++) out[(to + i) % bytes.length] = bytes[(from + i) % bytes.length]!
      return out
    }
  }
}
/** What becomes of bytes: an error as data, or a function, which is traced at small sizes. */
const outcomeOf = (bytes: Uint8Array): AdError | 'a program' => {
  const made = fromONNX(bytes)
  if (made._tag === 'Left') return made.left
  const names = Object.values(made.right.inputs).flatMap(({ shape }) => (shape ?? []).filter((d) => typeof d === 'string'))
  try {
    toProgram(made.right.f as never, Object.fromEntries(names.map((name) => [name, 2])) as never)
    return 'a program'
  } catch (e) {
    if (isAdException(e)) return e.error
    throw e
  }
}

describe('mutated models', () => {
  it('are an error with a place, or another model, and take no longer than a model does', () => {
    expect(models.length).toBe(22)
    const draw = random(7)
    const found = { errors: 0, programs: 0 }
    let slowest = 0
    for (let k = 0; k < count(300, 10_000); k++) {
      const { model, name } = models[Math.floor(draw() * models.length)]!
      let bytes = mutated(model, draw)
      while (draw() < 0.3 && bytes.length > 0) bytes = mutated(bytes, draw)
      const start = performance.now()
      const outcome = outcomeOf(bytes)
      const took = performance.now() - start
      if (took > slowest) slowest = took
      expect(took, `${name}, mutation ${k}`).toBeLessThan(5000)
      if (outcome === 'a program') found.programs++
      else {
        found.errors++
        if (outcome._tag === 'Decode') expect(outcome.errors[0]!.reason).toMatch(/\.$/)
        else expect(['BadInput', 'ShapeMismatch', 'DTypeMismatch', 'OutOfMemory', 'Unsupported']).toContain(outcome._tag)
      }
    }
    console.log(`mutated models: ${found.errors} errors, ${found.programs} other programs; the slowest took ${Math.round(slowest)} ms`)
    expect(found.errors).toBeGreaterThan(found.programs / 10)
    expect(found.programs).toBeGreaterThan(0)
  })
})

/** Bytes that would cost much if they were believed. */
const bombs: Readonly<Record<string, () => Uint8Array>> = {
  'a tensor of 2^60 elements': () => modelOf({ initializer: [{ ...tensorOf('w', [1]), dims: [2 ** 30, 2 ** 30] }], output: [ioOf('w')] }),
  'a tensor of 2^31 elements without data': () =>
    modelOf({ initializer: [{ name: 'w', dims: [2 ** 31], data_type: 1 }], output: [ioOf('w')] }),
  'a million empty nodes': () => modelOf({ node: Array.from({ length: 1_000_000 }, () => ({})) }),
  'graphs in graphs': () => {
    let graph: object = { output: [ioOf('x')] }
    for (let k = 0; k < 60; k++) graph = { node: [nodeOf('If', ['c'], ['x'], { then_branch: graph })], output: [ioOf('x')] }
    return modelOf(graph)
  },
  'a window of 2^40 numbers': () =>
    modelOf({ node: [nodeOf('Constant', [], ['n'], { value_int: 2 ** 40 }), nodeOf('HannWindow', ['n'], ['y'])], output: [ioOf('y')] }),
  'an array of 2^60 ones': () =>
    modelOf({
      node: [nodeOf('Constant', [], ['n'], { value_ints: [2 ** 30, 2 ** 30] }), nodeOf('ConstantOfShape', ['n'], ['y'])],
      output: [ioOf('y')],
    }),
  'functions that call one another twice, 40 deep': () =>
    modelOf(
      { node: [nodeOf('F0', ['x'], ['y'], {}, { domain: 'own' })], input: [ioOf('x', [1])], output: [ioOf('y')] },
      {
        functions: Array.from({ length: 40 }, (_, k) => ({
          name: `F${k}`,
          domain: 'own',
          input: ['x'],
          output: ['y'],
          node:
            k === 39
              ? [nodeOf('Relu', ['x'], ['y'])]
              : [nodeOf(`F${k + 1}`, ['x'], ['h'], {}, { domain: 'own' }), nodeOf(`F${k + 1}`, ['h'], ['y'], {}, { domain: 'own' })],
          opset_import: [{ version: 17 }, { domain: 'own', version: 1 }],
        })),
      },
    ),
  'a function that calls itself': () =>
    modelOf(
      { node: [nodeOf('F', ['x'], ['y'], {}, { domain: 'own' })], input: [ioOf('x', [1])], output: [ioOf('y')] },
      { functions: [{ name: 'F', domain: 'own', input: ['x'], output: ['y'], node: [nodeOf('F', ['x'], ['y'], {}, { domain: 'own' })] }] },
    ),
  'a loop of 2^40 steps that grows what it carries': () => {
    const body = {
      input: [ioOf('k', [], 'int64'), ioOf('on', [], 'bool'), ioOf('x', ['n'])],
      node: [nodeOf('Concat', ['x', 'x'], ['z'], { axis: 0 }), nodeOf('Identity', ['on'], ['go'])],
      output: [ioOf('go', [], 'bool'), ioOf('z', ['n'])],
    }
    const node = [nodeOf('Constant', [], ['m'], { value_int: 2 ** 40 }), nodeOf('Loop', ['m', '', 'x'], ['y'], { body })]
    return modelOf({ node, input: [ioOf('x', [1])], output: [ioOf('y', ['n'])] })
  },
}
/** What is said of each: the limit that it meets, and no other mistake. */
const limits: Readonly<Record<string, RegExp>> = {
  'a tensor of 2^60 elements': /more elements than an array can have/,
  'a tensor of 2^31 elements without data': /has 0 numbers where the shape has 2147483648 elements/,
  'a million empty nodes': /more messages than a file of this length has/,
  'graphs in graphs': /more than 100 deep/,
  'a window of 2^40 numbers': /1099511627776 entries are not listed/,
  'an array of 2^60 ones': /elements/,
  'functions that call one another twice, 40 deep': /more than 1000000 nodes are to be read/,
  'a function that calls itself': /more than 64 deep/,
  'a loop of 2^40 steps that grows what it carries': /more than 1000 steps|elements/,
}
describe('bytes that would cost much', () => {
  for (const [name, make] of Object.entries(bombs))
    it(`are an error at once: ${name}`, () => {
      const bytes = make()
      const start = performance.now()
      const outcome = outcomeOf(bytes)
      expect(outcome === 'a program' ? outcome : explain(outcome)).toMatch(limits[name]!)
      expect(performance.now() - start).toBeLessThan(20_000)
    })

  it('take little memory: arrays are made of no tensor before the whole file is known to be right', () => {
    const bytes = modelOf({ initializer: [{ ...tensorOf('w', []), dims: [2 ** 28], raw_data: new Uint8Array(2 ** 20) }] })
    globalThis.gc?.()
    const before = process.memoryUsage().arrayBuffers
    expect(outcomeOf(bytes)).toMatchObject({ _tag: 'Decode', errors: [{ path: 'graph.initializer[0].raw_data' }] })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * bytes.length)
  })
  it('take less than twice their length in arrays, whatever is wrong: elements of four bits would take eight times theirs', () => {
    const elements = { ...tensorOf('w', []), dims: [2 ** 23], data_type: 22, raw_data: new Uint8Array(2 ** 22) }
    for (const [node, says] of [
      [nodeOf('Nothing', ['w'], ['y']), /no operator Nothing/],
      [nodeOf('Relu', ['v'], ['y']), /"v" is made by nothing/],
    ] as const) {
      const bytes = modelOf({ initializer: [elements], node: [node], output: [ioOf('y')] })
      globalThis.gc?.()
      const before = process.memoryUsage().arrayBuffers
      const outcome = outcomeOf(bytes)
      expect(outcome === 'a program' ? outcome : explain(outcome)).toMatch(says)
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(bytes.length)
    }
  })

  it('the writer of these tests writes what is read', () => {
    expect([...encode({ version: 3 }, 'OperatorSetIdProto')]).toEqual([16, 3])
  })
})
