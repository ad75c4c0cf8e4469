// What `fromONNX` gives: a function, its weights, their types and names; and what it says where a model cannot be read.
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  compile,
  cpu,
  explain,
  f32,
  fn,
  grad,
  mean,
  mul,
  reference,
  square,
  sum,
  type Tensor,
  tensor,
  vmap,
} from '../../src/index.js'
import { dense, sequential } from '../../src/nn/index.js'
import { fromONNX, type OnnxModel, type OnnxOptions } from '../../src/onnx/index.js'
import { adam } from '../../src/optim/index.js'
import { key } from '../../src/random/index.js'
import { fit as fitted } from '../../src/train/index.js'
import { ioOf, modelOf, nodeOf, tensorOf } from './build.js'

const modelIn = (bytes: Uint8Array, options?: OnnxOptions): OnnxModel => {
  const made = fromONNX(bytes, options)
  if (made._tag === 'Left') throw new Error(explain(made.left))
  return made.right
}
/** What is said of bytes that are no model here. */
const said = (bytes: Uint8Array, options?: OnnxOptions): string => {
  const made = fromONNX(bytes, options)
  return made._tag === 'Left' ? explain(made.left) : 'a model'
}
/** What a call of the first output says. */
const atCall = (bytes: Uint8Array, inputs: object, options?: OnnxOptions): string => {
  const m = modelIn(bytes, options)
  try {
    compile(m.f, reference())({ params: m.params, inputs } as never)
    return 'values'
  } catch (e) {
    return (e as Error).message
  }
}
const valuesOf = (m: OnnxModel, inputs: object, backend = cpu()): unknown => {
  const out = compile(m.f, backend)({ params: m.params, inputs } as never) as Readonly<Record<string, Tensor>>
  return Object.values(out)[0]!.toArray()
}

/** y = relu(x w + b), x: [batch, 2]. */
const layer = modelOf({
  node: [nodeOf('MatMul', ['x', 'w'], ['h']), nodeOf('Add', ['h', 'b'], ['s']), nodeOf('Relu', ['s'], ['y'])],
  initializer: [tensorOf('w', [1, -2, 0.5, 1], [2, 2]), tensorOf('b', [0, 1])],
  input: [ioOf('x', ['batch', 2])],
  output: [ioOf('y', ['batch', 2])],
})
const x = [
  [3, 1],
  [1, 1],
]

