// What toONNX gives beside programs that are known: training steps and loops, names, weights, named axes, and what it refuses.
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  add,
  applyPrimitive,
  besselJ,
  bool,
  compile,
  cond,
  div,
  exp,
  explain,
  expm1,
  f32,
  f64,
  fft,
  fn,
  fori,
  gather,
  grad,
  gt,
  i32,
  isAdException,
  linear,
  lt,
  matmul,
  mean,
  mul,
  primitive,
  relu,
  reshape,
  scan,
  sin,
  softmax,
  square,
  sub,
  sum,
  switchCase,
  type Tensor,
  tanh,
  tensor,
  toProgram,
  treeMap,
  valueAndGrad,
  whileLoop,
} from '../../../src/index.js'
import { fromONNX, toONNX } from '../../../src/onnx/index.js'
import { decode } from '../../../src/onnx/wire.js'
import { adam, applyUpdates } from '../../../src/optim/index.js'
import { key, normal } from '../../../src/random/index.js'
import { type AnyDeclared, backError, runtimeError } from './given.js'
import { runFile } from './runtime.js'

const said = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    return isAdException(e) ? explain(e.error) : String(e)
  }
  return 'nothing'
}
/** A file of it at sizes: by ONNX Runtime, and read back; each a part of what is allowed. */
const errors = async (f: unknown, sizes: Readonly<Record<string, number>> = {}, low?: number): Promise<readonly number[]> => {
  const g = f as AnyDeclared
  const file = toONNX(g)
  return [await runtimeError(g, file, sizes, low), backError(g, file, sizes, low)]
}
const holds = async (...given: Parameters<typeof errors>): Promise<void> => {
  for (const e of await errors(...given)) expect(e).toBeLessThan(1)
}

const network = { first: { w: f64(3, 4), b: f64(4) }, out: { w: f64(4, 1), b: f64(1) } }
const loss = fn({ params: network, x: f64('n', 3), y: f64('n', 1) }, ({ params: { first, out }, x, y }) =>
  mean(square(sub(linear(tanh(linear(x, first.w, first.b)), out.w, out.b), y))),
)

