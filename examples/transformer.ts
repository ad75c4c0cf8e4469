// A transformer learns to say digits backwards, and shows where it looks. `npm run example:transformer`
//
// It reads ten digits and a sign, and then has to say the digits from the last to the first, each from what stands before it: one block
// of causal attention (Vaswani et al. 2017) with a norm in front of each half (Xiong et al. 2020) and dropout. Every step has a key of its
// own, which draws its digits and what is dropped: the same seed gives the same bits.
import {
  add,
  argmax,
  at,
  cast,
  compile,
  concat,
  cpu,
  crossEntropy,
  type Expr,
  type Exprs,
  einsum,
  embedding,
  eq,
  evaluate,
  explain,
  eye,
  f32,
  flip,
  fn,
  full,
  gelu,
  i32,
  layerNorm,
  linear,
  matmul,
  mean,
  scaledDotProductAttention,
  type Tensors,
  tensor,
  transpose,
  treeMap,
  unstack,
  valueAndGrad,
} from '../src/index.js'
import { adam, applyUpdates, warmupCosineDecaySchedule } from '../src/optim/index.js'
import { dropout, foldIn, type Key, key, randint, splitKey } from '../src/random/index.js'
import { train } from '../src/train/index.js'
import { progressBar } from '../src/train/node.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { heat } from './plot.js'

export interface TransformerOptions {
  readonly steps?: number
  readonly seed?: number
  readonly out?: string
}

/** Ten digits, the sign 10, and nine of the ten digits to say: the last of them is never read. */
const [digits, time, width] = [10, 20, 32] as const
const norm = { scale: f32(width), bias: f32(width) }
const head = f32(2, width, 16)
export const network = {
  token: f32(11, width),
  place: f32(time, width),
  q: head,
  k: head,
  v: head,
  out: f32(2, 16, width),
  norms: [norm, norm, norm] as const,
  hidden: { w: f32(width, 64), b: f32(64) },
  last: { w: f32(64, width), b: f32(width) },
}
type Network = Exprs<typeof network>
type States = Expr<['n', 20, 32], 'f32'>
type Drop = (x: States, place: number) => States

/** What each place reads of those up to it: by two heads, each with queries, keys and values of its own. */
const heads = (p: Network, x: States) => {
  const y = layerNorm(x, p.norms[0])
  return { q: einsum('ntd,hdk->nhtk', y, p.q), k: einsum('ntd,hdk->nhtk', y, p.k), v: einsum('ntd,hdk->nhtk', y, p.v) }
}
const embedded = (p: Network, tokens: Expr<['n', 20], 'i32'>): States => add(embedding(p.token, tokens), p.place)

/** The scores of each digit to be said next, after each place. */
const scoresWith = (p: Network, tokens: Expr<['n', 20], 'i32'>, drop: Drop) => {
  const x0 = embedded(p, tokens)
  const { q, k, v } = heads(p, x0)
  const read: States = einsum('nhtk,hkd->ntd', scaledDotProductAttention(q, k, v, { causal: true }), p.out)
  const x1: States = add(x0, drop(read, 0))
  const thought: States = linear(gelu(linear(layerNorm(x1, p.norms[1]), p.hidden.w, p.hidden.b)), p.last.w, p.last.b)
  return matmul(layerNorm(add(x1, drop(thought, 1)), p.norms[2]), transpose(p.token))
}
const inputs = { p: network, tokens: i32('n', 20) }
/** Without dropout. */
export const scores = fn(inputs, ({ p, tokens }) => scoresWith(p, tokens, (x) => x))