describe('a model', () => {
  it('is a function of its weights and inputs, by the names of the file', () => {
    const m = modelIn(layer)
    expect(m.inputs).toEqual({ x: { type: 'float', dtype: 'f32', shape: ['batch', 2] } })
    expect(m.outputs).toEqual({ y: { type: 'float', dtype: 'f32', shape: ['batch', 2] } })
    expect(Object.keys(m.params)).toEqual(['w', 'b'])
    expect(m.stored).toEqual({ w: 'float', b: 'float' })
    expect(m.about.operators).toEqual({ Add: 1, MatMul: 1, Relu: 1 })
    expect(m.about.opsets).toEqual({ '': 17, own: 1 })
    const want = [
      [3.5, 0],
      [1.5, 0],
    ]
    expect(valuesOf(m, { x })).toEqual(want)
    expect(valuesOf(m, { x }, reference() as never)).toEqual(want)
    expect(valuesOf(m, { x: [[3, 1]] })).toEqual([[3.5, 0]])
  })

  it('is differentiated by weights and by inputs, and batched', () => {
    const m = modelIn(layer)
    const loss = fn({ params: m.declared, x: f32('n', 2) }, ({ params, x: at }) => mean(square(m.apply(params, at))))
    const g = grad(loss, { wrt: 'params' })({ params: m.params, x }) as unknown as Readonly<Record<string, Tensor>>
    // dL/db = 2 y / 4, summed over the batch: (3.5 + 1.5) / 2 and 0.
    expect(g.b!.toArray()).toEqual([2.5, 0])
    expect(g.w!.toArray()).toEqual([
      [6, 0],
      [2.5, 0],
    ])
    const batched = vmap((at: AnyExpr) => m.apply(m.params, at))(tensor([x, x], 'f32')) as unknown as Tensor
    expect(batched.shape).toEqual([2, 2, 2])
  })

  it('is a layer: with others behind it, and trained by fit', async () => {
    const m = modelIn(layer)
    const net = sequential({ body: m as never, head: dense(2, 1, { dtype: 'f32' }) as never }) as never
    const data = { x: tensor([[1, 2], [2, 1], [0, 1], [3, 3]], 'f32'), y: tensor([[1], [2], [0], [3]], 'f32') } // biome-ignore format: rows
    const run = await fitted(
      net,
      data as never,
      { loss: 'mseLoss', optimizer: adam({ learningRate: 0.05 }), epochs: 30, key: key(1) } as never,
    )()
    expect(run._tag).toBe('Right')
    const { history } = (run as { readonly right: { readonly history: { readonly loss: readonly number[] } } }).right
    expect(history.loss.at(-1)).toBeLessThan(history.loss[0]! / 4)
  })

  it('has names for sizes that the file does not name, and the declarations that it is given', () => {
    const free = modelOf({ node: [nodeOf('Relu', ['x'], ['y'])], input: [{ ...ioOf('x', [2, '']) }], output: [ioOf('y')] })
    expect(modelIn(free).inputs.x!.shape).toEqual([2, 'x.1'])
    const unknown = modelOf({ node: [nodeOf('Relu', ['x'], ['y'])], input: [ioOf('x')], output: [ioOf('y')] })
    expect(said(unknown)).toContain('the file does not say the shape of the input "x"')
    expect(valuesOf(modelIn(unknown, { inputs: { x: f32('n') } }), { x: [-1, 2] })).toEqual([0, 2])
    expect(said(unknown, { inputs: { x: f32('n'), z: f32(1) } })).toContain('the model has no input "z"')
    expect(said(modelOf({ input: [ioOf('x', [1], 'int64')], output: [ioOf('x')] }), { inputs: { x: f32(1) } })).toContain(
      'is int64 in the file',
    )
  })
})