describe('training steps, loops and branches', () => {
  it('writes a step of training with Adam, its state as inputs and outputs', async () => {
    const optimiser = adam({ learningRate: 0.01 })
    const zeros = treeMap((s: { readonly shape: readonly number[] }) => tensor(0, s.shape as number[], 'f64'), network as never)
    const state = optimiser.init(zeros as never)
    const specOf = (t: Tensor) => ({ _tag: 'Spec' as const, shape: t.shape, dtype: t.dtype })
    const step = fn(
      { params: network, state: treeMap(specOf as never, state as never) as never, x: f64('n', 3), y: f64('n', 1) } as never,
      (({ params, state, x, y }: { params: never; state: never; x: never; y: never }) => {
        const { value, grad: g } = valueAndGrad(loss, { wrt: 'params' })({ params, x, y } as never) as unknown as {
          readonly value: AnyExpr
          readonly grad: never
        }
        const { updates, state: next } = optimiser.update(g, state, params) as unknown as { readonly updates: never; readonly state: never }
        return { loss: value, params: applyUpdates(params, updates), state: next }
      }) as never,
      { name: 'step' },
    )
    const file = toONNX(step as never)
    expect(Object.keys(file.outputs)).toContain('params.first.w_out')
    expect(file.outputs.loss).toEqual({ type: 'double', dtype: 'f64', shape: [] })
    await holds(step, { n: 5 }, 0.1)
  })

  it('writes scan, forward and backward, with its gradient', async () => {
    const run = fn({ h: f64(3), xs: f64('t', 3), w: f64(3, 3) }, ({ h, xs, w }) => {
      const [last, ys] = scan(
        (c: AnyExpr, x: AnyExpr) => {
          const next = tanh(add(matmul(c, w), x))
          return [next, mul(next, x)] as const
        },
        h as AnyExpr,
        xs as AnyExpr,
      ) as readonly [AnyExpr, AnyExpr]
      return add(sum(ys), sum(last))
    })
    await holds(run, { t: 6 })
    await holds(valueAndGrad(run as never), { t: 6 })
    const back = fn({ xs: f32(5, 2) }, ({ xs }) =>
      scan((c: AnyExpr, x: AnyExpr) => [add(c, x), mul(c, x)] as const, tensor([0, 0], [2], 'f32') as unknown as AnyExpr, xs as AnyExpr, {
        reverse: true,
      }),
    )
    await holds(back)
    expect(toONNX(run).operators.Scan).toBe(1)
  })

  it('writes loops that data end, and loops in loops', async () => {
    const halved = fn({ x: f64() }, ({ x }) =>
      whileLoop(
        (s: AnyExpr) => gt(s, 0.001),
        (s: AnyExpr) => mul(s, 0.5),
        x as AnyExpr,
      ),
    )
    expect(toONNX(halved).operators.Loop).toBe(1)
    await holds(halved, {}, 0.1)
    const bounded = fn({ x: f64() }, ({ x }) =>
      whileLoop(
        (s: AnyExpr) => lt(s, 10),
        (s: AnyExpr) => add(mul(s, 1.5), 0.5),
        x as AnyExpr,
        { maxSteps: 20 },
      ),
    )
    await holds(bounded, {}, 0.1)
    await holds(valueAndGrad(fn({ x: f64() }, (x) => (bounded(x as never) as unknown as readonly [AnyExpr])[0]) as never), {}, 0.1)
    const nested = fn({ x: f64(2) }, ({ x }) =>
      fori(3, (k, c: AnyExpr) => add(c, fori(2, (j, d: AnyExpr) => mul(sin(d), add(j, k)) as never, c) as never), x as AnyExpr),
    )
    await holds(nested)
    await holds(grad(fn({ x: f64(2) }, ({ x }) => sum(nested({ x }) as never)) as never))
  })

  it('writes branches: the chosen one of many, for an index that is none too', async () => {
    const either = fn({ c: bool(), x: f64(2) }, ({ c, x }) =>
      cond(
        c,
        (v: AnyExpr) => sum(exp(v)),
        (v: AnyExpr) => sum(mul(v, v)),
        x as AnyExpr,
      ),
    )
    await holds(either)
    await holds(grad(either as never, { wrt: 'x' } as never))
    const many = fn({ i: i32(), x: f64(2) }, ({ i, x }) =>
      switchCase(i, [(v: AnyExpr) => matmul(v, v), (v: AnyExpr) => sum(v), (v: AnyExpr) => sum(sin(v))], x as AnyExpr),
    )
    const file = toONNX(many)
    const x = tensor([0.3, 0.4], [2], 'f64')
    for (const i of [-3, 0, 1, 2, 9]) {
      const [got] = await runFile(file, [new Int32Array([i]), x.data])
      expect(got!.data[0]).toBeCloseTo((compile(many as never) as unknown as (a: object) => Tensor)({ i, x }).item() as number, 12)
    }
  })

  it('writes random numbers: the same ones', async () => {
    const drawn = fn({ x: f64(4) }, ({ x }) => add(x, normal(key(7), [4], { dtype: 'f64' }) as never))
    await holds(drawn)
    const keyed = fn({ k: i32(2) }, ({ k }) => normal(k as never, [5], { dtype: 'f32' }))
    await holds(keyed)
  })
})