const labelled = { ...inputs, said: i32('n', 10), key: i32(2) }
/** -log of the chance of the right digit, in the mean, with a tenth of what each half of the block says dropped. */
export const loss = fn(labelled, ({ p, tokens, said, key }) => {
  const given = scoresWith(p, tokens, (x, place) => dropout(x, 0.1, foldIn(key, place)))
  return crossEntropy(at(given, ':', '10:'), said)
})
/** The share of digits that are said right. */
export const accuracy = fn({ ...inputs, said: i32('n', 10) }, ({ p, tokens, said }) =>
  mean(cast(eq(argmax(at(scores({ p, tokens }), ':', '10:'), { axis: -1 }), said), 'f32')),
)
/** Where each place looks, the mean of both heads and of all sequences: attention to the rows of the identity gives its weights. */
export const looks = fn(inputs, ({ p, tokens }) => {
  const { q, k } = heads(p, embedded(p, tokens))
  return mean(scaledDotProductAttention(q, k, eye(time, 'f32'), { causal: true }), { axis: [0, 1] })
})

/** Sequences of random digits, and what is to be said of them. */
export const task = (k: Key, count: number) => {
  const given = randint(k, [count, digits], 0, 10)
  const said = flip(given, { axis: 1 })
  return { tokens: concat([given, full([count, 1], 10, 'i32'), at(said, ':', ':9')], { axis: 1 }), said }
}

/** Normal numbers of deviation 0.2; scales of the norms 1, biases 0. */
export const initial = (seed: number): Tensors<typeof network> => {
  const normal = normals(seed)
  return treeMap(({ shape }, path) => {
    const size = shape.reduce((n, d) => n * d, 1)
    const draw = () => (path.endsWith('scale') ? 1 : /bias|b$/.test(path) ? 0 : 0.2 * normal())
    return tensor(Float32Array.from({ length: size }, draw), shape)
  }, network)
}

export const main = async (log: Log, { steps = 1500, seed = 1, out = 'out' }: TransformerOptions = {}) => {
  const optimiser = adam({
    learningRate: warmupCosineDecaySchedule({ peakValue: 0.005, warmupSteps: Math.ceil(steps / 20), decaySteps: steps }),
  })
  const step = compile(
    fn({ p: network, state: optimiser.init(network), key: i32(2) }, ({ p, state, key }) => {
      const [fresh, drop] = unstack(splitKey(key))
      const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, ...task(fresh, 32), key: drop })
      const { updates, state: next } = optimiser.update(grad, state, p)
      return { p: applyUpdates(p, updates), state: next, value }
    }),
    cpu(),
  )
  const p = initial(seed)
  const keys = { steps, at: (_epoch: number, i: number) => evaluate(foldIn(key(seed), i)) }
  const run = await train(
    (state: { readonly p: Tensors<typeof network>; readonly state: ReturnType<typeof optimiser.init<Tensors<typeof network>>> }, key) => {
      const { value, ...next } = step({ ...state, key })
      return { state: next, loss: value }
    },
    keys,
    { epochs: 1, state: { p, state: optimiser.init(p) }, onProgress: progressBar({ name: 'transformer' }) },
  )()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const losses = run.right.metrics.map(({ loss }) => loss)
  const learned = run.right.state.p

  const unseen = evaluate(task(key(seed + 1), 500))
  const right = compile(accuracy, cpu())({ p: learned, ...unseen }).item()
  log(`loss: from ${losses[0]!.toFixed(3)} to ${losses.at(-1)!.toFixed(3)}; of a guess: ${Math.log(10).toFixed(3)}`)
  log(`${(100 * right).toFixed(1)} % of the digits of 500 unseen sequences said right`)
  // A run of a few steps is a look at the parts.
  expectThat(steps < 500 || losses.at(-1)! < Math.log(10) / 2, 'less than half of the entropy of a digit')

  const rows = compile(looks, cpu())({ p: learned, tokens: unseen.tokens }).toArray()
  const title = 'Where each place looks'
  const file = await heat(out, 'transformer', { title, x: 'place that is looked at', y: 'place that looks', rows })
  log(`picture: ${file}`)
  return { losses, right, rows, learned, file }
}

start(import.meta.url, main)