describe('values inside', () => {
  it('are outputs by name: there is what they are made from, and no more', () => {
    const m = modelIn(layer, { outputs: ['h'] })
    expect(m.outputs).toEqual({ h: { type: 'no type', dtype: undefined, shape: undefined } })
    expect(Object.keys(m.params)).toEqual(['w'])
    expect(m.about.operators).toEqual({ MatMul: 1 })
    expect(valuesOf(m, { x: [[3, 1]] })).toEqual([[3.5, -5]])
    const both = modelIn(layer, { outputs: ['y', 's'] })
    expect(Object.keys(both.outputs)).toEqual(['y', 's'])
    const out = compile(both.f, cpu())({ params: both.params, inputs: { x: [[3, 1]] } } as never) as unknown as Readonly<
      Record<string, Tensor>
    >
    expect([out.y!.toArray(), out.s!.toArray()]).toEqual([[[3.5, 0]], [[3.5, -4]]]) // biome-ignore format: two rows
  })
  it('need no inputs but their own', () => {
    const two = modelOf({
      node: [nodeOf('Neg', ['a'], ['c']), nodeOf('Mul', ['c', 'b'], ['y'])],
      input: [ioOf('a', [2]), ioOf('b', ['n'])],
      output: [ioOf('y')],
    })
    const m = modelIn(two, { outputs: ['c'], constants: { b: [1, 1] } })
    expect(Object.keys(m.inputs)).toEqual(['a'])
    expect((m.apply(m.params, tensor([1, 2], 'f32')) as unknown as Tensor).shape).toEqual([2])
    expect(valuesOf(m, { a: [1, 2] })).toEqual([-1, -2])
    expect(valuesOf(modelIn(two, { outputs: ['a'] }), { a: [1, 2] })).toEqual([1, 2])
  })
  it('keep what graphs inside of nodes read', () => {
    const branch = (name: string, weight: string): object => ({ node: [nodeOf('Mul', ['x', weight], [name])], output: [ioOf(name, [2])] })
    const m = modelIn(
      modelOf({
        node: [
          nodeOf('Neg', ['v'], ['w']),
          nodeOf('If', ['c'], ['h'], { then_branch: branch('p', 'w'), else_branch: branch('q', 'v') }),
          nodeOf('Mul', ['h', 'u'], ['y']),
        ],
        initializer: [tensorOf('v', [1, 2]), tensorOf('u', [1, 2])],
        input: [ioOf('x', [2]), ioOf('c', [], 'bool')],
        output: [ioOf('y', [2])],
      }),
      { outputs: ['h'] },
    )
    expect(Object.keys(m.params)).toEqual(['v'])
    expect([valuesOf(m, { x: [3, 4], c: true }), valuesOf(m, { x: [3, 4], c: false })]).toEqual([[-3, -8], [3, 8]]) // biome-ignore format: two rows
  })
  it('that are not there are an error that says which are', () => {
    expect(said(layer, { outputs: ['z'] })).toContain('outputs: the model makes no value "z".')
    expect(said(layer, { outputs: ['z'] })).toContain('its values: "h" (MatMul), "s" (Add), "y" (Relu).')
    expect(said(layer, { outputs: [] })).toContain('outputs is an empty list')
    expect(said(layer, { outputs: ['h', 'h'] })).toContain("outputs[1] is 'h', a second time")
    expect(said(layer, { outputs: [1 as never] })).toContain('outputs[0] is 1, no name of a value')
    expect(said(layer, { outputs: 'h' as never })).toContain('outputs must be an array')
  })
})