describe('names, weights and types', () => {
  const w = tensor([[1], [-2]], [2, 1], 'f32')
  const model = fn({ x: f32('batch', 2) }, ({ x }) => relu(matmul(x, w)))

  it('has captured tensors as initializers, or as inputs beside their values', async () => {
    const file = toONNX(model)
    expect(file.inputs).toEqual({ x: { type: 'float', dtype: 'f32', shape: ['batch', 2] } })
    expect(file.outputs).toEqual({ y: { type: 'float', dtype: 'f32', shape: ['batch', 1] } })
    expect(file.operators).toEqual({ MatMul: 1, Relu: 1 })
    const x = new Float32Array([3, 1, 1, 1])
    expect([...(await runFile(file, [x], { batch: 2 }))[0]!.data]).toEqual([1, 0])
    const open = toONNX(model, { weights: 'inputs' })
    expect(Object.keys(open.inputs)).toEqual(['x', 'weight_0'])
    expect(open.weights.weight_0!.toArray()).toEqual([[1], [-2]])
    expect(open.bytes.length).toBeLessThan(file.bytes.length + 16)
    expect([...(await runFile(open, [x, new Float32Array([1, 1])], { batch: 2 }))[0]!.data]).toEqual([4, 2])
    const back = fromONNX(file.bytes)
    expect(back._tag === 'Right' && back.right.params.weight_0!.toArray()).toEqual([[1], [-2]])
  })

  it('takes values of arguments, which are initializers by their names', async () => {
    const f = fn({ params: { w: f32('in', 'out') }, x: f32('n', 'in') }, ({ params, x }) => matmul(x, params.w))
    const file = toONNX(f, { values: { params: { w } } })
    expect(file.inputs).toEqual({ x: { type: 'float', dtype: 'f32', shape: ['n', 2] } })
    expect([...(await runFile(file, [new Float32Array([3, 1])], { n: 1 }))[0]!.data]).toEqual([1])
    const back = fromONNX(file.bytes)
    expect(back._tag === 'Right' && Object.keys(back.right.params)).toEqual(['params.w'])
    expect(said(() => toONNX(f, { values: { v: 1 } }))).toContain('values: there is no input "v"')
    expect(said(() => toONNX(f, { values: { params: { w: tensor([1, 2, 3], [3], 'f32') } } }))).toContain('values: params.w')
  })

  it('names inputs and outputs as asked, and none twice', () => {
    const f = fn({ a: f32(2), b: f32(2) }, ({ a, b }) => ({ a: add(a, b), c: b, d: b }))
    const file = toONNX(f, { names: { b: 'second', c: 'third' } })
    expect(Object.keys(file.inputs)).toEqual(['a', 'second'])
    expect(Object.keys(file.outputs)).toEqual(['a_out', 'third', 'd'])
    expect(said(() => toONNX(f, { names: { z: 'q' } }))).toContain('names: there is no input or output "z"')
  })

  it('takes programs, at the shapes that they have', async () => {
    const p = toProgram((x: AnyExpr) => sum(mul(x, x)) as never)([1, 2, 3] as never)
    const file = toONNX(p as never)
    expect(file.inputs).toEqual({ x: { type: 'double', dtype: 'f64', shape: [3] } })
    expect((await runFile(file, [new Float64Array([1, 2, 3])]))[0]!.data[0]).toBe(14)
  })

  it('writes the operator set that is asked for', () => {
    const f = fn({ x: f32(2, 3) }, ({ x }) => softmax(x))
    for (const opset of [17, 18, 20, 22]) {
      const file = toONNX(f, { opset })
      const { ir_version, opset_import } = decode(file.bytes, 'ModelProto') as { ir_version: number; opset_import: { version: number }[] }
      expect([ir_version, opset_import[0]!.version]).toEqual([opset < 19 ? 8 : opset < 21 ? 9 : 10, opset])
    }
    expect(said(() => toONNX(f, { opset: 12 }))).toContain('give a version from 17 to 22')
    const bits = fn({ k: i32(2) }, ({ k }) => normal(k as never, [5], { dtype: 'f32' }))
    expect(said(() => toONNX(bits, { opset: 17 }))).toContain('toONNX(f, { opset: 18 })')
  })

  it('says what was written as other operations', () => {
    const f = fn({ x: f64(3) }, ({ x }) => add(expm1(x), add(expm1(sin(x)), tanh(x))))
    expect(toONNX(f).decomposed).toEqual({ expm1: 2 })
    expect(toONNX(fn({ x: f64(3) }, ({ x }) => tanh(x))).decomposed).toEqual({})
  })
})

