// What a size costs that was not met before: sentences, sets, graphs, episodes of any length, batches that are left over.
// `npm run bench:sizes`; `-- --sizes 50` takes so many sizes of each function.
//
// Each function is called at sizes in a shuffled order, each new; then as often at one size. Least and median of what a call takes.
import { parseArgs } from 'node:util'
import { lenet } from '../examples/digits/models.js'
import { initial } from '../examples/digits/train.js'
import * as cd from '../src/index.js'
import { median } from './measure.js'

const { values } = parseArgs({ options: { sizes: { type: 'string', default: '200' } } })
const count = Math.max(2, Math.trunc(Number(values.sizes)))

const wave = (shape: readonly number[], k: number): cd.Tensor =>
  cd.tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(1 + k + 7 * i) / Math.sqrt(shape[0] ?? 1)),
    shape as number[],
  ) as cd.Tensor
const classes = (n: number): cd.Tensor =>
  cd.tensor(
    Int32Array.from({ length: n }, (_, i) => (i * 7) % 10),
    [n],
  ) as cd.Tensor

interface Case {
  readonly name: string
  /** What is called at a size. */
  readonly call: (n: number) => unknown
}
const sized = (name: string, f: (...given: never) => unknown, at: (n: number) => unknown): Case => {
  const run = cd.compile(f as never, cd.cpu()) as unknown as (x: unknown) => unknown
  return { name, call: (n) => run(at(n)) }
}

// a policy of two layers over the steps of an episode: REINFORCE
const policy = cd.fn(
  { w: cd.f32(4, 32), v: cd.f32(32, 2), s: cd.f32('steps', 4), a: cd.i32('steps'), r: cd.f32('steps') },
  ({ w, v, s, a, r }) => {
    const logits = cd.logSoftmax(cd.matmul(cd.tanh(cd.matmul(s, w)), v))
    return cd.neg(cd.mean(cd.mul(cd.sum(cd.mul(logits, cd.oneHot(a, 2, 'f32')), { axis: -1 }), r)))
  },
)
// a graph: messages along edges, added up at their ends
const graph = cd.fn({ w: cd.f32(8, 8), x: cd.f32('nodes', 8), from: cd.i32('edges'), to: cd.i32('edges') }, ({ w, x, from, to }) => {
  const sent = cd.tanh(cd.matmul(cd.take(x, from, { axis: 0 }), w))
  return cd.sum(cd.square(cd.add(x, cd.segmentSum(sent, to, x.shape[0] as number))))
})
// attention over a sentence
const sentence = cd.fn({ w: cd.f32(16, 48), x: cd.f32('words', 16) }, ({ w, x }) => {
  const qkv = cd.matmul(x, w)
  const [q, k, v] = cd.split(qkv, 3, { axis: 1 }) as unknown as readonly [cd.AnyExpr, cd.AnyExpr, cd.AnyExpr]
  return cd.sum(cd.square(cd.scaledDotProductAttention(q as never, k as never, v as never) as cd.AnyExpr))
})
const lenetParams = initial(lenet.params, 1)
const cases: readonly Case[] = [
  sized('vector: sum of squares', cd.grad(cd.fn({ x: cd.f32('n') }, ({ x }) => cd.sum(cd.square(x)))) as never, (n) => ({
    x: wave([n], 1),
  })),
  sized('policy (REINFORCE)', cd.valueAndGrad(policy, { wrt: ['w', 'v'] }) as never, (n) => ({ w: wave([4, 32], 1), v: wave([32, 2], 2), s: wave([n, 4], 3), a: cd.tensor(Int32Array.from({ length: n }, (_, i) => i % 2), [n]), r: wave([n], 4) })), // biome-ignore format: one row
  sized('graph', cd.valueAndGrad(graph, { wrt: 'w' }) as never, (n) => ({ w: wave([8, 8], 1), x: wave([n, 8], 2), from: cd.tensor(Int32Array.from({ length: 2 * n }, (_, i) => (i * 5) % n), [2 * n]), to: cd.tensor(Int32Array.from({ length: 2 * n }, (_, i) => (i * 3) % n), [2 * n]) })), // biome-ignore format: one row
  sized('attention', cd.valueAndGrad(sentence, { wrt: 'w' }) as never, (n) => ({ w: wave([16, 48], 1), x: wave([n, 16], 2) })),
  sized('LeNet', cd.valueAndGrad(lenet.loss, { wrt: 'params' }) as never, (n) => ({ params: lenetParams, x: wave([n, 1, 28, 28], 1), y: classes(n) })), // biome-ignore format: one row
]

const timed = (call: () => unknown): number => {
  const t = performance.now()
  call()
  return performance.now() - t
}
const row = (texts: readonly string[]): string => texts.map((t, i) => (i === 0 ? t.padEnd(24) : t.padStart(14))).join('')
console.log(row(['', 'new: least', 'median', 'known: median', 'all new/known']))
for (const { name, call } of cases) {
  const order = Array.from({ length: count }, (_, i) => 3 + ((i * 79) % count)) // 79 is prime
  call(order[0]!)
  const fresh = order.slice(1).map((n) => timed(() => call(n)))
  const known = order.slice(1).map((n) => timed(() => call(n)))
  const total = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0)
  const late = fresh.slice(fresh.length >> 1)
  console.log(
    row([
      name,
      `${Math.min(...late).toFixed(2)} ms`,
      `${median(late).toFixed(2)} ms`,
      `${median(known).toFixed(2)} ms`,
      `x${(total(fresh) / total(known)).toFixed(1)}`,
    ]),
  )
}
