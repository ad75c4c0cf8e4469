// Steps of training with Adam beside PyTorch's, by turns: loss, gradient and the update of every parameter, in place on both sides.
// `npm run bench:training [-- --only mlp] [--threads 1] [--rounds 7] [--budget ms]`; CODUAL_PYTHON names the Python that has torch (python3 unless given).
import { parseArgs } from 'node:util'
import { blas } from '../src/backends/blas/index.js'
import * as cd from '../src/index.js'
import { adam, applyUpdates } from '../src/optim/index.js'
import { median } from './measure.js'
import { torchServer } from './torch-server.js'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '7' },
    budget: { type: 'string', default: '200' },
  },
})
const [rounds, budget, threads] = [Number(values.rounds), Number(values.budget), Number(values.threads)]

/** An array as both sides make it: its shape, a number that tells it from others, its scale (of i32: how many classes), its dtype. */
type How = readonly [shape: readonly number[], k: number, scale: number, dtype: 'f32' | 'i32']
const made = ([shape, k, scale, dtype]: How): cd.Tensor => {
  const array = new (dtype === 'i32' ? Int32Array : Float32Array)(shape.reduce((a, b) => a * b, 1))
  for (let i = 0; i < array.length; i++) array[i] = dtype === 'i32' ? (i * 7919) % scale : Math.sin(1 + k + 7 * i) * scale
  return cd.tensor(array, shape as number[]) as cd.Tensor
}

type E = cd.AnyExpr
type Given = Readonly<Record<string, E>>
interface Model {
  readonly params: Readonly<Record<string, How>>
  readonly inputs: Readonly<Record<'x' | 'y', How>>
  readonly loss: (p: Given, x: E, y: E) => E
}
const { add, conv, crossEntropy, gelu, layerNorm, matmul, maxPool, mean, relu, reshape, scaledDotProductAttention, split, swapaxes } =
  cd as unknown as Readonly<Record<string, (...given: readonly unknown[]) => E>> // one model is written without sizes, for any
const dense = (x: E, w: unknown, b: unknown): E => add!(matmul!(x, w), b)
const weights = (k: number, ...shape: readonly number[]): How => [shape, k, 1 / Math.sqrt(shape.length > 2 ? shape.slice(1).reduce((a, b) => a * b) : shape[0]!), 'f32'] // biome-ignore format: one row
const bias = (k: number, ...shape: readonly number[]): How => [shape, k, 0.1, 'f32']
const width = 256
const models: Readonly<Record<string, Model>> = {
  mlp: {
    params: { w1: weights(1, 784, 1024), b1: bias(2, 1024), w2: weights(3, 1024, 1024), b2: bias(4, 1024), w3: weights(5, 1024, 10), b3: bias(6, 10) }, // biome-ignore format: one row
    inputs: { x: [[128, 784], 7, 1, 'f32'], y: [[128], 0, 10, 'i32'] },
    loss: (p, x, y) => crossEntropy!(dense(relu!(dense(relu!(dense(x, p.w1, p.b1)), p.w2, p.b2)), p.w3, p.b3), y),
  },
  lenet: {
    params: { k1: weights(1, 6, 1, 5, 5), c1: bias(2, 6), k2: weights(3, 16, 6, 5, 5), c2: bias(4, 16), w1: weights(5, 256, 120), b1: bias(6, 120), w2: weights(7, 120, 84), b2: bias(8, 84), w3: weights(9, 84, 10), b3: bias(10, 10) }, // biome-ignore format: one row
    inputs: { x: [[128, 1, 28, 28], 11, 1, 'f32'], y: [[128], 0, 10, 'i32'] },
    loss: (p, x, y) => {
      const block = (h: E, k: unknown, c: unknown): E => maxPool!(relu!(add!(conv!(h, k), reshape!(c, [-1, 1, 1]))), { window: 2 })
      const h = reshape!(block(block(x, p.k1, p.c1), p.k2, p.c2), [-1, 256])
      return crossEntropy!(dense(relu!(dense(relu!(dense(h, p.w1, p.b1)), p.w2, p.b2)), p.w3, p.b3), y)
    },
  },
  transformer: {
    params: { g1: [[width], 1, 1, 'f32'], s1: bias(2, width), qkv: weights(3, width, 3 * width), c: bias(4, 3 * width), out: weights(5, width, width), o: bias(6, width), g2: [[width], 7, 1, 'f32'], s2: bias(8, width), up: weights(9, width, 4 * width), u: bias(10, 4 * width), down: weights(11, 4 * width, width), d: bias(12, width), head: weights(13, width, 10) }, // biome-ignore format: one row
    inputs: { x: [[16, 64, width], 14, 1, 'f32'], y: [[16], 0, 10, 'i32'] },
    loss: (p, x, y) => {
      const heads = (t: E): E => swapaxes!(reshape!(t, [16, 64, 8, width / 8]), 1, 2)
      const normal = (t: E, scale: unknown, b: unknown): E => layerNorm!(t, { scale, bias: b })
      const [q, k, v] = split!(dense(normal(x, p.g1, p.s1), p.qkv, p.c), 3, { axis: -1 }) as unknown as readonly [E, E, E]
      const a = reshape!(swapaxes!(scaledDotProductAttention!(heads(q), heads(k), heads(v)), 1, 2), [16, 64, width])
      const h = add!(x, dense(a, p.out, p.o))
      const y2 = add!(h, dense(gelu!(dense(normal(h, p.g2, p.s2), p.up, p.u)), p.down, p.d))
      return crossEntropy!(matmul!(mean!(y2, { axis: 1 }), p.head), y)
    },
  },
}