describe('shapes', () => {
  /** y = x as rows of the size of its first axis: [n, -1]. */
  const rows = modelOf({
    node: [
      nodeOf('Shape', ['x'], ['s']),
      nodeOf('Gather', ['s', 'zero'], ['n']),
      nodeOf('Unsqueeze', ['n', 'axes'], ['n1']),
      nodeOf('Concat', ['n1', 'rest'], ['shape'], { axis: 0 }),
      nodeOf('Reshape', ['x', 'shape'], ['y']),
    ],
    initializer: [tensorOf('zero', [0], [], 'int64'), tensorOf('axes', [0], [1], 'int64'), tensorOf('rest', [-1], [1], 'int64')],
    input: [ioOf('x', ['n', 2, 2])],
    output: [ioOf('y')],
  })
  it('that are computed of shapes are folded: nothing of them is in the program', () => {
    expect(valuesOf(modelIn(rows), { x: [[[1, 2], [3, 4]]] })).toEqual([[1, 2, 3, 4]]) // biome-ignore format: an array
    expect(modelIn(rows).params).toEqual({})
  })

  const byInput = modelOf({
    node: [nodeOf('Reshape', ['x', 'shape'], ['y'])],
    input: [ioOf('x', [4]), ioOf('shape', [2], 'int64')],
    output: [ioOf('y')],
  })
  it('that depend on data are an error that names the node and the input, or a constant', () => {
    const message = atCall(byInput, { x: [1, 2, 3, 4], shape: [2, 2] })
    expect(message).toContain('node that makes "y" (Reshape): input 1, "shape", decides shapes, and its numbers depend on data.')
    expect(message).toContain('constants:')
    expect(valuesOf(modelIn(byInput, { constants: { shape: [2, 2] } }), { x: [1, 2, 3, 4] })).toEqual([[1, 2], [3, 4]]) // biome-ignore format: a matrix
  })

  it('are not weights: what a shape follows from is a constant', () => {
    const resize = modelOf({
      node: [
        nodeOf('Mul', ['s', 'two'], ['scales']),
        nodeOf('Resize', ['x', '', 'scales'], ['r'], { mode: 'nearest', coordinate_transformation_mode: 'asymmetric' }),
        nodeOf('Mul', ['r', 'w'], ['y']),
      ],
      initializer: [tensorOf('s', [1, 1, 1]), tensorOf('two', [1, 1, 2]), tensorOf('w', [3])],
      input: [ioOf('x', [1, 1, 2])],
      output: [ioOf('y')],
    })
    const m = modelIn(resize)
    expect(Object.keys(m.params)).toEqual(['w'])
    expect(valuesOf(m, { x: [[[1, 2]]] })).toEqual([[[3, 3, 6, 6]]])
  })

  it('are no reason to take weights for constants: of a Shape nothing but the shape is known', () => {
    const m = modelIn(
      modelOf({
        node: [nodeOf('MatMul', ['x', 'w'], ['h']), nodeOf('Shape', ['h'], ['s']), nodeOf('Reshape', ['h', 's'], ['y'])],
        initializer: [tensorOf('w', [1, 2], [2, 1])],
        input: [ioOf('x', ['n', 2])],
        output: [ioOf('y')],
      }),
    )
    expect(Object.keys(m.params)).toEqual(['w'])
    expect(valuesOf(m, { x: [[1, 2]] })).toEqual([[5]])
  })

  it('constants of several floats are weights too, in graphs inside nodes as well; one number is none', () => {
    const c = (name: string, numbers: readonly number[]): object => nodeOf('Constant', [], [name], { value: tensorOf('', numbers) })
    const branch = (name: string, numbers: readonly number[]): object => ({
      node: [c(name, numbers), nodeOf('Mul', ['x', name], [`${name}y`])],
      output: [ioOf(`${name}y`, [2])],
    })
    const m = modelIn(
      modelOf({
        node: [
          c('one', [1]),
          nodeOf('If', ['c'], ['h'], { then_branch: branch('a', [1, 2]), else_branch: branch('b', [3, 4]) }),
          nodeOf('Add', ['h', 'one'], ['y']),
        ],
        input: [ioOf('x', [2]), ioOf('c', [], 'bool')],
        output: [ioOf('y', [2])],
      }),
    )
    expect(Object.keys(m.params)).toEqual(['a', 'b'])
    expect(valuesOf(m, { x: [1, 1], c: true })).toEqual([2, 3])
    const run = compile(m.f, cpu()) as unknown as (given: object) => Readonly<Record<string, Tensor>>
    expect(run({ params: { ...m.params, b: tensor([5, 6], 'f32') }, inputs: { x: [1, 1], c: false } }).y!.toArray()).toEqual([6, 7])
  })

  it('ends of slices beyond i32 are what they mean', () => {
    const slice = modelOf({
      node: [nodeOf('Slice', ['x', 'from', 'to', 'axes', 'steps'], ['y'])],
      initializer: [
        tensorOf('from', [-1], [1], 'int64'),
        tensorOf('to', [-(2 ** 53)], [1], 'int64'),
        tensorOf('axes', [0], [1], 'int64'),
        tensorOf('steps', [-2], [1], 'int64'),
      ],
      input: [ioOf('x', ['n'])],
      output: [ioOf('y')],
    })
    expect(valuesOf(modelIn(slice), { x: [1, 2, 3, 4] })).toEqual([4, 2])
  })
})