describe('named axes', () => {
  it('computes sizes in the file: products, quotients, means and roots of them', async () => {
    const f = fn({ x: f32('n', 'm'), y: f64('n', 4) }, ({ x, y }) => {
      const flat = reshape(x, [-1]) as AnyExpr
      const [n] = y.shape as unknown as readonly [number]
      return { flat, scaled: div(y, Math.sqrt(n)), mean: mean(y), rows: reshape(y, [-1, 2]), own: mul(x, 1 / (n - 1)) } as never
    })
    const file = toONNX(f as never)
    expect(file.outputs.flat!.shape).toEqual(['n*m'])
    expect(file.outputs.rows!.shape).toEqual(['2*n', 2])
    for (const [n, m] of [
      [2, 3],
      [9, 1],
      [5, 64],
    ])
      expect(await runtimeError(f as never, file, { n: n!, m: m! })).toBeLessThan(1)
  })

  it('has captured tensors wherever they are first read: one that another trace captured is older than what stands before it', async () => {
    const [w, b] = [tensor([[1, -2], [0.5, 3]], [2, 2], 'f32'), tensor([10, 20], [2], 'f32')] // biome-ignore format: a matrix
    const f = fn({ x: f32('n', 2) }, ({ x }) => add(matmul(x, w), reshape(b, [1, 2])))
    const file = toONNX(f)
    expect(file.inputs.x!.shape).toEqual(['n', 2])
    expect(toONNX(f).bytes).toEqual(file.bytes)
    expect([...(await runFile(file, [new Float32Array([1, 1, 2, 0, 0, 1])], { n: 3 }))[0]!.data]).toEqual([11.5, 21, 12, 16, 10.5, 23])
  })
  it('traces at even sizes what takes no others', async () => {
    const f = fn({ x: f64('n') }, ({ x }) => sum(reshape(x, [-1, 2]) as AnyExpr, { axis: 0 }))
    const file = toONNX(f)
    for (const n of [4, 10]) expect(await runtimeError(f as never, file, { n })).toBeLessThan(1)
  })

  it('says where the program is another at other sizes, and takes the sizes', async () => {
    const f = fn({ x: f64('n') }, ({ x }) => sum(fori((x as AnyExpr).shape[0]! > 20 ? 2 : 3, (_k, c: AnyExpr) => mul(c, 2), x as AnyExpr)))
    expect(said(() => toONNX(f))).toContain('follows from the sizes of n by no formula')
    const g = fn({ x: f64('n') }, ({ x }) => ((x as AnyExpr).shape[0]! > 20 ? sum(x) : mean(x)))
    expect(said(() => toONNX(g))).toContain('its operations are others at other sizes of the named axes (n)')
    expect(said(() => toONNX(g))).toContain('toONNX(f, { sizes: { n: 32 } })')
    const file = toONNX(g, { sizes: { n: 5 } })
    expect(file.inputs.x!.shape).toEqual([5])
    expect(await runtimeError(g as never, file, { n: 5 })).toBeLessThan(1)
    const window = fn({ x: f64('n') }, ({ x }) => mul(x, tensor(Array.from({ length: (x as AnyExpr).shape[0]! }, (_, i) => i)) as never))
    expect(said(() => toONNX(window))).toContain('(n), the first of them a tensor')
    expect(said(() => toONNX(g, { sizes: { k: 2 } }))).toContain("declares no axis 'k'")
  })

  it('writes transforms and gathers of named axes', async () => {
    const f = fn({ x: f64('n', 6), i: i32('k') }, ({ x, i }) => {
      const { re, im } = fft(x, { axis: 1 } as never) as unknown as { readonly re: AnyExpr; readonly im: AnyExpr }
      return { re: gather(re, i), im } as never
    })
    const file = toONNX(f as never)
    for (const sizes of [
      { n: 3, k: 2 },
      { n: 7, k: 5 },
    ])
      expect(await runtimeError(f as never, file, sizes)).toBeLessThan(1)
  })
})

describe('what is not written', () => {
  it('names the primitive, the equation and the line', () => {
    const f = fn({ x: f64(3) }, ({ x }) => sum(besselJ(1, x) as never), { name: 'waves' })
    const text = said(() => toONNX(f))
    expect(text).toContain('ONNX has no kernel for `besselJ`: it is computed by series and continued fractions')
    expect(text).toContain('in waves: ')
    expect(text).toMatch(/files\.test\.ts:\d+/)
  })

  it('writes primitives of users by their compositions, and names those without', async () => {
    const twice = primitive({ name: 'twice', family: 'mine', args: ['float'], shapeRule: ([x]) => x!, meaning: ([x], _p, [y]) => y!.data.forEach((_, i) => { y!.data[i] = 2 * x!.data[i]! }), source: 'test' }) // biome-ignore format: one row
    const composed = primitive({ name: 'triple', family: 'mine', args: ['float'], shapeRule: ([x]) => x!, expand: ([x]) => mul(x!, 3), source: 'test' }) // biome-ignore format: one row
    const of = (p: unknown) => fn({ x: f64(2) }, ({ x }) => applyPrimitive(p as never, [x] as never)[0] as AnyExpr)
    expect(toONNX(of(composed)).decomposed).toEqual({ triple: 1 })
    await holds(of(composed))
    expect(said(() => toONNX(of(twice)))).toContain('it has no operator, and says no composition of others')
  })

  it('refuses what is no function, and functions without shapes', () => {
    expect(said(() => toONNX(3 as never))).toContain('toONNX: 3 is not a function')
    expect(said(() => toONNX(((x: AnyExpr) => sin(x)) as never))).toContain('the shapes of its arguments are not declared')
    expect(
      said(() =>
        toONNX(
          fn({ x: f64() }, ({ x }) => x),
          { weight: 1 } as never,
        ),
      ),
    ).toContain('weight')
  })
})