const library = blas({ threads })
const backends = { own: cd.cpu(), ...(library.library !== undefined && { blas: cd.cpu({ blas: library }) }) }
console.log(
  `node ${process.version}; BLAS: ${library.library ?? `none, ${library.reason}`}; torch with ${threads} thread${threads === 1 ? '' : 's'}`,
)
const torch = await torchServer('torch-training.py', threads)
const times = (f: () => unknown): readonly number[] => {
  const out: number[] = []
  const end = performance.now() + budget
  do {
    const start = performance.now()
    f()
    out.push(performance.now() - start)
  } while (performance.now() < end)
  return out
}
const { f32, i32 } = cd
const specOf = ([shape, , , dtype]: How): unknown => ({ f32, i32 })[dtype](...(shape as number[]))
const each = <A, B>(of: Readonly<Record<string, A>>, f: (x: A) => B): Readonly<Record<string, B>> =>
  Object.fromEntries(Object.entries(of).map(([k, v]) => [k, f(v)]))

const table: Record<string, Record<string, string>> = {}
for (const [name, { params, inputs, loss }] of Object.entries(models)) {
  if (values.only !== undefined && !values.only.split(',').includes(name)) continue
  const want = (await torch.ask({ model: name, params, inputs })) as readonly number[]
  const optimiser = adam({ learningRate: 1e-3 })
  const declared = each(params, specOf)
  const step = cd.fn(
    { p: declared, state: optimiser.init(declared as never), x: specOf(inputs.x), y: specOf(inputs.y) } as never,
    ({ p, state, x, y }: { p: never; state: never; x: E; y: E }) => {
      const { value, grad } = cd.valueAndGrad((q: never) => loss(q, x, y) as never)(p) as unknown as { value: E; grad: never }
      const { updates, state: next } = optimiser.update(grad, state, p)
      return { p: applyUpdates(p, updates as never), state: next, value } as never
    },
  )
  const calls: Record<string, () => number> = {}
  for (const [which, backend] of Object.entries(backends)) {
    const p = each(params, made)
    const held = { p, state: optimiser.init(p as never), value: cd.tensor(new Float32Array(1), []) }
    const data = each(inputs, made)
    const into = (cd.compile as unknown as (f: unknown, b: cd.Backend) => { into(out: unknown): (x: unknown) => unknown })(
      step,
      backend,
    ).into(held)
    const { p: q, state } = held
    calls[which] = () => {
      into({ p: q, state, ...data })
      return held.value.item()
    }
    const got = want.map(() => calls[which]!())
    if (got.some((x, i) => !(Math.abs(x - want[i]!) <= 2e-3 * Math.abs(want[i]!))))
      throw new Error(`${name}: losses of ${which} ${got.join(', ')}; of PyTorch ${want.join(', ')}`)
  }
  const took: Record<string, { least: number; readonly medians: number[] }> = {}
  const note = (which: string, all: readonly number[]): void => {
    took[which] ??= { least: Number.POSITIVE_INFINITY, medians: [] }
    took[which].least = Math.min(took[which].least, ...all)
    took[which].medians.push(median(all))
  }
  for (const f of Object.values(calls)) times(f)
  for (let r = 0; r < rounds; r++) {
    note('torch', (await torch.ask({ model: name, ms: budget })) as readonly number[])
    for (const [which, f] of Object.entries(calls)) note(which, times(f))
  }
  const other = took.torch!
  table[name] = { 'torch ms': other.least.toPrecision(3) }
  for (const which of Object.keys(calls))
    table[name][which] =
      `${(took[which]!.least / other.least).toPrecision(2)} (${median(took[which]!.medians.map((m, r) => m / other.medians[r]!)).toPrecision(2)})`
  console.log(`${name.padEnd(14)}${JSON.stringify(table[name])}`)
}
console.log("\nleast time over PyTorch's least (median of the ratios of rounds); below 1: codual is faster")
console.table(table)
await torch.end()