describe('dtypes', () => {
  const cast = (to: number, from: readonly number[], type = 'float'): unknown =>
    valuesOf(
      modelIn(
        modelOf({ node: [nodeOf('Cast', ['x'], ['y'], { to })], input: [ioOf('x', ['n'], type)], output: [ioOf('y')] }, { opset: 19 }),
      ),
      { x: tensor(from as number[], type === 'float' ? 'f32' : 'i32') },
    )
  it('float16 is rounded where the model casts to it: halves to even, below the normal numbers, beyond the largest', () => {
    // 1 + 2^-11 is between 1 and 1 + 2^-10, 1 + 3 2^-11 between that and 1 + 2^-9: both to the even one.
    expect(cast(10, [1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -10])).toEqual([1, 1 + 2 ** -9, 1 + 2 ** -10])
    expect(cast(10, [2 ** -24, 2 ** -25, 3 * 2 ** -25, 2 ** -26])).toEqual([2 ** -24, 0, 2 ** -23, 0])
    expect(cast(10, [65504, 65519, 65520, -1e30])).toEqual([65504, 65504, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
  })

  it('bfloat16 keeps 8 bits, at any size', () => {
    expect(cast(16, [1.2345, -123.456, 2 ** 120 * 1.3, 1e-30])).toEqual([1.234375, -123.5, 2 ** 120 * 1.296875, 1.265625 * 2 ** -100])
    expect(cast(16, [1 + 2 ** -8, 1 + 3 * 2 ** -8, -3e38])).toEqual([1, 1 + 2 ** -6, -1.765625 * 2 ** 127])
  })

  it('narrow integers wrap', () => {
    expect(cast(2, [257, -1, 255], 'int32')).toEqual([1, 255, 255])
    expect(cast(3, [128, -129, 127], 'int32')).toEqual([-128, 127, 127])
  })

  it('quotients of integers are cut, remainders have the sign that the node says', () => {
    const two = (op: string, attributes = {}): unknown =>
      valuesOf(
        modelIn(
          modelOf({
            node: [nodeOf(op, ['a', 'b'], ['y'], attributes)],
            input: [ioOf('a', ['n'], 'int32'), ioOf('b', ['n'], 'int32')],
            output: [ioOf('y')],
          }),
        ),
        { a: tensor([7, -7, 7, -7, 6], 'i32'), b: tensor([2, 2, -2, -2, -3], 'i32') },
      )
    expect(two('Div')).toEqual([3, -3, -3, 3, -2])
    expect(two('Mod')).toEqual([1, 1, -1, -1, 0])
    expect(two('Mod', { fmod: 1 })).toEqual([1, -1, 1, -1, 0])
  })

  it('weights of 16 bits are read as what they are', () => {
    const half = {
      name: 'w',
      dims: [4],
      data_type: 10,
      raw_data: new Uint8Array(Uint16Array.from([0x3c00, 0xc000, 0x0001, 0x7c00]).buffer),
    }
    const m = modelIn(modelOf({ initializer: [half], output: [ioOf('w')] }))
    expect(m.params.w!.toArray()).toEqual([1, -2, 2 ** -24, Number.POSITIVE_INFINITY])
    expect(m.stored).toEqual({ w: 'float16' })
  })
})

describe('loops and branches', () => {
  const io = { input: [ioOf('x', [2])], output: [ioOf('y', [2])] }
  const scalars = [tensorOf('m', [3], [], 'int64')]
  const body = {
    input: [ioOf('k', [], 'int64'), ioOf('on', [], 'bool'), ioOf('h', [2])],
    node: [nodeOf('Mul', ['h', 'x'], ['z']), nodeOf('Identity', ['on'], ['go'])],
    output: [ioOf('go', [], 'bool'), ioOf('z', [2])],
  }
  it('a Loop of a known number of steps is a scan, with derivatives of what it captures: x^4', () => {
    const m = modelIn(modelOf({ node: [nodeOf('Loop', ['m', '', 'x'], ['y'], { body })], initializer: scalars, ...io }))
    expect(valuesOf(m, { x: [2, -1] })).toEqual([16, 1])
    const g = grad((at: AnyExpr) => sum(m.apply(m.params, at)))(tensor([2, -1], 'f32'))
    expect((g as unknown as Tensor).toArray()).toEqual([32, -4])
  })

  it('a Loop that data end is a whileLoop: h doubles until its sum is 10 or more', () => {
    const until = {
      ...body,
      node: [
        nodeOf('Add', ['h', 'h'], ['z']),
        nodeOf('ReduceSum', ['z'], ['total'], { keepdims: 0 }),
        nodeOf('Less', ['total', 'ten'], ['go']),
      ],
    }
    const initializer = [...scalars, tensorOf('ten', [10], [])]
    const unbounded = modelIn(modelOf({ node: [nodeOf('Loop', ['', '', 'x'], ['y'], { body: until })], initializer, ...io }))
    expect(valuesOf(unbounded, { x: [0.25, 0.5] })).toEqual([4, 8])
    const three = modelIn(modelOf({ node: [nodeOf('Loop', ['m', '', 'x'], ['y'], { body: until })], initializer, ...io }))
    expect(valuesOf(three, { x: [0.25, 0.5] })).toEqual([2, 4])
    const g = grad((at: AnyExpr) => sum(three.apply(three.params, at)))(tensor([0.25, 0.5], 'f32'))
    expect((g as unknown as Tensor).toArray()).toEqual([8, 8])
  })

  it('an If of data whose branch does not fit the shapes says which, and how to say which is meant', () => {
    const then = { node: [nodeOf('MatMul', ['x', 'w'], ['a'], {}, { name: 'm' })], output: [ioOf('a', [2])] }
    const other = { node: [nodeOf('Neg', ['x'], ['a'])], output: [ioOf('a', [2])] }
    const bytes = modelOf({
      node: [nodeOf('If', ['c'], ['y'], { then_branch: then, else_branch: other })],
      initializer: [tensorOf('w', [1, 2, 3], [3, 1])],
      input: [ioOf('x', [2]), ioOf('c', [], 'bool')],
      output: [ioOf('y', [2])],
    })
    const message = atCall(bytes, { x: [1, 2], c: false })
    expect(message).toContain(
      '(If): its condition depends on data, and its then_branch cannot be read at these shapes: node "m" (MatMul): matmul',
    )
    expect(message).toContain('constants:')
    expect(valuesOf(modelIn(bytes, { constants: { c: false } }), { x: [1, 2] })).toEqual([-1, -2])
  })

  it('what a branch reads of the graph around is not known because its condition is', () => {
    const then = { node: [nodeOf('Identity', ['x'], ['e'])], output: [ioOf('e', [])] }
    const m = modelIn(
      modelOf({
        node: [
          nodeOf('Constant', [], ['c'], { value: { name: '', dims: [], data_type: 9, raw_data: new Uint8Array([1]) } }),
          nodeOf('If', ['c'], ['h'], { then_branch: then, else_branch: then }),
          nodeOf('Pow', ['x', 'h'], ['y']),
        ],
        input: [ioOf('x', [])],
        output: [ioOf('y', [])],
      }),
    )
    expect(valuesOf(m, { x: 3 })).toBe(27)
  })

  it('an If is one of its branches: at once where its condition is known, else a cond', () => {
    const then = { node: [nodeOf('Mul', ['x', 'x'], ['a'])], output: [ioOf('a', [2])] }
    const other = { node: [nodeOf('Neg', ['x'], ['a'])], output: [ioOf('a', [2])] }
    const m = modelIn(
      modelOf({
        node: [
          nodeOf('ReduceSum', ['x'], ['s'], { keepdims: 0 }),
          nodeOf('Greater', ['s', 'zero'], ['c']),
          nodeOf('If', ['c'], ['y'], { then_branch: then, else_branch: other }),
        ],
        initializer: [tensorOf('zero', [0], [])],
        ...io,
      }),
    )
    expect(valuesOf(m, { x: [3, -1] })).toEqual([9, 1])
    expect(valuesOf(m, { x: [-3, 1] })).toEqual([3, -1])
    expect((grad((at: AnyExpr) => sum(m.apply(m.params, at)))(tensor([3, -1], 'f32')) as unknown as Tensor).toArray()).toEqual([6, -2])
  })
})

describe("functions and operators of one's own", () => {
  const own = { domain: 'own' }
  it('functions of the model are read with the attributes of the call', () => {
    const bytes = modelOf(
      { node: [nodeOf('Scaled', ['x'], ['y'], { by: 0.5 }, own)], input: [ioOf('x', ['n'])], output: [ioOf('y')] },
      {
        functions: [
          {
            name: 'Scaled',
            domain: 'own',
            input: ['a'],
            output: ['b'],
            attribute: ['by'],
            node: [nodeOf('Constant', [], ['c'], { value_float: { ref: 'by' } }), nodeOf('Mul', ['a', 'c'], ['b'])],
            opset_import: [{ version: 17 }],
          },
        ],
      },
    )
    expect(valuesOf(modelIn(bytes), { x: [2, 4] })).toEqual([1, 2])
  })

  const unknown = modelOf({
    node: [nodeOf('Twice', ['x'], ['y'], { by: 2, how: 'so' }, { ...own, name: 'the node' })],
    input: [ioOf('x', ['n'])],
    output: [ioOf('y')],
  })
  it('an unknown operator is an error that names node, operator and attributes, and says how to give one', () => {
    const message = said(unknown)
    expect(message).toContain('node "the node" (own.Twice): codual has no operator own.Twice (its attributes: by, how).')
    expect(message).toContain('operators: { "own.Twice": ([x], attributes) => ... }')
    const m = modelIn(unknown, { operators: { 'own.Twice': ([a], { by }) => mul(a!, by as number) } })
    expect(valuesOf(m, { x: [1, 3] })).toEqual([2, 6])
  })

  it("what an operator of one's own gives is looked at", () => {
    expect(atCall(unknown, { x: [1] }, { operators: { 'own.Twice': () => 'no' as never } })).toContain('gave what is no expression')
    expect(said(unknown, { operators: { 'own.Twice': 1 as never } })).toContain('own.Twice')
  })
})

describe('what is refused', () => {
  const w = tensorOf('w', [1, 2])
  const graph = { input: [ioOf('x', [2])], output: [ioOf('y')] }
  const cases: Readonly<Record<string, readonly [bytes: Uint8Array, says: string]>> = {
    'no model': [new Uint8Array([8, 7]), 'graph: is missing'],
    'bytes of something else': [new TextEncoder().encode('<html></html>'), 'is not what the format has'],
    'a file that ends': [layer.subarray(0, 60), 'the file ends within it.'],
    'an operator set of the future': [modelOf({ ...graph, node: [nodeOf('Neg', ['x'], ['y'])] }, { opset: 999 }), 'operator set 999'],
    'a node of an operator set before those that are read': [modelOf({ ...graph, node: [nodeOf('HardSwish', ['x'], ['y'])] }, { opset: 9 }), 'from operator set 14 on, and the file has 9'],
    'a circle': [modelOf({ ...graph, node: [nodeOf('Add', ['x', 'b'], ['a']), nodeOf('Neg', ['a'], ['b']), nodeOf('Neg', ['b'], ['y'])] }), 'graph.node[0].input: "b" is read before it is made'],
    'a name that nothing makes': [modelOf({ ...graph, node: [nodeOf('Neg', ['z'], ['y'])] }), 'graph.node[0].input: "z" is made by nothing'],
    'a name that is made twice': [modelOf({ ...graph, node: [nodeOf('Neg', ['x'], ['y']), nodeOf('Neg', ['x'], ['y'])] }), 'graph.node[1].output: "y" is made twice'],
    'an output that nothing makes': [modelOf(graph), 'graph.output: has "y", which no node makes'],
    'bytes that do not fit a shape': [modelOf({ ...graph, initializer: [{ ...w, dims: [3] }] }), 'graph.initializer[0].raw_data: has 8 bytes where 3 elements of float have 12'],
    'texts': [modelOf({ ...graph, initializer: [{ name: 's', dims: [0], data_type: 8 }] }), 'graph.initializer[0].data_type: is string, which codual does not compute'],
    'two initializers of a name': [modelOf({ ...graph, initializer: [w, w] }), 'is a second initializer "w"'],
    'weights elsewhere': [modelOf({ ...graph, initializer: [{ name: 'w', dims: [1], data_type: 1, data_location: 1, external_data: [{ key: 'location', value: 'w.bin' }] }] }), 'give { external: (location) => bytes }'],
  } // biome-ignore format: rows
  for (const [name, [bytes, says]] of Object.entries(cases)) it(`says where and why: ${name}`, () => expect(said(bytes)).toContain(says))

  it('what is no bytes, and options that are none', () => {
    expect(said('model.onnx' as never)).toContain('where the bytes of a model must be')
    expect(said(layer, { constant: {} } as never)).toContain('constant')
    expect(said(layer, { constants: { z: 1 } })).toContain('the model has no input "z"')
    expect(said(layer, { operators: 3 } as never)).toContain('fromONNX')
  })

  it('an attribute of another kind, or one that is missing, by its name', () => {
    const node = (attributes: object): Uint8Array => modelOf({ ...graph, node: [nodeOf('Concat', ['x', 'x'], ['y'], attributes)] })
    expect(atCall(node({}), { x: [1, 2] })).toContain('(Concat): the attribute axis is missing: an integer must be there.')
    expect(atCall(node({ axis: 'one' }), { x: [1, 2] })).toContain(
      '(Concat): the attribute axis is of another kind (text) than an integer.',
    )
    expect(atCall(node({ axis: 4 }), { x: [1, 2] })).toContain('axis is 4 of 1 axes')
  })

  it('shapes that do not fit, with the node', () => {
    const bytes = modelOf({
      node: [nodeOf('MatMul', ['x', 'w'], ['y'], {}, { name: 'm' })],
      initializer: [tensorOf('w', [1, 2, 3], [3, 1])],
      ...graph,
    })
    expect(atCall(bytes, { x: [1, 2] })).toContain('fromONNX: node "m" (MatMul): matmul')
  })
})

describe('weights beside the model', () => {
  const at = (entries: Readonly<Record<string, string>>): Uint8Array =>
    modelOf({
      initializer: [
        {
          name: 'w',
          dims: [2],
          data_type: 1,
          data_location: 1,
          external_data: Object.entries(entries).map(([k, v]) => ({ key: k, value: v })),
        },
      ],
      output: [ioOf('w')],
    })
  const file = new Uint8Array(Float32Array.from([9, 1, 2]).buffer)
  it('are read where the model says: a location, an offset, a length', () => {
    const asked: string[] = []
    const m = modelIn(at({ location: 'data/w.bin', offset: '4', length: '8' }), {
      external: (location) => {
        asked.push(location)
        return file
      },
    })
    expect(asked).toEqual(['data/w.bin'])
    expect(m.params.w!.toArray()).toEqual([1, 2])
  })

  it('are never asked for outside of its folder, and are held against their size', () => {
    const external = (): Uint8Array => file
    for (const location of ['/etc/passwd', '../w.bin', 'a/../../w.bin', 'C:\\w.bin'])
      expect(said(at({ location }), { external })).toContain("leaves the model's folder")
    expect(said(at({ location: 'w.bin', offset: '8' }), { external })).toContain('has 4 bytes where 2 elements')
    expect(said(at({ location: 'w.bin', offset: '-4', length: '8' }), { external })).toContain('are not in "w.bin"')
    expect(said(at({ location: 'w.bin' }), { external: () => { throw new Error('no such file.') } })).toContain('no such file') // biome-ignore format: one row
  })
})
