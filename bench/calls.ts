// What a call costs: value and gradient of mse(dense 8 -> 1), batch 2, beside the same derivative written by hand over closed-over arrays.
// `npm run bench:calls`
import * as cd from '../src/index.js'

const [B, N] = [2, 8]
const draw = (n: number, scale: number): Float64Array => Float64Array.from({ length: n }, (_, i) => scale * Math.sin(1 + 7 * i))
const data = { x: draw(B * N, 1), y: draw(B, 1), W: draw(N, 0.5), b: draw(1, 0.5) }

/** Straight-line code: nothing is allocated, nothing checked. */
const byHand = () => {
  const { x, y, W, b } = data
  const [gW, gb] = [new Float64Array(N), new Float64Array(1)]
  const call = (): number => {
    let value = 0
    gW.fill(0)
    gb[0] = 0
    for (let i = 0; i < B; i++) {
      let r = b[0]! - y[i]!
      for (let j = 0; j < N; j++) r += x[i * N + j]! * W[j]!
      value += r * r
      const bar = (2 / B) * r
      gb[0]! += bar
      for (let j = 0; j < N; j++) gW[j]! += bar * x[i * N + j]!
    }
    return value / B
  }
  return { call, gW, gb }
}

const loss = cd.fn({ x: cd.f64(B, N), y: cd.f64(B, 1), W: cd.f64(N, 1), b: cd.f64(1) }, ({ x, y, W, b }) =>
  cd.mean(cd.square(cd.sub(cd.add(cd.matmul(x, W), b), y))),
)
const step = cd.compile(cd.valueAndGrad(loss, { wrt: ['W', 'b'] }), cd.cpu())
const input = {
  x: cd.tensor(data.x, [B, N]),
  y: cd.tensor(data.y, [B, 1]),
  W: cd.tensor(data.W, [N, 1]),
  b: cd.tensor(data.b, [1]),
} as never
const first = step(input)
const into = step.into(first)

/** Median over batches of the time of one call, in ns. */
const nanoseconds = (call: () => unknown): number => {
  const [calls, batches] = [20_000, 41]
  for (let i = 0; i < calls; i++) call()
  const times = Array.from({ length: batches }, () => {
    const t = performance.now()
    for (let i = 0; i < calls; i++) call()
    return ((performance.now() - t) * 1e6) / calls
  })
  return times.sort((a, b) => a - b)[batches >> 1]!
}

const hand = byHand()
const value = hand.call()
const { value: ours, grad } = first as unknown as { value: cd.Tensor; grad: { W: cd.Tensor; b: cd.Tensor } }
const off = Math.max(
  Math.abs(ours.item() - value),
  Math.abs((grad.b.data[0] as number) - hand.gb[0]!),
  ...Array.from(hand.gW, (g, j) => Math.abs((grad.W.data[j] as number) - g)),
)
if (!(off <= 1e-12)) throw new Error(`the two derivatives differ by ${off}`)

const base = nanoseconds(hand.call)
console.log(`by hand      ${base.toFixed(0).padStart(6)} ns`)
for (const [name, call] of [
  ['fresh', () => step(input)],
  ['.into', () => into(input)],
] as const) {
  const ns = nanoseconds(call)
  console.log(`codual ${name} ${ns.toFixed(0).padStart(6)} ns   x${(ns / base).toFixed(1)}   ${step.explain().steps.length} kernels`)
}
